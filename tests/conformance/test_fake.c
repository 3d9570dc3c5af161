/* SPDX-License-Identifier: Apache-2.0 */
/* The contract, asked of the fake cloud: as it is, slow and throttled, and with scripted faults. */
#include "tests/conformance/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static char dir[] = "/tmp/muster-fake-XXXXXX";

static struct suite fake(const char *options)
{
	return (struct suite){ .type = "fake",
			       .options = options,
			       .state_dir = dir,
			       .self = "/nonexistent",
			       .machine_attrs = "{image: debian-12, machine: small, zone: a}",
			       .changed_attrs = "{image: debian-12, machine: large, zone: a}",
			       .machines = 100 };
}

static void life(void **state unused_arg)
{
	struct suite s = fake("{}");
	suite_run(&s, "one", suite_life);
}

static void slow_life(void **state unused_arg)
{
	struct suite s = fake("{create_ms: 20, update_ms: 10, delete_ms: 10, list_ms: 10}");
	suite_run(&s, "one", suite_life);
}

static void parallel(void **state unused_arg)
{
	struct suite s = fake("{create_ms: 30, delete_ms: 30}");
	suite_run(&s, "one", suite_parallel);
}

static void strangers(void **state unused_arg)
{
	struct suite s = fake("{}");
	suite_run(&s, "one", suite_strangers);
}

static void stands_in(void **state unused_arg)
{
	struct suite s = fake("{ssh: {host: 127.0.0.1, port: 2222, user: root}}");
	suite_run(&s, "one", suite_life);
}

/* ---- faults
 * ------------------------------------------------------------------------------------------- */

static int create(struct suite *s, const char *name, struct resource_want **w,
		  struct resource_seen **seen, struct err *e)
{
	*e = (struct err){ 0 };
	*seen = NULL;
	*w = suite_want(s, "machine", name, s->machine_attrs);
	return suite_type(s, "machine")->create(s->p, s->a, *w, seen, e);
}

/* "No answer" may mean that it happened: find tells, and a repeat makes no second one. */
static void lost_reply(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resource_want *w;
	struct resource_seen *seen, *found = NULL;
	struct resources_seen all = { 0 };
	struct err e;
	CHECK(s, create(s, "gpu-0", &w, &seen, &e) == 0);
	CHECK(s, create(s, "gpu-1", &w, &seen, &e) == -1 && e.kind == ERR_TIMEOUT);
	CHECK(s, e.request[0]);
	CHECK(s, t->find(s->p, s->a, w->token, &found, &e) == 0 && found);
	CHECK(s, t->create(s->p, s->a, w, &seen, &e) == 0);
	CHECK(s, !strcmp(seen->id, found->id));
	CHECK(s, t->list(s->p, s->a, &all, &e) == 0 && all.v.n == 2);
	suite_sweep(s);
}

static void loses_reply(void **state unused_arg)
{
	struct suite by_script =
		fake("{error_script: [{call: create, match: gpu-1, nth: 1, lost: true}]}");
	struct suite by_count = fake("{lose_reply: 2}");
	suite_run(&by_script, "lost", lost_reply);
	suite_run(&by_count, "lost", lost_reply);
}

static void scripted(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resource_want *w;
	struct resource_seen *seen, *found = NULL;
	struct resources_seen all = { 0 };
	struct err e;
	CHECK(s, create(s, "bad-0", &w, &seen, &e) == -1 && e.kind == ERR_CAPACITY);
	CHECK(s, t->find(s->p, s->a, w->token, &found, &e) == 0 && !found);
	CHECK(s, create(s, "good-0", &w, &seen, &e) == 0);
	CHECK(s, create(s, "good-1", &w, &seen, &e) == -1 && e.kind == ERR_BUSY);
	CHECK(s, create(s, "good-1", &w, &seen, &e) == -1 && e.kind == ERR_BUSY);
	CHECK(s, create(s, "good-1", &w, &seen, &e) == 0);
	CHECK(s, t->list(s->p, s->a, &all, &e) == -1 && e.kind == ERR_AUTH);
	CHECK(s, t->list(s->p, s->a, &all, &e) == 0 && all.v.n == 2);
	CHECK(s, t->destroy(s->p, seen->id, &e) == -1 && e.kind == ERR_CONFLICT);
	suite_sweep(s);
}

static void plays_script(void **state unused_arg)
{
	struct suite s = fake(
		"{error_script: [{call: create, match: 'bad-*', error: capacity},"
		" {call: create, match: 'good-*', nth: 2, times: 2, error: busy},"
		" {call: list, nth: 1, error: auth}, {call: destroy, nth: 1, error: conflict}]}");
	suite_run(&s, "script", scripted);
}

static void rooms(struct suite *s)
{
	struct resource_want *w;
	struct resource_seen *seen;
	struct err e;
	for (int i = 0; i < 3; i++)
		CHECK(s, create(s, "m", &w, &seen, &e) == 0);
	CHECKF(s,
	       create(s, "m", &w, &seen, &e) == -1 &&
		       (e.kind == ERR_CAPACITY || e.kind == ERR_QUOTA),
	       "%s", e.msg);
	CHECK(s, (e.kind == ERR_CAPACITY) == !strcmp(s->options, "{capacity: 3}"));
	suite_sweep(s);
}

static void has_room_for(void **state unused_arg)
{
	struct suite capacity = fake("{capacity: 3}"), quota = fake("{quota: 3}");
	suite_run(&capacity, "room", rooms);
	suite_run(&quota, "room", rooms);
}

static void hurry(struct suite *s)
{
	struct resource_want *w;
	struct resource_seen *seen;
	struct err e;
	int busy = 0, done = 0;
	for (int i = 0; i < 30; i++) {
		if (create(s, "m", &w, &seen, &e) == 0)
			done++;
		else if (e.kind == ERR_BUSY)
			busy++;
	}
	CHECKF(s, done >= 5 && done <= 10 && busy + done == 30, "%d made, %d busy", done, busy);
	CHECK(s, task_sleep(1100, &e) == 0);
	CHECK(s, create(s, "m", &w, &seen, &e) == 0);
}

static void is_throttled(void **state unused_arg)
{
	struct suite s = fake("{throttle_per_s: 5}"), calm = fake("{}");
	suite_run(&s, "hurry", hurry);
	suite_run(&calm, "hurry", suite_sweep);
}

/* ---- clusters, size
 * ----------------------------------------------------------------------------------- */

static void leave_one(struct suite *s)
{
	struct resource_want *w;
	struct resource_seen *seen;
	struct err e;
	CHECK(s, create(s, "m", &w, &seen, &e) == 0);
}

static void sees_none(struct suite *s)
{
	struct resources_seen all = { 0 };
	struct err e = { 0 };
	CHECK(s, suite_type(s, "machine")->list(s->p, s->a, &all, &e) == 0 && all.v.n == 0);
}

static void clusters_are_apart(void **state unused_arg)
{
	struct suite s = fake("{}");
	suite_run(&s, "left", leave_one);
	suite_run(&s, "right", sees_none);
	suite_run(&s, "left", suite_sweep);
}

#define MANY 10000

static void make_many(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resources_seen all = { 0 };
	struct resource_want *w;
	struct resource_seen *seen;
	struct err e;
	int64_t since = clock_now();
	for (int i = 0; i < MANY; i++)
		CHECKF(s, create(s, "m", &w, &seen, &e) == 0, "%s", e.msg);
	int64_t made = clock_now();
	CHECK(s, t->list(s->p, s->a, &all, &e) == 0 && all.v.n == MANY);
	print_message("# %d fake machines made in %lld ms, listed in %lld ms\n", MANY,
		      (long long)(made - since), (long long)(clock_now() - made));
	CHECK(s, clock_now() - since < 60000);
	suite_sweep(s);
}

static void holds_many(void **state unused_arg)
{
	struct suite s = fake("{}");
	suite_run(&s, "many", make_many);
}

static int set_up(void **state unused_arg)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state unused_arg)
{
	struct err e = { 0 };
	return fs_remove_tree(dir, &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life),		cmocka_unit_test(slow_life),
		cmocka_unit_test(parallel),	cmocka_unit_test(strangers),
		cmocka_unit_test(stands_in),	cmocka_unit_test(loses_reply),
		cmocka_unit_test(plays_script), cmocka_unit_test(has_room_for),
		cmocka_unit_test(is_throttled), cmocka_unit_test(clusters_are_apart),
		cmocka_unit_test(holds_many),
	};
	return cmocka_run_group_tests_name("conformance fake", tests, set_up, tear_down);
}
