/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writing half of base/yaml.h: block style, two blanks a level, and quotes wherever a reader of
 * either dialect would take a plain text for something else. What is written reads back equal in
 * both.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/json.h"
#include "base/yaml.h"
#include "base/yaml_scalar.h"

/* a longer key is written with '? ': readers take at most 128 characters before the colon */
#define SIMPLE_KEY_MAX 120

static void write_value(struct buf *b, const struct value *v, unsigned indent, unsigned depth);

static bool has_control(struct str s)
{
	while (s.n) {
		size_t len = str_utf8_len(s);
		unsigned char c = (unsigned char)s.p[0];
		if (len == 0 || c < ' ' || c == 0x7f ||
		    (len == 2 && c == 0xc2 && (unsigned char)s.p[1] < 0xa0))
			return true;
		if (len == 3 &&
		    (memcmp(s.p, "\xe2\x80\xa8", 3) == 0 || memcmp(s.p, "\xe2\x80\xa9", 3) == 0 ||
		     memcmp(s.p, "\xef\xbb\xbf", 3) == 0 || memcmp(s.p, "\xef\xbf\xbe", 3) == 0 ||
		     memcmp(s.p, "\xef\xbf\xbf", 3) == 0))
			return true;
		s = str_sub(s, len, SIZE_MAX);
	}
	return false;
}

/* 2026-11-30: a date to readers of YAML 1.1. */
static bool looks_like_date(struct str s)
{
	return s.n >= 8 && s.p[4] == '-' && strchr("0123456789", s.p[0]) &&
	       strchr("0123456789", s.p[3]);
}

static bool resolves_to_text(struct str s)
{
	struct arena *a = arena_new("yaml_write");
	struct value v = { 0 };
	struct err e;
	bool text = yaml_scalar_spec(a, s, &v, &e) == 0 && v.kind == V_STR;

	if (text) {
		yaml_scalar_ansible(a, s, &v);
		text = v.kind == V_STR;
	}
	arena_free(a);
	return text;
}

static bool is_plain(struct str s)
{
	if (s.n == 0 || s.n > 1000 || strchr("-?:,[]{}#&*!|>'\"%@`=<~. ", s.p[0]) ||
	    s.p[s.n - 1] == ' ' || s.p[s.n - 1] == ':')
		return false;
	if (str_find(s, STR(": ")) != SIZE_MAX || str_find(s, STR(" #")) != SIZE_MAX ||
	    has_control(s))
		return false;
	return !looks_like_date(s) && resolves_to_text(s);
}

static void write_single(struct buf *b, struct str s)
{
	buf_addc(b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_addc(b, '\'');
		buf_addc(b, s.p[i]);
	}
	buf_addc(b, '\'');
}

static void write_escape(struct buf *b, const char *p, size_t len)
{
	unsigned char c = (unsigned char)p[0];

	if (len == 0)
		buf_adds(b, "\\uFFFD");
	else if (c == '\n')
		buf_adds(b, "\\n");
	else if (c == '\t')
		buf_adds(b, "\\t");
	else if (c == '\r')
		buf_adds(b, "\\r");
	else if (len == 1)
		buf_addf(b, "\\x%02x", c);
	else if (len == 2)
		buf_addf(b, "\\x%02x", (unsigned char)p[1]);
	else
		buf_addf(b, "\\u%04x",
			 (c & 15u) << 12 | ((unsigned char)p[1] & 63u) << 6 |
				 ((unsigned char)p[2] & 63u));
}

static void write_double(struct buf *b, struct str s)
{
	buf_addc(b, '"');
	while (s.n) {
		size_t len = str_utf8_len(s);
		if (len == 0 || has_control(str_sub(s, 0, len)))
			write_escape(b, s.p, len);
		else if (s.p[0] == '"' || s.p[0] == '\\')
			buf_addf(b, "\\%c", s.p[0]);
		else
			buf_add(b, s.p, len);
		s = str_sub(s, len ? len : 1, SIZE_MAX);
	}
	buf_addc(b, '"');
}

static void write_text(struct buf *b, struct str s)
{
	if (is_plain(s))
		buf_addstr(b, s);
	else if (has_control(s))
		write_double(b, s);
	else
		write_single(b, s);
}

/* Lines that a literal block can hold as they are. */
static bool is_block(struct str s)
{
	struct str line;

	if (str_find_char(s, '\n') == SIZE_MAX || s.p[0] == '\n' || s.p[0] == ' ' || s.p[0] == '\t')
		return false;
	while (str_next(&s, '\n', &line))
		if (has_control(line) || (line.n && line.p[line.n - 1] == ' '))
			return false;
	return true;
}

static void write_block(struct buf *b, struct str s, unsigned indent)
{
	struct str body = str_trim_end(s, '\n'), line;

	if (indent == 0)
		indent = 2;

	buf_adds(b, s.n == body.n ? "|-" : s.n == body.n + 1 ? "|" : "|+");
	while (str_next(&body, '\n', &line)) {
		buf_addc(b, '\n');
		if (line.n)
			buf_addn(b, ' ', indent);
		buf_addstr(b, line);
	}
	for (size_t extra = str_trim_end(s, '\n').n + 1; extra < s.n; extra++)
		buf_addc(b, '\n');
}

static void write_float(struct buf *b, double f)
{
	char number[STR_DOUBLE_LEN];
	char *exponent;

	if (isnan(f) || isinf(f)) {
		buf_adds(b, isnan(f) ? ".nan" : f > 0 ? ".inf" : "-.inf");
		return;
	}
	str_format_double(f, number);
	exponent = strchr(number, 'e');
	if (exponent && !strchr(number, '.')) /* YAML 1.1 knows a float by its dot */
		buf_addf(b, "%.*s.0%s", (int)(exponent - number), number, exponent);
	else
		buf_adds(b, number);
}

static void write_scalar(struct buf *b, const struct value *v, unsigned indent)
{
	if (v->secret) {
		buf_adds(b, "(sensitive)");
		return;
	}
	switch (v->kind) {
	case V_BOOL: buf_adds(b, v->b ? "true" : "false"); break;
	case V_INT: buf_addf(b, "%" PRId64, v->i); break;
	case V_FLOAT: write_float(b, v->f); break;
	case V_STR:
		if (is_block(v->s))
			write_block(b, v->s, indent);
		else
			write_text(b, v->s);
		break;
	case V_LIST: buf_adds(b, "[]"); break;
	case V_MAP: buf_adds(b, "{}"); break;
	case V_UNKNOWN: buf_adds(b, "(known after apply)"); break;
	case V_OBJECT:
	case V_NULL: buf_adds(b, "null"); break;
	}
}

static bool is_nested(const struct value *v)
{
	return !v->secret && ((v->kind == V_LIST && v->list.n) || (v->kind == V_MAP && v->map.n));
}

static void write_key(struct buf *b, struct str key, unsigned indent)
{
	bool simple = key.n <= SIMPLE_KEY_MAX;

	if (!simple)
		buf_adds(b, "? ");
	if (value_key_is_text(key))
		write_text(b, key);
	else
		buf_addstr(b, json_key(key));
	if (!simple) {
		buf_addc(b, '\n');
		buf_addn(b, ' ', indent);
	}
	buf_addc(b, ':');
}

/* The cursor stands at `indent`, after the indentation of the first line. */
static void write_nested(struct buf *b, const struct value *v, unsigned indent, unsigned depth)
{
	size_t n = v->kind == V_LIST ? v->list.n : v->map.n;

	for (size_t i = 0; i < n; i++) {
		const struct value *item = v->kind == V_LIST ? v->list.v[i] : v->map.e[i].val;
		if (i)
			buf_addn(b, ' ', indent);
		if (v->kind == V_LIST) {
			buf_adds(b, "- ");
		} else {
			write_key(b, v->map.e[i].key, indent);
			buf_addc(b, is_nested(item) ? '\n' : ' ');
			if (is_nested(item))
				buf_addn(b, ' ', indent + 2);
		}
		write_value(b, item, indent + 2, depth + 1);
	}
}

static void write_value(struct buf *b, const struct value *v, unsigned indent, unsigned depth)
{
	if (depth > 512)
		bug("a value nested too deeply");
	if (is_nested(v)) {
		write_nested(b, v, indent, depth);
		return;
	}
	write_scalar(b, v, indent);
	buf_addc(b, '\n');
}

void yaml_write(struct buf *b, const struct value *v, unsigned indent)
{
	buf_addn(b, ' ', indent);
	write_value(b, v, indent, 0);
}
