/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/pyre.h - regular expressions as Python's re reads them, near enough (PCRE2 inside).
 * Matching is bounded. */
#ifndef MUSTER_PLAYBOOKS_PYRE_H
#define MUSTER_PLAYBOOKS_PYRE_H

#include "base/base.h"

struct pyre;

#define PYRE_GROUPS 32

struct pyre_match {
	size_t n;		       /* groups, the whole match included */
	struct str group[PYRE_GROUPS]; /* p NULL: took no part */
	size_t start, end;
};

/* multiline: ^ and $ at lines. ERR_SPEC with the column of the fault. */
must_check int pyre_compile(struct arena *a, struct str pattern, bool multiline, struct pyre **out,
			    struct err *e);
/* Searches from `from` on; false: no match (or the match limit was reached). m may be NULL. */
bool pyre_search(const struct pyre *r, struct str subject, size_t from, struct pyre_match *m);
/* Python's match.expand: \1, \g<1>, \g<name>, \n, \t, \\. */
void pyre_expand(struct buf *b, const struct pyre *r, const struct pyre_match *m, struct str text);

#endif
