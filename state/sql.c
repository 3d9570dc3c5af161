/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every SQL text of the room is a static string, and the cache uses its address as the key: a
 * lookup costs a few nanoseconds, and a statement is compiled once for a connection. A statement is
 * reset as soon as it has ended or failed, since a statement that is still running keeps its
 * transaction open.
 */
#include "state/sql.h"

#include <errno.h>

#include "state/files.h"

struct sql_arg sql_int(int64_t i)
{
	return (struct sql_arg){ .kind = SQL_ARG_INT, .i = i };
}

struct sql_arg sql_text(const char *s)
{
	return (struct sql_arg){ .kind = s ? SQL_ARG_TEXT : SQL_ARG_NULL, .t = str_of(s) };
}

int sql_damaged(const char *path, const char *what, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state damage");
	char *backup = files_newest_backup(a, path);

	err_set(e, ERR_IO, "state file %s is damaged: %s", path, what);
	if (backup)
		return err_hint(e, "restore the newest backup: muster state import %s", backup);
	return err_hint(e, "there is no backup beside it; if you have a copy or an export: "
			   "muster state import FILE");
}

static int disk_full(struct state *s, struct err *e)
{
	err_set(e, ERR_IO, "state file %s: the disk is full", s->path);
	return err_hint(e, "free space on its file system, then run the same command again; "
			   "what was recorded before is intact");
}

static int not_writable(struct state *s, struct err *e)
{
	err_set(e, ERR_IO, "state file %s cannot be written: %s", s->path, sqlite3_errmsg(s->db));
	return err_hint(e, "make the file and its folder writable for this user");
}

static int busy(struct state *s, struct err *e)
{
	err_set(e, ERR_BUSY, "state file %s is in use by another process", s->path);
	return err_hint(e, "run the command again; 'muster lock ls' shows who holds the lease");
}

static int io_failed(struct state *s, struct err *e)
{
	/* For some failed writes SQLite keeps no errno; the thread's is still theirs. */
	int sys = sqlite3_system_errno(s->db) ? sqlite3_system_errno(s->db) : errno;

	/* SQLite says FULL for ENOSPC alone: a quota and a size limit are the same to the user. */
	if (sys == ENOSPC || sys == EDQUOT || sys == EFBIG)
		return disk_full(s, e);
	err_set(e, ERR_IO, "state file %s: %s%s%s", s->path, sqlite3_errmsg(s->db), sys ? ": " : "",
		sys ? strerror(sys) : "");
	e->code = sys;
	return err_hint(e, "check the disk and the permissions of the file's folder");
}

int sql_fail(struct state *s, int rc, struct err *e)
{
	s->failed_rc = rc & 0xff;
	switch (s->failed_rc) {
	case SQLITE_NOMEM: mem_oom();
	case SQLITE_FULL: return disk_full(s, e);
	case SQLITE_READONLY:
	case SQLITE_PERM: return not_writable(s, e);
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return busy(s, e);
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN: return io_failed(s, e);
	case SQLITE_CONSTRAINT:
		return err_set(e, ERR_CONFLICT, "state file %s: %s", s->path,
			       sqlite3_errmsg(s->db));
	case SQLITE_TOOBIG: return err_set(e, ERR_IO, "state file %s: value too large", s->path);
	/* ERROR: our statements are right for our schema, so the schema in the file is not ours any
	 * more. */
	case SQLITE_ERROR:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: return sql_damaged(s->path, sqlite3_errmsg(s->db), e);
	default: return err_set(e, ERR_IO, "state file %s: %s", s->path, sqlite3_errmsg(s->db));
	}
}

static struct sql_cached *cache_slot(struct state *s, const char *sql)
{
	size_t at = ((uintptr_t)sql >> 3) * 0x9e3779b1u;

	for (size_t i = 0; i < SQL_CACHE; i++) {
		struct sql_cached *c = &s->cache[(at + i) & (SQL_CACHE - 1)];
		if (!c->sql || c->sql == sql)
			return c;
	}
	bug("more than %d statements on a state connection", SQL_CACHE);
}

static int prepare(struct state *s, const char *sql, sqlite3_stmt **out, struct err *e)
{
	struct sql_cached *c = cache_slot(s, sql);

	if (!c->sql) {
		int rc = sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &c->st,
					    NULL);
		if (rc != SQLITE_OK)
			return sql_fail(s, rc, e);
		c->sql = sql;
	}
	if (sqlite3_stmt_busy(c->st))
		bug("statement used inside itself: %s", sql);
	*out = c->st;
	return 0;
}

static int bind(sqlite3_stmt *st, int at, const struct sql_arg *a)
{
	switch (a->kind) {
	case SQL_ARG_NULL: return sqlite3_bind_null(st, at);
	case SQL_ARG_INT: return sqlite3_bind_int64(st, at, a->i);
	case SQL_ARG_TEXT:
		return sqlite3_bind_text64(st, at, a->t.p ? a->t.p : "", a->t.n, SQLITE_STATIC,
					   SQLITE_UTF8);
	}
	return SQLITE_MISUSE;
}

int sql_query(struct state *s, const char *sql, const struct sql_arg *arg, size_t n,
	      sqlite3_stmt **out, struct err *e)
{
	if (prepare(s, sql, out, e))
		return -1;
	if ((size_t)sqlite3_bind_parameter_count(*out) != n)
		bug("%zu values for: %s", n, sql);
	for (size_t i = 0; i < n; i++) {
		int rc = bind(*out, (int)i + 1, &arg[i]);
		if (rc != SQLITE_OK)
			return sql_fail(s, rc, e);
	}
	return 0;
}

int sql_step(struct state *s, sqlite3_stmt *st, struct err *e)
{
	errno = 0;
	int rc = sqlite3_step(st);

	if (rc == SQLITE_ROW)
		return 1;
	/* Before the reset: afterwards the message and the errno may be gone. */
	int out = rc == SQLITE_DONE ? 0 : sql_fail(s, rc, e);
	sqlite3_reset(st);
	return out;
}

void sql_done(sqlite3_stmt *st)
{
	sqlite3_reset(st);
}

int sql_exec(struct state *s, const char *sql, const struct sql_arg *arg, size_t n, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	if (sql_query(s, sql, arg, n, &st, e))
		return -1;
	do
		rc = sql_step(s, st, e);
	while (rc > 0);
	return rc;
}

int sql_int_of(struct state *s, const char *sql, const struct sql_arg *arg, size_t n, int64_t *out,
	       struct err *e)
{
	sqlite3_stmt *st;

	if (sql_query(s, sql, arg, n, &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc > 0) {
		*out = sqlite3_column_int64(st, 0);
		sql_done(st);
	}
	return rc < 0 ? -1 : 0;
}

char *sql_col_text(struct arena *a, sqlite3_stmt *st, int col)
{
	const unsigned char *p = sqlite3_column_text(st, col);

	if (!p && sqlite3_column_type(st, col) != SQLITE_NULL)
		mem_oom();
	return p ? arena_dup(a, p, (size_t)sqlite3_column_bytes(st, col)) : NULL;
}

void sql_close(struct state *s)
{
	for (size_t i = 0; i < SQL_CACHE; i++)
		sqlite3_finalize(s->cache[i].st);
	memset(s->cache, 0, sizeof s->cache);
	if (sqlite3_close(s->db) != SQLITE_OK)
		bug("a statement on %s was never finished", s->path);
	s->db = NULL;
}
