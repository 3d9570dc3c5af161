/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/value.h - the one dynamic type: YAML, JSON, expressions, facts and attributes are all
 * values.
 *
 * Values live in an arena and are shared by pointer; treat a value you did not just make as
 * read-only. *unknown* means "known after apply". A secret is any value with `secret` set:
 * printing, JSON and equality messages show "(sensitive)"; only value_reveal gives its text. A list
 * or map that holds a secret is not secret itself, its element is.
 */
#ifndef MUSTER_BASE_VALUE_H
#define MUSTER_BASE_VALUE_H

#include "base/map.h"
#include "base/vec.h"

enum value_kind { V_NULL, V_BOOL, V_INT, V_FLOAT, V_STR, V_LIST, V_MAP, V_UNKNOWN, V_OBJECT };

/* V_OBJECT: what a room keeps in a value while it works (a macro); it never leaves that room. */
struct value_object {
	const char *text; /* printed */
};

struct value {
	enum value_kind kind;
	bool secret;
	bool tuple;	/* a list that prints as Python's tuple does; equal to the same list */
	bool own;	/* made by a template, which may change it in place */
	bool unsafe;	/* text, or a map's keys, from outside: never evaluated as a template */
	struct pos pos; /* where it was written; line 0 if computed */
	union {
		bool b;
		int64_t i;
		double f;
		struct str s;		  /* NUL-terminated in the arena */
		VEC(struct value *) list; /* list.v, list.n */
		struct map map;		  /* map.e[i].val is a struct value * */
		struct value_object *object;
	};
};

struct value *value_null(struct arena *a);
struct value *value_unknown(struct arena *a);
struct value *value_bool(struct arena *a, bool b);
struct value *value_int(struct arena *a, int64_t i);
struct value *value_float(struct arena *a, double f);
struct value *value_str(struct arena *a, struct str s); /* copies */
struct value *value_cstr(struct arena *a, const char *s);
struct value *value_cstr_or_null(struct arena *a, const char *s); /* null for NULL */
struct value *value_strf(struct arena *a, const char *fmt, ...) printf_fmt(2, 3);
struct value *value_list(struct arena *a);
struct value *value_map(struct arena *a);
/* shallow copy, marked; registers text with the scrubber */
struct value *value_secret(struct arena *a, const struct value *v);

/*
 * Keys of maps are texts. A key that is a number, a truth value or null, as Python's maps may have,
 * is a text that begins with VALUE_KEY_MARK, a byte that no UTF-8 text has.
 */
#define VALUE_KEY_MARK '\xff'
static inline bool value_key_is_text(struct str key)
{
	return !key.n || key.p[0] != VALUE_KEY_MARK;
}
/* *key in the arena; false: this value cannot be a key. */
bool value_key(struct arena *a, const struct value *v, struct str *key);
struct value *value_of_key(struct arena *a, struct str key);
struct str value_key_text(struct str key); /* without the mark */

void value_add(struct arena *a, struct value *list, const struct value *item);
/* in the map's own arena */
void value_set(struct value *map, const char *key, const struct value *v);
void value_sets(struct value *map, struct str key, const struct value *v);
void value_set_text(struct value *map, const char *key, const char *s); /* nothing for NULL */
struct value *value_get(const struct value *map, const char *key); /* NULL if absent or not a map */
struct value *value_gets(const struct value *map, struct str key);
/* "a.b.0.c" down maps and lists; NULL if absent. */
struct value *value_path(const struct value *v, const char *dotted);

/* Convenience over value_get: the default when absent or of another kind. */
struct str value_get_str(const struct value *map, const char *key, const char *fallback);
int64_t value_get_int(const struct value *map, const char *key, int64_t fallback);
bool value_get_bool(const struct value *map, const char *key, bool fallback);

struct value *value_copy(struct arena *a, const struct value *v); /* deep */
/* over's keys win; deep: maps are merged in turn */
struct value *value_merge(struct arena *a, const struct value *under, const struct value *over,
			  bool deep);
/* 1 == 1.0, 1 != true; unknown equals nothing */
bool value_equal(const struct value *a, const struct value *b);
bool value_is_truthy(const struct value *v);   /* Python's rule */
bool value_has_unknown(const struct value *v); /* anywhere inside */
bool value_has_secret(const struct value *v);
/* "null", "a boolean", "an integer", ... for messages */
const char *value_kind_name(enum value_kind k);
/* Deep. For a value just made or copied: it came from outside, wherever it goes. */
void value_mark_unsafe(struct value *v);

/* Text as Jinja2 prints it (str: as is; True/False/None; lists and maps as Python's repr). Secrets:
 * "(sensitive)". */
void value_print(struct buf *b, const struct value *v);
/* The same with secrets in clear, for what is sent to a node. The caller wipes the buffer. */
void value_reveal(struct buf *b, const struct value *v);

#endif
