/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of a plan, without acting: what may begin when, what is skipped, what rolls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/steps.h"

struct limits {
	int64_t down, creates, canary;
	bool sees_fleet;
};

static int64_t may_be_down(void *arg, const char *pool unused_arg)
{
	return ((struct limits *)arg)->down;
}

static int64_t canary(void *arg, const char *pool)
{
	return strncmp(pool, "free", 4) == 0 ? 0 : ((struct limits *)arg)->canary;
}

static int64_t creates(void *arg, const char *provider unused_arg)
{
	return ((struct limits *)arg)->creates;
}

static bool sees_fleet(void *arg, const char *pool unused_arg)
{
	return ((struct limits *)arg)->sees_fleet;
}

struct bed {
	struct arena *a;
	struct plan plan;
	struct limits l;
	struct steps s;
};

static struct steps_limits limits_of(struct bed *b)
{
	return (struct steps_limits){ .may_be_down = may_be_down,
				      .canary = canary,
				      .creates = creates,
				      .arg = &b->l,
				      .sees_fleet = sees_fleet };
}

static struct change *add(struct bed *b, enum change_action action, const char *addr)
{
	struct change *c = arena_obj(b->a, struct change);

	*c = (struct change){ .addr = addr,
			      .kind = "machine",
			      .provider = "p",
			      .node = addr,
			      .pool = "web",
			      .action = action,
			      .reason = "" };
	if (strncmp(addr, "net", 3) == 0) {
		c->kind = "network";
		c->node = c->pool = NULL;
	}
	VEC_ADD(b->a, &b->plan.changes) = c;
	return c;
}

static void after(struct bed *b, struct change *c, size_t dep)
{
	VEC_ADD(b->a, &c->deps) = dep;
}

/* Its configuration, once it is made. */
static void then_configured(struct bed *b, const struct change *c)
{
	size_t at = b->plan.changes.n - 1;

	after(b, add(b, CHANGE_CONFIGURE, c->addr), at);
}

static void deleted_after(struct bed *b, struct change *c, size_t first)
{
	VEC_ADD(b->a, &c->undone_first) = first;
}

static void make(struct bed *b)
{
	struct steps_limits l = limits_of(b);
	struct err e = { 0 };

	assert_int_equal(steps_make(b->a, &b->plan, &l, &b->s, &e), 0);
}

/* Takes a step and checks which. */
static size_t expect(struct bed *b, const char *addr, enum step_part part)
{
	size_t i = steps_take(&b->s);

	assert_int_not_equal(i, SIZE_MAX);
	assert_string_equal(b->s.v.v[i].c->addr, addr);
	assert_int_equal(b->s.v.v[i].part, part);
	return i;
}

static void expect_none(struct bed *b)
{
	assert_int_equal(steps_take(&b->s), SIZE_MAX);
}

static void creates_wait_for_their_network(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test") };

	add(&b, CHANGE_CREATE, "net");
	after(&b, add(&b, CHANGE_CREATE, "n0"), 0);
	after(&b, add(&b, CHANGE_CONFIGURE, "n0"), 1);
	make(&b);
	size_t net = expect(&b, "net", PART_MAKE);
	expect_none(&b);
	steps_end(&b.s, net, true);
	size_t n0 = expect(&b, "n0", PART_MAKE);
	expect_none(&b);
	steps_end(&b.s, n0, true);
	steps_end(&b.s, expect(&b, "n0", PART_CONFIGURE), true);
	expect_none(&b);
	assert_int_equal(b.s.running, 0);
	assert_int_equal(steps_skip_rest(&b.s), 0);
	arena_free(b.a);
}

/* Machine away, network away, network again, machine again. */
static void a_replaced_network_takes_its_machines_along(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test") };

	deleted_after(&b, add(&b, CHANGE_REPLACE, "net"), 1);
	after(&b, add(&b, CHANGE_REPLACE, "n0"), 0);
	make(&b);
	steps_end(&b.s, expect(&b, "n0", PART_UNMAKE), true);
	steps_end(&b.s, expect(&b, "net", PART_UNMAKE), true);
	steps_end(&b.s, expect(&b, "net", PART_MAKE), true);
	steps_end(&b.s, expect(&b, "n0", PART_MAKE), true);
	expect_none(&b);
	arena_free(b.a);
}

static void what_stands_on_a_failure_is_skipped(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test") };

	add(&b, CHANGE_CREATE, "net");
	after(&b, add(&b, CHANGE_CREATE, "n0"), 0);
	after(&b, add(&b, CHANGE_CONFIGURE, "n0"), 1);
	add(&b, CHANGE_CREATE, "n1");
	make(&b);
	size_t net = expect(&b, "net", PART_MAKE);
	size_t n1 = expect(&b, "n1", PART_MAKE);
	assert_int_equal(steps_end(&b.s, net, false), 2);
	steps_end(&b.s, n1, true);
	expect_none(&b);
	arena_free(b.a);
}

static void a_provider_makes_so_many_at_a_time(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .creates = 2 } };

	for (int i = 0; i < 4; i++)
		add(&b, CHANGE_CREATE, arena_printf(b.a, "n%d", i));
	add(&b, CHANGE_DELETE, "old"); /* deletes are not counted */
	make(&b);
	size_t first = steps_take(&b.s);
	assert_int_not_equal(steps_take(&b.s), SIZE_MAX);
	assert_int_not_equal(steps_take(&b.s), SIZE_MAX);
	expect_none(&b);
	assert_int_equal(b.s.running, 3);
	steps_end(&b.s, first, true);
	assert_int_not_equal(steps_take(&b.s), SIZE_MAX);
	expect_none(&b);
	arena_free(b.a);
}

static void a_pool_rolls(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 1 } };

	for (int i = 0; i < 3; i++) {
		const char *addr = arena_printf(b.a, "n%d", i);
		add(&b, CHANGE_REPLACE, addr)->in_service = true;
		after(&b, add(&b, CHANGE_CONFIGURE, addr), (size_t)i * 2);
	}
	add(&b, CHANGE_CREATE, "new"); /* serves nobody yet: not held up */
	make(&b);
	size_t old = expect(&b, "n0", PART_UNMAKE);
	size_t fresh = expect(&b, "new", PART_MAKE);
	expect_none(&b);
	steps_end(&b.s, fresh, true);
	expect_none(&b);
	steps_end(&b.s, old, true);
	size_t again = expect(&b, "n0", PART_MAKE);
	expect_none(&b); /* n0 is still down */
	steps_end(&b.s, again, true);
	size_t config = expect(&b, "n0", PART_CONFIGURE);
	expect_none(&b);
	steps_end(&b.s, config, true);
	size_t next = expect(&b, "n1", PART_UNMAKE);
	/* A node that failed stays down: the roll stops there. */
	assert_int_equal(steps_end(&b.s, next, false), 2);
	expect_none(&b);
	assert_int_equal(steps_skip_rest(&b.s), 3);
	arena_free(b.a);
}

/* An update that waits for its network's is as much a disturbance as one that waits for nothing. */
static void a_pool_rolls_behind_its_network(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 1 } };

	add(&b, CHANGE_UPDATE, "net");
	for (int i = 0; i < 2; i++) {
		struct change *c = add(&b, CHANGE_UPDATE, arena_printf(b.a, "n%d", i));
		c->in_service = true;
		after(&b, c, 0);
	}
	make(&b);
	steps_end(&b.s, expect(&b, "net", PART_MAKE), true);
	size_t n0 = expect(&b, "n0", PART_MAKE);
	expect_none(&b);
	steps_end(&b.s, n0, true);
	expect(&b, "n1", PART_MAKE);
	arena_free(b.a);
}

/* Before anything is taken down: a roll could never get to its end. */
static void a_network_that_takes_too_many_along_is_refused(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 1 } };
	struct steps_limits l = limits_of(&b);
	struct err e = { 0 };
	struct change *net = add(&b, CHANGE_REPLACE, "net");

	for (size_t i = 0; i < 2; i++) {
		struct change *c = add(&b, CHANGE_REPLACE, arena_printf(b.a, "n%zu", i));
		c->in_service = true;
		after(&b, c, 0);
		deleted_after(&b, net, 1 + i);
	}
	assert_int_equal(steps_make(b.a, &b.plan, &l, &b.s, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_non_null(strstr(e.msg, "\"web\""));
	assert_non_null(strstr(e.hint, "max_unavailable"));
	b.l.down = 2;
	make(&b);
	arena_free(b.a);
}

/* A failed create holds nobody up: its address will not come. */
static void who_sees_the_fleet_waits_for_new_machines(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .sees_fleet = true } };

	add(&b, CHANGE_CREATE, "n0");
	add(&b, CHANGE_CREATE, "n1");
	after(&b, add(&b, CHANGE_CONFIGURE, "n0"), 0);
	after(&b, add(&b, CHANGE_CONFIGURE, "n1"), 1);
	make(&b);
	size_t n0 = expect(&b, "n0", PART_MAKE), n1 = expect(&b, "n1", PART_MAKE);
	steps_end(&b.s, n0, true);
	expect_none(&b);
	assert_int_equal(steps_end(&b.s, n1, false), 1);
	steps_end(&b.s, expect(&b, "n0", PART_CONFIGURE), true);
	expect_none(&b);
	arena_free(b.a);
}

/* A replaced machine is known by what it had; else a rolling pool would wait for itself. */
static void replaced_machines_are_not_waited_for(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 1, .sees_fleet = true } };

	add(&b, CHANGE_REPLACE, "n0")->in_service = true;
	add(&b, CHANGE_REPLACE, "n1")->in_service = true;
	after(&b, add(&b, CHANGE_CONFIGURE, "n0"), 0);
	after(&b, add(&b, CHANGE_CONFIGURE, "n1"), 1);
	make(&b);
	for (int k = 0; k < 2; k++) {
		const char *addr = k ? "n1" : "n0";
		steps_end(&b.s, expect(&b, addr, PART_UNMAKE), true);
		steps_end(&b.s, expect(&b, addr, PART_MAKE), true);
		steps_end(&b.s, expect(&b, addr, PART_CONFIGURE), true);
	}
	expect_none(&b);
	arena_free(b.a);
}

static void edges_in_a_ring_are_refused(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test") };
	struct steps_limits l = limits_of(&b);
	struct err e = { 0 };

	after(&b, add(&b, CHANGE_CREATE, "n0"), 1);
	after(&b, add(&b, CHANGE_CREATE, "n1"), 0);
	assert_int_equal(steps_make(b.a, &b.plan, &l, &b.s, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	arena_free(b.a);
}

/* ---- canaries ---- */

/* n nodes in service of a pool, each updated and configured. */
static void add_pool(struct bed *b, const char *pool, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *addr = arena_printf(b->a, "%s-%zu", pool, i);
		size_t at = b->plan.changes.n;
		struct change *c = add(b, CHANGE_UPDATE, addr);
		c->in_service = true;
		c->pool = pool;
		struct change *k = add(b, CHANGE_CONFIGURE, addr);
		k->in_service = true;
		k->pool = pool;
		after(b, k, at);
	}
}

/* Both steps of a node, which is the only one that may begin. */
static void expect_node(struct bed *b, const char *addr, bool alone)
{
	size_t i = expect(b, addr, PART_MAKE);

	if (alone)
		expect_none(b);
	steps_end(&b->s, i, true);
	i = expect(b, addr, PART_CONFIGURE);
	if (alone)
		expect_none(b);
	steps_end(&b->s, i, true);
}

static void a_canary_goes_first_and_alone(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 2, .canary = 1 } };

	add_pool(&b, "web", 4);
	make(&b);
	assert_int_equal(steps_take_proof(&b.s), SIZE_MAX);
	expect_node(&b, "web-0", true);
	expect_none(&b); /* done, but not proven */
	size_t pool = steps_take_proof(&b.s);
	assert_string_equal(b.s.pools.v[pool].name, "web");
	assert_int_equal(steps_take_proof(&b.s), SIZE_MAX);
	expect_none(&b);
	assert_int_equal(steps_prove(&b.s, pool, true), 0);
	size_t x = expect(&b, "web-1", PART_MAKE), y = expect(&b, "web-2", PART_MAKE);
	expect_none(&b);
	steps_end(&b.s, y, true);
	steps_end(&b.s, expect(&b, "web-2", PART_CONFIGURE), true);
	size_t z = expect(&b, "web-3", PART_MAKE);
	expect_none(&b);
	steps_end(&b.s, x, true);
	steps_end(&b.s, z, true);
	arena_free(b.a);
}

static void two_canaries_keep_to_max_unavailable(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 1, .canary = 2 } };

	add_pool(&b, "web", 3);
	make(&b);
	expect_node(&b, "web-0", true);
	assert_int_equal(steps_take_proof(&b.s), SIZE_MAX);
	expect_node(&b, "web-1", true);
	assert_int_equal(steps_prove(&b.s, steps_take_proof(&b.s), true), 0);
	expect_node(&b, "web-2", true);
	arena_free(b.a);
}

static void a_failed_canary_stops_its_pool_only(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 1 } };

	add_pool(&b, "web", 3);
	struct change *fresh = add(&b, CHANGE_CREATE, "web-3"); /* of the same pool: not made */
	then_configured(&b, fresh);
	add_pool(&b, "free", 2);
	make(&b);
	size_t bird = expect(&b, "web-0", PART_MAKE);
	/* its own configuration, two steps each of two nodes, and the new one's two */
	assert_int_equal(steps_end(&b.s, bird, false), 1 + 4 + 2);
	assert_int_equal(b.s.pools.v[0].phase, POOL_STOPPED);
	assert_int_equal(steps_left_out(&b.s, 0), 3);
	assert_int_equal(steps_take_proof(&b.s), SIZE_MAX);
	assert_int_equal(b.s.new_machines, 0);
	expect_node(&b, "free-0", false);
	expect_node(&b, "free-1", true);
	expect_none(&b);
	assert_int_equal(steps_skip_rest(&b.s), 0);
	arena_free(b.a);
}

/* What is well after its steps is not always well a minute later. */
static void a_canary_that_sickens_stops_its_pool(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 1 } };

	add_pool(&b, "web", 3);
	make(&b);
	expect_node(&b, "web-0", true);
	assert_int_equal(steps_prove(&b.s, steps_take_proof(&b.s), false), 4);
	expect_none(&b);
	arena_free(b.a);
}

/* Another canary that is half way does not stay there. */
static void a_second_canary_comes_to_its_end(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 3 } };

	add_pool(&b, "web", 5);
	b.l.down = 2;
	make(&b);
	size_t x = expect(&b, "web-0", PART_MAKE), y = expect(&b, "web-1", PART_MAKE);
	expect_none(&b);
	assert_int_equal(steps_end(&b.s, x, false), 1 + 3 * 2); /* the third canary too */
	steps_end(&b.s, y, true);
	steps_end(&b.s, expect(&b, "web-1", PART_CONFIGURE), true);
	expect_none(&b);
	assert_int_equal(b.s.running, 0);
	arena_free(b.a);
}

static void where_nobody_follows_nothing_is_proven(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 5 } };

	add_pool(&b, "web", 2);
	make(&b);
	expect_node(&b, "web-0", false);
	expect_node(&b, "web-1", true);
	assert_int_equal(steps_take_proof(&b.s), SIZE_MAX);
	arena_free(b.a);
}

static void new_nodes_need_no_canary(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 1 } };

	add_pool(&b, "web", 2);
	add(&b, CHANGE_CREATE, "n0")->pool = "web";
	add(&b, CHANGE_CREATE, "n1")->pool = "web";
	make(&b);
	expect(&b, "web-0", PART_MAKE);
	expect(&b, "n0", PART_MAKE);
	expect(&b, "n1", PART_MAKE);
	expect_none(&b);
	arena_free(b.a);
}

/* The node that failed in an earlier run is the canary of this one, and no healthy node is risked
 * while it is down. */
static void the_unwell_go_first(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 1 } };

	for (int with_canary = 0; with_canary < 2; with_canary++) {
		b.plan = (struct plan){ 0 };
		b.l.canary = with_canary;
		add_pool(&b, "web", 3);
		b.plan.changes.v[4]->unwell = b.plan.changes.v[5]->unwell = true;
		make(&b);
		size_t sick = expect(&b, "web-2", PART_MAKE);
		expect_none(&b);
		steps_end(&b.s, sick, true);
		steps_end(&b.s, expect(&b, "web-2", PART_CONFIGURE), true);
		if (with_canary)
			steps_prove(&b.s, steps_take_proof(&b.s), true);
		expect_node(&b, "web-0", true);
		size_t bad = expect(&b, "web-1", PART_MAKE);
		steps_end(&b.s, bad, false);
		expect_none(&b);
	}
	arena_free(b.a);
}

static void what_stays_broken_stops_the_roll(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 2 } };

	add_pool(&b, "web", 4);
	b.plan.changes.v[2]->unwell = b.plan.changes.v[3]->unwell = true;
	make(&b);
	size_t sick = expect(&b, "web-1", PART_MAKE);
	size_t other = expect(&b, "web-0", PART_MAKE); /* one is down: one more may be */
	expect_none(&b);
	steps_end(&b.s, sick, false);
	expect_none(&b);
	steps_end(&b.s, other, true);
	steps_end(&b.s, expect(&b, "web-0", PART_CONFIGURE), true);
	expect(&b, "web-2", PART_MAKE); /* and still only one */
	expect_none(&b);
	arena_free(b.a);
}

/* Or it would wait for machines that wait for the canary. */
static void a_stopped_machine_is_no_new_one(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 1, .sees_fleet = true } };

	add_pool(&b, "web", 1);
	for (int i = 0; i < 2; i++) {
		struct change *c = add(&b, CHANGE_REPLACE, arena_printf(b.a, "dead-%d", i));
		c->unwell = true;
		then_configured(&b, c);
	}
	make(&b);
	for (int i = 0; i < 2; i++) {
		const char *addr = i ? "dead-1" : "dead-0";
		steps_end(&b.s, expect(&b, addr, PART_UNMAKE), true);
		steps_end(&b.s, expect(&b, addr, PART_MAKE), true);
		steps_end(&b.s, expect(&b, addr, PART_CONFIGURE), true);
		if (!i)
			expect_none(&b);
		if (!i)
			steps_prove(&b.s, steps_take_proof(&b.s), true);
	}
	expect_node(&b, "web-0", true);
	arena_free(b.a);
}

static void a_network_leaves_no_canary(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .canary = 1 } };
	struct steps_limits l = limits_of(&b);
	struct err e = { 0 };
	struct change *net = add(&b, CHANGE_REPLACE, "net");

	for (size_t i = 0; i < 2; i++) {
		struct change *c = add(&b, CHANGE_REPLACE, arena_printf(b.a, "n%zu", i));
		c->in_service = true;
		after(&b, c, 0);
		deleted_after(&b, net, 1 + i);
	}
	assert_int_equal(steps_make(b.a, &b.plan, &l, &b.s, &e), -1);
	assert_int_equal(e.kind, ERR_CONFLICT);
	assert_non_null(strstr(e.hint, "update.canary"));
	b.l.canary = 2;
	make(&b);
	arena_free(b.a);
}

/* ---- no room ---- */

static void who_would_find_no_room_is_not_asked_for(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test") };
	size_t nodes = 0;

	for (int i = 0; i < 4; i++) {
		const char *addr = arena_printf(b.a, "n%d", i);
		then_configured(&b, add(&b, CHANGE_CREATE, addr));
	}
	add(&b, CHANGE_CREATE, "other")->pool = "db";
	make(&b);
	size_t n0 = expect(&b, "n0", PART_MAKE);
	size_t other = expect(&b, "other", PART_MAKE);
	size_t n1 = expect(&b, "n1", PART_MAKE);
	steps_end(&b.s, n0, false);
	assert_int_equal(steps_no_room(&b.s, n0, false, &nodes), 4);
	assert_int_equal(nodes, 2);
	steps_end(&b.s, n1, true); /* it runs, and its configuration follows */
	steps_end(&b.s, other, true);
	steps_end(&b.s, expect(&b, "n1", PART_CONFIGURE), true);
	expect_none(&b);
	assert_int_equal(steps_skip_rest(&b.s), 0);
	arena_free(b.a);
}

static void a_quota_is_the_whole_providers(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .creates = 1 } };
	size_t nodes = 0;

	add(&b, CHANGE_CREATE, "n0");
	add(&b, CHANGE_CREATE, "n1")->pool = "db";
	add(&b, CHANGE_CREATE, "n2")->provider = "elsewhere";
	add(&b, CHANGE_REPLACE, "n3")->in_service = true; /* not torn down for nothing */
	make(&b);
	size_t n0 = expect(&b, "n0", PART_MAKE);
	steps_end(&b.s, n0, false);
	assert_int_equal(steps_no_room(&b.s, n0, true, &nodes), 3);
	assert_int_equal(nodes, 2);
	expect(&b, "n2", PART_MAKE);
	expect_none(&b);
	arena_free(b.a);
}

static void what_is_deleted_may_make_room(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .creates = 1 } };
	size_t nodes = 7;

	add(&b, CHANGE_DELETE, "old");
	add(&b, CHANGE_CREATE, "n0");
	add(&b, CHANGE_CREATE, "n1");
	add(&b, CHANGE_CREATE, "n2");
	make(&b);
	size_t old = expect(&b, "old", PART_UNMAKE), n0 = expect(&b, "n0", PART_MAKE);
	steps_end(&b.s, n0, false);
	assert_int_equal(steps_no_room(&b.s, n0, true, &nodes), 0);
	assert_int_equal(nodes, 0);
	steps_end(&b.s, old, true);
	size_t n1 = expect(&b, "n1", PART_MAKE);
	steps_end(&b.s, n1, false);
	assert_int_equal(steps_no_room(&b.s, n1, true, &nodes), 1);
	expect_none(&b);
	arena_free(b.a);
}

static void many_pools_come_to_their_end(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 5, .canary = 2 } };
	const size_t pools = 40, each = 250;
	size_t done = 0, pool;

	for (size_t k = 0; k < pools; k++)
		add_pool(&b, arena_printf(b.a, "p%zu", k), each);
	int64_t began = clock_now();
	make(&b);
	for (;;) {
		size_t i;
		while ((pool = steps_take_proof(&b.s)) != SIZE_MAX)
			assert_int_equal(steps_prove(&b.s, pool, true), 0);
		i = steps_take(&b.s);
		if (i == SIZE_MAX)
			break;
		steps_end(&b.s, i, true);
		done++;
	}
	printf("# 10,000 nodes in 40 pools: %lld ms\n", (long long)(clock_now() - began));
	assert_int_equal(done, pools * each * 2);
	arena_free(b.a);
}

static void ten_thousand_nodes_come_to_their_end(void **unused unused_arg)
{
	struct bed b = { .a = arena_new("test"), .l = { .down = 100, .creates = 50 } };
	const size_t n = 10000;
	size_t running[64], n_running = 0, done = 0;

	add(&b, CHANGE_CREATE, "net");
	for (size_t i = 0; i < n; i++) {
		const char *addr = arena_printf(b.a, "n%zu", i);
		struct change *c = add(&b, i % 2 ? CHANGE_REPLACE : CHANGE_CREATE, addr);
		c->in_service = i % 2;
		VEC_ADD(b.a, &c->deps) = 0;
		after(&b, add(&b, CHANGE_CONFIGURE, addr), 1 + 2 * i);
	}
	make(&b);
	for (;;) {
		size_t i = n_running < 64 ? steps_take(&b.s) : SIZE_MAX;
		if (i != SIZE_MAX) {
			running[n_running++] = i;
			continue;
		}
		if (!n_running)
			break;
		steps_end(&b.s, running[--n_running], true);
		done++;
	}
	assert_int_equal(done, 1 + 2 * n + n / 2);
	arena_free(b.a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(creates_wait_for_their_network),
		cmocka_unit_test(a_replaced_network_takes_its_machines_along),
		cmocka_unit_test(what_stands_on_a_failure_is_skipped),
		cmocka_unit_test(a_provider_makes_so_many_at_a_time),
		cmocka_unit_test(a_pool_rolls),
		cmocka_unit_test(a_pool_rolls_behind_its_network),
		cmocka_unit_test(a_network_that_takes_too_many_along_is_refused),
		cmocka_unit_test(who_sees_the_fleet_waits_for_new_machines),
		cmocka_unit_test(replaced_machines_are_not_waited_for),
		cmocka_unit_test(edges_in_a_ring_are_refused),
		cmocka_unit_test(a_canary_goes_first_and_alone),
		cmocka_unit_test(two_canaries_keep_to_max_unavailable),
		cmocka_unit_test(a_failed_canary_stops_its_pool_only),
		cmocka_unit_test(a_canary_that_sickens_stops_its_pool),
		cmocka_unit_test(a_second_canary_comes_to_its_end),
		cmocka_unit_test(where_nobody_follows_nothing_is_proven),
		cmocka_unit_test(new_nodes_need_no_canary),
		cmocka_unit_test(the_unwell_go_first),
		cmocka_unit_test(what_stays_broken_stops_the_roll),
		cmocka_unit_test(a_stopped_machine_is_no_new_one),
		cmocka_unit_test(a_network_leaves_no_canary),
		cmocka_unit_test(who_would_find_no_room_is_not_asked_for),
		cmocka_unit_test(a_quota_is_the_whole_providers),
		cmocka_unit_test(what_is_deleted_may_make_room),
		cmocka_unit_test(many_pools_come_to_their_end),
		cmocka_unit_test(ten_thousand_nodes_come_to_their_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
