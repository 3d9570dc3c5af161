/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cloud that loses answers, hears twice, refuses, runs out of room, shows late and forgets. Each
 * fault has one clear outcome, nothing is lost, and the next run ends where an undisturbed one does.
 */
#include <time.h>

#include "crash.h"

#define SCRIPT(rows) "error_script: [" rows "]"
#define BEFORE	     "  web: {provider: cloud, count: 3, image: debian-12, machine: small}\n"
#define AFTER                                                                    \
	"  web: {provider: cloud, count: 4, image: debian-12, machine: large}\n" \
	"  gpu: {provider: cloud, count: 2, image: debian-12}\n"
#define LESS "  web: {provider: cloud, count: 1, image: debian-12, machine: small}\n"

struct fault_case {
	const char *name, *options;
	const char *after;  /* NULL: AFTER */
	size_t failed;	    /* steps of the first run */
	enum err_kind kind; /* of each */
	size_t intents;	    /* left open by the first run */
	bool no_request;    /* no single call is to blame */
	bool retries;	    /* tells of at least one */
	const char *mended; /* options of the second run; NULL: as before */
};

static const struct fault_case cases[] = {
	{ .name = "a create's answer is lost",
	  .options = SCRIPT("{call: create, match: 'web-3', nth: 1, lost: true}"),
	  .intents = 0 },
	{ .name = "an update's answer is lost",
	  .options = SCRIPT("{call: update, match: 'web-1', nth: 1, lost: true}"),
	  .retries = true },
	{ .name = "a delete's answer is lost",
	  .options = SCRIPT("{call: destroy, match: 'web-1', nth: 1, lost: true}"),
	  .after = LESS,
	  .retries = true },
	{ .name = "a list's answer is lost",
	  .options = SCRIPT("{call: list, nth: 1, lost: true}"),
	  .retries = true },
	{ .name = "a create's request is lost",
	  .options = SCRIPT("{call: create, match: 'web-3', nth: 1, error: timeout}"),
	  .retries = true },
	{ .name = "an update's request is lost",
	  .options = SCRIPT("{call: update, match: 'web-1', nth: 1, error: timeout}"),
	  .retries = true },
	{ .name = "a delete's request is lost",
	  .options = SCRIPT("{call: destroy, match: 'web-1', nth: 1, error: timeout}"),
	  .after = LESS,
	  .retries = true },
	{ .name = "an answer is lost, and so is that of the question about it",
	  .options = SCRIPT("{call: create, match: 'gpu-1', nth: 1, lost: true}, "
			    "{call: find, nth: 1, times: 2, error: timeout}"),
	  .retries = true },
	{ .name = "requests arrive twice",
	  .options = SCRIPT("{call: create, twice: true}, {call: update, twice: true}") },
	{ .name = "a request arrives twice and its answer is lost",
	  .options = SCRIPT(
		  "{call: create, match: 'gpu-*', nth: 1, times: 2, twice: true, lost: true}") },
	{ .name = "too many requests",
	  .options = SCRIPT("{call: create, nth: 1, times: 3, error: busy}, "
			    "{call: update, nth: 2, times: 2, error: busy}, "
			    "{call: list, nth: 1, error: busy}"),
	  .retries = true },
	{ .name = "too many requests to delete",
	  .options = SCRIPT("{call: destroy, nth: 1, times: 2, error: busy}"),
	  .after = LESS,
	  .retries = true },
	{ .name = "no room",
	  .options = SCRIPT("{call: create, match: 'gpu-*', nth: 1, times: 2, error: capacity}"),
	  .failed = 2,
	  .kind = ERR_CAPACITY,
	  .mended = "" },
	{ .name = "the cloud is full",
	  .options = "capacity: 4",
	  .failed = 2,
	  .kind = ERR_CAPACITY,
	  .mended = "" },
	{ .name = "the quota is used up",
	  .options = "quota: 4",
	  .failed = 2,
	  .kind = ERR_QUOTA,
	  .mended = "" },
	{ .name = "an answer is lost, and then there is no room",
	  .options = SCRIPT("{call: create, match: 'gpu-1', nth: 1, error: timeout}, "
			    "{call: create, match: 'gpu-1', nth: 2, error: capacity}"),
	  .failed = 1,
	  .kind = ERR_CAPACITY,
	  .intents = 1, /* the first request may still arrive */
	  .retries = true },
	{ .name = "a refusal",
	  .options = SCRIPT("{call: create, match: 'web-3', nth: 1, error: auth}"),
	  .failed = 1,
	  .kind = ERR_AUTH },
	{ .name = "a failure at the other end",
	  .options = SCRIPT("{call: create, match: 'web-3', nth: 1, error: remote}"),
	  .failed = 1,
	  .kind = ERR_REMOTE },
	{ .name = "a failure after the effect",
	  .options = SCRIPT("{call: create, match: 'web-3', nth: 1, error: remote, late: true}"),
	  .failed = 1,
	  .kind = ERR_REMOTE },
	{ .name = "an update that fails after its effect",
	  .options = SCRIPT("{call: update, match: 'web-0', nth: 1, error: remote, late: true}"),
	  .failed = 1,
	  .kind = ERR_REMOTE },
	{ .name = "a delete that fails after its effect",
	  .options = SCRIPT("{call: destroy, match: 'web-1', nth: 1, error: remote, late: true}"),
	  .after = LESS,
	  .failed = 1,
	  .kind = ERR_REMOTE },
	{ .name = "a delete that is refused",
	  .options = SCRIPT("{call: destroy, match: 'web-1', nth: 1, error: auth}"),
	  .after = LESS,
	  .failed = 1,
	  .kind = ERR_AUTH },
	{ .name = "a delete that is taken and not done",
	  .options = SCRIPT("{call: destroy, match: 'web-1', nth: 1, ignored: true}"),
	  .after = LESS,
	  .failed = 1,
	  .kind = ERR_REMOTE,
	  .no_request = true },
	{ .name = "a machine vanishes",
	  .options = SCRIPT("{call: create, match: 'gpu-0', nth: 1, vanish: true}") },
	{ .name = "a list fails between two pages",
	  .options = "page: 2, " SCRIPT("{call: list, nth: 2, error: timeout}"),
	  .retries = true },
	{ .name = "small pages", .options = "page: 1" },
	{ .name = "objects show late", .options = "settle_ms: 400" },
	{ .name = "objects show later than anybody waits, and answers are lost",
	  .options = "settle_ms: 4000, " SCRIPT(
		  "{call: create, match: 'gpu-*', nth: 1, times: 2, lost: true}"),
	  .retries = true },
};

static struct apply_result result;
static const struct fault_case *at;

static void first_run(struct bed *b)
{
	struct fleet_status st;
	struct err e = { 0 };

	b->events_retry = 0;
	must(!bed_apply(b, PLAN_APPLY, &result, &e), "%s", e.msg);
	/* where there is no room for one, the others are not tried */
	size_t others = at->kind == ERR_CAPACITY || at->kind == ERR_QUOTA ? result.skipped : 0;
	must(result.failed + others == at->failed, "%zu failed, %zu done, %zu skipped: %s",
	     result.failed, result.done, result.skipped,
	     result.failed ? result.failures.v[0]->err.msg : "");
	for (size_t i = 0; i < result.failures.n; i++) {
		const struct node_failure *f = result.failures.v[i];
		must(f->err.kind == at->kind, "%s: %s", f->addr, f->err.msg);
		must(f->err.msg[0] && f->err.addr[0] && (at->no_request || f->err.request[0]),
		     "it doesn't say which object and request");
	}
	must(!at->retries || b->events_retry > 0, "nobody was told of a second try");
	must(!engine_status(b->en, b->a, false, &st, &e), "%s", e.msg);
	must(st.intents.v.n == at->intents, "%zu intents are open", st.intents.v.n);
	must(!st.leases.v.n);
}

static void lay_out(struct bed *b, const char *after, const char *options)
{
	bed_make(b);
	b->opts.parallel = 2;
	b->opts.max_failures = (struct count){ .n = 10 };
	bed_spec(b, "", BEFORE);
	bed_run(b, crash_apply);
	bed_spec(b, options, after);
}

static char *undisturbed(const char *after)
{
	struct bed b;

	lay_out(&b, after, "");
	bed_run(&b, crash_apply);
	crash_check_sound(&b);
	char *p = crash_picture(&b);
	bed_gone(&b);
	return p;
}

static void faults_have_an_outcome(void **unused unused_arg)
{
	char *more = undisturbed(AFTER), *less = undisturbed(LESS);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *after = cases[i].after ? cases[i].after : AFTER;
		struct bed b;

		at = &cases[i];
		bed_now = at->name;
		lay_out(&b, after, at->options);
		bed_run(&b, first_run);
		if (at->mended)
			bed_spec(&b, at->mended, after);
		bed_run(&b, crash_apply);
		crash_check_sound(&b);
		char *got = crash_picture(&b);
		if (strcmp(got, cases[i].after ? less : more) != 0)
			must(false, "not as undisturbed:\n%s", got);
		free(got);
		bed_gone(&b);
		bed_now = NULL;
	}
	free(more);
	free(less);
}

/* ---- what can't be gone around ---- */

static void refused_plan(struct bed *b)
{
	struct plan *p;
	struct err e = { 0 };

	must(plan_make(b->en, b->a, PLAN_APPLY, &p, &e) && e.kind == ERR_REMOTE, "%s", e.msg);
	must(strstr(e.msg, "listing every machine of provider \"cloud\""), "%s", e.msg);
}

/* A half read list would show machines as deleted. */
static void half_a_list_is_no_list(void **unused unused_arg)
{
	struct bed b;

	lay_out(&b, BEFORE, "page: 2, " SCRIPT("{call: list, nth: 3, error: remote}"));
	bed_run(&b, refused_plan);
	bed_run(&b, crash_apply);
	crash_check_sound(&b);
	bed_gone(&b);
}

/* ---- slow to show ---- */

static struct recover_report report;
static struct settled settled;

static void recover_one(struct bed *b)
{
	struct err e = { 0 };

	must(!engine_recover(b->en, b->a, &report, &e), "%s", e.msg);
	must(report.v.n == 1, "%zu", report.v.n);
	settled = *report.v.v[0];
	must(strcmp(settled.outcome, "unknown") == 0 && settled.open, "%s", settled.decision);
	must(settled.until_ms > clock_wall() && strstr(settled.reason, "may appear"), "%s",
	     settled.reason);
}

static void recover_found(struct bed *b)
{
	struct err e = { 0 };

	must(!engine_recover(b->en, b->a, &report, &e), "%s", e.msg);
	must(report.v.n == 1, "%zu", report.v.n);
	must(strcmp(report.v.v[0]->outcome, "recorded") == 0 && report.v.v[0]->id, "%s",
	     report.v.v[0]->decision);
}

/* Killed when the request was sent: nothing shows yet, and nothing may be dropped. */
static void a_young_intent_is_never_dropped(void **unused unused_arg)
{
	const struct timespec wait = { 1, 600000000 };
	struct bed b;

	lay_out(&b, BEFORE "  one: {provider: cloud, count: 1, image: debian-12}\n",
		"settle_ms: 1500");
	assert_true(bed_killed(&b, "cloud.create.effect:1", crash_apply));
	bed_run(&b, recover_one);
	nanosleep(&wait, NULL);
	bed_run(&b, recover_found);
	bed_run(&b, crash_apply);
	crash_check_sound(&b);
	bed_gone(&b);
}

static void plan_is_quiet(struct bed *b)
{
	struct fleet_status st;
	struct err e = { 0 };
	struct plan *p = bed_plan(b, PLAN_APPLY);

	must(plan_is_empty(p), "%s: %s", p->changes.v[0]->addr, p->changes.v[0]->reason);
	must(!p->drift.n);
	must(!engine_status(b->en, b->a, true, &st, &e), "%s", e.msg);
	for (size_t i = 0; i < st.nodes.n; i++)
		must(strcmp(st.nodes.v[i]->state, "missing") != 0, "%s", st.nodes.v[i]->name);
}

/* What was just made is not "deleted outside" because no list shows it yet. */
static void what_does_not_show_yet_is_not_gone(void **unused unused_arg)
{
	struct bed b;

	lay_out(&b, BEFORE "  one: {provider: cloud, count: 2, image: debian-12}\n",
		"settle_ms: 60000");
	bed_run(&b, crash_apply);
	bed_run(&b, plan_is_quiet);
	bed_run(&b, crash_apply);
	crash_check_sound(&b);
	bed_gone(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults_have_an_outcome),
		cmocka_unit_test(half_a_list_is_no_list),
		cmocka_unit_test(a_young_intent_is_never_dropped),
		cmocka_unit_test(what_does_not_show_yet_is_not_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
