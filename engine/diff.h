/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/diff.h - want x recorded x observed -> change, for one resource. Pure: no clock, no
 * connection, no state.
 *
 * A difference that the spec asks for is CAUSE_SPEC; one that appeared outside (want and record
 * agree, what is there differs) is CAUSE_OUTSIDE: drift.
 */
#ifndef MUSTER_ENGINE_DIFF_H
#define MUSTER_ENGINE_DIFF_H

#include "engine/engine.h"

struct diff_deps {
	VEC(const char *) v; /* addresses */
};

struct diff_input {
	const char *addr, *kind, *provider, *node, *pool; /* node, pool: machines */
	const char *moved_from;	    /* the provider that has it, when the spec names another now */
	const struct field *fields; /* rows of the type; NULL: unknown type (deleted provider) */
	bool can_update;
	bool owned;		  /* a machine that exists without us */
	const struct value *want; /* sealed; NULL: not in the spec (any more) */
	struct diff_deps want_deps;
	const struct value *recorded; /* sealed attributes once asked for; NULL: nothing recorded */
	struct diff_deps recorded_deps;
	const char *id;	  /* recorded or, after an interrupted create, seen */
	bool interrupted; /* a create is in the journal without an end */
	bool deleting;	  /* a delete is in the journal without an end */
	bool tainted;	  /* recorded as left unfinished */
	bool configures;  /* a configuration follows, which mends what was left unfinished */
	bool looked;	  /* the provider was asked; false: the record stands for what is there */
	const struct value *seen; /* NULL: not there */
	const char *status;	  /* of what was seen */
};

struct diff_output {
	struct change *change; /* NULL: nothing to do */
	struct change *drift;  /* NULL: nothing was changed outside */
};

void diff_resource(struct arena *a, const struct diff_input *in, struct diff_output *out);
/* Makes a change of something that stays into a replacement (what it depends on is replaced). */
struct change *diff_force_replace(struct arena *a, const struct diff_input *in, struct change *c,
				  const char *reason);

/* What a probe of a node found. */
struct node_probe {
	bool probed, unreachable;
	struct err err; /* unreachable, or a task that failed while deciding */
	bool failed;
	VEC(struct field_change) fields; /* cause is not set yet */
	VEC(const char *) notes;	 /* of failed tasks */
	bool reboot;
	uint64_t trips;
};

struct diff_config_input {
	const char *addr, *provider, *node, *pool;
	bool wanted;	      /* the pool has playbooks or roles */
	bool owned;	      /* as in struct diff_input */
	const char *digest;   /* of playbooks, roles and vars now */
	const char *recorded; /* digest last applied; NULL: never */
	bool tainted;	      /* the last one failed */
	bool fresh; /* the machine is (re)made in the same plan: nothing can be known about it */
	/* nodes came or went since: files that list them change for that reason */
	bool fleet_moved;
	const struct node_probe *probe; /* NULL: not probed */
};
void diff_config(struct arena *a, const struct diff_config_input *in, struct diff_output *out);

const char *change_action_name(enum change_action a); /* "create", ... */
const char *change_cause_name(enum change_cause c);   /* "spec", "outside", "both" */

#endif
