/* SPDX-License-Identifier: Apache-2.0 */
/* What has come true is told to the caller and counted. */
#include "playbooks/run.h"

const char *report_text(struct arena *a, const struct value *v)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	value_print(&b, v);
	return buf_dup(&b, a);
}

static void count(struct run_result *out, enum task_status whole, const struct outcome *oc)
{
	switch (whole) {
	case TASK_OK: out->ok++; break;
	case TASK_CHANGED:
		out->ok++;
		out->changed++;
		break;
	case TASK_SKIPPED: out->skipped++; break;
	case TASK_FAILED:
	case TASK_UNREACHABLE:
		if (oc->ignored) {
			out->ok++;
			out->ignored++;
			out->changed += oc->acted;
		} else if (!oc->rescued) {
			out->failed++;
		}
		break;
	}
}

/* no_log: that something changed is told, not what. */
static void censor(struct run *r, struct task_result *t)
{
	struct value *m = value_map(r->a);

	value_set(
		m, "censored",
		value_cstr(
			r->a,
			"the output has been hidden due to the fact that 'no_log: true' was specified "
			"for this result"));
	value_set(m, "changed", value_bool(r->a, t->status == TASK_CHANGED));
	value_set(m, "failed", value_bool(r->a, t->status == TASK_FAILED));
	t->result = m;
	t->item = t->item ? "(sensitive)" : NULL;
	t->msg = t->msg ? "(sensitive)" : NULL;
	for (size_t i = 0; i < t->changes.n; i++)
		t->changes.v[i] = (struct task_change){ .what = "(sensitive)" };
}

static const char *shown_name(struct run *r, const struct step *step)
{
	const struct step *p = step;
	const struct value *v;
	struct scopes scopes;
	struct err ignored = { 0 };

	while (p && !p->name && p->kind != STEP_TASK)
		p = p->parent;
	if (!step->name)
		return step->module ? step->module->name : "include";
	if (!template_has_markup(str_of(step->name)))
		return step->name;
	if (template_render(r->a, (struct template){ str_of(step->name), step->pos },
			    scope_build(r, &r->s, step, NULL, &scopes), RENDER, &v, &ignored) ||
	    v->kind != V_STR)
		return step->name;
	return v->s.p;
}

void report(struct run *r, const struct entry *en)
{
	struct task_result *t = arena_obj(r->a, struct task_result);

	t->host = r->h->name;
	t->play = r->play->name;
	t->role = en->step->role ? en->step->role->name : NULL;
	t->task = shown_name(r, en->step);
	t->module = en->step->module ? en->step->module->name : "include_tasks";
	t->pos = en->step->pos;
	t->status = en->oc.status;
	t->ignored = en->oc.ignored || en->oc.rescued;
	t->item = en->item;
	t->msg = en->oc.msg;
	t->result = en->oc.result;
	if (!t->msg && en->oc.status == TASK_FAILED)
		t->msg = value_get_str(en->oc.result, "msg", "").p;
	for (size_t i = 0; en->oc.ch && i < en->oc.ch->v.n; i++)
		VEC_ADD(r->a, &t->changes) = en->oc.ch->v.v[i];
	if (en->oc.hidden)
		censor(r, t);
	if (r->o->on_result)
		r->o->on_result(r->o->arg, t);
	if (t->status == TASK_CHANGED || t->status == TASK_FAILED)
		VEC_ADD(r->a, &r->out->changes) = t;
	if (en->last)
		count(r->out, en->whole, &en->oc);
}
