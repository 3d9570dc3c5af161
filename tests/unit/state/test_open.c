/* SPDX-License-Identifier: Apache-2.0 */
/* Opening: new, wrong, old, newer, foreign, read-only. */
#include "fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gen/state_schema.h"

static mode_t mode_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

static void new_state_is_private(void **data)
{
	(void)data;
	mode_t old = umask(0);
	struct state *s = open_leased();
	char path[700];

	umask(old);
	snprintf(path, sizeof path, "%s/.muster", dir);
	assert_int_equal(mode_of(path), 0700);
	assert_int_equal(mode_of(db), 0600);
	snprintf(path, sizeof path, "%s-wal", db);
	assert_int_equal(mode_of(path), 0600);
	assert_string_equal(state_path(s), db);
	assert_int_equal(problems_of(s), 0);
	state_close(s);
	state_close(NULL);
	assert_int_equal(raw_int(db, "PRAGMA user_version"), ARRAY_LEN(state_schema));
	assert_int_equal(raw_int(db, "PRAGMA application_id"), 0x4d535452);
	assert_int_equal(
		raw_int(db, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"),
		1);
}

static void absent_without_create(void **data)
{
	struct state *s;

	(void)data;
	FAILS(state_open(db, NULL, 0, &s, &err), ERR_NOT_FOUND, "no state file");
	assert_null(s);
	FAILS(state_open(db, NULL, STATE_READONLY, &s, &err), ERR_NOT_FOUND, "no state file");
	FAILS(state_open(db, NULL, STATE_READONLY | STATE_CREATE, &s, &err), ERR_NOT_FOUND,
	      "no state file");
	assert_false(fs_exists(db));
}

static void empty_file_becomes_a_state(void **data)
{
	struct state *s;
	int fd;

	(void)data;
	OK(fs_mkdirs(fs_dirname(arena, db), 0700, &err));
	fd = open(db, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	FAILS(state_open(db, NULL, 0, &s, &err), ERR_NOT_FOUND, "no state file");
	s = open_new();
	assert_int_equal(problems_of(s), 0);
	state_close(s);
}

static void other_cluster_is_refused(void **data)
{
	struct state *s = open_new();
	const char *name;

	(void)data;
	OK(state_meta_get(s, arena, "cluster", &name, &err));
	assert_string_equal(name, "train");
	state_close(s);
	FAILS(state_open(db, "other", 0, &s, &err), ERR_CONFLICT, "belongs to cluster 'train'");
	OK(state_open(db, NULL, 0, &s, &err));
	state_close(s);
	OK(state_open(db, "train", STATE_READONLY, &s, &err));
	state_close(s);
}

static void newer_version_is_refused(void **data)
{
	struct state *s = open_new();

	(void)data;
	state_close(s);
	raw_sql(db, "PRAGMA user_version = 99");
	FAILS(state_open(db, NULL, 0, &s, &err), ERR_CONFLICT, "newer muster (version 99");
	FAILS(state_open(db, NULL, STATE_READONLY, &s, &err), ERR_CONFLICT, "newer muster");
	assert_int_equal(raw_int(db, "PRAGMA user_version"), 99);
}

static void foreign_database_is_refused(void **data)
{
	struct state *s;

	(void)data;
	OK(fs_mkdirs(fs_dirname(arena, db), 0700, &err));
	raw_sql(db, "CREATE TABLE cookies (a)");
	FAILS(state_open(db, NULL, STATE_CREATE, &s, &err), ERR_CONFLICT, "not a muster state");
	assert_int_equal(raw_int(db, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void text_file_is_refused(void **data)
{
	struct state *s;

	(void)data;
	OK(fs_mkdirs(fs_dirname(arena, db), 0700, &err));
	OK(fs_write_atomic(db,
			   STR("cluster: train\n# not a database, and long enough to be looked at"),
			   0600, &err));
	FAILS(state_open(db, NULL, STATE_CREATE, &s, &err), ERR_IO, "is damaged");
	assert_non_null(strstr(err.hint, "no backup"));
	FAILS(state_open(dir, NULL, 0, &s, &err), ERR_IO, "not a regular file");
}

/* A version-1 file with a row, as the first muster would have left it. */
static void make_version_1(void)
{
	char *sql = arena_printf(
		arena,
		"PRAGMA journal_mode = WAL; BEGIN; %s; PRAGMA application_id = %d; "
		"PRAGMA user_version = 1; INSERT INTO meta VALUES ('cluster', 'train'); "
		"INSERT INTO meta VALUES ('kept', 'yes'); COMMIT",
		state_schema[0].sql, 0x4d535452);

	OK(fs_mkdirs(fs_dirname(arena, db), 0700, &err));
	raw_sql(db, sql);
}

static size_t count_backups(void)
{
	struct fs_names names = { 0 };
	char path[700];

	snprintf(path, sizeof path, "%s/.muster/backups", dir);
	if (!fs_exists(path))
		return 0;
	OK(fs_list(arena, path, &names, &err));
	return names.names.n;
}

static void version_1_is_migrated_after_a_backup(void **data)
{
	struct state *s;
	const char *kept;

	(void)data;
	make_version_1();
	OK(state_open(db, "train", 0, &s, &err));
	OK(state_meta_get(s, arena, "kept", &kept, &err));
	assert_string_equal(kept, "yes");
	OK(lease_take(s, "run1", "apply", &err));
	OK(state_resource_put(s, sample("node.a[0]"), &err));
	state_close(s);
	assert_int_equal(raw_int(db, "PRAGMA user_version"), ARRAY_LEN(state_schema));
	assert_int_equal(count_backups(), 1);
}

/* A version-3 file whose one lease is held by a run on another machine, or was held six times. */
static void make_version_3(bool held)
{
	char *sql = arena_printf(
		arena,
		"PRAGMA journal_mode = WAL; BEGIN; %s; %s; %s; PRAGMA application_id = %d; "
		"PRAGMA user_version = 3; INSERT INTO meta VALUES ('cluster', 'train'); "
		"UPDATE lease SET fence = 6; %s; COMMIT",
		state_schema[0].sql, state_schema[1].sql, state_schema[2].sql, 0x4d535452,
		held ? "UPDATE lease SET run = 'old', who = 'ann', host = 'far', command = 'apply', "
		       "boot_id = 'b', machine = 'm', pid_ns = 'n', pid = 1, pid_start = 1, "
		       "taken_ms = 1, beat_ms = 1, expires_ms = 9999999999999"
		     : "SELECT 1");

	OK(fs_mkdirs(fs_dirname(arena, db), 0700, &err));
	raw_sql(db, sql);
}

static void version_3_keeps_who_holds_its_lease(void **data)
{
	struct state *s;
	struct leases all;

	(void)data;
	make_version_3(true);
	OK(state_open(db, "train", 0, &s, &err));
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	assert_string_equal(all.v.v[0]->h.run, "old");
	assert_int_equal(all.v.v[0]->h.fence, 6);
	assert_true(all.v.v[0]->whole);
	FAILS(lease_take(s, NULL, "apply", &err), ERR_LEASE, "ann@far");
	state_close(s);
}

static void version_3_keeps_its_number_of_leases(void **data)
{
	struct state *s;
	struct leases all;

	(void)data;
	make_version_3(false);
	OK(state_open(db, "train", 0, &s, &err));
	OK(lease_take(s, NULL, "apply", &err));
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	assert_int_equal(all.v.v[0]->h.fence, 7);
	OK(lease_release(s, &err));
	state_close(s);
}

/* Files of versions before have larger pages, and keep them. */
static void page_sizes_of_old_and_new_files(void **data)
{
	struct state *s;

	(void)data;
	make_version_1();
	assert_int_equal(raw_int(db, "PRAGMA page_size"), 4096);
	OK(state_open(db, "train", 0, &s, &err));
	state_close(s);
	assert_int_equal(raw_int(db, "PRAGMA page_size"), 4096);
	assert_int_equal(truncate(db, 2048), 0);
	FAILS(state_open(db, "train", STATE_CREATE, &s, &err), ERR_IO, "it was cut off");
	assert_int_equal(unlink(db), 0);
	s = open_new();
	state_close(s);
	assert_int_equal(raw_int(db, "PRAGMA page_size"), 2048);
}

static void version_1_is_migrated_for_a_reader(void **data)
{
	struct state *s;
	struct leases all;

	(void)data;
	make_version_1();
	OK(state_open(db, "train", STATE_READONLY, &s, &err));
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 0);
	state_close(s);
	assert_int_equal(raw_int(db, "PRAGMA user_version"), ARRAY_LEN(state_schema));
}

/* A migration that cannot end leaves the old version whole. */
static void failed_migration_leaves_version_1(void **data)
{
	struct state *s;

	(void)data;
	make_version_1();
	raw_sql(db, "CREATE TABLE journal (in_the_way)");
	FAILS(state_open(db, "train", 0, &s, &err), ERR_IO, "journal");
	assert_int_equal(raw_int(db, "PRAGMA user_version"), 1);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM sqlite_schema WHERE name = 'runs'"), 0);
	raw_sql(db, "DROP TABLE journal");
	OK(state_open(db, "train", 0, &s, &err));
	state_close(s);
}

static void many_create_at_once(void **data)
{
	pid_t pid[6];

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct state *s;
			int rc = state_open(db, "train", STATE_CREATE, &s, &err);
			if (rc)
				fprintf(stderr, "# %s\n", err.msg);
			else
				state_close(s);
			_exit(rc ? 1 : 0);
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		int status;
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		assert_int_equal(status, 0);
	}
	struct state *s = open_new();
	assert_int_equal(problems_of(s), 0);
	state_close(s);
}

static void reader_writes_nothing(void **data)
{
	struct state *s = open_leased(), *r;
	struct state_resources all;
	const char *id;

	(void)data;
	OK(state_resource_put(s, sample("node.a[0]"), &err));
	OK(state_open(db, NULL, STATE_READONLY, &r, &err));
	OK(state_resources(r, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	FAILS(lease_take(r, NULL, "apply", &err), ERR_BUG, "opened for reading");
	FAILS(state_resource_put(r, sample("x"), &err), ERR_BUG, "opened for reading");
	FAILS(state_run_begin(r, arena, &(struct state_run){ .command = "x" }, &id, &err), ERR_BUG,
	      "reading");
	state_close(r);
	state_close(s);
}

/* In a child that has given up root: permissions mean nothing to root. */
static int as_nobody(int (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (setgid(65534) || setuid(65534))
			_exit(99);
		_exit(fn());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

static int read_only_folder(void)
{
	struct state *s;
	struct state_resources all;

	if (!state_open(db, "train", 0, &s, &err) || err.kind != ERR_IO ||
	    !strstr(err.msg, "cannot be written"))
		return 1;
	err = (struct err){ 0 };
	if (state_open(db, "train", STATE_READONLY, &s, &err)) {
		fprintf(stderr, "# %s\n", err.msg);
		return 2;
	}
	if (state_resources(s, arena, &all, &err) || all.v.n != 1)
		return 3;
	state_close(s);
	return 0;
}

static int folder_without_write(void)
{
	struct state *s;
	char path[700];

	snprintf(path, sizeof path, "%s/new/state.db", dir);
	return !state_open(path, "train", STATE_CREATE, &s, &err) || err.kind != ERR_IO;
}

static void read_only_file_and_folder(void **data)
{
	struct state *s;

	(void)data;
	/* The folder of the test run is closed to others. */
	rmdir(dir);
	snprintf(dir, sizeof dir, "/tmp/muster-state.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(db, sizeof db, "%s/.muster/state.db", dir);
	s = open_leased();
	OK(state_resource_put(s, sample("node.a[0]"), &err));
	OK(lease_release(s, &err));
	state_close(s);
	if (geteuid() != 0) {
		assert_int_equal(chmod(db, 0444), 0);
		assert_int_equal(chmod(fs_dirname(arena, db), 0555), 0);
		assert_int_equal(read_only_folder(), 0);
		assert_int_equal(chmod(fs_dirname(arena, db), 0755), 0);
		return;
	}
	/* Readable for all on the way there, writable for root alone. */
	assert_int_equal(chmod(dir, 0755), 0);
	assert_int_equal(chmod(fs_dirname(arena, db), 0755), 0);
	assert_int_equal(chmod(db, 0644), 0);
	if (as_nobody(read_only_folder) == 1)
		fail_msg("%s", "a read-only file was opened for writing, or the message is wrong");
	assert_int_equal(as_nobody(read_only_folder), 0);
	assert_int_equal(as_nobody(folder_without_write), 0);
}

/* A state that was emptied must not become a new one, which would build the fleet a second time. */
static void emptied_state_is_no_new_one(void **data)
{
	struct state *s = open_leased();

	(void)data;
	OK(state_backup(s, NULL, &err));
	OK(lease_release(s, &err));
	state_close(s);
	assert_int_equal(truncate(db, 0), 0);
	FAILS(state_open(db, "train", STATE_CREATE, &s, &err), ERR_IO, "it was cut off");
	assert_non_null(strstr(err.hint, "restore the newest backup"));
	assert_int_equal(truncate(db, 100), 0);
	FAILS(state_open(db, "train", STATE_CREATE, &s, &err), ERR_IO, "it was cut off");
}

static void odd_names_work(void **data)
{
	struct state *s;

	(void)data;
	snprintf(db, sizeof db, "%s/a b?c#d%%20/x;'\"--.db", dir);
	s = open_leased();
	OK(state_resource_put(s, sample("node.a[0]"), &err));
	OK(state_backup(s, NULL, &err));
	state_close(s);
	assert_true(fs_exists(db));
	OK(state_open(db, NULL, STATE_READONLY, &s, &err));
	state_close(s);
}

/* One run that puts so many resources of 100 KB each. */
static void big_run(struct state *s, int from, int n)
{
	scoped(buf_fini) struct buf text = { 0 };
	const char *id;

	buf_init(&text, 1 << 20);
	buf_addn(&text, 'x', 100000);
	OK(lease_take(s, NULL, "apply", &err));
	OK(state_run_begin(s, arena, &(struct state_run){ .command = "apply" }, &id, &err));
	for (int i = from; i < from + n; i++) {
		struct state_resource *r = sample(arena_printf(arena, "node.big[%d]", i));
		r->attrs = sample_value(i, text.p);
		OK(state_resource_put(s, r, &err));
	}
	OK(state_run_end(s, id, "ok", NULL, &err));
	OK(lease_release(s, &err));
}

static void a_large_state_is_not_copied_for_a_small_change(void **data)
{
	struct state *s = open_new();

	(void)data;
	big_run(s, 0, 1);
	big_run(s, 1, 1);
	assert_int_equal(count_backups(), 2); /* small */
	big_run(s, 2, 60);
	assert_int_equal(count_backups(), 3); /* grown */
	big_run(s, 62, 2);
	big_run(s, 64, 2);
	assert_int_equal(count_backups(), 3);
	big_run(s, 66, 20);
	assert_int_equal(count_backups(), 4);
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(new_state_is_private),
		STATE_TEST(absent_without_create),
		STATE_TEST(empty_file_becomes_a_state),
		STATE_TEST(other_cluster_is_refused),
		STATE_TEST(newer_version_is_refused),
		STATE_TEST(foreign_database_is_refused),
		STATE_TEST(text_file_is_refused),
		STATE_TEST(version_1_is_migrated_after_a_backup),
		STATE_TEST(version_1_is_migrated_for_a_reader),
		STATE_TEST(failed_migration_leaves_version_1),
		STATE_TEST(many_create_at_once),
		STATE_TEST(reader_writes_nothing),
		STATE_TEST(read_only_file_and_folder),
		STATE_TEST(emptied_state_is_no_new_one),
		STATE_TEST(odd_names_work),
		STATE_TEST(version_3_keeps_who_holds_its_lease),
		STATE_TEST(version_3_keeps_its_number_of_leases),
		STATE_TEST(page_sizes_of_old_and_new_files),
		STATE_TEST(a_large_state_is_not_copied_for_a_small_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
