/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kills at every fault point of what a test does, one process a point, and what must hold after the
 * next run: the cloud, the state and the spec agree, and all is as if nobody had been killed.
 */
#ifndef TESTS_ENGINE_CRASH_H
#define TESTS_ENGINE_CRASH_H

#include "bed.h"

struct crash {
	const char *name;
	const char *options;		/* of the provider; NULL: none */
	const char *before;		/* pools that are there; NULL: nothing is */
	const char *after;		/* pools of the spec when the act begins */
	void (*prepare)(struct bed *b); /* between the two, not in a task; may be NULL */
	void (*act)(struct bed *b);	/* what is killed, and done again */
	void (*again)(struct bed *b);	/* NULL: act */
	void (*finish)(struct bed *b);	/* after it, to compare; NULL: nothing */
	int64_t settle_ms;		/* of the provider */
};

/* Things to do in a bed. */
void crash_apply(struct bed *b);	 /* recovers first */
void crash_apply_at_once(struct bed *b); /* plans over what is unsettled; plan_apply settles it */
void crash_destroy(struct bed *b);
void crash_refresh(struct bed *b);
void crash_recover(struct bed *b);
void crash_gc_all(struct bed *b);

/* How many points an undisturbed act passes. */
uint64_t crash_count(const struct crash *c);
/* Kills at the points that are this test program's share; returns how many. See crash.c about
 * CRASH_POINTS. twice: kills the run after that as well. */
size_t crash_kill(const struct crash *const *all, size_t n, bool twice);
/* No orphan, no double, no open intent, no lease, a sound state, an empty plan. */
void crash_check_sound(struct bed *b);
/* Changes the cloud by hand. */
void crash_cloud_sql(struct bed *b, const char *sql);
/* State and cloud as text, without what chance decides: ids, tokens, times, addresses. */
char *crash_picture(struct bed *b);

#endif
