/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A canary whose steps are done need not be well: what a step asked for may break a minute later.
 * So it is asked for once more, after its time of soaking, by the ways that a user would: the
 * provider says whether it is there and runs, and SSH whether one can log in.
 */
#include "engine/waves.h"

#include "engine/make.h"
#include "engine/pace.h"
#include "engine/reach.h"

#define LOGIN_WAIT_MS 60000
#define NAP_MS	      200

/* ---- telling ---- */

static const char *names_of(struct arena *a, const struct steps *s, const struct step_pool *p)
{
	scoped(buf_fini) struct buf b = { 0 };
	const char **names = arena_array(a, const char *, p->first.n + 1);

	for (size_t i = 0; i < p->first.n; i++)
		names[i] = s->units.v[p->first.v[i]].node;
	buf_init(&b, BUF_MAX_DEFAULT);
	hostlist_fold(&b, a, names, p->first.n);
	return buf_dup(&b, a);
}

static const char *how_many(struct arena *a, const struct step_pool *p, size_t n)
{
	if (!p->may_be_down || (size_t)p->may_be_down >= n)
		return arena_printf(a, "%zu node%s", n, n == 1 ? "" : "s");
	return arena_printf(a, "%zu nodes, %lld at a time", n, (long long)p->may_be_down);
}

static void tell(struct work *w, struct arena *a, const struct step_pool *p, const char *phase,
		 const char *text, size_t nodes)
{
	struct value *v = value_map(a);
	struct engine_event ev = { .type = "wave", .text = text, .data = v };

	if (p) {
		value_set(v, "pool", value_cstr(a, p->name));
		value_set(v, "at_a_time", value_int(a, p->may_be_down));
	}
	value_set(v, "phase", value_cstr(a, phase));
	value_set(v, "nodes", value_int(a, (int64_t)nodes));
	context_emit(w->en, &ev);
}

void waves_begin(struct work *w, const struct steps *s)
{
	scoped(arena_freep) struct arena *a = arena_new("waves");

	for (size_t i = 0; i < s->pools.n; i++) {
		const struct step_pool *p = &s->pools.v[i];
		size_t rest = p->nodes - p->first.n;
		bool rolls = p->may_be_down && (size_t)p->may_be_down < p->nodes;
		if (p->first.n && rest)
			tell(w, a, p, "canary",
			     arena_printf(a, "pool %s: %s first, then %s", p->name,
					  names_of(a, s, p), how_many(a, p, rest)),
			     p->first.n);
		else if (rolls)
			tell(w, a, p, "rest",
			     arena_printf(a, "pool %s: %s", p->name, how_many(a, p, p->nodes)),
			     p->nodes);
	}
}

void waves_open(struct work *w, const struct steps *s, size_t pool)
{
	scoped(arena_freep) struct arena *a = arena_new("waves");
	const struct step_pool *p = &s->pools.v[pool];
	size_t rest = p->nodes - p->first.n;

	tell(w, a, p, "rest",
	     arena_printf(a, "pool %s: %s %s well; now %s", p->name, names_of(a, s, p),
			  p->first.n == 1 ? "is" : "are", how_many(a, p, rest)),
	     rest);
}

static void hold(struct work *w, const char *pool, size_t nodes, const char *reason)
{
	struct nodes_held *h = arena_obj(w->a, struct nodes_held);

	*h = (struct nodes_held){ .pool = pool, .nodes = nodes, .reason = reason };
	VEC_ADD(w->a, &w->result->held) = h;
}

void waves_stop(struct work *w, const struct steps *s, size_t pool, const char *node)
{
	scoped(arena_freep) struct arena *a = arena_new("waves");
	const struct step_pool *p = &s->pools.v[pool];
	size_t n = steps_left_out(s, pool);
	const char *reason = arena_printf(w->a, "its canary %s failed", node);

	hold(w, p->name, n, reason);
	tell(w, a, p, "stopped",
	     arena_printf(a, "pool %s: %s; %zu node%s left as %s", p->name, reason, n,
			  n == 1 ? " is" : "s are", n == 1 ? "it is" : "they are"),
	     n);
}

void waves_no_room(struct work *w, const struct step *x, size_t nodes, const struct err *why)
{
	scoped(arena_freep) struct arena *a = arena_new("waves");
	const char *pool = why->kind == ERR_CAPACITY ? x->c->pool : NULL;
	const char *reason = arena_printf(w->a, "%s has no room for more", x->c->provider);

	hold(w, pool, nodes, reason);
	tell(w, a, NULL, "no_room",
	     arena_printf(a, "%s: %zu node%s%s%s not asked for", reason, nodes,
			  nodes == 1 ? "" : "s", pool ? " of pool " : "", pool ? pool : ""),
	     nodes);
}

/* ---- is it well? ---- */

static bool can_login(const struct served *at)
{
	const struct provider_type *t = at->ep->type;

	return at->t->reach && (!t->can_login || t->can_login(at->ep->p));
}

static int look_at(struct work *w, struct arena *a, const struct served *at,
		   const struct state_resource *r, struct err *e)
{
	struct journal_row row = { .provider = r->provider, .kind = r->kind, .token = r->token };
	struct resource_seen *seen = NULL;

	if (!at->t->list || !r->token)
		return 0; /* nobody knows more than the machine itself */
	if (make_find(w->en, a, &row, &seen, e))
		return -1;
	if (!seen)
		return err_set(e, ERR_REMOTE, "it is gone from the provider");
	if (seen->status && strcmp(seen->status, "running") != 0)
		return err_set(e, ERR_REMOTE, "the provider says that it is %s", seen->status);
	return 0;
}

static int log_in(struct work *w, struct arena *a, const struct step_unit *u,
		  const struct state_resource *r, struct err *e)
{
	const struct fleet *fleet = w->en->o.fleet;
	const struct node *n = fleet ? map_getc(&fleet->by_addr, u->addr) : NULL;
	struct reach_node rn = {
		.name = u->node,
		.addr = u->addr,
		.provider = r->provider,
		.pool = n ? n->pool : NULL,
		.seen = reach_seen(a, r, u->node),
		.attrs = r->attrs,
	};
	struct host *conn = NULL;

	if (reach_open(w->en, a, &rn, LOGIN_WAIT_MS, &conn, e))
		return -1;
	host_close(conn);
	return 0;
}

static int prove_one(struct work *w, struct arena *a, const struct step_unit *u, struct err *e)
{
	const struct state_resource *r = work_recorded(w, u->addr);
	struct served at;

	if (!r)
		return err_set(e, ERR_REMOTE, "it is not recorded any more");
	if (ask_at(w->en, r->provider, r->kind, &at, e) || look_at(w, a, &at, r, e))
		return -1;
	return can_login(&at) ? log_in(w, a, u, r, e) : 0;
}

static int soak(struct work *w, const struct step_pool *p, int64_t ms, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("waves");
	struct deadline end = deadline_in(ms);
	char text[16];

	if (ms <= 0)
		return 0;
	clock_format_duration(ms, text);
	tell(w, a, p, "soak",
	     arena_printf(a, "pool %s: the canary is done, and is looked at in %s", p->name, text),
	     p->first.n);
	for (int64_t left = ms; left > 0; left = deadline_left(end)) {
		if (w->en->stopping)
			return err_set(e, ERR_CANCELLED, "stopped");
		if (task_sleep(left < NAP_MS ? left : NAP_MS, e))
			return -1;
	}
	return 0;
}

int waves_prove(struct work *w, struct arena *a, const struct steps *s, size_t pool, struct err *e)
{
	const struct step_pool *p = &s->pools.v[pool];
	struct plan_pool facts = { .name = p->name };

	pace_pool(w->en->o.fleet, &facts);
	if (soak(w, p, facts.soak_ms, e))
		return -1;
	for (size_t i = 0; i < p->first.n; i++) {
		const struct step_unit *u = &s->units.v[p->first.v[i]];
		if (!prove_one(w, a, u, e))
			continue;
		err_wrap(e, "not well after its change");
		return err_on(e, u->addr, u->node);
	}
	return 0;
}
