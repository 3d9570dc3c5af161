/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/limit.h - how many calls a second may go to an endpoint. All tasks that call it share one
 * struct limit; each asks for its turn before the call and tells afterwards what came of it.
 *
 * What an endpoint takes is not known before it refuses. So there is no rate at first; when it
 * refuses because there are too many calls, the rate becomes half of what was sent, nothing is sent
 * for a second (or as long as the endpoint asks for), and then it grows again, slowly near the rate
 * that was refused. Times come from clock_now(), which may be virtual; nothing is random.
 */
#ifndef MUSTER_NET_LIMIT_H
#define MUSTER_NET_LIMIT_H

#include "base/base.h"

#define LIMIT_UNIT 1000 /* rates are thousandths of calls a second */

struct limit {
	const char *name; /* for messages */
	int64_t ceiling;  /* never above it; 0: none */
	int64_t rate;	  /* now; 0: as many as come */
	int64_t wall;	  /* what was sent a second when it refused last */
	int64_t next_us;  /* when the next call may leave */
	int64_t grown_ms; /* when the rate was raised last */
	uint64_t halvings;
	bool throttled; /* the rate is below what was refused, and has not recovered */
	/* calls of the second `second` and of the one before it */
	int64_t second, sent, sent_before;
	uint64_t calls, refused; /* in all */
};

/* A turn, for limit_tell. */
struct limit_turn {
	uint64_t halvings;
};

enum limit_change { LIMIT_SAME, LIMIT_HALVED, LIMIT_RECOVERED };

/* name must outlive it. ceiling 0: none. */
void limit_init(struct limit *l, const char *name, int64_t ceiling);
/*
 * Waits for a turn, first come first served. ERR_BUSY: there is none before the deadline, or soon
 * enough once *stop (may be NULL) is true; nothing may be sent then. ERR_CANCELLED.
 */
must_check int limit_take(struct limit *l, struct limit_turn *turn, struct deadline until,
			  const bool *stop, struct err *e);
/*
 * What came of the call; why NULL: it was answered. Calls that were under way when the rate was
 * halved don't halve it again.
 */
enum limit_change limit_tell(struct limit *l, const struct limit_turn *turn, const struct err *why);
/* "25/s", "0.5/s", "no limit" */
void limit_text(int64_t rate, char out[24]);

#endif
