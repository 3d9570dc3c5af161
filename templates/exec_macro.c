/* SPDX-License-Identifier: Apache-2.0 */
/* {% macro %} and {% call %}: a body with parameters, run where it was written. */
#include "templates/exec.h"

struct macro {
	struct object o;      /* first */
	const struct node *n; /* N_MACRO or N_CALLER */
	struct eval home;     /* the template and the names around it */
	bool escape;
	bool varargs, kwargs, caller; /* the body reads these */
};

/* ---- what the body reads -------------------------------------------------------------------- */

static void find_reads(struct macro *m, const struct node *n);

static void find_reads_in_all(struct macro *m, const struct node *n)
{
	const struct node *const parts[] = {
		n->left, n->right, n->other, n->cond, n->star, n->stars
	};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		find_reads(m, parts[i]);
	for (size_t i = 0; i < n->kids.n; i++)
		find_reads(m, n->kids.v[i]);
	for (size_t i = 0; i < n->kwargs.n; i++)
		find_reads(m, n->kwargs.v[i].value);
	for (size_t i = 0; i < n->params.n; i++)
		find_reads(m, n->params.v[i].value);
}

static void find_reads(struct macro *m, const struct node *n)
{
	if (!n)
		return;
	if (n->kind == N_NAME) {
		m->varargs = m->varargs || str_eqc(n->name, "varargs");
		m->kwargs = m->kwargs || str_eqc(n->name, "kwargs");
		m->caller = m->caller || str_eqc(n->name, "caller");
	}
	find_reads_in_all(m, n);
}

/* ---- arguments ------------------------------------------------------------------------------ */

static const char *name_of(const struct macro *m, struct arena *a)
{
	return m->n->kind == N_CALLER ? "caller" : arena_dup(a, m->n->name.p, m->n->name.n);
}

static void bind_text(struct frame *f, const char *name, const struct value *v)
{
	frame_bind(f, str_of(name), str_hash(str_of(name)), v);
}

/* The value of parameter i: as given, its default, or undefined. */
static const struct value *parameter(struct eval *ev, const struct macro *m, struct call *c,
				     size_t i)
{
	const struct param *p = &m->n->params.v[i];
	const struct value *v = value_gets(c->kwargs, p->name);

	if (i < c->args->list.n) {
		if (!v)
			return c->args->list.v[i];
		err_set(ev->e, ERR_SPEC, "%s was given \"" STR_FMT "\" twice", name_of(m, ev->a),
			STR_ARG(p->name));
		return NULL;
	}
	if (v)
		return v;
	if (p->value)
		return eval_soft(ev, p->value);
	return eval_undefined(ev, arena_printf(ev->a, "parameter \"" STR_FMT "\" was not provided",
					       STR_ARG(p->name)));
}

static bool is_parameter(const struct macro *m, struct str name)
{
	for (size_t i = 0; i < m->n->params.n; i++)
		if (str_eq(m->n->params.v[i].name, name))
			return true;
	return false;
}

/* What no parameter takes: varargs, kwargs, caller. */
static int bind_rest(struct eval *ev, struct macro *m, struct call *c)
{
	struct value *more = value_list(ev->a), *named = value_map(ev->a);

	more->tuple = true;
	for (size_t i = m->n->params.n; i < c->args->list.n; i++)
		value_add(ev->a, more, c->args->list.v[i]);
	for (size_t i = 0; i < c->kwargs->map.n; i++) {
		const struct map_entry *en = &c->kwargs->map.e[i];
		if (is_parameter(m, en->key))
			continue;
		if (m->caller && str_eqc(en->key, "caller"))
			bind_text(ev->frame, "caller", en->val);
		else if (m->kwargs)
			value_sets(named, en->key, en->val);
		else
			return err_set(ev->e, ERR_SPEC, "%s has no parameter \"" STR_FMT "\"",
				       name_of(m, ev->a), STR_ARG(en->key));
	}
	if (more->list.n && !m->varargs)
		return err_set(ev->e, ERR_SPEC, "%s takes at most %zu argument%s, not %zu",
			       name_of(m, ev->a), m->n->params.n, m->n->params.n == 1 ? "" : "s",
			       c->args->list.n);
	if (m->varargs)
		bind_text(ev->frame, "varargs", more);
	if (m->kwargs)
		bind_text(ev->frame, "kwargs", named);
	if (m->caller && !value_get(c->kwargs, "caller"))
		bind_text(ev->frame, "caller",
			  eval_undefined(ev, "no caller was given: use {% call %}"));
	return 0;
}

static int bind_arguments(struct eval *ev, struct macro *m, struct call *c)
{
	if (bind_rest(ev, m, c) < 0)
		return -1;
	for (size_t i = 0; i < m->n->params.n; i++) {
		const struct param *p = &m->n->params.v[i];
		const struct value *v = parameter(ev, m, c, i);
		if (!v)
			return -1;
		frame_bind(ev->frame, p->name, str_hash(p->name), v);
	}
	return 0;
}

/* ---- the macro as a value ------------------------------------------------------------------- */

static const struct value *macro_call(struct eval *ev, struct object *o, struct str method,
				      struct call *c)
{
	struct macro *m = (struct macro *)o;
	struct eval inner = m->home;
	struct exec x = { .ev = &inner, .escape = m->escape };
	const struct value *v = NULL;

	if (method.p)
		return NULL;
	if ((ev->bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "macros call each other too deep");
		return NULL;
	}
	eval_rehost(&inner);
	inner.e = ev->e;
	inner.frame = frame_new(ev, m->home.frame);
	buf_init(&x.out, OPS_MAX_TEXT);
	if (bind_arguments(&inner, m, c) == 0 && exec_run_all(&x, m->n->right) != RUN_FAULT)
		v = exec_result(&x);
	buf_wipe(&x.out);
	ev->bounds->depth -= 4;
	return v;
}

static const struct value *macro_get(struct eval *ev, struct object *o, struct str name)
{
	struct macro *m = (struct macro *)o;
	struct value *names;

	if (str_eqc(name, "name"))
		return m->n->kind == N_CALLER ? value_null(ev->a) : value_str(ev->a, m->n->name);
	if (str_eqc(name, "catch_varargs"))
		return value_bool(ev->a, m->varargs);
	if (str_eqc(name, "catch_kwargs"))
		return value_bool(ev->a, m->kwargs);
	if (str_eqc(name, "caller"))
		return value_bool(ev->a, m->caller);
	if (!str_eqc(name, "arguments"))
		return NULL;
	names = value_list(ev->a);
	names->tuple = true;
	for (size_t i = 0; i < m->n->params.n; i++)
		value_add(ev->a, names, value_str(ev->a, m->n->params.v[i].name));
	return names;
}

static const struct object_type macro_type = { "a macro", macro_get, macro_call };

static const struct value *new_macro(struct exec *x, const struct node *n)
{
	struct eval *ev = x->ev;
	struct macro *m = arena_obj(ev->a, struct macro);

	m->n = n;
	m->home = *ev;
	m->escape = x->escape;
	find_reads(m, n->right);
	frame_keep(ev->frame);
	return object_value(ev, &m->o, &macro_type,
			    arena_printf(ev->a, "<Macro '%s'>", name_of(m, ev->a)));
}

enum run_result exec_macro(struct exec *x, const struct node *n)
{
	frame_bind(x->ev->frame, n->name, str_hash(n->name), new_macro(x, n));
	return RUN_ON;
}

enum run_result exec_caller(struct exec *x, const struct node *n)
{
	const struct value *caller = new_macro(x, n), *v;

	v = eval_call_with(x->ev, n->left, caller);
	return v && exec_write(x, n, v) == 0 ? RUN_ON : RUN_FAULT;
}
