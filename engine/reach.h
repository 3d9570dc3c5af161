/* SPDX-License-Identifier: Apache-2.0 */
/* engine/reach.h - how to log in to a node, and an open connection to it. For engine/ only; the
 * public part is engine_reach. */
#ifndef MUSTER_ENGINE_REACH_H
#define MUSTER_ENGINE_REACH_H

#include "engine/context.h"

struct reach_node {
	const char *name, *addr, *provider;
	const struct spec_pool *pool;	  /* NULL: the spec does not know it (any more) */
	const struct resource_seen *seen; /* as observed, or made from the record */
	const struct value *attrs; /* recorded; may be NULL. Its host keys count where the provider
				      tells none */
};

must_check int reach_opts(struct engine *en, struct arena *a, const struct reach_node *n,
			  struct host_opts *out, struct err *e);
/* Connects. With wait_ms, again and again until it answers: a machine that has just been made or
 * started is not up yet. */
must_check int reach_open(struct engine *en, struct arena *a, const struct reach_node *n,
			  int64_t wait_ms, struct host **out, struct err *e);
/* The record as if it had been observed. */
struct resource_seen *reach_seen(struct arena *a, const struct state_resource *r, const char *name);

#endif
