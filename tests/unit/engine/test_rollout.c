/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a change goes over a fleet when things fail: canaries, the failure budget, what is left for
 * the next run, and calls that an endpoint refuses. Whole runs on the fake cloud; what the cloud
 * was asked is read from its own counters.
 */
#include "bed.h"

#include <sqlite3.h>

/* ---- what the cloud counted ---- */

static int64_t counted(struct bed *b, const char *sql)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;
	char path[256];
	int64_t n;

	snprintf(path, sizeof path, "%s/state/fake-cloud.db", b->dir);
	must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
	must(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
	n = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

/* By a row of `error_script` that matches all calls of a kind and does nothing to them. */
#define COUNT_CREATES "{call: create, nth: 1000000}"
#define ROW(i)	      "SELECT n FROM counter WHERE name = 'script." #i "'"
#define THROTTLED     "SELECT n FROM counter WHERE name = 'throttled'"
#define REQUESTS      "SELECT n FROM counter WHERE name = 'requests'"
#define LARGE	      "SELECT count(*) FROM object WHERE attrs LIKE '%\"large\"%'"

static void apply(struct bed *b, struct apply_result *r)
{
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_APPLY, r, &e), "%s", e.msg);
}

static void apply_well(struct bed *b)
{
	struct apply_result r;

	apply(b, &r);
	must(!r.failed && !r.skipped, "%zu failed, %zu skipped: %s", r.failed, r.skipped,
	     r.failures.n ? r.failures.v[0]->err.msg : "");
}

/* ---- events ---- */

struct wave_log {
	size_t canary, soak, rest, stopped, no_room;
	size_t halved, recovered, retries;
	char last[256];
};
static struct wave_log heard;

static void listen(void *arg unused_arg, const struct engine_event *ev)
{
	struct str phase = value_get_str(ev->data, "phase", "");
	struct str state = value_get_str(ev->data, "state", "");

	if (strcmp(ev->type, "wave") == 0) {
		heard.canary += str_eqc(phase, "canary");
		heard.soak += str_eqc(phase, "soak");
		heard.rest += str_eqc(phase, "rest");
		heard.stopped += str_eqc(phase, "stopped");
		heard.no_room += str_eqc(phase, "no_room");
		snprintf(heard.last, sizeof heard.last, "%s", ev->text);
	}
	if (strcmp(ev->type, "rate") == 0) {
		heard.halved += str_eqc(state, "halved");
		heard.recovered += str_eqc(state, "recovered");
	}
	heard.retries += strcmp(ev->type, "retry") == 0;
}

static void attend(struct bed *b)
{
	heard = (struct wave_log){ 0 };
	must(b->en != NULL);
	engine_close(b->en);
	b->opts.on_event = listen;
	b->opts.arg = b;
	struct err e = { 0 };
	must(!engine_open(b->a, &b->opts, &b->en, &e), "%s", e.msg);
}

/* ---- canaries ---- */

#define SMALL                                                                    \
	"  web: {provider: cloud, count: 6, image: debian-12, machine: small}\n" \
	"  db: {provider: cloud, count: 3, image: debian-12, machine: small}\n"
#define GROWN                                                                    \
	"  web: {provider: cloud, count: 6, image: debian-12, machine: large,\n" \
	"        update: {canary: 1, max_unavailable: 2, soak: 20ms}}\n"         \
	"  db: {provider: cloud, count: 3, image: debian-12, machine: large}\n"

static void canary_well_main(struct bed *b)
{
	attend(b);
	apply_well(b);
	must(heard.canary == 1 && heard.soak == 1 && heard.rest == 1 && heard.stopped == 0);
	must(strstr(heard.last, "5 nodes, 2 at a time") != NULL, "%s", heard.last);
}

static void a_canary_that_is_well_is_followed(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", SMALL);
	bed_run(&b, apply_well);
	bed_spec(&b, "", GROWN);
	bed_run(&b, canary_well_main);
	bed_check_converged(&b, 10);
	assert_int_equal(counted(&b, LARGE), 9);
	bed_gone(&b);
}

static void canary_fails_main(struct bed *b)
{
	struct apply_result r;

	attend(b);
	apply(b, &r);
	must(r.failed == 1 && r.skipped == 5 && r.updated == 3, "%zu %zu %zu", r.failed, r.skipped,
	     r.updated);
	must(!r.budget_exceeded); /* no failure was allowed, and the other pool went on */
	must(r.held.n == 1 && r.held.v[0]->nodes == 5);
	must(strcmp(r.held.v[0]->pool, "web") == 0);
	must(strstr(r.held.v[0]->reason, "web-0") != NULL, "%s", r.held.v[0]->reason);
	must(heard.canary == 1 && heard.stopped == 1 && heard.rest == 0);
}

static void a_canary_that_fails_is_not_followed(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", SMALL);
	bed_run(&b, apply_well);
	bed_spec(&b, "error_script: [{call: update, match: web-0, error: remote}]", GROWN);
	bed_run(&b, canary_fails_main);
	assert_int_equal(counted(&b, LARGE), 3);
	bed_spec(&b, "", GROWN);
	bed_run(&b, canary_well_main);
	bed_check_converged(&b, 10);
	bed_gone(&b);
}

#define NEWER                                                                    \
	"  web: {provider: cloud, count: 6, image: debian-13, machine: small,\n" \
	"        update: {canary: 1, soak: 20ms}}\n"                             \
	"  db: {provider: cloud, count: 3, image: debian-12, machine: small}\n"

static void canary_sickens_main(struct bed *b)
{
	struct apply_result r;

	attend(b);
	apply(b, &r);
	must(r.failed == 1 && strcmp(r.failures.v[0]->action, "canary") == 0);
	must(strstr(r.failures.v[0]->err.msg, "gone from the provider") != NULL, "%s",
	     r.failures.v[0]->err.msg);
	must(strcmp(r.failures.v[0]->node, "web-0") == 0, "%s", r.failures.v[0]->node);
	/* two steps each */
	must(r.skipped == 10 && r.destroyed == 1 && r.created == 1, "%zu %zu", r.skipped,
	     r.created);
	must(heard.soak == 1 && heard.stopped == 1 && heard.rest == 0);
}

/* It was answered that it is made, and a moment later it is gone. */
static void a_canary_that_vanishes_is_not_followed(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", SMALL);
	bed_run(&b, apply_well);
	bed_spec(&b, "error_script: [{call: create, match: web-0, vanish: true}]", NEWER);
	bed_run(&b, canary_sickens_main);
	bed_spec(&b, "", NEWER);
	bed_run(&b, apply_well);
	bed_check_converged(&b, 10);
	bed_gone(&b);
}

/* ---- the budget, and the next run ---- */

#define TWENTY "  web: {provider: cloud, count: 20, image: debian-12}\n"

static void five_fail_main(struct bed *b)
{
	struct apply_result r;

	attend(b);
	apply(b, &r);
	must(r.failed == 5 && r.created == 16 && !r.budget_exceeded, "%zu failed, %zu created",
	     r.failed, r.created); /* and the network */
}

static void only_what_is_left_is_done_again(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	b.opts.max_failures = (struct count){ 25, true };
	bed_spec(&b,
		 "error_script: [{call: create, match: 'web-[37]', error: remote}, "
		 "{call: create, match: 'web-1[012]', error: remote}]",
		 TWENTY);
	bed_run(&b, five_fail_main);
	bed_spec(&b, "error_script: [" COUNT_CREATES "]", TWENTY);
	int64_t before = counted(&b, ROW(0));
	bed_run(&b, apply_well);
	assert_int_equal(counted(&b, ROW(0)) - before, 5);
	bed_check_converged(&b, 21);
	bed_gone(&b);
}

static void over_budget_main(struct bed *b)
{
	struct apply_result r;

	apply(b, &r);
	must(r.budget_exceeded);
	/* one more than may fail, and those that ran then */
	must(r.failed > 2 && r.failed <= 2 + 8 && r.skipped == 20 - r.failed, "%zu, %zu", r.failed,
	     r.skipped);
}

static void the_budget_counts_nodes(void **unused unused_arg)
{
	const struct count budgets[] = { { 2, false }, { 10, true } };

	for (size_t i = 0; i < ARRAY_LEN(budgets); i++) {
		struct bed b;
		bed_make(&b);
		b.opts.max_failures = budgets[i];
		bed_spec(&b, "error_script: [{call: create, match: 'web-*', error: remote}]",
			 TWENTY);
		bed_run(&b, over_budget_main);
		bed_gone(&b);
	}
}

/* ---- no room ---- */

static void no_room_main(struct bed *b)
{
	struct apply_result r;

	attend(b);
	apply(b, &r);
	/* those that ran when the first was refused were refused too */
	must(r.failed >= 1 && r.failed <= 8, "%zu", r.failed);
	must(r.created == 1 + 10, "%zu", r.created);
	must(r.failed + r.skipped == 90, "%zu", r.skipped);
	must(r.held.n == 1 && r.held.v[0]->nodes == r.skipped);
	must(heard.no_room == 1 && heard.retries == 0);
}

static void a_full_cloud_is_not_hammered(void **unused unused_arg)
{
	static const char *const full[] = { "quota: 10", "capacity: 10" };

	for (size_t i = 0; i < ARRAY_LEN(full); i++) {
		struct bed b;
		char options[128];
		bed_make(&b);
		b.opts.max_failures = (struct count){ 100, true };
		snprintf(options, sizeof options, "%s, error_script: [%s]", full[i], COUNT_CREATES);
		bed_spec(&b, options, "  web: {provider: cloud, count: 100, image: debian-12}\n");
		bed_run(&b, no_room_main);
		assert_true(counted(&b, ROW(0)) <= 1 + 10 + 8);
		bed_gone(&b);
	}
}

/* ---- an endpoint that takes fifty calls a second ---- */

#define MANY "  web: {provider: cloud, count: 300, image: debian-12}\n"

static void throttled_main(struct bed *b)
{
	attend(b);
	apply_well(b);
	must(heard.halved >= 1 && heard.halved <= 5, "%zu", heard.halved);
	must(heard.recovered >= 1);
	must(heard.retries == 0, "%zu", heard.retries); /* told once, not for each call */
}

static void few_calls_are_refused(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	b.opts.parallel = 32;
	bed_spec(&b, "throttle_per_s: 50, create_ms: 20", MANY);
	clock_set_virtual(true);
	bed_run(&b, throttled_main);
	printf("# 300 nodes at 50 calls a second: %lld of %lld calls refused, %lld ms\n",
	       (long long)counted(&b, THROTTLED), (long long)counted(&b, REQUESTS),
	       (long long)clock_now());
	assert_true(counted(&b, THROTTLED) > 0);
	assert_true(counted(&b, THROTTLED) < 60);
	assert_true(clock_now() < 60000);
	clock_set_virtual(false);
	bed_gone(&b);
}

static void with_a_ceiling_main(struct bed *b)
{
	attend(b);
	apply_well(b);
	must(heard.halved == 0);
}

static void a_ceiling_keeps_them_all_from_being_refused(void **unused unused_arg)
{
	struct bed b;

	bed_make(&b);
	b.opts.parallel = 32;
	bed_spec(&b, "throttle_per_s: 50, create_ms: 20, rate: 40/s", MANY);
	clock_set_virtual(true);
	bed_run(&b, with_a_ceiling_main);
	assert_int_equal(counted(&b, THROTTLED), 0);
	assert_true(clock_now() >= 7000 && clock_now() < 12000);
	clock_set_virtual(false);
	bed_gone(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_canary_that_is_well_is_followed),
		cmocka_unit_test(a_canary_that_fails_is_not_followed),
		cmocka_unit_test(a_canary_that_vanishes_is_not_followed),
		cmocka_unit_test(only_what_is_left_is_done_again),
		cmocka_unit_test(the_budget_counts_nodes),
		cmocka_unit_test(a_full_cloud_is_not_hammered),
		cmocka_unit_test(few_calls_are_refused),
		cmocka_unit_test(a_ceiling_keeps_them_all_from_being_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
