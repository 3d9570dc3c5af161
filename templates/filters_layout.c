/* SPDX-License-Identifier: Apache-2.0 */
/* Filters that lay text out: center, truncate, wordwrap, comment, sizes for people. */
#include "templates/filters.h"

#include <math.h>

#include "templates/methods.h"
#include "templates/regex.h"
#include "templates/unicode.h"

static const struct value *new_text(struct call *c, const struct buf *b)
{
	return buf_check(b, c->e) < 0 ? NULL : value_str(c->a, buf_str(b));
}

static int64_t count_letters(struct str s)
{
	int64_t n = 0;

	for (; s.n; n++)
		unicode_take(&s);
	return n;
}

/* The first n letters. */
static struct str first_letters(struct str s, int64_t n)
{
	struct str rest = s;

	while (n-- > 0 && rest.n)
		unicode_take(&rest);
	return str_sub(s, 0, s.n - rest.n);
}

static const struct value *f_center(struct call *c)
{
	struct call m = *c;

	m.self = value_str(c->a, op_text(c->a, c->self));
	if (!m.arg[0])
		m.arg[0] = value_int(c->a, 80);
	return method_find(m.self, STR("center"))->fn(&m);
}

static const struct value *f_truncate(struct call *c)
{
	struct str s = op_text(c->a, c->self), end = call_text(c, 2, "...");
	int64_t length, leeway, n = count_letters(s), dots = count_letters(end);

	if (call_int(c, 0, 255, &length) < 0 || call_int(c, 3, 5, &leeway) < 0)
		return NULL;
	if (c->self->kind == V_LIST && (int64_t)c->self->list.n <= length + leeway)
		return c->self;
	if (c->self->kind != V_STR)
		return call_fault(c, "truncate needs text, not %s", op_type_name(c->self));
	if (length < dots || leeway < 0)
		return call_fault(
			c, "truncate: the length must be at least %lld, the leeway not negative",
			(long long)dots);
	if (n <= length + leeway)
		return value_str(c->a, s);
	struct str head = first_letters(s, length - dots);
	for (size_t i = head.n; !call_flag(c, 1, false) && i-- > 0;) {
		if (head.p[i] != ' ')
			continue;
		head = str_sub(head, 0, i);
		break;
	}
	return value_strf(c->a, STR_FMT STR_FMT, STR_ARG(head), STR_ARG(end));
}

/* ---- wordwrap: Python's textwrap ------------------------------------------------------------ */

struct wrap {
	struct call *c;
	VEC(struct str) chunks;
	size_t at; /* next chunk */
	int64_t width;
	bool break_long, hyphens;
	const char *newline;
	struct buf *out;
};

static bool is_blank(struct str s)
{
	while (s.n)
		if (!unicode_is(unicode_take(&s), UNICODE_SPACE))
			return false;
	return true;
}

/* Words, runs of blanks, and the parts of hyphenated words. */
#define WORD   "[\\w!\"'&.,?]"
#define LETTER "[^\\d\\W]"
static const char hyphen_parts[] = "[ \\t\\n\\x0b\\x0c\\r]+"
				   "|(?<=" WORD ")-{2,}(?=\\w)"
				   "|[^ \\t\\n\\x0b\\x0c\\r]+?(?:-(?:(?<=" LETTER LETTER
				   "-)|(?<=" LETTER "-" WORD "-))(?=" LETTER "-?" LETTER ")"
				   "|(?=[ \\t\\n\\x0b\\x0c\\r]|\\Z)|(?<=" WORD ")(?=-{2,}\\w))";
static const char plain_parts[] = "[ \\t\\n\\x0b\\x0c\\r]+|[^ \\t\\n\\x0b\\x0c\\r]+";

static int split_chunks(struct wrap *w, struct str line)
{
	const char *pattern = w->hyphens ? hyphen_parts : plain_parts;
	struct regex *r = regex_new(w->c->a, str_of(pattern), 0, w->c->e);
	struct regex_match m;
	bool found = true;
	size_t from = 0;

	w->chunks.n = 0;
	w->at = 0;
	while (r && from < line.n) {
		if (regex_find(r, line, from, &m, &found, w->c->e) < 0)
			return -1;
		if (!found || m.end == m.begin)
			break;
		if (m.begin > from)
			VEC_ADD(w->c->a, &w->chunks) = str_sub(line, from, m.begin);
		VEC_ADD(w->c->a, &w->chunks) = str_sub(line, m.begin, m.end);
		from = m.end;
	}
	if (r && from < line.n)
		VEC_ADD(w->c->a, &w->chunks) = str_sub(line, from, SIZE_MAX);
	return r ? 0 : -1;
}

/* How much of a word that is wider than a line goes into the room that is left. */
static struct str part_of_long_word(struct wrap *w, struct str word, int64_t room)
{
	struct str part = first_letters(word, room);

	for (size_t i = part.n; w->hyphens && part.n < word.n && i-- > 1;) {
		if (part.p[i] != '-')
			continue;
		for (size_t k = 0; k < i; k++)
			if (part.p[k] != '-')
				return str_sub(word, 0, i + 1);
		break;
	}
	return part;
}

static void wrap_line(struct wrap *w, bool first)
{
	struct buf *b = w->out;
	int64_t used = 0;
	size_t from = w->at, kept = b->n, end;

	if (!first && is_blank(w->chunks.v[w->at]))
		from = ++w->at;
	if (!first)
		buf_adds(b, w->newline);
	end = b->n;
	for (; w->at < w->chunks.n; w->at++) {
		int64_t n = count_letters(w->chunks.v[w->at]);
		if (used + n > w->width)
			break;
		used += n;
	}
	struct str long_part = STR_NONE;
	if (w->at < w->chunks.n && count_letters(w->chunks.v[w->at]) > w->width) {
		struct str *word = &w->chunks.v[w->at];
		if (w->break_long) {
			long_part = part_of_long_word(w, *word, w->width - used);
			*word = str_sub(*word, long_part.n, SIZE_MAX);
		} else if (w->at == from) {
			w->at++;
		}
	}
	size_t last = w->at;
	if (!long_part.p && last > from && is_blank(w->chunks.v[last - 1]))
		last--;
	for (size_t i = from; i < last; i++)
		buf_addstr(b, w->chunks.v[i]);
	buf_addstr(b, long_part);
	if (b->n == end && !first) /* nothing: no line */
		b->n = kept;
}

static const struct value *f_wordwrap(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct value *lines;
	struct call m = *c;
	struct wrap w = { .c = c,
			  .break_long = call_flag(c, 1, true),
			  .hyphens = call_flag(c, 3, true),
			  .out = &b };

	if (call_int(c, 0, 79, &w.width) < 0)
		return NULL;
	if (w.width <= 0)
		return call_fault(c, "wordwrap needs a width above 0");
	if (c->self->kind != V_STR)
		return call_fault(c, "wordwrap needs text, not %s", op_type_name(c->self));
	struct str newline = call_text(c, 2, "\n");
	w.newline = arena_dup(c->a, newline.p, newline.n);
	m.self = value_str(c->a, op_text(c->a, c->self));
	memset(m.arg, 0, sizeof m.arg);
	lines = (struct value *)(uintptr_t)method_find(m.self, STR("splitlines"))->fn(&m);
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < lines->list.n; i++) {
		bool first = true;
		if (i)
			buf_adds(&b, w.newline);
		if (split_chunks(&w, lines->list.v[i]->s) < 0)
			return NULL;
		for (; w.at < w.chunks.n; first = false)
			wrap_line(&w, first);
	}
	return new_text(c, &b);
}

/* ---- comment -------------------------------------------------------------------------------- */

static const struct style {
	const char *name, *begin, *decoration, *end;
} styles[] = {
	{ "plain", "", "# ", "" },	  { "erlang", "", "% ", "" },	   { "c", "", "// ", "" },
	{ "cblock", "/*", " * ", " */" }, { "xml", "<!--", " - ", "-->" },
};

static struct str named(struct call *c, const char *name, const char *fallback)
{
	const struct value *v = value_get(c->kwargs, name);

	return v && v->kind != V_NULL ? op_text(c->a, v) : str_of(fallback);
}

/* Each line after the decoration; of one that stands before an empty line the blanks go. */
static void add_decorated(struct buf *b, struct str text, struct str decoration, struct str newline)
{
	struct str bare = decoration;
	bool last = false;

	while (bare.n && bare.p[bare.n - 1] == ' ')
		bare.n--;
	while (!last) {
		size_t end = newline.n ? str_find(text, newline) : SIZE_MAX;
		struct str line = str_sub(text, 0, end);
		last = end == SIZE_MAX;
		buf_addstr(b, line.n || last ? decoration : bare);
		buf_addstr(b, line);
		if (last)
			break;
		buf_addstr(b, newline);
		text = str_sub(text, end + newline.n, SIZE_MAX);
	}
}

/* The line before (or after) the text, so many times. */
static int add_repeated(struct call *c, struct buf *b, const char *what, struct str line,
			bool newline_first, struct str newline)
{
	const struct value *count = value_get(c->kwargs, arena_printf(c->a, "%s_count", what));
	int64_t n = count && count->kind == V_INT ? count->i : 1;

	if (n > 1000)
		return err_set(c->e, ERR_SPEC, "%s_count may be at most 1000", what);
	for (int64_t i = 0; (line.n || newline_first) && i < n; i++) {
		if (newline_first)
			buf_addstr(b, newline);
		if (!str_eq(line, newline))
			buf_addstr(b, line);
		if (!newline_first)
			buf_addstr(b, newline);
	}
	return 0;
}

static const struct value *f_comment(struct call *c)
{
	struct str name = call_text(c, 0, "plain"), text = op_text(c->a, c->self);
	scoped(buf_wipe) struct buf b = { 0 };
	const struct style *st = NULL;

	for (size_t i = 0; i < ARRAY_LEN(styles); i++)
		if (str_eqc(name, styles[i].name))
			st = &styles[i];
	if (!st)
		return call_fault(c, "comment: no style \"" STR_FMT "\"", STR_ARG(name));
	struct str decoration = named(c, "decoration", st->decoration),
		   begin = named(c, "beginning", st->begin), end = named(c, "end", st->end),
		   newline = named(c, "newline", "\n"), bare = decoration;
	while (bare.n && bare.p[bare.n - 1] == ' ')
		bare.n--;
	const char *plain = arena_dup(c->a, bare.p, bare.n);

	buf_init(&b, OPS_MAX_TEXT);
	if (begin.n) {
		buf_addstr(&b, begin);
		buf_addstr(&b, newline);
	}
	if (add_repeated(c, &b, "prefix", named(c, "prefix", plain), false, newline) < 0)
		return NULL;
	add_decorated(&b, text, decoration, newline);
	if (add_repeated(c, &b, "postfix", named(c, "postfix", plain), true, newline) < 0)
		return NULL;
	if (end.n) {
		buf_addstr(&b, newline);
		buf_addstr(&b, end);
	}
	return new_text(c, &b);
}

/* ---- sizes ---------------------------------------------------------------------------------- */

static const struct value *f_filesizeformat(struct call *c)
{
	static const char *const units[2][8] = {
		{ "kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB" },
		{ "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB" },
	};
	bool binary = call_flag(c, 0, false);
	double base = binary ? 1024 : 1000, unit = base, n;

	if (c->self->kind == V_STR ? !str_to_double(str_trim(c->self->s), &n)
				   : !op_is_number(c->self))
		return call_fault(c, "filesizeformat needs a number, not %s",
				  op_type_name(c->self));
	if (c->self->kind != V_STR)
		n = op_to_double(c->self);
	if (n == 1)
		return value_cstr(c->a, "1 Byte");
	if (n < base)
		return value_strf(c->a, "%lld Bytes", (long long)n);
	for (size_t i = 0;; i++) {
		unit *= base;
		if (n < unit || i == 7)
			return value_strf(c->a, "%.1f %s", base * n / unit, units[binary][i]);
	}
}

const struct callable filters_layout[] = {
	{ "center", f_center, "width", 0 },
	{ "truncate", f_truncate, "length,killwords,end,leeway", 0 },
	{ "wordwrap", f_wordwrap, "width,break_long_words,wrapstring,break_on_hyphens", 0 },
	{ "comment", f_comment, "style", CALL_VARARGS },
	{ "filesizeformat", f_filesizeformat, "binary", 0 },
	{ NULL, NULL, NULL, 0 },
};
