/* SPDX-License-Identifier: Apache-2.0 */
/* What git knows about a spec's files, asked of real repositories made with git. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "net/net.h"

static struct arena *a;
static struct err err;
static char *top, *repo;

#define OK(call)                                                                \
	do {                                                                    \
		err = (struct err){ 0 };                                        \
		if (call)                                                       \
			fail_msg("%s: %s; hint: %s", #call, err.msg, err.hint); \
	} while (0)

static const char *at(const char *name)
{
	return fs_join(a, repo, name);
}

static void put(const char *name, const char *text)
{
	OK(fs_mkdirs(fs_dirname(a, at(name)), 0755, &err));
	OK(fs_write_atomic(at(name), str_of(text), 0644, &err));
}

/* git, with nobody's configuration but ours; its first line of output. */
static const char *run_git(const char *dir, const char *const *words)
{
	const char *home = arena_printf(a, "HOME=%s", top);
	const char *env[] = { home, "PATH=/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM=1",
			      NULL };
	const char *argv[24] = { "git",
				 "-C",
				 dir,
				 "-c",
				 "user.name=x",
				 "-c",
				 "user.email=x@y",
				 "-c",
				 "init.defaultBranch=main" };
	size_t n = 9;
	struct proc_result r;

	while (*words && n < ARRAY_LEN(argv) - 1)
		argv[n++] = *words++;
	OK(proc_check(a, argv, &(struct proc_opts){ .env = env }, &r, &err));
	return str_cstr(a, str_trim(r.out));
}

#define GIT(...) run_git(repo, (const char *const[]){ __VA_ARGS__, NULL })

static const char *commit_all(void)
{
	GIT("add", "-A");
	GIT("commit", "-q", "--allow-empty", "-m", "x");
	return GIT("rev-parse", "HEAD");
}

static int setup(void **data)
{
	char dir[] = "/tmp/muster-git.XXXXXX";

	(void)data;
	a = arena_new("test");
	assert_non_null(mkdtemp(dir));
	top = arena_strdup(a, dir);
	repo = fs_join(a, top, "repo");
	OK(fs_mkdirs(repo, 0755, &err));
	GIT("init", "-q");
	return 0;
}

static int teardown(void **data)
{
	(void)data;
	OK(fs_remove_tree(top, &err));
	arena_free(a);
	return 0;
}

static struct git_facts look(const char *const *files, size_t n)
{
	struct git_question q = {
		.dir = at("fleet"), .files = files, .n_files = n, .state_dir = at("fleet/.muster")
	};
	struct git_facts f;

	OK(git_look(a, &q, &f, &err));
	return f;
}

static void commit_branch_and_path(void **data)
{
	(void)data;
	put("fleet/muster.yaml", "cluster: x\n");
	struct git_facts f = look(NULL, 0);
	assert_null(f.commit); /* nothing was committed yet */
	const char *id = commit_all();
	f = look(NULL, 0);
	assert_string_equal(f.commit, id);
	assert_string_equal(f.branch, "main");
	assert_string_equal(f.path, "fleet");
	assert_string_equal(f.root, repo);
	assert_false(f.dirty);
	GIT("checkout", "-q", "--detach");
	f = look(NULL, 0);
	assert_string_equal(f.commit, id);
	assert_null(f.branch);
}

static void what_makes_dirty(void **data)
{
	const char *files[] = { at("fleet/muster.yaml"), at("fleet/roles/r/tasks/main.yml"),
				at("lib/play.yml"), "/etc/hostname", at("not/there") };

	(void)data;
	put("fleet/muster.yaml", "cluster: x\n");
	put("fleet/roles/r/tasks/main.yml", "[]\n");
	put("fleet/roles/r/handlers/main.yml", "[]\n");
	put("lib/play.yml", "[]\n");
	put("other/file", "1\n");
	commit_all();
	assert_false(look(files, 5).dirty);

	/* No part of what is applied. */
	put("fleet/.muster/state.db", "x");
	put("fleet/plan.out", "x");
	put("fleet/notes/todo", "x");
	put("other/file", "2\n");
	assert_false(look(files, 5).dirty);

	put("fleet/muster.yaml", "cluster: y\n");
	assert_true(look(files, 5).dirty);
	assert_string_equal(look(files, 5).changed, "fleet/muster.yaml");
	GIT("add", "fleet/muster.yaml");
	assert_true(look(files, 5).dirty); /* staged is not committed */
	GIT("commit", "-q", "-m", "y");
	assert_false(look(files, 5).dirty);

	/* A file beside the spec's folder counts when it is read. */
	put("lib/play.yml", "[1]\n");
	assert_true(look(files, 5).dirty);
	assert_string_equal(look(files, 5).changed, "lib/play.yml");
	assert_false(look(files, 2).dirty);
	GIT("checkout", "-q", "lib/play.yml");

	/* Gone, and so not read any more. */
	OK(unlink(at("fleet/roles/r/handlers/main.yml")));
	assert_true(look(files, 5).dirty);
	GIT("checkout", "-q", "fleet");

	/* Read, and known to no commit; unless git is told to ignore it. */
	put("fleet/roles/r/tasks/more.yml", "[]\n");
	assert_false(look(files, 5).dirty);
	files[4] = at("fleet/roles/r/tasks/more.yml");
	assert_true(look(files, 5).dirty);
	assert_string_equal(look(files, 5).changed, "fleet/roles/r/tasks/more.yml");
	put(".git/info/exclude", "more.yml\n");
	assert_false(look(files, 5).dirty);
}

static void state_that_was_committed_is_no_change(void **data)
{
	(void)data;
	put("fleet/muster.yaml", "cluster: x\n");
	put("fleet/.muster/state.db", "1");
	commit_all();
	put("fleet/.muster/state.db", "2");
	assert_false(look(NULL, 0).dirty);
}

static void spec_in_the_root(void **data)
{
	struct git_question q = { .dir = repo };
	struct git_facts f;

	(void)data;
	put("muster.yaml", "cluster: x\n");
	commit_all();
	OK(git_look(a, &q, &f, &err));
	assert_string_equal(f.path, "");
	assert_false(f.dirty);
	put("muster.yaml", "cluster: y\n");
	OK(git_look(a, &q, &f, &err));
	assert_true(f.dirty);
}

static void where_there_is_no_git(void **data)
{
	struct git_question q = { .dir = top };
	struct git_facts f;

	(void)data;
	err = (struct err){ 0 };
	assert_int_equal(git_look(a, &q, &f, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(err.msg, "not in a git repository"));
	assert_null(f.commit);
}

static void somebody_elses_repository(void **data)
{
	struct git_question q = { .dir = repo };
	struct git_facts f;

	(void)data;
	if (geteuid() != 0)
		skip();
	put("muster.yaml", "cluster: x\n");
	commit_all();
	OK(chown(repo, 12345, 12345) || chown(at(".git"), 12345, 12345));
	err = (struct err){ 0 };
	assert_int_equal(git_look(a, &q, &f, &err), -1);
	if (err.kind != ERR_AUTH || !strstr(err.msg, "another user"))
		fail_msg("%s: %s", err_kind_name(err.kind), err.msg);
}

/* Hooks, filters and monitors of the repository are programs of whoever wrote it. */
static void nothing_of_the_repository_runs(void **data)
{
	const char *mark = fs_join(a, top, "ran"), *prog = fs_join(a, top, "prog");
	struct git_files files;

	(void)data;
	OK(fs_write_atomic(prog, str_of(arena_printf(a, "#!/bin/sh\necho x >>%s\ncat\n", mark)),
			   0755, &err));
	put("fleet/muster.yaml", "cluster: x\n");
	put(".gitattributes", "* filter=evil diff=evil\n");
	const char *id = commit_all();
	const char *keys[] = { "filter.evil.clean", "filter.evil.smudge", "filter.evil.process",
			       "core.fsmonitor",    "core.sshCommand",	  "diff.evil.textconv",
			       "diff.evil.command", "core.gitProxy",	  "credential.helper" };
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		GIT("config", keys[i], prog);
	OK(fs_mkdirs(at(".git/hooks"), 0755, &err));
	OK(fs_write_atomic(at(".git/hooks/post-checkout"),
			   str_of(arena_printf(a, "#!/bin/sh\necho x >>%s\n", mark)), 0755, &err));
	(void)unlink(mark);
	put("fleet/muster.yaml", "cluster: y\n");
	assert_true(look(NULL, 0).dirty);
	const char *into = fs_join(a, top, "into");
	OK(fs_mkdirs(into, 0700, &err));
	struct git_order o = { .dir = at("fleet"), .commit = id, .path = "fleet", .into = into };
	OK(git_checkout_into(a, &o, &files, &err));
	assert_false(fs_exists(mark));
}

static const char *text_of(const char *into, const char *name)
{
	struct str s;

	OK(fs_read(a, fs_join(a, into, name), 4096, &s, &err));
	return str_cstr(a, s);
}

static const char *fresh(const char *name)
{
	const char *into = fs_join(a, top, name);

	OK(fs_mkdirs(into, 0700, &err));
	return into;
}

static void files_of_an_older_commit(void **data)
{
	struct git_files files;
	struct stat st;

	(void)data;
	put("fleet/muster.yaml", "one\n");
	put("fleet/roles/r/files/run.sh", "#!/bin/sh\n");
	put("fleet/.muster/state.db", "x");
	put("lib/play.yml", "[]\n");
	OK(chmod(at("fleet/roles/r/files/run.sh"), 0755));
	OK(symlink("muster.yaml", at("fleet/link.yaml")));
	OK(symlink("/etc/passwd", at("out-of-the-way")));
	const char *one = commit_all();
	put("fleet/muster.yaml", "two\n");
	put("fleet/big.bin",
	    "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n");
	const char *two = commit_all();

	struct git_order o = {
		.dir = at("fleet"), .commit = one, .path = "fleet", .into = fresh("one")
	};
	OK(git_checkout_into(a, &o, &files, &err));
	assert_string_equal(text_of(o.into, "fleet/muster.yaml"), "one\n");
	assert_string_equal(text_of(o.into, "fleet/link.yaml"), "one\n");
	assert_string_equal(text_of(o.into, "lib/play.yml"), "[]\n");
	assert_false(fs_exists(fs_join(a, o.into, "fleet/.muster")));
	assert_int_not_equal(lstat(fs_join(a, o.into, "out-of-the-way"), &st), 0);
	OK(stat(fs_join(a, o.into, "fleet/roles/r/files/run.sh"), &st));
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_true(files.whole);
	assert_int_equal(files.pointers, 0);

	o.commit = two;
	o.into = fresh("two");
	OK(git_checkout_into(a, &o, &files, &err));
	assert_string_equal(text_of(o.into, "fleet/muster.yaml"), "two\n");
	assert_int_equal(files.pointers, 1);
	assert_string_equal(files.pointer, "fleet/big.bin");
}

static void refused(const struct git_order *o, enum err_kind kind, const char *text)
{
	struct git_files files;

	err = (struct err){ 0 };
	assert_int_equal(git_checkout_into(a, o, &files, &err), -1);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.msg, text) && !strstr(err.hint, text))
		fail_msg("no \"%s\" in: %s; %s", text, err.msg, err.hint);
}

static void what_cannot_be_given_back(void **data)
{
	struct git_order o = { .dir = repo, .path = "fleet" };

	(void)data;
	put("fleet/muster.yaml", "one\n");
	const char *id = commit_all();
	o.into = fresh("a");
	o.commit = "0123456789012345678901234567890123456789";
	refused(&o, ERR_NOT_FOUND, "not in the git repository here");
	o.commit = "HEAD";
	refused(&o, ERR_USAGE, "no id of a commit");
	o.commit = id;
	o.dir = top;
	refused(&o, ERR_NOT_FOUND, "not in a git repository");
	o.dir = repo;

	OK(symlink("../../x", at("fleet/link")));
	o.commit = commit_all();
	o.into = fresh("b");
	refused(&o, ERR_CONFLICT, "fleet/link is a link that leads out");
	OK(unlink(at("fleet/link")));

	/* A submodule that is not needed is no hindrance. */
	const char *sub = arena_printf(a, "160000,%s,lib/sub", id);
	GIT("add", "-A");
	GIT("update-index", "--add", "--cacheinfo", sub);
	GIT("commit", "-q", "-m", "sub");
	o.commit = GIT("rev-parse", "HEAD");
	o.into = fresh("c");
	struct git_files files;
	OK(git_checkout_into(a, &o, &files, &err));
	o.path = "";
	o.into = fresh("d");
	refused(&o, ERR_CONFLICT, "lib/sub is a submodule");
}

static void a_shallow_clone_says_so(void **data)
{
	(void)data;
	put("fleet/muster.yaml", "one\n");
	const char *old = commit_all();
	put("fleet/muster.yaml", "two\n");
	commit_all();
	GIT("clone", "-q", "--depth", "1", arena_printf(a, "file://%s", repo),
	    fs_join(a, top, "clone"));
	struct git_order o = { .dir = fs_join(a, top, "clone/fleet"),
			       .commit = old,
			       .path = "fleet",
			       .into = fresh("x") };
	refused(&o, ERR_NOT_FOUND, "git fetch --unshallow");
}

static void too_many_files_take_what_is_needed(void **data)
{
	struct git_files files;

	(void)data;
	put("fleet/muster.yaml", "one\n");
	put("lib/x", "1\n");
	commit_all();
	/* One blob under 20,001 names, straight into the index. */
	const char *blob = GIT("rev-parse", "HEAD:lib/x");
	scoped(buf_fini) struct buf b = { 0 };
	buf_init(&b, (size_t)4 << 20);
	for (int i = 0; i < 20001; i++)
		buf_addf(&b, "100644 %s\tlib/%d\n", blob, i);
	const char *argv[] = { "git", "-C", repo, "update-index", "--index-info", NULL };
	struct proc_result r;
	OK(proc_check(a, argv, &(struct proc_opts){ .input = buf_str(&b) }, &r, &err));
	GIT("commit", "-q", "-m", "many");
	struct git_order o = {
		.dir = repo, .commit = GIT("rev-parse", "HEAD"), .path = "fleet", .into = fresh("x")
	};
	OK(git_checkout_into(a, &o, &files, &err));
	assert_false(files.whole);
	assert_int_equal(files.n, 1);
	assert_true(fs_exists(fs_join(a, o.into, "fleet/muster.yaml")));
	assert_false(fs_exists(fs_join(a, o.into, "lib")));
	o.path = "lib";
	o.into = fresh("y");
	refused(&o, ERR_CONFLICT, "more than 20000 files");
}

static void in_a_task(void *arg)
{
	struct git_facts f = look(NULL, 0);

	*(bool *)arg = f.commit && !f.dirty;
}

static void on_the_pool(void **data)
{
	bool fine = false;

	(void)data;
	put("fleet/muster.yaml", "one\n");
	commit_all();
	OK(loop_run(in_a_task, &fine, NULL, &err));
	assert_true(fine);
}

#define GIT_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		GIT_TEST(commit_branch_and_path),
		GIT_TEST(what_makes_dirty),
		GIT_TEST(state_that_was_committed_is_no_change),
		GIT_TEST(spec_in_the_root),
		GIT_TEST(where_there_is_no_git),
		GIT_TEST(somebody_elses_repository),
		GIT_TEST(nothing_of_the_repository_runs),
		GIT_TEST(files_of_an_older_commit),
		GIT_TEST(what_cannot_be_given_back),
		GIT_TEST(a_shallow_clone_says_so),
		GIT_TEST(too_many_files_take_what_is_needed),
		GIT_TEST(on_the_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
