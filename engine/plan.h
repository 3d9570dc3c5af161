/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/plan.h - the differences of all resources, put together: what forces what, the order, the
 * edges, the shapes, the counts, the digest. Pure and linear: 10,000 nodes take well under a second.
 */
#ifndef MUSTER_ENGINE_PLAN_H
#define MUSTER_ENGINE_PLAN_H

#include "engine/diff.h"

/* One address: wanted, recorded, or both. */
struct plan_resource {
	struct diff_input in;
	struct diff_config_input config;
	/* Filled by plan_build. */
	struct diff_output res, cfg;
	const char *left_out; /* PLAN_CONFIGURE: why this node is not touched; NULL: it may be */
	bool kept;
	bool held; /* stays as it is, whatever the rest of the plan needs */
};

struct plan_source {
	enum plan_mode mode;
	const char *cluster;
	const char *spec_digest, *observed_digest;
	const char *record_digest; /* of what a selection rests on; "": all may change */
	int64_t state_serial, now_ms;
	VEC(struct plan_resource *) v;
	/* Is this address among those that may change? NULL: all are. */
	bool (*selected)(void *arg, const struct plan_resource *r);
	/* Was it named as one that must not change? NULL: none was. */
	bool (*excluded)(void *arg, const struct plan_resource *r);
	void *arg;
};

must_check int plan_build(struct arena *a, struct plan_source *s, struct plan **out, struct err *e);
/* Digest of what a plan decides and what it rests on: changes, spec, state, observation. */
void plan_digest(const struct plan *p, char out[SHA256_HEX]);
/* Every change of `fresh` is among those of `approved` (same address and action): it does no more
 * than was agreed to. */
bool plan_covers(struct arena *a, const struct plan *approved, const struct plan *fresh);

#endif
