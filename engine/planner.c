/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/planner.h"

#include "engine/fan.h"
#include "engine/outputs.h"
#include "engine/pace.h"
#include "engine/pool_config.h"
#include "engine/probe.h"
#include "engine/scene.h"
#include "engine/world.h"

#define PROBE_WORKERS 64

struct planner {
	struct engine *en;
	struct arena *a;
	const struct planner_ask *ask;
	struct scene scene;
	VEC(struct subject *) probes;
	struct err cancelled;
};

static int seal(void *arg, struct arena *a, const struct value *v, const struct value **out,
		struct err *e)
{
	struct engine *en = arg;

	*out = v;
	return en->o.state ? state_seal(en->o.state, a, v, out, e) : 0;
}

int planner_want(struct engine *en, struct arena *a, struct want *out, struct err *e)
{
	struct want_source s = {
		.spec = en->o.spec,
		.fleet = en->o.fleet,
		.type_of = provider_type_find,
		.seal = seal,
		.arg = en,
	};

	return want_build(a, &s, out, e);
}

void planner_fleet_digest(struct engine *en, char out[SHA256_HEX])
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; en->o.fleet && i < en->o.fleet->nodes.n; i++)
		buf_addf(&b, "%s\n", en->o.fleet->nodes.v[i]->addr);
	sha256_hex(buf_str(&b), out);
}

/* ---- gathering ---- */

static int fleet_moved(struct planner *p, struct err *e)
{
	const char *was;
	char now[SHA256_HEX];

	if (context_meta(p->en, p->a, META_FLEET, &was, e))
		return -1;
	planner_fleet_digest(p->en, now);
	p->scene.fleet_moved = was && strcmp(was, now) != 0;
	return 0;
}

/* The record is read at one moment: a run of somebody else may be writing. */
static int read_record(struct planner *p, struct err *e)
{
	struct state *st = p->en->o.state;

	if (st && state_snapshot_begin(st, e))
		return -1;
	int rc = context_serial(p->en, &p->scene.src.state_serial, e) ||
		 context_resources(p->en, p->a, &p->scene.recorded, e) ||
		 context_intents(p->en, p->a, &p->scene.intents, e) || fleet_moved(p, e);
	if (st)
		state_snapshot_end(st);
	return rc ? -1 : 0;
}

static int observe(struct planner *p, struct err *e)
{
	struct engine_event ev = { .type = "observe", .text = "asking the providers" };
	struct scene *s = &p->scene;

	for (size_t i = 0; i < s->v.n; i++) {
		const struct diff_input *in = &s->v.v[i]->pr->in;
		if (observe_need(p->en, p->a, &s->obs, in->provider, in->kind, e) ||
		    (in->moved_from &&
		     observe_need(p->en, p->a, &s->obs, in->moved_from, in->kind, e)))
			return err_on(e, in->addr, NULL);
	}
	if (s->no_refresh || !s->v.n)
		return 0;
	context_emit(p->en, &ev);
	return observe_run(p->en, p->a, &s->obs, e);
}

static int config_of(void *arg, const struct want_item *w, const char **digest, struct err *e)
{
	struct planner *p = arg;
	struct engine_provider *ep;
	const struct pool_config *c;

	*digest = NULL;
	if (context_provider(p->en, w->provider, &ep, e))
		return -1;
	if (!w->type->reach || (ep->type->can_login && !ep->type->can_login(ep->p)))
		return 0;
	if (pool_config_get(p->en, w->node, &c, e))
		return -1;
	*digest = c ? c->digest : NULL;
	return 0;
}

static void probe_one(void *arg, size_t i)
{
	struct planner *p = arg;
	struct subject *s = p->probes.v[i];
	struct reach_node rn = {
		.name = s->pr->in.node,
		.addr = s->pr->in.addr,
		.provider = s->pr->in.provider,
		.pool = s->want->node->pool,
		.seen = s->seen ? s->seen : reach_seen(p->a, s->recorded, s->pr->in.node),
		.attrs = s->recorded->attrs,
	};

	s->probe = arena_obj(p->a, struct node_probe);
	if (probe_node(p->en, p->a, s->want->node, &rn, s->probe, &p->cancelled))
		return;
	s->pr->config.probe = s->probe;
	struct engine_event ev = {
		.type = "observe",
		.addr = rn.addr,
		.node = rn.name,
		.text = s->probe->unreachable ? "could not be reached" : "compared",
		.err = s->probe->unreachable ? &s->probe->err : NULL,
	};
	context_emit(p->en, &ev);
}

static bool is_asked(const struct planner *p, const struct subject *s)
{
	if (!scene_worth_probing(&p->scene, s))
		return false;
	return !p->ask->probe_only || map_getc(p->ask->probe_only, s->pr->in.node);
}

static int probe_all(struct planner *p, struct err *e)
{
	for (size_t i = 0; i < p->scene.v.n; i++)
		if (is_asked(p, p->scene.v.v[i]))
			VEC_ADD(p->a, &p->probes) = p->scene.v.v[i];
	if (!p->probes.n)
		return 0;
	world_make(p->en, &p->scene.recorded_by_addr);
	struct fan f = {
		.name = "probe",
		.n = p->probes.n,
		.workers = PROBE_WORKERS,
		.fn = probe_one,
		.arg = p,
		.shown = &p->en->work,
	};
	if (fan_out(&f, e) || context_check(p->en, e))
		return -1;
	if (p->cancelled.kind != ERR_NONE) {
		*e = p->cancelled;
		return -1;
	}
	return 0;
}

static void digest_probes(struct planner *p, struct buf *b)
{
	for (size_t i = 0; i < p->probes.n; i++) {
		const struct node_probe *probe = p->probes.v[i]->probe;
		buf_addf(b, "%s %d %d\n", p->probes.v[i]->pr->in.addr, probe->unreachable,
			 probe->failed);
		for (size_t k = 0; k < probe->fields.n; k++) {
			const struct field_change *f = &probe->fields.v[k];
			buf_addf(b, "%s ", f->path);
			if (f->before)
				json_write(b, f->before, JSON_SORT);
			buf_addc(b, ' ');
			if (f->after)
				json_write(b, f->after, JSON_SORT);
			buf_addc(b, '\n');
		}
	}
}

/* All that is there, or of a selection only what it rests on. */
static void digest_seen(struct planner *p, struct buf *b)
{
	struct scene *s = &p->scene;

	if (s->sel.all) {
		observe_digest(p->a, &s->obs, b);
		return;
	}
	for (size_t i = 0; i < s->v.n; i++) {
		const struct subject *x = s->v.v[i];
		if (!x->ground || !x->seen)
			continue;
		buf_addf(b, "%s ", x->pr->in.addr);
		const struct diff_input *in = &x->pr->in;
		const char *at = in->moved_from ? in->moved_from : in->provider;
		observe_digest_one(observe_list(&s->obs, at, in->kind)->type, x->seen, b);
	}
}

/* What is recorded of all that a selection rests on. */
static int digest_record(struct planner *p, char out[SHA256_HEX], struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	const struct scene *s = &p->scene;

	buf_init(&b, (size_t)1 << 30);
	for (size_t i = 0; i < s->v.n; i++) {
		const struct diff_input *in = &s->v.v[i]->pr->in;
		const struct state_resource *r = s->v.v[i]->recorded;
		if (!s->v.v[i]->ground)
			continue;
		buf_addf(&b, "%s %d%d%d ", in->addr, in->interrupted, in->deleting,
			 s->v.v[i]->pr->config.tainted);
		if (r)
			buf_addf(&b, "%s %lld %s", r->id ? r->id : "", (long long)r->updated_ms,
				 r->config_digest ? r->config_digest : "");
		buf_addc(&b, '\n');
	}
	if (buf_check(&b, e))
		return -1;
	sha256_hex(buf_str(&b), out);
	return 0;
}

static int digest_all(struct planner *p, char digests[3][SHA256_HEX], struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, (size_t)1 << 30);
	if (pool_config_spec_digest(p->en, digests[0], e))
		return -1;
	if (!p->scene.no_refresh) {
		digest_seen(p, &b);
		digest_probes(p, &b);
		if (buf_check(&b, e))
			return -1;
		sha256_hex(buf_str(&b), digests[1]);
	}
	if (!p->scene.sel.all && digest_record(p, digests[2], e))
		return -1;
	p->scene.src.record_digest = digests[2];
	p->scene.src.cluster = p->en->o.cluster;
	p->scene.src.spec_digest = digests[0];
	p->scene.src.observed_digest = digests[1];
	p->scene.src.now_ms = clock_wall();
	return 0;
}

static int add_outputs(struct planner *p, struct plan *plan, struct err *e)
{
	struct map attrs;

	map_init(&attrs, p->a);
	for (size_t i = 0; i < p->scene.v.n; i++) {
		const struct subject *s = p->scene.v.v[i];
		const struct change *c = s->pr->res.change;
		bool moves = c && c->action != CHANGE_UPDATE;
		if (s->recorded && !moves)
			map_put(&attrs, str_of(s->recorded->addr),
				(void *)(s->seen ? s->seen->attrs : s->recorded->attrs));
	}
	return plan->is_destroy || plan->is_configure
		       ? 0
		       : outputs_make(p->en, p->a, &attrs, &plan->outputs, e);
}

static void keep_seen(struct planner *p)
{
	for (size_t i = 0; i < p->scene.v.n; i++) {
		const struct subject *s = p->scene.v.v[i];
		if (s->seen)
			map_put(&p->en->seen, str_of(s->pr->in.addr), (void *)s->seen);
	}
}

int planner_run(struct engine *en, struct arena *a, const struct planner_ask *ask,
		struct plan **out, struct err *e)
{
	struct planner p = { .en = en, .a = a, .ask = ask };
	struct scene *s = &p.scene;
	char digests[3][SHA256_HEX] = { "", "", "" };

	scene_init(s, a);
	s->mode = ask->mode;
	s->no_refresh = ask->no_refresh;
	s->fleet = en->o.fleet;
	s->said = ask->said ? *ask->said
			    : (struct selection_said){ en->o.limit, en->o.targets, en->o.excludes };
	s->config = config_of;
	s->arg = &p;
	map_init(&en->seen, en->a);
	map_init(&s->want.by_addr, a);
	if (context_check(en, e))
		return -1;
	if (ask->mode != PLAN_DESTROY && en->o.spec && planner_want(en, a, &s->want, e))
		return -1;
	if (read_record(&p, e) || scene_subjects(s, e) || observe(&p, e) || scene_fill(s, e))
		return -1;
	if (!s->sel.all)
		scene_mark_ground(s);
	keep_seen(&p);
	if (probe_all(&p, e) || digest_all(&p, digests, e) || scene_plan(s, out, e))
		return -1;
	(*out)->limit = s->said.limit;
	(*out)->targets = s->said.targets;
	(*out)->excludes = s->said.excludes;
	return add_outputs(&p, *out, e);
}

struct selection_said planner_said(const struct plan *p)
{
	return (struct selection_said){ p->limit, p->targets, p->excludes };
}

/* ---- engine.h ---- */

static int learn_pace(struct engine *en, struct arena *a, struct plan *plan, struct err *e)
{
	struct journal_paces known = { 0 };

	if (!en->o.state || !plan->pools.n)
		return 0;
	if (journal_pace(en->o.state, a, &known, e))
		return -1;
	pace_learn(plan, &known);
	return 0;
}

int plan_make(struct engine *en, struct arena *a, enum plan_mode mode, struct plan **out,
	      struct err *e)
{
	struct planner_ask ask = { .mode = mode, .no_refresh = en->o.no_refresh };

	if (planner_run(en, a, &ask, out, e) || learn_pace(en, a, *out, e))
		return -1;
	(*out)->with_diff = en->o.diff;
	return 0;
}

static int moved(struct err *e, const char *what)
{
	err_set(e, ERR_CONFLICT, "the plan is stale: %s since it was made", what);
	return err_hint(e, "look at a new one with `muster plan`");
}

static int check_static(struct engine *en, const struct plan *p, struct err *e)
{
	char spec[SHA256_HEX];
	int64_t serial;

	if (strcmp(p->cluster, en->o.cluster) != 0)
		return err_set(e, ERR_CONFLICT, "the plan is for cluster \"%s\", this is \"%s\"",
			       p->cluster, en->o.cluster);
	if (pool_config_spec_digest(en, spec, e) || context_serial(en, &serial, e))
		return -1;
	if (strcmp(spec, p->spec_digest) != 0)
		return moved(e, "the spec (or a playbook, role or variable) was changed");
	if (!p->record_digest[0] && serial != p->state_serial)
		return moved(e, "another run changed the state");
	return 0;
}

int plan_verify(struct engine *en, const struct plan *p, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("plan verify");
	const struct selection_said said = planner_said(p);
	struct planner_ask ask = {
		.said = &said,
		.mode = p->is_destroy	  ? PLAN_DESTROY
			: p->is_refresh	  ? PLAN_REFRESH_ONLY
			: p->is_configure ? PLAN_CONFIGURE
					  : PLAN_APPLY,
		.no_refresh = p->observed_digest[0] == '\0',
	};
	struct map probed;
	struct plan *now;

	if (check_static(en, p, e))
		return -1;
	map_init(&probed, a);
	for (size_t i = 0; i < p->probed.n; i++)
		map_put(&probed, str_of(p->probed.v[i]), (void *)p);
	ask.probe_only = &probed;
	bool diff = en->o.diff;
	en->o.diff = p->with_diff; /* nodes are asked for as much as they were then */
	int rc = planner_run(en, a, &ask, &now, e);
	en->o.diff = diff;
	map_init(&en->seen, en->a); /* what was seen goes with the arena */
	if (rc)
		return -1;
	if (strcmp(now->record_digest, p->record_digest) != 0)
		return moved(e, "another run changed the state");
	if (strcmp(now->observed_digest, p->observed_digest) != 0)
		return moved(e, "what is there was changed outside");
	return 0;
}
