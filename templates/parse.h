/* SPDX-License-Identifier: Apache-2.0 */
/* templates/parse.h - text to tree. */
#ifndef MUSTER_TEMPLATES_PARSE_H
#define MUSTER_TEMPLATES_PARSE_H

#include "templates/ast.h"

/* A template: N_BODY. trim_blocks: drop the newline after a block tag; keep_newline: keep the one at the very end. */
must_check int parse_template(struct arena *a, struct str text, struct pos where, bool trim_blocks, bool keep_newline,
			      struct node **out, struct err *e);

#endif
