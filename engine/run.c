/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run from its lease to its last line: plan_apply of engine.h.
 *
 * What a plan rests on must still hold when the lease is ours. If an earlier run was killed, its
 * intents are settled first, and since that moves the record the plan is made again; it is done
 * only if it holds nothing that was not agreed to.
 */
#include "engine/apply.h"
#include "engine/beat.h"
#include "engine/claim.h"
#include "engine/keys.h"
#include "engine/outputs.h"
#include "engine/planner.h"
#include "engine/pool_config.h"
#include "engine/recover.h"
#include "engine/refresh.h"
#include "engine/world.h"

struct run {
	struct engine *en;
	struct arena *a;
	const struct plan *plan;
	const char *command;
	struct work w;
	char id[RUN_ID_LEN];
	bool begun;  /* its row is in the history */
	bool waited; /* for the lease: what was planned may have been done meanwhile */
};

static int stale(struct err *e)
{
	err_set(e, ERR_CONFLICT, "the state was changed by another run since the plan was made");
	return err_hint(e, "look at a new plan and apply that");
}

static enum plan_mode mode_of(const struct plan *p)
{
	return p->is_destroy	 ? PLAN_DESTROY
	       : p->is_refresh	 ? PLAN_REFRESH_ONLY
	       : p->is_configure ? PLAN_CONFIGURE
				 : PLAN_APPLY;
}

/* Has what a selection's plan rests on been written since? Without asking anybody else. */
static int record_moved(struct run *r, bool *moved, struct err *e)
{
	const struct selection_said said = planner_said(r->plan);
	struct planner_ask ask = { .mode = mode_of(r->plan), .no_refresh = true, .said = &said };
	struct map seen = r->en->seen;
	struct plan *now;

	int rc = planner_run(r->en, r->a, &ask, &now, e);
	r->en->seen = seen;
	*moved = !rc && strcmp(now->record_digest, r->plan->record_digest) != 0;
	return rc;
}

static int replan(struct run *r, const char *why, struct err *e)
{
	const struct selection_said said = planner_said(r->plan);
	struct planner_ask ask = { .mode = mode_of(r->plan),
				   .no_refresh = r->en->o.no_refresh,
				   .said = &said };
	struct plan *fresh;

	if (planner_run(r->en, r->a, &ask, &fresh, e))
		return -1;
	if (!plan_covers(r->a, r->plan, fresh)) {
		err_set(e, ERR_CONFLICT, "%s, the plan is another one", why);
		return err_hint(e, "look at the new plan and apply that");
	}
	r->plan = fresh;
	return 0;
}

static int settle_and_replan(struct run *r, const struct journal_rows *open, struct err *e)
{
	struct recover_report report = { 0 };

	if (recover_settle(r->en, r->a, open, &report, e))
		return -1;
	return replan(r, "an earlier run left steps unfinished; now that they are settled", e);
}

static int check_ground(struct run *r, struct err *e)
{
	struct journal_rows open;
	int64_t serial;
	char spec[SHA256_HEX];

	if (context_serial(r->en, &serial, e))
		return -1;
	bool moved = serial != r->plan->state_serial;
	if (moved && plan_is_limited(r->plan) && record_moved(r, &moved, e))
		return -1;
	if (moved && (!r->waited || r->plan->is_saved))
		return stale(e);
	if (pool_config_spec_digest(r->en, spec, e))
		return -1;
	if (!r->plan->is_destroy && strcmp(spec, r->plan->spec_digest) != 0) {
		err_set(e, ERR_CONFLICT,
			"the spec (or a playbook, role or variable) was changed since the plan was made");
		return err_hint(e, "look at a new plan and apply that");
	}
	if (claim_intents(r->en, r->a, r->plan, &open, e))
		return -1;
	if (open.v.n)
		return settle_and_replan(r, &open, e);
	return moved ? replan(r, "another run was waited for; after it", e) : 0;
}

static bool makes_nodes(const struct plan *p)
{
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct change *c = p->changes.v[i];
		if (c->node && (c->action == CHANGE_CREATE || c->action == CHANGE_REPLACE ||
				c->action == CHANGE_UPDATE))
			return true;
	}
	return false;
}

/* Asked before anything is made: is all there that the providers in question need on this machine? */
static int ask_doctors(struct run *r, struct err *e)
{
	struct map asked;

	map_init(&asked, r->a);
	for (size_t i = 0; i < r->plan->changes.n; i++) {
		const struct change *c = r->plan->changes.v[i];
		struct engine_provider *ep;
		if (map_getc(&asked, c->provider))
			continue;
		map_put(&asked, str_of(c->provider), r);
		if (context_provider(r->en, c->provider, &ep, e))
			return -1;
		struct provider_open o = {
			.cluster = r->en->o.cluster,
			.spec = ep->spec,
			.state_dir = r->en->o.state_dir,
			.self = r->en->o.self,
		};
		if (ep->type->doctor && ep->type->doctor(&o, e))
			return err_wrap(e, "provider \"%s\"", c->provider);
	}
	return 0;
}

static int begin(struct run *r, struct err *e)
{
	const char *path, *id;
	struct state_run row = {
		.id = r->id,
		.command = r->command,
		.who = r->en->o.who,
		.spec_digest = r->plan->spec_digest,
		.plan_digest = r->plan->digest,
		.args = r->en->o.command_line,
		.source = r->en->source,
	};

	if (check_ground(r, e) || ask_doctors(r, e))
		return -1;
	if (makes_nodes(r->plan) &&
	    keys_admin(r->a, r->en->o.state_dir, true, &path, &r->w.admin_key, e))
		return -1;
	if (state_run_begin(r->en->o.state, r->a, &row, &id, e))
		return -1;
	r->begun = true;
	committer_init(&r->w.commit, r->a, r->en->o.state);
	/* A former spec's providers are not those of the fleet. */
	if (!r->plan->is_configure && context_record_providers(r->en, e))
		return -1;
	return work_load(&r->w, e);
}

static int walk(struct run *r, struct err *e)
{
	struct planner_ask ask = { .mode = PLAN_REFRESH_ONLY };
	struct plan *now;

	if (!r->plan->is_refresh) {
		world_make(r->en, &r->w.recorded);
		return apply_walk(&r->w, r->plan, e);
	}
	return planner_run(r->en, r->a, &ask, &now, e) || refresh_record(&r->w, now, e) ? -1 : 0;
}

static int add_outputs(struct run *r, struct err *e)
{
	struct map attrs;

	if (r->plan->is_destroy || r->plan->is_configure)
		return 0;
	map_init(&attrs, r->a);
	for (size_t i = 0; i < r->w.recorded.n; i++) {
		const struct state_resource *row = r->w.recorded.e[i].val;
		if (row && row->pool)
			map_put(&attrs, str_of(row->addr), (void *)row->attrs);
	}
	return outputs_make(r->en, r->a, &attrs, &r->w.result->outputs, e);
}

/* Who is in the fleet, as the configured nodes know it: kept only when every node was told. */
static int record_fleet(struct run *r, struct err *e)
{
	const struct apply_result *res = r->w.result;
	char now[SHA256_HEX];
	const char *was;

	if (res->failed || res->skipped || r->plan->is_destroy || r->plan->is_refresh ||
	    r->plan->is_configure || !r->en->o.fleet || plan_is_limited(r->plan))
		return 0;
	planner_fleet_digest(r->en, now);
	if (context_meta(r->en, r->a, META_FLEET, &was, e))
		return -1;
	return was && strcmp(was, now) == 0 ? 0
					    : state_meta_put(r->en->o.state, META_FLEET, now, e);
}

static const struct value *summary(struct arena *a, const struct apply_result *r)
{
	struct value *m = value_map(a);

	value_set(m, "created", value_int(a, (int64_t)r->created));
	value_set(m, "updated", value_int(a, (int64_t)r->updated));
	value_set(m, "destroyed", value_int(a, (int64_t)r->destroyed));
	value_set(m, "configured", value_int(a, (int64_t)r->configured));
	value_set(m, "failed", value_int(a, (int64_t)r->failed));
	value_set(m, "skipped", value_int(a, (int64_t)r->skipped));
	return m;
}

static int end(struct run *r, bool ok, struct err *e)
{
	const struct apply_result *res = r->w.result;
	const char *result = !ok || (res->failed && !res->done) ? "failed"
			     : res->stopped			? "cancelled"
			     : res->failed || res->skipped	? "partial"
								: "ok";

	if (journal_flush(r->en->o.state, e))
		return -1;
	return r->begun ? state_run_end(r->en->o.state, r->id, result, summary(r->a, res), e) : 0;
}

int plan_apply(struct engine *en, struct arena *a, const struct plan *p, const char *command,
	       struct apply_result *out, struct err *e)
{
	struct run r = { .en = en,
			 .a = a,
			 .plan = p,
			 .command = command,
			 .w = { .en = en, .a = a, .result = out } };
	struct err late = { 0 };
	struct claim claim = { .en = en, .run = r.id, .command = command };
	struct beat beat;

	*out = (struct apply_result){ 0 };
	if (!en->o.state)
		return err_set(e, ERR_BUG, "a plan was to be applied without a state");
	if (context_check(en, e))
		return -1;
	state_run_id(r.id);
	if (claim_take(&claim, a, p, &r.waited, e))
		return -1;
	en->run = out->run = arena_strdup(a, r.id);
	beat_start(&beat, en, LEASE_BEAT_MS);
	int rc = begin(&r, e);
	if (!rc)
		rc = walk(&r, e);
	if (!rc)
		rc = add_outputs(&r, e) || record_fleet(&r, e) ? -1 : 0;
	if (beat_stop(&beat, e))
		rc = -1;
	/* What ended the run is told rather than what that made impossible afterwards. */
	if (end(&r, rc == 0, rc ? &late : e))
		rc = -1;
	if (lease_release(en->o.state, rc ? &late : e))
		rc = -1;
	en->run = NULL;
	return rc;
}
