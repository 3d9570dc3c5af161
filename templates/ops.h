/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/ops.h - Python's operators over values, as Jinja2 has them. Pure: no scope, no
 * positions.
 *
 * What returns a value returns NULL after a fault (ERR_SPEC in e). Marks: the result of an
 * operation on a secret is secret, on an unknown value unknown. An undefined name is a value of the
 * private kind V_UNDEFINED, which never leaves this room.
 */
#ifndef MUSTER_TEMPLATES_OPS_H
#define MUSTER_TEMPLATES_OPS_H

#include "templates/ast.h"

#define V_UNDEFINED                                                                                \
	((enum value_kind)100) /* s: the message for whoever uses it, "\n", and a hint if there is \
				  one */
#define OPS_MAX_TEXT	((size_t)16 << 20)
#define OPS_MAX_ITEMS	1000000
#define OPS_MAX_NESTING 60

static inline bool op_is_number(const struct value *v)
{
	return v->kind == V_INT || v->kind == V_FLOAT || v->kind == V_BOOL;
}

/* True or False, shared: they carry no marks. */
static inline const struct value *op_bool(bool b)
{
	static const struct value truths[2] = { { .kind = V_BOOL, .b = false },
						{ .kind = V_BOOL, .b = true } };

	return &truths[b];
}

const char *op_type_name(const struct value *v); /* Python's: "str", "int", "NoneType" */
double op_to_double(const struct value *v);	 /* of a number */
int64_t op_to_int(const struct value *v);	 /* of a bool or int */

/* Text of any value, secrets in clear: whoever uses it marks the result. In the arena,
 * NUL-terminated. */
struct str op_text(struct arena *a, const struct value *v);
const struct value *op_marked(struct arena *a, const struct value *v,
			      bool secret); /* v, deeply secret if `secret` */

const struct value *op_binary(struct arena *a, char op, const struct value *x,
			      const struct value *y, struct err *e);
const struct value *op_negate(struct arena *a, const struct value *x, struct err *e);
const struct value *op_compare(struct arena *a, enum compare_op op, const struct value *x,
			       const struct value *y, struct err *e);
bool op_equal(const struct value *x, const struct value *y); /* Python's ==: True == 1 */
/* *order: < 0, 0, > 0. Texts, numbers and lists; else a fault. */
must_check int op_order(const struct value *x, const struct value *y, int *order, struct err *e);
must_check int op_contains(const struct value *in, const struct value *x, bool *out, struct err *e);

/* What a for loop would see: items, a map's keys, a text's characters. A list itself is given back.
 */
const struct value *op_iterate(struct arena *a, const struct value *v, struct err *e);
must_check int op_length(const struct value *v, int64_t *out, struct err *e);
/* x[i]; NULL with e untouched (kind ERR_NONE) when it is not there. */
const struct value *op_item(struct arena *a, const struct value *x, const struct value *i);
const struct value *op_slice(struct arena *a, const struct value *x,
			     const struct value *const part[3], struct err *e);
/* "%s %03d" % args; args: a tuple, or one value. */
const struct value *op_format(struct arena *a, struct str fmt, const struct value *args,
			      struct err *e);
/* "{} {0:>8} {name!r}".format(*args, **kwargs) */
const struct value *op_format_fields(struct arena *a, struct str fmt, const struct value *args,
				     const struct value *kwargs, struct err *e);
struct str op_repr(struct arena *a, const struct value *v); /* as Python's repr() */
struct str op_ascii(struct arena *a, struct str s);	    /* other letters as \xe9, \u20ac */
/* Refuses values too deep or too large to be printed; *nodes: how many it has. */
must_check int op_check_nesting(const struct value *v, uint64_t *nodes, struct err *e);
/* A path of attributes: "a.b.0"; V_UNDEFINED when something is not there. */
const struct value *op_attribute(struct arena *a, const struct value *v, const struct value *path);
size_t op_char_len(
	struct str s); /* bytes of the first character (1 for a broken one); 0 at the end */

#endif
