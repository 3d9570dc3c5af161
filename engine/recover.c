/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question an intent. A create: is there an object with its token? Then it is recorded as if we
 * had heard the answer. If not, the create never happened, unless the provider says that what was
 * asked for may still appear: a young intent stays open, and a later create uses its token again.
 * Of a delete it is asked only whether the object is gone: nothing is deleted here, for what was
 * agreed to then may not be wanted now; the next plan shows it. An update is recorded
 * if all of it is there; else it may be half done, as a configuration may: the next plan compares
 * and mends.
 */
#include "engine/recover.h"

#include "engine/beat.h"
#include "engine/claim.h"
#include "engine/fan.h"
#include "engine/make.h"

#define SETTLE_WORKERS 32

struct settling {
	struct work w;
	const struct journal_rows *open;
	struct recover_report *out;
	struct err fatal; /* the journal's own, or ^C */
};

/* What was found out about an intent; the rest of the report is in its row. */
struct verdict {
	const char *outcome; /* one word */
	const char *decision, *reason, *id;
	int64_t until_ms;
	bool open;
};

static void decide(struct settling *s, const struct journal_row *row, const struct verdict *v)
{
	struct settled *x = arena_obj(s->w.a, struct settled);
	struct value *data = value_map(s->w.a);
	struct engine_event ev = { .type = "settled",
				   .addr = row->addr,
				   .action = row->action,
				   .text = v->decision,
				   .data = data };

	*x = (struct settled){
		.addr = row->addr,
		.action = row->action,
		.run = row->run,
		.provider = row->provider,
		.outcome = v->outcome,
		.decision = v->decision,
		.reason = v->reason,
		.id = v->id,
		.since_ms = row->at_ms,
		.until_ms = v->until_ms,
		.open = v->open,
	};
	VEC_ADD(s->w.a, &s->out->v) = x;
	value_set(data, "outcome", value_cstr(s->w.a, v->outcome));
	if (v->reason)
		value_set(data, "reason", value_cstr(s->w.a, v->reason));
	if (v->id)
		value_set(data, "id", value_cstr(s->w.a, v->id));
	context_emit(s->w.en, &ev);
}

static const char *text_of(struct arena *a, const struct value *v, const char *key)
{
	struct str x = value_get_str(v, key, NULL);

	return x.p ? str_cstr(a, x) : NULL;
}

/* old: as it was recorded before an update; NULL after a create. */
static int record_found(struct settling *s, const struct journal_row *row,
			const struct resource_seen *seen, const struct state_resource *old,
			struct err *e)
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
		.host_keys = value_get(old ? old->attrs : row->want, "host_keys"),
		.deps = names.v,
		.n_deps = names.n,
		.seen = seen,
		.status = RES_READY,
	};
	if (seen->status && strcmp(seen->status, "error") == 0)
		m.status = RES_TAINTED;
	if (!m.provider_type)
		m.provider_type = context_provider_type(s->w.en, row->provider)->name;
	if (work_row(&s->w, &m, &r, e))
		return -1;
	if (old) {
		r->config_digest = old->config_digest;
		r->created_ms = old->created_ms;
		if (old->status == RES_TAINTED && old->config_digest)
			r->status = RES_TAINTED; /* its configuration is still to be mended */
	}
	return work_settle(&s->w, row, JOURNAL_DONE, NULL, r, e);
}

/* By its token where there is one; objects that bear none are looked for in the list. */
static int is_there(struct settling *s, const struct journal_row *row, const char *id, bool *there,
		    struct err *e)
{
	struct resources_seen all = { 0 };
	struct resource_seen *seen = NULL;
	struct served at;

	*there = false;
	if (ask_at(s->w.en, row->provider, row->kind, &at, e))
		return -1;
	if (row->token) {
		if (make_find(s->w.en, s->w.a, row, &seen, e))
			return -1;
		*there = seen != NULL;
		return 0;
	}
	if (!at.t->list || !id)
		return 0;
	if (ask_list_again(s->w.en, s->w.a, &at, &all, e))
		return -1;
	for (size_t i = 0; i < all.v.n; i++)
		*there |= all.v.v[i]->id && strcmp(all.v.v[i]->id, id) == 0;
	return 0;
}

/* Made so lately that the provider need not show it yet: its absence says nothing. */
static bool is_too_young(struct settling *s, const struct journal_row *row,
			 const struct state_resource *old, struct err *e)
{
	struct served at;

	if (!old || ask_at(s->w.en, row->provider, row->kind, &at, e))
		return false;
	return clock_wall() - old->created_ms < ask_settle_ms(&at);
}

/* Another object has the address by now, and is there. One that vanished leaves its place. */
static int is_taken(struct settling *s, const struct journal_row *row, bool *taken, struct err *e)
{
	const struct state_resource *now = work_recorded(&s->w, row->addr);

	*taken = false;
	if (!now || (now->token && strcmp(now->token, row->token) == 0))
		return 0;
	const struct journal_row other = { .provider = now->provider,
					   .kind = now->kind,
					   .token = now->token };
	if (is_there(s, &other, now->id, taken, e))
		return -1;
	*taken |= is_too_young(s, &other, now, e);
	return 0;
}

/* A later run has made another one: this one is nobody's. */
static int place_taken(struct settling *s, const struct journal_row *row,
		       const struct resource_seen *seen, struct err *e)
{
	struct err why = { 0 };
	struct verdict v = { .outcome = "leftover",
			     .decision = "made: a leftover, `muster gc` lists it",
			     .reason = "the state has another one in its place by now",
			     .id = seen->id };

	err_set(&why, ERR_CONFLICT, "another one is in its place");
	if (work_settle(&s->w, row, JOURNAL_FAILED, &why, NULL, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

/* The provider told us so: there is an object with the token of this create. */
static int create_happened(struct settling *s, const struct journal_row *row,
			   const struct resource_seen *seen, struct err *e)
{
	bool taken, broken = seen->status && strcmp(seen->status, "error") == 0;
	struct verdict v = {
		.outcome = broken ? "tainted" : "recorded",
		.decision = arena_printf(s->w.a,
					 broken ? "half made: recorded as %s, to be replaced"
						: "made: recorded as %s",
					 seen->id),
		.reason = broken ? "the provider has it, in error"
				 : "the provider has an object with its token",
		.id = seen->id,
	};

	if (is_taken(s, row, &taken, e))
		return -1;
	if (taken)
		return place_taken(s, row, seen, e);
	if (record_found(s, row, seen, NULL, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

/* While the request may still have its effect, its token must not be forgotten: what appears
 * afterwards would be nobody's, and a later create under another token would make a second one. */
static int keep_open(struct settling *s, const struct journal_row *row, int64_t until_ms,
		     struct err *e)
{
	struct err why = { 0 };
	struct verdict v = {
		.outcome = "unknown",
		.decision = "still unknown: kept, and its token is used again",
		.reason = "not seen yet, and the provider says that it may appear later",
		.until_ms = until_ms,
		.open = true,
	};

	/* From the first look on it is counted how long it may take. */
	err_set(&why, ERR_NOT_FOUND, "it was not there yet");
	if ((row->outcome == JOURNAL_INTENT || !row->settled_ms) &&
	    work_settle(&s->w, row, JOURNAL_UNKNOWN, &why, NULL, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

static int settle_create(struct settling *s, const struct journal_row *row, struct err *e)
{
	struct resource_seen *seen = NULL;
	struct err why = { 0 };
	struct verdict v = { .outcome = "dropped",
			     .decision = "never happened: dropped",
			     .reason = "the provider has no object with its token" };
	struct served at;

	if (ask_at(s->w.en, row->provider, row->kind, &at, e))
		return -1;
	/* before the question: what it doesn't see may appear meanwhile */
	int64_t now = clock_wall();
	int64_t left = make_may_appear_ms(&at, row, now);
	if (make_find(s->w.en, s->w.a, row, &seen, e))
		return -1;
	if (seen && seen->id)
		return create_happened(s, row, seen, e);
	if (left > 0)
		return keep_open(s, row, now + left, e);
	err_set(&why, ERR_NOT_FOUND, "it never happened");
	if (work_settle(&s->w, row, JOURNAL_FAILED, &why, NULL, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

static int delete_happened(struct settling *s, const struct journal_row *row, const char *id,
			   struct err *e)
{
	struct verdict v = { .outcome = "gone",
			     .decision = "deleted: taken out of the state",
			     .reason = "the provider has it no more",
			     .id = id };

	if (work_settle_gone(&s->w, row, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

/* Deleting is for a plan that somebody has seen. Marked, since what was half deleted is not what
 * was asked for, should the spec want it again. */
static int delete_undone(struct settling *s, const struct journal_row *row,
			 const struct state_resource *old, struct err *e)
{
	struct state_resource *r = arena_obj(s->w.a, struct state_resource);
	struct err why = { 0 };
	struct verdict v = { .outcome = "interrupted",
			     .decision = "not deleted: the next plan does it",
			     .reason = "the provider still has it",
			     .id = old->id };

	*r = *old;
	r->status = RES_DELETING;
	err_set(&why, ERR_CANCELLED, "it was interrupted");
	if (work_settle(&s->w, row, JOURNAL_FAILED, &why, r, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

/* Of gc: no record has it. What the provider refused to delete stays an open item until it is gone;
 * what was only interrupted is found by gc again. */
static int leftover_stays(struct settling *s, const struct journal_row *row, const char *id,
			  struct err *e)
{
	struct err why = { 0 };
	struct verdict v = { .outcome = "interrupted",
			     .decision = "not deleted: `muster gc` lists it",
			     .reason = "the provider still has it",
			     .id = id };

	if (row->outcome == JOURNAL_UNKNOWN) {
		v.outcome = "unknown";
		v.decision = "not deleted: kept as an open item; delete it with `muster gc`";
		v.reason = arena_printf(s->w.a, "the provider still has it%s%s",
					row->error ? ": " : "", row->error ? row->error : "");
		v.open = true;
	} else {
		err_set(&why, ERR_CANCELLED, "it was interrupted");
		if (work_settle(&s->w, row, JOURNAL_FAILED, &why, NULL, e))
			return -1;
	}
	decide(s, row, &v);
	return 0;
}

static int settle_delete(struct settling *s, const struct journal_row *row, struct err *e)
{
	const struct state_resource *old = work_recorded(&s->w, row->addr);
	const char *id = old && old->id ? old->id : text_of(s->w.a, row->want, "id");
	bool there = false;

	if (id && is_there(s, row, id, &there, e))
		return -1;
	if (!there && is_too_young(s, row, old, e))
		there = true;
	if (!there)
		return delete_happened(s, row, id, e);
	return old ? delete_undone(s, row, old, e) : leftover_stays(s, row, id, e);
}

/* An update that went all the way is recorded, or the record would go on asking for what was
 * before, unseen by any plan. */
static int settle_update(struct settling *s, const struct journal_row *row, bool *settled,
			 struct err *e)
{
	const struct state_resource *old = work_recorded(&s->w, row->addr);
	struct resource_seen *seen = NULL;
	struct verdict v = { .outcome = "recorded",
			     .decision = "done: recorded",
			     .reason = "the provider has it as it was asked for" };

	*settled = false;
	if (!old || !row->token || !row->provider || !row->kind)
		return 0;
	if (make_find(s->w.en, s->w.a, row, &seen, e))
		return -1;
	if (!seen || !seen->id || !make_is_as_asked(value_get(row->want, "attrs"), old->want, seen))
		return 0;
	if (record_found(s, row, seen, old, e))
		return -1;
	v.id = seen->id;
	decide(s, row, &v);
	*settled = true;
	return 0;
}

static int settle_other(struct settling *s, const struct journal_row *row, struct err *e)
{
	const struct state_resource *old = work_recorded(&s->w, row->addr);
	struct state_resource *r = NULL;
	struct err why = { 0 };
	struct verdict v = { .outcome = "interrupted",
			     .decision = "interrupted: the next plan compares and mends",
			     .reason = "it may be half done",
			     .id = old ? old->id : NULL };
	bool settled = false;

	if (strcmp(row->action, "update") == 0 && settle_update(s, row, &settled, e))
		return -1;
	if (settled)
		return 0;
	if (old && strcmp(row->action, "configure") == 0) {
		r = arena_obj(s->w.a, struct state_resource);
		*r = *old;
		r->status = RES_TAINTED;
		v.decision = "interrupted: the node is configured again";
	}
	err_set(&why, ERR_CANCELLED, "it was interrupted");
	if (work_settle(&s->w, row, JOURNAL_FAILED, &why, r, e))
		return -1;
	decide(s, row, &v);
	return 0;
}

static void settle_one(void *arg, size_t i)
{
	struct settling *s = arg;
	const struct journal_row *row = s->open->v.v[i];
	struct err e = { 0 };
	int rc;

	fault_point("recover", "settle");
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
	struct verdict v = { .outcome = "unknown",
			     .decision = "still unknown: kept; a later run looks again",
			     .reason = arena_strdup(s->w.a, e.msg),
			     .open = true };
	decide(s, row, &v);
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
static int drop_dead_leases(struct engine *en, struct arena *a, struct err *e)
{
	struct leases all = { 0 };

	if (en->o.state && lease_list(en->o.state, a, &all, e))
		return -1;
	for (size_t i = 0; i < all.v.n; i++)
		if (all.v.v[i]->h.dead && lease_break(en->o.state, all.v.v[i]->h.run, true, e))
			return -1;
	return 0;
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
		return drop_dead_leases(en, a, e); /* nothing to settle needs no lease */
	char run[RUN_ID_LEN];
	state_run_id(run);
	struct claim claim = { .en = en, .run = run, .command = "recover" };
	if (claim_abandoned(&claim, a, &open, &out->busy, e))
		return -1;
	if (!lease_run(en->o.state))
		return drop_dead_leases(en, a, e);
	beat_start(&beat, en, LEASE_BEAT_MS);
	int rc = recover_settle(en, a, &open, out, e);
	if (beat_stop(&beat, e))
		rc = -1;
	if (rc && journal_flush(en->o.state, &ignored))
		log_warn("the journal could not be written: %s", ignored.msg);
	if (lease_release(en->o.state, rc ? &ignored : e))
		return -1;
	return rc ? -1 : drop_dead_leases(en, a, e);
}
