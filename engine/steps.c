/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rolling: a node in service counts as unavailable from the first step that disturbs it until its
 * last step is done; a node whose step failed stays so, which is what stops a bad change from
 * rolling over a whole pool. A node that is unwell when the run begins is down already: it counts
 * from the start, needs no room, and is mended first, or each run of a bad change would break as
 * many nodes again. Only the first step of a node waits for room, in a lane of its own kind, so a
 * head that must wait never blocks a step that may go.
 *
 * The canary is taken from the nodes that are there, the unwell before the others: a rerun after a
 * canary that failed tries the same node again and leaves those alone that serve.
 */
#include "engine/steps.h"

#include "engine/graph.h"

static size_t index_of(struct map *m, const char *key)
{
	return (size_t)(uintptr_t)map_getc(m, key) - 1; /* SIZE_MAX if absent */
}

static void index_put(struct map *m, const char *key, size_t i)
{
	map_put(m, str_of(key), (void *)(uintptr_t)(i + 1));
}

struct maker {
	struct steps *s;
	const struct plan *p;
	const struct steps_limits *l;
	size_t *make, *unmake; /* change -> step + 1 */
	struct graph g;
};

static bool unmakes(const struct change *c)
{
	return c->action == CHANGE_DELETE || c->action == CHANGE_REPLACE ||
	       c->action == CHANGE_FORGET;
}

static size_t pool_of(struct maker *m, const char *name)
{
	struct steps *s = m->s;
	size_t i = index_of(&s->pool_by_name, name);

	if (i != SIZE_MAX)
		return i;
	index_put(&s->pool_by_name, name, s->pools.n);
	VEC_ADD(s->a, &s->pools) = (struct step_pool){
		.name = name,
		.may_be_down = m->l->may_be_down(m->l->arg, name),
		.canary = m->l->canary ? m->l->canary(m->l->arg, name) : 0,
	};
	return s->pools.n - 1;
}

static size_t provider_of(struct maker *m, const char *name)
{
	struct steps *s = m->s;
	size_t i = index_of(&s->provider_by_name, name);

	if (i != SIZE_MAX)
		return i;
	index_put(&s->provider_by_name, name, s->providers.n);
	VEC_ADD(s->a, &s->providers) =
		(struct step_provider){ .name = name, .limit = m->l->creates(m->l->arg, name) };
	return s->providers.n - 1;
}

static size_t unit_of(struct maker *m, const struct change *c)
{
	struct steps *s = m->s;
	size_t i = index_of(&s->unit_by_addr, c->addr);

	if (i == SIZE_MAX) {
		i = s->units.n;
		index_put(&s->unit_by_addr, c->addr, i);
		VEC_ADD(s->a, &s->units) =
			(struct step_unit){ .addr = c->addr, .node = c->node, .pool = SIZE_MAX };
		if (c->node)
			s->nodes++;
	}
	struct step_unit *u = &s->units.v[i];
	if (c->pool && c->action != CHANGE_DELETE && c->action != CHANGE_FORGET)
		u->pool = pool_of(m, c->pool);
	u->disrupts |= c->in_service;
	u->unwell |= c->unwell;
	return i;
}

static size_t add_step(struct maker *m, const struct change *c, enum step_part part)
{
	struct steps *s = m->s;
	size_t unit = unit_of(m, c);

	VEC_ADD(s->a, &s->v) = (struct step){ .c = c, .part = part, .unit = unit };
	s->units.v[unit].left++;
	if (c->action == CHANGE_DELETE) {
		size_t at = provider_of(m, c->provider);
		s->providers.v[at].frees++;
	}
	return s->v.n; /* + 1 */
}

static void add_steps(struct maker *m)
{
	for (size_t i = 0; i < m->p->changes.n; i++) {
		const struct change *c = m->p->changes.v[i];
		if (unmakes(c))
			m->unmake[i] = add_step(m, c, PART_UNMAKE);
		if (c->action == CHANGE_CONFIGURE)
			m->make[i] = add_step(m, c, PART_CONFIGURE);
		else if (c->action != CHANGE_DELETE && c->action != CHANGE_FORGET)
			m->make[i] = add_step(m, c, PART_MAKE);
	}
}

static void edge(struct maker *m, size_t before, size_t after)
{
	if (!before || !after)
		return;
	struct step *x = &m->s->v.v[before - 1], *y = &m->s->v.v[after - 1];
	graph_edge(&m->g, before - 1, after - 1);
	VEC_ADD(m->s->a, &x->next) = after - 1;
	y->waiting++;
	y->goes_on |= x->unit == y->unit;
}

static void add_edges(struct maker *m)
{
	for (size_t i = 0; i < m->p->changes.n; i++) {
		const struct change *c = m->p->changes.v[i];
		edge(m, m->unmake[i], m->make[i]);
		for (size_t k = 0; k < c->deps.n; k++)
			edge(m, m->make[c->deps.v[k]], m->make[i]);
		for (size_t k = 0; k < c->undone_first.n; k++)
			edge(m, m->unmake[c->undone_first.v[k]], m->unmake[i]);
	}
}

/* It serves, or should: what is done to it is what a canary is for. */
static bool is_there(const struct step_unit *u)
{
	return u->pool != SIZE_MAX && (u->disrupts || u->unwell);
}

static void choose_canaries(struct maker *m, bool unwell)
{
	struct steps *s = m->s;

	for (size_t i = 0; i < s->units.n; i++) {
		struct step_unit *u = &s->units.v[i];
		if (!is_there(u) || u->unwell != unwell)
			continue;
		struct step_pool *p = &s->pools.v[u->pool];
		p->nodes++;
		if (unwell) {
			u->holds = s->mending = true;
			p->down++;
		}
		if ((int64_t)p->canaries >= p->canary)
			continue;
		u->canary = true;
		VEC_ADD(s->a, &p->first) = i;
		p->canaries++;
		p->phase = POOL_CANARY;
	}
}

static bool stands_on(const struct change *c, size_t under)
{
	for (size_t i = 0; i < c->deps.n; i++)
		if (c->deps.v[i] == under)
			return true;
	return false;
}

static int no_canary(const struct change *c, const struct step_pool *pool, struct err *e)
{
	err_set(e, ERR_CONFLICT,
		"replacing %s takes the nodes of pool \"%s\" down together: none can be the canary of the others",
		c->addr, pool->name);
	return err_hint(e, "set update.canary of pool \"%s\" to 0 for this change", pool->name);
}

/* What stands on a replaced object is down from before that is unmade until it is made again. */
static int check_room(struct maker *m, size_t under, struct err *e)
{
	struct steps *s = m->s;
	const struct change *c = m->p->changes.v[under];
	int64_t *down = arena_array(s->a, int64_t, s->pools.n + 1);

	for (size_t i = 0; i < c->undone_first.n; i++) {
		const struct change *on = m->p->changes.v[c->undone_first.v[i]];
		const struct step_unit *u = &s->units.v[index_of(&s->unit_by_addr, on->addr)];
		if (!is_there(u) || !stands_on(on, under))
			continue;
		const struct step_pool *pool = &s->pools.v[u->pool];
		down[u->pool]++;
		if (pool->first.n && down[u->pool] > (int64_t)pool->first.n)
			return no_canary(c, pool, e);
		if (!pool->may_be_down || down[u->pool] <= pool->may_be_down)
			continue;
		err_set(e, ERR_CONFLICT,
			"replacing %s takes more nodes of pool \"%s\" down at once than the %lld of max_unavailable",
			c->addr, pool->name, (long long)pool->may_be_down);
		return err_hint(e, "raise update.max_unavailable of pool \"%s\" for this change",
				pool->name);
	}
	return 0;
}

/* A machine that is replaced does not count: it is known by what it had, and rolling updates would
 * wait for each other. */
static bool makes_new_machine(const struct steps *s, const struct step *x)
{
	return x->part == PART_MAKE && x->c->node && !is_there(&s->units.v[x->unit]);
}

static bool sees_fleet(const struct maker *m, const struct step *x)
{
	return x->part == PART_CONFIGURE && m->l->sees_fleet &&
	       m->l->sees_fleet(m->l->arg, x->c->pool);
}

static size_t lane_of(struct maker *m, size_t step)
{
	static const char *const parts[] = { "unmake", "make", "configure" };
	struct steps *s = m->s;
	const struct step *x = &s->v.v[step];
	const struct step_unit *u = &s->units.v[x->unit];
	bool rolling = is_there(u) && !x->goes_on;
	bool creates = x->part == PART_MAKE && x->c->action != CHANGE_UPDATE;
	scoped(buf_fini) struct buf key_text = { 0 };

	buf_init(&key_text, 4096);
	buf_addf(&key_text, "%s %s %s %d%d%d%d", x->c->provider, x->c->pool ? x->c->pool : "",
		 parts[x->part], rolling, creates, u->canary, u->unwell);
	const char *key = key_text.p;
	size_t i = index_of(&s->lane_by_key, key);

	if (i != SIZE_MAX)
		return i;
	index_put(&s->lane_by_key, key, s->lanes.n);
	VEC_ADD(s->a, &s->lanes) = (struct step_lane){
		.key = arena_strdup(s->a, key),
		.rolling = rolling,
		.canary = u->canary,
		.mends = u->unwell,
		.sees_fleet = sees_fleet(m, x),
		.creates = creates ? provider_of(m, x->c->provider) : SIZE_MAX,
	};
	return s->lanes.n - 1;
}

static void make_ready(struct steps *s, size_t i)
{
	s->v.v[i].state = STEP_READY;
	VEC_ADD(s->a, &s->lanes.v[s->v.v[i].lane].ready) = i;
}

int steps_make(struct arena *a, const struct plan *p, const struct steps_limits *l,
	       struct steps *out, struct err *e)
{
	struct maker m = { .s = out, .p = p, .l = l };
	struct graph_list order = { 0 };

	*out = (struct steps){ .a = a };
	map_init(&out->lane_by_key, a);
	map_init(&out->unit_by_addr, a);
	map_init(&out->pool_by_name, a);
	map_init(&out->provider_by_name, a);
	m.make = arena_array(a, size_t, p->changes.n + 1);
	m.unmake = arena_array(a, size_t, p->changes.n + 1);
	add_steps(&m);
	graph_init(&m.g, a, out->v.n);
	add_edges(&m);
	if (!graph_order(&m.g, &order))
		return err_set(e, ERR_CONFLICT, "the plan's changes wait for each other: %s",
			       out->v.v[order.v.v[0]].c->addr);
	choose_canaries(&m, true);
	choose_canaries(&m, false);
	for (size_t i = 0; i < p->changes.n; i++)
		if (p->changes.v[i]->undone_first.n && check_room(&m, i, e))
			return -1;
	for (size_t i = 0; i < out->v.n; i++) {
		out->v.v[i].lane = lane_of(&m, i);
		out->new_machines += makes_new_machine(out, &out->v.v[i]);
		if (!out->v.v[i].waiting)
			make_ready(out, i);
	}
	return 0;
}

/* Its next step that was not skipped meanwhile. */
static struct step *head_of(struct steps *s, struct step_lane *l)
{
	while (l->head < l->ready.n && s->v.v[l->ready.v[l->head]].state != STEP_READY)
		l->head++;
	return l->head < l->ready.n ? &s->v.v[l->ready.v[l->head]] : NULL;
}

static bool has_room(const struct steps *s, const struct step_lane *l, const struct step_unit *u)
{
	const struct step_pool *pool = &s->pools.v[u->pool];

	if (pool->phase == POOL_STOPPED || (pool->phase != POOL_OPEN && !l->canary))
		return false;
	return u->holds || !pool->may_be_down || pool->down < pool->may_be_down;
}

/* Can the head of this lane begin? */
static bool may_begin(struct steps *s, struct step_lane *l)
{
	const struct step *x = head_of(s, l);

	if (!x || (l->sees_fleet && s->new_machines))
		return false;
	if (l->creates != SIZE_MAX) {
		const struct step_provider *p = &s->providers.v[l->creates];
		if (p->limit && p->running >= p->limit)
			return false;
	}
	return !l->rolling || has_room(s, l, &s->units.v[x->unit]);
}

static size_t begin(struct steps *s, struct step_lane *l)
{
	size_t i = l->ready.v[l->head++];
	struct step_unit *u = &s->units.v[s->v.v[i].unit];

	s->v.v[i].state = STEP_RUNNING;
	s->running++;
	u->begun = true;
	if (l->creates != SIZE_MAX)
		s->providers.v[l->creates].running++;
	if (l->rolling && !u->holds) {
		u->holds = true;
		s->pools.v[u->pool].down++;
	}
	return i;
}

size_t steps_take(struct steps *s)
{
	for (int mends = s->mending; mends >= 0; mends--)
		for (size_t k = 0; k < s->lanes.n; k++) {
			size_t at = (s->next_lane + k) % s->lanes.n;
			struct step_lane *l = &s->lanes.v[at];
			if (l->mends != mends || !may_begin(s, l))
				continue;
			s->next_lane = at + 1;
			return begin(s, l);
		}
	return SIZE_MAX;
}

/* ---- skipping ---- */

static struct step_provider *provider_at(struct steps *s, const struct step *x)
{
	return &s->providers.v[index_of(&s->provider_by_name, x->c->provider)];
}

static void over(struct steps *s, struct step *x, enum step_state state)
{
	x->state = state;
	s->new_machines -= makes_new_machine(s, x);
	if (x->c->action == CHANGE_DELETE)
		provider_at(s, x)->frees--;
}

static bool not_begun(const struct step *x)
{
	return x->state == STEP_WAITING || x->state == STEP_READY;
}

static size_t skip_behind(struct steps *s, size_t failed)
{
	struct graph_list todo = { 0 };
	size_t n = 0;

	VEC_ADD(s->a, &todo.v) = failed;
	while (todo.v.n) {
		const struct step *x = &s->v.v[todo.v.v[--todo.v.n]];
		for (size_t k = 0; k < x->next.n; k++) {
			struct step *y = &s->v.v[x->next.v[k]];
			if (y->state != STEP_WAITING)
				continue;
			over(s, y, STEP_SKIPPED);
			n++;
			VEC_ADD(s->a, &todo.v) = x->next.v[k];
		}
	}
	return n;
}

static size_t skip(struct steps *s, size_t i)
{
	over(s, &s->v.v[i], STEP_SKIPPED);
	return 1 + skip_behind(s, i);
}

/* What serves and has been begun comes to its end; what is new and half made waits for a run in
 * which its pool goes on. */
static size_t stop_pool(struct steps *s, size_t pool)
{
	size_t n = 0;

	s->pools.v[pool].phase = POOL_STOPPED;
	for (size_t i = 0; i < s->v.n; i++) {
		const struct step_unit *u = &s->units.v[s->v.v[i].unit];
		if (u->pool == pool && not_begun(&s->v.v[i]) && !(u->begun && is_there(u)))
			n += skip(s, i);
	}
	return n;
}

size_t steps_left_out(const struct steps *s, size_t pool)
{
	size_t n = 0;

	for (size_t i = 0; i < s->units.n; i++)
		n += s->units.v[i].pool == pool && !s->units.v[i].begun;
	return n;
}

size_t steps_take_proof(struct steps *s)
{
	for (size_t i = 0; i < s->pools.n; i++) {
		struct step_pool *p = &s->pools.v[i];
		if (p->phase != POOL_CANARY || p->canaries)
			continue;
		/* nobody waits for the answer */
		p->phase = p->nodes > p->first.n ? POOL_PROVING : POOL_OPEN;
		if (p->phase == POOL_PROVING)
			return i;
	}
	return SIZE_MAX;
}

size_t steps_prove(struct steps *s, size_t pool, bool well)
{
	if (!well)
		return stop_pool(s, pool);
	s->pools.v[pool].phase = POOL_OPEN;
	return 0;
}

/* A machine that is unmade already is made again all the same: what it left is room. */
static void find_doomed(const struct steps *s, size_t failed, bool whole_provider, bool *doomed)
{
	const struct step *f = &s->v.v[failed];
	size_t provider = s->lanes.v[f->lane].creates;

	for (size_t i = 0; i < s->v.n; i++) {
		const struct step *x = &s->v.v[i];
		if (!not_begun(x) || s->units.v[x->unit].begun ||
		    s->lanes.v[x->lane].creates != provider || strcmp(x->c->kind, f->c->kind) != 0)
			continue;
		if (whole_provider || x->c->pool == f->c->pool ||
		    (x->c->pool && f->c->pool && strcmp(x->c->pool, f->c->pool) == 0))
			doomed[x->unit] = true;
	}
}

size_t steps_no_room(struct steps *s, size_t i, bool whole_provider, size_t *machines)
{
	struct step_lane *l = &s->lanes.v[s->v.v[i].lane];
	size_t n = 0;

	*machines = 0;
	if (l->closed || l->creates == SIZE_MAX || s->providers.v[l->creates].frees)
		return 0;
	l->closed = true;
	bool *doomed = arena_array(s->a, bool, s->units.n + 1);
	find_doomed(s, i, whole_provider, doomed);
	for (size_t k = 0; k < s->v.n; k++)
		if (doomed[s->v.v[k].unit] && not_begun(&s->v.v[k]))
			n += skip(s, k);
	for (size_t k = 0; k < s->units.n; k++)
		*machines += doomed[k];
	return n;
}

/* ---- ending ---- */

static void free_next(struct steps *s, size_t i)
{
	const struct step *x = &s->v.v[i];

	for (size_t k = 0; k < x->next.n; k++) {
		struct step *y = &s->v.v[x->next.v[k]];
		if (--y->waiting == 0 && y->state == STEP_WAITING) {
			y->freed_by = i + 1;
			make_ready(s, x->next.v[k]);
		}
	}
}

size_t steps_end(struct steps *s, size_t i, bool ok)
{
	struct step *x = &s->v.v[i];
	struct step_lane *l = &s->lanes.v[x->lane];
	struct step_unit *u = &s->units.v[x->unit];

	s->running--;
	if (l->creates != SIZE_MAX)
		s->providers.v[l->creates].running--;
	over(s, x, ok ? STEP_DONE : STEP_FAILED);
	if (!ok) {
		size_t n = skip_behind(s, i);
		return u->canary ? n + stop_pool(s, u->pool) : n;
	}
	if (--u->left == 0) {
		if (u->holds)
			s->pools.v[u->pool].down--;
		u->holds = false;
		if (u->canary)
			s->pools.v[u->pool].canaries--;
	}
	free_next(s, i);
	return 0;
}

size_t steps_skip_rest(struct steps *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->v.n; i++) {
		if (!not_begun(&s->v.v[i]))
			continue;
		over(s, &s->v.v[i], STEP_SKIPPED);
		n++;
	}
	return n;
}
