/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups that make lists of what they are given. */
#include "base/rand.h"
#include "templates/filters.h"
#include "templates/lookup.h"

#define MAX_NUMBERS 100000

/* ---- names ---------------------------------------------------------------------------------- */

int look_vars(struct lookup *l)
{
	const struct value *fallback = value_get(l->kwargs, "default");

	for (size_t i = 0; i < l->terms->list.n; i++) {
		struct str name = op_text(l->a, l->terms->list.v[i]);
		const struct value *v = eval_name(l->ev, name);
		if (!v)
			return -1;
		if (v->kind == V_UNDEFINED && !fallback)
			return err_set(l->e, ERR_SPEC, "no variable \"" STR_FMT "\"",
				       STR_ARG(name));
		value_add(l->a, l->out, v->kind == V_UNDEFINED ? fallback : v);
	}
	return 0;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void add_flat(struct lookup *l, const struct value *v, int depth)
{
	if (v->kind != V_LIST || depth == 0) {
		value_add(l->a, l->out, v);
		return;
	}
	for (size_t i = 0; i < v->list.n; i++)
		add_flat(l, v->list.v[i], depth - 1);
}

int look_items(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++)
		add_flat(l, l->terms->list.v[i], 1);
	return 0;
}

int look_list(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++)
		value_add(l->a, l->out, l->terms->list.v[i]);
	return 0;
}

int look_flattened(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++)
		add_flat(l, l->terms->list.v[i], OPS_MAX_NESTING);
	return 0;
}

int look_indexed_items(struct lookup *l)
{
	if (look_items(l) < 0)
		return -1;
	for (size_t i = 0; i < l->out->list.n; i++) {
		struct value *pair = value_list(l->a);
		pair->tuple = true;
		value_add(l->a, pair, value_int(l->a, (int64_t)i));
		value_add(l->a, pair, l->out->list.v[i]);
		l->out->list.v[i] = pair;
	}
	return 0;
}

int look_dict(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++) {
		const struct value *m = l->terms->list.v[i];
		if (m->kind != V_MAP)
			return err_set(l->e, ERR_SPEC, "dict needs maps, not %s", op_type_name(m));
		for (size_t k = 0; k < m->map.n; k++) {
			struct value *item = value_map(l->a);
			value_set(item, "key", value_of_key(l->a, m->map.e[k].key));
			value_set(item, "value", m->map.e[k].val);
			value_add(l->a, l->out, item);
		}
	}
	return 0;
}

int look_random_choice(struct lookup *l)
{
	if (l->terms->list.n)
		value_add(l->a, l->out, l->terms->list.v[rand_below(l->terms->list.n)]);
	return 0;
}

/* By a filter over the first term, with the rest as its arguments. */
static int by_filter(struct lookup *l, const char *name)
{
	const struct callable *f = filter_find(str_of(name));
	struct value *rest = value_list(l->a);
	struct call c = { .a = l->a, .args = rest, .kwargs = value_map(l->a), .e = l->e };
	const struct value *v;

	if (!l->terms->list.n)
		return err_set(l->e, ERR_SPEC, "the lookup needs a list");
	c.self = l->terms->list.v[0];
	for (size_t i = 1; i < l->terms->list.n; i++)
		value_add(l->a, rest, l->terms->list.v[i]);
	if (call_bind(f, &c) < 0 || !(v = f->fn(&c)))
		return -1;
	for (size_t i = 0; i < v->list.n; i++) {
		struct value *row = (struct value *)(uintptr_t)v->list.v[i];
		row->tuple = row->kind == V_LIST ? false : row->tuple;
		value_add(l->a, l->out, row);
	}
	return 0;
}

int look_nested(struct lookup *l)
{
	return by_filter(l, "product");
}

int look_together(struct lookup *l)
{
	return by_filter(l, "zip_longest");
}

int look_subelements(struct lookup *l)
{
	const struct value *opts = l->terms->list.n > 2 ? l->terms->list.v[2] : NULL, *skip;
	struct value *terms = value_list(l->a);

	for (size_t i = 0; i < l->terms->list.n && i < 2; i++)
		value_add(l->a, terms, l->terms->list.v[i]);
	skip = opts && opts->kind == V_MAP ? value_get(opts, "skip_missing") : NULL;
	skip = skip ? skip : value_get(l->kwargs, "skip_missing");
	value_add(l->a, terms, value_bool(l->a, skip && value_is_truthy(skip)));
	l->terms = terms;
	return by_filter(l, "subelements");
}

/* ---- sequence ------------------------------------------------------------------------------- */

struct sequence {
	int64_t start, end, stride, count;
	bool has_end, has_count, hex;
	struct str format;
};

static int set_part(struct lookup *l, struct sequence *s, struct str name, struct str text)
{
	int64_t *to = str_eqc(name, "start")	? &s->start
		      : str_eqc(name, "end")	? &s->end
		      : str_eqc(name, "count")	? &s->count
		      : str_eqc(name, "stride") ? &s->stride
						: NULL;
	uint64_t u;

	if (str_eqc(name, "format")) {
		s->format = text;
		return 0;
	}
	if (!to || (!str_to_int(text, to) &&
		    !(str_starts(text, "0x") && str_to_uint(str_sub(text, 2, SIZE_MAX), 16, &u))))
		return err_set(l->e, ERR_SPEC,
			       "sequence: \"" STR_FMT "=" STR_FMT "\" is not understood",
			       STR_ARG(name), STR_ARG(text));
	if (str_starts(text, "0x") && str_to_uint(str_sub(text, 2, SIZE_MAX), 16, &u))
		*to = (int64_t)u;
	s->has_end = s->has_end || to == &s->end;
	s->has_count = s->has_count || to == &s->count;
	return 0;
}

/* "5", "2-10/2", "4:host%02d" */
static int short_form(struct lookup *l, struct sequence *s, struct str text)
{
	size_t colon = str_find_char(text, ':'), slash, dash;

	if (colon != SIZE_MAX)
		s->format = str_sub(text, colon + 1, SIZE_MAX);
	text = str_sub(text, 0, colon);
	if ((slash = str_find_char(text, '/')) != SIZE_MAX) {
		if (set_part(l, s, STR("stride"), str_sub(text, slash + 1, SIZE_MAX)) < 0)
			return -1;
		text = str_sub(text, 0, slash);
	}
	if ((dash = str_find_char(text, '-')) != SIZE_MAX && dash > 0) {
		if (set_part(l, s, STR("start"), str_sub(text, 0, dash)) < 0)
			return -1;
		text = str_sub(text, dash + 1, SIZE_MAX);
	}
	return set_part(l, s, STR("end"), text);
}

static int parse_sequence(struct lookup *l, struct sequence *s, struct str text)
{
	struct str word;

	if (text.n && str_find_char(text, '=') == SIZE_MAX)
		return short_form(l, s, str_trim(text));
	while (text.n && str_next(&text, ' ', &word)) {
		size_t eq = str_find_char(word, '=');
		if (word.n &&
		    set_part(l, s, str_sub(word, 0, eq),
			     eq == SIZE_MAX ? STR("") : str_sub(word, eq + 1, SIZE_MAX)) < 0)
			return -1;
	}
	for (size_t i = 0; i < l->kwargs->map.n; i++)
		if (set_part(l, s, l->kwargs->map.e[i].key,
			     op_text(l->a, l->kwargs->map.e[i].val)) < 0)
			return -1;
	return 0;
}

static int add_sequence(struct lookup *l, struct sequence *s)
{
	if (s->has_count && !s->has_end)
		s->end = s->start + (s->count - 1) * s->stride;
	if (s->has_count && s->count == 0)
		return 0;
	if (!s->stride || (s->stride > 0 ? s->end < s->start : s->end > s->start))
		return err_set(l->e, ERR_SPEC, "sequence: the stride leads away from the end");
	for (int64_t i = s->start; s->stride > 0 ? i <= s->end : i >= s->end; i += s->stride) {
		struct value n = { .kind = V_INT, .i = i };
		const struct value *v = op_format(l->a, s->format, &n, l->e);
		if (!v)
			return -1;
		if (l->out->list.n >= MAX_NUMBERS)
			return err_set(l->e, ERR_SPEC, "sequence gives more than %d numbers",
				       MAX_NUMBERS);
		value_add(l->a, l->out, v);
	}
	return 0;
}

int look_sequence(struct lookup *l)
{
	size_t n = l->terms->list.n;

	for (size_t i = 0; i < (n ? n : 1); i++) {
		struct sequence s = { .start = 1, .stride = 1, .format = STR("%d") };
		if (parse_sequence(l, &s, n ? op_text(l->a, l->terms->list.v[i]) : STR("")) < 0 ||
		    add_sequence(l, &s) < 0)
			return -1;
	}
	return 0;
}
