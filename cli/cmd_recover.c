/* SPDX-License-Identifier: Apache-2.0 */
/* recover and gc: what a crash left, in the journal and at the providers. */
#include "cli/progress.h"
#include "cli/strings.h"
#include "cli/view.h"

struct gc_opts {
	bool yes, all;
	struct opt_list ids;
};

static int cmd_recover(struct cli *c, struct err *e)
{
	struct engine_opts eo = { 0 };
	struct recover_report r = { 0 };
	struct value *list = value_list(c->a);
	size_t open = 0;

	if (session_no_args(c, e) < 0 || session_engine(c, &eo, e) < 0 ||
	    engine_recover(c->engine, c->a, &r, e) < 0)
		return -1;
	for (size_t i = 0; i < r.v.n; i++) {
		const struct settled *s = r.v.v[i];
		struct value *v = value_map(c->a);

		open += s->open;
		value_set(v, "address", value_cstr(c->a, s->addr));
		value_set(v, "action", value_cstr(c->a, s->action));
		value_set(v, "decision", value_cstr(c->a, s->decision));
		value_set(v, "open", value_bool(c->a, s->open));
		value_add(c->a, list, v);
		if (!c->g.json)
			view_outf(c, "%s %s: %s\n", s->action, s->addr, s->decision);
	}
	if (c->g.json)
		view_json(c, list);
	else if (!r.v.n)
		view_outf(c, "nothing was left unfinished\n");
	return open ? EXIT_ERROR : EXIT_DONE;
}

static void print_orphans(struct cli *c, const struct gc_report *r, const char *verb)
{
	struct table t = { 0 };
	scoped(buf_fini) struct buf b = { 0 };

	table_row(c->a, &t, "PROVIDER", "KIND", "ID", "NAME", NULL);
	for (size_t i = 0; i < r->v.n; i++) {
		const struct orphan *o = r->v.v[i];

		table_row(c->a, &t, o->provider, o->kind, o->id, o->name ? o->name : "-", NULL);
	}
	buf_init(&b, SIZE_MAX);
	table_text(&b, &t);
	buf_addf(&b, "%zu %s\n", r->v.n, verb);
	view_out(c, &b);
}

static void orphans_json(struct cli *c, const struct gc_report *r)
{
	struct value *list = value_list(c->a);

	for (size_t i = 0; i < r->v.n; i++) {
		const struct orphan *o = r->v.v[i];
		struct value *v = value_map(c->a);

		value_set(v, "provider", value_cstr(c->a, o->provider));
		value_set(v, "kind", value_cstr(c->a, o->kind));
		value_set(v, "id", value_cstr(c->a, o->id));
		value_set(v, "name", o->name ? value_cstr(c->a, o->name) : value_null(c->a));
		value_add(c->a, list, v);
	}
	view_json(c, list);
}

static int cmd_gc(struct cli *c, struct err *e)
{
	static const char *const everything[] = { "*", NULL };
	const struct gc_opts *o = c->opts;
	const char *const *ids = o->all ? everything : cli_strings(c, &o->ids);
	struct engine_opts eo = { 0 };
	struct gc_report r = { 0 };

	if (session_no_args(c, e) < 0 || session_engine(c, &eo, e) < 0)
		return -1;
	if (ids && !o->yes &&
	    session_confirm(c, "Delete these objects? There is no way back.", "--yes", e) < 0)
		return -1;
	if (engine_gc(c->engine, c->a, ids, &r, e) < 0)
		return -1;
	if (c->g.json)
		orphans_json(c, &r);
	else if (!r.v.n)
		view_outf(c, "no leftovers: every object that bears our mark is in the state\n");
	else
		print_orphans(c, &r,
			      ids ? "deleted"
				  : "leftovers; delete them with muster gc --delete ID, or --all");
	return EXIT_DONE;
}

static const struct opt gc_rows[] = {
	{ "delete", 0, OPT_LIST, offsetof(struct gc_opts, ids), "ID",
	  "delete this one (repeatable)", NULL },
	{ "all", 0, OPT_FLAG, offsetof(struct gc_opts, all), NULL, "delete all of them", NULL },
	{ "yes", 'y', OPT_FLAG, offsetof(struct gc_opts, yes), NULL, "don't ask", NULL },
	OPT_END,
};

const struct command command_recover = {
	"recover",
	"",
	"settles what a killed run left unfinished, and says what it decided",
	NULL,
	NULL,
	0,
	MAY_SPEC | NEEDS_STATE | NEEDS_LOOP,
	cmd_recover,
};
const struct command command_gc = {
	"gc",
	"",
	"finds objects that bear our mark and no state knows",
	"Lists by default; deletes only what it is told to.",
	gc_rows,
	sizeof(struct gc_opts),
	NEEDS_SPEC | NEEDS_STATE | NEEDS_LOOP,
	cmd_gc,
};
