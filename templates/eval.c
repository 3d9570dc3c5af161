/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Undefined names travel as V_UNDEFINED until something uses them (`default` and `is defined` do
 * not), so that the fault can name the whole path that was written. Texts found in variables are
 * templates too (TEMPLATE_LAZY): a name gives its value raw, an attribute of it is evaluated alone,
 * and only a value that is used as a whole is evaluated as a whole; so a map may hold texts that
 * refer to their neighbours.
 */
#include "templates/eval.h"

#include "templates/lex.h"

int eval_fault(struct eval *ev, const struct node *n)
{
	return err_at(ev->e, lex_pos(ev->text, ev->where, n->at));
}

const struct value *eval_fail(struct eval *ev, const struct node *n)
{
	eval_fault(ev, n);
	return NULL;
}

int eval_too_long(struct eval *ev, const struct node *n)
{
	err_set(ev->e, ERR_SPEC, "the template takes more than %d steps", EVAL_MAX_STEPS);
	return eval_fault(ev, n);
}

int eval_memory(struct eval *ev, const struct node *n)
{
	if (arena_bytes(ev->a) <= ev->bounds->most_bytes)
		return 0;
	err_set(ev->e, ERR_SPEC, "the template takes more than %zu MiB of memory",
		EVAL_MAX_BYTES >> 20);
	return eval_fault(ev, n);
}

/* What was made must stay printable and pay for its size. */
const struct value *eval_checked(struct eval *ev, const struct node *n, const struct value *v)
{
	uint64_t nodes = 0;

	if (!v)
		return eval_fail(ev, n);
	if (v->kind == V_LIST || v->kind == V_MAP) {
		if (eval_memory(ev, n) < 0)
			return NULL;
		if (op_check_nesting(v, &nodes, ev->e) < 0)
			return eval_fail(ev, n);
		return eval_charge(ev, n, nodes / 16) < 0 ? NULL : v;
	}
	if (v->kind == V_STR && v->s.n > 256)
		return eval_memory(ev, n) < 0 || eval_charge(ev, n, v->s.n / 256) < 0 ? NULL : v;
	return v;
}

/* ---- names ---------------------------------------------------------------------------------- */

static const struct value *undefined(struct eval *ev, const char *msg, const char *best)
{
	struct value *v = value_cstr(
		ev->a, best ? arena_printf(ev->a, "%s\ndid you mean \"%s\"?", msg, best) : msg);

	v->kind = V_UNDEFINED;
	return v;
}

static void add_keys(struct arena *a, const struct map *m, struct map *all)
{
	for (size_t i = 0; i < m->n && all->n < 2000; i++)
		map_put(all, m->e[i].key, a);
}

const struct value *eval_undefined(struct eval *ev, const char *msg)
{
	return undefined(ev, msg, NULL);
}

static const char *suggest_name(struct eval *ev, struct str name)
{
	struct map all;

	map_init(&all, ev->a);
	for (const struct frame *f = ev->frame; f; f = f->outer)
		add_keys(ev->a, &f->vars, &all);
	for (const struct scope *s = ev->scope; s; s = s->outer)
		if (s->vars && s->vars->kind == V_MAP)
			add_keys(ev->a, &s->vars->map, &all);
	const char **names = arena_array(ev->a, const char *, all.n + 1);
	for (size_t i = 0; i < all.n; i++)
		names[i] = all.e[i].key.p;
	return str_suggest(name, names, all.n);
}

const struct value *eval_in_frames(struct eval *ev, const struct node *n)
{
	const struct map_entry *en;

	for (const struct frame *f = ev->frame; f; f = f->outer)
		if (f->vars.n && (en = map_find_hashed(&f->vars, n->name, n->hash)))
			return en->val;
	return NULL;
}

static const struct value *find_in_scope(struct eval *ev, const struct node *n)
{
	const struct map_entry *en;
	const struct value *v;

	for (const struct scope *s = ev->scope; s; s = s->outer) {
		if (s->vars && s->vars->kind == V_MAP &&
		    (en = map_find_hashed(&s->vars->map, n->name, n->hash)))
			return en->val;
		if (s->lookup && (v = s->lookup(s->arg, ev->a, n->name)))
			return v;
	}
	return NULL;
}

static const char is_undefined[] = "\" is undefined";

/* "x" is undefined: written without printf, since `x is defined` asks for it often. */
static const struct value *unknown_name(struct eval *ev, struct str name)
{
	struct value *v = arena_obj(ev->a, struct value);
	char *p = arena_alloc(ev->a, name.n + sizeof is_undefined + 1);

	p[0] = '"';
	memcpy(p + 1, name.p, name.n);
	memcpy(p + 1 + name.n, is_undefined, sizeof is_undefined);
	v->kind = V_UNDEFINED;
	v->s = (struct str){ p, name.n + sizeof is_undefined };
	return v;
}

/* v, or the copy of it that was changed. */
static const struct value *now(struct eval *ev, const struct value *v)
{
	const void *p = v;
	const struct value *copy = map_get(&ev->bounds->moved, eval_address(&p));

	return copy ? copy : v;
}

static const struct value *lookup(struct eval *ev, const struct node *n, bool *raw)
{
	const struct value *v = eval_in_frames(ev, n);

	*raw = false;
	if (v)
		return ev->bounds->moved.n ? now(ev, v) : v;
	if ((v = find_in_scope(ev, n))) {
		const struct value *copy = ev->bounds->moved.n ? now(ev, v) : v;
		*raw = copy == v;
		return copy;
	}
	return unknown_name(ev, n->name);
}

const struct value *eval_undefined_fault(struct eval *ev, const struct node *n,
					 const struct value *v)
{
	size_t line = str_find_char(v->s, '\n');
	const char *best = NULL;

	err_set(ev->e, ERR_SPEC, STR_FMT, STR_ARG(str_sub(v->s, 0, line)));
	if (str_ends(v->s, is_undefined))
		best = suggest_name(ev, str_sub(v->s, 1, v->s.n + 1 - sizeof is_undefined));
	if (best)
		err_hint(ev->e, "did you mean \"%s\"?", best);
	else if (line != SIZE_MAX)
		err_hint(ev->e, STR_FMT, STR_ARG(str_sub(v->s, line + 1, SIZE_MAX)));
	return eval_fail(ev, n);
}

static const struct value *find_undefined(const struct value *v)
{
	const struct value *u = v->kind == V_UNDEFINED ? v : NULL;

	for (size_t i = 0; !u && v->kind == V_LIST && i < v->list.n; i++)
		u = find_undefined(v->list.v[i]);
	for (size_t i = 0; !u && v->kind == V_MAP && i < v->map.n; i++)
		u = find_undefined(v->map.e[i].val);
	return u;
}

int eval_whole(struct eval *ev, const struct node *n, const struct value *v)
{
	const struct value *u = ev->bounds->holes && (v->kind == V_LIST || v->kind == V_MAP)
					? find_undefined(v)
					: NULL;

	return u && !eval_undefined_fault(ev, n, u) ? -1 : 0;
}

/* ---- texts in variables --------------------------------------------------------------------- */

static bool is_template(const struct value *v)
{
	return v->kind == V_STR && !v->unsafe && !v->secret && template_has_markup(v->s);
}

static bool holds_template(const struct value *v)
{
	if (is_template(v))
		return true;
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (holds_template(v->list.v[i]))
			return true;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (holds_template(v->map.e[i].val))
			return true;
	return false;
}

static const struct value *finish_text(struct eval *ev, const struct node *n, const struct value *v)
{
	for (const struct lazy *l = ev->bounds->lazy; l; l = l->outer) {
		if (l->v != v)
			continue;
		err_set(ev->e, ERR_SPEC, "\"" STR_FMT "\" refers to itself",
			STR_ARG(str_sub(ev->text, n->at, n->end)));
		return eval_fail(ev, n);
	}
	/* A text costs the stack more than an expression does. */
	if ((ev->bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "variables refer to each other too deep");
		return eval_fail(ev, n);
	}
	struct lazy here = { ev->bounds->lazy, v };
	ev->bounds->lazy = &here;
	const struct value *out = ev->bounds->text_fn(ev, v);
	ev->bounds->lazy = here.outer;
	ev->bounds->depth -= 4;
	if (!out && (n->kind == N_NAME || n->kind == N_ATTR))
		err_wrap(ev->e, "in variable \"" STR_FMT "\"",
			 STR_ARG(str_sub(ev->text, n->at, n->end)));
	return out ? out : eval_fail(ev, n);
}

static const struct value *finish(struct eval *ev, const struct node *n, const struct value *v);

static const struct value *finish_list(struct eval *ev, const struct node *n, const struct value *v)
{
	struct value *out = value_list(ev->a);

	out->pos = v->pos;
	out->tuple = v->tuple;
	for (size_t i = 0; i < v->list.n; i++) {
		const struct value *item = finish(ev, n, v->list.v[i]);
		if (!item)
			return NULL;
		value_add(ev->a, out, item);
	}
	return out;
}

static const struct value *finish_map(struct eval *ev, const struct node *n, const struct value *v)
{
	struct value *out = value_map(ev->a);

	out->pos = v->pos;
	for (size_t i = 0; i < v->map.n; i++) {
		const struct value *item = finish(ev, n, v->map.e[i].val);
		if (!item)
			return NULL;
		value_sets(out, v->map.e[i].key, item);
		map_find(&out->map, v->map.e[i].key)->pos = v->map.e[i].pos;
	}
	return out;
}

/* A value from the scope, evaluated as a whole. */
static const struct value *finish(struct eval *ev, const struct node *n, const struct value *v)
{
	const struct value *out = v;

	if (!(ev->flags & TEMPLATE_LAZY) || !holds_template(v))
		return v;
	if (eval_charge(ev, n, 1) < 0)
		return NULL;
	if (v->kind == V_STR)
		return finish_text(ev, n, v);
	if (++ev->bounds->depth > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "a value nested too deep");
		return eval_fail(ev, n);
	}
	if (v->kind == V_LIST)
		out = finish_list(ev, n, v);
	else if (v->kind == V_MAP)
		out = finish_map(ev, n, v);
	ev->bounds->depth--;
	return out;
}

/* ---- attributes and items ------------------------------------------------------------------- */

static const struct value *eval_raw(struct eval *ev, const struct node *n, bool *raw);

static const char *suggest_key(struct eval *ev, const struct value *map, struct str key)
{
	size_t n = map->kind == V_MAP ? map->map.n : 0;
	const char **names = arena_array(ev->a, const char *, n + 1);

	n = n > 2000 ? 2000 : n;
	for (size_t i = 0; i < n; i++)
		names[i] = map->map.e[i].key.p;
	return str_suggest(key, names, n);
}

static const struct value *no_item(struct eval *ev, const struct node *n, const struct value *in,
				   const struct value *key)
{
	struct str whole = str_sub(ev->text, n->at, n->end),
		   of = str_sub(ev->text, n->left->at, n->left->end);
	struct str k = op_text(ev->a, key);

	if (in->kind == V_LIST && key->kind == V_INT)
		return undefined(ev,
				 arena_printf(ev->a,
					      "\"" STR_FMT "\" is undefined: " STR_FMT
					      " has %zu items",
					      STR_ARG(whole), STR_ARG(of), in->list.n),
				 NULL);
	if (in->kind == V_MAP)
		return undefined(ev,
				 arena_printf(ev->a,
					      "\"" STR_FMT "\" is undefined: " STR_FMT
					      " has no key \"" STR_FMT "\"",
					      STR_ARG(whole), STR_ARG(of),
					      STR_ARG(str_sub(k, 0, 80))),
				 suggest_key(ev, in, k));
	return undefined(ev,
			 arena_printf(ev->a, "\"" STR_FMT "\" is undefined: " STR_FMT " is %s",
				      STR_ARG(whole), STR_ARG(of), value_kind_name(in->kind)),
			 NULL);
}

/* The thing before the dot or bracket, a text evaluated. */
static const struct value *eval_container(struct eval *ev, const struct node *n, bool *raw)
{
	const struct value *v = eval_raw(ev, n->left, raw);

	if (v && *raw && is_template(v) && (ev->flags & TEMPLATE_LAZY)) {
		v = finish(ev, n->left, v);
		*raw = false;
	}
	return v;
}

static const struct value *object_attr(struct eval *ev, const struct node *n,
				       const struct value *in, struct str name)
{
	struct object *o = object_of(in);
	const struct value *v = o->type->get ? o->type->get(ev, o, name) : NULL;

	return v ? v
		 : undefined(ev,
			     arena_printf(ev->a,
					  "\"" STR_FMT "\" is undefined: %s has no \"" STR_FMT "\"",
					  STR_ARG(str_sub(ev->text, n->at, n->end)), o->type->name,
					  STR_ARG(name)),
			     NULL);
}

/* The pairs that groupby gives have names for their parts. */
static const struct value *group_part(const struct value *v, struct str name)
{
	if (v->kind != V_LIST || !v->tuple || v->list.n != 2)
		return NULL;
	return str_eqc(name, "grouper") ? v->list.v[0]
	       : str_eqc(name, "list")	? v->list.v[1]
					: NULL;
}

static const struct value *eval_attr(struct eval *ev, const struct node *n, bool *raw)
{
	const struct value *in = eval_container(ev, n, raw), *v;
	const struct map_entry *en;
	int64_t index;

	if (!in || in->kind == V_UNKNOWN || in->kind == V_UNDEFINED)
		return in;
	if (in->kind == V_MAP && (en = map_find_hinted(&in->map, n->name, n->hash, n->hint)))
		return en->val;
	if (in->kind == V_OBJECT)
		return object_attr(ev, n, in, n->name);
	if ((v = group_part(in, n->name)))
		return v;
	struct value *key = value_str(ev->a, n->name);
	v = op_item(ev->a, in, key);
	if (!v && in->kind == V_LIST && str_to_int(n->name, &index))
		v = op_item(ev->a, in, value_int(ev->a, index));
	return v ? v : no_item(ev, n, in, key);
}

static const struct value *eval_item(struct eval *ev, const struct node *n, bool *raw)
{
	const struct value *in = eval_container(ev, n, raw), *key, *v;

	if (!in || in->kind == V_UNDEFINED || !(key = eval_value(ev, n->right)))
		return in && in->kind == V_UNDEFINED ? in : NULL;
	if (in->kind == V_UNKNOWN || key->kind == V_UNKNOWN)
		return value_unknown(ev->a);
	if (in->kind == V_OBJECT && key->kind == V_STR)
		return object_attr(ev, n, in, key->s);
	v = op_item(ev->a, in, key);
	return v ? v : no_item(ev, n, in, key);
}

static const struct value *eval_slice(struct eval *ev, const struct node *n)
{
	const struct value *in = eval_value(ev, n->left), *part[3] = { NULL };

	if (!in)
		return NULL;
	for (int i = 0; i < 3; i++)
		if (n->kids.v[i] && !(part[i] = eval_value(ev, n->kids.v[i])))
			return NULL;
	return eval_checked(ev, n, op_slice(ev->a, in, part, ev->e));
}

/* ---- operators ------------------------------------------------------------------------------ */

static const struct value *eval_list(struct eval *ev, const struct node *n)
{
	struct value *out = value_list(ev->a);
	const struct value *v;

	out->tuple = n->kind == N_TUPLE;
	out->own = true;
	for (size_t i = 0; i < n->kids.n; i++) {
		if (!(v = eval_value(ev, n->kids.v[i])))
			return NULL;
		value_add(ev->a, out, v);
	}
	return eval_checked(ev, n, out);
}

static const struct value *eval_dict(struct eval *ev, const struct node *n)
{
	struct value *out = eval_own_map(ev);
	const struct value *k, *v;
	struct str key;

	for (size_t i = 0; i + 1 < n->kids.n; i += 2) {
		if (!(k = eval_value(ev, n->kids.v[i])) || !(v = eval_value(ev, n->kids.v[i + 1])))
			return NULL;
		if (k->kind == V_UNKNOWN)
			return value_unknown(ev->a);
		if (k->secret || !value_key(ev->a, k, &key)) {
			err_set(ev->e, ERR_SPEC,
				k->secret ? "a secret cannot be a key"
					  : "a key must be text or a number, not %s",
				op_type_name(k));
			return eval_fail(ev, n->kids.v[i]);
		}
		value_sets(out, key, v);
	}
	return eval_checked(ev, n, out);
}

static const struct value *eval_concat(struct eval *ev, const struct node *n)
{
	scoped(buf_wipe) struct buf b = { 0 };
	bool secret = false, unknown = false;
	const struct value *v;
	char room[256];

	buf_init_in(&b, room, sizeof room, OPS_MAX_TEXT);
	for (size_t i = 0; i < n->kids.n; i++) {
		if (!(v = eval_value(ev, n->kids.v[i])))
			return NULL;
		if (eval_whole(ev, n, v) < 0)
			return NULL;
		secret = secret || value_has_secret(v);
		unknown = unknown || value_has_unknown(v);
		buf_addstr(&b, op_text(ev->a, v));
	}
	if (unknown)
		return value_unknown(ev->a);
	if (buf_check(&b, ev->e) < 0)
		return eval_fail(ev, n);
	return eval_checked(ev, n, op_marked(ev->a, value_str(ev->a, buf_str(&b)), secret));
}

static const struct value *eval_compare(struct eval *ev, const struct node *n)
{
	const struct value *x = eval_value(ev, n->left), *y, *r = NULL;

	for (size_t i = 0; x && i < n->kids.n; i++) {
		if (!(y = eval_value(ev, n->kids.v[i])))
			return NULL;
		r = op_compare(ev->a, n->ops.v[i], x, y, ev->e);
		if (!r)
			return eval_fail(ev, n);
		if (r->kind == V_UNKNOWN || !r->b)
			return r;
		x = y;
	}
	return x ? r : NULL;
}

/* and, or: the operand that decided, as in Python. */
static const struct value *eval_logic(struct eval *ev, const struct node *n)
{
	const struct value *v = NULL;
	bool unknown = false;

	for (size_t i = 0; i < n->kids.n; i++) {
		if (!(v = eval_value(ev, n->kids.v[i])))
			return NULL;
		if (v->kind == V_UNKNOWN)
			unknown = true;
		else if (value_is_truthy(v) == (n->kind == N_OR))
			return v;
	}
	return unknown ? value_unknown(ev->a) : v;
}

static const struct value *eval_cond(struct eval *ev, const struct node *n)
{
	const struct value *c = eval_value(ev, n->right);

	if (!c)
		return NULL;
	if (c->kind == V_UNKNOWN)
		return c;
	if (value_is_truthy(c))
		return eval_soft(ev, n->left);
	if (n->other)
		return eval_soft(ev, n->other);
	return undefined(ev, "", NULL); /* Jinja2's one lenient kind: defined by nothing, but
					   written as an empty text */
}

static const struct value *eval_binary(struct eval *ev, const struct node *n)
{
	const struct value *x = eval_value(ev, n->left), *y = x ? eval_value(ev, n->right) : NULL;

	return y ? eval_checked(ev, n, op_binary(ev->a, n->op, x, y, ev->e)) : NULL;
}

static const struct value *eval_unary(struct eval *ev, const struct node *n)
{
	const struct value *x = eval_value(ev, n->left);

	if (!x)
		return NULL;
	if (n->kind == N_NOT)
		return x->kind == V_UNKNOWN ? x : op_bool(!value_is_truthy(x));
	if (n->kind == N_NEGATE)
		return eval_checked(ev, n, op_negate(ev->a, x, ev->e));
	if (op_is_number(x) || x->kind == V_UNKNOWN)
		return x->kind == V_BOOL ? value_int(ev->a, x->b) : x;
	err_set(ev->e, ERR_SPEC, "\"+\" cannot be used on %s", op_type_name(x));
	return eval_fail(ev, n);
}

static const struct value *dispatch(struct eval *ev, const struct node *n, bool *raw)
{
	switch (n->kind) {
	case N_LIST:
	case N_TUPLE: return eval_list(ev, n);
	case N_DICT: return eval_dict(ev, n);
	case N_ATTR: return eval_attr(ev, n, raw);
	case N_ITEM: return eval_item(ev, n, raw);
	case N_SLICE: return eval_slice(ev, n);
	case N_CALL: return eval_call_with(ev, n, NULL);
	case N_CAPTURED: return ev->captured;
	case N_FILTER: return eval_filter(ev, n);
	case N_TEST: return eval_test(ev, n);
	case N_NEGATE:
	case N_PLUS:
	case N_NOT: return eval_unary(ev, n);
	case N_AND:
	case N_OR: return eval_logic(ev, n);
	case N_BINARY: return eval_binary(ev, n);
	case N_CONCAT: return eval_concat(ev, n);
	case N_COMPARE: return eval_compare(ev, n);
	case N_COND: return eval_cond(ev, n);
	default: bug("a statement in an expression");
	}
}

/* x.y where x is a map that has y: most of what templates read. NULL: not so. */
static const struct value *attr_of_name(struct eval *ev, const struct node *n, bool *raw)
{
	const struct value *in = eval_in_frames(ev, n->left);
	const struct map_entry *en;

	*raw = !in;
	if (!in)
		in = find_in_scope(ev, n->left);
	if (!in || in->kind != V_MAP || ev->bounds->moved.n)
		return NULL;
	en = map_find_hinted(&in->map, n->name, n->hash, n->hint);
	return en ? en->val : NULL;
}

/* *raw: the value comes from the scope as it is; texts in it may be templates. */
static const struct value *eval_raw(struct eval *ev, const struct node *n, bool *raw)
{
	const struct value *v;

	*raw = false;
	if (eval_charge(ev, n, 1) < 0)
		return NULL;
	if (n->kind == N_LITERAL)
		return n->lit;
	if (n->kind == N_NAME)
		return lookup(ev, n, raw);
	if (n->kind == N_ATTR && n->left->kind == N_NAME && (v = attr_of_name(ev, n, raw)))
		return v;
	if (++ev->bounds->depth > EVAL_MAX_DEPTH) {
		err_set(ev->e, ERR_SPEC, "nested too deep (at most %d levels)", EVAL_MAX_DEPTH);
		return eval_fail(ev, n);
	}
	v = dispatch(ev, n, raw);
	ev->bounds->depth--;
	return v;
}

const struct value *eval_soft(struct eval *ev, const struct node *n)
{
	bool raw;
	const struct value *v = eval_raw(ev, n, &raw);

	return v && raw ? finish(ev, n, v) : v;
}

const struct value *eval_name(struct eval *ev, struct str name)
{
	uint32_t hint = 0;
	struct node n = { .kind = N_NAME, .name = name, .hash = str_hash(name), .hint = &hint };

	return eval_soft(ev, &n);
}

const struct value *eval_value(struct eval *ev, const struct node *n)
{
	const struct value *v = eval_soft(ev, n);

	if (!v || v->kind != V_UNDEFINED)
		return v;
	return v->s.n ? eval_undefined_fault(ev, n, v) : value_cstr(ev->a, "");
}

void eval_init(struct eval *ev, struct arena *a, struct str text, struct pos where,
	       const struct scope *scope)
{
	*ev = (struct eval){ .a = a, .scope = scope, .text = text, .where = where };
	eval_rehost(ev);
}
