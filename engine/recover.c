/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question an intent. A create: is there an object with its token? Then it is recorded as if we
 * had heard the answer. If not, the create never happened, unless the provider says that what was
 * asked for may still appear: a young intent stays open, and a later create uses its token again. A
 * delete is done again, since deleting twice is deleting once. An update or a configuration may be
 * half done: the next plan compares and mends.
 */
#include "engine/recover.h"

#include "engine/beat.h"
#include "engine/fan.h"
#include "engine/fault.h"
#include "engine/make.h"

#define SETTLE_WORKERS 32

struct settling {
	struct work w;
	const struct journal_rows *open;
	struct recover_report *out;
	struct err fatal; /* the journal's own, or ^C */
};

static void decide(struct settling *s, const struct journal_row *row, const char *decision,
		   bool open)
{
	struct settled *x = arena_obj(s->w.a, struct settled);
	struct engine_event ev = {
		.type = "settled", .addr = row->addr, .action = row->action, .text = decision
	};

	*x = (struct settled){
		.addr = row->addr, .action = row->action, .decision = decision, .open = open
	};
	VEC_ADD(s->w.a, &s->out->v) = x;
	context_emit(s->w.en, &ev);
}

static const char *text_of(struct arena *a, const struct value *v, const char *key)
{
	struct str x = value_get_str(v, key, NULL);

	return x.p ? str_cstr(a, x) : NULL;
}

static int record_found(struct settling *s, const struct journal_row *row,
			const struct resource_seen *seen, struct err *e)
{
	struct arena *a = s->w.a;
	const struct value *deps = value_get(row->want, "deps");
	struct state_resource *r;
	VEC(const char *) names = { 0 };

	for (size_t i = 0; deps && deps->kind == V_LIST && i < deps->list.n; i++)
		VEC_ADD(a, &names) = str_cstr(a, deps->list.v[i]->s);
	struct made m = {
		.addr = row->addr,
		.kind = row->kind,
		.provider = row->provider,
		.provider_type = text_of(a, row->want, "provider_type"),
		.name = text_of(a, row->want, "name"),
		.pool = text_of(a, row->want, "pool"),
		.token = row->token,
		.want = value_get(row->want, "attrs"),
		.host_keys = value_get(row->want, "host_keys"),
		.deps = names.v,
		.n_deps = names.n,
		.seen = seen,
		.status = RES_READY,
	};
	if (seen->status && strcmp(seen->status, "error") == 0)
		m.status = RES_TAINTED;
	if (!m.provider_type)
		m.provider_type = context_provider_type(s->w.en, row->provider)->name;
	return work_row(&s->w, &m, &r, e) || work_settle(&s->w, row, JOURNAL_DONE, NULL, r, e) ? -1
											       : 0;
}

static int settle_create(struct settling *s, const struct journal_row *row, struct err *e)
{
	struct resource_seen *seen = NULL;
	struct err why = { 0 };

	if (make_find(s->w.en, s->w.a, row, &seen, e))
		return -1;
	if (seen && seen->id) {
		if (record_found(s, row, seen, e))
			return -1;
		decide(s, row, arena_printf(s->w.a, "the %s was made: recorded", row->kind), false);
		return 0;
	}
	const struct resource_type *t = want_type(context_provider_type(s->w.en, row->provider),
						  row->kind);
	if (clock_wall() - row->at_ms < t->settle_ms) {
		decide(s, row, "still unknown: it may yet appear; a later run looks again", true);
		return 0;
	}
	err_set(&why, ERR_NOT_FOUND, "it never happened");
	if (work_settle(&s->w, row, JOURNAL_FAILED, &why, NULL, e))
		return -1;
	decide(s, row, "never happened: dropped", false);
	return 0;
}

static int settle_delete(struct settling *s, const struct journal_row *row, struct err *e)
{
	const struct state_resource *old = work_recorded(&s->w, row->addr);
	const char *id = old && old->id ? old->id : text_of(s->w.a, row->want, "id");
	struct engine_provider *ep;

	if (id) {
		if (context_provider(s->w.en, row->provider, &ep, e))
			return -1;
		const struct resource_type *t = want_type(ep->type, row->kind);
		if (!t)
			return err_set(e, ERR_SPEC, "provider \"%s\" knows no %s in this version",
				       row->provider, row->kind);
		if (make_gone(s->w.en, ep, t, id, e))
			return -1;
	}
	if (work_settle_gone(&s->w, row, e))
		return -1;
	decide(s, row, "deleted to the end", false);
	return 0;
}

static int settle_other(struct settling *s, const struct journal_row *row, struct err *e)
{
	const struct state_resource *old = work_recorded(&s->w, row->addr);
	struct state_resource *r = NULL;
	struct err why = { 0 };

	if (old && strcmp(row->action, "configure") == 0) {
		r = arena_obj(s->w.a, struct state_resource);
		*r = *old;
		r->status = RES_TAINTED;
	}
	err_set(&why, ERR_CANCELLED, "it was interrupted");
	if (work_settle(&s->w, row, JOURNAL_FAILED, &why, r, e))
		return -1;
	decide(s, row,
	       r ? "interrupted: the node is configured again"
		 : "interrupted: the next plan compares and mends",
	       false);
	return 0;
}

static void settle_one(void *arg, size_t i)
{
	struct settling *s = arg;
	const struct journal_row *row = s->open->v.v[i];
	struct err e = { 0 };
	int rc;

	fault_point("recover.settle");
	if (strcmp(row->action, "create") == 0 && row->token && row->provider && row->kind)
		rc = settle_create(s, row, &e);
	else if (strcmp(row->action, "delete") == 0 && row->provider && row->kind)
		rc = settle_delete(s, row, &e);
	else
		rc = settle_other(s, row, &e);
	if (!rc)
		return;
	if (e.kind == ERR_CANCELLED || e.kind == ERR_LEASE || s->w.commit.broken) {
		s->fatal = e;
		return;
	}
	decide(s, row, arena_printf(s->w.a, "still unknown: %s", e.msg), true);
}

int recover_settle(struct engine *en, struct arena *a, const struct journal_rows *open,
		   struct recover_report *out, struct err *e)
{
	struct apply_result counts = { 0 };
	struct settling s = { .w = { .en = en, .a = a, .result = &counts },
			      .open = open,
			      .out = out };
	struct state_resources rows;

	committer_init(&s.w.commit, a, en->o.state);
	map_init(&s.w.recorded, a);
	map_init(&s.w.open, a);
	if (context_resources(en, a, &rows, e))
		return -1;
	for (size_t i = 0; i < rows.v.n; i++)
		map_put(&s.w.recorded, str_of(rows.v.v[i]->addr), rows.v.v[i]);
	struct fan f = {
		.name = "settle",
		.n = open->v.n,
		.workers = SETTLE_WORKERS,
		.fn = settle_one,
		.arg = &s,
		.shown = &en->work,
	};
	int rc = fan_out(&f, e);
	if (journal_flush(en->o.state, rc ? &s.fatal : e))
		return -1;
	if (s.fatal.kind != ERR_NONE) {
		*e = s.fatal;
		return -1;
	}
	return rc ? -1 : context_check(en, e);
}

/* A run that was killed between its steps left nothing open but its lease. */
static int drop_dead_lease(struct engine *en, struct err *e)
{
	struct lease_holder h;
	bool held = false;

	if (!en->o.state || lease_show(en->o.state, &h, &held, e))
		return en->o.state ? -1 : 0;
	return held && h.dead ? lease_break(en->o.state, true, e) : 0;
}

int engine_recover(struct engine *en, struct arena *a, struct recover_report *out, struct err *e)
{
	struct journal_rows open;
	struct err ignored = { 0 };
	struct beat beat;

	*out = (struct recover_report){ 0 };
	if (context_intents(en, a, &open, e))
		return -1;
	if (!open.v.n)
		return drop_dead_lease(en, e); /* nothing to settle needs no lease */
	char run[RUN_ID_LEN];
	state_run_id(run);
	if (lease_take(en->o.state, run, "recover", e))
		return -1;
	beat_start(&beat, en, LEASE_BEAT_MS);
	/* Read again under the lease: somebody may have settled them meanwhile. */
	int rc = context_intents(en, a, &open, e) || recover_settle(en, a, &open, out, e);
	if (beat_stop(&beat, e))
		rc = -1;
	if (rc && journal_flush(en->o.state, &ignored))
		log_warn("the journal could not be written: %s", ignored.msg);
	if (lease_release(en->o.state, rc ? &ignored : e))
		return -1;
	return rc ? -1 : 0;
}
