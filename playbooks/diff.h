/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/diff.h - unified diffs of texts, bounded in time and size. */
#ifndef MUSTER_PLAYBOOKS_DIFF_H
#define MUSTER_PLAYBOOKS_DIFF_H

#include "base/base.h"

#define DIFF_OUT_MAX ((size_t)64 << 10)

/* NULL when they are equal. Three lines of context; cut with a note at DIFF_OUT_MAX. Names go into
 * the ---/+++ lines. */
const char *diff_unified(struct arena *a, struct str before, struct str after,
			 const char *before_name, const char *after_name);
bool diff_is_text(struct str s); /* valid UTF-8 without NUL */

#endif
