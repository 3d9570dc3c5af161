/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/beat.h - the heartbeat of the lease, for as long as it is held: other runs take over from
 * one that is silent for LEASE_EXPIRY_MS. For engine/ only.
 *
 *	if (lease_take(...))
 *		return -1;
 *	beat_start(&beat, en, LEASE_BEAT_MS);
 *	int rc = work(..., e);
 *	if (beat_stop(&beat, e))
 *		rc = -1;
 *	lease_release(...);
 */
#ifndef MUSTER_ENGINE_BEAT_H
#define MUSTER_ENGINE_BEAT_H

#include "engine/context.h"

struct beat {
	struct engine *en;
	int64_t every_ms;
	struct group group;
};

/* b lives until beat_stop. */
void beat_start(struct beat *b, struct engine *en, int64_t every_ms);
/* -1, with *e replaced by the cause: the lease or the journal was lost (context_end), and what the
 * run has begun is for the next one to settle. */
must_check int beat_stop(struct beat *b, struct err *e);

#endif
