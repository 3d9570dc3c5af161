/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/templates.h"

#include "templates/exec.h"
#include "templates/parse.h"
#include "templates/parse_expr.h"

static int parse(struct eval *ev, struct node **body)
{
	return parse_template(ev->a, ev->text, ev->where, ev->flags, body, ev->e);
}

/* A text in a variable: a native template in the same scope, without the names of the text that
 * uses it. */
static const struct value *render_inner(struct eval *outer, const struct value *text)
{
	struct frame names = { 0 };
	struct node *body;
	struct eval ev;

	map_init(&names.vars, outer->a);
	eval_init(&ev, outer->a, text->s, text->pos, outer->scope);
	ev.e = outer->e;
	ev.frame = &names;
	ev.flags = TEMPLATE_LAZY;
	ev.bounds = outer->bounds;
	return parse(&ev, &body) < 0 ? NULL : exec_body(&ev, body, true);
}

static bool is_markup_key(const struct value *map, struct str key)
{
	return !map->unsafe && template_has_markup(key);
}

static bool needs_rendering(const struct value *v)
{
	if (v->kind == V_STR)
		return !v->unsafe && template_has_markup(v->s);
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (needs_rendering(v->list.v[i]))
			return true;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (is_markup_key(v, v->map.e[i].key) || needs_rendering(v->map.e[i].val))
			return true;
	return false;
}

/* ---- results -------------------------------------------------------------------------------- */

/* What an expression gave may hold what a node said, cut up and put together in any way. So it is
 * never a template again: else a node could have the controller run {{ secret('cmd:...') }}. */
static const struct value * final(struct arena *a, const struct value *v)
{
	if (!needs_rendering(v))
		return v;
	struct value *copy = value_copy(a, v);
	value_mark_unsafe(copy);
	return copy;
}

/* ---- the front door ------------------------------------------------------------------------- */

static const struct value *evaluate(struct eval *ev, bool is_expression)
{
	struct node *n;

	if (is_expression) {
		if (parse_expression(ev->a, ev->text, ev->where, &n, ev->e) < 0)
			return NULL;
		return eval_value(ev, n);
	}
	return parse(ev, &n) < 0 ? NULL : exec_body(ev, n, ev->flags & TEMPLATE_NATIVE);
}

static int run(struct eval *ev, unsigned flags, bool is_expression, const struct value **out)
{
	struct bounds bounds = { .text_fn = render_inner };
	struct frame names = { 0 };

	ev->flags = flags;
	ev->bounds = &bounds;
	map_init(&names.vars, ev->a);
	ev->frame = &names;
	*out = evaluate(ev, is_expression);
	ev->bounds = NULL;
	ev->frame = NULL;
	if (!*out)
		return -1;
	*out = final(ev->a, *out);
	return 0;
}

int template_render(struct arena *a, struct template t, const struct scope *scope, unsigned flags,
		    const struct value **out, struct err *e)
{
	struct eval ev;

	eval_init(&ev, a, t.text, t.where, scope);
	ev.e = e;
	return run(&ev, flags, false, out);
}

int template_eval(struct arena *a, struct template t, const struct scope *scope, unsigned flags,
		  const struct value **out, struct err *e)
{
	struct eval ev;

	eval_init(&ev, a, t.text, t.where, scope);
	ev.e = e;
	return run(&ev, flags, true, out);
}

static int render_key(struct arena *a, const struct map_entry *en, const struct scope *scope,
		      unsigned flags, struct str *out, struct err *e)
{
	const struct value *key;

	if (template_render(a, (struct template){ en->key, en->pos }, scope,
			    flags & ~(unsigned)TEMPLATE_NATIVE, &key, e) < 0)
		return -1;
	if (key->kind != V_STR || key->secret) {
		err_set(e, ERR_SPEC,
			key->secret ? "a secret cannot be a key"
				    : "a key must be known before apply");
		return err_at(e, en->pos);
	}
	*out = key->s;
	return 0;
}

static int render_map(struct arena *a, const struct value *v, const struct scope *scope,
		      unsigned flags, const struct value **out, struct err *e)
{
	struct value *map = value_map(a);
	const struct value *item;
	struct str key;

	map->pos = v->pos;
	map->secret = v->secret;
	map->unsafe = true; /* its keys are final, as its values are */
	for (size_t i = 0; i < v->map.n; i++) {
		key = v->map.e[i].key;
		if (is_markup_key(v, key) && render_key(a, &v->map.e[i], scope, flags, &key, e) < 0)
			return -1;
		if (template_render_value(a, v->map.e[i].val, scope, flags, &item, e) < 0)
			return -1;
		value_sets(map, key, item);
		map_find(&map->map, key)->pos = v->map.e[i].pos;
	}
	*out = map;
	return 0;
}

int template_render_value(struct arena *a, const struct value *v, const struct scope *scope,
			  unsigned flags, const struct value **out, struct err *e)
{
	*out = v;
	if (!needs_rendering(v))
		return 0;
	if (v->kind == V_STR) {
		if (template_render(a, template_of(v), scope, flags | TEMPLATE_NATIVE, out, e) < 0)
			return err_at(e, v->pos);
		/* Where it was written is where the user looks. */
		struct value *copy = arena_obj(a, struct value);
		*copy = **out;
		copy->pos = v->pos;
		*out = copy;
		return 0;
	}
	if (v->kind == V_MAP)
		return render_map(a, v, scope, flags, out, e);
	struct value *list = value_list(a);
	list->pos = v->pos;
	list->secret = v->secret;
	for (size_t i = 0; i < v->list.n; i++) {
		const struct value *item;
		if (template_render_value(a, v->list.v[i], scope, flags, &item, e) < 0)
			return -1;
		value_add(a, list, item);
	}
	*out = list;
	return 0;
}

int template_check(struct str text, struct pos where, struct err *e)
{
	struct arena *a scoped(arena_freep) = arena_new("template check");
	struct node *body;

	return parse_template(a, text, where, 0, &body, e);
}

/* ---- names ---------------------------------------------------------------------------------- */

struct names {
	struct map *out;
	struct map bound; /* by set and for, anywhere: a name that is both is counted as bound */
};

static void collect_bound(struct names *w, const struct node *n)
{
	if (!n)
		return;
	for (size_t i = 0; i < n->targets.n; i++)
		map_put(&w->bound, n->targets.v[i], w);
	if (n->kind == N_FOR)
		map_put(&w->bound, STR("loop"), w);
	for (size_t i = 0; i < n->kids.n; i++)
		collect_bound(w, n->kids.v[i]);
	if (n->kind >= N_BODY) {
		collect_bound(w, n->right);
		collect_bound(w, n->other);
	}
}

static void collect_names(struct names *w, const struct node *n)
{
	if (!n)
		return;
	if (n->kind == N_NAME && !map_has(&w->bound, n->name))
		map_put(w->out, n->name, w->out);
	/* The name before "(" is a function. */
	if (n->kind != N_CALL || n->left->kind != N_NAME)
		collect_names(w, n->left);
	collect_names(w, n->right);
	collect_names(w, n->other);
	collect_names(w, n->cond);
	for (size_t i = 0; i < n->kids.n; i++)
		collect_names(w, n->kids.v[i]);
	for (size_t i = 0; i < n->kwargs.n; i++)
		collect_names(w, n->kwargs.v[i].value);
}

int template_names(struct arena *a, struct str text, bool is_expression, struct map *names,
		   struct err *e)
{
	struct names w = { .out = names };
	struct pos nowhere = { NULL, 1, 1 };
	struct node *n;

	map_init(&w.bound, a);
	if (is_expression ? parse_expression(a, text, nowhere, &n, e) < 0
			  : parse_template(a, text, nowhere, 0, &n, e) < 0)
		return -1;
	collect_bound(&w, n);
	collect_names(&w, n);
	return 0;
}

void template_add_function(const char *name, template_function *fn, void *arg)
{
	eval_add_function(name, fn, arg);
}
