/* SPDX-License-Identifier: Apache-2.0 */
/* net/host.h against a real sshd and against this machine's own sh: the frame, files, becoming,
 * broken connections. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/net.h"
#include "tests/support/sshd_fixture.h"

static struct fixture F;
static struct sshd S;
static struct arena *A;
static const char *no_sshd, *key;

#define NEED_SSHD()                                     \
	do {                                            \
		if (no_sshd) {                          \
			print_message("%s\n", no_sshd); \
			skip();                         \
		}                                       \
	} while (0)

static struct ssh_target target(void)
{
	struct ssh_target t = {
		.host = "127.0.0.1", .port = S.port, .user = F.user, .no_agent = true
	};

	VEC_ADD(A, &t.identities) = key;
	VEC_ADD(A, &t.host_keys) = arena_strdup(A, fixture_line(S.host_pub));
	return t;
}

static struct host *open_host(bool local)
{
	struct host_opts o = { .name = "node1", .local = local };
	struct host *h = NULL;
	struct err e = { 0 };

	if (!local)
		o.target = target();
	if (host_open(&o, &h, &e) != 0)
		fail_msg("host_open: %s (%s)", e.msg, e.hint);
	return h;
}

static struct script_result sh(struct host *h, const char *script)
{
	struct script_opts o = { .deadline = deadline_in(20000) };
	struct script_result r;
	struct err e = { 0 };

	if (host_script(h, A, str_of(script), &o, &r, &e) != 0)
		fail_msg("%.100s: %s", script, e.msg);
	return r;
}

static void expect(struct host *h, const char *script, int status, const char *out, const char *err)
{
	struct script_result r = sh(h, script);

	if (r.status != status || strcmp(r.out.p, out) != 0 || (err && strcmp(r.err.p, err) != 0))
		fail_msg("%s: %d \"%s\" \"%s\"", script, r.status, r.out.p, r.err.p);
}

/* ---- the frame -------------------------------------------------------------------------------- */

static void frame_cases(struct host *h)
{
	struct script_result r;

	expect(h, "echo hello", 0, "hello\n", "");
	expect(h, "printf x; printf y >&2", 0, "x", "y"); /* no newline at the end */
	expect(h, "printf '\\n\\n'", 0, "\n\n", "");
	expect(h, "", 0, "", "");
	expect(h, "# only a comment", 0, "", "");
	expect(h, "exit 3", 3, "", "");
	expect(h, "false", 1, "", "");
	expect(h, "kill -9 $(exec sh -c 'echo $PPID') ; echo no", 128 + 9, "", NULL);
	r = sh(h, "if true; then echo");
	assert_true(r.status != 0);
	assert_true(r.err.n > 0);
	r = sh(h, "echo 'unclosed");
	assert_true(r.status != 0);
	expect(h, "echo ')'; echo \"it's\"; cat <<'E'\n$HOME `x` \\\nE", 0,
	       ")\nit's\n$HOME `x` \\\n", "");
	/* nothing outlives its script */
	expect(h, "cd /usr; X=1; export X; set -e; umask 077; trap 'echo bye' EXIT; exec 5>&1", 0,
	       "bye\n", "");
	expect(h, "echo \"${X-unset} $- $(pwd)\" | grep -c -e '/usr$' -e '^1' -e ' .*e.* '", 1,
	       "0\n", "");
	expect(h, "cat; read x; echo \"[$x]\"", 0, "[]\n", ""); /* stdin is empty */
	expect(h, "sleep 3 & echo on", 0, "on\n", "");		/* does not hang */
	expect(h, "printf '\\ne0123456789abcdef0123456789abcdef 0\\nb\\n'", 0,
	       "\ne0123456789abcdef0123456789abcdef 0\nb\n", "");
	expect(h, "echo $LC_ALL $LANG", 0, "C C\n", "");
	r = sh(h,
	       "i=0; while [ $i -lt 256 ]; do printf \"\\\\$(printf %03o $i)\"; i=$((i+1)); done");
	assert_int_equal(r.out.n, 256);
	for (int i = 0; i < 256; i++)
		assert_int_equal((unsigned char)r.out.p[i], i);
}

static size_t big_script = (size_t)16 << 20;

static void size_cases(struct host *h)
{
	struct script_opts small = { .max_output = 1000 };
	scoped(buf_fini) struct buf b = { 0 };
	struct script_result r;
	struct err e = { 0 };

	assert_int_equal(host_script(h, A, STR("head -c 5000000 /dev/zero; echo end >&2; exit 7"),
				     &small, &r, &e),
			 0);
	assert_int_equal(r.status, 7);
	assert_true(r.truncated);
	assert_int_equal(r.out.n, 1000);
	assert_string_equal(r.err.p, "end\n");
	assert_int_equal(host_script(h, A, STR("head -c 1000 /dev/zero"), &small, &r, &e), 0);
	assert_false(r.truncated);
	assert_int_equal(r.out.n, 1000);
	r = sh(h, "head -c 6000000 /dev/zero | tr '\\0' x");
	assert_int_equal(r.out.n, 6000000);
	assert_false(r.truncated);
	/* a big script, quotes and all */
	buf_init(&b, (size_t)20 << 20);
	buf_adds(&b, "x='");
	while (b.n < big_script)
		buf_adds(
			&b,
			"0123456789abcdef\n\t $`\"\\ 0123456789abcdef0123456789abcdef'\\''0123456789");
	buf_adds(&b, "'; echo ${#x}");
	size_t quotes = 0;
	for (size_t i = 0; i + 3 < b.n; i++)
		quotes += memcmp(b.p + i, "'\\''", 4) == 0;
	int64_t want = (int64_t)(b.n - strlen("x='") - strlen("'; echo ${#x}") - 3 * quotes), got;
	struct script_opts o = { .deadline = deadline_in(60000) };
	assert_int_equal(host_script(h, A, buf_str(&b), &o, &r, &e), 0);
	assert_true(str_to_int(str_trim(r.out), &got));
	assert_int_equal(got, want);
}

static void frame_main(void *arg)
{
	struct host *h = open_host(arg != NULL);

	frame_cases(h);
	size_cases(h);
	struct host_stats st = host_stats(h);
	assert_true(st.round_trips > 20);
	assert_true(st.bytes_out > big_script);
	assert_true(st.bytes_in > 11000000);
	assert_int_equal(strlen(host_boot_id(h)) > 36, 1);
	host_close(h);
}

static void run(task_fn *fn, void *arg)
{
	struct err e;

	assert_int_equal(loop_run(fn, arg, NULL, &e), 0);
}

static void test_frame_local(void **state)
{
	static int yes;

	(void)state;
	run(frame_main, &yes);
}

static void test_frame_ssh(void **state)
{
	(void)state;
	NEED_SSHD();
	run(frame_main, NULL);
}

/* "sh" is dash on Debian, bash on Red Hat, busybox on small systems. */
static void test_frame_other_shells(void **state)
{
	static const char *const shells[] = { "/bin/bash", "/bin/busybox", "/usr/bin/ksh" };
	static int yes;
	char dir[] = "/tmp/muster-test-sh-XXXXXX";
	const char *path = getenv("PATH");
	struct err e;

	(void)state;
	big_script = (size_t)2 << 20; /* bash reads its input byte by byte */
	assert_non_null(mkdtemp(dir));
	const char *link = arena_printf(A, "%s/sh", dir);
	const char *old = arena_printf(A, "%s", path);
	setenv("PATH", arena_printf(A, "%s:%s", dir, path), 1);
	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		if (access(shells[i], X_OK) != 0) {
			print_message("no %s here\n", shells[i]);
			continue;
		}
		assert_int_equal(symlink(shells[i], link), 0);
		run(frame_main, &yes);
		unlink(link);
	}
	setenv("PATH", old, 1);
	big_script = (size_t)16 << 20;
	assert_int_equal(fs_remove_tree(dir, &e), 0);
}

/* ---- time limits and broken connections
 * ---------------------------------------------------------- */

static void timeout_main(void *arg)
{
	struct host *h = open_host(arg != NULL);
	struct script_opts o = { .deadline = deadline_in(200) };
	struct script_result r;
	struct err e = { 0 };
	int64_t began = clock_now();

	assert_int_equal(host_script(h, A, STR("sleep 60"), &o, &r, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_string_equal(e.node, "node1");
	assert_int_equal(host_script(h, A, STR("echo hi"), NULL, &r, &e), -1); /* marked dead */
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(host_reconnect(h, 10000, &e), 0);
	expect(h, "echo again", 0, "again\n", "");
	host_close(h);
	assert_true(clock_now() - began < 30000);
}

static void test_timeout(void **state)
{
	static int yes;

	(void)state;
	run(timeout_main, &yes);
	if (!no_sshd)
		run(timeout_main, NULL);
}

/* ---- output without end ------------------------------------------------------------------------
 */

struct flood {
	bool local, ended;
	int64_t lag; /* the longest that another task had to wait for its turn */
};

static void tick(void *arg)
{
	struct flood *f = arg;
	struct err e;

	while (!f->ended) {
		int64_t began = clock_now();

		assert_int_equal(task_sleep(10, &e), 0);
		if (clock_now() - began - 10 > f->lag)
			f->lag = clock_now() - began - 10;
	}
}

static void flood_main(void *arg)
{
	struct flood *f = arg;
	struct host *h = open_host(f->local);
	struct script_opts o = { .deadline = deadline_in(1000), .max_output = 1000 };
	struct script_result r;
	struct err e = { 0 };
	struct group g;
	int64_t began = clock_now();

	group_init(&g);
	task_spawn(&g, "tick", tick, f);
	assert_int_equal(host_script(h, A,
				     STR("yes & yes >&2 & dd if=/dev/zero bs=65536 2>/dev/null"),
				     &o, &r, &e),
			 -1);
	f->ended = true;
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(group_wait(&g, &e), 0);
	host_close(h);
	assert_true(clock_now() - began < 30000);
	if (f->lag > 400)
		fail_msg("others waited %d ms", (int)f->lag);
}

/* The deadline holds, and other tasks have their turns, while the answer never pauses. */
static void test_flood(void **state)
{
	struct flood f = { .local = true };

	(void)state;
	run(flood_main, &f);
	f = (struct flood){ 0 };
	if (!no_sshd)
		run(flood_main, &f);
}

static void stop_server(void *arg)
{
	struct err e;

	(void)arg;
	assert_int_equal(task_sleep(300, &e), 0);
	sshd_stop(&S);
}

static void killed_main(void *arg)
{
	struct host *h = open_host(false);
	struct script_result r;
	struct err e = { 0 };

	/* The shell itself dies: the answer cannot come. */
	assert_int_equal(host_script(h, A, STR("kill -9 $$"), NULL, &r, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(host_reconnect(h, 10000, &e), 0);
	/* The server dies in the middle. */
	struct script_opts o = { .deadline = deadline_in(10000) };
	struct group g;
	group_init(&g);
	task_spawn(&g, "stop", stop_server, NULL);
	assert_int_equal(host_script(h, A, STR("echo begun; sleep 20"), &o, &r, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(host_reconnect(h, 700, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_non_null(strstr(e.msg, "Connection refused"));
	*(struct host **)arg = h;
}

static void back_main(void *arg)
{
	struct host *h = arg;
	struct err e = { 0 };

	assert_int_equal(host_reconnect(h, 10000, &e), 0);
	expect(h, "echo back", 0, "back\n", "");
	host_close(h);
}

static void test_killed(void **state)
{
	(void)state;
	NEED_SSHD();
	struct host *h = NULL;

	run(killed_main, &h);
	sshd_restart(&S); /* here: it ends with the thread that starts it, and a task may be one */
	run(back_main, h);
}

/* ---- files ------------------------------------------------------------------------------------ */

static void put_get(struct host *h, const char *dir, size_t n)
{
	const char *path = arena_printf(A, "%s/it's a file %zu", dir, n);
	struct host_file f = { .path = path, .mode = "0640" };
	char *data = arena_alloc(A, n + 1);
	struct str back;
	struct err e = { 0 };

	for (size_t i = 0; i < n; i++)
		data[i] = (char)((i * 2654435761u) >> 13);
	if (host_put(h, (struct str){ data, n }, &f, &e) != 0)
		fail_msg("put %zu: %s", n, e.msg);
	if (host_get(h, A, path, n, &back, &e) != 0)
		fail_msg("get %zu: %s", n, e.msg);
	assert_int_equal(back.n, n);
	assert_memory_equal(back.p, data, n);
	struct script_result r = sh(h, arena_printf(A, "stat -c %%a \"%s\"", path));
	assert_string_equal(r.out.p, "640\n");
	if (n) {
		assert_int_equal(host_get(h, A, path, n - 1, &back, &e), -1);
		assert_int_equal(e.kind, ERR_IO);
	}
}

static void files_main(void *arg)
{
	struct host *h = open_host(arg != NULL);
	static const size_t sizes[] = { 0, 1, 57, 300000, 3 << 20, 7000001 };
	const char *dir = str_cstr(A, str_trim(sh(h, "mktemp -d /tmp/muster-put-XXXXXX").out));
	struct host_file f = { .path = dir };
	struct str back;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		put_get(h, dir, sizes[i]);
	assert_int_equal(host_put(h, STR("x"), &f, &e), -1);
	assert_non_null(strstr(e.msg, "directory"));
	f.path = arena_printf(A, "%s/none/file", dir);
	assert_int_equal(host_put(h, STR("x"), &f, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	f = (struct host_file){ .path = arena_printf(A, "%s/bad", dir), .owner = "nosuchuser" };
	assert_int_equal(host_put(h, STR("x"), &f, &e), -1);
	assert_int_equal(e.kind, ERR_REMOTE);
	assert_int_equal(host_get(h, A, f.path, 100, &back, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	f.owner = NULL; /* replaces what is there, and the default mode is private */
	sh(h, arena_printf(A, "echo old >%s; chmod 666 %s", f.path, f.path));
	uint64_t before = host_stats(h).round_trips;
	assert_int_equal(host_put(h, STR("new"), &f, &e), 0);
	assert_int_equal(host_stats(h).round_trips - before, 1);
	expect(h, arena_printf(A, "stat -c %%a %s; cat %s", f.path, f.path), 0, "600\nnew", "");
	expect(h, arena_printf(A, "find %s -name '.muster*'", dir), 0, "",
	       ""); /* nothing left behind */
	expect(h, arena_printf(A, "rm -r %s", dir), 0, "", "");
	host_close(h);
}

static void test_files(void **state)
{
	static int yes;

	(void)state;
	run(files_main, &yes);
	if (!no_sshd)
		run(files_main, NULL);
}

/* ---- becoming --------------------------------------------------------------------------------- */

static int try_become(struct host_become b, const char *user, struct host **h, struct err *e)
{
	struct host_opts o = { .name = "node1", .target = target(), .become = b };

	o.target.user = user;
	return host_open(&o, h, e);
}

static void sudo_main(void *arg)
{
	struct host_become b = { .on = true, .password = STR("pass'word $x") };
	struct host_become other = { .on = true, .user = "nobody", .password = b.password };
	struct host_become self = { .on = false };
	struct script_opts o = { .become = &other };
	struct script_result r;
	struct host *h = NULL;
	struct err e = { 0 };

	(void)arg;
	if (try_become(b, F.user, &h, &e) != 0)
		fail_msg("%s (%s)", e.msg, e.hint);
	expect(h, "id -un; echo $HOME", 0, "root\n/root\n", "");
	assert_int_equal(host_script(h, A, STR("id -un"), &o, &r, &e), 0);
	assert_string_equal(r.out.p, "nobody\n");
	o.become = &self;
	assert_int_equal(host_script(h, A, STR("id -un"), &o, &r, &e), 0);
	assert_string_equal(r.out.p, arena_printf(A, "%s\n", F.user));
	/* the password is nowhere to be seen (processes come and go: grep may miss some files) */
	expect(h, "cat /proc/[0-9]*/cmdline 2>/dev/null | grep -c \"pass'wor[d]\" || :", 0, "0\n",
	       NULL);
	struct host_file f = { .path = arena_printf(A, "%s/rootfile", F.dir),
			       .owner = "nobody",
			       .group = "nogroup" };
	assert_int_equal(host_put(h, STR("x"), &f, &e), 0);
	expect(h, arena_printf(A, "stat -c '%%U %%G %%a' %s", f.path), 0, "nobody nogroup 600\n",
	       "");
	host_close(h);
	b.password = STR("wrong");
	assert_int_equal(try_become(b, F.user, &h, &e), -1);
	assert_int_equal(e.kind, ERR_AUTH);
	assert_non_null(strstr(e.msg, "password is wrong"));
	b.password = STR_NONE;
	assert_int_equal(try_become(b, F.user, &h, &e), -1);
	assert_int_equal(e.kind, ERR_AUTH);
	assert_non_null(strstr(e.msg, "asks for a password"));
	b.user = "no such user";
	b.password = STR("pass'word $x");
	assert_int_equal(try_become(b, F.user, &h, &e), -1);
	assert_int_equal(e.kind, ERR_AUTH);
	assert_non_null(strstr(e.msg, "no such user"));
}

static void not_allowed_main(void *arg)
{
	struct host_become b = { .on = true, .password = STR("pass'word $x") };
	struct host *h = NULL;
	struct err e = { 0 };

	(void)arg;
	assert_int_equal(try_become(b, F.user, &h, &e), -1);
	assert_int_equal(e.kind, ERR_AUTH);
	assert_non_null(strstr(e.msg, "does not allow"));
}

/* Root needs no sudo to be root, and no password. */
static void root_main(void *arg)
{
	struct host_become b = { .on = true, .password = STR("unused") },
			   other = { .on = true, .user = "nobody" };
	struct script_opts o = { .become = &other };
	struct script_result r;
	struct host *h = NULL;
	struct err e = { 0 };

	(void)arg;
	if (try_become(b, "root", &h, &e) != 0)
		fail_msg("%s (%s)", e.msg, e.hint);
	expect(h, "id -un", 0, "root\n", "");
	assert_int_equal(host_script(h, A, STR("id -un"), &o, &r, &e), 0);
	assert_string_equal(r.out.p, "nobody\n");
	host_close(h);
}

static void test_become(void **state)
{
	(void)state;
	NEED_SSHD();
	if (!F.made_user || access("/usr/bin/sudo", X_OK) != 0) {
		print_message("needs root and sudo, to make a user for it\n");
		skip();
	}
	fixture_write(fixture_path(&F, "pw"), arena_printf(A, "%s:pass'word $x\n", F.user));
	const char *const set[] = { "sh", "-c", "chpasswd <\"$0\"", fixture_path(&F, "pw"), NULL };
	const char *const add[] = { "usermod", "-aG", "sudo", F.user, NULL };
	assert_int_equal(fixture_run(&F, set), 0);
	run(not_allowed_main, NULL);
	assert_int_equal(fixture_run(&F, add), 0);
	run(sudo_main, NULL);
	run(root_main, NULL);
}

/* ---- reboot: a server that comes back with another identity cannot be had here, so only the
 * refusals ------------ */

static void reboot_main(void *arg)
{
	struct host *h = open_host(true);
	struct err e = { 0 };

	(void)arg;
	assert_int_equal(host_reboot(h, 1000, &e), -1);
	assert_int_equal(e.kind, ERR_USAGE);
	expect(h, "echo alive", 0, "alive\n", "");
	host_close(h);
}

static void test_reboot_refused(void **state)
{
	(void)state;
	run(reboot_main, NULL);
}

static int setup(void **state)
{
	(void)state;
	A = arena_new("test");
	no_sshd = fixture_begin(&F);
	if (no_sshd)
		return 0;
	key = fixture_key(&F, "id", "ed25519", "", NULL);
	key = arena_strdup(A, key);
	fixture_authorize(&F, key);
	sshd_start(&F, &S, "main", "ed25519", "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sshd_stop(&S);
	fixture_end(&F);
	arena_free(A);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frame_local),
		cmocka_unit_test(test_frame_ssh),
		cmocka_unit_test(test_frame_other_shells),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_flood),
		cmocka_unit_test(test_killed),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_become),
		cmocka_unit_test(test_reboot_refused),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, setup, teardown);
}
