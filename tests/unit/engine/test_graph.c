/* SPDX-License-Identifier: Apache-2.0 */
/* Orders and cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/graph.h"

static void check_order(const struct graph *g, const struct graph_list *l)
{
	size_t *place = calloc(g->n, sizeof *place);

	assert_int_equal(l->v.n, g->n);
	for (size_t i = 0; i < g->n; i++)
		place[l->v.v[i]] = i + 1;
	for (size_t i = 0; i < g->n; i++)
		assert_true(place[i]);
	for (size_t i = 0; i < g->edges.n; i++)
		assert_true(place[g->edges.v[i].before] < place[g->edges.v[i].after]);
	free(place);
}

static void no_edges_keeps_the_order(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("test");
	struct graph g;
	struct graph_list l = { 0 };

	graph_init(&g, a, 5);
	assert_true(graph_order(&g, &l));
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(l.v.v[i], i);
	graph_init(&g, a, 0);
	assert_true(graph_order(&g, &l));
	assert_int_equal(l.v.n, 0);
}

static void what_is_before_comes_before(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("test");
	struct graph g;
	struct graph_list l = { 0 };

	graph_init(&g, a, 4);
	graph_edge(&g, 3, 0);
	graph_edge(&g, 3, 0); /* twice is harmless */
	graph_edge(&g, 0, 2);
	assert_true(graph_order(&g, &l));
	check_order(&g, &l);
	assert_int_equal(l.v.v[0], 1); /* free from the start, and smaller than 3 */
}

static void random_graphs(void **unused unused_arg)
{
	rand_seed(42);
	for (int round = 0; round < 200; round++) {
		scoped(arena_freep) struct arena *a = arena_new("test");
		struct graph g;
		struct graph_list l = { 0 };
		size_t n = 1 + rand_below(60), *name = arena_array(a, size_t, n);

		for (size_t i = 0; i < n; i++)
			name[i] = i;
		for (size_t i = n; i > 1; i--) {
			size_t k = rand_below(i), x = name[k];
			name[k] = name[i - 1];
			name[i - 1] = x;
		}
		graph_init(&g, a, n);
		for (size_t i = 0; i < 3 * n; i++) {
			size_t x = rand_below(n), y = rand_below(n);
			if (x < y)
				graph_edge(&g, name[x], name[y]);
		}
		assert_true(graph_order(&g, &l));
		check_order(&g, &l);
	}
}

static bool has_edge(const struct graph *g, size_t x, size_t y)
{
	for (size_t i = 0; i < g->edges.n; i++)
		if (g->edges.v[i].before == x && g->edges.v[i].after == y)
			return true;
	return false;
}

static void a_cycle_is_shown(void **unused unused_arg)
{
	rand_seed(7);
	for (int round = 0; round < 200; round++) {
		scoped(arena_freep) struct arena *a = arena_new("test");
		struct graph g;
		struct graph_list l = { 0 };
		size_t n = 2 + rand_below(40), len = 1 + rand_below(n);

		graph_init(&g, a, n);
		for (size_t i = 0; i < len; i++) /* a ring of len, then noise */
			graph_edge(&g, i, (i + 1) % len);
		for (size_t i = 0; i < n; i++)
			graph_edge(&g, rand_below(n), rand_below(n));
		assert_false(graph_order(&g, &l));
		assert_true(l.v.n >= 1 && l.v.n <= n);
		for (size_t i = 0; i < l.v.n; i++)
			assert_true(has_edge(&g, l.v.v[i], l.v.v[(i + 1) % l.v.n]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_edges_keeps_the_order),
		cmocka_unit_test(what_is_before_comes_before),
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(a_cycle_is_shown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
