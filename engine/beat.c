/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/beat.h"

#include "engine/commit.h"

/* What it wrote may be in a group with what steps wrote. */
static int beat_once(struct engine *en, struct err *e)
{
	if (lease_beat(en->o.state, e))
		return -1;
	if (en->commit)
		commit_kick(en->commit);
	else if (journal_is_dirty(en->o.state))
		return journal_flush(en->o.state, e);
	return 0;
}

static void beat_task(void *arg)
{
	struct beat *b = arg;
	struct err e = { 0 }, ignored = { 0 };
	int64_t silent_ms = 0;

	while (!task_sleep(b->every_ms, &ignored)) {
		if (!beat_once(b->en, &e)) {
			silent_ms = 0;
			continue;
		}
		silent_ms += b->every_ms;
		/* A busy disk may pass; a lease that somebody took does not. */
		if (e.kind == ERR_LEASE || silent_ms >= LEASE_EXPIRY_MS) {
			context_end(b->en, &e);
			return;
		}
		e = (struct err){ 0 };
	}
}

void beat_start(struct beat *b, struct engine *en, int64_t every_ms)
{
	*b = (struct beat){ .en = en, .every_ms = every_ms };
	en->fatal = (struct err){ 0 };
	group_init(&b->group);
	task_spawn(&b->group, "heartbeat", beat_task, b);
}

int beat_stop(struct beat *b, struct err *e)
{
	struct err ignored = { 0 };

	group_cancel(&b->group);
	if (group_wait(&b->group, &ignored))
		log_debug("the heartbeat was cancelled");
	if (b->en->fatal.kind == ERR_NONE)
		return 0;
	*e = b->en->fatal;
	return -1;
}
