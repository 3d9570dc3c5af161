/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jinja2's precedence, its odd parts too: filters and tests bind tighter than arithmetic (1 + 2 is
 * odd means 1 + (2 is odd)), "~" binds tighter than "+", "**" goes from left to right.
 */
#include "templates/parse_expr.h"

#include <stdio.h>

#include "templates/filters.h"
#include "templates/tests.h"

static struct node *parse_unary(struct parser *p, bool with_filters);
static struct node *parse_or(struct parser *p);

void parser_init(struct parser *p, struct arena *a, struct str text, struct pos where,
		 struct err *e)
{
	*p = (struct parser){ .a = a, .lex = { .a = a, .text = text, .where = where }, .e = e };
}

struct node *parser_node(struct parser *p, enum node_kind kind, uint32_t at)
{
	struct node *n = arena_obj(p->a, struct node);

	n->kind = kind;
	n->at = n->end = at;
	return n;
}

int parser_fault(struct parser *p, uint32_t at, const char *fmt, ...)
{
	char msg[200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof msg, fmt, ap);
	va_end(ap);
	err_set(p->e, ERR_SPEC, "%s", msg);
	return err_at(p->e, lex_pos(p->lex.text, p->lex.where, at));
}

int parser_enter(struct parser *p)
{
	if (++p->depth > TEMPLATE_MAX_DEPTH)
		return parser_fault(p, p->tok.at, "nested too deep (at most %d)",
				    TEMPLATE_MAX_DEPTH);
	return 0;
}

void parser_leave(struct parser *p)
{
	p->depth--;
}

int parser_next(struct parser *p)
{
	return lex_next(&p->lex, &p->tok, p->e);
}

bool parser_is_op(const struct parser *p, const char *op)
{
	return p->tok.kind == T_OP && str_eqc(p->tok.text, op);
}

static bool is_word(const struct parser *p, const char *word)
{
	return p->tok.kind == T_NAME && str_eqc(p->tok.text, word);
}

static const char *token_words(const struct parser *p, char *buf, size_t n)
{
	if (p->tok.kind == T_END)
		return "the end";
	snprintf(buf, n, "\"" STR_FMT "\"", STR_ARG(str_sub(p->lex.text, p->tok.at, p->tok.end)));
	return buf;
}

static int unexpected(struct parser *p, const char *wanted)
{
	char buf[80];

	return parser_fault(p, p->tok.at, "expected %s, not %s", wanted,
			    token_words(p, buf, sizeof buf));
}

int parser_expect_op(struct parser *p, const char *op)
{
	char wanted[8];

	if (parser_is_op(p, op))
		return parser_next(p);
	snprintf(wanted, sizeof wanted, "\"%s\"", op);
	return unexpected(p, wanted);
}

/* A node that spans from `from` to the last token that was used. */
static struct node *wrap(struct parser *p, enum node_kind kind, struct node *left)
{
	struct node *n = parser_node(p, kind, left->at);

	n->left = left;
	n->end = p->tok.end;
	return n;
}

/* ---- primary -------------------------------------------------------------------------------- */

static struct node *literal(struct parser *p, const struct value *v)
{
	struct node *n = parser_node(p, N_LITERAL, p->tok.at);

	n->lit = v;
	n->end = p->tok.end;
	return parser_next(p) < 0 ? NULL : n;
}

static struct node *parse_name(struct parser *p)
{
	static const char *const words[] = { "and", "or", "in", "is", "if", "else" };
	struct str s = p->tok.text;

	if (str_eqc(s, "true") || str_eqc(s, "True"))
		return literal(p, value_bool(p->a, true));
	if (str_eqc(s, "false") || str_eqc(s, "False"))
		return literal(p, value_bool(p->a, false));
	if (str_eqc(s, "none") || str_eqc(s, "None"))
		return literal(p, value_null(p->a));
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (str_eqc(s, words[i])) {
			unexpected(p, "a value");
			return NULL;
		}
	}
	struct node *n = parser_node(p, N_NAME, p->tok.at);
	n->name = s;
	n->hash = str_hash(s);
	n->hint = arena_obj(p->a, uint32_t);
	n->end = p->tok.end;
	return parser_next(p) < 0 ? NULL : n;
}

/* "a" "b": texts that follow each other are one. */
static struct node *parse_string(struct parser *p)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct node *n = parser_node(p, N_LITERAL, p->tok.at);

	buf_init(&b, BUF_MAX_DEFAULT);
	while (p->tok.kind == T_STRING) {
		buf_addstr(&b, p->tok.text);
		n->end = p->tok.end;
		if (parser_next(p) < 0)
			return NULL;
	}
	n->lit = value_str(p->a, buf_str(&b));
	return n;
}

/* After "[": items to the closing bracket. */
static struct node *parse_list(struct parser *p)
{
	struct node *n = parser_node(p, N_LIST, p->tok.at), *item;

	if (parser_next(p) < 0)
		return NULL;
	while (!parser_is_op(p, "]")) {
		if (n->kids.n && parser_expect_op(p, ",") < 0)
			return NULL;
		if (parser_is_op(p, "]"))
			break;
		if (!(item = parser_expr(p)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = item;
	}
	n->end = p->tok.end;
	return parser_next(p) < 0 ? NULL : n;
}

static struct node *parse_dict(struct parser *p)
{
	struct node *n = parser_node(p, N_DICT, p->tok.at), *key, *val;

	if (parser_next(p) < 0)
		return NULL;
	while (!parser_is_op(p, "}")) {
		if (n->kids.n && parser_expect_op(p, ",") < 0)
			return NULL;
		if (parser_is_op(p, "}"))
			break;
		if (!(key = parser_expr(p)) || parser_expect_op(p, ":") < 0 ||
		    !(val = parser_expr(p)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = key;
		VEC_ADD(p->a, &n->kids) = val;
	}
	n->end = p->tok.end;
	return parser_next(p) < 0 ? NULL : n;
}

/* (x), (x,), (x, y), () */
static struct node *parse_group(struct parser *p)
{
	uint32_t at = p->tok.at;
	struct node *n;

	if (parser_next(p) < 0)
		return NULL;
	n = parser_is_op(p, ")") ? parser_node(p, N_TUPLE, at) : parser_tuple(p);
	if (!n)
		return NULL;
	n->at = at;
	n->end = p->tok.end;
	return parser_expect_op(p, ")") < 0 ? NULL : n;
}

static struct node *parse_primary(struct parser *p)
{
	switch (p->tok.kind) {
	case T_NAME: return parse_name(p);
	case T_INT: return literal(p, value_int(p->a, p->tok.i));
	case T_FLOAT: return literal(p, value_float(p->a, p->tok.f));
	case T_STRING: return parse_string(p);
	case T_OP:
		if (parser_is_op(p, "("))
			return parse_group(p);
		if (parser_is_op(p, "["))
			return parse_list(p);
		if (parser_is_op(p, "{"))
			return parse_dict(p);
		break;
	case T_END: break;
	}
	unexpected(p, "a value");
	return NULL;
}

/* ---- what follows a primary ----------------------------------------------------------------- */

/* Whether the token after this name is "=" (a keyword argument). */
static bool is_keyword(struct parser *p)
{
	struct lexer ahead = p->lex;
	struct token t;
	struct err ignored;

	return p->tok.kind == T_NAME && lex_next(&ahead, &t, &ignored) == 0 && t.kind == T_OP &&
	       str_eqc(t.text, "=");
}

/* After "*" or "**" */
static int parse_unpacked(struct parser *p, struct node *n)
{
	bool named = parser_is_op(p, "**");

	if (n->stars || (n->star && !named))
		return parser_fault(p, p->tok.at, "an argument follows unpacked ones");
	if (parser_next(p) < 0)
		return -1;
	struct node **to = named ? &n->stars : &n->star;
	return (*to = parser_expr(p)) ? 0 : -1;
}

static int parse_argument(struct parser *p, struct node *n)
{
	struct node *v;

	if (parser_is_op(p, "*") || parser_is_op(p, "**"))
		return parse_unpacked(p, n);
	if (n->stars)
		return parser_fault(p, p->tok.at, "an argument follows unpacked ones");
	if (is_keyword(p)) {
		struct str name = p->tok.text;
		if (parser_next(p) < 0) /* the name */
			return -1;
		if (parser_next(p) < 0 || !(v = parser_expr(p))) /* the = */
			return -1;
		VEC_ADD(p->a, &n->kwargs) = (struct kwarg){ name, v };
		return 0;
	}
	if (n->kwargs.n || n->star)
		return parser_fault(p, p->tok.at,
				    "an argument without a name follows one with a name");
	if (!(v = parser_expr(p)))
		return -1;
	VEC_ADD(p->a, &n->kids) = v;
	return 0;
}

/* At "(": arguments into n->kids and n->kwargs. */
static int parse_arguments(struct parser *p, struct node *n)
{
	if (parser_enter(p) < 0 || parser_next(p) < 0)
		return -1;
	while (!parser_is_op(p, ")")) {
		if ((n->kids.n || n->kwargs.n || n->star || n->stars) &&
		    parser_expect_op(p, ",") < 0)
			return -1;
		if (parser_is_op(p, ")"))
			break;
		if (parse_argument(p, n) < 0)
			return -1;
	}
	n->end = p->tok.end;
	parser_leave(p);
	return parser_next(p);
}

static struct node *parse_attr(struct parser *p, struct node *left)
{
	if (parser_next(p) < 0)
		return NULL;
	if (p->tok.kind == T_INT) {
		struct node *n = wrap(p, N_ITEM, left);
		n->right = literal(p, value_int(p->a, p->tok.i));
		return n->right ? n : NULL;
	}
	if (p->tok.kind != T_NAME) {
		unexpected(p, "a name after \".\"");
		return NULL;
	}
	struct node *n = wrap(p, N_ATTR, left);
	n->name = p->tok.text;
	n->hash = str_hash(n->name);
	n->hint = arena_obj(p->a, uint32_t);
	return parser_next(p) < 0 ? NULL : n;
}

/* left[x], left[a:b:c] */
static struct node *parse_item(struct parser *p, struct node *left)
{
	struct node *n = wrap(p, N_ITEM, left), *part[3] = { NULL };
	int colons = 0;

	if (parser_enter(p) < 0 || parser_next(p) < 0)
		return NULL;
	while (!parser_is_op(p, "]")) {
		if (parser_is_op(p, ":") && colons < 2) {
			colons++;
			if (parser_next(p) < 0)
				return NULL;
			continue;
		}
		if (part[colons] || !(part[colons] = parser_expr(p))) {
			if (part[colons])
				unexpected(p, "\"]\"");
			return NULL;
		}
	}
	n->end = p->tok.end;
	if (colons) {
		n->kind = N_SLICE;
		for (int i = 0; i < 3; i++)
			VEC_ADD(p->a, &n->kids) = part[i];
	} else if (!(n->right = part[0])) {
		unexpected(p, "an index");
		return NULL;
	}
	parser_leave(p);
	return parser_next(p) < 0 ? NULL : n;
}

static struct node *parse_call(struct parser *p, struct node *left)
{
	struct node *n = wrap(p, N_CALL, left);

	return parse_arguments(p, n) < 0 ? NULL : n;
}

static struct node *parse_postfix(struct parser *p, struct node *n)
{
	int links = 0;

	while (n && p->tok.kind == T_OP) {
		if (++links > TEMPLATE_MAX_DEPTH) {
			parser_fault(p, p->tok.at, "nested too deep (at most %d)",
				     TEMPLATE_MAX_DEPTH);
			return NULL;
		}
		if (parser_is_op(p, "."))
			n = parse_attr(p, n);
		else if (parser_is_op(p, "["))
			n = parse_item(p, n);
		else if (parser_is_op(p, "("))
			n = parse_call(p, n);
		else
			break;
	}
	return n;
}

/* name, or ansible.builtin.name: the last part counts */
static int parse_dotted(struct parser *p, struct node *n, const char *wanted)
{
	if (p->tok.kind != T_NAME)
		return unexpected(p, wanted);
	n->at = p->tok.at;
	for (;;) {
		n->name = p->tok.text;
		n->end = p->tok.end;
		if (parser_next(p) < 0)
			return -1;
		if (!parser_is_op(p, "."))
			return 0;
		if (parser_next(p) < 0)
			return -1;
		if (p->tok.kind != T_NAME)
			return unexpected(p, wanted);
	}
}

/* At the name of a filter. */
static struct node *parse_filter(struct parser *p, struct node *left)
{
	struct node *n = wrap(p, N_FILTER, left);

	if (parse_dotted(p, n, "the name of a filter") < 0)
		return NULL;
	n->row = filter_find(n->name);
	if (parser_is_op(p, "(") && parse_arguments(p, n) < 0)
		return NULL;
	return n;
}

struct node *parser_filters(struct parser *p, struct node *n)
{
	for (int links = 1;; links++) {
		n = parse_filter(p, n);
		if (!n || !parser_is_op(p, "|"))
			return n;
		if (links > TEMPLATE_MAX_DEPTH)
			parser_fault(p, p->tok.at, "nested too deep (at most %d)",
				     TEMPLATE_MAX_DEPTH);
		if (links > TEMPLATE_MAX_DEPTH || parser_next(p) < 0)
			return NULL;
	}
}

/* Whether a test's argument follows without brackets: x is divisibleby 3 */
static bool at_bare_argument(const struct parser *p)
{
	switch (p->tok.kind) {
	case T_NAME:
		return !is_word(p, "else") && !is_word(p, "or") && !is_word(p, "and") &&
		       !is_word(p, "if") && !is_word(p, "is");
	case T_STRING:
	case T_INT:
	case T_FLOAT: return true;
	case T_OP: return parser_is_op(p, "[") || parser_is_op(p, "{");
	case T_END: break;
	}
	return false;
}

static struct node *parse_test(struct parser *p, struct node *left)
{
	struct node *n = wrap(p, N_TEST, left), *arg;
	bool negated = false;

	if (parser_next(p) < 0)
		return NULL;
	if (is_word(p, "not")) {
		negated = true;
		if (parser_next(p) < 0)
			return NULL;
	}
	if (parse_dotted(p, n, "the name of a test") < 0)
		return NULL;
	n->row = test_find(n->name);
	if (parser_is_op(p, "(")) {
		if (parse_arguments(p, n) < 0)
			return NULL;
	} else if (at_bare_argument(p)) {
		if (!(arg = parse_primary(p)) || !(arg = parse_postfix(p, arg)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = arg;
	}
	if (!negated)
		return n;
	struct node *not = parser_node(p, N_NOT, n->at);
	not ->left = n;
	not ->end = n->end;
	return not ;
}

static struct node *parse_filters_and_tests(struct parser *p, struct node *n)
{
	int links = 0;

	while (n) {
		if (++links > TEMPLATE_MAX_DEPTH) {
			parser_fault(p, p->tok.at, "nested too deep (at most %d)",
				     TEMPLATE_MAX_DEPTH);
			return NULL;
		}
		if (parser_is_op(p, "|"))
			n = parser_next(p) < 0 ? NULL : parse_filter(p, n);
		else if (is_word(p, "is"))
			n = parse_test(p, n);
		else if (parser_is_op(p, "("))
			n = parse_call(p, n);
		else
			break;
	}
	return n;
}

/* ---- operators ------------------------------------------------------------------------------ */

static struct node *parse_signed(struct parser *p, enum node_kind kind)
{
	struct node *n = parser_node(p, kind, p->tok.at);

	if (parser_next(p) < 0 || !(n->left = parse_unary(p, false)))
		return NULL;
	n->end = n->left->end;
	return n;
}

static struct node *parse_unary(struct parser *p, bool with_filters)
{
	struct node *n;

	if (parser_enter(p) < 0)
		return NULL;
	if (parser_is_op(p, "-"))
		n = parse_signed(p, N_NEGATE);
	else if (parser_is_op(p, "+"))
		n = parse_signed(p, N_PLUS);
	else
		n = parse_primary(p);
	n = n ? parse_postfix(p, n) : NULL;
	if (with_filters)
		n = n ? parse_filters_and_tests(p, n) : NULL;
	parser_leave(p);
	return n;
}

static struct node *binary(struct parser *p, char op, struct node *left, struct node *right)
{
	if (!right)
		return NULL;
	struct node *n = parser_node(p, N_BINARY, left->at);
	n->op = op;
	n->left = left;
	n->right = right;
	n->end = right->end;
	return n;
}

/* A chain of operators nests to the left: each link is one level of the evaluator's recursion. */
static int count_link(struct parser *p, int *links)
{
	if (++*links > TEMPLATE_MAX_DEPTH)
		return parser_fault(p, p->tok.at, "more than %d operators in a row",
				    TEMPLATE_MAX_DEPTH);
	return parser_next(p);
}

static struct node *parse_pow(struct parser *p)
{
	struct node *n = parse_unary(p, true);
	int links = 0;

	while (n && parser_is_op(p, "**")) {
		if (count_link(p, &links) < 0)
			return NULL;
		n = binary(p, '^', n, parse_unary(p, true));
	}
	return n;
}

static struct node *parse_product(struct parser *p)
{
	struct node *n = parse_pow(p);
	int links = 0;

	while (n && (parser_is_op(p, "*") || parser_is_op(p, "/") || parser_is_op(p, "//") ||
		     parser_is_op(p, "%"))) {
		char op = parser_is_op(p, "//") ? 'f' : p->tok.text.p[0];
		if (count_link(p, &links) < 0)
			return NULL;
		n = binary(p, op, n, parse_pow(p));
	}
	return n;
}

static struct node *parse_concat(struct parser *p)
{
	struct node *first = parse_product(p), *n, *next;

	if (!first || !parser_is_op(p, "~"))
		return first;
	n = parser_node(p, N_CONCAT, first->at);
	VEC_ADD(p->a, &n->kids) = first;
	while (parser_is_op(p, "~")) {
		if (parser_next(p) < 0 || !(next = parse_product(p)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = next;
		n->end = next->end;
	}
	return n;
}

static struct node *parse_sum(struct parser *p)
{
	struct node *n = parse_concat(p);
	int links = 0;

	while (n && (parser_is_op(p, "+") || parser_is_op(p, "-"))) {
		char op = p->tok.text.p[0];
		if (count_link(p, &links) < 0)
			return NULL;
		n = binary(p, op, n, parse_concat(p));
	}
	return n;
}

/* The comparison at the current token; takes its first word when it has two ("not in"). */
static int take_compare(struct parser *p, enum compare_op *op, bool *found)
{
	static const struct {
		const char *text;
		enum compare_op op;
	} ops[] = { { "==", CMP_EQ }, { "!=", CMP_NE }, { "<", CMP_LT },
		    { "<=", CMP_LE }, { ">", CMP_GT },	{ ">=", CMP_GE } };

	*found = true;
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		if (parser_is_op(p, ops[i].text)) {
			*op = ops[i].op;
			return parser_next(p);
		}
	}
	if (is_word(p, "in")) {
		*op = CMP_IN;
		return parser_next(p);
	}
	*op = CMP_NOT_IN;
	*found = is_word(p, "not");
	if (!*found)
		return 0;
	if (parser_next(p) < 0)
		return -1;
	return is_word(p, "in") ? parser_next(p) : unexpected(p, "\"in\" after \"not\"");
}

static struct node *parse_compare(struct parser *p)
{
	struct node *n = parse_sum(p), *cmp = NULL, *next;
	enum compare_op op;
	bool found;

	while (n) {
		if (take_compare(p, &op, &found) < 0)
			return NULL;
		if (!found)
			break;
		if (!cmp) {
			cmp = parser_node(p, N_COMPARE, n->at);
			cmp->left = n;
		}
		if (!(next = parse_sum(p)))
			return NULL;
		VEC_ADD(p->a, &cmp->ops) = op;
		VEC_ADD(p->a, &cmp->kids) = next;
		cmp->end = next->end;
	}
	return cmp ? cmp : n;
}

static struct node *parse_not(struct parser *p)
{
	if (!is_word(p, "not"))
		return parse_compare(p);
	struct node *n = parser_node(p, N_NOT, p->tok.at);
	if (parser_enter(p) < 0 || parser_next(p) < 0 || !(n->left = parse_not(p)))
		return NULL;
	parser_leave(p);
	n->end = n->left->end;
	return n;
}

/* "and" and "or" are flat lists: a long condition costs no depth. */
static struct node *parse_and(struct parser *p)
{
	struct node *first = parse_not(p), *n, *next;

	if (!first || !is_word(p, "and"))
		return first;
	n = parser_node(p, N_AND, first->at);
	VEC_ADD(p->a, &n->kids) = first;
	while (is_word(p, "and")) {
		if (parser_next(p) < 0 || !(next = parse_not(p)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = next;
		n->end = next->end;
	}
	return n;
}

static struct node *parse_or(struct parser *p)
{
	struct node *first = parse_and(p), *n, *next;

	if (!first || !is_word(p, "or"))
		return first;
	n = parser_node(p, N_OR, first->at);
	VEC_ADD(p->a, &n->kids) = first;
	while (is_word(p, "or")) {
		if (parser_next(p) < 0 || !(next = parse_and(p)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = next;
		n->end = next->end;
	}
	return n;
}

struct node *parser_expr(struct parser *p)
{
	struct node *n, *cond;
	int links = 0;

	if (parser_enter(p) < 0)
		return NULL;
	if (!(n = parse_or(p)))
		return NULL;
	while (is_word(p, "if")) {
		cond = parser_node(p, N_COND, n->at);
		cond->left = n;
		if (count_link(p, &links) < 0 || !(cond->right = parse_or(p)))
			return NULL;
		if (is_word(p, "else") && (parser_next(p) < 0 || !(cond->other = parser_expr(p))))
			return NULL;
		cond->end = p->tok.at;
		n = cond;
	}
	parser_leave(p);
	return n;
}

static struct node *parse_tuple_of(struct parser *p, struct node *(*item)(struct parser *))
{
	struct node *first = item(p), *n;

	if (!first || !parser_is_op(p, ","))
		return first;
	n = parser_node(p, N_TUPLE, first->at);
	VEC_ADD(p->a, &n->kids) = first;
	while (parser_is_op(p, ",")) {
		if (parser_next(p) < 0)
			return NULL;
		if (p->tok.kind == T_END || parser_is_op(p, ")"))
			break;
		if (!(first = item(p)))
			return NULL;
		VEC_ADD(p->a, &n->kids) = first;
	}
	n->end = p->tok.at;
	return n;
}

struct node *parser_tuple(struct parser *p)
{
	return parse_tuple_of(p, parser_expr);
}

struct node *parser_or_tuple(struct parser *p)
{
	return parse_tuple_of(p, parse_or);
}

int parse_expression(struct arena *a, struct str text, struct pos where, struct node **out,
		     struct err *e)
{
	struct parser p;

	if (text.n > TEMPLATE_MAX_TEXT) {
		err_set(e, ERR_SPEC, "an expression may have at most 16 MiB of text");
		return err_at(e, where);
	}
	parser_init(&p, a, text, where, e);
	if (parser_next(&p) < 0)
		return -1;
	if (p.tok.kind == T_END)
		return parser_fault(&p, 0, "the expression is empty");
	*out = parser_tuple(&p);
	if (!*out)
		return -1;
	return p.tok.kind == T_END ? 0 : unexpected(&p, "the end of the expression");
}
