/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/hostlist.h - node sets in ClusterShell/Slurm syntax: "gpu[001-512,600],login1", several
 * brackets, zero padding, steps ("[0-8/2]").
 */
#ifndef MUSTER_INVENTORY_HOSTLIST_H
#define MUSTER_INVENTORY_HOSTLIST_H

#include "base/base.h"

#define HOSTLIST_MAX 1000000 /* names that one expression may expand to */

struct names {
	VEC(const char *) v;
};

/* Appends the expansion of `text` in written order; ERR_USAGE with the column of the fault.
 * Duplicates are kept. */
must_check int hostlist_expand(struct arena *a, struct str text, struct names *out, struct err *e);
/* The shortest text: sorted numerically, folded: "gpu[001-004,007],login1". Linear in n log n. */
void hostlist_fold(struct buf *b, struct arena *a, const char *const *names, size_t n);
int hostlist_compare(const char *x, const char *y); /* natural order: gpu9 < gpu10 */
/* The end of the term that begins at i: the next of the characters `stops` that is not inside
 * brackets, or the end of s. */
size_t hostlist_term_end(struct str s, size_t i, const char *stops);

#endif
