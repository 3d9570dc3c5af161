/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/call.h - one shape for filters, tests, methods and functions: rows {name, function,
 * parameters}.
 *
 * A function returns its result, or NULL after err_set on c->e; the evaluator adds the place, the
 * name, and the secret and unknown marks.
 */
#ifndef MUSTER_TEMPLATES_CALL_H
#define MUSTER_TEMPLATES_CALL_H

#include "templates/ops.h"

#define CALL_MAX_PARAMS 8

struct call;
typedef const struct value *call_fn(struct call *c);

enum call_flags {
	CALL_UNDEFINED = 1, /* self may be V_UNDEFINED */
	CALL_UNKNOWN = 2,   /* self and arguments may be unknown */
	CALL_VARARGS = 4,   /* more positional and named arguments than params are fine */
	CALL_ITEMS = 8,	    /* gives items of self as they are: they keep their own marks */
	CALL_CHANGES = 32,  /* self is changed in place: it is the evaluation's own */
	CALL_SOFT =
		16, /* arguments may be undefined or unknown; the result is self or one of them */
};

struct callable {
	const char *name;
	call_fn *fn;
	const char *params; /* "width,first,blank"; "pattern!" is required */
	unsigned flags;
};

/* How a filter reaches other filters and tests (map, select): the evaluator. */
struct call_host {
	void *arg;
	bool *holes; /* set by who puts an undefined item into a list */
	const struct value *(*filter)(void *arg, struct str name, const struct value *self,
				      const struct call *from, const struct value *args);
	/* *result; -1 after a fault */
	int (*test)(void *arg, struct str name, const struct value *self, const struct call *from,
		    const struct value *args, bool *result);
};

struct call {
	struct arena *a;
	const char *name;
	const struct value *self;		  /* subject; NULL for functions */
	const struct value *arg[CALL_MAX_PARAMS]; /* by parameter; NULL if not given */
	const struct value *args;		  /* a list: as written, without names */
	const struct value *kwargs;		  /* a map */
	const struct call_host *host;
	struct err *e;
};

/* Sorts args and kwargs into c->arg by f->params; faults name the parameter. */
must_check int call_bind(const struct callable *f, struct call *c);

/* Without its collection: quote of ansible.builtin.quote. */
struct str call_plain_name(struct str name);

/* For the functions. */
const struct value *call_fault(struct call *c, const char *fmt, ...) printf_fmt(2, 3); /* NULL */
struct str call_text(struct call *c, int i, const char *fallback); /* argument i as text */
bool call_flag(struct call *c, int i, bool fallback);
must_check int call_int(struct call *c, int i, int64_t fallback, int64_t *out);
const struct value *call_list(struct call *c,
			      const struct value *v); /* what a loop would see; NULL: fault */

#endif
