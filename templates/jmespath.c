/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reading half of jmespath.h: a parser by binding powers, with two tokens of look-ahead.
 * What binds below `projection_stop` ends a projection: what follows it is asked of the whole.
 */
#include "templates/jmespath.h"

#include <ctype.h>

enum token {
	T_END,
	T_NAME,
	T_QUOTED,
	T_LITERAL,
	T_RBRACKET,
	T_RPAREN,
	T_COMMA,
	T_RBRACE,
	T_NUMBER,
	T_CURRENT,
	T_EXPRESSION,
	T_COLON,
	T_PIPE,
	T_OR,
	T_AND,
	T_COMPARE,
	T_FLATTEN,
	T_STAR,
	T_FILTER,
	T_DOT,
	T_NOT,
	T_LBRACE,
	T_LBRACKET,
	T_LPAREN,
};

static const int powers[] = { [T_PIPE] = 1,    [T_OR] = 2,	[T_AND] = 3,	   [T_COMPARE] = 5,
			      [T_FLATTEN] = 9, [T_STAR] = 20,	[T_FILTER] = 21,   [T_DOT] = 40,
			      [T_NOT] = 45,    [T_LBRACE] = 50, [T_LBRACKET] = 55, [T_LPAREN] = 60 };
#define PROJECTION_STOP 10

struct tok {
	enum token kind;
	struct str text;
	const struct value *lit;
	int64_t number;
	int op;
};

struct reader {
	struct arena *a;
	struct err *e;
	struct str text;
	VEC(struct tok) toks;
	size_t at;
	int depth;
};

/* ---- tokens --------------------------------------------------------------------------------- */

static int lex_fault(struct reader *r, const char *at)
{
	return err_set(r->e, ERR_SPEC,
		       "json_query: character %zu is not understood: \"" STR_FMT "\"",
		       (size_t)(at - r->text.p) + 1,
		       STR_ARG(str_sub(r->text, (size_t)(at - r->text.p), SIZE_MAX)));
}

/* The text up to the delimiter, which may be escaped; *s stands behind it. */
static int take_until(struct reader *r, struct str *s, char end, struct str *out)
{
	const char *start = s->p;
	size_t i = 1;

	while (i < s->n && s->p[i] != end)
		i += s->p[i] == '\\' && i + 1 < s->n ? 2 : 1;
	if (i >= s->n)
		return lex_fault(r, start);
	*out = str_sub(*s, 1, i);
	*s = str_sub(*s, i + 1, SIZE_MAX);
	return 0;
}

static struct str unescape(struct reader *r, struct str s, char c)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '\\' || i + 1 >= s.n || s.p[i + 1] != c)
			buf_addc(&b, s.p[i]);
	return str_dup(r->a, buf_str(&b));
}

/* `...`: JSON; what is none is a text, as it once was. */
static int take_json(struct reader *r, struct str *s, struct tok *t)
{
	const char *start = s->p;
	struct str inner = STR("");
	struct value *v;
	struct err e = { 0 };

	if (take_until(r, s, '`', &inner) < 0)
		return -1;
	inner = unescape(r, inner, '`');
	while (inner.n && isspace((unsigned char)inner.p[0]))
		inner = str_sub(inner, 1, SIZE_MAX);
	if (json_parse(r->a, "literal", inner, &v, &e) < 0) {
		struct str quoted = str_of(arena_printf(r->a, "\"" STR_FMT "\"", STR_ARG(inner)));
		e = (struct err){ 0 };
		if (json_parse(r->a, "literal", quoted, &v, &e) < 0)
			return lex_fault(r, start);
	}
	t->kind = T_LITERAL;
	t->lit = v;
	return 0;
}

static int take_quoted(struct reader *r, struct str *s, struct tok *t)
{
	const char *start = s->p;
	struct str inner = STR("");
	struct value *v;
	struct err e = { 0 };

	if (take_until(r, s, '"', &inner) < 0)
		return -1;
	if (json_parse(r->a, "name", (struct str){ start, inner.n + 2 }, &v, &e) < 0)
		return lex_fault(r, start);
	t->kind = T_QUOTED;
	t->text = v->s;
	return 0;
}

static int take_number(struct reader *r, struct str *s, struct tok *t)
{
	size_t n = s->p[0] == '-';

	while (n < s->n && isdigit((unsigned char)s->p[n]))
		n++;
	if (!str_to_int(str_sub(*s, 0, n), &t->number))
		return lex_fault(r, s->p);
	t->kind = T_NUMBER;
	*s = str_sub(*s, n, SIZE_MAX);
	return 0;
}

static const struct fixed {
	const char *text;
	enum token kind;
	int op;
} fixed[] = {
	{ "[]", T_FLATTEN, 0 },	  { "[?", T_FILTER, 0 },    { "||", T_OR, 0 },
	{ "&&", T_AND, 0 },	  { "<=", T_COMPARE, 'l' }, { ">=", T_COMPARE, 'g' },
	{ "!=", T_COMPARE, '!' }, { "==", T_COMPARE, '=' }, { "<", T_COMPARE, '<' },
	{ ">", T_COMPARE, '>' },  { "!", T_NOT, 0 },	    { "|", T_PIPE, 0 },
	{ "&", T_EXPRESSION, 0 }, { "[", T_LBRACKET, 0 },   { "]", T_RBRACKET, 0 },
	{ "{", T_LBRACE, 0 },	  { "}", T_RBRACE, 0 },	    { "(", T_LPAREN, 0 },
	{ ")", T_RPAREN, 0 },	  { ",", T_COMMA, 0 },	    { ":", T_COLON, 0 },
	{ ".", T_DOT, 0 },	  { "*", T_STAR, 0 },	    { "@", T_CURRENT, 0 },
};

static int take_fixed(struct reader *r, struct str *s, struct tok *t)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++) {
		if (!str_starts(*s, fixed[i].text))
			continue;
		t->kind = fixed[i].kind;
		t->op = fixed[i].op;
		*s = str_sub(*s, strlen(fixed[i].text), SIZE_MAX);
		return 0;
	}
	return lex_fault(r, s->p);
}

static int take_token(struct reader *r, struct str *s, struct tok *t)
{
	unsigned char c = (unsigned char)s->p[0];
	size_t n = 0;

	if (isalpha(c) || c == '_') {
		while (n < s->n && (isalnum((unsigned char)s->p[n]) || s->p[n] == '_'))
			n++;
		*t = (struct tok){ .kind = T_NAME, .text = str_sub(*s, 0, n) };
		*s = str_sub(*s, n, SIZE_MAX);
		return 0;
	}
	if (isdigit(c) || c == '-')
		return take_number(r, s, t);
	if (c == '`')
		return take_json(r, s, t);
	if (c == '"')
		return take_quoted(r, s, t);
	if (c != '\'')
		return take_fixed(r, s, t);
	if (take_until(r, s, '\'', &t->text) < 0)
		return -1;
	t->kind = T_LITERAL;
	t->lit = value_str(r->a, unescape(r, t->text, '\''));
	return 0;
}

static int tokenize(struct reader *r)
{
	struct str s = r->text;

	while (s.n) {
		struct tok t = { 0 };
		if (strchr(" \t\n\r", s.p[0]) && s.p[0]) {
			s = str_sub(s, 1, SIZE_MAX);
			continue;
		}
		if (take_token(r, &s, &t) < 0)
			return -1;
		VEC_ADD(r->a, &r->toks) = t;
	}
	for (int i = 0; i < 2; i++)
		VEC_ADD(r->a, &r->toks) = (struct tok){ 0 };
	return 0;
}

/* ---- tree ----------------------------------------------------------------------------------- */

static struct jmespath *expression(struct reader *r, int power);

static struct jmespath *fault(struct reader *r)
{
	if (!r->e->kind)
		err_set(r->e, ERR_SPEC, "json_query: not understood: \"" STR_FMT "\"",
			STR_ARG(r->text));
	return NULL;
}

static enum token peek(struct reader *r)
{
	return r->toks.v[r->at].kind;
}

static struct tok *take(struct reader *r)
{
	struct tok *t = &r->toks.v[r->at];

	if (r->at + 2 < r->toks.n)
		r->at++;
	return t;
}

static bool match(struct reader *r, enum token kind)
{
	if (peek(r) != kind)
		return fault(r) != NULL;
	take(r);
	return true;
}

static struct jmespath *node(struct reader *r, enum jmespath_kind kind)
{
	struct jmespath *j = arena_array(r->a, struct jmespath, 1);

	j->kind = kind;
	return j;
}

/* kid may be NULL after a fault */
static struct jmespath *with(struct reader *r, struct jmespath *j, struct jmespath *kid)
{
	if (!j || !kid)
		return NULL;
	VEC_ADD(r->a, &j->kids) = kid;
	return j;
}

static struct jmespath *two(struct reader *r, enum jmespath_kind kind, struct jmespath *x,
			    struct jmespath *y)
{
	return with(r, with(r, node(r, kind), x), y);
}

static struct jmespath *identity(struct reader *r)
{
	return node(r, J_IDENTITY);
}

static struct jmespath *multi_list(struct reader *r)
{
	struct jmespath *j = node(r, J_MULTI_LIST);

	while ((j = with(r, j, expression(r, 0))) && peek(r) != T_RBRACKET)
		if (!match(r, T_COMMA))
			return NULL;
	return j && match(r, T_RBRACKET) ? j : NULL;
}

static struct jmespath *multi_map(struct reader *r)
{
	struct jmespath *j = node(r, J_MULTI_MAP);

	for (;;) {
		struct tok *t = take(r);
		if ((t->kind != T_NAME && t->kind != T_QUOTED) || !match(r, T_COLON))
			return fault(r);
		VEC_ADD(r->a, &j->names) = t->text;
		if (!with(r, j, expression(r, 0)))
			return NULL;
		if (peek(r) != T_COMMA)
			break;
		take(r);
	}
	return match(r, T_RBRACE) ? j : NULL;
}

static struct jmespath *after_dot(struct reader *r, int power)
{
	switch ((int)peek(r)) {
	case T_NAME:
	case T_QUOTED:
	case T_STAR: return expression(r, power);
	case T_LBRACKET: take(r); return multi_list(r);
	case T_LBRACE: take(r); return multi_map(r);
	default: return fault(r);
	}
}

static struct jmespath *rest_of_projection(struct reader *r, int power)
{
	enum token t = peek(r);

	if (powers[t] < PROJECTION_STOP)
		return identity(r);
	if (t == T_LBRACKET || t == T_FILTER)
		return expression(r, power);
	if (t != T_DOT)
		return fault(r);
	take(r);
	return after_dot(r, power);
}

/* [0] or [a:b:c], behind the bracket */
static struct jmespath *index_or_slice(struct reader *r)
{
	struct jmespath *j = node(r, J_INDEX);
	int part = 0;

	while (peek(r) != T_RBRACKET) {
		if (peek(r) == T_COLON) {
			j->kind = J_SLICE;
			take(r);
			if (++part > 2)
				return fault(r);
			continue;
		}
		if (peek(r) != T_NUMBER || j->has[part])
			return fault(r);
		j->part[part] = take(r)->number;
		j->has[part] = true;
	}
	take(r);
	return j;
}

static struct jmespath *projected(struct reader *r, struct jmespath *left, struct jmespath *right)
{
	if (!left || !right)
		return NULL;
	struct jmespath *j = two(r, J_CHAIN, left, right);
	if (right->kind != J_SLICE)
		return j;
	return two(r, J_PROJECTION, j, rest_of_projection(r, powers[T_STAR]));
}

/* Behind a bracket that follows something. */
static struct jmespath *bracket(struct reader *r, struct jmespath *left)
{
	if (peek(r) == T_NUMBER || peek(r) == T_COLON) {
		struct jmespath *right = index_or_slice(r);
		/* a slice of an item is itself no projection */
		if (right && left->kind == J_CHAIN && left->op == '[')
			return with(r, left, right);
		struct jmespath *j = projected(r, left, right);
		if (j && j->kind == J_CHAIN)
			j->op = '[';
		return j;
	}
	if (!match(r, T_STAR) || !match(r, T_RBRACKET))
		return NULL;
	return two(r, J_PROJECTION, left, rest_of_projection(r, powers[T_STAR]));
}

static struct jmespath *filtered(struct reader *r, struct jmespath *left)
{
	struct jmespath *condition = expression(r, 0), *right;

	if (!condition || !match(r, T_RBRACKET))
		return NULL;
	right = peek(r) == T_FLATTEN ? identity(r) : rest_of_projection(r, powers[T_FILTER]);
	return with(r, two(r, J_FILTER, left, right), condition);
}

static struct jmespath *flattened(struct reader *r, struct jmespath *left)
{
	struct jmespath *j = with(r, node(r, J_FLATTEN), left);

	return two(r, J_PROJECTION, j, rest_of_projection(r, powers[T_FLATTEN]));
}

static struct jmespath *starred(struct reader *r, struct jmespath *left)
{
	return two(r, J_VALUES, left, rest_of_projection(r, powers[T_STAR]));
}

static struct jmespath *bracketed_first(struct reader *r)
{
	if (peek(r) == T_NUMBER || peek(r) == T_COLON)
		return bracket(r, identity(r));
	if (peek(r) == T_STAR && r->toks.v[r->at + 1].kind == T_RBRACKET)
		return bracket(r, identity(r));
	return multi_list(r);
}

static struct jmespath *first(struct reader *r)
{
	struct tok *t = take(r);
	struct jmespath *j;

	switch ((int)t->kind) {
	case T_LITERAL:
		j = node(r, J_LITERAL);
		j->lit = t->lit;
		return j;
	case T_QUOTED:
	case T_NAME:
		if (t->kind == T_QUOTED && peek(r) == T_LPAREN)
			return fault(r);
		j = node(r, J_FIELD);
		j->name = t->text;
		return j;
	case T_STAR:
		return peek(r) == T_RBRACKET ? two(r, J_VALUES, identity(r), identity(r))
					     : starred(r, identity(r));
	case T_FILTER: return filtered(r, identity(r));
	case T_FLATTEN: return flattened(r, identity(r));
	case T_LBRACE: return multi_map(r);
	case T_LBRACKET: return bracketed_first(r);
	case T_CURRENT: return identity(r);
	case T_NOT: return with(r, node(r, J_NOT), expression(r, powers[T_NOT]));
	case T_EXPRESSION: return with(r, node(r, J_EXPRESSION), expression(r, 0));
	case T_LPAREN: j = expression(r, 0); return j && match(r, T_RPAREN) ? j : NULL;
	default: return fault(r);
	}
}

static struct jmespath *called(struct reader *r, struct jmespath *left)
{
	struct jmespath *j = node(r, J_FUNCTION);

	if (left->kind != J_FIELD)
		return fault(r);
	j->name = left->name;
	while (peek(r) != T_RPAREN) {
		if (!with(r, j, expression(r, 0)))
			return NULL;
		if (peek(r) == T_COMMA)
			take(r);
		else if (peek(r) != T_RPAREN)
			return fault(r);
	}
	take(r);
	return j;
}

static struct jmespath *next(struct reader *r, struct jmespath *left)
{
	struct tok *t = take(r);
	struct jmespath *j;

	switch ((int)t->kind) {
	case T_DOT:
		if (peek(r) != T_STAR)
			return two(r, J_CHAIN, left, after_dot(r, powers[T_DOT]));
		take(r);
		return starred(r, left);
	case T_PIPE: return two(r, J_CHAIN, left, expression(r, powers[T_PIPE]));
	case T_OR: return two(r, J_OR, left, expression(r, powers[T_OR]));
	case T_AND: return two(r, J_AND, left, expression(r, powers[T_AND]));
	case T_COMPARE:
		j = two(r, J_COMPARE, left, expression(r, powers[T_COMPARE]));
		if (j)
			j->op = t->op;
		return j;
	case T_LPAREN: return called(r, left);
	case T_FILTER: return filtered(r, left);
	case T_FLATTEN: return flattened(r, left);
	case T_LBRACKET: return bracket(r, left);
	default: return fault(r);
	}
}

static struct jmespath *expression(struct reader *r, int power)
{
	struct jmespath *left;

	if (++r->depth > JMESPATH_MAX_DEPTH) {
		err_set(r->e, ERR_SPEC, "json_query: nested too deeply");
		return NULL;
	}
	left = first(r);
	for (int links = 0; left && power < powers[peek(r)]; links++)
		left = links > 1000 ? fault(r) : next(r, left);
	r->depth--;
	return left;
}

int jmespath_parse(struct arena *a, struct str text, struct jmespath **out, struct err *e)
{
	struct reader r = { .a = a, .e = e, .text = text };

	*out = NULL;
	if (!text.n)
		return err_set(e, ERR_SPEC, "json_query: the question is empty");
	if (tokenize(&r) == 0)
		*out = expression(&r, 0);
	if (*out && peek(&r) != T_END)
		*out = fault(&r);
	return *out ? 0 : -1;
}
