/* SPDX-License-Identifier: Apache-2.0 */
/* plan and drift: what would be done, and what was changed outside. Both only look; neither takes
 * the lease. */
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/strings.h"
#include "cli/view.h"

struct plan_opts {
	const char *out;
	bool full, diff, refresh_only, no_refresh, detailed, destroy, markdown;
	int64_t max_bytes;
	struct opt_list targets, excludes;
};

/* See strings.h. */
const char *const *cli_strings(struct cli *c, const struct opt_list *l)
{
	const char **v = arena_array(c->a, const char *, l->v.n + 1);

	for (size_t i = 0; i < l->v.n; i++)
		v[i] = l->v.v[i];
	return l->v.n ? v : NULL;
}

static int make(struct cli *c, const struct plan_opts *o, enum plan_mode mode, struct plan **plan,
		struct err *e)
{
	struct engine_opts eo = {
		.diff = o->diff,
		.no_refresh = o->no_refresh,
		.targets = cli_strings(c, &o->targets),
		.excludes = cli_strings(c, &o->excludes),
	};

	if (session_engine(c, &eo, e) < 0)
		return -1;
	progress_begin(c);
	int rc = plan_make(c->engine, c->a, mode, plan, e);

	progress_end(c);
	if (rc == 0 && events_wanted())
		events_emit(c, "planned", plan_json(c->a, *plan));
	return rc;
}

static int exit_code_of(const struct plan *p)
{
	if (plan_is_empty(p))
		return EXIT_DONE;
	return p->drift.n == p->changes.n ? EXIT_DRIFT : EXIT_CHANGES;
}

static int check_opts(const struct cli *c, struct err *e)
{
	const struct plan_opts *o = c->opts;

	if (session_no_args(c, e) < 0)
		return -1;
	if (o->max_bytes && !o->markdown)
		return err_set(e, ERR_USAGE, "--max-bytes is for --markdown");
	if (o->max_bytes && o->max_bytes < MARKDOWN_MIN_BYTES)
		return err_set(e, ERR_USAGE, "--max-bytes %lld is too little: at least %d",
			       (long long)o->max_bytes, MARKDOWN_MIN_BYTES);
	if (o->markdown && c->g.json)
		return err_set(e, ERR_USAGE, "--markdown and --json are two things");
	return 0;
}

static void show(struct cli *c, const struct plan *p, bool drift)
{
	const struct plan_opts *o = c->opts;
	struct plan_view how = { .full = o->full, .diff = o->diff };

	if (c->g.json)
		view_json(c, plan_json(c->a, p));
	else if (o->markdown)
		view_plan_markdown(c, p, &how,
				   o->max_bytes ? (size_t)o->max_bytes : MARKDOWN_MAX_BYTES, drift);
	else if (drift)
		view_drift(c, p, &how);
	else
		view_plan(c, p, &how);
}

static int cmd_plan(struct cli *c, struct err *e)
{
	const struct plan_opts *o = c->opts;
	enum plan_mode mode = o->destroy	? PLAN_DESTROY
			      : o->refresh_only ? PLAN_REFRESH_ONLY
						: PLAN_APPLY;
	struct plan *p;

	if (check_opts(c, e) < 0 || make(c, o, mode, &p, e) < 0)
		return -1;
	if (o->out && plan_save(c->engine, p, o->out, e) < 0)
		return -1;
	show(c, p, mode == PLAN_REFRESH_ONLY);
	if (o->out)
		view_notef(c, "The plan was saved. Next: muster apply %s\n", o->out);
	else if (!plan_is_empty(p) && mode == PLAN_APPLY)
		view_notef(c, "Next: muster apply\n");
	return o->detailed ? exit_code_of(p) : EXIT_DONE;
}

static int cmd_drift(struct cli *c, struct err *e)
{
	const struct plan_opts *o = c->opts;
	struct plan *p;

	if (check_opts(c, e) < 0 || make(c, o, PLAN_APPLY, &p, e) < 0)
		return -1;
	show(c, p, true);
	if (p->unreachable.n && !p->drift.n)
		return err_set(e, ERR_REMOTE,
			       "%zu nodes could not be asked, so this is no clean bill",
			       p->unreachable.n);
	return p->drift.n ? EXIT_DRIFT : EXIT_DONE;
}

#define O(member, letter, type, arg, doc, aliases)                                           \
	{                                                                                    \
#member, letter, type, offsetof(struct plan_opts, member), arg, doc, aliases \
	}

#define MARKDOWN_ROWS                                                                        \
	O(markdown, 0, OPT_FLAG, NULL, "as Markdown, for a comment on a change of the spec", \
	  NULL),                                                                             \
	{                                                                                    \
		"max-bytes", 0, OPT_INT, offsetof(struct plan_opts, max_bytes), "N",         \
			"at most so much Markdown (default 65536)", NULL                     \
	}

static const struct opt plan_rows[] = {
	O(out, 'o', OPT_STR, "FILE", "save the plan, for muster apply FILE", NULL),
	O(full, 0, OPT_FLAG, NULL, "every node on its own, every field", NULL),
	O(diff, 0, OPT_FLAG, NULL, "show what changes inside files", NULL),
	O(destroy, 0, OPT_FLAG, NULL, "plan to destroy everything", NULL),
	{ "refresh-only", 0, OPT_FLAG, offsetof(struct plan_opts, refresh_only), NULL,
	  "only what differs from the record", NULL },
	{ "no-refresh", 0, OPT_FLAG, offsetof(struct plan_opts, no_refresh), NULL,
	  "plan from the record, ask nobody", NULL },
	{ "target", 0, OPT_LIST, offsetof(struct plan_opts, targets), "ADDR",
	  "only this resource (repeatable)", NULL },
	{ "exclude", 0, OPT_LIST, offsetof(struct plan_opts, excludes), "ADDR",
	  "not this resource (repeatable)", NULL },
	MARKDOWN_ROWS,
	{ "detailed-exitcode", 0, OPT_FLAG, offsetof(struct plan_opts, detailed), NULL,
	  "exit 2 if changes are pending, 3 if only drift", NULL },
	OPT_END,
};
static const struct opt drift_rows[] = {
	O(full, 0, OPT_FLAG, NULL, "every node on its own, every field", NULL),
	O(diff, 0, OPT_FLAG, NULL, "show what changed inside files", NULL),
	MARKDOWN_ROWS,
	OPT_END,
};

const struct command command_plan = {
	"plan",
	"",
	"shows what apply would change",
	"Reads the spec, what was recorded and what is there, and prints the difference: equal changes on many nodes are one line. Nothing is changed.",
	plan_rows,
	sizeof(struct plan_opts),
	NEEDS_SPEC | READS_STATE | NEEDS_LOOP,
	cmd_plan,
};
const struct command command_drift = {
	"drift",
	"",
	"shows what was changed outside of muster, cloud and nodes in one report",
	"Exits 3 when something was changed outside, 0 when nothing was.",
	drift_rows,
	sizeof(struct plan_opts),
	NEEDS_SPEC | READS_STATE | NEEDS_LOOP,
	cmd_drift,
};
