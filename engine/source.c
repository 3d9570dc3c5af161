/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which commit a run worked from. What counts as a change are the files that were read (the spec,
 * its includes, playbooks, roles, their files and templates) and whatever else git knows below the
 * spec's folder, for a file that was deleted is read no more.
 */
#include "engine/pool_config.h"

#define MAX_SOURCES 20000

struct sources {
	VEC(const char *) v;
	struct map seen;
};

static void add(struct arena *a, struct sources *s, const char *path)
{
	if (s->v.n >= MAX_SOURCES || map_getc(&s->seen, path))
		return;
	map_put(&s->seen, str_of(path), s);
	VEC_ADD(a, &s->v) = path;
}

static int read_files(struct engine *en, struct arena *a, struct sources *out, struct err *e)
{
	const struct spec *spec = en->o.spec;
	struct config_playbooks books = { 0 };

	map_init(&out->seen, a);
	for (size_t i = 0; i < spec->sources.n; i++)
		add(a, out, spec->sources.v[i]);
	if (pool_config_playbooks(en, &books, e))
		return -1;
	for (size_t i = 0; i < books.v.n; i++) {
		const struct playbook_sources *p = playbook_sources(books.v.v[i]);
		for (size_t j = 0; j < p->v.n; j++)
			add(a, out, p->v.v[j]);
	}
	return 0;
}

static const char *path_of_spec(struct arena *a, const struct spec *spec, const char *folder)
{
	const char *name = strrchr(spec->file, '/');

	name = name ? name + 1 : spec->file;
	if (fs_is_dir(spec->file))
		return folder[0] ? folder : ".";
	return folder[0] ? arena_printf(a, "%s/%s", folder, name) : name;
}

static int ask_git(struct engine *en, struct arena *a, struct value *out, struct err *e)
{
	struct sources files = { 0 };
	struct git_facts f;

	if (!en->o.spec)
		return err_set(e, ERR_NOT_FOUND, "there is no spec");
	if (read_files(en, a, &files, e))
		return -1;
	struct git_question q = {
		.dir = en->o.spec->dir && en->o.spec->dir[0] ? en->o.spec->dir : ".",
		.files = files.v.v,
		.n_files = files.v.n,
		.state_dir = en->o.state_dir,
	};
	if (git_look(a, &q, &f, e))
		return -1;
	if (!f.commit)
		return err_set(e, ERR_NOT_FOUND, "nothing was committed yet");
	value_set_text(out, "commit", f.commit);
	value_set_text(out, "branch", f.branch);
	value_set_text(out, "path", path_of_spec(a, en->o.spec, f.path));
	value_set(out, "dirty", value_bool(en->a, f.dirty));
	value_set_text(out, "changed", f.changed);
	return 0;
}

int engine_note_source(struct engine *en, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("source");
	struct value *source = value_map(en->a), *vars = value_list(en->a);
	struct err why = { 0 };

	if (en->o.source) {
		en->source = en->o.source;
		return 0;
	}
	if (ask_git(en, a, source, &why)) {
		if (why.kind == ERR_CANCELLED) {
			*e = why;
			return -1;
		}
		log_info("history: the run's commit is not known: %s", why.msg);
		value_set_text(source, "why", arena_strdup(en->a, why.msg));
	}
	for (size_t i = 0; en->o.extra_vars && i < en->o.extra_vars->map.n; i++)
		value_add(en->a, vars, value_str(en->a, en->o.extra_vars->map.e[i].key));
	if (vars->list.n)
		value_set(source, "vars", vars);
	en->source = source;
	return 0;
}
