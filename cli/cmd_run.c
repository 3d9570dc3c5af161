/* SPDX-License-Identifier: Apache-2.0 */
/* run: a playbook in Ansible's format on an inventory's hosts (-i) or on the spec's nodes. */
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/strings.h"
#include "cli/targets.h"
#include "cli/view.h"

struct run_cmd_opts {
	struct login_opts login;
	bool check, diff, allow_pipe;
	int64_t parallel;
	struct opt_list tags, skip_tags;
};

struct host_run {
	struct run_result result;
	struct err err;
	bool begun, failed; /* failed: the run itself ended; err says why */
};

/* What one task did on the hosts where it did it; equal reports fold. */
struct report {
	const struct task_result *first;
	VEC(const char *) hosts;
};

struct play_run {
	struct cli *c;
	const struct run_cmd_opts *o;
	const struct playbook *book;
	struct targets ts;
	struct run_opts ro;
	struct host_run *hosts;
	struct map by_text; /* text of a report -> struct report */
};

/* A node that is only recorded is in no pool any more: `all` is what can mean it, and its name. */
static bool spec_matches(struct play_run *r, const char *pattern, const char *host)
{
	const struct node *node = r->c->fleet ? map_getc(&r->c->fleet->by_name, host) : NULL;

	if (node)
		return engine_play_matches(node, pattern);
	return strcmp(pattern, "all") == 0 || strcmp(pattern, host) == 0;
}

static bool play_matches(void *arg, const char *pattern, const char *host)
{
	struct play_run *r = arg;
	struct names members = { 0 };
	struct err ignored = { 0 };
	scoped(arena_freep) struct arena *a = arena_new("play pattern");

	if (!r->ts.inv)
		return spec_matches(r, pattern, host);
	if (inv_match(a, r->ts.inv, pattern, &members, &ignored) < 0)
		return false; /* a pattern that names nobody chooses nobody, as in Ansible */
	for (size_t i = 0; i < members.v.n; i++) {
		if (strcmp(members.v.v[i], host) == 0)
			return true;
	}
	return false;
}

/* ---- what is told about tasks ---- */

static const char *status_word(const struct task_result *t)
{
	static const char *const words[] = {
		[TASK_OK] = "ok",
		[TASK_CHANGED] = "changed",
		[TASK_SKIPPED] = "skipped",
		[TASK_FAILED] = "failed",
		[TASK_UNREACHABLE] = "unreachable",
	};

	return t->status == TASK_FAILED && t->ignored ? "failed (ignored)" : words[t->status];
}

/* What a play was written to say; other tasks that changed nothing are counted only. */
static bool is_said(const struct task_result *t)
{
	return t->status == TASK_OK && t->msg && strcmp(t->module, "debug") == 0;
}

static void task_lines(struct play_run *r, struct buf *b, const struct task_result *t)
{
	if (t->msg && (t->status != TASK_OK || is_said(t)))
		buf_addf(b, "    %s\n", t->msg);
	for (size_t i = 0; i < t->changes.n; i++) {
		const struct task_change *ch = &t->changes.v[i];

		buf_addf(b, "    %s", ch->what);
		if ((ch->before || ch->after) && !(r->o->diff && ch->diff)) {
			buf_adds(b, ": ");
			if (ch->before)
				value_print(b, ch->before);
			buf_adds(b, " → ");
			if (ch->after)
				value_print(b, ch->after);
		}
		buf_addc(b, '\n');
		if (r->o->diff && ch->diff) {
			struct str rest = str_of(ch->diff), line;

			while (str_next_line(&rest, &line))
				buf_addf(b, "      " STR_FMT "\n", STR_ARG(line));
		}
	}
}

static void remember(struct play_run *r, const struct task_result *t)
{
	scoped(buf_fini) struct buf key = { 0 };

	buf_init(&key, BUF_MAX_DEFAULT);
	buf_addf(&key, "%s:%d:%d %s %s\n", t->pos.file ? t->pos.file : "", t->pos.line, t->pos.col,
		 status_word(t), t->item ? t->item : "");
	task_lines(r, &key, t);
	struct report *rep = map_get(&r->by_text, buf_str(&key));

	if (!rep) {
		rep = arena_obj(r->c->a, struct report);
		rep->first = t;
		map_put(&r->by_text, buf_str(&key), rep);
	}
	VEC_ADD(r->c->a, &rep->hosts) = t->host;
}

static const char *kept(struct play_run *r, const char *text)
{
	return text ? arena_strdup(r->c->a, text) : NULL;
}

/* The result lives as long as the call that tells it; the report comes at the end. */
static void remember_said(struct play_run *r, const struct task_result *t)
{
	struct task_result *own = arena_obj(r->c->a, struct task_result);

	*own = (struct task_result){
		.host = kept(r, t->host),
		.role = kept(r, t->role),
		.task = kept(r, t->task),
		.module = "debug",
		.item = kept(r, t->item),
		.msg = kept(r, t->msg),
		.status = t->status,
		.pos = t->pos,
	};
	remember(r, own);
}

static void emit_task(struct cli *c, const struct task_result *t)
{
	scoped(arena_freep) struct arena *a = arena_new("task event");
	struct value *v = value_map(a), *changes = value_list(a);

	value_set(v, "node", value_cstr(a, t->host));
	value_set(v, "task", value_cstr(a, t->task ? t->task : t->module));
	value_set(v, "module", value_cstr(a, t->module));
	value_set(v, "status", value_cstr(a, status_word(t)));
	if (t->item)
		value_set(v, "item", value_cstr(a, t->item));
	if (t->msg)
		value_set(v, "message", value_cstr(a, t->msg));
	for (size_t i = 0; i < t->changes.n; i++) {
		struct value *ch = value_map(a);

		value_set(ch, "what", value_cstr(a, t->changes.v[i].what));
		value_set(ch, "before",
			  t->changes.v[i].before ? t->changes.v[i].before : value_null(a));
		value_set(ch, "after",
			  t->changes.v[i].after ? t->changes.v[i].after : value_null(a));
		value_add(a, changes, ch);
	}
	value_set(v, "changes", changes);
	events_emit(c, "task", v);
}

static void on_result(void *arg, const struct task_result *t)
{
	struct play_run *r = arg;

	emit_task(r->c, t);
	if (is_said(t))
		remember_said(r, t);
	if (r->c->g.verbose)
		view_notef(r->c, "%s: %s: %s\n", t->host, t->task ? t->task : t->module,
			   status_word(t));
}

static void print_report(struct play_run *r, const struct report *rep)
{
	const struct task_result *t = rep->first;
	bool color = r->c->color_out, said = is_said(t),
	     bad = t->status == TASK_FAILED || t->status == TASK_UNREACHABLE;
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "%s%s%s %s%s%s",
		 view_on(color, bad    ? VIEW_RED
				: said ? VIEW_DIM
				       : VIEW_YELLOW),
		 bad	? "!"
		 : said ? "."
			: "~",
		 view_off(color), t->role ? t->role : "", t->role ? " : " : "",
		 t->task ? t->task : t->module);
	if (t->item)
		buf_addf(&b, " (%s)", t->item);
	buf_addf(&b, ": %s on %zu: %s", status_word(t), rep->hosts.n,
		 view_fold(r->c->a, rep->hosts.v, rep->hosts.n));
	if (bad && t->pos.file)
		buf_addf(&b, "   %s:%d", t->pos.file, t->pos.line);
	buf_addc(&b, '\n');
	task_lines(r, &b, t);
	view_out(r->c, &b);
}

/* ---- the run ---- */

static int run_open_host(struct play_run *r, struct target *t, struct host *conn,
			 struct host_run *hr)
{
	struct run_host rh = {
		.name = t->name, .vars = t->vars, .group_names = t->groups, .conn = conn
	};

	return playbook_run(r->book, r->c->a, &rh, &r->ro, &hr->result, &hr->err);
}

static bool is_bad(const struct host_run *hr)
{
	return !hr->begun || hr->failed || hr->result.failed > 0 || hr->result.unreachable;
}

static void run_one(void *arg, struct target *t, size_t index)
{
	struct play_run *r = arg;
	struct host_run *hr = &r->hosts[index];
	struct host *conn;

	hr->begun = true;
	progress_node_start(r->c, t->name, "run");
	if (host_open(&t->host, &conn, &hr->err) < 0) {
		hr->failed = hr->result.unreachable = true;
	} else {
		hr->failed = run_open_host(r, t, conn, hr) < 0;
		host_close(conn);
	}
	if (hr->failed)
		err_on(&hr->err, NULL, t->name);
	progress_node_end(r->c, t->name, "run", is_bad(hr));
}

static void recap(struct play_run *r)
{
	struct table t = { 0 };
	scoped(buf_fini) struct buf b = { 0 };
	struct map by_counts;

	map_init(&by_counts, r->c->a);
	for (size_t i = 0; i < r->ts.v.n; i++) {
		const struct host_run *hr = &r->hosts[i];
		const struct run_result *x = &hr->result;
		const char *text = arena_printf(
			r->c->a,
			"ok=%lld changed=%lld unreachable=%d failed=%lld skipped=%lld ignored=%lld",
			(long long)x->ok, (long long)x->changed, x->unreachable,
			(long long)x->failed, (long long)x->skipped, (long long)x->ignored);
		struct names *members = map_getc(&by_counts, text);

		if (!members) {
			members = arena_obj(r->c->a, struct names);
			map_put(&by_counts, str_of(text), members);
		}
		VEC_ADD(r->c->a, &members->v) = r->ts.v.v[i]->name;
	}
	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < by_counts.n; i++) {
		const struct names *members = by_counts.e[i].val;

		table_row(r->c->a, &t, view_fold(r->c->a, members->v.v, members->v.n),
			  by_counts.e[i].key.p, NULL);
	}
	table_text(&b, &t);
	view_out(r->c, &b);
}

static void emit_recap(struct play_run *r)
{
	for (size_t i = 0; i < r->ts.v.n; i++) {
		const struct host_run *hr = &r->hosts[i];
		struct value *v = value_map(r->c->a);

		value_set(v, "node", value_cstr(r->c->a, r->ts.v.v[i]->name));
		value_set(v, "ok", value_int(r->c->a, hr->result.ok));
		value_set(v, "changed", value_int(r->c->a, hr->result.changed));
		value_set(v, "failed", value_int(r->c->a, hr->result.failed));
		value_set(v, "skipped", value_int(r->c->a, hr->result.skipped));
		value_set(v, "unreachable", value_bool(r->c->a, hr->result.unreachable));
		value_set(v, "probe_trips", value_int(r->c->a, (int64_t)hr->result.probe_trips));
		value_set(v, "patch_trips", value_int(r->c->a, (int64_t)hr->result.patch_trips));
		events_emit(r->c, "host_result", v);
	}
}

static int report_all(struct play_run *r)
{
	struct err_list errs = { 0 };
	size_t bad = 0, n = r->ts.v.n;

	for (size_t i = 0; i < n; i++) {
		const struct host_run *hr = &r->hosts[i];

		bad += is_bad(hr);
		if (hr->failed)
			err_list_add(&errs, &hr->err);
		for (size_t k = 0; k < hr->result.changes.n; k++)
			remember(r, hr->result.changes.v[k]);
	}
	emit_recap(r);
	events_nodes_result(r->c, n, bad);
	for (size_t i = 0; i < r->by_text.n && !r->c->g.json; i++)
		print_report(r, r->by_text.e[i].val);
	view_errors(r->c, &errs);
	err_list_fini(&errs);
	if (!r->c->g.json)
		recap(r);
	return !bad ? EXIT_DONE : bad < n ? EXIT_PARTIAL : EXIT_ERROR;
}

static int load_book(struct cli *c, struct play_run *r, struct err *e)
{
	const char *path = c->args.v.v[0];
	struct playbook_paths paths = { .dir = fs_dirname(c->a, path), .roles = session_roles(c) };
	struct err_list errs = { 0 };
	struct playbook *book;

	if (playbook_load(c->a, path, &paths, &book, &errs) < 0) {
		err_list_sort(&errs);
		view_errors(c, &errs);
		err_list_fini(&errs);
		*e = (struct err){ 0 };
		return -1;
	}
	err_list_fini(&errs);
	r->book = book;
	return 0;
}

static int cmd_run(struct cli *c, struct err *e)
{
	const struct run_cmd_opts *o = c->opts;
	struct play_run r = { .c = c, .o = o };

	map_init(&r.by_text, c->a);
	if (session_arg_count(c, 1, 1, e) < 0 || load_book(c, &r, e) < 0 ||
	    targets_find(c, &o->login, NULL, &r.ts, e) < 0)
		return -1;
	if (!r.ts.v.n)
		return err_set(e, ERR_USAGE, "no host is left to run on");
	r.hosts = arena_array(c->a, struct host_run, r.ts.v.n);
	r.ro = (struct run_opts){
		.check = o->check,
		.diff = o->diff,
		.allow_pipe = o->allow_pipe,
		.tags = cli_strings(c, &o->tags),
		.skip_tags = cli_strings(c, &o->skip_tags),
		.extra_vars = c->extra_vars,
		.world = &r.ts.world,
		.play_matches = play_matches,
		.on_result = on_result,
		.arg = &r,
	};
	progress_begin(c);
	progress_nodes(c, r.ts.v.n);
	int rc = targets_each(c, &r.ts, o->parallel, run_one, &r, e);

	progress_end(c);
	if (rc < 0 && e->kind != ERR_CANCELLED)
		return -1;
	return report_all(&r);
}

static const struct opt run_rows[] = {
	LOGIN_ROWS(run_cmd_opts),
	{ "check", 0, OPT_FLAG, offsetof(struct run_cmd_opts, check), NULL,
	  "change nothing, tell what would change", NULL },
	{ "diff", 'D', OPT_FLAG, offsetof(struct run_cmd_opts, diff), NULL,
	  "show what changes inside files", NULL },
	{ "tags", 0, OPT_LIST, offsetof(struct run_cmd_opts, tags), "TAG",
	  "only tasks with this tag (repeatable)", NULL },
	{ "skip-tags", 0, OPT_LIST, offsetof(struct run_cmd_opts, skip_tags), "TAG",
	  "no tasks with this tag (repeatable)", NULL },
	{ "allow-pipe", 0, OPT_FLAG, offsetof(struct run_cmd_opts, allow_pipe), NULL,
	  "let lookup('pipe') and lookup('lines') run commands on this machine", NULL },
	{ "parallel", 'p', OPT_INT, offsetof(struct run_cmd_opts, parallel), "N",
	  "hosts at a time (default 64)", "forks" },
	OPT_END,
};

const struct command command_run = {
	"run",
	"PLAYBOOK",
	"runs an Ansible-format playbook on an inventory's hosts or on the spec's nodes",
	"With -i: an Ansible inventory; without: the nodes of the spec. Every host runs at its own pace. Exits 4 when some hosts failed, 1 when all did.",
	run_rows,
	sizeof(struct run_cmd_opts),
	NEEDS_LOOP | EVENTS,
	cmd_run,
};
