/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/spec_text.h - places inside the texts of a YAML file: from "column 7 of this
 * expression" to a column of the line that a person sees.
 */
#ifndef MUSTER_INVENTORY_SPEC_TEXT_H
#define MUSTER_INVENTORY_SPEC_TEXT_H

#include "base/base.h"

/* Moves the position of every string in v that may hold an expression or node set from its quote or
 * "|" to its first character. */
void spec_text_adjust(struct value *v, struct str file_text);
/* The place that lies `inside` (line and column from 1) a text that begins at `begin`. */
struct pos spec_text_pos(struct pos begin, struct pos inside);

#endif
