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
#include "engine/pool_config.h"
#include "engine/steps.h"

struct walker {
	struct work *w;
	struct steps steps;
	struct group group;
	struct task_sem tick; /* something ended, or ^C */
	struct map failed_units;
	int64_t failures_allowed;
	size_t ended;
	size_t last; /* the step that ended last + 1; 0: none yet */
};

struct step_task {
	struct walker *k;
	size_t i;
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

static void note_failure(struct walker *k, const struct step *s, const struct err *e)
{
	struct apply_result *r = k->w->result;
	struct node_failure *f = arena_obj(k->w->a, struct node_failure);

	*f = (struct node_failure){
		.addr = s->c->addr, .node = s->c->node, .action = part_name(s), .err = *e
	};
	err_on(&f->err, s->c->addr, s->c->node);
	VEC_ADD(k->w->a, &r->failures) = f;
	r->failed++;
	map_put(&k->failed_units, str_of(s->c->addr), f);
	if ((int64_t)k->failed_units.n > k->failures_allowed)
		r->budget_exceeded = true;
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
	size_t skipped = steps_end(&k->steps, i, rc == 0);
	k->w->result->skipped += skipped;
	k->ended += skipped;
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
		start_ready(k);
		if (!k->steps.running)
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
	const struct spec_pool *p = en->o.spec ? spec_pool_find(en->o.spec, str_of(pool)) : NULL;
	int64_t size = 0;

	for (size_t i = 0; p && en->o.fleet && i < en->o.fleet->nodes.n; i++)
		size += en->o.fleet->nodes.v[i]->pool == p;
	return p ? count_of(p->update.max_unavailable, size) : 0;
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
	int rc = dispatch(&k, e);
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
