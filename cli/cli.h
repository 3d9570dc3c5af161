/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/cli.h - the only room that reads argv, prints, or exits. A command is a row (list.h): its
 * flags are preconditions, satisfied once for all commands before it runs; it returns an exit code,
 * or -1 with *e filled.
 */
#ifndef MUSTER_CLI_CLI_H
#define MUSTER_CLI_CLI_H

#include "cli/opt.h"
#include "engine/engine.h"

enum exit_code {
	EXIT_DONE = 0,
	EXIT_ERROR = 1,
	EXIT_CHANGES = 2, /* with --detailed-exitcode */
	EXIT_DRIFT = 3,
	EXIT_PARTIAL = 4, /* some nodes failed within the failure budget */
	EXIT_REFUSED = 6, /* more nodes failed than the failure budget allows */
	EXIT_USAGE = 64,
};

struct globals {
	const char *file, *chdir, *state, *limit, *color, *json_into, *ssh_config;
	bool json, quiet, help;
	int verbose;
	int64_t heartbeat_ms; /* 0: the default */
	struct opt_list vars; /* K=V, @FILE */
};

enum command_flags {
	NEEDS_SPEC = 1,	   /* c->spec and c->fleet are loaded, or all faults are printed */
	MAY_SPEC = 2,	   /* the same if the file exists */
	NEEDS_STATE = 4,   /* c->state is open; made if absent */
	READS_STATE = 8,   /* c->state is open, or NULL where none was ever written */
	NEEDS_LOOP = 16,   /* runs inside a task */
	STOP_AT_ARG = 32,  /* what follows the first argument is not ours to parse */
	HIDDEN = 64,	   /* not in help */
	TAKES_NODES = 128, /* completion offers node names */
	EVENTS = 256,	   /* --json is one event a line */
	RECORDED = 512,	   /* its events also go to .muster/runs */
};

struct cli;

struct command {
	const char *name;
	const char *args;    /* "NODESET -- CMD..." */
	const char *summary; /* one phrase */
	const char *text;    /* a paragraph or two, for help and the manual */
	const struct opt *opts;
	size_t opts_size;
	unsigned flags;
	int (*run)(struct cli *c, struct err *e);
};

struct cli {
	struct arena *a;
	struct globals g;
	const struct command *cmd;
	void *opts; /* cmd->opts_size bytes, filled by cmd->opts */
	struct opt_args args;
	const char *command_line;	/* for the history: without the values of variables */
	const struct value *extra_vars; /* from -e; NULL if none */
	const char *spec_file;
	const char *secret_dir; /* where secret('file:...') starts; NULL: beside the spec */
	const char *state_dir;	/* absolute: .muster beside the spec */
	const char *self;	/* absolute path of this program */
	const char *who;	/* user@host */
	struct spec *spec;
	struct fleet *fleet;
	struct state *state;
	struct engine *engine;
	struct group *fan; /* work on nodes without the engine, which a signal ends; NULL: none */
	bool out_tty, err_tty, color_out, color_err;
	bool interactive;	   /* may ask: stdin is a terminal and CI is not set */
	struct value *diagnostics; /* errors that were shown; NULL: none */
	bool keep_hangup;	   /* started with SIGHUP ignored (nohup) */
	int signalled;		   /* SIGINT, SIGTERM or SIGHUP that stopped the run */
};

extern const struct command *const commands[]; /* NULL-terminated, in help's order */
extern const struct opt global_opts[];
const struct command *command_find(const char *name);

/* cli/session.c: what several commands need. */
/* loads spec and fleet; prints all faults itself, then -1 with kind ERR_NONE */
must_check int session_spec(struct cli *c, struct err *e);
const char *session_state_path(struct cli *c);
must_check int session_state(struct cli *c, unsigned flags, struct err *e);
/* c->engine, with signals wired to it and events to the progress display. `base` may carry the
 * command's own settings. */
must_check int session_engine(struct cli *c, struct engine_opts *o, struct err *e);
/* What a signal does: the first time no new steps, the second time at once. c->fan ends the first
 * time. */
void session_stop(struct cli *c, int signo);
void session_catch_signals(struct cli *c); /* session_stop for each, from now on */
const char *const *session_roles(struct cli *c);
/* shipped data: MUSTER_SHARE, beside the program in a source tree, or the installed place */
const char *session_share_dir(void);
/* "yes" only; never asks in CI */
must_check int session_confirm(struct cli *c, const char *question, const char *flag,
			       struct err *e);
must_check int session_no_args(const struct cli *c, struct err *e);
must_check int session_arg_count(const struct cli *c, size_t min, size_t max, struct err *e);
/* Names of all nodes of the fleet, or of the state when there is no spec, that --limit and
 * `expression` choose. */
must_check int session_nodes(struct cli *c, const char *expression, struct names *out,
			     struct err *e);
void session_groups(struct cli *c, const struct select_group **groups, size_t *n);

#endif
