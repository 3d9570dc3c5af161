/* SPDX-License-Identifier: Apache-2.0 */
/* state list/show/rm/mv/export/import/check/backup, and lock ls/break: look at and repair the
 * record. */
#include "cli/view.h"

struct state_opts {
	bool yes, if_dead;
};

typedef int verb_fn(struct cli *c, const char *const *args, size_t n, struct err *e);

struct verb {
	const char *name, *args;
	size_t min, max;
	bool writes;
	verb_fn *run;
};

static const char *status_word(enum resource_status s)
{
	static const char *const words[] = {
		[RES_READY] = "ready",
		[RES_CREATING] = "creating",
		[RES_TAINTED] = "tainted",
		[RES_DELETING] = "deleting",
	};

	return words[s];
}

static int list(struct cli *c, const char *const *args unused_arg, size_t n unused_arg,
		struct err *e)
{
	struct state_resources rows = { 0 };
	struct table t = { 0 };
	struct value *doc = value_list(c->a);
	scoped(buf_fini) struct buf b = { 0 };

	if (state_resources(c->state, c->a, &rows, e) < 0)
		return -1;
	table_row(c->a, &t, "ADDRESS", "KIND", "STATUS", "ID", NULL);
	for (size_t i = 0; i < rows.v.n; i++) {
		const struct state_resource *r = rows.v.v[i];
		struct value *v = value_map(c->a);

		table_row(c->a, &t, r->addr, r->kind, status_word(r->status), r->id ? r->id : "-",
			  NULL);
		value_set(v, "address", value_cstr(c->a, r->addr));
		value_set(v, "kind", value_cstr(c->a, r->kind));
		value_set(v, "status", value_cstr(c->a, status_word(r->status)));
		value_set(v, "id", value_cstr_or_null(c->a, r->id));
		value_add(c->a, doc, v);
	}
	buf_init(&b, SIZE_MAX);
	table_text(&b, &t);
	if (c->g.json)
		view_json(c, doc);
	else
		view_out(c, &b);
	return EXIT_DONE;
}

static int get_row(struct cli *c, const char *addr, struct state_resource **r, struct err *e)
{
	if (state_resource_find(c->state, c->a, addr, r, e) < 0)
		return -1;
	if (*r)
		return 0;
	err_set(e, ERR_NOT_FOUND, "the state has no %s", addr);
	return err_hint(e, "muster state list shows what it has");
}

static bool is_named(const struct state_resource *r, const char *name)
{
	return r->pool && r->want && str_eqc(value_get_str(r->want, "name", NULL), name);
}

/* By address, or by a node's name. */
static int find_row(struct cli *c, const char *name, struct state_resource **r, struct err *e)
{
	struct state_resources rows = { 0 };

	if (state_resource_find(c->state, c->a, name, r, e) < 0)
		return -1;
	if (*r)
		return 0;
	if (state_resources(c->state, c->a, &rows, e) < 0)
		return -1;
	for (size_t i = 0; i < rows.v.n && !*r; i++)
		*r = is_named(rows.v.v[i], name) ? rows.v.v[i] : NULL;
	return *r ? 0 : get_row(c, name, r, e);
}

static int show(struct cli *c, const char *const *args, size_t n unused_arg, struct err *e)
{
	struct state_resource *r;
	const struct value *facts = NULL;
	struct value *v = value_map(c->a), *deps = value_list(c->a);
	scoped(buf_fini) struct buf b = { 0 };

	if (find_row(c, args[0], &r, e) < 0 ||
	    state_facts_get(c->state, c->a, r->addr, &facts, e) < 0)
		return -1;
	value_set(v, "address", value_cstr(c->a, r->addr));
	value_set(v, "kind", value_cstr(c->a, r->kind));
	value_set(v, "provider", value_cstr(c->a, r->provider));
	value_set(v, "status", value_cstr(c->a, status_word(r->status)));
	value_set(v, "id", value_cstr_or_null(c->a, r->id));
	value_set(v, "want", r->want ? r->want : value_null(c->a));
	value_set(v, "attributes", r->attrs ? r->attrs : value_null(c->a));
	for (size_t i = 0; i < r->deps.n; i++)
		value_add(c->a, deps, value_cstr(c->a, r->deps.v[i]));
	value_set(v, "depends_on", deps);
	if (facts)
		value_set(v, "facts", facts);
	if (c->g.json) {
		view_json(c, v);
	} else {
		buf_init(&b, SIZE_MAX);
		yaml_write(&b, v, 0);
		view_out(c, &b);
	}
	return EXIT_DONE;
}

static int rm(struct cli *c, const char *const *args, size_t n, struct err *e)
{
	struct state_resource *r;

	for (size_t i = 0; i < n; i++) {
		if (get_row(c, args[i], &r, e) < 0)
			return -1;
	}
	const struct state_opts *o = c->opts;

	if (!o->yes && session_confirm(c, "Forget these? What exists goes on existing, untracked.",
				       "--yes", e) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (state_resource_del(c->state, args[i], e) < 0)
			return -1;
		view_donef(c, "forgot %s", args[i]);
	}
	return journal_flush(c->state, e) < 0 ? -1 : EXIT_DONE;
}

static int mv(struct cli *c, const char *const *args, size_t n unused_arg, struct err *e)
{
	struct state_resource *r;

	if (get_row(c, args[0], &r, e) < 0 ||
	    state_resource_move(c->state, args[0], args[1], e) < 0 ||
	    journal_flush(c->state, e) < 0)
		return -1;
	view_donef(c, "%s is now %s", args[0], args[1]);
	return EXIT_DONE;
}

static int export(struct cli *c, const char *const *args, size_t n, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	if (state_export(c->state, &b, e) < 0)
		return -1;
	if (n)
		return fs_write_atomic(args[0], buf_str(&b), 0600, e) < 0 ? -1 : EXIT_DONE;
	view_out(c, &b);
	return EXIT_DONE;
}

static int import(struct cli *c, const char *const *args, size_t n unused_arg, struct err *e)
{
	struct str text;
	struct value *doc;

	if (fs_read(c->a, args[0], JSON_MAX_DEFAULT * 4, &text, e) < 0 ||
	    json_parse(c->a, args[0], text, &doc, e) < 0 ||
	    state_import(c->state, c->a, doc, e) < 0)
		return -1;
	view_donef(c, "imported %s", args[0]);
	return EXIT_DONE;
}

/* A backup takes the place of a state that may be too damaged to open. */
static int restore(struct cli *c, const char *backup_file, struct err *e)
{
	const char *path = session_state_path(c);

	if (state_restore(path, backup_file, e) < 0)
		return -1;
	view_donef(c, "%s is restored from %s", path, backup_file);
	return EXIT_DONE;
}

static int check(struct cli *c, const char *const *args unused_arg, size_t n unused_arg,
		 struct err *e)
{
	struct err_list problems = { 0 };
	int rc = state_check(c->state, &problems, e);
	size_t found = problems.n + problems.dropped;

	if (rc == 0)
		view_errors(c, &problems);
	err_list_fini(&problems);
	if (rc < 0)
		return -1;
	if (!found)
		view_donef(c, "the state is sound");
	return found ? EXIT_ERROR : EXIT_DONE;
}

static int backup(struct cli *c, const char *const *args, size_t n, struct err *e)
{
	if (state_backup(c->state, n ? args[0] : NULL, e) < 0)
		return -1;
	view_donef(c, "wrote %s", n ? args[0] : "a backup beside the state");
	return EXIT_DONE;
}

static const struct verb state_verbs[] = {
	{ "list", "", 0, 0, false, list },	     { "show", "ADDR|NODE", 1, 1, false, show },
	{ "rm", "ADDR...", 1, 1000, true, rm },	     { "mv", "ADDR NEW", 2, 2, true, mv },
	{ "export", "[FILE]", 0, 1, false, export }, { "import", "FILE", 1, 1, true, import },
	{ "check", "", 0, 0, false, check },	     { "backup", "[FILE]", 0, 1, false, backup },
};
/* Writes go under the lease, like everybody's. */
static int run_leased(struct cli *c, const struct verb *v, struct err *e)
{
	struct err ignored = { 0 };
	char run[TOKEN_LEN];

	rand_token(run);
	if (lease_take(c->state, run, c->cmd->name, e) < 0)
		return -1;
	int rc = v->run(c, c->args.v.v + 1, c->args.v.n - 1, e);

	if (lease_release(c->state, rc < 0 ? &ignored : e) < 0)
		return -1;
	return rc;
}

static int run_verb(struct cli *c, const struct verb *verbs, size_t n, struct err *e)
{
	const char *name = c->args.v.n ? c->args.v.v[0] : "";
	const char *names[16];
	size_t given = c->args.v.n ? c->args.v.n - 1 : 0;

	for (size_t i = 0; i < n; i++) {
		const struct verb *v = &verbs[i];

		names[i] = v->name;
		if (strcmp(v->name, name) != 0)
			continue;
		if (given < v->min || given > v->max)
			return err_set(e, ERR_USAGE, "usage: muster %s %s %s", c->cmd->name,
				       v->name, v->args);
		unsigned flags = v->run == import ? STATE_CREATE : v->writes ? 0 : STATE_READONLY;
		if (!c->state && session_state(c, flags, e) < 0)
			return -1;
		if (!c->state)
			return err_set(e, ERR_NOT_FOUND, "there is no state here yet");
		return v->writes ? run_leased(c, v, e) : v->run(c, c->args.v.v + 1, given, e);
	}
	const char *near = str_suggest(str_of(name), names, n);

	err_set(e, ERR_USAGE, "%s has no verb \"%s\"", c->cmd->name, name);
	return near ? err_hint(e, "did you mean `muster %s %s`?", c->cmd->name, near)
		    : err_hint(e, "see muster help %s", c->cmd->name);
}

static int cmd_state(struct cli *c, struct err *e)
{
	const struct opt_args *args = &c->args;

	if (args->v.n == 2 && strcmp(args->v.v[0], "import") == 0 && state_is_backup(args->v.v[1]))
		return restore(c, args->v.v[1], e);
	return run_verb(c, state_verbs, ARRAY_LEN(state_verbs), e);
}

static const struct opt state_rows[] = {
	{ "yes", 'y', OPT_FLAG, offsetof(struct state_opts, yes), NULL, "don't ask", "force" },
	OPT_END,
};
const struct command command_state = {
	"state",
	"list|show|rm|mv|export|import|check|backup",
	"looks at and repairs the state",
	"list; show ADDR or a node's name; rm ADDR...: forget, without destroying; mv ADDR NEW; export [FILE]; import FILE into an empty state, or a backup in the place of a damaged one; check; backup "
	"[FILE]: a copy while others work.",
	state_rows,
	sizeof(struct state_opts),
	0,
	cmd_state,
};
