/* SPDX-License-Identifier: Apache-2.0 */
/* templates/cache.h - what was parsed once is not parsed again: a condition of a play is evaluated
 * for each of a thousand nodes. */
#ifndef MUSTER_TEMPLATES_CACHE_H
#define MUSTER_TEMPLATES_CACHE_H

#include "templates/parse.h"

/* As parse_template and parse_expression. The trees stay until cache_leave; a is used when the
 * cache is full. */
must_check int cache_template(struct arena *a, struct str text, struct pos where, unsigned flags,
			      struct tree *out, struct err *e);
must_check int cache_expression(struct arena *a, struct str text, struct pos where,
				struct node **out, struct err *e);
/* Around an evaluation; nests. */
void cache_enter(void);
void cache_leave(void);

#endif
