/* SPDX-License-Identifier: Apache-2.0 */
/*
 * revert: the configuration of nodes, back to what a former run applied. The spec, its playbooks
 * and roles come from that run's commit, out of git's object database into a private folder; the
 * work tree is not touched. Machines and networks stay as they are: going back in what exists is a
 * matter of the spec, and of a plan that shows what it destroys.
 *
 * What was not in the commit can't be brought back: a run whose files were not as committed is
 * refused. Secrets were never in it; they are read from where the present spec has them.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/apply.h"
#include "cli/history.h"
#include "cli/progress.h"
#include "cli/view.h"

#define LEFTOVER_S (24 * 3600)

struct revert {
	struct cli *c;
	const struct state_run *run;
	const char *commit, *path; /* of its spec in the repository */
	const char *here;	   /* folder of the present spec */
	char *dir;		   /* of the commit's files */
	struct git_facts head;
};

static const char *text(struct cli *c, const struct value *v, const char *key)
{
	struct str s = value_get_str(v, key, "");

	return s.n ? str_cstr(c->a, s) : NULL;
}

static int refuse(const struct revert *r, struct err *e, const char *why, const char *hint)
{
	err_set(e, ERR_CONFLICT, "there is no way back to run %s: %s", r->run->id, why);
	return hint ? err_hint(e, "%s", hint) : -1;
}

/* ---- may it be? ---- */

static int check_run(struct revert *r, struct err *e)
{
	struct arena *a = r->c->a;
	const struct value *source = r->run->source;

	if (strcmp(r->run->command, "apply") != 0 && strcmp(r->run->command, "revert") != 0)
		return refuse(
			r, e,
			arena_printf(a, "it was a %s, which configures no node", r->run->command),
			"name a run of apply: muster history");
	r->commit = text(r->c, source, "commit");
	r->path = text(r->c, source, "path");
	if (!r->commit || !r->path)
		return refuse(r, e,
			      arena_printf(a, "its commit is not known: %s",
					   source && text(r->c, source, "why")
						   ? text(r->c, source, "why")
						   : "the history has none of it"),
			      "keep the spec in git, and commit before muster apply");
	if (value_get_bool(source, "dirty", false))
		return refuse(r, e,
			      arena_printf(a, "its files were not as in commit %.12s (%s)",
					   r->commit, text(r->c, source, "changed")),
			      "name a run without a + in muster history");
	return 0;
}

/* Their values were not kept, so they have to be said again. */
static int check_vars(struct revert *r, struct err *e)
{
	const struct value *vars = value_get(r->run->source, "vars");

	for (size_t i = 0; vars && vars->kind == V_LIST && i < vars->list.n; i++) {
		const char *name = str_cstr(r->c->a, vars->list.v[i]->s);
		if (r->c->extra_vars && value_get(r->c->extra_vars, name))
			continue;
		return refuse(
			r, e,
			arena_printf(r->c->a,
				     "it was given the variable \"%s\", whose value is not kept",
				     name),
			arena_printf(r->c->a, "give it again: -e %s=VALUE", name));
	}
	return 0;
}

/* A former spec may name other providers, which cannot say what became of steps begun by this one. */
static int check_journal(struct revert *r, struct err *e)
{
	struct journal_rows open;

	if (journal_open_rows(r->c->state, r->c->a, &open, e) < 0)
		return -1;
	if (!open.v.n)
		return 0;
	err_set(e, ERR_CONFLICT, "an earlier run left %zu steps unfinished", open.v.n);
	return err_hint(e, "settle them first: muster recover");
}

/* ---- the files of then ---- */

/* What a killed revert left. */
static void remove_leftovers(struct cli *c)
{
	struct fs_names names;
	struct err e = { 0 };
	struct stat st;

	if (fs_list(c->a, c->state_dir, &names, &e) < 0)
		return;
	for (size_t i = 0; i < names.names.n; i++) {
		const char *path = fs_join(c->a, c->state_dir, names.names.v[i]);
		if (!str_starts(str_of(names.names.v[i]), "revert-") || lstat(path, &st) < 0 ||
		    st.st_mtime > time(NULL) - LEFTOVER_S)
			continue;
		if (fs_remove_tree(path, &e) < 0)
			log_info("%s", e.msg);
	}
}

static int get_files(struct revert *r, struct err *e)
{
	struct cli *c = r->c;
	struct git_files files;
	struct git_question q = { .dir = r->here, .state_dir = c->state_dir };
	const char *folder = fs_dirname(c->a, r->path);

	if (strcmp(folder, ".") == 0)
		folder = "";
	if (git_look(c->a, &q, &r->head, e) < 0)
		return e->kind == ERR_CANCELLED ? -1
						: refuse(r, e, arena_strdup(c->a, e->msg), NULL);
	remove_leftovers(c);
	r->dir = fs_join(c->a, c->state_dir, "revert-XXXXXX");
	if (!mkdtemp(r->dir)) {
		r->dir = NULL;
		return err_sys(e, "making a folder in %s", c->state_dir);
	}
	struct git_order o = { .dir = r->here, .commit = r->commit, .path = folder, .into = r->dir };
	if (git_checkout_into(c->a, &o, &files, e) < 0)
		return err_wrap(e, "there is no way back to run %s", r->run->id);
	if (files.pointers)
		view_notef(
			c,
			"note: %zu files (%s) are kept by Git LFS; muster has only their pointers\n",
			files.pointers, files.pointer);
	return 0;
}

static int load_spec(struct revert *r, struct err *e)
{
	struct cli *c = r->c;
	const char *cluster = NULL;

	c->spec_file = fs_join(c->a, r->dir, r->path);
	c->secret_dir = r->here;
	if (!fs_exists(c->spec_file))
		return refuse(r, e,
			      arena_printf(c->a, "commit %.12s has no %s", r->commit, r->path),
			      NULL);
	if (session_spec(c, e) < 0) {
		if (e->kind == ERR_NONE) /* all faults have been printed */
			refuse(r, e,
			       arena_printf(c->a,
					    "the spec of commit %.12s can't be used now, see above",
					    r->commit),
			       "give what it needs: secrets from files are looked for beside the present spec");
		return -1;
	}
	if (state_meta_get(c->state, c->a, "cluster", &cluster, e) < 0)
		return -1;
	if (cluster && !str_eqc(c->spec->cluster, cluster))
		return refuse(r, e,
			      arena_printf(c->a, "it was of cluster \"" STR_FMT "\"",
					   STR_ARG(c->spec->cluster)),
			      NULL);
	return 0;
}

/* Each secret('env:...') or secret('file:...') of a text is read once, to see that it can be. */
static int check_text(struct revert *r, struct str s, struct err *e)
{
	static const char word[] = "secret(";
	const struct value *v;
	struct err why = { 0 };
	size_t at;

	while ((at = str_find(s, str_of(word))) != SIZE_MAX) {
		s = str_trim(str_sub(s, at + strlen(word), SIZE_MAX));
		if (!s.n || (s.p[0] != '\'' && s.p[0] != '"'))
			continue;
		size_t end = str_find_char(str_sub(s, 1, SIZE_MAX), s.p[0]);
		struct str from = end == SIZE_MAX ? STR_NONE : str_sub(s, 1, 1 + end);
		if (!str_starts(from, "env:") && !str_starts(from, "file:"))
			continue;
		if (secret_read(r->c->a, from, r->here, &v, &why) < 0)
			return refuse(r, e, arena_printf(r->c->a, "it needs a secret: %s", why.msg),
				      "set what it names, then type the same again");
	}
	return 0;
}

/* Variables are evaluated on their way to a node; a secret that is missing must be told before any
 * node is touched. */
static int check_secrets(struct revert *r, const struct value *v, struct err *e)
{
	if (v->kind == V_STR)
		return check_text(r, v->s, e);
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (check_secrets(r, v->list.v[i], e) < 0)
			return -1;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (check_secrets(r, v->map.e[i].val, e) < 0)
			return -1;
	return 0;
}

/* ---- what the history will say ---- */

static const struct value *source_of(struct revert *r)
{
	struct arena *a = r->c->a;
	struct value *source = value_copy(a, r->run->source), *head = value_map(a);

	value_set_text(head, "commit", r->head.commit);
	value_set_text(head, "branch", r->head.branch);
	value_set(head, "dirty", value_bool(a, r->head.dirty));
	value_set_text(head, "changed", r->head.changed);
	value_set(source, "head", head);
	value_set_text(source, "reverts", r->run->id);
	return source;
}

/* ---- doing it ---- */

static void tell_left_out(struct cli *c, const struct plan *p)
{
	struct map by_why;

	map_init(&by_why, c->a);
	for (size_t i = 0; i < p->left_out.n; i++) {
		const struct left_out *x = p->left_out.v[i];
		struct names *n = map_getc(&by_why, x->why);
		if (!n) {
			n = arena_obj(c->a, struct names);
			map_put(&by_why, str_of(x->why), n);
		}
		VEC_ADD(c->a, &n->v) = x->node;
	}
	for (size_t i = 0; i < by_why.n; i++) {
		const struct names *n = by_why.e[i].val;
		view_notef(c, "left alone: %s (" STR_FMT ")\n", view_fold(c->a, n->v.v, n->v.n),
			   STR_ARG(by_why.e[i].key));
	}
}

static int make_plan(struct revert *r, struct plan **p, struct err *e)
{
	struct cli *c = r->c;
	const struct apply_opts *o = c->opts;
	struct engine_opts eo = {
		.parallel = o->parallel,
		.max_failures = o->max_failures,
		.diff = o->diff,
		.source = source_of(r),
	};

	if (session_engine(c, &eo, e) < 0 || engine_note_source(c->engine, e) < 0)
		return -1;
	progress_begin(c);
	int rc = plan_make(c->engine, c->a, PLAN_CONFIGURE, p, e);

	progress_end(c);
	return rc;
}

static int plan_and_do(struct revert *r, struct err *e)
{
	struct cli *c = r->c;
	struct plan *p;

	if (make_plan(r, &p, e) < 0)
		return -1;
	tell_left_out(c, p);
	if (r->run->spec_digest && strcmp(r->run->spec_digest, p->spec_digest) != 0)
		view_notef(
			c,
			"note: this is not byte for byte what run %s applied: variables, secrets or muster's own roles have changed since\n",
			r->run->id);
	if (plan_is_empty(p) && !p->unreachable.n && !c->g.json) {
		view_outf(c, "No changes. The nodes have the configuration of run %s.\n",
			  r->run->id);
		return EXIT_DONE;
	}
	if (plan_is_empty(p))
		return apply_empty(c, p, e);
	return apply_confirmed(
		c, p,
		arena_printf(c->a,
			     "Give these nodes the configuration of run %s (commit %.12s) again?",
			     r->run->id, r->commit),
		e);
}

static int revert(struct revert *r, struct err *e)
{
	if (check_run(r, e) < 0 || check_vars(r, e) < 0 || check_journal(r, e) < 0 ||
	    get_files(r, e) < 0 || load_spec(r, e) < 0 || check_secrets(r, r->c->spec->tree, e) < 0)
		return -1;
	return plan_and_do(r, e);
}

static int cmd_revert(struct cli *c, struct err *e)
{
	struct revert r = { .c = c,
			    .here = fs_is_dir(c->spec_file) ? c->spec_file
							    : fs_dirname(c->a, c->spec_file) };
	struct state_run *run;
	struct err left = { 0 };

	if (session_arg_count(c, 1, 1, e) < 0)
		return -1;
	if (fs_exists(session_state_path(c)) && session_state(c, 0, e) < 0)
		return -1;
	if (history_find(c, c->args.v.v[0], &run, e) < 0)
		return -1;
	r.run = run;
	int rc = revert(&r, e);

	if (r.dir && fs_remove_tree(r.dir, &left) < 0)
		log_warn("%s", left.msg);
	return rc;
}

#define O(member, letter, type, arg, doc, aliases)                                            \
	{                                                                                     \
#member, letter, type, offsetof(struct apply_opts, member), arg, doc, aliases \
	}

static const struct opt revert_rows[] = {
	O(yes, 'y', OPT_FLAG, NULL, "don't ask", "auto-approve"),
	O(parallel, 'p', OPT_INT, "N", "steps at a time (default 32)", "parallelism"),
	{ "max-failures", 0, OPT_SHARE, offsetof(struct apply_opts, max_failures), "N|%",
	  "go on until this many nodes failed (default: stop at the first)", NULL },
	O(full, 0, OPT_FLAG, NULL, "every node on its own in the plan", NULL),
	O(diff, 0, OPT_FLAG, NULL, "show what changes inside files", NULL),
	OPT_END,
};

const struct command command_revert = {
	"revert",
	"RUN",
	"gives nodes the configuration of a former run again",
	"Takes the spec, playbooks and roles from the commit of that run, shows what differs on the nodes, asks, and applies it. Only nodes that are there and were in that spec are "
	"configured; nothing is made or destroyed. The next plan with the present spec shows the difference again: to stay, commit the former files.",
	revert_rows,
	sizeof(struct apply_opts),
	NEEDS_LOOP | EVENTS | RECORDED,
	cmd_revert,
};
