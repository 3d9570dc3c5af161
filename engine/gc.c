/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that bear the cluster's mark and that no record knows: left by a state that was lost or
 * repaired by hand. Only what was named is deleted, never what an unfinished step may own, each
 * deletion is journalled like any other, and none is believed before a list shows it.
 */
#include "engine/absence.h"
#include "engine/beat.h"
#include "engine/fan.h"
#include "engine/make.h"
#include "engine/observe.h"

#include <stdlib.h>

#define GC_WORKERS 16

/* One that is to go, and its intent. */
struct doomed {
	struct orphan *o;
	struct served at;
	struct journal_row row;
	bool begun; /* the intent is written */
};

struct gc {
	struct work w;
	struct observation obs;
	struct journal_rows open;
	struct map known_ids; /* "provider kind id" */
	struct map tokens;    /* of recorded objects */
	struct gc_report *out;
	VEC(struct doomed *) doomed;
	struct err fatal;
};

static struct str id_key(struct arena *a, const char *provider, const char *kind, const char *id)
{
	return str_of(arena_printf(a, "%s %s %s", provider, kind, id));
}

/* An orphan's own address may be that of a recorded object by now, so its deletion has one that no
 * record has. */
static const char *orphan_addr(struct arena *a, const struct orphan *o)
{
	return arena_printf(a, "%s.%s.%s", o->provider, o->kind, o->id);
}

/* ---- finding ---- */

static int need_all(struct gc *g, struct err *e)
{
	struct engine *en = g->w.en;

	for (size_t i = 0; i < g->w.recorded.n; i++) {
		const struct state_resource *r = g->w.recorded.e[i].val;
		struct engine_provider *ep;
		if (context_provider(en, r->provider, &ep, e))
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
	struct state_resources rows;

	map_init(&g->w.recorded, a);
	map_init(&g->w.open, a);
	map_init(&g->known_ids, a);
	map_init(&g->tokens, a);
	if (context_resources(g->w.en, a, &rows, e) || context_intents(g->w.en, a, &g->open, e))
		return -1;
	for (size_t i = 0; i < rows.v.n; i++) {
		struct state_resource *r = rows.v.v[i];
		map_put(&g->w.recorded, str_of(r->addr), r);
		if (r->id)
			map_put(&g->known_ids, id_key(a, r->provider, r->kind, r->id), r);
		if (r->token)
			map_put(&g->tokens, str_of(r->token), r);
	}
	return 0;
}

/* The create that may have made it: by its token, or, where the provider keeps none, by address or
 * name. */
static const struct journal_row *owner_of(const struct gc *g, const struct seen_list *l,
					  const struct resource_seen *s)
{
	for (size_t i = 0; i < g->open.v.n; i++) {
		const struct journal_row *row = g->open.v.v[i];
		if (strcmp(row->action, "create") != 0 || !row->token || !row->provider ||
		    strcmp(row->provider, l->provider) != 0 || strcmp(row->kind, l->kind) != 0)
			continue;
		struct str name = value_get_str(row->want, "name", NULL);
		bool same = s->token  ? strcmp(row->token, s->token) == 0
			    : s->addr ? strcmp(row->addr, s->addr) == 0
				      : s->name && name.p && str_eqc(name, s->name);
		if (same)
			return row;
	}
	return NULL;
}

static bool is_known(const struct gc *g, const struct seen_list *l, const struct resource_seen *s)
{
	return map_get(&g->known_ids, id_key(g->w.a, l->provider, l->kind, s->id)) ||
	       (s->token && map_getc(&g->tokens, s->token));
}

static void add_orphan(struct gc *g, const struct seen_list *l, const struct resource_seen *s)
{
	struct orphan *o = arena_obj(g->w.a, struct orphan);
	const struct journal_row *owner = owner_of(g, l, s);

	*o = (struct orphan){
		.provider = l->provider,
		.kind = l->kind,
		.id = s->id,
		.name = s->name,
		.addr = s->addr,
		.quota = l->type->quota,
		.scarcity = l->type->scarcity,
		.created_ms = s->created_ms,
	};
	if (owner)
		o->owner = arena_printf(g->w.a, "create %s of run %s", owner->addr, owner->run);
	VEC_ADD(g->w.a, &g->out->v) = o;
}

/* What uses up a quota first: that is what blocks the next machine. Then as the ids were given. */
static int by_scarcity(const void *x, const void *y)
{
	const struct orphan *a = *(struct orphan *const *)x, *b = *(struct orphan *const *)y;
	int rc = b->scarcity - a->scarcity;

	if (!rc)
		rc = strcmp(a->provider, b->provider);
	if (!rc)
		rc = strcmp(a->kind, b->kind);
	if (!rc && strlen(a->id) != strlen(b->id))
		rc = strlen(a->id) < strlen(b->id) ? -1 : 1;
	return rc ? rc : strcmp(a->id, b->id);
}

static int find_orphans(struct gc *g, struct err *e)
{
	*g->out = (struct gc_report){ 0 };
	g->obs = (struct observation){ 0 };
	/* Listed before the record is read again: an object that another run makes and records in
	 * between is known by the time it is judged. */
	if (know(g, e) || need_all(g, e) || know(g, e))
		return -1;
	for (size_t i = 0; i < g->obs.lists.n; i++) {
		const struct seen_list *l = g->obs.lists.v[i];
		for (size_t k = 0; k < l->seen.v.n; k++)
			if (l->seen.v.v[k]->id && !is_known(g, l, l->seen.v.v[k]))
				add_orphan(g, l, l->seen.v.v[k]);
	}
	if (g->out->v.n)
		qsort(g->out->v.v, g->out->v.n, sizeof *g->out->v.v, by_scarcity);
	return 0;
}

/* ---- choosing ---- */

static int doom(struct gc *g, struct orphan *o, struct err *e)
{
	struct doomed *d = arena_obj(g->w.a, struct doomed);

	for (size_t i = 0; i < g->doomed.n; i++)
		if (g->doomed.v[i]->o == o)
			return 0;
	d->o = o;
	VEC_ADD(g->w.a, &g->doomed) = d;
	return ask_at(g->w.en, o->provider, o->kind, &d->at, e);
}

static bool is_named(struct gc *g, const struct orphan *o, const char *id)
{
	return strcmp(o->id, id) == 0 || strcmp(orphan_addr(g->w.a, o), id) == 0;
}

static int no_leftover(struct gc *g, const char *id, struct err *e)
{
	for (size_t i = 0; i < g->w.recorded.n; i++) {
		const struct state_resource *r = g->w.recorded.e[i].val;
		if (!r->id || strcmp(r->id, id) != 0)
			continue;
		err_set(e, ERR_CONFLICT, "%s is no leftover: it is %s of the state", id, r->addr);
		return err_hint(
			e, "take it out of the spec and apply, or `muster destroy --target %s`",
			r->addr);
	}
	err_set(e, ERR_NOT_FOUND, "no leftover is called %s", id);
	return err_hint(e, "`muster gc` lists them");
}

static int choose(struct gc *g, const char *id, struct err *e)
{
	struct orphan *found = NULL;

	for (size_t i = 0; i < g->out->v.n; i++) {
		struct orphan *o = g->out->v.v[i];
		if (!is_named(g, o, id))
			continue;
		if (found) {
			err_set(e, ERR_USAGE, "%s is the id of two leftovers", id);
			return err_hint(e, "name one of them: %s or %s", orphan_addr(g->w.a, found),
					orphan_addr(g->w.a, o));
		}
		found = o;
	}
	if (!found)
		return no_leftover(g, id, e);
	if (found->owner) {
		err_set(e, ERR_CONFLICT, "%s may belong to an unfinished step: %s", id,
			found->owner);
		return err_hint(e, "`muster recover` finds out, and records it or lets it go");
	}
	return doom(g, found, e);
}

static int choose_all(struct gc *g, struct err *e)
{
	for (size_t i = 0; i < g->out->v.n; i++)
		if (!g->out->v.v[i]->owner && doom(g, g->out->v.v[i], e))
			return -1;
	return 0;
}

/* All of them, or none is touched. */
static int choose_named(struct gc *g, const char *const *ids, struct err *e)
{
	for (size_t i = 0; ids[i]; i++)
		if (strcmp(ids[i], "*") == 0 ? choose_all(g, e) : choose(g, ids[i], e))
			return -1;
	return 0;
}

/* ---- deleting ---- */

struct gc_pass {
	struct gc *g;
	VEC(struct doomed *) v;
};

static void delete_one(void *arg, size_t i)
{
	struct gc_pass *pass = arg;
	struct gc *g = pass->g;
	struct doomed *d = pass->v.v[i];
	struct value *want = value_map(g->w.a);
	struct err e = { 0 };

	value_set(want, "id", value_cstr(g->w.a, d->o->id));
	d->row = (struct journal_row){
		.addr = orphan_addr(g->w.a, d->o),
		.action = "delete",
		.provider = d->o->provider,
		.kind = d->o->kind,
		.want = want,
	};
	if (work_intent(&g->w, &d->row, &e)) {
		if (g->fatal.kind == ERR_NONE)
			g->fatal = e;
		return;
	}
	d->begun = true;
	if (make_gone(g->w.en, &d->at, d->o->id, &e))
		d->o->err = e;
}

static bool is_machine(const struct doomed *d)
{
	return strcmp(d->o->kind, "machine") == 0;
}

/* What stands on something goes before it; and where it did not go, that is not tried. */
static bool goes_now(const struct gc *g, struct doomed *d, bool machines)
{
	if (is_machine(d) != machines)
		return false;
	for (size_t i = 0; !machines && i < g->doomed.n; i++) {
		const struct doomed *m = g->doomed.v[i];
		if (is_machine(m) && m->o->err.kind != ERR_NONE &&
		    strcmp(m->o->provider, d->o->provider) == 0) {
			err_set(&d->o->err, ERR_CONFLICT, "not tried: %s is still there", m->o->id);
			return false;
		}
	}
	return true;
}

static int delete_pass(struct gc *g, bool machines, struct err *e)
{
	struct gc_pass pass = { .g = g };

	for (size_t i = 0; i < g->doomed.n; i++)
		if (goes_now(g, g->doomed.v[i], machines))
			VEC_ADD(g->w.a, &pass.v) = g->doomed.v[i];
	struct fan f = {
		.name = "gc",
		.n = pass.v.n,
		.workers = GC_WORKERS,
		.fn = delete_one,
		.arg = &pass,
		.shown = &g->w.en->work,
	};
	if (fan_out(&f, e))
		return -1;
	if (g->fatal.kind == ERR_NONE)
		return 0;
	*e = g->fatal;
	return -1;
}

/* ---- believing ---- */

static int read_back(struct gc *g, struct err *e)
{
	struct absentees gone = { 0 };

	for (size_t i = 0; i < g->doomed.n; i++) {
		struct doomed *d = g->doomed.v[i];
		if (d->begun && d->o->err.kind == ERR_NONE)
			absence_add(g->w.a, &gone, &d->at, d->o->id, d->o);
	}
	if (absence_check(g->w.en, &gone, e))
		return -1;
	for (size_t i = 0; i < gone.v.n; i++) {
		const struct absentee *x = gone.v.v[i];
		struct orphan *o = x->item;
		o->deleted = x->asked && !x->present;
		if (!o->deleted)
			err_set(&o->err, ERR_REMOTE,
				x->asked ? "the provider took the deletion and still lists it"
					 : "the provider took the deletion and can't be asked");
	}
	return 0;
}

static int settle_deleted(struct gc *g, const struct doomed *d, struct err *e)
{
	/* An earlier gc may have left the same deletion as an open item. */
	for (size_t i = 0; i < g->open.v.n; i++) {
		const struct journal_row *row = g->open.v.v[i];
		if (strcmp(row->addr, d->row.addr) == 0 && work_settle_gone(&g->w, row, e))
			return -1;
	}
	return work_settle_gone(&g->w, &d->row, e) ||
			       work_event(&g->w, d->row.addr, "leftover deleted", NULL, e)
		       ? -1
		       : 0;
}

static int settle_one(struct gc *g, struct doomed *d, struct err *e)
{
	if (d->o->deleted) {
		g->out->deleted++;
		return settle_deleted(g, d, e);
	}
	g->out->failed++;
	if (!d->begun || d->o->err.kind == ERR_CANCELLED)
		return 0;
	return work_settle(&g->w, &d->row, JOURNAL_UNKNOWN, &d->o->err, NULL, e) ||
			       work_event(&g->w, d->row.addr, "deleting a leftover failed",
					  &d->o->err, e)
		       ? -1
		       : 0;
}

static int delete_all(struct gc *g, struct err *e)
{
	int rc = delete_pass(g, true, e);

	if (!rc)
		rc = delete_pass(g, false, e);
	if (!rc)
		rc = read_back(g, e);
	for (size_t i = 0; !rc && i < g->doomed.n; i++)
		rc = settle_one(g, g->doomed.v[i], e);
	return rc;
}

static int delete_journalled(struct gc *g, struct err *e)
{
	struct group aux;
	struct err ignored = { 0 };

	group_init(&aux);
	task_spawn(&aux, "committer", committer_task, &g->w.commit);
	g->w.en->commit = &g->w.commit;
	int rc = delete_all(g, e);
	g->w.en->commit = NULL;
	commit_close(&g->w.commit);
	if (group_wait(&aux, &ignored))
		log_debug("gc was cancelled");
	if (journal_flush(g->w.en->o.state, rc ? &ignored : e))
		return -1;
	return rc;
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
	int rc = find_orphans(&g, e) || choose_named(&g, delete_ids, e) ? -1 : 0;
	if (!rc && g.doomed.n)
		rc = delete_journalled(&g, e);
	if (beat_stop(&beat, e))
		rc = -1;
	if (lease_release(en->o.state, rc ? &late : e))
		rc = -1;
	en->run = NULL;
	return rc;
}
