/* SPDX-License-Identifier: Apache-2.0 */
/* apply and destroy: show the plan, ask, do it, fold the results. */
#include <stdio.h>

#include "cli/apply.h"
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/strings.h"
#include "cli/view.h"
#include "cli/view_causes.h"

#define DESTROY_UNASKED 10 /* more nodes than this need --yes-destroy=N */

/* Opened, and with the commit of the spec noted while it is what was just read. */
static int open_engine(struct cli *c, const struct apply_opts *o, struct err *e)
{
	struct engine_opts eo = {
		.parallel = o->parallel,
		.max_failures = o->max_failures,
		.lock_timeout_ms = o->lock_timeout_ms,
		.diff = o->diff,
		.no_refresh = o->no_refresh,
		.targets = cli_strings(c, &o->targets),
		.excludes = cli_strings(c, &o->excludes),
	};

	return session_engine(c, &eo, e) < 0 ? -1 : engine_note_source(c->engine, e);
}

static struct value *result_value(struct cli *c, const struct apply_result *r)
{
	struct causes causes;
	struct value *v = value_map(c->a), *failures = value_list(c->a);
	const struct {
		const char *name;
		size_t n;
	} counts[] = { { "created", r->created },     { "updated", r->updated },
		       { "destroyed", r->destroyed }, { "configured", r->configured },
		       { "failed", r->failed },	      { "skipped", r->skipped } };

	if (r->run)
		value_set(v, "run", value_cstr(c->a, r->run));
	for (size_t i = 0; i < ARRAY_LEN(counts); i++)
		value_set(v, counts[i].name, value_int(c->a, (int64_t)counts[i].n));
	value_set(v, "probe_trips", value_int(c->a, (int64_t)r->probe_trips));
	value_set(v, "patch_trips", value_int(c->a, (int64_t)r->patch_trips));
	for (size_t i = 0; i < r->failures.n; i++)
		value_add(c->a, failures, view_error_value(c->a, &r->failures.v[i]->err));
	value_set(v, "failures", failures);
	causes_fold(c->a, r, &causes);
	value_set(v, "causes", view_causes_value(c->a, &causes));
	value_set(v, "held", view_held_value(c->a, r));
	if (r->outputs)
		value_set(v, "outputs", r->outputs);
	return v;
}

static void print_outputs(struct cli *c, const struct value *outputs)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!outputs || outputs->kind != V_MAP || !outputs->map.n)
		return;
	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, "\nOutputs:\n");
	for (size_t i = 0; i < outputs->map.n; i++) {
		const struct value *v = outputs->map.e[i].val;

		buf_addf(&b, "  " STR_FMT " = ", STR_ARG(outputs->map.e[i].key));
		if (v->kind == V_STR && !v->secret)
			json_write_string(&b, v->s);
		else
			value_print(&b, v);
		buf_addc(&b, '\n');
	}
	view_out(c, &b);
}

static void count_words(struct buf *b, size_t n, const char *word)
{
	if (n)
		buf_addf(b, "%s%zu %s", b->n ? ", " : "", n, word);
}

static void print_result(struct cli *c, const struct apply_result *r)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct causes causes;

	buf_init(&b, 4096);
	count_words(&b, r->created, "created");
	count_words(&b, r->updated, "updated");
	count_words(&b, r->configured, "configured");
	count_words(&b, r->destroyed, "destroyed");
	count_words(&b, r->failed, "failed");
	count_words(&b, r->skipped, "not begun");
	if (!b.n)
		buf_adds(&b, "nothing done");
	causes_fold(c->a, r, &causes);
	view_causes(c, &causes, r);
	view_outf(c, "%s%s:%s %s.\n", view_on(c->color_out, VIEW_BOLD),
		  r->failed    ? "Finished with failures"
		  : r->stopped ? "Stopped"
			       : "Done",
		  view_off(c->color_out), b.p);
	print_outputs(c, r->outputs);
	if (r->failed || r->skipped)
		view_notef(
			c,
			"Run %s. Next: mend the cause and type the same again; it takes up what is left.\n",
			r->run);
}

static int exit_code_of(const struct cli *c, const struct apply_result *r)
{
	const struct apply_opts *o = c->opts;

	if (!r->failed && !r->skipped)
		return EXIT_DONE;
	if (r->budget_exceeded && o->max_failures.n)
		return EXIT_REFUSED;
	return r->budget_exceeded || r->stopped ? EXIT_ERROR : EXIT_PARTIAL;
}

/* As a document it is larger than the plan itself, and needed once. */
static void tell_plan(struct cli *c, const struct plan *p)
{
	scoped(arena_freep) struct arena *a = arena_new("planned");

	events_emit(c, "planned", plan_json(a, p));
}

static int walk(struct cli *c, const struct plan *p, struct err *e)
{
	struct apply_result r = { 0 };

	tell_plan(c, p);
	progress_begin(c);
	progress_plan(c, p);
	int rc = plan_apply(c->engine, c->a, p, c->cmd->name, &r, e);

	progress_end(c);
	events_result(c, result_value(c, &r));
	if (rc < 0)
		return -1;
	if (!c->g.json)
		print_result(c, &r);
	return exit_code_of(c, &r);
}

static size_t nodes_destroyed(const struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->changes.n; i++) {
		const struct change *ch = p->changes.v[i];

		n += ch->node && !ch->owned &&
		     (ch->action == CHANGE_DELETE || ch->action == CHANGE_REPLACE);
	}
	return n;
}

/* A slip of the pen must not cost a fleet: many nodes are destroyed only when their number was
 * typed. */
static int guard_destruction(const struct apply_opts *o, const struct plan *p, struct err *e)
{
	size_t n = nodes_destroyed(p);

	if (o->yes_destroy && (size_t)o->yes_destroy != n) {
		err_set(e, ERR_USAGE, "the plan destroys %zu nodes, not %lld", n,
			(long long)o->yes_destroy);
		return err_hint(e, "look at the plan, then type --yes-destroy=%zu", n);
	}
	if (n > DESTROY_UNASKED && !o->yes_destroy) {
		err_set(e, ERR_USAGE, "the plan destroys %zu nodes", n);
		return err_hint(e, "type --yes-destroy=%zu to say that you know", n);
	}
	return 0;
}

int apply_confirmed(struct cli *c, const struct plan *p, const char *question, struct err *e)
{
	const struct apply_opts *o = c->opts;
	struct plan_view how = { .full = o->full, .diff = o->diff };

	if (!c->g.json)
		view_plan(c, p, &how);
	if (guard_destruction(o, p, e) < 0)
		return -1;
	if (!o->yes && !o->yes_destroy && session_confirm(c, question, "--yes", e) < 0)
		return -1;
	return walk(c, p, e);
}

int apply_empty(struct cli *c, const struct plan *p, struct err *e)
{
	const struct apply_opts *o = c->opts;
	struct plan_view how = { .full = o->full, .diff = o->diff };
	struct apply_result r = { .probe_trips = p->probe_trips, .outputs = p->outputs };

	tell_plan(c, p);
	events_result(c, result_value(c, &r));
	if (!c->g.json) {
		view_plan(c, p, &how);
		print_outputs(c, p->outputs);
	}
	if (p->unreachable.n)
		return err_set(e, ERR_REMOTE, "%zu nodes could not be asked", p->unreachable.n);
	return EXIT_DONE;
}

static int apply_saved(struct cli *c, const char *path, struct err *e)
{
	struct plan *p;

	if (plan_load(c->engine, c->a, path, &p, e) < 0 || plan_verify(c->engine, p, e) < 0)
		return -1;
	return walk(c, p, e); /* it was looked at when it was saved */
}

/* What a killed run left is settled first, so that the plan shown is the plan done. */
static int settle(struct cli *c, struct err *e)
{
	struct recover_report r = { 0 };

	progress_begin(c);
	int rc = engine_recover(c->engine, c->a, &r, e);

	progress_end(c);
	return rc;
}

static int make(struct cli *c, enum plan_mode mode, struct plan **p, struct err *e)
{
	progress_begin(c);
	int rc = plan_make(c->engine, c->a, mode, p, e);

	progress_end(c);
	return rc;
}

static int cmd_apply(struct cli *c, struct err *e)
{
	struct plan *p;

	if (session_arg_count(c, 0, 1, e) < 0 || open_engine(c, c->opts, e) < 0)
		return -1;
	if (c->args.v.n)
		return apply_saved(c, c->args.v.v[0], e);
	if (settle(c, e) < 0)
		return -1;
	if (make(c, PLAN_APPLY, &p, e) < 0)
		return -1;
	if (plan_is_empty(p))
		return apply_empty(c, p, e);
	return apply_confirmed(c, p, "Do this?", e);
}

static int cmd_destroy(struct cli *c, struct err *e)
{
	struct plan *p;

	if (session_no_args(c, e) < 0 || open_engine(c, c->opts, e) < 0 || settle(c, e) < 0)
		return -1;
	if (make(c, PLAN_DESTROY, &p, e) < 0)
		return -1;
	if (plan_is_empty(p) && c->g.json)
		return apply_empty(c, p, e);
	if (plan_is_empty(p)) {
		view_outf(c, "Nothing to destroy.\n");
		return EXIT_DONE;
	}
	return apply_confirmed(c, p, "Destroy all this? There is no way back.", e);
}

#define O(member, letter, type, arg, doc, aliases)                                            \
	{                                                                                     \
#member, letter, type, offsetof(struct apply_opts, member), arg, doc, aliases \
	}
#define COMMON_ROWS                                                                            \
	O(yes, 'y', OPT_FLAG, NULL, "don't ask", "auto-approve"),                              \
		O(parallel, 'p', OPT_INT, "N", "steps at a time (default 32)", "parallelism"), \
		{ "yes-destroy", 0,                                                            \
		  OPT_INT,	 offsetof(struct apply_opts, yes_destroy),                     \
		  "N",		 "the number of nodes that may be destroyed",                  \
		  NULL },                                                                      \
		{ "max-failures",                                                              \
		  0,                                                                           \
		  OPT_SHARE,                                                                   \
		  offsetof(struct apply_opts, max_failures),                                   \
		  "N|%",                                                                       \
		  "go on until this many nodes failed (default: stop at the first)",           \
		  NULL },                                                                      \
		{ "lock-timeout",                                                              \
		  0,                                                                           \
		  OPT_MS,                                                                      \
		  offsetof(struct apply_opts, lock_timeout_ms),                                \
		  "TIME",                                                                      \
		  "wait so long for other runs on the same nodes (default 0s)",                \
		  NULL },                                                                      \
		O(full, 0, OPT_FLAG, NULL, "every node on its own in the plan", NULL),         \
		{ "target", 0,                                                                 \
		  OPT_LIST, offsetof(struct apply_opts, targets),                              \
		  "ADDR",   "only this resource (repeatable)",                                 \
		  NULL },                                                                      \
	{                                                                                      \
		"exclude", 0, OPT_LIST, offsetof(struct apply_opts, excludes), "ADDR",         \
			"not this resource (repeatable)", NULL                                 \
	}

static const struct opt apply_rows[] = {
	COMMON_ROWS,
	O(diff, 0, OPT_FLAG, NULL, "show what changes inside files", NULL),
	{ "no-refresh", 0, OPT_FLAG, offsetof(struct apply_opts, no_refresh), NULL,
	  "plan from the record, ask nobody", NULL },
	OPT_END,
};
static const struct opt destroy_rows[] = { COMMON_ROWS, OPT_END };

const struct command command_apply = {
	"apply",
	"[PLAN]",
	"shows the plan, asks, and does it; or does exactly a saved plan",
	"A saved plan is refused when the spec, the state or what is there has moved since. ^C once: no new steps; twice: at once. Either way "
	"nothing is lost: the next run settles what was begun.",
	apply_rows,
	sizeof(struct apply_opts),
	NEEDS_SPEC | NEEDS_STATE | NEEDS_LOOP | EVENTS | RECORDED,
	cmd_apply,
};
const struct command command_destroy = {
	"destroy",
	"",
	"destroys what muster made, in dependency order",
	"Works from the state: the spec is read if it is there. More than 10 nodes need --yes-destroy=N.",
	destroy_rows,
	sizeof(struct apply_opts),
	MAY_SPEC | NEEDS_STATE | NEEDS_LOOP | EVENTS | RECORDED,
	cmd_destroy,
};
