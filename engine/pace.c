/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pace.h"

void pace_pool(const struct fleet *fleet, struct plan_pool *out)
{
	const struct spec_pool *p = fleet ? spec_pool_find(fleet->spec, str_of(out->name)) : NULL;
	int64_t size = 0;

	if (!p)
		return;
	for (size_t i = 0; i < fleet->nodes.n; i++)
		size += fleet->nodes.v[i]->pool == p;
	out->nodes = size;
	out->at_a_time = count_of(p->update.max_unavailable, size);
	out->canary = count_of(p->update.canary, size);
	out->soak_ms = p->update.soak;
}

static void add_pools(struct arena *a, const struct fleet *fleet, struct plan *plan,
		      struct change *const *v, size_t n)
{
	struct map seen;

	map_init(&seen, a);
	for (size_t i = 0; i < plan->pools.n; i++)
		map_put(&seen, str_of(plan->pools.v[i]->name), plan);
	for (size_t i = 0; i < n; i++) {
		if (!v[i]->pool || map_getc(&seen, v[i]->pool))
			continue;
		struct plan_pool *pool = arena_obj(a, struct plan_pool);
		pool->name = v[i]->pool;
		pace_pool(fleet, pool);
		VEC_ADD(a, &plan->pools) = pool;
		map_put(&seen, str_of(pool->name), plan);
	}
}

void pace_limits(struct arena *a, const struct fleet *fleet, struct plan *plan)
{
	add_pools(a, fleet, plan, plan->changes.v, plan->changes.n);
	add_pools(a, fleet, plan, plan->drift.v, plan->drift.n);
}

static int64_t known_ms(const struct journal_paces *known, const char *pool, const char *action)
{
	for (size_t i = 0; i < known->v.n; i++) {
		const struct journal_pace *p = known->v.v[i];
		if (strcmp(p->pool, pool) == 0 && strcmp(p->action, action) == 0)
			return p->median_ms;
	}
	return 0;
}

void pace_learn(struct plan *plan, const struct journal_paces *known)
{
	for (size_t i = 0; i < plan->pools.n; i++) {
		struct plan_pool *p = plan->pools.v[i];
		p->create_ms = known_ms(known, p->name, "create");
		p->update_ms = known_ms(known, p->name, "update");
		p->delete_ms = known_ms(known, p->name, "delete");
		p->configure_ms = known_ms(known, p->name, "configure");
	}
}
