/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/selection.h"

#include "inventory/inventory.h"

struct chooser {
	struct arena *a;
	const struct selectables *all;
	struct map by_addr; /* addr -> struct selectable * */
	struct map by_node; /* node name -> struct selectable * */
	const char **names;
	size_t n_names;
	struct select_group *groups;
	size_t n_groups;
};

struct members {
	VEC(const char *) v;
};

static void chooser_make(struct chooser *c)
{
	struct map pools;

	map_init(&c->by_addr, c->a);
	map_init(&c->by_node, c->a);
	map_init(&pools, c->a);
	c->names = arena_array(c->a, const char *, c->all->v.n + 1);
	for (size_t i = 0; i < c->all->v.n; i++) {
		struct selectable *s = &c->all->v.v[i];
		map_put(&c->by_addr, str_of(s->addr), s);
		if (!s->node)
			continue;
		map_put(&c->by_node, str_of(s->node), s);
		c->names[c->n_names++] = s->node;
		if (!s->pool)
			continue;
		struct members *m = map_getc(&pools, s->pool);
		if (!m) {
			m = arena_obj(c->a, struct members);
			map_put(&pools, str_of(s->pool), m);
		}
		VEC_ADD(c->a, &m->v) = s->node;
	}
	c->groups = arena_array(c->a, struct select_group, pools.n + 1);
	for (size_t i = 0; i < pools.n; i++) {
		const struct members *m = pools.e[i].val;
		c->groups[c->n_groups++] = (struct select_group){ pools.e[i].key.p, m->v.v,
								  m->v.n };
	}
}

static int choose(struct chooser *c, const char *words, struct map *into, struct err *e)
{
	struct names found = { 0 };

	/* A shell variable that is not set must not mean everything. */
	if (!str_trim(str_of(words)).n) {
		err_set(e, ERR_USAGE, "no node is named");
		return err_hint(e, "name nodes, or leave the option out");
	}
	if (map_getc(&c->by_addr, words)) {
		map_put(into, str_of(words), c);
		return 0;
	}
	if (select_names(c->a, str_of(words),
			 &(struct select_from){ c->names, c->n_names, c->groups, c->n_groups },
			 &found, e))
		return -1;
	for (size_t i = 0; i < found.v.n; i++) {
		const struct selectable *s = map_getc(&c->by_node, found.v.v[i]);
		if (s)
			map_put(into, str_of(s->addr), c);
	}
	return 0;
}

static int choose_list(struct chooser *c, const char *const *list, const char *flag,
		       struct map *into, struct err *e)
{
	for (size_t i = 0; list && list[i]; i++)
		if (choose(c, list[i], into, e))
			return err_wrap(e, "%s %s", flag, list[i]);
	return 0;
}

int selection_make(struct arena *a, const struct selectables *all,
		   const struct selection_said *said, struct selection *out, struct err *e)
{
	struct chooser c = { .a = a, .all = all };
	struct map limit, targets;
	bool limited = said->limit != NULL, targeted = said->targets && said->targets[0];

	out->all = !limited && !targeted && !(said->excludes && said->excludes[0]);
	map_init(&out->chosen, a);
	map_init(&out->excluded, a);
	if (out->all)
		return 0;
	chooser_make(&c);
	map_init(&limit, a);
	map_init(&targets, a);
	if (limited && choose(&c, said->limit, &limit, e))
		return err_wrap(e, "--limit");
	if (choose_list(&c, said->targets, "--target", &targets, e) ||
	    choose_list(&c, said->excludes, "--exclude", &out->excluded, e))
		return -1;
	for (size_t i = 0; i < all->v.n; i++) {
		struct str addr = str_of(all->v.v[i].addr);
		if ((!limited || map_has(&limit, addr)) && (!targeted || map_has(&targets, addr)) &&
		    !map_has(&out->excluded, addr))
			map_put(&out->chosen, addr, out);
	}
	return 0;
}

bool selection_excludes(const struct selection *s, const char *addr)
{
	return !s->all && map_getc(&s->excluded, addr) != NULL;
}

bool selection_has(const struct selection *s, const char *addr)
{
	return s->all || map_getc(&s->chosen, addr) != NULL;
}
