/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/lex.h"

#include <ctype.h>

static const char *const two_char_ops[] = { "**", "//", "==", "!=", "<=", ">=" };

struct pos lex_pos(struct str text, struct pos where, size_t at)
{
	int line = 0;
	size_t begin = 0;

	for (size_t i = 0; i < at && i < text.n; i++) {
		if (text.p[i] == '\n') {
			line++;
			begin = i + 1;
		}
	}
	/* Later lines of a block in YAML are indented as its first line is; in a file of its own
	 * where.col is 1. */
	int col = where.col > 0 ? where.col : 1;
	return (struct pos){ where.file, (where.line > 0 ? where.line : 1) + line,
			     col + (int)(at - begin) };
}

static int fault(const struct lexer *l, struct err *e, size_t at, const char *msg)
{
	err_set(e, ERR_SPEC, "%s", msg);
	return err_at(e, lex_pos(l->text, l->where, at));
}

static bool is_name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* Digits with single underscores between. */
static size_t digit_run(const struct lexer *l, size_t i)
{
	while (i < l->text.n &&
	       (isdigit((unsigned char)l->text.p[i]) || (l->text.p[i] == '_' && i + 1 < l->text.n &&
							 isdigit((unsigned char)l->text.p[i + 1]))))
		i++;
	return i;
}

static struct str without_underscores(struct arena *a, struct str s)
{
	char *p = arena_dup(a, s.p, s.n);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] != '_')
			p[n++] = s.p[i];
	p[n] = '\0';
	return (struct str){ p, n };
}

static int lex_based(struct lexer *l, struct token *t, struct err *e)
{
	int base = tolower((unsigned char)l->text.p[l->i + 1]);
	size_t i = l->i + 2;
	uint64_t u;

	base = base == 'x' ? 16 : base == 'o' ? 8 : 2;
	while (i < l->text.n && (isxdigit((unsigned char)l->text.p[i]) || l->text.p[i] == '_'))
		i++;
	struct str s = without_underscores(l->a, str_sub(l->text, l->i + 2, i));
	if (!str_to_uint(s, base, &u) || u > INT64_MAX)
		return fault(l, e, l->i, "not a number");
	t->kind = T_INT;
	t->i = (int64_t)u;
	l->i = i;
	return 0;
}

static int lex_number(struct lexer *l, struct token *t, struct err *e)
{
	const char *p = l->text.p;
	size_t i = l->i, n = l->text.n;
	bool is_float = false;

	if (p[i] == '0' && i + 1 < n && strchr("xXoObB", p[i + 1]))
		return lex_based(l, t, e);
	i = digit_run(l, i);
	if (i + 1 < n && p[i] == '.' && isdigit((unsigned char)p[i + 1])) {
		is_float = true;
		i = digit_run(l, i + 1);
	}
	if (i < n && (p[i] == 'e' || p[i] == 'E')) {
		size_t k = i + 1;
		if (k < n && (p[k] == '+' || p[k] == '-'))
			k++;
		if (k < n && isdigit((unsigned char)p[k])) {
			is_float = true;
			i = digit_run(l, k);
		}
	}
	struct str s = without_underscores(l->a, str_sub(l->text, l->i, i));
	t->kind = is_float ? T_FLOAT : T_INT;
	if (is_float ? !str_to_double(s, &t->f) : !str_to_int(s, &t->i))
		return fault(l, e, l->i, "the number is too large");
	l->i = i;
	return 0;
}

static void add_utf8(struct buf *b, uint64_t c)
{
	if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buf_addc(b, (char)c);
	} else if (c < 0x800) {
		buf_addc(b, (char)(0xc0 | c >> 6));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_addc(b, (char)(0xe0 | c >> 12));
		buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_addc(b, (char)(0xf0 | c >> 18));
		buf_addc(b, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_addc(b, (char)(0x80 | (c & 0x3f)));
	}
}

/* The escape after a backslash at text[i]; gives the bytes used. An escape that Python does not
 * know stays as written. */
static size_t unescape(struct str s, size_t i, struct buf *b)
{
	static const char from[] = "ntr\\'\"abfv0", to[] = "\n\t\r\\'\"\a\b\f\v\0";
	char c = s.p[i];
	const char *found = memchr(from, c, sizeof from - 1);
	size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
	uint64_t u;

	if (found) {
		buf_addc(b, to[found - from]);
		return 1;
	}
	if (c == '\n')
		return 1;
	if (digits && i + digits < s.n && isxdigit((unsigned char)s.p[i + 1]) &&
	    str_to_uint(str_sub(s, i + 1, i + 1 + digits), 16, &u)) {
		add_utf8(b, u);
		return 1 + digits;
	}
	buf_addc(b, '\\');
	buf_addc(b, c);
	return 1;
}

static int lex_string(struct lexer *l, struct token *t, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	char quote = l->text.p[l->i];
	size_t i = l->i + 1;

	buf_init(&b, BUF_MAX_DEFAULT);
	while (i < l->text.n && l->text.p[i] != quote) {
		if (l->text.p[i] == '\\' && i + 1 < l->text.n)
			i += 1 + unescape(l->text, i + 1, &b);
		else
			buf_addc(&b, l->text.p[i++]);
	}
	if (i >= l->text.n)
		return fault(l, e, l->i, "this text has no closing quote");
	t->kind = T_STRING;
	t->text = (struct str){ buf_dup(&b, l->a), b.n };
	l->i = i + 1;
	return 0;
}

static bool at_close(const struct lexer *l)
{
	struct str rest = str_sub(l->text, l->i, SIZE_MAX);

	if (!l->close)
		return !rest.n;
	if (l->brackets > 0)
		return false;
	if (rest.n && (rest.p[0] == '-' || (rest.p[0] == '+' && l->close[0] == '%')))
		return str_starts(str_sub(rest, 1, SIZE_MAX), l->close);
	return str_starts(rest, l->close);
}

static int lex_op(struct lexer *l, struct token *t, struct err *e)
{
	struct str rest = str_sub(l->text, l->i, SIZE_MAX);
	size_t n = 1;

	for (size_t k = 0; k < ARRAY_LEN(two_char_ops); k++)
		if (str_starts(rest, two_char_ops[k]))
			n = 2;
	char c = rest.p[0];
	if (n == 1 && !strchr("+-*/%~<>=()[]{},:.|", c)) {
		err_set(e, ERR_SPEC, "unexpected character \"%c\" in an expression",
			isprint((unsigned char)c) ? c : '?');
		if (c == '!')
			err_hint(e, "write not");
		else if (c == '&')
			err_hint(e, "write and");
		return err_at(e, lex_pos(l->text, l->where, l->i));
	}
	if (strchr("([{", c))
		l->brackets++;
	else if (strchr(")]}", c))
		l->brackets--;
	t->kind = T_OP;
	t->text = str_sub(rest, 0, n);
	l->i += n;
	return 0;
}

int lex_next(struct lexer *l, struct token *t, struct err *e)
{
	int rc;

	while (l->i < l->text.n && strchr(" \t\r\n\f\v", l->text.p[l->i]) && l->text.p[l->i])
		l->i++;
	*t = (struct token){ .kind = T_END, .at = (uint32_t)l->i, .end = (uint32_t)l->i };
	if (at_close(l))
		return 0;
	if (l->i >= l->text.n) {
		err_set(e, ERR_SPEC, "the expression does not end: \"%s\" is missing", l->close);
		return err_at(e, lex_pos(l->text, l->where, l->text.n));
	}
	char c = l->text.p[l->i];
	if (is_name_start(c)) {
		size_t begin = l->i;
		while (l->i < l->text.n && is_name_char(l->text.p[l->i]))
			l->i++;
		t->kind = T_NAME;
		t->text = str_sub(l->text, begin, l->i);
		rc = 0;
	} else if (isdigit((unsigned char)c)) {
		rc = lex_number(l, t, e);
	} else if (c == '"' || c == '\'') {
		rc = lex_string(l, t, e);
	} else {
		rc = lex_op(l, t, e);
	}
	t->end = (uint32_t)l->i;
	return rc;
}
