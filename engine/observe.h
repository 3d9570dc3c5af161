/* SPDX-License-Identifier: Apache-2.0 */
/* engine/observe.h - what is there: one bulk list for each provider and kind in use, all at once. */
#ifndef MUSTER_ENGINE_OBSERVE_H
#define MUSTER_ENGINE_OBSERVE_H

#include "engine/context.h"

struct seen_list {
	const char *provider, *kind;
	const struct resource_type *type;
	struct engine_provider *ep;
	bool listed; /* false: the provider can't tell what is there */
	struct resources_seen seen;
	struct map by_id, by_token;
	/* what was made after this (wall clock) need not be shown yet; 0: all is */
	int64_t young_ms;
	struct err err;
	bool failed;
};

struct observation {
	VEC(struct seen_list *) lists;
};

/* That provider's objects of that kind will be listed. Twice is harmless. */
must_check int observe_need(struct engine *en, struct arena *a, struct observation *o,
			    const char *provider, const char *kind, struct err *e);
must_check int observe_run(struct engine *en, struct arena *a, struct observation *o,
			   struct err *e);
struct seen_list *observe_list(const struct observation *o, const char *provider,
			       const char *kind); /* NULL: not listed */
/* By id, else by token; NULL: not there. */
struct resource_seen *observe_find(const struct seen_list *l, const char *id, const char *token);
/* Made so lately that the list need not show it yet: its absence says nothing. */
bool observe_may_hide(const struct seen_list *l, const struct state_resource *r);
/* Adds everything seen, in an order of its own, to the text of a digest. */
void observe_digest(struct arena *a, const struct observation *o, struct buf *b);
/* The same of one object. */
void observe_digest_one(const struct resource_type *t, const struct resource_seen *s,
			struct buf *b);

#endif
