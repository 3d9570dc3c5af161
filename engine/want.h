/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/want.h - the spec and its fleet as a flat list of wanted resources.
 *
 * Networks (those of the spec, and an implicit "default" one for a provider whose pools name none),
 * then machines in fleet order. Attributes follow the rows of the resource type, in one canonical
 * form (bytes and durations as numbers), so that they can be compared. Pure.
 */
#ifndef MUSTER_ENGINE_WANT_H
#define MUSTER_ENGINE_WANT_H

#include "inventory/inventory.h"
#include "providers/providers.h"

struct want_item {
	const char *addr, *kind;
	const char *provider;	 /* name in the spec */
	const char *name;	 /* the object's own */
	const char *pool;	 /* machines */
	const struct node *node; /* machines */
	const struct provider_type *provider_type;
	const struct resource_type *type;
	const struct value *attrs;  /* as asked for; may hold secrets */
	const struct value *sealed; /* the same with digests in place of secrets: what is compared,
				       recorded and shown */
	VEC(const char *) deps;	    /* addresses */
};

struct want {
	VEC(struct want_item *) v;
	struct map by_addr; /* addr -> struct want_item * */
};

struct want_source {
	const struct spec *spec;
	const struct fleet *fleet;
	const struct provider_type *(*type_of)(struct str type); /* provider_type_find */
	/* Digests in place of secrets; NULL: attributes hold none. */
	int (*seal)(void *arg, struct arena *a, const struct value *v, const struct value **out,
		    struct err *e);
	void *arg;
};

must_check int want_build(struct arena *a, const struct want_source *s, struct want *out,
			  struct err *e);
const struct resource_type *want_type(const struct provider_type *p,
				      const char *kind); /* NULL: it does not serve that kind */
/* A node's name by its address, also for nodes that no fleet has any more (f may be NULL):
 * node.h100[3] is h100-3, node.old[gpu1] is gpu1. */
const char *want_node_name(struct arena *a, const struct fleet *f, const char *addr);
/* A value in the form in which attributes of this row are compared: "10 GiB" as bytes, "30m" as ms,
 * "3" as 3. Unreadable ones stay as they are. */
const struct value *want_canonical(struct arena *a, const struct field *row, const struct value *v);

#endif
