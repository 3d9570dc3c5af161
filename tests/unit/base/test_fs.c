/* SPDX-License-Identifier: Apache-2.0 */
/* Files: bounded reading, atomic writing, trees that must not lead out, names, the home folder. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/env.h"
#include "base/fs.h"

static struct arena *A;
static char home[64];

static int set_up(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	A = arena_new("test");
	snprintf(home, sizeof(home), "%.40s/muster-fs.XXXXXX",
		 tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	return mkdtemp(home) ? 0 : -1;
}

static int tear_down(void **state)
{
	struct err e;

	(void)state;
	arena_freep(&A);
	env_fini();
	return fs_remove_tree(home, &e);
}

static char *in(const char *name)
{
	return fs_join(A, home, name);
}

static void must(int rc, const struct err *e)
{
	if (rc != 0)
		fail_msg("%s", e->msg);
}

static void written_is_read(void **state)
{
	struct err e;
	struct str s;
	struct stat st;

	(void)state;
	must(fs_write_atomic(in("f"), STR("one\0two"), 0640, &e), &e);
	must(fs_read(A, in("f"), 7, &s, &e), &e);
	assert_int_equal(s.n, 7);
	assert_memory_equal(s.p, "one\0two", 8);
	assert_int_equal(stat(in("f"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	must(fs_write_atomic(in("f"), STR_NONE, 0600, &e), &e);
	must(fs_read(A, in("f"), 0, &s, &e), &e);
	assert_int_equal(s.n, 0);
	assert_string_equal(s.p, "");
}

static void reading_is_bounded(void **state)
{
	struct err e;
	struct str s;

	(void)state;
	must(fs_write_atomic(in("f"), STR("12345"), 0600, &e), &e);
	assert_int_equal(fs_read(A, in("f"), 4, &s, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_non_null(strstr(e.msg, "more than 4 bytes"));
	assert_int_equal(fs_read(A, "/dev/zero", 10000, &s, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	/* a size of 0 that is not one */
	must(fs_read(A, "/proc/self/status", 1 << 20, &s, &e), &e);
	assert_true(s.n > 100);
}

static void what_cannot_be_read(void **state)
{
	struct err e;
	struct str s;

	(void)state;
	assert_int_equal(fs_read(A, in("nope"), 10, &s, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(fs_read(A, home, 10, &s, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(mkfifo(in("fifo"), 0600), 0);
	must(fs_read(A, in("fifo"), 10, &s, &e), &e); /* does not wait for a writer */
	assert_int_equal(s.n, 0);
}

static void a_failed_write_leaves_nothing(void **state)
{
	struct fs_names names;
	struct err e;

	(void)state;
	assert_int_equal(fs_write_atomic(in("no/such/folder"), STR("x"), 0600, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	must(fs_mkdirs(in("d/full"), 0755, &e), &e);
	/* a folder is in the way */
	assert_int_equal(fs_write_atomic(in("d"), STR("x"), 0600, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	must(fs_list(A, home, &names, &e), &e);
	assert_int_equal(names.names.n, 1);
	assert_string_equal(names.names.v[0], "d");
}

static void writing_replaces_a_link_not_its_target(void **state)
{
	struct err e;
	struct str s;

	(void)state;
	must(fs_write_atomic(in("target"), STR("old"), 0600, &e), &e);
	assert_int_equal(symlink("target", in("link")), 0);
	must(fs_write_atomic(in("link"), STR("new"), 0600, &e), &e);
	must(fs_read(A, in("target"), 10, &s, &e), &e);
	assert_string_equal(s.p, "old");
}

static void making_folders(void **state)
{
	struct err e;

	(void)state;
	must(fs_mkdirs(in("a/b//c/"), 0755, &e), &e);
	assert_true(fs_is_dir(in("a/b/c")));
	must(fs_mkdirs(in("a/b/c"), 0755, &e), &e);
	must(fs_write_atomic(in("file"), STR("x"), 0600, &e), &e);
	assert_int_equal(fs_mkdirs(in("file"), 0755, &e), -1);
	assert_int_equal(fs_mkdirs(in("file/x"), 0755, &e), -1);
	assert_true(fs_exists(in("file")) && !fs_is_dir(in("file")) && !fs_exists(in("nope")));
}

static void trees_are_removed_without_following_links(void **state)
{
	struct err e;

	(void)state;
	must(fs_mkdirs(in("keep"), 0755, &e), &e);
	must(fs_write_atomic(in("keep/file"), STR("x"), 0600, &e), &e);
	must(fs_mkdirs(in("t/u/v"), 0755, &e), &e);
	must(fs_write_atomic(in("t/u/file"), STR("x"), 0600, &e), &e);
	assert_int_equal(symlink("../keep", in("t/link")), 0);
	assert_int_equal(symlink("/nowhere", in("t/broken")), 0);
	must(fs_remove_tree(in("t"), &e), &e);
	assert_false(fs_exists(in("t")));
	assert_true(fs_exists(in("keep/file")));
	assert_int_equal(symlink("keep", in("link")), 0);
	must(fs_remove_tree(in("link/"), &e), &e); /* the link goes, not what it points to */
	assert_true(fs_exists(in("keep/file")));
	must(fs_remove_tree(in("nope"), &e), &e);
	must(fs_remove_tree(in("keep/file"), &e), &e);
	assert_false(fs_exists(in("keep/file")));
	assert_int_equal(fs_remove_tree("/", &e), -1);
	assert_int_equal(fs_remove_tree("", &e), -1);
}

/* In a child with mounts of its own. 0: refused and nothing lost; 77: no right to mount here. */
static int remove_over_a_mount(void)
{
	struct err e;

	if (unshare(geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0 ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", in("t/mnt"), "tmpfs", 0, NULL) != 0)
		return 77;
	if (mkdir(in("t/mnt/keep"), 0755) != 0)
		return 77;
	if (fs_remove_tree(in("t"), &e) != -1 || !strstr(e.msg, "another file system"))
		return 1;
	return fs_is_dir(in("t/mnt/keep")) ? 0 : 2;
}

static void mounts_are_not_crossed(void **state)
{
	struct err e;
	int status;
	pid_t pid;

	(void)state;
	must(fs_mkdirs(in("t/mnt"), 0755, &e), &e);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(remove_over_a_mount());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void deep_trees(void **state)
{
	struct err e;
	int depth, at = open(home, O_RDONLY | O_DIRECTORY);

	(void)state;
	for (depth = 0; depth < 300; depth++) {
		int next;
		assert_int_equal(mkdirat(at, "d", 0755), 0);
		next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		assert_true(next >= 0);
		close(at);
		at = next;
	}
	close(at);
	assert_int_equal(fs_remove_tree(in("d"), &e), -1); /* bounded, and says so */
	assert_non_null(strstr(e.msg, "folders deep"));
	for (int i = 0; i < 100; i++)
		assert_int_equal(rename(in("d/d"), in("e")) || rmdir(in("d")) ||
					 rename(in("e"), in("d")),
				 0);
	must(fs_remove_tree(in("d"), &e), &e);
}

static void lists_are_sorted(void **state)
{
	static const char *const names[] = { "b", "a", ".hidden", "c" };
	struct fs_names got;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		must(fs_write_atomic(in(names[i]), STR(""), 0600, &e), &e);
	must(fs_list(A, home, &got, &e), &e);
	assert_int_equal(got.names.n, 4);
	assert_string_equal(got.names.v[0], ".hidden");
	assert_string_equal(got.names.v[3], "c");
	assert_int_equal(fs_list(A, in("nope"), &got, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	must(fs_mkdirs(in("empty"), 0755, &e), &e);
	must(fs_list(A, in("empty"), &got, &e), &e);
	assert_int_equal(got.names.n, 0);
}

static void names(void **state)
{
	static const struct {
		const char *dir, *name, *joined;
	} joins[] = { { "a", "b", "a/b" }, { "a/", "b", "a/b" }, { "a//", "b", "a/b" },
		      { "", "b", "b" },	   { ".", "b", "b" },	 { "/", "b", "/b" },
		      { "//", "b", "/b" }, { "a", "/b", "/b" },	 { "..", "b", "../b" } };
	static const struct {
		const char *path, *dir;
	} dirs[] = { { "a/b", "a" },  { "/a", "/" }, { "a", "." }, { "a/b/", "a" },
		     { "a//b", "a" }, { "/", "/" },  { "", "." },  { "//a", "/" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(joins); i++)
		assert_string_equal(fs_join(A, joins[i].dir, joins[i].name), joins[i].joined);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		assert_string_equal(fs_dirname(A, dirs[i].path), dirs[i].dir);
	env_set("HOME", "/users/me");
	assert_string_equal(fs_expand_home(A, "~"), "/users/me");
	assert_string_equal(fs_expand_home(A, "~/x"), "/users/me/x");
	assert_string_equal(fs_expand_home(A, "~other/x"), "~other/x");
	assert_string_equal(fs_expand_home(A, "a/~"), "a/~");
	env_set("HOME", NULL);
	assert_string_equal(fs_expand_home(A, "~/x"), "~/x");
}

#define fs_test(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

static void writing_never_replaces_what_is_no_file(void **state)
{
	struct err e = { 0 };
	struct stat st;

	(void)state;
	assert_int_equal(mkfifo(in("pipe"), 0600), 0);
	assert_int_equal(symlink("pipe", in("to-pipe")), 0);
	assert_int_equal(symlink("/proc/self/fd/1", in("stream")), 0);
	assert_int_equal(fs_write_atomic(in("pipe"), STR("x"), 0600, &e), -1);
	assert_non_null(strstr(e.msg, "not a file"));
	assert_int_equal(fs_write_atomic(in("to-pipe"), STR("x"), 0600, &e), -1);
	assert_int_equal(fs_write_atomic(in("stream"), STR("x"), 0600, &e), -1);
	assert_int_equal(lstat(in("pipe"), &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	assert_int_equal(lstat(in("to-pipe"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(lstat(in("stream"), &st), 0);
	assert_true(S_ISLNK(st.st_mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		fs_test(written_is_read),
		fs_test(reading_is_bounded),
		fs_test(what_cannot_be_read),
		fs_test(a_failed_write_leaves_nothing),
		fs_test(writing_replaces_a_link_not_its_target),
		fs_test(writing_never_replaces_what_is_no_file),
		fs_test(making_folders),
		fs_test(trees_are_removed_without_following_links),
		fs_test(mounts_are_not_crossed),
		fs_test(deep_trees),
		fs_test(lists_are_sorted),
		fs_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
