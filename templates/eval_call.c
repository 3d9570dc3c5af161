/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: filters, tests, methods, functions and objects, with what they are given. Methods that
 * change their list or map get one that the evaluation owns.
 */
#include "templates/eval.h"
#include "templates/filters.h"
#include "templates/methods.h"
#include "templates/tests.h"

/* ---- objects -------------------------------------------------------------------------------- */

const struct value *object_value(struct eval *ev, struct object *o, const struct object_type *type,
				 const char *text)
{
	struct value *v = arena_obj(ev->a, struct value);

	o->type = type;
	o->base.text = text;
	v->kind = V_OBJECT;
	v->object = &o->base;
	return v;
}

const struct value *object_call(struct eval *ev, const struct value *v, struct str method,
				struct call *c)
{
	struct object *o = object_of(v);
	const struct value *out = NULL, *attr;
	enum err_kind before = ev->e->kind;

	if (o->type->call)
		out = o->type->call(ev, o, method, c);
	if (out || ev->e->kind != before)
		return out;
	attr = method.p && o->type->get ? o->type->get(ev, o, method) : NULL;
	if (attr && attr->kind == V_OBJECT)
		return object_call(ev, attr, STR_NONE, c);
	if (method.p)
		err_set(ev->e, ERR_SPEC, "%s has no method \"" STR_FMT "\"", o->type->name,
			STR_ARG(method));
	else
		err_set(ev->e, ERR_SPEC, "%s cannot be called", o->type->name);
	return NULL;
}

/* ---- values that are changed ---------------------------------------------------------------- */

struct value *eval_own_map(struct eval *ev)
{
	struct value *m = value_map(ev->a);

	m->own = true;
	return m;
}

static void own_deep(struct value *v)
{
	v->own = true;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		own_deep(v->list.v[i]);
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		own_deep(v->map.e[i].val);
}

/* A value of the scope belongs to the rest of the program: from its first change on, a copy stands
 * for it wherever this evaluation meets it. */
static const struct value *own_copy(struct eval *ev, const struct value *v)
{
	struct value *copy;
	const void *p = v;

	if (v->own || (v->kind != V_LIST && v->kind != V_MAP))
		return v;
	copy = value_copy(ev->a, v);
	own_deep(copy);
	if (!ev->bounds->moved.a)
		map_init(&ev->bounds->moved, ev->a);
	map_put(&ev->bounds->moved, eval_address(&p), copy);
	return copy;
}

/* A name, and what is in it: it can be read twice and gives the same. */
static bool is_path(const struct node *n)
{
	if (n->kind == N_ATTR)
		return is_path(n->left);
	if (n->kind == N_ITEM)
		return is_path(n->left) &&
		       (n->right->kind == N_LITERAL || n->right->kind == N_NAME);
	return n->kind == N_NAME;
}

/* What n names, so that it may be changed: the same value for all who name it. */
static const struct value *eval_own(struct eval *ev, const struct node *n)
{
	const struct value *in, *key, *v;

	if (n->kind == N_ATTR || n->kind == N_ITEM) {
		if (!(in = eval_own(ev, n->left)))
			return NULL;
		key = n->kind == N_ATTR ? value_str(ev->a, n->name) : eval_value(ev, n->right);
		v = key ? op_item(ev->a, in, key) : NULL;
		if (v && v->own)
			return v;
	}
	v = eval_value(ev, n);
	return v ? own_copy(ev, v) : NULL;
}

/* ---- filters, tests, methods ---------------------------------------------------------------- */

static const struct value *invoke(struct eval *ev, const struct node *n, const struct callable *f,
				  struct call *c)
{
	bool secret = c->self &&
		      (f->flags & CALL_ITEMS ? c->self->secret : value_has_secret(c->self));

	if (c->self && c->self->kind == V_UNDEFINED && !(f->flags & CALL_UNDEFINED))
		return eval_undefined_fault(ev, n, c->self);
	if (call_bind(f, c) < 0)
		return eval_fail(ev, n);
	if (ev->bounds->holes && c->self && !(f->flags & (CALL_ITEMS | CALL_UNDEFINED)) &&
	    eval_whole(ev, n, c->self) < 0)
		return NULL;
	for (size_t i = 0; !(f->flags & CALL_SOFT) && i < c->args->list.n; i++) {
		if (c->args->list.v[i]->kind == V_UNDEFINED)
			return eval_undefined_fault(ev, n, c->args->list.v[i]);
		secret = secret ||
			 (!(f->flags & CALL_ITEMS) && value_has_secret(c->args->list.v[i]));
	}
	for (size_t i = 0; !(f->flags & CALL_SOFT) && i < c->kwargs->map.n; i++) {
		const struct value *v = c->kwargs->map.e[i].val;
		if (v->kind == V_UNDEFINED)
			return eval_undefined_fault(ev, n, v);
	}
	if (!(f->flags & CALL_UNKNOWN)) {
		bool items = f->flags & CALL_ITEMS;
		if (c->self && (items ? c->self->kind == V_UNKNOWN : value_has_unknown(c->self)))
			return value_unknown(ev->a);
		if (!(f->flags & CALL_SOFT) &&
		    (value_has_unknown(c->args) || value_has_unknown(c->kwargs)))
			return value_unknown(ev->a);
	}
	const struct value *v = f->fn(c);
	if (v && v->kind == V_UNDEFINED)
		return v;
	return eval_checked(ev, n, op_marked(ev->a, v, secret && !(f->flags & CALL_SOFT)));
}

/* *x and **y */
static int unpack(struct eval *ev, const struct node *n, struct value *args, struct value *kwargs)
{
	const struct value *v;

	if (n->star) {
		if (!(v = eval_value(ev, n->star)) || !(v = op_iterate(ev->a, v, ev->e)))
			return eval_fault(ev, n->star);
		for (size_t i = 0; i < v->list.n; i++)
			value_add(ev->a, args, v->list.v[i]);
	}
	if (!n->stars)
		return 0;
	if (!(v = eval_value(ev, n->stars)))
		return -1;
	if (v->kind != V_MAP) {
		err_set(ev->e, ERR_SPEC, "what follows ** must be a map, not %s", op_type_name(v));
		return eval_fault(ev, n->stars);
	}
	for (size_t i = 0; i < v->map.n; i++)
		value_sets(kwargs, v->map.e[i].key, v->map.e[i].val);
	return 0;
}

int eval_arguments(struct eval *ev, const struct node *n, struct call *c)
{
	static const struct value none = { .kind = V_LIST }, no_names = { .kind = V_MAP };
	struct value *args = (struct value *)&none, *kwargs = (struct value *)&no_names;
	const struct value *v;

	if (n->kids.n || n->star)
		args = value_list(ev->a);
	if (n->kwargs.n || n->stars)
		kwargs = value_map(ev->a);
	for (size_t i = 0; i < n->kids.n; i++) {
		if (!(v = eval_soft(ev, n->kids.v[i])))
			return -1;
		value_add(ev->a, args, v);
	}
	for (size_t i = 0; i < n->kwargs.n; i++) {
		if (!(v = eval_soft(ev, n->kwargs.v[i].value)))
			return -1;
		value_sets(kwargs, n->kwargs.v[i].name, v);
	}
	ev->host.holes = &ev->bounds->holes;
	*c = (struct call){
		.a = ev->a, .args = args, .kwargs = kwargs, .host = &ev->host, .e = ev->e
	};
	return unpack(ev, n, args, kwargs);
}

static const struct callable *find_filter(struct eval *ev, const struct node *n)
{
	struct str name = n->name;
	const char *best;

	if (n->row)
		return n->row;
	err_set(ev->e, ERR_SPEC, "unknown filter \"" STR_FMT "\"", STR_ARG(name));
	best = filter_suggest(name);
	if (best)
		err_hint(ev->e, "did you mean \"%s\"?", best);
	eval_fail(ev, n);
	return NULL;
}

static const struct callable *find_test(struct eval *ev, const struct node *n)
{
	struct str name = n->name;
	const char *best;

	if (n->row)
		return n->row;
	err_set(ev->e, ERR_SPEC, "unknown test \"" STR_FMT "\"", STR_ARG(name));
	best = test_suggest(name);
	if (best)
		err_hint(ev->e, "did you mean \"%s\"?", best);
	eval_fail(ev, n);
	return NULL;
}

const struct value *eval_filter(struct eval *ev, const struct node *n)
{
	const struct callable *f = find_filter(ev, n);
	const struct value *self;
	struct call c;

	if (!f || !(self = eval_soft(ev, n->left)) || eval_arguments(ev, n, &c) < 0)
		return NULL;
	c.self = self;
	return invoke(ev, self->kind == V_UNDEFINED ? n->left : n, f, &c);
}

const struct value *eval_test(struct eval *ev, const struct node *n)
{
	const struct callable *f = find_test(ev, n);
	const struct value *self;
	struct call c;

	if (!f || !(self = eval_soft(ev, n->left)) || eval_arguments(ev, n, &c) < 0)
		return NULL;
	c.self = self;
	return invoke(ev, self->kind == V_UNDEFINED ? n->left : n, f, &c);
}

/* For map, select and their kin: by name, over one item. The caller's node gets the faults. */
static const struct value *host_filter(void *arg, struct str name, const struct value *self,
				       const struct call *from, const struct value *args)
{
	struct eval *ev = arg;
	static const struct node nowhere = { .kind = N_LITERAL };
	struct call c = { .a = ev->a,
			  .self = self,
			  .args = args,
			  .kwargs = from->kwargs,
			  .host = &ev->host,
			  .e = from->e };
	const struct callable *f = filter_find(name);

	if (!f) {
		const char *best = filter_suggest(name);
		err_set(ev->e, ERR_SPEC, "unknown filter \"" STR_FMT "\"", STR_ARG(name));
		if (best)
			err_hint(ev->e, "did you mean \"%s\"?", best);
		return NULL;
	}
	if (eval_charge(ev, &nowhere, 1) < 0)
		return NULL;
	return invoke(ev, &nowhere, f, &c);
}

static int host_test(void *arg, struct str name, const struct value *self, const struct call *from,
		     const struct value *args, bool *result)
{
	struct eval *ev = arg;
	static const struct node nowhere = { .kind = N_LITERAL };
	struct call c = { .a = ev->a,
			  .self = self,
			  .args = args,
			  .kwargs = value_map(ev->a),
			  .host = &ev->host,
			  .e = from->e };
	const struct callable *f = test_find(name);

	if (!f) {
		const char *best = test_suggest(name);
		err_set(ev->e, ERR_SPEC, "unknown test \"" STR_FMT "\"", STR_ARG(name));
		return best ? err_hint(ev->e, "did you mean \"%s\"?", best) : -1;
	}
	if (eval_charge(ev, &nowhere, 1) < 0)
		return -1;
	const struct value *v = invoke(ev, &nowhere, f, &c);
	if (!v)
		return -1;
	*result = value_is_truthy(v);
	return 0;
}

static const struct value *no_method(struct eval *ev, const struct node *n,
				     const struct value *self)
{
	struct str name = n->left->name;
	const char *best = method_suggest(self, name);

	err_set(ev->e, ERR_SPEC, "%s has no method \"" STR_FMT "\"", value_kind_name(self->kind),
		STR_ARG(name));
	if (best)
		err_hint(ev->e, "did you mean \"%s\"?", best);
	return eval_fail(ev, n);
}

/* x.name(...): a method, or something in x that can be called. */
static const struct value *call_method(struct eval *ev, const struct node *n, struct call *c)
{
	struct str name = n->left->name;
	const struct callable *m;
	const struct value *item;

	if (c->self->kind == V_UNKNOWN)
		return c->self;
	if (c->self->kind == V_OBJECT)
		return eval_checked(ev, n, object_call(ev, c->self, name, c));
	m = method_find(c->self, name);
	if (m && m->flags & CALL_CHANGES && !c->self->own) {
		c->self = is_path(n->left->left) ? eval_own(ev, n->left->left)
						 : own_copy(ev, c->self);
		if (!c->self)
			return NULL;
		m = method_find(c->self, name);
	}
	if (m)
		return invoke(ev, n, m, c);
	item = value_gets(c->self, name);
	if (item && item->kind == V_OBJECT)
		return eval_checked(ev, n, object_call(ev, item, STR_NONE, c));
	return no_method(ev, n, c->self);
}

/* A name that the template itself gave a value, else a function. */
static const struct value *call_name(struct eval *ev, const struct node *n, struct call *c)
{
	const struct value *f = eval_in_frames(ev, n->left);

	if (!f)
		return eval_checked(ev, n, eval_function(ev, n, c));
	if (f->kind == V_OBJECT)
		return eval_checked(ev, n, object_call(ev, f, STR_NONE, c));
	if (f->kind == V_UNDEFINED)
		return eval_undefined_fault(ev, n, f);
	err_set(ev->e, ERR_SPEC, "\"" STR_FMT "\" is %s and cannot be called",
		STR_ARG(n->left->name), value_kind_name(f->kind));
	return eval_fail(ev, n);
}

static void add_caller(struct call *c, const struct value *caller)
{
	struct value *kwargs = value_map(c->a);

	for (size_t i = 0; i < c->kwargs->map.n; i++)
		value_sets(kwargs, c->kwargs->map.e[i].key, c->kwargs->map.e[i].val);
	value_set(kwargs, "caller", caller);
	c->kwargs = kwargs;
}

const struct value *eval_call_with(struct eval *ev, const struct node *n,
				   const struct value *caller)
{
	const struct value *self = NULL, *f;
	struct call c;

	if (n->left->kind == N_ATTR && !(self = eval_value(ev, n->left->left)))
		return NULL;
	if (eval_arguments(ev, n, &c) < 0)
		return NULL;
	if (caller)
		add_caller(&c, caller);
	c.self = self;
	if (self)
		return call_method(ev, n, &c);
	if (n->left->kind == N_NAME)
		return call_name(ev, n, &c);
	if (!(f = eval_value(ev, n->left)))
		return NULL;
	if (f->kind == V_OBJECT)
		return eval_checked(ev, n, object_call(ev, f, STR_NONE, &c));
	err_set(ev->e, ERR_SPEC, "%s cannot be called", value_kind_name(f->kind));
	return eval_fail(ev, n);
}

void eval_rehost(struct eval *ev)
{
	ev->host = (struct call_host){ .arg = ev, .filter = host_filter, .test = host_test };
}
