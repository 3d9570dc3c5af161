/* SPDX-License-Identifier: Apache-2.0 */
/* templates/parse_expr.h - expressions, by precedence. What returns a node returns NULL after a
 * fault, which is then in e. */
#ifndef MUSTER_TEMPLATES_PARSE_EXPR_H
#define MUSTER_TEMPLATES_PARSE_EXPR_H

#include "templates/ast.h"
#include "templates/lex.h"

#define TEMPLATE_MAX_TEXT  ((size_t)16 << 20)
#define TEMPLATE_MAX_DEPTH 100 /* of nested expressions and blocks */

struct parser {
	struct arena *a;
	struct lexer lex;
	struct token tok; /* the current token */
	int depth;
	struct err *e;
};

void parser_init(struct parser *p, struct arena *a, struct str text, struct pos where,
		 struct err *e);
struct node *parser_node(struct parser *p, enum node_kind kind, uint32_t at);
int parser_fault(struct parser *p, uint32_t at, const char *fmt, ...) printf_fmt(3, 4); /* -1 */
must_check int parser_enter(struct parser *p);						/* depth */
void parser_leave(struct parser *p);
must_check int parser_next(struct parser *p);
bool parser_is_op(const struct parser *p, const char *op);
must_check int parser_expect_op(struct parser *p, const char *op);

struct node *parser_expr(struct parser *p);  /* with "x if c else y" */
struct node *parser_tuple(struct parser *p); /* a, b */
/* At the name of a filter: it, and those after each "|", over n. */
struct node *parser_filters(struct parser *p, struct node *n);
struct node *parser_or_tuple(
	struct parser *p); /* the same without a bare "x if c": what `for` reads */

/* A whole text that is one expression. */
must_check int parse_expression(struct arena *a, struct str text, struct pos where,
				struct node **out, struct err *e);

#endif
