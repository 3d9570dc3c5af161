/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/plan_doc.h"

#include "engine/diff.h"
#include "engine/graph.h"

#define PLAN_MAX_CHANGES 4000000

static void set_value(struct value *m, const char *key, const struct value *v)
{
	if (v)
		value_set(m, key, v);
}

static struct value *indices(struct arena *a, const size_t *v, size_t n)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < n; i++)
		value_add(a, l, value_int(a, (int64_t)v[i]));
	return l;
}

static struct value *texts(struct arena *a, const char *const *v, size_t n)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < n; i++)
		value_add(a, l, value_cstr(a, v[i]));
	return l;
}

static struct value *field_value(struct arena *a, const struct field_change *f)
{
	struct value *m = value_map(a);

	value_set_text(m, "path", f->path);
	set_value(m, "before", f->before);
	set_value(m, "after", f->after);
	value_set_text(m, "cause", change_cause_name(f->cause));
	if (f->forces_replace)
		value_set(m, "forces_replace", value_bool(a, true));
	value_set_text(m, "diff", f->diff);
	return m;
}

static struct value *effects(struct arena *a, const struct change *c)
{
	struct value *l = value_list(a);

	if (c->effect_drain)
		value_add(a, l, value_cstr(a, "drain"));
	if (c->effect_reboot)
		value_add(a, l, value_cstr(a, "reboot"));
	return l;
}

struct value *change_value(struct arena *a, const struct change *c)
{
	struct value *m = value_map(a);

	value_set_text(m, "address", c->addr);
	value_set_text(m, "kind", c->kind);
	value_set_text(m, "provider", c->provider);
	value_set_text(m, "node", c->node);
	value_set_text(m, "pool", c->pool);
	value_set_text(m, "id", c->id);
	value_set_text(m, "action", change_action_name(c->action));
	value_set_text(m, "cause", change_cause_name(c->cause));
	value_set_text(m, "reason", c->reason);
	set_value(m, "before", c->before);
	set_value(m, "after", c->after);
	struct value *fields = value_list(a);
	for (size_t i = 0; i < c->fields.n; i++)
		value_add(a, fields, field_value(a, &c->fields.v[i]));
	value_set(m, "fields", fields);
	value_set(m, "unknown", texts(a, c->unknown.v, c->unknown.n));
	value_set(m, "effects", effects(a, c));
	if (c->owned)
		value_set(m, "owned", value_bool(a, true));
	if (c->in_service)
		value_set(m, "in_service", value_bool(a, true));
	if (c->unwell)
		value_set(m, "unwell", value_bool(a, true));
	value_set(m, "deps", indices(a, c->deps.v, c->deps.n));
	value_set(m, "undone_first", indices(a, c->undone_first.v, c->undone_first.n));
	value_set_text(m, "shape", c->shape);
	value_set_text(m, "config_digest", c->config_digest);
	return m;
}

static struct value *changes(struct arena *a, struct change *const *v, size_t n)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < n; i++)
		value_add(a, l, change_value(a, v[i]));
	return l;
}

static struct value *summary(struct arena *a, const struct plan *p)
{
	struct value *m = value_map(a);

	value_set(m, "add", value_int(a, (int64_t)p->add));
	value_set(m, "change", value_int(a, (int64_t)p->change));
	value_set(m, "destroy", value_int(a, (int64_t)p->destroy));
	value_set(m, "configure", value_int(a, (int64_t)p->configure));
	if (p->release)
		value_set(m, "release", value_int(a, (int64_t)p->release));
	return m;
}

static struct value *pools(struct arena *a, const struct plan *p)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < p->pools.n; i++) {
		const struct plan_pool *pool = p->pools.v[i];
		struct value *m = value_map(a);
		value_set_text(m, "name", pool->name);
		value_set(m, "at_a_time", value_int(a, pool->at_a_time));
		value_set(m, "nodes", value_int(a, pool->nodes));
		value_set(m, "canary", value_int(a, pool->canary));
		value_set(m, "soak_ms", value_int(a, pool->soak_ms));
		value_set(m, "create_ms", value_int(a, pool->create_ms));
		value_set(m, "update_ms", value_int(a, pool->update_ms));
		value_set(m, "delete_ms", value_int(a, pool->delete_ms));
		value_set(m, "configure_ms", value_int(a, pool->configure_ms));
		value_add(a, l, m);
	}
	return l;
}

static void set_texts(struct arena *a, struct value *m, const char *key, const char *const *v)
{
	struct value *l = value_list(a);

	for (size_t i = 0; v && v[i]; i++)
		value_add(a, l, value_cstr(a, v[i]));
	if (v)
		value_set(m, key, l);
}

static void set_selection(struct arena *a, struct value *m, const struct plan *p)
{
	value_set_text(m, "record_digest", p->record_digest);
	if (p->limit)
		value_set_text(m, "limit", p->limit);
	set_texts(a, m, "targets", p->targets);
	set_texts(a, m, "excludes", p->excludes);
}

struct value *plan_value(struct arena *a, const struct plan *p)
{
	struct value *m = value_map(a);

	value_set_text(m, "cluster", p->cluster);
	value_set(m, "destroy", value_bool(a, p->is_destroy));
	value_set(m, "refresh_only", value_bool(a, p->is_refresh));
	value_set(m, "with_diff", value_bool(a, p->with_diff));
	value_set(m, "state_serial", value_int(a, p->state_serial));
	value_set(m, "created_ms", value_int(a, p->created_ms));
	value_set_text(m, "spec_digest", p->spec_digest);
	value_set_text(m, "observed_digest", p->observed_digest);
	if (p->record_digest[0])
		set_selection(a, m, p);
	value_set_text(m, "digest", p->digest);
	value_set(m, "changes", changes(a, p->changes.v, p->changes.n));
	value_set(m, "drift", changes(a, p->drift.v, p->drift.n));
	value_set(m, "unreachable", texts(a, p->unreachable.v, p->unreachable.n));
	value_set(m, "probed", texts(a, p->probed.v, p->probed.n));
	value_set(m, "pools", pools(a, p));
	value_set(m, "summary", summary(a, p));
	set_value(m, "outputs", p->outputs);
	return m;
}

static struct value *warning(struct arena *a, const char *node, const char *text)
{
	struct value *d = value_map(a);

	value_set_text(d, "severity", "warning");
	value_set_text(d, "node", node);
	value_set_text(d, "summary", text);
	return d;
}

const struct value *plan_json(struct arena *a, const struct plan *p)
{
	struct value *m = value_map(a);

	value_set(m, "format_version", value_cstr(a, "1.0"));
	value_set_text(m, "cluster", p->cluster);
	value_set_text(m, "digest", p->digest);
	value_set(m, "changes", changes(a, p->changes.v, p->changes.n));
	value_set(m, "drift", changes(a, p->drift.v, p->drift.n));
	value_set(m, "summary", summary(a, p));
	struct value *diagnostics = value_list(a);
	for (size_t i = 0; i < p->unreachable.n; i++) {
		value_add(
			a, diagnostics,
			warning(a, p->unreachable.v[i],
				"the node could not be reached: its configuration was not compared"));
	}
	for (size_t i = 0; i < p->left_out.n; i++) {
		const struct left_out *x = p->left_out.v[i];
		value_add(a, diagnostics,
			  warning(a, x->node, arena_printf(a, "left out: %s", x->why)));
	}
	value_set(m, "diagnostics", diagnostics);
	set_value(m, "outputs", p->outputs);
	return m;
}

/* ---- back ---- */

static const char *get_text(struct arena *a, const struct value *m, const char *key)
{
	struct str s = value_get_str(m, key, NULL);

	return s.p ? str_cstr(a, s) : NULL;
}

static int name_index(const char *name, const char *(*at)(int), int n)
{
	for (int i = 0; name && i < n; i++)
		if (strcmp(name, at(i)) == 0)
			return i;
	return -1;
}

static const char *action_at(int i)
{
	return change_action_name((enum change_action)i);
}

static const char *cause_at(int i)
{
	return change_cause_name((enum change_cause)i);
}

static int read_field(struct arena *a, const struct value *v, struct field_change *f, struct err *e)
{
	int cause = name_index(get_text(a, v, "cause"), cause_at, CAUSE_BOTH + 1);

	f->path = get_text(a, v, "path");
	f->before = value_get(v, "before");
	f->after = value_get(v, "after");
	f->forces_replace = value_get_bool(v, "forces_replace", false);
	f->diff = get_text(a, v, "diff");
	if (!f->path || cause < 0)
		return err_set(e, ERR_CONFLICT, "a field of a change is incomplete");
	f->cause = (enum change_cause)cause;
	return 0;
}

/* Bounded by the file's own size; an index outside the plan would be used later to address memory. */
static int read_indices(struct arena *a, const struct value *l, struct graph_list *out,
			struct err *e)
{
	for (size_t i = 0; l && l->kind == V_LIST && i < l->list.n; i++) {
		const struct value *x = l->list.v[i];
		if (x->kind != V_INT || x->i < 0 || x->i > PLAN_MAX_CHANGES)
			return err_set(e, ERR_CONFLICT,
				       "an edge of a change is not a number of a change");
		VEC_ADD(a, &out->v) = (size_t)x->i;
	}
	return 0;
}

static int read_fields(struct arena *a, const struct value *l, struct change *c, struct err *e)
{
	for (size_t i = 0; l && l->kind == V_LIST && i < l->list.n; i++) {
		struct field_change f = { 0 };
		if (read_field(a, l->list.v[i], &f, e))
			return -1;
		VEC_ADD(a, &c->fields) = f;
	}
	return 0;
}

static int read_edges(struct arena *a, const struct value *v, struct change *c, struct err *e)
{
	struct graph_list deps = { 0 }, undone = { 0 };

	if (read_indices(a, value_get(v, "deps"), &deps, e) ||
	    read_indices(a, value_get(v, "undone_first"), &undone, e))
		return -1;
	for (size_t i = 0; i < deps.v.n; i++)
		VEC_ADD(a, &c->deps) = deps.v.v[i];
	for (size_t i = 0; i < undone.v.n; i++)
		VEC_ADD(a, &c->undone_first) = undone.v.v[i];
	return 0;
}

int change_read(struct arena *a, const struct value *v, struct change **out, struct err *e)
{
	struct change *c = arena_obj(a, struct change);
	int action = name_index(get_text(a, v, "action"), action_at, CHANGE_FORGET + 1);
	int cause = name_index(get_text(a, v, "cause"), cause_at, CAUSE_BOTH + 1);

	c->addr = get_text(a, v, "address");
	c->kind = get_text(a, v, "kind");
	c->provider = get_text(a, v, "provider");
	c->node = get_text(a, v, "node");
	c->pool = get_text(a, v, "pool");
	c->id = get_text(a, v, "id");
	c->reason = get_text(a, v, "reason");
	c->before = value_get(v, "before");
	c->after = value_get(v, "after");
	c->shape = get_text(a, v, "shape");
	c->config_digest = get_text(a, v, "config_digest");
	if (!c->addr || !c->kind || !c->provider || action < 0 || cause < 0)
		return err_set(e, ERR_CONFLICT, "a change is incomplete");
	c->owned = value_get_bool(v, "owned", false);
	c->in_service = value_get_bool(v, "in_service", false);
	c->unwell = value_get_bool(v, "unwell", false);
	c->action = (enum change_action)action;
	c->cause = (enum change_cause)cause;
	const struct value *unknown = value_get(v, "unknown"), *fx = value_get(v, "effects");
	for (size_t i = 0; unknown && unknown->kind == V_LIST && i < unknown->list.n; i++)
		if (unknown->list.v[i]->kind == V_STR)
			VEC_ADD(a, &c->unknown) = str_cstr(a, unknown->list.v[i]->s);
	for (size_t i = 0; fx && fx->kind == V_LIST && i < fx->list.n; i++) {
		c->effect_drain |= fx->list.v[i]->kind == V_STR &&
				   str_eqc(fx->list.v[i]->s, "drain");
		c->effect_reboot |= fx->list.v[i]->kind == V_STR &&
				    str_eqc(fx->list.v[i]->s, "reboot");
	}
	if (read_fields(a, value_get(v, "fields"), c, e) || read_edges(a, v, c, e))
		return -1;
	*out = c;
	return 0;
}

static int copy_digest(const struct value *v, const char *key, char out[65], struct err *e)
{
	struct str s = value_get_str(v, key, "");

	if (s.n > 64)
		return err_set(e, ERR_CONFLICT, "its %s is too long", key);
	memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return 0;
}

static const char *const *read_texts(struct arena *a, const struct value *v, const char *key)
{
	const struct value *l = value_get(v, key);

	if (!l || l->kind != V_LIST)
		return NULL;
	const char **out = arena_array(a, const char *, l->list.n + 1);
	for (size_t i = 0; i < l->list.n; i++)
		out[i] = str_cstr(a, l->list.v[i]->kind == V_STR ? l->list.v[i]->s : STR(""));
	return out;
}

static void read_selection(struct arena *a, const struct value *v, struct plan *p)
{
	struct str limit = value_get_str(v, "limit", NULL);

	p->limit = limit.p ? str_cstr(a, limit) : NULL;
	p->targets = read_texts(a, v, "targets");
	p->excludes = read_texts(a, v, "excludes");
}

static int read_changes(struct arena *a, const struct value *v, struct plan *p, struct err *e)
{
	const struct value *l = value_get(v, "changes"), *d = value_get(v, "drift");
	struct change *c = NULL;

	for (size_t i = 0; l && l->kind == V_LIST && i < l->list.n; i++) {
		if (change_read(a, l->list.v[i], &c, e))
			return -1;
		VEC_ADD(a, &p->changes) = c;
	}
	for (size_t i = 0; d && d->kind == V_LIST && i < d->list.n; i++) {
		if (change_read(a, d->list.v[i], &c, e))
			return -1;
		VEC_ADD(a, &p->drift) = c;
	}
	for (size_t i = 0; i < p->changes.n; i++) {
		c = p->changes.v[i];
		for (size_t k = 0; k < c->deps.n + c->undone_first.n; k++) {
			size_t x = k < c->deps.n ? c->deps.v[k] : c->undone_first.v[k - c->deps.n];
			if (x >= p->changes.n || x == i)
				return err_set(e, ERR_CONFLICT, "an edge of %s leads nowhere",
					       c->addr);
		}
	}
	return 0;
}

static void read_pools(struct arena *a, const struct value *l, struct plan *p)
{
	for (size_t i = 0; l && l->kind == V_LIST && i < l->list.n; i++) {
		const struct value *v = l->list.v[i];
		struct plan_pool *pool = arena_obj(a, struct plan_pool);
		pool->name = get_text(a, v, "name");
		pool->at_a_time = value_get_int(v, "at_a_time", 0);
		pool->nodes = value_get_int(v, "nodes", 0);
		pool->canary = value_get_int(v, "canary", 0);
		pool->soak_ms = value_get_int(v, "soak_ms", 0);
		pool->create_ms = value_get_int(v, "create_ms", 0);
		pool->update_ms = value_get_int(v, "update_ms", 0);
		pool->delete_ms = value_get_int(v, "delete_ms", 0);
		pool->configure_ms = value_get_int(v, "configure_ms", 0);
		if (pool->name)
			VEC_ADD(a, &p->pools) = pool;
	}
}

int plan_read(struct arena *a, const struct value *v, struct plan **out, struct err *e)
{
	struct plan *p = arena_obj(a, struct plan);
	const struct value *sum = value_get(v, "summary"), *un = value_get(v, "unreachable"),
			   *probed = value_get(v, "probed");

	p->cluster = get_text(a, v, "cluster");
	p->is_destroy = value_get_bool(v, "destroy", false);
	p->is_refresh = value_get_bool(v, "refresh_only", false);
	p->with_diff = value_get_bool(v, "with_diff", false);
	p->state_serial = value_get_int(v, "state_serial", -1);
	p->created_ms = value_get_int(v, "created_ms", 0);
	p->add = (size_t)value_get_int(sum, "add", 0);
	p->change = (size_t)value_get_int(sum, "change", 0);
	p->destroy = (size_t)value_get_int(sum, "destroy", 0);
	p->configure = (size_t)value_get_int(sum, "configure", 0);
	p->release = (size_t)value_get_int(sum, "release", 0);
	p->outputs = value_get(v, "outputs");
	for (size_t i = 0; un && un->kind == V_LIST && i < un->list.n; i++)
		if (un->list.v[i]->kind == V_STR)
			VEC_ADD(a, &p->unreachable) = str_cstr(a, un->list.v[i]->s);
	for (size_t i = 0; probed && probed->kind == V_LIST && i < probed->list.n; i++)
		if (probed->list.v[i]->kind == V_STR)
			VEC_ADD(a, &p->probed) = str_cstr(a, probed->list.v[i]->s);
	p->probed_nodes = p->probed.n;
	read_pools(a, value_get(v, "pools"), p);
	read_selection(a, v, p);
	if (!p->cluster)
		return err_set(e, ERR_CONFLICT, "it names no cluster");
	if (copy_digest(v, "spec_digest", p->spec_digest, e) ||
	    copy_digest(v, "observed_digest", p->observed_digest, e) ||
	    copy_digest(v, "record_digest", p->record_digest, e) ||
	    copy_digest(v, "digest", p->digest, e) || read_changes(a, v, p, e))
		return -1;
	*out = p;
	return 0;
}
