/* SPDX-License-Identifier: Apache-2.0 */
/* templates/regex.h - Python's re over PCRE2, bounded in steps. */
#ifndef MUSTER_TEMPLATES_REGEX_H
#define MUSTER_TEMPLATES_REGEX_H

#include "base/base.h"

struct regex;

enum regex_flags {
	REGEX_IGNORECASE = 1,
	REGEX_MULTILINE = 2,
	REGEX_ANCHORED = 4,
	REGEX_DOTALL = 8
};

/* Freed with the arena. ERR_SPEC tells where the pattern is wrong. */
struct regex *regex_new(struct arena *a, struct str pattern, unsigned flags, struct err *e);

struct regex_match {
	size_t n;	   /* groups, the whole match included */
	struct str *group; /* p NULL: did not take part */
	size_t begin, end;
};

/* *found; -1 when it takes too many steps. Groups point into `text`. */
must_check int regex_find(struct regex *r, struct str text, size_t from, struct regex_match *m,
			  bool *found, struct err *e);
/* The one after m, which it replaces: as Python goes on, also behind an empty match. */
must_check int regex_find_next(struct regex *r, struct str text, struct regex_match *m, bool *found,
			       struct err *e);
/* The number of a named group, or -1. */
int regex_group(const struct regex *r, struct str name);
/* Every match replaced; `with` knows \1, \g<1>, \g<name>. */
struct regex_change {
	struct str with;
	int64_t count; /* 0: all; below: none */
	int64_t done;  /* how many were replaced */
};
must_check int regex_replace(struct regex *r, struct str text, struct regex_change *change,
			     struct buf *out, struct err *e);

#endif
