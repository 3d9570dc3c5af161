/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/opt.h - table-driven options: a row is a name, a type and a place; parsing, help, manual and
 * completion come from it.
 *
 * Accepted: --name VALUE, --name=VALUE, -x VALUE, -xVALUE, and, for hands used to Terraform, -name
 * VALUE and -name=VALUE for every long name and alias of more than one letter. "--" ends options.
 * Later values win; OPT_LIST collects.
 */
#ifndef MUSTER_CLI_OPT_H
#define MUSTER_CLI_OPT_H

#include "base/base.h"

enum opt_type {
	OPT_FLAG,  /* bool; --name or --name=true|false */
	OPT_COUNT, /* int: how often it was given (-vv) */
	OPT_STR,   /* const char * */
	OPT_INT,   /* int64_t, not negative */
	OPT_SHARE, /* struct count: "3" or "10%" */
	OPT_MS,	   /* int64_t ms: "30s" */
	OPT_ENUM,  /* const char *, one of `arg` "auto|always|never" */
	OPT_LIST,  /* struct opt_list */
};

struct opt_list {
	VEC(const char *) v;
};

struct opt {
	const char *name; /* long name; NULL ends the table */
	char letter;	  /* 0: none */
	enum opt_type type;
	size_t offset;	     /* in the struct that the table describes */
	const char *arg;     /* what help shows for the value: "FILE" */
	const char *doc;     /* one phrase, no full stop */
	const char *aliases; /* "auto-approve,force", or NULL: not shown in help */
};

#define OPT_END                                        \
	{                                              \
		NULL, 0, OPT_FLAG, 0, NULL, NULL, NULL \
	}

/* A table and the struct it fills. */
struct opt_set {
	const struct opt *rows;
	void *into;
};

struct opt_args {
	VEC(const char *) v; /* what is no option */
	/* index of the first argument after "--"; SIZE_MAX if there was none */
	size_t after_dashes;
};

/* Options as they took effect, quoted for a shell: "--parallel=8", "-y" as "--yes"; of variables
 * only the name. */
struct opt_said {
	VEC(const char *) v;
};

/* A command line without the program's name, and the tables that its options are looked up in. */
struct opt_line {
	const char *const *argv;
	size_t n;
	const struct opt_set *sets;
	size_t n_sets;
	/* everything from the first non-option on is an argument (ssh NODE cmd -x) */
	bool stop_at_argument;
	struct opt_said *said; /* added to, unless NULL */
};

must_check int opt_parse(struct arena *a, const struct opt_line *line, struct opt_args *args,
			 struct err *e);
/* Sets each option of the table that is still unset from MUSTER_<NAME> (dashes become underscores).
 * Only scalars. said: as in struct opt_line. */
must_check int opt_from_env(struct arena *a, const struct opt_set *set, struct opt_said *said,
			    struct err *e);

void opt_help(struct buf *b, const struct opt *rows);	/* aligned two columns */
void opt_manual(struct buf *b, const struct opt *rows); /* scdoc definition list */

#endif
