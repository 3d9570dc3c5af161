/* SPDX-License-Identifier: Apache-2.0 */
/* templates/lookup.h - lookup('name', ...) and query: what reaches the machine that muster runs on,
 * each by its name. */
#ifndef MUSTER_TEMPLATES_LOOKUP_H
#define MUSTER_TEMPLATES_LOOKUP_H

#include "templates/call.h"
#include "templates/eval.h"

/* list: query, or wantlist=true. */
const struct value *lookup_run(struct eval *ev, struct call *c, bool list);
const char *lookup_name(size_t i); /* all that there are, in order; NULL past the last */

#endif
