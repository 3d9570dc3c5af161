/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec and copy: one thing on many nodes. exec asks each node over a bare SSH session (no shell of
 * ours on it), so that a fan-out costs one login and one channel a node; equal answers are printed
 * once.
 */
#include <sys/stat.h>

#include "cli/events.h"
#include "cli/progress.h"
#include "cli/folded.h"
#include "cli/targets.h"
#include "cli/view.h"

#define EXEC_MAX_OUTPUT ((size_t)4 << 20)
/* so that a tenth of ten thousand may be silent and the rest goes on */
#define EXEC_PARALLEL	1024
#define EXEC_MS		300000
#define COPY_MAX	((size_t)1 << 30)
#define FETCHED_MODE	0600 /* on a node it may have been root's alone */

struct exec_opts {
	struct login_opts login;
	int64_t parallel, timeout_ms;
	bool no_fold;
};

struct answer {
	struct text_group *said; /* NULL: nothing, and err says why */
	struct err *err;
};

struct exec_run {
	struct cli *c;
	const struct exec_opts *o;
	const char *command;
	struct text_groups groups;
	struct answer *answers;
};

/* What one node answered, before it is folded. */
struct reply {
	int status;
	bool cut; /* at EXEC_MAX_OUTPUT */
	struct str out, err;
};

static int ask_ssh(struct exec_run *r, struct arena *a, struct target *t, struct reply *out,
		   struct err *e)
{
	struct ssh *s;
	struct ssh_result res = { 0 };

	if (ssh_open(&t->host.target, &s, e) < 0)
		return -1;
	const struct ssh_command cmd = { r->command, STR_NONE, EXEC_MAX_OUTPUT,
					 deadline_in(r->o->timeout_ms) };
	int rc = ssh_exec(s, a, &cmd, &res, e);

	ssh_close(s);
	*out = (struct reply){ res.status, res.truncated, res.out, res.err };
	return rc;
}

static int ask_host(struct exec_run *r, struct arena *a, struct target *t, struct reply *out,
		    struct err *e)
{
	struct host *h;
	struct script_result res = { 0 };

	if (host_open(&t->host, &h, e) < 0)
		return -1;
	struct script_opts so = { .max_output = EXEC_MAX_OUTPUT,
				  .deadline = deadline_in(r->o->timeout_ms) };
	int rc = host_script(h, a, str_of(r->command), &so, &res, e);

	host_close(h);
	*out = (struct reply){ res.status, res.truncated, res.out, res.err };
	return rc;
}

static void emit_answer(struct exec_run *r, const struct target *t, const struct answer *ans)
{
	scoped(arena_freep) struct arena *a = arena_new("exec event");
	struct value *v = value_map(a);

	value_set(v, "node", value_cstr(a, t->name));
	if (!ans->said) {
		value_set(v, "error", view_error_value(a, ans->err));
	} else {
		value_set(v, "status", value_int(a, ans->said->status));
		value_set(v, "stdout", value_str(a, ans->said->out));
		value_set(v, "stderr", value_str(a, ans->said->err));
		if (ans->said->cut)
			value_set(v, "truncated", value_bool(a, true));
	}
	events_emit(r->c, "exec_result", v);
}

static void print_group(struct cli *c, const struct text_group *g, const char *const *names,
			size_t n)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	buf_addf(&b, "%s== %s (%zu)", view_on(c->color_out, VIEW_BOLD), view_fold(c->a, names, n),
		 n);
	if (g->status)
		buf_addf(&b, " exit %d", g->status);
	if (g->cut)
		buf_addf(&b, " output cut at %zu MiB", EXEC_MAX_OUTPUT >> 20);
	buf_addf(&b, "%s\n", view_off(c->color_out));
	buf_addstr(&b, g->out);
	if (g->out.n && g->out.p[g->out.n - 1] != '\n')
		buf_addc(&b, '\n');
	buf_addstr(&b, g->err);
	if (g->err.n && g->err.p[g->err.n - 1] != '\n')
		buf_addc(&b, '\n');
	view_out(c, &b);
}

static void ask(void *arg, struct target *t, size_t index)
{
	scoped(arena_freep) struct arena *a = arena_new("answer");
	struct exec_run *r = arg;
	struct answer *ans = &r->answers[index];
	struct reply reply = { 0 };
	struct err e = { 0 };
	bool bare = !t->host.local && !t->host.become.on;

	progress_node_start(r->c, t->name, "exec");
	if ((bare ? ask_ssh : ask_host)(r, a, t, &reply, &e) < 0) {
		err_on(&e, NULL, t->name);
		ans->err = arena_obj(r->c->a, struct err);
		*ans->err = e;
	} else {
		ans->said = text_groups_find(&r->groups, reply.status, reply.cut, reply.out,
					     reply.err);
	}
	emit_answer(r, t, ans);
	progress_node_end(r->c, t->name, "exec", !ans->said || ans->said->status != 0);
	if (ans->said && r->o->no_fold && !r->c->g.json)
		print_group(r->c, ans->said, &t->name, 1);
}

static void print_answers(struct exec_run *r, const struct targets *ts)
{
	for (size_t i = 0; i < ts->v.n; i++)
		if (r->answers[i].said)
			VEC_ADD(r->c->a, &r->answers[i].said->names) = ts->v.v[i]->name;
	for (size_t i = 0; i < ts->v.n; i++) {
		struct text_group *g = r->answers[i].said;

		if (g && g->names.n)
			print_group(r->c, g, g->names.v, g->names.n);
		if (g)
			g->names.n = 0;
	}
}

static int report(struct exec_run *r, const struct targets *ts)
{
	struct failures f;
	size_t bad = 0;

	failures_init(&f, r->c->a);
	for (size_t i = 0; i < ts->v.n; i++) {
		const struct answer *ans = &r->answers[i];

		bad += !ans->said || ans->said->status != 0;
		if (ans->err)
			failures_add(&f, ts->v.v[i]->name, ts->v.v[i]->host.target.host, ans->err);
	}
	if (!r->o->no_fold && !r->c->g.json)
		print_answers(r, ts);
	events_nodes_result(r->c, ts->v.n, bad);
	failures_show(r->c, &f);
	if (bad && ts->v.n > 1)
		view_notef(r->c, "%zu of %zu nodes failed\n", bad, ts->v.n);
	return !bad ? EXIT_DONE : bad < ts->v.n ? EXIT_PARTIAL : EXIT_ERROR;
}

/* One argument is a shell line; several are an argument vector. */
static const char *command_line(struct cli *c, const char *const *args, size_t n)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (n == 1)
		return args[0];
	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_addc(&b, ' ');
		proc_quote(&b, str_of(args[i]));
	}
	return buf_dup(&b, c->a);
}

static int cmd_exec(struct cli *c, struct err *e)
{
	struct exec_opts *o = c->opts;
	struct targets ts = { 0 };
	size_t n = c->args.v.n;

	if (n < 2 || c->args.after_dashes == 0) {
		err_set(e, ERR_USAGE, "exec needs a node set and a command");
		return err_hint(e, "for example: muster exec @all -- uptime");
	}
	if (targets_find(c, &o->login, c->args.v.v[0], &ts, e) < 0)
		return -1;
	if (!o->timeout_ms)
		o->timeout_ms = EXEC_MS;
	struct exec_run r = { .c = c, .o = o, .command = command_line(c, c->args.v.v + 1, n - 1) };
	text_groups_init(&r.groups, c->a);
	r.answers = arena_array(c->a, struct answer, ts.v.n + 1);
	if (!o->no_fold) { /* what is printed meanwhile needs no progress beside it */
		progress_begin(c);
		progress_nodes(c, ts.v.n);
	}
	int rc = targets_each(c, &ts, o->parallel ? o->parallel : EXEC_PARALLEL, ask, &r, e);

	if (!o->no_fold)
		progress_end(c);
	if (rc < 0 && e->kind != ERR_CANCELLED)
		return -1;
	return report(&r, &ts);
}

/* ---- copy ---- */

struct copy_run {
	struct cli *c;
	const struct exec_opts *o;
	const char *remote, *local;
	struct str content;
	const char *mode;
	bool down, many;
	struct err **errs; /* of each target; NULL: copied, or not begun */
	bool *done;
};

static int copy_down(struct copy_run *r, struct target *t, struct host *h, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("copy");
	const char *path = r->local;
	struct str data;

	if (host_get(h, a, r->remote, COPY_MAX, &data, e) < 0)
		return -1;
	if (r->many || fs_is_dir(path)) {
		const char *base = strrchr(r->remote, '/');

		path = r->many ? arena_printf(a, "%s/%s", path, t->name)
			       : arena_printf(a, "%s/%s", path, base ? base + 1 : r->remote);
	}
	return fs_write_atomic(path, data, FETCHED_MODE, e);
}

static void copy_one(void *arg, struct target *t, size_t index)
{
	struct copy_run *r = arg;
	struct host_file f = { .path = r->remote, .mode = r->mode };
	struct err e = { 0 };
	struct host *h;
	int rc = host_open(&t->host, &h, &e);

	if (rc == 0) {
		rc = r->down ? copy_down(r, t, h, &e) : host_put(h, r->content, &f, &e);
		host_close(h);
	}
	r->done[index] = rc == 0;
	if (rc == 0)
		return;
	err_on(&e, NULL, t->name);
	r->errs[index] = arena_obj(r->c->a, struct err);
	*r->errs[index] = e;
}

/* "NODESET:/path"; NULL if the argument names a local file. */
static const char *remote_part(struct cli *c, const char *arg, const char **nodes)
{
	struct str s = str_of(arg);
	size_t colon = str_find(s, STR(":/"));

	if (colon == SIZE_MAX || colon == 0)
		return NULL;
	*nodes = str_cstr(c->a, str_sub(s, 0, colon));
	return arg + colon + 1;
}

static int copy_plan(struct cli *c, struct copy_run *r, const char **nodes, struct err *e)
{
	const char *from = c->args.v.v[0], *to = c->args.v.v[1];
	struct stat st;

	r->remote = remote_part(c, from, nodes);
	r->down = r->remote != NULL;
	r->local = r->down ? to : from;
	if (!r->down)
		r->remote = remote_part(c, to, nodes);
	if (!r->remote) {
		err_set(e, ERR_USAGE, "neither \"%s\" nor \"%s\" names a file on a node", from, to);
		return err_hint(e, "write NODESET:/path for the side on the nodes");
	}
	if (r->down)
		return 0;
	if (!r->local)
		bug("copy without its two arguments");
	if (stat(r->local, &st) < 0)
		return err_sys(e, "%s", r->local);
	r->mode = arena_printf(c->a, "%04o", (unsigned)(st.st_mode & 0777));
	return fs_read(c->a, r->local, COPY_MAX, &r->content, e);
}

static int cmd_copy(struct cli *c, struct err *e)
{
	const struct exec_opts *o = c->opts;
	struct copy_run r = { .c = c, .o = o };
	struct targets ts = { 0 };
	struct failures f;
	const char *nodes = NULL;
	size_t good = 0;

	if (session_arg_count(c, 2, 2, e) < 0 || copy_plan(c, &r, &nodes, e) < 0 ||
	    targets_find(c, &o->login, nodes, &ts, e) < 0)
		return -1;
	r.many = r.down && ts.v.n > 1;
	r.errs = arena_array(c->a, struct err *, ts.v.n + 1);
	r.done = arena_array(c->a, bool, ts.v.n + 1);
	if (r.many && fs_mkdirs(r.local, 0755, e) < 0)
		return -1;
	if (targets_each(c, &ts, o->parallel, copy_one, &r, e) < 0)
		return -1;
	failures_init(&f, c->a);
	for (size_t i = 0; i < ts.v.n; i++) {
		good += r.done[i];
		if (r.errs[i])
			failures_add(&f, ts.v.v[i]->name, ts.v.v[i]->host.target.host, r.errs[i]);
	}
	failures_show(c, &f);
	view_notef(c, "%zu of %zu copied\n", good, ts.v.n);
	return good == ts.v.n ? EXIT_DONE : good ? EXIT_PARTIAL : EXIT_ERROR;
}

#define COMMON_ROWS(fanout)                                                          \
	LOGIN_ROWS(exec_opts),                                                       \
	{                                                                            \
		"parallel", 'p', OPT_INT, offsetof(struct exec_opts, parallel), "N", \
			"nodes at a time (default " fanout ")", "forks,fanout"       \
	}

static const struct opt exec_rows[] = {
	COMMON_ROWS("1024"),
	{ "timeout", 't', OPT_MS, offsetof(struct exec_opts, timeout_ms), "DURATION",
	  "of the command (default 5m)", NULL },
	{ "no-fold", 0, OPT_FLAG, offsetof(struct exec_opts, no_fold), NULL,
	  "print every node's output on its own, as it arrives", NULL },
	OPT_END,
};
static const struct opt copy_rows[] = { COMMON_ROWS("64"), OPT_END };

const struct command command_exec = {
	"exec",
	"NODESET -- CMD...",
	"runs a command on nodes, in parallel; equal outputs are printed once",
	"One argument after -- is a line for the node's shell; several are the words of one command. Exits 4 when some nodes failed, 1 when all did.",
	exec_rows,
	sizeof(struct exec_opts),
	NEEDS_LOOP | TAKES_NODES | EVENTS,
	cmd_exec,
};
const struct command command_copy = {
	"copy",
	"FILE NODESET:/PATH | NODESET:/PATH FILE",
	"copies a file to nodes, or from them",
	"Digests are checked and names change at the end: a file is whole or not there. From several nodes, FILE is a folder and each node's file bears its name.",
	copy_rows,
	sizeof(struct exec_opts),
	NEEDS_LOOP | TAKES_NODES,
	cmd_copy,
};
