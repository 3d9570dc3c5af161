/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/pace.h - how fast a plan will go: nodes of a pool that may be down at a time, and what
 * such steps took before. Told to people, decides nothing, and is in no digest.
 */
#ifndef MUSTER_ENGINE_PACE_H
#define MUSTER_ENGINE_PACE_H

#include "engine/engine.h"

/* The pool of that name: its limits, in nodes. fleet NULL, or it is not in the spec: none. Pure. */
void pace_pool(const struct fleet *fleet, struct plan_pool *out);
/* plan->pools: one for each pool of its changes, with its limit. fleet NULL: no limits are known.
 * Pure. */
void pace_limits(struct arena *a, const struct fleet *fleet, struct plan *plan);
/* What is known of former steps of these pools goes into plan->pools. Pure. */
void pace_learn(struct plan *plan, const struct journal_paces *known);

#endif
