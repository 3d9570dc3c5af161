/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/steps.h - a plan's changes as steps that can be walked: a replacement is an unmaking and a
 * making, each in its place. Pure.
 *
 * Steps that are ready wait in lanes, so that what limits one pool or provider does not hold up
 * another.
 */
#ifndef MUSTER_ENGINE_STEPS_H
#define MUSTER_ENGINE_STEPS_H

#include "engine/engine.h"

enum step_part { PART_UNMAKE, PART_MAKE, PART_CONFIGURE };
enum step_state { STEP_WAITING, STEP_READY, STEP_RUNNING, STEP_DONE, STEP_FAILED, STEP_SKIPPED };

struct step {
	const struct change *c;
	enum step_part part;
	enum step_state state;
	size_t waiting; /* steps before it that are not done */
	bool goes_on;	/* another step of its unit comes before it */
	VEC(size_t) next;
	size_t unit; /* of steps.units: the machine, with all of its steps */
	size_t lane;
	int64_t started, ended;
	size_t freed_by; /* the step whose end made it ready + 1; 0: none */
};

/* One node's steps together: while it is worked on it may be unavailable. */
struct step_unit {
	const char *addr, *node;
	bool disrupts; /* it is in service now */
	bool unwell;   /* it is there and should be, but is not */
	bool canary;   /* one of those that go first */
	bool begun;    /* a step of it runs or has run */
	bool holds;    /* counted as unavailable */
	size_t left;   /* steps not finished */
	size_t pool;   /* of steps.pools; SIZE_MAX: not a node */
};

enum pool_phase {
	POOL_OPEN,    /* as many nodes at a time as may be down */
	POOL_CANARY,  /* its first nodes are at work */
	POOL_PROVING, /* they are done: are they well? */
	POOL_STOPPED, /* they are not: nothing of it begins any more */
};

struct step_pool {
	const char *name;
	int64_t may_be_down, down;
	int64_t canary; /* so many are to go first */
	enum pool_phase phase;
	bool told;	   /* for the caller: that the phase was told */
	size_t canaries;   /* that have not come to their end */
	size_t nodes;	   /* in service or unwell, that the plan works on */
	VEC(size_t) first; /* the canary's units */
};

struct step_lane {
	const char *key;
	size_t creates;	 /* of steps.providers */
	bool sees_fleet; /* its steps wait until all new machines are there */
	bool rolling;	 /* its steps begin to disrupt a node: they need room in may_be_down */
	bool canary;	 /* of nodes that go first */
	bool mends;	 /* of nodes that are unwell: before all others */
	bool closed;	 /* no room for what its steps make */
	VEC(size_t) ready;
	size_t head;
};

struct step_provider {
	const char *name;
	int64_t limit, running; /* creates at a time; limit 0: none */
	size_t frees;		/* deletions that are not over: they may make room */
};

struct steps {
	struct arena *a;
	VEC(struct step) v;
	VEC(struct step_unit) units;
	VEC(struct step_pool) pools;
	VEC(struct step_lane) lanes;
	VEC(struct step_provider) providers;
	struct map lane_by_key, unit_by_addr, pool_by_name, provider_by_name;
	size_t nodes; /* machines among the units */
	bool mending; /* some lane mends */
	size_t next_lane;
	size_t new_machines; /* not made yet, and not given up */
	int64_t running;
};

struct steps_limits {
	/* How many nodes of a pool may be down at a time, how many go first, and creates of a
	 * provider run at a time; 0: no limit, none, no limit. */
	int64_t (*may_be_down)(void *arg, const char *pool);
	int64_t (*canary)(void *arg, const char *pool); /* NULL: none */
	int64_t (*creates)(void *arg, const char *provider);
	void *arg;
	/* May a node of the pool be configured only once the addresses of all new machines are
	 * known? NULL: no. */
	bool (*sees_fleet)(void *arg, const char *pool);
};

/* ERR_CONFLICT: the changes wait for each other, or something that is replaced would take more
 * nodes of a pool down at once than may be. */
must_check int steps_make(struct arena *a, const struct plan *p, const struct steps_limits *l,
			  struct steps *out, struct err *e);
/* The next step that may begin now, taken; SIZE_MAX: none. */
size_t steps_take(struct steps *s);
/* Its end: frees what waited for it, or skips it (and all behind it) when it failed. Gives the
 * number skipped. */
size_t steps_end(struct steps *s, size_t i, bool ok);
/* A pool whose canary nodes are done while others wait for them: it is for the caller to find out
 * whether they are well, and to say so. SIZE_MAX: none. Each is given once. */
size_t steps_take_proof(struct steps *s);
/* Of steps.pools: the others follow, or what has not begun is skipped. Gives the number skipped. */
size_t steps_prove(struct steps *s, size_t pool, bool well);
/* Step i failed for want of room, which others like it would as well: those that have not begun are
 * skipped, unless something is still to be unmade there. whole_provider: not only those of its
 * pool. Gives the number skipped, and of how many machines. */
size_t steps_no_room(struct steps *s, size_t i, bool whole_provider, size_t *machines);
/* Nodes of the pool that have not begun. */
size_t steps_left_out(const struct steps *s, size_t pool);
/* Everything not begun is skipped. Gives the number. */
size_t steps_skip_rest(struct steps *s);

#endif
