/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The contract, asked of real hosts on this machine, and what only they can show: restarts, crashes
 * of their keepers, nothing left behind.
 *
 * Needs root and what the provider's doctor asks for; without, each test is skipped. This program
 * is also its own `muster internal ...`, as the keepers' program.
 */
#include "tests/conformance/suite.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "providers/local/keeper.h"
#include "providers/local/local.h"
#include "providers/local/netns.h"

static char dir[] = "/var/tmp/muster-local-XXXXXX";
static char self[1024];
static char options[256];
static bool usable;

static struct suite local(void)
{
	return (struct suite){ .type = "local",
			       .options = options,
			       .state_dir = dir,
			       .self = self,
			       .keys_in = dir,
			       .machine_attrs = "{image: debian-12}",
			       .machines = 8 };
}

#define NEEDS_MACHINE()         \
	do {                    \
		if (!usable)    \
			skip(); \
	} while (0)

static void life(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "life", suite_life);
}

static void strangers(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "strangers", suite_strangers);
}

static void parallel_1(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	s.machines = 1;
	suite_run(&s, "par-1", suite_parallel);
}

static void parallel_8(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "par-8", suite_parallel);
}

static void parallel_32(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	s.machines = 32;
	suite_run(&s, "par-32", suite_parallel);
}

/* ---- one host, made; the helpers below break it in some way
 * ------------------------------------------- */

static struct resource_want *make_one(struct suite *s, struct resource_seen **seen)
{
	struct value *deps;
	struct err e = { 0 };
	suite_network(s, &deps);
	struct resource_want *w = suite_want(s, "machine", "h-0", s->machine_attrs);
	w->deps = deps;
	if (!s->fault[0] && suite_type(s, "machine")->create(s->p, s->a, w, seen, &e))
		suite_fault(s, __FILE__, __LINE__, "create", "%s (%s)", e.msg, e.hint);
	return w;
}

/* The lock file lies beside the console log. */
static const char *lock_of(struct suite *s, const struct resource_seen *seen)
{
	const char *console = str_cstr(s->a, value_get_str(seen->attrs, "console", ""));
	return fs_join(s->a, fs_dirname(s->a, console), SUPERVISOR_LOCK);
}

static bool answers(struct suite *s, const struct resource_seen *seen)
{
	return netns_answers(str_cstr(s->a, value_get_str(seen->attrs, "netns", "")),
			     str_cstr(s->a, value_get_str(seen->attrs, "address", "")), 22,
			     "SSH-2.0", 1000);
}

static const struct resource_seen *only(struct suite *s)
{
	struct resources_seen all = { 0 };
	struct err e = { 0 };
	if (suite_type(s, "machine")->list(s->p, s->a, &all, &e) || all.v.n != 1) {
		suite_fault(s, __FILE__, __LINE__, "one machine", "%zu %s", all.v.n, e.msg);
		return NULL;
	}
	return all.v.v[0];
}

/* kill -9 of the keeper takes the host with it, and update brings it back with what was on its
 * disk. */
static void lose_keeper(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resource_seen *seen = NULL, *again = NULL;
	struct err e = { 0 };
	struct resource_want *w = make_one(s, &seen);
	CHECK(s, seen && answers(s, seen));
	CHECK(s, keeper_signal(lock_of(s, seen), SIGKILL));
	for (int i = 0; i < 100 && answers(s, seen); i++)
		CHECK(s, task_sleep(50, &e) == 0);
	CHECK(s, !answers(s, seen));
	const struct resource_seen *now = only(s);
	CHECK(s, now && !strcmp(now->status, "stopped"));
	CHECKF(s, t->update(s->p, s->a, seen->id, w, &again, &e) == 0, "%s (%s)", e.msg, e.hint);
	CHECK(s, answers(s, again) && !strcmp(again->id, seen->id) &&
			 !strcmp(again->status, "running"));
}

static void lose_keeper_then_sweep(struct suite *s)
{
	lose_keeper(s);
	suite_sweep(s);
}

static void survives_keeper(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "keeper", lose_keeper_then_sweep);
}

/* As after a restart of the machine: namespace, bridge and proxy are gone, the records are not. */
static void lose_network(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resource_seen *seen = NULL, *again = NULL;
	struct err e = { 0 };
	struct resource_want *w = make_one(s, &seen);
	CHECK(s, seen != NULL);
	const char *netns = str_cstr(s->a, value_get_str(seen->attrs, "netns", ""));
	CHECKF(s, keeper_stop(lock_of(s, seen), 10000, &e) == 0, "%s", e.msg);
	CHECKF(s, netns_del(netns + strlen(NETNS_DIR "/"), &e) == 0, "%s", e.msg);
	struct resources_seen nets = { 0 };
	CHECK(s, suite_type(s, "network")->list(s->p, s->a, &nets, &e) == 0 && nets.v.n == 1);
	CHECKF(s, !strcmp(nets.v.v[0]->status, "stopped"), "%s", nets.v.v[0]->status);
	CHECKF(s, t->update(s->p, s->a, seen->id, w, &again, &e) == 0, "%s (%s)", e.msg, e.hint);
	CHECK(s, answers(s, again));
}

static void lose_network_then_sweep(struct suite *s)
{
	lose_network(s);
	suite_sweep(s);
}

static void survives_restart(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "restart", lose_network_then_sweep);
}

/* A muster that died in the middle leaves a host that is "building": find finishes or removes it. */
static void cancelled(struct suite *s);

struct half {
	struct suite *s;
	struct resource_want *w;
};

static void half_make(void *arg)
{
	struct half *h = arg;
	struct resource_seen *seen;
	struct err e = { 0 };
	if (suite_type(h->s, "machine")->create(h->s->p, h->s->a, h->w, &seen, &e) &&
	    e.kind != ERR_CANCELLED)
		suite_fault(h->s, __FILE__, __LINE__, "cancelled create", "%s", e.msg);
}

static void cancelled(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct value *deps;
	struct resources_seen all = { 0 };
	struct err e = { 0 };
	suite_network(s, &deps);
	for (int ms = 0; ms < 500 && !s->fault[0]; ms += 60) {
		struct half h = { s, suite_want(s, "machine", arena_printf(s->a, "c-%d", ms),
						s->machine_attrs) };
		struct resource_seen *found = NULL;
		struct group g;
		h.w->deps = deps;
		group_init(&g);
		task_spawn(&g, "half", half_make, &h);
		CHECK(s, task_sleep(ms, &e) == 0);
		group_cancel(&g);
		(void)!group_wait(&g, &e);
		e = (struct err){ 0 };
		CHECKF(s, t->find(s->p, s->a, h.w->token, &found, &e) == 0, "after %d ms: %s", ms,
		       e.msg);
		CHECKF(s, !found || answers(s, found), "after %d ms", ms);
	}
	CHECK(s, t->list(s->p, s->a, &all, &e) == 0);
	for (size_t i = 0; i < all.v.n; i++)
		CHECKF(s, !strcmp(all.v.v[i]->status, "running"), "%s", all.v.v[i]->status);
}

static void cancelled_then_sweep(struct suite *s)
{
	cancelled(s);
	suite_sweep(s);
}

static void settles_half_made(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "half", cancelled_then_sweep);
}

/* kill -9 of muster itself, at moments spread over a create; what it left is settled by another. */
static char crash_token[TOKEN_LEN];

static void crash_make(struct suite *s)
{
	struct resources_seen nets = { 0 };
	struct resource_seen *seen = NULL;
	struct err e = { 0 };
	struct resource_want *w = suite_want(s, "machine", "k-0", s->machine_attrs);
	struct value *deps = value_map(s->a);
	CHECK(s, suite_type(s, "network")->list(s->p, s->a, &nets, &e) == 0 && nets.v.n == 1);
	value_set(deps, nets.v.v[0]->addr, nets.v.v[0]->attrs);
	w->deps = deps;
	w->token = crash_token;
	CHECKF(s, suite_type(s, "machine")->create(s->p, s->a, w, &seen, &e) == 0, "%s (%s)", e.msg,
	       e.hint);
	CHECK(s, answers(s, seen));
}

static void crash_settle(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resources_seen all = { 0 };
	struct resource_seen *found = NULL;
	struct err e = { 0 };
	CHECKF(s, t->find(s->p, s->a, crash_token, &found, &e) == 0, "%s", e.msg);
	CHECK(s, !found || answers(s, found));
	CHECK(s, t->list(s->p, s->a, &all, &e) == 0 && all.v.n == (found ? 1u : 0u));
	crash_make(s); /* the same token again */
	all = (struct resources_seen){ 0 };
	CHECK(s, t->list(s->p, s->a, &all, &e) == 0 && all.v.n == 1);
	CHECKF(s, t->destroy(s->p, all.v.v[0]->id, &e) == 0, "%s", e.msg);
}

static void crash_network(struct suite *s)
{
	struct value *deps;
	suite_network(s, &deps);
}

static void survives_kill(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "kill", crash_network);
	for (int i = 0; i < 20; i++) {
		rand_token(crash_token);
		pid_t pid = fork();
		assert_true(pid >= 0);
		if (pid == 0) {
			suite_run(&s, "kill", crash_make);
			_exit(0);
		}
		usleep((useconds_t)(20000 + i * 30000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		suite_run(&s, "kill", crash_settle);
	}
	suite_run(&s, "kill", suite_sweep);
}

/* ---- a real host
 * ---------------------------------------------------------------------------------------- */

static struct host *log_in(struct suite *s, const struct resource_seen *seen, struct err *e)
{
	struct host_opts o = { .name = seen->name };
	struct host *h = NULL;
	if (suite_type(s, "machine")->reach(s->p, s->a, seen, &o.target, e))
		return NULL;
	VEC_ADD(s->a, &o.target.identities) = fs_join(s->a, s->keys, "admin");
	o.target.no_agent = true;
	o.become.on = strcmp(o.target.user, "root") != 0;
	return host_open(&o, &h, e) ? NULL : h;
}

static const char *say(struct suite *s, struct host *h, const char *script)
{
	struct script_result r = { 0 };
	struct err e = { 0 };
	if (host_script(h, s->a, str_of(script), NULL, &r, &e))
		return arena_printf(s->a, "(%s)", e.msg);
	return str_cstr(s->a, str_trim(r.status ? r.err : r.out));
}

static void use_host(struct suite *s)
{
	struct resource_seen *seen = NULL;
	struct err e = { 0 };
	make_one(s, &seen);
	CHECK(s, seen != NULL);
	struct host *h = log_in(s, seen, &e);
	CHECKF(s, h != NULL, "%s (%s)", e.msg, e.hint);
	const char *who = say(s, h, "echo $(id -u) $(hostname) $(cat /proc/1/comm)");
	CHECKF(s, !strcmp(who, "0 h-0 systemd"), "%s", who);
	/* The machine's own kernel settings are out of reach, and so is its network. */
	const char *swap = say(s, h,
			       "echo 1 >/proc/sys/vm/swappiness && echo written || echo refused");
	CHECKF(s, !strcmp(swap, "refused"), "%s", swap);
	const char *net = say(s, h, "ls /sys/class/net | tr '\\n' ' '");
	CHECKF(s, !strcmp(net, "host0 lo"), "%s", net);
	const char *old = arena_strdup(s->a, host_boot_id(h));
	say(s, h,
	    "echo kept >/kept; sync; nohup sh -c 'sleep 0.2; systemctl reboot' >/dev/null 2>&1 &");
	CHECK(s, task_sleep(1500, &e) == 0);
	CHECKF(s, host_reconnect(h, 30000, &e) == 0, "%s", e.msg);
	CHECK(s, old[0] != '\0');
	const char *kept = say(s, h, "cat /kept");
	CHECKF(s, !strcmp(kept, "kept"), "%s", kept);
	const char *up = say(
		s, h, "cut -d. -f1 /proc/uptime >/dev/null; systemctl is-system-running --wait");
	CHECKF(s, !strcmp(up, "running"), "%s", up);
	host_close(h);
}

static void use_host_then_sweep(struct suite *s)
{
	use_host(s);
	suite_sweep(s);
}

static void is_real(void **state unused_arg)
{
	struct suite s = local();
	NEEDS_MACHINE();
	suite_run(&s, "real", use_host_then_sweep);
}

/* With another login name, and packages through the proxy, which refuses what lies on this machine.
 */
static void use_proxy(struct suite *s)
{
	struct resource_seen *seen = NULL;
	struct err e = { 0 };
	make_one(s, &seen);
	CHECK(s, seen != NULL);
	struct host *h = log_in(s, seen, &e);
	CHECKF(s, h != NULL, "%s (%s)", e.msg, e.hint);
	const char *ask =
		"exec 3<>/dev/tcp/10.99.0.1/3142; printf 'GET http://127.0.0.1/ HTTP/1.1\\r\\n\\r\\n' >&3; head -1 <&3";
	const char *closed = say(s, h, arena_printf(s->a, "bash -c \"%s\"", ask));
	CHECKF(s, str_starts(str_of(closed), "HTTP/1.1 403"), "%s", closed);
	const char *none = say(
		s, h,
		"timeout 2 bash -c 'exec 3<>/dev/tcp/203.0.113.1/80' 2>/dev/null && echo out || echo shut");
	CHECKF(s, !strcmp(none, "shut"), "%s", none);
	const char *apt = say(
		s, h,
		"apt-get -q update >/tmp/log 2>&1 && apt-get install -y -q hello >>/tmp/log 2>&1 && hello || tail -3 /tmp/log");
	/* Without a way out of this machine there are no packages to be had, and that is no fault
	 * of the proxy's. */
	if (strcmp(apt, "Hello, world!") && strstr(apt, "502"))
		print_message("# packages not checked, this machine reaches none: %s\n", apt);
	else
		CHECKF(s, !strcmp(apt, "Hello, world!"), "%s", apt);
	host_close(h);
}

static void use_proxy_then_sweep(struct suite *s)
{
	use_proxy(s);
	suite_sweep(s);
}

static void gets_packages(void **state unused_arg)
{
	struct suite s = local();
	char with_user[400];
	NEEDS_MACHINE();
	snprintf(with_user, sizeof with_user, "{dir: %s/hosts, user: admin}", dir);
	s.options = with_user;
	suite_run(&s, "proxy", use_proxy_then_sweep);
}

/* ---- nothing stays
 * ------------------------------------------------------------------------------------ */

static void nothing_is_left(void **state unused_arg)
{
	struct arena *a = arena_new("left");
	struct str mounts;
	struct err e = { 0 };
	NEEDS_MACHINE();
	assert_int_equal(fs_read(a, "/proc/self/mounts", 16 << 20, &mounts, &e), 0);
	assert_true(str_find(mounts, str_of(dir)) == SIZE_MAX);
	struct fs_names left = { 0 };
	assert_int_equal(fs_list(a, fs_join(a, dir, "hosts"), &left, &e), 0);
	assert_int_equal(left.names.n, 0);
	arena_free(a);
}

static int set_up(void **state unused_arg)
{
	struct err e = { 0 };
	struct spec_provider spec = { .name = str_of("under-test"), .type = str_of("local") };
	if (!mkdtemp(dir))
		return -1;
	snprintf(options, sizeof options, "{dir: %s/hosts, boot_timeout: 30s}", dir);
	struct provider_open o = { "check", &spec, dir, self };
	usable = local_provider.doctor(&o, &e) == 0;
	if (!usable)
		print_message("# skipped: %s (%s)\n", e.msg, e.hint);
	return 0;
}

static int tear_down(void **state unused_arg)
{
	struct err e = { 0 };
	return fs_remove_tree(dir, &e);
}

static void show_log(void *arg unused_arg, enum log_level level unused_arg, const char *line)
{
	print_message("# %s\n", line);
}

extern char **environ;

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers),	     cmocka_unit_test(life),
		cmocka_unit_test(parallel_1),	     cmocka_unit_test(parallel_8),
		cmocka_unit_test(survives_keeper),   cmocka_unit_test(survives_restart),
		cmocka_unit_test(settles_half_made), cmocka_unit_test(survives_kill),
		cmocka_unit_test(is_real),	     cmocka_unit_test(gets_packages),
		cmocka_unit_test(parallel_32),	     cmocka_unit_test(nothing_is_left),
	};
	env_init(environ);
	if (argc > 2 && !strcmp(argv[1], "internal"))
		return !strcmp(argv[2], "local-host") ? local_host_main(argc - 2, argv + 2)
						      : local_proxy_main(argc - 2, argv + 2);
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return 1;
	log_set_sink(show_log, NULL, LOG_INFO);
	return cmocka_run_group_tests_name("conformance local", tests, set_up, tear_down);
}
