/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text up to the next mark, the tag, and so on until a closing tag. Depth is counted because tasks
 * have small stacks.
 */
#include "templates/parse.h"

#include <ctype.h>

#include "templates/scope.h"

/* ---- text ----------------------------------------------------------------------------------- */

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next "{{", "{%" or "{#" at or after i; text.n if none. */
static size_t find_mark(struct str s, size_t i)
{
	for (; i + 1 < s.n; i++)
		if (s.p[i] == '{' && (s.p[i + 1] == '{' || s.p[i + 1] == '%' || s.p[i + 1] == '#'))
			return i;
	return s.n;
}

/* Newlines become "\n", as Jinja2 does. */
static struct str normal_newlines(struct arena *a, struct str s)
{
	if (str_find_char(s, '\r') == SIZE_MAX)
		return s;
	char *p = arena_dup(a, s.p, s.n);
	size_t n = 0;
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\r' && i + 1 < s.n && s.p[i + 1] == '\n')
			continue;
		p[n++] = s.p[i] == '\r' ? '\n' : s.p[i];
	}
	p[n] = '\0';
	return (struct str){ p, n };
}

/* What stands before the mark at `to` of the white space in front of it: "{%-" takes all of it, a
 * block with lstrip_blocks the blanks of its line. */
static struct str strip_end(const struct builder *b, struct str s, size_t from, size_t to)
{
	struct str text = b->p.lex.text;
	char sign = to + 2 < text.n ? text.p[to + 2] : ' ';
	size_t n = s.n;

	if (to + 1 >= text.n)
		return s;
	if (sign == '-') {
		while (s.n && is_blank(s.p[s.n - 1]))
			s.n--;
		return s;
	}
	if (!b->lstrip_blocks || sign == '+' || text.p[to + 1] == '{')
		return s;
	while (n && (s.p[n - 1] == ' ' || s.p[n - 1] == '\t'))
		n--;
	/* from: where s begins in the text */
	bool line = n ? s.p[n - 1] == '\n' : from == 0 || text.p[from - 1] == '\n';
	if (line)
		s.n = n;
	return s;
}

static void add_text(struct builder *b, struct node *body, size_t from, size_t to)
{
	struct str raw = str_sub(b->p.lex.text, from, to), s;

	if (b->last.strip)
		while (raw.n && is_blank(raw.p[0]))
			raw = str_sub(raw, 1, SIZE_MAX);
	else if (b->last.trim && raw.n && (raw.p[0] == '\n' || raw.p[0] == '\r'))
		raw = str_sub(raw, str_starts(raw, "\r\n") ? 2 : 1, SIZE_MAX);
	s = normal_newlines(b->p.a, raw);
	s = strip_end(b, s, to - raw.n, to);
	b->last = (struct tag_end){ 0 };
	if (!s.n)
		return;
	struct node *n = parser_node(&b->p, N_TEXT, (uint32_t)from);
	n->name = s;
	VEC_ADD(b->p.a, &body->kids) = n;
}

int parse_close_tag(struct builder *b)
{
	struct lexer *l = &b->p.lex;

	if (b->p.tok.kind != T_END || l->i >= l->text.n)
		return parser_fault(&b->p, b->p.tok.at, "expected the end of the tag");
	char sign = l->text.p[l->i];
	b->last = (struct tag_end){ .strip = sign == '-',
				    .trim = b->trim_blocks && sign != '-' && sign != '+' &&
					    l->close[0] == '%' };
	l->i += 2 + (sign == '-' || sign == '+');
	return 0;
}

static int skip_comment(struct builder *b, size_t at)
{
	struct lexer *l = &b->p.lex;
	size_t end = str_find(str_sub(l->text, at + 2, SIZE_MAX), STR("#}"));

	if (end == SIZE_MAX)
		return parser_fault(&b->p, (uint32_t)at,
				    "the comment does not end: \"#}\" is missing");
	end += at + 2;
	char sign = end > at + 2 ? l->text.p[end - 1] : ' ';
	b->last = (struct tag_end){ .strip = sign == '-',
				    .trim = b->trim_blocks && sign != '-' && sign != '+' };
	l->i = end + 2;
	return 0;
}

/* ---- raw ------------------------------------------------------------------------------------ */

/* The "{%- endraw -%}" at or after i: its begin and the byte after it. */
static bool find_endraw(struct str s, size_t i, size_t *begin, size_t *end)
{
	for (; i + 1 < s.n; i++) {
		size_t k = i + 2;
		if (s.p[i] != '{' || s.p[i + 1] != '%')
			continue;
		if (k < s.n && (s.p[k] == '-' || s.p[k] == '+'))
			k++;
		while (k < s.n && is_blank(s.p[k]))
			k++;
		if (!str_starts(str_sub(s, k, SIZE_MAX), "endraw"))
			continue;
		k += 6;
		while (k < s.n && is_blank(s.p[k]))
			k++;
		if (k < s.n && (s.p[k] == '-' || s.p[k] == '+'))
			k++;
		if (!str_starts(str_sub(s, k, SIZE_MAX), "%}"))
			continue;
		*begin = i;
		*end = k + 2;
		return true;
	}
	return false;
}

static int parse_raw(struct builder *b, struct node *body, uint32_t at)
{
	struct str s = b->p.lex.text;
	size_t begin, end;

	if (parser_next(&b->p) < 0 || parse_close_tag(b) < 0)
		return -1;
	b->last.trim = false;
	size_t from = b->p.lex.i;
	if (!find_endraw(s, from, &begin, &end))
		return parser_fault(&b->p, at, "{%% raw %%} is not closed by {%% endraw %%}");
	add_text(b, body, from, begin);
	char sign = s.p[end - 3];
	b->last = (struct tag_end){ .strip = sign == '-',
				    .trim = b->trim_blocks && sign != '-' && sign != '+' };
	b->p.lex.i = end;
	return 0;
}

/* ---- tags ----------------------------------------------------------------------------------- */

static int parse_output(struct builder *b, struct node *body, uint32_t at)
{
	struct node *n = parser_node(&b->p, N_OUTPUT, at);

	if (parser_next(&b->p) < 0)
		return -1;
	if (b->p.tok.kind == T_END)
		return parser_fault(&b->p, at, "there is no expression between {{ and }}");
	if (!(n->left = parser_tuple(&b->p)) || parse_close_tag(b) < 0)
		return -1;
	n->end = (uint32_t)b->p.lex.i;
	VEC_ADD(b->p.a, &body->kids) = n;
	return 0;
}

static bool is_one_of(struct str word, const char *words)
{
	struct str rest = str_of(words), w;

	while (words && str_next(&rest, '|', &w))
		if (str_eq(w, word))
			return true;
	return false;
}

/* ends NULL: to the end of the text. */
struct node *parse_body(struct builder *b, const char *ends, uint32_t opened_at, const char *opened)
{
	struct lexer *l = &b->p.lex;
	struct node *body = parser_node(&b->p, N_BODY, (uint32_t)l->i);

	for (;;) {
		size_t from = l->i, at = find_mark(l->text, from);
		char sign = at + 2 < l->text.n ? l->text.p[at + 2] : ' ';

		add_text(b, body, from, at);
		if (at == l->text.n)
			break;
		if (l->text.p[at + 1] == '#') {
			if (skip_comment(b, at) < 0)
				return NULL;
			continue;
		}
		l->i = at + 2 + (sign == '-' || sign == '+');
		l->brackets = 0;
		l->close = l->text.p[at + 1] == '{' ? "}}" : "%}";
		if (l->text.p[at + 1] == '{') {
			if (parse_output(b, body, (uint32_t)at) < 0)
				return NULL;
			continue;
		}
		if (parser_next(&b->p) < 0)
			return NULL;
		if (b->p.tok.kind != T_NAME) {
			parser_fault(&b->p, b->p.tok.at,
				     "expected a tag's name, such as if or for");
			return NULL;
		}
		if (is_one_of(b->p.tok.text, ends))
			return body;
		if (str_eqc(b->p.tok.text, "raw") ? parse_raw(b, body, (uint32_t)at) < 0
						  : parse_statement(b, body, (uint32_t)at) < 0)
			return NULL;
	}
	if (ends) {
		parser_fault(&b->p, opened_at, "{%% %s %%} is not closed by {%% end%s %%}", opened,
			     opened);
		return NULL;
	}
	l->i = l->text.n;
	return body;
}

int parse_template(struct arena *a, struct str text, struct pos where, unsigned flags,
		   struct tree *out, struct err *e)
{
	struct builder b = { .trim_blocks = flags & TEMPLATE_TRIM_BLOCKS,
			     .lstrip_blocks = flags & TEMPLATE_LSTRIP_BLOCKS,
			     .tree = out };

	if (text.n > TEMPLATE_MAX_TEXT) {
		err_set(e, ERR_SPEC, "a template may have at most 16 MiB of text");
		return err_at(e, where);
	}
	if (!(flags & TEMPLATE_KEEP_NEWLINE) && text.n && text.p[text.n - 1] == '\n')
		text.n -= text.n > 1 && text.p[text.n - 2] == '\r' ? 2 : 1;
	*out = (struct tree){ .text = text };
	parser_init(&b.p, a, text, where, e);
	out->body = parse_body(&b, NULL, 0, NULL);
	return out->body ? 0 : -1;
}
