/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/dumps.h"

#include <math.h>
#include <stdlib.h>

struct json {
	struct buf *b;
	struct arena *a;
	struct dump_style style;
};

static uint32_t decode(struct str s, size_t n)
{
	unsigned char c = (unsigned char)s.p[0];
	uint32_t u = n == 1 ? c : n == 2 ? c & 0x1f : n == 3 ? c & 0x0f : c & 0x07;

	for (size_t i = 1; i < n; i++)
		u = u << 6 | ((unsigned char)s.p[i] & 0x3f);
	return u;
}

static void json_text(struct json *j, struct str s)
{
	static const char from[] = "\"\\\n\r\t\b\f", to[] = "\"\\nrtbf";

	buf_addc(j->b, '"');
	for (size_t n; (n = op_char_len(s)); s = str_sub(s, n, SIZE_MAX)) {
		unsigned char c = (unsigned char)s.p[0];
		const char *known = memchr(from, s.p[0], sizeof from - 1);
		uint32_t u = decode(s, n);
		if (known)
			buf_addf(j->b, "\\%c", to[known - from]);
		else if (c < 0x20)
			buf_addf(j->b, "\\u%04x", c);
		else if (c < 0x80 || !j->style.ascii)
			buf_add(j->b, s.p, n);
		else if (u < 0x10000)
			buf_addf(j->b, "\\u%04x", u);
		else
			buf_addf(j->b, "\\u%04x\\u%04x", 0xd800 + ((u - 0x10000) >> 10),
				 0xdc00 + ((u - 0x10000) & 0x3ff));
	}
	buf_addc(j->b, '"');
}

static void json_newline(struct json *j, int depth)
{
	if (j->style.indent < 0)
		return;
	buf_addc(j->b, '\n');
	buf_addn(j->b, ' ', (size_t)(j->style.indent * depth));
}

static int compare_keys(const void *x, const void *y)
{
	return str_cmp((*(const struct map_entry *const *)x)->key,
		       (*(const struct map_entry *const *)y)->key);
}

static const struct map_entry **entries(struct arena *a, const struct value *map, bool sort)
{
	const struct map_entry **v = arena_array(a, const struct map_entry *, map->map.n + 1);

	for (size_t i = 0; i < map->map.n; i++)
		v[i] = &map->map.e[i];
	if (sort)
		qsort(v, map->map.n, sizeof *v, compare_keys);
	return v;
}

static void json_value(struct json *j, const struct value *v, int depth);

static void json_list(struct json *j, const struct value *v, int depth)
{
	buf_addc(j->b, '[');
	for (size_t i = 0; i < v->list.n; i++) {
		if (i)
			buf_addstr(j->b, j->style.comma);
		json_newline(j, depth + 1);
		json_value(j, v->list.v[i], depth + 1);
	}
	if (v->list.n)
		json_newline(j, depth);
	buf_addc(j->b, ']');
}

static void json_map(struct json *j, const struct value *v, int depth)
{
	const struct map_entry **e = entries(j->a, v, j->style.sort);

	buf_addc(j->b, '{');
	for (size_t i = 0; i < v->map.n; i++) {
		if (i)
			buf_addstr(j->b, j->style.comma);
		json_newline(j, depth + 1);
		json_text(j, json_key(e[i]->key));
		buf_addstr(j->b, j->style.colon);
		json_value(j, e[i]->val, depth + 1);
	}
	if (v->map.n)
		json_newline(j, depth);
	buf_addc(j->b, '}');
}

static void json_value(struct json *j, const struct value *v, int depth)
{
	switch ((int)v->kind) {
	case V_NULL: buf_adds(j->b, "null"); break;
	case V_BOOL: buf_adds(j->b, v->b ? "true" : "false"); break;
	case V_STR: json_text(j, v->s); break;
	case V_LIST: json_list(j, v, depth); break;
	case V_MAP: json_map(j, v, depth); break;
	case V_FLOAT:
		if (isinf(v->f))
			buf_adds(j->b, v->f < 0 ? "-Infinity" : "Infinity");
		else if (isnan(v->f))
			buf_adds(j->b, "NaN");
		else
			buf_addstr(j->b, op_text(j->a, v));
		break;
	default: buf_addstr(j->b, op_text(j->a, v)); break;
	}
}

void dump_json(struct buf *b, struct arena *a, const struct value *v,
	       const struct dump_style *style)
{
	struct json j = { .b = b, .a = a, .style = *style };

	json_value(&j, v, 0);
}
