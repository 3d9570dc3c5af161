/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jansson reads. Two things are ours: nesting is measured before it starts, because its own limit
 * is far over ours and carries no position; and writing, because secrets, unknown values and the
 * text of floats need care.
 */
#include "base/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define JSON_DEPTH_MAX 64

static void use_our_memory(void)
{
	json_set_alloc_funcs(mem_alloc, mem_free);
}

static struct pos pos_at(const char *file, struct str text, size_t offset)
{
	struct pos p = { .file = file, .line = 1, .col = 1 };

	if (offset > text.n)
		offset = text.n;
	for (size_t i = 0; i < offset; i++) {
		p.col++;
		if (text.p[i] == '\n') {
			p.line++;
			p.col = 1;
		}
	}
	return p;
}

/* The offset of the bracket that goes too deep; SIZE_MAX if none does. */
static size_t find_too_deep(struct str text)
{
	int depth = 0;
	bool quoted = false;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (quoted) {
			if (c == '\\')
				i++;
			else if (c == '"')
				quoted = false;
		} else if (c == '"') {
			quoted = true;
		} else if (c == '[' || c == '{') {
			if (++depth > JSON_DEPTH_MAX)
				return i;
		} else if (c == ']' || c == '}') {
			depth--;
		}
	}
	return SIZE_MAX;
}

static struct value *convert(struct arena *a, json_t *j);

static struct value *convert_object(struct arena *a, json_t *j)
{
	struct value *v = value_map(a);

	for (void *it = json_object_iter(j); it; it = json_object_iter_next(j, it)) {
		struct str key = { json_object_iter_key(it), json_object_iter_key_len(it) };
		value_sets(v, key, convert(a, json_object_iter_value(it)));
	}
	return v;
}

static struct value *convert_array(struct arena *a, json_t *j)
{
	struct value *v = value_list(a);

	for (size_t i = 0; i < json_array_size(j); i++)
		value_add(a, v, convert(a, json_array_get(j, i)));
	return v;
}

static struct value *convert(struct arena *a, json_t *j)
{
	switch (json_typeof(j)) {
	case JSON_OBJECT: return convert_object(a, j);
	case JSON_ARRAY: return convert_array(a, j);
	case JSON_STRING:
		return value_str(a, (struct str){ json_string_value(j), json_string_length(j) });
	case JSON_INTEGER: return value_int(a, json_integer_value(j));
	case JSON_REAL: return value_float(a, json_real_value(j));
	case JSON_TRUE: return value_bool(a, true);
	case JSON_FALSE: return value_bool(a, false);
	case JSON_NULL: break;
	}
	return value_null(a);
}

/* jansson gives the end of the offending word, and the word itself at the end of its text. */
static size_t fault_offset(const json_error_t *je)
{
	struct str text = str_of(je->text);
	size_t end = je->position > 0 ? (size_t)je->position : 0;
	size_t near = str_find(text, STR(" near '")), word;

	if (str_starts(text, "unable to decode"))
		return end;
	if (near == SIZE_MAX || !str_ends(text, "'"))
		return end ? end - 1 : 0;
	word = text.n - near - strlen(" near '") - 1;
	return word <= end ? end - word : 0;
}

static void release(json_t **j)
{
	json_decref(*j);
}

int json_parse(struct arena *a, const char *name, struct str text, struct value **out,
	       struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	scoped(release) json_t *j = NULL;
	const char *file = arena_strdup(a, name);
	json_error_t je;
	size_t deep;

	if (text.n > JSON_MAX_DEFAULT) {
		err_set(e, ERR_SPEC, "JSON of more than %zu MiB", JSON_MAX_DEFAULT >> 20);
		return err_at(e, (struct pos){ file, 1, 1 });
	}
	deep = find_too_deep(text);
	if (deep != SIZE_MAX) {
		err_set(e, ERR_SPEC, "JSON nested more than %d deep", JSON_DEPTH_MAX);
		return err_at(e, pos_at(file, text, deep));
	}
	pthread_once(&once, use_our_memory);
	j = json_loadb(text.p ? text.p : "", text.n,
		       JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL, &je);
	if (!j) {
		err_set(e, ERR_SPEC, "not valid JSON: %s", je.text);
		return err_at(e, pos_at(file, text, fault_offset(&je)));
	}
	*out = convert(a, j);
	return 0;
}

/* ---- writing ---- */

struct writing {
	struct buf *b;
	unsigned flags;
	unsigned depth;
};

static void write_value(struct writing *w, const struct value *v);

/* Bytes at the start of s that stand for themselves. */
static size_t plain_length(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] >= ' ' && s.p[i] < 0x7f && s.p[i] != '"' && s.p[i] != '\\')
		i++;
	return i;
}

void json_write_string(struct buf *b, struct str s)
{
	buf_addc(b, '"');
	while (s.n) {
		size_t plain = plain_length(s);
		buf_add(b, s.p, plain);
		s = str_sub(s, plain, SIZE_MAX);
		if (!s.n)
			break;
		size_t len = str_utf8_len(s);
		unsigned char c = (unsigned char)s.p[0];
		if (len == 0)
			buf_adds(b, "\xef\xbf\xbd");
		else if (c == '"' || c == '\\')
			buf_addf(b, "\\%c", c);
		else if (c == '\n')
			buf_adds(b, "\\n");
		else if (c == '\r')
			buf_adds(b, "\\r");
		else if (c == '\t')
			buf_adds(b, "\\t");
		else if (c < ' ' || c == 0x7f)
			buf_addf(b, "\\u%04x", c);
		else
			buf_add(b, s.p, len);
		s = str_sub(s, len ? len : 1, SIZE_MAX);
	}
	buf_addc(b, '"');
}

static void new_line(struct writing *w)
{
	if (!(w->flags & JSON_PRETTY))
		return;
	buf_addc(w->b, '\n');
	buf_addn(w->b, ' ', (size_t)w->depth * 2);
}

static void write_list(struct writing *w, const struct value *v)
{
	buf_addc(w->b, '[');
	w->depth++;
	for (size_t i = 0; i < v->list.n; i++) {
		if (i)
			buf_addc(w->b, ',');
		new_line(w);
		write_value(w, v->list.v[i]);
	}
	w->depth--;
	if (v->list.n)
		new_line(w);
	buf_addc(w->b, ']');
}

static int by_key(const void *a, const void *b)
{
	const struct map_entry *const *x = a, *const *y = b;

	return str_cmp((*x)->key, (*y)->key);
}

struct str json_key(struct str key)
{
	struct str text = value_key_text(key);

	if (value_key_is_text(key))
		return key;
	return str_eqc(text, "True")	? STR("true")
	       : str_eqc(text, "False") ? STR("false")
	       : str_eqc(text, "None")	? STR("null")
					: text;
}

static void write_map(struct writing *w, const struct value *v)
{
	const struct map_entry *few[16], **order = few;
	scoped(mem_freep) const struct map_entry **many = NULL;

	if (v->map.n > ARRAY_LEN(few))
		order = many = mem_alloc(v->map.n * sizeof(struct map_entry *));
	for (size_t i = 0; i < v->map.n; i++)
		order[i] = &v->map.e[i];
	if (w->flags & JSON_SORT && v->map.n)
		qsort(order, v->map.n, sizeof(struct map_entry *), by_key);
	buf_addc(w->b, '{');
	w->depth++;
	for (size_t i = 0; i < v->map.n; i++) {
		if (i)
			buf_addc(w->b, ',');
		new_line(w);
		json_write_string(w->b, json_key(order[i]->key));
		buf_adds(w->b, w->flags & JSON_PRETTY ? ": " : ":");
		write_value(w, order[i]->val);
	}
	w->depth--;
	if (v->map.n)
		new_line(w);
	buf_addc(w->b, '}');
}

static void write_value(struct writing *w, const struct value *v)
{
	char number[STR_DOUBLE_LEN];

	if (w->depth > 512)
		bug("a value nested too deeply");
	if (v->secret && !(w->flags & JSON_REVEAL)) {
		json_write_string(w->b, STR("(sensitive)"));
		return;
	}
	switch (v->kind) {
	case V_BOOL: buf_adds(w->b, v->b ? "true" : "false"); break;
	case V_INT: buf_addi(w->b, v->i); break;
	case V_FLOAT:
		str_format_double(v->f, number);
		/* JSON has no word for the others */
		buf_adds(w->b, isfinite(v->f) ? number : "null");
		break;
	case V_STR: json_write_string(w->b, v->s); break;
	case V_LIST: write_list(w, v); break;
	case V_MAP: write_map(w, v); break;
	case V_NULL:
	case V_OBJECT:
	case V_UNKNOWN: buf_adds(w->b, "null"); break;
	}
}

void json_write(struct buf *b, const struct value *v, unsigned flags)
{
	struct writing w = { .b = b, .flags = flags };

	write_value(&w, v);
	if (flags & JSON_PRETTY)
		buf_addc(b, '\n');
}
