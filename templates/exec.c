/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop and a block each have a frame of names; {% if %} has none, as in Jinja2. Once something
 * unknown decided what is written, the whole text is unknown, but evaluation goes on: faults in the
 * rest are still found.
 */
#include "templates/exec.h"

struct exec {
	struct eval *ev;
	struct buf out;
	bool secret, unknown;
	bool quoted; /* a secret was written inside a list or map, where it may look otherwise */
};

static int run(struct exec *x, const struct node *n);

static int run_all(struct exec *x, const struct node *body)
{
	for (size_t i = 0; i < body->kids.n; i++)
		if (run(x, body->kids.v[i]) < 0)
			return -1;
	return 0;
}

static int check_output(struct exec *x, const struct node *n)
{
	if (!x->out.overflow)
		return 0;
	err_set(x->ev->e, ERR_SPEC, "the result is longer than 16 MiB");
	return eval_fault(x->ev, n);
}

static int run_output(struct exec *x, const struct node *n)
{
	const struct value *v = eval_value(x->ev, n->left);

	if (!v)
		return -1;
	if (value_has_secret(v)) {
		x->secret = true;
		x->quoted = x->quoted || v->kind == V_LIST || v->kind == V_MAP;
	}
	x->unknown = x->unknown || value_has_unknown(v);
	/* Where variables are templates, nothing is written for nothing, as Ansible does. */
	if (v->kind != V_NULL || !(x->ev->flags & TEMPLATE_LAZY))
		value_reveal(&x->out, v);
	return check_output(x, n);
}

static int run_if(struct exec *x, const struct node *n)
{
	const struct value *c = eval_value(x->ev, n->left);

	if (!c)
		return -1;
	if (c->kind == V_UNKNOWN) {
		x->unknown = true;
		return 0;
	}
	if (value_is_truthy(c))
		return run_all(x, n->right);
	if (!n->other)
		return 0;
	return n->other->kind == N_IF ? run_if(x, n->other) : run_all(x, n->other);
}

/* ---- names ---------------------------------------------------------------------------------- */

static void bind(struct eval *ev, struct str name, const struct value *v)
{
	map_put(&ev->frame->vars, name, (void *)(uintptr_t)v);
}

static int bind_targets(struct exec *x, const struct node *n, const struct value *v)
{
	if (n->targets.n == 1) {
		bind(x->ev, n->targets.v[0], v);
		return 0;
	}
	const struct value *l = op_iterate(x->ev->a, v, x->ev->e);
	if (l && l->list.n != n->targets.n)
		err_set(x->ev->e, ERR_SPEC, "expected %zu values for %zu names, not %zu",
			n->targets.n, n->targets.n, l->list.n);
	if (!l || l->list.n != n->targets.n)
		return eval_fault(x->ev, n);
	for (size_t i = 0; i < l->list.n; i++)
		bind(x->ev, n->targets.v[i], l->list.v[i]);
	return 0;
}

static int set_in_namespace(struct exec *x, const struct node *n, const struct value *v)
{
	struct eval *ev = x->ev;
	struct value *ns = NULL;
	uint64_t nodes;

	for (struct frame *f = ev->frame; f && !ns; f = f->outer)
		ns = map_get(&f->vars, n->targets.v[0]);
	for (size_t i = 0; ns && i < ev->bounds->namespaces.n; i++) {
		if (ev->bounds->namespaces.v[i] != ns)
			continue;
		value_sets(ns, n->name, v);
		return op_check_nesting(ns, &nodes, ev->e) < 0 ? eval_fault(ev, n)
							       : eval_charge(ev, n, nodes / 16);
	}
	err_set(ev->e, ERR_SPEC, "\"" STR_FMT "\" is no namespace", STR_ARG(n->targets.v[0]));
	err_hint(ev->e, "make it with {%% set " STR_FMT " = namespace() %%}",
		 STR_ARG(n->targets.v[0]));
	return eval_fault(ev, n);
}

static int run_set(struct exec *x, const struct node *n)
{
	struct frame inner = { .outer = x->ev->frame };
	const struct value *v;

	if (n->left) {
		v = eval_value(x->ev, n->left);
	} else {
		map_init(&inner.vars, x->ev->a);
		x->ev->frame = &inner;
		v = exec_body(x->ev, n->right, false);
		x->ev->frame = inner.outer;
	}
	if (!v)
		return -1;
	return n->name.p ? set_in_namespace(x, n, v) : bind_targets(x, n, v);
}

/* ---- loops ---------------------------------------------------------------------------------- */

static void describe_loop(struct arena *a, struct value *loop, const struct value *l, size_t i)
{
	int64_t at = (int64_t)i, n = (int64_t)l->list.n;

	value_set(loop, "index", value_int(a, at + 1));
	value_set(loop, "index0", value_int(a, at));
	value_set(loop, "revindex", value_int(a, n - at));
	value_set(loop, "revindex0", value_int(a, n - at - 1));
	value_set(loop, "first", value_bool(a, at == 0));
	value_set(loop, "last", value_bool(a, at == n - 1));
	value_set(loop, "length", value_int(a, n));
	if (i > 0)
		value_set(loop, "previtem", l->list.v[i - 1]);
	if (i + 1 < l->list.n)
		value_set(loop, "nextitem", l->list.v[i + 1]);
}

/* The items for which the loop's own `if` holds. */
static const struct value *filtered(struct exec *x, const struct node *n, const struct value *l)
{
	struct value *out = value_list(x->ev->a);

	for (size_t i = 0; i < l->list.n; i++) {
		if (eval_charge(x->ev, n, 1) < 0 || bind_targets(x, n, l->list.v[i]) < 0)
			return NULL;
		const struct value *c = eval_value(x->ev, n->cond);
		if (!c)
			return NULL;
		x->unknown = x->unknown || c->kind == V_UNKNOWN;
		if (c->kind != V_UNKNOWN && value_is_truthy(c))
			value_add(x->ev->a, out, l->list.v[i]);
	}
	return out;
}

static int run_items(struct exec *x, const struct node *n, const struct value *l)
{
	struct eval *ev = x->ev;
	struct frame body = { .outer = ev->frame };
	int rc = 0;

	map_init(&body.vars, ev->a);
	for (size_t i = 0; rc == 0 && i < l->list.n; i++) {
		rc = eval_charge(ev, n, 1);
		if (rc == 0)
			rc = bind_targets(x, n, l->list.v[i]);
		if (n->uses_loop) {
			struct value *loop = value_map(ev->a);
			describe_loop(ev->a, loop, l, i);
			bind(ev, STR("loop"), loop);
		}
		/* What the body sets does not reach the next turn. */
		if (body.vars.n)
			map_init(&body.vars, ev->a);
		ev->frame = &body;
		if (rc == 0)
			rc = run_all(x, n->right);
		ev->frame = body.outer;
	}
	return rc;
}

static int run_for(struct exec *x, const struct node *n)
{
	struct eval *ev = x->ev;
	struct frame names = { .outer = ev->frame };
	const struct value *v = eval_value(ev, n->left), *l;
	int rc = -1;

	if (!v)
		return -1;
	if (v->kind == V_UNKNOWN) {
		x->unknown = true;
		return 0;
	}
	if (!(l = op_iterate(ev->a, v, ev->e)))
		return eval_fault(ev, n->left);
	map_init(&names.vars, ev->a);
	ev->frame = &names;
	if (n->cond)
		l = filtered(x, n, l);
	if (l)
		rc = !l->list.n && n->other ? run_all(x, n->other) : run_items(x, n, l);
	ev->frame = names.outer;
	return rc;
}

static int run(struct exec *x, const struct node *n)
{
	if (eval_charge(x->ev, n, 1) < 0)
		return -1;
	switch (n->kind) {
	case N_BODY: return run_all(x, n);
	case N_TEXT: buf_addstr(&x->out, n->name); return check_output(x, n);
	case N_OUTPUT: return run_output(x, n);
	case N_IF: return run_if(x, n);
	case N_FOR: return run_for(x, n);
	case N_SET: return run_set(x, n);
	default: bug("an expression among statements");
	}
}

/* A text that holds secrets as they are needs no registering of its own: the scrubber finds them in
 * it, and a long text for each of many nodes would fill the scrubber. */
static const struct value *result(struct exec *x)
{
	if (x->unknown)
		return value_unknown(x->ev->a);
	struct value *v = value_str(x->ev->a, buf_str(&x->out));
	if (x->quoted)
		return op_marked(x->ev->a, v, true);
	v->secret = x->secret;
	return v;
}

const struct value *exec_body(struct eval *ev, const struct node *body, bool native)
{
	struct exec x = { .ev = ev };
	const struct value *v = NULL;
	int rc = 0;

	if (native && body->kids.n == 1 && body->kids.v[0]->kind == N_OUTPUT)
		return eval_value(ev, body->kids.v[0]->left);
	if (++ev->bounds->depth > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "nested too deep (at most %d levels)", EVAL_MAX_DEPTH);
		return eval_fault(ev, body) < 0 ? NULL : v;
	}
	buf_init(&x.out, OPS_MAX_TEXT);
	rc = run_all(&x, body);
	if (rc == 0)
		v = result(&x);
	buf_wipe(&x.out);
	ev->bounds->depth--;
	return v;
}
