/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/commit.h - one fsync for the intents and outcomes of all steps of a moment.
 *
 * A step writes its intent and waits for commit_wait; the committer's task lets every other ready
 * step write its own first, then flushes once and wakes them all. An error of the journal is final:
 * the run can't go on without it.
 */
#ifndef MUSTER_ENGINE_COMMIT_H
#define MUSTER_ENGINE_COMMIT_H

#include "state/state.h"

struct commit_batch {
	struct task_event done;
};

struct committer {
	struct state *state;
	struct arena *a;
	struct commit_batch *batch; /* that is being filled; NULL: nothing to do */
	struct task_event wake;
	bool closing, broken;
	struct err err; /* if broken */
	uint64_t flushes;
};

void committer_init(struct committer *c, struct arena *a, struct state *s);
void committer_task(void *arg);	       /* ends after commit_close */
void commit_kick(struct committer *c); /* something was written that may wait a moment */
must_check int commit_wait(struct committer *c,
			   struct err *e); /* what was written is durable; not cancelled */
void commit_close(struct committer *c);

#endif
