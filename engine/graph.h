/* SPDX-License-Identifier: Apache-2.0 */
/* engine/graph.h - what must come before what: an order of n things under edges, or a cycle. Pure;
 * linear in nodes and edges. */
#ifndef MUSTER_ENGINE_GRAPH_H
#define MUSTER_ENGINE_GRAPH_H

#include "base/base.h"

struct graph_edge {
	size_t before, after;
};

struct graph {
	struct arena *a;
	size_t n;
	VEC(struct graph_edge) edges;
};

struct graph_list {
	VEC(size_t) v;
};

void graph_init(struct graph *g, struct arena *a, size_t n);
/* Twice the same edge is harmless. */
void graph_edge(struct graph *g, size_t before, size_t after);
/* Fills out with all n, each after everything that must come before it; among free ones the smaller
 * number first come first served. False: there is a cycle, and out holds one, in order, first
 * element not repeated. */
bool graph_order(const struct graph *g, struct graph_list *out);

#endif
