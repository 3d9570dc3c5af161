/* SPDX-License-Identifier: Apache-2.0 */
/* kill -9 at every point between intent, act and outcome, at each of its passes: the next run
 * converges. */
#include "bed.h"

static const char *const apply_points[] = {
	"create.before", "create.intent", "create.done", "create.settled", "update.intent",
	"update.done",	 "delete.intent", "delete.done", "delete.settled", "apply.walked",
};

static const char pools_before[] =
	"  web: {provider: cloud, count: 3, image: debian-12, machine: small}\n"
	"  old: {provider: cloud, count: 2, image: debian-12}\n";
/* web grows and is resized, old goes, fresh comes. */
static const char pools_after[] =
	"  web: {provider: cloud, count: 4, image: debian-12, machine: large}\n"
	"  fresh: {provider: cloud, count: 2, image: debian-13}\n";

static void apply(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_APPLY, &r, &e), "%s", e.msg);
	must(!r.failed, "%s", r.failures.v[0]->err.msg);
}

static void destroy(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_DESTROY, &r, &e), "%s", e.msg);
	must(!r.failed, "%s", r.failures.v[0]->err.msg);
}

/* The journal is settled by plan_apply itself when nobody did so before. */
static void apply_without_recover(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };
	struct plan *p = bed_plan(b, PLAN_APPLY);

	if (!plan_is_empty(p))
		must(!plan_apply(b->en, b->a, p, "apply", &r, &e), "%s", e.msg);
}

static size_t kill_everywhere(const char *const *points, size_t n, void (*next)(struct bed *b),
			      bool destroys)
{
	size_t kills = 0;

	for (size_t i = 0; i < n; i++) {
		for (int pass = 1; pass < 20; pass++) {
			struct bed b;
			char fault[64];
			bed_make(&b);
			b.opts.parallel = 3;
			bed_spec(&b, "", pools_before);
			bed_run(&b, apply);
			bed_spec(&b, "", pools_after);
			snprintf(fault, sizeof fault, "%s:%d", points[i], pass);
			bool killed = bed_killed(&b, fault, destroys ? destroy : apply);
			kills += killed;
			bed_run(&b, next);
			/* takes a dead lease away, where the plan above was empty */
			bed_run(&b, apply);
			bed_check_converged(&b, 7);
			bed_gone(&b);
			if (!killed)
				break;
		}
	}
	return kills;
}

static void killed_in_apply(void **unused unused_arg)
{
	size_t kills = kill_everywhere(apply_points, ARRAY_LEN(apply_points), apply, false);

	print_message("%zu kills\n", kills);
	assert_true(kills >= 20);
}

static void killed_in_apply_then_planned_at_once(void **unused unused_arg)
{
	assert_true(kill_everywhere(apply_points, ARRAY_LEN(apply_points), apply_without_recover,
				    false) >= 20);
}

static void killed_in_destroy(void **unused unused_arg)
{
	static const char *const points[] = { "delete.intent", "delete.done", "delete.settled",
					      "apply.walked" };

	assert_true(kill_everywhere(points, ARRAY_LEN(points), apply, true) >= 10);
}

/* Killed while it settles what another kill had left. */
static void killed_in_recover(void **unused unused_arg)
{
	struct bed b;
	size_t kills = 0;

	for (int pass = 1; pass < 5; pass++) {
		char fault[64];
		bed_make(&b);
		bed_spec(&b, "", pools_before);
		assert_true(bed_killed(&b, "create.done:3", apply));
		snprintf(fault, sizeof fault, "recover.settle:%d", pass);
		kills += bed_killed(&b, fault, apply);
		bed_run(&b, apply);
		bed_check_converged(&b, 6);
		bed_gone(&b);
	}
	assert_true(kills >= 1);
}

/* Replies get lost as well, so that some creates are done and unknown when the kill comes. */
static void killed_with_lost_replies(void **unused unused_arg)
{
	for (int pass = 1; pass < 8; pass++) {
		struct bed b;
		char fault[64];
		bed_make(&b);
		bed_spec(&b, "lose_reply: 2", pools_before);
		snprintf(fault, sizeof fault, "create.intent:%d", pass);
		bed_killed(&b, fault, apply);
		bed_run(&b, apply);
		bed_check_converged(&b, 6);
		bed_gone(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(killed_in_apply),
		cmocka_unit_test(killed_in_apply_then_planned_at_once),
		cmocka_unit_test(killed_in_destroy),
		cmocka_unit_test(killed_in_recover),
		cmocka_unit_test(killed_with_lost_replies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
