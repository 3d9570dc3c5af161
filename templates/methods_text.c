/* SPDX-License-Identifier: Apache-2.0 */
/* Methods of texts. */
#include "templates/methods.h"
#include "templates/unicode.h"

static struct value *new_text(struct call *c, const struct buf *b)
{
	return buf_check(b, c->e) < 0 ? NULL : value_str(c->a, buf_str(b));
}

static const struct value *cased(struct call *c, enum unicode_case to)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;
	char room[256];

	buf_init_in(&b, room, sizeof room, OPS_MAX_TEXT);
	while (s.n)
		unicode_add_cased(&b, unicode_take(&s), to);
	return new_text(c, &b);
}

static bool is_cased(uint32_t c)
{
	return unicode_is(c, UNICODE_UPPER) || unicode_is(c, UNICODE_LOWER) ||
	       unicode_is(c, UNICODE_TITLE);
}

/* A sigma that ends a word has a form of its own. */
static void add_lower(struct buf *b, uint32_t c, bool after_letter, struct str rest)
{
	bool last = !rest.n || !is_cased(unicode_take(&rest));

	if (c == 0x3a3 && after_letter && last)
		unicode_add(b, 0x3c2);
	else
		unicode_add_cased(b, c, UNICODE_TO_LOWER);
}

static const struct value *m_lower(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;
	char room[256];
	bool letter = false;

	buf_init_in(&b, room, sizeof room, OPS_MAX_TEXT);
	while (s.n) {
		uint32_t ch = unicode_take(&s);
		add_lower(&b, ch, letter, s);
		letter = ch == 0x3a3 || (ch >= 0x80 ? is_cased(ch) : unicode_is(ch, UNICODE_ALPHA));
	}
	return new_text(c, &b);
}

static const struct value *m_upper(struct call *c)
{
	return cased(c, UNICODE_TO_UPPER);
}

static const struct value *m_casefold(struct call *c)
{
	return cased(c, UNICODE_FOLD);
}

static const struct value *m_capitalize(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;

	buf_init(&b, OPS_MAX_TEXT);
	if (s.n)
		unicode_add_cased(&b, unicode_take(&s), UNICODE_TO_TITLE);
	for (bool letter = true; s.n;) {
		uint32_t ch = unicode_take(&s);
		add_lower(&b, ch, letter, s);
		letter = is_cased(ch);
	}
	return new_text(c, &b);
}

static const struct value *m_title(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;
	bool inside = false;

	buf_init(&b, OPS_MAX_TEXT);
	while (s.n) {
		uint32_t ch = unicode_take(&s);
		if (inside)
			add_lower(&b, ch, true, s);
		else
			unicode_add_cased(&b, ch, UNICODE_TO_TITLE);
		inside = is_cased(ch);
	}
	return new_text(c, &b);
}

static const struct value *m_swapcase(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;

	buf_init(&b, OPS_MAX_TEXT);
	while (s.n) {
		uint32_t ch = unicode_take(&s);
		if (unicode_is(ch, UNICODE_UPPER))
			unicode_add_cased(&b, ch, UNICODE_TO_LOWER);
		else if (unicode_is(ch, UNICODE_LOWER))
			unicode_add_cased(&b, ch, UNICODE_TO_UPPER);
		else
			unicode_add(&b, ch);
	}
	return new_text(c, &b);
}

static bool is_in(struct str chars, uint32_t c)
{
	while (chars.n)
		if (unicode_take(&chars) == c)
			return true;
	return false;
}

/* Where the last letter of s begins. */
static size_t last_letter(struct str s)
{
	size_t i = s.n - 1;

	while (i && ((unsigned char)s.p[i] & 0xc0) == 0x80 && s.n - i < 4)
		i--;
	struct str rest = str_sub(s, i, SIZE_MAX);
	unicode_take(&rest);
	return rest.n ? s.n - 1 : i;
}

/* chars.p NULL: white space */
static bool strips(struct str chars, uint32_t c)
{
	return chars.p ? is_in(chars, c) : unicode_is(c, UNICODE_SPACE);
}

static const struct value *strip(struct call *c, bool left, bool right)
{
	struct str s = c->self->s, chars = call_text(c, 0, NULL);

	while (left && s.n) {
		struct str rest = s;
		if (!strips(chars, unicode_take(&rest)))
			break;
		s = rest;
	}
	while (right && s.n) {
		size_t at = last_letter(s);
		struct str last = str_sub(s, at, SIZE_MAX);
		if (!strips(chars, unicode_take(&last)))
			break;
		s.n = at;
	}
	return value_str(c->a, s);
}

static const struct value *m_strip(struct call *c)
{
	return strip(c, true, true);
}

static const struct value *m_lstrip(struct call *c)
{
	return strip(c, true, false);
}

static const struct value *m_rstrip(struct call *c)
{
	return strip(c, false, true);
}

static const struct value *m_replace(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s, old = call_text(c, 0, ""), new = call_text(c, 1, "");
	int64_t count;

	if (call_int(c, 2, -1, &count) < 0)
		return NULL;
	buf_init(&b, OPS_MAX_TEXT);
	if (!old.n && count)
		buf_addstr(&b, new);
	while (s.n && count != 0 && !b.overflow) {
		size_t at = old.n ? str_find(s, old) : op_char_len(s);
		if (at == SIZE_MAX)
			break;
		buf_addstr(&b, str_sub(s, 0, at));
		buf_addstr(&b, new);
		s = str_sub(s, at + old.n, SIZE_MAX);
		count--;
	}
	buf_addstr(&b, s);
	return new_text(c, &b);
}

static int64_t chars_before(struct str s, size_t bytes)
{
	int64_t n = 0;

	for (size_t i = 0; i < bytes; i += op_char_len(str_sub(s, i, SIZE_MAX)))
		n++;
	return n;
}

static size_t byte_of(struct str s, int64_t chars)
{
	size_t at = 0;

	while (chars-- > 0 && at < s.n)
		at += op_char_len(str_sub(s, at, SIZE_MAX));
	return at;
}

/* The part that the arguments start and end leave, and the letters before it. false: none. */
static int part_of(struct call *c, struct str *part, int64_t *before)
{
	struct str s = c->self->s;
	int64_t n = chars_before(s, s.n), start, end;

	if (call_int(c, 1, 0, &start) < 0 || call_int(c, 2, n, &end) < 0)
		return -1;
	start = start < 0 ? (start + n < 0 ? 0 : start + n) : start;
	end = end < 0 ? (end + n < 0 ? 0 : end + n) : end > n ? n : end;
	*before = start;
	*part = start > end ? STR_NONE : str_sub(s, byte_of(s, start), byte_of(s, end));
	if (part->p == NULL && start <= end)
		*part = STR("");
	return 0;
}

static bool starts(struct str s, struct str with)
{
	return s.n >= with.n && !memcmp(s.p, with.p, with.n);
}

static bool ends(struct str s, struct str with)
{
	return s.n >= with.n && !memcmp(s.p + s.n - with.n, with.p, with.n);
}

/* One text, or any of a list. */
static const struct value *any_of(struct call *c, bool (*fits)(struct str, struct str))
{
	const struct value *what = c->arg[0];
	struct str s;
	int64_t before;
	bool r = false;

	if (part_of(c, &s, &before) < 0)
		return NULL;
	if (what->kind == V_STR)
		return value_bool(c->a, s.p && fits(s, what->s));
	if (what->kind != V_LIST)
		return call_fault(c, "%s needs text, not %s", c->name, op_type_name(what));
	for (size_t i = 0; i < what->list.n; i++)
		r = r || (what->list.v[i]->kind == V_STR && s.p && fits(s, what->list.v[i]->s));
	return value_bool(c->a, r);
}

static const struct value *m_startswith(struct call *c)
{
	return any_of(c, starts);
}

static const struct value *m_endswith(struct call *c)
{
	return any_of(c, ends);
}

/* Bytes of the white space that s begins with, one letter of it; 0: none. */
static size_t space_at(struct str s)
{
	struct str rest = s;

	if (!s.n || !unicode_is(unicode_take(&rest), UNICODE_SPACE))
		return 0;
	return s.n - rest.n;
}

static struct str skip_space(struct str s)
{
	size_t n;

	while ((n = space_at(s)))
		s = str_sub(s, n, SIZE_MAX);
	return s;
}

static size_t word_end(struct str s)
{
	size_t n = 0;

	while (n < s.n && !space_at(str_sub(s, n, SIZE_MAX)))
		n += op_char_len(str_sub(s, n, SIZE_MAX));
	return n;
}

/* Without a separator: words between runs of white space. */
static void split_blanks(struct call *c, struct str s, int64_t max, struct value *out)
{
	for (s = skip_space(s); s.n; s = skip_space(s)) {
		size_t n = max-- == 0 ? s.n : word_end(s);
		value_add(c->a, out, value_str(c->a, str_sub(s, 0, n)));
		s = str_sub(s, n, SIZE_MAX);
	}
}

/* The same from the right. */
static void rsplit_blanks(struct call *c, struct str s, int64_t max, struct value *parts)
{
	for (;;) {
		while (s.n && space_at(str_sub(s, last_letter(s), SIZE_MAX)))
			s.n = last_letter(s);
		if (!s.n)
			return;
		size_t at = s.n;
		while (at && max != 0) {
			size_t before = last_letter(str_sub(s, 0, at));
			if (space_at(str_sub(s, before, SIZE_MAX)))
				break;
			at = before;
		}
		if (max-- == 0)
			at = 0;
		value_add(c->a, parts, value_str(c->a, str_sub(s, at, SIZE_MAX)));
		s.n = at;
	}
}

static const struct value *m_split(struct call *c)
{
	struct value *out = value_list(c->a);
	struct str s = c->self->s, sep = call_text(c, 0, "");
	int64_t max;

	if (call_int(c, 1, -1, &max) < 0)
		return NULL;
	if (!c->arg[0] || c->arg[0]->kind == V_NULL) {
		split_blanks(c, s, max, out);
		return out;
	}
	if (!sep.n)
		return call_fault(c, "split needs a separator that is not empty");
	for (size_t at; max != 0 && (at = str_find(s, sep)) != SIZE_MAX; max--) {
		value_add(c->a, out, value_str(c->a, str_sub(s, 0, at)));
		s = str_sub(s, at + sep.n, SIZE_MAX);
	}
	value_add(c->a, out, value_str(c->a, s));
	return out;
}

static size_t find_last(struct str s, struct str what)
{
	for (size_t i = s.n + 1; i-- > 0;)
		if (s.n - i >= what.n && !memcmp(s.p + i, what.p, what.n))
			return i;
	return SIZE_MAX;
}

static const struct value *m_rsplit(struct call *c)
{
	struct value *parts = value_list(c->a), *out = value_list(c->a);
	struct str s = c->self->s, sep = call_text(c, 0, "");
	int64_t max;

	if (call_int(c, 1, -1, &max) < 0)
		return NULL;
	if (max < 0)
		return m_split(c);
	if (!c->arg[0] || c->arg[0]->kind == V_NULL) {
		rsplit_blanks(c, s, max, parts);
		for (size_t i = parts->list.n; i-- > 0;)
			value_add(c->a, out, parts->list.v[i]);
		return out;
	}
	if (!sep.n)
		return call_fault(c, "rsplit needs a separator that is not empty");
	for (size_t at; max != 0 && (at = find_last(s, sep)) != SIZE_MAX; max--) {
		value_add(c->a, parts, value_str(c->a, str_sub(s, at + sep.n, SIZE_MAX)));
		s = str_sub(s, 0, at);
	}
	value_add(c->a, out, value_str(c->a, s));
	for (size_t i = parts->list.n; i-- > 0;)
		value_add(c->a, out, parts->list.v[i]);
	return out;
}

static bool is_line_end(uint32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
	       c == 0x2029;
}

/* The bytes of the line that s begins with; *end: with its end. */
static size_t line_length(struct str s, size_t *end)
{
	struct str rest = s;

	while (rest.n) {
		size_t n = s.n - rest.n;
		uint32_t c = unicode_take(&rest);
		if (!is_line_end(c))
			continue;
		if (c == '\r' && str_starts(rest, "\n"))
			rest = str_sub(rest, 1, SIZE_MAX);
		*end = s.n - rest.n;
		return n;
	}
	return *end = s.n;
}

static const struct value *m_splitlines(struct call *c)
{
	struct value *out = value_list(c->a);
	bool keep = call_flag(c, 0, false);
	size_t end;

	for (struct str s = c->self->s; s.n; s = str_sub(s, end, SIZE_MAX)) {
		size_t n = line_length(s, &end);
		value_add(c->a, out, value_str(c->a, str_sub(s, 0, keep ? end : n)));
	}
	return out;
}

static const struct value *m_join(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *l = call_list(c, c->arg[0]);
	bool secret = false;

	if (!l)
		return NULL;
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < l->list.n; i++) {
		if (l->list.v[i]->kind != V_STR)
			return call_fault(c, "join needs texts, not %s",
					  op_type_name(l->list.v[i]));
		secret = secret || l->list.v[i]->secret;
		if (i)
			buf_addstr(&b, c->self->s);
		buf_addstr(&b, l->list.v[i]->s);
	}
	return op_marked(c->a, new_text(c, &b), secret);
}

static int need_text(struct call *c)
{
	if (c->arg[0]->kind == V_STR)
		return 0;
	call_fault(c, "%s needs text, not %s", c->name, op_type_name(c->arg[0]));
	return -1;
}

static const struct value *find_text(struct call *c, bool last)
{
	struct str part, what = c->arg[0]->s;
	int64_t before;
	size_t at;

	if (need_text(c) < 0 || part_of(c, &part, &before) < 0)
		return NULL;
	if (!part.p)
		return value_int(c->a, -1);
	at = last ? find_last(part, what) : what.n ? str_find(part, what) : 0;
	return value_int(c->a, at == SIZE_MAX ? -1 : before + chars_before(part, at));
}

static const struct value *m_find(struct call *c)
{
	return find_text(c, false);
}

static const struct value *m_rfind(struct call *c)
{
	return find_text(c, true);
}

static const struct value *found(struct call *c, const struct value *v)
{
	return v && v->i < 0 ? call_fault(c, "the text was not found") : v;
}

static const struct value *m_index(struct call *c)
{
	return found(c, m_find(c));
}

static const struct value *m_rindex(struct call *c)
{
	return found(c, m_rfind(c));
}

static const struct value *m_count(struct call *c)
{
	struct str s, what = c->arg[0]->s;
	int64_t n = 0, before;

	if (need_text(c) < 0 || part_of(c, &s, &before) < 0)
		return NULL;
	if (!what.n)
		return value_int(c->a, s.p ? chars_before(s, s.n) + 1 : 0);
	for (size_t at; (at = str_find(s, what)) != SIZE_MAX; n++)
		s = str_sub(s, at + what.n, SIZE_MAX);
	return value_int(c->a, n);
}

/* ---- questions ------------------------------------------------------------------------------ */

static const struct value *all_chars(struct call *c, enum unicode_class class)
{
	struct str s = c->self->s;
	bool r = s.n > 0;

	while (r && s.n)
		r = unicode_is(unicode_take(&s), class);
	return value_bool(c->a, r);
}

static const struct value *m_isdigit(struct call *c)
{
	return all_chars(c, UNICODE_DIGIT);
}

static const struct value *m_isdecimal(struct call *c)
{
	return all_chars(c, UNICODE_DECIMAL);
}

static const struct value *m_isnumeric(struct call *c)
{
	return all_chars(c, UNICODE_NUMERIC);
}

static const struct value *m_isalpha(struct call *c)
{
	return all_chars(c, UNICODE_ALPHA);
}

static const struct value *m_isspace(struct call *c)
{
	return all_chars(c, UNICODE_SPACE);
}

static const struct value *m_isprintable(struct call *c)
{
	return c->self->s.n ? all_chars(c, UNICODE_PRINTABLE) : value_bool(c->a, true);
}

static const struct value *m_isalnum(struct call *c)
{
	struct str s = c->self->s;
	bool r = s.n > 0;

	while (r && s.n) {
		uint32_t ch = unicode_take(&s);
		r = unicode_is(ch, UNICODE_ALPHA) || unicode_is(ch, UNICODE_NUMERIC);
	}
	return value_bool(c->a, r);
}

static const struct value *m_isascii(struct call *c)
{
	bool r = true;

	for (size_t i = 0; i < c->self->s.n; i++)
		r = r && (unsigned char)c->self->s.p[i] < 0x80;
	return value_bool(c->a, r);
}

static const struct value *m_isidentifier(struct call *c)
{
	struct str s = c->self->s;
	bool r = s.n > 0, first = true;

	for (; r && s.n; first = false) {
		uint32_t ch = unicode_take(&s);
		r = ch == '_' || unicode_is(ch, UNICODE_ALPHA) ||
		    (!first && unicode_is(ch, UNICODE_DECIMAL));
	}
	return value_bool(c->a, r);
}

/* At least one letter with a case, and all such letters in this one. */
static const struct value *all_cased(struct call *c, enum unicode_class want)
{
	struct str s = c->self->s;
	bool any = false;

	while (s.n) {
		uint32_t ch = unicode_take(&s);
		if (!is_cased(ch))
			continue;
		if (!unicode_is(ch, want))
			return value_bool(c->a, false);
		any = true;
	}
	return value_bool(c->a, any);
}

static const struct value *m_isupper(struct call *c)
{
	return all_cased(c, UNICODE_UPPER);
}

static const struct value *m_islower(struct call *c)
{
	return all_cased(c, UNICODE_LOWER);
}

static const struct value *m_istitle(struct call *c)
{
	struct str s = c->self->s;
	bool any = false, inside = false;

	while (s.n) {
		uint32_t ch = unicode_take(&s);
		bool lower = unicode_is(ch, UNICODE_LOWER), letter = is_cased(ch);
		if (letter && lower != inside)
			return value_bool(c->a, false);
		any = any || letter;
		inside = letter;
	}
	return value_bool(c->a, any);
}

/* ---- parts ---------------------------------------------------------------------------------- */

static const struct value *three(struct call *c, struct str x, struct str y, struct str z)
{
	struct value *out = value_list(c->a);

	out->tuple = true;
	value_add(c->a, out, value_str(c->a, x));
	value_add(c->a, out, value_str(c->a, y));
	value_add(c->a, out, value_str(c->a, z));
	return out;
}

static const struct value *partition(struct call *c, bool last)
{
	struct str s = c->self->s, sep = c->arg[0]->s, none = STR("");
	size_t at;

	if (need_text(c) < 0)
		return NULL;
	if (!sep.n)
		return call_fault(c, "%s needs a separator that is not empty", c->name);
	at = last ? find_last(s, sep) : str_find(s, sep);
	if (at == SIZE_MAX)
		return last ? three(c, none, none, s) : three(c, s, none, none);
	return three(c, str_sub(s, 0, at), sep, str_sub(s, at + sep.n, SIZE_MAX));
}

static const struct value *m_partition(struct call *c)
{
	return partition(c, false);
}

static const struct value *m_rpartition(struct call *c)
{
	return partition(c, true);
}

static const struct value *m_removeprefix(struct call *c)
{
	struct str s = c->self->s;

	if (need_text(c) < 0)
		return NULL;
	return value_str(c->a, starts(s, c->arg[0]->s) ? str_sub(s, c->arg[0]->s.n, SIZE_MAX) : s);
}

static const struct value *m_removesuffix(struct call *c)
{
	struct str s = c->self->s;

	if (need_text(c) < 0)
		return NULL;
	return value_str(c->a, ends(s, c->arg[0]->s) ? str_sub(s, 0, s.n - c->arg[0]->s.n) : s);
}

static const struct value *m_expandtabs(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;
	int64_t size, column = 0;

	if (call_int(c, 0, 8, &size) < 0)
		return NULL;
	if (size > 1000)
		return call_fault(c, "a tab can be at most 1000 wide");
	buf_init(&b, OPS_MAX_TEXT);
	while (s.n && !b.overflow) {
		uint32_t ch = unicode_take(&s);
		int64_t n = size > 0 ? size - column % size : 0;
		if (ch == '\t')
			buf_addn(&b, ' ', (size_t)n);
		else
			unicode_add(&b, ch);
		column = ch == '\n' || ch == '\r' ? 0 : ch == '\t' ? column + n : column + 1;
	}
	return new_text(c, &b);
}

/* ---- width ---------------------------------------------------------------------------------- */

/* Filled to `width` characters; side < 0: text at the left, 0: middle, > 0: right. */
static const struct value *fill(struct call *c, const char *with, int side)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s, pad = call_text(c, 1, with);
	int64_t width, have = chars_before(s, s.n);

	if (call_int(c, 0, 0, &width) < 0)
		return NULL;
	if (width > 65536)
		return call_fault(c, "the width must be at most 65536");
	int64_t missing = width > have ? width - have : 0;
	int64_t left = side > 0 ? missing : side < 0 ? 0 : missing / 2 + (missing & width & 1);
	buf_init(&b, OPS_MAX_TEXT);
	for (int64_t i = 0; i < left; i++)
		buf_addstr(&b, pad);
	buf_addstr(&b, s);
	for (int64_t i = left; i < missing; i++)
		buf_addstr(&b, pad);
	return new_text(c, &b);
}

static const struct value *m_ljust(struct call *c)
{
	return fill(c, " ", -1);
}

static const struct value *m_rjust(struct call *c)
{
	return fill(c, " ", 1);
}

static const struct value *m_center(struct call *c)
{
	return fill(c, " ", 0);
}

/* Zeros after the sign. */
static const struct value *m_zfill(struct call *c)
{
	struct value rest = *c->self;
	struct call inner = *c;
	bool sign = rest.s.n && (rest.s.p[0] == '-' || rest.s.p[0] == '+');
	int64_t width;

	if (call_int(c, 0, 0, &width) < 0)
		return NULL;
	rest.s = str_sub(rest.s, sign, SIZE_MAX);
	inner.self = &rest;
	inner.arg[0] = value_int(c->a, width - sign);
	const struct value *v = fill(&inner, "0", 1);
	return v && sign ? value_strf(c->a, "%c" STR_FMT, c->self->s.p[0], STR_ARG(v->s)) : v;
}

static const struct value *m_format(struct call *c)
{
	return op_format_fields(c->a, c->self->s, c->args, c->kwargs, c->e);
}

static const struct value *m_format_map(struct call *c)
{
	static const struct value none = { .kind = V_LIST };

	if (c->arg[0]->kind != V_MAP)
		return call_fault(c, "format_map needs a map, not %s", op_type_name(c->arg[0]));
	return op_format_fields(c->a, c->self->s, &none, c->arg[0], c->e);
}

const struct callable methods_text[] = {
	{ "split", m_split, "sep,maxsplit", 0 },
	{ "rsplit", m_rsplit, "sep,maxsplit", 0 },
	{ "splitlines", m_splitlines, "keepends", 0 },
	{ "strip", m_strip, "chars", 0 },
	{ "lstrip", m_lstrip, "chars", 0 },
	{ "rstrip", m_rstrip, "chars", 0 },
	{ "replace", m_replace, "old!,new!,count", 0 },
	{ "startswith", m_startswith, "prefix!,start,end", 0 },
	{ "endswith", m_endswith, "suffix!,start,end", 0 },
	{ "upper", m_upper, "", 0 },
	{ "lower", m_lower, "", 0 },
	{ "capitalize", m_capitalize, "", 0 },
	{ "title", m_title, "", 0 },
	{ "join", m_join, "items!", 0 },
	{ "find", m_find, "text!,start,end", 0 },
	{ "rfind", m_rfind, "text!,start,end", 0 },
	{ "index", m_index, "text!,start,end", 0 },
	{ "rindex", m_rindex, "text!,start,end", 0 },
	{ "count", m_count, "text!,start,end", 0 },
	{ "casefold", m_casefold, "", 0 },
	{ "swapcase", m_swapcase, "", 0 },
	{ "partition", m_partition, "sep!", 0 },
	{ "rpartition", m_rpartition, "sep!", 0 },
	{ "removeprefix", m_removeprefix, "prefix!", 0 },
	{ "removesuffix", m_removesuffix, "suffix!", 0 },
	{ "expandtabs", m_expandtabs, "tabsize", 0 },
	{ "format_map", m_format_map, "mapping!", 0 },
	{ "isascii", m_isascii, "", 0 },
	{ "isdecimal", m_isdecimal, "", 0 },
	{ "isdigit", m_isdigit, "", 0 },
	{ "isnumeric", m_isnumeric, "", 0 },
	{ "isidentifier", m_isidentifier, "", 0 },
	{ "islower", m_islower, "", 0 },
	{ "isprintable", m_isprintable, "", 0 },
	{ "istitle", m_istitle, "", 0 },
	{ "isupper", m_isupper, "", 0 },
	{ "isalpha", m_isalpha, "", 0 },
	{ "isalnum", m_isalnum, "", 0 },
	{ "isspace", m_isspace, "", 0 },
	{ "ljust", m_ljust, "width!,fill", 0 },
	{ "rjust", m_rjust, "width!,fill", 0 },
	{ "center", m_center, "width!,fill", 0 },
	{ "zfill", m_zfill, "width!", 0 },
	{ "format", m_format, "", CALL_VARARGS },
	{ NULL, NULL, NULL, 0 },
};
