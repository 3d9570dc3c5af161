/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/sql.h - the connection, its prepared statements, and what SQLite's results mean.
 *
 * Inside state/ only. SQL text is always a static string and values are always bound: there is no
 * function here that takes a statement made at run time, so there is nothing to inject into.
 */
#ifndef MUSTER_STATE_SQL_H
#define MUSTER_STATE_SQL_H

#include <sqlite3.h>

#include "state/state.h"

#define SQL_CACHE 128 /* power of two; well above the number of statements in this room */

struct sql_cached {
	const char *sql; /* the pointer is the key */
	sqlite3_stmt *st;
};

struct state {
	sqlite3 *db;
	char *path;
	struct arena *scratch; /* texts of one write; reset when it ends */
	struct sql_cached cache[SQL_CACHE];
	int64_t fence;		   /* ours; 0: no lease */
	struct arena *scope_arena; /* of scope; NULL: the lease is of everything */
	struct map scope;	   /* addresses that we may write */
	int64_t serial_at_run;	   /* when the run began */
	char run[32];		   /* of the lease */
	int depth;		   /* writes inside writes */
	int readers;		   /* nested snapshots */
	int failed_rc;		   /* SQLite's result of the last failure */
	bool readonly;
	bool own_snapshot; /* the outermost snapshot began a transaction */
	bool group;	   /* a journal group is open */
	bool group_failed; /* it was undone: group_err says why */
	bool counted;	   /* this transaction has moved the serial */
	struct err group_err;
};

struct sql_arg {
	enum { SQL_ARG_NULL, SQL_ARG_INT, SQL_ARG_TEXT } kind;
	int64_t i;
	struct str t; /* borrowed until the statement is done */
};

struct sql_arg sql_int(int64_t i);
struct sql_arg sql_text(const char *s); /* NULL: null */
#define SQL_ARGS(...)                              \
	((const struct sql_arg[]){ __VA_ARGS__ }), \
		sizeof((const struct sql_arg[]){ __VA_ARGS__ }) / sizeof(struct sql_arg)
#define SQL_NO_ARGS NULL, 0

/* A statement ready to step. It is the cached one: finish it (sql_step to its end, or sql_done)
 * before the same text again. */
must_check int sql_query(struct state *s, const char *sql, const struct sql_arg *arg, size_t n,
			 sqlite3_stmt **out, struct err *e);
must_check int sql_step(struct state *s, sqlite3_stmt *st,
			struct err *e); /* 1 row, 0 end (reset), -1 (reset) */
void sql_done(sqlite3_stmt *st);
/* Runs it to its end, ignoring rows. */
must_check int sql_exec(struct state *s, const char *sql, const struct sql_arg *arg, size_t n,
			struct err *e);
/* First column of the first row as an integer; `fallback` when there is no row. */
must_check int sql_int_of(struct state *s, const char *sql, const struct sql_arg *arg, size_t n,
			  int64_t *out, struct err *e);
char *sql_col_text(struct arena *a, sqlite3_stmt *st, int col); /* copy; NULL for null */

/* Fills e from the connection's last result; -1. */
int sql_fail(struct state *s, int rc, struct err *e);
/* "state file X is damaged: WHAT", with the hint that restores the newest backup; -1. */
int sql_damaged(const char *path, const char *what, struct err *e);
void sql_close(struct state *s); /* statements and connection */

#endif
