/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/graph.h"

struct adjacency {
	size_t *first; /* n + 1 offsets into to */
	size_t *to;
	size_t *waiting; /* predecessors not yet placed */
};

void graph_init(struct graph *g, struct arena *a, size_t n)
{
	*g = (struct graph){ .a = a, .n = n };
}

void graph_edge(struct graph *g, size_t before, size_t after)
{
	if (before >= g->n || after >= g->n)
		bug("graph edge %zu -> %zu outside %zu nodes", before, after, g->n);
	VEC_ADD(g->a, &g->edges) = (struct graph_edge){ before, after };
}

static struct adjacency adjacency_make(const struct graph *g)
{
	struct adjacency d = {
		.first = arena_array(g->a, size_t, g->n + 2),
		.to = arena_array(g->a, size_t, g->edges.n + 1),
		.waiting = arena_array(g->a, size_t, g->n + 1),
	};

	for (size_t i = 0; i < g->edges.n; i++) {
		d.first[g->edges.v[i].before + 2]++;
		d.waiting[g->edges.v[i].after]++;
	}
	for (size_t i = 2; i < g->n + 2; i++)
		d.first[i] += d.first[i - 1];
	/* first[x + 1] is where x's next edge goes; when all are in, it has become the start of x
	 * + 1. */
	for (size_t i = 0; i < g->edges.n; i++)
		d.to[d.first[g->edges.v[i].before + 1]++] = g->edges.v[i].after;
	return d;
}

/* Everything still waiting lies on a cycle or behind one; walking backwards through waiting nodes
 * must meet a node again. */
static void find_cycle(const struct graph *g, const struct adjacency *d, struct graph_list *out)
{
	size_t *from = arena_array(g->a, size_t, g->n);
	size_t *step = arena_array(g->a, size_t, g->n);
	size_t at = SIZE_MAX, n = 0;

	for (size_t i = 0; i < g->edges.n; i++)
		if (d->waiting[g->edges.v[i].before] && d->waiting[g->edges.v[i].after])
			from[g->edges.v[i].after] = g->edges.v[i].before;
	for (size_t i = 0; i < g->n && at == SIZE_MAX; i++)
		if (d->waiting[i])
			at = i;
	while (!step[at]) {
		step[at] = ++n;
		at = from[at];
	}
	size_t end = at;
	out->v.n = 0;
	do {
		VEC_ADD(g->a, &out->v) = at;
		at = from[at];
	} while (at != end);
	for (size_t i = 0, k = out->v.n - 1; i < k; i++, k--) {
		size_t x = out->v.v[i];
		out->v.v[i] = out->v.v[k];
		out->v.v[k] = x;
	}
}

bool graph_order(const struct graph *g, struct graph_list *out)
{
	struct adjacency d = adjacency_make(g);

	out->v.n = 0;
	for (size_t i = 0; i < g->n; i++)
		if (!d.waiting[i])
			VEC_ADD(g->a, &out->v) = i;
	for (size_t at = 0; at < out->v.n; at++) {
		size_t x = out->v.v[at];
		for (size_t k = d.first[x]; k < d.first[x + 1]; k++)
			if (--d.waiting[d.to[k]] == 0)
				VEC_ADD(g->a, &out->v) = d.to[k];
	}
	if (out->v.n == g->n)
		return true;
	find_cycle(g, &d, out);
	return false;
}
