/* SPDX-License-Identifier: Apache-2.0 */
/* The asking half of jmespath.h. What is not there is null; a projection leaves nulls out. */
#include "templates/jmespath.h"
#include "templates/ops.h"

static const struct value *nothing(struct jmespath_run *r)
{
	return value_null(r->a);
}

static bool is_true(const struct value *v)
{
	switch ((int)v->kind) {
	case V_NULL: return false;
	case V_BOOL: return v->b;
	case V_STR: return v->s.n > 0;
	case V_LIST: return v->list.n > 0;
	case V_MAP: return v->map.n > 0;
	default: return true;
	}
}

static bool is_number(const struct value *v)
{
	return v->kind == V_INT || v->kind == V_FLOAT;
}

static const struct value *ask_chain(struct jmespath_run *r, const struct jmespath *j,
				     const struct value *v)
{
	for (size_t i = 0; v && i < j->kids.n; i++)
		v = jmespath_ask(r, j->kids.v[i], v);
	return v;
}

static const struct value *ask_index(struct jmespath_run *r, const struct jmespath *j,
				     const struct value *v)
{
	int64_t i = j->part[0];

	if (v->kind != V_LIST)
		return nothing(r);
	if (i < 0)
		i += (int64_t)v->list.n;
	return i >= 0 && i < (int64_t)v->list.n ? v->list.v[i] : nothing(r);
}

static const struct value *ask_slice(struct jmespath_run *r, const struct jmespath *j,
				     const struct value *v)
{
	const struct value *part[3];

	if (v->kind != V_LIST)
		return nothing(r);
	for (int i = 0; i < 3; i++)
		part[i] = j->has[i] ? value_int(r->a, j->part[i]) : NULL;
	return op_slice(r->a, v, part, r->e);
}

/* Adds what j gives of each item to out, but for nulls. */
static const struct value *collect(struct jmespath_run *r, const struct jmespath *j,
				   const struct value *item, struct value *out)
{
	const struct value *got = jmespath_ask(r, j, item);

	if (got && got->kind != V_NULL)
		value_add(r->a, out, got);
	return got;
}

static const struct value *ask_projection(struct jmespath_run *r, const struct jmespath *j,
					  const struct value *v)
{
	const struct value *base = jmespath_ask(r, j->kids.v[0], v);
	struct value *out = value_list(r->a);

	if (!base || base->kind != V_LIST)
		return base ? nothing(r) : NULL;
	for (size_t i = 0; i < base->list.n; i++)
		if (!collect(r, j->kids.v[1], base->list.v[i], out))
			return NULL;
	return out;
}

static const struct value *ask_values(struct jmespath_run *r, const struct jmespath *j,
				      const struct value *v)
{
	const struct value *base = jmespath_ask(r, j->kids.v[0], v);
	struct value *out = value_list(r->a);

	if (!base || base->kind != V_MAP)
		return base ? nothing(r) : NULL;
	for (size_t i = 0; i < base->map.n; i++)
		if (!collect(r, j->kids.v[1], base->map.e[i].val, out))
			return NULL;
	return out;
}

static const struct value *ask_filter(struct jmespath_run *r, const struct jmespath *j,
				      const struct value *v)
{
	const struct value *base = jmespath_ask(r, j->kids.v[0], v), *yes;
	struct value *out = value_list(r->a);

	if (!base || base->kind != V_LIST)
		return base ? nothing(r) : NULL;
	for (size_t i = 0; i < base->list.n; i++) {
		if (!(yes = jmespath_ask(r, j->kids.v[2], base->list.v[i])))
			return NULL;
		if (is_true(yes) && !collect(r, j->kids.v[1], base->list.v[i], out))
			return NULL;
	}
	return out;
}

static const struct value *ask_flatten(struct jmespath_run *r, const struct jmespath *j,
				       const struct value *v)
{
	const struct value *base = jmespath_ask(r, j->kids.v[0], v);
	struct value *out = value_list(r->a);

	if (!base || base->kind != V_LIST)
		return base ? nothing(r) : NULL;
	for (size_t i = 0; i < base->list.n; i++) {
		const struct value *item = base->list.v[i];
		for (size_t k = 0; item->kind == V_LIST && k < item->list.n; k++)
			value_add(r->a, out, item->list.v[k]);
		if (item->kind != V_LIST)
			value_add(r->a, out, item);
	}
	r->steps += out->list.n;
	return out;
}

static const struct value *ask_multi(struct jmespath_run *r, const struct jmespath *j,
				     const struct value *v)
{
	bool map = j->kind == J_MULTI_MAP;
	struct value *out = map ? value_map(r->a) : value_list(r->a);

	if (v->kind == V_NULL)
		return v;
	for (size_t i = 0; i < j->kids.n; i++) {
		const struct value *one = jmespath_ask(r, j->kids.v[i], v);
		if (!one)
			return NULL;
		if (map)
			value_sets(out, j->names.v[i], one);
		else
			value_add(r->a, out, one);
	}
	return out;
}

/* true is not 1 here, though Python says so. */
static bool is_equal(const struct value *x, const struct value *y)
{
	if ((is_number(x) && y->kind == V_BOOL) || (x->kind == V_BOOL && is_number(y)))
		return false;
	return op_equal(x, y);
}

static const struct value *ask_compare(struct jmespath_run *r, const struct jmespath *j,
				       const struct value *v)
{
	const struct value *x = jmespath_ask(r, j->kids.v[0], v),
			   *y = x ? jmespath_ask(r, j->kids.v[1], v) : NULL;
	int order;

	if (!y)
		return NULL;
	if (j->op == '=' || j->op == '!')
		return value_bool(r->a, is_equal(x, y) == (j->op == '='));
	if ((!is_number(x) && x->kind != V_STR) || (!is_number(y) && y->kind != V_STR))
		return nothing(r);
	if (op_order(x, y, &order, r->e) < 0)
		return NULL;
	return value_bool(r->a, j->op == '<'   ? order < 0
				: j->op == 'l' ? order <= 0
				: j->op == '>' ? order > 0
					       : order >= 0);
}

static const struct value *ask_either(struct jmespath_run *r, const struct jmespath *j,
				      const struct value *v)
{
	const struct value *x = jmespath_ask(r, j->kids.v[0], v);

	if (!x || is_true(x) == (j->kind == J_OR))
		return x;
	return jmespath_ask(r, j->kids.v[1], v);
}

static const struct value *ask_not(struct jmespath_run *r, const struct jmespath *j,
				   const struct value *v)
{
	const struct value *x = jmespath_ask(r, j->kids.v[0], v);

	return x ? value_bool(r->a, !is_true(x)) : NULL;
}

static const struct value *ask_field(struct jmespath_run *r, const struct jmespath *j,
				     const struct value *v)
{
	const struct value *got = v->kind == V_MAP ? value_gets(v, j->name) : NULL;

	return got ? got : nothing(r);
}

static const struct value *ask_node(struct jmespath_run *r, const struct jmespath *j,
				    const struct value *v)
{
	switch (j->kind) {
	case J_IDENTITY: return v;
	case J_FIELD: return ask_field(r, j, v);
	case J_LITERAL: return j->lit;
	case J_CHAIN: return ask_chain(r, j, v);
	case J_INDEX: return ask_index(r, j, v);
	case J_SLICE: return ask_slice(r, j, v);
	case J_PROJECTION: return ask_projection(r, j, v);
	case J_VALUES: return ask_values(r, j, v);
	case J_FILTER: return ask_filter(r, j, v);
	case J_FLATTEN: return ask_flatten(r, j, v);
	case J_MULTI_LIST:
	case J_MULTI_MAP: return ask_multi(r, j, v);
	case J_COMPARE: return ask_compare(r, j, v);
	case J_OR:
	case J_AND: return ask_either(r, j, v);
	case J_NOT: return ask_not(r, j, v);
	case J_FUNCTION: return jmespath_call(r, j, v);
	case J_EXPRESSION: break;
	}
	err_set(r->e, ERR_SPEC, "json_query: & belongs to an argument of a function");
	return NULL;
}

const struct value *jmespath_ask(struct jmespath_run *r, const struct jmespath *j,
				 const struct value *v)
{
	const struct value *got;

	if (++r->steps > JMESPATH_MAX_STEPS) {
		err_set(r->e, ERR_SPEC, "json_query: more than %d steps", JMESPATH_MAX_STEPS);
		return NULL;
	}
	if (++r->depth > JMESPATH_MAX_NESTING) {
		err_set(r->e, ERR_SPEC, "json_query: nested too deeply");
		return NULL;
	}
	got = ask_node(r, j, v);
	r->depth--;
	return got;
}
