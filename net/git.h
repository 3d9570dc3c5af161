/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/git.h - what git knows about the files of a spec, and the files of an older commit.
 *
 * Only reads, only this machine: nothing is fetched, no hook, filter or helper runs, and neither
 * index nor references are written. A repository that belongs to another user is refused, as git
 * itself does (ERR_AUTH). libgit2 is loaded when first asked, so that commands that need no history
 * do not pay for it. In a task the work is done on another thread, within a deadline. Results are
 * in the arena.
 */
#ifndef MUSTER_NET_GIT_H
#define MUSTER_NET_GIT_H

#include "base/base.h"

struct git_question {
	const char *dir;	  /* of the spec: the repository is looked for from here upwards */
	const char *const *files; /* that were read; those outside of the work tree don't count */
	size_t n_files;
	const char *state_dir; /* muster's own, never a change; may be NULL */
	int64_t timeout_ms;    /* 0: 20 s */
};

struct git_facts {
	const char *root;   /* the work tree, absolute */
	const char *path;   /* of dir inside it; "" for its root */
	const char *commit; /* 40 hex digits; NULL: nothing was committed yet */
	const char *branch; /* NULL: HEAD is detached */
	/* dirty: a tracked file below dir, or one of `files`, is not as committed; the first such */
	bool dirty;
	const char *changed;
};

/* ERR_NOT_FOUND: not in a work tree, or no libgit2 here. ERR_AUTH: somebody else's. */
must_check int git_look(struct arena *a, const struct git_question *q, struct git_facts *out,
			struct err *e);

struct git_order {
	const char *dir;    /* somewhere in the repository */
	const char *commit; /* 40 hex digits */
	const char *path;   /* the folder of the commit that is needed: "" for all */
	const char *into;   /* an empty folder */
	int64_t timeout_ms; /* 0: 120 s */
};

struct git_files {
	size_t n;
	uint64_t bytes;
	bool whole;	 /* the whole tree, not `path` alone */
	size_t pointers; /* files below path that Git LFS keeps elsewhere; the first such */
	const char *pointer;
};

/*
 * Writes the commit's files from the object database: all of them if they are few enough (a spec
 * may name files beside its folder), else those below path. ERR_NOT_FOUND: no such commit here.
 * ERR_CONFLICT: there is something below path that can't be given back (a submodule, a link that
 * leads out), or too much. On failure what was written stays: the caller removes the folder.
 */
must_check int git_checkout_into(struct arena *a, const struct git_order *o, struct git_files *out,
				 struct err *e);

#endif
