/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/claim.h - the lease of a plan: of everything, or, when a selection was planned, of the
 * objects that it changes and of those that they rest on, so that runs on other nodes go on beside.
 */
#ifndef MUSTER_ENGINE_CLAIM_H
#define MUSTER_ENGINE_CLAIM_H

#include "engine/context.h"

struct claim {
	struct engine *en;
	const char *run, *command;
};

bool plan_is_limited(const struct plan *p);
/* Takes it, waiting for others as long as lock_timeout_ms allows (told once). *waited: it did. */
must_check int claim_take(const struct claim *c, struct arena *a, const struct plan *p,
			  bool *waited, struct err *e);
/* The open intents that a run of this plan must settle first. */
must_check int claim_intents(struct engine *en, struct arena *a, const struct plan *p,
			     struct journal_rows *out, struct err *e);
/* The open intents that no living run owns, and the lease of their objects if there are any. *busy:
 * those of living runs. */
must_check int claim_abandoned(const struct claim *c, struct arena *a, struct journal_rows *out,
			       size_t *busy, struct err *e);

#endif
