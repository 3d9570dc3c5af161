/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/claim.h"

#include "engine/planner.h"

#define TRY_AGAIN_MS 500

bool plan_is_limited(const struct plan *p)
{
	return p->record_digest[0] != '\0';
}

/* ---- what a plan changes and rests on ---- */

struct scoping {
	struct arena *a;
	struct map written, read;
	struct lease_scope *out;
};

static void add_written(struct scoping *s, const char *addr)
{
	if (map_getc(&s->written, addr))
		return;
	map_put(&s->written, str_of(addr), s);
	VEC_ADD(s->a, &s->out->write) = addr;
}

static void add_reads(struct scoping *s, const char *const *deps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (map_getc(&s->written, deps[i]) || map_getc(&s->read, deps[i]))
			continue;
		map_put(&s->read, str_of(deps[i]), s);
		VEC_ADD(s->a, &s->out->read) = deps[i];
	}
}

/* Deps as wanted and as recorded: what a node stands on may not go while it is worked on. */
static int scope_of(struct engine *en, struct arena *a, const struct plan *p,
		    struct lease_scope *out, struct err *e)
{
	struct scoping s = { .a = a, .out = out };
	struct state_resources rows;
	struct want want = { 0 };

	map_init(&s.written, a);
	map_init(&s.read, a);
	map_init(&want.by_addr, a);
	for (size_t i = 0; i < p->changes.n; i++)
		add_written(&s, p->changes.v[i]->addr);
	if (context_resources(en, a, &rows, e) || (en->o.spec && planner_want(en, a, &want, e)))
		return -1;
	for (size_t i = 0; i < rows.v.n; i++)
		if (map_getc(&s.written, rows.v.v[i]->addr))
			add_reads(&s, rows.v.v[i]->deps.v, rows.v.v[i]->deps.n);
	for (size_t i = 0; i < out->write.n; i++) {
		const struct want_item *w = map_getc(&want.by_addr, out->write.v[i]);
		if (w)
			add_reads(&s, w->deps.v, w->deps.n);
	}
	return 0;
}

/* ---- taking ---- */

static int try_once(const struct claim *c, struct arena *a, const struct plan *p, struct err *e)
{
	struct lease_scope scope = { 0 };

	if (!plan_is_limited(p) || p->is_refresh)
		return lease_take(c->en->o.state, c->run, c->command, e);
	if (scope_of(c->en, a, p, &scope, e))
		return -1;
	return lease_take_scope(c->en->o.state, c->run, c->command, &scope, e);
}

static int nap(struct engine *en, struct err *e)
{
	struct err stopped = { 0 };

	if (!task_sleep(TRY_AGAIN_MS, &stopped) && !context_check(en, &stopped))
		return 0;
	*e = stopped;
	return -1;
}

int claim_take(const struct claim *c, struct arena *a, const struct plan *p, bool *waited,
	       struct err *e)
{
	struct deadline end = deadline_in(c->en->o.lock_timeout_ms);
	struct engine_event ev = { .type = "waiting" };

	*waited = false;
	for (;;) {
		struct err now = { 0 };
		if (!try_once(c, a, p, &now))
			return 0;
		if (now.kind != ERR_LEASE || deadline_left(end) <= 0) {
			*e = now;
			return -1;
		}
		ev.text = arena_printf(a, "waiting: %s", now.msg);
		if (!*waited)
			context_emit(c->en, &ev);
		*waited = true;
		if (nap(c->en, e))
			return -1;
	}
}

/* ---- what earlier runs left open ---- */

int claim_intents(struct engine *en, struct arena *a, const struct plan *p,
		  struct journal_rows *out, struct err *e)
{
	struct journal_rows all;
	struct map written;

	*out = (struct journal_rows){ 0 };
	if (context_intents(en, a, &all, e))
		return -1;
	map_init(&written, a);
	for (size_t i = 0; i < p->changes.n; i++)
		map_put(&written, str_of(p->changes.v[i]->addr), en);
	for (size_t i = 0; i < all.v.n; i++)
		if (!plan_is_limited(p) || map_getc(&written, all.v.v[i]->addr))
			VEC_ADD(a, &out->v) = all.v.v[i];
	return 0;
}

static bool is_owned(const struct leases *all, const struct journal_row *row)
{
	for (size_t i = 0; i < all->v.n; i++) {
		const struct lease *l = all->v.v[i];
		if (!l->h.dead && !l->h.expired && lease_covers(l, row->addr))
			return true;
	}
	return false;
}

/* Nobody's, as far as can be told without a lease. */
static int add_abandoned(struct scoping *s, struct engine *en, size_t *busy, struct err *e)
{
	struct journal_rows open;
	struct leases all;

	*busy = 0;
	if (lease_list(en->o.state, s->a, &all, e) || context_intents(en, s->a, &open, e))
		return -1;
	for (size_t i = 0; i < open.v.n; i++) {
		if (is_owned(&all, open.v.v[i]))
			++*busy;
		else
			add_written(s, open.v.v[i]->addr);
	}
	return 0;
}

int claim_abandoned(const struct claim *c, struct arena *a, struct journal_rows *out, size_t *busy,
		    struct err *e)
{
	struct lease_scope scope = { 0 };
	struct scoping s = { .a = a, .out = &scope };
	struct journal_rows open;

	*out = (struct journal_rows){ 0 };
	map_init(&s.written, a);
	map_init(&s.read, a);
	if (add_abandoned(&s, c->en, busy, e))
		return -1;
	if (!scope.write.n)
		return 0;
	if (lease_take_scope(c->en->o.state, c->run, c->command, &scope, e))
		return -1;
	/* Read again under the lease: somebody may have settled them meanwhile. */
	if (context_intents(c->en, a, &open, e))
		return -1;
	for (size_t i = 0; i < open.v.n; i++)
		if (map_getc(&s.written, open.v.v[i]->addr))
			VEC_ADD(a, &out->v) = open.v.v[i];
	return 0;
}
