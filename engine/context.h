/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/context.h - the engine between calls: its options, opened providers, and what ^C must
 * reach. For engine/ only.
 */
#ifndef MUSTER_ENGINE_CONTEXT_H
#define MUSTER_ENGINE_CONTEXT_H

#include "engine/engine.h"
#include "engine/want.h"

/* Clouds count them apart. */
enum ask_kind { ASK_READ, ASK_WRITE, ASK_KINDS };

struct engine_provider {
	const char *name;
	const struct spec_provider *spec; /* of the spec, or as it was recorded */
	const struct provider_type *type;
	struct provider *p; /* NULL until it is used */
	struct engine *en;
	struct limit all;		/* its ceiling, as the spec says */
	struct limit limits[ASK_KINDS]; /* what it takes, as it turns out */
};

struct committer;

struct engine {
	struct arena *a; /* lives as long as the engine */
	struct engine_opts o;
	struct map providers; /* name -> struct engine_provider * */
	struct map configs;   /* pool name -> struct pool_config * (pool_config.h) */
	struct run_world world;
	bool world_made;
	struct map seen; /* addr -> struct resource_seen *: the last observation, fresher than the
			    record */
	struct group *work;	  /* what runs now */
	struct task_sem *tick;	  /* the walker's dispatcher, while it walks */
	struct committer *commit; /* that runs now, or NULL */
	bool stopping, aborting;
	struct err fatal;	    /* lease or journal lost: nothing may act any more */
	const char *run;	    /* id, while a run is on */
	const struct value *source; /* of the runs to come: see engine_note_source */
};

/* The provider of that name, opened. Known from the spec, else from what was recorded about it. */
must_check int context_provider(struct engine *en, const char *name, struct engine_provider **out,
				struct err *e);
/* Its type alone, not opened; NULL if nothing is known. */
const struct provider_type *context_provider_type(struct engine *en, const char *name);
/* Keeps what a later run without a spec needs to open the providers in use. Writes only what is not
 * so recorded. */
must_check int context_record_providers(struct engine *en, struct err *e);
void context_emit(struct engine *en, const struct engine_event *ev);
/* ERR_CANCELLED after ^C; en->fatal */
must_check int context_check(const struct engine *en, struct err *e);
/* The run can't go on: what runs is cancelled. The first cause stays. */
void context_end(struct engine *en, const struct err *why);

/* Reads; an engine without a state has an empty record. */
must_check int context_resources(struct engine *en, struct arena *a, struct state_resources *out,
				 struct err *e);
must_check int context_intents(struct engine *en, struct arena *a, struct journal_rows *out,
			       struct err *e);
must_check int context_serial(struct engine *en, int64_t *out, struct err *e);
must_check int context_meta(struct engine *en, struct arena *a, const char *key, const char **out,
			    struct err *e);

#endif
