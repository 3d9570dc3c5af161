/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/context.h"
#include "engine/observe.h"
#include "engine/pool_config.h"
#include "engine/world.h"

struct status_maker {
	struct engine *en;
	struct arena *a;
	bool observe;
	struct state_resources rows;
	struct map recorded, creating;
	struct observation obs;
	struct fleet_status *out;
};

static int read_record(struct status_maker *m, struct err *e)
{
	struct engine *en = m->en;

	if (context_resources(en, m->a, &m->rows, e) ||
	    context_intents(en, m->a, &m->out->intents, e))
		return -1;
	map_init(&m->recorded, m->a);
	map_init(&m->creating, m->a);
	for (size_t i = 0; i < m->rows.v.n; i++)
		map_put(&m->recorded, str_of(m->rows.v.v[i]->addr), m->rows.v.v[i]);
	for (size_t i = 0; i < m->out->intents.v.n; i++)
		if (strcmp(m->out->intents.v.v[i]->action, "create") == 0)
			map_put(&m->creating, str_of(m->out->intents.v.v[i]->addr), m);
	if (!en->o.state)
		return 0;
	if (state_runs(en->o.state, m->a, 1, &m->out->last, e))
		return -1;
	return lease_list(en->o.state, m->a, &m->out->leases, e);
}

static int look(struct status_maker *m, struct err *e)
{
	if (!m->observe)
		return 0;
	for (size_t i = 0; i < m->rows.v.n; i++)
		if (m->rows.v.v[i]->pool &&
		    observe_need(m->en, m->a, &m->obs, m->rows.v.v[i]->provider,
				 m->rows.v.v[i]->kind, e))
			return -1;
	return m->obs.lists.n ? observe_run(m->en, m->a, &m->obs, e) : 0;
}

static const char *state_of(const struct status_maker *m, const struct node *n, const char *addr,
			    const struct state_resource *r)
{
	if (!r)
		return map_getc(&m->creating, addr) ? "creating" : "not created";
	const struct seen_list *l = m->observe ? observe_list(&m->obs, r->provider, r->kind) : NULL;
	if (l && l->listed) {
		const struct resource_seen *s = observe_find(l, r->id, r->token);
		if (!s && !observe_may_hide(l, r))
			return "missing";
		if (!s)
			return "creating";
		if (s->status && strcmp(s->status, "stopped") == 0)
			return "stopped";
		if (s->status && strcmp(s->status, "error") == 0)
			return "tainted";
	}
	if (r->status == RES_TAINTED)
		return "tainted";
	if (r->status == RES_DELETING)
		return "deleting";
	bool wants_config = n && (n->pool->roles.n || n->pool->playbooks.items.n);
	const struct provider_type *t = wants_config && !r->config_digest
						? context_provider_type(m->en, r->provider)
						: NULL;
	return t && !t->can_login ? "creating" : "ready";
}

static void add_node(struct status_maker *m, const struct node *n, const char *addr,
		     const struct state_resource *r)
{
	struct node_status *s = arena_obj(m->a, struct node_status);

	s->name = n ? n->name : want_node_name(m->a, m->en->o.fleet, addr);
	s->addr = addr;
	s->pool = n ? str_cstr(m->a, n->pool->name) : r ? r->pool : NULL;
	s->provider = n ? str_cstr(m->a, n->pool->provider) : r ? r->provider : NULL;
	s->state = state_of(m, n, addr, r);
	if (r) {
		s->address = world_address(r->attrs);
		s->id = r->id;
		s->updated_ms = r->updated_ms;
	}
	VEC_ADD(m->a, &m->out->nodes) = s;
}

int engine_status(struct engine *en, struct arena *a, bool observe, struct fleet_status *out,
		  struct err *e)
{
	struct status_maker m = { .en = en, .a = a, .observe = observe, .out = out };
	const struct fleet *f = en->o.fleet;

	*out = (struct fleet_status){ 0 };
	if (read_record(&m, e) || look(&m, e))
		return -1;
	for (size_t i = 0; f && i < f->nodes.n; i++)
		add_node(&m, f->nodes.v[i], f->nodes.v[i]->addr,
			 map_getc(&m.recorded, f->nodes.v[i]->addr));
	for (size_t i = 0; i < m.rows.v.n; i++) {
		const struct state_resource *r = m.rows.v.v[i];
		if (r->pool && !(f && map_getc(&f->by_addr, r->addr)))
			add_node(&m, NULL, r->addr, r);
	}
	return 0;
}
