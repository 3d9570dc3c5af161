/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/scene.h - everything a plan rests on, put side by side for each address: wanted, recorded,
 * in the journal, seen, probed. Pure: planner.c fills it from the world, tests from files.
 *
 * Order of use: scene_init, want and recorded and intents filled in, scene_subjects, observation
 * filled in, scene_fill, probes filled in, scene_plan.
 */
#ifndef MUSTER_ENGINE_SCENE_H
#define MUSTER_ENGINE_SCENE_H

#include "engine/observe.h"
#include "engine/plan.h"
#include "engine/selection.h"
#include "engine/want.h"

struct subject { /* one address */
	struct plan_resource *pr;
	const struct want_item *want;
	const struct state_resource *recorded;
	const struct journal_row *create; /* open intent */
	const struct resource_seen *seen;
	struct node_probe *probe; /* NULL: not asked */
	bool ground;		  /* a plan of the selection rests on it */
};

struct scene {
	struct arena *a;
	enum plan_mode mode;
	bool no_refresh;
	const struct fleet *fleet; /* may be NULL */
	struct want want;
	struct state_resources recorded;
	struct journal_rows intents;
	struct selection_said said;
	struct observation obs;
	/* Digest of the configuration of a node, NULL if it is not to be configured. */
	int (*config)(void *arg, const struct want_item *w, const char **digest, struct err *e);
	void *arg;
	bool fleet_moved;
	/* Filled here. */
	VEC(struct subject *) v;
	struct map by_addr, recorded_by_addr;
	struct selection sel;
	struct plan_source src;
};

void scene_init(struct scene *s, struct arena *a);
must_check int scene_subjects(struct scene *s, struct err *e);
must_check int scene_fill(struct scene *s, struct err *e);
/* The selected ones, what they depend on, and what depends on them: of others a plan may not care,
 * for another run may be changing them. */
void scene_mark_ground(struct scene *p);
/* Is this node to be asked what differs on it? */
bool scene_worth_probing(const struct scene *p, const struct subject *s);
/* src's digests, serial and time are the caller's. */
must_check int scene_plan(struct scene *s, struct plan **out, struct err *e);

#endif
