/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/retry.h - waiting before the next try: exponential, with jitter so that many nodes don't
 * come back at once, within a budget of time.
 */
#ifndef MUSTER_ENGINE_RETRY_H
#define MUSTER_ENGINE_RETRY_H

#include "base/base.h"

struct retry {
	int64_t base_ms, cap_ms; /* first and longest wait */
	struct deadline until;
	int tries;	  /* made so far */
	const bool *stop; /* once true, waiting is over; NULL: never */
};

struct retry retry_within(int64_t budget_ms); /* 200 ms to 15 s */
/* Sleeps. False: no further try (out of budget, or stopped); *e is what failed last, or
 * ERR_CANCELLED. */
bool retry_again(struct retry *r, struct err *e);
int64_t retry_delay(const struct retry *r, uint64_t random); /* of the next wait; pure */

#endif
