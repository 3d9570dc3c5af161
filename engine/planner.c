/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the journal has open counts as part of the record: a create without an end may have made its object, so it is looked for by its token; a configuration
 * without an end leaves the node tainted. So `plan` is right even before the next run settles the journal.
 */
#include "engine/planner.h"

#include "engine/fan.h"
#include "engine/observe.h"
#include "engine/outputs.h"
#include "engine/pool_config.h"
#include "engine/probe.h"
#include "engine/selection.h"
#include "engine/world.h"

#define PROBE_WORKERS 64

struct subject { /* one address */
	struct plan_resource *pr;
	const struct want_item *want;
	const struct state_resource *recorded;
	const struct journal_row *create; /* open intent */
	const struct resource_seen *seen;
	struct node_probe probe;
};

struct planner {
	struct engine *en;
	struct arena *a;
	const struct planner_ask *ask;
	struct want want;
	struct state_resources recorded;
	struct journal_rows intents;
	struct observation obs;
	struct selection sel;
	VEC(struct subject *) v;
	struct map by_addr;
	struct map recorded_by_addr;
	struct plan_source src;
	VEC(struct subject *) probes;
	struct err cancelled;
	bool fleet_moved;
};

static int seal(void *arg, struct arena *a, const struct value *v, const struct value **out, struct err *e)
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
	scoped(buf_fini) struct buf b;

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; en->o.fleet && i < en->o.fleet->nodes.n; i++)
		buf_addf(&b, "%s\n", en->o.fleet->nodes.v[i]->addr);
	sha256_hex(buf_str(&b), out);
}

static struct subject *subject_get(struct planner *p, const char *addr)
{
	struct subject *s = map_getc(&p->by_addr, addr);

	if (s)
		return s;
	s = arena_obj(p->a, struct subject);
	s->pr = arena_obj(p->a, struct plan_resource);
	s->pr->in.addr = addr;
	map_put(&p->by_addr, str_of(addr), s);
	VEC_ADD(p->a, &p->v) = s;
	VEC_ADD(p->a, &p->src.v) = s->pr;
	return s;
}

static void set_identity(struct subject *s, const char *kind, const char *provider, const char *node, const char *pool)
{
	struct diff_input *in = &s->pr->in;

	in->kind = kind;
	in->provider = provider;
	in->node = node;
	in->pool = pool;
	s->pr->config.addr = in->addr;
	s->pr->config.provider = provider;
	s->pr->config.node = node;
	s->pr->config.pool = pool;
}

static int add_wanted(struct planner *p, struct err *e)
{
	if (p->ask->mode == PLAN_DESTROY || !p->en->o.spec)
		return 0;
	if (planner_want(p->en, p->a, &p->want, e))
		return -1;
	for (size_t i = 0; i < p->want.v.n; i++) {
		const struct want_item *w = p->want.v.v[i];
		struct subject *s = subject_get(p, w->addr);
		s->want = w;
		set_identity(s, w->kind, w->provider, w->node ? w->name : NULL, w->pool);
		s->pr->in.want = w->sealed;
		for (size_t k = 0; k < w->deps.n; k++)
			VEC_ADD(p->a, &s->pr->in.want_deps.v) = w->deps.v[k];
	}
	return 0;
}

static int add_recorded(struct planner *p, struct err *e)
{
	if (context_resources(p->en, p->a, &p->recorded, e))
		return -1;
	map_init(&p->recorded_by_addr, p->a);
	for (size_t i = 0; i < p->recorded.v.n; i++) {
		struct state_resource *r = p->recorded.v.v[i];
		struct subject *s = subject_get(p, r->addr);
		const char *node = r->pool ? context_node_name(p->en, p->a, r->addr) : NULL;
		map_put(&p->recorded_by_addr, str_of(r->addr), r);
		s->recorded = r;
		if (!s->want)
			set_identity(s, r->kind, r->provider, node, r->pool);
		s->pr->in.recorded = r->want ? r->want : value_map(p->a);
		s->pr->in.id = r->id;
		s->pr->config.recorded = r->config_digest;
		s->pr->config.tainted = r->status == RES_TAINTED;
		for (size_t k = 0; k < r->deps.n; k++)
			VEC_ADD(p->a, &s->pr->in.recorded_deps.v) = r->deps.v[k];
	}
	return 0;
}

static const char *text_of(struct arena *a, const struct value *v, const char *key)
{
	struct str s = value_get_str(v, key, NULL);

	return s.p ? str_cstr(a, s) : NULL;
}

static void add_open_create(struct planner *p, const struct journal_row *row)
{
	struct subject *s = subject_get(p, row->addr);
	const struct value *deps = value_get(row->want, "deps");

	if (s->recorded)
		return; /* made after all, and recorded by a later step */
	s->create = row;
	s->pr->in.interrupted = true;
	if (!s->want) {
		const char *pool = text_of(p->a, row->want, "pool");
		set_identity(s, row->kind, row->provider, pool ? context_node_name(p->en, p->a, row->addr) : NULL, pool);
	}
	for (size_t k = 0; deps && deps->kind == V_LIST && k < deps->list.n; k++)
		VEC_ADD(p->a, &s->pr->in.recorded_deps.v) = str_cstr(p->a, deps->list.v[k]->s);
}

static int add_intents(struct planner *p, struct err *e)
{
	if (context_intents(p->en, p->a, &p->intents, e))
		return -1;
	for (size_t i = 0; i < p->intents.v.n; i++) {
		const struct journal_row *row = p->intents.v.v[i];
		struct subject *s = map_getc(&p->by_addr, row->addr);
		if (strcmp(row->action, "create") == 0 && row->token && row->kind && row->provider)
			add_open_create(p, row);
		else if (s && strcmp(row->action, "delete") == 0)
			s->pr->in.deleting = s->recorded != NULL;
		else if (s && strcmp(row->action, "configure") == 0)
			s->pr->config.tainted = true;
	}
	return 0;
}

static int select_subjects(struct planner *p, struct err *e)
{
	const struct engine_opts *o = &p->en->o;
	struct selection_said said = { o->limit, o->targets, o->excludes };
	struct selectables all = { 0 };

	for (size_t i = 0; i < p->v.n; i++) {
		const struct diff_input *in = &p->v.v[i]->pr->in;
		VEC_ADD(p->a, &all.v) = (struct selectable){ in->addr, in->node, in->pool };
	}
	return selection_make(p->a, &all, &said, &p->sel, e);
}

static int observe(struct planner *p, struct err *e)
{
	struct engine_event ev = { .type = "observe", .text = "asking the providers" };

	for (size_t i = 0; i < p->v.n; i++) {
		const struct diff_input *in = &p->v.v[i]->pr->in;
		if (observe_need(p->en, p->a, &p->obs, in->provider, in->kind, e))
			return err_on(e, in->addr, NULL);
	}
	if (p->ask->no_refresh || !p->v.n)
		return 0;
	context_emit(p->en, &ev);
	return observe_run(p->en, p->a, &p->obs, e);
}

/* Puts together what was asked of the provider and what it told, for one address. */
static int fill_subject(struct planner *p, struct subject *s, struct err *e)
{
	struct diff_input *in = &s->pr->in;
	struct seen_list *l = observe_list(&p->obs, in->provider, in->kind);
	const char *token = s->recorded ? s->recorded->token : s->create ? s->create->token : NULL;
	const struct pool_config *c = NULL;

	in->fields = l->type->fields;
	in->can_update = l->type->update != NULL;
	in->looked = l->listed && !p->ask->no_refresh;
	if (in->looked && (s->recorded || s->create))
		s->seen = observe_find(l, s->recorded ? s->recorded->id : NULL, token);
	if (s->seen) {
		in->seen = s->seen->attrs ? s->seen->attrs : value_map(p->a);
		in->status = s->seen->status;
		in->id = s->seen->id;
		map_put(&p->en->seen, str_of(in->addr), (void *)s->seen);
	}
	if (s->create && s->seen) {
		in->recorded = value_get(s->create->want, "attrs");
		if (!in->recorded)
			in->recorded = value_map(p->a);
	}
	bool login = l->type->reach && (!l->ep->type->can_login || l->ep->type->can_login(l->ep->p));
	if (s->want && s->want->node && login && pool_config_get(p->en, s->want->node, &c, e))
		return err_on(e, NULL, s->want->name);
	s->pr->config.wanted = c != NULL;
	s->pr->config.digest = c ? c->digest : NULL;
	s->pr->config.fleet_moved = p->fleet_moved;
	in->tainted = s->recorded && s->recorded->status == RES_TAINTED && !c;
	return 0;
}

static bool worth_probing(const struct planner *p, const struct subject *s)
{
	const struct diff_input *in = &s->pr->in;

	if (!s->pr->config.wanted || !s->recorded || in->deleting || p->ask->no_refresh)
		return false;
	if (in->looked && (!s->seen || (s->seen->status && strcmp(s->seen->status, "running") != 0)))
		return false;
	if (p->ask->probe_only)
		return map_getc(p->ask->probe_only, in->node) != NULL;
	return selection_has(&p->sel, in->addr);
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

	if (probe_node(p->en, p->a, s->want->node, &rn, &s->probe, &p->cancelled))
		return;
	s->pr->config.probe = &s->probe;
	struct engine_event ev = {
		.type = "observe",
		.addr = rn.addr,
		.node = rn.name,
		.text = s->probe.unreachable ? "could not be reached" : "compared",
		.err = s->probe.unreachable ? &s->probe.err : NULL,
	};
	context_emit(p->en, &ev);
}

static int probe_all(struct planner *p, struct err *e)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (worth_probing(p, p->v.v[i]))
			VEC_ADD(p->a, &p->probes) = p->v.v[i];
	if (!p->probes.n)
		return 0;
	world_make(p->en, &p->recorded_by_addr);
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
		const struct node_probe *probe = &p->probes.v[i]->probe;
		buf_addf(b, "%s %d %d\n", p->probes.v[i]->pr->in.addr, probe->unreachable, probe->failed);
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

static int fill_source(struct planner *p, char digests[2][SHA256_HEX], struct err *e)
{
	scoped(buf_fini) struct buf b;

	buf_init(&b, (size_t)1 << 30);
	if (pool_config_spec_digest(p->en, digests[0], e))
		return -1;
	if (!p->ask->no_refresh) {
		observe_digest(p->a, &p->obs, &b);
		digest_probes(p, &b);
		sha256_hex(buf_str(&b), digests[1]);
	}
	p->src.mode = p->ask->mode;
	p->src.cluster = p->en->o.cluster;
	p->src.spec_digest = digests[0];
	p->src.observed_digest = digests[1];
	p->src.now_ms = clock_wall();
	return 0;
}

static bool selected(void *arg, const struct plan_resource *r)
{
	const struct planner *p = arg;

	return selection_has(&p->sel, r->in.addr);
}

static int add_outputs(struct planner *p, struct plan *plan, struct err *e)
{
	struct map attrs;

	map_init(&attrs, p->a);
	for (size_t i = 0; i < p->v.n; i++) {
		const struct subject *s = p->v.v[i];
		const struct change *c = s->pr->res.change;
		bool moves = c && c->action != CHANGE_UPDATE;
		if (s->recorded && !moves)
			map_put(&attrs, str_of(s->recorded->addr), (void *)(s->seen ? s->seen->attrs : s->recorded->attrs));
	}
	return plan->is_destroy ? 0 : outputs_make(p->en, p->a, &attrs, &plan->outputs, e);
}

static int fleet_moved(struct planner *p, struct err *e)
{
	const char *was;
	char now[SHA256_HEX];

	if (context_meta(p->en, p->a, META_FLEET, &was, e))
		return -1;
	planner_fleet_digest(p->en, now);
	p->fleet_moved = was && strcmp(was, now) != 0;
	return 0;
}

/* The record is read at one moment: a run of somebody else may be writing. */
static int read_record(struct planner *p, struct err *e)
{
	if (p->en->o.state && state_snapshot_begin(p->en->o.state, e))
		return -1;
	int rc = context_serial(p->en, &p->src.state_serial, e) || add_recorded(p, e) || add_intents(p, e) || fleet_moved(p, e);
	if (p->en->o.state)
		state_snapshot_end(p->en->o.state);
	return rc ? -1 : 0;
}

int planner_run(struct engine *en, struct arena *a, const struct planner_ask *ask, struct plan **out, struct err *e)
{
	struct planner p = { .en = en, .a = a, .ask = ask };
	char digests[2][SHA256_HEX] = { "", "" };

	map_init(&p.by_addr, a);
	map_init(&en->seen, en->a);
	if (context_check(en, e) || add_wanted(&p, e) || read_record(&p, e) || select_subjects(&p, e) || observe(&p, e))
		return -1;
	for (size_t i = 0; i < p.v.n; i++)
		if (fill_subject(&p, p.v.v[i], e))
			return -1;
	if (probe_all(&p, e) || fill_source(&p, digests, e))
		return -1;
	if (!p.sel.all)
		p.src.selected = selected;
	p.src.arg = &p;
	if (plan_build(a, &p.src, out, e))
		return -1;
	return add_outputs(&p, *out, e);
}

int plan_make(struct engine *en, struct arena *a, enum plan_mode mode, struct plan **out, struct err *e)
{
	struct planner_ask ask = { .mode = mode, .no_refresh = en->o.no_refresh };

	return planner_run(en, a, &ask, out, e);
}

static int moved(struct err *e, const char *what)
{
	err_set(e, ERR_CONFLICT, "the plan is stale: %s since it was made", what);
	return err_hint(e, "look at a new one with `muster plan`");
}

int plan_verify(struct engine *en, const struct plan *p, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("plan verify");
	struct planner_ask ask = {
		.mode = p->is_destroy ? PLAN_DESTROY : p->is_refresh ? PLAN_REFRESH_ONLY : PLAN_APPLY,
		.no_refresh = p->observed_digest[0] == '\0',
	};
	char spec[SHA256_HEX];
	struct map probed;
	struct plan *now;
	int64_t serial;

	if (strcmp(p->cluster, en->o.cluster) != 0)
		return err_set(e, ERR_CONFLICT, "the plan is for cluster \"%s\", this is \"%s\"", p->cluster, en->o.cluster);
	if (pool_config_spec_digest(en, spec, e) || context_serial(en, &serial, e))
		return -1;
	if (strcmp(spec, p->spec_digest) != 0)
		return moved(e, "the spec (or a playbook, role or variable) was changed");
	if (serial != p->state_serial)
		return moved(e, "another run changed the state");
	map_init(&probed, a);
	for (size_t i = 0; i < p->probed.n; i++)
		map_put(&probed, str_of(p->probed.v[i]), (void *)p);
	ask.probe_only = &probed;
	int rc = planner_run(en, a, &ask, &now, e);
	map_init(&en->seen, en->a); /* what was seen goes with the arena */
	if (rc)
		return -1;
	if (strcmp(now->observed_digest, p->observed_digest) != 0)
		return moved(e, "what is there was changed outside");
	return 0;
}
