/* SPDX-License-Identifier: Apache-2.0 */
/* Check, export, import, backup, restore. */
#include "fixture.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* A bit of everything. Leaves the lease released. */
static struct state *filled(void)
{
	struct state *s = open_leased();
	struct state_resource *net = sample("here.network.main");
	const char *id;
	int64_t a, b;

	net->deps.n = 0;
	net->pool = NULL;
	net->attrs = NULL;
	OK(state_run_begin(s, arena, &(struct state_run){ .command = "apply", .spec_digest = "sd" },
			   &id, &err));
	OK(journal_intent(
		s, &(struct journal_row){ .addr = "node.a[0]", .action = "create", .token = "t" },
		&a, &err));
	OK(journal_intent(s, &(struct journal_row){ .addr = "node.a[1]", .action = "create" }, &b,
			  &err));
	OK(journal_flush(s, &err));
	OK(state_resource_put(s, net, &err));
	OK(journal_settle(s, a,
			  &(struct journal_result){ .outcome = JOURNAL_DONE,
						    .request = "rq",
						    .put = sample("node.a[0]") },
			  &err));
	OK(journal_flush(s, &err));
	OK(state_facts_put(s, "node.a[0]", sample_value(9, "Ubuntu \xc3\xa9"), &err));
	OK(state_event_add(s, NULL, "node.a[0]", "created", sample_value(1, "x"), &err));
	OK(state_event_add(s, NULL, NULL, "noted", NULL, &err));
	OK(state_meta_put(s, "k", "v", &err));
	OK(state_run_end(s, id, "partial", sample_value(1, "sum"), &err));
	OK(lease_release(s, &err));
	return s;
}

static struct value *exported(struct state *s, struct str *text)
{
	struct buf b;
	struct value *doc;

	buf_init(&b, BUF_MAX_DEFAULT);
	OK(state_export(s, &b, &err));
	*text = (struct str){ buf_dup(&b, arena), b.n };
	OK(json_parse(arena, "export", *text, &doc, &err));
	buf_fini(&b);
	return doc;
}

static struct state *open_other(const char *cluster)
{
	struct state *s;

	OK(state_open(arena_printf(arena, "%s/other/state.db", dir), cluster, STATE_CREATE, &s,
		      &err));
	OK(lease_take(s, "import", "state import", &err));
	return s;
}

static void check_finds(void **data)
{
	struct state *s = filled();
	struct err_list l = { 0 };

	(void)data;
	OK(state_check(s, &l, &err));
	assert_int_equal(l.n, 1); /* the open intent */
	assert_non_null(strstr(l.v[0].msg, "create of node.a[1] was begun by run run1"));
	assert_string_equal(l.v[0].addr, "node.a[1]");
	assert_string_equal(l.v[0].hint, "muster recover");
	err_list_fini(&l);
	raw_sql(db, "UPDATE resources SET id = 'i-124' WHERE addr = 'node.a[0]'");
	raw_sql(db, "INSERT INTO facts VALUES (999, '{}')");
	raw_sql(db, "UPDATE deps SET dep = 'gone'");
	raw_sql(db, "UPDATE runs SET summary = '{'");
	OK(state_check(s, &l, &err));
	bool sum = false, fk = false, dep = false, json = false, edited = false;
	for (size_t i = 0; i < l.n; i++) {
		sum |= strstr(l.v[i].msg, "checksum") != NULL;
		fk |= strstr(l.v[i].msg, "belongs to no resource") != NULL;
		dep |= strstr(l.v[i].msg, "depends on gone, which is not") != NULL;
		json |= strstr(l.v[i].msg, "reading a run") != NULL;
		edited |= strstr(l.v[i].msg, "run run1 was edited") != NULL;
	}
	assert_true(sum && fk && dep && json && edited);
	assert_int_equal(l.n, 6);
	err_list_fini(&l);
	state_close(s);
}

static void export_import_round_trip(void **data)
{
	struct state *s = filled(), *o = open_other("train");
	struct str first, second;
	struct value *doc = exported(s, &first);
	const struct value *facts;
	int64_t serial, other;

	(void)data;
	assert_int_equal(str_find(first, STR("\"lease\"")), SIZE_MAX);
	OK(state_import(o, arena, doc, &err));
	exported(o, &second);
	OK(state_serial(s, &serial, &err));
	OK(state_serial(o, &other, &err));
	assert_true(other >= serial);
	assert_string_equal(first.p, second.p);
	OK(state_facts_get(o, arena, "node.a[0]", &facts, &err));
	assert_int_equal(value_get_int(facts, "n", 0), 9);
	assert_int_equal(problems_of(o), 1); /* the open intent came along, the chain fits */
	/* And history goes on where it was. */
	OK(state_event_add(o, NULL, NULL, "imported", NULL, &err));
	assert_int_equal(problems_of(o), 1);
	FAILS(state_import(o, arena, doc, &err), ERR_CONFLICT, "is not empty");
	state_close(o);
	state_close(s);
}

static void empty_state_round_trip(void **data)
{
	struct state *s = open_new(), *o = open_other(NULL);
	struct str text;
	const char *cluster;

	(void)data;
	OK(state_import(o, arena, exported(s, &text), &err));
	OK(state_meta_get(o, arena, "cluster", &cluster, &err));
	assert_string_equal(cluster, "train");
	state_close(o);
	state_close(s);
}

/* A killed import leaves an event of its lease, and that must not stand in the way. */
static void import_after_a_broken_lease(void **data)
{
	struct state *s = filled(), *o = open_other("train");
	struct str text;

	(void)data;
	OK(lease_break(o, NULL, false, &err));
	state_close(o);
	o = open_other("train");
	OK(state_import(o, arena, exported(s, &text), &err));
	assert_int_equal(problems_of(o), 1);
	state_close(o);
	state_close(s);
}

struct fault {
	const char *find, *put; /* in the exported text */
	enum err_kind kind;
	const char *message;
};

static void wrong_documents_are_refused_whole(void **data)
{
	static const struct fault faults[] = {
		{ "\"muster_state\": 1", "\"muster_state\": 2", ERR_SPEC, "newer muster" },
		{ "\"muster_state\": 1", "\"other\": 1", ERR_SPEC, "not an exported muster state" },
		{ "\"serial\": ", "\"serials\": ", ERR_SPEC, "unknown key 'serials'" },
		{ "\"serial\": ", "\"serial\": \"x\", \"facts\": {}, \"x\": ", ERR_SPEC, "" },
		{ "\"cluster\": \"train\"", "\"cluster\": \"b\"", ERR_CONFLICT, "cluster 'b'" },
		{ "\"k\": \"v\"", "\"k\": 1", ERR_SPEC, "meta: k must be a text" },
		{ "\"addr\": \"here.network.main\"", "\"addr\": 7", ERR_SPEC,
		  "resources[0]: addr must be a text" },
		{ "\"addr\": \"here.network.main\"", "\"address\": \"a\"", ERR_SPEC,
		  "unknown key 'address'" },
		{ "\"addr\": \"here.network.main\"", "\"addr\": null", ERR_SPEC,
		  "addr is missing" },
		{ "\"addr\": \"here.network.main\"", "\"addr\": \"node.a[0]\"", ERR_SPEC, "twice" },
		{ "\"addr\": \"here.network.main\"", "\"addr\": \"a\\u0000b\"", ERR_SPEC, "" },
		{ "\"status\": \"ready\"", "\"status\": \"fine\"", ERR_SPEC, "status: not one of" },
		{ "\"created_ms\": ", "\"created_ms\": true, \"x\": ", ERR_SPEC,
		  "unknown key 'x'" },
		{ "\"here.network.main\"\n", "5\n", ERR_SPEC, "an address must be a text" },
		{ "\"node.a[0]\": {", "\"node.b[0]\": {", ERR_SPEC, "no resource 'node.b[0]'" },
		{ "\"command\": \"apply\"", "\"command\": []", ERR_SPEC,
		  "runs[0]: command must be" },
		{ "\"what\": \"created\"", "\"what\": \"deleted\"", ERR_SPEC,
		  "events[1]: event 2 does not fit" },
		{ "\"what\": \"noted\"", "\"what\": \"nothing\"", ERR_SPEC,
		  "events[2]: event 3 does not fit" },
		{ "\"seq\": 2,\n      \"at_ms\"", "\"seq\": 1,\n      \"at_ms\"", ERR_SPEC,
		  "out of order" },
		{ "\"outcome\": \"intent\"", "\"outcome\": 0", ERR_SPEC, "outcome: not one of" },
		{ "\"action\": \"create\"", "\"action\": {}", ERR_SPEC,
		  "journal[0]: action must be" },
		{ "\"seq\": 2,\n      \"run\"", "\"seq\": 1,\n      \"run\"", ERR_SPEC,
		  "journal[1]" },
		{ "\"seq\": 2,\n      \"run\"", "\"seq\": -2,\n      \"run\"", ERR_SPEC,
		  "1 or more" },
	};
	struct state *s = filled(), *o = open_other("train");
	struct str text;
	struct state_resources all;
	struct value *doc = exported(s, &text);
	int64_t before, after;

	(void)data;
	OK(state_serial(o, &before, &err));
	for (size_t i = 0; i < ARRAY_LEN(faults); i++) {
		const struct fault *f = &faults[i];
		const char *at = strstr(text.p, f->find);
		struct value *wrong;
		if (!at)
			fail_msg("no %s in the export", f->find);
		char *edited = arena_printf(arena, "%.*s%s%s", (int)(at - text.p), text.p, f->put,
					    at + strlen(f->find));
		err = (struct err){ 0 };
		/* JSON's own faults (a key twice) are refused there. */
		if (json_parse(arena, "edited", str_of(edited), &wrong, &err))
			continue;
		err = (struct err){ 0 };
		if (!state_import(o, arena, wrong, &err))
			fail_msg("imported: %s", f->put);
		if (err.kind != f->kind || !strstr(err.msg, f->message))
			fail_msg("%s: %s: %s", f->put, err_kind_name(err.kind), err.msg);
		OK(state_resources(o, arena, &all, &err));
		assert_int_equal(all.v.n, 0);
		OK(state_serial(o, &after, &err));
		assert_int_equal(before, after);
	}
	FAILS(state_import(o, arena, value_list(arena), &err), ERR_SPEC, "not an exported");
	FAILS(state_import(o, arena, NULL, &err), ERR_SPEC, "not an exported");
	OK(state_import(o, arena, doc, &err));
	state_close(o);
	state_close(s);
}

static struct fs_names backups(void)
{
	struct fs_names names = { 0 };

	OK(fs_list(arena, arena_printf(arena, "%s/.muster/backups", dir), &names, &err));
	return names;
}

static void run_ends_with_a_backup(void **data)
{
	struct state *s = filled();
	const char *id;

	(void)data;
	assert_int_equal(backups().names.n, 1);
	OK(lease_take(s, "run2", "apply", &err));
	OK(state_run_begin(s, arena, &(struct state_run){ .command = "apply" }, &id, &err));
	OK(state_run_end(s, id, "ok", NULL, &err));
	assert_int_equal(backups().names.n, 1); /* nothing changed */
	state_close(s);
}

static void backups_rotate(void **data)
{
	struct state *s = filled(), *copy;
	struct state_resources all;
	struct stat st;

	(void)data;
	for (int i = 0; i < STATE_BACKUPS + 3; i++) {
		int64_t now = clock_wall();
		while (clock_wall() == now)
			; /* a name is a millisecond */
		OK(state_backup(s, NULL, &err));
	}
	struct fs_names names = backups();
	assert_int_equal(names.names.n, STATE_BACKUPS);
	char *path = arena_printf(arena, "%s/.muster/backups/%s", dir,
				  names.names.v[STATE_BACKUPS - 1]);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_true(state_is_backup(path));
	assert_false(state_is_backup(arena_printf(arena, "%s/none", dir)));
	OK(state_open(path, "train", STATE_READONLY, &copy, &err));
	OK(state_resources(copy, arena, &all, &err));
	assert_int_equal(all.v.n, 2);
	state_close(copy);
	/* Named ones are not rotated, and replace what is there. */
	path = arena_printf(arena, "%s/mine.db", dir);
	OK(state_backup(s, path, &err));
	OK(state_backup(s, path, &err));
	assert_true(state_is_backup(path));
	FAILS(state_backup(s, "/nonexistent/x.db", &err), ERR_IO, "backup");
	state_close(s);
}

/* Backups are whole and consistent while another process writes. */
static void backup_while_written(void **data)
{
	struct state *s = open_leased();

	(void)data;
	pid_t pid = fork();
	if (!pid) {
		struct state *w;
		if (state_open(db, NULL, 0, &w, &err) || lease_break(w, NULL, false, &err) ||
		    lease_take(w, NULL, "x", &err))
			_exit(1);
		for (int i = 0;; i++)
			if (state_resource_put(w, sample(arena_printf(arena, "n[%d]", i)), &err))
				_exit(2);
	}
	char *path = arena_printf(arena, "%s/copy.db", dir);
	for (int i = 0; i < 30; i++) {
		struct state *copy;
		OK(state_backup(s, path, &err));
		OK(state_open(path, NULL, STATE_READONLY, &copy, &err));
		struct err_list l = { 0 };
		OK(state_check(copy, &l, &err));
		for (size_t k = 0; k < l.n; k++)
			assert_non_null(strstr(l.v[k].msg, "not in the state"));
		err_list_fini(&l);
		state_close(copy);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	state_close(s);
}

static void scribble(const char *path)
{
	FILE *f = fopen(path, "r+b");

	assert_non_null(f);
	assert_int_equal(fwrite("garbage garbage", 1, 15, f), 15);
	assert_int_equal(fclose(f), 0);
}

static void damaged_state_is_restored(void **data)
{
	struct state *s = filled();
	struct state_resources all;

	(void)data;
	OK(state_backup(s, NULL, &err));
	struct fs_names made = backups();
	char *backup = arena_printf(arena, "%s/.muster/backups/%s", dir,
				    made.names.v[made.names.n - 1]);
	OK(lease_take(s, NULL, "apply", &err));
	OK(state_resource_put(s, sample("late"), &err));
	FAILS(state_restore(db, backup, &err), ERR_LEASE, "holds the lease");
	OK(lease_release(s, &err));
	state_close(s);
	scribble(db);
	FAILS(state_open(db, NULL, 0, &s, &err), ERR_IO, "is damaged");
	assert_string_equal(
		err.hint,
		arena_printf(arena, "restore the newest backup: muster state import %s", backup));
	/* A WAL that was left there must not be replayed into the restored file. */
	copy_file(backup, arena_printf(arena, "%s-wal", db));
	OK(state_restore(db, backup, &err));
	OK(state_open(db, "train", 0, &s, &err));
	assert_int_equal(problems_of(s), 1);
	OK(state_resources(s, arena, &all, &err));
	assert_int_equal(all.v.n, 2);
	OK(lease_take(s, NULL, "apply", &err));
	state_close(s);
	struct stat st;
	assert_int_equal(stat(db, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	/* The damaged one is kept. */
	struct fs_names names = { 0 };
	size_t kept = 0, left = 0;
	OK(fs_list(arena, arena_printf(arena, "%s/.muster", dir), &names, &err));
	for (size_t i = 0; i < names.names.n; i++) {
		kept += strstr(names.names.v[i], ".damaged-") != NULL;
		left += strstr(names.names.v[i], ".tmp") != NULL;
	}
	assert_int_equal(kept, 2);
	assert_int_equal(left, 0);
}

static void bad_backup_is_not_restored(void **data)
{
	struct state *s = filled();
	char *bad = arena_printf(arena, "%s/bad.db", dir);

	(void)data;
	OK(state_backup(s, bad, &err));
	state_close(s);
	scribble(bad);
	FAILS(state_restore(db, bad, &err), ERR_IO, "restoring from");
	FAILS(state_restore(db, arena_printf(arena, "%s/none", dir), &err), ERR_NOT_FOUND,
	      "no state file");
	OK(state_open(db, "train", 0, &s, &err));
	assert_int_equal(problems_of(s), 1);
	state_close(s);
	/* Into a place where nothing is. */
	char *fresh = arena_printf(arena, "%s/fresh/state.db", dir);
	OK(state_open(db, "train", 0, &s, &err));
	OK(state_backup(s, bad, &err));
	state_close(s);
	OK(state_restore(fresh, bad, &err));
	OK(state_open(fresh, "train", 0, &s, &err));
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(check_finds),
		STATE_TEST(export_import_round_trip),
		STATE_TEST(empty_state_round_trip),
		STATE_TEST(import_after_a_broken_lease),
		STATE_TEST(wrong_documents_are_refused_whole),
		STATE_TEST(run_ends_with_a_backup),
		STATE_TEST(backups_rotate),
		STATE_TEST(backup_while_written),
		STATE_TEST(damaged_state_is_restored),
		STATE_TEST(bad_backup_is_not_restored),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
