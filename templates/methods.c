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

/* ---- changes -------------------------------------------------------------------------------- */

static struct value *changing(struct call *c)
{
	return (struct value *)(uintptr_t)c->self;
}

static bool holds(const struct value *v, const struct value *what, int depth)
{
	if (v == what || depth > OPS_MAX_NESTING)
		return true;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (holds(v->list.v[i], what, depth + 1))
			return true;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (holds(v->map.e[i].val, what, depth + 1))
			return true;
	return false;
}

/* Whether v may go into what is changed. */
static int may_hold(struct call *c, const struct value *v)
{
	if (c->self->kind == V_LIST && c->self->list.n >= OPS_MAX_ITEMS)
		return err_set(c->e, ERR_SPEC, "a list may have at most %d items", OPS_MAX_ITEMS);
	if ((v->kind == V_LIST || v->kind == V_MAP) && holds(v, c->self, 0))
		return err_set(c->e, ERR_SPEC, "a value cannot hold itself");
	return 0;
}

static const struct value *l_insert_at(struct call *c, int64_t at, const struct value *v)
{
	struct value *l = changing(c);
	int64_t n = (int64_t)l->list.n;

	if (may_hold(c, v) < 0)
		return NULL;
	at = at < 0 ? (at + n < 0 ? 0 : at + n) : at > n ? n : at;
	value_add(c->a, l, v);
	memmove(l->list.v + at + 1, l->list.v + at, (size_t)(n - at) * sizeof *l->list.v);
	l->list.v[at] = (struct value *)(uintptr_t)v;
	return value_null(c->a);
}

static const struct value *l_append(struct call *c)
{
	return l_insert_at(c, (int64_t)c->self->list.n, c->arg[0]);
}

static const struct value *l_insert(struct call *c)
{
	int64_t at;

	return call_int(c, 0, 0, &at) < 0 ? NULL : l_insert_at(c, at, c->arg[1]);
}

static const struct value *l_extend(struct call *c)
{
	const struct value *more = call_list(c, c->arg[0]);
	size_t n = more ? more->list.n : 0;

	for (size_t i = 0; i < n; i++)
		if (!l_insert_at(c, (int64_t)c->self->list.n, more->list.v[i]))
			return NULL;
	return more ? value_null(c->a) : NULL;
}

static const struct value *take_at(struct call *c, size_t at)
{
	struct value *l = changing(c), *v = l->list.v[at];

	memmove(l->list.v + at, l->list.v + at + 1, (l->list.n - at - 1) * sizeof *l->list.v);
	l->list.n--;
	return v;
}

static const struct value *l_pop(struct call *c)
{
	int64_t at, n = (int64_t)c->self->list.n;

	if (call_int(c, 0, -1, &at) < 0)
		return NULL;
	at += at < 0 ? n : 0;
	if (at < 0 || at >= n)
		return call_fault(c, n ? "there is no such item to pop" : "pop from an empty list");
	return take_at(c, (size_t)at);
}

static const struct value *l_remove(struct call *c)
{
	for (size_t i = 0; i < c->self->list.n; i++)
		if (op_equal(c->self->list.v[i], c->arg[0]))
			return take_at(c, i) ? value_null(c->a) : NULL;
	return call_fault(c, "the value is not in the list");
}

static const struct value *l_reverse(struct call *c)
{
	struct value *l = changing(c);

	for (size_t i = 0; i < l->list.n / 2; i++) {
		struct value *v = l->list.v[i];
		l->list.v[i] = l->list.v[l->list.n - 1 - i];
		l->list.v[l->list.n - 1 - i] = v;
	}
	return value_null(c->a);
}

/* A merge sort, as equal items keep their order. */
static int sort_items(struct call *c, struct value **v, struct value **tmp, size_t n, bool reverse)
{
	size_t half = n / 2, i = 0, k = half;
	int order = 0;

	if (n < 2)
		return 0;
	if (sort_items(c, v, tmp, half, reverse) < 0 ||
	    sort_items(c, v + half, tmp, n - half, reverse) < 0)
		return -1;
	for (size_t out = 0; out < n; out++) {
		if (i < half && k < n && op_order(v[k], v[i], &order, c->e) < 0)
			return -1;
		bool second = i == half || (k < n && (reverse ? order > 0 : order < 0));
		tmp[out] = second ? v[k++] : v[i++];
	}
	memcpy(v, tmp, n * sizeof *v);
	return 0;
}

static const struct value *l_sort(struct call *c)
{
	struct value *l = changing(c);
	struct value **tmp = arena_array(c->a, struct value *, l->list.n + 1);

	if (sort_items(c, l->list.v, tmp, l->list.n, call_flag(c, 0, false)) < 0)
		return NULL;
	return value_null(c->a);
}

static const struct value *l_clear(struct call *c)
{
	changing(c)->list.n = 0;
	return value_null(c->a);
}

static const struct value *d_put(struct call *c, struct str key, const struct value *v)
{
	if (may_hold(c, v) < 0)
		return NULL;
	value_sets(changing(c), key, v);
	return v;
}

/* update({...}), update([(k, v)]), update(k=v) */
static const struct value *d_update(struct call *c)
{
	const struct value *from = c->args->list.n ? c->args->list.v[0] : NULL;
	struct str key;

	if (from && from->kind != V_MAP && !(from = call_list(c, from)))
		return NULL;
	for (size_t i = 0; from && from->kind == V_MAP && i < from->map.n; i++)
		if (!d_put(c, from->map.e[i].key, from->map.e[i].val))
			return NULL;
	for (size_t i = 0; from && from->kind == V_LIST && i < from->list.n; i++) {
		const struct value *pair = from->list.v[i];
		if (pair->kind != V_LIST || pair->list.n != 2 ||
		    !value_key(c->a, pair->list.v[0], &key))
			return call_fault(c, "update needs a map or pairs");
		if (!d_put(c, key, pair->list.v[1]))
			return NULL;
	}
	for (size_t i = 0; i < c->kwargs->map.n; i++)
		if (!d_put(c, c->kwargs->map.e[i].key, c->kwargs->map.e[i].val))
			return NULL;
	return value_null(c->a);
}

static int key_of(struct call *c, struct str *key)
{
	if (value_key(c->a, c->arg[0], key))
		return 0;
	call_fault(c, "%s cannot be a key", op_type_name(c->arg[0]));
	return -1;
}

static const struct value *d_setdefault(struct call *c)
{
	const struct value *v;
	struct str key;

	if (key_of(c, &key) < 0)
		return NULL;
	v = value_gets(c->self, key);
	return v ? v : d_put(c, key, c->arg[1] ? c->arg[1] : value_null(c->a));
}

static const struct value *d_pop(struct call *c)
{
	const struct value *v;
	struct str key;

	if (key_of(c, &key) < 0)
		return NULL;
	v = value_gets(c->self, key);
	if (!v && !c->arg[1])
		return call_fault(c, "there is no key \"" STR_FMT "\" to pop",
				  STR_ARG(value_key_text(key)));
	if (v)
		map_del(&changing(c)->map, key);
	return v ? v : c->arg[1];
}

static const struct value *d_popitem(struct call *c)
{
	struct value *pair = value_list(c->a);
	size_t n = c->self->map.n;

	if (!n)
		return call_fault(c, "popitem from an empty map");
	const struct map_entry *en = &c->self->map.e[n - 1];
	pair->tuple = true;
	value_add(c->a, pair, value_of_key(c->a, en->key));
	value_add(c->a, pair, en->val);
	map_del(&changing(c)->map, en->key);
	return pair;
}

static const struct value *d_clear(struct call *c)
{
	map_clear(&changing(c)->map);
	return value_null(c->a);
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
		value_add(c->a, pair, value_of_key(c->a, c->self->map.e[i].key));
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

static const struct value *i_bit_length(struct call *c)
{
	int64_t i = op_to_int(c->self);
	uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;

	return value_int(c->a, u ? 64 - __builtin_clzll(u) : 0);
}

static const struct value *f_is_integer(struct call *c)
{
	return value_bool(c->a, c->self->f == (double)(int64_t)c->self->f);
}

static const struct callable list_methods[] = {
	{ "index", l_index, "value!", 0 },
	{ "count", l_count, "value!", 0 },
	{ "copy", same, "", CALL_ITEMS },
	{ "append", l_append, "value!", CALL_CHANGES | CALL_ITEMS },
	{ "extend", l_extend, "values!", CALL_CHANGES | CALL_ITEMS },
	{ "insert", l_insert, "index!,value!", CALL_CHANGES | CALL_ITEMS },
	{ "pop", l_pop, "index", CALL_CHANGES | CALL_ITEMS },
	{ "remove", l_remove, "value!", CALL_CHANGES | CALL_ITEMS },
	{ "sort", l_sort, "reverse", CALL_CHANGES | CALL_ITEMS },
	{ "reverse", l_reverse, "", CALL_CHANGES | CALL_ITEMS },
	{ "clear", l_clear, "", CALL_CHANGES | CALL_ITEMS },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable map_methods[] = {
	{ "items", d_items, "", CALL_ITEMS },
	{ "keys", d_keys, "", CALL_ITEMS },
	{ "values", d_values, "", CALL_ITEMS },
	{ "get", d_get, "key!,default", CALL_ITEMS },
	{ "copy", same, "", CALL_ITEMS },
	{ "update", d_update, "", CALL_CHANGES | CALL_ITEMS | CALL_VARARGS },
	{ "setdefault", d_setdefault, "key!,default", CALL_CHANGES | CALL_ITEMS },
	{ "pop", d_pop, "key!,default", CALL_CHANGES | CALL_ITEMS },
	{ "popitem", d_popitem, "", CALL_CHANGES | CALL_ITEMS },
	{ "clear", d_clear, "", CALL_CHANGES | CALL_ITEMS },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable int_methods[] = {
	{ "bit_length", i_bit_length, "", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const struct callable float_methods[] = {
	{ "is_integer", f_is_integer, "", 0 },
	{ NULL, NULL, NULL, 0 },
};

/* A tuple has of a list what changes nothing. */
static const struct callable tuple_methods[] = {
	{ "index", l_index, "value!", 0 },
	{ "count", l_count, "value!", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct callable *methods_of(size_t i, const char **type)
{
	static const struct {
		const char *type;
		const struct callable *rows;
	} all[] = { { "str", methods_text }, { "list", list_methods }, { "tuple", tuple_methods },
		    { "dict", map_methods }, { "int", int_methods },   { "float", float_methods } };

	if (i >= ARRAY_LEN(all))
		return NULL;
	*type = all[i].type;
	return all[i].rows;
}

static const struct callable *table_of(const struct value *self)
{
	if (self->kind == V_STR)
		return methods_text;
	if (self->kind == V_LIST)
		return self->tuple ? tuple_methods : list_methods;
	if (self->kind == V_INT || self->kind == V_BOOL)
		return int_methods;
	if (self->kind == V_FLOAT)
		return float_methods;
	return self->kind == V_MAP ? map_methods : NULL;
}

/* name -> row of a table; made at the first use, kept for the life of the program */
static const struct map *rows_of(const struct callable *table)
{
	static struct {
		const struct callable *table;
		struct map rows;
	} known[6];
	size_t i = 0;

	while (i < ARRAY_LEN(known) && known[i].table && known[i].table != table)
		i++;
	if (i == ARRAY_LEN(known))
		bug("more tables of methods than are known");
	if (!known[i].table) {
		known[i].table = table;
		map_init(&known[i].rows, arena_new("methods"));
		for (const struct callable *m = table; m->name; m++)
			map_put(&known[i].rows, str_of(m->name), (void *)(uintptr_t)m);
	}
	return &known[i].rows;
}

const struct callable *method_find(const struct value *self, struct str name)
{
	const struct callable *table = table_of(self);

	return table ? map_get(rows_of(table), name) : NULL;
}

const char *method_suggest(const struct value *self, struct str name)
{
	const char *names[64];
	size_t n = 0;

	for (const struct callable *m = table_of(self); m && m->name; m++)
		names[n++] = m->name;
	return str_suggest(name, names, n);
}
