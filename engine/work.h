/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/work.h - what the steps of one run share: the record as it moves, the journal, the counts.
 * For engine/ only.
 *
 * The rule of every step: work_intent (durable when it returns), act, work_settle (outcome and
 * record in one transaction).
 */
#ifndef MUSTER_ENGINE_WORK_H
#define MUSTER_ENGINE_WORK_H

#include "engine/absence.h"
#include "engine/commit.h"
#include "engine/context.h"

/* A create that an earlier run left open: its token is used again. */
struct open_create {
	const struct journal_row *row;
	struct open_create *before; /* of the same address, by a run before that */
};

/* What the history says of a step beside what came of it: kept while it runs. */
struct step_note {
	const char *action;
	int64_t started;   /* clock_now() */
	const char *after; /* the step whose end let it begin: "create node.web[3]"; NULL: none */
	/* "needs": what it rests on; "turn": a limit (parallel, max_unavailable) */
	const char *wait;
	bool told; /* its event is written */
};

struct work {
	struct engine *en;
	struct arena *a; /* of the run */
	struct committer commit;
	struct want want;
	struct map recorded;	  /* addr -> struct state_resource *, NULL once it is gone */
	struct absentees deleted; /* by this run; items: struct state_resource, as it was */
	struct map open; /* addr -> struct open_create *, the last one: left open by earlier runs */
	struct map running; /* addr -> struct step_note *: the step that is on it, or NULL */
	const char *admin_key;
	struct apply_result *result;
};

/* Fills recorded, open and want from the state and the spec. */
must_check int work_load(struct work *w, struct err *e);
must_check int work_intent(struct work *w, struct journal_row *row,
			   struct err *e); /* sets row->seq */
/* put and del as in journal_settle; what is put is copied and becomes the record. */
must_check int work_settle(struct work *w, const struct journal_row *row,
			   enum journal_outcome outcome, const struct err *why,
			   const struct state_resource *put, struct err *e);
must_check int work_settle_gone(struct work *w, const struct journal_row *row, struct err *e);
/* What happened to addr. The event of a running step tells its action, duration and wait as well. */
must_check int work_event(struct work *w, const char *addr, const char *what, const struct err *why,
			  struct err *e);
const struct state_resource *work_recorded(const struct work *w, const char *addr);
/* A sealed copy of v for the state (NULL stays NULL). */
must_check int work_seal(struct work *w, const struct value *v, const struct value **out,
			 struct err *e);
/* The row of a resource just made or seen again; memory from the run's arena. */
struct made {
	const char *addr, *kind, *provider, *provider_type, *name, *pool, *token;
	const struct value *want;      /* sealed */
	const struct value *host_keys; /* list of public keys, or NULL */
	const char *const *deps;
	size_t n_deps;
	const struct resource_seen *seen;
	enum resource_status status;
};
must_check int work_row(struct work *w, const struct made *m, struct state_resource **out,
			struct err *e);

#endif
