/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/folded.h - what many nodes answered, or why they did not, once for all who said the same.
 *
 * Both are made for ten thousand nodes: adding costs a digest of the text, and equal texts are kept
 * once. Everything is in the arena that was given.
 */
#ifndef MUSTER_CLI_FOLDED_H
#define MUSTER_CLI_FOLDED_H

#include "cli/cli.h"

/* Failures, by cause. Where a message speaks of the node's own address, that is no difference. */
struct failures {
	struct arena *a;
	struct map by_cause;
	VEC(struct failure *) v; /* in the order of their first node */
	size_t n;		 /* nodes */
};

void failures_init(struct failures *f, struct arena *a);
/* name: of the node; address: how messages call it (may be NULL). e is copied. */
void failures_add(struct failures *f, const char *name, const char *address, const struct err *e);
void failures_show(struct cli *c, const struct failures *f);

/* Answers. */
struct text_group {
	int status;
	bool cut;
	struct str out, err; /* in the arena */
	VEC(const char *) names;
};

struct text_groups {
	struct arena *a;
	struct map by_digest;
};

void text_groups_init(struct text_groups *g, struct arena *a);
/* The group of those who answered so; out and err are copied when they are the first. */
struct text_group *text_groups_find(struct text_groups *g, int status, bool cut, struct str out,
				    struct str err);

#endif
