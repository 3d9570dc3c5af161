/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/field.h - one table row describes a key to the whole program.
 *
 * The same rows drive: decoding with positions and suggestions (field_decode), the JSON Schema,
 * muster.yaml(5), completion, and the plan's diff
 * ("forces replacement") and redaction. Providers describe their `options` and machine attributes
 * with the same rows.
 */
#ifndef MUSTER_INVENTORY_FIELD_H
#define MUSTER_INVENTORY_FIELD_H

#include "base/base.h"

enum field_type {
	F_STR,	    /* struct str */
	F_INT,	    /* int64_t */
	F_BOOL,	    /* bool */
	F_FLOAT,    /* double */
	F_ENUM,	    /* int64_t: index into `accepts` "a|b|c" */
	F_BYTES,    /* int64_t bytes, written "1000 GiB" */
	F_DURATION, /* int64_t ms, written "30m", "1h30m", "500ms" */
	F_COUNT,    /* struct count: "3" or "10%" */
	F_RATE,	    /* int64_t thousandths a second, written "20/s", "90/m" */
	F_CIDR,	    /* struct str, checked */
	F_PATH,	    /* struct str; ~ expanded, relative to the file it is written in */
	F_STRS,	    /* struct str_list; one string is accepted as a list of one */
	F_VALUE,    /* const struct value *: anything */
	F_OBJ,	    /* struct of `sub` rows embedded at the offset */
	F_MAP_OF, /* struct obj_list: map name -> object of `sub` rows (its `name` member comes from
		     the key) */
	F_LIST_OF, /* struct obj_list: list of objects of `sub` rows */
};

enum field_flags {
	FIELD_REQUIRED = 1,
	FIELD_FIXED = 2,    /* a change means destroy and create again */
	FIELD_COMPUTED = 4, /* the provider tells us; the user may not set it */
	FIELD_SECRET = 8,   /* never printed or stored in clear */
	FIELD_REF = 16,	    /* names another object, checked by `accepts` (e.g. "providers") */
	FIELD_NAME = 32,    /* takes the map key: not written by the user */
	FIELD_SHORT = 64,   /* a bare scalar in place of the object means this member ({role: x} may
			       be written x) */
	FIELD_LATE = 128,   /* templates in it are evaluated later, per node */
	FIELD_REST = 256, /* F_VALUE: a map of all the keys that no other row knows; the row's name
			     is not a key */
	FIELD_SOON = 512, /* a key of the language that this version does not support yet: refused,
			     and says so */
};

struct field {
	const char *name;
	enum field_type type;
	unsigned flags;
	size_t offset;
	const char *fallback; /* default, as the user would write it; NULL: none (zero) */
	/* "1..4096" for INT, "a|b|c" for ENUM, "/regex/" (PCRE2, anchored) for STR, "map" for
	 * VALUE, "path" for STRS (as F_PATH), a word that is no path for PATH; NULL: anything */
	const char *accepts;
	const char *doc; /* one sentence, no full stop */
	const struct field *sub;
	size_t sub_size; /* sizeof the struct that sub describes */
};

#define FIELD(st, member, ftype, fflags, fdefault, faccepts, fdoc)                             \
	{                                                                                      \
#member, ftype, fflags, offsetof(struct st, member), fdefault, faccepts, fdoc, \
			NULL, 0                                                                \
	}
#define FIELD_SUB(st, member, ftype, fflags, subrows, substruct, fdoc)                          \
	{                                                                                       \
#member, ftype, fflags, offsetof(struct st, member), NULL, NULL, fdoc, subrows, \
			sizeof(struct substruct)                                                \
	}
#define FIELD_END                                            \
	{                                                    \
		NULL, F_STR, 0, 0, NULL, NULL, NULL, NULL, 0 \
	}

struct count {
	int64_t n;
	bool percent;
};
struct str_list {
	VEC(struct str) items;
	struct pos pos;
};
struct obj_list {
	void *v; /* array of sub_size structs; each starts with struct obj */
	size_t n;
};

/* First member of every described struct. */
struct obj {
	struct pos pos; /* of the object's key, or its first key */
	struct pos
		field_pos[48]; /* by row index: where each value was written (line 0: defaulted) */
	const struct value *source; /* what it was decoded from */
};

/*
 * Stands for a value that a fault was already reported about (an expression that failed): decoding
 * fails without another report. It is V_UNKNOWN with a line below 0.
 */
struct value *field_faulty(struct arena *a);

/* Fills *obj from `v` (a map) by the rows. All faults go to errs, with positions, "did you mean",
 * units. `path` ("pools.h100") leads messages. */
must_check int field_decode(struct arena *a, const struct field *rows, const struct value *v,
			    const char *path, void *obj, struct err_list *errs);
bool field_was_set(const struct field *rows, const void *obj, const char *name);
struct pos field_pos(const struct field *rows, const void *obj, const char *name);

/* Quantities, also for others. */
must_check int quantity_bytes(struct str s, int64_t *out, struct err *e);
must_check int quantity_duration(struct str s, int64_t *out_ms, struct err *e);
must_check int quantity_count(struct str s, struct count *out, struct err *e);
must_check int quantity_rate(struct str s, int64_t *out, struct err *e); /* thousandths a second */
int64_t count_of(struct count c,
		 int64_t total); /* a percentage rounds down but is at least 1 if not 0 */

/* Renderers of the rows. */
void field_schema(struct buf *b, const struct field *rows,
		  const char *title);			    /* JSON Schema draft 2020-12 */
void field_manual(struct buf *b, const struct field *rows); /* scdoc section for muster.yaml(5) */

#endif
