/* SPDX-License-Identifier: Apache-2.0 */
/* Filters of ansible.utils on the keys of nested maps, at every depth. */
#include <ctype.h>

#include "templates/filters.h"
#include "templates/regex.h"

#define MAX_DEPTH 100

struct keys {
	struct call *c;
	const struct value *targets; /* a list */
	struct str how;
	int depth;
};

static bool deeper(struct keys *k)
{
	if (++k->depth <= MAX_DEPTH)
		return true;
	call_fault(k->c, "%s: nested too deeply", k->c->name);
	return false;
}

static int is_regex_match(struct keys *k, struct str pattern, struct str key)
{
	struct regex *r = regex_new(k->c->a, pattern, REGEX_ANCHORED, k->c->e);
	struct regex_match m;
	bool found;

	return r && regex_find(r, key, 0, &m, &found, k->c->e) == 0 ? found : -1;
}

/* 1, 0, or -1 after a fault */
static int is_match(struct keys *k, struct str target, struct str key)
{
	if (str_eqc(k->how, "equality") || !k->how.n)
		return str_eq(target, key);
	if (str_eqc(k->how, "starts_with"))
		return key.n >= target.n && str_eq(str_sub(key, 0, target.n), target);
	if (str_eqc(k->how, "ends_with"))
		return key.n >= target.n &&
		       str_eq(str_sub(key, key.n - target.n, SIZE_MAX), target);
	if (str_eqc(k->how, "regex"))
		return is_regex_match(k, target, key);
	call_fault(k->c, "%s: matching_parameter is equality, starts_with, ends_with or regex",
		   k->c->name);
	return -1;
}

static int is_target(struct keys *k, struct str key)
{
	for (size_t i = 0; i < k->targets->list.n; i++) {
		int is = is_match(k, op_text(k->c->a, k->targets->list.v[i]), key);
		if (is)
			return is;
	}
	return 0;
}

static int keys_init(struct keys *k, struct call *c, const char *what)
{
	struct value *one = value_list(c->a);

	value_add(c->a, one, c->arg[0]);
	*k = (struct keys){ c, c->arg[0]->kind == V_LIST ? c->arg[0] : one,
			    call_text(c, 1, "equality"), 0 };
	if (c->self->kind == V_LIST || c->self->kind == V_MAP)
		return 0;
	call_fault(c, "%s needs a list or a map to %s", c->name, what);
	return -1;
}

/* ---- remove_keys ---------------------------------------------------------------------------- */

static const struct value *removed(struct keys *k, const struct value *v)
{
	struct value *out = v->kind == V_MAP ? value_map(k->c->a) : value_list(k->c->a);
	const struct value *one;

	if (v->kind != V_LIST && v->kind != V_MAP)
		return v;
	if (!deeper(k))
		return NULL;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++) {
		if (!(one = removed(k, v->list.v[i])))
			return NULL;
		if (value_is_truthy(one)) /* what is empty goes, too */
			value_add(k->c->a, out, one);
	}
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++) {
		int is = is_target(k, v->map.e[i].key);
		if (is < 0 || !(one = removed(k, v->map.e[i].val)))
			return NULL;
		if (!is)
			value_sets(out, v->map.e[i].key, one);
	}
	k->depth--;
	return out;
}

static const struct value *f_remove_keys(struct call *c)
{
	struct keys k;

	return keys_init(&k, c, "remove keys from") < 0 ? NULL : removed(&k, c->self);
}

/* ---- replace_keys --------------------------------------------------------------------------- */

static struct value *renamed_once(struct keys *k, struct value *map, const struct value *target)
{
	struct str before = value_get_str(target, "before", ""),
		   after = value_get_str(target, "after", "");
	struct value *out = value_map(k->c->a);
	VEC(struct map_entry) last = { 0 };

	for (size_t i = 0; i < map->map.n; i++) {
		int is = is_match(k, before, map->map.e[i].key);
		if (is < 0)
			return NULL;
		if (is)
			VEC_ADD(k->c->a, &last) = map->map.e[i];
		else
			value_sets(out, map->map.e[i].key, map->map.e[i].val);
	}
	for (size_t i = 0; i < last.n; i++)
		value_sets(out, after, last.v[i].val);
	return out;
}

static const struct value *replaced(struct keys *k, const struct value *v)
{
	struct value *out = v->kind == V_MAP ? value_map(k->c->a) : value_list(k->c->a);
	const struct value *one;

	if (v->kind != V_LIST && v->kind != V_MAP)
		return v;
	if (!deeper(k))
		return NULL;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++) {
		if (!(one = replaced(k, v->list.v[i])))
			return NULL;
		value_add(k->c->a, out, one);
	}
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++) {
		if (!(one = replaced(k, v->map.e[i].val)))
			return NULL;
		value_sets(out, v->map.e[i].key, one);
	}
	for (size_t i = 0; out && v->kind == V_MAP && i < k->targets->list.n; i++)
		out = renamed_once(k, out, k->targets->list.v[i]);
	k->depth--;
	return out;
}

static const struct value *f_replace_keys(struct call *c)
{
	struct keys k;

	return keys_init(&k, c, "replace keys in") < 0 ? NULL : replaced(&k, c->self);
}

/* ---- to_paths ------------------------------------------------------------------------------- */

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && s.p[i] != '_')
			return false;
	return s.n && !isdigit((unsigned char)s.p[0]);
}

static struct str path_to(struct call *c, struct str name, struct str key)
{
	if (!name.n)
		return key;
	if (is_name(key))
		return str_of(arena_printf(c->a, STR_FMT "." STR_FMT, STR_ARG(name), STR_ARG(key)));
	return str_of(arena_printf(c->a, STR_FMT "['" STR_FMT "']", STR_ARG(name), STR_ARG(key)));
}

static int add_paths(struct keys *k, const struct value *v, struct str name, struct value *out)
{
	struct call *c = k->c;

	if (!deeper(k))
		return -1;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (add_paths(k, v->map.e[i].val, path_to(c, name, value_key_text(v->map.e[i].key)),
			      out) < 0)
			return -1;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (add_paths(k, v->list.v[i],
			      str_of(arena_printf(c->a, STR_FMT "[%zu]", STR_ARG(name), i)),
			      out) < 0)
			return -1;
	bool holds = (v->kind == V_MAP && v->map.n) || (v->kind == V_LIST && v->list.n);
	if (!holds && (name.n || (v->kind != V_MAP && v->kind != V_LIST)))
		value_sets(out, name, v);
	k->depth--;
	return 0;
}

/* {'a': {'b': [1]}} -> {'a.b[0]': 1} */
static const struct value *f_to_paths(struct call *c)
{
	struct value *out = value_map(c->a), *list = value_list(c->a);
	struct keys k = { .c = c };

	if (add_paths(&k, c->self, call_text(c, 0, ""), out) < 0)
		return NULL;
	value_add(c->a, list, out);
	return call_flag(c, 1, false) ? list : out;
}

const struct callable filters_keys[] = {
	{ "remove_keys", f_remove_keys, "target!,matching_parameter", CALL_ITEMS },
	{ "replace_keys", f_replace_keys, "target!,matching_parameter", CALL_ITEMS },
	{ "to_paths", f_to_paths, "prepend,wantlist", CALL_ITEMS },
	{ NULL, NULL, NULL, 0 },
};
