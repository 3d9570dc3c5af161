/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The chain: hash = sha256(hash of the event before, or 64 zeros; then each column as stored). A
 * column is "n," for null, "i<number>," for an integer, "s<length>:<bytes>," for a text, so that no
 * two rows give the same bytes. It shows that history was edited by accident or by a careless hand;
 * whoever can write the file can also compute a new chain.
 */
#include "state/history.h"

#include "state/self.h"
#include "state/store.h"

#define RUN(member, type, flags)                                               \
	{                                                                      \
#member, offsetof(struct state_run, member), type, flags, NULL \
	}
static const struct column run_columns[] = {
	RUN(id, COL_TEXT, COL_REQUIRED),	RUN(command, COL_TEXT, COL_REQUIRED),
	RUN(who, COL_TEXT, COL_REQUIRED),	RUN(spec_digest, COL_TEXT, 0),
	RUN(plan_digest, COL_TEXT, 0),		RUN(result, COL_TEXT, 0),
	RUN(started_ms, COL_INT, COL_REQUIRED), RUN(ended_ms, COL_INT, COL_REQUIRED),
	RUN(summary, COL_JSON, COL_OUTSIDE),
};
#undef RUN
const struct row_type run_row = { "run", run_columns, ARRAY_LEN(run_columns) };
#define RUN_COLUMNS \
	"id, command, who, spec_digest, plan_digest, result, started_ms, ended_ms, summary"

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

/* ---- runs ---- */

/* 48 bits of milliseconds, then 80 random bits, in an alphabet whose order is that of ASCII: ids
 * sort by time. */
void state_run_id(char out[RUN_ID_LEN])
{
	static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
	uint64_t ms = (uint64_t)clock_wall();
	unsigned char r[16];

	rand_bytes(r, sizeof r);
	for (size_t i = 0; i < 10; i++)
		out[i] = digits[(ms >> (5 * (9 - i))) & 31];
	for (size_t i = 0; i < 16; i++)
		out[10 + i] = digits[r[i] & 31];
	out[RUN_ID_LEN - 1] = '\0';
}

static const char *user_at_host(struct arena *a)
{
	char user[128], host[128];

	self_user(user, sizeof user);
	self_host(host, sizeof host);
	return arena_printf(a, "%s@%s", user, host);
}

int run_insert(struct state *s, const struct state_run *r, struct err *e)
{
	struct sql_arg arg[ROW_MAX];
	uint64_t sum = 0;

	if (row_args(s, &run_row, r, arg, &sum, e))
		return -1;
	return sql_exec(
		s, "INSERT INTO runs (" RUN_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
		arg, run_row.n, e);
}

int state_run_begin(struct state *s, struct arena *a, const struct state_run *r, const char **id,
		    struct err *e)
{
	struct state_run now = *r;

	if (write_begin(s, 0, e))
		return -1;
	if (!now.id)
		now.id = arena_strdup(a, s->run);
	if (!now.who)
		now.who = user_at_host(a);
	if (!now.started_ms)
		now.started_ms = clock_wall();
	if (write_end(s, run_insert(s, &now, e), e))
		return err_wrap(e, "recording run %s", now.id);
	*id = now.id;
	return state_serial(s, &s->serial_at_run, e);
}

static int end_run(struct state *s, const char *id, const char *result, const struct value *summary,
		   struct err *e)
{
	struct str text = STR_NONE;

	if (summary && row_json_text(s, summary, "summary", &text, e))
		return -1;
	if (sql_exec(s, "UPDATE runs SET result = ?2, summary = ?3, ended_ms = ?4 WHERE id = ?1",
		     SQL_ARGS(sql_text(id), sql_text(result), sql_text(text.p),
			      sql_int(clock_wall())),
		     e))
		return -1;
	return sqlite3_changes(s->db) ? 0
				      : err_set(e, ERR_NOT_FOUND, "no run '%s' in the state", id);
}

/* The run is over and recorded: that its backup failed is no failure of the run. */
static void back_up(struct state *s)
{
	struct err why = { 0 };
	int64_t serial;

	if (journal_is_dirty(s))
		return;
	if (state_serial(s, &serial, &why) ||
	    (serial != s->serial_at_run && state_backup(s, NULL, &why)))
		log_warn("state: %s", why.msg);
}

int state_run_end(struct state *s, const char *id, const char *result, const struct value *summary,
		  struct err *e)
{
	if (write_begin(s, 0, e) || write_end(s, end_run(s, id, result, summary, e), e))
		return -1;
	back_up(s);
	return 0;
}

static int read_run(struct row_reader *rd, struct state_run **out, struct err *e)
{
	uint64_t sum = 0;

	*out = arena_obj(rd->a, struct state_run);
	return row_read(rd, &run_row, *out, &sum, e);
}

int state_run_find(struct state *s, struct arena *a, const char *id, struct state_run **out,
		   struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };

	*out = NULL;
	if (sql_query(s, "SELECT " RUN_COLUMNS " FROM runs WHERE id = ?1", SQL_ARGS(sql_text(id)),
		      &rd.st, e))
		return -1;
	int rc = sql_step(s, rd.st, e);
	if (rc > 0) {
		rc = read_run(&rd, out, e);
		sql_done(rd.st);
	}
	return rc;
}

int state_runs(struct state *s, struct arena *a, int64_t limit, struct state_runs *out,
	       struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	int rc;

	*out = (struct state_runs){ 0 };
	if (sql_query(s,
		      "SELECT " RUN_COLUMNS " FROM runs ORDER BY started_ms DESC, id DESC LIMIT ?1",
		      SQL_ARGS(sql_int(limit > 0 ? limit : -1)), &rd.st, e))
		return -1;
	while ((rc = sql_step(s, rd.st, e)) > 0) {
		if (read_run(&rd, &VEC_ADD(a, &out->v), e)) {
			sql_done(rd.st);
			return -1;
		}
	}
	return rc;
}

/* ---- events ---- */

static void chain_hash(const char *before, const struct sql_arg *arg, char out[SHA256_HEX])
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, before);
	for (size_t i = 0; i < EVENT_HASH; i++) {
		if (arg[i].kind == SQL_ARG_NULL)
			buf_addc(&b, 'n');
		else if (arg[i].kind == SQL_ARG_INT)
			buf_addf(&b, "i%lld", (long long)arg[i].i);
		else {
			buf_addf(&b, "s%zu:", arg[i].t.n);
			buf_addstr(&b, arg[i].t);
		}
		buf_addc(&b, ',');
	}
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
