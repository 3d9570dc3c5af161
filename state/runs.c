/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs. A run's row changes once, when it ends, so it cannot be a link of the chain itself: events
 * of its beginning and its end hold its digest, and the newest one must fit the row.
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
	RUN(summary, COL_JSON, COL_OUTSIDE),	RUN(args, COL_TEXT, 0),
	RUN(source, COL_JSON, COL_OUTSIDE),
};
#undef RUN
const struct row_type run_row = { "run", run_columns, ARRAY_LEN(run_columns) };
#define RUN_COLUMNS \
	"id, command, who, spec_digest, plan_digest, result, started_ms, ended_ms, summary, args, source"

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
	return sql_exec(s,
			"INSERT INTO runs (" RUN_COLUMNS
			") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
			arg, run_row.n, e);
}

/* ---- the digest of a row, in the chain ---- */

#define EVENT_BEGUN "run begun"
#define EVENT_ENDED "run ended"

static int stored_digest(sqlite3_stmt *st, char out[SHA256_HEX], struct err *e)
{
	struct sql_arg arg[ARRAY_LEN(run_columns)];
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	row_stored(st, arg, ARRAY_LEN(arg));
	for (size_t i = 0; i < ARRAY_LEN(arg); i++)
		row_arg_text(&b, &arg[i]);
	if (buf_check(&b, e))
		return -1;
	sha256_hex(buf_str(&b), out);
	return 0;
}

/* Inside the write that made or changed the row. */
static int add_digest(struct state *s, const char *id, const char *what, struct err *e)
{
	struct state_event ev = { .at_ms = clock_wall(), .run = id, .what = what };
	char digest[SHA256_HEX] = "";
	sqlite3_stmt *st;

	if (sql_query(s, "SELECT " RUN_COLUMNS " FROM runs WHERE id = ?1", SQL_ARGS(sql_text(id)),
		      &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(e, ERR_NOT_FOUND, "no run '%s' in the state", id);
	rc = stored_digest(st, digest, e);
	sql_done(st);
	if (rc)
		return -1;
	struct value *data = value_map(s->scratch);
	value_set(data, "row", value_cstr(s->scratch, digest));
	ev.data = data;
	return event_insert(s, &ev, e);
}

struct sealed { /* what the chain says of a run */
	const char *digest;
	bool seen;
};

static int read_seals(struct state *s, struct arena *a, struct map *out, struct err *e)
{
	static const char sql[] = "SELECT run, data FROM events WHERE what IN ('" EVENT_BEGUN
				  "', '" EVENT_ENDED "') ORDER BY seq";
	struct row_reader rd = { .s = s, .a = a };
	const struct value *data;
	int rc;

	if (sql_query(s, sql, SQL_NO_ARGS, &rd.st, e))
		return -1;
	while ((rc = sql_step(s, rd.st, e)) > 0) {
		const char *id = sql_col_text(a, rd.st, 0);
		if (row_json(&rd, 1, true, &data, e)) {
			sql_done(rd.st);
			return -1;
		}
		struct str row = value_get_str(data, "row", "");
		struct sealed *x = arena_obj(a, struct sealed);
		x->digest = str_cstr(a, row);
		if (id)
			map_put(out, str_of(id), x);
	}
	return rc;
}

static void run_problem(struct err_list *problems, const char *id, const char *what)
{
	struct err p = { 0 };

	err_set(&p, ERR_IO, "history: run %s %s", id, what);
	err_hint(&p, "what is told of that run cannot be trusted; resources are not concerned");
	err_list_add(problems, &p);
}

/* Runs of before there were digests have none, and are taken as they are. */
int runs_check(struct state *s, struct err_list *problems, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("runs and their digests");
	struct map seals;
	sqlite3_stmt *st;
	int rc;

	map_init(&seals, a);
	if (read_seals(s, a, &seals, e) ||
	    sql_query(s, "SELECT " RUN_COLUMNS " FROM runs ORDER BY id", SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		char digest[SHA256_HEX] = "";
		const char *id = sql_col_text(a, st, 0);
		struct sealed *x = id ? map_getc(&seals, id) : NULL;
		if (!x)
			continue;
		x->seen = true;
		if (stored_digest(st, digest, e)) {
			sql_done(st);
			return -1;
		}
		if (strcmp(digest, x->digest) != 0)
			run_problem(problems, id, "was edited");
	}
	for (size_t i = 0; !rc && i < seals.n; i++)
		if (!((struct sealed *)seals.e[i].val)->seen)
			run_problem(problems, seals.e[i].key.p, "was removed");
	return rc;
}

/* ---- writing ---- */

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
	int rc = run_insert(s, &now, e) || add_digest(s, now.id, EVENT_BEGUN, e) ? -1 : 0;
	if (write_end(s, rc, e))
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
	return add_digest(s, id, EVENT_ENDED, e);
}

/* The run is over and recorded: that its backup failed is no failure of the run. */
static void back_up(struct state *s)
{
	struct err why = { 0 };
	int64_t serial;

	if (journal_is_dirty(s))
		return;
	if (state_serial(s, &serial, &why) ||
	    (serial != s->serial_at_run && backup_is_due(s) && state_backup(s, NULL, &why)))
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

/* The end of a prefix's range: '~' is after every character of an id. */
int state_run_by_prefix(struct state *s, struct arena *a, const char *prefix,
			struct state_run **out, struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	struct state_run *other;

	*out = NULL;
	if (sql_query(s,
		      "SELECT " RUN_COLUMNS
		      " FROM runs WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT 2",
		      SQL_ARGS(sql_text(prefix), sql_text(arena_printf(a, "%s~", prefix))), &rd.st,
		      e))
		return -1;
	int rc = sql_step(s, rd.st, e);
	if (rc <= 0)
		return rc;
	if (read_run(&rd, out, e)) {
		sql_done(rd.st);
		return -1;
	}
	if (strcmp((*out)->id, prefix) == 0) {
		sql_done(rd.st);
		return 0;
	}
	rc = sql_step(s, rd.st, e);
	if (rc <= 0)
		return rc;
	rc = read_run(&rd, &other, e);
	sql_done(rd.st);
	if (rc)
		return -1;
	err_set(e, ERR_USAGE, "several runs begin with \"%s\"", prefix);
	return err_hint(e, "type more of it: %s, %s", (*out)->id, other->id);
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
