/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values are replaced inside the parsed tree rather than copied, since a map that YAML made knows
 * where each of its keys stands. A value that was an expression is marked `unsafe`: what an
 * expression gave is never evaluated again, wherever an alias repeats it.
 */
#include "inventory/spec_render.h"

#include "templates/templates.h"

struct renderer {
	struct arena *a;
	struct err_list *errs;
	struct scope scope;
};

/* ---- vars that refer to themselves ---------------------------------------------------------- */

enum colour { WHITE, GREY, BLACK };

struct var {
	struct str name;
	const struct value *v;
	struct map uses; /* name -> non-NULL */
	enum colour colour;
	bool faulty;
};

struct var_graph {
	struct arena *a;
	struct err_list *errs;
	struct map vars; /* name -> struct var */
	VEC(struct var *) stack;
};

static void check_syntax(const struct value *v, struct err_list *errs, bool *faulty)
{
	struct err e = { 0 };

	if (v->kind == V_STR && !v->unsafe && template_has_markup(v->s)) {
		if (template_check(v->s, v->pos, &e) < 0) {
			err_list_add(errs, &e);
			*faulty = true;
		}
	} else if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++)
			check_syntax(v->list.v[i], errs, faulty);
	} else if (v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++)
			check_syntax(v->map.e[i].val, errs, faulty);
	}
}

static void collect_names(struct arena *a, const struct value *v, struct map *names)
{
	struct err e = { 0 };

	if (v->kind == V_STR && !v->unsafe && template_has_markup(v->s)) {
		/* A syntax fault was reported by check_syntax; the names before it count all the
		 * same. */
		if (template_names(a, v->s, false, names, &e) < 0)
			return;
	} else if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++)
			collect_names(a, v->list.v[i], names);
	} else if (v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++)
			collect_names(a, v->map.e[i].val, names);
	}
}

static void report_loop(struct var_graph *g, struct var *again)
{
	scoped(buf_fini) struct buf b = { 0 };
	size_t from = g->stack.n;

	buf_init(&b, 600);
	while (from > 0 && g->stack.v[from - 1] != again)
		from--;
	for (size_t i = from ? from - 1 : 0; i < g->stack.n; i++) {
		g->stack.v[i]->faulty = true;
		buf_addf(&b, STR_FMT " -> ", STR_ARG(g->stack.v[i]->name));
	}
	buf_addstr(&b, again->name);
	err_list_addf(g->errs, again->v->pos, "give one of them a value of its own",
		      "vars." STR_FMT ": refers to itself: %s", STR_ARG(again->name), b.p);
}

/* Depth is bounded by the number of vars only, so a chain of a million would end the stack: 1000
 * links are a fault. */
#define MAX_CHAIN 1000

static void visit(struct var_graph *g, struct var *v)
{
	if (v->colour == GREY)
		report_loop(g, v);
	if (v->colour != WHITE)
		return;
	if (g->stack.n >= MAX_CHAIN) {
		v->faulty = true;
		err_list_addf(g->errs, v->v->pos, NULL,
			      "vars." STR_FMT ": a chain of more than %d variables",
			      STR_ARG(v->name), MAX_CHAIN);
		v->colour = BLACK;
		return;
	}
	v->colour = GREY;
	VEC_ADD(g->a, &g->stack) = v;
	for (size_t i = 0; i < v->uses.n; i++) {
		struct var *next = map_get(&g->vars, v->uses.e[i].key);
		if (next)
			visit(g, next);
	}
	g->stack.n--;
	v->colour = BLACK;
}

/* The same vars, with field_faulty in place of those that cannot be evaluated. */
static const struct value *checked_vars(struct renderer *r, const struct value *vars)
{
	struct var_graph g = { .a = r->a, .errs = r->errs };
	struct value *out = value_map(r->a);

	map_init(&g.vars, r->a);
	for (size_t i = 0; vars && i < vars->map.n; i++) {
		struct var *v = arena_obj(r->a, struct var);
		*v = (struct var){ .name = vars->map.e[i].key, .v = vars->map.e[i].val };
		map_init(&v->uses, r->a);
		check_syntax(v->v, r->errs, &v->faulty);
		collect_names(r->a, v->v, &v->uses);
		map_put(&g.vars, v->name, v);
	}
	for (size_t i = 0; i < g.vars.n; i++)
		visit(&g, g.vars.e[i].val);
	for (size_t i = 0; i < g.vars.n; i++) {
		const struct var *v = g.vars.e[i].val;
		value_sets(out, v->name, v->faulty ? field_faulty(r->a) : v->v);
	}
	return out;
}

/* ---- rendering ------------------------------------------------------------------------------ */

static void place(struct renderer *r, struct value *v, struct pos pos)
{
	/* Only a variable that was reported can be unknown here. */
	if (v->kind == V_UNKNOWN)
		v->pos.line = -1;
	else if (!v->pos.line)
		v->pos = pos;
	v->unsafe = true;
	if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++)
			place(r, v->list.v[i], pos);
	} else if (v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++)
			place(r, v->map.e[i].val, pos);
	}
}

static struct value *render_text(struct renderer *r, struct value *v, const char *path)
{
	const struct value *out;
	struct err e = { 0 };

	if (v->unsafe || !template_has_markup(v->s))
		return v;
	if (template_render(r->a, template_of(v), &r->scope, TEMPLATE_NATIVE | TEMPLATE_LAZY, &out,
			    &e) < 0) {
		err_wrap(&e, "%s", path);
		err_at(&e, v->pos);
		err_list_add(r->errs, &e);
		return field_faulty(r->a);
	}
	struct value *copy = value_copy(r->a, out);
	/* The place of the text, not of the variable that it names: that is what the user must look
	 * at first. */
	if (copy->kind != V_LIST && copy->kind != V_MAP)
		copy->pos = v->pos;
	place(r, copy, v->pos);
	return copy;
}

static struct value *render_any(struct renderer *r, struct value *v, const char *path)
{
	if (v->kind == V_STR)
		return render_text(r, v, path);
	if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++)
			v->list.v[i] = render_any(r, v->list.v[i],
						  arena_printf(r->a, "%s[%zu]", path, i));
	} else if (v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++)
			v->map.e[i].val =
				render_any(r, v->map.e[i].val,
					   arena_printf(r->a, "%s.%s", path, v->map.e[i].key.p));
	}
	return v;
}

static void render_obj(struct renderer *r, const struct field *rows, struct value *map,
		       const char *path);

static const struct field *row_of(const struct field *rows, struct str key)
{
	const struct field *rest = NULL;

	for (; rows->name; rows++) {
		if (rows->flags & FIELD_REST)
			rest = rows;
		else if (!(rows->flags & FIELD_NAME) && str_eqc(key, rows->name))
			return rows;
	}
	return rest;
}

/* Objects are walked by their rows; an expression that stands for a whole object or list is
 * evaluated first. */
static struct value *render_member(struct renderer *r, const struct field *row, struct value *v,
				   const char *path)
{
	bool faulty = false;

	if (row->flags & FIELD_LATE) {
		check_syntax(v, r->errs, &faulty);
		return v;
	}
	if (v->kind == V_STR)
		v = render_text(r, v, path);
	if (row->type == F_OBJ && v->kind == V_MAP) {
		render_obj(r, row->sub, v, path);
	} else if (row->type == F_MAP_OF && v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++) {
			struct value **item = (struct value **)&v->map.e[i].val;
			const char *sub = arena_printf(r->a, "%s.%s", path, v->map.e[i].key.p);
			*item = (*item)->kind == V_STR ? render_text(r, *item, sub) : *item;
			if ((*item)->kind == V_MAP)
				render_obj(r, row->sub, *item, sub);
		}
	} else if (row->type == F_LIST_OF && v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++) {
			struct value **item = &v->list.v[i];
			const char *sub = arena_printf(r->a, "%s[%zu]", path, i);
			*item = (*item)->kind == V_STR ? render_text(r, *item, sub) : *item;
			if ((*item)->kind == V_MAP)
				render_obj(r, row->sub, *item, sub);
		}
	} else if (!row->sub) {
		v = render_any(r, v, path);
	}
	return v;
}

static void render_obj(struct renderer *r, const struct field *rows, struct value *map,
		       const char *path)
{
	for (size_t i = 0; i < map->map.n; i++) {
		struct str key = map->map.e[i].key;
		const struct field *row = row_of(rows, key);
		const char *here = *path ? arena_printf(r->a, "%s.%s", path, key.p) : key.p;
		if (row && !(row->flags & FIELD_SOON))
			map->map.e[i].val = render_member(r, row, map->map.e[i].val, here);
	}
}

void spec_render(struct arena *a, const struct field *rows, struct value *tree,
		 const struct value *vars, struct err_list *errs)
{
	struct renderer r = { .a = a, .errs = errs };
	struct value *names = value_map(a);
	const struct value *cluster = value_get(tree, "cluster");

	if (cluster)
		value_set(names, "cluster", cluster);
	struct scope outer = { .vars = names };
	r.scope = (struct scope){ .outer = &outer, .vars = checked_vars(&r, vars) };
	render_obj(&r, rows, tree, "");
}
