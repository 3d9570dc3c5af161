/* SPDX-License-Identifier: Apache-2.0 */
/* One task, or one item of its loop: conditions, what kind of task it is, and what its outcome
 * means for the run. */
#include "playbooks/run.h"

#define RETRIES_MAX 100000
#define DELAY_MAX_S 86400

/* ---- outcomes ---- */

struct outcome item_outcome(struct run *r, enum task_status status)
{
	return (struct outcome){ .status = status, .result = value_map(r->w) };
}

void item_fail(struct run *r, struct outcome *oc, const char *msg)
{
	oc->status = TASK_FAILED;
	oc->msg = arena_strdup(r->w, msg);
	value_set(oc->result, "msg", value_cstr(r->w, msg));
}

static void set_var(struct run *r, struct state *s, const char *name, const struct value *v)
{
	struct value *m = value_map(r->w);

	value_set(m, name, v);
	s->set = value_merge(r->w, s->set ? s->set : value_map(r->w), m, false);
}

void item_unknown(struct run *r, struct state *s, const char *name)
{
	set_var(r, s, name, value_unknown(r->w));
}

const struct value *item_vars(struct run *r, const struct state *s)
{
	const struct loop_spec *loop = &s->items.step->loop;
	struct value *m;

	if (!s->items.list || s->items.i >= s->items.list->list.n)
		return NULL;
	m = value_map(r->w);
	value_set(m, loop->var, s->items.list->list.v[s->items.i]);
	value_set(m, "ansible_loop_var", value_cstr(r->w, loop->var));
	if (loop->index_var)
		value_set(m, loop->index_var, value_int(r->w, (int64_t)s->items.i));
	return m;
}

/* ---- notifications ---- */

static int notify_one(struct run *r, struct state *s, struct str name, struct err *e)
{
	size_t n = r->play->handlers.v.n;
	bool *marks = arena_array(r->w, bool, n + 1);

	if (s->notified)
		memcpy(marks, s->notified, n * sizeof(*marks));
	if (!play_notify(r->play, s->items.step->role, name, marks)) {
		err_set(e, ERR_SPEC, "there is no handler '" STR_FMT "'", STR_ARG(name));
		return err_at(e, s->items.step->pos);
	}
	s->notified = marks;
	return 0;
}

static int notify(struct run *r, struct state *s, const struct scope *sc, struct err *e)
{
	for (const struct step *p = s->items.step; p; p = scope_outer(p))
		for (size_t i = 0; p->notify && i < p->notify->list.n; i++) {
			const struct value *v;
			if (template_render_value(r->w, p->notify->list.v[i], sc, RENDER, &v, e))
				return -1;
			for (size_t k = 0; v->kind == V_LIST && k < v->list.n; k++)
				if (v->list.v[k]->kind == V_STR &&
				    notify_one(r, s, v->list.v[k]->s, e))
					return -1;
			if (v->kind == V_STR && notify_one(r, s, v->s, e))
				return -1;
		}
	return 0;
}

/* ---- after the outcome ---- */

static void set_marks(struct run *r, struct outcome *oc)
{
	value_set(oc->result, "changed",
		  value_bool(r->w, oc->status == TASK_CHANGED ||
					   (oc->status == TASK_FAILED && oc->acted)));
	value_set(oc->result, "failed", value_bool(r->w, oc->status == TASK_FAILED));
	if (oc->status == TASK_SKIPPED)
		value_set(oc->result, "skipped", value_bool(r->w, true));
	if (oc->msg && !value_get(oc->result, "msg"))
		value_set(oc->result, oc->status == TASK_SKIPPED ? "skip_reason" : "msg",
			  value_cstr(r->w, oc->msg));
}

/* changed_when and failed_when see the result under its registered name. 0, WALK_STOP, -1. */
static int judge(struct run *r, const struct step *step, const struct scope *sc, struct outcome *oc)
{
	struct value *own = value_map(r->w);
	struct scope with = { .outer = sc, .vars = own };
	enum truth changed = oc->status == TASK_CHANGED || oc->acted ? TRUE_ : FALSE_;
	enum truth failed = oc->status == TASK_FAILED ? TRUE_ : FALSE_;
	struct err why = { 0 };

	if (oc->status == TASK_SKIPPED || (!step->changed_when && !step->failed_when))
		return 0;
	if (step->reg)
		value_set(own, step->reg, oc->result);
	if ((step->changed_when && scope_all(r, step->changed_when, &with, &changed, &why)) ||
	    (step->failed_when && scope_all(r, step->failed_when, &with, &failed, &why))) {
		item_fail(r, oc, why.msg);
		return 0;
	}
	if ((changed == UNKNOWN_ || failed == UNKNOWN_) && r->pending.n)
		return WALK_STOP;
	if (failed == TRUE_ && oc->status != TASK_FAILED)
		value_set(oc->result, "failed_when_result", value_bool(r->w, true));
	oc->acted = oc->acted && changed == TRUE_;
	oc->status = failed == TRUE_ ? TASK_FAILED : changed == TRUE_ ? TASK_CHANGED : TASK_OK;
	return 0;
}

static int64_t number_of(struct run *r, const struct value *v, const struct scope *sc,
			 int64_t fallback)
{
	const struct value *got;
	struct err ignored = { 0 };
	int64_t n = fallback;

	if (!v || template_render_value(r->w, v, sc, RENDER_NATIVE, &got, &ignored))
		return fallback;
	if (got->kind == V_INT)
		return got->i;
	return got->kind == V_STR && str_to_int(got->s, &n) ? n : fallback;
}

static int64_t bounded(int64_t n, int64_t most)
{
	return n < 0 ? 0 : n > most ? most : n;
}

/* until: 0 done, WALK_ON again, -1. */
static int retry(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
		 struct err *e)
{
	const struct step *step = s->items.step;
	int64_t retries = bounded(number_of(r, step->retries, sc, 3), RETRIES_MAX),
		delay = bounded(number_of(r, step->delay, sc, 5), DELAY_MAX_S);
	struct value *own = value_map(r->w);
	struct scope with = { .outer = sc, .vars = own };
	struct err why = { 0 };
	enum truth t = FALSE_;

	if (!step->until || oc->status == TASK_SKIPPED || r->o->check)
		return 0;
	value_set(oc->result, "attempts", value_int(r->w, s->items.attempt + 1));
	if (step->reg)
		value_set(own, step->reg, oc->result);
	if (scope_all(r, step->until, &with, &t, &why)) {
		item_fail(r, oc, why.msg);
		return 0;
	}
	if (t != FALSE_)
		return 0;
	if (s->items.attempt + 1 >= retries) {
		if (oc->status != TASK_FAILED)
			item_fail(r, oc, "the condition of until never held");
		return 0;
	}
	s->items.attempt++;
	call_forget(r);
	return task_sleep(delay * 1000, e) ? -1 : WALK_ON;
}

static void merge_facts(struct run *r, struct state *s, const struct outcome *oc)
{
	const struct value *facts = value_get(oc->result, "ansible_facts");

	if (facts && facts->kind == V_MAP)
		s->facts = value_merge(r->a, s->facts ? s->facts : value_map(r->a), facts, false);
}

/* The register of a loop, when its last item is done. */
static struct value *loop_result(struct run *r, const struct items *it)
{
	struct value *m = value_map(r->w);

	value_set(m, "results", it->results);
	value_set(m, "changed", value_bool(r->w, it->changed));
	value_set(m, "failed", value_bool(r->w, it->failed));
	value_set(m, "msg",
		  value_cstr(r->w, it->ran ? "All items completed" : "All items skipped"));
	if (!it->ran)
		value_set(m, "skipped", value_bool(r->w, true));
	return m;
}

static void add_result(struct run *r, struct items *it, const struct step *step, struct outcome *oc)
{
	struct value *list = value_list(r->w);

	if (it->i < it->list->list.n) {
		value_set(oc->result, step->loop.var, it->list->list.v[it->i]);
		value_set(oc->result, "ansible_loop_var", value_cstr(r->w, step->loop.var));
	}
	for (size_t i = 0; i < it->results->list.n; i++)
		value_add(r->w, list, it->results->list.v[i]);
	value_add(r->w, list, oc->result);
	it->results = list;
}

static const char *item_text(struct run *r, const struct state *s, const struct scope *sc)
{
	const struct step *step = s->items.step;
	const struct value *v = s->items.list->list.v[s->items.i], *label = NULL;
	struct err ignored = { 0 };

	if (step->loop.label &&
	    template_render_value(r->w, step->loop.label, sc, RENDER_NATIVE, &label, &ignored) == 0)
		v = label;
	return report_text(r->w, v);
}

static void report_outcome(struct run *r, struct state *s, const struct scope *sc,
			   const struct outcome *oc)
{
	struct entry *en = oc->entry;
	struct items *it = &s->items;
	struct entry now = { .step = it->step };

	if (!en && r->pending.n) {
		en = arena_obj(r->a, struct entry);
		VEC_ADD(r->a, &r->pending) = en;
	}
	if (!en)
		en = &now;
	en->step = it->step;
	en->oc = *oc;
	en->item = it->list ? item_text(r, s, sc) : NULL;
	en->last = !it->list || it->i + 1 >= it->list->list.n;
	en->whole = oc->status;
	if (it->list)
		en->whole = it->failed	  ? TASK_FAILED
			    : it->changed ? TASK_CHANGED
			    : it->ran	  ? TASK_OK
					  : TASK_SKIPPED;
	if (en == &now)
		report(r, en);
}

/* The state behind a finished item. */
static void advance(struct run *r, struct state *s, const struct outcome *oc)
{
	struct items it = s->items;
	const struct value *result = oc->result;
	bool failed = oc->status == TASK_FAILED && !oc->ignored;

	s->items.i++;
	s->items.attempt = 0;
	if (it.list && s->items.i < it.list->list.n)
		return;
	s->items = (struct items){ 0 };
	if (it.list) {
		result = loop_result(r, &it);
		failed = it.failed && !oc->ignored;
	}
	if (it.step->reg)
		set_var(r, s, it.step->reg, result);
	if (failed)
		walk_fail(r, s, it.step, result);
}

/* Ahead of the answers: what the task leaves behind isn't known. */
static int done_unknown(struct run *r, struct state *s, const struct scope *sc)
{
	struct err ignored = { 0 };
	const struct step *step = s->items.step;

	if (step->reg)
		item_unknown(r, s, step->reg);
	notify(r, s, sc, &ignored);
	s->items.i++;
	if (!s->items.list || s->items.i >= s->items.list->list.n)
		s->items = (struct items){ 0 };
	return WALK_ON;
}

/* What hosts say is never a template. */
static void seal(struct run *r, struct outcome *oc)
{
	oc->result = value_copy(r->w, oc->result);
	value_mark_unsafe(oc->result);
}

/* Is there a rescue section on the way out? */
static bool has_rescue(const struct state *s)
{
	for (const struct frame *f = s->at; f; f = f->outer)
		if (f->section == IN_BLOCK && f->step->rescue.v.n)
			return true;
	return false;
}

int item_done(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
	      struct err *e)
{
	const struct step *step = s->items.step;
	bool ignore = false, hidden = false;
	struct err why = { 0 };
	int rc;

	if (oc->unknown)
		return done_unknown(r, s, sc);
	rc = judge(r, step, sc, oc);
	if (rc)
		return rc;
	set_marks(r, oc);
	if (oc->status == TASK_FAILED && !oc->entry && r->pending.n)
		return WALK_STOP; /* it may be different once the patches before it are made */
	if (r->mode == WALK_DECIDE && (rc = retry(r, s, sc, oc, e)))
		return rc;
	set_marks(r, oc);
	seal(r, oc);
	if (SCOPE_FLAG(r, step, ignore_errors, sc, &ignore, &why) ||
	    SCOPE_FLAG(r, step, no_log, sc, &hidden, &why))
		item_fail(r, oc, why.msg);
	oc->ignored = ignore && oc->status == TASK_FAILED;
	oc->rescued = oc->status == TASK_FAILED && !oc->ignored && has_rescue(s);
	oc->hidden = hidden;
	s->items.changed |= oc->status == TASK_CHANGED;
	s->items.failed |= oc->status == TASK_FAILED && !oc->ignored;
	s->items.ran |= oc->status != TASK_SKIPPED;
	if (s->items.list)
		add_result(r, &s->items, step, oc);
	merge_facts(r, s, oc);
	if (oc->status == TASK_CHANGED && notify(r, s, sc, &why))
		item_fail(r, oc, why.msg);
	if (r->mode == WALK_DECIDE && !oc->quiet)
		report_outcome(r, s, sc, oc);
	advance(r, s, oc);
	return WALK_ON;
}

/* ---- before the outcome ---- */

static int conditions(struct run *r, const struct step *step, const struct scope *sc,
		      enum truth *out, struct err *e)
{
	const struct step *chain[64];
	size_t n = 0;
	enum truth one;

	for (const struct step *p = step; p && n < ARRAY_LEN(chain); p = scope_outer(p))
		if (p->when)
			chain[n++] = p;
	*out = TRUE_;
	while (n--) { /* the outermost is asked first */
		if (scope_all(r, chain[n]->when, sc, &one, e))
			return -1;
		if (one == FALSE_) {
			*out = FALSE_;
			return 0;
		}
		if (one == UNKNOWN_)
			*out = UNKNOWN_;
	}
	return 0;
}

/* Handlers that are ahead run only if something changes. */
static bool in_handlers(const struct state *s)
{
	for (const struct frame *f = s->at; f; f = f->outer)
		if (f->section == IN_HANDLERS)
			return true;
	return false;
}

/* run_once: the first host of all does it. Others don't share its results. */
static bool is_first_host(const struct run *r)
{
	const struct value *hosts = value_get(r->magic, "ansible_play_hosts");

	return !hosts || !hosts->list.n || str_eqc(hosts->list.v[0]->s, r->h->name);
}

static int enter_include(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
			 struct err *e)
{
	const struct step *step = s->items.step, *block = step;
	const struct value *vars = item_vars(r, s), *file;
	struct err why = { 0 };
	const char *path;

	oc->quiet = true;
	if (step->file) {
		if (template_render(r->w, template_of(step->file), sc, RENDER, &file, &why)) {
			item_fail(r, oc, why.msg);
			oc->quiet = false;
			return 0;
		}
		if (value_has_unknown(file))
			return WALK_STOP;
		path = fs_join(r->a, step->dir, file->s.p);
		if (step->role && !fs_exists(path))
			path = fs_join(r->a, fs_join(r->a, step->role->path, "tasks"), file->s.p);
		if (playbook_include(r->p, step, path, &block, &why)) {
			item_fail(r, oc, why.msg);
			oc->quiet = false;
			return 0;
		}
	}
	/* Where the include stands is left as it is for its next item; the frame goes on top. */
	int rc = item_done(r, s, sc, oc, e);
	if (rc == WALK_ON)
		walk_enter(r, s, block, IN_BLOCK, vars);
	return rc;
}

static int dispatch(struct run *r, struct state *s, const struct scope *sc, bool maybe,
		    struct outcome *oc, struct err *e)
{
	const struct step *step = s->items.step;
	int rc;

	if (step->kind == STEP_INCLUDE) {
		if (!maybe)
			return enter_include(r, s, sc, oc, e);
		oc->unknown = true;
		return item_done(r, s, sc, oc, e);
	}
	if (step->module->flags & MODULE_LOCAL) {
		if (maybe)
			oc->unknown = true;
		rc = local_run(r, s, sc, oc, e);
	} else {
		rc = call_run(r, s, sc, maybe, oc, e);
	}
	return rc ? rc : item_done(r, s, sc, oc, e);
}

int item_run(struct run *r, struct state *s, struct err *e)
{
	const struct step *step = s->items.step;
	struct scopes scopes;
	const struct scope *sc = scope_build(r, s, step, item_vars(r, s), &scopes);
	struct outcome oc = item_outcome(r, TASK_OK);
	struct err why = { 0 };
	enum truth t;
	bool once = false;

	if (conditions(r, step, sc, &t, &why) || SCOPE_FLAG(r, step, run_once, sc, &once, &why)) {
		oc.unknown = r->mode == WALK_COLLECT;
		item_fail(r, &oc, why.msg);
		return item_done(r, s, sc, &oc, e);
	}
	if (t == FALSE_ || (once && !is_first_host(r))) {
		oc.status = TASK_SKIPPED;
		oc.msg = t == FALSE_ ? "Conditional result was False" : "run once, on another host";
		oc.quiet = step->kind == STEP_INCLUDE && r->o->on_result == NULL;
		return item_done(r, s, sc, &oc, e);
	}
	if (t == UNKNOWN_ && r->mode == WALK_DECIDE) {
		if (r->pending.n)
			return WALK_STOP;
		item_fail(r, &oc, "a condition rests on a value that is not known");
		return item_done(r, s, sc, &oc, e);
	}
	return dispatch(r, s, sc, t == UNKNOWN_ || (r->mode == WALK_COLLECT && in_handlers(s)), &oc,
			e);
}
