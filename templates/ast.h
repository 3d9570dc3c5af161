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
	N_LITERAL, /* lit */
	N_NAME,	   /* name */
	N_LIST,	   /* kids */
	N_TUPLE,   /* kids */
	N_DICT,	   /* kids: key, value, key, value, ... */
	N_ATTR,	   /* left.name */
	N_ITEM,	   /* left[right] */
	N_SLICE,   /* left[kids 0 : 1 : 2]; absent ones are NULL */
	N_CALL,	   /* left(kids, kwargs) */
	N_FILTER,  /* left|name(kids, kwargs) */
	N_TEST,	   /* left is name(kids, kwargs) */
	N_NEGATE,  /* -left */
	N_PLUS,	   /* +left */
	N_NOT,	   /* not left */
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
	/* targets, left: what, right: body, cond: filter or NULL, other: else body or NULL */
	N_FOR,
	N_SET, /* targets (or targets[0].name), left: value, or right: body */
};

enum compare_op { CMP_EQ, CMP_NE, CMP_LT, CMP_LE, CMP_GT, CMP_GE, CMP_IN, CMP_NOT_IN };

struct kwarg {
	struct str name;
	struct node *value;
};

struct node {
	enum node_kind kind;
	char op;
	bool uses_loop;	  /* N_FOR: the body reads `loop` */
	uint32_t at, end; /* bytes of the text that it was parsed from */
	const struct value *lit;
	struct str name;
	struct node *left, *right, *other, *cond;
	VEC(struct node *) kids;
	VEC(struct kwarg) kwargs;
	VEC(struct str) targets;
	VEC(enum compare_op) ops;
};

#endif
