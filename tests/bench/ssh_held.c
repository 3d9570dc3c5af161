/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssh_held N PORT KEY KNOWN_HOSTS - opens N sessions to 127.1.x.y and keeps them: what one costs in
 * CPU and in memory, and what a later command on it costs, by a channel of its own (ssh_exec) and
 * by the kept shell of a host (host_script). One line of NAME=VALUE. Exits 1 if any of it failed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "net/net.h"

enum { ROUNDS = 3, WAIT_MS = 120000 };

static struct {
	int port;
	const char *key, *known;
	size_t n, next, failed;
	struct ssh **ssh;
	struct host **host;
} B;

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

static double resident_kb(void)
{
	unsigned long size = 0, resident = 0;
	FILE *f = fopen("/proc/self/statm", "r");

	if (f && fscanf(f, "%lu %lu", &size, &resident) != 2)
		resident = 0;
	if (f)
		fclose(f);
	return (double)resident * 4;
}

static void fail(const struct err *e)
{
	if (B.failed++ == 0)
		fprintf(stderr, "ssh_held: %s\n", e->msg);
}

static void fill_target(struct arena *a, struct ssh_target *t, size_t i)
{
	*t = (struct ssh_target){ .port = B.port, .user = "root", .no_agent = true };
	t->host = arena_printf(a, "127.1.%zu.%zu", i / 250, i % 250 + 1);
	VEC_ADD(a, &t->identities) = B.key;
	VEC_ADD(a, &t->known_hosts) = B.known;
}

static void open_one(struct arena *a, size_t i)
{
	struct ssh_target t;
	struct err e;

	fill_target(a, &t, i);
	if (ssh_open(&t, &B.ssh[i], &e) != 0)
		fail(&e);
}

static void exec_one(struct arena *a, size_t i)
{
	const struct ssh_command c = { .text = "echo again", .deadline = deadline_in(WAIT_MS) };
	struct ssh_result r;
	struct err e = { 0 };

	if (!B.ssh[i])
		return;
	if (ssh_exec(B.ssh[i], a, &c, &r, &e) != 0 || !str_eqc(r.out, "again\n"))
		fail(&e);
}

static void close_one(struct arena *a, size_t i)
{
	(void)a;
	ssh_close(B.ssh[i]);
}

static void open_host(struct arena *a, size_t i)
{
	struct host_opts o = { 0 };
	struct err e;

	fill_target(a, &o.target, i);
	if (host_open(&o, &B.host[i], &e) != 0)
		fail(&e);
}

static void script_one(struct arena *a, size_t i)
{
	const struct script_opts o = { .deadline = deadline_in(WAIT_MS) };
	struct script_result r;
	struct err e = { 0 };

	if (!B.host[i])
		return;
	if (host_script(B.host[i], a, STR("echo again"), &o, &r, &e) != 0 ||
	    !str_eqc(r.out, "again\n"))
		fail(&e);
}

static void close_host(struct arena *a, size_t i)
{
	(void)a;
	host_close(B.host[i]);
}

typedef void one_fn(struct arena *a, size_t i);

struct round {
	one_fn *fn;
	struct arena *a;
};

static void worker(void *arg)
{
	struct round *r = arg;

	while (B.next < B.n)
		r->fn(r->a, B.next++);
}

/* fn on all, `at_a_time` of them; gives CPU ms for each. */
static double all(struct arena *a, one_fn *fn, size_t at_a_time)
{
	struct round r = { fn, a };
	double before = cpu_ms();
	struct group g;
	struct err e;

	B.next = 0;
	group_init(&g);
	for (size_t i = 0; i < at_a_time && i < B.n; i++)
		task_spawn(&g, "bench", worker, &r);
	if (group_wait(&g, &e) != 0)
		fail(&e);
	return (cpu_ms() - before) / (double)B.n;
}

static void bench(void *arg)
{
	struct arena *keep = arena_new("targets"), *a = arena_new("answers");
	double open, held, later = 1e9, script = 1e9, before = resident_kb();

	(void)arg;
	/* All in tasks of their own, as in a fan-out to all at once. */
	open = all(keep, open_one, B.n);
	held = (resident_kb() - before) / (double)B.n;
	for (int i = 0; i < ROUNDS; i++) {
		double ms = all(a, exec_one, 256);

		later = ms < later ? ms : later;
		arena_reset(a);
	}
	all(a, close_one, 256);
	all(keep, open_host, 256);
	for (int i = 0; i < ROUNDS; i++) {
		double ms = all(a, script_one, 256);

		script = ms < script ? ms : script;
		arena_reset(a);
	}
	all(a, close_host, 256);
	printf("sessions=%zu failed=%zu open_cpu_ms=%.3f held_kb=%.1f exec_cpu_ms=%.4f "
	       "script_cpu_ms=%.4f\n",
	       B.n, B.failed, open, held, later, script);
	arena_free(a);
	arena_free(keep);
}

int main(int argc, char **argv)
{
	struct err e = { 0 };

	if (argc != 5) {
		fprintf(stderr, "usage: ssh_held N PORT KEY KNOWN_HOSTS\n");
		return 64;
	}
	B.n = (size_t)strtoul(argv[1], NULL, 10);
	B.port = (int)strtol(argv[2], NULL, 10);
	B.key = argv[3];
	B.known = argv[4];
	B.ssh = mem_alloc((B.n + 1) * sizeof *B.ssh);
	B.host = mem_alloc((B.n + 1) * sizeof *B.host);
	proc_files_allow(B.n + 64);
	if (loop_run(bench, NULL, NULL, &e) != 0)
		fail(&e);
	return B.failed ? 1 : 0;
}
