/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include "engine/pace.h"
#include "templates/templates.h"

/* ---- reading ---- */

const struct value *golden_json(struct golden *g, const char *path)
{
	struct value *v = NULL;
	struct str text;
	struct err e = { 0 };

	if (!fs_exists(path))
		return value_map(g->a);
	if (fs_read(g->a, path, 1 << 20, &text, &e) || json_parse(g->a, path, text, &v, &e))
		fail_msg("%s: %s", path, e.msg);
	return v;
}

static const char *text(struct arena *a, const struct value *v, const char *key)
{
	struct str s = value_get_str(v, key, NULL);

	return s.p ? str_cstr(a, s) : NULL;
}

void golden_spec(struct golden *g, const char *path)
{
	struct err_list errs = { 0 };
	struct spec_opts o = { 0 };

	if (spec_load(g->a, path, &o, &g->spec, &errs) ||
	    fleet_expand(g->a, g->spec, &g->fleet, &errs))
		fail_msg("%s: %s", g->name, errs.n ? errs.v[0].msg : "spec");
	err_list_fini(&errs);
}

static enum resource_status status_of(const struct value *v)
{
	return str_eqc(value_get_str(v, "status", "ready"), "tainted") ? RES_TAINTED : RES_READY;
}

static const char *provider_type_of(struct golden *g, const struct value *v)
{
	const char *said = text(g->a, v, "provider_type");
	const struct spec_provider *p = spec_provider_find(g->spec,
							   value_get_str(v, "provider", ""));

	return said ? said : p ? str_cstr(g->a, p->type) : "fake";
}

static void read_resources(struct golden *g)
{
	const struct value *l = value_get(g->recorded, "resources");

	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *v = l->list.v[i], *deps = value_get(v, "deps");
		struct state_resource *r = arena_obj(g->a, struct state_resource);
		*r = (struct state_resource){
			.addr = text(g->a, v, "addr"),
			.kind = text(g->a, v, "kind"),
			.provider = text(g->a, v, "provider"),
			.provider_type = provider_type_of(g, v),
			.id = text(g->a, v, "id"),
			.token = text(g->a, v, "token"),
			.pool = text(g->a, v, "pool"),
			.status = status_of(v),
			.want = value_get(v, "want"),
			.attrs = value_get(v, "attrs"),
			.config_digest = text(g->a, v, "config_digest"),
		};
		for (size_t k = 0; deps && k < deps->list.n; k++)
			VEC_ADD(g->a, &r->deps) = str_cstr(g->a, deps->list.v[k]->s);
		VEC_ADD(g->a, &g->scene.recorded.v) = r;
	}
}

static void read_intents(struct golden *g)
{
	const struct value *l = value_get(g->recorded, "journal");

	for (size_t i = 0; l && i < l->list.n; i++) {
		const struct value *v = l->list.v[i];
		struct journal_row *r = arena_obj(g->a, struct journal_row);
		*r = (struct journal_row){
			.seq = (int64_t)i + 1,
			.addr = text(g->a, v, "addr"),
			.action = text(g->a, v, "action"),
			.token = text(g->a, v, "token"),
			.provider = text(g->a, v, "provider"),
			.kind = text(g->a, v, "kind"),
			.want = value_get(v, "want"),
		};
		VEC_ADD(g->a, &g->scene.intents.v) = r;
	}
}

static void read_seen(struct golden *g, struct seen_list *l)
{
	const struct value *lists = value_get(g->observed, "lists");
	const struct value *v = value_get(lists, arena_printf(g->a, "%s %s", l->provider, l->kind));

	map_init(&l->by_id, g->a);
	map_init(&l->by_token, g->a);
	for (size_t i = 0; v && i < v->list.n; i++) {
		struct resource_seen *s = arena_obj(g->a, struct resource_seen);
		*s = (struct resource_seen){
			.id = text(g->a, v->list.v[i], "id"),
			.token = text(g->a, v->list.v[i], "token"),
			.attrs = value_get(v->list.v[i], "attrs"),
			.status = text(g->a, v->list.v[i], "status"),
		};
		if (!s->status)
			s->status = "running";
		VEC_ADD(g->a, &l->seen.v) = s;
		map_put(&l->by_id, str_of(s->id), s);
		if (s->token)
			map_put(&l->by_token, str_of(s->token), s);
	}
}

/* Of a provider that is in the spec no more. */
static struct str former_type(struct golden *g, const char *provider)
{
	for (size_t i = 0; i < g->scene.recorded.v.n; i++) {
		const struct state_resource *r = g->scene.recorded.v.v[i];
		if (strcmp(r->provider, provider) == 0)
			return str_of(r->provider_type);
	}
	return STR("fake");
}

static void read_list(struct golden *g, const char *provider, const char *kind)
{
	const struct spec_provider *p = spec_provider_find(g->spec, str_of(provider));
	struct seen_list *l;

	if (observe_list(&g->scene.obs, provider, kind))
		return;
	l = arena_obj(g->a, struct seen_list);
	l->provider = provider;
	l->kind = kind;
	l->type = want_type(provider_type_find(p ? p->type : former_type(g, provider)), kind);
	assert_non_null(l->type);
	l->listed = l->type->list != NULL;
	read_seen(g, l);
	VEC_ADD(g->a, &g->scene.obs.lists) = l;
}

/* One list for each provider and kind in the scene, as observe.c makes them, with no provider
 * behind. */
static void read_lists(struct golden *g)
{
	for (size_t i = 0; i < g->scene.v.n; i++) {
		const struct diff_input *in = &g->scene.v.v[i]->pr->in;
		read_list(g, in->provider, in->kind);
		if (in->moved_from)
			read_list(g, in->moved_from, in->kind);
	}
}

/* The text NODE stands for the node's name: what differs from node to node. */
static const struct value *of_node(struct golden *g, const struct subject *s, const struct value *v)
{
	return v && v->kind == V_STR && str_eqc(v->s, "NODE") ? value_cstr(g->a, s->pr->in.node)
							      : v;
}

static void read_probe(struct golden *g, struct subject *s, const struct value *v)
{
	const struct value *fields = value_get(v, "fields");

	s->probe = arena_obj(g->a, struct node_probe);
	s->probe->unreachable = value_get_bool(v, "unreachable", false);
	s->probe->probed = !s->probe->unreachable;
	s->probe->failed = value_get_bool(v, "failed", false);
	s->probe->reboot = value_get_bool(v, "reboot", false);
	s->probe->trips = s->probe->probed;
	for (size_t i = 0; fields && i < fields->list.n; i++)
		VEC_ADD(g->a, &s->probe->fields) = (struct field_change){
			.path = text(g->a, fields->list.v[i], "path"),
			.before = of_node(g, s, value_get(fields->list.v[i], "before")),
			.after = of_node(g, s, value_get(fields->list.v[i], "after")),
			.diff = text(g->a, fields->list.v[i], "diff"),
		};
	if (text(g->a, v, "note"))
		VEC_ADD(g->a, &s->probe->notes) = text(g->a, v, "note");
	s->pr->config.probe = s->probe;
}

/* A node that would be asked and has no entry of its own is as it should be. */
static void read_probes(struct golden *g)
{
	const struct value *probes = value_get(g->observed, "probes");

	for (size_t i = 0; i < g->scene.v.n; i++) {
		struct subject *s = g->scene.v.v[i];
		if (scene_worth_probing(&g->scene, s))
			read_probe(g, s, value_get(probes, s->pr->in.node));
	}
}

static const char *const *strings(struct golden *g, const char *key)
{
	const struct value *l = value_get(g->options, key);
	const char **v = arena_array(g->a, const char *, l ? l->list.n + 1 : 1);

	for (size_t i = 0; l && i < l->list.n; i++)
		v[i] = str_cstr(g->a, l->list.v[i]->s);
	return v;
}

static int config_of(void *arg, const struct want_item *w, const char **digest,
		     struct err *e unused_arg)
{
	struct golden *g = arg;

	*digest = text(g->a, value_get(g->options, "config"), w->pool);
	return 0;
}

/* Digest in place of secrets, as the state's, but readable. */
int golden_seal(void *arg, struct arena *a, const struct value *v, const struct value **out,
		struct err *e)
{
	*out = v;
	if (v->secret) {
		scoped(buf_fini) struct buf b = { 0 };
		struct value *m = value_map(a);
		buf_init(&b, 1024);
		value_reveal(&b, v);
		value_set(m, "__secret__", value_strf(a, "digest of %zu bytes", b.n));
		*out = m;
	} else if (v->kind == V_MAP) {
		struct value *m = value_map(a);
		for (size_t i = 0; i < v->map.n; i++) {
			const struct value *x;
			if (golden_seal(arg, a, v->map.e[i].val, &x, e))
				return -1;
			value_sets(m, v->map.e[i].key, x);
		}
		*out = m;
	}
	return 0;
}

/* ---- writing ---- */

static void write_value(struct buf *b, const struct value *v)
{
	if (v)
		json_write(b, v, JSON_SORT);
	else
		buf_adds(b, "none");
}

static void write_indices(struct buf *b, const char *what, const size_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_addf(b, "%s%zu", i ? "," : what, v[i]);
}

static void write_change(struct buf *b, size_t i, const struct change *c)
{
	buf_addf(b, "%zu. %s %s: %s [%s]", i, change_action_name(c->action), c->addr, c->reason,
		 change_cause_name(c->cause));
	if (c->id)
		buf_addf(b, " id=%s", c->id);
	if (c->in_service)
		buf_adds(b, " in-service");
	if (c->effect_reboot)
		buf_adds(b, " reboot");
	write_indices(b, " after=", c->deps.v, c->deps.n);
	write_indices(b, " deleted-after=", c->undone_first.v, c->undone_first.n);
	for (size_t k = 0; k < c->unknown.n; k++)
		buf_addf(b, "%s%s", k ? "," : " unknown=", c->unknown.v[k]);
	buf_addc(b, '\n');
	if (c->action == CHANGE_CREATE) {
		buf_adds(b, "      ");
		write_value(b, c->after);
		buf_addc(b, '\n');
	}
	for (size_t k = 0; k < c->fields.n; k++) {
		const struct field_change *f = &c->fields.v[k];
		buf_addf(b, "      %s: ", f->path);
		write_value(b, f->before);
		buf_adds(b, " -> ");
		write_value(b, f->after);
		buf_addf(b, " [%s]%s\n", change_cause_name(f->cause),
			 f->forces_replace ? " forces replacement" : "");
	}
}

/* How many lines the plan folds to. */
static size_t shapes(struct arena *a, const struct plan *p)
{
	struct map m;

	map_init(&m, a);
	for (size_t i = 0; i < p->changes.n; i++)
		map_put(&m, str_of(p->changes.v[i]->shape), a);
	return m.n;
}

void golden_write(struct golden *g, struct buf *b, const struct plan *p)
{
	for (size_t i = 0; i < p->changes.n; i++)
		write_change(b, i, p->changes.v[i]);
	for (size_t i = 0; i < p->drift.n; i++) {
		buf_adds(b, i ? "" : "drift\n");
		write_change(b, i, p->drift.v[i]);
	}
	for (size_t i = 0; i < p->unreachable.n; i++)
		buf_addf(b, "unreachable %s\n", p->unreachable.v[i]);
	for (size_t i = 0; i < p->left_out.n; i++)
		buf_addf(b, "left out %s: %s\n", p->left_out.v[i]->node, p->left_out.v[i]->why);
	buf_addf(
		b,
		"%zu to add, %zu to change, %zu to destroy, %zu to let go, %zu to configure; %zu shapes; %zu probed\n",
		p->add, p->change, p->destroy, p->release, p->configure, shapes(g->a, p),
		p->probed_nodes);
}

/* What earlier steps took: {pool: {configure: ms}}. */
static void learn(struct golden *g, struct plan *p)
{
	const struct value *took = value_get(g->options, "took");
	struct journal_paces known = { 0 };

	for (size_t i = 0; took && i < took->map.n; i++) {
		const struct value *pool = took->map.e[i].val;
		for (size_t k = 0; k < pool->map.n; k++) {
			struct journal_pace *x = arena_obj(g->a, struct journal_pace);
			const struct value *ms = pool->map.e[k].val;
			*x = (struct journal_pace){ .pool = took->map.e[i].key.p,
						    .action = pool->map.e[k].key.p,
						    .median_ms = ms->i,
						    .n = 1 };
			VEC_ADD(g->a, &known.v) = x;
		}
	}
	pace_learn(p, &known);
}

struct plan *golden_plan(struct golden *g)
{
	struct err e = { 0 };
	struct plan *p = NULL;
	struct str mode = value_get_str(g->options, "mode", "apply");
	struct want_source src = { .spec = g->spec,
				   .fleet = g->fleet,
				   .type_of = provider_type_find,
				   .seal = golden_seal,
				   .arg = g };
	struct scene *s = &g->scene;

	scene_init(s, g->a);
	s->mode = str_eqc(mode, "destroy")     ? PLAN_DESTROY
		  : str_eqc(mode, "refresh")   ? PLAN_REFRESH_ONLY
		  : str_eqc(mode, "configure") ? PLAN_CONFIGURE
					       : PLAN_APPLY;
	s->no_refresh = value_get_bool(g->options, "no_refresh", false);
	s->fleet_moved = value_get_bool(g->options, "fleet_moved", false);
	s->fleet = g->fleet;
	s->said = (struct selection_said){ text(g->a, g->options, "limit"), strings(g, "targets"),
					   strings(g, "excludes") };
	s->config = config_of;
	s->arg = g;
	s->src.cluster = "golden";
	s->src.spec_digest = "spec";
	s->src.observed_digest = "observed";
	read_resources(g);
	read_intents(g);
	if (want_build(g->a, &src, &s->want, &e) || scene_subjects(s, &e))
		fail_msg("%s: %s", g->name, e.msg);
	read_lists(g);
	if (scene_fill(s, &e))
		fail_msg("%s: %s", g->name, e.msg);
	read_probes(g);
	if (scene_plan(s, &p, &e))
		fail_msg("%s: %s", g->name, e.msg);
	learn(g, p);
	return p;
}

/* Every plan also goes through its file form unharmed. */
void golden_round_trip(struct golden *g, const struct plan *p)
{
	scoped(buf_fini) struct buf one = { 0 }, two = { 0 };
	struct value *v = NULL;
	struct plan *back = NULL;
	struct err e = { 0 };

	if (p->changes.n + p->drift.n > 1000)
		return; /* ten thousand equal changes show no more, and take a second */
	buf_init(&one, 1 << 24);
	buf_init(&two, 1 << 24);
	json_write(&one, plan_value(g->a, p), JSON_SORT);
	if (json_parse(g->a, "plan", buf_str(&one), &v, &e) || plan_read(g->a, v, &back, &e))
		fail_msg("%s: %s", g->name, e.msg);
	json_write(&two, plan_value(g->a, back), JSON_SORT);
	assert_string_equal(one.p, two.p);
}
