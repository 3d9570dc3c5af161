/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history: past runs, or one of them. A run of ten thousand nodes is told in a screenful: steps are
 * folded by what came of them, failures by their cause, the critical path by what was done.
 */
#include "cli/history.h"

#include <stdlib.h>

#include "cli/view.h"

#define LIST_RUNS	100
#define SLOWEST_DEFAULT 10
#define MAX_GROUPS	12
#define MAX_LINKS	12
#define NAMES_MAX	72

struct history_opts {
	bool slowest, critical, events, all;
};

/* ---- words ---- */

static const char *took_text(struct arena *a, int64_t ms)
{
	char d[16];

	if (ms < 1000)
		return arena_printf(a, "%lld ms", (long long)(ms < 0 ? 0 : ms));
	clock_format_duration(ms, d);
	return arena_strdup(a, d);
}

static const char *time_text(struct arena *a, int64_t ms)
{
	char at[CLOCK_ISO_LEN];

	clock_iso(ms, at);
	return arena_printf(a, "%.10s %.8s", at, at + 11);
}

static const char *text_or(struct arena *a, const struct value *v, const char *key,
			   const char *otherwise)
{
	return str_cstr(a, value_get_str(v, key, otherwise));
}

static bool has_text(const struct value *v, const char *key)
{
	return value_get_str(v, key, "").n > 0;
}

const char *history_source_text(struct arena *a, const struct value *source)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!source)
		return "not recorded";
	if (!has_text(source, "commit"))
		return arena_printf(a, "no commit: %s", text_or(a, source, "why", "not known"));
	buf_init(&b, 4096);
	buf_addf(&b, "%.12s", text_or(a, source, "commit", ""));
	if (has_text(source, "branch"))
		buf_addf(&b, " on %s", text_or(a, source, "branch", ""));
	if (has_text(source, "path"))
		buf_addf(&b, ", %s", text_or(a, source, "path", ""));
	if (value_get_bool(source, "dirty", false))
		buf_addf(&b, ", not as committed (%s)", text_or(a, source, "changed", "?"));
	return buf_dup(&b, a);
}

static const char *counts_text(struct arena *a, const struct value *summary)
{
	static const char *const keys[] = { "created",	 "updated", "configured",
					    "destroyed", "failed",  "skipped" };
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 1024);
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		int64_t n = value_get_int(summary, keys[i], 0);
		if (n)
			buf_addf(&b, "%s%lld %s", b.n ? ", " : "", (long long)n, keys[i]);
	}
	return b.n ? buf_dup(&b, a) : "-";
}

static const char *result_of(const struct state_run *r)
{
	return r->result ? r->result : "unfinished";
}

struct value *history_run_value(struct arena *a, const struct state_run *r)
{
	struct value *v = value_map(a);

	value_set(v, "id", value_cstr_or_null(a, r->id));
	value_set(v, "command", value_cstr_or_null(a, r->command));
	value_set(v, "who", value_cstr_or_null(a, r->who));
	value_set(v, "result", value_cstr_or_null(a, r->result));
	value_set(v, "started_ms", value_int(a, r->started_ms));
	value_set(v, "ended_ms", value_int(a, r->ended_ms));
	value_set(v, "spec_digest", value_cstr_or_null(a, r->spec_digest));
	value_set(v, "plan_digest", value_cstr_or_null(a, r->plan_digest));
	value_set(v, "command_line", value_cstr_or_null(a, r->args));
	value_set(v, "source", r->source ? r->source : value_null(a));
	value_set(v, "summary", r->summary ? r->summary : value_null(a));
	return v;
}

int history_find(struct cli *c, const char *id, struct state_run **out, struct err *e)
{
	struct state_runs last = { 0 };

	*out = NULL;
	if (!c->state)
		return err_set(e, ERR_NOT_FOUND, "nothing was ever run here");
	if (strcmp(id, "last") == 0) {
		if (state_runs(c->state, c->a, 1, &last, e) < 0)
			return -1;
		*out = last.v.n ? last.v.v[0] : NULL;
	} else if (state_run_by_prefix(c->state, c->a, id, out, e) < 0) {
		return -1;
	}
	if (*out)
		return 0;
	err_set(e, ERR_NOT_FOUND, "there is no run %s", id);
	return err_hint(e, "muster history lists the runs");
}

/* ---- all runs ---- */

static const char *commit_cell(struct arena *a, const struct value *source)
{
	if (!has_text(source, "commit"))
		return "-";
	return arena_printf(a, "%.9s%s", text_or(a, source, "commit", ""),
			    value_get_bool(source, "dirty", false) ? "+" : "");
}

static void list_text(struct cli *c, const struct state_runs *runs)
{
	struct table t = { 0 };
	scoped(buf_fini) struct buf b = { 0 };
	bool dirty = false;

	table_row(c->a, &t, "RUN", "STARTED", "TOOK", "WHO", "COMMAND", "RESULT", "COMMIT",
		  "COUNTS", NULL);
	for (size_t i = 0; i < runs->v.n; i++) {
		const struct state_run *r = runs->v.v[i];

		dirty |= value_get_bool(r->source, "dirty", false);
		table_row(c->a, &t, r->id, time_text(c->a, r->started_ms),
			  r->ended_ms ? took_text(c->a, r->ended_ms - r->started_ms) : "-", r->who,
			  r->command, result_of(r), commit_cell(c->a, r->source),
			  counts_text(c->a, r->summary), NULL);
	}
	buf_init(&b, SIZE_MAX);
	table_text(&b, &t);
	if (dirty)
		buf_adds(&b, "+: the spec was not as in that commit\n");
	view_out(c, &b);
}

static int list(struct cli *c, struct err *e)
{
	const struct history_opts *o = c->opts;
	struct state_runs runs = { 0 };
	struct value *doc = value_list(c->a);

	if (c->state && state_runs(c->state, c->a, o->all ? 0 : LIST_RUNS, &runs, e) < 0)
		return -1;
	for (size_t i = 0; i < runs.v.n; i++)
		value_add(c->a, doc, history_run_value(c->a, runs.v.v[i]));
	if (c->g.json)
		view_json(c, doc);
	else
		list_text(c, &runs);
	if (!o->all && runs.v.n == LIST_RUNS)
		view_notef(c, "The newest %d; --all shows every run.\n", LIST_RUNS);
	return EXIT_DONE;
}

/* ---- one run: the parts ---- */

struct step_group {
	const char *what, *error;
	VEC(const char *) names;
	VEC(int64_t) took;
};

static const char *names_text(struct arena *a, const char *const *names, size_t n)
{
	const char *all = view_fold(a, names, n);
	size_t len = strlen(all);

	return len <= NAMES_MAX ? all : arena_printf(a, "%.*s...", NAMES_MAX - 3, all);
}

static int by_number(const void *x, const void *y)
{
	const int64_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

struct groups {
	VEC(struct step_group *) v;
};

/* A cause with the node's own name in it is one cause for all nodes. */
static const char *cause_of(struct arena *a, const struct run_step *s)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct str rest = str_of(s->error), name = str_of(s->name);
	size_t at;

	buf_init(&b, SIZE_MAX);
	while (name.n && (at = str_find(rest, name)) != SIZE_MAX) {
		buf_addstr(&b, str_sub(rest, 0, at));
		buf_addc(&b, '*');
		rest = str_sub(rest, at + name.n, SIZE_MAX);
	}
	buf_addstr(&b, rest);
	return buf_dup(&b, a);
}

/* failed: those with an error, by action and error; else the others, by what was done. */
static void group_steps(struct arena *a, const struct run_history *h, bool failed,
			struct groups *out)
{
	struct map by_key;

	map_init(&by_key, a);
	for (size_t i = 0; i < h->steps.n; i++) {
		const struct run_step *s = h->steps.v[i];
		if ((s->error != NULL) != failed)
			continue;
		const char *key = arena_printf(a, "%s\n%s", s->what,
					       s->error ? cause_of(a, s) : "");
		struct step_group *g = map_getc(&by_key, key);
		if (!g) {
			g = arena_obj(a, struct step_group);
			*g = (struct step_group){ .what = s->what, .error = s->error };
			map_put(&by_key, str_of(key), g);
			VEC_ADD(a, &out->v) = g;
		}
		if (g->names.n == 1 && s->error)
			g->error = cause_of(a, s);
		VEC_ADD(a, &g->names) = s->name;
		VEC_ADD(a, &g->took) = s->took_ms;
	}
	for (size_t i = 0; i < out->v.n; i++)
		qsort(out->v.v[i]->took.v, out->v.v[i]->took.n, sizeof(int64_t), by_number);
}

static const char *count_text(struct arena *a, size_t n)
{
	return arena_printf(a, "%zu", n);
}

static void steps_text(struct arena *a, const struct run_history *h, struct buf *b)
{
	struct groups groups = { 0 };
	struct table t = { 0 };

	group_steps(a, h, false, &groups);
	if (!groups.v.n)
		return;
	table_row(a, &t, "  STEPS", "", "MEDIAN", "SLOWEST", "ON", NULL);
	for (size_t i = 0; i < groups.v.n && i < MAX_GROUPS; i++) {
		const struct step_group *g = groups.v.v[i];
		table_row(a, &t, arena_printf(a, "  %s", g->what), count_text(a, g->took.n),
			  took_text(a, g->took.v[g->took.n / 2]),
			  took_text(a, g->took.v[g->took.n - 1]),
			  names_text(a, g->names.v, g->names.n), NULL);
	}
	buf_addc(b, '\n');
	table_text(b, &t);
}

static void failures_text(struct arena *a, const struct run_history *h, struct buf *b)
{
	struct groups groups = { 0 };

	group_steps(a, h, true, &groups);
	if (groups.v.n)
		buf_adds(b, "\n  FAILED\n");
	for (size_t i = 0; i < groups.v.n && i < MAX_GROUPS; i++) {
		const struct step_group *g = groups.v.v[i];
		buf_addf(b, "  %s: %s\n", g->what, names_text(a, g->names.v, g->names.n));
		buf_adds(b, "    ");
		view_plain(b, str_of(g->error));
		buf_addc(b, '\n');
	}
	if (groups.v.n > MAX_GROUPS)
		buf_addf(b, "  ... and %zu more causes; --events has all\n",
			 groups.v.n - MAX_GROUPS);
}

/* What a run that has no end, killed or still on its way, has begun. */
static int open_text(struct cli *c, const struct state_run *r, struct buf *b, struct err *e)
{
	struct journal_rows rows;
	struct map by_action;

	if (r->result)
		return 0;
	if (journal_run_rows(c->state, c->a, r->id, &rows, e) < 0)
		return -1;
	map_init(&by_action, c->a);
	for (size_t i = 0; i < rows.v.n; i++) {
		const struct journal_row *row = rows.v.v[i];
		if (row->outcome != JOURNAL_INTENT && row->outcome != JOURNAL_UNKNOWN)
			continue;
		struct names *n = map_getc(&by_action, row->action);
		if (!n) {
			n = arena_obj(c->a, struct names);
			map_put(&by_action, str_of(row->action), n);
		}
		VEC_ADD(c->a, &n->v) = engine_node_name(c->a, row->addr);
	}
	if (by_action.n)
		buf_adds(b, "\n  BEGUN, AND NOT ENDED\n");
	for (size_t i = 0; i < by_action.n; i++) {
		const struct names *n = by_action.e[i].val;
		buf_addf(b, "  " STR_FMT " %zu: %s\n", STR_ARG(by_action.e[i].key), n->v.n,
			 names_text(c->a, n->v.v, n->v.n));
	}
	return 0;
}

/* Neighbours of the chain that did the same, for the same reason. */
struct link {
	const struct run_step *first;
	VEC(const char *) names;
	int64_t took_ms, waited_ms;
};

static bool same_kind(const struct run_step *x, const struct run_step *y)
{
	return strcmp(x->what, y->what) == 0 && x->needed == y->needed && x->after && y->after;
}

static int64_t began(const struct run_step *s)
{
	return s->ended_ms - s->took_ms;
}

struct links {
	VEC(struct link *) v;
};

static void fold_links(struct arena *a, const struct run_history *h, struct links *out)
{
	for (size_t i = 0; i < h->critical.n; i++) {
		const struct run_step *s = h->critical.v[i];
		struct link *l = out->v.n ? out->v.v[out->v.n - 1] : NULL;
		if (!l || !same_kind(l->first, s)) {
			l = arena_obj(a, struct link);
			*l = (struct link){ .first = s };
			VEC_ADD(a, &out->v) = l;
		}
		VEC_ADD(a, &l->names) = s->name;
		l->took_ms += s->took_ms;
		if (s->after && began(s) > s->after->ended_ms)
			l->waited_ms += began(s) - s->after->ended_ms;
	}
}

static const char *wait_text(struct arena *a, const struct link *l)
{
	const struct run_step *s = l->first;
	const char *gap = l->waited_ms >= 100
				  ? arena_printf(a, ", and %s idle", took_text(a, l->waited_ms))
				  : "";

	if (!s->after)
		return "";
	if (l->names.n > 1)
		return arena_printf(a, "%s%s",
				    s->needed ? "each after what it rests on"
					      : "one after the other: each waited for its turn",
				    gap);
	return arena_printf(a, "%s %s%s", s->needed ? "after" : "its turn came after",
			    s->after_text, gap);
}

static void edge_row(struct arena *a, struct table *t, int64_t ms, const char *what)
{
	if (ms >= 100)
		table_row(a, t, arena_printf(a, "  %s", took_text(a, ms)), what, "", "", NULL);
}

static void critical_text(struct arena *a, const struct run_history *h, struct buf *b)
{
	struct links links = { 0 };
	struct table t = { 0 };

	fold_links(a, h, &links);
	if (!links.v.n)
		return;
	const struct run_step *first = h->critical.v[0], *last = h->critical.v[h->critical.n - 1];
	table_row(a, &t, "  TIME", "ON THE CRITICAL PATH", "", "", NULL);
	edge_row(a, &t, began(first) - h->run->started_ms, "before the first step");
	for (size_t i = 0; i < links.v.n; i++) {
		const struct link *l = links.v.v[i];
		if (links.v.n > MAX_LINKS && i >= MAX_LINKS / 2 && i < links.v.n - MAX_LINKS / 2)
			continue;
		if (links.v.n > MAX_LINKS && i == links.v.n - MAX_LINKS / 2)
			table_row(a, &t, "  ...",
				  arena_printf(a, "%zu more", links.v.n - MAX_LINKS), "", "", NULL);
		table_row(a, &t, arena_printf(a, "  %s", took_text(a, l->took_ms)),
			  l->names.n > 1 ? arena_printf(a, "%s %zu", l->first->what, l->names.n)
					 : l->first->what,
			  names_text(a, l->names.v, l->names.n), wait_text(a, l), NULL);
	}
	if (h->run->ended_ms)
		edge_row(a, &t, h->run->ended_ms - last->ended_ms, "after the last step");
	buf_addc(b, '\n');
	table_text(b, &t);
}

static int slower(const void *x, const void *y)
{
	const struct run_step *a = *(const struct run_step *const *)x,
			      *b = *(const struct run_step *const *)y;

	if (a->took_ms != b->took_ms)
		return a->took_ms < b->took_ms ? 1 : -1;
	return strcmp(a->addr, b->addr);
}

static void slowest_text(struct arena *a, const struct run_history *h, int64_t n, struct buf *b)
{
	struct table t = { 0 };
	struct run_step **sorted = arena_array(a, struct run_step *, h->steps.n + 1);

	for (size_t i = 0; i < h->steps.n; i++)
		sorted[i] = h->steps.v[i];
	qsort(sorted, h->steps.n, sizeof sorted[0], slower);
	table_row(a, &t, "  TOOK", "SLOWEST", "", "AFTER", NULL);
	for (size_t i = 0; i < h->steps.n && (int64_t)i < n; i++)
		table_row(a, &t, arena_printf(a, "  %s", took_text(a, sorted[i]->took_ms)),
			  sorted[i]->what, sorted[i]->name,
			  sorted[i]->after_text ? sorted[i]->after_text : "-", NULL);
	buf_addc(b, '\n');
	table_text(b, &t);
}

/* ---- one run, for people ---- */

static void fact(struct buf *b, const char *name, const char *text)
{
	buf_addf(b, "  %-9s ", name);
	view_plain(b, str_of(text));
	buf_addc(b, '\n');
}

static void revert_facts(struct arena *a, const struct value *source, struct buf *b)
{
	const struct value *head = value_get(source, "head");

	if (!has_text(source, "reverts"))
		return;
	fact(b, "reverts", arena_printf(a, "to run %s", text_or(a, source, "reverts", "")));
	fact(b, "instead", head ? arena_printf(a, "of %s", history_source_text(a, head)) : "-");
}

static void head_text(struct arena *a, const struct state_run *r, struct buf *b)
{
	buf_addf(b, "run %s: %s, %s\n", r->id, r->command, result_of(r));
	fact(b, "who", r->who);
	fact(b, "when",
	     r->ended_ms ? arena_printf(a, "%s, took %s", time_text(a, r->started_ms),
					took_text(a, r->ended_ms - r->started_ms))
			 : time_text(a, r->started_ms));
	if (r->args)
		fact(b, "command", r->args);
	fact(b, "spec", history_source_text(a, r->source));
	revert_facts(a, r->source, b);
	if (r->plan_digest)
		fact(b, "plan", arena_printf(a, "%.12s", r->plan_digest));
	if (r->summary)
		fact(b, "counts", counts_text(a, r->summary));
}

static int run_text(struct cli *c, const struct run_history *h, int64_t slowest, struct err *e)
{
	const struct history_opts *o = c->opts;
	scoped(buf_fini) struct buf b = { 0 };
	bool all = !slowest && !o->critical;

	buf_init(&b, SIZE_MAX);
	head_text(c->a, h->run, &b);
	if (all) {
		steps_text(c->a, h, &b);
		failures_text(c->a, h, &b);
		if (open_text(c, h->run, &b, e) < 0)
			return -1;
	}
	if (all || o->critical)
		critical_text(c->a, h, &b);
	if (slowest)
		slowest_text(c->a, h, slowest, &b);
	if (!h->steps.n)
		buf_adds(&b, "  no step was recorded\n");
	view_out(c, &b);
	return EXIT_DONE;
}

/* ---- one run, for machines ---- */

static struct value *step_value(struct arena *a, const struct run_step *s)
{
	struct value *v = value_map(a);

	value_set(v, "address", value_cstr_or_null(a, s->addr));
	value_set(v, "action", value_cstr_or_null(a, s->action));
	value_set(v, "outcome", value_cstr_or_null(a, s->what));
	value_set(v, "started_ms", value_int(a, began(s)));
	value_set(v, "ended_ms", value_int(a, s->ended_ms));
	value_set(v, "took_ms", value_int(a, s->took_ms));
	value_set(v, "after", value_cstr_or_null(a, s->after_text));
	value_set(v, "waited_for",
		  value_cstr_or_null(a, !s->after_text ? NULL
					: s->needed    ? "needs"
						       : "turn"));
	value_set(v, "error", value_cstr_or_null(a, s->error));
	return v;
}

static void run_json(struct cli *c, const struct run_history *h, int64_t slowest)
{
	struct value *doc = history_run_value(c->a, h->run), *steps = value_list(c->a),
		     *critical = value_list(c->a);
	struct run_step **sorted = arena_array(c->a, struct run_step *, h->steps.n + 1);

	for (size_t i = 0; i < h->steps.n; i++)
		sorted[i] = h->steps.v[i];
	if (slowest)
		qsort(sorted, h->steps.n, sizeof sorted[0], slower);
	for (size_t i = 0; i < h->steps.n && (!slowest || (int64_t)i < slowest); i++)
		value_add(c->a, steps, step_value(c->a, sorted[i]));
	for (size_t i = 0; i < h->critical.n; i++)
		value_add(c->a, critical, step_value(c->a, h->critical.v[i]));
	value_set(doc, "steps", steps);
	value_set(doc, "critical_path", critical);
	view_json(c, doc);
}

/* ---- events ---- */

static void event_json(struct arena *a, const struct state_event *ev, struct buf *b)
{
	struct value *v = value_map(a);
	char at[CLOCK_ISO_LEN];

	clock_iso(ev->at_ms, at);
	value_set(v, "@timestamp", value_cstr(a, at));
	value_set(v, "seq", value_int(a, ev->seq));
	value_set(v, "run", value_cstr_or_null(a, ev->run));
	value_set(v, "address", value_cstr_or_null(a, ev->addr));
	value_set(v, "what", value_cstr_or_null(a, ev->what));
	value_set(v, "data", ev->data ? ev->data : value_null(a));
	json_write(b, v, 0);
	buf_addc(b, '\n');
}

static void event_text(const struct state_event *ev, struct buf *b)
{
	char at[CLOCK_ISO_LEN];

	clock_iso(ev->at_ms, at);
	buf_addf(b, "%s  %-12s %s", at, ev->what, ev->addr ? ev->addr : "");
	if (ev->data && ev->data->kind == V_MAP && ev->data->map.n) {
		buf_adds(b, "  ");
		json_write(b, ev->data, 0);
	}
	buf_addc(b, '\n');
}

static int print_events(struct cli *c, const char *run, struct err *e)
{
	struct state_events events = { 0 };
	scoped(buf_fini) struct buf b = { 0 };

	if (state_events(c->state, c->a, run, &events, e) < 0)
		return -1;
	buf_init(&b, SIZE_MAX);
	for (size_t i = 0; i < events.v.n; i++) {
		if (c->g.json)
			event_json(c->a, events.v.v[i], &b);
		else
			event_text(events.v.v[i], &b);
	}
	view_out(c, &b);
	return EXIT_DONE;
}

/* ---- the command ---- */

/* `--slowest 20`: the number stands where an argument would. */
static int slowest_of(struct cli *c, int64_t *out, struct err *e)
{
	const struct history_opts *o = c->opts;

	*out = o->slowest ? SLOWEST_DEFAULT : 0;
	if (c->args.v.n < 2)
		return 0;
	if (o->slowest && str_to_int(str_of(c->args.v.v[1]), out) && *out > 0)
		return 0;
	return err_set(e, ERR_USAGE, "%s: unexpected argument \"%s\"", c->cmd->name,
		       c->args.v.v[1]);
}

static int cmd_history(struct cli *c, struct err *e)
{
	const struct history_opts *o = c->opts;
	struct run_history h;
	struct state_run *run;
	int64_t slowest;

	if (session_arg_count(c, 0, 2, e) < 0)
		return -1;
	if (!c->args.v.n && (o->slowest || o->critical || o->events)) {
		err_set(e, ERR_USAGE, "which run?");
		return err_hint(e, "muster history last --%s",
				o->slowest    ? "slowest"
				: o->critical ? "critical-path"
					      : "events");
	}
	if (!c->args.v.n)
		return list(c, e);
	if (slowest_of(c, &slowest, e) < 0 || history_find(c, c->args.v.v[0], &run, e) < 0)
		return -1;
	if (o->events)
		return print_events(c, run->id, e);
	if (engine_history(c->state, c->a, run, &h, e) < 0)
		return -1;
	if (!c->g.json)
		return run_text(c, &h, slowest, e);
	run_json(c, &h, slowest);
	return EXIT_DONE;
}

static const struct opt history_rows[] = {
	{ "slowest", 0, OPT_FLAG, offsetof(struct history_opts, slowest), NULL,
	  "only the slowest steps of the run; a number after it says how many (10)", NULL },
	{ "critical-path", 0, OPT_FLAG, offsetof(struct history_opts, critical), NULL,
	  "only the chain of steps that the run's length came from", NULL },
	{ "events", 0, OPT_FLAG, offsetof(struct history_opts, events), NULL,
	  "the run's events, one a line", NULL },
	{ "all", 0, OPT_FLAG, offsetof(struct history_opts, all), NULL,
	  "every run, not only the newest 100", NULL },
	OPT_END,
};

const struct command command_history = {
	"history",
	"[RUN]",
	"past runs, or what one of them did and why it took so long",
	"RUN is an id, the beginning of one, or `last`. Each run is kept with who began it, its command line, and the commit that its spec came from (a + means: not as in that "
	"commit).",
	history_rows,
	sizeof(struct history_opts),
	READS_STATE,
	cmd_history,
};
