/* SPDX-License-Identifier: Apache-2.0 */
/* Failures that differ only in what belongs to the node are one cause. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"

static void failed(struct arena *a, struct apply_result *r, const char *node, enum err_kind kind,
		   const char *msg)
{
	struct node_failure *f = arena_obj(a, struct node_failure);

	*f = (struct node_failure){
		.addr = arena_printf(a, "node.web[%s]", node),
		.node = node,
		.action = "create",
		.pool = strncmp(node, "db", 2) == 0 ? "db" : "web",
	};
	err_set(&f->err, kind, "%s", msg);
	VEC_ADD(a, &r->failures) = f;
}

static void what_differs_in_the_node_is_one_cause(void **unused unused_arg)
{
	/* two nodes each; folded: the message, or NULL: two causes */
	const struct {
		const char *x, *y, *folded;
		bool varies;
	} cases[] = {
		{ "no room", "no room", "no room", false },
		{ "web-1: no", "web-17: no", "NODE: no", false },
		{ "node.web[web-1] is gone", "node.web[web-17] is gone", "NODE is gone", false },
		{ "web-1.", "web-17.", "NODE.", false },
		{ "10 of 10", "10 of 10", "10 of 10", false },
		{ "task \"a\": port 22 refused", "task \"a\": port 23 refused",
		  "task \"a\": port * refused", true },
		{ "10.0.0.1:22 is silent", "10.0.0.9:22 is silent", "*:* is silent", true },
		{ "i-0a3f is broken on web-1", "i-77c0 is broken on web-17", "* is broken on NODE",
		  true },
		{ "web-17 is not web-1", "web-1 is not web-17", "* is not NODE", true },
		{ "the disk is full", "the disk is gone", NULL, false },
		{ "(3)", "(4)", "(*)", true },
		{ "", "", "", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct arena *a = arena_new("test");
		struct apply_result r = { 0 };
		struct causes c;
		failed(a, &r, "web-1", ERR_REMOTE, cases[i].x);
		failed(a, &r, "web-17", ERR_REMOTE, cases[i].y);
		causes_fold(a, &r, &c);
		assert_int_equal(c.v.n, cases[i].folded ? 1 : 2);
		if (cases[i].folded) {
			assert_string_equal(c.v.v[0]->message, cases[i].folded);
			assert_int_equal(c.v.v[0]->varies, cases[i].varies);
			assert_int_equal(c.v.v[0]->nodes.n, 2);
		}
		arena_free(a);
	}
}

static void kinds_and_actions_are_kept_apart(void **unused unused_arg)
{
	struct arena *a = arena_new("test");
	struct apply_result r = { 0 };
	struct causes c;

	failed(a, &r, "web-1", ERR_REMOTE, "no");
	failed(a, &r, "web-2", ERR_AUTH, "no");
	failed(a, &r, "web-3", ERR_AUTH, "no");
	r.failures.v[2]->action = "configure";
	causes_fold(a, &r, &c);
	assert_int_equal(c.v.n, 3);
	arena_free(a);
}

static void most_nodes_first_and_three_examples(void **unused unused_arg)
{
	struct arena *a = arena_new("test");
	struct apply_result r = { 0 };
	struct causes c;

	failed(a, &r, "web-0", ERR_AUTH, "not allowed");
	for (int i = 1; i <= 20; i++)
		failed(a, &r, arena_printf(a, i % 4 ? "web-%d" : "db-%d", i), ERR_CAPACITY,
		       arena_printf(a, "no room in zone z%d for NODE", i % 5));
	failed(a, &r, "web-21", ERR_REMOTE, "broken");
	causes_fold(a, &r, &c);
	assert_int_equal(c.v.n, 3);
	assert_int_equal(c.v.v[0]->nodes.n, 20);
	assert_true(c.v.v[0]->varies);
	assert_string_equal(c.v.v[0]->message, "no room in zone * for NODE");
	assert_int_equal(c.v.v[0]->examples.n, CAUSE_EXAMPLES);
	assert_string_equal(c.v.v[0]->examples.v[1]->node, "web-2");
	assert_int_equal(*(size_t *)map_getc(&c.v.v[0]->pools, "web"), 15);
	assert_int_equal(*(size_t *)map_getc(&c.v.v[0]->pools, "db"), 5);
	assert_string_equal(c.v.v[1]->first->node, "web-0"); /* equal counts: as they failed */
	assert_string_equal(c.v.v[2]->first->node, "web-21");
	arena_free(a);
}

static void what_is_no_node_has_its_address(void **unused unused_arg)
{
	struct arena *a = arena_new("test");
	struct apply_result r = { 0 };
	struct node_failure net = { .addr = "cloud.network.main", .action = "create" };
	struct causes c;

	err_set(&net.err, ERR_QUOTA, "cloud.network.main: no");
	VEC_ADD(a, &r.failures) = &net;
	causes_fold(a, &r, &c);
	assert_string_equal(c.v.v[0]->nodes.v[0], "cloud.network.main");
	assert_string_equal(c.v.v[0]->message, "NODE: no");
	assert_int_equal(c.v.v[0]->pools.n, 0);
	arena_free(a);
}

static void ten_thousand_failures_are_linear(void **unused unused_arg)
{
	for (int n = 1000; n <= 10000; n *= 10) {
		struct arena *a = arena_new("test");
		struct apply_result r = { 0 };
		struct causes c;
		for (int i = 0; i < n; i++) {
			const char *node = arena_printf(a, "web-%d", i);
			failed(a, &r, node, ERR_CAPACITY,
			       arena_printf(a, "no room for %s in rack %c", node, 'a' + i % 26));
		}
		int64_t began = clock_now();
		causes_fold(a, &r, &c);
		printf("# %d failures: %lld ms\n", n, (long long)(clock_now() - began));
		assert_int_equal(c.v.n, 26);
		arena_free(a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_differs_in_the_node_is_one_cause),
		cmocka_unit_test(kinds_and_actions_are_kept_apart),
		cmocka_unit_test(most_nodes_first_and_three_examples),
		cmocka_unit_test(what_is_no_node_has_its_address),
		cmocka_unit_test(ten_thousand_failures_are_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
