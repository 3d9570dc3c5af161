/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Other files: include, import, extends, and the blocks that a file fills in another.
 *
 * A module is a template and the chain of those that it extends: they share one frame of names and
 * one map of blocks, in which the child's stand before the parent's.
 */
#include "templates/exec.h"

#include "templates/files.h"

struct block {
	const struct node *n;
	struct eval home; /* the template that it stands in */
};

struct chain {
	VEC(struct block *) v; /* the child's first */
};

struct module {
	struct frame *top;
	struct map blocks; /* name -> struct chain */
};

/* ---- modules -------------------------------------------------------------------------------- */

static void add_blocks(struct eval *ev, struct module *m, const struct tree *tree)
{
	for (size_t i = 0; i < tree->blocks.n; i++) {
		const struct node *n = tree->blocks.v[i];
		struct chain *c = map_get(&m->blocks, n->name);
		if (!c) {
			c = arena_obj(ev->a, struct chain);
			map_put(&m->blocks, n->name, c);
		}
		struct block *b = arena_obj(ev->a, struct block);
		*b = (struct block){ n, *ev };
		b->home.module = m;
		VEC_ADD(ev->a, &c->v) = b;
	}
}

static const struct value *self_of(struct eval *ev, struct module *m);

struct module *module_new(struct eval *ev, const struct tree *tree)
{
	struct module *m = arena_obj(ev->a, struct module);

	m->top = ev->frame;
	map_init(&m->blocks, ev->a);
	add_blocks(ev, m, tree);
	frame_keep(m->top);
	frame_bind(m->top, STR("self"), str_hash(STR("self")), self_of(ev, m));
	return m;
}

/* ---- blocks --------------------------------------------------------------------------------- */

struct block_ref {
	struct object o; /* first */
	struct module *m;
	struct frame *outer; /* the names around the block */
	const struct chain *chain;
	size_t at;
};

static const struct value *block_text(struct eval *ev, struct module *m, const struct chain *chain,
				      size_t at, struct frame *outer);

static const struct value *block_ref(struct eval *ev, const struct block_ref *like, size_t at);

static const struct value *block_call(struct eval *ev, struct object *o, struct str method,
				      struct call *c unused_arg)
{
	struct block_ref *b = (struct block_ref *)o;

	return method.p ? NULL : block_text(ev, b->m, b->chain, b->at, b->outer);
}

static const struct value *block_get(struct eval *ev, struct object *o, struct str name)
{
	struct block_ref *b = (struct block_ref *)o;

	return str_eqc(name, "super") ? block_ref(ev, b, b->at + 1) : NULL;
}

static const struct object_type block_type = { "a block", block_get, block_call };

static const struct value *block_ref(struct eval *ev, const struct block_ref *like, size_t at)
{
	if (at >= like->chain->v.n)
		return eval_undefined(ev, "there is no parent block");
	struct block_ref *b = arena_obj(ev->a, struct block_ref);
	*b = *like;
	b->at = at;
	return object_value(ev, &b->o, &block_type, "<block>");
}

static const struct value *block_text(struct eval *ev, struct module *m, const struct chain *chain,
				      size_t at, struct frame *outer)
{
	const struct block *b = chain->v.v[at];
	struct eval inner = b->home;
	const struct value *v;

	if ((ev->bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "blocks nested too deep");
		return NULL;
	}
	eval_rehost(&inner);
	inner.e = ev->e;
	inner.frame = frame_new(ev, outer);
	frame_bind(inner.frame, STR("super"), str_hash(STR("super")),
		   block_ref(ev, &(struct block_ref){ .m = m, .chain = chain, .outer = outer },
			     at + 1));
	v = exec_text(&inner, b->n->right);
	ev->bounds->depth -= 4;
	return v;
}

enum run_result exec_block(struct exec *x, const struct node *n)
{
	struct eval *ev = x->ev;
	struct module *m = ev->module;
	const struct chain *chain = map_get(&m->blocks, n->name);
	const struct value *v;

	if (n->required && chain->v.n == 1) {
		err_set(ev->e, ERR_SPEC, "the required block \"" STR_FMT "\" is filled by no file",
			STR_ARG(n->name));
		eval_fault(ev, n);
		return RUN_FAULT;
	}
	if (n->flag)
		frame_keep(ev->frame);
	v = block_text(ev, m, chain, 0, n->flag ? ev->frame : m->top);
	return v && exec_write(x, n, v) == 0 ? RUN_ON : RUN_FAULT;
}

struct self {
	struct object o; /* first */
	struct module *m;
};

static const struct value *self_get(struct eval *ev, struct object *o, struct str name)
{
	struct module *m = ((struct self *)o)->m;
	const struct chain *chain = map_get(&m->blocks, name);

	return chain ? block_ref(ev, &(struct block_ref){ .m = m, .chain = chain, .outer = m->top },
				 0)
		     : NULL;
}

static const struct object_type self_type = { "self", self_get, NULL };

static const struct value *self_of(struct eval *ev, struct module *m)
{
	struct self *s = arena_obj(ev->a, struct self);

	s->m = m;
	return object_value(ev, &s->o, &self_type, "<self>");
}

/* ---- extends -------------------------------------------------------------------------------- */

/* A template of the file that n's expression names, ready to run; its names are in f. */
static int open_file(struct exec *x, const struct node *n, const struct value *name,
		     struct eval *inner, struct tree *tree, bool *missing)
{
	struct eval *ev = x->ev;

	*inner = *ev;
	eval_rehost(inner);
	if (files_template(inner, name, tree, missing) == 0)
		return 0;
	return eval_fault(ev, n);
}

enum run_result exec_extends(struct exec *x, const struct node *n)
{
	struct eval *ev = x->ev;
	const struct value *name = eval_value(ev, n->left);

	if (!name)
		return RUN_FAULT;
	if (x->extended || !x->whole) {
		err_set(ev->e, ERR_SPEC,
			x->whole ? "a template extends one other only"
				 : "{%% extends %%} stands in a block or macro");
		eval_fault(ev, n);
		return RUN_FAULT;
	}
	x->extended = true;
	x->parent = name;
	x->parent_node = n;
	return RUN_ON;
}

/* Goes on with the parent, if there is one: the same names, the blocks of both. */
static enum run_result run_parent(struct exec *x)
{
	const struct node *n = x->parent_node;
	struct eval *child = x->ev, ev;
	enum run_result r = RUN_FAULT;
	struct tree tree;
	bool missing = false;

	if (open_file(x, n, x->parent, &ev, &tree, &missing) < 0)
		return RUN_FAULT;
	if ((ev.bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(ev.e, ERR_SPEC, "templates extend each other too deep");
		eval_fault(child, n);
		return RUN_FAULT;
	}
	add_blocks(&ev, ev.module, &tree);
	x->ev = &ev;
	x->extended = false;
	r = exec_whole(x, tree.body);
	if (r == RUN_FAULT)
		files_wrap(child, n, "extended");
	x->ev = child;
	ev.bounds->depth -= 4;
	return r;
}

enum run_result exec_whole(struct exec *x, const struct node *body)
{
	enum run_result r = exec_run_all(x, body);

	return r != RUN_FAULT && x->extended ? run_parent(x) : r;
}

/* ---- include and import --------------------------------------------------------------------- */

/* The text of another file, run with `names`; outer names only if n has the context. */
static const struct value *run_file(struct exec *x, const struct node *n, const struct value *name,
				    struct frame **names, bool *missing)
{
	struct eval inner;
	struct tree tree;
	const struct value *v;

	if (open_file(x, n, name, &inner, &tree, missing) < 0 || *missing)
		return NULL;
	if ((inner.bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(inner.e, ERR_SPEC, "files include each other too deep");
		eval_fault(x->ev, n);
		return NULL;
	}
	if (!n->context)
		inner.scope = NULL;
	*names = inner.frame = frame_new(x->ev, n->context ? x->ev->frame : NULL);
	/* The loop around it is not its own. */
	frame_bind(inner.frame, STR("loop"), str_hash(STR("loop")),
		   eval_undefined(x->ev, "\"loop\" is undefined"));
	v = exec_template(&inner, &tree, false);
	if (!v)
		files_wrap(x->ev, n, n->kind == N_INCLUDE ? "included" : "imported");
	x->ev->bounds->depth -= 4;
	return v;
}

enum run_result exec_include(struct exec *x, const struct node *n)
{
	const struct value *name = eval_value(x->ev, n->left), *v;
	struct frame *names;
	bool missing = n->flag;

	if (!name)
		return RUN_FAULT;
	v = run_file(x, n, name, &names, &missing);
	if (missing)
		return RUN_ON;
	return v && exec_write(x, n, v) == 0 ? RUN_ON : RUN_FAULT;
}

struct imported {
	struct object o; /* first */
	struct frame *names;
};

static const struct value *imported_get(struct eval *ev unused_arg, struct object *o,
					struct str name)
{
	struct imported *m = (struct imported *)o;

	return str_starts(name, "_") ? NULL : map_get(&m->names->vars, name);
}

static const struct object_type imported_type = { "the imported file", imported_get, NULL };

static int bind_imported(struct exec *x, const struct node *n, const struct frame *names)
{
	struct eval *ev = x->ev;

	for (size_t i = 0; i < n->params.n; i++) {
		const struct param *p = &n->params.v[i];
		const struct value *v = map_get(&names->vars, p->name);
		if (!v)
			v = eval_undefined(
				ev, arena_printf(ev->a, "the imported file has no \"" STR_FMT "\"",
						 STR_ARG(p->name)));
		frame_bind(ev->frame, p->as, str_hash(p->as), v);
	}
	return 0;
}

enum run_result exec_import(struct exec *x, const struct node *n)
{
	struct eval *ev = x->ev;
	const struct value *name = eval_value(ev, n->left), *text;
	struct frame *names;
	bool missing = false;

	if (!name || !(text = run_file(x, n, name, &names, &missing)))
		return RUN_FAULT;
	frame_keep(names);
	if (!n->name.p)
		return bind_imported(x, n, names) < 0 ? RUN_FAULT : RUN_ON;
	struct imported *m = arena_obj(ev->a, struct imported);
	m->names = names;
	frame_bind(ev->frame, n->name, str_hash(n->name),
		   object_value(ev, &m->o, &imported_type,
				arena_printf(ev->a, STR_FMT, STR_ARG(op_text(ev->a, text)))));
	return RUN_ON;
}
