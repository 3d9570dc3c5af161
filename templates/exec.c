/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A loop and a block each have a frame of names; {% if %} has none, as in Jinja2. Once something
 * unknown decided what is written, the whole text is unknown, but evaluation goes on: faults in the
 * rest are still found.
 */
#include "templates/exec.h"

/* ---- names ---------------------------------------------------------------------------------- */

struct frame *frame_new(struct eval *ev, struct frame *outer)
{
	struct frame *f = arena_obj(ev->a, struct frame);

	f->outer = outer;
	map_init(&f->vars, ev->a);
	return f;
}

void frame_bind(struct frame *f, struct str name, uint64_t hash, const struct value *v)
{
	map_put_hashed(&f->vars, name, hash, (void *)(uintptr_t)v);
}

void frame_keep(struct frame *f)
{
	for (; f && !f->kept; f = f->outer)
		f->kept = true;
}

int exec_bind(struct exec *x, const struct node *target, const struct value *v)
{
	struct eval *ev = x->ev;

	if (target->kind == N_NAME) {
		frame_bind(ev->frame, target->name, target->hash, v);
		return 0;
	}
	if (v->kind == V_UNDEFINED)
		return eval_undefined_fault(ev, target, v) ? 0 : -1;
	const struct value *l = op_iterate(ev->a, v, ev->e);
	if (l && l->list.n != target->kids.n)
		err_set(ev->e, ERR_SPEC, "expected %zu values for %zu names, not %zu",
			target->kids.n, target->kids.n, l->list.n);
	if (!l || l->list.n != target->kids.n)
		return eval_fault(ev, target);
	for (size_t i = 0; i < l->list.n; i++)
		if (exec_bind(x, target->kids.v[i], l->list.v[i]) < 0)
			return -1;
	return 0;
}

static int set_in_namespace(struct exec *x, const struct node *n, const struct value *v)
{
	struct eval *ev = x->ev;
	struct value *ns = NULL;
	uint64_t nodes;

	for (struct frame *f = ev->frame; f && !ns; f = f->outer)
		ns = map_get(&f->vars, n->target->name);
	for (size_t i = 0; ns && i < ev->bounds->namespaces.n; i++) {
		if (ev->bounds->namespaces.v[i] != ns)
			continue;
		value_sets(ns, n->name, v);
		return op_check_nesting(ns, &nodes, ev->e) < 0 ? eval_fault(ev, n)
							       : eval_charge(ev, n, nodes / 16);
	}
	err_set(ev->e, ERR_SPEC, "\"" STR_FMT "\" is no namespace", STR_ARG(n->target->name));
	err_hint(ev->e, "make it with {%% set " STR_FMT " = namespace() %%}",
		 STR_ARG(n->target->name));
	return eval_fault(ev, n);
}

/* ---- output --------------------------------------------------------------------------------- */

static int check_output(struct exec *x, const struct node *n)
{
	if (!x->out.overflow)
		return 0;
	err_set(x->ev->e, ERR_SPEC, "the result is longer than 16 MiB");
	return eval_fault(x->ev, n);
}

/* As markupsafe does. */
static void write_escaped(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		switch (s.p[i]) {
		case '&': buf_adds(b, "&amp;"); break;
		case '<': buf_adds(b, "&lt;"); break;
		case '>': buf_adds(b, "&gt;"); break;
		case '"': buf_adds(b, "&#34;"); break;
		case '\'': buf_adds(b, "&#39;"); break;
		default: buf_addc(b, s.p[i]);
		}
	}
}

int exec_write(struct exec *x, const struct node *n, const struct value *v)
{
	if (v->kind == V_LIST || v->kind == V_MAP) {
		if (eval_whole(x->ev, n, v) < 0)
			return -1;
		bool secret = value_has_secret(v);
		x->secret = x->secret || secret;
		x->quoted = x->quoted || secret;
		x->unknown = x->unknown || value_has_unknown(v);
	} else {
		x->secret = x->secret || v->secret;
		x->unknown = x->unknown || v->kind == V_UNKNOWN;
	}
	if (x->escape)
		write_escaped(&x->out, op_text(x->ev->a, v));
	else if (v->kind == V_STR)
		buf_addstr(&x->out, v->s);
	else if (v->kind == V_INT)
		buf_addi(&x->out, v->i);
	/* Where variables are templates, nothing is written for nothing, as Ansible does. */
	else if (v->kind != V_NULL || !(x->ev->flags & TEMPLATE_LAZY))
		value_reveal(&x->out, v);
	return check_output(x, n);
}

/* Filters whose result is markup already. */
static bool is_markup(const struct node *n)
{
	static const char *const names[] = { "safe",   "e",	 "escape", "forceescape",
					     "tojson", "urlize", "xmlattr" };

	for (size_t i = 0; n->kind == N_FILTER && i < ARRAY_LEN(names); i++)
		if (str_eqc(n->name, names[i]))
			return true;
	return n->kind == N_CALL;
}

static enum run_result run_output(struct exec *x, const struct node *n)
{
	const struct value *v = eval_value(x->ev, n->left);
	bool escape = x->escape;

	if (!v)
		return RUN_FAULT;
	x->escape = escape && !is_markup(n->left);
	int rc = exec_write(x, n, v);
	x->escape = escape;
	return rc < 0 ? RUN_FAULT : RUN_ON;
}

static enum run_result run_text(struct exec *x, const struct node *n)
{
	buf_addstr(&x->out, n->name);
	return check_output(x, n) < 0 ? RUN_FAULT : RUN_ON;
}

/* ---- conditions ----------------------------------------------------------------------------- */

static enum run_result run_if(struct exec *x, const struct node *n)
{
	const struct value *c = eval_value(x->ev, n->left);

	if (!c)
		return RUN_FAULT;
	if (c->kind == V_UNKNOWN) {
		x->unknown = true;
		return RUN_ON;
	}
	if (value_is_truthy(c))
		return exec_run_all(x, n->right);
	if (!n->other)
		return RUN_ON;
	return n->other->kind == N_IF ? run_if(x, n->other) : exec_run_all(x, n->other);
}

/* ---- values --------------------------------------------------------------------------------- */

/* A body's text, through filters if there are some. */
static const struct value *captured(struct eval *ev, const struct node *body,
				    const struct node *filters)
{
	const struct value *outer = ev->captured, *v;
	struct frame *frame = ev->frame;

	ev->frame = frame_new(ev, frame);
	v = exec_text(ev, body);
	ev->frame = frame;
	if (!v || !filters)
		return v;
	ev->captured = v;
	v = eval_value(ev, filters);
	ev->captured = outer;
	return v;
}

static enum run_result run_set(struct exec *x, const struct node *n)
{
	const struct value *v = n->left ? eval_soft(x->ev, n->left)
					: captured(x->ev, n->right, n->other);

	if (!v)
		return RUN_FAULT;
	return (n->name.p ? set_in_namespace(x, n, v) : exec_bind(x, n->target, v)) < 0 ? RUN_FAULT
											: RUN_ON;
}

static enum run_result run_with(struct exec *x, const struct node *n)
{
	struct eval *ev = x->ev;
	struct frame *outer = ev->frame, *f = frame_new(ev, outer);
	enum run_result r = RUN_ON;

	for (size_t i = 0; r == RUN_ON && i + 1 < n->kids.n; i += 2) {
		const struct value *v = eval_soft(ev, n->kids.v[i + 1]);
		ev->frame = f;
		if (!v || exec_bind(x, n->kids.v[i], v) < 0)
			r = RUN_FAULT;
		ev->frame = outer;
	}
	ev->frame = f;
	if (r == RUN_ON)
		r = exec_run_all(x, n->right);
	ev->frame = outer;
	return r;
}

static enum run_result run_capture(struct exec *x, const struct node *n)
{
	const struct value *v = captured(x->ev, n->right, n->left);

	return v && exec_write(x, n, v) == 0 ? RUN_ON : RUN_FAULT;
}

static enum run_result run_escape(struct exec *x, const struct node *n)
{
	const struct value *on = eval_value(x->ev, n->left);
	struct frame *outer = x->ev->frame;
	bool before = x->escape;

	if (!on)
		return RUN_FAULT;
	x->escape = value_is_truthy(on);
	x->ev->frame = frame_new(x->ev, outer);
	enum run_result r = exec_run_all(x, n->right);
	x->ev->frame = outer;
	x->escape = before;
	return r;
}

/* ---- all ------------------------------------------------------------------------------------ */

static enum run_result run(struct exec *x, const struct node *n)
{
	if (eval_charge(x->ev, n, 1) < 0)
		return RUN_FAULT;
	if (x->extended && (n->kind == N_TEXT || n->kind == N_OUTPUT || n->kind == N_BLOCK))
		return RUN_ON;
	switch (n->kind) {
	case N_BODY: return exec_run_all(x, n);
	case N_TEXT: return run_text(x, n);
	case N_OUTPUT: return run_output(x, n);
	case N_IF: return run_if(x, n);
	case N_FOR: return exec_for(x, n);
	case N_SET: return run_set(x, n);
	case N_WITH: return run_with(x, n);
	case N_DO: return eval_value(x->ev, n->left) ? RUN_ON : RUN_FAULT;
	case N_BREAK: return RUN_BREAK;
	case N_CONTINUE: return RUN_CONTINUE;
	case N_CAPTURE: return run_capture(x, n);
	case N_ESCAPE: return run_escape(x, n);
	case N_MACRO: return exec_macro(x, n);
	case N_CALLER: return exec_caller(x, n);
	case N_INCLUDE: return exec_include(x, n);
	case N_IMPORT: return exec_import(x, n);
	case N_EXTENDS: return exec_extends(x, n);
	case N_BLOCK: return exec_block(x, n);
	default: bug("an expression among statements");
	}
}

enum run_result exec_run_all(struct exec *x, const struct node *body)
{
	enum run_result r = RUN_ON;

	for (size_t i = 0; r == RUN_ON && i < body->kids.n; i++) {
		const struct node *n = body->kids.v[i];
		if (n->kind == N_TEXT && !x->extended)
			r = run_text(x, n);
		else
			r = run(x, n);
	}
	return r;
}

/* A text that holds secrets as they are needs no registering of its own: the scrubber finds them in
 * it, and a long text for each of many nodes would fill the scrubber. */
const struct value *exec_result(struct exec *x)
{
	if (x->unknown)
		return value_unknown(x->ev->a);
	struct value *v = value_str(x->ev->a, buf_str(&x->out));
	if (x->quoted)
		return op_marked(x->ev->a, v, true);
	v->secret = x->secret;
	return v;
}

static const struct value *text_of(struct exec *x, const struct node *body,
				   enum run_result (*fn)(struct exec *, const struct node *))
{
	struct eval *ev = x->ev;
	const struct value *v = NULL;

	if (++ev->bounds->depth > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "nested too deep (at most %d levels)", EVAL_MAX_DEPTH);
		eval_fault(ev, body);
		return NULL;
	}
	buf_init(&x->out, OPS_MAX_TEXT);
	if (fn(x, body) != RUN_FAULT)
		v = exec_result(x);
	buf_wipe(&x->out);
	ev->bounds->depth--;
	return v;
}

const struct value *exec_text(struct eval *ev, const struct node *body)
{
	struct exec x = { .ev = ev };

	return text_of(&x, body, exec_run_all);
}

const struct value *exec_template(struct eval *ev, const struct tree *tree, bool native)
{
	const struct node *body = tree->body;
	struct exec x = { .ev = ev, .whole = true };

	if (native && body->kids.n == 1 && body->kids.v[0]->kind == N_OUTPUT)
		return eval_value(ev, body->kids.v[0]->left);
	if (tree->is_module)
		ev->module = module_new(ev, tree);
	return text_of(&x, body, exec_whole);
}
