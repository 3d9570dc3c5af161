/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/session.h"

#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/events.h"
#include "cli/progress.h"
#include "cli/view.h"

#ifndef MUSTER_DATADIR
#define MUSTER_DATADIR "/usr/local/share/muster"
#endif

/* ---- paths ---- */

static const char *absolute(struct arena *a, const char *path)
{
	char cwd[PATH_MAX];

	if (path[0] == '/' || !getcwd(cwd, sizeof cwd))
		return path;
	return fs_join(a, cwd, path);
}

static const char *own_path(struct arena *a)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);

	return n > 0 ? arena_dup(a, path, (size_t)n) : "muster";
}

static const char *who_we_are(struct arena *a)
{
	char host[256] = "localhost";
	struct passwd *pw = getpwuid(getuid());

	gethostname(host, sizeof host - 1);
	return arena_printf(a, "%s@%s", pw ? pw->pw_name : "unknown", host);
}

/* Beside the spec: a folder of specs holds its own .muster. */
static const char *state_dir_of(struct cli *c)
{
	const char *spec = absolute(c->a, c->spec_file);
	const char *dir = fs_is_dir(spec) ? spec : fs_dirname(c->a, spec);

	return fs_join(c->a, dir, ".muster");
}

static int read_var(struct cli *c, struct value *vars, const char *text, struct err *e)
{
	struct str body = str_of(text);
	size_t eq = str_find_char(body, '=');

	if (text[0] == '@' || text[0] == '{') {
		struct err_list errs = { 0 };
		struct str bytes = body;
		struct value *more;
		const char *name = text[0] == '@' ? text + 1 : "-e";

		if (text[0] == '@' && fs_read(c->a, name, YAML_MAX_BYTES, &bytes, e) < 0)
			return -1;
		if (yaml_parse(c->a, name, bytes, YAML_ANSIBLE, &more, &errs) < 0) {
			*e = errs.v[0];
			err_list_fini(&errs);
			return -1;
		}
		err_list_fini(&errs);
		if (more->kind != V_MAP)
			return err_set(e, ERR_USAGE, "%s holds %s, not a map of variables", name,
				       value_kind_name(more->kind));
		for (size_t i = 0; i < more->map.n; i++)
			value_sets(vars, more->map.e[i].key, more->map.e[i].val);
		return 0;
	}
	if (eq == SIZE_MAX || eq == 0)
		return err_set(e, ERR_USAGE,
			       "-e takes NAME=VALUE, @FILE or a {YAML map}, not \"%s\"", text);
	value_sets(vars, str_sub(body, 0, eq), value_str(c->a, str_sub(body, eq + 1, SIZE_MAX)));
	return 0;
}

static int read_vars(struct cli *c, struct err *e)
{
	struct value *vars = value_map(c->a);

	for (size_t i = 0; i < c->g.vars.v.n; i++) {
		if (read_var(c, vars, c->g.vars.v.v[i], e) < 0)
			return -1;
	}
	c->extra_vars = c->g.vars.v.n ? vars : NULL;
	return 0;
}

int session_paths(struct cli *c, struct err *e)
{
	if (c->g.chdir && chdir(c->g.chdir) < 0)
		return err_sys(e, "-C %s", c->g.chdir);
	c->spec_file = c->g.file ? c->g.file : "muster.yaml";
	c->self = own_path(c->a);
	c->who = who_we_are(c->a);
	c->state_dir = c->g.state ? fs_dirname(c->a, absolute(c->a, c->g.state)) : state_dir_of(c);
	return read_vars(c, e);
}

const char *session_share_dir(void)
{
	const char *set = env_get("MUSTER_SHARE");

	return set ? set : MUSTER_DATADIR;
}

/* ---- spec ---- */

static size_t extent(const struct field *rows)
{
	size_t end = sizeof(struct obj);

	for (const struct field *f = rows; f && f->name; f++) {
		if (f->offset + 64 + f->sub_size > end)
			end = f->offset + 64 + f->sub_size;
	}
	return end;
}

static void check_options(struct arena *a, const struct field *rows, const struct value *options,
			  const char *path, struct err_list *errs)
{
	static const struct field none[] = { FIELD_END };

	if (!rows)
		rows = none;
	if (!options)
		options = value_map(a);
	if (field_decode(a, rows, options, path, arena_alloc(a, extent(rows)), errs) < 0)
		return; /* told in errs */
}

static void check_provider(void *arg, const struct spec *s unused_arg,
			   const struct spec_provider *p, struct err_list *errs)
{
	struct cli *c = arg;
	const struct provider_type *type = provider_type_find(p->type);
	const char *known[64];
	size_t n = 0;

	if (type) {
		check_options(c->a, type->options, p->options,
			      arena_printf(c->a, "providers." STR_FMT, STR_ARG(p->name)), errs);
		return;
	}
	scoped(buf_fini) struct buf hint = { 0 };

	buf_init(&hint, 1024);
	for (const struct provider_type *const *t = provider_types; *t && n < ARRAY_LEN(known); t++)
		known[n++] = (*t)->name;
	const char *near = str_suggest(p->type, known, n);

	buf_adds(&hint, near ? "did you mean " : "this version has ");
	for (size_t i = 0; !near && i < n; i++)
		buf_addf(&hint, "%s%s", i ? ", " : "", known[i]);
	if (near)
		buf_addf(&hint, "\"%s\"?", near);
	err_list_addf(errs, p->obj.pos, hint.p,
		      "providers." STR_FMT ": there is no provider type \"" STR_FMT "\"",
		      STR_ARG(p->name), STR_ARG(p->type));
}

static void check_pool(void *arg, const struct spec *s unused_arg, const struct spec_pool *pool,
		       const struct spec_provider *p, struct err_list *errs)
{
	struct cli *c = arg;
	const struct provider_type *type = p ? provider_type_find(p->type) : NULL;
	bool has_hosts = pool->hosts.items.n > 0;

	if (!type)
		return;
	if (type->owns_hosts && has_hosts)
		err_list_addf(errs, pool->hosts.pos,
			      "write count: N, or choose a provider of type ssh",
			      "pools." STR_FMT ": provider \"" STR_FMT
			      "\" makes its machines; hosts is for machines that exist",
			      STR_ARG(pool->name), STR_ARG(p->name));
	if (!type->owns_hosts && !has_hosts && pool->count > 0)
		err_list_addf(errs, pool->obj.pos, "write hosts: [\"name[1-4].example.org\"]",
			      "pools." STR_FMT ": provider \"" STR_FMT
			      "\" makes no machines; the pool needs hosts",
			      STR_ARG(pool->name), STR_ARG(p->name));
	check_options(c->a, type->pool_options, pool->options,
		      arena_printf(c->a, "pools." STR_FMT ".options", STR_ARG(pool->name)), errs);
}

static const char *const *role_folders(struct cli *c)
{
	const char **dirs = arena_array(c->a, const char *, 2);

	dirs[0] = fs_join(c->a, session_share_dir(), "roles");
	return dirs;
}

const char *const *session_roles(struct cli *c)
{
	return role_folders(c);
}

/* Playbooks and roles are read too, so that `validate` finds every fault before anything is
 * touched. */
static void check_playbooks(struct cli *c, struct err_list *errs)
{
	struct playbook_paths paths = { .dir = c->spec->dir, .roles = role_folders(c) };
	const struct spec_pool *pools = c->spec->pools.v;
	struct map seen;
	struct playbook *p;

	map_init(&seen, c->a);
	for (size_t i = 0; i < c->spec->pools.n; i++) {
		for (size_t k = 0; k < pools[i].playbooks.items.n; k++) {
			const char *path = fs_join(c->a, c->spec->dir,
						   str_cstr(c->a, pools[i].playbooks.items.v[k]));

			if (map_getc(&seen, path))
				continue;
			map_put(&seen, str_of(path), c);
			if (playbook_load(c->a, path, &paths, &p, errs) < 0)
				continue; /* told in errs */
		}
		if (pools[i].roles.n &&
		    playbook_of_roles(c->a, &pools[i].roles, &paths, &p, errs) < 0)
			continue; /* told in errs */
	}
}

int session_spec(struct cli *c, struct err *e)
{
	struct spec_opts o = { .extra_vars = c->extra_vars,
			       .check_provider = check_provider,
			       .check_pool = check_pool,
			       .arg = c };
	struct err_list errs = { 0 };

	*e = (struct err){ 0 };
	if (!fs_exists(c->spec_file)) {
		err_set(e, ERR_SPEC, "there is no %s here", c->spec_file);
		return err_hint(e, "name the spec with -f FILE, or start one with `muster init`");
	}
	if (!c->secret_dir)
		c->secret_dir = fs_is_dir(c->spec_file) ? c->spec_file
							: fs_dirname(c->a, c->spec_file);
	secret_register(c->secret_dir);
	if (spec_load(c->a, c->spec_file, &o, &c->spec, &errs) == 0 &&
	    fleet_expand(c->a, c->spec, &c->fleet, &errs) == 0)
		check_playbooks(c, &errs);
	if (errs.n) {
		err_list_sort(&errs);
		view_errors(c, &errs);
	}
	bool failed = errs.n > 0;

	err_list_fini(&errs);
	return failed ? -1 : 0;
}

/* ---- state ---- */

const char *session_state_path(struct cli *c)
{
	return c->g.state ? c->g.state : fs_join(c->a, c->state_dir, "state.db");
}

int session_state(struct cli *c, unsigned flags, struct err *e)
{
	const char *path = session_state_path(c);

	if (flags & STATE_READONLY && !fs_exists(path))
		return 0; /* nothing was ever recorded: c->state stays NULL */
	return state_open(path, c->spec ? str_cstr(c->a, c->spec->cluster) : NULL, flags, &c->state,
			  e);
}

/* ---- engine ---- */

static const char *signal_name(int signo)
{
	return signo == SIGINT	  ? "INT"
	       : signo == SIGTERM ? "TERM"
	       : signo == SIGHUP  ? "HUP"
				  : "PIPE";
}

static void tell_stop(struct cli *c, int signo, bool at_once)
{
	struct value *v = value_map(c->a);

	value_set(v, "signal", value_cstr(c->a, signal_name(signo)));
	value_set(v, "at_once", value_bool(c->a, at_once));
	events_emit(c, "stopping", v);
}

void session_stop(struct cli *c, int signo)
{
	bool at_once = c->signalled;

	if (c->fan) {
		c->signalled = at_once ? c->signalled : signo;
		group_cancel(c->fan);
		view_notef(c, "stopping: what was begun on the nodes is not waited for\n");
	} else if (!at_once) {
		c->signalled = signo;
		view_notef(
			c,
			"stopping: running steps finish, no new ones start; press ^C again to stop at once\n");
	} else {
		view_notef(
			c,
			"stopping at once: what was begun is in the journal, the next run settles it\n");
	}
	if (c->engine && at_once)
		engine_abort(c->engine);
	else if (c->engine)
		engine_stop(c->engine);
	tell_stop(c, signo, at_once);
}

static void on_signal(void *arg, int signo)
{
	session_stop(arg, signo);
}

void session_catch_signals(struct cli *c)
{
	loop_on_signal(SIGINT, on_signal, c);
	loop_on_signal(SIGTERM, on_signal, c);
	/* a terminal that closes; under nohup it stays ignored */
	if (!c->keep_hangup)
		loop_on_signal(SIGHUP, on_signal, c);
}

static struct ssh_target *ssh_defaults(struct cli *c)
{
	struct ssh_target *t = arena_obj(c->a, struct ssh_target);

	return t;
}

int session_engine(struct cli *c, struct engine_opts *o, struct err *e)
{
	const char *cluster = NULL;

	if (c->spec)
		cluster = str_cstr(c->a, c->spec->cluster);
	else if (c->state && state_meta_get(c->state, c->a, "cluster", &cluster, e) < 0)
		return -1;
	o->spec = c->spec;
	o->fleet = c->fleet;
	o->state = c->state;
	o->cluster = cluster ? cluster : "";
	o->state_dir = c->state_dir;
	o->self = c->self;
	o->share_dir = session_share_dir();
	o->who = c->who;
	o->limit = c->g.limit;
	o->extra_vars = c->extra_vars;
	o->command_line = c->command_line;
	o->ssh_defaults = ssh_defaults(c);
	o->on_event = progress_event;
	o->arg = c;
	if (engine_open(c->a, o, &c->engine, e) < 0)
		return -1;
	session_catch_signals(c);
	return 0;
}

/* ---- questions and arguments ---- */

int session_confirm(struct cli *c, const char *question, const char *flag, struct err *e)
{
	char answer[16] = "";

	if (!c->interactive) {
		err_set(e, ERR_USAGE, "this needs a confirmation, and there is nobody to ask");
		return err_hint(e, "add %s", flag);
	}
	view_notef(c, "%s\nOnly \"yes\" is taken as a yes: ", question);
	if (fgets(answer, sizeof answer, stdin) && strcmp(answer, "yes\n") == 0)
		return 0;
	return err_set(e, ERR_CANCELLED, "not confirmed: nothing was done");
}

int session_no_args(const struct cli *c, struct err *e)
{
	return session_arg_count(c, 0, 0, e);
}

int session_arg_count(const struct cli *c, size_t min, size_t max, struct err *e)
{
	size_t n = c->args.v.n;

	if (n >= min && n <= max)
		return 0;
	if (n > max)
		err_set(e, ERR_USAGE, "%s: unexpected argument \"%s\"", c->cmd->name,
			c->args.v.v[max]);
	else
		err_set(e, ERR_USAGE, "%s needs: %s", c->cmd->name, c->cmd->args);
	return err_hint(e, "see muster help %s", c->cmd->name);
}

/* ---- nodes ---- */

static int recorded_names(struct cli *c, struct names *out, struct err *e)
{
	struct state_resources rows = { 0 };

	if (!c->state)
		return 0;
	if (state_resources(c->state, c->a, &rows, e) < 0)
		return -1;
	for (size_t i = 0; i < rows.v.n; i++) {
		const struct state_resource *r = rows.v.v[i];
		struct str name = r->want ? value_get_str(r->want, "name", NULL) : STR_NONE;

		if (r->pool)
			VEC_ADD(c->a, &out->v) = name.n ? str_cstr(c->a, name) : r->addr;
	}
	return 0;
}

void session_groups(struct cli *c, const struct select_group **groups, size_t *n)
{
	const struct spec_pool *pools = c->spec ? c->spec->pools.v : NULL;
	size_t count = c->spec ? c->spec->pools.n : 0;
	size_t nodes = c->fleet ? c->fleet->nodes.n : 0;
	struct select_group *g = arena_array(c->a, struct select_group, count + 1);

	for (size_t i = 0; i < count; i++) {
		struct names members = { 0 };

		for (size_t k = 0; k < nodes; k++) {
			if (c->fleet->nodes.v[k]->pool == &pools[i])
				VEC_ADD(c->a, &members.v) = c->fleet->nodes.v[k]->name;
		}
		g[i] = (struct select_group){ str_cstr(c->a, pools[i].name), members.v.v,
					      members.v.n };
	}
	*groups = g;
	*n = count;
}

int session_nodes(struct cli *c, const char *expression, struct names *out, struct err *e)
{
	struct names all = { 0 }, limited = { 0 };
	const struct select_group *groups;
	size_t n_groups;

	if (c->fleet) {
		for (size_t i = 0; i < c->fleet->nodes.n; i++)
			VEC_ADD(c->a, &all.v) = c->fleet->nodes.v[i]->name;
	} else if (recorded_names(c, &all, e) < 0) {
		return -1;
	}
	session_groups(c, &groups, &n_groups);
	if (select_names(c->a, str_of(c->g.limit),
			 &(struct select_from){ all.v.v, all.v.n, groups, n_groups }, &limited,
			 e) < 0)
		return err_wrap(e, "--limit");
	return select_names(c->a, str_of(expression),
			    &(struct select_from){ limited.v.v, limited.v.n, groups, n_groups },
			    out, e);
}
