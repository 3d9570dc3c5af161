/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/region.h - some rows at the bottom of a terminal that are drawn again and again, and lines
 * that scroll away above them. It only makes bytes: a frame is one write, so that nothing flickers.
 *
 * The cursor stands at the start of the line below the rows and is never hidden: whatever ends the
 * program leaves a terminal that is fit for use.
 */
#ifndef MUSTER_CLI_REGION_H
#define MUSTER_CLI_REGION_H

#include "base/base.h"

#define REGION_ROWS_MAX 12

struct region {
	size_t width[REGION_ROWS_MAX]; /* of the rows on the screen */
	size_t n;		       /* how many there are */
	size_t columns, height;	       /* of the terminal; set by the caller before each call */
};

/* Takes the region's rows off the screen. */
void region_erase(struct region *r, struct buf *out);
/* After region_erase. Cut to the terminal's width; what does not fit its height is left out. */
void region_row(struct region *r, struct buf *out, struct str text);

#endif
