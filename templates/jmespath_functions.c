/* SPDX-License-Identifier: Apache-2.0 */
/* JMESPath's functions: rows with the kinds of their arguments, which are checked. */
#include <math.h>

#include "templates/dumps.h"
#include "templates/jmespath.h"
#include "templates/ops.h"
#include "templates/order.h"

#define MAX_ARGS 64

struct args {
	struct jmespath_run *r;
	const char *name;
	size_t n;
	const struct value *v[MAX_ARGS]; /* NULL: an expression */
	const struct jmespath *expr[MAX_ARGS];
};

typedef const struct value *function(struct args *x);

static const struct value *fault(struct args *x, const char *what)
{
	err_set(x->r->e, ERR_SPEC, "json_query: %s(): %s", x->name, what);
	return NULL;
}

static const char *type_name(const struct value *v)
{
	static const char *const names[] = {
		[V_NULL] = "null",  [V_BOOL] = "boolean", [V_INT] = "number", [V_FLOAT] = "number",
		[V_STR] = "string", [V_LIST] = "array",	  [V_MAP] = "object"
	};

	return !v ? "expression" : (size_t)v->kind < ARRAY_LEN(names) ? names[v->kind] : "unknown";
}

static bool is_number(const struct value *v)
{
	return v->kind == V_INT || v->kind == V_FLOAT;
}

/* ---- numbers -------------------------------------------------------------------------------- */

static const struct value *fn_abs(struct args *x)
{
	const struct value *v = x->v[0];

	if (v->kind == V_FLOAT)
		return value_float(x->r->a, fabs(v->f));
	return v->i < 0 ? op_negate(x->r->a, v, x->r->e) : v;
}

static const struct value *fn_sum(struct args *x)
{
	const struct value *total = value_int(x->r->a, 0);

	for (size_t i = 0; total && i < x->v[0]->list.n; i++)
		total = op_binary(x->r->a, '+', total, x->v[0]->list.v[i], x->r->e);
	return total;
}

static const struct value *fn_avg(struct args *x)
{
	const struct value *sum = fn_sum(x);

	if (!x->v[0]->list.n)
		return value_null(x->r->a);
	return sum ? value_float(x->r->a, op_to_double(sum) / (double)x->v[0]->list.n) : NULL;
}

static const struct value *whole(struct args *x, double f)
{
	if (x->v[0]->kind == V_INT)
		return x->v[0];
	return fabs(f) < 9e18 ? value_int(x->r->a, (int64_t)f)
			      : fault(x, "the number is too large");
}

static const struct value *fn_ceil(struct args *x)
{
	return whole(x, ceil(op_to_double(x->v[0])));
}

static const struct value *fn_floor(struct args *x)
{
	return whole(x, floor(op_to_double(x->v[0])));
}

static const struct value *fn_to_number(struct args *x)
{
	const struct value *v = x->v[0];
	int64_t i;
	double f;

	if (is_number(v))
		return v;
	if (v->kind == V_STR && str_to_int(str_trim(v->s), &i))
		return value_int(x->r->a, i);
	if (v->kind == V_STR && str_to_double(str_trim(v->s), &f))
		return value_float(x->r->a, f);
	return value_null(x->r->a);
}

/* ---- texts and lists ------------------------------------------------------------------------ */

static const struct value *fn_to_string(struct args *x)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct dump_style style = {
		.indent = -1, .comma = STR(","), .colon = STR(":"), .ascii = true
	};

	if (x->v[0]->kind == V_STR)
		return x->v[0];
	buf_init(&b, OPS_MAX_TEXT);
	dump_json(&b, x->r->a, x->v[0], &style);
	return buf_check(&b, x->r->e) < 0 ? NULL : value_str(x->r->a, buf_str(&b));
}

static const struct value *fn_to_array(struct args *x)
{
	struct value *out = value_list(x->r->a);

	if (x->v[0]->kind == V_LIST)
		return x->v[0];
	value_add(x->r->a, out, x->v[0]);
	return out;
}

static const struct value *fn_type(struct args *x)
{
	return value_cstr(x->r->a, type_name(x->v[0]));
}

static const struct value *fn_length(struct args *x)
{
	int64_t n;

	return op_length(x->v[0], &n, x->r->e) < 0 ? NULL : value_int(x->r->a, n);
}

static const struct value *fn_contains(struct args *x)
{
	bool yes;

	return op_contains(x->v[0], x->v[1], &yes, x->r->e) < 0 ? NULL : value_bool(x->r->a, yes);
}

static const struct value *fn_starts_with(struct args *x)
{
	struct str s = x->v[0]->s, with = x->v[1]->s;

	return value_bool(x->r->a, s.n >= with.n && str_eq(str_sub(s, 0, with.n), with));
}

static const struct value *fn_ends_with(struct args *x)
{
	struct str s = x->v[0]->s, with = x->v[1]->s;

	return value_bool(x->r->a,
			  s.n >= with.n && str_eq(str_sub(s, s.n - with.n, SIZE_MAX), with));
}

static const struct value *fn_reverse(struct args *x)
{
	const struct value *l = op_iterate(x->r->a, x->v[0], x->r->e);
	struct value *out = value_list(x->r->a);
	scoped(buf_wipe) struct buf b = { 0 };

	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = l ? l->list.n : 0; i-- > 0;) {
		value_add(x->r->a, out, l->list.v[i]);
		if (x->v[0]->kind == V_STR)
			buf_addstr(&b, l->list.v[i]->s);
	}
	return x->v[0]->kind == V_STR ? value_str(x->r->a, buf_str(&b)) : out;
}

static const struct value *fn_join(struct args *x)
{
	scoped(buf_wipe) struct buf b = { 0 };

	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < x->v[1]->list.n; i++) {
		if (i)
			buf_addstr(&b, x->v[0]->s);
		buf_addstr(&b, x->v[1]->list.v[i]->s);
	}
	return buf_check(&b, x->r->e) < 0 ? NULL : value_str(x->r->a, buf_str(&b));
}

static const struct value *fn_not_null(struct args *x)
{
	for (size_t i = 0; i < x->n; i++)
		if (x->v[i] && x->v[i]->kind != V_NULL)
			return x->v[i];
	return value_null(x->r->a);
}

static const struct value *fn_keys(struct args *x)
{
	struct value *out = value_list(x->r->a);

	for (size_t i = 0; i < x->v[0]->map.n; i++)
		value_add(x->r->a, out, value_of_key(x->r->a, x->v[0]->map.e[i].key));
	return out;
}

static const struct value *fn_values(struct args *x)
{
	struct value *out = value_list(x->r->a);

	for (size_t i = 0; i < x->v[0]->map.n; i++)
		value_add(x->r->a, out, x->v[0]->map.e[i].val);
	return out;
}

static const struct value *fn_merge(struct args *x)
{
	struct value *out = value_map(x->r->a);

	for (size_t i = 0; i < x->n; i++) {
		if (!x->v[i] || x->v[i]->kind != V_MAP)
			return fault(x, "an argument is no object");
		for (size_t k = 0; k < x->v[i]->map.n; k++)
			value_sets(out, x->v[i]->map.e[k].key, x->v[i]->map.e[k].val);
	}
	return out;
}

static const struct value *fn_map(struct args *x)
{
	struct value *out = value_list(x->r->a);

	for (size_t i = 0; i < x->v[1]->list.n; i++) {
		const struct value *one = jmespath_ask(x->r, x->expr[0], x->v[1]->list.v[i]);
		if (!one)
			return NULL;
		value_add(x->r->a, out, one);
	}
	return out;
}

/* ---- order ---------------------------------------------------------------------------------- */

/* By what the expression gives of each item; by the items themselves without one. */
static const struct value *sorted(struct args *x, const struct jmespath *by, bool one_type)
{
	const struct value *l = x->v[0];
	struct keyed *v = arena_array(x->r->a, struct keyed, l->list.n + 1);
	struct value *out = value_list(x->r->a);

	for (size_t i = 0; i < l->list.n; i++) {
		v[i].item = l->list.v[i];
		v[i].key = by ? jmespath_ask(x->r, by, l->list.v[i]) : l->list.v[i];
		if (!v[i].key)
			return NULL;
		if (!is_number(v[i].key) && v[i].key->kind != V_STR)
			return fault(x, "the keys must be numbers or strings");
		if (one_type && is_number(v[i].key) != is_number(v[0].key))
			return fault(x, "the keys are of several types");
	}
	if (order_sort(x->r->a, v, l->list.n, false, x->r->e) < 0)
		return NULL;
	for (size_t i = 0; i < l->list.n; i++)
		value_add(x->r->a, out, v[i].item);
	return out;
}

static const struct value *extreme(struct args *x, const struct jmespath *by, int want)
{
	const struct value *l = x->v[0], *best = NULL, *best_key = NULL, *key;
	int order = 0;

	for (size_t i = 0; i < l->list.n; i++) {
		key = by ? jmespath_ask(x->r, by, l->list.v[i]) : l->list.v[i];
		if (!key)
			return NULL;
		if (!is_number(key) && key->kind != V_STR)
			return fault(x, "the keys must be numbers or strings");
		if (best && op_order(key, best_key, &order, x->r->e) < 0)
			return NULL;
		if (!best || (want < 0 ? order < 0 : order > 0)) {
			best = l->list.v[i];
			best_key = key;
		}
	}
	return best ? best : value_null(x->r->a);
}

static const struct value *fn_sort(struct args *x)
{
	return sorted(x, NULL, true);
}

static const struct value *fn_sort_by(struct args *x)
{
	return sorted(x, x->expr[1], true);
}

static const struct value *fn_max(struct args *x)
{
	return extreme(x, NULL, 1);
}

static const struct value *fn_min(struct args *x)
{
	return extreme(x, NULL, -1);
}

static const struct value *fn_max_by(struct args *x)
{
	return extreme(x, x->expr[1], 1);
}

static const struct value *fn_min_by(struct args *x)
{
	return extreme(x, x->expr[1], -1);
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Kinds of arguments, a word each: n number, s string, a array, o object, x expression, * any; N
 * and S: an array of numbers, of strings. */
static const struct row {
	const char *name;
	function *fn;
	const char *kinds;
	bool more; /* than these */
} rows[] = {
	{ "abs", fn_abs, "n", false },
	{ "avg", fn_avg, "N", false },
	{ "ceil", fn_ceil, "n", false },
	{ "contains", fn_contains, "as *", false },
	{ "ends_with", fn_ends_with, "s s", false },
	{ "floor", fn_floor, "n", false },
	{ "join", fn_join, "s S", false },
	{ "keys", fn_keys, "o", false },
	{ "length", fn_length, "sao", false },
	{ "map", fn_map, "x a", false },
	{ "max", fn_max, "NS", false },
	{ "max_by", fn_max_by, "a x", false },
	{ "merge", fn_merge, "o", true },
	{ "min", fn_min, "NS", false },
	{ "min_by", fn_min_by, "a x", false },
	{ "not_null", fn_not_null, "*", true },
	{ "reverse", fn_reverse, "as", false },
	{ "sort", fn_sort, "NS", false },
	{ "sort_by", fn_sort_by, "a x", false },
	{ "starts_with", fn_starts_with, "s s", false },
	{ "sum", fn_sum, "N", false },
	{ "to_array", fn_to_array, "*", false },
	{ "to_number", fn_to_number, "*", false },
	{ "to_string", fn_to_string, "*", false },
	{ "type", fn_type, "*", false },
	{ "values", fn_values, "o", false },
};

static bool is_list_of(const struct value *v, bool numbers)
{
	for (size_t i = 0; i < v->list.n; i++)
		if (numbers ? !is_number(v->list.v[i]) : v->list.v[i]->kind != V_STR)
			return false;
	return true;
}

static bool is_kind(const struct value *v, char kind)
{
	if (!v || kind == 'x' || kind == '*')
		return (!v && kind == 'x') || (v && kind == '*');
	switch (kind) {
	case 'n': return is_number(v);
	case 's': return v->kind == V_STR;
	case 'a': return v->kind == V_LIST;
	case 'o': return v->kind == V_MAP;
	default: return v->kind == V_LIST && is_list_of(v, kind == 'N');
	}
}

static bool fits(struct args *x, const struct row *row)
{
	struct str rest = str_of(row->kinds), word;

	for (size_t i = 0; rest.n && str_next(&rest, ' ', &word); i++) {
		bool ok = false;
		if (i >= x->n)
			return fault(x, "it needs more arguments") != NULL;
		for (size_t k = 0; k < word.n; k++)
			ok = ok || is_kind(x->v[i], word.p[k]);
		if (!ok) {
			err_set(x->r->e, ERR_SPEC, "json_query: %s(): argument %zu is of type %s",
				x->name, i + 1, type_name(x->v[i]));
			return false;
		}
		if (!rest.n && !row->more && x->n > i + 1)
			return fault(x, "it takes fewer arguments") != NULL;
	}
	return true;
}

const struct value *jmespath_call(struct jmespath_run *r, const struct jmespath *j,
				  const struct value *v)
{
	struct args x = { .r = r, .name = str_cstr(r->a, j->name), .n = j->kids.n };
	const struct row *row = NULL;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eqc(j->name, rows[i].name))
			row = &rows[i];
	if (!row)
		return fault(&x, "there is no such function");
	if (x.n > MAX_ARGS)
		return fault(&x, "too many arguments");
	for (size_t i = 0; i < x.n; i++) {
		if (j->kids.v[i]->kind == J_EXPRESSION)
			x.expr[i] = j->kids.v[i]->kids.v[0];
		else if (!(x.v[i] = jmespath_ask(r, j->kids.v[i], v)))
			return NULL;
	}
	return fits(&x, row) ? row->fn(&x) : NULL;
}
