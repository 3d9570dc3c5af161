/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/yaml.h - the door to YAML (libyaml inside). Every value keeps file:line:col.
 *
 * Two dialects: a spec is YAML 1.2 core with the 1.1 traps (yes, no, on, off, 012, 1:30) refused
 * with the reason; a playbook or inventory is read as PyYAML reads it (1.1: yes is true, 0644 is
 * octal), since that is what the world's roles mean. Both refuse duplicate keys, tabs for
 * indentation, undefined aliases and unknown tags, and are bounded in size, depth, nodes and alias
 * expansion.
 */
#ifndef MUSTER_BASE_YAML_H
#define MUSTER_BASE_YAML_H

#include "base/value.h"

enum yaml_dialect { YAML_SPEC, YAML_ANSIBLE };

#define YAML_MAX_BYTES ((size_t)16 << 20)
#define YAML_MAX_DEPTH 64
#define YAML_MAX_NODES 1000000

/*
 * `file` is kept in every position: it must outlive the values. An empty document gives null. A
 * second document is a fault. All faults go to `errs`; returns -1 when there was any. Then *out is
 * NULL if the text could not be read to its end; else it is the document, with *unknown* in the
 * place of what was refused, so that a caller who checks on finds the rest of the faults in the
 * same run.
 *
 * Keys are text, as written. In a spec a plain key that reads as null, a boolean or a float is
 * refused (not `on`, `yes` or an integer); lists and maps are no keys in either dialect.
 */
must_check int yaml_parse(struct arena *a, const char *file, struct str text,
			  enum yaml_dialect dialect, struct value **out, struct err_list *errs);
/* Where a map's key was written (its value's own position is value->pos); line 0 if unknown. */
struct pos yaml_key_pos(const struct value *map, const char *key);
/* block style; secrets "(sensitive)" */
void yaml_write(struct buf *b, const struct value *v, unsigned indent);

enum yaml_flow {
	YAML_BLOCK, /* a line an item */
	YAML_FLOW,
	YAML_MIXED, /* collections of scalars alone in braces and brackets */
};

struct yaml_style {
	int indent, width;
	enum yaml_flow flow;
	bool sort, explicit_start, explicit_end, escape_unicode;
	char quote; /* of every scalar: '"', '\'', '|', '>'; 0: as it needs */
};

/* As PyYAML's yaml.dump writes it (libyaml's emitter), secrets in clear. A list or map that is
 * there twice, by address, is written once: &id001. */
must_check int yaml_emit(struct buf *b, const struct value *v, const struct yaml_style *style,
			 struct err *e);

#endif
