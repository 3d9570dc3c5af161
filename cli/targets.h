/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/targets.h - the hosts that run, exec, ssh and copy speak to: nodes of the spec, or of an
 * Ansible inventory (-i), each with how to reach it.
 */
#ifndef MUSTER_CLI_TARGETS_H
#define MUSTER_CLI_TARGETS_H

#include "cli/cli.h"

struct target {
	const char *name;
	struct host_opts host;
	const struct value *vars;   /* unevaluated */
	const struct value *groups; /* list of names */
};

struct targets {
	VEC(struct target *) v;
	const struct inv *inv; /* NULL: from the spec */
	struct run_world world;
};

/* How to log in, from the command line; wins over what inventory and spec say. */
struct login_opts {
	const char *inventory, *user, *key, *connection;
	bool become;
	const char *become_user;
};

#define LOGIN_ROWS(st)                                                                            \
	{ "inventory",	'i',                                                                      \
	  OPT_STR,	offsetof(struct st, login.inventory),                                     \
	  "FILE|HOSTS", "an Ansible inventory, or host1,host2,",                                  \
	  NULL },                                                                                 \
		{ "user",  'u',                                                                   \
		  OPT_STR, offsetof(struct st, login.user),                                       \
		  "NAME",  "log in as this user",                                                 \
		  NULL },                                                                         \
		{ "private-key",      0,	 OPT_STR, offsetof(struct st, login.key), "FILE", \
		  "private key file", "key-file" },                                               \
		{ "connection", 'c',                                                              \
		  OPT_ENUM,	offsetof(struct st, login.connection),                            \
		  "ssh|local",	"how to reach the hosts",                                         \
		  NULL },                                                                         \
		{ "become", 'b',                                                                  \
		  OPT_FLAG, offsetof(struct st, login.become),                                    \
		  NULL,	    "act as root, through sudo",                                          \
		  "sudo" },                                                                       \
	{                                                                                         \
		"become-user", 0, OPT_STR, offsetof(struct st, login.become_user), "NAME",        \
			"act as this user, through sudo", NULL                                    \
	}

/*
 * Hosts that `expression` chooses (NULL: all): an Ansible host pattern with -i, else a node set.
 * Opens the engine when the spec's nodes are asked for. Names come in inventory (spec) order.
 */
must_check int targets_find(struct cli *c, const struct login_opts *o, const char *expression,
			    struct targets *out, struct err *e);

/* Runs fn for each target, at most `parallel` at a time (0: 64), each in a task of its own. */
typedef void target_fn(void *arg, struct target *t, size_t index);
must_check int targets_each(struct cli *c, const struct targets *ts, int64_t parallel,
			    target_fn *fn, void *arg, struct err *e);

#endif
