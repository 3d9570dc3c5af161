/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/ast.h - the tree that the parser makes and the evaluator walks. Lives in one arena;
 * read-only after parsing.
 */
#ifndef MUSTER_TEMPLATES_AST_H
#define MUSTER_TEMPLATES_AST_H

#include "base/base.h"

enum node_kind {
	/* expressions */
	N_LITERAL,  /* lit */
	N_NAME,	    /* name */
	N_LIST,	    /* kids */
	N_TUPLE,    /* kids */
	N_DICT,	    /* kids: key, value, key, value, ... */
	N_ATTR,	    /* left.name */
	N_ITEM,	    /* left[right] */
	N_SLICE,    /* left[kids 0 : 1 : 2]; absent ones are NULL */
	N_CALL,	    /* left(kids, kwargs, *star, **stars) */
	N_FILTER,   /* left|name(kids, kwargs, *star, **stars) */
	N_TEST,	    /* left is name(kids, kwargs) */
	N_CAPTURED, /* the text of the block that is filtered */
	N_NEGATE,   /* -left */
	N_PLUS,	    /* +left */
	N_NOT,	    /* not left */
	N_AND,
	N_OR,
	N_BINARY,  /* left op right: the characters of `op`, '^' for **, 'f' for // */
	N_CONCAT,  /* kids joined as text */
	N_COMPARE, /* left, then pairs: ops[i], kids[i] */
	N_COND,	   /* left if right else other; other may be NULL */
	/* statements */
	N_BODY,	  /* kids */
	N_TEXT,	  /* name: the text */
	N_OUTPUT, /* left */
	N_IF,	  /* left: condition, right: body, other: N_IF, N_BODY or NULL */
	/* target, left: what, right: body, cond: filter or NULL, other: else body or NULL, flag:
	 * recursive */
	N_FOR,
	N_SET,	    /* target (or its name's attribute `name`); left: value, or right: body with
		     * other: filters over N_CAPTURED or NULL */
	N_WITH,	    /* kids: target, value, target, value, ...; right: body */
	N_DO,	    /* left */
	N_BREAK,    /* out of the innermost loop */
	N_CONTINUE, /* with its next turn */
	N_CAPTURE,  /* {% filter %}: left: filters over N_CAPTURED, right: body */
	N_ESCAPE,   /* {% autoescape %}: left: whether, right: body */
	N_MACRO,    /* name, params, right: body */
	N_CALLER,   /* {% call %}: left: the N_CALL, params, right: body */
	N_INCLUDE,  /* left: names, flag: ignore missing, context */
	N_IMPORT,   /* left: name of the file; name: as; or imports; context */
	N_EXTENDS,  /* left: name of the file */
	N_BLOCK,    /* name, right: body, flag: scoped, required */
};

#define NODE_FIRST_STATEMENT N_BODY

enum compare_op { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_IN, CMP_NOT_IN };

struct kwarg {
	struct str name;
	struct node *value;
};

/* A parameter of a macro (value: its default or NULL), or a name that is imported under another. */
struct param {
	struct str name, as;
	struct node *value;
};

struct callable;

struct node {
	enum node_kind kind;
	char op;
	bool flag, context, required;
	uint32_t at, end; /* bytes of the text that it was parsed from */
	const struct value *lit;
	struct str name;
	uint64_t hash; /* of name: N_NAME, N_ATTR */
	/* Where the name was found last: the one thing that evaluation writes, and only a guess. */
	uint32_t *hint;
	const struct callable *row; /* N_FILTER, N_TEST: what the name stands for; NULL: unknown */
	struct node *left, *right, *other, *cond, *star, *stars;
	struct node *target; /* N_NAME, or N_TUPLE of targets */
	VEC(struct node *) kids;
	VEC(struct kwarg) kwargs;
	VEC(struct param) params;
	VEC(enum compare_op) ops;
};

#endif
