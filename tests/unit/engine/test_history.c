/* SPDX-License-Identifier: Apache-2.0 */
/* Past runs out of their events: steps, and the chain that a run's length came from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"

static struct arena *a;
static struct state *st;
static struct err err;
static char dir[64];
static const char *run;

#define OK(call)                                            \
	do {                                                \
		err = (struct err){ 0 };                    \
		if (call)                                   \
			fail_msg("%s: %s", #call, err.msg); \
	} while (0)

static int setup(void **data)
{
	(void)data;
	snprintf(dir, sizeof dir, "/tmp/muster-history.XXXXXX");
	a = arena_new("test");
	assert_non_null(mkdtemp(dir));
	OK(state_open(arena_printf(a, "%s/state.db", dir), "t", STATE_CREATE, &st, &err));
	OK(lease_take(st, NULL, "apply", &err));
	OK(state_run_begin(st, a, &(struct state_run){ .command = "apply" }, &run, &err));
	return 0;
}

static int teardown(void **data)
{
	(void)data;
	OK(lease_release(st, &err));
	state_close(st);
	OK(fs_remove_tree(dir, &err));
	arena_free(a);
	return 0;
}

static void step(const char *addr, const char *action, int64_t ms, const char *after,
		 const char *wait)
{
	struct value *v = value_map(a);

	value_set(v, "action", value_cstr(a, action));
	value_set(v, "ms", value_int(a, ms));
	if (after) {
		value_set(v, "after", value_cstr(a, after));
		value_set(v, "wait", value_cstr(a, wait));
	}
	OK(state_event_add(st, NULL, addr, action, v, &err));
}

static struct run_history read_back(void)
{
	struct run_history h;
	struct state_run *r;

	OK(state_run_find(st, a, run, &r, &err));
	OK(engine_history(st, a, r, &h, &err));
	return h;
}

static const char *chain_text(const struct run_history *h)
{
	struct buf b;

	buf_init(&b, 4096);
	for (size_t i = 0; i < h->critical.n; i++)
		buf_addf(&b, "%s%s %s%s", i ? " > " : "", h->critical.v[i]->action,
			 h->critical.v[i]->name, h->critical.v[i]->needed ? "!" : "");
	const char *text = buf_dup(&b, a);
	buf_fini(&b);
	return text;
}

static void chain_is_found_from_its_end(void **data)
{
	(void)data;
	step("cloud.network.main", "create", 50, NULL, NULL);
	step("node.a[0]", "create", 100, "create cloud.network.main", "needs");
	step("node.a[1]", "create", 120, "create cloud.network.main", "needs");
	step("node.a[2]", "create", 90, "create node.a[0]", "turn");
	step("node.a[0]", "configure", 10, "create node.a[0]", "needs");
	step("node.a[2]", "configure", 30, "create node.a[2]", "needs");
	struct run_history h = read_back();
	assert_int_equal(h.steps.n, 6); /* "run begun" is none */
	assert_string_equal(chain_text(&h), "create cloud.network.main > create a-0! > "
					    "create a-2 > configure a-2!");
	assert_int_equal(h.steps.v[1]->took_ms, 100);
	assert_null(h.steps.v[0]->after);
	assert_ptr_equal(h.steps.v[1]->after, h.steps.v[0]);
}

/* A replaced machine: its two steps have one address, and are told apart by their action. */
static void unmade_and_made_again(void **data)
{
	(void)data;
	step("node.a[0]", "delete", 5, NULL, NULL);
	step("node.a[0]", "create", 5, "delete node.a[0]", "needs");
	step("node.a[0]", "configure", 5, "create node.a[0]", "needs");
	struct run_history h = read_back();
	assert_string_equal(chain_text(&h), "delete a-0 > create a-0! > configure a-0!");
}

/* What names a step that never ended, or itself, ends the chain there. */
static void links_that_lead_nowhere(void **data)
{
	(void)data;
	step("node.a[0]", "create", 5, "create node.a[9]", "turn");
	step("node.a[1]", "create", 5, "create node.a[1]", "turn");
	struct run_history h = read_back();
	assert_int_equal(h.critical.n, 1);
	assert_string_equal(h.critical.v[0]->after_text, "create node.a[1]");
	assert_null(h.critical.v[0]->after);
}

static void nothing_recorded(void **data)
{
	(void)data;
	OK(state_event_add(st, NULL, "node.a[0]", "created", NULL, &err)); /* of an older version */
	struct run_history h = read_back();
	assert_int_equal(h.steps.n, 0);
	assert_int_equal(h.critical.n, 0);
	assert_int_equal(h.events.v.n, 2);
}

#define HISTORY_TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		HISTORY_TEST(chain_is_found_from_its_end),
		HISTORY_TEST(unmade_and_made_again),
		HISTORY_TEST(links_that_lead_nowhere),
		HISTORY_TEST(nothing_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
