/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tasks, blocks and includes from YAML to nodes.
 *
 * A key of a task is a keyword, or the name of its module; what is neither is reported with what
 * was probably meant. Keywords of Ansible that muster doesn't have yet are refused by name: running
 * a task without its `delegate_to` would do the right thing in the wrong place.
 */
#include "playbooks/play.h"

#include <stdio.h>

static const char *const refused[] = {
	"delegate_to",
	"delegate_facts",
	"local_action",
	"async",
	"poll",
	"become_method",
	"become_exe",
	"become_flags",
	"connection",
	"throttle",
	"any_errors_fatal",
	"module_defaults",
	"collections",
	"debugger",
	"timeout",
	"port",
	"remote_user",
	"diff",
	"max_fail_percentage",
};
/* They change nothing here. */
static const char *const harmless[] = { "any_errors_fatal", "collections", "debugger",
					"max_fail_percentage" };

static const char *const task_words[] = {
	"name",		"when",		 "vars",	 "environment", "become",
	"become_user",	"ignore_errors", "check_mode",	 "no_log",	"run_once",
	"tags",		"register",	 "changed_when", "failed_when", "until",
	"retries",	"delay",	 "notify",	 "listen",	"loop",
	"loop_control", "with_items",	 "with_list",	 "with_dict",	"args",
	"action",	"block",	 "rescue",	 "always",	"include_tasks",
	"import_tasks", "include_role",	 "import_role",	 NULL,
};

static bool is_one_of(struct str s, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n && words[i]; i++)
		if (str_eqc(s, words[i]))
			return true;
	return false;
}

static void fault(struct loader *l, struct pos p, const char *hint, const char *msg)
{
	err_list_addf(l->errs, p, hint, "%s", msg);
}

const struct value *load_list_of(struct loader *l, const struct value *v)
{
	struct value *list;

	if (!v || v->kind == V_NULL || v->kind == V_LIST)
		return v && v->kind == V_LIST ? v : NULL;
	list = value_list(l->a);
	list->pos = v->pos;
	value_add(l->a, list, v);
	return list;
}

/* "a, b" is two tags. */
static const struct value *tag_list(struct loader *l, const struct value *v)
{
	struct value *list = value_list(l->a);
	const struct value *in = load_list_of(l, v);

	for (size_t i = 0; in && i < in->list.n; i++) {
		struct buf b scoped(buf_fini) = { 0 };
		struct str rest, part;
		buf_init(&b, 4096);
		value_print(&b, in->list.v[i]);
		for (rest = buf_str(&b); rest.n && str_next(&rest, ',', &part);)
			value_add(l->a, list, value_str(l->a, str_trim(part)));
	}
	return list;
}

static const struct value *need_map(struct loader *l, const struct value *v, const char *key)
{
	/* environment may be a list of maps. */
	if (v->kind == V_LIST) {
		const struct value *all = value_map(l->a);
		for (size_t i = 0; i < v->list.n; i++)
			if (v->list.v[i]->kind == V_MAP)
				all = value_merge(l->a, all, v->list.v[i], false);
		return all;
	}
	if (v->kind != V_MAP && v->kind != V_NULL &&
	    !(v->kind == V_STR && template_has_markup(v->s)))
		err_list_addf(l->errs, v->pos, NULL, "'%s' must be a map, not %s", key,
			      value_kind_name(v->kind));
	return v->kind == V_MAP || v->kind == V_STR ? v : NULL;
}

static void check_conditions(struct loader *l, const struct value *list)
{
	struct err e = { 0 };

	for (size_t i = 0; list && i < list->list.n; i++) {
		const struct value *v = list->list.v[i];
		struct map names;
		if (v->kind != V_STR || template_has_markup(v->s))
			continue;
		map_init(&names, l->a);
		if (template_names(l->a, v->s, true, &names, &e)) {
			err_at(&e, v->pos);
			err_list_add(l->errs, &e);
			e = (struct err){ 0 };
		}
	}
}

bool load_common(struct loader *l, struct step *n, struct str key, const struct value *v,
		 struct pos key_pos unused_arg)
{
	const struct {
		const char *name;
		const struct value **to;
	} plain[] = {
		{ "become", &n->become },
		{ "become_user", &n->become_user },
		{ "ignore_errors", &n->ignore_errors },
		{ "check_mode", &n->check_mode },
		{ "no_log", &n->no_log },
		{ "run_once", &n->run_once },
	};

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (str_eqc(key, plain[i].name)) {
			*plain[i].to = v->kind == V_NULL ? NULL : v;
			return true;
		}
	if (str_eqc(key, "name")) {
		n->name = v->kind == V_STR ? v->s.p : NULL;
	} else if (str_eqc(key, "vars")) {
		n->vars = need_map(l, v, "vars");
	} else if (str_eqc(key, "environment")) {
		n->environment = need_map(l, v, "environment");
	} else if (str_eqc(key, "when")) {
		n->when = load_list_of(l, v);
		check_conditions(l, n->when);
	} else if (str_eqc(key, "tags")) {
		n->tags = tag_list(l, v);
	} else {
		return false;
	}
	return true;
}

void load_unknown(struct loader *l, const char *what, const char *const *known,
		  const struct map_entry *me)
{
	const char *names[128], *near;
	char hint[160];
	size_t n = 0;

	if (is_one_of(me->key, refused, ARRAY_LEN(refused))) {
		if (!is_one_of(me->key, harmless, ARRAY_LEN(harmless)))
			err_list_addf(l->errs, me->pos, NULL, "keyword '%s' is not supported yet",
				      me->key.p);
		return;
	}
	while (n < ARRAY_LEN(names) - 1 && known[n]) {
		names[n] = known[n];
		n++;
	}
	near = str_suggest(me->key, names, n);
	if (!near && known == task_words)
		near = module_suggest(me->key);
	if (near)
		snprintf(hint, sizeof(hint), "did you mean '%s'?", near);
	else
		snprintf(hint, sizeof(hint), "`muster help modules` lists the modules");
	err_list_addf(l->errs, me->pos, near || known == task_words ? hint : NULL,
		      "unknown %s '%s'", what, me->key.p);
}

struct step *load_step(struct loader *l, enum step_kind kind, const struct step *like,
		       struct pos pos)
{
	struct step *n = arena_obj(l->a, struct step);

	n->kind = kind;
	n->pos = pos;
	n->parent = like;
	n->loop.var = "item";
	if (like) {
		n->play = like->play;
		n->role = like->role;
		n->dir = like->dir;
	}
	return n;
}

/* ---- loops ---- */

static void load_loop_control(struct loader *l, struct step *n, const struct value *v)
{
	static const char *const known[] = { "loop_var", "index_var", "label", "pause", NULL };

	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++) {
		const struct map_entry *me = &v->map.e[i];
		const struct value *x = me->val;
		if (str_eqc(me->key, "loop_var") && x->kind == V_STR)
			n->loop.var = x->s.p;
		else if (str_eqc(me->key, "index_var") && x->kind == V_STR)
			n->loop.index_var = x->s.p;
		else if (str_eqc(me->key, "label"))
			n->loop.label = x;
		else if (!is_one_of(me->key, known, ARRAY_LEN(known)))
			load_unknown(l, "key of loop_control", known, me);
	}
}

static bool load_loop(struct loader *l, struct step *n, struct str key, const struct value *v)
{
	bool items = str_eqc(key, "with_items"), dict = str_eqc(key, "with_dict");

	if (str_eqc(key, "loop_control")) {
		load_loop_control(l, n, v);
		return true;
	}
	if (!items && !dict && !str_eqc(key, "loop") && !str_eqc(key, "with_list")) {
		if (!str_starts(key, "with_"))
			return false;
		err_list_addf(l->errs, v->pos, "write it with 'loop' and a filter",
			      "'%s' is not supported yet", key.p);
		return true;
	}
	n->loop.items = v;
	n->loop.flatten = items;
	n->loop.dict = dict;
	return true;
}

/* ---- modules ---- */

static bool is_meta(const struct module *m)
{
	return m->flags & MODULE_LOCAL;
}

static const struct value *module_args(struct loader *l, const struct module *m,
				       const struct value *v)
{
	struct value *out = NULL;
	struct str rest = STR_NONE;
	struct err e = { 0 };

	if (v->kind == V_MAP || v->kind == V_NULL)
		return v->kind == V_MAP ? v : value_map(l->a);
	if (v->kind != V_STR) {
		err_list_addf(l->errs, v->pos, NULL, "arguments of module %s must be a map, not %s",
			      m->name, value_kind_name(v->kind));
		return NULL;
	}
	if (args_parse_kv(l->a, m->args, v, &out, m->flags & MODULE_FREE_FORM ? &rest : NULL, &e)) {
		err_at(&e, v->pos);
		err_list_add(l->errs, &e);
		return NULL;
	}
	if (rest.n) {
		struct value *raw = value_str(l->a, rest);
		raw->pos = v->pos;
		value_set(out, "_raw_params", raw);
		map_find(&out->map, STR("_raw_params"))->pos = v->pos;
	}
	return out;
}

static void set_module(struct loader *l, struct step *n, const struct module *m,
		       const struct value *v, struct pos pos)
{
	const struct value *args;

	if (n->module) {
		err_list_addf(l->errs, pos, NULL, "a task has one module, this one has %s and %s",
			      n->module->name, m->name);
		return;
	}
	args = module_args(l, m, v);
	n->module = m;
	if (args)
		n->args = n->args ? value_merge(l->a, n->args, args, false) : args;
}

/* action: name k=v, or action: {module: name, ...} */
static void load_action(struct loader *l, struct step *n, const struct value *v, struct pos pos)
{
	struct str rest, name = STR_NONE;
	const struct value *args = v;
	const struct module *m;

	if (v->kind == V_STR) {
		rest = str_trim(v->s);
		str_next(&rest, ' ', &name);
		struct value *text = value_str(l->a, str_trim(rest));
		text->pos = v->pos;
		args = text;
	} else if (v->kind == V_MAP) {
		struct value *copy = value_copy(l->a, v);
		name = value_get_str(v, "module", "");
		map_del(&copy->map, STR("module"));
		args = copy;
	}
	m = module_find(name);
	if (m)
		set_module(l, n, m, args, pos);
	else
		err_list_addf(l->errs, pos, NULL, "there is no module '" STR_FMT "'",
			      STR_ARG(name));
}

static bool load_task_keyword(struct loader *l, struct step *n, struct str key,
			      const struct value *v, struct pos pos)
{
	const struct {
		const char *name;
		const struct value **to;
	} lists[] = {
		{ "changed_when", &n->changed_when },
		{ "failed_when", &n->failed_when },
		{ "until", &n->until },
		{ "notify", &n->notify },
		{ "listen", &n->listen },
	};

	if (load_common(l, n, key, v, pos) || load_loop(l, n, key, v))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (str_eqc(key, lists[i].name)) {
			*lists[i].to = load_list_of(l, v);
			if (i < 3)
				check_conditions(l, *lists[i].to);
			return true;
		}
	if (str_eqc(key, "retries"))
		n->retries = v;
	else if (str_eqc(key, "delay"))
		n->delay = v;
	else if (str_eqc(key, "register"))
		n->reg = v->kind == V_STR ? v->s.p : NULL;
	else if (str_eqc(key, "action"))
		load_action(l, n, v, pos);
	else if (str_eqc(key, "args"))
		n->args = n->args ? value_merge(l->a, v, n->args, false) : v;
	else
		return false;
	return true;
}

static void check_task(struct loader *l, struct step *n)
{
	const struct value *args = n->args;

	if (!n->module)
		return;
	if (args && args->kind != V_MAP) {
		fault(l, args->pos, "write the arguments as a map",
		      "arguments made by one template are not supported yet");
		n->args = value_map(l->a);
		return;
	}
	if (!args)
		n->args = args = value_map(l->a);
	if (!(n->module->flags & MODULE_ANY_ARGS))
		args_check(n->module->name, n->module->args, args, n->pos, l->errs);
}

/* A literal src counts for the digest; a missing one is told early. */
static void check_src(struct loader *l, const struct step *n)
{
	const struct value *src = n->module && !is_meta(n->module) && n->args
					  ? value_get(n->args, "src")
					  : NULL;
	const char *sub = n->module == &module_copy ? "files" : "templates";
	const char *dirs[3] = { n->role ? n->role->path : n->dir, n->dir, NULL }, *path;
	struct mod_call c = { .a = l->a, .src_dirs = dirs, .pos = src ? src->pos : n->pos };
	struct err e = { 0 };

	/* What a template of a templated name uses can't be seen here. */
	if (n->module == &module_template && src && src->kind == V_STR &&
	    template_has_markup(src->s))
		l->p->uses_facts = true;
	if (!src || src->kind != V_STR || template_has_markup(src->s) ||
	    (n->module != &module_copy && n->module != &module_template) ||
	    value_get(n->args, "remote_src"))
		return;
	if (src_find(&c, sub, src->s.p, &path, &e))
		err_list_add(l->errs, &e);
	else
		load_digest_file(l, path);
}

static struct step *load_module_task(struct loader *l, const struct value *v,
				     const struct step *parent)
{
	struct step *n = load_step(l, STEP_TASK, parent, v->pos);

	for (size_t i = 0; i < v->map.n; i++) {
		const struct map_entry *me = &v->map.e[i];
		const struct module *m;
		if (load_task_keyword(l, n, me->key, me->val, me->pos))
			continue;
		m = module_find(me->key);
		if (m)
			set_module(l, n, m, me->val, me->pos);
		else
			load_unknown(l, "module or keyword", task_words, me);
		if (!m && !is_one_of(me->key, refused, ARRAY_LEN(refused)))
			n->args = NULL;
	}
	check_task(l, n);
	check_src(l, n);
	return n;
}

/* ---- blocks ---- */

static struct step *load_block(struct loader *l, const struct value *v, const struct step *parent,
			       bool handlers)
{
	static const char *const known[] = {
		"block",	 "rescue",     "always", "name",	"when",	  "vars",
		"environment",	 "become",     "tags",	 "become_user", "no_log", "run_once",
		"ignore_errors", "check_mode", "notify", NULL
	};
	struct step *n = load_step(l, STEP_BLOCK, parent, v->pos);

	for (size_t i = 0; i < v->map.n; i++) {
		const struct map_entry *me = &v->map.e[i];
		if (str_eqc(me->key, "block"))
			load_tasks(l, me->val, n, handlers, &n->block);
		else if (str_eqc(me->key, "rescue"))
			load_tasks(l, me->val, n, handlers, &n->rescue);
		else if (str_eqc(me->key, "always"))
			load_tasks(l, me->val, n, handlers, &n->always);
		else if (str_eqc(me->key, "notify"))
			n->notify = load_list_of(l, me->val);
		else if (!load_common(l, n, me->key, me->val, me->pos))
			load_unknown(l, "keyword of a block", known, me);
	}
	return n;
}

/* ---- imports and includes ---- */

enum include_kind { INCLUDE_TASKS, IMPORT_TASKS, INCLUDE_ROLE, IMPORT_ROLE, INCLUDE_NONE };

static enum include_kind include_kind_of(struct str key)
{
	static const char *const names[] = { "include_tasks", "import_tasks", "include_role",
					     "import_role" };

	for (size_t k = 0; k < 2; k++) {
		const char *prefix = k ? "ansible.legacy." : "ansible.builtin.";
		if (str_starts(key, prefix))
			key = str_sub(key, strlen(prefix), SIZE_MAX);
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eqc(key, names[i]))
			return (enum include_kind)i;
	return INCLUDE_NONE;
}

/* What to include: "file" or {file: x, apply: {...}}; for roles {name: x, tasks_from: y}. */
static void load_include_file(struct loader *l, struct step *n, const struct value *v, bool import,
			      bool handlers)
{
	const struct value *file = v->kind == V_MAP ? value_get(v, "file") : v, *apply;
	struct step *inner = n;
	const char *path;

	if (!file || file->kind != V_STR) {
		fault(l, v->pos, NULL, "which file? a name is needed");
		return;
	}
	apply = v->kind == V_MAP ? value_get(v, "apply") : NULL;
	if (apply && apply->kind == V_MAP) {
		inner = load_step(l, STEP_BLOCK, n, v->pos);
		for (size_t i = 0; i < apply->map.n; i++)
			load_common(l, inner, apply->map.e[i].key, apply->map.e[i].val,
				    apply->map.e[i].pos);
		VEC_ADD(l->a, &n->block.v) = inner;
	}
	if (template_has_markup(file->s)) {
		if (import)
			fault(l, file->pos, "use include_tasks",
			      "import_tasks cannot have a template in its file name");
		n->file = file;
		((struct play *)(uintptr_t)n->play)->has_dynamic = true;
		return;
	}
	path = fs_join(l->a, n->dir, file->s.p);
	if (n->role && !fs_exists(path))
		path = fs_join(l->a, fs_join(l->a, n->role->path, "tasks"), file->s.p);
	load_tasks_file(l, path, file->pos, inner, handlers, &inner->block);
}

static void load_include_role(struct loader *l, struct step *n, const struct value *v)
{
	const struct value *name = v->kind == V_MAP ? value_get(v, "name") : NULL;
	struct step *role;
	struct value *entry;

	if (!name)
		name = v->kind == V_MAP ? value_get(v, "role") : NULL;
	if (!name || name->kind != V_STR || template_has_markup(name->s)) {
		fault(l, v->pos, "write the role's name in full",
		      name ? "a role by a templated name is not supported yet"
			   : "which role? 'name' is needed");
		return;
	}
	entry = value_map(l->a);
	entry->pos = v->pos;
	value_set(entry, "role", name);
	for (size_t i = 0; i < v->map.n; i++) {
		static const char *const known[] = { "name",
						     "role",
						     "tasks_from",
						     "vars_from",
						     "defaults_from",
						     "handlers_from",
						     "public",
						     "allow_duplicates",
						     "apply",
						     "rolespec_validate",
						     NULL };
		const struct map_entry *me = &v->map.e[i];
		if (str_ends(me->key, "_from"))
			value_sets(entry, me->key, me->val);
		else if (!is_one_of(me->key, known, ARRAY_LEN(known)))
			load_unknown(l, "argument", known, me);
	}
	role = load_role(l, entry, n);
	if (role)
		VEC_ADD(l->a, &n->block.v) = role;
}

static struct step *load_include(struct loader *l, const struct value *v, const struct step *parent,
				 const struct map_entry *what, bool handlers)
{
	enum include_kind kind = include_kind_of(what->key);
	bool import = kind == IMPORT_TASKS || kind == IMPORT_ROLE;
	struct step *n = load_step(l, import ? STEP_BLOCK : STEP_INCLUDE, parent, v->pos);

	n->once = !import;
	for (size_t i = 0; i < v->map.n; i++) {
		const struct map_entry *me = &v->map.e[i];
		if (me == what || str_eqc(me->key, "args"))
			continue;
		if (!load_task_keyword(l, n, me->key, me->val, me->pos))
			load_unknown(l, "keyword of an include", task_words, me);
	}
	/* vars of an include are parameters: they win over set_fact. */
	n->params = n->vars;
	n->vars = NULL;
	if (kind == INCLUDE_TASKS || kind == IMPORT_TASKS)
		load_include_file(l, n, what->val, import, handlers);
	else
		load_include_role(l, n, what->val);
	return n;
}

/* ---- lists of tasks ---- */

static struct step *load_task(struct loader *l, const struct value *v, const struct step *parent,
			      bool handlers)
{
	for (size_t i = 0; i < v->map.n; i++) {
		if (str_eqc(v->map.e[i].key, "block"))
			return load_block(l, v, parent, handlers);
		if (include_kind_of(v->map.e[i].key) != INCLUDE_NONE)
			return load_include(l, v, parent, &v->map.e[i], handlers);
	}
	return load_module_task(l, v, parent);
}

static void add_handler(struct loader *l, struct step *n)
{
	struct play *play = (struct play *)(uintptr_t)n->play; /* still being loaded */

	VEC_ADD(l->a, &play->handlers.v) = n;
	n->handler = play->handlers.v.n;
}

void load_tasks(struct loader *l, const struct value *list, const struct step *parent,
		bool handlers, struct steps *out)
{
	if (list->kind == V_NULL)
		return;
	if (list->kind != V_LIST) {
		err_list_addf(l->errs, list->pos, NULL, "a list of tasks is needed, not %s",
			      value_kind_name(list->kind));
		return;
	}
	for (size_t i = 0; i < list->list.n; i++) {
		const struct value *v = list->list.v[i];
		struct step *n;
		if (v->kind == V_NULL)
			continue;
		if (v->kind != V_MAP) {
			err_list_addf(l->errs, v->pos, NULL, "a task is a map, not %s",
				      value_kind_name(v->kind));
			continue;
		}
		n = load_task(l, v, parent, handlers);
		if (n->kind == STEP_TASK && !n->module && !l->errs->n)
			fault(l, v->pos, NULL, "a task without a module");
		if (handlers)
			add_handler(l, n);
		VEC_ADD(l->a, &out->v) = n;
	}
}

void load_tasks_file(struct loader *l, const char *path, struct pos from, const struct step *parent,
		     bool handlers, struct steps *out)
{
	const struct value *v;
	struct step *at = load_step(l, STEP_BLOCK, parent, from);

	if (l->depth >= LOAD_DEPTH_MAX) {
		fault(l, from, NULL, "files include each other too deeply");
		return;
	}
	l->depth++;
	v = load_yaml(l, path, from);
	at->dir = fs_dirname(l->a, path);
	if (v) {
		load_tasks(l, v, at, handlers, &at->block);
		VEC_ADD(l->a, &out->v) = at;
	}
	l->depth--;
}
