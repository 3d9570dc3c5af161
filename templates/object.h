/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/object.h - values that can be called or have attributes of their own: loop, macros,
 * modules, blocks, cycler, joiner. They live as long as the evaluation and never leave the room.
 */
#ifndef MUSTER_TEMPLATES_OBJECT_H
#define MUSTER_TEMPLATES_OBJECT_H

#include "templates/eval.h"

struct object;

struct object_type {
	const char *name;
	/* NULL with no fault: there is no such attribute. */
	const struct value *(*get)(struct eval *ev, struct object *o, struct str name);
	/* o(...), or o.method(...); method.p NULL: o itself. NULL with no fault: it has no such
	 * method. */
	const struct value *(*call)(struct eval *ev, struct object *o, struct str method,
				    struct call *c);
};

struct object {
	struct value_object base; /* first */
	const struct object_type *type;
};

static inline struct object *object_of(const struct value *v)
{
	return (struct object *)v->object;
}
/* o is part of something in ev->a. */
const struct value *object_value(struct eval *ev, struct object *o, const struct object_type *type,
				 const char *text);
/* Faults when there is no such method or attribute that can be called. */
const struct value *object_call(struct eval *ev, const struct value *v, struct str method,
				struct call *c);

/* cycler(...), joiner(sep) */
const struct value *object_cycler(struct eval *ev, const struct value *args);
const struct value *object_joiner(struct eval *ev, const struct value *args);

#endif
