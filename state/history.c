/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain: hash = sha256(hash of the event before, or 64 zeros; then each column as stored). A
 * column is "n," for null, "i<number>," for an integer, "s<length>:<bytes>," for a text, so that no
 * two rows give the same bytes. It shows that history was edited by accident or by a careless hand;
 * whoever can write the file can also compute a new chain.
 */
#include "state/history.h"

#include "state/store.h"

#define EVENT(member, type, flags)                                                    \
	{                                                                             \
#member, offsetof(struct event_link, event.member), type, flags, NULL \
	}
static const struct column event_columns[] = {
	EVENT(seq, COL_INT, COL_REQUIRED),
	EVENT(at_ms, COL_INT, COL_REQUIRED),
	EVENT(run, COL_TEXT, 0),
	EVENT(addr, COL_TEXT, 0),
	EVENT(what, COL_TEXT, COL_REQUIRED),
	EVENT(data, COL_JSON, COL_OUTSIDE),
	{ "hash", offsetof(struct event_link, hash), COL_TEXT, COL_REQUIRED, NULL },
};
#undef EVENT
const struct row_type event_row = { "event", event_columns, ARRAY_LEN(event_columns) };
#define EVENT_COLUMNS "seq, at_ms, run, addr, what, data, hash"
enum { EVENT_HASH = ARRAY_LEN(event_columns) - 1 };

#define CHAIN_START "0000000000000000000000000000000000000000000000000000000000000000"

/* ---- events ---- */

static void chain_hash(const char *before, const struct sql_arg *arg, char out[SHA256_HEX])
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, before);
	for (size_t i = 0; i < EVENT_HASH; i++)
		row_arg_text(&b, &arg[i]);
	sha256_hex(buf_str(&b), out);
}

/* Number and hash of the last event; 0 and zeros when there is none. */
static int chain_end(struct state *s, int64_t *seq, char hash[SHA256_HEX], struct err *e)
{
	sqlite3_stmt *st;

	*seq = 0;
	memcpy(hash, CHAIN_START, SHA256_HEX);
	if (sql_query(s, "SELECT seq, hash FROM events ORDER BY seq DESC LIMIT 1", SQL_NO_ARGS, &st,
		      e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc <= 0)
		return rc;
	const char *h = (const char *)sqlite3_column_text(st, 1);
	*seq = sqlite3_column_int64(st, 0);
	bool whole = h && strlen(h) == SHA256_HEX - 1;
	if (whole)
		memcpy(hash, h, SHA256_HEX);
	sql_done(st);
	return whole ? 0 : sql_damaged(s->path, "the last event has no hash", e);
}

/* The number comes from the counter, not from the last row: a number is never given twice. */
static int next_seq(struct state *s, int64_t *out, struct err *e)
{
	*out = 0;
	if (sql_int_of(s, "SELECT seq FROM sqlite_sequence WHERE name = 'events'", SQL_NO_ARGS, out,
		       e))
		return -1;
	++*out;
	return 0;
}

static int insert_link(struct state *s, const struct event_link *l, const char *before,
		       bool keep_hash, struct err *e)
{
	struct event_link now = *l;
	struct sql_arg arg[ROW_MAX];
	char hash[SHA256_HEX];
	uint64_t sum = 0;

	if (!keep_hash)
		now.hash = "";
	if (row_args(s, &event_row, &now, arg, &sum, e))
		return -1;
	chain_hash(before, arg, hash);
	if (keep_hash && strcmp(hash, l->hash) != 0)
		return err_set(e, ERR_SPEC, "event %lld does not fit the chain: it was edited",
			       (long long)l->event.seq);
	arg[EVENT_HASH] = sql_text(hash);
	return sql_exec(
		s, "INSERT INTO events (" EVENT_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		arg, event_row.n, e);
}

int event_insert(struct state *s, const struct state_event *ev, struct err *e)
{
	struct event_link l = { .event = *ev };
	char before[SHA256_HEX];
	int64_t last;

	if (chain_end(s, &last, before, e) || next_seq(s, &l.event.seq, e))
		return -1;
	return insert_link(s, &l, before, false, e);
}

int event_import(struct state *s, const struct event_link *l, struct err *e)
{
	char before[SHA256_HEX];
	int64_t last;

	if (chain_end(s, &last, before, e))
		return -1;
	if (l->event.seq <= last)
		return err_set(e, ERR_SPEC, "event %lld is out of order", (long long)l->event.seq);
	return insert_link(s, l, before, true, e);
}

int state_event_add(struct state *s, const char *run, const char *addr, const char *what,
		    const struct value *data, struct err *e)
{
	struct state_event ev = { .at_ms = clock_wall(), .addr = addr, .what = what, .data = data };

	if (write_begin(s, 0, e))
		return -1;
	ev.run = run ? run : s->run;
	return write_end(s, event_insert(s, &ev, e), e);
}

static int read_link(struct row_reader *rd, struct event_link **out, struct err *e)
{
	uint64_t sum = 0;

	*out = arena_obj(rd->a, struct event_link);
	return row_read(rd, &event_row, *out, &sum, e);
}

int state_events(struct state *s, struct arena *a, const char *run, struct state_events *out,
		 struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	int rc;

	*out = (struct state_events){ 0 };
	if (run)
		rc = sql_query(s,
			       "SELECT " EVENT_COLUMNS " FROM events WHERE run = ?1 ORDER BY seq",
			       SQL_ARGS(sql_text(run)), &rd.st, e);
	else
		rc = sql_query(s, "SELECT " EVENT_COLUMNS " FROM events ORDER BY seq", SQL_NO_ARGS,
			       &rd.st, e);
	if (rc)
		return -1;
	while ((rc = sql_step(s, rd.st, e)) > 0) {
		struct event_link *l;
		if (read_link(&rd, &l, e)) {
			sql_done(rd.st);
			return -1;
		}
		VEC_ADD(a, &out->v) = &l->event;
	}
	return rc;
}

int event_links(struct state *s, struct arena *a, struct event_links *out, struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	int rc;

	*out = (struct event_links){ 0 };
	if (sql_query(s, "SELECT " EVENT_COLUMNS " FROM events ORDER BY seq", SQL_NO_ARGS, &rd.st,
		      e))
		return -1;
	while ((rc = sql_step(s, rd.st, e)) > 0) {
		if (read_link(&rd, &VEC_ADD(a, &out->v), e)) {
			sql_done(rd.st);
			return -1;
		}
	}
	return rc;
}

static void chain_problem(struct err_list *problems, int64_t seq, const char *what)
{
	struct err p = { 0 };

	err_set(&p, ERR_IO, "history: event %lld %s", (long long)seq, what);
	err_hint(&p, "history from there on cannot be trusted; resources are not concerned");
	err_list_add(problems, &p);
}

int event_chain_check(struct state *s, struct err_list *problems, struct err *e)
{
	char before[SHA256_HEX], hash[SHA256_HEX];
	int64_t last = 0, next;
	sqlite3_stmt *st;
	int rc;

	memcpy(before, CHAIN_START, SHA256_HEX);
	if (sql_query(s, "SELECT " EVENT_COLUMNS " FROM events ORDER BY seq", SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		struct sql_arg arg[ARRAY_LEN(event_columns)];
		row_stored(st, arg, ARRAY_LEN(arg));
		last = sqlite3_column_int64(st, 0);
		chain_hash(before, arg, hash);
		if (!str_eqc(arg[EVENT_HASH].t, hash)) {
			sql_done(st);
			chain_problem(problems, last, "was edited, or the one before it removed");
			return 0;
		}
		memcpy(before, hash, SHA256_HEX);
	}
	if (rc || next_seq(s, &next, e))
		return -1;
	if (next != last + 1)
		chain_problem(problems, next - 1, "was removed from the end");
	return 0;
}
