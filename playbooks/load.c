/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Playbooks from files. All faults are collected; a play that has one is never run, so the tree may
 * be incomplete then.
 */
#include "playbooks/play.h"

static const char *const play_words[] = {
	"name",		 "hosts",	"gather_facts",	   "vars",	 "vars_files",
	"roles",	 "pre_tasks",	"tasks",	   "post_tasks", "handlers",
	"become",	 "become_user", "environment",	   "tags",	 "no_log",
	"ignore_errors", "check_mode",	"import_playbook", "when",	 "force_handlers",
	"run_once",	 NULL,
};

/* ---- files ---- */

/* Names that begin like a fact and are none. */
static const char *const no_facts[] = {
	"ansible_host",	      "ansible_user",	  "ansible_port",
	"ansible_become",     "ansible_managed",  "ansible_check_mode",
	"ansible_ssh",	      "ansible_run",	  "ansible_play_",
	"ansible_connection", "ansible_password", "ansible_role_name",
	"ansible_failed",     "ansible_loop",	  "ansible_python_interpreter",
	"ansible_verbosity",  "ansible_version",  "ansible_diff_mode",
	"ansible_skip_tags",
};

static bool names_fact(struct str at)
{
	for (size_t i = 0; i < ARRAY_LEN(no_facts); i++)
		if (str_starts(at, no_facts[i]) && !str_starts(at, "ansible_hostname"))
			return false;
	return true;
}

/* Facts cost the host more than all other probes of a typical play, so they are only read where
 * something names one. */
static void look_for_facts(struct loader *l, struct str bytes)
{
	size_t at;

	while (!l->p->uses_facts && (at = str_find(bytes, STR("ansible_"))) != SIZE_MAX) {
		bytes = str_sub(bytes, at, SIZE_MAX);
		l->p->uses_facts = names_fact(bytes);
		bytes = str_sub(bytes, strlen("ansible_"), SIZE_MAX);
	}
}

static void roll_digest(struct loader *l, const char *path, struct str bytes)
{
	const char *name = strrchr(path, '/');
	struct buf b scoped(buf_fini) = { 0 };
	char sum[SHA256_HEX];

	buf_init(&b, 8192);
	look_for_facts(l, bytes);
	l->p->uses_hostvars |= str_find(bytes, STR("hostvars")) != SIZE_MAX;
	sha256_hex(bytes, sum);
	buf_addf(&b, "%s %s %s", l->p->digest, sum, name ? name + 1 : path);
	sha256_hex(buf_str(&b), l->p->digest);
	VEC_ADD(l->p->a, &l->p->sources.v) = arena_strdup(l->p->a, path);
}

void load_digest_file(struct loader *l, const char *path)
{
	struct arena *a scoped(arena_freep) = arena_new("digest");
	struct err e = { 0 };
	struct str bytes;

	if (!fs_is_dir(path) && fs_read(a, path, (size_t)64 << 20, &bytes, &e) == 0)
		roll_digest(l, path, bytes);
}

const struct value *load_yaml(struct loader *l, const char *path, struct pos from)
{
	struct err e = { 0 };
	struct value *v = NULL;
	struct str text;

	if (fs_read(l->a, path, YAML_MAX_BYTES, &text, &e)) {
		err_at(&e, from);
		err_list_add(l->errs, &e);
		return NULL;
	}
	roll_digest(l, path, text);
	if (yaml_parse(l->a, arena_strdup(l->a, path), text, YAML_ANSIBLE, &v, l->errs))
		return NULL;
	return v;
}

/* ---- plays ---- */

static void load_vars_files(struct loader *l, struct play *play, const struct value *list)
{
	for (size_t i = 0; list && i < list->list.n; i++) {
		const struct value *f = list->list.v[i], *v;
		if (f->kind != V_STR || template_has_markup(f->s)) {
			err_list_addf(l->errs, f->pos, NULL,
				      "a vars file by a templated name is not supported yet");
			continue;
		}
		v = load_yaml(l, fs_join(l->a, play->dir, f->s.p), f->pos);
		if (v && v->kind == V_MAP)
			play->vars = value_merge(l->a, play->vars, v, false);
		else if (v && v->kind != V_NULL)
			err_list_addf(l->errs, v->pos, NULL, "a map of variables is needed, not %s",
				      value_kind_name(v->kind));
	}
}

static struct step *child(struct loader *l, struct step *root, enum step_kind kind)
{
	struct step *n = load_step(l, kind, root, root->pos);

	VEC_ADD(l->a, &root->block.v) = n;
	return n;
}

static void load_section(struct loader *l, struct play *play, const struct value *v,
			 const char *key)
{
	const struct value *list = value_get(v, key);

	if (list)
		load_tasks(l, list, play->root, false, &child(l, play->root, STEP_BLOCK)->block);
}

static void add_gather(struct loader *l, struct play *play)
{
	struct step *n = child(l, play->root, STEP_TASK);

	n->name = "Gathering Facts";
	n->implicit = true;
	n->module = &module_setup;
	n->args = value_map(l->a);
	n->tags = load_list_of(l, value_cstr(l->a, "always"));
}

static void load_roles(struct loader *l, struct play *play, const struct value *list)
{
	for (size_t i = 0; list && i < list->list.n; i++) {
		struct step *n = load_role(l, list->list.v[i], play->root);
		if (n)
			VEC_ADD(l->a, &play->root->block.v) = n;
	}
}

static void merge_role_vars(struct loader *l, struct play *play)
{
	const struct value *defaults = value_map(l->a), *vars = value_map(l->a);

	for (size_t i = 0; i < play->roles.n; i++) {
		defaults = value_merge(l->a, defaults, play->roles.v[i]->defaults, false);
		vars = value_merge(l->a, vars, play->roles.v[i]->vars, false);
	}
	play->defaults = defaults;
	play->role_vars = vars;
}

/* The order in which Ansible runs a play: facts, pre_tasks, handlers, roles, tasks, handlers,
 * post_tasks, handlers. */
static void load_sections(struct loader *l, struct play *play, const struct value *v)
{
	const struct value *handlers = value_get(v, "handlers");
	struct steps unused = { { 0 } };

	if (play->gather)
		add_gather(l, play);
	if (handlers)
		load_tasks(l, handlers, play->root, true, &unused);
	load_section(l, play, v, "pre_tasks");
	child(l, play->root, STEP_FLUSH);
	load_roles(l, play, load_list_of(l, value_get(v, "roles")));
	load_section(l, play, v, "tasks");
	child(l, play->root, STEP_FLUSH);
	load_section(l, play, v, "post_tasks");
	child(l, play->root, STEP_FLUSH);
	merge_role_vars(l, play);
	load_check_notify(l, play);
}

static struct play *new_play(struct loader *l, struct pos pos, const char *dir)
{
	struct play *play = arena_obj(l->a, struct play);

	play->pos = pos;
	play->dir = dir;
	play->name = "";
	play->vars = value_map(l->a);
	play->gather = true;
	play->root = load_step(l, STEP_BLOCK, NULL, pos);
	play->root->play = play;
	play->root->dir = dir;
	VEC_ADD(l->a, &l->p->plays) = play;
	return play;
}

static const char *hosts_text(struct loader *l, const struct value *v)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++) {
		if (i)
			buf_addc(&b, ',');
		value_print(&b, v->list.v[i]);
	}
	if (v->kind == V_STR)
		buf_addstr(&b, v->s);
	if (template_has_markup(buf_str(&b)))
		err_list_addf(l->errs, v->pos, NULL, "hosts by a template is not supported yet");
	return buf_dup(&b, l->a);
}

static void play_keyword(struct loader *l, struct play *play, const struct map_entry *me)
{
	static const char *const later[] = { "vars_files", "roles",	 "pre_tasks",
					     "tasks",	   "post_tasks", "handlers" };
	const struct value *v = me->val;

	for (size_t i = 0; i < ARRAY_LEN(later); i++)
		if (str_eqc(me->key, later[i]))
			return;
	if (str_eqc(me->key, "hosts")) {
		play->hosts = hosts_text(l, v);
	} else if (str_eqc(me->key, "gather_facts")) {
		play->gather_facts = v;
		play->gather = !(v->kind == V_BOOL && !v->b);
	} else if (str_eqc(me->key, "vars")) {
		if (v->kind == V_MAP)
			play->vars = v;
		else if (v->kind != V_NULL)
			err_list_addf(l->errs, v->pos, NULL, "'vars' must be a map, not %s",
				      value_kind_name(v->kind));
	} else if (str_eqc(me->key, "serial") || str_eqc(me->key, "strategy") ||
		   str_eqc(me->key, "vars_prompt") || str_eqc(me->key, "force_handlers") ||
		   str_eqc(me->key, "order")) {
		/* Every host is a run of its own here: what orders hosts among each other has no
		 * place yet. */
		if (!(str_eqc(me->key, "strategy") && v->kind == V_STR &&
		      (str_eqc(v->s, "linear") || str_eqc(v->s, "free"))))
			err_list_addf(l->errs, me->pos, NULL,
				      "keyword '%s' of a play is not supported yet", me->key.p);
	} else if (!load_common(l, play->root, me->key, v, me->pos)) {
		load_unknown(l, "keyword of a play", play_words, me);
	}
}

static void load_play(struct loader *l, const struct value *v, const char *dir)
{
	struct play *play = new_play(l, v->pos, dir);

	for (size_t i = 0; i < v->map.n; i++)
		play_keyword(l, play, &v->map.e[i]);
	if (!play->hosts) {
		err_list_addf(l->errs, v->pos, NULL, "a play needs 'hosts'");
		play->hosts = "";
	}
	play->name = play->root->name ? play->root->name : play->hosts;
	load_vars_files(l, play, load_list_of(l, value_get(v, "vars_files")));
	load_sections(l, play, v);
}

static void load_file(struct loader *l, const char *path, struct pos from);

static void load_document(struct loader *l, const struct value *doc, const char *dir)
{
	if (doc->kind != V_LIST) {
		err_list_addf(l->errs, doc->pos, NULL, "a playbook is a list of plays, not %s",
			      value_kind_name(doc->kind));
		return;
	}
	for (size_t i = 0; i < doc->list.n; i++) {
		const struct value *v = doc->list.v[i], *import;
		if (v->kind != V_MAP) {
			err_list_addf(l->errs, v->pos, NULL, "a play is a map, not %s",
				      value_kind_name(v->kind));
			continue;
		}
		import = value_get(v, "import_playbook");
		if (!import)
			import = value_get(v, "ansible.builtin.import_playbook");
		if (import && import->kind == V_STR)
			load_file(l, fs_join(l->a, dir, import->s.p), import->pos);
		else
			load_play(l, v, dir);
	}
}

static void load_file(struct loader *l, const char *path, struct pos from)
{
	const struct value *doc;

	if (l->depth >= LOAD_DEPTH_MAX) {
		err_list_addf(l->errs, from, NULL, "playbooks import each other too deeply");
		return;
	}
	l->depth++;
	doc = load_yaml(l, path, from);
	if (doc)
		load_document(l, doc, fs_dirname(l->a, path));
	l->depth--;
}

/* ---- the front door ---- */

static struct playbook *open_playbook(struct arena *a, const char *file, const char *dir,
				      const struct playbook_paths *paths)
{
	struct playbook *p = arena_obj(a, struct playbook);

	p->a = a;
	p->file = file;
	p->dir = paths && paths->dir ? paths->dir : dir;
	p->role_dirs = paths ? paths->roles : NULL;
	map_init(&p->includes, a);
	sha256_hex(STR("playbook"), p->digest);
	return p;
}

int playbook_load(struct arena *a, const char *path, const struct playbook_paths *paths,
		  struct playbook **out, struct err_list *errs)
{
	struct loader l = { .a = a, .errs = errs };
	size_t before = errs->n + errs->dropped;

	l.p = open_playbook(a, arena_strdup(a, path), fs_dirname(a, path), paths);
	load_file(&l, path, (struct pos){ 0 });
	err_list_sort(errs);
	*out = l.p;
	return errs->n + errs->dropped > before ? -1 : 0;
}

int playbook_of_roles(struct arena *a, const struct obj_list *roles,
		      const struct playbook_paths *paths, struct playbook **out,
		      struct err_list *errs)
{
	const struct spec_role *rows = roles->v;
	struct loader l = { .a = a, .errs = errs };
	size_t before = errs->n + errs->dropped;
	struct value *doc = value_map(a), *list = value_list(a);
	struct play *play;

	l.p = open_playbook(a, "roles", ".", paths);
	for (size_t i = 0; i < roles->n; i++) {
		struct value *entry = value_map(a);
		entry->pos = rows[i].obj.pos;
		value_set(entry, "role", value_str(a, rows[i].role));
		if (rows[i].vars)
			value_set(entry, "vars", rows[i].vars);
		value_add(a, list, entry);
	}
	value_set(doc, "roles", list);
	play = new_play(&l, roles->n ? rows[0].obj.pos : (struct pos){ 0 }, l.p->dir);
	play->hosts = "all";
	play->name = "roles";
	play->root->become = value_bool(a, true);
	load_sections(&l, play, doc);
	err_list_sort(errs);
	*out = l.p;
	return errs->n + errs->dropped > before ? -1 : 0;
}

const struct playbook_sources *playbook_sources(const struct playbook *p)
{
	return &p->sources;
}

const char *playbook_digest(const struct playbook *p)
{
	return p->digest;
}

bool playbook_uses_hostvars(const struct playbook *p)
{
	return p->uses_hostvars;
}

/* ---- includes by a name that is only known on the way ---- */

int playbook_include(const struct playbook *p, const struct step *include, const char *path,
		     const struct step **out, struct err *e)
{
	struct playbook *self = (struct playbook *)(uintptr_t)p; /* a cache; tasks of one thread */
	struct str key = str_of(arena_printf(p->a, "%p %s", (const void *)include, path));
	struct err_list errs = { 0 };
	struct loader l = { .p = self, .a = p->a, .errs = &errs };
	struct step *n = map_get(&self->includes, key);
	char kept[SHA256_HEX];

	if (!n) {
		n = load_step(&l, STEP_BLOCK, include, include->pos);
		memcpy(kept, self->digest, sizeof(kept));
		load_tasks_file(&l, path, include->file->pos, n, false, &n->block);
		memcpy(self->digest, kept, sizeof(kept));
		if (errs.n) {
			*e = errs.v[0];
			err_list_fini(&errs);
			return -1;
		}
		map_put(&self->includes, key, n);
	}
	*out = n;
	return 0;
}

/* ---- notifications ---- */

static bool listens(const struct step *h, struct str name)
{
	for (size_t i = 0; h->listen && i < h->listen->list.n; i++) {
		const struct value *v = h->listen->list.v[i];
		if (v->kind == V_STR && str_eq(v->s, name))
			return true;
	}
	return false;
}

static bool is_named(const struct step *h, struct str name)
{
	struct str full;

	if (!h->name)
		return false;
	if (str_eqc(name, h->name))
		return true;
	if (!h->role || !str_starts(name, h->role->name))
		return false;
	full = str_sub(name, strlen(h->role->name), SIZE_MAX);
	return str_starts(full, " : ") && str_eqc(str_sub(full, 3, SIZE_MAX), h->name);
}

size_t play_notify(const struct play *play, const struct role *role, struct str name, bool *marks)
{
	const struct step *best = NULL;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < play->handlers.v.n; i++) {
		const struct step *h = play->handlers.v.v[i];
		if (listens(h, name)) {
			n++;
			if (marks)
				marks[i] = true;
		}
		/* Of handlers with one name the own role's is meant, else the last. */
		if (is_named(h, name) && (!best || best->role != role || h->role == role)) {
			best = h;
			at = i;
		}
	}
	if (best && marks)
		marks[at] = true;
	return n + (best != NULL);
}

static void check_notify(struct loader *l, const struct play *play, const struct step *n)
{
	const struct steps *lists[] = { &n->block, &n->rescue, &n->always };

	for (size_t i = 0; n->notify && i < n->notify->list.n; i++) {
		const struct value *v = n->notify->list.v[i];
		if (v->kind == V_STR && !template_has_markup(v->s) &&
		    !play_notify(play, n->role, v->s, NULL))
			err_list_addf(l->errs, v->pos, NULL, "there is no handler '" STR_FMT "'",
				      STR_ARG(v->s));
	}
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		for (size_t i = 0; i < lists[k]->v.n; i++)
			check_notify(l, play, lists[k]->v.v[i]);
}

void load_check_notify(struct loader *l, const struct play *play)
{
	if (!play->has_dynamic)
		check_notify(l, play, play->root);
	for (size_t i = 0; !play->has_dynamic && i < play->handlers.v.n; i++)
		check_notify(l, play, play->handlers.v.v[i]);
}
