/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns are reserved: each caller takes the next free moment and sleeps until then, so that they
 * come in the order in which they asked and no timer runs for those that wait. When the rate is
 * halved all moments that were given away are void: their holders wake, see that, and ask again.
 *
 * The second of silence after a refusal: endpoints count by the second or so, and what is sent into
 * the rest of a second that is used up would be refused as well and halve the rate for nothing.
 */
#include "net/limit.h"

#include <stdio.h>

#define FLOOR	     200 /* one call in five seconds */
#define PAUSE_MS     1000
#define RETRY_MAX_MS 300000 /* an endpoint that wants to be left alone for longer is asked */
#define STEP_MS	     1000
#define STEPS_MAX    60
#define AHEAD_US     1000  /* the clock is no finer */
#define LATE_US	     10000 /* what a late waking lost may be caught up with */
#define NAP_MS	     200
#define STOP_WAIT_MS 10000

static int64_t now_us(void)
{
	return clock_now() * 1000;
}

static int64_t interval_us(const struct limit *l)
{
	return l->rate ? (int64_t)1000000 * LIMIT_UNIT / l->rate : 0;
}

void limit_init(struct limit *l, const char *name, int64_t ceiling)
{
	*l = (struct limit){ .name = name, .ceiling = ceiling, .rate = ceiling };
}

/* ---- growing ---- */

/* Fast up to where it was refused, slowly past that, and fast again once that is disproved. */
static int64_t step_of(const struct limit *l)
{
	bool near = l->rate >= l->wall * 9 / 10 && l->rate < l->wall * 11 / 10;
	int64_t step = l->wall / (near ? 100 : 10);
	int64_t least = near ? 50 : 500;

	return step > least ? step : least;
}

static void grow(struct limit *l)
{
	int64_t now = clock_now();
	int64_t steps = (now - l->grown_ms) / STEP_MS;

	if (!l->wall || steps <= 0)
		return;
	l->grown_ms += steps * STEP_MS;
	for (int i = 0; i < steps && i < STEPS_MAX && l->rate; i++) {
		l->rate += step_of(l);
		if (l->ceiling && l->rate >= l->ceiling) {
			l->rate = l->ceiling;
			break;
		}
		if (!l->ceiling && l->rate > l->wall * 8)
			l->rate = 0;
	}
}

/* ---- turns ---- */

static void count(struct limit *l)
{
	int64_t second = clock_now() / 1000;

	if (second != l->second) {
		l->sent_before = second == l->second + 1 ? l->sent : 0;
		l->second = second;
		l->sent = 0;
	}
	l->sent++;
	l->calls++;
}

static bool too_late(int64_t at_us, struct deadline until, const bool *stop)
{
	int64_t wait_ms = (at_us - now_us()) / 1000;

	return wait_ms > deadline_left(until) || (stop && *stop && wait_ms > STOP_WAIT_MS);
}

/* In naps: a stop must not find everybody asleep. False: too late. */
static int sleep_until(const struct limit *l, int64_t at_us, struct deadline until,
		       const bool *stop, struct err *e)
{
	uint64_t halvings = l->halvings;

	while (at_us - now_us() >= AHEAD_US && l->halvings == halvings) {
		int64_t left = (at_us - now_us() + 999) / 1000;
		if (too_late(at_us, until, stop))
			return err_set(e, ERR_BUSY, "%s takes no more calls in time", l->name);
		if (task_sleep(left < NAP_MS ? left : NAP_MS, e))
			return -1;
	}
	return 0;
}

int limit_take(struct limit *l, struct limit_turn *turn, struct deadline until, const bool *stop,
	       struct err *e)
{
	for (;;) {
		int64_t now = now_us();
		grow(l);
		int64_t at = l->next_us > now - LATE_US ? l->next_us : now - LATE_US;
		turn->halvings = l->halvings;
		if (too_late(at, until, stop))
			return err_set(e, ERR_BUSY, "%s takes no more calls in time", l->name);
		l->next_us = at + interval_us(l);
		if (sleep_until(l, at, until, stop, e))
			return -1;
		if (turn->halvings == l->halvings)
			break;
	}
	count(l);
	return 0;
}

/* ---- what came of them ---- */

static int64_t pause_ms(const struct err *why)
{
	int64_t asked = why->retry_after_ms;

	return asked <= PAUSE_MS ? PAUSE_MS : asked < RETRY_MAX_MS ? asked : RETRY_MAX_MS;
}

static void halve(struct limit *l, const struct err *why)
{
	int64_t sent = (l->sent > l->sent_before ? l->sent : l->sent_before) * LIMIT_UNIT;

	l->wall = l->rate && l->rate < sent ? l->rate : sent;
	if (l->wall < 2 * FLOOR)
		l->wall = 2 * FLOOR;
	l->rate = l->wall / 2;
	l->halvings++;
	l->throttled = true;
	l->next_us = now_us() + pause_ms(why) * 1000;
	l->grown_ms = clock_now() + pause_ms(why);
}

enum limit_change limit_tell(struct limit *l, const struct limit_turn *turn, const struct err *why)
{
	if (why && err_is_throttle(why)) {
		l->refused++;
		if (turn->halvings != l->halvings)
			return LIMIT_SAME;
		halve(l, why);
		return LIMIT_HALVED;
	}
	if (!l->throttled || (l->rate && l->rate < l->wall * 9 / 10))
		return LIMIT_SAME;
	l->throttled = false;
	return LIMIT_RECOVERED;
}

void limit_text(int64_t rate, char out[24])
{
	if (!rate)
		snprintf(out, 24, "no limit");
	else if (rate >= 10 * LIMIT_UNIT || rate % LIMIT_UNIT == 0)
		snprintf(out, 24, "%lld/s", (long long)(rate / LIMIT_UNIT));
	else
		snprintf(out, 24, "%lld.%lld/s", (long long)(rate / LIMIT_UNIT),
			 (long long)(rate % LIMIT_UNIT / 100));
}
