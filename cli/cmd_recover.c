/* SPDX-License-Identifier: Apache-2.0 */
/* recover and gc: what a crash left, in the journal and at the providers. */
#include "cli/events.h"
#include "cli/progress.h"
#include "cli/strings.h"
#include "cli/view.h"

#define DELETE_UNASKED 10 /* more leftovers than this need --yes-delete=N */

struct gc_opts {
	bool yes, all;
	int64_t yes_delete;
	struct opt_list ids;
};

static const char *time_text(struct cli *c, int64_t wall_ms)
{
	char iso[CLOCK_ISO_LEN];

	clock_iso(wall_ms, iso);
	return arena_strdup(c->a, iso);
}

static struct value *time_or_null(struct cli *c, int64_t wall_ms)
{
	return wall_ms ? value_cstr(c->a, time_text(c, wall_ms)) : value_null(c->a);
}

/* ---- recover ---- */

static struct value *settled_json(struct cli *c, const struct settled *s)
{
	struct value *v = value_map(c->a);

	value_set(v, "address", value_cstr(c->a, s->addr));
	value_set(v, "action", value_cstr(c->a, s->action));
	value_set(v, "outcome", value_cstr(c->a, s->outcome));
	value_set(v, "decision", value_cstr(c->a, s->decision));
	value_set(v, "reason", value_cstr_or_null(c->a, s->reason));
	value_set(v, "id", value_cstr_or_null(c->a, s->id));
	value_set(v, "provider", value_cstr_or_null(c->a, s->provider));
	value_set(v, "run", value_cstr_or_null(c->a, s->run));
	value_set(v, "since", time_or_null(c, s->since_ms));
	value_set(v, "until", time_or_null(c, s->until_ms));
	value_set(v, "open", value_bool(c->a, s->open));
	return v;
}

static void settled_text(struct cli *c, const struct settled *s)
{
	view_outf(c, "%s %s: %s\n", s->action, s->addr, s->decision);
	if (s->reason)
		view_outf(c, "    %s\n", s->reason);
	if (s->until_ms)
		view_outf(c, "    look again after %s\n", time_text(c, s->until_ms));
}

static int cmd_recover(struct cli *c, struct err *e)
{
	struct engine_opts eo = { 0 };
	struct recover_report r = { 0 };
	struct value *list = value_list(c->a);
	size_t open = 0;

	if (session_no_args(c, e) < 0 || session_engine(c, &eo, e) < 0)
		return -1;
	progress_begin(c);
	int rc = engine_recover(c->engine, c->a, &r, e);

	progress_end(c);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < r.v.n; i++) {
		open += r.v.v[i]->open;
		value_add(c->a, list, settled_json(c, r.v.v[i]));
		if (!c->g.json)
			settled_text(c, r.v.v[i]);
	}
	if (c->g.json)
		view_json(c, list);
	else if (r.busy)
		view_outf(
			c,
			"%zu unfinished of runs that are alive: left to them ('muster lock ls')\n",
			r.busy);
	else if (!r.v.n)
		view_outf(c, "nothing was left unfinished\n");
	return open ? EXIT_ERROR : EXIT_DONE;
}

/* ---- gc ---- */

static const char *fate_of(struct cli *c, const struct orphan *o)
{
	if (o->deleted)
		return "deleted";
	if (o->err.kind != ERR_NONE)
		return "not deleted";
	return o->owner ? arena_printf(c->a, "unfinished: %s", o->owner) : "-";
}

static void print_orphans(struct cli *c, const struct gc_report *r, bool acted)
{
	struct table t = { 0 };
	scoped(buf_fini) struct buf b = { 0 };

	table_row(c->a, &t, "PROVIDER", "KIND", "ID", "NAME", "AGE", "QUOTA", "NOTE", NULL);
	for (size_t i = 0; i < r->v.n; i++) {
		const struct orphan *o = r->v.v[i];

		if (acted && !o->deleted && o->err.kind == ERR_NONE)
			continue; /* nobody asked for it */
		table_row(c->a, &t, o->provider, o->kind, o->id, o->name ? o->name : "-",
			  o->created_ms ? view_ago(c->a, o->created_ms) : "-",
			  o->quota ? o->quota : "-", fate_of(c, o), NULL);
	}
	buf_init(&b, SIZE_MAX);
	table_text(&b, &t);
	if (acted && r->failed)
		buf_addf(&b, "%zu deleted, %zu could not be deleted\n", r->deleted, r->failed);
	else if (acted)
		buf_addf(&b, "%zu deleted\n", r->deleted);
	else
		buf_addf(&b, "%zu leftovers; delete them with muster gc --delete ID, or --all\n",
			 r->v.n);
	view_out(c, &b);
}

static struct value *orphan_json(struct cli *c, const struct orphan *o)
{
	struct value *v = value_map(c->a);

	value_set(v, "provider", value_cstr(c->a, o->provider));
	value_set(v, "kind", value_cstr(c->a, o->kind));
	value_set(v, "id", value_cstr(c->a, o->id));
	value_set(v, "name", value_cstr_or_null(c->a, o->name));
	value_set(v, "created", time_or_null(c, o->created_ms));
	value_set(v, "quota", value_cstr_or_null(c->a, o->quota));
	value_set(v, "scarcity", value_int(c->a, o->scarcity));
	value_set(v, "owner", value_cstr_or_null(c->a, o->owner));
	value_set(v, "deleted", value_bool(c->a, o->deleted));
	if (o->err.kind != ERR_NONE)
		value_set(v, "error", view_error_value(c->a, &o->err));
	return v;
}

static void orphans_json(struct cli *c, const struct gc_report *r)
{
	struct value *list = value_list(c->a);

	for (size_t i = 0; i < r->v.n; i++)
		value_add(c->a, list, orphan_json(c, r->v.v[i]));
	view_json(c, list);
}

static void show_orphans(struct cli *c, const struct gc_report *r, bool acted)
{
	if (c->g.json)
		orphans_json(c, r);
	else if (!r->v.n)
		view_outf(c, "no leftovers: every object that bears our mark is in the state\n");
	else
		print_orphans(c, r, acted);
}

/* What --all means is fixed when it was shown: what appears after that was not agreed to. */
static const char *const *ids_of_all(struct cli *c, const struct gc_report *r)
{
	VEC(const char *) ids = { 0 };

	for (size_t i = 0; i < r->v.n; i++) {
		const struct orphan *o = r->v.v[i];
		if (!o->owner)
			VEC_ADD(c->a, &ids) = arena_printf(c->a, "%s.%s.%s", o->provider, o->kind,
							   o->id);
	}
	VEC_ADD(c->a, &ids) = NULL;
	return ids.v;
}

static size_t count_ids(const char *const *ids)
{
	size_t n = 0;

	while (ids[n])
		n++;
	return n;
}

static int agree(struct cli *c, const struct gc_opts *o, size_t n, struct err *e)
{
	if (o->yes_delete && (size_t)o->yes_delete != n) {
		err_set(e, ERR_USAGE, "%zu leftovers are to be deleted, not %lld", n,
			(long long)o->yes_delete);
		return err_hint(e, "look at `muster gc`, then type --yes-delete=%zu", n);
	}
	if (o->all && n > DELETE_UNASKED && !o->yes_delete) {
		err_set(e, ERR_USAGE, "%zu leftovers are to be deleted", n);
		return err_hint(e, "type --yes-delete=%zu to say that you know", n);
	}
	if (o->yes || o->yes_delete)
		return 0;
	return session_confirm(c,
			       arena_printf(c->a, "Delete %zu object%s? There is no way back.", n,
					    n == 1 ? "" : "s"),
			       "--yes", e);
}

static void tell_failures(struct cli *c, const struct gc_report *r)
{
	struct err_list l = { 0 };

	for (size_t i = 0; i < r->v.n; i++) {
		const struct orphan *o = r->v.v[i];
		struct err e = o->err;

		if (e.kind == ERR_NONE)
			continue;
		err_wrap(&e, "deleting %s %s of provider \"%s\"", o->kind, o->id, o->provider);
		err_list_add(&l, &e);
	}
	if (l.n && !c->g.json)
		view_errors(c, &l);
	err_list_fini(&l);
}

static int cmd_gc(struct cli *c, struct err *e)
{
	const struct gc_opts *o = c->opts;
	const char *const *ids = cli_strings(c, &o->ids);
	struct engine_opts eo = { 0 };
	struct gc_report r = { 0 };
	bool acts = o->all || ids;

	if (session_no_args(c, e) < 0)
		return -1;
	if (o->all && ids)
		return err_set(e, ERR_USAGE, "--all and --delete say two things: use one of them");
	/* A list needs no state that can be written, nor any. */
	if (session_state(c, acts ? STATE_CREATE : STATE_READONLY, e) < 0 ||
	    session_engine(c, &eo, e) < 0)
		return -1;
	if (!ids && engine_gc(c->engine, c->a, NULL, &r, e) < 0)
		return -1;
	if (o->all) {
		ids = ids_of_all(c, &r);
		if (!ids[0])
			acts = false;
		else if (c->interactive && !o->yes && !o->yes_delete)
			show_orphans(c, &r, false);
	}
	if (acts &&
	    (agree(c, o, count_ids(ids), e) < 0 || engine_gc(c->engine, c->a, ids, &r, e) < 0))
		return -1;
	for (size_t i = 0; i < r.v.n && events_wanted(); i++)
		events_emit(c, "leftover", orphan_json(c, r.v.v[i]));
	show_orphans(c, &r, acts);
	tell_failures(c, &r);
	return r.failed ? EXIT_ERROR : EXIT_DONE;
}

static const struct opt gc_rows[] = {
	{ "delete", 0, OPT_LIST, offsetof(struct gc_opts, ids), "ID",
	  "delete this one (repeatable): its id, or PROVIDER.KIND.ID", NULL },
	{ "all", 0, OPT_FLAG, offsetof(struct gc_opts, all), NULL,
	  "delete all but what an unfinished step may own", NULL },
	{ "yes", 'y', OPT_FLAG, offsetof(struct gc_opts, yes), NULL, "don't ask", NULL },
	{ "yes-delete", 0, OPT_INT, offsetof(struct gc_opts, yes_delete), "N",
	  "the number of leftovers that may be deleted", NULL },
	OPT_END,
};

const struct command command_recover = {
	"recover",
	"",
	"settles what a killed run left unfinished, and says what it decided",
	"Asks the providers and records; never deletes anything at one.",
	NULL,
	0,
	MAY_SPEC | NEEDS_STATE | NEEDS_LOOP,
	cmd_recover,
};
const struct command command_gc = {
	"gc",
	"",
	"finds objects that bear our mark and no state knows",
	"Lists by default, what holds a scarce quota first; deletes only what it is told to. More than 10 with --all need --yes-delete=N.",
	gc_rows,
	sizeof(struct gc_opts),
	NEEDS_SPEC | NEEDS_LOOP,
	cmd_gc,
};
