/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/commit.h"

void committer_init(struct committer *c, struct arena *a, struct state *s)
{
	*c = (struct committer){ .state = s, .a = a };
}

static void flush_batch(struct committer *c)
{
	struct commit_batch *b = c->batch;

	c->batch = NULL;
	c->flushes++;
	if (!c->broken && journal_flush(c->state, &c->err))
		c->broken = true;
	task_event_set(&b->done);
}

void committer_task(void *arg)
{
	struct committer *c = arg;
	struct err ignored = { 0 };

	task_shield_begin(); /* ^C must not leave steps waiting for a flush */
	for (;;) {
		if (!c->batch && c->closing)
			break;
		if (!c->batch) {
			c->wake = (struct task_event){ 0 };
			if (task_event_wait(&c->wake, DEADLINE_NONE, &ignored))
				break;
			continue;
		}
		task_yield(); /* others that are ready write theirs into the same group */
		flush_batch(c);
	}
	task_shield_end();
}

void commit_kick(struct committer *c)
{
	if (!c->batch)
		c->batch = arena_obj(c->a, struct commit_batch);
	task_event_set(&c->wake);
}

int commit_wait(struct committer *c, struct err *e)
{
	if (c->broken) {
		*e = c->err;
		return -1;
	}
	commit_kick(c);
	struct commit_batch *b = c->batch;
	task_shield_begin();
	int rc = task_event_wait(&b->done, DEADLINE_NONE, e);
	task_shield_end();
	if (!rc && c->broken) {
		*e = c->err;
		return -1;
	}
	return rc;
}

void commit_close(struct committer *c)
{
	c->closing = true;
	task_event_set(&c->wake);
}
