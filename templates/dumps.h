/* SPDX-License-Identifier: Apache-2.0 */
/* templates/dumps.h - JSON as Python's json.dumps writes it, byte for byte: files made from it are
 * compared. */
#ifndef MUSTER_TEMPLATES_DUMPS_H
#define MUSTER_TEMPLATES_DUMPS_H

#include "templates/ops.h"

struct dump_style {
	int64_t indent;		 /* < 0: one line */
	struct str comma, colon; /* between items, between key and value */
	bool sort, ascii;
};

/* Secrets in clear. */
void dump_json(struct buf *b, struct arena *a, const struct value *v,
	       const struct dump_style *style);

#endif
