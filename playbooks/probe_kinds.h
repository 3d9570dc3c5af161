/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/probe_kinds.h - how each kind of request is put to a host and how its answers are told
 * apart. For probe.c.
 *
 * A kind's shell text writes one of three shapes; nothing is written where there is nothing to say:
 *   named   lines that bear the request's key (stat, sha256sum, getent, dpkg-query); the payload is
 * the whole line (or lines) lines   "INDEX payload", INDEX is the request's place in the batch
 * blocks
 * "=INDEX", base64 lines, "."; the payload is what was encoded
 */
#ifndef MUSTER_PLAYBOOKS_PROBE_KINDS_H
#define MUSTER_PLAYBOOKS_PROBE_KINDS_H

#include "playbooks/probe.h"

enum probe_shape { SHAPE_NAMED, SHAPE_LINES, SHAPE_BLOCKS };

struct probe_kind_row {
	const char *name; /* for tests and messages */
	enum probe_shape shape;
	/* Text for a part of a batch; `base` is the index of its first request. */
	void (*emit)(struct buf *b, struct probe_req *const *reqs, size_t n, size_t base);
	/* named: the key that a line bears, and a second one under which it may have been asked for
	 * (or empty) */
	void (*keys)(struct arena *a, struct str line, struct str *key, struct str *also);
};

extern const struct probe_kind_row probe_kinds[PROBE_KINDS];
extern const char probe_functions[]; /* shell functions that the texts use */

#endif
