/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/probe.h"

#include "engine/world.h"

int probe_run_host(struct engine *en, struct arena *a, const struct node *n, struct host *conn,
		   struct run_host *out, struct err *e)
{
	*out = (struct run_host){
		.name = n->name,
		.vars = n->vars,
		.group_names = world_groups_of(a, n),
		.conn = conn,
	};
	return en->o.state ? state_facts_get(en->o.state, a, n->addr, &out->facts, e) : 0;
}

static void add_task(struct arena *a, const struct task_result *r, struct node_probe *out)
{
	if (strcmp(r->module ? r->module : "", "reboot") == 0)
		out->reboot = true;
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct task_change *c = &r->changes.v[i];
		VEC_ADD(a, &out->fields) = (struct field_change){
			.path = c->what,
			.before = c->before,
			.after = c->after,
			.diff = c->diff,
		};
	}
	if (!r->changes.n)
		VEC_ADD(a, &out->fields) = (struct field_change){
			.path = arena_printf(a, "task \"%s\"", r->task ? r->task : r->module),
		};
}

static void add_result(struct arena *a, const struct run_result *r, struct node_probe *out)
{
	out->trips += r->probe_trips;
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct task_result *t = r->changes.v[i];
		if (t->status == TASK_CHANGED) {
			add_task(a, t, out);
		} else if (t->status == TASK_FAILED && !t->ignored) {
			out->failed = true;
			VEC_ADD(a, &out->notes) = arena_printf(a, "%s: %s",
							       t->task ? t->task : t->module,
							       t->msg ? t->msg : "failed");
		}
	}
}

static int run_all(struct engine *en, struct arena *a, const struct node *n, struct host *conn,
		   struct node_probe *out, struct err *e)
{
	const struct pool_config *c;
	struct run_host rh;
	struct world_host who = { n };
	struct run_opts o = {
		.check = true,
		.diff = en->o.diff,
		.extra_vars = en->o.extra_vars,
		.world = &en->world,
		.play_matches = world_play_matches,
		.arg = &who,
	};

	if (pool_config_get(en, n, &c, e) || probe_run_host(en, a, n, conn, &rh, e))
		return -1;
	for (size_t i = 0; c && i < c->playbooks.n; i++) {
		struct run_result r = { 0 };
		if (playbook_run(c->playbooks.v[i], a, &rh, &o, &r, e))
			return -1;
		add_result(a, &r, out);
		if (r.unreachable)
			return err_set(e, ERR_IO, "the connection was lost");
		if (r.facts)
			rh.facts = r.facts;
	}
	return 0;
}

int probe_node(struct engine *en, struct arena *a, const struct node *n,
	       const struct reach_node *rn, struct node_probe *out, struct err *e)
{
	struct host *conn = NULL;
	struct err now = { 0 };

	*out = (struct node_probe){ 0 };
	int rc = reach_open(en, a, rn, 0, &conn, &now);
	bool reached = !rc;
	if (!rc)
		rc = run_all(en, a, n, conn, out, &now);
	if (conn)
		host_close(conn);
	out->probed = reached;
	if (!rc)
		return 0;
	if (now.kind == ERR_CANCELLED) {
		*e = now;
		return -1;
	}
	out->err = now;
	bool lost = !reached || now.kind == ERR_IO || now.kind == ERR_TIMEOUT ||
		    now.kind == ERR_AUTH;
	out->unreachable = lost;
	out->failed = !lost;
	if (!lost)
		VEC_ADD(a, &out->notes) = arena_strdup(a, now.msg);
	return 0;
}
