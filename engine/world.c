/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/world.h"

#include <fnmatch.h>
#include <stdio.h>

const char *world_address(const struct value *attrs)
{
	static const char *const keys[] = { "public_address", "address", "private_address",
					    "host" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct str s = value_get_str(attrs, keys[i], NULL);
		if (s.n)
			return s.p;
	}
	return NULL;
}

static const struct value *hostvars(struct arena *a, const struct node *n,
				    const struct state_resource *r)
{
	struct value *own = value_map(a);
	const char *address = r ? world_address(r->attrs) : NULL;

	value_set(own, "inventory_hostname", value_cstr(a, n->name));
	if (address)
		value_set(own, "ansible_host", value_cstr(a, address));
	else if (n->host)
		value_set(own, "ansible_host", value_cstr(a, n->host));
	return n->vars ? value_merge(a, n->vars, own, false) : own;
}

void world_make(struct engine *en, const struct map *recorded)
{
	struct value *groups = value_map(en->a), *hosts = value_map(en->a),
		     *all = value_list(en->a);
	const struct fleet *f = en->o.fleet;
	struct value *pool = NULL;
	const struct spec_pool *last = NULL;

	if (en->world_made)
		return;
	en->world_made = true;
	value_set(groups, "all", all);
	for (size_t i = 0; f && i < f->nodes.n; i++) {
		const struct node *n = f->nodes.v[i];
		const struct value *name = value_cstr(en->a, n->name);
		if (n->pool != last) {
			pool = value_list(en->a);
			value_sets(groups, n->pool->name, pool);
			last = n->pool;
		}
		value_add(en->a, all, name);
		value_add(en->a, pool, name);
		value_set(hosts, n->name, hostvars(en->a, n, map_getc(recorded, n->addr)));
	}
	en->world = (struct run_world){ .groups = groups, .hostvars = hosts };
}

void world_learn(struct engine *en, const struct state_resource *r)
{
	const struct node *n = en->world_made && en->o.fleet
				       ? map_getc(&en->o.fleet->by_addr, r->addr)
				       : NULL;

	/* Its place in the map stays: plays that run meanwhile read on. */
	if (n)
		value_set((struct value *)en->world.hostvars, n->name, hostvars(en->a, n, r));
}

const struct value *world_groups_of(struct arena *a, const struct node *n)
{
	struct value *l = value_list(a);

	value_add(a, l, value_str(a, n->pool->name));
	return l;
}

static bool term_matches(const struct node *n, struct str term)
{
	char text[256], pool[256];

	if (str_eqc(term, "all") || str_eqc(term, "*"))
		return true;
	if (term.n >= sizeof text || n->pool->name.n >= sizeof pool)
		return false;
	snprintf(text, sizeof text, STR_FMT, STR_ARG(term));
	snprintf(pool, sizeof pool, STR_FMT, STR_ARG(n->pool->name));
	return fnmatch(text, n->name, 0) == 0 || fnmatch(text, pool, 0) == 0;
}

static bool next_term(struct str *rest, struct str *term)
{
	size_t n = 0;

	if (!rest->n)
		return false;
	while (n < rest->n && rest->p[n] != ',' && rest->p[n] != ':')
		n++;
	*term = str_trim(str_sub(*rest, 0, n));
	*rest = str_sub(*rest, n < rest->n ? n + 1 : n, SIZE_MAX);
	return true;
}

/* As Ansible: what is named, then narrowed by every &, then by every !, in whatever order they are
 * written. */
bool engine_play_matches(const struct node *n, const char *pattern)
{
	struct str rest = str_of(pattern), term;
	bool any = false, named = false, in = true;

	while (next_term(&rest, &term)) {
		if (!term.n)
			continue;
		bool without = str_starts(term, "!"), both = str_starts(term, "&");
		if (without || both) {
			bool hit = term_matches(n, str_sub(term, 1, SIZE_MAX));
			in = in && (without ? !hit : hit);
			continue;
		}
		named = true;
		any = any || term_matches(n, term);
	}
	return in && (any || !named);
}

bool world_play_matches(void *arg, const char *pattern, const char *host unused_arg)
{
	return engine_play_matches(((const struct world_host *)arg)->node, pattern);
}
