/* SPDX-License-Identifier: Apache-2.0 */
/* Which value a name has for a task: Ansible's order of precedence as a chain of maps. */
#include "playbooks/run.h"

static void push(struct scopes *out, const struct value *vars)
{
	if (!vars || vars->kind != V_MAP || !vars->map.n)
		return;
	if (out->n + 2 >= SCOPES_MAX)
		bug("more than %d scopes", SCOPES_MAX);
	out->v[out->n++] = (struct scope){ .vars = vars };
}

const struct step *scope_outer(const struct step *step)
{
	const struct step *p = step->parent;

	/* What an include says of itself (when, tags, become) is not said of the tasks inside. */
	while (p && p->once)
		p = p->parent;
	return p;
}

/* ---- names that are always there ---- */

static void put(struct run *r, struct value *m, const char *key, const char *s)
{
	value_set(m, key, value_cstr(r->a, s ? s : ""));
}

static const struct value *version(struct arena *a)
{
	struct value *v = value_map(a);

	value_set(v, "full", value_cstr(a, "2.14.0"));
	value_set(v, "string", value_cstr(a, "2.14.0"));
	value_set(v, "major", value_int(a, 2));
	value_set(v, "minor", value_int(a, 14));
	value_set(v, "revision", value_int(a, 0));
	return v;
}

static const struct value *list_of_cstrs(struct arena *a, const char *const *v,
					 const char *fallback)
{
	struct value *list = value_list(a);

	for (size_t i = 0; v && v[i]; i++)
		value_add(a, list, value_cstr(a, v[i]));
	if (!v && fallback)
		value_add(a, list, value_cstr(a, fallback));
	return list;
}

void scope_magic(struct run *r)
{
	struct value *m = value_map(r->a), *low = value_map(r->a);
	const struct run_world *world = r->o->world;
	struct str name = str_of(r->h->name);
	static const char *const hosts_names[] = { "ansible_play_hosts", "ansible_play_hosts_all",
						   "ansible_play_batch", "play_hosts" };
	const struct value *hosts = world && world->groups ? value_get(world->groups, "all") : NULL;

	put(r, m, "inventory_hostname", r->h->name);
	value_set(m, "inventory_hostname_short",
		  value_str(r->a, str_sub(name, 0, str_find_char(name, '.'))));
	value_set(m, "group_names", r->h->group_names ? r->h->group_names : value_list(r->a));
	value_set(m, "groups", world && world->groups ? world->groups : value_map(r->a));
	value_set(m, "hostvars", world && world->hostvars ? world->hostvars : value_map(r->a));
	value_set(m, "ansible_check_mode", value_bool(r->a, r->o->check));
	value_set(m, "ansible_diff_mode", value_bool(r->a, r->o->diff));
	value_set(m, "ansible_verbosity", value_int(r->a, 0));
	value_set(m, "ansible_version", version(r->a));
	value_set(m, "ansible_run_tags", list_of_cstrs(r->a, r->o->tags, "all"));
	value_set(m, "ansible_skip_tags", list_of_cstrs(r->a, r->o->skip_tags, NULL));
	put(r, m, "ansible_play_name", r->play->name);
	put(r, m, "playbook_dir", r->play->dir);
	put(r, m, "omit", ARG_OMIT);
	if (!hosts) {
		struct value *own = value_list(r->a);
		value_add(r->a, own, value_cstr(r->a, r->h->name));
		hosts = own;
	}
	for (size_t i = 0; i < ARRAY_LEN(hosts_names); i++)
		value_set(m, hosts_names[i], hosts);
	put(r, low, "ansible_managed", "Ansible managed");
	put(r, low, "ansible_host", r->h->name);
	r->magic = m;
	r->fallback = low;
}

static const struct value *role_magic(struct run *r, const struct role *role)
{
	struct value *m = value_map(r->w);

	value_set(m, "role_name", value_cstr(r->w, role->name));
	value_set(m, "ansible_role_name", value_cstr(r->w, role->name));
	value_set(m, "role_path", value_cstr(r->w, role->path));
	return m;
}

/* ansible_facts, and each fact as ansible_NAME. */
static const struct value *fact_names(struct run *r, const struct state *s)
{
	struct value *m;

	if (!s->facts)
		return NULL;
	if (r->facts_of == s->facts)
		return r->fact_names;
	m = value_map(r->a);
	value_set(m, "ansible_facts", s->facts);
	for (size_t i = 0; i < s->facts->map.n; i++) {
		struct str key = s->facts->map.e[i].key;
		if (str_starts(key, "ansible_"))
			value_sets(m, key, s->facts->map.e[i].val);
		else
			value_set(m, arena_printf(r->a, "ansible_" STR_FMT, STR_ARG(key)),
				  s->facts->map.e[i].val);
	}
	r->facts_of = s->facts;
	r->fact_names = m;
	return m;
}

/* Before the facts were read every name that may be one is unknown, not undefined. */
static const struct value *late_fact(void *arg, struct arena *a, struct str name)
{
	const struct run *r = arg;

	if (r->mode == WALK_COLLECT && str_starts(name, "ansible_"))
		return value_unknown(a);
	return NULL;
}

const char *const *scope_dirs(struct run *r, const struct step *step)
{
	const char **dirs = arena_array(r->w, const char *, 4);
	size_t n = 0;

	if (step->role)
		dirs[n++] = step->role->path;
	dirs[n++] = step->dir;
	dirs[n++] = r->play->dir;
	return dirs;
}

const struct scope *scope_build(struct run *r, const struct state *s, const struct step *step,
				const struct value *vars, struct scopes *out)
{
	out->n = 0;
	push(out, r->o->extra_vars);
	push(out, vars);
	push(out, r->magic);
	if (step->role)
		push(out, role_magic(r, step->role));
	for (const struct frame *f = s->at; f; f = f->outer)
		push(out, f->vars);
	for (const struct step *p = step; p; p = p->parent)
		push(out, p->params);
	push(out, s->set);
	push(out, s->included);
	for (const struct step *p = step; p; p = p->parent)
		push(out, p->vars);
	if (step->role)
		push(out, step->role->vars);
	push(out, r->play->role_vars);
	push(out, r->play->vars);
	push(out, fact_names(r, s));
	push(out, r->h->vars);
	if (step->role)
		push(out, step->role->defaults);
	push(out, r->play->defaults);
	push(out, r->fallback);
	if (!s->facts)
		out->v[out->n++] = (struct scope){ .lookup = late_fact, .arg = r };
	for (size_t i = 0; i + 1 < out->n; i++)
		out->v[i].outer = &out->v[i + 1];
	out->world = (struct template_world){ scope_dirs(r, step), r->o->allow_pipe };
	out->v[0].world = &out->world;
	return &out->v[0];
}

/* ---- conditions and flags ---- */

static int truth_of(const struct value *v, enum truth *out)
{
	bool b;

	if (value_has_unknown(v) && (v->kind == V_UNKNOWN || v->kind == V_STR))
		*out = UNKNOWN_;
	else if (v->kind == V_STR && value_to_bool(v, &b) == 0)
		*out = b ? TRUE_ : FALSE_;
	else
		*out = value_is_truthy(v) ? TRUE_ : FALSE_;
	return 0;
}

static int condition(struct run *r, const struct value *v, const struct scope *sc, enum truth *out,
		     struct err *e)
{
	const struct value *got = v;
	bool b;

	/* What a variable or a node says is no expression, whatever it looks like. */
	if (v->kind == V_STR && v->unsafe) {
		if (value_to_bool(v, &b) == 0)
			return truth_of(v, out);
		err_set(e, ERR_SPEC, "the condition gives a text, not true or false: \"%.60s\"",
			v->s.p);
		err_hint(e, "write the comparison itself, without {{ }}");
		return err_at(e, v->pos);
	}
	if (v->kind == V_STR) {
		int rc = template_has_markup(v->s)
				 ? template_render(r->w, template_of(v), sc, RENDER_NATIVE, &got, e)
				 : template_eval(r->w, template_of(v), sc, RENDER, &got, e);
		if (rc) {
			err_at(e, v->pos);
			return err_wrap(e, "condition '" STR_FMT "'", STR_ARG(v->s));
		}
	}
	return truth_of(got, out);
}

int scope_all(struct run *r, const struct value *list, const struct scope *sc, enum truth *out,
	      struct err *e)
{
	enum truth one, all = TRUE_;

	for (size_t i = 0; list && i < list->list.n; i++) {
		if (condition(r, list->list.v[i], sc, &one, e))
			return -1;
		if (one == FALSE_) {
			*out = FALSE_;
			return 0;
		}
		if (one == UNKNOWN_)
			all = UNKNOWN_;
	}
	*out = all;
	return 0;
}

const struct value *scope_inherited(const struct step *step, size_t member)
{
	for (const struct step *p = step; p; p = scope_outer(p)) {
		const struct value *v;
		memcpy(&v, (const char *)p + member, sizeof(v));
		if (v)
			return v;
	}
	return NULL;
}

int scope_flag(struct run *r, const struct step *step, size_t member, const struct scope *sc,
	       bool *out, struct err *e)
{
	const struct value *v = scope_inherited(step, member);
	enum truth t = FALSE_;

	if (v && condition(r, v, sc, &t, e))
		return -1;
	*out = t == TRUE_;
	return 0;
}

/* ---- tags ---- */

static bool has_tag(const struct step *step, const char *tag)
{
	for (const struct step *p = step; p; p = scope_outer(p))
		for (size_t i = 0; p->tags && i < p->tags->list.n; i++)
			if (str_eqc(p->tags->list.v[i]->s, tag))
				return true;
	return false;
}

static bool has_any_tag(const struct step *step)
{
	for (const struct step *p = step; p; p = scope_outer(p))
		if (p->tags && p->tags->list.n)
			return true;
	return false;
}

static bool matches(const struct step *step, const char *const *tags)
{
	for (size_t i = 0; tags && tags[i]; i++)
		if (has_tag(step, tags[i]) ||
		    (strcmp(tags[i], "tagged") == 0 && has_any_tag(step)) ||
		    (strcmp(tags[i], "untagged") == 0 && !has_any_tag(step)))
			return true;
	return false;
}

static bool names_all(const char *const *tags)
{
	for (size_t i = 0; tags && tags[i]; i++)
		if (strcmp(tags[i], "all") == 0)
			return true;
	return false;
}

bool scope_tags_match(const struct run *r, const struct step *step)
{
	const char *const *tags = r->o->tags, *const *skip = r->o->skip_tags;
	bool any = !tags || !tags[0] || names_all(tags);

	if (skip && matches(step, skip))
		return false;
	if (skip && names_all(skip) && !has_tag(step, "always"))
		return false;
	if (has_tag(step, "never"))
		return matches(step, tags);
	return any || has_tag(step, "always") || matches(step, tags);
}
