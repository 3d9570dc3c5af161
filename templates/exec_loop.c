/* SPDX-License-Identifier: Apache-2.0 */
/* {% for %}, and what its body knows as `loop`: made once a loop, moved on each turn. */
#include "templates/exec.h"

struct loop {
	struct object o; /* first */
	const struct value *self;
	struct exec *x;
	const struct node *n;
	const struct value *items;
	struct frame *outer; /* around the loop */
	size_t i;
	int depth;		     /* of recursion; 0: the outermost */
	const struct value *changed; /* the arguments of the last loop.changed() */
};

static enum run_result run_loop(struct exec *x, const struct node *n, const struct value *v,
				int depth);

/* ---- loop ----------------------------------------------------------------------------------- */

static const struct value *loop_get(struct eval *ev, struct object *o, struct str name)
{
	struct loop *l = (struct loop *)o;
	int64_t i = (int64_t)l->i, n = (int64_t)l->items->list.n;
	const struct {
		const char *name;
		int64_t value;
	} numbers[] = {
		{ "index", i + 1 },	    { "index0", i }, { "revindex", n - i },
		{ "revindex0", n - i - 1 }, { "length", n }, { "depth", l->depth + 1 },
		{ "depth0", l->depth },
	};

	for (size_t k = 0; k < ARRAY_LEN(numbers); k++)
		if (str_eqc(name, numbers[k].name))
			return value_int(ev->a, numbers[k].value);
	if (str_eqc(name, "first"))
		return op_bool(i == 0);
	if (str_eqc(name, "last"))
		return op_bool(i == n - 1);
	if (str_eqc(name, "previtem"))
		return i > 0 ? l->items->list.v[i - 1]
			     : eval_undefined(ev, "there is no previous item");
	if (str_eqc(name, "nextitem"))
		return i + 1 < n ? l->items->list.v[i + 1]
				 : eval_undefined(ev, "there is no next item");
	return NULL;
}

static const struct value *loop_changed(struct loop *l, const struct call *c)
{
	bool changed = !l->changed || !op_equal(l->changed, c->args);

	l->changed = c->args;
	return op_bool(changed);
}

/* loop(items): the loop again, a level deeper. */
static const struct value *loop_again(struct eval *ev, struct loop *l, const struct call *c)
{
	struct eval inner = *l->x->ev;
	struct exec x = { .ev = &inner, .escape = l->x->escape };
	const struct value *v = NULL;

	if (!l->n->flag) {
		err_set(ev->e, ERR_SPEC, "this loop cannot be called");
		err_hint(ev->e, "write {%% for ... recursive %%}");
		return NULL;
	}
	if (c->args->list.n != 1 || c->kwargs->map.n) {
		err_set(ev->e, ERR_SPEC, "loop() takes the items of the next level");
		return NULL;
	}
	eval_rehost(&inner);
	inner.frame = l->outer;
	if ((ev->bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "nested too deep (at most %d levels)", EVAL_MAX_DEPTH);
		return NULL;
	}
	buf_init(&x.out, OPS_MAX_TEXT);
	if (run_loop(&x, l->n, c->args->list.v[0], l->depth + 1) != RUN_FAULT)
		v = exec_result(&x);
	buf_wipe(&x.out);
	ev->bounds->depth -= 4;
	return v;
}

static const struct value *loop_call(struct eval *ev, struct object *o, struct str method,
				     struct call *c)
{
	struct loop *l = (struct loop *)o;

	if (!method.p)
		return loop_again(ev, l, c);
	if (str_eqc(method, "changed"))
		return loop_changed(l, c);
	if (!str_eqc(method, "cycle"))
		return NULL;
	if (c->args->list.n)
		return c->args->list.v[l->i % c->args->list.n];
	err_set(ev->e, ERR_SPEC, "loop.cycle takes at least one item");
	return NULL;
}

static const struct object_type loop_type = { "loop", loop_get, loop_call };

/* ---- turns ---------------------------------------------------------------------------------- */

/* The items for which the loop's own `if` holds. */
static const struct value *filtered(struct exec *x, const struct node *n, const struct value *l)
{
	struct value *out = value_list(x->ev->a);

	for (size_t i = 0; i < l->list.n; i++) {
		if (eval_charge(x->ev, n, 1) < 0 || exec_bind(x, n->target, l->list.v[i]) < 0)
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

/* What the body sets does not reach the next turn. */
static struct frame *fresh(struct eval *ev, struct frame *f, struct frame *outer)
{
	if (!f || f->kept)
		return frame_new(ev, outer);
	map_clear(&f->vars);
	return f;
}

static enum run_result run_items(struct exec *x, struct loop *loop)
{
	static const struct str name = { "loop", 4 };
	struct eval *ev = x->ev;
	const struct node *n = loop->n;
	uint64_t hash = str_hash(name);
	enum run_result r = RUN_ON;
	struct frame *f = NULL;

	for (size_t i = 0; r != RUN_FAULT && r != RUN_BREAK && i < loop->items->list.n; i++) {
		if (eval_charge(ev, n, 1) < 0 || eval_memory(ev, n) < 0)
			return RUN_FAULT;
		loop->i = i;
		ev->frame = f = fresh(ev, f, loop->outer);
		frame_bind(f, name, hash, loop->self);
		r = exec_bind(x, n->target, loop->items->list.v[i]) < 0 ? RUN_FAULT
									: exec_run_all(x, n->right);
	}
	ev->frame = loop->outer;
	return r == RUN_FAULT ? RUN_FAULT : RUN_ON;
}

static enum run_result run_else(struct exec *x, const struct node *n)
{
	struct frame *outer = x->ev->frame;
	enum run_result r;

	if (!n->other)
		return RUN_ON;
	x->ev->frame = frame_new(x->ev, outer);
	r = exec_run_all(x, n->other);
	x->ev->frame = outer;
	return r;
}

static enum run_result run_loop(struct exec *x, const struct node *n, const struct value *v,
				int depth)
{
	struct eval *ev = x->ev;
	struct frame *outer = ev->frame;
	const struct value *items;

	if (v->kind == V_UNKNOWN) {
		x->unknown = true;
		return RUN_ON;
	}
	if (!(items = op_iterate(ev->a, v, ev->e))) {
		eval_fault(ev, n->left);
		return RUN_FAULT;
	}
	if (n->cond) {
		ev->frame = frame_new(ev, outer);
		items = filtered(x, n, items);
		ev->frame = outer;
		if (!items)
			return RUN_FAULT;
	}
	if (!items->list.n)
		return run_else(x, n);
	struct loop *loop = arena_obj(ev->a, struct loop);
	*loop = (struct loop){ .x = x, .n = n, .items = items, .outer = outer, .depth = depth };
	loop->self = object_value(ev, &loop->o, &loop_type, "<LoopContext>");
	return run_items(x, loop);
}

enum run_result exec_for(struct exec *x, const struct node *n)
{
	const struct value *v = eval_value(x->ev, n->left);

	return v ? run_loop(x, n, v, 0) : RUN_FAULT;
}
