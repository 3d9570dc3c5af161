/* SPDX-License-Identifier: Apache-2.0 */
/* base/yaml_fault.h - what is wrong with text that is no YAML at all, in words that say how to mend
 * it. Used by yaml.c only. */
#ifndef MUSTER_BASE_YAML_FAULT_H
#define MUSTER_BASE_YAML_FAULT_H

#include <yaml.h>

#include "base/str.h"

/* A text and where its lines begin, for turning libyaml's marks (lines and characters from 0) into
 * positions. */
struct yaml_text {
	const char *file;
	struct str text;
	size_t *line; /* byte offset of each line */
	size_t lines;
	/* the last mark: the next one is mostly further on in its line */
	size_t seen_line, seen_col, seen_byte;
};

void yaml_text_init(struct yaml_text *t, struct arena *a, const char *file, struct str text);
struct pos yaml_text_pos(struct yaml_text *t, yaml_mark_t mark);
struct pos yaml_text_pos_at(const struct yaml_text *t, size_t offset);

/* Bytes that no YAML may have: invalid UTF-8 and control characters. -1 with the first one's
 * position. */
must_check int yaml_text_check(const struct yaml_text *t, struct err *e);
/* The fault that stopped the parser; returns -1. */
int yaml_fault(struct yaml_text *t, const yaml_parser_t *parser, struct err *e);

#endif
