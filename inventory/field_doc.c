/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows as documentation: JSON Schema for editors, scdoc for the manual page. Both walk the same
 * tables that decode, so they cannot say something else than the program does.
 */
#include "inventory/field.h"

#include <ctype.h>

static struct value *obj_schema(struct arena *a, const struct field *rows);

static void set_text(struct value *map, struct arena *a, const char *key, const char *text)
{
	value_set(map, key, value_cstr(a, text));
}

static struct value *typed(struct arena *a, const char *type)
{
	struct value *s = value_map(a);

	set_text(s, a, "type", type);
	return s;
}

/* {"anyOf": [x, an expression]}: any scalar may be written as `{{ ... }}`. */
static struct value *or_expression(struct arena *a, struct value *x)
{
	struct value *text = typed(a, "string"), *any = value_list(a), *s = value_map(a);

	set_text(text, a, "pattern", "\\{\\{");
	value_add(a, any, x);
	value_add(a, any, text);
	value_set(s, "anyOf", any);
	return s;
}

static struct value *int_schema(struct arena *a, const struct field *row)
{
	struct value *s = typed(a, "integer");
	struct str high = str_of(row->accepts);
	size_t dots = str_find(high, STR(".."));
	int64_t i;

	if (row->accepts && dots != SIZE_MAX) {
		if (str_to_int(str_sub(high, 0, dots), &i))
			value_set(s, "minimum", value_int(a, i));
		if (str_to_int(str_sub(high, dots + 2, SIZE_MAX), &i))
			value_set(s, "maximum", value_int(a, i));
	}
	return or_expression(a, s);
}

static struct value *enum_schema(struct arena *a, const struct field *row)
{
	struct value *s = value_map(a), *words = value_list(a);
	struct str rest = str_of(row->accepts), w;

	while (str_next(&rest, '|', &w)) {
		value_add(a, words, value_str(a, w));
		if (str_eqc(w, "yes") || str_eqc(w, "no"))
			value_add(a, words, value_bool(a, str_eqc(w, "yes")));
	}
	value_set(s, "enum", words);
	return or_expression(a, s);
}

static struct value *str_schema(struct arena *a, const struct field *row)
{
	struct value *s = typed(a, "string");

	if (row->accepts && row->accepts[0] == '/') {
		struct str body = str_sub(str_of(row->accepts), 1, strlen(row->accepts) - 1);
		value_set(s, "pattern", value_strf(a, "^(" STR_FMT ")$", STR_ARG(body)));
		return or_expression(a, s);
	}
	return s;
}

static struct value *strs_schema(struct arena *a)
{
	struct value *s = value_map(a), *any = value_list(a), *list = typed(a, "array");

	value_set(list, "items", typed(a, "string"));
	value_add(a, any, typed(a, "string"));
	value_add(a, any, list);
	value_set(s, "anyOf", any);
	return s;
}

/* An object, or the bare text that stands for its FIELD_SHORT member. */
static struct value *item_schema(struct arena *a, const struct field *rows)
{
	for (const struct field *r = rows; r->name; r++) {
		if (!(r->flags & FIELD_SHORT))
			continue;
		struct value *s = value_map(a), *any = value_list(a);
		value_add(a, any, typed(a, "string"));
		value_add(a, any, obj_schema(a, rows));
		value_set(s, "anyOf", any);
		return s;
	}
	return obj_schema(a, rows);
}

static struct value *row_schema(struct arena *a, const struct field *row)
{
	struct value *s;

	switch (row->type) {
	case F_STR:
	case F_CIDR:
	case F_PATH: return str_schema(a, row);
	case F_INT: return int_schema(a, row);
	case F_BOOL: return or_expression(a, typed(a, "boolean"));
	case F_FLOAT: return or_expression(a, typed(a, "number"));
	case F_ENUM: return enum_schema(a, row);
	case F_BYTES:
	case F_RATE:
	case F_DURATION: return typed(a, "string");
	case F_COUNT:
		s = value_map(a);
		struct value *types = value_list(a);
		value_add(a, types, value_cstr(a, "integer"));
		value_add(a, types, value_cstr(a, "string"));
		value_set(s, "type", types);
		return s;
	case F_STRS: return strs_schema(a);
	case F_VALUE: return value_map(a);
	case F_OBJ: return item_schema(a, row->sub);
	case F_MAP_OF:
		s = typed(a, "object");
		value_set(s, "additionalProperties", item_schema(a, row->sub));
		return s;
	case F_LIST_OF:
		s = typed(a, "array");
		value_set(s, "items", item_schema(a, row->sub));
		return s;
	}
	return value_map(a);
}

static struct value *obj_schema(struct arena *a, const struct field *rows)
{
	struct value *s = typed(a, "object"), *properties = value_map(a), *required = value_list(a);
	bool open = false;

	for (const struct field *r = rows; r->name; r++) {
		if (r->flags & (FIELD_NAME | FIELD_SOON))
			continue;
		if (r->flags & FIELD_REST) {
			open = true;
			continue;
		}
		struct value *p = row_schema(a, r);
		if (r->doc)
			set_text(p, a, "description", r->doc);
		if (r->fallback)
			set_text(p, a, "default", r->fallback);
		if (r->flags & FIELD_COMPUTED)
			value_set(p, "readOnly", value_bool(a, true));
		value_set(properties, r->name, p);
		if (r->flags & FIELD_REQUIRED)
			value_add(a, required, value_cstr(a, r->name));
	}
	value_set(s, "properties", properties);
	if (required->list.n)
		value_set(s, "required", required);
	value_set(s, "additionalProperties", value_bool(a, open));
	return s;
}

void field_schema(struct buf *b, const struct field *rows, const char *title)
{
	struct arena *a scoped(arena_freep) = arena_new("schema");
	struct value *s = value_map(a);

	set_text(s, a, "$schema", "https://json-schema.org/draft/2020-12/schema");
	if (title)
		set_text(s, a, "title", title);
	json_write(b, value_merge(a, s, obj_schema(a, rows), false), JSON_PRETTY);
}

/* ---- manual --------------------------------------------------------------------------------- */

static void add_escaped(struct buf *b, const char *s)
{
	for (; s && *s; s++) {
		if (strchr("_*\\#", *s))
			buf_addc(b, '\\');
		buf_addc(b, *s);
	}
}

static const char *type_words(const struct field *row)
{
	switch (row->type) {
	case F_STR: return "text";
	case F_INT: return "whole number";
	case F_BOOL: return "true or false";
	case F_FLOAT: return "number";
	case F_ENUM: return "one of";
	case F_BYTES: return "size, such as 100 GiB";
	case F_DURATION: return "duration, such as 1h30m";
	case F_COUNT: return "number or percentage";
	case F_RATE: return "rate, such as 20/s";
	case F_CIDR: return "network, such as 10.20.0.0/16";
	case F_PATH: return "path";
	case F_STRS: return "text or list of texts";
	case F_VALUE: return "any value";
	case F_OBJ: return "map";
	case F_MAP_OF: return "map of names";
	case F_LIST_OF: return "list";
	}
	return "value";
}

static void manual_row(struct buf *b, const struct field *row, const char *path)
{
	buf_addc(b, '*');
	add_escaped(b, path);
	buf_adds(b, "*");
	buf_addf(b, " (%s", type_words(row));
	if (row->accepts && row->type == F_ENUM) {
		buf_addc(b, ' ');
		add_escaped(b, row->accepts);
	} else if (row->accepts && row->type == F_INT) {
		buf_addf(b, ", %s", row->accepts);
	}
	if (row->flags & FIELD_REQUIRED)
		buf_adds(b, ", required");
	if (row->flags & FIELD_COMPUTED)
		buf_adds(b, ", computed");
	if (row->flags & FIELD_FIXED)
		buf_adds(b, ", a change makes it anew");
	if (row->flags & FIELD_SECRET)
		buf_adds(b, ", secret");
	buf_adds(b, ")++\n\t");
	if (row->doc && *row->doc) {
		buf_addc(b, (char)toupper((unsigned char)row->doc[0]));
		add_escaped(b, row->doc + 1);
		buf_addc(b, '.');
	}
	if (row->fallback) {
		buf_adds(b, " Default: ");
		add_escaped(b, row->fallback);
		buf_addc(b, '.');
	}
	buf_adds(b, "\n\n");
}

static void manual_rows(struct buf *b, struct arena *a, const struct field *rows, const char *path)
{
	for (const struct field *r = rows; r->name; r++) {
		if (r->flags & (FIELD_NAME | FIELD_SOON))
			continue;
		const char *name = r->flags & FIELD_REST ? "..." : r->name;
		const char *here = *path ? arena_printf(a, "%s.%s", path, name) : name;
		manual_row(b, r, here);
		if (r->type == F_OBJ)
			manual_rows(b, a, r->sub, here);
		else if (r->type == F_MAP_OF)
			manual_rows(b, a, r->sub, arena_printf(a, "%s.NAME", here));
		else if (r->type == F_LIST_OF)
			manual_rows(b, a, r->sub, arena_printf(a, "%s[]", here));
	}
}

void field_manual(struct buf *b, const struct field *rows)
{
	struct arena *a scoped(arena_freep) = arena_new("manual");

	manual_rows(b, a, rows, "");
}
