/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dispatcher is the caller's task: it starts what may begin and sleeps until a step ends. Tasks
 * exist only for running steps, so a plan of ten thousand steps costs --parallel stacks. When the
 * journal can't be written or the lease is lost, nothing may act any more: all steps are cancelled,
 * and the next run settles what they had begun.
 */
#include "engine/apply.h"

#include "engine/configure.h"
#include "engine/make.h"
#include "engine/pace.h"
#include "engine/pool_config.h"
#include "engine/waves.h"

struct walker {
	struct work *w;
	struct steps steps;
	struct group group;
	struct task_sem tick; /* something ended, or ^C */
	struct map failed_units;
	int64_t failures_allowed;
	size_t proving; /* pools whose canary is looked at */
	size_t ended;
	size_t last; /* the step that ended last + 1; 0: none yet */
};

struct step_task {
	struct walker *k;
	size_t i; /* of the steps; of the pools */
};

static const char *part_name(const struct step *s)
{
	switch (s->part) {
	case PART_UNMAKE: return s->c->action == CHANGE_FORGET ? "forget" : "delete";
	case PART_MAKE: return s->c->action == CHANGE_UPDATE ? "update" : "create";
	case PART_CONFIGURE: return "configure";
	}
	return "";
}

static const char *done_text(const struct step *s)
{
	switch (s->part) {
	case PART_UNMAKE: return s->c->action == CHANGE_FORGET ? "forgotten" : "deleted";
	case PART_MAKE: return s->c->action == CHANGE_UPDATE ? "updated" : "created";
	case PART_CONFIGURE: return "configured";
	}
	return "";
}

static void tell(struct walker *k, const struct step *s, const char *type, const struct err *err)
{
	struct engine_event ev = {
		.type = type,
		.addr = s->c->addr,
		.node = s->c->node,
		.action = part_name(s),
		.text = err				 ? err->msg
			: strcmp(type, "step_done") == 0 ? done_text(s)
							 : NULL,
		.err = err,
		.elapsed_ms = s->started ? clock_now() - s->started : 0,
		.done = k->ended,
		.total = k->steps.v.n,
	};

	context_emit(k->w->en, &ev);
}

static int act(struct walker *k, const struct step *s, struct arena *a, struct err *e)
{
	switch (s->part) {
	case PART_UNMAKE:
		return s->c->action == CHANGE_FORGET ? make_forget(k->w, a, s->c, e)
						     : make_delete(k->w, a, s->c, e);
	case PART_MAKE:
		return s->c->action == CHANGE_UPDATE ? make_update(k->w, a, s->c, e)
						     : make_create(k->w, a, s->c, e);
	case PART_CONFIGURE: return configure_node(k->w, a, s->c, e);
	}
	return 0;
}

static void add_failure(struct walker *k, const struct node_failure *what)
{
	struct apply_result *r = k->w->result;
	struct node_failure *f = arena_obj(k->w->a, struct node_failure);

	*f = *what;
	err_on(&f->err, f->addr, f->node);
	VEC_ADD(k->w->a, &r->failures) = f;
	r->failed++;
}

/* A canary is there to fail for the others: its pool stops, and that is all it costs. */
static void note_failure(struct walker *k, const struct step *s, const struct err *e)
{
	struct node_failure f = { s->c->addr, s->c->node, part_name(s), s->c->pool, *e };

	add_failure(k, &f);
	if (k->steps.units.v[s->unit].canary)
		return;
	map_put(&k->failed_units, str_of(s->c->addr), k);
	if ((int64_t)k->failed_units.n > k->failures_allowed)
		k->w->result->budget_exceeded = true;
}

static void count_skipped(struct walker *k, size_t n)
{
	k->w->result->skipped += n;
	k->ended += n;
}

/* What the failure of step i means for others than those that wait for it. */
static void spread(struct walker *k, size_t i, const struct err *e)
{
	const struct step *s = &k->steps.v.v[i];
	const struct step_unit *u = &k->steps.units.v[s->unit];
	size_t nodes = 0;

	if (u->canary && !k->steps.pools.v[u->pool].told) {
		k->steps.pools.v[u->pool].told = true;
		waves_stop(k->w, &k->steps, u->pool, u->node);
	}
	if (e->kind != ERR_QUOTA && e->kind != ERR_CAPACITY)
		return;
	count_skipped(k, steps_no_room(&k->steps, i, e->kind == ERR_QUOTA, &nodes));
	if (nodes && s->c->node)
		waves_no_room(k->w, s, nodes, e);
}

/* For what it is: ended by the same turn of the loop, or a few ms of it. */
#define AT_ONCE_MS 5

/* What let the step begin: the end of what it rests on or, when it was ready before, of whatever
 * left its place to it. */
static void note_start(struct walker *k, size_t i, struct step_note *n)
{
	const struct step *s = &k->steps.v.v[i];
	const struct step *freed = s->freed_by ? &k->steps.v.v[s->freed_by - 1] : NULL;
	const struct step *last = k->last ? &k->steps.v.v[k->last - 1] : NULL;
	bool at_once = freed && s->started - freed->ended <= AT_ONCE_MS;
	const struct step *after = at_once ? freed : last;

	*n = (struct step_note){ .action = part_name(s), .started = s->started };
	if (after) {
		n->after = arena_printf(k->w->a, "%s %s", part_name(after), after->c->addr);
		n->wait = at_once ? "needs" : "turn";
	}
	map_put(&k->w->running, str_of(s->c->addr), n);
}

/* A step that had nothing to settle, or broke off before, is in the history as well. */
static void note_end(struct walker *k, const struct step *s, const struct step_note *n, int rc,
		     const struct err *why)
{
	struct err e = { 0 };
	const char *what = !rc ? done_text(s)
			   : why->kind == ERR_CANCELLED
				   ? "interrupted"
				   : arena_printf(k->w->a, "%s failed", part_name(s));

	if (!n->told && why->kind != ERR_LEASE && !k->w->commit.broken &&
	    work_event(k->w, s->c->addr, what, rc ? why : NULL, &e))
		log_debug("history: %s", e.msg);
	map_put(&k->w->running, str_of(s->c->addr), NULL);
}

static void finish(struct walker *k, size_t i, int rc, const struct err *e)
{
	struct step *s = &k->steps.v.v[i];

	k->ended++;
	k->last = i + 1;
	s->ended = clock_now();
	if (!rc) {
		tell(k, s, "step_done", NULL);
	} else if (e->kind == ERR_LEASE || k->w->commit.broken) {
		context_end(k->w->en, k->w->commit.broken ? &k->w->commit.err : e);
	} else if (e->kind != ERR_CANCELLED || !k->w->en->aborting) {
		note_failure(k, s, e);
		tell(k, s, "step_failed", e);
	}
	count_skipped(k, steps_end(&k->steps, i, rc == 0));
	if (rc && e->kind != ERR_CANCELLED)
		spread(k, i, e);
	if (rc && e->kind == ERR_CANCELLED && k->w->en->aborting)
		k->w->result->skipped++;
	else if (!rc)
		k->w->result->done++;
}

static void step_main(void *arg)
{
	struct step_task *t = arg;
	struct walker *k = t->k;
	struct step *s = &k->steps.v.v[t->i];
	scoped(arena_freep) struct arena *a = arena_new("step");
	struct step_note note;
	struct err e = { 0 };

	s->started = clock_now();
	note_start(k, t->i, &note);
	tell(k, s, "step_start", NULL);
	int rc = act(k, s, a, &e);
	note_end(k, s, &note, rc, &e);
	finish(k, t->i, rc, &e);
	task_sem_give(&k->tick);
}

static bool may_start(const struct walker *k)
{
	return !k->w->en->stopping && !k->w->result->budget_exceeded &&
	       k->w->en->fatal.kind == ERR_NONE;
}

/* ---- canaries ---- */

static void prove_main(void *arg)
{
	struct step_task *t = arg;
	struct walker *k = t->k;
	const struct step_pool *p = &k->steps.pools.v[t->i];
	scoped(arena_freep) struct arena *a = arena_new("canary");
	struct err e = { 0 };

	int rc = waves_prove(k->w, a, &k->steps, t->i, &e);
	if (!rc) {
		count_skipped(k, steps_prove(&k->steps, t->i, true));
		waves_open(k->w, &k->steps, t->i);
	} else if (e.kind != ERR_CANCELLED) {
		struct node_failure f = { arena_strdup(k->w->a, e.addr),
					  arena_strdup(k->w->a, e.node), "canary", p->name, e };
		add_failure(k, &f);
		count_skipped(k, steps_prove(&k->steps, t->i, false));
		waves_stop(k->w, &k->steps, t->i, f.node[0] ? f.node : p->name);
	}
	k->proving--;
	task_sem_give(&k->tick);
}

static void start_proofs(struct walker *k)
{
	size_t i;

	while (may_start(k) && (i = steps_take_proof(&k->steps)) != SIZE_MAX) {
		struct step_task *t = arena_obj(k->w->a, struct step_task);
		*t = (struct step_task){ k, i };
		k->proving++;
		task_spawn(&k->group, "canary", prove_main, t);
	}
}

/* ---- the dispatcher ---- */

static void start_ready(struct walker *k)
{
	while (may_start(k) && k->steps.running < k->w->en->o.parallel) {
		size_t i = steps_take(&k->steps);
		if (i == SIZE_MAX)
			return;
		struct step_task *t = arena_obj(k->w->a, struct step_task);
		*t = (struct step_task){ k, i };
		task_spawn(&k->group, "step", step_main, t);
	}
}

static int dispatch(struct walker *k, struct err *e)
{
	for (;;) {
		start_proofs(k);
		start_ready(k);
		if (!k->steps.running && !k->proving)
			break;
		if (task_sem_take(&k->tick, DEADLINE_NONE, e)) {
			k->w->en->stopping = true;
			group_cancel(&k->group);
			break;
		}
	}
	int rc = group_wait(&k->group, e);
	k->w->result->skipped += steps_skip_rest(&k->steps);
	k->w->result->stopped = k->w->en->stopping;
	return rc;
}

static int64_t may_be_down(void *arg, const char *pool)
{
	const struct engine *en = arg;
	struct plan_pool p = { .name = pool };

	pace_pool(en->o.fleet, &p);
	return p.at_a_time;
}

static int64_t canary(void *arg, const char *pool)
{
	const struct engine *en = arg;
	struct plan_pool p = { .name = pool };

	pace_pool(en->o.fleet, &p);
	return p.canary;
}

static int64_t creates(void *arg, const char *provider)
{
	const struct provider_type *t = context_provider_type(arg, provider);

	return t ? t->max_parallel : 0;
}

static bool sees_fleet(void *arg, const char *pool)
{
	const struct engine *en = arg;
	const struct pool_config *c = pool ? map_getc(&en->configs, pool) : NULL;

	return c && c->sees_fleet;
}

int apply_walk(struct work *w, const struct plan *p, struct err *e)
{
	struct walker k = { .w = w };
	struct steps_limits limits = { .may_be_down = may_be_down,
				       .canary = canary,
				       .creates = creates,
				       .sees_fleet = sees_fleet,
				       .arg = w->en };
	struct group aux;
	struct err ignored = { 0 };

	if (steps_make(w->a, p, &limits, &k.steps, e))
		return -1;
	map_init(&k.failed_units, w->a);
	k.failures_allowed = count_of(w->en->o.max_failures, (int64_t)k.steps.nodes);
	group_init(&k.group);
	group_init(&aux);
	task_spawn(&aux, "committer", committer_task, &w->commit);
	w->en->commit = &w->commit;
	w->en->work = &k.group;
	w->en->tick = &k.tick;
	waves_begin(w, &k.steps);
	int rc = dispatch(&k, e);
	if (!rc && !w->en->stopping && w->en->fatal.kind == ERR_NONE && make_read_back(w, e))
		rc = -1;
	w->en->work = NULL;
	w->en->tick = NULL;
	w->en->commit = NULL;
	commit_close(&w->commit);
	if (group_wait(&aux, &ignored))
		log_debug("the committer was cancelled");
	if (w->en->fatal.kind != ERR_NONE) {
		*e = w->en->fatal;
		return -1;
	}
	if (w->commit.broken) {
		*e = w->commit.err;
		return -1;
	}
	fault_point("apply", "walked");
	return rc;
}
