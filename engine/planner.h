/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/planner.h - gathers what a plan rests on (want, record, journal, observation, probes) and
 * hands it to the pure part (plan.h).
 *
 * plan_make and plan_verify of engine.h are here; apply asks again through planner_run.
 */
#ifndef MUSTER_ENGINE_PLANNER_H
#define MUSTER_ENGINE_PLANNER_H

#include "engine/plan.h"
#include "engine/selection.h"
#include "engine/want.h"

struct planner_ask {
	enum plan_mode mode;
	bool no_refresh;
	const struct map *probe_only;	   /* node names; NULL: all that are selected */
	const struct selection_said *said; /* NULL: as the engine was opened with */
};

must_check int planner_run(struct engine *en, struct arena *a, const struct planner_ask *ask,
			   struct plan **out, struct err *e);
must_check int planner_want(struct engine *en, struct arena *a, struct want *out, struct err *e);
struct selection_said planner_said(const struct plan *p);	    /* what it was made of */
void planner_fleet_digest(struct engine *en, char out[SHA256_HEX]); /* who is in the fleet */

#define META_FLEET "fleet_digest"

#endif
