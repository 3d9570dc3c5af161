/* SPDX-License-Identifier: Apache-2.0 */
/* Filters for HTML and URLs. That a text is markup already is not tracked: what is escaped twice is
 * escaped twice. */
#include "templates/filters.h"

#include <ctype.h>

#include "templates/unicode.h"

static const struct value *new_text(struct call *c, const struct buf *b)
{
	return buf_check(b, c->e) < 0 ? NULL : value_str(c->a, buf_str(b));
}

static void add_escaped(struct buf *b, struct str s)
{
	static const struct {
		char c;
		const char *as;
	} table[] = { { '&', "&amp;" },
		      { '<', "&lt;" },
		      { '>', "&gt;" },
		      { '"', "&#34;" },
		      { '\'', "&#39;" } };

	for (size_t i = 0; i < s.n; i++) {
		const char *as = NULL;
		for (size_t k = 0; k < ARRAY_LEN(table); k++)
			as = table[k].c == s.p[i] ? table[k].as : as;
		if (as)
			buf_adds(b, as);
		else
			buf_addc(b, s.p[i]);
	}
}

static const struct value *f_escape(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };

	buf_init(&b, OPS_MAX_TEXT);
	add_escaped(&b, op_text(c->a, c->self));
	return new_text(c, &b);
}

/* ---- striptags ------------------------------------------------------------------------------ */

static struct str without(struct arena *a, struct str s, struct str open, struct str close)
{
	scoped(buf_fini) struct buf b = { 0 };
	size_t from, to;

	buf_init(&b, OPS_MAX_TEXT);
	while ((from = str_find(s, open)) != SIZE_MAX &&
	       (to = str_find(str_sub(s, from, SIZE_MAX), close)) != SIZE_MAX) {
		buf_addstr(&b, str_sub(s, 0, from));
		s = str_sub(s, from + to + close.n, SIZE_MAX);
	}
	buf_addstr(&b, s);
	return (struct str){ buf_dup(&b, a), b.n };
}

static const struct entity {
	const char *name;
	uint32_t c;
} entities[] = { { "amp", '&' },       { "lt", '<' },	    { "gt", '>' },	 { "quot", '"' },
		 { "apos", '\'' },     { "nbsp", 0xa0 },    { "copy", 0xa9 },	 { "reg", 0xae },
		 { "hellip", 0x2026 }, { "mdash", 0x2014 }, { "ndash", 0x2013 }, { "euro", 0x20ac },
		 { "laquo", 0xab },    { "raquo", 0xbb },   { "times", 0xd7 },	 { "deg", 0xb0 } };

/* The letter that "&name;" at s stands for, and its bytes; 0: none. */
static size_t entity_at(struct str s, uint32_t *c)
{
	size_t end = str_find_char(str_sub(s, 0, 12), ';');
	struct str name = end == SIZE_MAX ? STR_NONE : str_sub(s, 1, end);
	uint64_t u;

	if (!name.n)
		return 0;
	if (name.p[0] == '#') {
		bool hex = name.n > 1 && tolower((unsigned char)name.p[1]) == 'x';
		if (!str_to_uint(str_sub(name, hex ? 2 : 1, SIZE_MAX), hex ? 16 : 10, &u) ||
		    u > 0x10ffff)
			return 0;
		*c = (uint32_t)u;
		return end + 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(entities); i++) {
		if (!str_eqc(name, entities[i].name))
			continue;
		*c = entities[i].c;
		return end + 1;
	}
	return 0;
}

static const struct value *f_striptags(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = without(c->a, op_text(c->a, c->self), STR("<!--"), STR("-->"));
	bool blank = false, any = false;
	uint32_t ch;
	size_t n;

	s = without(c->a, s, STR("<"), STR(">"));
	buf_init(&b, OPS_MAX_TEXT);
	while (s.n) {
		struct str rest = s;
		if (unicode_is(unicode_take(&rest), UNICODE_SPACE)) {
			blank = true;
			s = rest;
			continue;
		}
		if (blank && any)
			buf_addc(&b, ' ');
		blank = false;
		any = true;
		if (s.p[0] == '&' && (n = entity_at(s, &ch))) {
			unicode_add(&b, ch);
			s = str_sub(s, n, SIZE_MAX);
		} else {
			unicode_add(&b, unicode_take(&s));
		}
	}
	return new_text(c, &b);
}

/* ---- xmlattr -------------------------------------------------------------------------------- */

static const struct value *f_xmlattr(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	bool space = call_flag(c, 0, true);

	if (c->self->kind != V_MAP)
		return call_fault(c, "xmlattr needs a map, not %s", op_type_name(c->self));
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < c->self->map.n; i++) {
		const struct map_entry *en = &c->self->map.e[i];
		const struct value *v = en->val;
		if (v->kind == V_NULL)
			continue;
		for (size_t k = 0; k < en->key.n; k++)
			if (strchr(" \t\n\f/>=", en->key.p[k]))
				return call_fault(c, "\"" STR_FMT "\" is no name of an attribute",
						  STR_ARG(en->key));
		if (b.n || space)
			buf_addc(&b, ' ');
		add_escaped(&b, en->key);
		buf_adds(&b, "=\"");
		add_escaped(&b, op_text(c->a, v));
		buf_addc(&b, '"');
	}
	return new_text(c, &b);
}

/* ---- URLs ----------------------------------------------------------------------------------- */

static void add_quoted(struct buf *b, struct str s, const char *safe, bool plus)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char ch = (unsigned char)s.p[i];
		if (ch == ' ' && plus)
			buf_addc(b, '+');
		else if (isalnum(ch) || (ch && (strchr("_.-~", ch) || strchr(safe, ch))))
			buf_addc(b, (char)ch);
		else
			buf_addf(b, "%%%02X", ch);
	}
}

static int add_pair(struct call *c, struct buf *b, struct str key, const struct value *v)
{
	if (b->n)
		buf_addc(b, '&');
	add_quoted(b, key, "", true);
	buf_addc(b, '=');
	add_quoted(b, op_text(c->a, v), "", true);
	return 0;
}

static const struct value *f_urlencode(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *v = c->self;

	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		add_pair(c, &b, v->map.e[i].key, v->map.e[i].val);
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++) {
		const struct value *pair = v->list.v[i];
		if (pair->kind != V_LIST || pair->list.n != 2)
			return call_fault(c, "urlencode needs a text, a map or pairs");
		add_pair(c, &b, op_text(c->a, pair->list.v[0]), pair->list.v[1]);
	}
	if (v->kind != V_MAP && v->kind != V_LIST)
		add_quoted(&b, op_text(c->a, v), "/", false);
	return new_text(c, &b);
}

static const struct value *f_urldecode(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = op_text(c->a, c->self);
	uint64_t u;

	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '+') {
			buf_addc(&b, ' ');
		} else if (s.p[i] == '%' && i + 2 < s.n && isxdigit((unsigned char)s.p[i + 1]) &&
			   isxdigit((unsigned char)s.p[i + 2]) &&
			   str_to_uint(str_sub(s, i + 1, i + 3), 16, &u)) {
			buf_addc(&b, (char)u);
			i += 2;
		} else {
			buf_addc(&b, s.p[i]);
		}
	}
	return new_text(c, &b);
}

/* scheme://user:password@host:port/path?query#fragment */
static const struct value *f_urlsplit(struct call *c)
{
	struct str s = op_text(c->a, c->self), scheme = STR(""), netloc = STR(""), query = STR(""),
		   fragment = STR(""), want = call_text(c, 0, "");
	struct value *out = value_map(c->a);
	size_t at = str_find_char(s, ':');
	int64_t port;

	if (at != SIZE_MAX && at > 0 && isalpha((unsigned char)s.p[0])) {
		scheme = str_sub(s, 0, at);
		s = str_sub(s, at + 1, SIZE_MAX);
	}
	if (str_starts(s, "//")) {
		size_t end = 2;
		while (end < s.n && !strchr("/?#", s.p[end]))
			end++;
		netloc = str_sub(s, 2, end);
		s = str_sub(s, end, SIZE_MAX);
	}
	if ((at = str_find_char(s, '#')) != SIZE_MAX) {
		fragment = str_sub(s, at + 1, SIZE_MAX);
		s = str_sub(s, 0, at);
	}
	if ((at = str_find_char(s, '?')) != SIZE_MAX) {
		query = str_sub(s, at + 1, SIZE_MAX);
		s = str_sub(s, 0, at);
	}
	struct str host = netloc, user = STR_NONE, password = STR_NONE;
	for (at = host.n; at > 0 && host.p[at - 1] != '@';)
		at--;
	if (at > 0) {
		size_t colon;
		user = str_sub(host, 0, at - 1);
		host = str_sub(host, at, SIZE_MAX);
		if ((colon = str_find_char(user, ':')) != SIZE_MAX) {
			password = str_sub(user, colon + 1, SIZE_MAX);
			user = str_sub(user, 0, colon);
		}
	}
	size_t close = str_starts(host, "[") ? str_find_char(host, ']') : 0;
	struct str after = close == SIZE_MAX ? STR("") : str_sub(host, close, SIZE_MAX);
	at = str_find_char(after, ':');
	struct str number = at == SIZE_MAX ? STR("") : str_sub(after, at + 1, SIZE_MAX);
	struct str name = at == SIZE_MAX ? host : str_sub(host, 0, close + at);
	if (str_starts(name, "[") && str_ends(name, "]"))
		name = str_sub(name, 1, name.n - 1);
	char *host_lower = arena_dup(c->a, name.p, name.n),
	     *scheme_lower = arena_dup(c->a, scheme.p, scheme.n);
	for (size_t i = 0; i < name.n; i++)
		host_lower[i] = (char)tolower((unsigned char)host_lower[i]);
	for (size_t i = 0; i < scheme.n; i++)
		scheme_lower[i] = (char)tolower((unsigned char)scheme_lower[i]);
	value_set(out, "fragment", value_str(c->a, fragment));
	value_set(out, "hostname", name.n ? value_cstr(c->a, host_lower) : value_null(c->a));
	value_set(out, "netloc", value_str(c->a, netloc));
	value_set(out, "password", password.p ? value_str(c->a, password) : value_null(c->a));
	value_set(out, "path", value_str(c->a, s));
	value_set(out, "port",
		  str_to_int(number, &port) ? value_int(c->a, port) : value_null(c->a));
	value_set(out, "query", value_str(c->a, query));
	value_set(out, "scheme", value_cstr(c->a, scheme_lower));
	value_set(out, "username", user.p ? value_str(c->a, user) : value_null(c->a));
	if (!want.n)
		return out;
	const struct value *v = value_gets(out, want);
	return v ? v : call_fault(c, "urlsplit: unknown part \"" STR_FMT "\"", STR_ARG(want));
}

const struct callable filters_html[] = {
	{ "escape", f_escape, "", 0 },
	{ "e", f_escape, "", 0 },
	{ "forceescape", f_escape, "", 0 },
	{ "striptags", f_striptags, "", 0 },
	{ "xmlattr", f_xmlattr, "autospace", 0 },
	{ "urlencode", f_urlencode, "", 0 },
	{ "urldecode", f_urldecode, "", 0 },
	{ "urlsplit", f_urlsplit, "query", 0 },
	{ NULL, NULL, NULL, 0 },
};
