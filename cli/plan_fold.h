/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/plan_fold.h - the changes of a plan as few entries: those that differ only in their node are
 * one. What destroys comes first; a list of ten thousand equal changes is one entry.
 */
#ifndef MUSTER_CLI_PLAN_FOLD_H
#define MUSTER_CLI_PLAN_FOLD_H

#include "cli/view.h"

struct fold_entry {
	const struct change *first;
	VEC(const struct change *) members; /* at least `first` */
	bool equal;			    /* all of them, but for the node */
	/* of first->fields: the values are not the same for all. NULL: they are */
	bool *varies;
	int64_t canary;		/* so many go first; 0: all alike */
	int64_t at_a_time;	/* so many may be down at a time; 0: no limit that counts here */
#define FOLD_LIMITS_DIFFER (-1) /* from pool to pool */
	int64_t each_ms;	/* how long one took before; 0: not known */
	size_t pools;		/* that the members are of */
};
struct fold {
	VEC(struct fold_entry) v;
	size_t destructive; /* so many of the first entries destroy something */
};

/* how->full: every change is its own entry. how->diff: changes whose diffs differ are not equal. */
void plan_fold(struct arena *a, const struct plan *p, struct change *const *changes, size_t n,
	       const struct plan_view *how, struct fold *out);
/* The members' nodes as one node set; of things that are no nodes, the address. */
char *fold_names(struct arena *a, const struct fold_entry *en);
/* Destroys something, or takes it out of the fleet. */
bool fold_is_destructive(const struct change *ch);

#endif
