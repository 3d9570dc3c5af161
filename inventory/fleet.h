/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/fleet.h - pools expanded to nodes.
 *
 * A counted pool "h100" has nodes named h100-0 .. h100-N with addresses node.h100[0]; a pool of
 * owned hosts has one node for each host, named as written, with address node.old[gpu001.dc1]:
 * keyed by name, so that editing the list moves nobody.
 */
#ifndef MUSTER_INVENTORY_FLEET_H
#define MUSTER_INVENTORY_FLEET_H

#include "inventory/hostlist.h"
#include "inventory/spec.h"

struct node {
	const char
		*name; /* unique in the cluster; also the hostname for machines that muster makes */
	const char *addr; /* node.POOL[KEY] */
	const struct spec_pool *pool;
	int64_t index;		  /* within the pool */
	const char *host;	  /* owned hosts: the name to connect to; else NULL */
	const struct value *vars; /* cluster vars < pool vars, unevaluated */
};

struct fleet {
	const struct spec *spec;
	VEC(struct node *) nodes; /* pools in spec order, then index */
	struct map by_name, by_addr;
};

must_check int fleet_expand(struct arena *a, const struct spec *s, struct fleet **out,
			    struct err_list *errs);

#endif
