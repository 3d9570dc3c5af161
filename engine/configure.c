/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/configure.h"

#include "engine/probe.h"
#include "engine/world.h"

#define FRESH_WAIT_MS 600000 /* a new machine boots, and cloud-init lets us in late */
#define KNOWN_WAIT_MS 60000

struct configuration {
	struct world_host who; /* first: see world.h */
	struct work *w;
	struct arena *a;
	const struct state_resource *old;
	const struct pool_config *config;
	const struct value *facts;
	struct run_result total;
};

static struct value *task_data(struct arena *a, const struct task_result *r)
{
	struct value *v = value_map(a);

	value_set(v, "task", value_cstr(a, r->task ? r->task : r->module));
	value_set(v, "module", value_cstr(a, r->module));
	value_set(v, "status",
		  value_cstr(a, r->status == TASK_CHANGED	? "changed"
				: r->status == TASK_UNREACHABLE ? "unreachable"
				: r->ignored			? "failed (ignored)"
								: "failed"));
	if (r->msg)
		value_set(v, "message", value_cstr(a, r->msg));
	return v;
}

static void on_task(void *arg, const struct task_result *r)
{
	struct configuration *c = arg;
	scoped(arena_freep) struct arena *a = arena_new("task event");
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 4096);
	if (r->status == TASK_OK || r->status == TASK_SKIPPED)
		return;
	buf_addf(&b, "%s: %s", r->task ? r->task : r->module,
		 r->status == TASK_CHANGED ? "changed"
		 : r->msg		   ? r->msg
					   : "failed");
	struct engine_event ev = {
		.type = "task",
		.addr = c->old->addr,
		.node = c->who.node->name,
		.text = b.p,
		.data = task_data(a, r),
	};
	context_emit(c->w->en, &ev);
}

static int failed_task(const struct run_result *r, struct err *e)
{
	for (size_t i = 0; i < r->changes.n; i++) {
		const struct task_result *t = r->changes.v[i];
		if (t->status != TASK_FAILED || t->ignored)
			continue;
		err_set(e, ERR_REMOTE, "task \"%s\": %s", t->task ? t->task : t->module,
			t->msg ? t->msg : "failed");
		return err_at(e, t->pos);
	}
	return err_set(e, ERR_REMOTE, "%lld tasks failed", (long long)r->failed);
}

static int run_playbooks(struct configuration *c, struct host *conn, struct err *e)
{
	struct engine *en = c->w->en;
	struct run_host rh;
	struct run_opts o = {
		.diff = en->o.diff,
		.extra_vars = en->o.extra_vars,
		.world = &en->world,
		.on_result = on_task,
		.play_matches = world_play_matches,
		.arg = c,
	};

	if (probe_run_host(en, c->a, c->who.node, conn, &rh, e))
		return -1;
	for (size_t i = 0; i < c->config->playbooks.n; i++) {
		struct run_result r = { 0 };
		int rc = playbook_run(c->config->playbooks.v[i], c->a, &rh, &o, &r, e);
		c->w->result->probe_trips += r.probe_trips;
		c->w->result->patch_trips += r.patch_trips;
		if (r.facts)
			rh.facts = c->facts = r.facts;
		if (rc)
			return -1;
		if (r.unreachable)
			return err_set(e, ERR_IO, "the connection was lost");
		if (r.failed)
			return failed_task(&r, e);
		fault_point("configure", "playbook");
	}
	return 0;
}

static int connect_and_run(struct configuration *c, struct err *e)
{
	struct engine *en = c->w->en;
	const struct resource_seen *seen = map_getc(&en->seen, c->old->addr);
	struct reach_node rn = {
		.name = c->who.node->name,
		.addr = c->old->addr,
		.provider = c->old->provider,
		.pool = c->who.node->pool,
		.seen = seen ? seen : reach_seen(c->a, c->old, c->who.node->name),
		.attrs = c->old->attrs,
	};
	struct host *conn = NULL;

	if (reach_open(en, c->a, &rn, c->old->config_digest ? KNOWN_WAIT_MS : FRESH_WAIT_MS, &conn,
		       e))
		return -1;
	int rc = run_playbooks(c, conn, e);
	host_close(conn);
	return rc;
}

static struct state_resource *row_with(struct work *w, const struct state_resource *old,
				       enum resource_status status)
{
	struct state_resource *r = arena_obj(w->a, struct state_resource);

	*r = *old;
	r->status = status;
	return r;
}

static int settle_failure(struct configuration *c, const struct journal_row *row,
			  const struct err *why, struct err *e)
{
	if (why->kind == ERR_CANCELLED)
		return 0; /* stays open, so the next plan configures it again */
	if (work_settle(c->w, row, JOURNAL_FAILED, why, row_with(c->w, c->old, RES_TAINTED), e))
		return -1;
	return work_event(c->w, row->addr, "configure failed", why, e);
}

static int settle_success(struct configuration *c, const struct journal_row *row, struct err *e)
{
	struct state_resource *r = row_with(c->w, c->old, RES_READY);
	const struct value *facts;

	r->config_digest = arena_strdup(c->w->a, c->config->digest);
	if (work_settle(c->w, row, JOURNAL_DONE, NULL, r, e))
		return -1;
	if (c->facts && (work_seal(c->w, c->facts, &facts, e) ||
			 state_facts_put(c->w->commit.state, row->addr, facts, e)))
		return -1;
	c->w->result->configured++;
	return work_event(c->w, row->addr, "configured", NULL, e);
}

int configure_node(struct work *w, struct arena *a, const struct change *ch, struct err *e)
{
	const struct node *n = w->en->o.fleet ? map_getc(&w->en->o.fleet->by_addr, ch->addr) : NULL;
	struct configuration c = { .who = { n }, .w = w, .a = a, .old = work_recorded(w, ch->addr) };
	struct journal_row row = {
		.addr = ch->addr, .action = "configure", .provider = ch->provider, .kind = "machine"
	};
	struct err journal = { 0 };

	if (!n || !c.old)
		return err_set(e, ERR_CONFLICT, "%s is not there to be configured", ch->addr);
	if (pool_config_get(w->en, n, &c.config, e))
		return -1;
	if (!c.config)
		return 0;
	row.token = c.old->token;
	if (work_intent(w, &row, e))
		return -1;
	if (connect_and_run(&c, e)) {
		err_on(e, ch->addr, n->name);
		if (settle_failure(&c, &row, e, &journal))
			*e = journal;
		return -1;
	}
	return settle_success(&c, &row, e);
}
