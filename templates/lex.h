/* SPDX-License-Identifier: Apache-2.0 */
/* templates/lex.h - tokens of expressions, and where a byte of the text stands in its file. */
#ifndef MUSTER_TEMPLATES_LEX_H
#define MUSTER_TEMPLATES_LEX_H

#include "base/base.h"

enum token_kind {
	T_END, /* of the tag, or of a bare expression */
	T_NAME,
	T_INT,
	T_FLOAT,
	T_STRING,
	T_OP, /* text: one or two characters */
};

struct token {
	enum token_kind kind;
	uint32_t at, end; /* bytes in the text */
	struct str text;  /* T_NAME, T_OP: as written; T_STRING: unescaped, in the arena */
	int64_t i;
	double f;
};

struct lexer {
	struct arena *a;
	struct str text;
	struct pos where;  /* of text[0] */
	size_t i;	   /* next byte */
	const char *close; /* "}}" or "%}"; NULL: a bare expression ends with the text */
	int brackets;	   /* open ( [ { : the closing mark does not count inside */
};

/* The next token; on T_END of a tag, i stands at the closing mark's "-" or "+", or the mark itself.
 */
must_check int lex_next(struct lexer *l, struct token *t, struct err *e);
struct pos lex_pos(struct str text, struct pos where, size_t at);

#endif
