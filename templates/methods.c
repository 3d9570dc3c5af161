/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/methods.h"

/* ---- lists ---------------------------------------------------------------------------------- */

static const struct value *l_index(struct call *c)
{
	for (size_t i = 0; i < c->self->list.n; i++)
		if (op_equal(c->self->list.v[i], c->arg[0]))
			return value_int(c->a, (int64_t)i);
	return call_fault(c, "the value is not in the list");
}

static const struct value *l_count(struct call *c)
{
	int64_t n = 0;

	for (size_t i = 0; i < c->self->list.n; i++)
		n += op_equal(c->self->list.v[i], c->arg[0]);
	return value_int(c->a, n);
}

static const struct value *same(struct call *c)
{
	return c->self;
}

static const struct value *l_mutate(struct call *c)
{
	call_fault(c, "lists cannot be changed by .%s()", c->name);
	err_hint(c->e, "make a new one: {%% set x = x + [item] %%}");
	return NULL;
}

/* ---- maps ----------------------------------------------------------------------------------- */

static const struct value *d_keys(struct call *c)
{
	return op_iterate(c->a, c->self, c->e);
}

static const struct value *d_values(struct call *c)
{
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < c->self->map.n; i++)
		value_add(c->a, out, c->self->map.e[i].val);
	return out;
}

static const struct value *d_items(struct call *c)
{
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < c->self->map.n; i++) {
		struct value *pair = value_list(c->a);
		pair->tuple = true;
		value_add(c->a, pair, value_str(c->a, c->self->map.e[i].key));
		value_add(c->a, pair, c->self->map.e[i].val);
		value_add(c->a, out, pair);
	}
	return out;
}

static const struct value *d_get(struct call *c)
{
	const struct value *v = op_item(c->a, c->self, c->arg[0]);

	if (v)
		return v;
	return c->arg[1] ? c->arg[1] : value_null(c->a);
}

static const struct value *d_mutate(struct call *c)
{
	call_fault(c, "maps cannot be changed by .%s()", c->name);
	err_hint(c->e, "make a new one: {%% set x = x | combine({'key': value}) %%}");
	return NULL;
}

static const struct callable list_methods[] = {
	{ "index", l_index, "value!", 0 },
	{ "count", l_count, "value!", 0 },
	{ "copy", same, "", CALL_ITEMS },
	{ "append", l_mutate, "value", 0 },
	{ "extend", l_mutate, "values", 0 },
	{ "insert", l_mutate, "index,value", 0 },
	{ "pop", l_mutate, "index", 0 },
	{ "remove", l_mutate, "value", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable map_methods[] = {
	{ "items", d_items, "", CALL_ITEMS },
	{ "keys", d_keys, "", CALL_ITEMS },
	{ "values", d_values, "", CALL_ITEMS },
	{ "get", d_get, "key!,default", CALL_ITEMS },
	{ "copy", same, "", CALL_ITEMS },
	{ "update", d_mutate, "values", CALL_VARARGS },
	{ "pop", d_mutate, "key,default", 0 },
	{ "setdefault", d_mutate, "key,default", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable *table_of(const struct value *self)
{
	if (self->kind == V_STR)
		return methods_text;
	if (self->kind == V_LIST)
		return list_methods;
	return self->kind == V_MAP ? map_methods : NULL;
}

const struct callable *method_find(const struct value *self, struct str name)
{
	for (const struct callable *m = table_of(self); m && m->name; m++)
		if (str_eqc(name, m->name))
			return m;
	return NULL;
}

const char *method_suggest(const struct value *self, struct str name)
{
	const char *names[64];
	size_t n = 0;

	for (const struct callable *m = table_of(self); m && m->name; m++)
		names[n++] = m->name;
	return str_suggest(name, names, n);
}
