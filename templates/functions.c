/* SPDX-License-Identifier: Apache-2.0 */
/* Functions: Jinja2's own, Ansible's, and those that the program registers. */
#include "templates/object.h"

#include "templates/filters.h"
#include "templates/lookup.h"

#define MAX_FUNCTIONS 32
#define MAX_RANGE     100000

static struct function {
	const char *name;
	template_function *fn;
	void *arg;
} functions[MAX_FUNCTIONS];
static size_t n_functions;

void eval_add_function(const char *name, template_function *fn, void *arg)
{
	size_t i = 0;

	while (i < n_functions && strcmp(functions[i].name, name) != 0)
		i++;
	if (i == MAX_FUNCTIONS)
		bug("more than %d template functions", MAX_FUNCTIONS);
	functions[i] = (struct function){ name, fn, arg };
	n_functions = i == n_functions ? i + 1 : n_functions;
}

static const struct value *fn_range(struct eval *ev, const struct value *args)
{
	struct value *out = value_list(ev->a);
	int64_t v[3] = { 0, 0, 1 };
	size_t n = args->list.n;

	if (n < 1 || n > 3) {
		err_set(ev->e, ERR_SPEC, "range takes 1 to 3 numbers");
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		const struct value *x = args->list.v[i];
		if (x->kind == V_UNKNOWN)
			return x;
		if (x->kind != V_INT && x->kind != V_BOOL) {
			err_set(ev->e, ERR_SPEC, "range takes whole numbers, not %s",
				op_type_name(x));
			return NULL;
		}
		v[n == 1 ? 1 : i] = op_to_int(x);
	}
	if (!v[2]) {
		err_set(ev->e, ERR_SPEC, "the step of range must not be 0");
		return NULL;
	}
	for (int64_t i = v[0]; v[2] > 0 ? i < v[1] : i > v[1];) {
		if (out->list.n >= MAX_RANGE) {
			err_set(ev->e, ERR_SPEC, "range gives more than %d numbers", MAX_RANGE);
			return NULL;
		}
		value_add(ev->a, out, value_int(ev->a, i));
		if (__builtin_add_overflow(i, v[2], &i))
			break;
	}
	return out;
}

/* dict(a=1), dict([('a', 1)]), dict({...}, b=2) */
static const struct value *fn_dict(struct eval *ev, const struct value *args,
				   const struct value *kwargs)
{
	struct value *out = eval_own_map(ev);
	const struct value *first = args->list.n ? args->list.v[0] : NULL;

	for (size_t i = 0; first && first->kind == V_MAP && i < first->map.n; i++)
		value_sets(out, first->map.e[i].key, first->map.e[i].val);
	for (size_t i = 0; first && first->kind == V_LIST && i < first->list.n; i++) {
		const struct value *pair = first->list.v[i];
		if (pair->kind != V_LIST || pair->list.n != 2) {
			err_set(ev->e, ERR_SPEC, "dict takes pairs");
			return NULL;
		}
		struct str key;
		if (!value_key(ev->a, pair->list.v[0], &key)) {
			err_set(ev->e, ERR_SPEC, "%s cannot be a key",
				op_type_name(pair->list.v[0]));
			return NULL;
		}
		value_sets(out, key, pair->list.v[1]);
	}
	if (args->list.n > 1 || (first && first->kind != V_MAP && first->kind != V_LIST)) {
		err_set(ev->e, ERR_SPEC, "dict takes a map, a list of pairs, or names with values");
		return NULL;
	}
	for (size_t i = 0; i < kwargs->map.n; i++)
		value_sets(out, kwargs->map.e[i].key, kwargs->map.e[i].val);
	return out;
}

static const struct value *fn_namespace(struct eval *ev, const struct value *args,
					const struct value *kwargs)
{
	const struct value *v = fn_dict(ev, args, kwargs);

	if (v)
		VEC_ADD(ev->a, &ev->bounds->namespaces) = v;
	return v;
}

/* now(utc, fmt): a text; Python's default form without a format. */
static const struct value *fn_now(struct eval *ev, struct call *c)
{
	const struct value *utc = value_get(c->kwargs, "utc"), *fmt = value_get(c->kwargs, "fmt");
	struct call f = {
		.a = ev->a, .args = c->args, .kwargs = c->kwargs, .e = ev->e, .name = "now"
	};

	utc = utc ? utc : c->args->list.n > 0 ? c->args->list.v[0] : value_bool(ev->a, false);
	fmt = fmt ? fmt : c->args->list.n > 1 ? c->args->list.v[1] : NULL;
	f.self = fmt && fmt->kind == V_STR ? fmt : value_cstr(ev->a, "%Y-%m-%d %H:%M:%S.000000");
	f.arg[1] = utc;
	return filter_find(STR("strftime"))->fn(&f);
}

static const struct value *fn_undef(struct eval *ev, struct call *c)
{
	const struct value *hint = c->args->list.n ? c->args->list.v[0] : NULL;

	return eval_undefined(ev, hint ? arena_printf(ev->a, STR_FMT, STR_ARG(op_text(ev->a, hint)))
				       : "undefined by undef()");
}

static const struct value *registered(struct eval *ev, const struct node *n,
				      const struct value *args)
{
	const char *names[MAX_FUNCTIONS + 3] = { "range", "dict", "namespace" }, *best;
	const struct value *out;

	for (size_t i = 0; i < n_functions; i++) {
		if (!str_eqc(n->left->name, functions[i].name)) {
			names[i + 3] = functions[i].name;
			continue;
		}
		if (n->kwargs.n) {
			err_set(ev->e, ERR_SPEC, "%s takes no named arguments", functions[i].name);
			return NULL;
		}
		return functions[i].fn(functions[i].arg, ev->a, args, &out, ev->e) < 0 ? NULL : out;
	}
	err_set(ev->e, ERR_SPEC, "unknown function \"" STR_FMT "\"", STR_ARG(n->left->name));
	best = str_suggest(n->left->name, names, n_functions + 3);
	if (best)
		err_hint(ev->e, "did you mean \"%s\"?", best);
	return NULL;
}

static const struct value *refuse_lipsum(struct eval *ev, struct call *c unused_arg)
{
	err_set(ev->e, ERR_SPEC, "lipsum() is not available: it gives another text each time");
	return NULL;
}

static const struct value *check_defined(struct eval *ev, const struct node *n,
					 const struct call *c)
{
	for (size_t i = 0; i < c->args->list.n; i++)
		if (c->args->list.v[i]->kind == V_UNDEFINED)
			return eval_undefined_fault(ev, n, c->args->list.v[i]);
	for (size_t i = 0; i < c->kwargs->map.n; i++) {
		const struct value *v = c->kwargs->map.e[i].val;
		if (v->kind == V_UNDEFINED)
			return eval_undefined_fault(ev, n, v);
	}
	return c->args;
}

static const struct value *call_range(struct eval *ev, struct call *c)
{
	return fn_range(ev, c->args);
}

static const struct value *call_dict(struct eval *ev, struct call *c)
{
	return fn_dict(ev, c->args, c->kwargs);
}

static const struct value *call_namespace(struct eval *ev, struct call *c)
{
	return fn_namespace(ev, c->args, c->kwargs);
}

static const struct value *call_cycler(struct eval *ev, struct call *c)
{
	return object_cycler(ev, c->args);
}

static const struct value *call_joiner(struct eval *ev, struct call *c)
{
	return object_joiner(ev, c->args);
}

static const struct value *call_lookup(struct eval *ev, struct call *c)
{
	return lookup_run(ev, c, false);
}

static const struct value *call_query(struct eval *ev, struct call *c)
{
	return lookup_run(ev, c, true);
}

static const struct row {
	const char *name;
	const struct value *(*fn)(struct eval *ev, struct call *c);
} rows[] = {
	{ "range", call_range },   { "dict", call_dict },	{ "namespace", call_namespace },
	{ "cycler", call_cycler }, { "joiner", call_joiner },	{ "lookup", call_lookup },
	{ "query", call_query },   { "q", call_query },		{ "now", fn_now },
	{ "undef", fn_undef },	   { "lipsum", refuse_lipsum },
};

const char *eval_function_name(size_t i)
{
	return i + 1 < ARRAY_LEN(rows) ? rows[i].name : NULL; /* all but lipsum */
}

const struct value *eval_function(struct eval *ev, const struct node *n, struct call *c)
{
	if (!check_defined(ev, n, c))
		return NULL;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_eqc(n->left->name, rows[i].name))
			return rows[i].fn(ev, c);
	return registered(ev, n, c->args);
}
