/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/row.h - rows as tables of columns: one list of (name, struct member, type) writes a row,
 * reads it, exports and imports it.
 *
 * Inside state/ only. The SQL of a list names its columns in the list's order.
 */
#ifndef MUSTER_STATE_ROW_H
#define MUSTER_STATE_ROW_H

#include "state/sql.h"

enum column_type {
	COL_TEXT, /* const char * */
	COL_INT,  /* int64_t */
	COL_ENUM, /* an enum; exported by name */
	COL_JSON, /* const struct value *, stored as canonical JSON */
};

enum column_flags {
	COL_REQUIRED = 1, /* not NULL */
	COL_UNSUMMED = 2, /* changes after the row was written: not in its checksum */
	COL_OUTSIDE = 4,  /* JSON: texts are read back marked unsafe */
};

struct column {
	const char *name;
	size_t offset;
	enum column_type type;
	unsigned flags;
	const char *const *names; /* COL_ENUM, NULL-terminated */
};

struct row_type {
	const char *noun; /* "resource", for messages */
	const struct column *col;
	size_t n;
};

#define ROW_MAX 16

#define ROW_SUM_START UINT64_C(0xcbf29ce484222325)
uint64_t row_sum_text(uint64_t sum, const char *p, size_t n);

/* Fills arg[0 .. n-1] from obj (texts live in s->scratch) and adds them to *sum. ERR_BUG: a secret,
 * or a required one missing. */
must_check int row_args(struct state *s, const struct row_type *t, const void *obj,
			struct sql_arg *arg, uint64_t *sum, struct err *e);
/*
 * Reading many rows of one statement: { .s, .st, .a }. Neighbours mostly hold the same texts (a
 * pool's nodes want the same), so a text or value that equals the one above it is not copied or
 * parsed again but shared.
 */
struct row_memo {
	struct str text; /* in the arena */
	const struct value *value;
};
struct row_reader {
	struct state *s;
	sqlite3_stmt *st;
	struct arena *a;
	struct row_memo memo[ROW_MAX];
};

/* Fills obj from columns 0 .. n-1 and adds them to *sum. Damage: ERR_IO. */
must_check int row_read(struct row_reader *r, const struct row_type *t, void *obj, uint64_t *sum,
			struct err *e);
/* JSON in one column; NULL for null. outside: marks texts unsafe. */
must_check int row_json(struct row_reader *r, int col, bool outside, const struct value **out,
			struct err *e);

/* The stored form of columns 0 .. n-1, as row_args gave it; borrowed until the next step. */
void row_stored(sqlite3_stmt *st, struct sql_arg *arg, size_t n);
/* A column for a digest, unambiguous: "n,", "iNUMBER,", "sLENGTH:BYTES,". */
void row_arg_text(struct buf *b, const struct sql_arg *arg);
struct value *row_export(struct arena *a, const struct row_type *t, const void *obj);
/* Fills obj from a map; keys in `also` (NULL-terminated) are allowed besides. ERR_SPEC: names the
 * row and key. */
must_check int row_import(const struct value *v, const struct row_type *t, const char *const *also,
			  void *obj, struct err *e);

/* One value as canonical JSON in s->scratch. what: for messages. */
must_check int row_json_text(struct state *s, const struct value *v, const char *what,
			     struct str *out, struct err *e);

#endif
