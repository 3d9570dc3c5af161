/* SPDX-License-Identifier: Apache-2.0 */
/* status: the fleet now. */
#include "cli/history.h"
#include "cli/leases.h"
#include "cli/strings.h"
#include "cli/view.h"

#define ROWS_MAX 64 /* nodes that get a line each; more are grouped, unless -v */

struct status_opts {
	bool observe, names;
};

static struct value *node_value(struct arena *a, const struct node_status *n)
{
	struct value *v = value_map(a);

	value_set(v, "name", value_cstr(a, n->name));
	value_set(v, "address", value_cstr(a, n->addr));
	value_set(v, "pool", value_cstr(a, n->pool));
	value_set(v, "provider", value_cstr(a, n->provider));
	value_set(v, "state", value_cstr(a, n->state));
	value_set(v, "host", value_cstr_or_null(a, n->address));
	value_set(v, "id", value_cstr_or_null(a, n->id));
	value_set(v, "updated_ms", value_int(a, n->updated_ms));
	return v;
}

static void status_json(struct cli *c, const struct fleet_status *s)
{
	struct value *v = value_map(c->a), *nodes = value_list(c->a), *intents = value_list(c->a);

	for (size_t i = 0; i < s->nodes.n; i++)
		value_add(c->a, nodes, node_value(c->a, s->nodes.v[i]));
	for (size_t i = 0; i < s->intents.v.n; i++) {
		struct value *row = value_map(c->a);

		value_set(row, "address", value_cstr(c->a, s->intents.v.v[i]->addr));
		value_set(row, "action", value_cstr(c->a, s->intents.v.v[i]->action));
		value_set(row, "run", value_cstr(c->a, s->intents.v.v[i]->run));
		value_add(c->a, intents, row);
	}
	value_set(v, "nodes", nodes);
	value_set(v, "unfinished", intents);
	value_set(v, "last_run",
		  s->last.v.n ? history_run_value(c->a, s->last.v.v[0]) : value_null(c->a));
	value_set(v, "leased", value_bool(c->a, s->leases.v.n > 0));
	value_set(v, "leases", leases_value(c->a, &s->leases));
	view_json(c, v);
}

static void node_rows(struct cli *c, struct buf *b, const struct fleet_status *s)
{
	struct table t = { 0 };

	if (!s->nodes.n)
		return;
	table_row(c->a, &t, "NODE", "STATE", "POOL", "PROVIDER", "ADDRESS", "CHANGED", NULL);
	for (size_t i = 0; i < s->nodes.n; i++) {
		const struct node_status *n = s->nodes.v[i];

		table_row(c->a, &t, n->name, n->state, n->pool ? n->pool : "-", n->provider,
			  n->address ? n->address : "-", view_ago(c->a, n->updated_ms), NULL);
	}
	table_text(b, &t);
}

struct node_group {
	const char *pool, *state;
	VEC(const char *) names;
};

/* A fleet that is too large for a line a node: one a pool and state. */
static void group_rows(struct cli *c, struct buf *b, const struct fleet_status *s)
{
	struct table t = { 0 };
	struct map groups;

	map_init(&groups, c->a);
	for (size_t i = 0; i < s->nodes.n; i++) {
		const struct node_status *n = s->nodes.v[i];
		const char *pool = n->pool ? n->pool : "-";
		const char *key = arena_printf(c->a, "%s %s", pool, n->state);
		struct node_group *g = map_getc(&groups, key);

		if (!g) {
			g = arena_obj(c->a, struct node_group);
			*g = (struct node_group){ .pool = pool, .state = n->state };
			map_put(&groups, str_of(key), g);
		}
		VEC_ADD(c->a, &g->names) = n->name;
	}
	table_row(c->a, &t, "POOL", "STATE", "COUNT", "NODES", NULL);
	for (size_t i = 0; i < groups.n; i++) {
		const struct node_group *g = groups.e[i].val;

		table_row(c->a, &t, g->pool, g->state, arena_printf(c->a, "%zu", g->names.n),
			  view_fold(c->a, g->names.v, g->names.n), NULL);
	}
	table_text(b, &t);
}

/* "61 ready, 2 tainted": names folded for all but the ready ones, which are the rule. */
static void node_counts(struct cli *c, struct buf *b, const struct fleet_status *s)
{
	struct map by_state;
	struct folded {
		VEC(const char *) names;
	} * f;

	map_init(&by_state, c->a);
	for (size_t i = 0; i < s->nodes.n; i++) {
		f = map_getc(&by_state, s->nodes.v[i]->state);
		if (!f) {
			f = arena_obj(c->a, struct folded);
			map_put(&by_state, str_of(s->nodes.v[i]->state), f);
		}
		VEC_ADD(c->a, &f->names) = s->nodes.v[i]->name;
	}
	buf_addf(b, "%zu nodes", s->nodes.n);
	for (size_t i = 0; i < by_state.n; i++) {
		f = by_state.e[i].val;
		buf_addf(b, "%s %zu " STR_FMT, i ? "," : ":", f->names.n,
			 STR_ARG(by_state.e[i].key));
		if (by_state.n > 1)
			buf_addf(b, " (%s)", view_fold(c->a, f->names.v, f->names.n));
	}
	buf_addc(b, '\n');
}

static void status_text(struct cli *c, const struct fleet_status *s)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	if (s->nodes.n <= ROWS_MAX || c->g.verbose)
		node_rows(c, &b, s);
	else
		group_rows(c, &b, s);
	if (s->nodes.n)
		buf_addc(&b, '\n');
	node_counts(c, &b, s);
	if (s->last.v.n) {
		const struct state_run *r = s->last.v.v[0];

		buf_addf(&b, "last run %s: %s by %s, %s, %s\n", r->id, r->command, r->who,
			 view_ago(c->a, r->started_ms), r->result ? r->result : "unfinished");
	}
	leases_text(c->a, &b, &s->leases);
	for (size_t i = 0; i < s->intents.v.n && i < 20; i++)
		buf_addf(&b, "unfinished: %s %s (run %s)\n", s->intents.v.v[i]->action,
			 s->intents.v.v[i]->addr, s->intents.v.v[i]->run);
	if (s->intents.v.n)
		buf_addf(
			&b,
			"%zu unfinished; the next apply settles them, or muster recover does it now\n",
			s->intents.v.n);
	view_out(c, &b);
}

static int print_names(struct cli *c, struct err *e)
{
	struct names names = { 0 };

	if (session_nodes(c, NULL, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.v.n; i++)
		view_outf(c, "%s\n", names.v.v[i]);
	return EXIT_DONE;
}

static int cmd_status(struct cli *c, struct err *e)
{
	const struct status_opts *o = c->opts;
	struct engine_opts eo = { 0 };
	struct fleet_status s = { 0 };

	if (session_no_args(c, e) < 0)
		return -1;
	if (o->names)
		return print_names(c, e);
	if (session_engine(c, &eo, e) < 0 || engine_status(c->engine, c->a, o->observe, &s, e) < 0)
		return -1;
	if (c->g.json)
		status_json(c, &s);
	else
		status_text(c, &s);
	return EXIT_DONE;
}

static const struct opt status_rows[] = {
	{ "observe", 0, OPT_FLAG, offsetof(struct status_opts, observe), NULL,
	  "ask the providers too, not only the record", NULL },
	{ "names", 0, OPT_FLAG, offsetof(struct status_opts, names), NULL,
	  "only the nodes' names, one a line", NULL },
	OPT_END,
};

const struct command command_status = {
	"status",
	"",
	"the fleet now: nodes by state, the last run, unfinished intents",
	NULL,
	status_rows,
	sizeof(struct status_opts),
	MAY_SPEC | READS_STATE | NEEDS_LOOP,
	cmd_status,
};
