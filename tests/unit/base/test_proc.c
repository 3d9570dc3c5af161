/* SPDX-License-Identifier: Apache-2.0 */
/* Child processes: in a task and outside, big data, time limits, groups, quoting, daemons. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/loop.h"
#include "base/proc.h"

static struct arena *A;

static void ok(const char *script, struct proc_opts o, struct proc_result *r)
{
	const char *const argv[] = { "sh", "-c", script, NULL };
	struct err e = { 0 };

	if (proc_run(A, argv, &o, r, &e) != 0)
		fail_msg("%s: %s", script, e.msg);
}

/* There posix_spawn cannot tell that the program was not found. */
static bool under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "vgpreload");
}

static void basics(void)
{
	const char *const none[] = { "no-such-program-here", NULL };
	const char *const fails[] = { "sh", "-c", "echo one >&2; echo two >&2; exit 7", NULL };
	const char *const env[] = { "PATH=/usr/bin:/bin", "X=y z", NULL };
	struct proc_result r;
	struct err e;

	ok("echo out; echo err >&2; exit 3", (struct proc_opts){ 0 }, &r);
	assert_int_equal(r.status, 3);
	assert_string_equal(r.out.p, "out\n");
	assert_string_equal(r.err.p, "err\n");
	ok("kill -9 $$", (struct proc_opts){ 0 }, &r);
	assert_int_equal(r.status, 128 + 9);
	ok("cat; pwd; echo $X", (struct proc_opts){ .cwd = "/usr", .env = env }, &r);
	assert_string_equal(r.out.p, "/usr\ny z\n");
	ok("ls /proc/self/fd | wc -l", (struct proc_opts){ 0 }, &r); /* 0 1 2 and ls's own */
	assert_string_equal(r.out.p, "4\n");
	if (!under_valgrind()) {
		assert_int_equal(proc_run(A, none, NULL, &r, &e), -1);
		assert_int_equal(e.kind, ERR_NOT_FOUND);
	}
	assert_int_equal(proc_check(A, fails, NULL, &r, &e), -1);
	assert_int_equal(e.kind, ERR_REMOTE);
	assert_string_equal(e.msg, "sh failed (7): two");
	assert_int_equal(e.code, 7);
}

static void big_data(void)
{
	size_t n = (size_t)4 << 20;
	char *in = arena_alloc(A, n);
	struct proc_result r;

	for (size_t i = 0; i < n; i++)
		in[i] = (char)(i * 31 >> 3);
	ok("cat", (struct proc_opts){ .input = { in, n }, .max_output = n }, &r);
	assert_int_equal(r.out.n, n);
	assert_memory_equal(r.out.p, in, n);
	assert_false(r.truncated);
	ok("cat; echo end >&2", (struct proc_opts){ .input = { in, n }, .max_output = 1000 }, &r);
	assert_true(r.truncated);
	assert_int_equal(r.out.n, 1000);
	assert_string_equal(r.err.p, "end\n");
	/* A child that reads nothing must neither hang nor kill us. */
	ok("exec true", (struct proc_opts){ .input = { in, n } }, &r);
	assert_int_equal(r.status, 0);
}

static void timeouts(void)
{
	const char *const argv[] = { "sh", "-c", "trap '' TERM; sleep 60 & echo $!; wait; sleep 60",
				     NULL };
	const char *const polite[] = { "sleep", "60", NULL };
	struct proc_opts o = { .timeout_ms = 100 };
	struct proc_result r;
	struct err e;
	int64_t began = clock_now();

	assert_int_equal(proc_run(A, polite, &o, &r, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_true(clock_now() - began < 15000);
	began = clock_now();
	assert_int_equal(proc_run(A, argv, &o, &r, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_in_range(clock_now() - began, 1900, 30000);
	int64_t orphan;
	assert_true(str_to_int(str_trim(r.out), &orphan));
	struct proc_id id;
	for (int i = 0; i < 100 && proc_identify((pid_t)orphan, &id, &e) == 0; i++)
		usleep(10000);
	assert_int_equal(proc_identify((pid_t)orphan, &id, &e), -1); /* the group went with it */
	began = clock_now();
	ok("sleep 30 & echo started", (struct proc_opts){ 0 },
	   &r); /* holds stdout: not waited for */
	assert_string_equal(r.out.p, "started\n");
	assert_true(clock_now() - began < 15000);
}

static void in_task(void *arg)
{
	(void)arg;
	basics();
	big_data();
	timeouts();
}

static void test_outside(void **state)
{
	(void)state;
	in_task(NULL);
}

static void test_in_task(void **state)
{
	struct err e;

	(void)state;
	assert_int_equal(loop_run(in_task, NULL, NULL, &e), 0);
}

static void napper(void *arg)
{
	struct proc_result r;
	struct arena *a = arena_new("nap");
	const char *const argv[] = { "sleep", "0.2", NULL };
	struct err e;

	assert_int_equal(proc_run(a, argv, NULL, &r, &e), 0);
	assert_int_equal(r.status, 0);
	++*(int *)arg;
	arena_free(a);
}

static void cancelled(void *arg)
{
	struct arena *a = arena_new("cancelled");
	const char *const argv[] = { "sleep", "60", NULL };
	struct proc_result r;
	struct err e;

	assert_int_equal(proc_run(a, argv, NULL, &r, &e), -1);
	assert_int_equal(e.kind, ERR_CANCELLED);
	++*(int *)arg;
	arena_free(a);
}

static void parallel_main(void *arg)
{
	struct group g, c;
	struct err e;
	int64_t began = clock_now();

	group_init(&g);
	group_init(&c);
	for (int i = 0; i < 10; i++)
		task_spawn(&g, "nap", napper, arg);
	task_spawn(&c, "cancelled", cancelled, arg);
	assert_int_equal(task_sleep(50, &e), 0);
	group_cancel(&c);
	assert_int_equal(group_wait(&c, &e), 0);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_true(clock_now() - began < 1500);
}

static void test_parallel_and_cancel(void **state)
{
	struct err e;
	int n = 0;

	(void)state;
	assert_int_equal(loop_run(parallel_main, &n, NULL, &e), 0);
	assert_int_equal(n, 11);
}

static void test_quote(void **state)
{
	static const char *const words[] = {
		"",	   "plain-1.2/x", "two words", "it's", "$HOME `id` \"\\\"",
		"a\nb\tc", "-n",	  "*?[x]~",    "=x",   "''"
	};
	scoped(buf_fini) struct buf b = { 0 };

	(void)state;
	buf_init(&b, 4096);
	proc_quote(&b, STR("plain-1.2/x"));
	assert_string_equal(b.p, "plain-1.2/x");
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct proc_result r;

		buf_clear(&b);
		buf_adds(&b, "printf %s ");
		proc_quote(&b, str_of(words[i]));
		ok(b.p, (struct proc_opts){ 0 }, &r);
		assert_string_equal(r.out.p, words[i]);
	}
	/* every byte but NUL */
	char all[255];
	for (int i = 0; i < 255; i++)
		all[i] = (char)(i + 1);
	struct proc_result r;
	buf_clear(&b);
	buf_adds(&b, "printf %s ");
	proc_quote(&b, (struct str){ all, sizeof all });
	ok(b.p, (struct proc_opts){ 0 }, &r);
	assert_int_equal(r.out.n, sizeof all);
	assert_memory_equal(r.out.p, all, sizeof all);
}

static void test_daemon_and_identity(void **state)
{
	const char *const argv[] = { "sh", "-c", "echo here; ls /proc/self/fd | wc -l; sleep 30",
				     NULL };
	const char *const none[] = { "no-such-program-here", NULL };
	char log[] = "/tmp/muster-test-proc-XXXXXX";
	struct proc_id id, self;
	struct err e;
	struct str text = STR_NONE;
	pid_t pid;

	(void)state;
	close(mkstemp(log));
	assert_int_equal(proc_daemon(argv, log, &pid, &e), 0);
	assert_int_equal(proc_identify(pid, &id, &e), 0);
	assert_true(proc_is_alive(&id));
	assert_int_equal(getsid(pid), pid);
	for (int i = 0; i < 300 && !str_ends(text, "4\n"); i++) {
		usleep(10000);
		assert_int_equal(fs_read(A, log, 1000, &text, &e), 0);
	}
	assert_string_equal(str_cstr(A, text), "here\n4\n");
	kill(-pid, SIGKILL);
	for (int i = 0; i < 300 && proc_is_alive(&id); i++)
		usleep(10000);
	assert_false(proc_is_alive(&id));
	if (!under_valgrind()) {
		assert_int_equal(proc_daemon(none, log, &pid, &e), -1);
		assert_int_equal(e.kind, ERR_NOT_FOUND);
	}
	unlink(log);
	assert_int_equal(proc_identify(getpid(), &self, &e), 0);
	assert_true(proc_is_alive(&self));
	self.start++; /* the pid was reused */
	assert_false(proc_is_alive(&self));
	self.start--;
	self.boot_id[0] ^= 1; /* the machine was restarted */
	assert_false(proc_is_alive(&self));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_in_task),
		cmocka_unit_test(test_parallel_and_cancel),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_daemon_and_identity),
	};

	A = arena_new("test");
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	arena_free(A);
	return rc;
}
