/* SPDX-License-Identifier: Apache-2.0 */
/* Filters on lists and maps. Those that compare every item with every other go through a hash of
 * the item's text. */
#include "templates/filters.h"
#include "templates/order.h"

#include <stdlib.h>

static const struct value *f_length(struct call *c)
{
	int64_t n;

	return op_length(c->self, &n, c->e) < 0 ? NULL : value_int(c->a, n);
}

static const struct value *none_there(struct call *c, const char *what)
{
	struct value *v = value_strf(c->a, "no %s item: the sequence is empty", what);

	v->kind = V_UNDEFINED;
	return v;
}

static const struct value *f_first(struct call *c)
{
	const struct value *l = call_list(c, c->self);

	return !l ? NULL : l->list.n ? l->list.v[0] : none_there(c, "first");
}

static const struct value *f_last(struct call *c)
{
	const struct value *l = call_list(c, c->self);

	return !l ? NULL : l->list.n ? l->list.v[l->list.n - 1] : none_there(c, "last");
}

/* A list of the caller's own: never a tuple. */
static struct value *own_list(struct call *c, const struct value *v)
{
	const struct value *l = call_list(c, v);
	struct value *out = value_list(c->a);

	for (size_t i = 0; l && i < l->list.n; i++)
		value_add(c->a, out, l->list.v[i]);
	return l ? out : NULL;
}

static const struct value *f_list(struct call *c)
{
	return own_list(c, c->self);
}

static const struct value *f_reverse(struct call *c)
{
	struct value *l = own_list(c, c->self);
	scoped(buf_wipe) struct buf b = { 0 };

	for (size_t i = 0; l && i < l->list.n / 2; i++) {
		struct value *x = l->list.v[i];
		l->list.v[i] = l->list.v[l->list.n - 1 - i];
		l->list.v[l->list.n - 1 - i] = x;
	}
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; l && c->self->kind == V_STR && i < l->list.n; i++)
		buf_addstr(&b, l->list.v[i]->s);
	return l && c->self->kind == V_STR
		       ? op_marked(c->a, value_str(c->a, buf_str(&b)), c->self->secret)
		       : l;
}

static const struct value *f_join(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *l = call_list(c, c->self);
	struct str sep = call_text(c, 0, "");
	char room[256];

	if (!l)
		return NULL;
	buf_init_in(&b, room, sizeof room, OPS_MAX_TEXT);
	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *item = l->list.v[i];
		if (c->arg[1])
			item = op_attribute(c->a, item, c->arg[1]);
		if (item->kind == V_UNDEFINED)
			return call_fault(c, "an item has " STR_FMT, STR_ARG(item->s));
		if (i)
			buf_addstr(&b, sep);
		buf_addstr(&b, op_text(c->a, item));
	}
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

/* ---- order ---------------------------------------------------------------------------------- */

/* What an item is compared by: an attribute of it, texts in lower case unless case counts. */
static const struct value *sort_key(struct call *c, const struct value *item,
				    const struct value *attribute, bool case_counts)
{
	if (attribute && attribute->kind != V_NULL)
		item = op_attribute(c->a, item, attribute);
	if (item->kind == V_UNDEFINED)
		return call_fault(c, "an item has " STR_FMT, STR_ARG(item->s));
	if (item->kind != V_STR || case_counts)
		return item;
	char *p = arena_dup(c->a, item->s.p, item->s.n);
	for (size_t i = 0; i < item->s.n; i++)
		if (p[i] >= 'A' && p[i] <= 'Z')
			p[i] = (char)(p[i] + 32);
	return value_str(c->a, (struct str){ p, item->s.n });
}

/* The values of several attributes, "a,b.c", as one to sort by. */
static const struct value *sort_keys(struct call *c, const struct value *item, struct str names,
				     bool case_counts)
{
	struct value *keys = value_list(c->a);
	struct str name;

	while (str_next(&names, ',', &name)) {
		const struct value *k = sort_key(c, item, value_str(c->a, name), case_counts);
		if (!k)
			return NULL;
		value_add(c->a, keys, k);
	}
	return keys;
}

static const struct value *sorted(struct call *c, const struct value *l, bool reverse,
				  const struct value *attribute, bool case_counts)
{
	size_t n = l->list.n;
	struct keyed *v = arena_array(c->a, struct keyed, n + 1);
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < n; i++) {
		bool several = attribute && attribute->kind == V_STR &&
			       str_find_char(attribute->s, ',') != SIZE_MAX;
		v[i] = (struct keyed){ several ? sort_keys(c, l->list.v[i], attribute->s,
							   case_counts)
					       : sort_key(c, l->list.v[i], attribute, case_counts),
				       l->list.v[i] };
		if (!v[i].key)
			return NULL;
	}
	if (order_sort(c->a, v, n, reverse, c->e) < 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		value_add(c->a, out, v[i].item);
	return out;
}

static const struct value *f_sort(struct call *c)
{
	const struct value *l = call_list(c, c->self);

	return l ? sorted(c, l, call_flag(c, 0, false), c->arg[2], call_flag(c, 1, false)) : NULL;
}

static const struct value *f_dictsort(struct call *c)
{
	struct value *pairs = value_list(c->a);
	struct str by = call_text(c, 1, "key");

	if (!str_eqc(by, "key") && !str_eqc(by, "value"))
		return call_fault(c, "dictsort sorts by key or by value");
	if (c->self->kind != V_MAP)
		return call_fault(c, "dictsort needs a map, not %s", op_type_name(c->self));
	for (size_t i = 0; i < c->self->map.n; i++) {
		struct value *pair = value_list(c->a);
		pair->tuple = true;
		value_add(c->a, pair, value_of_key(c->a, c->self->map.e[i].key));
		value_add(c->a, pair, c->self->map.e[i].val);
		value_add(c->a, pairs, pair);
	}
	return sorted(c, pairs, call_flag(c, 2, false), value_int(c->a, str_eqc(by, "value")),
		      call_flag(c, 0, false));
}

static const struct value *extreme(struct call *c, int want)
{
	const struct value *l = call_list(c, c->self), *best = NULL, *best_key = NULL;
	int order;

	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *key = sort_key(c, l->list.v[i], c->arg[1],
						   call_flag(c, 0, false));
		if (!key)
			return NULL;
		if (best && op_order(key, best_key, &order, c->e) < 0)
			return NULL;
		if (!best || (want < 0 ? order < 0 : order > 0)) {
			best = l->list.v[i];
			best_key = key;
		}
	}
	return !l || best ? best : none_there(c, want < 0 ? "smallest" : "largest");
}

static const struct value *f_min(struct call *c)
{
	return extreme(c, -1);
}

static const struct value *f_max(struct call *c)
{
	return extreme(c, 1);
}

static const struct value *f_sum(struct call *c)
{
	const struct value *l = call_list(c, c->self),
			   *total = c->arg[1] ? c->arg[1] : value_int(c->a, 0);

	if (total->kind == V_STR)
		return call_fault(c, "sum is for numbers and lists: join texts with join");
	for (size_t i = 0; l && total && i < l->list.n; i++) {
		const struct value *item = l->list.v[i];
		if (c->arg[0] && c->arg[0]->kind != V_NULL)
			item = op_attribute(c->a, item, c->arg[0]);
		if (item->kind == V_UNDEFINED)
			return call_fault(c, "an item has " STR_FMT, STR_ARG(item->s));
		total = op_binary(c->a, '+', total, item, c->e);
	}
	return l ? total : NULL;
}

/* ---- sets ----------------------------------------------------------------------------------- */

/* Equal values have equal texts, but for 1, 1.0 and True: numbers are all written the same way. */
static struct str identity(struct call *c, const struct value *v)
{
	if (op_is_number(v)) {
		double d = op_to_double(v);
		return str_of(v->kind == V_INT ? arena_printf(c->a, "#%lld", (long long)v->i)
			      : d == (double)(int64_t)d ? arena_printf(c->a, "#%lld", (long long)d)
							: arena_printf(c->a, "#%.17g", d));
	}
	return str_of(arena_printf(c->a, "%d" STR_FMT, (int)v->kind, STR_ARG(op_text(c->a, v))));
}

static void collect(struct call *c, const struct value *l, struct map *seen)
{
	for (size_t i = 0; i < l->list.n; i++)
		map_put(seen, identity(c, l->list.v[i]), l->list.v[i]);
}

/* Items of x whose being in y is `want`, each once. */
static const struct value *choose(struct call *c, const struct value *x, const struct value *y,
				  bool want)
{
	struct map in_y, seen;
	struct value *out = value_list(c->a);

	map_init(&in_y, c->a);
	map_init(&seen, c->a);
	collect(c, y, &in_y);
	for (size_t i = 0; i < x->list.n; i++) {
		struct str id = identity(c, x->list.v[i]);
		if (map_has(&in_y, id) != want || map_has(&seen, id))
			continue;
		map_put(&seen, id, x->list.v[i]);
		value_add(c->a, out, x->list.v[i]);
	}
	return out;
}

static int two_lists(struct call *c, const struct value **x, const struct value **y)
{
	*x = call_list(c, c->self);
	*y = *x ? call_list(c, c->arg[0]) : NULL;
	return *y ? 0 : -1;
}

static const struct value *f_difference(struct call *c)
{
	const struct value *x, *y;

	return two_lists(c, &x, &y) < 0 ? NULL : choose(c, x, y, false);
}

static const struct value *f_intersect(struct call *c)
{
	const struct value *x, *y;

	return two_lists(c, &x, &y) < 0 ? NULL : choose(c, x, y, true);
}

static const struct value *f_union(struct call *c)
{
	const struct value *x, *y;

	if (two_lists(c, &x, &y) < 0)
		return NULL;
	return choose(c, op_binary(c->a, '+', own_list(c, x), own_list(c, y), c->e),
		      value_list(c->a), false);
}

static const struct value *f_symmetric_difference(struct call *c)
{
	const struct value *x, *y;

	if (two_lists(c, &x, &y) < 0)
		return NULL;
	return op_binary(c->a, '+', choose(c, x, y, false), choose(c, y, x, false), c->e);
}

static const struct value *f_unique(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_list(c->a);
	struct map seen;

	map_init(&seen, c->a);
	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *key = sort_key(c, l->list.v[i], c->arg[1],
						   call_flag(c, 0, false));
		if (!key)
			return NULL;
		struct str id = identity(c, key);
		if (map_has(&seen, id))
			continue;
		map_put(&seen, id, out);
		value_add(c->a, out, l->list.v[i]);
	}
	return l ? out : NULL;
}

static int flatten_into(struct call *c, const struct value *l, int64_t levels, bool skip_nulls,
			struct value *out)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *v = l->list.v[i];
		if (skip_nulls &&
		    (v->kind == V_NULL ||
		     (v->kind == V_STR && (str_eqc(v->s, "None") || str_eqc(v->s, "null")))))
			continue;
		if (v->kind == V_LIST && levels != 0) {
			if (flatten_into(c, v, levels - 1, skip_nulls, out) < 0)
				return -1;
			continue;
		}
		value_add(c->a, out, v);
		if (out->list.n > OPS_MAX_ITEMS)
			return err_set(c->e, ERR_SPEC,
				       "the list would have more than 1000000 items");
	}
	return 0;
}

static const struct value *f_flatten(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_list(c->a);
	int64_t levels;

	if (!l || call_int(c, 0, -1, &levels) < 0 ||
	    flatten_into(c, l, levels, call_flag(c, 1, true), out) < 0)
		return NULL;
	return out;
}

/* ---- each item ------------------------------------------------------------------------------ */

static const struct value *args_after(struct call *c, size_t from)
{
	struct value *out = value_list(c->a);

	for (size_t i = from; i < c->args->list.n; i++)
		value_add(c->a, out, c->args->list.v[i]);
	return out;
}

/* An item that is undefined stays so until something uses it: `map(...)|select('defined')`. */
static void add_maybe(struct call *c, struct value *out, const struct value *v)
{
	*c->host->holes = *c->host->holes || v->kind == V_UNDEFINED;
	value_add(c->a, out, v);
}

static const struct value *map_attribute(struct call *c, const struct value *l,
					 const struct value *attribute)
{
	const struct value *fallback = value_get(c->kwargs, "default");
	struct value *out = value_list(c->a);

	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *v = op_attribute(c->a, l->list.v[i], attribute);
		if (v->kind == V_UNDEFINED && fallback)
			v = fallback;
		add_maybe(c, out, v);
	}
	return out;
}

/* Nothing, whatever its type, is no items for map and select. */
static const struct value *items_or_none(struct call *c)
{
	return value_is_truthy(c->self) ? call_list(c, c->self) : value_list(c->a);
}

static const struct value *f_map(struct call *c)
{
	const struct value *l = items_or_none(c), *attribute = value_get(c->kwargs, "attribute");
	struct value *out = value_list(c->a);

	if (!l)
		return NULL;
	if (attribute)
		return map_attribute(c, l, attribute);
	if (!c->args->list.n || c->args->list.v[0]->kind != V_STR)
		return call_fault(c, "map needs the name of a filter, or attribute='...'");
	const struct value *rest = args_after(c, 1);
	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *v = c->host->filter(c->host->arg, c->args->list.v[0]->s,
							l->list.v[i], c, rest);
		if (!v)
			return NULL;
		add_maybe(c, out, v);
	}
	return out;
}

/* select, reject (by_attribute false), selectattr, rejectattr */
static const struct value *filter_items(struct call *c, bool by_attribute, bool want)
{
	const struct value *l = items_or_none(c);
	struct value *out = value_list(c->a);
	size_t test = by_attribute ? 1 : 0;
	bool r;

	if (!l)
		return NULL;
	if (by_attribute && !c->args->list.n)
		return call_fault(c, "%s needs the name of an attribute", c->name);
	const struct value *rest = args_after(c, test + 1);
	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *v = l->list.v[i];
		if (by_attribute)
			v = op_attribute(c->a, v, c->args->list.v[0]);
		if (c->args->list.n > test) {
			if (c->host->test(c->host->arg, op_text(c->a, c->args->list.v[test]), v, c,
					  rest, &r) < 0)
				return NULL;
		} else if (v->kind == V_UNDEFINED) {
			return call_fault(c, STR_FMT, STR_ARG(v->s));
		} else {
			r = value_is_truthy(v);
		}
		if (r == want)
			value_add(c->a, out, l->list.v[i]);
	}
	return out;
}

static const struct value *f_select(struct call *c)
{
	return filter_items(c, false, true);
}

static const struct value *f_reject(struct call *c)
{
	return filter_items(c, false, false);
}

static const struct value *f_selectattr(struct call *c)
{
	return filter_items(c, true, true);
}

static const struct value *f_rejectattr(struct call *c)
{
	return filter_items(c, true, false);
}

/* ---- shapes --------------------------------------------------------------------------------- */

/* What an item is grouped by; NULL: a fault. */
static const struct value *group_value(struct call *c, const struct value *item)
{
	const struct value *v = op_attribute(c->a, item, c->arg[0]);

	if (v->kind == V_UNDEFINED && c->arg[1] && c->arg[1]->kind != V_NULL)
		return c->arg[1];
	return v->kind == V_UNDEFINED ? call_fault(c, "an item has " STR_FMT, STR_ARG(v->s)) : v;
}

static const struct value *f_groupby(struct call *c)
{
	const struct value *l = call_list(c, c->self), *real, *last = NULL;
	struct keyed *v = arena_array(c->a, struct keyed, (l ? l->list.n : 0) + 1);
	struct value *out = value_list(c->a), *group = NULL;

	for (size_t i = 0; l && i < l->list.n; i++) {
		v[i].item = l->list.v[i];
		if (!(real = group_value(c, v[i].item)) ||
		    !(v[i].key = sort_key(c, real, NULL, call_flag(c, 2, false))))
			return NULL;
	}
	if (!l || order_sort(c->a, v, l->list.n, false, c->e) < 0)
		return NULL;
	for (size_t i = 0; i < l->list.n; i++) {
		if (!last || !op_equal(last, v[i].key)) {
			struct value *pair = value_list(c->a);
			pair->tuple = true;
			group = value_list(c->a);
			value_add(c->a, pair, group_value(c, v[i].item));
			value_add(c->a, pair, group);
			value_add(c->a, out, pair);
			last = v[i].key;
		}
		value_add(c->a, group, v[i].item);
	}
	return out;
}

static const struct value *f_batch(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_list(c->a), *row = NULL;
	int64_t n;

	if (!l || call_int(c, 0, 0, &n) < 0)
		return NULL;
	if (n < 1 || n > OPS_MAX_ITEMS)
		return call_fault(c, "batch needs a size of at least 1");
	for (size_t i = 0; i < l->list.n; i++) {
		if (i % (size_t)n == 0) {
			row = value_list(c->a);
			value_add(c->a, out, row);
		}
		value_add(c->a, row, l->list.v[i]);
	}
	while (row && c->arg[1] && c->arg[1]->kind != V_NULL && row->list.n < (size_t)n)
		value_add(c->a, row, c->arg[1]);
	return out;
}

/* x|attr('name'): of a map only its methods are attributes, and they are no values here. */
static const struct value *f_attr(struct call *c)
{
	struct value *v = value_strf(c->a, "there is no attribute \"" STR_FMT "\"",
				     STR_ARG(call_text(c, 0, "")));

	v->kind = V_UNDEFINED;
	return v;
}

static const struct value *f_slice(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_list(c->a);
	int64_t n;

	if (!l || call_int(c, 0, 0, &n) < 0)
		return NULL;
	if (n < 1 || n > OPS_MAX_ITEMS)
		return call_fault(c, "slice needs a number of at least 1");
	size_t slices = (size_t)n, each = l->list.n / slices, extra = l->list.n % slices, at = 0;
	for (size_t i = 0; i < slices; i++) {
		struct value *part = value_list(c->a);
		for (size_t end = at + each + (i < extra); at < end; at++)
			value_add(c->a, part, l->list.v[at]);
		if (c->arg[1] && c->arg[1]->kind != V_NULL && i >= extra)
			value_add(c->a, part, c->arg[1]);
		value_add(c->a, out, part);
	}
	return out;
}

static const struct value *f_zip(struct call *c)
{
	struct value *lists = value_list(c->a), *out = value_list(c->a);
	const struct value *l = call_list(c, c->self);
	size_t n = l ? l->list.n : 0;

	if (!l)
		return NULL;
	value_add(c->a, lists, l);
	for (size_t i = 0; i < c->args->list.n; i++) {
		if (!(l = call_list(c, c->args->list.v[i])))
			return NULL;
		n = l->list.n < n ? l->list.n : n;
		value_add(c->a, lists, l);
	}
	for (size_t i = 0; i < n; i++) {
		struct value *row = value_list(c->a);
		row->tuple = true;
		for (size_t k = 0; k < lists->list.n; k++)
			value_add(c->a, row, lists->list.v[k]->list.v[i]);
		value_add(c->a, out, row);
	}
	return out;
}

static const struct value *f_dict2items(struct call *c)
{
	struct str key_name = call_text(c, 0, "key"), value_name = call_text(c, 1, "value");
	struct value *out = value_list(c->a);

	if (c->self->kind != V_MAP)
		return call_fault(c, "dict2items needs a map, not %s", op_type_name(c->self));
	for (size_t i = 0; i < c->self->map.n; i++) {
		struct value *item = value_map(c->a);
		value_sets(item, key_name, value_of_key(c->a, c->self->map.e[i].key));
		value_sets(item, value_name, c->self->map.e[i].val);
		value_add(c->a, out, item);
	}
	return out;
}

static const struct value *f_items2dict(struct call *c)
{
	struct str key_name = call_text(c, 0, "key"), value_name = call_text(c, 1, "value");
	const struct value *l = call_list(c, c->self);
	struct value *out = value_map(c->a);
	struct str key;

	if (c->self->kind == V_MAP)
		return call_fault(c, "items2dict needs a list, not a map");
	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *k = value_gets(l->list.v[i], key_name),
				   *v = value_gets(l->list.v[i], value_name);
		if (!k || !v)
			return call_fault(c, "item %zu has no \"" STR_FMT "\"", i,
					  STR_ARG(k ? value_name : key_name));
		if (!value_key(c->a, k, &key))
			return call_fault(c, "item %zu has a key that is none of a map", i);
		value_sets(out, key, v);
	}
	return l ? out : NULL;
}

/* Every item of x that is not in y. */
static const struct value *without(struct call *c, const struct value *x, const struct value *y)
{
	struct value *out = value_list(c->a);
	struct map in_y;

	map_init(&in_y, c->a);
	collect(c, y, &in_y);
	for (size_t i = 0; i < x->list.n; i++)
		if (!map_has(&in_y, identity(c, x->list.v[i])))
			value_add(c->a, out, x->list.v[i]);
	return out;
}

static const struct value *merged_list(struct call *c, struct str how, const struct value *x,
				       const struct value *y)
{
	if (str_eqc(how, "append"))
		return op_binary(c->a, '+', x, y, c->e);
	if (str_eqc(how, "prepend"))
		return op_binary(c->a, '+', y, x, c->e);
	if (str_eqc(how, "append_rp"))
		return op_binary(c->a, '+', without(c, x, y), y, c->e);
	if (str_eqc(how, "prepend_rp"))
		return op_binary(c->a, '+', y, without(c, x, y), c->e);
	return str_eqc(how, "keep") ? x : y;
}

static bool is_list_merge(struct str how)
{
	static const char *const known[] = { "replace", "keep",	     "append",
					     "prepend", "append_rp", "prepend_rp" };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eqc(how, known[i]))
			return true;
	return false;
}

static const struct value *combine_two(struct call *c, const struct value *x, const struct value *y,
				       bool deep, struct str lists)
{
	struct value *out = value_map(c->a);

	for (size_t i = 0; i < x->map.n; i++)
		value_sets(out, x->map.e[i].key, x->map.e[i].val);
	for (size_t i = 0; i < y->map.n; i++) {
		const struct value *old = value_gets(out, y->map.e[i].key), *new = y->map.e[i].val;
		if (old && deep && old->kind == V_MAP && new->kind == V_MAP)
			new = combine_two(c, old, new, deep, lists);
		else if (old && old->kind == V_LIST && new->kind == V_LIST)
			new = merged_list(c, lists, old, new);
		if (!new)
			return NULL;
		value_sets(out, y->map.e[i].key, new);
	}
	return out;
}

static const struct value *f_combine(struct call *c)
{
	const struct value *out = c->self, *l = value_list(c->a);
	bool deep = value_get_bool(c->kwargs, "recursive", false);
	struct str lists = value_get_str(c->kwargs, "list_merge", "replace");

	for (size_t i = 0; i < c->kwargs->map.n; i++)
		if (!str_eqc(c->kwargs->map.e[i].key, "recursive") &&
		    !str_eqc(c->kwargs->map.e[i].key, "list_merge"))
			return call_fault(c, "combine has no parameter \"" STR_FMT "\"",
					  STR_ARG(c->kwargs->map.e[i].key));
	if (!is_list_merge(lists))
		return call_fault(
			c, "list_merge is replace, keep, append, prepend, append_rp or prepend_rp");
	for (size_t i = 0; i < c->args->list.n; i++) {
		const struct value *v = c->args->list.v[i];
		if (v->kind == V_LIST)
			l = op_binary(c->a, '+', l, own_list(c, v), c->e);
		else if (v->kind != V_NULL)
			value_add(c->a, (struct value *)(uintptr_t)l, v);
		if (!l)
			return NULL;
	}
	if (c->self->kind == V_LIST) { /* a list of maps is combined from left to right */
		l = op_binary(c->a, '+', own_list(c, c->self), l, c->e);
		out = value_map(c->a);
	}
	if (!l || out->kind != V_MAP)
		return l ? call_fault(c, "combine needs maps, not %s", op_type_name(out)) : NULL;
	for (size_t i = 0; out && i < l->list.n; i++) {
		if (l->list.v[i]->kind != V_MAP)
			return call_fault(c, "combine needs maps, not %s",
					  op_type_name(l->list.v[i]));
		out = combine_two(c, out, l->list.v[i], deep, lists);
	}
	return out;
}

static const struct value *f_ternary(struct call *c)
{
	if (c->self->kind == V_NULL && c->arg[2])
		return c->arg[2];
	return value_is_truthy(c->self) ? c->arg[0] : c->arg[1];
}

static const struct value *f_items(struct call *c)
{
	if (c->self->kind == V_UNDEFINED)
		return value_list(c->a);
	if (c->self->kind != V_MAP)
		return call_fault(c, "items needs a map, not %s", op_type_name(c->self));
	struct value *pairs = value_list(c->a);
	for (size_t i = 0; i < c->self->map.n; i++) {
		struct value *pair = value_list(c->a);
		pair->tuple = true;
		value_add(c->a, pair, value_of_key(c->a, c->self->map.e[i].key));
		value_add(c->a, pair, c->self->map.e[i].val);
		value_add(c->a, pairs, pair);
	}
	return pairs;
}

const struct callable filters_list[] = {
	{ "length", f_length, "", CALL_ITEMS },
	{ "count", f_length, "", CALL_ITEMS },
	{ "first", f_first, "", CALL_ITEMS },
	{ "last", f_last, "", CALL_ITEMS },
	{ "list", f_list, "", CALL_ITEMS },
	{ "reverse", f_reverse, "", CALL_ITEMS },
	{ "join", f_join, "d,attribute", 0 },
	{ "sort", f_sort, "reverse,case_sensitive,attribute", CALL_ITEMS },
	{ "dictsort", f_dictsort, "case_sensitive,by,reverse", CALL_ITEMS },
	{ "min", f_min, "case_sensitive,attribute", CALL_ITEMS },
	{ "max", f_max, "case_sensitive,attribute", CALL_ITEMS },
	{ "sum", f_sum, "attribute,start", 0 },
	{ "unique", f_unique, "case_sensitive,attribute", CALL_ITEMS },
	{ "difference", f_difference, "other!", CALL_ITEMS },
	{ "intersect", f_intersect, "other!", CALL_ITEMS },
	{ "union", f_union, "other!", CALL_ITEMS },
	{ "symmetric_difference", f_symmetric_difference, "other!", CALL_ITEMS },
	{ "flatten", f_flatten, "levels,skip_nulls", CALL_ITEMS },
	{ "map", f_map, "", CALL_VARARGS | CALL_ITEMS },
	{ "select", f_select, "", CALL_VARARGS | CALL_ITEMS },
	{ "reject", f_reject, "", CALL_VARARGS | CALL_ITEMS },
	{ "selectattr", f_selectattr, "", CALL_VARARGS | CALL_ITEMS },
	{ "rejectattr", f_rejectattr, "", CALL_VARARGS | CALL_ITEMS },
	{ "groupby", f_groupby, "attribute!,default,case_sensitive", CALL_ITEMS },
	{ "batch", f_batch, "linecount!,fill_with", CALL_ITEMS },
	{ "attr", f_attr, "name!", CALL_ITEMS },
	{ "slice", f_slice, "slices!,fill_with", CALL_ITEMS },
	{ "zip", f_zip, "", CALL_VARARGS | CALL_ITEMS },
	{ "items", f_items, "", CALL_ITEMS | CALL_UNDEFINED },
	{ "dict2items", f_dict2items, "key_name,value_name", CALL_ITEMS },
	{ "items2dict", f_items2dict, "key_name,value_name", CALL_ITEMS },
	{ "combine", f_combine, "", CALL_VARARGS | CALL_ITEMS },
	{ "ternary", f_ternary, "true_val!,false_val!,none_val", CALL_ITEMS | CALL_SOFT },
	{ NULL, NULL, NULL, 0 },
};
