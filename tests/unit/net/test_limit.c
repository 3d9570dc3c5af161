/* SPDX-License-Identifier: Apache-2.0 */
/* Turns at an endpoint, in virtual time; and what the limit is worth against an endpoint that takes
 * fifty calls a second. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "net/limit.h"

/* In tasks: an assertion of cmocka's leaves by longjmp, which must not cross stacks. */
#define must(condition)                                                                         \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

static void in_task(task_fn *fn, void *arg)
{
	struct err e = { 0 };

	clock_set_virtual(true);
	if (loop_run(fn, arg, NULL, &e))
		fail_msg("%s", e.msg);
	clock_set_virtual(false);
}

static struct err refusal(int64_t after_ms)
{
	struct err e = { 0 };

	err_set(&e, ERR_BUSY, "too many requests");
	e.code = 429;
	e.retry_after_ms = after_ms;
	return e;
}

static void take(struct limit *l, struct limit_turn *t)
{
	struct err e = { 0 };

	must(!limit_take(l, t, deadline_in(600000), NULL, &e));
}

static void no_rate_before_a_refusal_main(void *arg unused_arg)
{
	struct limit_turn t;
	struct limit l;

	limit_init(&l, "x", 0);
	for (int i = 0; i < 1000; i++) {
		take(&l, &t);
		must(limit_tell(&l, &t, NULL) == LIMIT_SAME);
	}
	must(clock_now() == 0);
	must(l.calls == 1000 && l.refused == 0);
}

static void no_rate_before_a_refusal(void **unused unused_arg)
{
	in_task(no_rate_before_a_refusal_main, NULL);
}

static void a_ceiling_holds_main(void *arg unused_arg)
{
	struct limit_turn t;
	struct limit l;

	limit_init(&l, "x", 10 * LIMIT_UNIT);
	for (int i = 0; i < 51; i++)
		take(&l, &t);
	must(clock_now() >= 4900 && clock_now() <= 5100);
	limit_init(&l, "x", LIMIT_UNIT / 2);
	int64_t began = clock_now();
	for (int i = 0; i < 3; i++)
		take(&l, &t);
	must(clock_now() - began >= 3900 && clock_now() - began <= 4100);
}

static void a_ceiling_holds(void **unused unused_arg)
{
	in_task(a_ceiling_holds_main, NULL);
}

/* Faster than the clock: none is lost by sleeping for whole milliseconds. */
static void a_high_ceiling_is_reached_main(void *arg unused_arg)
{
	struct limit_turn t;
	struct limit l;

	limit_init(&l, "x", 5000 * LIMIT_UNIT);
	for (int i = 0; i < 10000; i++)
		take(&l, &t);
	must(clock_now() >= 1900 && clock_now() <= 2100);
}

static void a_high_ceiling_is_reached(void **unused unused_arg)
{
	in_task(a_high_ceiling_is_reached_main, NULL);
}

static void a_refusal_halves_once_main(void *arg unused_arg)
{
	struct err no = refusal(0);
	struct limit_turn t[40], late;
	struct limit l;

	limit_init(&l, "x", 0);
	for (int i = 0; i < 40; i++)
		take(&l, &t[i]);
	must(limit_tell(&l, &t[0], &no) == LIMIT_HALVED);
	must(l.rate == 20 * LIMIT_UNIT);
	for (int i = 1; i < 40; i++) /* they were under way */
		must(limit_tell(&l, &t[i], &no) == LIMIT_SAME);
	must(l.rate == 20 * LIMIT_UNIT && l.refused == 40);
	take(&l, &late);
	must(clock_now() == 1000); /* a second of silence */
	must(limit_tell(&l, &late, &no) == LIMIT_HALVED);
	must(l.rate < 20 * LIMIT_UNIT);
}

static void a_refusal_halves_once(void **unused unused_arg)
{
	in_task(a_refusal_halves_once_main, NULL);
}

static void it_waits_as_long_as_it_is_asked_to_main(void *arg unused_arg)
{
	const struct {
		int64_t asked, waited;
	} cases[] = { { 0, 1000 }, { 700, 1000 }, { 7000, 7000 }, { 86400000, 300000 } };
	struct limit_turn t;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err no = refusal(cases[i].asked);
		struct limit l;
		limit_init(&l, "x", 0);
		take(&l, &t);
		int64_t began = clock_now();
		must(limit_tell(&l, &t, &no) == LIMIT_HALVED);
		take(&l, &t);
		must(clock_now() - began == cases[i].waited);
	}
}

static void it_waits_as_long_as_it_is_asked_to(void **unused unused_arg)
{
	in_task(it_waits_as_long_as_it_is_asked_to_main, NULL);
}

static void it_recovers_main(void *arg unused_arg)
{
	struct err no = refusal(0), other = { 0 };
	struct limit_turn t;
	struct limit l;
	int told = 0;
	int64_t last;

	limit_init(&l, "x", 0);
	for (int i = 0; i < 100; i++)
		take(&l, &t);
	must(limit_tell(&l, &t, &no) == LIMIT_HALVED);
	must(l.rate == 50 * LIMIT_UNIT && l.throttled);
	err_set(&other, ERR_REMOTE, "no");
	must(limit_tell(&l, &t, &other) == LIMIT_SAME); /* that it failed is not the rate's fault */
	err_set(&other, ERR_BUSY, "being changed by someone else");
	must(limit_tell(&l, &t, &other) == LIMIT_SAME);
	last = l.rate;
	while (l.throttled) {
		take(&l, &t);
		told += limit_tell(&l, &t, NULL) == LIMIT_RECOVERED;
		must(l.rate >= last && l.rate - last <= 10 * LIMIT_UNIT); /* gradually */
		last = l.rate;
	}
	must(told == 1);
	must(clock_now() >= 4000 && clock_now() <= 7000);
	while (l.rate) { /* never refused again: it is forgotten */
		take(&l, &t);
		must(limit_tell(&l, &t, NULL) == LIMIT_SAME);
	}
	must(clock_now() > 20000 && clock_now() < 200000);
}

static void it_recovers(void **unused unused_arg)
{
	in_task(it_recovers_main, NULL);
}

static void it_stays_under_its_ceiling_main(void *arg unused_arg)
{
	struct err no = refusal(0);
	struct limit_turn t;
	struct limit l;

	limit_init(&l, "x", 20 * LIMIT_UNIT);
	for (int i = 0; i < 30; i++)
		take(&l, &t);
	must(limit_tell(&l, &t, &no) == LIMIT_HALVED);
	for (int i = 0; i < 2000; i++) {
		take(&l, &t);
		must(l.rate > 0 && l.rate <= 20 * LIMIT_UNIT);
	}
	must(l.rate == 20 * LIMIT_UNIT);
}

static void it_stays_under_its_ceiling(void **unused unused_arg)
{
	in_task(it_stays_under_its_ceiling_main, NULL);
}

static void waits_have_an_end_main(void *arg unused_arg)
{
	struct err no = refusal(60000), e = { 0 };
	struct limit_turn t;
	struct limit l;
	bool stop = false;

	limit_init(&l, "x", 0);
	take(&l, &t);
	must(limit_tell(&l, &t, &no) == LIMIT_HALVED);
	must(limit_take(&l, &t, deadline_in(5000), NULL, &e) == -1);
	must(e.kind == ERR_BUSY && !err_is_throttle(&e));
	must(clock_now() == 0); /* what can't come in time is not waited for */
	stop = true;
	must(limit_take(&l, &t, deadline_in(600000), &stop, &e) == -1 && e.kind == ERR_BUSY);
	stop = false;
	must(!limit_take(&l, &t, deadline_in(600000), &stop, &e));
	must(clock_now() == 60000);
}

static void waits_have_an_end(void **unused unused_arg)
{
	in_task(waits_have_an_end_main, NULL);
}

struct waiter_task {
	struct limit *l;
	const bool *stop;
	struct err e;
	int rc;
};

static void wait_main(void *arg)
{
	struct waiter_task *w = arg;
	struct limit_turn t;

	w->rc = limit_take(w->l, &t, deadline_in(600000), w->stop, &w->e);
}

static void waits_can_be_cancelled_main(void *arg unused_arg)
{
	struct err no = refusal(60000), e = { 0 };
	struct limit_turn t;
	struct limit l;
	bool stop = false;
	struct waiter_task cancelled = { .l = &l }, stopped = { .l = &l, .stop = &stop };
	struct group g, h;

	limit_init(&l, "x", 0);
	take(&l, &t);
	must(limit_tell(&l, &t, &no) == LIMIT_HALVED);
	group_init(&g);
	group_init(&h);
	task_spawn(&g, "cancelled", wait_main, &cancelled);
	task_spawn(&h, "stopped", wait_main, &stopped);
	must(!task_sleep(100, &e));
	group_cancel(&g);
	stop = true;
	must(!group_wait(&g, &e) && !group_wait(&h, &e));
	must(cancelled.rc == -1 && cancelled.e.kind == ERR_CANCELLED);
	must(stopped.rc == -1 && stopped.e.kind == ERR_BUSY);
	must(clock_now() < 1000);
}

static void waits_can_be_cancelled(void **unused unused_arg)
{
	in_task(waits_can_be_cancelled_main, NULL);
}

/* ---- what it is worth ---- */

#define CALLS	300
#define CALLERS 32

/* Fifty calls a second, counted by the second. */
struct endpoint {
	int64_t second;
	int in_second, done, refused, left;
	struct limit *l; /* NULL: waits of its own, doubled at each refusal */
};

static bool call(struct endpoint *x)
{
	if (clock_now() / 1000 != x->second) {
		x->second = clock_now() / 1000;
		x->in_second = 0;
	}
	return ++x->in_second <= 50;
}

static void try_once(struct endpoint *x, bool *ok)
{
	struct err e = { 0 }, no = refusal(0);
	struct limit_turn t = { 0 };

	if (x->l)
		must(!limit_take(x->l, &t, deadline_in(600000), NULL, &e));
	must(!task_sleep(20, &e)); /* on its way */
	*ok = call(x);
	x->refused += !*ok;
	if (x->l)
		limit_tell(x->l, &t, *ok ? NULL : &no);
}

static void caller_main(void *arg)
{
	struct endpoint *x = arg;
	struct err e = { 0 };

	while (x->left > 0) {
		bool ok = false;
		x->left--;
		for (int64_t nap = 200;; nap = nap < 8000 ? nap * 2 : 15000) {
			try_once(x, &ok);
			if (ok)
				break;
			must(!task_sleep(nap, &e));
		}
		x->done++;
	}
}

static void flood_main(void *arg)
{
	struct endpoint *x = arg;
	struct err e = { 0 };
	struct group g;

	group_init(&g);
	for (int i = 0; i < CALLERS; i++)
		task_spawn(&g, "caller", caller_main, x);
	must(!group_wait(&g, &e));
	must(x->done == CALLS);
	printf("# %s: %d calls at 50/s: %d refused, %lld ms\n", x->l ? "limit" : "retry only",
	       CALLS, x->refused, (long long)clock_now());
}

static void fewer_calls_are_refused(void **unused unused_arg)
{
	struct limit l;
	struct endpoint naive = { .left = CALLS }, paced = { .left = CALLS, .l = &l };

	limit_init(&l, "x", 0);
	in_task(flood_main, &naive);
	in_task(flood_main, &paced);
	assert_true(paced.refused < CALLERS + 15);
	assert_true(paced.refused * 2 < naive.refused);
}

static void rates_are_read_by_people(void **unused unused_arg)
{
	const struct {
		int64_t rate;
		const char *text;
	} cases[] = { { 0, "no limit" }, { 25000, "25/s" }, { 2000, "2/s" },
		      { 500, "0.5/s" },	 { 2550, "2.5/s" }, { 25500, "25/s" } };
	char text[24];

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		limit_text(cases[i].rate, text);
		assert_string_equal(text, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_rate_before_a_refusal),
		cmocka_unit_test(a_ceiling_holds),
		cmocka_unit_test(a_high_ceiling_is_reached),
		cmocka_unit_test(a_refusal_halves_once),
		cmocka_unit_test(it_waits_as_long_as_it_is_asked_to),
		cmocka_unit_test(it_recovers),
		cmocka_unit_test(it_stays_under_its_ceiling),
		cmocka_unit_test(waits_have_an_end),
		cmocka_unit_test(waits_can_be_cancelled),
		cmocka_unit_test(fewer_calls_are_refused),
		cmocka_unit_test(rates_are_read_by_people),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
