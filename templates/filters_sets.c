/* SPDX-License-Identifier: Apache-2.0 */
/* Lists out of lists: products, choices, pairs; parts of maps by key. */
#include "templates/filters.h"

static const struct value *refuse_size(struct call *c)
{
	return call_fault(c, "%s gives more than %d items", c->name, OPS_MAX_ITEMS);
}

/* self and all the arguments, each as a list. */
static struct value *all_lists(struct call *c)
{
	struct value *out = value_list(c->a);
	const struct value *l = call_list(c, c->self);

	for (size_t i = 0; l; i++) {
		value_add(c->a, out, l);
		if (i == c->args->list.n)
			return out;
		l = call_list(c, c->args->list.v[i]);
	}
	return NULL;
}

static const struct value *f_product(struct call *c)
{
	const struct value *lists = all_lists(c), *repeat = value_get(c->kwargs, "repeat");
	struct value *out = value_list(c->a);
	int64_t times = repeat && repeat->kind == V_INT ? repeat->i : 1;
	size_t total = 1;

	if (!lists)
		return NULL;
	if (times < 1 || times > 64)
		return call_fault(c, "product: repeat must be 1 to 64");
	size_t n = lists->list.n * (size_t)times;
	for (size_t i = 0; i < n; i++)
		if (__builtin_mul_overflow(total, lists->list.v[i % lists->list.n]->list.n,
					   &total) ||
		    total > OPS_MAX_ITEMS)
			return refuse_size(c);
	for (size_t k = 0; k < total; k++) {
		struct value *row = value_list(c->a);
		size_t rest = k, weight = total;
		row->tuple = true;
		for (size_t i = 0; i < n; i++) {
			const struct value *l = lists->list.v[i % lists->list.n];
			weight /= l->list.n;
			value_add(c->a, row, l->list.v[rest / weight]);
			rest %= weight;
		}
		value_add(c->a, out, row);
	}
	return out;
}

struct choice {
	struct call *c;
	const struct value *l;
	struct value *out;
	size_t *picked, n;
	bool ordered; /* permutations */
};

static bool is_picked(const struct choice *ch, size_t depth, size_t i)
{
	for (size_t k = 0; k < depth; k++)
		if (ch->picked[k] == i)
			return true;
	return false;
}

static int choose_from(struct choice *ch, size_t depth, size_t from)
{
	if (depth == ch->n) {
		struct value *row = value_list(ch->c->a);
		row->tuple = true;
		for (size_t i = 0; i < ch->n; i++)
			value_add(ch->c->a, row, ch->l->list.v[ch->picked[i]]);
		value_add(ch->c->a, ch->out, row);
		return ch->out->list.n > OPS_MAX_ITEMS / 8 ? (refuse_size(ch->c), -1) : 0;
	}
	for (size_t i = ch->ordered ? 0 : from; i < ch->l->list.n; i++) {
		if (ch->ordered && is_picked(ch, depth, i))
			continue;
		ch->picked[depth] = i;
		if (choose_from(ch, depth + 1, i + 1) < 0)
			return -1;
	}
	return 0;
}

static const struct value *choices(struct call *c, bool ordered)
{
	struct choice ch = {
		.c = c, .l = call_list(c, c->self), .out = value_list(c->a), .ordered = ordered
	};
	int64_t n;

	if (!ch.l || call_int(c, 0, (int64_t)ch.l->list.n, &n) < 0)
		return NULL;
	if (n < 0 || n > 64)
		return call_fault(c, "%s: the size must be 0 to 64", c->name);
	if ((size_t)n > ch.l->list.n)
		return ch.out;
	ch.n = (size_t)n;
	ch.picked = arena_array(c->a, size_t, ch.n + 1);
	return choose_from(&ch, 0, 0) < 0 ? NULL : ch.out;
}

static const struct value *f_permutations(struct call *c)
{
	return choices(c, true);
}

static const struct value *f_combinations(struct call *c)
{
	if (!c->arg[0])
		return call_fault(c, "combinations needs a size");
	return choices(c, false);
}

static const struct value *f_zip_longest(struct call *c)
{
	const struct value *lists = all_lists(c), *fill = value_get(c->kwargs, "fillvalue");
	struct value *out = value_list(c->a);
	size_t n = 0;

	for (size_t i = 0; lists && i < lists->list.n; i++)
		n = lists->list.v[i]->list.n > n ? lists->list.v[i]->list.n : n;
	for (size_t k = 0; k < n; k++) {
		struct value *row = value_list(c->a);
		row->tuple = true;
		for (size_t i = 0; i < lists->list.n; i++) {
			const struct value *l = lists->list.v[i];
			value_add(c->a, row,
				  k < l->list.n ? l->list.v[k]
				  : fill	? fill
						: value_null(c->a));
		}
		value_add(c->a, out, row);
	}
	return lists ? out : NULL;
}

/* ---- parts of maps -------------------------------------------------------------------------- */

/* key|extract(container, morekeys) */
static const struct value *f_extract(struct call *c)
{
	const struct value *v = op_item(c->a, c->arg[0], c->self), *more = c->arg[1];

	if (v && more && more->kind != V_LIST && more->kind != V_NULL)
		v = op_item(c->a, v, more);
	for (size_t i = 0; v && more && more->kind == V_LIST && i < more->list.n; i++)
		v = op_item(c->a, v, more->list.v[i]);
	if (v)
		return v;
	struct value *none = value_strf(c->a, "extract: there is no \"" STR_FMT "\"",
					STR_ARG(op_text(c->a, c->self)));
	none->kind = V_UNDEFINED;
	return none;
}

/* Each item with each of its subelements, as pairs. */
static const struct value *f_subelements(struct call *c)
{
	const struct value *l = c->self, *path = c->arg[0];
	struct value *out = value_list(c->a), *keys = value_list(c->a);
	bool skip = call_flag(c, 1, false);
	struct str rest, part;

	if (l->kind == V_MAP) {
		struct value *values = value_list(c->a);
		for (size_t i = 0; i < l->map.n; i++)
			value_add(c->a, values, l->map.e[i].val);
		l = values;
	}
	if (l->kind != V_LIST)
		return call_fault(c, "subelements needs a list or a map, not %s", op_type_name(l));
	for (size_t i = 0; path->kind == V_LIST && i < path->list.n; i++)
		value_add(c->a, keys, path->list.v[i]);
	rest = path->kind == V_STR ? path->s : STR("");
	while (rest.n && str_next(&rest, '.', &part))
		value_add(c->a, keys, value_str(c->a, part));
	for (size_t i = 0; i < l->list.n; i++) {
		const struct value *v = l->list.v[i];
		for (size_t k = 0; v && k < keys->list.n; k++)
			v = v->kind == V_MAP ? op_item(c->a, v, keys->list.v[k]) : NULL;
		if (!v && skip)
			continue;
		if (!v || v->kind != V_LIST)
			return call_fault(c, v ? "subelements: the value is no list"
					       : "subelements: an item lacks the key");
		for (size_t k = 0; k < v->list.n; k++) {
			struct value *pair = value_list(c->a);
			pair->tuple = true;
			value_add(c->a, pair, l->list.v[i]);
			value_add(c->a, pair, v->list.v[k]);
			value_add(c->a, out, pair);
			if (out->list.n > OPS_MAX_ITEMS)
				return refuse_size(c);
		}
	}
	return out;
}

/* [{'k': 1, ...}]|rekey_on_member('k') */
static const struct value *f_rekey_on_member(struct call *c)
{
	struct str duplicates = call_text(c, 1, "error"), key;
	struct value *out = value_map(c->a), *items = value_list(c->a);

	if (!str_eqc(duplicates, "error") && !str_eqc(duplicates, "overwrite"))
		return call_fault(c, "duplicates is error or overwrite");
	for (size_t i = 0; c->self->kind == V_MAP && i < c->self->map.n; i++)
		value_add(c->a, items, c->self->map.e[i].val);
	const struct value *l = c->self->kind == V_MAP ? items : call_list(c, c->self);
	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *v = l->list.v[i],
				   *k = v->kind == V_MAP ? op_item(c->a, v, c->arg[0]) : NULL;
		if (!k || !value_key(c->a, k, &key))
			return call_fault(c, "an item lacks the key \"" STR_FMT "\"",
					  STR_ARG(call_text(c, 0, "")));
		if (value_gets(out, key) && !str_eqc(duplicates, "overwrite"))
			return call_fault(c, "two items have the key \"" STR_FMT "\"",
					  STR_ARG(value_key_text(key)));
		value_sets(out, key, v);
	}
	return l ? out : NULL;
}

const struct callable filters_sets[] = {
	{ "product", f_product, "", CALL_VARARGS | CALL_ITEMS },
	{ "permutations", f_permutations, "n", CALL_ITEMS },
	{ "combinations", f_combinations, "n!", CALL_ITEMS },
	{ "zip_longest", f_zip_longest, "", CALL_VARARGS | CALL_ITEMS },
	{ "extract", f_extract, "container!,morekeys", CALL_ITEMS },
	{ "subelements", f_subelements, "subelements!,skip_missing", CALL_ITEMS },
	{ "rekey_on_member", f_rekey_on_member, "key!,duplicates", CALL_ITEMS },
	{ NULL, NULL, NULL, 0 },
};
