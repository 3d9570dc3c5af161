/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field by field, three values decide: w (asked for), r (asked for when it was last applied) and s
 * (what is there). Where the provider did not tell, or was not asked, s is r. Nothing is to be done
 * where w == s, whatever the record says; else the cause is the spec when r == s, the outside when
 * w == r, both when all three differ.
 */
#include "engine/diff.h"

const char *change_action_name(enum change_action a)
{
	static const char *const names[] = { "create", "update",    "replace",
					     "delete", "configure", "forget" };

	return names[a];
}

const char *change_cause_name(enum change_cause c)
{
	static const char *const names[] = { "spec", "outside", "both" };

	return names[c];
}

static bool same(const struct value *x, const struct value *y)
{
	bool no_x = !x || x->kind == V_NULL, no_y = !y || y->kind == V_NULL;

	return no_x || no_y ? no_x == no_y : value_equal(x, y);
}

static bool holds_sealed(const struct value *v)
{
	if (v->kind == V_MAP && map_getc(&v->map, "__secret__"))
		return true;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (holds_sealed(v->map.e[i].val))
			return true;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (holds_sealed(v->list.v[i]))
			return true;
	return false;
}

static const struct value *sensitive(struct arena *a)
{
	return value_secret(a, value_cstr(a, "(sensitive)"));
}

/* A secret was sealed to a digest, which nobody wants to see. */
static const struct value *hide_sealed(struct arena *a, const struct value *v)
{
	if (!v || !holds_sealed(v))
		return v;
	if (v->kind == V_MAP && map_getc(&v->map, "__secret__"))
		return sensitive(a);
	struct value *c = v->kind == V_MAP ? value_map(a) : value_list(a);
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		value_sets(c, v->map.e[i].key, hide_sealed(a, v->map.e[i].val));
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		value_add(a, c, hide_sealed(a, v->list.v[i]));
	return c;
}

static const struct value *shown(struct arena *a, const struct field *f, const struct value *v)
{
	return v && (f->flags & FIELD_SECRET) ? sensitive(a) : hide_sealed(a, v);
}

static struct change *change_new(struct arena *a, const struct diff_input *in,
				 enum change_action action, enum change_cause cause,
				 const char *reason)
{
	struct change *c = arena_obj(a, struct change);

	c->addr = in->addr;
	c->kind = in->kind;
	c->provider = in->provider;
	c->node = in->node;
	c->pool = in->pool;
	c->id = in->id;
	c->owned = in->owned;
	c->action = action;
	c->cause = cause;
	c->reason = reason;
	return c;
}

/* Attributes as they are shown: secrets hidden. */
static const struct value *shown_attrs(struct arena *a, const struct field *rows,
				       const struct value *attrs)
{
	bool any = false;

	for (const struct field *f = rows; f && f->name; f++)
		any |= (f->flags & FIELD_SECRET) && value_get(attrs, f->name);
	attrs = hide_sealed(a, attrs);
	if (!any)
		return attrs;
	struct value *v = value_merge(a, attrs, value_map(a), false);
	for (const struct field *f = rows; f->name; f++)
		if ((f->flags & FIELD_SECRET) && value_get(v, f->name))
			value_set(v, f->name, shown(a, f, value_get(v, f->name)));
	return v;
}

static void add_unknown(struct arena *a, const struct field *rows, struct change *c)
{
	for (const struct field *f = rows; f && f->name; f++)
		if (f->flags & FIELD_COMPUTED)
			VEC_ADD(a, &c->unknown) = f->name;
}

static struct change *to_make(struct arena *a, const struct diff_input *in, enum change_cause cause,
			      const char *reason)
{
	struct change *c = change_new(a, in, CHANGE_CREATE, cause, reason);

	c->id = NULL;
	c->after = shown_attrs(a, in->fields, in->want);
	add_unknown(a, in->fields, c);
	return c;
}

/* What is there, as far as it is known. */
static const struct value *present(const struct diff_input *in)
{
	return in->looked && in->seen ? in->seen : in->recorded;
}

static void add_field(struct arena *a, struct change *c, struct field_change fc)
{
	VEC_ADD(a, &c->fields) = fc;
}

static void compare_field(struct arena *a, const struct diff_input *in, const struct field *f,
			  struct change *todo, struct change *drift)
{
	const struct value *w = value_get(in->want, f->name);
	const struct value *r = value_get(in->recorded, f->name);
	const struct value *s = in->looked && in->seen ? value_get(in->seen, f->name) : NULL;

	if (!s || (f->flags & FIELD_SECRET))
		s = r; /* not told, or told in clear where only digests can be compared */
	struct field_change fc = {
		.path = f->name,
		.before = shown(a, f, s),
		.after = shown(a, f, w),
		.forces_replace = (f->flags & FIELD_FIXED) != 0,
		.cause = same(r, s)   ? CAUSE_SPEC
			 : same(w, r) ? CAUSE_OUTSIDE
				      : CAUSE_BOTH,
	};
	if (!same(w, s))
		add_field(a, todo, fc);
	if (!same(r, s) && !same(w, s)) {
		fc.before = shown(a, f, r);
		fc.after = shown(a, f, s);
		fc.forces_replace = false;
		fc.cause = CAUSE_OUTSIDE;
		add_field(a, drift, fc);
	}
}

static bool deps_equal(const struct diff_deps *x, const struct diff_deps *y)
{
	if (x->v.n != y->v.n)
		return false;
	for (size_t i = 0; i < x->v.n; i++) {
		bool found = false;
		for (size_t k = 0; k < y->v.n; k++)
			found |= strcmp(x->v.v[i], y->v.v[k]) == 0;
		if (!found)
			return false;
	}
	return true;
}

static const struct value *deps_value(struct arena *a, const struct diff_deps *d)
{
	if (d->v.n == 1)
		return value_cstr(a, d->v.v[0]);
	struct value *l = value_list(a);
	for (size_t i = 0; i < d->v.n; i++)
		value_add(a, l, value_cstr(a, d->v.v[i]));
	return l;
}

static void compare_status(struct arena *a, const struct diff_input *in, struct change *todo,
			   struct change *drift)
{
	if (!in->looked || !in->status || strcmp(in->status, "running") == 0 ||
	    strcmp(in->status, "building") == 0)
		return;
	struct field_change fc = {
		.path = "status",
		.before = value_cstr(a, in->status),
		.after = value_cstr(a, "running"),
		.forces_replace = strcmp(in->status, "error") == 0,
		.cause = in->tainted ? CAUSE_SPEC : CAUSE_OUTSIDE,
	};
	add_field(a, todo, fc);
	if (in->tainted)
		return; /* we left it so */
	fc.before = value_cstr(a, "running");
	fc.after = value_cstr(a, in->status);
	fc.forces_replace = false;
	add_field(a, drift, fc);
}

static enum change_cause cause_of(const struct change *c)
{
	bool spec = false, outside = false;

	for (size_t i = 0; i < c->fields.n; i++) {
		spec |= c->fields.v[i].cause != CAUSE_OUTSIDE;
		outside |= c->fields.v[i].cause != CAUSE_SPEC;
	}
	return spec && outside ? CAUSE_BOTH : outside ? CAUSE_OUTSIDE : CAUSE_SPEC;
}

/* "image changed", "image and 2 more changed outside": one phrase, led by what weighs most. */
static const char *reason_of(struct arena *a, const struct change *c, bool replace)
{
	size_t lead = 0;

	for (size_t i = 0; i < c->fields.n; i++)
		if (replace && c->fields.v[i].forces_replace) {
			lead = i;
			break;
		}
	const char *path = c->fields.v[lead].path;
	if (strcmp(path, "status") == 0) {
		struct str s = c->fields.v[lead].before->s;
		return str_eqc(s, "error") ? "it is in error"
					   : arena_printf(a, "it is " STR_FMT, STR_ARG(s));
	}
	const char *how = c->cause == CAUSE_OUTSIDE ? " changed outside" : " changed";
	if (c->fields.n == 1)
		return arena_printf(a, "%s%s", path, how);
	return arena_printf(a, "%s and %zu more%s", path, c->fields.n - 1, how);
}

static void compare_all(struct arena *a, const struct diff_input *in, struct change *todo,
			struct change *drift)
{
	for (const struct field *f = in->fields; f && f->name; f++)
		if (!(f->flags & FIELD_COMPUTED))
			compare_field(a, in, f, todo, drift);
	if (!deps_equal(&in->want_deps, &in->recorded_deps)) {
		struct field_change fc = {
			.path = "network",
			.before = deps_value(a, &in->recorded_deps),
			.after = deps_value(a, &in->want_deps),
			.forces_replace = true,
			.cause = CAUSE_SPEC,
		};
		add_field(a, todo, fc);
	}
	compare_status(a, in, todo, drift);
}

static bool must_replace(const struct diff_input *in, const struct change *c)
{
	if (!in->can_update)
		return true;
	for (size_t i = 0; i < c->fields.n; i++)
		if (c->fields.v[i].forces_replace)
			return true;
	return false;
}

/* Recorded (or found after an interrupted create), wanted, and there. */
static void diff_both(struct arena *a, const struct diff_input *in, struct diff_output *out)
{
	struct change *todo = change_new(a, in, CHANGE_UPDATE, CAUSE_SPEC, NULL);
	struct change *drift = change_new(a, in, CHANGE_UPDATE, CAUSE_OUTSIDE, "changed outside");

	compare_all(a, in, todo, drift);
	if (drift->fields.n) {
		drift->before = shown_attrs(a, in->fields, in->recorded);
		drift->after = shown_attrs(a, in->fields, present(in));
		out->drift = drift;
	}
	if (!todo->fields.n && (!in->tainted || in->configures))
		return;
	todo->before = shown_attrs(a, in->fields, present(in));
	todo->after = shown_attrs(a, in->fields, in->want);
	todo->cause = cause_of(todo);
	if (!todo->fields.n) {
		todo->action = in->can_update ? CHANGE_UPDATE : CHANGE_REPLACE;
		todo->reason = "it was left unfinished";
	} else if (must_replace(in, todo)) {
		todo->action = CHANGE_REPLACE;
		todo->reason = reason_of(a, todo, true);
	} else {
		todo->reason = reason_of(a, todo, false);
	}
	if (todo->action == CHANGE_REPLACE)
		add_unknown(a, in->fields, todo);
	todo->in_service = in->node && (!in->status || strcmp(in->status, "running") == 0);
	todo->unwell = in->node && (in->tainted || !todo->in_service);
	out->change = todo;
}

static void diff_unwanted(struct arena *a, const struct diff_input *in, struct diff_output *out)
{
	bool gone = in->looked && !in->seen;
	struct change *c = change_new(a, in, gone ? CHANGE_FORGET : CHANGE_DELETE, CAUSE_SPEC,
				      gone && in->interrupted ? "it was never made"
				      : gone		      ? "already gone"
							      : "not in the spec any more");

	c->before = shown_attrs(a, in->fields, present(in));
	out->change = c;
	if (gone && in->recorded && !in->interrupted && !in->deleting) {
		out->drift = change_new(a, in, CHANGE_DELETE, CAUSE_OUTSIDE, "deleted outside");
		out->drift->before = c->before;
	}
}

void diff_resource(struct arena *a, const struct diff_input *in, struct diff_output *out)
{
	*out = (struct diff_output){ 0 };
	bool recorded = in->recorded != NULL;
	bool gone = in->looked && !in->seen;

	if (!in->want) {
		if (recorded || in->interrupted)
			diff_unwanted(a, in, out);
		return;
	}
	if (in->interrupted &&
	    (gone || !in->seen || (in->status && strcmp(in->status, "building") == 0))) {
		out->change = to_make(a, in, CAUSE_SPEC, "its creation was interrupted");
	} else if (!recorded || (gone && in->deleting)) {
		out->change = to_make(a, in, CAUSE_SPEC,
				      in->owned ? "new in the spec" : "not there");
	} else if (in->deleting) {
		out->change = diff_force_replace(a, in, NULL, "its deletion was interrupted");
	} else if (in->moved_from) {
		/* never a plain create: the one at the other provider would be nobody's */
		const char *why = arena_printf(a, "provider changed from \"%s\" to \"%s\"",
					       in->moved_from, in->provider);
		out->change = gone ? to_make(a, in, CAUSE_SPEC, why)
				   : diff_force_replace(a, in, NULL, why);
	} else if (gone) {
		out->change = to_make(a, in, CAUSE_OUTSIDE, "deleted outside");
		out->change->before = shown_attrs(a, in->fields, in->recorded);
		out->drift = change_new(a, in, CHANGE_DELETE, CAUSE_OUTSIDE, "deleted outside");
		out->drift->before = out->change->before;
	} else {
		diff_both(a, in, out);
	}
}

struct change *diff_force_replace(struct arena *a, const struct diff_input *in, struct change *c,
				  const char *reason)
{
	if (!c) {
		c = change_new(a, in, CHANGE_REPLACE, CAUSE_SPEC, reason);
		c->before = shown_attrs(a, in->fields, present(in));
		c->after = shown_attrs(a, in->fields, in->want);
	} else if (c->action == CHANGE_UPDATE) {
		c->reason = arena_printf(a, "%s, %s", reason, c->reason);
	} else {
		return c; /* made or gone anyway */
	}
	c->action = CHANGE_REPLACE;
	c->in_service = in->node != NULL;
	c->unknown.n = 0;
	add_unknown(a, in->fields, c);
	return c;
}

static struct change *config_change(struct arena *a, const struct diff_config_input *in,
				    enum change_cause cause, const char *reason)
{
	struct change *c = arena_obj(a, struct change);

	c->addr = in->addr;
	c->kind = "machine";
	c->provider = in->provider;
	c->node = in->node;
	c->pool = in->pool;
	c->owned = in->owned;
	c->action = CHANGE_CONFIGURE;
	c->cause = cause;
	c->reason = reason;
	c->config_digest = in->digest;
	if (in->probe)
		c->effect_reboot = in->probe->reboot;
	return c;
}

static void copy_fields(struct arena *a, const struct node_probe *p, enum change_cause cause,
			struct change *c)
{
	for (size_t i = 0; p && i < p->fields.n; i++) {
		struct field_change fc = p->fields.v[i];
		fc.cause = cause;
		add_field(a, c, fc);
	}
}

/* Names the task; its message may hold anything, and what is to be compared holds no messages. */
static const char *unchecked(struct arena *a, const struct node_probe *p)
{
	struct str note = p->notes.n ? str_of(p->notes.v[0]) : STR_NONE;
	size_t end = str_find(note, STR(": "));

	return end == SIZE_MAX ? "a task could not be checked"
			       : arena_printf(a, "a task could not be checked: " STR_FMT,
					      STR_ARG(str_sub(note, 0, end)));
}

void diff_config(struct arena *a, const struct diff_config_input *in, struct diff_output *out)
{
	*out = (struct diff_output){ 0 };
	if (!in->wanted)
		return;
	if (in->fresh) {
		out->change = config_change(a, in, CAUSE_SPEC,
					    in->owned ? "newly taken in" : "a new machine");
		VEC_ADD(a, &out->change->unknown) = "configuration";
		return;
	}
	const struct node_probe *p = in->probe;
	bool moved = !in->recorded || strcmp(in->recorded, in->digest) != 0;
	bool found = p && p->fields.n > 0;
	enum change_cause cause = moved || in->tainted || in->fleet_moved ? CAUSE_SPEC
									  : CAUSE_OUTSIDE;
	if (!in->recorded)
		out->change = config_change(a, in, CAUSE_SPEC, "never configured");
	else if (in->tainted)
		out->change = config_change(a, in, CAUSE_SPEC,
					    "its last configuration failed or was interrupted");
	else if (moved)
		out->change = config_change(a, in, CAUSE_SPEC, "playbooks, roles or vars changed");
	else if (p && p->failed)
		out->change = config_change(a, in, cause, unchecked(a, p));
	else if (found)
		out->change = config_change(a, in, cause,
					    cause == CAUSE_OUTSIDE ? "changed outside"
								   : "the fleet changed");
	if (!out->change)
		return;
	out->change->in_service = in->recorded != NULL;
	out->change->unwell = in->tainted;
	copy_fields(a, p, cause, out->change);
	if (!p || !p->probed)
		VEC_ADD(a, &out->change->unknown) = "configuration";
	if (found && cause == CAUSE_OUTSIDE) {
		out->drift = config_change(a, in, CAUSE_OUTSIDE, "changed outside");
		copy_fields(a, p, cause, out->drift);
	}
}
