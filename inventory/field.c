/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding walks the map, not the rows: every key that somebody wrote is either used or reported. A
 * fault never stops the walk, so that one run tells them all; a struct whose decoding failed has
 * zeros where the faults were and must not be used.
 */
#include "inventory/field.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <sys/socket.h>
#include <arpa/inet.h>

#include "base/base.h"

#define MAX_ROWS 48

struct decoder {
	struct arena *a;
	struct err_list *errs;
	bool failed;
	struct map meant; /* names of rows that an unknown key was taken for, with the object's
			     path: not missing as well */
};

/* One member under way. */
struct member {
	const struct field *row;
	const struct value *v;
	const char *path; /* of the member */
	void *to;
};

static void decode_obj(struct decoder *d, const struct field *rows, const struct value *v,
		       const char *path, void *obj);

static size_t row_count(const struct field *rows)
{
	size_t n = 0;

	while (rows[n].name)
		n++;
	if (n > MAX_ROWS)
		bug("a table of %zu fields: at most %d", n, MAX_ROWS);
	return n;
}

static const char *join_path(struct arena *a, const char *path, const char *name)
{
	return path && *path ? arena_printf(a, "%s.%s", path, name) : name;
}

static void fault(struct decoder *d, const struct member *m, const char *hint, const char *fmt, ...)
	printf_fmt(4, 5);
static void fault(struct decoder *d, const struct member *m, const char *hint, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };
	va_list ap;

	buf_init(&b, 4096);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	d->failed = true;
	err_list_addf(d->errs, m->v ? m->v->pos : (struct pos){ 0 }, hint, "%s: %s", m->path, b.p);
}

/* Adds e under the member's path, at the member's place unless e knows better. */
static void fault_err(struct decoder *d, const struct member *m, struct err *e)
{
	err_wrap(e, "%s", m->path);
	e->kind = ERR_SPEC;
	err_at(e, m->v->pos);
	d->failed = true;
	err_list_add(d->errs, e);
}

static const char *wanted(const struct field *row, struct arena *a)
{
	switch (row->type) {
	case F_STR: return "text";
	case F_INT: return "a whole number";
	case F_BOOL: return "true or false";
	case F_FLOAT: return "a number";
	case F_ENUM: return arena_printf(a, "one of %s", row->accepts);
	case F_BYTES: return "a size such as 100 GiB";
	case F_DURATION: return "a duration such as 30m";
	case F_COUNT: return "a number such as 3 or a percentage such as 10%";
	case F_RATE: return "a rate such as 20/s";
	case F_CIDR: return "a network such as 10.20.0.0/16";
	case F_PATH: return "a path";
	case F_STRS: return "text or a list of texts";
	case F_VALUE: return "a value";
	case F_OBJ: return "a map";
	case F_MAP_OF: return "a map of names";
	case F_LIST_OF: return "a list";
	}
	return "a value";
}

static void wrong_type(struct decoder *d, const struct member *m)
{
	const char *hint = NULL;
	bool scalar = m->v->kind == V_INT || m->v->kind == V_FLOAT || m->v->kind == V_BOOL;
	int64_t i;

	if (m->v->kind == V_UNKNOWN) {
		fault(d, m, "use only what is known before apply",
		      "its value is known only after apply");
		return;
	}
	if ((m->row->type == F_STR || m->row->type == F_PATH || m->row->type == F_STRS) && scalar)
		hint = "put the value in quotes";
	else if (m->row->type == F_INT && m->v->kind == V_STR && str_to_int(m->v->s, &i))
		hint = "remove the quotes";
	else if (m->row->type == F_BOOL)
		hint = "write true or false";
	fault(d, m, hint, "must be %s, not %s", wanted(m->row, d->a), value_kind_name(m->v->kind));
}

/* ---- scalars -------------------------------------------------------------------------------- */

/* The word at index i of "a|b|c"; false past the end. */
static bool enum_word(const char *accepts, int64_t i, struct str *word)
{
	struct str rest = str_of(accepts);

	for (int64_t at = 0; str_next(&rest, '|', word); at++)
		if (at == i)
			return true;
	return false;
}

static const char *suggest_enum(struct arena *a, const char *accepts, struct str got)
{
	const char *words[64];
	struct str w;
	size_t n = 0;

	while (n < ARRAY_LEN(words) && enum_word(accepts, (int64_t)n, &w))
		words[n++] = str_cstr(a, w);
	const char *best = str_suggest(got, words, n);
	return best ? arena_printf(a, "did you mean \"%s\"?", best) : NULL;
}

static void decode_enum(struct decoder *d, const struct member *m)
{
	struct str got, w;

	/* "yes" and "no" may be written bare: YAML makes booleans of true and false only. */
	if (m->v->kind == V_BOOL)
		got = m->v->b ? STR("yes") : STR("no");
	else if (m->v->kind == V_STR)
		got = m->v->s;
	else {
		wrong_type(d, m);
		return;
	}
	for (int64_t i = 0; enum_word(m->row->accepts, i, &w); i++) {
		if (str_eq(w, got)) {
			*(int64_t *)m->to = i;
			return;
		}
	}
	fault(d, m, suggest_enum(d->a, m->row->accepts, got), "\"" STR_FMT "\" is not one of %s",
	      STR_ARG(got), m->row->accepts);
}

static void decode_int(struct decoder *d, const struct member *m)
{
	int64_t from, to;
	struct str low, high = str_of(m->row->accepts);

	if (m->v->kind != V_INT) {
		wrong_type(d, m);
		return;
	}
	if (!m->row->accepts) {
		*(int64_t *)m->to = m->v->i;
		return;
	}
	size_t dots = str_find(high, STR(".."));
	if (dots == SIZE_MAX)
		bug("field %s accepts \"%s\": want LOW..HIGH", m->row->name, m->row->accepts);
	low = str_sub(high, 0, dots);
	high = str_sub(high, dots + 2, SIZE_MAX);
	if (str_to_int(low, &from) && m->v->i < from) {
		if (from == 0)
			fault(d, m, NULL, "must not be below zero");
		else
			fault(d, m, NULL, "must be at least " STR_FMT, STR_ARG(low));
	} else if (str_to_int(high, &to) && m->v->i > to) {
		fault(d, m, NULL, "must be at most " STR_FMT, STR_ARG(high));
	} else {
		/* a number out of bounds stays outside: later checks loop over it */
		*(int64_t *)m->to = m->v->i;
	}
}

/* Whether all of s matches "/regex/". Patterns are ours, so one that does not compile is a bug. */
static bool pattern_matches(const char *accepts, struct str s)
{
	struct str body = str_sub(str_of(accepts), 1, strlen(accepts) - 1);
	int code;
	PCRE2_SIZE at;
	pcre2_code *re = pcre2_compile((PCRE2_SPTR)body.p, body.n,
				       PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY,
				       &code, &at, NULL);
	if (!re)
		bug("field pattern %s does not compile", accepts);
	pcre2_match_data *md = pcre2_match_data_create(1, NULL);
	int rc = pcre2_match(re, (PCRE2_SPTR)(s.p ? s.p : ""), s.n, 0, 0, md, NULL);
	pcre2_match_data_free(md);
	pcre2_code_free(re);
	return rc >= 0;
}

static void decode_str(struct decoder *d, const struct member *m)
{
	if (m->v->kind != V_STR) {
		wrong_type(d, m);
		return;
	}
	if (memchr(m->v->s.p, 0, m->v->s.n)) {
		fault(d, m, NULL, "must not contain a zero byte");
		return;
	}
	if (m->row->accepts && m->row->accepts[0] == '/' &&
	    !pattern_matches(m->row->accepts, m->v->s)) {
		fault(d, m, NULL, "\"" STR_FMT "\" is not allowed here: %s", STR_ARG(m->v->s),
		      m->row->doc);
		return;
	}
	*(struct str *)m->to = m->v->s;
}

/* A word in `accepts` (ssh.config: none) stands for itself. */
static void decode_path(struct decoder *d, const struct member *m)
{
	decode_str(d, m);
	struct str *s = m->to;
	if (!s->n || (m->row->accepts && str_eqc(*s, m->row->accepts)))
		return;
	char *p = fs_expand_home(d->a, s->p);
	if (m->v->pos.file)
		p = fs_join(d->a, fs_dirname(d->a, m->v->pos.file), p);
	*s = str_of(p);
}

static void decode_cidr(struct decoder *d, const struct member *m)
{
	unsigned char addr[16];
	char text[64];
	int64_t bits = -1;

	decode_str(d, m);
	struct str s = *(struct str *)m->to;
	if (!s.p)
		return;
	size_t slash = str_find_char(s, '/');
	struct str host = str_sub(s, 0, slash == SIZE_MAX ? s.n : slash);
	bool v6 = str_find_char(host, ':') != SIZE_MAX;
	int max = v6 ? 128 : 32;

	if (slash == SIZE_MAX) {
		fault(d, m, "write the network's size too, such as 10.20.0.0/16",
		      "\"" STR_FMT "\" has no prefix length", STR_ARG(s));
		return;
	}
	snprintf(text, sizeof text, STR_FMT, STR_ARG(host));
	if (host.n >= sizeof text || inet_pton(v6 ? AF_INET6 : AF_INET, text, addr) != 1) {
		fault(d, m, NULL, "\"" STR_FMT "\" is not an IP address", STR_ARG(host));
		return;
	}
	struct str tail = str_sub(s, slash + 1, SIZE_MAX);
	if (!tail.n || tail.p[0] == '+' || !str_to_int(tail, &bits) || bits < 0 || bits > max) {
		fault(d, m, NULL, "the prefix length must be 0 to %d, not \"" STR_FMT "\"", max,
		      STR_ARG(tail));
		return;
	}
	for (int i = (int)bits; i < max; i++)
		if (addr[i / 8] & (0x80 >> (i % 8)))
			bits = -1;
	if (bits < 0)
		fault(d, m, "clear the bits after the prefix, or make the prefix longer",
		      "\"" STR_FMT "\" names a host, not a network", STR_ARG(s));
}

static void decode_quantity(struct decoder *d, const struct member *m)
{
	struct err e = { 0 };
	int rc;
	struct str s;

	if (m->v->kind == V_STR)
		s = m->v->s;
	else if (m->v->kind == V_INT || m->v->kind == V_FLOAT)
		s = str_of(m->v->kind == V_INT ? arena_printf(d->a, "%lld", (long long)m->v->i)
					       : arena_printf(d->a, "%g", m->v->f));
	else {
		wrong_type(d, m);
		return;
	}
	if (m->row->type == F_BYTES)
		rc = quantity_bytes(s, m->to, &e);
	else if (m->row->type == F_DURATION)
		rc = quantity_duration(s, m->to, &e);
	else if (m->row->type == F_RATE)
		rc = quantity_rate(s, m->to, &e);
	else
		rc = quantity_count(s, m->to, &e);
	if (rc < 0)
		fault_err(d, m, &e);
}

static void decode_strs(struct decoder *d, const struct member *m)
{
	struct str_list *l = m->to;

	l->pos = m->v->pos;
	if (m->v->kind != V_LIST && m->v->kind != V_STR) {
		wrong_type(d, m);
		return;
	}
	size_t n = m->v->kind == V_STR ? 1 : m->v->list.n;
	for (size_t i = 0; i < n; i++) {
		struct str s = STR_NONE;
		struct field item_row = *m->row;
		item_row.type = m->row->accepts && !strcmp(m->row->accepts, "path") ? F_PATH
										    : F_STR;
		if (item_row.type == F_PATH)
			item_row.accepts = NULL;
		struct member item = { &item_row, m->v, m->path, &s };
		if (m->v->kind == V_LIST) {
			item.v = m->v->list.v[i];
			item.path = arena_printf(d->a, "%s[%zu]", m->path, i);
		}
		if (item_row.type == F_PATH)
			decode_path(d, &item);
		else
			decode_str(d, &item);
		VEC_ADD(d->a, &l->items) = s;
	}
}

/* ---- objects -------------------------------------------------------------------------------- */

static const struct field *short_row(const struct field *rows)
{
	for (; rows->name; rows++)
		if (rows->flags & FIELD_SHORT)
			return rows;
	return NULL;
}

/* The object itself, or {short member: v} for a bare scalar; NULL: reported. */
static const struct value *object_of(struct decoder *d, const struct field *rows,
				     const struct member *m)
{
	const struct field *brief = short_row(rows);

	if (m->v->kind == V_MAP)
		return m->v;
	if (brief && m->v->kind == V_STR) {
		struct value *map = value_map(d->a);
		map->pos = m->v->pos;
		value_set(map, brief->name, m->v);
		return map;
	}
	fault(d, m, NULL, "must be a map, not %s", value_kind_name(m->v->kind));
	return NULL;
}

static void name_object(const struct field *rows, void *obj, struct str name)
{
	for (; rows->name; rows++)
		if (rows->flags & FIELD_NAME)
			*(struct str *)(void *)((char *)obj + rows->offset) = name;
}

static void decode_map_of(struct decoder *d, const struct member *m)
{
	struct obj_list *l = m->to;

	if (m->v->kind != V_MAP) {
		wrong_type(d, m);
		return;
	}
	l->n = m->v->map.n;
	l->v = arena_calloc(d->a, l->n ? l->n : 1, m->row->sub_size);
	for (size_t i = 0; i < l->n; i++) {
		const struct map_entry *en = &m->v->map.e[i];
		struct obj *o = (void *)((char *)l->v + i * m->row->sub_size);
		struct member sub = { m->row, en->val,
				      arena_printf(d->a, "%s.%s", m->path, en->key.p), o };
		/* `name:` with nothing after it is an object of defaults. */
		const struct value *v = sub.v->kind == V_NULL ? value_map(d->a)
							      : object_of(d, m->row->sub, &sub);

		if (!v)
			continue;
		struct pos key = yaml_key_pos(m->v, en->key.p);
		if (v->pos.line == 0)
			((struct value *)v)->pos = sub.v->pos;
		decode_obj(d, m->row->sub, v, sub.path, o);
		o->pos = key.line ? key : v->pos;
		name_object(m->row->sub, o, en->key);
	}
}

static void decode_list_of(struct decoder *d, const struct member *m)
{
	struct obj_list *l = m->to;

	if (m->v->kind != V_LIST) {
		wrong_type(d, m);
		return;
	}
	l->n = m->v->list.n;
	l->v = arena_calloc(d->a, l->n ? l->n : 1, m->row->sub_size);
	for (size_t i = 0; i < l->n; i++) {
		struct obj *o = (void *)((char *)l->v + i * m->row->sub_size);
		struct member sub = { m->row, m->v->list.v[i],
				      arena_printf(d->a, "%s[%zu]", m->path, i), o };
		const struct value *v = object_of(d, m->row->sub, &sub);
		if (v)
			decode_obj(d, m->row->sub, v, sub.path, o);
	}
}

static void decode_member(struct decoder *d, const struct member *m)
{
	if (m->v->kind == V_UNKNOWN && m->v->pos.line < 0) {
		d->failed = true; /* field_faulty */
		return;
	}
	if (m->v->secret && m->row->type != F_VALUE && !(m->row->flags & FIELD_SECRET)) {
		fault(d, m, "pass it to roles through vars", "a secret may not be used here");
		return;
	}
	switch (m->row->type) {
	case F_STR: decode_str(d, m); break;
	case F_INT: decode_int(d, m); break;
	case F_BOOL:
		if (m->v->kind == V_BOOL)
			*(bool *)m->to = m->v->b;
		else
			wrong_type(d, m);
		break;
	case F_FLOAT:
		if (m->v->kind == V_FLOAT || m->v->kind == V_INT)
			*(double *)m->to = m->v->kind == V_INT ? (double)m->v->i : m->v->f;
		else
			wrong_type(d, m);
		break;
	case F_ENUM: decode_enum(d, m); break;
	case F_BYTES:
	case F_DURATION:
	case F_COUNT:
	case F_RATE: decode_quantity(d, m); break;
	case F_CIDR: decode_cidr(d, m); break;
	case F_PATH: decode_path(d, m); break;
	case F_STRS: decode_strs(d, m); break;
	case F_VALUE:
		if (m->row->accepts && !strcmp(m->row->accepts, "map") && m->v->kind != V_MAP)
			fault(d, m, NULL, "must be a map, not %s", value_kind_name(m->v->kind));
		else
			*(const struct value **)m->to = m->v;
		break;
	case F_OBJ: {
		const struct value *v = object_of(d, m->row->sub, m);
		if (v)
			decode_obj(d, m->row->sub, v, m->path, m->to);
		break;
	}
	case F_MAP_OF: decode_map_of(d, m); break;
	case F_LIST_OF: decode_list_of(d, m); break;
	}
}

/* A fallback is text as the user would write it. */
static const struct value *fallback_value(struct arena *a, const struct field *row)
{
	int64_t i;
	double f;
	struct str s = str_of(row->fallback);

	if (row->type == F_INT && str_to_int(s, &i))
		return value_int(a, i);
	if (row->type == F_FLOAT && str_to_double(s, &f))
		return value_float(a, f);
	if (row->type == F_BOOL)
		return value_bool(a, str_eqc(s, "true"));
	return value_str(a, s);
}

static void decode_default(struct decoder *d, const struct field *row, const char *path, void *to)
{
	if (row->type == F_OBJ) {
		/* Nothing was written, so nothing inside is missing: only its defaults count. */
		decode_obj(d, row->sub, NULL, path, to);
	} else if (row->fallback) {
		struct member m = { row, fallback_value(d->a, row), path, to };
		decode_member(d, &m);
	}
}

static const struct field *rest_row(const struct field *rows)
{
	for (; rows->name; rows++)
		if (rows->flags & FIELD_REST)
			return rows;
	return NULL;
}

static bool is_key_of(const struct field *row, struct str key)
{
	return !(row->flags & (FIELD_NAME | FIELD_REST)) && str_eqc(key, row->name);
}

static void unknown_key(struct decoder *d, const struct field *rows, const struct value *v,
			const char *path, struct str key)
{
	const char *names[MAX_ROWS];
	size_t n = 0;
	struct pos at = yaml_key_pos(v, key.p);

	for (const struct field *r = rows; r->name; r++)
		if (!(r->flags & (FIELD_NAME | FIELD_COMPUTED | FIELD_REST | FIELD_SOON)))
			names[n++] = r->name;
	const char *best = str_suggest(key, names, n);
	const char *hint = best ? arena_printf(d->a, "did you mean \"%s\"?", best) : NULL;
	if (best)
		map_put(&d->meant, str_of(join_path(d->a, path, best)), d);
	if (!hint && n && n <= 24) {
		scoped(buf_fini) struct buf b = { 0 };
		buf_init(&b, 360);
		buf_adds(&b, "known keys: ");
		for (size_t i = 0; i < n; i++)
			buf_addf(&b, "%s%s", i ? ", " : "", names[i]);
		hint = b.overflow ? NULL : buf_dup(&b, d->a);
	}
	d->failed = true;
	err_list_addf(d->errs, at.line ? at : v->pos, hint, "%s%sunknown key \"" STR_FMT "\"",
		      path ? path : "", path && *path ? ": " : "", STR_ARG(key));
}

/* Every key that was written: known, collected by a FIELD_REST row, or a fault. */
static void decode_keys(struct decoder *d, const struct field *rows, const struct value *v,
			const char *path, void *obj)
{
	const struct field *rest = rest_row(rows);
	struct value *others = NULL;

	if (rest) {
		others = value_map(d->a);
		others->pos = v->pos;
		*(const struct value **)(void *)((char *)obj + rest->offset) = others;
	}
	for (size_t i = 0; i < v->map.n; i++) {
		const struct map_entry *en = &v->map.e[i];
		const struct field *row = rows;
		while (row->name && !is_key_of(row, en->key))
			row++;
		struct pos at = yaml_key_pos(v, en->key.p);
		if (row->name && (row->flags & FIELD_SOON)) {
			d->failed = true;
			err_list_addf(d->errs, at.line ? at : v->pos, "remove the key",
				      "\"%s\" is not supported by this version yet",
				      join_path(d->a, path, row->name));
		} else if (!row->name && others) {
			value_sets(others, en->key, en->val);
		} else if (!row->name) {
			unknown_key(d, rows, v, path, en->key);
		}
	}
}

/* v NULL: only defaults. */
static void decode_obj(struct decoder *d, const struct field *rows, const struct value *v,
		       const char *path, void *obj)
{
	struct obj *o = obj;
	size_t n = row_count(rows);

	o->source = v;
	if (v) {
		struct pos first = v->map.n ? yaml_key_pos(v, v->map.e[0].key.p)
					    : (struct pos){ 0 };
		o->pos = first.line ? first : v->pos;
	}
	if (v)
		decode_keys(d, rows, v, path, obj);
	for (size_t k = 0; k < n; k++) {
		const struct field *row = &rows[k];
		void *to = (char *)obj + row->offset;
		if (row->flags & (FIELD_NAME | FIELD_REST | FIELD_SOON))
			continue;
		const struct value *mv = v ? value_get(v, row->name) : NULL;
		struct member m = { row, mv, join_path(d->a, path, row->name), to };

		if (mv && mv->kind != V_NULL && (row->flags & FIELD_COMPUTED)) {
			fault(d, &m, "remove the key", "is computed, it cannot be set");
		} else if (mv && mv->kind != V_NULL) {
			o->field_pos[k] = mv->pos.line ? mv->pos : o->pos;
			decode_member(d, &m);
		} else if (mv && (row->flags & FIELD_REQUIRED)) {
			fault(d, &m, NULL, "needs a value: %s", wanted(row, d->a));
		} else if (v && (row->flags & FIELD_REQUIRED)) {
			d->failed = true;
			if (map_getc(&d->meant, m.path))
				continue;
			err_list_addf(
				d->errs, o->pos,
				arena_printf(d->a, "add \"%s: ...\": %s", row->name, row->doc),
				"%s%s\"%s\" is missing", path ? path : "",
				path && *path ? ": " : "", row->name);
		} else {
			decode_default(d, row, m.path, to);
		}
	}
}

struct value *field_faulty(struct arena *a)
{
	struct value *v = value_unknown(a);

	v->pos.line = -1;
	return v;
}

int field_decode(struct arena *a, const struct field *rows, const struct value *v, const char *path,
		 void *obj, struct err_list *errs)
{
	struct decoder d = { .a = a, .errs = errs };

	map_init(&d.meant, a);
	if (v && v->kind == V_NULL)
		v = value_map(a);
	if (v && v->kind != V_MAP) {
		err_list_addf(errs, v->pos, NULL, "%s%smust be a map, not %s", path ? path : "",
			      path && *path ? ": " : "", value_kind_name(v->kind));
		return -1;
	}
	decode_obj(&d, rows, v, path, obj);
	return d.failed ? -1 : 0;
}

static size_t row_index(const struct field *rows, const char *name)
{
	for (size_t i = 0; rows[i].name; i++)
		if (!strcmp(rows[i].name, name))
			return i;
	bug("no field \"%s\"", name);
}

bool field_was_set(const struct field *rows, const void *obj, const char *name)
{
	const struct obj *o = obj;
	const struct value *v = o->source ? value_get(o->source, rows[row_index(rows, name)].name)
					  : NULL;

	return v && v->kind != V_NULL;
}

struct pos field_pos(const struct field *rows, const void *obj, const char *name)
{
	const struct obj *o = obj;
	struct pos p = o->field_pos[row_index(rows, name)];

	return p.line ? p : o->pos;
}
