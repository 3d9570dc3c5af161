/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/select.h - which nodes: "h100-[0-3],login-0", addresses "node.h100[0-3]" or
 * "h100[0-3]", "@pool", "@all", globs "gpu*", and set operators A&B (both), A!B (without), A,B
 * (either), left to right.
 */
#ifndef MUSTER_INVENTORY_SELECT_H
#define MUSTER_INVENTORY_SELECT_H

#include "inventory/hostlist.h"

struct select_group {
	const char *name; /* for "@name" and "name[0-3]" */
	const char *const *members;
	size_t n;
};

/* What to choose from. */
struct select_from {
	const char *const *all;
	size_t n;
	const struct select_group *groups;
	size_t n_groups;
};

/* Chosen names in the order of `all`. Names that match nothing are ERR_USAGE with a suggestion.
 * expression NULL or "": all. */
must_check int select_names(struct arena *a, struct str expression, const struct select_from *from,
			    struct names *out, struct err *e);

#endif
