/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/eval.h - the evaluator: walks a tree with a scope. One struct eval a text; texts that
 * are found in variables (TEMPLATE_LAZY) have their own and share the bounds.
 */
#ifndef MUSTER_TEMPLATES_EVAL_H
#define MUSTER_TEMPLATES_EVAL_H

#include "templates/ast.h"
#include "templates/call.h"
#include "templates/scope.h"

#define EVAL_MAX_STEPS 10000000 /* about a second */
#define EVAL_MAX_BYTES ((size_t)512 << 20)
#define EVAL_MAX_DEPTH 200

struct frame {
	struct frame *outer;
	struct map vars;
	bool kept; /* a macro or a block looks names up in it later */
};

struct lazy {
	const struct lazy *outer;
	const struct value *v; /* the text under way */
};

struct eval;

/* Shared by everything that one call of the front door evaluates. */
struct bounds {
	uint64_t steps;
	size_t most_bytes; /* that the arena may hold */
	int depth;
	const struct lazy *lazy;
	/* Evaluates a text from the scope, a template of its own; given by the front door, so that
	 * expressions need not include statements. */
	const struct value *(*text_fn)(struct eval *outer, const struct value *text);
	/* The text of a file as a template, with the variables of scope. */
	const struct value *(*file_fn)(struct eval *outer, const struct value *text,
				       const struct scope *scope);
	const struct template_world *world;
	/* made by namespace(): the only values that {% set x.y %} may change */
	VEC(const struct value *) namespaces;
	/* a list may have undefined items: looked for before it is used as a whole */
	bool holes;
	struct map moved; /* the address of a value of the scope -> its copy that was changed */
};

struct eval {
	struct arena *a;
	const struct scope *scope;
	unsigned flags; /* enum template_flags */
	struct str text;
	struct pos where;
	struct frame *frame;
	struct module *module;	      /* blocks and exported names of the template under way */
	const struct value *captured; /* what N_CAPTURED stands for */
	struct bounds *bounds;
	struct call_host host;
	struct err *e;
};

void eval_init(struct eval *ev, struct arena *a, struct str text, struct pos where,
	       const struct scope *scope); /* the caller adds flags, frame, bounds, e */
void eval_rehost(struct eval *ev);	   /* after a copy of a struct eval */
/* NULL after a fault. Soft: undefined names give V_UNDEFINED. */
const struct value *eval_value(struct eval *ev, const struct node *n);
const struct value *eval_soft(struct eval *ev, const struct node *n);
int eval_fault(struct eval *ev,
	       const struct node *n); /* puts the place of n to a fault in ev->e; -1 */
int eval_too_long(struct eval *ev, const struct node *n); /* -1 */
static inline must_check int eval_charge(struct eval *ev, const struct node *n, uint64_t steps)
{
	ev->bounds->steps += steps;
	return ev->bounds->steps <= EVAL_MAX_STEPS ? 0 : eval_too_long(ev, n);
}
/* {{ f(x) }}: the function that n's name stands for; its arguments are in c. */
const struct value *eval_function(struct eval *ev, const struct node *n, struct call *c);
const char *eval_function_name(size_t i); /* all but those that the program registers */
/* An N_CALL; caller: NULL, or given as the argument `caller`. */
const struct value *eval_call_with(struct eval *ev, const struct node *n,
				   const struct value *caller);
/* The arguments that n gives: *c is filled but for self. Undefined ones stay so. */
must_check int eval_arguments(struct eval *ev, const struct node *n, struct call *c);
/* An undefined name's own message as a fault; NULL. */
const struct value *eval_undefined_fault(struct eval *ev, const struct node *n,
					 const struct value *v);
const struct value *eval_undefined(struct eval *ev, const char *msg); /* V_UNDEFINED */
/*
 * Values that can be called or have attributes of their own: loop, macros, modules, blocks. They
 * live as long as the evaluation and never leave the room.
 */
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

/* What a name stands for, evaluated; V_UNDEFINED: nothing. NULL: fault. */
const struct value *eval_name(struct eval *ev, struct str name);
struct value *eval_own_map(struct eval *ev); /* empty; the template may change it */
void eval_add_function(const char *name, template_function *fn, void *arg);

/* 0, or -1 after a fault when v has an undefined item somewhere. */
must_check int eval_whole(struct eval *ev, const struct node *n, const struct value *v);

/* Whether the values so far take too much; asked where many or large ones are made. */
must_check int eval_memory(struct eval *ev, const struct node *n);

/* ---- between eval.c and eval_call.c ---- */

const struct value *eval_fail(struct eval *ev, const struct node *n); /* eval_fault, and NULL */
/* What was made must stay printable and pays for its size. */
const struct value *eval_checked(struct eval *ev, const struct node *n, const struct value *v);
/* The value that the template itself gave the name of n; NULL: none. */
const struct value *eval_in_frames(struct eval *ev, const struct node *n);
const struct value *eval_filter(struct eval *ev, const struct node *n);
const struct value *eval_test(struct eval *ev, const struct node *n);
/* A key of bounds->moved. */
static inline struct str eval_address(const void *const *p)
{
	return (struct str){ (const char *)p, sizeof *p };
}

#endif
