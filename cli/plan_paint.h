/* SPDX-License-Identifier: Apache-2.0 */
/* cli/plan_paint.h - the pieces that plan text and Markdown share. */
#ifndef MUSTER_CLI_PLAN_PAINT_H
#define MUSTER_CLI_PLAN_PAINT_H

#include "cli/plan_fold.h"
#include "cli/view.h"

struct painter {
	struct buf *b;
	struct arena *a;
	const struct plan_view *how;
	bool color;
	const char *indent; /* before the symbol of an entry */
	bool cut;	    /* node sets, even of what is destroyed: there is no room */
	bool drift;	    /* tells what was found, not what will be done */
};

/* "~ 16 nodes h100-[0-15]: configure (...)   reboot, ~14 min each, 2 at a time" */
void paint_head(struct painter *p, const struct fold_entry *en);
void paint_body(struct painter *p, const struct fold_entry *en); /* its fields and diffs */
/* A blank line and the nodes that could not be asked; nothing if all could. */
void paint_unreachable(struct painter *p, const struct plan *plan);
/* The same for nodes that were chosen and can't be touched, for each reason. */
void paint_left_out(struct painter *p, const struct plan *plan);
void paint_summary(struct painter *p, const struct plan *plan); /* without the end of the line */

#endif
