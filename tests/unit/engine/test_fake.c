/* SPDX-License-Identifier: Apache-2.0 */
/* Whole runs on the fake cloud: make, change, break, mend, destroy; scale. */
#include "bed.h"

#define WEB(n, size) \
	"  web: {provider: cloud, count: " #n ", image: debian-12, machine: " size "}\n"

static struct apply_result result;
static struct err failure;

static void apply_ok(struct bed *b)
{
	result = (struct apply_result){ 0 };
	failure = (struct err){ 0 };
	must(!bed_apply(b, PLAN_APPLY, &result, &failure), "apply: %s", failure.msg);
}

static void destroy_ok(struct bed *b)
{
	must(!bed_apply(b, PLAN_DESTROY, &result, &failure), "destroy: %s", failure.msg);
}

static void nothing_left(struct bed *b)
{
	struct plan *p = bed_plan(b, PLAN_DESTROY);

	must(plan_is_empty(p));
}

static void life_of_a_cluster(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", WEB(3, "small"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.created, 4);
	assert_int_equal(result.failed, 0);
	assert_int_equal(b.events_done, 4);
	bed_check_converged(&b, 4);
	bed_spec(&b, "", WEB(5, "large"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.created, 2);
	assert_int_equal(result.updated, 3);
	bed_check_converged(&b, 6);
	bed_spec(&b, "", WEB(1, "large"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.destroyed, 4);
	bed_check_converged(&b, 2);
	bed_run(&b, destroy_ok);
	assert_int_equal(result.destroyed, 2);
	bed_run(&b, nothing_left);
	bed_gone(&b);
}

static void lost_replies_make_no_doubles(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "lose_reply: 2", WEB(10, "small"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.created, 11);
	bed_check_converged(&b, 11);
	bed_gone(&b);
}

static void throttling_is_waited_out(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(
		&b,
		"error_script: [{call: create, error: busy, nth: 1, times: 5}, {call: list, error: busy, nth: 1, times: 1}]",
		WEB(6, "small"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.created, 7);
	assert_true(b.events_retry >= 5);
	bed_check_converged(&b, 7);
	bed_gone(&b);
}

static void capacity_is_told_for_each_node(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	b.opts.max_failures = (struct count){ .n = 100, .percent = true };
	bed_spec(&b, "capacity: 4", WEB(6, "small"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.created, 5);
	assert_int_equal(result.failed, 2);
	assert_false(result.budget_exceeded);
	bed_spec(&b, "", WEB(6, "small"));
	bed_run(&b, apply_ok);
	assert_int_equal(result.created, 2);
	bed_check_converged(&b, 7);
	bed_gone(&b);
}

static void the_first_failure_stops_the_run(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	b.opts.parallel = 1;
	bed_spec(&b, "error_script: [{call: create, match: web-2, error: remote}]",
		 WEB(6, "small"));
	bed_run(&b, apply_ok);
	assert_true(result.budget_exceeded);
	assert_int_equal(result.created, 3);
	assert_int_equal(result.failed, 1);
	assert_int_equal(result.skipped, 3);
	b.opts.max_failures = (struct count){ .n = 1 };
	bed_run(&b, apply_ok);
	assert_false(result.budget_exceeded);
	assert_int_equal(result.created, 3);
	assert_int_equal(result.failed, 1);
	bed_gone(&b);
}

static void first_stop(void *arg)
{
	struct bed *b = arg;
	struct err e = { 0 };

	must(!task_sleep(120, &e));
	engine_stop(b->en);
}

static void stopped_apply(struct bed *b)
{
	struct group g;
	struct err e = { 0 };

	group_init(&g);
	task_spawn(&g, "stopper", first_stop, b);
	apply_ok(b);
	must(group_wait(&g, &e) == 0);
}

static void second_stop(void *arg)
{
	struct bed *b = arg;
	struct err e = { 0 };

	must(!task_sleep(120, &e));
	engine_stop(b->en);
	engine_abort(b->en);
}

static void aborted_apply(struct bed *b)
{
	struct group g;
	struct err e = { 0 };

	group_init(&g);
	task_spawn(&g, "stopper", second_stop, b);
	apply_ok(b);
	must(group_wait(&g, &e) == 0);
}

static void a_stop_finishes_what_runs_and_an_abort_does_not(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	b.opts.parallel = 2;
	bed_spec(&b, "create_ms: 100", WEB(20, "small"));
	bed_run(&b, stopped_apply);
	assert_true(result.stopped);
	assert_true(result.created >= 1 && result.created <= 5);
	assert_int_equal(result.failed, 0);
	assert_int_equal(result.done + result.skipped, 21);
	bed_run(&b, aborted_apply);
	assert_true(result.stopped);
	assert_true(result.created <= 4);
	assert_int_equal(result.failed, 0);
	bed_spec(&b, "", WEB(20, "small"));
	bed_run(&b, apply_ok);
	bed_check_converged(&b, 21);
	bed_gone(&b);
}

/* ---- what else moves the ground ---- */

static void stale_plan(struct bed *b)
{
	struct plan *p = bed_plan(b, PLAN_APPLY), *back = NULL;
	struct apply_result r;
	struct err e = { 0 };
	const char *path = fs_join(b->a, b->dir, "plan.json");

	must(plan_save(b->en, p, path, &e) == 0);
	must(plan_load(b->en, b->a, path, &back, &e) == 0);
	must(strcmp(back->digest, p->digest) == 0);
	must(plan_verify(b->en, back, &e) == 0);
	must(plan_apply(b->en, b->a, back, "apply", &r, &e) == 0);
	must(r.created == 3);
	must(plan_apply(b->en, b->a, back, "apply", &r, &e) == -1);
	must(e.kind == ERR_CONFLICT);
	must(plan_verify(b->en, back, &e) == -1);
	must(strstr(e.msg, "state"));
}

static void a_saved_plan_is_done_once(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", WEB(2, "small"));
	bed_run(&b, stale_plan);
	bed_check_converged(&b, 3);
	bed_gone(&b);
}

/* ---- scale ---- */

static size_t nodes;
static int64_t plan_ms, apply_ms, again_ms;

static void big(struct bed *b)
{
	struct err e = { 0 };
	int64_t t = clock_now();
	struct plan *p = bed_plan(b, PLAN_APPLY);

	plan_ms = clock_now() - t;
	must(p->add == nodes + 1);
	t = clock_now();
	must(!plan_apply(b->en, b->a, p, "apply", &result, &e), "%s", e.msg);
	apply_ms = clock_now() - t;
	t = clock_now();
	must(plan_is_empty(bed_plan(b, PLAN_APPLY)));
	again_ms = clock_now() - t;
}

static void a_big_fleet_comes_and_is_then_as_the_spec_says(void **unused unused_arg)
{
#ifdef MUSTER_SANITIZE
	const size_t sizes[2] = { 100, 1000 };
#else
	const size_t sizes[2] = { 1000, 10000 };
#endif

	for (size_t i = 0; i < 2; i++) {
		struct bed b;
		char pools[128];
		nodes = sizes[i];
		bed_make(&b);
		b.opts.parallel = 64;
		snprintf(pools, sizeof pools,
			 "  web: {provider: cloud, count: %zu, image: debian-12}\n", nodes);
		bed_spec(&b, "", pools);
		bed_run(&b, big);
		print_message("%zu nodes: plan %lld ms, apply %lld ms, empty plan %lld ms\n", nodes,
			      (long long)plan_ms, (long long)apply_ms, (long long)again_ms);
		assert_int_equal(result.created, nodes + 1);
		bed_gone(&b);
	}
}

/* doors to the cloud and to the state, by a plan of a fleet that is as it should be */
static uint64_t passed;

static void plan_counted(struct bed *b)
{
	fault_arm("count");
	must(plan_is_empty(bed_plan(b, PLAN_APPLY)));
	passed = fault_passes();
	fault_arm(NULL);
}

/* One list a kind, never a call an object: ten times the nodes, the same calls. */
static void a_plan_asks_for_lists_and_not_for_objects(void **unused unused_arg)
{
	uint64_t of_ten = 0;

	for (size_t n = 10; n <= 100; n *= 10) {
		struct bed b;
		char pools[128];
		bed_make(&b);
		snprintf(pools, sizeof pools,
			 "  web: {provider: cloud, count: %zu, image: debian-12}\n", n);
		bed_spec(&b, "", pools);
		bed_run(&b, apply_ok);
		bed_run(&b, plan_counted);
		assert_true(passed > 0);
		if (n == 10)
			of_ten = passed;
		else
			assert_int_equal(passed, of_ten);
		bed_gone(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life_of_a_cluster),
		cmocka_unit_test(lost_replies_make_no_doubles),
		cmocka_unit_test(throttling_is_waited_out),
		cmocka_unit_test(capacity_is_told_for_each_node),
		cmocka_unit_test(the_first_failure_stops_the_run),
		cmocka_unit_test(a_stop_finishes_what_runs_and_an_abort_does_not),
		cmocka_unit_test(a_saved_plan_is_done_once),
		cmocka_unit_test(a_big_fleet_comes_and_is_then_as_the_spec_says),
		cmocka_unit_test(a_plan_asks_for_lists_and_not_for_objects),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
