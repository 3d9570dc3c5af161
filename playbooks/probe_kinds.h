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

#include "base/base.h"

/* Kinds of requests, in the order in which a script answers them. Each is a row of probe_kinds
 * (probe_kinds.c). */
enum probe_kind {
	PROBE_STAT,    /* key: path; the path itself */
	PROBE_STATL,   /* key: path; what it leads to */
	PROBE_LINK,    /* key: path; where a symbolic link points */
	PROBE_REAL,    /* key: path; canonical name of what it leads to */
	PROBE_SHA256,  /* key: path of a regular file */
	PROBE_SHA1,    /* the same */
	PROBE_CONTENT, /* key: path; number: at most so many bytes; extra: a sha256 whose content
			  need not be sent */
	PROBE_TIMES,   /* key: path; lstat's times, inode, links, device: for the stat module */
	PROBE_TIMESL,  /* the same, followed */
	PROBE_ACCESS,  /* key: path; what of r, w, x the user may */
	PROBE_PASSWD,  /* key: user; the line of getent passwd */
	PROBE_GROUP,   /* key: group; the line of getent group */
	PROBE_GROUPS,  /* key: user; "USER : PRIMARY OTHER...", the names of its groups */
	PROBE_SHADOW,  /* key: user; the line of getent shadow; secret */
	PROBE_PACKAGE, /* key: Debian package[:arch]; "name\tarch\twant ok state\tversion" */
	PROBE_UNIT,    /* key: systemd unit; "LoadState=...\nActiveState=...\n" */
	PROBE_SYSCTL,  /* key: a.b.c; its file's line, see answers_sysctl */
	PROBE_COMMAND, /* key: a read-only POSIX sh text; "STATUS\nOUTPUT" */
	PROBE_KINDS,
};

struct probe_req {
	enum probe_kind kind;
	struct str key;
	uint64_t number;
	struct str extra;
};

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
