/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kill -9 at every write of the state, every call to the provider and every step's moments: the
 * next run ends as if nothing had happened. How many points a run of this program takes: crash.c.
 */
#include "crash.h"

#define WEB(n, image, size) \
	"  web: {provider: cloud, count: " #n ", image: " image ", machine: " size "}\n"
#define GPU(n) "  gpu: {provider: cloud, count: " #n ", image: debian-12}\n"

static const struct crash create = {
	.name = "create",
	.after = WEB(3, "debian-12", "small") GPU(2),
	.act = crash_apply,
};
static const struct crash update = {
	.name = "update",
	.before = WEB(4, "debian-12", "small"),
	.after = WEB(4, "debian-12", "large"),
	.act = crash_apply,
};
static const struct crash replace = {
	.name = "replace",
	.before = WEB(3, "debian-12", "small"),
	.after = WEB(3, "debian-13", "small"),
	.act = crash_apply,
};
static const struct crash pool_gone = {
	.name = "delete",
	.before = WEB(2, "debian-12", "small") GPU(3),
	.after = WEB(2, "debian-12", "small"),
	.act = crash_apply,
};
static const struct crash grow = {
	.name = "grow",
	.before = GPU(2),
	.after = GPU(6),
	.act = crash_apply,
};
static const struct crash shrink = {
	.name = "shrink",
	.before = GPU(6),
	.after = GPU(2),
	.act = crash_apply,
};
/* web grows and is resized, gpu goes, fresh comes. */
static const struct crash mixed = {
	.name = "all at once",
	.before = WEB(3, "debian-12", "small") GPU(2),
	.after = WEB(4, "debian-12",
		     "large") "  fresh: {provider: cloud, count: 2, image: debian-13}\n",
	.act = crash_apply,
};
static const struct crash destroy = {
	.name = "destroy",
	.before = WEB(3, "debian-12", "small") GPU(2),
	.after = WEB(3, "debian-12", "small") GPU(2),
	.act = crash_destroy,
};
/* The spec is applied again over what was left of a destroyed cluster. */
static const struct crash destroy_then_apply = {
	.name = "destroy, then apply",
	.before = WEB(3, "debian-12", "small"),
	.after = WEB(3, "debian-12", "small"),
	.act = crash_destroy,
	.again = crash_apply,
	.finish = crash_apply,
};

#define NET(cidr, n)                                                                 \
	"  web: {provider: cloud, network: main, count: " #n ", image: debian-12}\n" \
	"networks:\n  main: {provider: cloud, cidr: " cidr "}\n"

static const struct crash network = {
	.name = "network with its machines",
	.before = NET("10.1.0.0/16", 2),
	.after = NET("10.2.0.0/16", 3),
	.act = crash_apply,
};
static const struct crash moved = {
	.name = "to another provider",
	.options = "page: 2}\n  other: {type: fake",
	.before = "  web: {provider: cloud, count: 2, image: debian-12}\n",
	.after = "  web: {provider: other, count: 2, image: debian-12}\n",
	.act = crash_apply,
};

/* ---- with other faults at the same time ---- */

static const struct crash lost = {
	.name = "create, replies get lost",
	.options = "lose_reply: 2",
	.after = WEB(4, "debian-12", "small"),
	.act = crash_apply,
};
static const struct crash doubled = {
	.name = "create, requests arrive twice",
	.options = "error_script: [{call: create, twice: true}, {call: update, twice: true}]",
	.after = WEB(3, "debian-12", "small"),
	.act = crash_apply,
};
static const struct crash slow = {
	.name = "create, shown late",
	.options = "settle_ms: 60",
	.settle_ms = 60,
	.before = WEB(1, "debian-12", "small"),
	.after = WEB(2, "debian-12", "large") GPU(2),
	.act = crash_apply,
};

/* ---- something is wrong before ---- */

static void apply_badly(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_APPLY, &r, &e), "%s", e.msg);
	must(r.failed == 2, "%zu failed", r.failed);
}

static void taint_two(struct bed *b)
{
	b->opts.max_failures = (struct count){ .n = 10 };
	bed_run(b, apply_badly);
}

static const struct crash tainted = {
	.name = "what was half made",
	.options = "error_script: [{call: create, match: \"web-[12]\", nth: 1, times: 2, "
		   "error: remote, late: true}]",
	.after = WEB(4, "debian-12", "small"),
	.prepare = taint_two,
	.act = crash_apply,
};

static void kill_in_the_middle(struct bed *b)
{
	assert_true(bed_killed(b, "create.done:3", crash_apply));
}

static const struct crash recover = {
	.name = "recover",
	.before = GPU(1),
	.after = WEB(5, "debian-12", "small") GPU(1),
	.prepare = kill_in_the_middle,
	.act = crash_recover,
	.finish = crash_apply,
};

static void kill_deletes(struct bed *b)
{
	assert_true(bed_killed(b, "call.destroy.reply:2", crash_apply));
}

static const struct crash recover_deletes = {
	.name = "recover deletes",
	.before = WEB(5, "debian-12", "small") GPU(1),
	.after = GPU(1),
	.prepare = kill_deletes,
	.act = crash_recover,
	.finish = crash_apply,
};

/* Somebody works on the cloud by hand. */
static void meddle(struct bed *b)
{
	crash_cloud_sql(b, "UPDATE object SET attrs = replace(attrs, 'small', 'tiny') "
			   "WHERE name = 'web-1'");
	crash_cloud_sql(b, "UPDATE object SET status = 'stopped' WHERE name = 'web-2'");
	crash_cloud_sql(b, "DELETE FROM object WHERE name = 'web-3'");
}

static const struct crash mend = {
	.name = "changed, stopped and deleted outside",
	.before = WEB(4, "debian-12", "small"),
	.after = WEB(4, "debian-12", "small"),
	.prepare = meddle,
	.act = crash_apply,
};
static const struct crash refresh = {
	.name = "refresh",
	.before = WEB(4, "debian-12", "small"),
	.after = WEB(4, "debian-12", "small"),
	.prepare = meddle,
	.act = crash_refresh,
	.finish = crash_apply,
};

static void limit_it(struct bed *b)
{
	b->opts.limit = "web-[1-2]";
}

/* Under a lease of some nodes only. */
static const struct crash limited = {
	.name = "some nodes only",
	.before = WEB(2, "debian-12", "small") GPU(1),
	.after = WEB(4, "debian-12", "large"),
	.prepare = limit_it,
	.act = crash_apply,
};

/* The state forgets two machines: nobody's now. */
static void forget_two(struct bed *b)
{
	struct err e = { 0 };

	must(!lease_take(b->state, NULL, "state rm", &e) &&
		     !state_resource_del(b->state, "node.web[0]", &e) &&
		     !state_resource_del(b->state, "node.web[2]", &e) &&
		     !lease_release(b->state, &e),
	     "%s", e.msg);
}

static void lose_two(struct bed *b)
{
	bed_run(b, forget_two);
}

static const struct crash leftovers = {
	.name = "gc",
	.before = WEB(4, "debian-12", "small"),
	.after = WEB(4, "debian-12", "small"),
	.prepare = lose_two,
	.act = crash_gc_all,
	.finish = crash_apply,
};

static const struct crash *const all[] = {
	&create,
	&update,
	&replace,
	&pool_gone,
	&grow,
	&shrink,
	&mixed,
	&destroy,
	&destroy_then_apply,
	&network,
	&moved,
	&lost,
	&doubled,
	&slow,
	&tainted,
	&recover,
	&recover_deletes,
	&leftovers,
	&mend,
	&refresh,
	&limited,
};

/* ---- tests ---- */

static void killed_anywhere(void **unused unused_arg)
{
	assert_true(crash_kill(all, ARRAY_LEN(all), false) >= 20);
}

static void killed_again(void **unused unused_arg)
{
	assert_true(crash_kill(all, ARRAY_LEN(all), true) >= 20);
}

/* Every door has its points: what is passed is what the run does, and not a point less. */
static void points_are_passed(void **unused unused_arg)
{
	uint64_t few = crash_count(&shrink), many = crash_count(&mixed);

	print_message("# shrink passes %llu points, all at once %llu\n", (unsigned long long)few,
		      (unsigned long long)many);
	assert_true(few > 4 * 8);
	assert_true(many > few);
}

static const char *const named_points[] = {
	"create.before",     "create.intent",	   "create.done",	 "create.settled",
	"update.intent",     "update.done",	   "delete.intent",	 "delete.done",
	"delete.settled",    "call.list.before",   "call.create.before", "call.create.reply",
	"call.update.reply", "call.destroy.reply", "cloud.create.left",	 "cloud.create.effect",
	"state.write",	     "state.commit",	   "state.committed",	 "apply.walked",
};

static void named_points_are_there(void **unused unused_arg)
{
	for (size_t i = 0; i < ARRAY_LEN(named_points); i++) {
		struct bed b;
		char fault[64];

		bed_make(&b);
		bed_spec(&b, "", mixed.before);
		bed_run(&b, crash_apply);
		bed_spec(&b, "", mixed.after);
		snprintf(fault, sizeof fault, "%s:1", named_points[i]);
		if (!bed_killed(&b, fault, crash_apply))
			fail_msg("%s was not passed", named_points[i]);
		bed_run(&b, crash_apply);
		bed_check_converged(&b, 7);
		bed_gone(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_passed),
		cmocka_unit_test(named_points_are_there),
		cmocka_unit_test(killed_anywhere),
		cmocka_unit_test(killed_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
