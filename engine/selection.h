/* SPDX-License-Identifier: Apache-2.0 */
/* engine/selection.h - --limit, --target and --exclude: which addresses may change. */
#ifndef MUSTER_ENGINE_SELECTION_H
#define MUSTER_ENGINE_SELECTION_H

#include "base/base.h"

struct selectable {
	const char *addr;
	const char *node, *pool; /* machines; else NULL */
};
struct selectables {
	VEC(struct selectable) v;
};

struct selection {
	bool all;	     /* nothing was said */
	struct map chosen;   /* addr -> non-NULL */
	struct map excluded; /* the same: named by --exclude */
};

struct selection_said {
	const char *limit;
	const char *const *targets, *const *excludes;
};

/* Limit: node sets. Targets and excludes: addresses, or node sets. Words that match nothing are
 * ERR_USAGE. */
must_check int selection_make(struct arena *a, const struct selectables *all,
			      const struct selection_said *said, struct selection *out,
			      struct err *e);
bool selection_excludes(const struct selection *s, const char *addr);
bool selection_has(const struct selection *s, const char *addr);

#endif
