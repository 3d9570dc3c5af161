/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two messages are of one cause when they differ only in words that belong to a node: its name, its
 * address, and what has a digit in it, which ids, ports, addresses and sizes have and words don't.
 */
#include "engine/engine.h"

#include <ctype.h>
#include <stdlib.h>

static bool is_word(char ch)
{
	return isalnum((unsigned char)ch) || ch == '-' || ch == '_' || ch == '.';
}

static bool names(struct str word, const char *name)
{
	return name && name[0] && str_eqc(word, name);
}

static bool has_digit(struct str word)
{
	for (size_t i = 0; i < word.n; i++)
		if (isdigit((unsigned char)word.p[i]))
			return true;
	return false;
}

/* "node.web[3]" at p: its length, or 0. */
static size_t address_at(const char *p, const char *addr)
{
	size_t n = addr ? strlen(addr) : 0;

	return n && strncmp(p, addr, n) == 0 && !is_word(p[n]) ? n : 0;
}

/* all: and every word with a digit as "*" */
static void put_words(struct buf *b, const struct node_failure *f, bool all)
{
	const char *msg = f->err.msg;

	for (size_t i = 0; msg[i];) {
		size_t n = address_at(msg + i, f->addr);
		if (!n && !is_word(msg[i])) {
			buf_addc(b, msg[i++]);
			continue;
		}
		bool is_node = n > 0;
		while (!is_node && is_word(msg[i + n]))
			n++;
		while (!is_node && n > 1 && msg[i + n - 1] == '.') /* the end of a sentence */
			n--;
		struct str word = { msg + i, n };
		if (is_node || names(word, f->node))
			buf_adds(b, "NODE");
		else if (all && has_digit(word))
			buf_addc(b, '*');
		else
			buf_addstr(b, word);
		i += n;
	}
}

static const char *words(struct arena *a, const struct node_failure *f, bool all)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 8 * sizeof f->err.msg);
	put_words(&b, f, all);
	return buf_dup(&b, a);
}

static struct cause *cause_new(struct arena *a, const struct node_failure *f)
{
	struct cause *c = arena_obj(a, struct cause);

	c->first = f;
	c->action = f->action;
	c->message = words(a, f, false);
	map_init(&c->pools, a);
	return c;
}

static void count_pool(struct arena *a, struct cause *c, const char *pool)
{
	struct map_entry *en = pool ? map_find(&c->pools, str_of(pool)) : NULL;

	if (!pool)
		return;
	if (!en) {
		map_put(&c->pools, str_of(pool), arena_obj(a, size_t));
		en = map_find(&c->pools, str_of(pool));
	}
	++*(size_t *)en->val;
}

static void add(struct arena *a, struct cause *c, const struct node_failure *f)
{
	if (!c->varies && strcmp(c->message, words(a, f, false)) != 0) {
		c->varies = true;
		c->message = words(a, f, true);
	}
	VEC_ADD(a, &c->nodes) = f->node && f->node[0] ? f->node : f->addr;
	if (c->examples.n < CAUSE_EXAMPLES)
		VEC_ADD(a, &c->examples) = f;
	count_pool(a, c, f->pool);
}

static int most_first(const void *x, const void *y)
{
	const struct cause *const *a = x, *const *b = y;

	if ((*a)->nodes.n != (*b)->nodes.n)
		return (*a)->nodes.n < (*b)->nodes.n ? 1 : -1;
	return ((*a)->place > (*b)->place) - ((*a)->place < (*b)->place);
}

void causes_fold(struct arena *a, const struct apply_result *r, struct causes *out)
{
	struct map by_key;

	*out = (struct causes){ 0 };
	map_init(&by_key, a);
	for (size_t i = 0; i < r->failures.n; i++) {
		const struct node_failure *f = r->failures.v[i];
		scoped(buf_fini) struct buf key = { 0 };
		buf_init(&key, 16 * sizeof f->err.msg);
		buf_addf(&key, "%d %s ", (int)f->err.kind, f->action ? f->action : "");
		put_words(&key, f, true);
		struct cause *c = map_get(&by_key, buf_str(&key));
		if (!c) {
			c = cause_new(a, f);
			c->place = out->v.n;
			map_put(&by_key, buf_str(&key), c);
			VEC_ADD(a, &out->v) = c;
		}
		add(a, c, f);
	}
	if (out->v.n)
		qsort(out->v.v, out->v.n, sizeof out->v.v[0], most_first);
}
