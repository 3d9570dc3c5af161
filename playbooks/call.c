/* SPDX-License-Identifier: Apache-2.0 */
/* A module's call on a host: arguments, probe, check, and either a patch for later or an action
 * now. */
#include "playbooks/run.h"

#define PENDING_MAX ((size_t)8 << 20) /* of patches in one script */

struct site {
	struct run *r;
	struct state *s;
	const struct step *step;
	const struct scope *sc;
	struct mod_call call;
	struct lane *lane;
	struct probe probe;
	void *memo;
	bool maybe;
};

/* ---- as whom ---- */

static struct lane *find_lane(struct run *r, const char *user)
{
	for (size_t i = 0; i < r->lanes.n; i++) {
		const char *have = r->lanes.v[i]->user;
		if (user ? have && strcmp(have, user) == 0 : !have)
			return r->lanes.v[i];
	}
	return NULL;
}

static struct str become_password(struct run *r, const struct scope *sc)
{
	static const char *const names[] = { "ansible_become_password", "ansible_become_pass",
					     "ansible_sudo_pass" };
	const struct value *v;
	struct err ignored = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (template_eval(r->a, (struct template){ .text = str_of(names[i]) }, sc, RENDER,
				  &v, &ignored) == 0 &&
		    v->kind == V_STR && v->s.n) {
			scrub_register(v->s);
			return v->s;
		}
	return STR_NONE;
}

static struct lane *make_lane(struct run *r, const char *user, struct str password)
{
	struct lane *l = arena_obj(r->a, struct lane);

	l->user = user ? arena_strdup(r->a, user) : NULL;
	l->become =
		(struct host_become){ .on = user != NULL, .user = l->user, .password = password };
	probe_init(&l->probe, r->w);
	answers_init(&l->answers, r->a);
	VEC_ADD(r->a, &r->lanes) = l;
	return l;
}

static int choose_lane(struct site *t, struct err *e)
{
	const struct value *user = SCOPE_INHERITED(t->step, become_user), *v;
	const char *name = NULL;
	bool become;

	if (SCOPE_FLAG(t->r, t->step, become, t->sc, &become, e))
		return -1;
	if (become && user) {
		if (template_render_value(t->r->w, user, t->sc, RENDER, &v, e))
			return -1;
		name = v->kind == V_STR && v->s.n ? v->s.p : "root";
	} else if (become) {
		name = "root";
	}
	t->lane = find_lane(t->r, name);
	if (!t->lane)
		t->lane = make_lane(t->r, name, name ? become_password(t->r, t->sc) : STR_NONE);
	return 0;
}

void call_forget(struct run *r)
{
	for (size_t i = 0; i < r->lanes.n; i++)
		answers_init(&r->lanes.v[i]->answers, r->a);
}

/* ---- the call ---- */

/*
 * Ahead of the answers a task may have arguments that are not known yet. What it must ask about
 * (mostly a path) usually is known, so the others are left out and it asks what it can: an answer
 * too many costs little, one too few costs a round trip.
 */
static const struct value *known_part(struct run *r, const struct module *m,
				      const struct value *raw)
{
	struct value *out = value_map(r->w);

	for (size_t i = 0; i < raw->map.n; i++) {
		const struct map_entry *me = &raw->map.e[i];
		if (!value_has_unknown(me->val))
			value_sets(out, me->key, me->val);
		else if (m == &module_copy && str_eqc(me->key, "content"))
			value_sets(out, me->key, value_cstr(r->w, ""));
	}
	return out;
}

static int open_call(struct site *t, struct err *e)
{
	const struct value *raw, *check = SCOPE_INHERITED(t->step, check_mode);
	struct run *r = t->r;
	bool on = r->o->check;

	if (template_render_value(r->w, t->step->args, t->sc, RENDER_NATIVE, &raw, e))
		return err_at(e, t->step->pos);
	if (value_has_unknown(raw) && r->mode == WALK_DECIDE)
		return PROBE_LATER;
	if (value_has_unknown(raw))
		raw = known_part(r, t->step->module, raw);
	t->call = (struct mod_call){ .a = r->w,
				     .module = t->step->module,
				     .pos = t->step->pos,
				     .diff = r->o->diff,
				     .scope = t->sc,
				     .memo = &t->memo,
				     .src_dirs = scope_dirs(r, t->step) };
	if (t->call.module->flags & MODULE_ANY_ARGS)
		t->call.args = raw;
	else if (args_decode(r->w, t->call.module->name, t->call.module->args, raw, &t->call.args,
			     e))
		return err_at(e, t->step->pos);
	if (check && SCOPE_FLAG(r, t->step, check_mode, t->sc, &on, e))
		return -1;
	t->call.check = on;
	if (choose_lane(t, e))
		return -1;
	probe_init(&t->probe, r->w);
	return t->call.module->probe ? t->call.module->probe(&t->call, &t->probe, e) : 0;
}

static bool says_unchanged(const struct step *step)
{
	const struct value *list = step->changed_when;

	return list && list->list.n == 1 && list->list.v[0]->kind == V_BOOL && !list->list.v[0]->b;
}

/* Its outcome is its exit status alone, so it may wait among the patches: what comes after it is
 * guarded as after any patch. A module of state says only afterwards whether it changed anything. */
static bool can_wait(const struct site *t)
{
	const struct step *step = t->step;
	const struct module *m = t->call.module;

	return (m->flags & MODULE_ACTION) && !m->act && !step->failed_when && !step->until &&
	       (!step->changed_when || says_unchanged(step));
}

/* Looking ahead ends before what surely changes the host: answers from before it would be worth
 * nothing. */
static int look_ahead(struct site *t, struct outcome *oc)
{
	bool acts = t->call.module->flags & MODULE_ACTION;

	oc->unknown = true;
	probe_merge(&t->lane->probe, &t->probe);
	if (acts && !t->call.check && !t->maybe && !t->probe.n && !can_wait(t) &&
	    !says_unchanged(t->step))
		return WALK_STOP;
	return 0;
}

/* ---- deciding ---- */

static void add_entry(struct site *t, struct entry *en)
{
	struct run *r = t->r;

	en->before = *t->s;
	en->lane = t->lane;
	en->step = t->step;
	if (!en->probe.n && t->probe.n) {
		probe_init(&en->probe, r->a);
		probe_merge(&en->probe, &t->probe);
		answers_digest(&t->lane->answers, &en->probe, en->digest);
	}
	VEC_ADD(r->a, &r->pending) = en;
}

static int make_patch(struct site *t, struct changes *ch, struct entry **out, struct err *e)
{
	struct entry *en = arena_obj(t->r->a, struct entry);
	struct patch p;
	int rc;

	/* The guard's digest is of what was asked; what comes after the patch goes over it. */
	probe_init(&en->probe, t->r->a);
	probe_merge(&en->probe, &t->probe);
	if (en->probe.n)
		answers_digest(&t->lane->answers, &en->probe, en->digest);
	ch->predicted = &t->lane->answers;
	ch->as_root = t->lane->user && strcmp(t->lane->user, "root") == 0;
	patch_init(&p);
	rc = t->call.module->patch(&t->call, ch, &p, e);
	if (!rc)
		rc = buf_check(&p.text, e);
	if (!rc)
		rc = flush_environment_of(t->r, t->step, t->sc, &en->environment, e);
	if (!rc) {
		en->patch = buf_dup(&p.text, t->r->a);
		t->r->pending_bytes += p.text.n;
		en->ch = ch;
		add_entry(t, en);
		*out = en;
	}
	patch_fini(&p);
	return rc;
}

static int run_script(struct site *t, struct changes *ch, struct err *e)
{
	struct script_result res = { 0 };
	const struct value *environment;
	struct buf b scoped(buf_wipe) = { 0 };
	struct patch p;
	int rc;

	buf_init(&b, PATCH_MAX);
	patch_init(&p);
	rc = t->call.module->patch(&t->call, ch, &p, e) ||
	     flush_environment_of(t->r, t->step, t->sc, &environment, e);
	if (!rc) {
		buf_adds(&b, "set -e\n");
		flush_environment(&b, environment);
		buf_addstr(&b, buf_str(&p.text));
	}
	patch_fini(&p);
	if (rc)
		return change_fail(ch, "%s", e->msg);
	t->r->out->patch_trips++;
	if (flush_script(t->r, t->lane, buf_str(&b), ch->takes_ms, &res, e))
		return -1;
	return t->call.module->finish(&t->call, &res, ch, e);
}

/* An action, now. What it may have changed nobody knows, unless the play says that it changes
 * nothing. */
static int act(struct site *t, struct changes *ch, struct outcome *oc, struct err *e)
{
	const struct module *m = t->call.module;
	const struct value *changed;
	int rc;

	if (m->act)
		rc = m->act(&t->call, t->r->h->conn, t->r->o, ch, e);
	else
		rc = run_script(t, ch, e);
	if (rc)
		return -1;
	if (!says_unchanged(t->step) || (m->flags & MODULE_LOST))
		call_forget(t->r);
	if (m == &module_reboot)
		t->r->out->rebooted = true;
	changed = value_get(ch->result, "changed");
	oc->status = ch->failed ? TASK_FAILED : TASK_CHANGED;
	oc->acted = ch->failed && !m->act;
	if (!ch->failed && (changed ? !value_is_truthy(changed) : m->act != NULL))
		oc->status = TASK_OK;
	return 0;
}

static const char *const late_results[] = { "rc", "stdout", "stdout_lines", "stderr",
					    "stderr_lines" };

static int let_wait(struct site *t, struct changes *ch, struct outcome *oc)
{
	struct mod_call *call = arena_obj(t->r->a, struct mod_call);
	struct err why = { 0 };

	if (make_patch(t, ch, &oc->entry, &why)) {
		item_fail(t->r, oc, why.msg);
		return 0;
	}
	*call = t->call;
	call->memo = NULL;
	oc->entry->action = call;
	oc->entry->harmless = says_unchanged(t->step);
	oc->status = TASK_CHANGED;
	for (size_t i = 0; i < ARRAY_LEN(late_results); i++)
		value_set(oc->result, late_results[i], value_unknown(t->r->w));
	return 0;
}

static int decide_action(struct site *t, struct changes *ch, struct outcome *oc, struct err *e)
{
	if (!ch->run)
		return 0;
	if (t->call.check) {
		oc->status = ch->v.n ? TASK_CHANGED : TASK_SKIPPED;
		oc->msg = value_get_str(ch->result, "msg", "skipped in check mode").p;
		return 0;
	}
	if (can_wait(t))
		return let_wait(t, ch, oc);
	if (t->r->pending.n)
		return WALK_STOP;
	return act(t, ch, oc, e);
}

static int decide_state(struct site *t, struct changes *ch, struct outcome *oc)
{
	struct err why = { 0 };

	if (ch->v.n)
		oc->status = TASK_CHANGED;
	if (ch->v.n && !t->call.check) {
		if (make_patch(t, ch, &oc->entry, &why))
			item_fail(t->r, oc, why.msg);
	} else if (t->r->pending.n) {
		oc->entry = arena_obj(t->r->a, struct entry);
		add_entry(t, oc->entry);
	}
	return 0;
}

static int decide(struct site *t, struct outcome *oc, struct err *e)
{
	const struct module *m = t->call.module;
	struct changes *ch = arena_obj(t->r->w, struct changes);
	struct err why = { 0 };
	int rc;

	if (!answers_have(&t->lane->answers, &t->probe) || t->r->pending_bytes > PENDING_MAX ||
	    ((m->flags & MODULE_FRESH) && t->r->pending.n))
		return WALK_STOP;
	ch->a = t->r->w;
	ch->result = oc->result;
	oc->ch = ch;
	rc = m->check(&t->call, &t->lane->answers, ch, &why);
	/* What is missing may come with a patch that is still to be sent. */
	if ((rc || ch->failed) && t->r->pending.n)
		return WALK_STOP;
	if (rc || ch->failed) {
		item_fail(t->r, oc, rc ? why.msg : ch->msg);
		return 0;
	}
	/* A module of state that cannot say beforehand whether it will change something runs as an
	 * action. */
	rc = m->flags & MODULE_ACTION || (ch->run && !ch->v.n) ? decide_action(t, ch, oc, e)
							       : decide_state(t, ch, oc);
	if (!rc && ch->failed)
		item_fail(t->r, oc, ch->msg);
	return rc;
}

int call_run(struct run *r, struct state *s, const struct scope *sc, bool maybe, struct outcome *oc,
	     struct err *e)
{
	struct site t = { .r = r, .s = s, .step = s->items.step, .sc = sc, .maybe = maybe };
	struct err why = { 0 };
	int rc = open_call(&t, &why);

	if (rc && r->mode == WALK_COLLECT) {
		if (rc == PROBE_LATER)
			probe_merge(&t.lane->probe, &t.probe);
		oc->unknown = true;
		return 0;
	}
	if (rc == PROBE_LATER && r->pending.n)
		return WALK_STOP;
	if (rc) {
		item_fail(r, oc,
			  rc == PROBE_LATER ? "an argument rests on a value that is not known"
					    : why.msg);
		return 0;
	}
	return r->mode == WALK_COLLECT ? look_ahead(&t, oc) : decide(&t, oc, e);
}
