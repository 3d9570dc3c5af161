/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An intent is written before the act and settled after it. What a killed run leaves open is what
 * must be asked about: its row holds the token and all that `find` needs. One fsync serves all
 * intents and outcomes of a group, so ten thousand steps do not cost twenty thousand fsyncs.
 */
#include "state/journal.h"

#include "state/resource.h"
#include "state/store.h"

static const char *const outcome_names[] = { "intent", "done", "failed", "unknown", NULL };

#define COL(member, type, flags)                                                 \
	{                                                                        \
#member, offsetof(struct journal_row, member), type, flags, NULL \
	}
static const struct column columns[] = {
	COL(seq, COL_INT, COL_REQUIRED | COL_UNSUMMED),
	COL(run, COL_TEXT, COL_REQUIRED),
	COL(addr, COL_TEXT, COL_REQUIRED),
	COL(action, COL_TEXT, COL_REQUIRED),
	COL(token, COL_TEXT, 0),
	{ "outcome", offsetof(struct journal_row, outcome), COL_ENUM, COL_REQUIRED | COL_UNSUMMED,
	  outcome_names },
	COL(provider, COL_TEXT, 0),
	COL(kind, COL_TEXT, 0),
	COL(want, COL_JSON, 0),
	COL(request, COL_TEXT, COL_UNSUMMED),
	COL(error, COL_TEXT, COL_UNSUMMED),
	COL(at_ms, COL_INT, COL_REQUIRED),
	COL(settled_ms, COL_INT, COL_REQUIRED | COL_UNSUMMED),
};
#undef COL
const struct row_type journal_row_type = { "journal row", columns, ARRAY_LEN(columns) };

#define COLUMNS                                                                                 \
	"seq, run, addr, action, token, outcome, provider, kind, want, request, error, at_ms, " \
	"settled_ms"

enum { SEQ_COL = 0, SUM_COL = ARRAY_LEN(columns) };

/* ---- writing ---- */

int journal_insert(struct state *s, const struct journal_row *row, struct err *e)
{
	struct sql_arg arg[ROW_MAX];
	uint64_t sum = ROW_SUM_START;

	if (row_args(s, &journal_row_type, row, arg, &sum, e))
		return -1;
	if (!row->seq)
		arg[SEQ_COL] = sql_text(NULL);
	arg[SUM_COL] = sql_int((int64_t)sum);
	return sql_exec(s,
			"INSERT INTO journal (" COLUMNS ", sum) "
			"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
			arg, SUM_COL + 1, e);
}

int journal_intent(struct state *s, const struct journal_row *row, int64_t *seq, struct err *e)
{
	struct journal_row now = *row;

	if (group_begin(s, e) || write_begin(s, WRITE_COUNTED, e))
		return -1;
	now.seq = 0;
	now.outcome = JOURNAL_INTENT;
	now.at_ms = clock_wall();
	now.settled_ms = 0;
	if (!now.run)
		now.run = s->run;
	int rc = check_scope(s, row->addr, e) || journal_insert(s, &now, e) ? -1 : 0;
	*seq = rc ? 0 : sqlite3_last_insert_rowid(s->db);
	if (write_end(s, rc, e))
		return err_on(e, row->addr, NULL);
	return 0;
}

static int mark(struct state *s, int64_t seq, const struct journal_result *r, struct err *e)
{
	if (sql_exec(
		    s,
		    "UPDATE journal SET outcome = ?2, request = coalesce(?3, request), error = ?4, "
		    "settled_ms = ?5 WHERE seq = ?1 AND outcome IN (0, 3)",
		    SQL_ARGS(sql_int(seq), sql_int(r->outcome), sql_text(r->request),
			     sql_text(r->error), sql_int(clock_wall())),
		    e))
		return -1;
	if (sqlite3_changes(s->db))
		return 0;
	return err_set(e, ERR_CONFLICT, "journal row %lld is not there, or settled already",
		       (long long)seq);
}

int journal_settle(struct state *s, int64_t seq, const struct journal_result *r, struct err *e)
{
	if (r->outcome == JOURNAL_INTENT)
		return err_set(e, ERR_BUG, "an intent is no outcome");
	if (group_begin(s, e) || write_begin(s, WRITE_COUNTED, e))
		return -1;
	int rc = mark(s, seq, r, e);
	if (!rc && r->del)
		rc = check_scope(s, r->del, e);
	if (!rc && r->del)
		rc = sql_exec(s, "DELETE FROM resources WHERE addr = ?1",
			      SQL_ARGS(sql_text(r->del)), e);
	if (!rc && r->put)
		rc = state_resource_put(s, r->put, e);
	return write_end(s, rc, e);
}

/* ---- reading ---- */

static int read_row(struct row_reader *rd, struct journal_row **out, struct err *e)
{
	struct journal_row *row = arena_obj(rd->a, struct journal_row);
	uint64_t sum = ROW_SUM_START;

	if (row_read(rd, &journal_row_type, row, &sum, e))
		return -1;
	if (sum != (uint64_t)sqlite3_column_int64(rd->st, SUM_COL)) {
		sql_damaged(rd->s->path, "a journal row does not match its checksum", e);
		return err_on(e, row->addr, NULL);
	}
	*out = row;
	return 0;
}

static int collect(struct state *s, struct arena *a, sqlite3_stmt *st, struct journal_rows *out,
		   struct err *e)
{
	struct row_reader rd = { .s = s, .st = st, .a = a };
	int rc;

	*out = (struct journal_rows){ 0 };
	while ((rc = sql_step(s, st, e)) > 0) {
		if (read_row(&rd, &VEC_ADD(a, &out->v), e)) {
			sql_done(st);
			return -1;
		}
	}
	return rc;
}

int journal_open_rows(struct state *s, struct arena *a, struct journal_rows *out, struct err *e)
{
	sqlite3_stmt *st;

	if (sql_query(s,
		      "SELECT " COLUMNS ", sum FROM journal WHERE outcome IN (0, 3) ORDER BY seq",
		      SQL_NO_ARGS, &st, e))
		return -1;
	return collect(s, a, st, out, e);
}

int journal_run_rows(struct state *s, struct arena *a, const char *run, struct journal_rows *out,
		     struct err *e)
{
	sqlite3_stmt *st;

	if (sql_query(s, "SELECT " COLUMNS ", sum FROM journal WHERE run = ?1 ORDER BY seq",
		      SQL_ARGS(sql_text(run)), &st, e))
		return -1;
	return collect(s, a, st, out, e);
}

int journal_all(struct state *s, struct arena *a, struct journal_rows *out, struct err *e)
{
	sqlite3_stmt *st;

	if (sql_query(s, "SELECT " COLUMNS ", sum FROM journal ORDER BY seq", SQL_NO_ARGS, &st, e))
		return -1;
	return collect(s, a, st, out, e);
}
