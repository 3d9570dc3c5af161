/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/fleet.h"

#include "inventory/spec_text.h"

static void add_node(struct arena *a, struct fleet *f, struct node *n, struct pos where,
		     struct err_list *errs)
{
	struct node *other = map_getc(&f->by_name, n->name);

	if (other) {
		const char *hint = other->pool == n->pool
					   ? "name each host once"
					   : arena_printf(a, "remove it from one of the pools");
		err_list_addf(errs, where, hint,
			      "pools." STR_FMT ": node \"%s\" is already in pool \"" STR_FMT
			      "\" (%s:%d)",
			      STR_ARG(n->pool->name), n->name, STR_ARG(other->pool->name),
			      other->pool->obj.pos.file ? other->pool->obj.pos.file : "",
			      other->pool->obj.pos.line);
		return;
	}
	map_put(&f->by_name, str_of(n->name), n);
	map_put(&f->by_addr, str_of(n->addr), n);
	VEC_ADD(a, &f->nodes) = n;
}

static void expand_counted(struct arena *a, struct fleet *f, const struct spec_pool *p,
			   const struct value *vars, struct err_list *errs)
{
	struct pos where = p->obj.pos;

	for (int64_t i = 0; i < p->count; i++) {
		struct node *n = arena_obj(a, struct node);
		*n = (struct node){
			.name = arena_printf(a, STR_FMT "-%lld", STR_ARG(p->name), (long long)i),
			.addr = arena_printf(a, "node." STR_FMT "[%lld]", STR_ARG(p->name),
					     (long long)i),
			.pool = p,
			.index = i,
			.vars = vars,
		};
		add_node(a, f, n, where, errs);
	}
}

static void expand_hosts(struct arena *a, struct fleet *f, const struct spec_pool *p,
			 const struct value *vars, struct err_list *errs)
{
	const struct value *written = value_get(p->obj.source, "hosts");
	int64_t index = 0;

	for (size_t i = 0; i < p->hosts.items.n; i++) {
		struct names names = { 0 };
		struct err e = { 0 };
		const struct value *item = written && written->kind == V_LIST ? written->list.v[i]
									      : written;
		struct pos where = item ? item->pos : p->obj.pos;

		if (!p->hosts.items.v[i].p)
			continue; /* reported when it was decoded */
		if (hostlist_expand(a, p->hosts.items.v[i], &names, &e) < 0) {
			e.pos = spec_text_pos(where, e.pos);
			e.kind = ERR_SPEC;
			err_wrap(&e, "pools." STR_FMT ".hosts", STR_ARG(p->name));
			err_list_add(errs, &e);
			continue;
		}
		for (size_t k = 0; k < names.v.n; k++) {
			struct node *n = arena_obj(a, struct node);
			*n = (struct node){
				.name = names.v.v[k],
				.addr = arena_printf(a, "node." STR_FMT "[%s]", STR_ARG(p->name),
						     names.v.v[k]),
				.pool = p,
				.index = index,
				.host = names.v.v[k],
				.vars = vars,
			};
			index++;
			add_node(a, f, n, where, errs);
		}
	}
}

int fleet_expand(struct arena *a, const struct spec *s, struct fleet **out, struct err_list *errs)
{
	struct fleet *f = arena_obj(a, struct fleet);
	size_t before = errs ? errs->n + errs->dropped : 0;

	f->spec = s;
	map_init(&f->by_name, a);
	map_init(&f->by_addr, a);
	for (size_t i = 0; i < s->pools.n; i++) {
		const struct spec_pool *p = (const struct spec_pool *)s->pools.v + i;
		const struct value *vars = s->vars;
		if (p->vars && p->vars->kind == V_MAP)
			vars = vars ? value_merge(a, vars, p->vars, false) : p->vars;
		if (s->extra_vars)
			vars = vars ? value_merge(a, vars, s->extra_vars, false) : s->extra_vars;
		if (p->hosts.items.n)
			expand_hosts(a, f, p, vars, errs);
		else
			expand_counted(a, f, p, vars, errs);
	}
	*out = f;
	return errs && errs->n + errs->dropped > before ? -1 : 0;
}
