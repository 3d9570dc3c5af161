/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/waves.h - how a pool's changes roll, as it is told, and whether its canary nodes are well.
 * What may begin when is decided by steps.h.
 */
#ifndef MUSTER_ENGINE_WAVES_H
#define MUSTER_ENGINE_WAVES_H

#include "engine/steps.h"
#include "engine/work.h"

/* Each pool that does not go all at once. */
void waves_begin(struct work *w, const struct steps *s);
/* Waits for as long as the pool's `soak` says, and looks at each of its canary nodes: is it there,
 * does it run, can one log in? -1: one is not well, and *e says which; or ERR_CANCELLED. a: of the
 * caller's task. */
must_check int waves_prove(struct work *w, struct arena *a, const struct steps *s, size_t pool,
			   struct err *e);
/* The others follow. */
void waves_open(struct work *w, const struct steps *s, size_t pool);
/* They don't. Kept in the result as well. */
void waves_stop(struct work *w, const struct steps *s, size_t pool, const char *node);
/* No room for nodes like the one of step i: so many others are not asked for. */
void waves_no_room(struct work *w, const struct step *x, size_t nodes, const struct err *why);

#endif
