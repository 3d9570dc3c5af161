/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the journal has open counts as part of the record: a create without an end may have made its
 * object, so it is looked for by its token; a configuration without an end leaves the node tainted.
 * So `plan` is right even before the next run settles the journal.
 */
#include "engine/scene.h"

#include "engine/pace.h"

void scene_init(struct scene *s, struct arena *a)
{
	*s = (struct scene){ .a = a };
	map_init(&s->by_addr, a);
	map_init(&s->recorded_by_addr, a);
}

static struct subject *subject_get(struct scene *p, const char *addr)
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

static void set_identity(struct subject *s, const char *kind, const char *provider,
			 const char *node, const char *pool)
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

static void add_wanted(struct scene *p)
{
	if (p->mode == PLAN_DESTROY)
		return;
	for (size_t i = 0; i < p->want.v.n; i++) {
		const struct want_item *w = p->want.v.v[i];
		struct subject *s = subject_get(p, w->addr);
		s->want = w;
		set_identity(s, w->kind, w->provider, w->node ? w->name : NULL, w->pool);
		s->pr->in.want = w->sealed;
		for (size_t k = 0; k < w->deps.n; k++)
			VEC_ADD(p->a, &s->pr->in.want_deps.v) = w->deps.v[k];
	}
}

static void add_recorded(struct scene *p)
{
	map_init(&p->recorded_by_addr, p->a);
	for (size_t i = 0; i < p->recorded.v.n; i++) {
		struct state_resource *r = p->recorded.v.v[i];
		struct subject *s = subject_get(p, r->addr);
		const char *node = r->pool ? want_node_name(p->a, p->fleet, r->addr) : NULL;
		map_put(&p->recorded_by_addr, str_of(r->addr), r);
		s->recorded = r;
		if (!s->want)
			set_identity(s, r->kind, r->provider, node, r->pool);
		else if (strcmp(r->provider, s->want->provider) != 0)
			s->pr->in.moved_from = r->provider;
		s->pr->in.recorded = r->want ? r->want : value_map(p->a);
		s->pr->in.id = r->id;
		s->pr->config.recorded = r->config_digest;
		s->pr->config.tainted = r->status == RES_TAINTED;
		s->pr->in.deleting = r->status == RES_DELETING;
		for (size_t k = 0; k < r->deps.n; k++)
			VEC_ADD(p->a, &s->pr->in.recorded_deps.v) = r->deps.v[k];
	}
}

static const char *text_of(struct arena *a, const struct value *v, const char *key)
{
	struct str s = value_get_str(v, key, NULL);

	return s.p ? str_cstr(a, s) : NULL;
}

static void add_open_create(struct scene *p, const struct journal_row *row)
{
	struct subject *s = subject_get(p, row->addr);
	const struct value *deps = value_get(row->want, "deps");

	if (s->recorded)
		return; /* made after all, and recorded by a later step */
	s->create = row;
	s->pr->in.interrupted = true;
	if (!s->want) {
		const char *pool = text_of(p->a, row->want, "pool");
		set_identity(s, row->kind, row->provider,
			     pool ? want_node_name(p->a, p->fleet, row->addr) : NULL, pool);
	}
	for (size_t k = 0; deps && deps->kind == V_LIST && k < deps->list.n; k++)
		VEC_ADD(p->a, &s->pr->in.recorded_deps.v) = str_cstr(p->a, deps->list.v[k]->s);
}

static void add_intents(struct scene *p)
{
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
}

int scene_subjects(struct scene *p, struct err *e)
{
	struct selectables all = { 0 };

	add_wanted(p);
	add_recorded(p);
	add_intents(p);
	for (size_t i = 0; i < p->v.n; i++) {
		const struct diff_input *in = &p->v.v[i]->pr->in;
		VEC_ADD(p->a, &all.v) = (struct selectable){ in->addr, in->node, in->pool };
	}
	return selection_make(p->a, &all, &p->said, &p->sel, e);
}

/* Of the machine as it is recorded, else as it is wanted: whether it is destroyed or let go. */
static bool is_owned(const struct subject *s)
{
	const struct provider_type *t = s->want ? s->want->provider_type : NULL;

	if (s->recorded && s->recorded->provider_type)
		t = provider_type_find(str_of(s->recorded->provider_type));
	return s->pr->in.node && t && !t->owns_hosts;
}

/* Puts together what was asked of the provider and what it told, for one address. */
static int fill_subject(struct scene *p, struct subject *s, struct err *e)
{
	struct diff_input *in = &s->pr->in;
	struct seen_list *l = observe_list(&p->obs, in->moved_from ? in->moved_from : in->provider,
					   in->kind);
	const char *token = s->recorded ? s->recorded->token : s->create ? s->create->token : NULL;
	const char *digest = NULL;

	in->fields = l->type->fields;
	in->can_update = l->type->update != NULL;
	in->owned = is_owned(s);
	s->pr->config.owned = in->owned;
	in->looked = l->listed && !p->no_refresh;
	if (in->looked && (s->recorded || s->create))
		s->seen = observe_find(l, s->recorded ? s->recorded->id : NULL, token);
	if (s->seen) {
		in->seen = s->seen->attrs ? s->seen->attrs : value_map(p->a);
		in->status = s->seen->status;
		in->id = s->seen->id;
	}
	if (in->looked && s->recorded && !s->seen && observe_may_hide(l, s->recorded))
		in->looked = false; /* taken as recorded until the list must show it */
	if (s->create && s->seen) {
		in->recorded = value_get(s->create->want, "attrs");
		if (!in->recorded)
			in->recorded = value_map(p->a);
	}
	if (s->want && s->want->node && p->config && p->config(p->arg, s->want, &digest, e))
		return err_on(e, NULL, s->want->name);
	s->pr->config.wanted = digest != NULL;
	s->pr->config.digest = digest;
	s->pr->config.fleet_moved = p->fleet_moved;
	in->tainted = s->recorded && s->recorded->status == RES_TAINTED;
	in->configures = digest != NULL;
	return 0;
}

int scene_fill(struct scene *p, struct err *e)
{
	for (size_t i = 0; i < p->v.n; i++)
		if (fill_subject(p, p->v.v[i], e))
			return -1;
	return 0;
}

static bool any_chosen(const struct scene *p, const struct diff_deps *deps)
{
	for (size_t i = 0; i < deps->v.n; i++)
		if (selection_has(&p->sel, deps->v.v[i]))
			return true;
	return false;
}

static void mark_deps(const struct scene *p, const struct diff_deps *deps)
{
	for (size_t i = 0; i < deps->v.n; i++) {
		struct subject *s = map_getc(&p->by_addr, deps->v.v[i]);
		if (s)
			s->ground = true;
	}
}

void scene_mark_ground(struct scene *p)
{
	for (size_t i = 0; i < p->v.n; i++) {
		const struct diff_input *in = &p->v.v[i]->pr->in;
		if (!selection_has(&p->sel, in->addr) && !any_chosen(p, &in->want_deps) &&
		    !any_chosen(p, &in->recorded_deps))
			continue;
		p->v.v[i]->ground = true;
		mark_deps(p, &in->want_deps);
		mark_deps(p, &in->recorded_deps);
	}
}

bool scene_worth_probing(const struct scene *p, const struct subject *s)
{
	const struct diff_input *in = &s->pr->in;

	if (!s->pr->config.wanted || !s->recorded || in->deleting || in->moved_from ||
	    p->no_refresh)
		return false;
	if (in->looked &&
	    (!s->seen || (s->seen->status && strcmp(s->seen->status, "running") != 0)))
		return false;
	return selection_has(&p->sel, in->addr);
}

static bool excluded(void *arg, const struct plan_resource *r)
{
	const struct scene *p = arg;

	return selection_excludes(&p->sel, r->in.addr);
}

static bool selected(void *arg, const struct plan_resource *r)
{
	const struct scene *p = arg;

	return selection_has(&p->sel, r->in.addr);
}

int scene_plan(struct scene *p, struct plan **out, struct err *e)
{
	p->src.mode = p->mode;
	p->src.selected = p->sel.all ? NULL : selected;
	p->src.excluded = p->sel.all ? NULL : excluded;
	p->src.arg = p;
	if (plan_build(p->a, &p->src, out, e))
		return -1;
	pace_limits(p->a, p->fleet, *out);
	return 0;
}
