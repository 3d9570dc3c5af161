/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/patch.h - the shell text that makes a task's changes.
 *
 * A fragment is POSIX sh under `set -e`, with LC_ALL=C, umask 022, stdin from /dev/null. It fails
 * by a non-zero status, and what it wrote (stdout and stderr) is the message then. Values are
 * quoted with patch_cmd or proc_quote; a format string never builds a shell line.
 */
#ifndef MUSTER_PLAYBOOKS_PATCH_H
#define MUSTER_PLAYBOOKS_PATCH_H

#include "base/base.h"

struct patch {
	struct buf text; /* the caller's; wiped, since content may be secret */
};

#define PATCH_MAX ((size_t)32 << 20)

void patch_init(struct patch *p);
void patch_fini(struct patch *p);
/* One command, each argument quoted; NULL ends the list. */
#define patch_cmd(p, ...) patch_argv((p), (const char *const[]){ __VA_ARGS__, NULL })
void patch_argv(struct patch *p, const char *const *argv);
/* argv followed by `|| { echo MESSAGE >&2; exit 1; }`. */
void patch_require(struct patch *p, const char *const *argv, const char *message);
void patch_raw(struct patch *p, const char *text); /* fixed text of the module, never the user's */

struct patch_file {
	const char *path;
	struct str content;
	bool set_mode;
	unsigned mode;	   /* if set_mode; else a new file gets 0644 and an old one keeps its own */
	const char *owner; /* name or number, NULL: an old file keeps its own */
	const char *group;
	const char *validate; /* command with %s for the temporary name, or NULL */
	bool backup;
	bool replace_link; /* a symbolic link is replaced, else what it leads to is written */
};
/* Writes beside the path and renames. Fails with Ansible's words when
 * the folder is missing. */
void patch_put(struct patch *p, const struct patch_file *f);
/* Functions that fragments use, once at the top of a script. */
void patch_prelude(struct buf *b);

#endif
