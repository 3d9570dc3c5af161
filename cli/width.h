/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/width.h - how many columns of a terminal a text takes: none for combining characters, two for
 * most East Asian ones and emoji. Broken UTF-8 counts a column a byte.
 */
#ifndef MUSTER_CLI_WIDTH_H
#define MUSTER_CLI_WIDTH_H

#include "base/base.h"

size_t text_width(struct str text);
/* The text, or as much of it as fits, with "…" for the rest, in at most `columns`. */
void text_cut(struct buf *b, struct str text, size_t columns);

#endif
