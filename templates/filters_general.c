/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of the collections community.general and ansible.utils on lists, maps and times. */
#include <ctype.h>
#include <math.h>

#include "templates/filters.h"
#include "templates/order.h"
#include "templates/version.h"

/* How often each item is there. */
static const struct value *f_counter(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_map(c->a);
	struct str key;

	if (c->self->kind != V_LIST && c->self->kind != V_STR)
		return call_fault(c, "counter needs a list or a text, not %s",
				  op_type_name(c->self));
	for (size_t i = 0; l && i < l->list.n; i++) {
		if (!value_key(c->a, l->list.v[i], &key))
			return call_fault(c, "counter: an item cannot be a key");
		const struct value *old = value_gets(out, key);
		value_sets(out, key, value_int(c->a, old ? old->i + 1 : 1));
	}
	return l ? out : NULL;
}

/* [[key, value], ...] */
static const struct value *f_dict(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_map(c->a);
	struct str key;

	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *pair = call_list(c, l->list.v[i]);
		if (!pair)
			return NULL;
		if (pair->list.n != 2 || !value_key(c->a, pair->list.v[0], &key))
			return call_fault(c, "dict: item %zu is no pair of a key and a value", i);
		value_sets(out, key, pair->list.v[1]);
	}
	return l ? out : NULL;
}

static const struct value *f_dict_kv(struct call *c)
{
	struct value *out = value_map(c->a);
	struct str key;

	if (!value_key(c->a, c->arg[0], &key))
		return call_fault(c, "dict_kv: that cannot be a key");
	value_sets(out, key, c->self);
	return out;
}

static const struct value *f_groupby_as_dict(struct call *c)
{
	struct value *out = value_map(c->a);
	const struct value *l = c->self;
	struct str key;

	if (l->kind != V_LIST)
		return call_fault(c, "groupby_as_dict needs a list, not %s", op_type_name(l));
	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *v = l->list.v[i],
				   *k = v->kind == V_MAP ? op_item(c->a, v, c->arg[0]) : NULL;
		if (!k || !value_key(c->a, k, &key))
			return call_fault(c, "item %zu lacks the key \"" STR_FMT "\"", i,
					  STR_ARG(call_text(c, 0, "")));
		if (value_gets(out, key))
			return call_fault(c, "two items have the key \"" STR_FMT "\"",
					  STR_ARG(value_key_text(key)));
		value_sets(out, key, v);
	}
	return out;
}

/* A merge sort on lists of versions; halves are sorted in turn. */
static int sort_versions(struct call *c, const struct value **v, const struct value **tmp, size_t n,
			 int sign)
{
	size_t half = n / 2, i = 0, k = half, out = 0;
	int order;

	if (n < 2)
		return 0;
	if (sort_versions(c, v, tmp, half, sign) < 0 ||
	    sort_versions(c, v + half, tmp, n - half, sign) < 0)
		return -1;
	memcpy(tmp, v, n * sizeof *v);
	while (i < half && k < n) {
		if (version_order(STR("loose"), op_text(c->a, tmp[k]), op_text(c->a, tmp[i]),
				  &order, c->e) < 0)
			return -1;
		v[out++] = sign * order < 0 ? tmp[k++] : tmp[i++];
	}
	while (i < half)
		v[out++] = tmp[i++];
	while (k < n)
		v[out++] = tmp[k++];
	return 0;
}

static const struct value *f_version_sort(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	size_t n = l ? l->list.n : 0;
	const struct value **v = arena_array(c->a, const struct value *, n + 1),
			   **tmp = arena_array(c->a, const struct value *, n + 1);
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < n; i++)
		v[i] = l->list.v[i];
	if (!l || sort_versions(c, v, tmp, n, call_flag(c, 0, false) ? -1 : 1) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		value_add(c->a, out, v[i]);
	return out;
}

static const struct value *f_crc32(struct call *c)
{
	uint32_t crc = UINT32_MAX;

	if (c->self->kind != V_STR)
		return call_fault(c, "crc32 needs a text, not %s", op_type_name(c->self));
	for (size_t i = 0; i < c->self->s.n; i++) {
		crc ^= (unsigned char)c->self->s.p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return value_strf(c->a, "%x", ~crc);
}

/* ---- times ---------------------------------------------------------------------------------- */

static const struct unit {
	const char *name, *words; /* without the s of their plurals */
	double ms;
} units[] = {
	{ "ms", "msec msecond millisecond", 1 },
	{ "s", "sec second", 1000 },
	{ "m", "min minute", 60e3 },
	{ "h", "hour", 3600e3 },
	{ "d", "day", 86400e3 },
	{ "w", "week", 7 * 86400e3 },
	{ "mo", "month", 30 * 86400e3 },
	{ "y", "year", 365 * 86400e3 },
};

/* Milliseconds of the unit; 0: there is none such. */
static double unit_ms(struct call *c, struct str s)
{
	const struct value *year = value_get(c->kwargs, "year"),
			   *month = value_get(c->kwargs, "month");
	struct str bare = str_trim_end(s, 's'), rest, word;

	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		bool is = str_eqc(s, units[i].name);
		rest = str_of(units[i].words);
		while (!is && rest.n && str_next(&rest, ' ', &word))
			is = str_eq(word, bare);
		if (!is)
			continue;
		if (units[i].name[0] == 'y' && year && op_is_number(year))
			return op_to_double(year) * 86400e3;
		if (str_eqc(str_of(units[i].name), "mo") && month && op_is_number(month))
			return op_to_double(month) * 86400e3;
		return units[i].ms;
	}
	return 0;
}

/* "1d 2h" */
static const struct value *in_unit(struct call *c, struct str unit)
{
	struct str rest = c->self->kind == V_STR ? c->self->s : STR("?"), part;
	double total = 0, ms = unit_ms(c, unit), one;
	int64_t n;

	if (ms == 0)
		return call_fault(c, "%s: there is no unit \"" STR_FMT "\"", c->name,
				  STR_ARG(unit));
	if (str_eqc(rest, "0"))
		return value_int(c->a, 0);
	while (rest.n && str_next(&rest, ' ', &part)) {
		size_t digits = part.n && part.p[0] == '-';
		if (!part.n)
			continue;
		while (digits < part.n && isdigit((unsigned char)part.p[digits]))
			digits++;
		one = unit_ms(c, str_sub(part, digits, SIZE_MAX));
		if (!str_to_int(str_sub(part, 0, digits), &n) || one == 0)
			return call_fault(c, "%s: \"" STR_FMT "\" is no time", c->name,
					  STR_ARG(part));
		total += (double)n * one;
	}
	return value_float(c->a, round(total / ms * 1e12) / 1e12);
}

static const struct value *f_to_time_unit(struct call *c)
{
	return in_unit(c, call_text(c, 0, "ms"));
}

/* to_hours: the unit is its name's */
static const struct value *f_to_unit(struct call *c)
{
	return in_unit(c, str_of(c->name + strlen("to_")));
}

const struct callable filters_general[] = {
	{ "counter", f_counter, "", CALL_ITEMS },
	{ "crc32", f_crc32, "", 0 },
	{ "dict", f_dict, "", CALL_ITEMS },
	{ "dict_kv", f_dict_kv, "key!", CALL_ITEMS },
	{ "groupby_as_dict", f_groupby_as_dict, "attribute!", CALL_ITEMS },
	{ "version_sort", f_version_sort, "reverse", CALL_ITEMS },
	{ "to_time_unit", f_to_time_unit, "unit,year,month", 0 },
	{ "to_milliseconds", f_to_unit, "year,month", 0 },
	{ "to_seconds", f_to_unit, "year,month", 0 },
	{ "to_minutes", f_to_unit, "year,month", 0 },
	{ "to_hours", f_to_unit, "year,month", 0 },
	{ "to_days", f_to_unit, "year,month", 0 },
	{ "to_weeks", f_to_unit, "year,month", 0 },
	{ "to_months", f_to_unit, "year,month", 0 },
	{ "to_years", f_to_unit, "year,month", 0 },
	{ NULL, NULL, NULL, 0 },
};
