/* SPDX-License-Identifier: Apache-2.0 */
/* engine/world.h - what the plays of one node see of the fleet, and which plays are for it. */
#ifndef MUSTER_ENGINE_WORLD_H
#define MUSTER_ENGINE_WORLD_H

#include "engine/context.h"

/* Groups (pools and "all") and hostvars of the whole fleet, with addresses as recorded in
 * `recorded` (addr -> struct state_resource *). */
void world_make(struct engine *en, const struct map *recorded);
/* A machine's address became known or another: later plays see it. */
void world_learn(struct engine *en, const struct state_resource *r);
/* First member of what run_opts.arg points to. */
struct world_host {
	const struct node *node;
};
/* For run_opts.play_matches; arg: a struct world_host. "all", "*", pool and node names and globs of
 * them, lists with , or :, !without, &both. */
bool world_play_matches(void *arg, const char *pattern, const char *host);
const struct value *world_groups_of(struct arena *a, const struct node *n);
const char *world_address(const struct value *attrs); /* of a machine; NULL if it has none */

#endif
