/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A change of one resource may force others: what depends on something that is replaced is replaced
 * too. So resources are walked in dependency order (over what is wanted and what was recorded),
 * forcing as they go; the reverse of the same order is the order of deletion.
 */
#include "engine/plan.h"

#include "engine/graph.h"
#include "engine/plan_doc.h"

struct entry {
	struct change *c;
	size_t resource;
};

struct builder {
	struct arena *a;
	struct plan_source *s;
	struct map by_addr;	 /* addr -> resource index + 1 */
	struct graph_list order; /* resources, each after what it depends on */
	VEC(struct entry) entries;
	size_t *change_at, *config_at; /* resource -> place in plan.changes + 1 */
};

static bool resource_at(const struct builder *b, const char *addr, size_t *out)
{
	uintptr_t x = (uintptr_t)map_getc(&b->by_addr, addr);

	if (x)
		*out = x - 1;
	return x != 0;
}

static void add_edges(const struct builder *b, struct graph *g, const struct diff_deps *deps,
		      size_t i)
{
	size_t dep;

	for (size_t k = 0; k < deps->v.n; k++)
		if (resource_at(b, deps->v.v[k], &dep) && dep != i)
			graph_edge(g, dep, i);
}

static int order_resources(struct builder *b, struct err *e)
{
	struct graph g;
	struct plan_source *s = b->s;

	map_init(&b->by_addr, b->a);
	for (size_t i = 0; i < s->v.n; i++) {
		// cppcheck-suppress intToPointerCast
		map_put(&b->by_addr, str_of(s->v.v[i]->in.addr), (void *)(uintptr_t)(i + 1));
	}
	graph_init(&g, b->a, s->v.n);
	for (size_t i = 0; i < s->v.n; i++) {
		add_edges(b, &g, &s->v.v[i]->in.want_deps, i);
		add_edges(b, &g, &s->v.v[i]->in.recorded_deps, i);
	}
	if (graph_order(&g, &b->order))
		return 0;
	scoped(buf_fini) struct buf text = { 0 };
	buf_init(&text, 512);
	for (size_t i = 0; i < b->order.v.n; i++)
		buf_addf(&text, "%s -> ", s->v.v[b->order.v.v[i]]->in.addr);
	return err_set(e, ERR_SPEC, "resources depend on each other: %s%s", text.p,
		       s->v.v[b->order.v.v[0]]->in.addr);
}

static void force_by_deps(struct builder *b, struct plan_resource *r)
{
	size_t dep;

	if (!r->in.want || (!r->in.recorded && !r->in.interrupted))
		return;
	for (size_t k = 0; k < r->in.want_deps.v.n; k++) {
		const char *addr = r->in.want_deps.v.v[k];
		if (!resource_at(b, addr, &dep))
			continue;
		const struct change *c = b->s->v.v[dep]->res.change;
		if (c && c->action == CHANGE_REPLACE) {
			const char *why = arena_printf(b->a, "%s is replaced", addr);
			r->res.change = diff_force_replace(b->a, &r->in, r->res.change, why);
		}
	}
}

static bool makes(const struct change *c)
{
	return c && (c->action == CHANGE_CREATE || c->action == CHANGE_REPLACE);
}

static bool unmakes(const struct change *c)
{
	return c && (c->action == CHANGE_DELETE || c->action == CHANGE_REPLACE ||
		     c->action == CHANGE_FORGET);
}

static const char *why_left_out(const struct diff_input *in)
{
	if (!in->node)
		return NULL;
	if (!in->want)
		return "not in that spec";
	if (!in->recorded)
		return "not there now";
	if (in->moved_from)
		return "of another provider now";
	return in->deleting || (in->looked && !in->seen) ? "not there any more" : NULL;
}

/* Of nodes that are there now and are in the spec; what they are themselves stays as it is. */
static void diff_configuration(struct builder *b, struct plan_resource *r)
{
	const struct diff_input *in = &r->in;

	if (in->want && in->recorded && !r->left_out)
		diff_config(b->a, &r->config, &r->cfg);
}

static void diff_all(struct builder *b)
{
	for (size_t i = 0; i < b->order.v.n; i++) {
		struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		if (b->s->mode == PLAN_CONFIGURE) {
			r->left_out = why_left_out(&r->in);
			diff_configuration(b, r);
			continue;
		}
		diff_resource(b->a, &r->in, &r->res);
		force_by_deps(b, r);
		if (r->res.change && b->s->mode == PLAN_DESTROY &&
		    r->res.change->action == CHANGE_DELETE)
			r->res.change->reason = "destroy";
		if (!r->in.want)
			continue;
		r->config.fresh = makes(r->res.change);
		diff_config(b->a, &r->config, &r->cfg);
	}
}

static bool chosen(const struct plan_source *s, const struct plan_resource *r)
{
	return !s->selected || s->selected(s->arg, r);
}

static const struct plan_resource *find_dep(const struct builder *b, const struct diff_deps *deps,
					    size_t k)
{
	size_t i;

	return resource_at(b, deps->v.v[k], &i) ? b->s->v.v[i] : NULL;
}

/* Chosen to go, or standing on something that goes (those before it in order are decided). */
static bool goes(const struct builder *b, const struct plan_resource *r)
{
	const struct diff_deps *deps = &r->in.recorded_deps;

	if (r->held || !unmakes(r->res.change))
		return false;
	if (chosen(b->s, r))
		return true;
	for (size_t k = 0; k < deps->v.n; k++) {
		const struct plan_resource *under = find_dep(b, deps, k);
		if (under && unmakes(under->res.change) && !under->held && chosen(b->s, under))
			return true;
	}
	return false;
}

/* What would be made on something that stays as it is stays too: its ground is not what the spec
 * asks for yet. */
static bool hold_what_stands_on(struct builder *b)
{
	bool more = false;

	for (size_t i = 0; i < b->order.v.n; i++) {
		struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		for (size_t k = 0; !r->held && makes(r->res.change) && k < r->in.want_deps.v.n;
		     k++) {
			const struct plan_resource *under = find_dep(b, &r->in.want_deps, k);
			if (!under || !under->held || !makes(under->res.change))
				continue;
			r->held = more = true;
			if (r->in.node && chosen(b->s, r))
				r->left_out = arena_printf(
					b->a, "%s would have to be %s, and is not among the chosen",
					under->in.addr,
					unmakes(under->res.change) ? "replaced" : "made");
		}
	}
	return more;
}

/* And what something that stays stands on is not taken away. */
static bool hold_the_ground(struct builder *b)
{
	bool more = false;
	size_t dep;

	for (size_t i = b->order.v.n; i-- > 0;) {
		const struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		for (size_t k = 0; r->held && k < r->in.recorded_deps.v.n; k++) {
			if (!resource_at(b, r->in.recorded_deps.v.v[k], &dep))
				continue;
			struct plan_resource *under = b->s->v.v[dep];
			if (under->held || !unmakes(under->res.change))
				continue;
			under->held = more = true;
		}
	}
	return more;
}

/* --exclude is a promise, and so is --limit to those that it does not name: needs and consequences
 * of the rest of the plan end at them. What is not there at all may be made for those chosen. */
static void hold_all(struct builder *b)
{
	bool more = true;

	for (size_t i = 0; i < b->order.v.n; i++) {
		struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		const struct change *c = r->res.change;
		r->held = (b->s->excluded && b->s->excluded(b->s->arg, r)) ||
			  (c && c->action == CHANGE_REPLACE && !goes(b, r));
	}
	while (more) {
		more = hold_what_stands_on(b);
		more |= hold_the_ground(b);
	}
}

/* Chosen ones, what must be made for them, and what must go with them. */
static void select_all(struct builder *b)
{
	size_t dep;

	if (b->s->selected)
		hold_all(b);
	for (size_t i = 0; i < b->s->v.n; i++)
		b->s->v.v[i]->kept = chosen(b->s, b->s->v.v[i]) && !b->s->v.v[i]->held;
	for (size_t i = b->order.v.n;
	     i-- > 0;) { /* dependents first: needs travel down to what they depend on */
		struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		for (size_t k = 0; r->kept && makes(r->res.change) && k < r->in.want_deps.v.n; k++)
			if (resource_at(b, r->in.want_deps.v.v[k], &dep) &&
			    makes(b->s->v.v[dep]->res.change) && !b->s->v.v[dep]->held)
				b->s->v.v[dep]->kept = true;
	}
	for (size_t i = 0; i < b->order.v.n;
	     i++) { /* what is deleted takes along what stands on it */
		struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		for (size_t k = 0; unmakes(r->res.change) && k < r->in.recorded_deps.v.n; k++)
			if (resource_at(b, r->in.recorded_deps.v.v[k], &dep) &&
			    b->s->v.v[dep]->kept && unmakes(b->s->v.v[dep]->res.change) && !r->held)
				r->kept = true;
	}
}

static void add_entry(struct builder *b, struct change *c, size_t resource)
{
	VEC_ADD(b->a, &b->entries) = (struct entry){ c, resource };
}

/* Deletions in reverse order, then replacements, the rest, and configurations, each in order. */
static void list_entries(struct builder *b)
{
	for (size_t i = b->order.v.n; i-- > 0;) {
		const struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
		if (r->kept && unmakes(r->res.change) && !makes(r->res.change))
			add_entry(b, r->res.change, b->order.v.v[i]);
	}
	for (int pass = 0; pass < 3; pass++)
		for (size_t i = 0; i < b->order.v.n; i++) {
			const struct plan_resource *r = b->s->v.v[b->order.v.v[i]];
			const struct change *c = r->res.change;
			bool replace = makes(c) && unmakes(c);
			if (!r->kept)
				continue;
			if ((pass == 0 && replace) ||
			    (pass == 1 && c && !replace && (makes(c) || !unmakes(c))))
				add_entry(b, r->res.change, b->order.v.v[i]);
			if (pass == 2 && r->cfg.change)
				add_entry(b, r->cfg.change, b->order.v.v[i]);
		}
}

static void note_place(struct builder *b, size_t at)
{
	const struct entry *en = &b->entries.v[at];

	if (en->c->action == CHANGE_CONFIGURE)
		b->config_at[en->resource] = at + 1;
	else
		b->change_at[en->resource] = at + 1;
}

/* What must be made before entry i: its resource's own change for a configuration, else what the
 * resource depends on. */
static void make_deps(const struct builder *b, const struct entry *en, struct graph_list *out)
{
	size_t dep;

	out->v.n = 0;
	if (en->c->action == CHANGE_CONFIGURE) {
		if (b->change_at[en->resource])
			VEC_ADD(b->a, &out->v) = b->change_at[en->resource] - 1;
		return;
	}
	const struct diff_deps *deps = &b->s->v.v[en->resource]->in.want_deps;
	if (unmakes(en->c) && !makes(en->c))
		return;
	for (size_t k = 0; k < deps->v.n; k++)
		if (resource_at(b, deps->v.v[k], &dep) && b->change_at[dep])
			VEC_ADD(b->a, &out->v) = b->change_at[dep] - 1;
}

/* Puts entries into an order in which they can be made, as near to their listing as edges allow. */
static void sort_entries(struct builder *b)
{
	struct graph g;
	struct graph_list deps = { 0 }, order = { 0 };

	graph_init(&g, b->a, b->entries.n);
	for (size_t i = 0; i < b->entries.n; i++)
		note_place(b, i);
	for (size_t i = 0; i < b->entries.n; i++) {
		make_deps(b, &b->entries.v[i], &deps);
		for (size_t k = 0; k < deps.v.n; k++)
			graph_edge(&g, deps.v.v[k], i);
	}
	if (!graph_order(&g, &order))
		bug("the changes of an acyclic plan form a cycle");
	struct entry *sorted = arena_array(b->a, struct entry, b->entries.n + 1);
	for (size_t i = 0; i < order.v.n; i++)
		sorted[i] = b->entries.v[order.v.v[i]];
	b->entries.v = sorted;
	b->entries.cap = b->entries.n + 1;
	for (size_t i = 0; i < b->entries.n; i++)
		note_place(b, i);
}

static void fill_edges(struct builder *b, struct plan *p)
{
	struct graph_list deps = { 0 };
	size_t dep;

	for (size_t i = 0; i < b->entries.n; i++) {
		struct entry *en = &b->entries.v[i];
		make_deps(b, en, &deps);
		for (size_t k = 0; k < deps.v.n; k++)
			VEC_ADD(b->a, &en->c->deps) = deps.v.v[k];
		const struct diff_deps *was = &b->s->v.v[en->resource]->in.recorded_deps;
		for (size_t k = 0; unmakes(en->c) && k < was->v.n; k++) {
			if (!resource_at(b, was->v.v[k], &dep) || !b->change_at[dep])
				continue;
			struct change *under = p->changes.v[b->change_at[dep] - 1];
			if (unmakes(under))
				VEC_ADD(b->a, &under->undone_first) = i;
		}
	}
}

static void shape(struct arena *a, struct change *c)
{
	scoped(buf_fini) struct buf b = { 0 };
	char hex[SHA256_HEX];

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "%d %d %d%d%d%d %s %s %s\n", c->action, c->cause, c->owned, c->in_service,
		 c->effect_drain, c->effect_reboot, c->kind, c->provider ? c->provider : "",
		 c->reason);
	for (size_t i = 0; i < c->fields.n; i++) {
		const struct field_change *f = &c->fields.v[i];
		buf_addf(&b, "%s %d %d ", f->path, f->forces_replace, f->cause);
		if (f->before)
			json_write(&b, f->before, JSON_SORT);
		buf_addc(&b, ' ');
		if (f->after)
			json_write(&b, f->after, JSON_SORT);
		buf_addc(&b, '\n');
	}
	if (c->action == CHANGE_CREATE && c->after && c->node) {
		if (!c->owned) /* what is asked for is the host's name */
			json_write(&b, c->after, JSON_SORT);
	} else if (!c->node) {
		buf_adds(&b, c->addr); /* only nodes are folded */
	}
	sha256_hex(buf_str(&b), hex);
	c->shape = arena_dup(a, hex, 16);
}

static void count(struct plan *p, const struct change *c)
{
	switch (c->action) {
	case CHANGE_CREATE: p->add++; break;
	case CHANGE_UPDATE: p->change++; break;
	case CHANGE_REPLACE:
		p->add++;
		p->destroy += !c->owned;
		p->release += c->owned;
		break;
	case CHANGE_DELETE:
		p->destroy += !c->owned;
		p->release += c->owned;
		break;
	case CHANGE_CONFIGURE: p->configure++; break;
	case CHANGE_FORGET: break;
	}
}

static void add_observations(struct builder *b, struct plan *p)
{
	for (size_t i = 0; i < b->s->v.n; i++) {
		const struct plan_resource *r = b->s->v.v[i];
		bool wide = !b->s->selected || r->kept;
		if (r->res.drift && wide)
			VEC_ADD(b->a, &p->drift) = r->res.drift;
		if (r->cfg.drift && wide)
			VEC_ADD(b->a, &p->drift) = r->cfg.drift;
		if (r->left_out && (wide || r->held)) {
			struct left_out *x = arena_obj(b->a, struct left_out);
			*x = (struct left_out){ r->in.node, r->left_out };
			VEC_ADD(b->a, &p->left_out) = x;
		}
		const struct node_probe *probe = r->config.probe;
		if (probe && (probe->probed || probe->unreachable))
			VEC_ADD(b->a, &p->probed) = r->config.node;
		if (probe)
			p->probe_trips += probe->trips;
		if (probe && probe->unreachable)
			VEC_ADD(b->a, &p->unreachable) = r->config.node;
	}
	p->probed_nodes = p->probed.n;
	for (size_t i = 0; i < p->drift.n; i++)
		shape(b->a, p->drift.v[i]);
}

void plan_digest(const struct plan *p, char out[SHA256_HEX])
{
	scoped(buf_fini) struct buf b = { 0 };
	scoped(arena_freep) struct arena *each = arena_new("change");

	buf_init(&b, (size_t)1 << 30);
	buf_addf(&b, "%s\n%s\n%s\n%s\n%lld\n%d%d\n", p->cluster, p->spec_digest, p->observed_digest,
		 p->record_digest, (long long)p->state_serial, p->is_destroy, p->is_refresh);
	for (size_t i = 0; i < p->changes.n; i++) {
		json_write(&b, change_value(each, p->changes.v[i]), JSON_SORT);
		buf_addc(&b, '\n');
		arena_reset(each);
	}
	sha256_hex(buf_str(&b), out);
}

static void copy_hex(char out[65], const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n > 64)
		n = 64;
	if (n)
		memcpy(out, from, n);
	out[n] = '\0';
}

int plan_build(struct arena *a, struct plan_source *s, struct plan **out, struct err *e)
{
	struct builder b = { .a = a, .s = s };
	struct plan *p = arena_obj(a, struct plan);

	if (order_resources(&b, e))
		return -1;
	b.change_at = arena_array(a, size_t, s->v.n + 1);
	b.config_at = arena_array(a, size_t, s->v.n + 1);
	diff_all(&b);
	select_all(&b);
	if (s->mode != PLAN_REFRESH_ONLY)
		list_entries(&b);
	sort_entries(&b);
	for (size_t i = 0; i < b.entries.n; i++) {
		VEC_ADD(a, &p->changes) = b.entries.v[i].c;
		shape(a, b.entries.v[i].c);
		count(p, b.entries.v[i].c);
	}
	fill_edges(&b, p);
	add_observations(&b, p);
	p->is_destroy = s->mode == PLAN_DESTROY;
	p->is_refresh = s->mode == PLAN_REFRESH_ONLY;
	p->is_configure = s->mode == PLAN_CONFIGURE;
	p->cluster = s->cluster;
	copy_hex(p->spec_digest, s->spec_digest);
	copy_hex(p->observed_digest, s->observed_digest);
	copy_hex(p->record_digest, s->record_digest);
	p->state_serial = s->state_serial;
	p->created_ms = s->now_ms;
	plan_digest(p, p->digest);
	*out = p;
	return 0;
}

bool plan_is_empty(const struct plan *p)
{
	return p->changes.n == 0;
}

bool plan_covers(struct arena *a, const struct plan *approved, const struct plan *fresh)
{
	struct map agreed;

	map_init(&agreed, a);
	for (size_t i = 0; i < approved->changes.n; i++) {
		const struct change *c = approved->changes.v[i];
		map_put(&agreed, str_of(arena_printf(a, "%d %s", c->action, c->addr)), (void *)c);
	}
	for (size_t i = 0; i < fresh->changes.n; i++) {
		const struct change *c = fresh->changes.v[i];
		if (!map_getc(&agreed, arena_printf(a, "%d %s", c->action, c->addr)))
			return false;
	}
	return true;
}
