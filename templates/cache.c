/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All trees lie in one arena, which is emptied when it is full and nobody evaluates. Trees hold
 * places relative to their text, so that equal texts of different files share one.
 */
#include "templates/cache.h"

#include "templates/scope.h"

#define CACHE_MAX  ((size_t)32 << 20) /* bytes of trees */
#define CACHE_TEXT ((size_t)1 << 20)  /* longer texts are parsed each time */

#define SYNTAX_FLAGS \
	((unsigned)(TEMPLATE_KEEP_NEWLINE | TEMPLATE_TRIM_BLOCKS | TEMPLATE_LSTRIP_BLOCKS))
#define EXPRESSION (SYNTAX_FLAGS + 1)

static struct {
	struct arena *a;
	struct map trees[EXPRESSION + 1]; /* by flags: text -> struct tree */
	int users;
} cache;

static bool is_full(void)
{
	return cache.a && arena_bytes(cache.a) > CACHE_MAX;
}

void cache_enter(void)
{
	if (cache.users++ || !is_full())
		return;
	arena_free(cache.a);
	cache.a = NULL;
}

void cache_leave(void)
{
	cache.users--;
}

static struct map *trees_of(unsigned flags)
{
	if (!cache.a) {
		cache.a = arena_new("template trees");
		for (size_t i = 0; i < ARRAY_LEN(cache.trees); i++)
			map_init(&cache.trees[i], cache.a);
	}
	return &cache.trees[flags];
}

static int parse(struct arena *a, struct str text, struct pos where, unsigned flags,
		 struct tree *out, struct err *e)
{
	if (flags != EXPRESSION)
		return parse_template(a, text, where, flags, out, e);
	*out = (struct tree){ .text = text };
	return parse_expression(a, text, where, &out->body, e);
}

static int cached(struct arena *a, struct str text, struct pos where, unsigned flags,
		  struct tree *out, struct err *e)
{
	struct map *trees;
	struct tree *t;

	if (text.n > CACHE_TEXT || is_full() || !cache.users)
		return parse(a, text, where, flags, out, e);
	trees = trees_of(flags);
	t = map_get(trees, text);
	if (!t) {
		struct tree made;
		if (parse(cache.a, str_dup(cache.a, text), where, flags, &made, e) < 0)
			return -1;
		t = arena_obj(cache.a, struct tree);
		*t = made;
		map_put(trees, text, t);
	}
	*out = *t;
	return 0;
}

int cache_template(struct arena *a, struct str text, struct pos where, unsigned flags,
		   struct tree *out, struct err *e)
{
	return cached(a, text, where, flags & SYNTAX_FLAGS, out, e);
}

int cache_expression(struct arena *a, struct str text, struct pos where, struct node **out,
		     struct err *e)
{
	struct tree t;

	if (cached(a, text, where, EXPRESSION, &t, e) < 0)
		return -1;
	*out = t.body;
	return 0;
}
