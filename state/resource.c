/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes written are constant for a change: one row, and the deps only when they differ. Reading all
 * is two ordered queries that are merged as they come.
 */
#include "state/resource.h"

#include "state/store.h"

static const char *const status_names[] = { "ready", "creating", "tainted", "deleting", NULL };

#define COL(member, type, flags)                                                    \
	{                                                                           \
#member, offsetof(struct state_resource, member), type, flags, NULL \
	}
static const struct column columns[] = {
	COL(addr, COL_TEXT, COL_REQUIRED),
	COL(kind, COL_TEXT, COL_REQUIRED),
	COL(provider, COL_TEXT, COL_REQUIRED),
	COL(provider_type, COL_TEXT, COL_REQUIRED),
	COL(id, COL_TEXT, 0),
	COL(token, COL_TEXT, 0),
	COL(pool, COL_TEXT, 0),
	{ "status", offsetof(struct state_resource, status), COL_ENUM, COL_REQUIRED, status_names },
	COL(want, COL_JSON, 0),
	COL(attrs, COL_JSON, COL_OUTSIDE),
	COL(config_digest, COL_TEXT, 0),
	COL(created_ms, COL_INT, COL_REQUIRED),
	COL(updated_ms, COL_INT, COL_REQUIRED),
};
#undef COL
const struct row_type resource_row = { "resource", columns, ARRAY_LEN(columns) };

#define COLUMNS                                                                       \
	"addr, kind, provider, provider_type, id, token, pool, status, want, attrs, " \
	"config_digest, created_ms, updated_ms"

enum { SUM_COL = ARRAY_LEN(columns), RID_COL };

/* NUL ends each: an address has none. */
static uint64_t sum_dep(uint64_t sum, const char *dep)
{
	return row_sum_text(sum, dep, strlen(dep) + 1);
}

/* ---- writing ---- */

/* rid 0 when absent. */
static int find_row(struct state *s, const char *addr, int64_t *rid, int64_t *created,
		    struct err *e)
{
	sqlite3_stmt *st;

	*rid = 0;
	if (sql_query(s, "SELECT rid, created_ms FROM resources WHERE addr = ?1",
		      SQL_ARGS(sql_text(addr)), &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc > 0) {
		*rid = sqlite3_column_int64(st, 0);
		*created = sqlite3_column_int64(st, 1);
		sql_done(st);
	}
	return rc < 0 ? -1 : 0;
}

static int same_deps(struct state *s, int64_t rid, const struct state_resource *r, bool *same,
		     struct err *e)
{
	sqlite3_stmt *st;
	size_t n = 0;
	int rc;

	*same = true;
	if (sql_query(s, "SELECT dep FROM deps WHERE rid = ?1 ORDER BY pos", SQL_ARGS(sql_int(rid)),
		      &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		const char *dep = (const char *)sqlite3_column_text(st, 0);
		if (n >= r->deps.n || !dep || strcmp(dep, r->deps.v[n]) != 0)
			*same = false;
		n++;
	}
	*same = *same && n == r->deps.n;
	return rc;
}

static int store_deps(struct state *s, int64_t rid, const struct state_resource *r, struct err *e)
{
	bool same;

	if (same_deps(s, rid, r, &same, e))
		return -1;
	if (same)
		return 0;
	if (sql_exec(s, "DELETE FROM deps WHERE rid = ?1", SQL_ARGS(sql_int(rid)), e))
		return -1;
	for (size_t i = 0; i < r->deps.n; i++)
		if (sql_exec(s, "INSERT INTO deps (rid, pos, dep) VALUES (?1, ?2, ?3)",
			     SQL_ARGS(sql_int(rid), sql_int((int64_t)i), sql_text(r->deps.v[i])),
			     e))
			return -1;
	return 0;
}

/* Columns, then sum, then rid (null for a new row). An existing row keeps its address: setting it,
 * even to the same text, would write a page of its index. */
static const char STORE_SQL[] =
	"INSERT INTO resources (" COLUMNS ", sum, rid) "
	"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15) "
	"ON CONFLICT (rid) DO UPDATE SET kind = excluded.kind, "
	"provider = excluded.provider, provider_type = excluded.provider_type, id = excluded.id, "
	"token = excluded.token, pool = excluded.pool, status = excluded.status, want = excluded.want, "
	"attrs = excluded.attrs, config_digest = excluded.config_digest, "
	"created_ms = excluded.created_ms, updated_ms = excluded.updated_ms, sum = excluded.sum";

static int store_row(struct state *s, int64_t rid, const struct state_resource *r, struct err *e)
{
	struct sql_arg arg[ROW_MAX];
	uint64_t sum = ROW_SUM_START;

	if (row_args(s, &resource_row, r, arg, &sum, e))
		return -1;
	for (size_t i = 0; i < r->deps.n; i++)
		sum = sum_dep(sum, r->deps.v[i]);
	arg[SUM_COL] = sql_int((int64_t)sum);
	arg[RID_COL] = rid ? sql_int(rid) : sql_text(NULL);
	if (sql_exec(s, STORE_SQL, arg, RID_COL + 1, e))
		return -1;
	return store_deps(s, rid ? rid : sqlite3_last_insert_rowid(s->db), r, e);
}

int resource_store(struct state *s, const struct state_resource *r, struct err *e)
{
	int64_t rid, created;

	if (find_row(s, r->addr, &rid, &created, e))
		return -1;
	return store_row(s, rid, r, e);
}

static int put(struct state *s, const struct state_resource *r, struct err *e)
{
	struct state_resource now = *r;
	int64_t rid, created;

	if (find_row(s, r->addr, &rid, &created, e))
		return -1;
	now.updated_ms = clock_wall();
	if (rid)
		now.created_ms = created;
	else if (!now.created_ms)
		now.created_ms = now.updated_ms;
	return store_row(s, rid, &now, e);
}

int state_resource_put(struct state *s, const struct state_resource *r, struct err *e)
{
	if (!r->addr)
		return err_set(e, ERR_BUG, "a resource without an address");
	if (write_begin(s, WRITE_COUNTED, e))
		return -1;
	if (write_end(s, check_scope(s, r->addr, e) || put(s, r, e) ? -1 : 0, e))
		return err_on(e, r->addr, NULL);
	return 0;
}

static int not_there(const char *addr, struct err *e)
{
	err_set(e, ERR_NOT_FOUND, "no resource '%s' in the state", addr);
	err_hint(e, "'muster state list' shows what is there");
	return err_on(e, addr, NULL);
}

static int del(struct state *s, const char *addr, struct err *e)
{
	if (sql_exec(s, "DELETE FROM resources WHERE addr = ?1", SQL_ARGS(sql_text(addr)), e))
		return -1;
	return sqlite3_changes(s->db) ? 0 : not_there(addr, e);
}

int state_resource_del(struct state *s, const char *addr, struct err *e)
{
	if (write_begin(s, WRITE_COUNTED, e))
		return -1;
	return write_end(s, check_scope(s, addr, e) || del(s, addr, e) ? -1 : 0, e);
}

/* ---- reading ---- */

/* The deps of all resources, in their order: a second stream beside the rows. */
struct dep_stream {
	sqlite3_stmt *st;
	bool has;
};

static int dep_next(struct state *s, struct dep_stream *d, struct err *e)
{
	int rc = sql_step(s, d->st, e);

	d->has = rc > 0;
	return rc < 0 ? -1 : 0;
}

static int take_deps(struct row_reader *rd, struct dep_stream *d, struct state_resource *r,
		     uint64_t *sum, struct err *e)
{
	int64_t rid = sqlite3_column_int64(rd->st, RID_COL);

	while (d->has && sqlite3_column_int64(d->st, 0) == rid) {
		const char *dep = sql_col_text(rd->a, d->st, 1);
		if (!dep)
			return sql_damaged(rd->s->path, "a dependency is missing", e);
		VEC_ADD(rd->a, &r->deps) = dep;
		*sum = sum_dep(*sum, dep);
		if (dep_next(rd->s, d, e))
			return -1;
	}
	return 0;
}

static int read_row(struct row_reader *rd, struct dep_stream *d, struct state_resource **out,
		    struct err *e)
{
	struct state_resource *r = arena_obj(rd->a, struct state_resource);
	uint64_t sum = ROW_SUM_START;

	if (row_read(rd, &resource_row, r, &sum, e) || take_deps(rd, d, r, &sum, e))
		return -1;
	if (sum != (uint64_t)sqlite3_column_int64(rd->st, SUM_COL)) {
		sql_damaged(rd->s->path, "a resource does not match its checksum", e);
		return err_on(e, r->addr, NULL);
	}
	*out = r;
	return 0;
}

static int read_all(struct state *s, struct arena *a, struct dep_stream *d,
		    struct state_resources *out, struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	int rc;

	if (dep_next(s, d, e) ||
	    sql_query(s, "SELECT " COLUMNS ", sum, rid FROM resources ORDER BY addr", SQL_NO_ARGS,
		      &rd.st, e))
		return -1;
	while ((rc = sql_step(s, rd.st, e)) > 0) {
		if (read_row(&rd, d, &VEC_ADD(a, &out->v), e)) {
			sql_done(rd.st);
			return -1;
		}
	}
	return rc;
}

int state_resources(struct state *s, struct arena *a, struct state_resources *out, struct err *e)
{
	struct dep_stream d = { 0 };

	*out = (struct state_resources){ 0 };
	if (state_snapshot_begin(s, e))
		return -1;
	int rc = sql_query(s,
			   "SELECT d.rid, d.dep FROM resources r JOIN deps d ON d.rid = r.rid "
			   "ORDER BY r.addr, d.pos",
			   SQL_NO_ARGS, &d.st, e);
	if (!rc) {
		rc = read_all(s, a, &d, out, e);
		sql_done(d.st);
	}
	state_snapshot_end(s);
	return rc;
}

static int find(struct state *s, struct arena *a, const char *addr, struct state_resource **out,
		struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	struct dep_stream d = { 0 };

	if (sql_query(s,
		      "SELECT d.rid, d.dep FROM resources r JOIN deps d ON d.rid = r.rid "
		      "WHERE r.addr = ?1 ORDER BY d.pos",
		      SQL_ARGS(sql_text(addr)), &d.st, e) ||
	    dep_next(s, &d, e))
		return -1;
	int rc = sql_query(s, "SELECT " COLUMNS ", sum, rid FROM resources WHERE addr = ?1",
			   SQL_ARGS(sql_text(addr)), &rd.st, e);
	if (!rc && (rc = sql_step(s, rd.st, e)) > 0) {
		rc = read_row(&rd, &d, out, e);
		sql_done(rd.st);
	}
	sql_done(d.st);
	return rc;
}

int state_resource_find(struct state *s, struct arena *a, const char *addr,
			struct state_resource **out, struct err *e)
{
	*out = NULL;
	if (state_snapshot_begin(s, e))
		return -1;
	int rc = find(s, a, addr, out, e);
	state_snapshot_end(s);
	return rc;
}

/* ---- moving ---- */

/* The addresses of those that depend on `addr`. */
static int dependents(struct state *s, struct arena *a, const char *addr, struct fs_names *out,
		      struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	if (sql_query(
		    s,
		    "SELECT DISTINCT r.addr FROM deps d JOIN resources r ON r.rid = d.rid WHERE d.dep = ?1",
		    SQL_ARGS(sql_text(addr)), &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0)
		VEC_ADD(a, &out->names) = sql_col_text(a, st, 0);
	return rc;
}

static int redirect(struct state *s, struct arena *a, const char *addr, const char *from,
		    const char *to, struct err *e)
{
	struct state_resource *r;

	if (state_resource_find(s, a, addr, &r, e) || !r)
		return -1;
	for (size_t i = 0; i < r->deps.n; i++)
		if (!strcmp(r->deps.v[i], from))
			r->deps.v[i] = to;
	return resource_store(s, r, e);
}

static int move(struct state *s, struct arena *a, const char *from, const char *to, struct err *e)
{
	struct state_resource *r, *there;
	int64_t rid, created;
	struct fs_names users = { 0 };

	if (state_resource_find(s, a, from, &r, e) || state_resource_find(s, a, to, &there, e) ||
	    find_row(s, from, &rid, &created, e))
		return -1;
	if (!r)
		return not_there(from, e);
	if (there)
		return err_set(e, ERR_CONFLICT, "resource '%s' exists already", to);
	r->addr = to;
	if (sql_exec(s, "UPDATE resources SET addr = ?2 WHERE rid = ?1",
		     SQL_ARGS(sql_int(rid), sql_text(to)), e) ||
	    store_row(s, rid, r, e) || dependents(s, a, from, &users, e))
		return -1;
	for (size_t i = 0; i < users.names.n; i++)
		if (redirect(s, a, users.names.v[i], from, to, e))
			return -1;
	return 0;
}

int state_resource_move(struct state *s, const char *from, const char *to, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state move");

	if (write_begin(s, WRITE_COUNTED, e))
		return -1;
	int rc = check_scope(s, from, e) || check_scope(s, to, e) || move(s, a, from, to, e);
	return write_end(s, rc ? -1 : 0, e);
}

/* ---- facts ---- */

static int put_facts(struct state *s, const char *addr, const struct value *facts, struct err *e)
{
	int64_t rid, created;
	struct str text;

	if (find_row(s, addr, &rid, &created, e))
		return -1;
	if (!rid)
		return not_there(addr, e);
	if (row_json_text(s, facts, "facts", &text, e))
		return -1;
	return sql_exec(s,
			"INSERT INTO facts (rid, facts) VALUES (?1, ?2) "
			"ON CONFLICT (rid) DO UPDATE SET facts = excluded.facts",
			SQL_ARGS(sql_int(rid), sql_text(text.p)), e);
}

int state_facts_put(struct state *s, const char *addr, const struct value *facts, struct err *e)
{
	if (write_begin(s, WRITE_COUNTED, e))
		return -1;
	if (write_end(s, check_scope(s, addr, e) || put_facts(s, addr, facts, e) ? -1 : 0, e))
		return err_on(e, addr, NULL);
	return 0;
}

int state_facts_get(struct state *s, struct arena *a, const char *addr, const struct value **out,
		    struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };

	*out = NULL;
	if (sql_query(s, "SELECT facts FROM facts JOIN resources USING (rid) WHERE addr = ?1",
		      SQL_ARGS(sql_text(addr)), &rd.st, e))
		return -1;
	int rc = sql_step(s, rd.st, e);
	if (rc > 0) {
		rc = row_json(&rd, 0, true, out, e);
		sql_done(rd.st);
	}
	return rc;
}

int facts_all(struct state *s, struct arena *a, struct value **out, struct err *e)
{
	struct row_reader rd = { .s = s, .a = a };
	int rc;

	*out = value_map(a);
	if (sql_query(s, "SELECT facts, addr FROM facts JOIN resources USING (rid) ORDER BY addr",
		      SQL_NO_ARGS, &rd.st, e))
		return -1;
	while ((rc = sql_step(s, rd.st, e)) > 0) {
		const struct value *v;
		if (row_json(&rd, 0, true, &v, e)) {
			sql_done(rd.st);
			return -1;
		}
		value_set(*out, sql_col_text(a, rd.st, 1), v);
	}
	return rc;
}
