/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that bear the cluster's mark and that no record and no open intent knows: left by a state
 * that was lost or repaired by hand. Each deletion is journalled like any other.
 */
#include "engine/beat.h"
#include "engine/fan.h"
#include "engine/make.h"
#include "engine/observe.h"

#define GC_WORKERS 16

struct gc {
	struct work w;
	struct observation obs;
	struct map known_ids, known_tokens; /* "provider kind id" */
	struct gc_report *out;
	VEC(struct orphan *) doomed;
	struct err failed;
};

static struct str id_key(struct arena *a, const char *provider, const char *kind, const char *id)
{
	return str_of(arena_printf(a, "%s %s %s", provider, kind, id));
}

static int need_all(struct gc *g, struct err *e)
{
	struct engine *en = g->w.en;
	struct state_resources rows;

	if (context_resources(en, g->w.a, &rows, e))
		return -1;
	for (size_t i = 0; i < rows.v.n; i++) {
		struct engine_provider *ep;
		if (context_provider(en, rows.v.v[i]->provider, &ep, e))
			return -1;
	}
	for (size_t i = 0; i < en->providers.n; i++) {
		const struct engine_provider *p = en->providers.e[i].val;
		for (size_t k = 0; p->type && p->type->types[k]; k++)
			if (p->type->types[k]->list &&
			    observe_need(en, g->w.a, &g->obs, p->name, p->type->types[k]->kind, e))
				return -1;
	}
	return observe_run(en, g->w.a, &g->obs, e);
}

static int know(struct gc *g, struct err *e)
{
	struct arena *a = g->w.a;
	struct journal_rows open;

	map_init(&g->known_ids, a);
	map_init(&g->known_tokens, a);
	for (size_t i = 0; i < g->w.recorded.n; i++) {
		const struct state_resource *r = g->w.recorded.e[i].val;
		if (r->id)
			map_put(&g->known_ids, id_key(a, r->provider, r->kind, r->id), g);
		if (r->token)
			map_put(&g->known_tokens, str_of(r->token), g);
	}
	if (context_intents(g->w.en, a, &open, e))
		return -1;
	for (size_t i = 0; i < open.v.n; i++)
		if (open.v.v[i]->token)
			map_put(&g->known_tokens, str_of(open.v.v[i]->token), g);
	return 0;
}

static void collect(struct gc *g)
{
	struct arena *a = g->w.a;

	for (size_t i = 0; i < g->obs.lists.n; i++) {
		const struct seen_list *l = g->obs.lists.v[i];
		for (size_t k = 0; k < l->seen.v.n; k++) {
			const struct resource_seen *s = l->seen.v.v[k];
			if (!s->id ||
			    map_get(&g->known_ids, id_key(a, l->provider, l->kind, s->id)))
				continue;
			if (s->token && map_getc(&g->known_tokens, s->token))
				continue;
			struct orphan *o = arena_obj(a, struct orphan);
			*o = (struct orphan){ l->provider, l->kind, s->id, s->name, s->addr };
			VEC_ADD(a, &g->out->v) = o;
		}
	}
}

static bool is_named(const char *const *ids, const char *id)
{
	for (size_t i = 0; ids[i]; i++)
		if (strcmp(ids[i], "*") == 0 || strcmp(ids[i], id) == 0)
			return true;
	return false;
}

static int delete_orphan(struct gc *g, const struct orphan *o, struct err *e)
{
	struct arena *a = g->w.a;
	struct value *want = value_map(a);
	struct engine_provider *ep;
	struct err journal = { 0 };
	/* Its own address may be that of a recorded object by now, so the row has one that no
	 * record has. */
	struct journal_row row = {
		.addr = arena_printf(a, "%s.%s.%s", o->provider, o->kind, o->id),
		.action = "delete",
		.provider = o->provider,
		.kind = o->kind,
		.want = want,
	};

	value_set(want, "id", value_cstr(a, o->id));
	if (context_provider(g->w.en, o->provider, &ep, e) || work_intent(&g->w, &row, e))
		return -1;
	if (make_gone(g->w.en, ep, want_type(ep->type, o->kind), o->id, e)) {
		if (e->kind != ERR_CANCELLED &&
		    work_settle(&g->w, &row, JOURNAL_FAILED, e, NULL, &journal))
			*e = journal;
		return -1;
	}
	return work_settle_gone(&g->w, &row, e) ||
			       work_event(&g->w, row.addr, "orphan deleted", NULL, e)
		       ? -1
		       : 0;
}

/* Those of the doomed that go in one pass. */
struct gc_pass {
	struct gc *g;
	VEC(const struct orphan *) doomed;
};

static void delete_one(void *arg, size_t i)
{
	struct gc_pass *pass = arg;
	struct gc *g = pass->g;
	const struct orphan *o = pass->doomed.v[i];
	struct err e = { 0 };

	if (delete_orphan(g, o, &e) && g->failed.kind == ERR_NONE) {
		g->failed = e;
		err_wrap(&g->failed, "deleting %s %s of provider \"%s\"", o->kind, o->id,
			 o->provider);
	}
}

/* Machines wholly before what they stand on. */
static int delete_all(struct gc *g, struct err *e)
{
	struct group aux;
	struct err ignored = { 0 };
	int rc = 0;

	group_init(&aux);
	task_spawn(&aux, "committer", committer_task, &g->w.commit);
	g->w.en->commit = &g->w.commit;
	for (int pass = 0; pass < 2 && !rc && g->failed.kind == ERR_NONE; pass++) {
		struct gc_pass part = { .g = g };

		for (size_t i = 0; i < g->doomed.n; i++)
			if ((strcmp(g->doomed.v[i]->kind, "machine") == 0) == (pass == 0))
				VEC_ADD(g->w.a, &part.doomed) = g->doomed.v[i];
		struct fan f = {
			.name = "gc",
			.n = part.doomed.n,
			.workers = GC_WORKERS,
			.fn = delete_one,
			.arg = &part,
			.shown = &g->w.en->work,
		};
		rc = fan_out(&f, e);
	}
	g->w.en->commit = NULL;
	commit_close(&g->w.commit);
	if (group_wait(&aux, &ignored))
		log_debug("gc was cancelled");
	if (journal_flush(g->w.en->o.state, rc ? &ignored : e))
		return -1;
	if (!rc && g->failed.kind != ERR_NONE) {
		*e = g->failed;
		return -1;
	}
	return rc;
}

static int find_orphans(struct gc *g, struct err *e)
{
	struct engine *en = g->w.en;
	struct state_resources rows;

	*g->out = (struct gc_report){ 0 };
	g->obs = (struct observation){ 0 };
	map_init(&g->w.recorded, g->w.a);
	map_init(&g->w.open, g->w.a);
	if (need_all(g, e) || context_resources(en, g->w.a, &rows, e))
		return -1;
	for (size_t i = 0; i < rows.v.n; i++)
		map_put(&g->w.recorded, str_of(rows.v.v[i]->addr), rows.v.v[i]);
	if (know(g, e))
		return -1;
	collect(g);
	return 0;
}

int engine_gc(struct engine *en, struct arena *a, const char *const *delete_ids,
	      struct gc_report *out, struct err *e)
{
	struct apply_result counts = { 0 };
	struct gc g = { .w = { .en = en, .a = a, .result = &counts }, .out = out };
	struct err late = { 0 };
	struct beat beat;
	char run[RUN_ID_LEN];

	if (!delete_ids || !en->o.state)
		return find_orphans(&g, e);
	/* Under the lease, or an object that another run has just made would look like a leftover. */
	state_run_id(run);
	if (lease_take(en->o.state, run, "gc", e))
		return -1;
	en->run = run;
	beat_start(&beat, en, LEASE_BEAT_MS);
	committer_init(&g.w.commit, a, en->o.state);
	int rc = find_orphans(&g, e);
	for (size_t i = 0; !rc && i < out->v.n; i++)
		if (is_named(delete_ids, out->v.v[i]->id))
			VEC_ADD(a, &g.doomed) = out->v.v[i];
	if (!rc)
		rc = delete_all(&g, e);
	if (beat_stop(&beat, e))
		rc = -1;
	if (lease_release(en->o.state, rc ? &late : e))
		rc = -1;
	en->run = NULL;
	return rc;
}
