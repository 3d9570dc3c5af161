/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view_causes.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/view.h"

#define CAUSES_SHOWN 20 /* the others are in the record of the run */

static int by_name(const void *x, const void *y)
{
	const struct map_entry *a = x, *b = y;

	return hostlist_compare(a->key.p, b->key.p);
}

static void put_pools(struct arena *a, struct buf *b, const struct cause *why)
{
	struct map_entry *v = arena_array(a, struct map_entry, why->pools.n + 1);

	if (!why->pools.n)
		return;
	memcpy(v, why->pools.e, why->pools.n * sizeof *v);
	qsort(v, why->pools.n, sizeof *v, by_name);
	buf_adds(b, "  pool      ");
	for (size_t i = 0; i < why->pools.n; i++)
		buf_addf(b, "%s" STR_FMT " (%zu)", i ? ", " : "", STR_ARG(v[i].key),
			 *(size_t *)v[i].val);
	buf_addc(b, '\n');
}

static void put_examples(struct buf *b, const struct cause *why)
{
	if (!why->varies)
		return;
	for (size_t i = 0; i < why->examples.n; i++) {
		const struct node_failure *f = why->examples.v[i];
		buf_addf(b, "  %-9s %s: ", i ? "" : "such as",
			 f->node && f->node[0] ? f->node : f->addr);
		view_plain(b, str_of(f->err.msg));
		buf_addc(b, '\n');
	}
}

static void show(struct cli *c, const struct cause *why)
{
	scoped(buf_fini) struct buf more = { 0 };
	struct err e = why->first->err;

	if (why->nodes.n < 2) {
		view_error(c, &e);
		return;
	}
	buf_init(&more, BUF_MAX_DEFAULT);
	put_pools(c->a, &more, why);
	put_examples(&more, why);
	snprintf(e.msg, sizeof e.msg, "%zu nodes: %s", why->nodes.n, why->message);
	e.addr[0] = e.request[0] = '\0';
	if (why->varies)
		e.pos = (struct pos){ 0 };
	view_error_of(c, &e, view_fold(c->a, why->nodes.v, why->nodes.n), buf_str(&more));
}

void view_causes(struct cli *c, const struct causes *causes, const struct apply_result *r)
{
	for (size_t i = 0; i < causes->v.n && i < CAUSES_SHOWN; i++)
		show(c, causes->v.v[i]);
	if (causes->v.n > CAUSES_SHOWN)
		view_notef(c, "... and %zu other causes; muster history %s tells them all\n",
			   causes->v.n - CAUSES_SHOWN, r->run);
	if (r->failures.n > 1)
		view_notef(c, "%zu errors\n", r->failures.n);
	for (size_t i = 0; i < r->held.n; i++) {
		const struct nodes_held *h = r->held.v[i];
		view_notef(c, "%s%s%s%zu node%s left alone: %s\n", h->pool ? "pool " : "",
			   h->pool ? h->pool : "", h->pool ? ": " : "", h->nodes,
			   h->nodes == 1 ? " was" : "s were", h->reason);
	}
}

struct value *view_causes_value(struct arena *a, const struct causes *causes)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < causes->v.n; i++) {
		const struct cause *why = causes->v.v[i];
		struct value *v = value_map(a), *pools = value_map(a), *examples = value_list(a);
		value_set(v, "kind", value_cstr(a, err_kind_name(why->first->err.kind)));
		value_set(v, "action", value_cstr(a, why->action ? why->action : ""));
		value_set(v, "message", value_cstr(a, why->message));
		value_set(v, "count", value_int(a, (int64_t)why->nodes.n));
		value_set(v, "nodes", value_cstr(a, view_fold(a, why->nodes.v, why->nodes.n)));
		for (size_t k = 0; k < why->pools.n; k++)
			value_sets(pools, why->pools.e[k].key,
				   value_int(a, (int64_t) * (size_t *)why->pools.e[k].val));
		value_set(v, "pools", pools);
		for (size_t k = 0; why->varies && k < why->examples.n; k++)
			value_add(a, examples, view_error_value(a, &why->examples.v[k]->err));
		value_set(v, "examples", examples);
		value_add(a, l, v);
	}
	return l;
}

struct value *view_held_value(struct arena *a, const struct apply_result *r)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < r->held.n; i++) {
		const struct nodes_held *h = r->held.v[i];
		struct value *v = value_map(a);
		if (h->pool)
			value_set(v, "pool", value_cstr(a, h->pool));
		value_set(v, "nodes", value_int(a, (int64_t)h->nodes));
		value_set(v, "reason", value_cstr(a, h->reason));
		value_add(a, l, v);
	}
	return l;
}
