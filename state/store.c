/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A write takes the database's write lock first and checks the lease under it: nobody can take the
 * lease between the check and the commit, so a run that lost its lease cannot store anything,
 * however late it wakes up.
 *
 * A full disk may make SQLite undo a whole transaction, and with it intents of a group that other
 * tasks count on. From then on every write is refused until journal_flush has told its caller; else
 * the next write would open a new group, and the flush would report success for rows that are gone.
 */
#include "state/store.h"

static int check_fence(struct state *s, struct err *e)
{
	int64_t held = 0;

	if (!s->fence) {
		err_set(e, ERR_LEASE, "writing the state needs the lease, and this run holds none");
		return -1;
	}
	if (sql_int_of(s, "SELECT count(*) FROM leases WHERE fence = ?1",
		       SQL_ARGS(sql_int(s->fence)), &held, e))
		return -1;
	if (held)
		return 0;
	err_set(e, ERR_LEASE, "the lease of run %s was taken away; this run may not write any more",
		s->run);
	return err_hint(e, "'muster lock ls' shows who holds it; run again when it is free");
}

int check_scope(const struct state *s, const char *addr, struct err *e)
{
	if (!s->scope_arena || map_getc(&s->scope, addr))
		return 0;
	return err_set(e, ERR_LEASE, "%s is not among what this run's lease covers", addr);
}

static int count_change(struct state *s, struct err *e)
{
	if (s->counted)
		return 0;
	if (sql_exec(s, "UPDATE serial SET n = n + 1 WHERE id = 1", SQL_NO_ARGS, e))
		return -1;
	s->counted = true;
	return 0;
}

static void roll_back(struct state *s)
{
	struct err ignored = { 0 };

	s->counted = false;
	if (!sqlite3_get_autocommit(s->db) && sql_exec(s, "ROLLBACK", SQL_NO_ARGS, &ignored))
		log_warn("state: rollback: %s", ignored.msg);
}

/* A state that somebody deleted goes on taking writes, which end with the process: a run that went
 * on would leave machines that no state knows. */
static int check_in_place(struct state *s, struct err *e)
{
	int moved = 0;

	if (sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) != SQLITE_OK ||
	    !moved)
		return 0;
	err_set(e, ERR_IO, "state file %s was removed or replaced while this run had it open",
		s->path);
	return err_hint(e, "put it back; 'muster gc' lists what this run made and no state knows");
}

/* The outermost transaction of a write or a group. */
static int begin_outer(struct state *s, unsigned flags, struct err *e)
{
	if (s->readonly) {
		err_set(e, ERR_BUG, "writing to a state that was opened for reading");
		return -1;
	}
	if (s->readers)
		return err_set(e, ERR_BUG, "writing to a state inside a snapshot");
	if (check_in_place(s, e))
		return -1;
	if (sql_exec(s, "BEGIN IMMEDIATE", SQL_NO_ARGS, e))
		return -1;
	s->counted = false;
	if ((flags & WRITE_UNFENCED) || !check_fence(s, e))
		return 0;
	roll_back(s);
	return -1;
}

static int group_is_lost(struct state *s, struct err *e)
{
	*e = s->group_err;
	return err_wrap(e, "earlier writes of this group were undone");
}

int write_begin(struct state *s, unsigned flags, struct err *e)
{
	fault_point("state", "write");
	if (s->group_failed)
		return group_is_lost(s, e);
	bool outer = !s->depth && !s->group;
	if (outer && begin_outer(s, flags, e))
		return -1;
	/* Counted outside the savepoint: undoing this write must not undo the count of an earlier
	 * one. */
	if ((flags & WRITE_COUNTED) && count_change(s, e))
		goto failed;
	if (!outer && sql_exec(s, "SAVEPOINT w", SQL_NO_ARGS, e))
		goto failed;
	s->depth++;
	return 0;
failed:
	if (outer)
		roll_back(s);
	return -1;
}

/* SQLite has undone the whole transaction by itself. */
static void note_lost(struct state *s, const struct err *why)
{
	s->counted = false;
	if (!s->group)
		return;
	s->group = false;
	s->group_failed = true;
	s->group_err = *why;
}

static int end_inner(struct state *s, int rc, struct err *e)
{
	struct err undo = { 0 };

	if (!rc)
		return sql_exec(s, "RELEASE w", SQL_NO_ARGS, e);
	if (sql_exec(s, "ROLLBACK TO w", SQL_NO_ARGS, &undo) ||
	    sql_exec(s, "RELEASE w", SQL_NO_ARGS, &undo))
		log_warn("state: undoing a write: %s", undo.msg);
	return -1;
}

static int end_outer(struct state *s, int rc, struct err *e)
{
	fault_point("state", "commit");
	if (!rc && !sql_exec(s, "COMMIT", SQL_NO_ARGS, e)) {
		fault_point("state", "committed");
		s->counted = false;
		return 0;
	}
	roll_back(s);
	return -1;
}

int write_end(struct state *s, int rc, struct err *e)
{
	if (s->depth < 1)
		bug("write_end without write_begin");
	s->depth--;
	if (rc && sqlite3_get_autocommit(s->db))
		note_lost(s, e);
	else if (s->depth || s->group)
		rc = end_inner(s, rc, e);
	else
		rc = end_outer(s, rc, e);
	if (!s->depth)
		arena_reset(s->scratch);
	return rc;
}

int group_begin(struct state *s, struct err *e)
{
	if (s->group_failed)
		return group_is_lost(s, e);
	if (s->group || s->depth)
		return 0;
	if (begin_outer(s, 0, e))
		return -1;
	s->group = true;
	return 0;
}

int journal_flush(struct state *s, struct err *e)
{
	if (s->group_failed) {
		s->group_failed = false;
		return group_is_lost(s, e);
	}
	if (!s->group)
		return 0;
	if (s->depth)
		bug("journal_flush inside a write");
	s->group = false;
	return end_outer(s, 0, e);
}

bool journal_is_dirty(const struct state *s)
{
	return s->group || s->group_failed;
}

int state_snapshot_begin(struct state *s, struct err *e)
{
	/* Inside a transaction of ours, reads see one picture already. */
	if (!s->readers && sqlite3_get_autocommit(s->db)) {
		int64_t ignored;
		if (sql_exec(s, "BEGIN DEFERRED", SQL_NO_ARGS, e))
			return -1;
		/* A deferred transaction fixes its picture at the first read. */
		if (sql_int_of(s, "SELECT n FROM serial", SQL_NO_ARGS, &ignored, e)) {
			roll_back(s);
			return -1;
		}
		s->own_snapshot = true;
	}
	s->readers++;
	return 0;
}

void state_snapshot_end(struct state *s)
{
	if (s->readers < 1)
		bug("state_snapshot_end without begin");
	if (--s->readers || !s->own_snapshot)
		return;
	s->own_snapshot = false;
	roll_back(s);
}

int state_serial(struct state *s, int64_t *out, struct err *e)
{
	*out = 0;
	return sql_int_of(s, "SELECT n FROM serial WHERE id = 1", SQL_NO_ARGS, out, e);
}

const char *state_path(const struct state *s)
{
	return s->path;
}

int state_meta_get(struct state *s, struct arena *a, const char *key, const char **out,
		   struct err *e)
{
	sqlite3_stmt *st;

	*out = NULL;
	if (sql_query(s, "SELECT value FROM meta WHERE key = ?1", SQL_ARGS(sql_text(key)), &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc > 0) {
		*out = sql_col_text(a, st, 0);
		sql_done(st);
	}
	return rc < 0 ? -1 : 0;
}

int state_meta_put(struct state *s, const char *key, const char *value, struct err *e)
{
	if (write_begin(s, 0, e))
		return -1;
	int rc = sql_exec(s,
			  "INSERT INTO meta (key, value) VALUES (?1, ?2) "
			  "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
			  SQL_ARGS(sql_text(key), sql_text(value)), e);
	return write_end(s, rc, e);
}
