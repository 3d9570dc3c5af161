/* SPDX-License-Identifier: Apache-2.0 */
/* templates/parse.h - a template's text to its tree: text and tags here, statements in
 * parse_stmt.c, expressions in parse_expr.c. */
#ifndef MUSTER_TEMPLATES_PARSE_H
#define MUSTER_TEMPLATES_PARSE_H

#include "templates/parse_expr.h"

/* A template, parsed. It refers to the text. */
struct tree {
	struct str text;
	struct node *body;
	VEC(struct node *) blocks; /* {% block %}, wherever they stand */
	bool is_module;		   /* has blocks or {% extends %} */
};

/* Flags: enum template_flags. */
must_check int parse_template(struct arena *a, struct str text, struct pos where, unsigned flags,
			      struct tree *out, struct err *e);

/* ---- between the two files of the parser ---- */

struct tag_end {
	bool strip; /* "-%}": the white space that follows goes */
	bool trim;  /* "%}" with trim_blocks: one newline that follows goes */
};

struct builder {
	struct parser p;
	bool trim_blocks, lstrip_blocks;
	struct tag_end last;
	int loops; /* open around this place */
	struct tree *tree;
};

/* Called on T_END: takes "-%}", "+%}" or "%}". */
must_check int parse_close_tag(struct builder *b);
/* After the word of a tag: to one of `ends` ("else|endif"), which is then the current token. */
struct node *parse_body(struct builder *b, const char *ends, uint32_t opened_at,
			const char *opened);
const char *parse_statement_word(size_t i); /* all, in order; NULL past the last */
/* The current token is the word of a tag that began at `at`. */
must_check int parse_statement(struct builder *b, struct node *body, uint32_t at);

#endif
