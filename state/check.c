/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every part is looked at even when another one is broken: what a person needs is the whole list,
 * and then the backup.
 */
#include "state/history.h"
#include "state/journal.h"
#include "state/resource.h"

/* A part that cannot be read is a problem found, not a check that failed. */
static void found(struct err_list *problems, int rc, const struct err *e)
{
	if (rc)
		err_list_add(problems, e);
}

static int check_pages(struct state *s, struct err_list *problems, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	if (sql_query(s, "PRAGMA integrity_check(20)", SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		const char *said = (const char *)sqlite3_column_text(st, 0);
		struct err p = { 0 };
		if (said && strcmp(said, "ok") != 0)
			found(problems, sql_damaged(s->path, said, &p), &p);
	}
	return rc;
}

static int check_foreign_keys(struct state *s, struct err_list *problems, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	if (sql_query(s, "PRAGMA foreign_key_check", SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		const char *table = (const char *)sqlite3_column_text(st, 0);
		struct err p = { 0 };
		err_set(&p, ERR_IO, "%s: row %lld belongs to no resource", table ? table : "?",
			(long long)sqlite3_column_int64(st, 1));
		err_list_add(problems, &p);
	}
	return rc;
}

static int check_deps(struct state *s, struct err_list *problems, struct err *e)
{
	static const char sql[] =
		"SELECT r.addr, d.dep FROM deps d JOIN resources r ON r.rid = d.rid "
		"WHERE NOT EXISTS (SELECT 1 FROM resources t WHERE t.addr = d.dep) "
		"ORDER BY r.addr, d.pos";
	scoped(arena_freep) struct arena *a = arena_new("dangling deps");
	sqlite3_stmt *st;
	int rc;

	if (sql_query(s, sql, SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		struct err p = { 0 };
		char *addr = sql_col_text(a, st, 0), *dep = sql_col_text(a, st, 1);
		err_set(&p, ERR_CONFLICT, "%s depends on %s, which is not in the state", addr, dep);
		err_on(&p, addr, NULL);
		err_hint(&p, "run 'muster apply', or take it out: muster state rm %s", addr);
		err_list_add(problems, &p);
	}
	return rc;
}

static int check_intents(struct state *s, struct err_list *problems, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("open intents");
	struct journal_rows open;

	if (journal_open_rows(s, a, &open, e))
		return -1;
	for (size_t i = 0; i < open.v.n; i++) {
		const struct journal_row *row = open.v.v[i];
		struct err p = { 0 };
		err_set(&p, ERR_CONFLICT,
			"%s of %s was begun by run %s, and how it ended is unknown", row->action,
			row->addr, row->run);
		err_on(&p, row->addr, NULL);
		err_hint(&p, "muster recover");
		err_list_add(problems, &p);
	}
	return 0;
}

/* Reading compares each row with its checksum. */
static int check_resources(struct state *s, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("check resources");
	struct state_resources all;

	return state_resources(s, a, &all, e);
}

static int check_facts(struct state *s, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("check facts");
	struct value *all;

	return facts_all(s, a, &all, e);
}

static int check_journal(struct state *s, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("check journal");
	struct journal_rows all;

	return journal_all(s, a, &all, e);
}

static int check_runs(struct state *s, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("check runs");
	struct state_runs all;

	return state_runs(s, a, 0, &all, e);
}

int state_check(struct state *s, struct err_list *problems, struct err *e)
{
	static int (*const parts[])(struct state *, struct err_list *, struct err *) = {
		check_pages,   check_foreign_keys, check_deps,
		check_intents, event_chain_check,  runs_check,
	};
	static int (*const reads[])(struct state *, struct err *) = {
		check_resources,
		check_facts,
		check_journal,
		check_runs,
	};

	if (state_snapshot_begin(s, e))
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		struct err p = { 0 };
		found(problems, parts[i](s, problems, &p), &p);
	}
	for (size_t i = 0; i < ARRAY_LEN(reads); i++) {
		struct err p = { 0 };
		found(problems, reads[i](s, &p), &p);
	}
	state_snapshot_end(s);
	return 0;
}
