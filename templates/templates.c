/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/templates.h"

#include "templates/cache.h"
#include "templates/exec.h"

static const struct value *render(struct eval *ev, bool native)
{
	struct tree tree;

	if (cache_template(ev->a, ev->text, ev->where, ev->flags, &tree, ev->e) < 0)
		return NULL;
	return exec_template(ev, &tree, native);
}

/* A text in a variable: a native template in the same scope, without the names of the text that
 * uses it. */
static const struct value *render_inner(struct eval *outer, const struct value *text)
{
	struct frame names = { 0 };
	struct eval ev;

	map_init(&names.vars, outer->a);
	eval_init(&ev, outer->a, text->s, text->pos, outer->scope);
	ev.e = outer->e;
	ev.frame = &names;
	ev.flags = TEMPLATE_LAZY;
	ev.bounds = outer->bounds;
	return render(&ev, true);
}

/* lookup('template', ...): as the template module renders it. */
static const struct value *render_file(struct eval *outer, const struct value *text,
				       const struct scope *scope)
{
	struct frame names = { 0 };
	const struct value *v;
	struct eval ev;

	if ((outer->bounds->depth += 4) > EVAL_MAX_DEPTH) {
		err_set(outer->e, ERR_SPEC, "templates look each other up too deep");
		return NULL;
	}
	map_init(&names.vars, outer->a);
	eval_init(&ev, outer->a, text->s, text->pos, scope);
	ev.e = outer->e;
	ev.frame = &names;
	ev.flags = (outer->flags & TEMPLATE_LAZY) | TEMPLATE_TRIM_BLOCKS | TEMPLATE_KEEP_NEWLINE;
	ev.bounds = outer->bounds;
	v = render(&ev, false);
	outer->bounds->depth -= 4;
	return v;
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

static bool has_typed_keys(const struct value *v)
{
	for (size_t i = 0; v->kind == V_LIST && i < v->list.n; i++)
		if (has_typed_keys(v->list.v[i]))
			return true;
	for (size_t i = 0; v->kind == V_MAP && i < v->map.n; i++)
		if (!value_key_is_text(v->map.e[i].key) || has_typed_keys(v->map.e[i].val))
			return true;
	return false;
}

/* Outside of templates the keys of maps are texts. */
static const struct value *plain_keys(struct arena *a, const struct value *v)
{
	struct value *out = arena_obj(a, struct value);

	*out = *v;
	if (v->kind == V_LIST) {
		out->list.v = arena_array(a, struct value *, v->list.n + 1);
		for (size_t i = 0; i < v->list.n; i++)
			out->list.v[i] = (struct value *)(uintptr_t)plain_keys(a, v->list.v[i]);
	} else if (v->kind == V_MAP) {
		map_init(&out->map, a);
		for (size_t i = 0; i < v->map.n; i++)
			value_sets(out, value_key_text(v->map.e[i].key),
				   plain_keys(a, v->map.e[i].val));
	}
	return out;
}

/* What an expression gave may hold what a node said, cut up and put together in any way. So it is
 * never a template again: else a node could have the controller run {{ secret('cmd:...') }}. */
static const struct value * final(struct arena *a, const struct value *v)
{
	struct value *copy;

	if (has_typed_keys(v))
		v = plain_keys(a, v);
	if (!needs_rendering(v))
		return v;
	copy = value_copy(a, v);
	value_mark_unsafe(copy);
	return copy;
}

/* ---- the front door ------------------------------------------------------------------------- */

static const struct value *evaluate(struct eval *ev, bool is_expression)
{
	struct node *n;

	if (!is_expression)
		return render(ev, ev->flags & TEMPLATE_NATIVE);
	if (cache_expression(ev->a, ev->text, ev->where, &n, ev->e) < 0)
		return NULL;
	return eval_value(ev, n);
}

static const struct template_world *world_of(const struct scope *s)
{
	const struct template_world *world = NULL;

	for (; s; s = s->outer)
		world = s->world ? s->world : world;
	return world;
}

static int run(struct eval *ev, unsigned flags, bool is_expression, const struct value **out)
{
	struct bounds bounds = { .text_fn = render_inner,
				 .file_fn = render_file,
				 .world = world_of(ev->scope),
				 .most_bytes = arena_bytes(ev->a) + EVAL_MAX_BYTES };
	struct frame names = { 0 };

	ev->flags = flags;
	ev->bounds = &bounds;
	map_init(&names.vars, ev->a);
	ev->frame = &names;
	cache_enter();
	*out = evaluate(ev, is_expression);
	cache_leave();
	if (*out && eval_whole(ev, &(struct node){ .kind = N_LITERAL }, *out) < 0)
		*out = NULL;
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
	struct tree tree;

	return parse_template(a, text, where, 0, &tree, e);
}

/* ---- the header ----------------------------------------------------------------------------- */

static int header_option(struct str part, unsigned *flags, struct err *e)
{
	static const struct {
		const char *name;
		unsigned flag;
	} names[] = { { "trim_blocks", TEMPLATE_TRIM_BLOCKS },
		      { "lstrip_blocks", TEMPLATE_LSTRIP_BLOCKS },
		      { "keep_trailing_newline", TEMPLATE_KEEP_NEWLINE } };
	size_t colon = str_find_char(part, ':');
	struct str key = str_trim(str_sub(part, 0, colon)),
		   word = str_trim(colon == SIZE_MAX ? STR("")
						     : str_sub(part, colon + 1, SIZE_MAX));
	bool on = str_eq_nocase(word, STR("true"));

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_eqc(key, names[i].name))
			continue;
		if (!on && !str_eq_nocase(word, STR("false")))
			return err_set(e, ERR_SPEC, "template option %s is True or False",
				       names[i].name);
		*flags = on ? *flags | names[i].flag : *flags & ~names[i].flag;
		return 0;
	}
	err_set(e, ERR_SPEC, "template option \"" STR_FMT "\" is not supported", STR_ARG(key));
	return err_hint(e, "trim_blocks, lstrip_blocks and keep_trailing_newline are");
}

int template_header(struct template *t, unsigned *flags, struct err *e)
{
	struct str line, rest, part;

	if (!str_starts(t->text, "#jinja2:"))
		return 0;
	size_t end = str_find_char(t->text, '\n');
	line = str_sub(t->text, 0, end);
	rest = str_sub(line, strlen("#jinja2:"), SIZE_MAX);
	while (rest.n && str_next(&rest, ',', &part))
		if (str_trim(part).n && header_option(part, flags, e) < 0)
			return err_at(e, t->where);
	t->text = end == SIZE_MAX ? STR("") : str_sub(t->text, end + 1, SIZE_MAX);
	t->where.line++;
	return 0;
}

/* ---- names ---------------------------------------------------------------------------------- */

struct names {
	struct map *out;
	struct map bound; /* by set and for, anywhere: a name that is both is counted as bound */
};

static void collect_bound(struct names *w, const struct node *n);

static void bind_target(struct names *w, const struct node *target)
{
	if (target->kind == N_NAME)
		map_put(&w->bound, target->name, w);
	for (size_t i = 0; i < target->kids.n; i++)
		bind_target(w, target->kids.v[i]);
}

/* What a macro or {% call %} gives names to; what an import does. */
static void bind_params(struct names *w, const struct node *n)
{
	static const char *const given[] = { "varargs", "kwargs", "caller" };

	for (size_t i = 0; i < n->params.n; i++)
		map_put(&w->bound, n->kind == N_IMPORT ? n->params.v[i].as : n->params.v[i].name,
			w);
	for (size_t i = 0; n->kind != N_IMPORT && i < ARRAY_LEN(given); i++)
		map_put(&w->bound, str_of(given[i]), w);
	if (n->kind != N_CALLER && n->name.p)
		map_put(&w->bound, n->name, w);
}

static void collect_bound(struct names *w, const struct node *n)
{
	if (!n || n->kind < NODE_FIRST_STATEMENT)
		return;
	if (n->target)
		bind_target(w, n->target);
	if (n->kind == N_FOR)
		map_put(&w->bound, STR("loop"), w);
	if (n->kind == N_BLOCK) {
		map_put(&w->bound, STR("super"), w);
		map_put(&w->bound, STR("self"), w);
	}
	if (n->kind == N_MACRO || n->kind == N_CALLER || n->kind == N_IMPORT)
		bind_params(w, n);
	for (size_t i = 0; n->kind == N_WITH && i < n->kids.n; i += 2)
		bind_target(w, n->kids.v[i]);
	for (size_t i = 0; n->kind != N_WITH && i < n->kids.n; i++)
		collect_bound(w, n->kids.v[i]);
	collect_bound(w, n->right);
	collect_bound(w, n->other);
}

static void collect_names(struct names *w, const struct node *n)
{
	const struct node *parts[5];

	if (!n)
		return;
	if (n->kind == N_NAME && !map_has(&w->bound, n->name))
		map_put(w->out, n->name, w->out);
	/* The name before "(" is a function. */
	parts[0] = n->kind == N_CALL && n->left->kind == N_NAME ? NULL : n->left;
	parts[1] = n->right;
	parts[2] = n->other;
	parts[3] = n->cond;
	parts[4] = n->star;
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		collect_names(w, parts[i]);
	collect_names(w, n->stars);
	for (size_t i = 0; i < n->kids.n; i++)
		collect_names(w, n->kids.v[i]);
	for (size_t i = 0; i < n->kwargs.n; i++)
		collect_names(w, n->kwargs.v[i].value);
	for (size_t i = 0; i < n->params.n; i++)
		collect_names(w, n->params.v[i].value);
}

int template_names(struct arena *a, struct str text, bool is_expression, struct map *names,
		   struct err *e)
{
	struct names w = { .out = names };
	struct pos nowhere = { NULL, 1, 1 };
	struct tree tree = { 0 };

	map_init(&w.bound, a);
	if (is_expression ? parse_expression(a, text, nowhere, &tree.body, e) < 0
			  : parse_template(a, text, nowhere, 0, &tree, e) < 0)
		return -1;
	collect_bound(&w, tree.body);
	collect_names(&w, tree.body);
	return 0;
}

void template_add_function(const char *name, template_function *fn, void *arg)
{
	eval_add_function(name, fn, arg);
}
