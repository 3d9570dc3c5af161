/* SPDX-License-Identifier: Apache-2.0 */
/* Where a run is in the tree of steps: frames, blocks with rescue and always, handlers, failure. */
#include "playbooks/run.h"

#define WINDOW_STEPS 1000 /* a look ahead ends here */

static const struct steps *list_of(const struct frame *f)
{
	switch (f->section) {
	case IN_BLOCK: return &f->step->block;
	case IN_RESCUE: return &f->step->rescue;
	case IN_ALWAYS: return &f->step->always;
	case IN_HANDLERS: return &f->step->play->handlers;
	}
	return NULL;
}

static struct frame *change(struct run *r, struct state *s)
{
	struct frame *f = arena_obj(r->w, struct frame);

	*f = *s->at;
	s->at = f;
	return f;
}

void walk_enter(struct run *r, struct state *s, const struct step *block, enum section section,
		const struct value *vars)
{
	struct frame *f = arena_obj(r->w, struct frame);

	*f = (struct frame){
		.outer = s->at, .step = block, .section = section, .vars = vars, .resume = s->items
	};
	s->at = f;
	s->items = (struct items){ 0 };
}

/* ---- the next step ---- */

static const struct step *next_handler(struct run *r, struct state *s)
{
	const struct steps *list = list_of(s->at);
	size_t i = s->at->i;
	bool *marks;

	while (i < list->v.n && !(s->notified && s->notified[i]))
		i++;
	if (i >= list->v.n)
		return NULL;
	change(r, s)->i = i + 1;
	marks = arena_array(r->w, bool, list->v.n);
	memcpy(marks, s->notified, list->v.n * sizeof(*marks));
	marks[i] = false;
	s->notified = marks;
	return list->v.v[i];
}

static void end_section(struct run *r, struct state *s)
{
	const struct frame *f = s->at;
	bool failing = f->failing;

	if (f->section != IN_ALWAYS && f->section != IN_HANDLERS && f->step->always.v.n) {
		struct frame *n = change(r, s);
		n->section = IN_ALWAYS;
		n->i = 0;
		return;
	}
	s->at = f->outer;
	s->items = f->resume;
	if (failing)
		walk_fail(r, s, f->step, NULL);
}

static const struct step *next_step(struct run *r, struct state *s)
{
	while (s->at && !s->ended && !s->items.step) {
		const struct steps *list = list_of(s->at);
		const struct step *h;
		size_t i = s->at->i;
		if (s->at->section == IN_HANDLERS) {
			h = next_handler(r, s);
			if (h)
				return h;
			s->at = s->at->outer;
			continue;
		}
		if (i < list->v.n) {
			change(r, s)->i = i + 1;
			return list->v.v[i];
		}
		end_section(r, s);
	}
	return NULL;
}

/* ---- failure ---- */

static const struct value *failure_vars(struct run *r, const struct step *step,
					const struct value *result)
{
	struct value *m = value_map(r->w), *task = value_map(r->w);

	value_set(task, "name",
		  value_cstr(r->w, step->name	  ? step->name
				   : step->module ? step->module->name
						  : ""));
	value_set(m, "ansible_failed_task", task);
	value_set(m, "ansible_failed_result", result ? result : value_map(r->w));
	return m;
}

void walk_fail(struct run *r, struct state *s, const struct step *step, const struct value *result)
{
	const struct value *vars = failure_vars(r, step, result);

	while (s->at) {
		const struct frame *f = s->at;
		bool to_rescue = f->section == IN_BLOCK && f->step->rescue.v.n;
		if (to_rescue ||
		    ((f->section == IN_BLOCK || f->section == IN_RESCUE) && f->step->always.v.n)) {
			struct frame *n = change(r, s);
			n->section = to_rescue ? IN_RESCUE : IN_ALWAYS;
			n->i = 0;
			n->vars = vars;
			n->failing = !to_rescue;
			return;
		}
		s->at = f->outer;
		s->items = (struct items){ 0 };
	}
	s->failed = true;
}

/* ---- tasks ---- */

static int expand_dict(struct run *r, const struct value *v, const struct value **out,
		       struct err *e)
{
	struct value *list = value_list(r->w);

	if (v->kind != V_MAP)
		return err_set(e, ERR_SPEC, "with_dict needs a map, not %s",
			       value_kind_name(v->kind));
	for (size_t i = 0; i < v->map.n; i++) {
		struct value *one = value_map(r->w);
		value_set(one, "key", value_str(r->w, v->map.e[i].key));
		value_set(one, "value", v->map.e[i].val);
		value_add(r->w, list, one);
	}
	*out = list;
	return 0;
}

static const struct value *flattened(struct run *r, const struct value *v)
{
	struct value *list = value_list(r->w);

	if (v->kind != V_LIST) {
		value_add(r->w, list, v);
		return list;
	}
	for (size_t i = 0; i < v->list.n; i++) {
		const struct value *one = v->list.v[i];
		if (one->kind != V_LIST)
			value_add(r->w, list, one);
		else
			for (size_t k = 0; k < one->list.n; k++)
				value_add(r->w, list, one->list.v[k]);
	}
	return list;
}

static int loop_items(struct run *r, const struct step *step, const struct scope *sc,
		      const struct value **out, struct err *e)
{
	const struct value *v;

	if (template_render_value(r->w, step->loop.items, sc, RENDER_NATIVE, &v, e))
		return err_at(e, step->loop.items->pos);
	if (v->kind == V_UNKNOWN) {
		*out = v;
		return 0;
	}
	if (step->loop.dict)
		return expand_dict(r, v, out, e);
	if (step->loop.flatten)
		v = flattened(r, v);
	if (v->kind != V_LIST) {
		err_set(e, ERR_SPEC, "loop needs a list, not %s", value_kind_name(v->kind));
		err_hint(e, "write [x] for a list of one");
		return err_at(e, step->loop.items->pos);
	}
	*out = v;
	return 0;
}

/* Conditions that don't need the item may say that the loop's list is of no interest. */
static bool surely_skipped(struct run *r, const struct step *step, const struct scope *sc)
{
	struct err ignored = { 0 };
	enum truth t;

	for (const struct step *p = step; p; p = scope_outer(p))
		for (size_t i = 0; p->when && i < p->when->list.n; i++) {
			struct value one = { .kind = V_LIST };
			one.list.v = p->when->list.v + i;
			one.list.n = 1;
			if (scope_all(r, &one, sc, &t, &ignored) == 0 && t == FALSE_)
				return true;
		}
	return false;
}

static int begin_loop(struct run *r, struct state *s, const struct scope *sc, struct err *e)
{
	const struct step *step = s->items.step;
	struct err why = { 0 };
	struct outcome oc;

	if (loop_items(r, step, sc, &s->items.list, &why)) {
		s->items.list = NULL;
		if (surely_skipped(r, step, sc)) {
			oc = item_outcome(r, TASK_SKIPPED);
			oc.msg = "Conditional result was False";
		} else {
			oc = item_outcome(r, TASK_FAILED);
			oc.unknown = r->mode == WALK_COLLECT;
			item_fail(r, &oc, why.msg);
		}
		return item_done(r, s, sc, &oc, e);
	}
	if (s->items.list->kind == V_UNKNOWN) {
		if (r->mode == WALK_DECIDE && r->pending.n)
			return WALK_STOP;
		s->items.list = NULL;
		oc = item_outcome(r, r->mode == WALK_COLLECT ? TASK_OK : TASK_FAILED);
		oc.unknown = r->mode == WALK_COLLECT;
		oc.msg = "the list of the loop is not known";
		return item_done(r, s, sc, &oc, e);
	}
	if (!s->items.list->list.n) {
		s->items.list = NULL;
		oc = item_outcome(r, TASK_SKIPPED);
		oc.msg = "No items in the list";
		value_set(oc.result, "results", value_list(r->w));
		return item_done(r, s, sc, &oc, e);
	}
	s->items.results = value_list(r->w);
	return WALK_ON;
}

static bool wants_facts(struct run *r, const struct state *s, const struct step *step)
{
	struct value list = { .kind = V_LIST };
	struct value *one;
	struct scopes scopes;
	struct err ignored = { 0 };
	enum truth t = TRUE_;

	if (!r->p->uses_facts && !r->o->gather_facts_always)
		return false;
	if (!r->play->gather_facts)
		return true;
	one = value_copy(r->w, r->play->gather_facts);
	list.list.v = &one;
	list.list.n = 1;
	return scope_all(r, &list, scope_build(r, s, step, NULL, &scopes), &t, &ignored) != 0 ||
	       t != FALSE_;
}

static int begin_task(struct run *r, struct state *s, const struct step *step, struct err *e)
{
	struct scopes scopes;

	if (!scope_tags_match(r, step) || (step->implicit && !wants_facts(r, s, step)))
		return WALK_ON;
	s->items = (struct items){ .step = step };
	if (!step->loop.items)
		return WALK_ON;
	return begin_loop(r, s, scope_build(r, s, step, NULL, &scopes), e);
}

static int walk_one(struct run *r, struct state *s, struct err *e)
{
	const struct step *step;

	if (s->items.step)
		return item_run(r, s, e);
	step = next_step(r, s);
	if (!step)
		return s->items.step ? WALK_ON : WALK_DONE;
	if (++r->steps > WINDOW_STEPS && r->mode == WALK_COLLECT)
		return WALK_STOP;
	switch (step->kind) {
	case STEP_BLOCK: walk_enter(r, s, step, IN_BLOCK, NULL); return WALK_ON;
	case STEP_FLUSH: walk_enter(r, s, step, IN_HANDLERS, NULL); return WALK_ON;
	case STEP_INCLUDE:
	case STEP_TASK: return begin_task(r, s, step, e);
	}
	return WALK_ON;
}

int walk(struct run *r, struct state *s, struct err *e)
{
	for (;;) {
		struct state before = *s;
		int rc = walk_one(r, s, e);
		if (rc == WALK_ON)
			continue;
		if (rc != WALK_DONE)
			*s = before;
		return rc;
	}
}
