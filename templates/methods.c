/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/methods.h"

#include <ctype.h>

static struct value *new_text(struct call *c, const struct buf *b)
{
	return buf_check(b, c->e) < 0 ? NULL : value_str(c->a, buf_str(b));
}

static const struct value *mapped(struct call *c, int (*fn)(int))
{
	char *p = arena_dup(c->a, c->self->s.p, c->self->s.n);

	for (size_t i = 0; i < c->self->s.n; i++)
		if ((unsigned char)p[i] < 0x80)
			p[i] = (char)fn((unsigned char)p[i]);
	return value_str(c->a, (struct str){ p, c->self->s.n });
}

static const struct value *m_lower(struct call *c)
{
	return mapped(c, tolower);
}

static const struct value *m_upper(struct call *c)
{
	return mapped(c, toupper);
}

static const struct value *m_capitalize(struct call *c)
{
	const struct value *v = mapped(c, tolower);

	if (v->s.n && (unsigned char)v->s.p[0] < 0x80)
		((char *)(uintptr_t)v->s.p)[0] = (char)toupper((unsigned char)v->s.p[0]);
	return v;
}

static const struct value *m_title(struct call *c)
{
	const struct value *v = mapped(c, tolower);
	char *p = (char *)(uintptr_t)v->s.p;
	bool inside = false;

	for (size_t i = 0; i < v->s.n; i++) {
		if (!inside)
			p[i] = (char)toupper((unsigned char)p[i]);
		inside = isalpha((unsigned char)p[i]) || (unsigned char)p[i] >= 0x80;
	}
	return v;
}

static struct str strip_chars(struct str s, struct str chars, bool left, bool right)
{
	while (left && s.n && memchr(chars.p, s.p[0], chars.n))
		s = str_sub(s, 1, SIZE_MAX);
	while (right && s.n && memchr(chars.p, s.p[s.n - 1], chars.n))
		s.n--;
	return s;
}

static const struct value *strip(struct call *c, bool left, bool right)
{
	return value_str(c->a,
			 strip_chars(c->self->s, call_text(c, 0, " \t\n\r\v\f\x1c\x1d\x1e\x1f"),
				     left, right));
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
	bool r = false;

	if (what->kind == V_STR)
		return value_bool(c->a, fits(c->self->s, what->s));
	if (what->kind != V_LIST)
		return call_fault(c, "%s needs text, not %s", c->name, op_type_name(what));
	for (size_t i = 0; i < what->list.n; i++)
		r = r || (what->list.v[i]->kind == V_STR && fits(c->self->s, what->list.v[i]->s));
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

static bool is_space(char ch)
{
	return ch == ' ' || (ch >= '\t' && ch <= '\r');
}

/* Without a separator: words between runs of blanks. */
static void split_blanks(struct call *c, struct str s, int64_t max, struct value *out)
{
	for (;;) {
		while (s.n && is_space(s.p[0]))
			s = str_sub(s, 1, SIZE_MAX);
		if (!s.n)
			return;
		size_t n = 0;
		while (n < s.n && !is_space(s.p[n]))
			n++;
		if (max-- == 0) {
			while (is_space(s.p[s.n - 1]))
				s.n--;
			n = s.n;
		}
		value_add(c->a, out, value_str(c->a, str_sub(s, 0, n)));
		s = str_sub(s, n, SIZE_MAX);
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

static const struct value *m_splitlines(struct call *c)
{
	struct value *out = value_list(c->a);
	struct str s = c->self->s;

	while (s.n) {
		size_t n = 0;
		while (n < s.n && s.p[n] != '\n' && s.p[n] != '\r')
			n++;
		value_add(c->a, out, value_str(c->a, str_sub(s, 0, n)));
		n += n + 1 < s.n && s.p[n] == '\r' && s.p[n + 1] == '\n' ? 2 : 1;
		s = str_sub(s, n, SIZE_MAX);
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

static int64_t chars_before(struct str s, size_t bytes)
{
	int64_t n = 0;

	for (size_t i = 0; i < bytes; i += op_char_len(str_sub(s, i, SIZE_MAX)))
		n++;
	return n;
}

static const struct value *m_find(struct call *c)
{
	struct str what = call_text(c, 0, "");
	size_t at = what.n ? str_find(c->self->s, what) : 0;

	return value_int(c->a, at == SIZE_MAX ? -1 : chars_before(c->self->s, at));
}

static const struct value *m_rfind(struct call *c)
{
	size_t at = find_last(c->self->s, call_text(c, 0, ""));

	return value_int(c->a, at == SIZE_MAX ? -1 : chars_before(c->self->s, at));
}

static const struct value *m_index(struct call *c)
{
	const struct value *v = m_find(c);

	return v->i < 0 ? call_fault(c, "the text was not found") : v;
}

static const struct value *m_count(struct call *c)
{
	struct str s = c->self->s, what = call_text(c, 0, "");
	int64_t n = 0;

	if (!what.n)
		return value_int(c->a, chars_before(s, s.n) + 1);
	for (size_t at; (at = str_find(s, what)) != SIZE_MAX; n++)
		s = str_sub(s, at + what.n, SIZE_MAX);
	return value_int(c->a, n);
}

static const struct value *all_chars(struct call *c, int (*is)(int))
{
	bool r = c->self->s.n > 0;

	for (size_t i = 0; i < c->self->s.n; i++)
		r = r && is((unsigned char)c->self->s.p[i]);
	return value_bool(c->a, r);
}

static const struct value *m_isdigit(struct call *c)
{
	return all_chars(c, isdigit);
}

static const struct value *m_isalpha(struct call *c)
{
	return all_chars(c, isalpha);
}

static const struct value *m_isalnum(struct call *c)
{
	return all_chars(c, isalnum);
}

static const struct value *m_isspace(struct call *c)
{
	return all_chars(c, isspace);
}

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

/* "{} {0} {name}" without format specifications. */
static const struct value *m_format(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->s;
	int64_t next = 0, i;

	buf_init(&b, OPS_MAX_TEXT);
	while (s.n) {
		char ch = s.p[0];
		if ((ch == '{' || ch == '}') && s.n > 1 && s.p[1] == ch) {
			buf_addc(&b, ch);
			s = str_sub(s, 2, SIZE_MAX);
			continue;
		}
		if (ch != '{') {
			buf_addc(&b, ch);
			s = str_sub(s, 1, SIZE_MAX);
			continue;
		}
		size_t close = str_find_char(s, '}');
		if (close == SIZE_MAX)
			return call_fault(c, "format: \"{\" without \"}\"");
		struct str name = str_sub(s, 1, close);
		const struct value *v = NULL;
		if (!name.n || str_to_int(name, &i)) {
			i = name.n ? i : next++;
			v = i >= 0 && (size_t)i < c->args->list.n ? c->args->list.v[i] : NULL;
		} else {
			v = value_gets(c->kwargs, name);
		}
		if (!v)
			return call_fault(c, "format: no value for {" STR_FMT "}", STR_ARG(name));
		buf_addstr(&b, op_text(c->a, v));
		s = str_sub(s, close + 1, SIZE_MAX);
	}
	return new_text(c, &b);
}

/* ---- lists ---------------------------------------------------------------------------------- */

static const struct value *l_index(struct call *c)
{
	for (size_t i = 0; i < c->self->list.n; i++)
		if (op_equal(c->self->list.v[i], c->arg[0]))
			return value_int(c->a, (int64_t)i);
	return call_fault(c, "the value is not in the list");
}

static const struct value *l_count(struct call *c)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->self->list.n; i++)
		n += op_equal(c->self->list.v[i], c->arg[0]);
	return value_int(c->a, n);
}

static const struct value *same(struct call *c)
{
	return c->self;
}

static const struct value *l_mutate(struct call *c)
{
	call_fault(c, "lists cannot be changed by .%s()", c->name);
	err_hint(c->e, "make a new one: {%% set x = x + [item] %%}");
	return NULL;
}

/* ---- maps ----------------------------------------------------------------------------------- */

static const struct value *d_keys(struct call *c)
{
	return op_iterate(c->a, c->self, c->e);
}

static const struct value *d_values(struct call *c)
{
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < c->self->map.n; i++)
		value_add(c->a, out, c->self->map.e[i].val);
	return out;
}

static const struct value *d_items(struct call *c)
{
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < c->self->map.n; i++) {
		struct value *pair = value_list(c->a);
		pair->tuple = true;
		value_add(c->a, pair, value_str(c->a, c->self->map.e[i].key));
		value_add(c->a, pair, c->self->map.e[i].val);
		value_add(c->a, out, pair);
	}
	return out;
}

static const struct value *d_get(struct call *c)
{
	const struct value *v = op_item(c->a, c->self, c->arg[0]);

	if (v)
		return v;
	return c->arg[1] ? c->arg[1] : value_null(c->a);
}

static const struct value *d_mutate(struct call *c)
{
	call_fault(c, "maps cannot be changed by .%s()", c->name);
	err_hint(c->e, "make a new one: {%% set x = x | combine({'key': value}) %%}");
	return NULL;
}

static const struct callable text_methods[] = {
	{ "split", m_split, "sep,maxsplit", 0 },
	{ "rsplit", m_rsplit, "sep,maxsplit", 0 },
	{ "splitlines", m_splitlines, "", 0 },
	{ "strip", m_strip, "chars", 0 },
	{ "lstrip", m_lstrip, "chars", 0 },
	{ "rstrip", m_rstrip, "chars", 0 },
	{ "replace", m_replace, "old!,new!,count", 0 },
	{ "startswith", m_startswith, "prefix!", 0 },
	{ "endswith", m_endswith, "suffix!", 0 },
	{ "upper", m_upper, "", 0 },
	{ "lower", m_lower, "", 0 },
	{ "capitalize", m_capitalize, "", 0 },
	{ "title", m_title, "", 0 },
	{ "join", m_join, "items!", 0 },
	{ "find", m_find, "text!", 0 },
	{ "rfind", m_rfind, "text!", 0 },
	{ "index", m_index, "text!", 0 },
	{ "count", m_count, "text!", 0 },
	{ "isdigit", m_isdigit, "", 0 },
	{ "isnumeric", m_isdigit, "", 0 },
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

static const struct callable list_methods[] = {
	{ "index", l_index, "value!", 0 },
	{ "count", l_count, "value!", 0 },
	{ "copy", same, "", CALL_ITEMS },
	{ "append", l_mutate, "value", 0 },
	{ "extend", l_mutate, "values", 0 },
	{ "insert", l_mutate, "index,value", 0 },
	{ "pop", l_mutate, "index", 0 },
	{ "remove", l_mutate, "value", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable map_methods[] = {
	{ "items", d_items, "", CALL_ITEMS },
	{ "keys", d_keys, "", CALL_ITEMS },
	{ "values", d_values, "", CALL_ITEMS },
	{ "get", d_get, "key!,default", CALL_ITEMS },
	{ "copy", same, "", CALL_ITEMS },
	{ "update", d_mutate, "values", CALL_VARARGS },
	{ "pop", d_mutate, "key,default", 0 },
	{ "setdefault", d_mutate, "key,default", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable *table_of(const struct value *self)
{
	if (self->kind == V_STR)
		return text_methods;
	if (self->kind == V_LIST)
		return list_methods;
	return self->kind == V_MAP ? map_methods : NULL;
}

const struct callable *method_find(const struct value *self, struct str name)
{
	for (const struct callable *m = table_of(self); m && m->name; m++)
		if (str_eqc(name, m->name))
			return m;
	return NULL;
}

const char *method_suggest(const struct value *self, struct str name)
{
	const char *names[64];
	size_t n = 0;

	for (const struct callable *m = table_of(self); m && m->name; m++)
		names[n++] = m->name;
	return str_suggest(name, names, n);
}
