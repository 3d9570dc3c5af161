/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/files.h"

#include "templates/cache.h"

#define CHAIN_MAX 400 /* letters of a message that go on being wrapped */

/* No way out of the folders. */
static bool leads_out(struct str name)
{
	struct str rest = name, part;

	if (str_starts(name, "/"))
		return true;
	while (str_next(&rest, '/', &part))
		if (str_eqc(part, ".."))
			return true;
	return false;
}

static const char *find_in(struct eval *ev, const char *dir, const char *name)
{
	const char *path = fs_join(ev->a, dir, name);

	return fs_exists(path) && !fs_is_dir(path) ? path : NULL;
}

/* Beside the template that asks, then in the folders. */
static const char *find(struct eval *ev, struct str name)
{
	const char *const *dirs = ev->bounds->world->dirs;
	const char *text = arena_dup(ev->a, name.p, name.n), *path = NULL;

	if (leads_out(name))
		return NULL;
	if (ev->where.file && strchr(ev->where.file, '/'))
		path = find_in(ev, fs_dirname(ev->a, ev->where.file), text);
	for (size_t i = 0; !path && dirs && dirs[i]; i++)
		path = find_in(ev, dirs[i], text);
	return path;
}

static const char *find_any(struct eval *ev, const struct value *name)
{
	const char *path = NULL;

	if (name->kind == V_STR)
		return find(ev, name->s);
	for (size_t i = 0; i < name->list.n && !path; i++)
		if (name->list.v[i]->kind == V_STR)
			path = find(ev, name->list.v[i]->s);
	return path;
}

int files_template(struct eval *ev, const struct value *name, struct tree *tree, bool *missing)
{
	bool may_miss = *missing;
	const char *path;
	struct str text;

	*missing = false;
	if (name->kind != V_STR && name->kind != V_LIST)
		return err_set(ev->e, ERR_SPEC, "a file's name must be text, not %s",
			       op_type_name(name));
	if (!ev->bounds->world) {
		err_set(ev->e, ERR_SPEC, "templates reach no files here");
		return err_hint(ev->e, "include, import and extends work in files of templates");
	}
	path = find_any(ev, name);
	*missing = !path && may_miss;
	if (*missing)
		return 0;
	if (!path) {
		err_set(ev->e, ERR_SPEC, "no template \"" STR_FMT "\"",
			STR_ARG(op_text(ev->a, name)));
		return err_hint(
			ev->e, "it is looked for beside this file and in the folders of templates");
	}
	if (fs_read(ev->a, path, FILES_MAX, &text, ev->e) < 0)
		return -1;
	ev->text = text;
	ev->where = (struct pos){ path, 1, 1 };
	return cache_template(ev->a, ev->text, ev->where, ev->flags, tree, ev->e);
}

void files_wrap(struct eval *ev, const struct node *n, const char *how)
{
	struct pos p = lex_pos(ev->text, ev->where, n->at);

	if (strlen(ev->e->msg) > CHAIN_MAX)
		return;
	err_wrap(ev->e, "%s from %s:%d", how, p.file ? p.file : "a template", p.line);
}
