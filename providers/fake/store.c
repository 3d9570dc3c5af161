/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file behind the fake cloud.
 *
 * Every call of the cloud is one small transaction, begun IMMEDIATE so that it waits for another
 * process's at its start and never fails in the middle. WAL with synchronous=NORMAL: what was
 * committed outlives the process (which is what tests kill), and a call costs no fsync, so ten
 * thousand machines take a second, not minutes.
 */
#include "providers/fake/cloud.h"

#include <stdio.h>

#define LOCK_WAIT_MS 10000

static const char schema[] =
	"PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
	"CREATE TABLE IF NOT EXISTS object("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, cluster TEXT NOT NULL, name TEXT NOT NULL,"
	" addr TEXT NOT NULL, token TEXT NOT NULL, status TEXT NOT NULL, attrs TEXT NOT NULL,"
	" created_ms INTEGER NOT NULL DEFAULT 0, shown_ms INTEGER NOT NULL DEFAULT 0,"
	" UNIQUE(kind, token));"
	"CREATE INDEX IF NOT EXISTS object_cluster ON object(cluster, kind, id);"
	"CREATE TABLE IF NOT EXISTS counter(name TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS load(id INTEGER PRIMARY KEY CHECK(id = 1), second INTEGER, n INTEGER);";

/* Clouds of an earlier version lack them; others refuse this and have them. */
static const char *const later[] = {
	"ALTER TABLE object ADD COLUMN created_ms INTEGER NOT NULL DEFAULT 0",
	"ALTER TABLE object ADD COLUMN shown_ms INTEGER NOT NULL DEFAULT 0",
};

#define COLUMNS "id, addr, name, token, status, attrs, created_ms"

static const char *const sql[Q_N] = {
	[Q_INSERT] =
		("INSERT INTO object(kind, cluster, name, addr, token, status, attrs, created_ms, shown_ms)"
		 " VALUES(?1,?2,?3,?4,?5,'running',?6,?7,?8)"),
	[Q_BY_TOKEN] = "SELECT " COLUMNS " FROM object WHERE kind = ?1 AND token = ?2",
	[Q_BY_ID] = "SELECT " COLUMNS " FROM object WHERE kind = ?1 AND id = ?2",
	[Q_SHOWN] = "SELECT count(*) FROM object WHERE kind = ?1 AND id = ?2 AND shown_ms <= ?3",
	[Q_PAGE] = "SELECT " COLUMNS " FROM object WHERE cluster = ?1 AND kind = ?2 AND id > ?3"
		   " AND shown_ms <= ?5 ORDER BY id LIMIT ?4",
	[Q_UPDATE] = "UPDATE object SET attrs = ?2, status = ?3 WHERE id = ?1",
	[Q_DELETE] = "DELETE FROM object WHERE kind = ?1 AND id = ?2",
	[Q_COUNT_ALL] = "SELECT count(*) FROM object WHERE kind = ?1",
	[Q_COUNT_CLUSTER] = "SELECT count(*) FROM object WHERE kind = ?1 AND cluster = ?2",
	[Q_BUMP] =
		"INSERT INTO counter(name, n) VALUES(?1, 1) ON CONFLICT(name) DO UPDATE SET n = n + 1 RETURNING n",
	[Q_THROTTLE] =
		("INSERT INTO load(id, second, n) VALUES(1, ?1, 1) ON CONFLICT(id) DO UPDATE SET"
		 " n = CASE second WHEN ?1 THEN n + 1 ELSE 1 END, second = ?1 RETURNING n"),
};

static int store_fail(struct provider *p, struct err *e)
{
	return err_set(e, ERR_IO, "fake cloud %s: %s", p->file, sqlite3_errmsg(p->db));
}

int fake_store_open(struct provider *p, struct err *e)
{
	if (sqlite3_open_v2(p->file, &p->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) !=
	    SQLITE_OK)
		return p->db ? store_fail(p, e)
			     : err_set(e, ERR_IO, "fake cloud %s: cannot open", p->file);
	sqlite3_busy_timeout(p->db, LOCK_WAIT_MS);
	if (sqlite3_exec(p->db, schema, NULL, NULL, NULL) != SQLITE_OK)
		return store_fail(p, e);
	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		sqlite3_exec(p->db, later[i], NULL, NULL, NULL);
	for (int i = 0; i < Q_N; i++)
		if (sqlite3_prepare_v3(p->db, sql[i], -1, SQLITE_PREPARE_PERSISTENT, &p->q[i],
				       NULL) != SQLITE_OK)
			return store_fail(p, e);
	return 0;
}

void fake_store_close(struct provider *p)
{
	for (int i = 0; i < Q_N; i++)
		sqlite3_finalize(p->q[i]);
	sqlite3_close(p->db);
	p->db = NULL;
}

int fake_begin(struct provider *p, struct err *e)
{
	return sqlite3_exec(p->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : store_fail(p, e);
}

int fake_commit(struct provider *p, struct err *e)
{
	if (sqlite3_exec(p->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	store_fail(p, e);
	fake_rollback(p);
	return -1;
}

void fake_rollback(struct provider *p)
{
	if (!sqlite3_get_autocommit(p->db))
		sqlite3_exec(p->db, "ROLLBACK", NULL, NULL, NULL);
}

static sqlite3_stmt *query(struct provider *p, enum fake_query q)
{
	sqlite3_reset(p->q[q]);
	sqlite3_clear_bindings(p->q[q]);
	return p->q[q];
}

static void bind_text(sqlite3_stmt *s, int i, const char *text)
{
	sqlite3_bind_text(s, i, text ? text : "", -1, SQLITE_TRANSIENT);
}

/* One row with one number. */
static int take_number(struct provider *p, sqlite3_stmt *s, int64_t *n, struct err *e)
{
	int rc = 0;
	if (sqlite3_step(s) == SQLITE_ROW)
		*n = sqlite3_column_int64(s, 0);
	else
		rc = store_fail(p, e);
	/* RETURNING: the change is done only when the statement has been stepped to its end. */
	if (!rc && sqlite3_step(s) != SQLITE_DONE)
		rc = store_fail(p, e);
	sqlite3_reset(s);
	return rc;
}

static int run(struct provider *p, sqlite3_stmt *s, struct err *e)
{
	int rc = sqlite3_step(s) == SQLITE_DONE ? 0 : store_fail(p, e);
	sqlite3_reset(s);
	return rc;
}

int fake_bump(struct provider *p, const char *name, int64_t *n, struct err *e)
{
	sqlite3_stmt *s = query(p, Q_BUMP);
	bind_text(s, 1, name);
	return take_number(p, s, n, e);
}

int fake_calls_now(struct provider *p, int64_t *n, struct err *e)
{
	sqlite3_stmt *s = query(p, Q_THROTTLE);
	sqlite3_bind_int64(s, 1, (clock_is_virtual() ? clock_now() : clock_wall()) / 1000);
	return take_number(p, s, n, e);
}

int fake_count(struct provider *p, const char *kind, bool of_cluster, int64_t *n, struct err *e)
{
	sqlite3_stmt *s = query(p, of_cluster ? Q_COUNT_CLUSTER : Q_COUNT_ALL);
	bind_text(s, 1, kind);
	if (of_cluster)
		bind_text(s, 2, p->cluster);
	return take_number(p, s, n, e);
}

static void bind_attrs(sqlite3_stmt *s, int i, const struct value *attrs)
{
	struct buf scoped(buf_fini) b = { 0 };
	buf_init(&b, 1 << 20);
	json_write(&b, attrs, JSON_SORT);
	sqlite3_bind_text(s, i, b.p, (int)b.n, SQLITE_TRANSIENT);
}

int fake_put(struct provider *p, const char *kind, const struct resource_want *w,
	     const struct value *attrs, int64_t *id, struct err *e)
{
	sqlite3_stmt *s = query(p, Q_INSERT);
	bind_text(s, 1, kind);
	bind_text(s, 2, p->cluster);
	bind_text(s, 3, w->name);
	bind_text(s, 4, w->addr);
	bind_text(s, 5, w->token);
	bind_attrs(s, 6, attrs);
	sqlite3_bind_int64(s, 7, clock_wall());
	sqlite3_bind_int64(s, 8, p->o.settle_ms ? clock_wall() + p->o.settle_ms : 0);
	if (run(p, s, e))
		return -1;
	*id = sqlite3_last_insert_rowid(p->db);
	return 0;
}

int fake_set(struct provider *p, int64_t id, const struct value *attrs, const char *status,
	     struct err *e)
{
	sqlite3_stmt *s = query(p, Q_UPDATE);
	sqlite3_bind_int64(s, 1, id);
	bind_attrs(s, 2, attrs);
	bind_text(s, 3, status);
	return run(p, s, e);
}

/* An id is "net-7" or "vm-7": the kind shows, as it does in the ids of real clouds. */
static const char *prefix_of(const char *kind)
{
	return strcmp(kind, "machine") ? "net-" : "vm-";
}

bool fake_id_parse(const char *kind, const char *id, int64_t *out)
{
	struct str s = str_of(id);
	const char *prefix = prefix_of(kind);
	return str_starts(s, prefix) && str_to_int(str_sub(s, strlen(prefix), SIZE_MAX), out);
}

int fake_drop(struct provider *p, const char *kind, const char *id, struct err *e)
{
	int64_t n;
	if (!fake_id_parse(kind, id, &n))
		return 0; /* never was one of ours */
	sqlite3_stmt *s = query(p, Q_DELETE);
	bind_text(s, 1, kind);
	sqlite3_bind_int64(s, 2, n);
	return run(p, s, e);
}

static char *column(struct arena *a, sqlite3_stmt *s, int i)
{
	return arena_dup(a, sqlite3_column_text(s, i), (size_t)sqlite3_column_bytes(s, i));
}

static int row_read(struct arena *a, sqlite3_stmt *s, const char *kind, struct resource_seen **out,
		    struct err *e)
{
	struct resource_seen *r = arena_obj(a, struct resource_seen);
	r->id = arena_printf(a, "%s%lld", prefix_of(kind), (long long)sqlite3_column_int64(s, 0));
	r->addr = column(a, s, 1);
	r->name = column(a, s, 2);
	r->token = column(a, s, 3);
	r->status = column(a, s, 4);
	r->created_ms = sqlite3_column_int64(s, 6);
	struct value *attrs;
	if (json_parse(a, "fake attrs", str_of(column(a, s, 5)), &attrs, e))
		return err_wrap(e, "fake cloud, object %s", r->id);
	r->attrs = attrs;
	*out = r;
	return 0;
}

static int one_row(struct provider *p, struct arena *a, sqlite3_stmt *s, const char *kind,
		   struct resource_seen **out, struct err *e)
{
	*out = NULL;
	int step = sqlite3_step(s);
	int rc = step == SQLITE_ROW    ? row_read(a, s, kind, out, e)
		 : step == SQLITE_DONE ? 0
				       : store_fail(p, e);
	sqlite3_reset(s);
	return rc;
}

int fake_by_token(struct provider *p, struct arena *a, const char *kind, const char *token,
		  struct resource_seen **out, struct err *e)
{
	sqlite3_stmt *s = query(p, Q_BY_TOKEN);
	bind_text(s, 1, kind);
	bind_text(s, 2, token);
	return one_row(p, a, s, kind, out, e);
}

int fake_by_id(struct provider *p, struct arena *a, const char *kind, const char *id,
	       struct resource_seen **out, struct err *e)
{
	int64_t n;
	*out = NULL;
	if (!fake_id_parse(kind, id, &n))
		return 0;
	sqlite3_stmt *s = query(p, Q_BY_ID);
	bind_text(s, 1, kind);
	sqlite3_bind_int64(s, 2, n);
	return one_row(p, a, s, kind, out, e);
}

int fake_shown(struct provider *p, const char *kind, const char *id, bool *shown, struct err *e)
{
	int64_t n, count;
	*shown = false;
	if (!fake_id_parse(kind, id, &n))
		return 0;
	sqlite3_stmt *s = query(p, Q_SHOWN);
	bind_text(s, 1, kind);
	sqlite3_bind_int64(s, 2, n);
	sqlite3_bind_int64(s, 3, clock_wall());
	if (take_number(p, s, &count, e))
		return -1;
	*shown = count > 0;
	return 0;
}

int fake_page(struct provider *p, struct arena *a, const char *kind, int64_t *last,
	      struct resources_seen *out, struct err *e)
{
	sqlite3_stmt *s = query(p, Q_PAGE);
	bind_text(s, 1, p->cluster);
	bind_text(s, 2, kind);
	sqlite3_bind_int64(s, 3, *last);
	sqlite3_bind_int64(s, 4, p->o.page);
	sqlite3_bind_int64(s, 5, clock_wall());
	int step, rc = 0;
	while (!rc && (step = sqlite3_step(s)) != SQLITE_DONE) {
		struct resource_seen *r = NULL;
		rc = step == SQLITE_ROW ? row_read(a, s, kind, &r, e) : store_fail(p, e);
		if (rc)
			break;
		*last = sqlite3_column_int64(s, 0);
		VEC_ADD(a, &out->v) = r;
	}
	sqlite3_reset(s);
	return rc;
}
