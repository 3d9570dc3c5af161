/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/log.h"

/* Values are trees that parsers bound to 64 levels; code that nests deeper than this has lost its
 * way. */
#define DEPTH_MAX 512

static struct value *make(struct arena *a, enum value_kind kind)
{
	struct value *v = arena_obj(a, struct value);

	v->kind = kind;
	return v;
}

struct value *value_null(struct arena *a)
{
	return make(a, V_NULL);
}

struct value *value_unknown(struct arena *a)
{
	return make(a, V_UNKNOWN);
}

struct value *value_bool(struct arena *a, bool b)
{
	struct value *v = make(a, V_BOOL);

	v->b = b;
	return v;
}

struct value *value_int(struct arena *a, int64_t i)
{
	struct value *v = make(a, V_INT);

	v->i = i;
	return v;
}

struct value *value_float(struct arena *a, double f)
{
	struct value *v = make(a, V_FLOAT);

	v->f = f;
	return v;
}

struct value *value_str(struct arena *a, struct str s)
{
	struct value *v = make(a, V_STR);

	v->s = str_dup(a, s);
	return v;
}

struct value *value_cstr(struct arena *a, const char *s)
{
	return value_str(a, str_of(s));
}

struct value *value_cstr_or_null(struct arena *a, const char *s)
{
	return s ? value_cstr(a, s) : value_null(a);
}

struct value *value_strf(struct arena *a, const char *fmt, ...)
{
	struct value *v = make(a, V_STR);
	struct buf b;
	va_list ap;

	buf_init(&b, BUF_MAX_DEFAULT);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	v->s = (struct str){ buf_dup(&b, a), b.n };
	buf_fini(&b);
	return v;
}

struct value *value_list(struct arena *a)
{
	return make(a, V_LIST);
}

struct value *value_map(struct arena *a)
{
	struct value *v = make(a, V_MAP);

	map_init(&v->map, a);
	return v;
}

static void register_secrets(const struct value *v, int depth)
{
	struct buf b;

	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	switch (v->kind) {
	case V_LIST:
		for (size_t i = 0; i < v->list.n; i++)
			register_secrets(v->list.v[i], depth + 1);
		break;
	case V_MAP:
		for (size_t i = 0; i < v->map.n; i++)
			register_secrets(v->map.e[i].val, depth + 1);
		break;
	case V_STR: scrub_register(v->s); break;
	case V_INT:
	case V_FLOAT:
		buf_init(&b, BUF_MAX_DEFAULT);
		value_reveal(&b, v);
		scrub_register(buf_str(&b));
		buf_wipe(&b);
		break;
	default: break;
	}
}

struct value *value_secret(struct arena *a, const struct value *v)
{
	struct value *copy = arena_obj(a, struct value);

	*copy = *v;
	copy->secret = true;
	register_secrets(v, 0);
	return copy;
}

/* Values are read-only by custom, not by type: trees hold plain pointers. */
static struct value *unconst(const struct value *v)
{
	struct value *out;

	memcpy(&out, &v, sizeof(out));
	return out;
}

/* ---- keys ----------------------------------------------------------------------------------- */

bool value_key(struct arena *a, const struct value *v, struct str *key)
{
	scoped(buf_fini) struct buf b = { 0 };
	static const char kinds[] = {
		[V_NULL] = 'n', [V_BOOL] = 'b', [V_INT] = 'i', [V_FLOAT] = 'f'
	};

	if (v->kind == V_STR) {
		*key = v->s;
		return true;
	}
	if (v->kind > V_FLOAT)
		return false;
	buf_init(&b, 64);
	buf_addc(&b, VALUE_KEY_MARK);
	buf_addc(&b, kinds[v->kind]);
	value_reveal(&b, v);
	*key = (struct str){ buf_dup(&b, a), b.n };
	return true;
}

struct str value_key_text(struct str key)
{
	return value_key_is_text(key) ? key : str_sub(key, 2, SIZE_MAX);
}

struct value *value_of_key(struct arena *a, struct str key)
{
	struct str text = value_key_text(key);
	int64_t i = 0;
	double f = 0;

	if (value_key_is_text(key) || key.n < 2)
		return value_str(a, key);
	switch (key.p[1]) {
	case 'n': return value_null(a);
	case 'b': return value_bool(a, str_eqc(text, "True"));
	case 'i': return str_to_int(text, &i) ? value_int(a, i) : value_str(a, text);
	default: return str_to_double(text, &f) ? value_float(a, f) : value_str(a, text);
	}
}

void value_add(struct arena *a, struct value *list, const struct value *item)
{
	if (list->kind != V_LIST)
		bug("value_add to %s", value_kind_name(list->kind));
	VEC_ADD(a, &list->list) = unconst(item);
}

void value_sets(struct value *map, struct str key, const struct value *v)
{
	if (map->kind != V_MAP)
		bug("value_set in %s", value_kind_name(map->kind));
	map_put(&map->map, key, unconst(v));
}

void value_set(struct value *map, const char *key, const struct value *v)
{
	value_sets(map, str_of(key), v);
}

void value_set_text(struct value *map, const char *key, const char *s)
{
	if (s)
		value_set(map, key, value_cstr(map->map.a, s));
}

struct value *value_gets(const struct value *map, struct str key)
{
	return map && map->kind == V_MAP ? map_get(&map->map, key) : NULL;
}

struct value *value_get(const struct value *map, const char *key)
{
	return value_gets(map, str_of(key));
}

struct value *value_path(const struct value *v, const char *dotted)
{
	struct str rest = str_of(dotted), part;
	uint64_t index;

	while (v && str_next(&rest, '.', &part)) {
		if (v->kind == V_LIST)
			v = str_to_uint(part, 10, &index) && index < v->list.n ? v->list.v[index]
									       : NULL;
		else
			v = value_gets(v, part);
	}
	return unconst(v);
}

struct str value_get_str(const struct value *map, const char *key, const char *fallback)
{
	const struct value *v = value_get(map, key);

	return v && v->kind == V_STR ? v->s : str_of(fallback);
}

int64_t value_get_int(const struct value *map, const char *key, int64_t fallback)
{
	const struct value *v = value_get(map, key);

	return v && v->kind == V_INT ? v->i : fallback;
}

bool value_get_bool(const struct value *map, const char *key, bool fallback)
{
	const struct value *v = value_get(map, key);

	return v && v->kind == V_BOOL ? v->b : fallback;
}

static struct value *copy_deep(struct arena *a, const struct value *v, int depth)
{
	struct value *c = arena_obj(a, struct value);

	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	*c = *v;
	if (v->kind == V_STR)
		c->s = str_dup(a, v->s);
	if (v->kind == V_LIST) {
		c->list.v = arena_array(a, struct value *, v->list.n);
		c->list.cap = v->list.n;
		for (size_t i = 0; i < v->list.n; i++)
			c->list.v[i] = copy_deep(a, v->list.v[i], depth + 1);
	}
	if (v->kind == V_MAP) {
		map_init(&c->map, a);
		for (size_t i = 0; i < v->map.n; i++) {
			map_put(&c->map, v->map.e[i].key, copy_deep(a, v->map.e[i].val, depth + 1));
			c->map.e[i].pos = v->map.e[i].pos;
		}
	}
	return c;
}

struct value *value_copy(struct arena *a, const struct value *v)
{
	return copy_deep(a, v, 0);
}

static void put_entry(struct value *map, const struct map_entry *e, void *val)
{
	map_put(&map->map, e->key, val);
	map_find(&map->map, e->key)->pos = e->pos;
}

static struct value *merge(struct arena *a, const struct value *under, const struct value *over,
			   bool deep, int depth)
{
	struct value *out;

	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	if (!under || under->kind != V_MAP || over->kind != V_MAP)
		return unconst(over);
	out = value_map(a);
	out->pos = over->pos;
	out->secret = under->secret || over->secret;
	out->unsafe = under->unsafe || over->unsafe;
	for (size_t i = 0; i < under->map.n; i++)
		put_entry(out, &under->map.e[i], under->map.e[i].val);
	for (size_t i = 0; i < over->map.n; i++) {
		const struct map_entry *e = &over->map.e[i];
		put_entry(out, e,
			  deep ? merge(a, map_get(&under->map, e->key), e->val, deep, depth + 1)
			       : e->val);
	}
	return out;
}

struct value *value_merge(struct arena *a, const struct value *under, const struct value *over,
			  bool deep)
{
	return over ? merge(a, under, over, deep, 0) : unconst(under);
}

static bool is_number(const struct value *v)
{
	return v->kind == V_INT || v->kind == V_FLOAT;
}

/* Exact: a double that stands for another integer than i is not equal to it. */
static bool int_equals_double(int64_t i, double f)
{
	return f >= -9223372036854775808.0 && f < 9223372036854775808.0 &&
	       (double)(int64_t)f == f && (int64_t)f == i;
}

static bool numbers_equal(const struct value *a, const struct value *b)
{
	if (a->kind == V_INT && b->kind == V_INT)
		return a->i == b->i;
	if (a->kind == V_FLOAT && b->kind == V_FLOAT)
		return !(a->f < b->f) && !(a->f > b->f) && a->f == a->f && b->f == b->f;
	return a->kind == V_INT ? int_equals_double(a->i, b->f) : int_equals_double(b->i, a->f);
}

static bool equal(const struct value *a, const struct value *b, int depth)
{
	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	if (is_number(a) && is_number(b))
		return numbers_equal(a, b);
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case V_NULL: return true;
	case V_BOOL: return a->b == b->b;
	case V_STR: return str_eq(a->s, b->s);
	case V_LIST:
		if (a->list.n != b->list.n)
			return false;
		for (size_t i = 0; i < a->list.n; i++)
			if (!equal(a->list.v[i], b->list.v[i], depth + 1))
				return false;
		return true;
	case V_MAP:
		if (a->map.n != b->map.n)
			return false;
		for (size_t i = 0; i < a->map.n; i++) {
			const struct value *other = map_get(&b->map, a->map.e[i].key);
			if (!other || !equal(a->map.e[i].val, other, depth + 1))
				return false;
		}
		return true;
	default: return false;
	}
}

bool value_equal(const struct value *a, const struct value *b)
{
	return equal(a, b, 0);
}

bool value_is_truthy(const struct value *v)
{
	switch (v->kind) {
	case V_BOOL: return v->b;
	case V_INT: return v->i != 0;
	case V_FLOAT: return v->f < 0 || v->f > 0 || v->f != v->f; /* NaN is true in Python */
	case V_STR: return v->s.n > 0;
	case V_LIST: return v->list.n > 0;
	case V_MAP: return v->map.n > 0;
	case V_OBJECT: return true;
	default: return false;
	}
}

static bool is_unknown(const struct value *v)
{
	return v->kind == V_UNKNOWN;
}

static bool is_secret(const struct value *v)
{
	return v->secret;
}

static bool any(const struct value *v, bool (*is)(const struct value *), int depth)
{
	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	if (is(v))
		return true;
	if (v->kind == V_LIST)
		for (size_t i = 0; i < v->list.n; i++)
			if (any(v->list.v[i], is, depth + 1))
				return true;
	if (v->kind == V_MAP)
		for (size_t i = 0; i < v->map.n; i++)
			if (any(v->map.e[i].val, is, depth + 1))
				return true;
	return false;
}

bool value_has_unknown(const struct value *v)
{
	return any(v, is_unknown, 0);
}

bool value_has_secret(const struct value *v)
{
	return any(v, is_secret, 0);
}

static void mark_unsafe(struct value *v, int depth)
{
	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	v->unsafe = v->unsafe || v->kind == V_STR || v->kind == V_MAP;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		mark_unsafe(v->list.v[i], depth + 1);
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		mark_unsafe(v->map.e[i].val, depth + 1);
}

void value_mark_unsafe(struct value *v)
{
	mark_unsafe(v, 0);
}

const char *value_kind_name(enum value_kind k)
{
	static const char *const names[] = {
		[V_NULL] = "null",	[V_BOOL] = "a boolean",	 [V_INT] = "an integer",
		[V_FLOAT] = "a number", [V_STR] = "a string",	 [V_LIST] = "a list",
		[V_MAP] = "a map",	[V_UNKNOWN] = "unknown",
	};

	return (size_t)k < ARRAY_LEN(names) ? names[k] : "a broken value";
}

/* ---- text as Python shows it ---- */

static uint32_t decode_utf8(const char *p, size_t len)
{
	uint32_t c = (unsigned char)p[0] & (len == 1 ? 0x7fu : 0x7fu >> len);

	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)p[i] & 0x3f);
	return c;
}

/* Roughly Python's str.isprintable: controls, format characters, separators other than the blank,
 * and private use are not. */
static bool is_printable(uint32_t c)
{
	static const uint32_t not [][2] = {
		{ 0x00, 0x1f },	    { 0x7f, 0xa0 },	{ 0xad, 0xad },	       { 0x600, 0x605 },
		{ 0x61c, 0x61c },   { 0x1680, 0x1680 }, { 0x180e, 0x180e },    { 0x2000, 0x200f },
		{ 0x2028, 0x202f }, { 0x205f, 0x206f }, { 0x3000, 0x3000 },    { 0xe000, 0xf8ff },
		{ 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0x10ffff },
	};

	for (size_t i = 0; i < ARRAY_LEN(not ); i++)
		if (c >= not [i][0] && c <= not [i][1])
			return (c & 0xffff0000u) == 0xe0000u && c >= 0xe0100 && c <= 0xe01ef;
	return true;
}

static void repr_char(struct buf *b, const char *p, size_t len, char quote)
{
	uint32_t c = decode_utf8(p, len);

	if (c == '\\' || c == (unsigned char)quote)
		buf_addf(b, "\\%c", (char)c);
	else if (c == '\n')
		buf_adds(b, "\\n");
	else if (c == '\r')
		buf_adds(b, "\\r");
	else if (c == '\t')
		buf_adds(b, "\\t");
	else if (is_printable(c))
		buf_add(b, p, len);
	else if (c < 0x100)
		buf_addf(b, "\\x%02" PRIx32, c);
	else if (c < 0x10000)
		buf_addf(b, "\\u%04" PRIx32, c);
	else
		buf_addf(b, "\\U%08" PRIx32, c);
}

static void repr_str(struct buf *b, struct str s)
{
	char quote = '\'';

	if (str_find_char(s, '\'') != SIZE_MAX && str_find_char(s, '"') == SIZE_MAX)
		quote = '"';
	buf_addc(b, quote);
	while (s.n) {
		size_t len = str_utf8_len(s);
		if (len)
			repr_char(b, s.p, len, quote);
		else
			/* Python's surrogateescape */
			buf_addf(b, "\\udc%02x", (unsigned char)s.p[0]);
		s = str_sub(s, len ? len : 1, SIZE_MAX);
	}
	buf_addc(b, quote);
}

struct printing {
	struct buf *b;
	bool reveal;
};

static void print_value(const struct printing *p, const struct value *v, int depth);

static void print_list(const struct printing *p, const struct value *v, int depth)
{
	buf_addc(p->b, v->tuple ? '(' : '[');
	for (size_t i = 0; i < v->list.n; i++) {
		if (i)
			buf_adds(p->b, ", ");
		print_value(p, v->list.v[i], depth + 1);
	}
	if (v->tuple && v->list.n == 1)
		buf_addc(p->b, ',');
	buf_addc(p->b, v->tuple ? ')' : ']');
}

static void print_map(const struct printing *p, const struct value *v, int depth)
{
	buf_addc(p->b, '{');
	for (size_t i = 0; i < v->map.n; i++) {
		if (i)
			buf_adds(p->b, ", ");
		if (value_key_is_text(v->map.e[i].key))
			repr_str(p->b, v->map.e[i].key);
		else
			buf_addstr(p->b, value_key_text(v->map.e[i].key));
		buf_adds(p->b, ": ");
		print_value(p, v->map.e[i].val, depth + 1);
	}
	buf_addc(p->b, '}');
}

static void print_value(const struct printing *p, const struct value *v, int depth)
{
	char number[STR_DOUBLE_LEN];

	if (depth > DEPTH_MAX)
		bug("a value nested too deeply");
	if (v->secret && !p->reveal) {
		buf_adds(p->b, "(sensitive)");
		return;
	}
	switch (v->kind) {
	case V_NULL: buf_adds(p->b, "None"); break;
	case V_BOOL: buf_adds(p->b, v->b ? "True" : "False"); break;
	case V_INT: buf_addi(p->b, v->i); break;
	case V_FLOAT:
		str_format_double(v->f, number);
		buf_adds(p->b, number);
		break;
	case V_STR:
		if (depth)
			repr_str(p->b, v->s);
		else
			buf_addstr(p->b, v->s);
		break;
	case V_LIST: print_list(p, v, depth); break;
	case V_MAP: print_map(p, v, depth); break;
	case V_UNKNOWN: buf_adds(p->b, "(known after apply)"); break;
	case V_OBJECT: buf_adds(p->b, v->object->text); break;
	}
}

void value_print(struct buf *b, const struct value *v)
{
	print_value(&(struct printing){ b, false }, v, 0);
}

void value_reveal(struct buf *b, const struct value *v)
{
	print_value(&(struct printing){ b, true }, v, 0);
}
