/* SPDX-License-Identifier: Apache-2.0 */
/* templates/jmespath.h - questions to nested data: the language JMESPath, as json_query has it. */
#ifndef MUSTER_TEMPLATES_JMESPATH_H
#define MUSTER_TEMPLATES_JMESPATH_H

#include "base/base.h"

#define JMESPATH_MAX_DEPTH   100
#define JMESPATH_MAX_NESTING 500 /* while asking */
#define JMESPATH_MAX_STEPS   5000000

enum jmespath_kind {
	J_IDENTITY,
	J_FIELD,      /* name */
	J_LITERAL,    /* lit */
	J_CHAIN,      /* kids: each is asked about what the one before gave */
	J_INDEX,      /* part[0] */
	J_SLICE,      /* part, where has says so */
	J_PROJECTION, /* kids: list, what is asked of each item */
	J_VALUES,     /* kids: map, what is asked of each value */
	J_FILTER,     /* kids: list, what is asked of each item, condition */
	J_FLATTEN,    /* kids: list */
	J_MULTI_LIST, /* kids */
	J_MULTI_MAP,  /* kids, by names */
	J_COMPARE,    /* op, two kids */
	J_OR,
	J_AND,
	J_NOT,
	J_FUNCTION,   /* name, kids */
	J_EXPRESSION, /* &kid: an argument that is itself a question */
};

struct jmespath {
	enum jmespath_kind kind;
	struct str name;
	const struct value *lit;
	int64_t part[3];
	bool has[3];
	int op;
	VEC(struct jmespath *) kids;
	VEC(struct str) names;
};

must_check int jmespath_parse(struct arena *a, struct str text, struct jmespath **out,
			      struct err *e);

struct jmespath_run {
	struct arena *a;
	struct err *e;
	uint64_t steps;
	int depth;
};

/* NULL after a fault. */
const struct value *jmespath_ask(struct jmespath_run *r, const struct jmespath *j,
				 const struct value *v);
/* f(...), about v. */
const struct value *jmespath_call(struct jmespath_run *r, const struct jmespath *j,
				  const struct value *v);

#endif
