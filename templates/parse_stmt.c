/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: a row a tag. */
#include "templates/parse.h"

static bool at_word(const struct builder *b, const char *word)
{
	return b->p.tok.kind == T_NAME && str_eqc(b->p.tok.text, word);
}

static int expected(struct builder *b, const char *what)
{
	return parser_fault(&b->p, b->p.tok.at, "expected %s", what);
}

/* *found: the word was there and is taken. */
static int take_word(struct builder *b, const char *word, bool *found)
{
	*found = at_word(b, word);
	return *found ? parser_next(&b->p) : 0;
}

static int expect_word(struct builder *b, const char *word)
{
	char quoted[32];
	struct buf what = { 0 };
	bool found;

	if (take_word(b, word, &found) < 0)
		return -1;
	if (found)
		return 0;
	buf_init(&what, sizeof quoted);
	buf_addf(&what, "\"%s\"", word);
	expected(b, what.p);
	buf_fini(&what);
	return -1;
}

static int take_name(struct builder *b, struct str *name)
{
	if (b->p.tok.kind != T_NAME)
		return expected(b, "a name");
	*name = b->p.tok.text;
	return parser_next(&b->p);
}

/* The end of this tag, the body, and the closing tag; the body into n->right. */
static int parse_block_of(struct builder *b, struct node *n, const char *end, const char *opened)
{
	if (parse_close_tag(b) < 0 || !(n->right = parse_body(b, end, n->at, opened)))
		return -1;
	return parser_next(&b->p);
}

/* ---- names that are given values ------------------------------------------------------------ */

static bool is_reserved(struct str name)
{
	static const char *const words[] = { "true", "false", "none", "True", "False",
					     "None", "and",   "or",   "not",  "in",
					     "is",   "if",    "else" };

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_eqc(name, words[i]))
			return true;
	return false;
}

static struct node *parse_target(struct builder *b);

/* x, or (x, y) */
static struct node *parse_one_target(struct builder *b)
{
	struct node *n;

	if (parser_is_op(&b->p, "(")) {
		if (parser_enter(&b->p) < 0 || parser_next(&b->p) < 0 || !(n = parse_target(b)) ||
		    parser_expect_op(&b->p, ")") < 0)
			return NULL;
		parser_leave(&b->p);
		return n;
	}
	n = parser_node(&b->p, N_NAME, b->p.tok.at);
	if (b->p.tok.kind == T_NAME && is_reserved(b->p.tok.text)) {
		expected(b, "a name, not a word of the language");
		return NULL;
	}
	if (take_name(b, &n->name) < 0)
		return NULL;
	n->hash = str_hash(n->name);
	return n;
}

/* x, or x, y */
static struct node *parse_target(struct builder *b)
{
	struct node *first = parse_one_target(b), *n;

	if (!first || !parser_is_op(&b->p, ","))
		return first;
	n = parser_node(&b->p, N_TUPLE, first->at);
	VEC_ADD(b->p.a, &n->kids) = first;
	while (parser_is_op(&b->p, ",")) {
		if (parser_next(&b->p) < 0)
			return NULL;
		if (b->p.tok.kind != T_NAME && !parser_is_op(&b->p, "("))
			break;
		if (at_word(b, "in"))
			break;
		if (!(first = parse_one_target(b)))
			return NULL;
		VEC_ADD(b->p.a, &n->kids) = first;
	}
	return n;
}

/* (a, b=1): into n->params */
static int parse_params(struct builder *b, struct node *n)
{
	bool defaults = false;

	if (parser_expect_op(&b->p, "(") < 0)
		return -1;
	while (!parser_is_op(&b->p, ")")) {
		struct param param = { 0 };
		if (n->params.n && parser_expect_op(&b->p, ",") < 0)
			return -1;
		if (n->params.n && parser_is_op(&b->p, ")"))
			break;
		uint32_t at = b->p.tok.at;
		if (take_name(b, &param.name) < 0)
			return -1;
		if (parser_is_op(&b->p, "=")) {
			if (parser_next(&b->p) < 0 || !(param.value = parser_expr(&b->p)))
				return -1;
			defaults = true;
		} else if (defaults) {
			return parser_fault(
				&b->p, at,
				"a parameter without a default follows one with a default");
		}
		VEC_ADD(b->p.a, &n->params) = param;
	}
	return parser_next(&b->p);
}

/* ---- conditions and loops ------------------------------------------------------------------- */

/* "if" or "elif" was seen; parses to its endif. */
static int parse_if(struct builder *b, struct node *n)
{
	n->left = parser_tuple(&b->p);
	if (!n->left || parse_close_tag(b) < 0)
		return -1;
	n->right = parse_body(b, "elif|else|endif", n->at, "if");
	if (!n->right)
		return -1;
	if (at_word(b, "elif")) {
		n->other = parser_node(&b->p, N_IF, b->p.tok.at);
		if (parser_enter(&b->p) < 0 || parser_next(&b->p) < 0 || parse_if(b, n->other) < 0)
			return -1;
		parser_leave(&b->p);
		return 0;
	}
	if (at_word(b, "else") && (parser_next(&b->p) < 0 || parse_close_tag(b) < 0 ||
				   !(n->other = parse_body(b, "endif", n->at, "if"))))
		return -1;
	return parser_next(&b->p);
}

static int parse_for(struct builder *b, struct node *n)
{
	bool found;

	if (!(n->target = parse_target(b)) || expect_word(b, "in") < 0 ||
	    !(n->left = parser_or_tuple(&b->p)) || take_word(b, "if", &found) < 0)
		return -1;
	if (found && !(n->cond = parser_expr(&b->p)))
		return -1;
	if (take_word(b, "recursive", &n->flag) < 0 || parse_close_tag(b) < 0)
		return -1;
	b->loops++;
	n->right = parse_body(b, "else|endfor", n->at, "for");
	b->loops--;
	if (!n->right)
		return -1;
	if (at_word(b, "else") && (parser_next(&b->p) < 0 || parse_close_tag(b) < 0 ||
				   !(n->other = parse_body(b, "endfor", n->at, "for"))))
		return -1;
	return parser_next(&b->p);
}

static int parse_jump(struct builder *b, struct node *n)
{
	if (b->loops)
		return 0;
	return parser_fault(&b->p, n->at, "{%% %s %%} is in no loop",
			    n->kind == N_BREAK ? "break" : "continue");
}

/* ---- values --------------------------------------------------------------------------------- */

static struct node *captured(struct builder *b)
{
	return parser_node(&b->p, N_CAPTURED, b->p.tok.at);
}

/* set x = ..., set x, y = ..., set ns.x = ..., set x | upper %}...{% endset */
static int parse_set(struct builder *b, struct node *n)
{
	if (!(n->target = parse_target(b)))
		return -1;
	if (n->target->kind == N_NAME && parser_is_op(&b->p, ".") &&
	    (parser_next(&b->p) < 0 || take_name(b, &n->name) < 0))
		return -1;
	if (parser_is_op(&b->p, "=")) {
		if (parser_next(&b->p) < 0 || !(n->left = parser_tuple(&b->p)))
			return -1;
		return 0;
	}
	if (n->target->kind == N_TUPLE)
		return expected(b, "\"=\"");
	if (parser_is_op(&b->p, "|")) {
		if (parser_next(&b->p) < 0 || !(n->other = parser_filters(&b->p, captured(b))))
			return -1;
	} else if (b->p.tok.kind != T_END) {
		return expected(b, "\"=\"");
	}
	return parse_block_of(b, n, "endset", "set");
}

static int parse_with(struct builder *b, struct node *n)
{
	struct node *target, *v;

	while (b->p.tok.kind != T_END) {
		if (n->kids.n && parser_expect_op(&b->p, ",") < 0)
			return -1;
		if (!(target = parse_one_target(b)) || parser_expect_op(&b->p, "=") < 0 ||
		    !(v = parser_expr(&b->p)))
			return -1;
		VEC_ADD(b->p.a, &n->kids) = target;
		VEC_ADD(b->p.a, &n->kids) = v;
	}
	return parse_block_of(b, n, "endwith", "with");
}

static int parse_do(struct builder *b, struct node *n)
{
	return (n->left = parser_tuple(&b->p)) ? 0 : -1;
}

static int parse_capture(struct builder *b, struct node *n)
{
	if (!(n->left = parser_filters(&b->p, captured(b))))
		return -1;
	return parse_block_of(b, n, "endfilter", "filter");
}

static int parse_autoescape(struct builder *b, struct node *n)
{
	if (!(n->left = parser_expr(&b->p)))
		return -1;
	return parse_block_of(b, n, "endautoescape", "autoescape");
}

/* ---- macros --------------------------------------------------------------------------------- */

static int parse_macro(struct builder *b, struct node *n)
{
	int loops = b->loops, rc;

	if (take_name(b, &n->name) < 0 || parse_params(b, n) < 0)
		return -1;
	b->loops = 0;
	rc = parse_block_of(b, n, "endmacro", "macro");
	b->loops = loops;
	return rc;
}

/* call(x) macro(1) */
static int parse_caller(struct builder *b, struct node *n)
{
	int loops = b->loops, rc;

	if (parser_is_op(&b->p, "(") && parse_params(b, n) < 0)
		return -1;
	n->left = parser_expr(&b->p);
	if (!n->left)
		return -1;
	if (n->left->kind != N_CALL)
		return parser_fault(&b->p, n->left->at, "expected a call of a macro");
	b->loops = 0;
	rc = parse_block_of(b, n, "endcall", "call");
	b->loops = loops;
	return rc;
}

/* ---- other files ---------------------------------------------------------------------------- */

/* with context, without context, or nothing */
static int parse_context(struct builder *b, struct node *n, bool fallback)
{
	bool with = at_word(b, "with");

	n->context = fallback;
	if (!with && !at_word(b, "without"))
		return 0;
	n->context = with;
	return parser_next(&b->p) < 0 ? -1 : expect_word(b, "context");
}

static int parse_include(struct builder *b, struct node *n)
{
	if (!(n->left = parser_expr(&b->p)) || take_word(b, "ignore", &n->flag) < 0 ||
	    (n->flag && expect_word(b, "missing") < 0))
		return -1;
	return parse_context(b, n, true);
}

static int parse_import(struct builder *b, struct node *n)
{
	if (!(n->left = parser_expr(&b->p)) || expect_word(b, "as") < 0 ||
	    take_name(b, &n->name) < 0)
		return -1;
	return parse_context(b, n, false);
}

static int parse_imported_name(struct builder *b, struct node *n)
{
	struct param got = { 0 };
	uint32_t at = b->p.tok.at;
	bool found;

	if (take_name(b, &got.name) < 0)
		return -1;
	if (str_starts(got.name, "_"))
		return parser_fault(&b->p, at, "names that begin with \"_\" cannot be imported");
	got.as = got.name;
	if (take_word(b, "as", &found) < 0 || (found && take_name(b, &got.as) < 0))
		return -1;
	VEC_ADD(b->p.a, &n->params) = got;
	return 0;
}

/* from "x" import a, b as c with context */
static int parse_from(struct builder *b, struct node *n)
{
	if (!(n->left = parser_expr(&b->p)) || expect_word(b, "import") < 0)
		return -1;
	do {
		if (n->params.n && parser_next(&b->p) < 0)
			return -1;
		if (n->params.n && b->p.tok.kind == T_END)
			break;
		if (parse_imported_name(b, n) < 0)
			return -1;
	} while (parser_is_op(&b->p, ","));
	return parse_context(b, n, false);
}

static int parse_extends(struct builder *b, struct node *n)
{
	b->tree->is_module = true;
	return (n->left = parser_expr(&b->p)) ? 0 : -1;
}

static int parse_block(struct builder *b, struct node *n)
{
	int loops = b->loops, rc;

	if (take_name(b, &n->name) < 0 || take_word(b, "scoped", &n->flag) < 0 ||
	    take_word(b, "required", &n->required) < 0)
		return -1;
	for (size_t i = 0; i < b->tree->blocks.n; i++)
		if (str_eq(b->tree->blocks.v[i]->name, n->name))
			return parser_fault(&b->p, n->at, "a second block \"" STR_FMT "\"",
					    STR_ARG(n->name));
	VEC_ADD(b->p.a, &b->tree->blocks) = n;
	b->tree->is_module = true;
	b->loops = 0;
	rc = parse_block_of(b, n, "endblock", "block");
	b->loops = loops;
	if (rc == 0 && b->p.tok.kind == T_NAME) {
		if (!str_eq(b->p.tok.text, n->name))
			return expected(b, "the name of the block that ends here");
		rc = parser_next(&b->p);
	}
	return rc;
}

/* ---- all ------------------------------------------------------------------------------------ */

static const struct statement {
	const char *word;
	enum node_kind kind;
	int (*parse)(struct builder *b, struct node *n); /* to before the end of the last tag */
} statements[] = {
	{ "if", N_IF, parse_if },
	{ "for", N_FOR, parse_for },
	{ "set", N_SET, parse_set },
	{ "with", N_WITH, parse_with },
	{ "do", N_DO, parse_do },
	{ "break", N_BREAK, parse_jump },
	{ "continue", N_CONTINUE, parse_jump },
	{ "filter", N_CAPTURE, parse_capture },
	{ "autoescape", N_ESCAPE, parse_autoescape },
	{ "macro", N_MACRO, parse_macro },
	{ "call", N_CALLER, parse_caller },
	{ "include", N_INCLUDE, parse_include },
	{ "import", N_IMPORT, parse_import },
	{ "from", N_IMPORT, parse_from },
	{ "extends", N_EXTENDS, parse_extends },
	{ "block", N_BLOCK, parse_block },
};

const char *parse_statement_word(size_t i)
{
	return i < ARRAY_LEN(statements) ? statements[i].word : NULL;
}

static int unknown_tag(struct builder *b)
{
	static const char *const ends[] = { "elif",	"else",	   "endif",    "endfor",
					    "endset",	"endraw",  "endwith",  "endfilter",
					    "endmacro", "endcall", "endblock", "endautoescape" };
	const char *known[ARRAY_LEN(ends) + ARRAY_LEN(statements)], *best;
	struct str word = b->p.tok.text;
	size_t n = 0;

	if (str_eqc(word, "trans") || str_eqc(word, "debug"))
		return parser_fault(&b->p, b->p.tok.at, "{%% " STR_FMT " %%} is not supported",
				    STR_ARG(word));
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (str_eqc(word, ends[i]))
			return parser_fault(&b->p, b->p.tok.at,
					    "{%% %s %%} has nothing to belong to", ends[i]);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		known[n++] = ends[i];
	for (size_t i = 0; i < ARRAY_LEN(statements); i++)
		known[n++] = statements[i].word;
	parser_fault(&b->p, b->p.tok.at, "unknown tag \"" STR_FMT "\"", STR_ARG(word));
	best = str_suggest(word, known, n);
	return best ? err_hint(b->p.e, "did you mean \"%s\"?", best) : -1;
}

int parse_statement(struct builder *b, struct node *body, uint32_t at)
{
	const struct statement *s = NULL;

	for (size_t i = 0; i < ARRAY_LEN(statements) && !s; i++)
		if (at_word(b, statements[i].word))
			s = &statements[i];
	if (!s)
		return unknown_tag(b);
	struct node *n = parser_node(&b->p, s->kind, at);
	if (parser_enter(&b->p) < 0 || parser_next(&b->p) < 0 || s->parse(b, n) < 0 ||
	    parse_close_tag(b) < 0)
		return -1;
	parser_leave(&b->p);
	n->end = (uint32_t)b->p.lex.i;
	VEC_ADD(b->p.a, &body->kids) = n;
	return 0;
}
