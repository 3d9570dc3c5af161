/* SPDX-License-Identifier: Apache-2.0 */
/* Roles: where they are, and their folders (defaults, vars, meta, handlers, tasks) as a block. */
#include "playbooks/play.h"

static const char *find_role(struct loader *l, const char *name, const struct step *parent)
{
	const char *tried[3] = { fs_join(l->a, l->p->dir, "roles"),
				 parent->role ? fs_dirname(l->a, parent->role->path) : NULL,
				 l->p->dir };
	const char *path;

	if (name[0] == '/')
		return fs_is_dir(name) ? name : NULL;
	for (size_t i = 0; i < ARRAY_LEN(tried); i++) {
		path = tried[i] ? fs_join(l->a, tried[i], name) : NULL;
		if (path && fs_is_dir(path) && (i < 2 || fs_is_dir(fs_join(l->a, path, "tasks"))))
			return path;
	}
	for (size_t i = 0; l->p->role_dirs && l->p->role_dirs[i]; i++) {
		path = fs_join(l->a, l->p->role_dirs[i], name);
		if (fs_is_dir(path))
			return path;
	}
	return NULL;
}

/* SUB/NAME.yml, .yaml, or SUB/NAME; NULL if there is none. */
static const char *part_of(struct loader *l, const struct role *r, const char *sub,
			   const char *name)
{
	static const char *const ends[] = { "", ".yml", ".yaml" };
	const char *dir = fs_join(l->a, r->path, sub);

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		const char *path = fs_join(l->a, dir, arena_printf(l->a, "%s%s", name, ends[i]));
		if (fs_exists(path) && !fs_is_dir(path))
			return path;
	}
	return NULL;
}

static const struct value *load_vars(struct loader *l, const struct role *r, const char *sub,
				     const char *name, struct pos from)
{
	const char *path = part_of(l, r, sub, name);
	const struct value *v = path ? load_yaml(l, path, from) : NULL;

	if (v && v->kind != V_MAP && v->kind != V_NULL) {
		err_list_addf(l->errs, v->pos, NULL, "a map of variables is needed, not %s",
			      value_kind_name(v->kind));
		return NULL;
	}
	return v && v->kind == V_MAP ? v : NULL;
}

static void digest_tree(struct loader *l, const char *dir, int depth)
{
	struct fs_names names = { { 0 } };
	struct err e = { 0 };

	if (depth > 8 || !fs_is_dir(dir) || fs_list(l->a, dir, &names, &e))
		return;
	for (size_t i = 0; i < names.names.n && i < 1000; i++) {
		const char *path = fs_join(l->a, dir, names.names.v[i]);
		if (fs_is_dir(path))
			digest_tree(l, path, depth + 1);
		else
			load_digest_file(l, path);
	}
}

static void load_dependencies(struct loader *l, const struct role *r, struct step *n)
{
	const char *path = part_of(l, r, "meta", "main");
	const struct value *meta = path ? load_yaml(l, path, n->pos) : NULL;
	const struct value *deps = meta ? value_get(meta, "dependencies") : NULL;

	for (size_t i = 0; deps && deps->kind == V_LIST && i < deps->list.n; i++) {
		struct step *dep = load_role(l, deps->list.v[i], n);
		if (dep)
			VEC_ADD(l->a, &n->block.v) = dep;
	}
}

static const char *from_arg(const struct value *entry, const char *key)
{
	return entry->kind == V_MAP ? value_get_str(entry, key, "main").p : "main";
}

/* A role that a play names twice has its handlers once. */
static bool is_known(const struct play *play, const char *path)
{
	for (size_t i = 0; i < play->roles.n; i++)
		if (strcmp(play->roles.v[i]->path, path) == 0)
			return true;
	return false;
}

static void fill_role(struct loader *l, struct step *n, struct role *r, const struct value *entry)
{
	struct play *play = (struct play *)(uintptr_t)n->play; /* still being loaded */
	bool again = is_known(play, r->path);
	const char *tasks = part_of(l, r, "tasks", from_arg(entry, "tasks_from"));
	const char *handlers = again ? NULL
				     : part_of(l, r, "handlers", from_arg(entry, "handlers_from"));
	struct steps unused = { { 0 } };

	r->defaults = load_vars(l, r, "defaults", from_arg(entry, "defaults_from"), n->pos);
	r->vars = load_vars(l, r, "vars", from_arg(entry, "vars_from"), n->pos);
	VEC_ADD(l->a, &play->roles) = r;
	load_dependencies(l, r, n);
	if (!again) {
		digest_tree(l, fs_join(l->a, r->path, "files"), 0);
		digest_tree(l, fs_join(l->a, r->path, "templates"), 0);
	}
	if (handlers)
		load_tasks_file(l, handlers, n->pos, n, true, &unused);
	if (tasks)
		load_tasks_file(l, tasks, n->pos, n, false, &n->block);
	else if (entry->kind == V_MAP && value_get(entry, "tasks_from"))
		err_list_addf(l->errs, n->pos, NULL, "role %s has no tasks/%s", r->name,
			      from_arg(entry, "tasks_from"));
}

/* Keys of {role: x, ...}: keywords, and any other is a parameter. */
static void role_keywords(struct loader *l, struct step *n, const struct value *entry)
{
	struct value *params = NULL;

	for (size_t i = 0; entry->kind == V_MAP && i < entry->map.n; i++) {
		const struct map_entry *me = &entry->map.e[i];
		if (str_eqc(me->key, "role") || str_eqc(me->key, "name") ||
		    str_ends(me->key, "_from"))
			continue;
		if (load_common(l, n, me->key, me->val, me->pos))
			continue;
		if (!params)
			params = value_map(l->a);
		value_sets(params, me->key, me->val);
	}
	n->params = n->vars ? value_merge(l->a, n->vars, params, false) : params;
	n->vars = NULL;
}

struct step *load_role(struct loader *l, const struct value *entry, const struct step *parent)
{
	struct str name = entry->kind == V_STR ? entry->s : value_get_str(entry, "role", "");
	struct role *r = arena_obj(l->a, struct role);
	struct step *n = load_step(l, STEP_BLOCK, parent, entry->pos);

	if (!name.n)
		name = value_get_str(entry, "name", "");
	if (!name.n) {
		err_list_addf(l->errs, entry->pos, NULL, "a role is a name or a map with 'role'");
		return NULL;
	}
	r->name = str_cstr(l->a, name);
	r->path = find_role(l, r->name, parent);
	if (!r->path) {
		err_list_addf(
			l->errs, entry->pos,
			"roles are looked for in roles/ beside the playbook and in the role folders",
			"there is no role '%s'", r->name);
		return NULL;
	}
	for (size_t i = 0; i < l->role_stack.n; i++)
		if (strcmp(l->role_stack.v[i], r->path) == 0) {
			err_list_addf(l->errs, entry->pos, NULL, "role %s depends on itself",
				      r->name);
			return NULL;
		}
	n->role = r;
	n->dir = fs_join(l->a, r->path, "tasks");
	role_keywords(l, n, entry);
	VEC_ADD(l->a, &l->role_stack) = r->path;
	fill_role(l, n, r, entry);
	l->role_stack.n--;
	return n;
}
