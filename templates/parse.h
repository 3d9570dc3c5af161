/* SPDX-License-Identifier: Apache-2.0 */
/* templates/parse.h - text to tree. */
#ifndef MUSTER_TEMPLATES_PARSE_H
#define MUSTER_TEMPLATES_PARSE_H

#include "templates/ast.h"

/* A template: N_BODY. flags: TEMPLATE_TRIM_BLOCKS and TEMPLATE_KEEP_NEWLINE count. */
must_check int parse_template(struct arena *a, struct str text, struct pos where, unsigned flags,
			      struct node **out, struct err *e);

#endif
