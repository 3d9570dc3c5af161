/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/retry.h"

#define NAP_MS 200

struct retry retry_within(int64_t budget_ms)
{
	return (struct retry){ .base_ms = 200, .cap_ms = 15000, .until = deadline_in(budget_ms) };
}

/* Between half of the step and the whole of it: never at once, never all together. */
int64_t retry_delay(const struct retry *r, uint64_t random)
{
	int64_t step = r->base_ms;

	for (int i = 0; i < r->tries && step < r->cap_ms; i++)
		step *= 2;
	if (step > r->cap_ms)
		step = r->cap_ms;
	return step - step / 2 + (int64_t)(random % (uint64_t)(step / 2 + 1));
}

static bool is_stopped(const struct retry *r)
{
	return r->stop && *r->stop;
}

/* In short naps: the first ^C lets running steps finish, and to go on waiting for a cloud that
 * refuses, for half an hour maybe, is not finishing. */
static int nap(const struct retry *r, int64_t ms, struct err *e)
{
	struct deadline end = deadline_in(ms);

	for (int64_t left = ms; left > 0 && !is_stopped(r); left = deadline_left(end))
		if (task_sleep(left < NAP_MS ? left : NAP_MS, e))
			return -1;
	return 0;
}

bool retry_again(struct retry *r, struct err *e)
{
	uint64_t random = rand_below(UINT64_MAX);
	int64_t wait = retry_delay(r, random);
	struct err stopped = { 0 };

	if (wait >= deadline_left(r->until) || is_stopped(r))
		return false;
	r->tries++;
	if (nap(r, wait, &stopped)) {
		*e = stopped;
		return false;
	}
	return !is_stopped(r);
}
