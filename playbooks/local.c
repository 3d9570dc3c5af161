/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks of the controller: set_fact, debug, assert, fail, meta, include_vars. */
#include "playbooks/run.h"

static int not_known(struct run *r, struct outcome *oc)
{
	if (r->mode == WALK_COLLECT) {
		oc->unknown = true;
		return 0;
	}
	if (r->pending.n)
		return WALK_STOP;
	item_fail(r, oc, "it rests on a value that is not known");
	return 0;
}

static int fail_with(struct run *r, struct outcome *oc, const struct err *why)
{
	if (r->mode == WALK_COLLECT) {
		oc->unknown = true;
		return 0;
	}
	item_fail(r, oc, why->msg);
	return 0;
}

static int render_args(struct run *r, const struct step *step, const struct scope *sc,
		       const struct value **out, struct err *e)
{
	const struct value *raw;

	if (template_render_value(r->w, step->args, sc, RENDER_NATIVE, &raw, e))
		return err_at(e, step->pos);
	if (step->module->flags & MODULE_ANY_ARGS) {
		*out = raw;
		return 0;
	}
	return args_decode(r->w, step->module->name, step->module->args, raw, out, e);
}

/* ---- set_fact ---- */

static int run_set_fact(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc)
{
	const struct value *args;
	struct value *facts = value_map(r->w);
	struct err why = { 0 };
	bool maybe = oc->unknown;

	if (render_args(r, s->items.step, sc, &args, &why)) {
		for (size_t i = 0; r->mode == WALK_COLLECT && i < s->items.step->args->map.n; i++)
			item_unknown(r, s, s->items.step->args->map.e[i].key.p);
		return fail_with(r, oc, &why);
	}
	if (r->mode == WALK_DECIDE && value_has_unknown(args))
		return not_known(r, oc);
	for (size_t i = 0; i < args->map.n; i++)
		if (!str_eqc(args->map.e[i].key, "cacheable"))
			value_sets(facts, args->map.e[i].key,
				   maybe ? value_unknown(r->w) : args->map.e[i].val);
	s->set = value_merge(r->w, s->set ? s->set : value_map(r->w), facts, false);
	if (!maybe)
		value_set(oc->result, "ansible_facts", value_map(r->w));
	return 0;
}

/* ---- debug, fail ---- */

static int run_debug(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc)
{
	const struct value *var = value_get(s->items.step->args, "var"), *v;
	struct err why = { 0 };

	if (r->mode == WALK_COLLECT)
		return 0;
	if (var && var->kind == V_STR && !template_has_markup(var->s)) {
		if (template_eval(r->w, template_of(var), sc, RENDER, &v, &why))
			v = value_cstr(r->w, "VARIABLE IS NOT DEFINED!");
		else if (value_has_unknown(v))
			return not_known(r, oc);
		value_sets(oc->result, var->s, v);
		oc->msg = arena_printf(r->w, STR_FMT ": %s", STR_ARG(var->s), report_text(r->w, v));
		return 0;
	}
	if (render_args(r, s->items.step, sc, &v, &why))
		return fail_with(r, oc, &why);
	if (value_has_unknown(v))
		return not_known(r, oc);
	v = value_get(v, var ? "var" : "msg");
	value_set(oc->result, "msg", v);
	oc->msg = report_text(r->w, v);
	return 0;
}

static int run_fail(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc)
{
	const struct value *args;
	struct err why = { 0 };

	if (r->mode == WALK_COLLECT)
		return oc->unknown ? 0 : WALK_STOP;
	if (render_args(r, s->items.step, sc, &args, &why))
		return fail_with(r, oc, &why);
	item_fail(r, oc, arg_cstr(args, "msg"));
	return 0;
}

/* ---- assert ---- */

static void say(struct run *r, struct outcome *oc, const struct value *args, const char *key,
		const char *fallback)
{
	const struct value *v = value_get(args, key);

	oc->msg = v ? report_text(r->w, v) : fallback;
	value_set(oc->result, "msg", v ? v : value_cstr(r->w, fallback));
}

static int assert_messages(struct run *r, const struct step *step, const struct scope *sc,
			   const struct value **out, struct err *e)
{
	struct value *m = value_map(r->w);

	for (size_t i = 0; i < step->args->map.n; i++)
		if (!str_eqc(step->args->map.e[i].key, "that"))
			value_sets(m, step->args->map.e[i].key, step->args->map.e[i].val);
	if (value_get(m, "msg"))
		value_set(m, "fail_msg", value_get(m, "msg"));
	return template_render_value(r->w, m, sc, RENDER, out, e);
}

static int run_assert(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc)
{
	const struct step *step = s->items.step;
	const struct value *that = value_get(step->args, "that"), *args;
	struct value list = { .kind = V_LIST };
	struct err why = { 0 };
	enum truth t;

	if (!that)
		that = value_bool(r->w, true);
	bool given = that->kind == V_STR && template_has_markup(that->s);
	if (given && template_render(r->w, template_of(that), sc, RENDER_NATIVE, &that, &why))
		return fail_with(r, oc, &why);
	for (size_t i = 0; i < (that->kind == V_LIST ? that->list.n : 1); i++) {
		struct value *one = value_copy(r->w, that->kind == V_LIST ? that->list.v[i] : that);
		one->unsafe |= given;
		list.list.v = &one;
		list.list.n = 1;
		if (scope_all(r, &list, sc, &t, &why))
			return fail_with(r, oc, &why);
		if (t == UNKNOWN_)
			return not_known(r, oc);
		if (t == TRUE_)
			continue;
		if (r->mode == WALK_COLLECT)
			return oc->unknown ? 0 : WALK_STOP;
		oc->status = TASK_FAILED;
		value_set(oc->result, "assertion", one);
		value_set(oc->result, "evaluated_to", value_bool(r->w, false));
		if (assert_messages(r, step, sc, &args, &why))
			return fail_with(r, oc, &why);
		say(r, oc, args, "fail_msg", "Assertion failed");
		return 0;
	}
	if (assert_messages(r, step, sc, &args, &why))
		return fail_with(r, oc, &why);
	say(r, oc, args, "success_msg", "All assertions passed");
	return 0;
}

/* ---- meta ---- */

static int run_meta(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
		    struct err *e)
{
	struct str what = value_get_str(s->items.step->args, "_raw_params", "noop");
	const struct step *step = s->items.step;
	bool maybe = oc->unknown;
	int rc;

	oc->quiet = true;
	if (maybe)
		return 0;
	if (str_eqc(what, "flush_handlers")) {
		rc = item_done(r, s, sc, oc, e);
		if (rc == WALK_ON)
			walk_enter(r, s, step, IN_HANDLERS, NULL);
		return rc;
	}
	if (str_eqc(what, "end_host") || str_eqc(what, "end_play"))
		s->ended = true;
	else if (str_eqc(what, "clear_facts"))
		s->facts = NULL;
	else if (str_eqc(what, "reset_connection") && r->mode == WALK_COLLECT)
		return WALK_STOP;
	else if (str_eqc(what, "reset_connection")) {
		if (r->pending.n)
			return WALK_STOP;
		call_forget(r);
		if (host_reconnect(r->h->conn, 60000, e))
			return -1;
	}
	return 0;
}

/* ---- include_vars ---- */

static int run_include_vars(struct run *r, struct state *s, const struct scope *sc,
			    struct outcome *oc)
{
	const struct step *step = s->items.step;
	const char *dirs[] = { step->role ? step->role->path : step->dir, step->dir, r->play->dir,
			       NULL },
		   *path, *name;
	struct mod_call c = { .a = r->a, .src_dirs = dirs, .pos = step->pos };
	const struct value *args, *vars;
	struct err_list errs = { 0 };
	struct err why = { 0 };
	struct value *v = NULL;
	struct str text;

	if (render_args(r, step, sc, &args, &why))
		return fail_with(r, oc, &why);
	if (value_has_unknown(args))
		return not_known(r, oc);
	name = arg_cstr(args, arg_has(args, "file") ? "file" : "_raw_params");
	if (!name) {
		item_fail(r, oc, "include_vars needs a file");
		return 0;
	}
	if (src_find(&c, "vars", name, &path, &why) ||
	    fs_read(r->a, path, YAML_MAX_BYTES, &text, &why))
		return fail_with(r, oc, &why);
	if (yaml_parse(r->a, path, text, YAML_ANSIBLE, &v, &errs) ||
	    (v->kind != V_MAP && v->kind != V_NULL)) {
		item_fail(r, oc, errs.n ? errs.v[0].msg : "a map of variables is needed");
		err_list_fini(&errs);
		return 0;
	}
	vars = v->kind == V_MAP ? v : value_map(r->a);
	if (arg_has(args, "name")) {
		struct value *m = value_map(r->a);
		value_set(m, arg_cstr(args, "name"), vars);
		vars = m;
	}
	s->included = value_merge(r->w, s->included ? s->included : value_map(r->w), vars, false);
	return 0;
}

int local_run(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
	      struct err *e)
{
	const struct module *m = s->items.step->module;

	if (m == &module_set_fact)
		return run_set_fact(r, s, sc, oc);
	if (m == &module_debug)
		return run_debug(r, s, sc, oc);
	if (m == &module_fail)
		return run_fail(r, s, sc, oc);
	if (m == &module_assert)
		return run_assert(r, s, sc, oc);
	if (m == &module_meta)
		return run_meta(r, s, sc, oc, e);
	if (m == &module_include_vars)
		return run_include_vars(r, s, sc, oc);
	bug("no code for module %s", m->name);
}
