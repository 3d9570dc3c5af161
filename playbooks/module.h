/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/module.h - what a module is: a few pure functions over data, no connection.
 *
 * A state module says what must be known about the host (probe), decides from the answers what is
 * to change (check), and writes the script that changes it (patch). So it is tested as data, its
 * plan is its check, and many of them share one round trip. An action (command, shell) is run as
 * written: its check says whether at all (creates, removes), patch writes the script, finish reads
 * what came back. reboot and wait_for_connection need the connection itself: act. Controller-side
 * ones (debug, set_fact, ...) have a row for their name, arguments and documentation; local.c does
 * them.
 *
 * How to add one: modules/x.c, one line in list.h, cases in tests/unit/playbooks/cases/x.yaml
 * (README.md).
 */
#ifndef MUSTER_PLAYBOOKS_MODULE_H
#define MUSTER_PLAYBOOKS_MODULE_H

#include "playbooks/args.h"
#include "playbooks/patch.h"
#include "playbooks/playbooks.h"
#include "playbooks/probe.h"
#include "templates/templates.h"

enum module_flags {
	MODULE_ACTION = 1, /* changes the host whenever it runs: ends a window */
	MODULE_LOCAL = 2,  /* done on the controller */
	MODULE_FREE_FORM =
		4,	 /* takes a command line beside k=v; it becomes the argument _raw_params */
	MODULE_LOST = 8, /* what was known about the host is worth nothing afterwards, also when
			    nothing changed */
	MODULE_ANY_ARGS = 16, /* argument names are the user's own (set_fact) */
	MODULE_FRESH =
		32, /* its answer must not rest on a picture older than the patches before it */
};

/* One call of a module: a task (or one item of its loop) on one host. Borrowed for the call of the
 * function. */
struct mod_call {
	struct arena *a;
	const struct module *module;
	const struct value *args; /* decoded by the module's rows */
	struct pos pos;
	bool check; /* nothing will be changed: decide the same, but what cannot be decided yet may
		       be passed over */
	bool diff;  /* fill in before and after texts, fetch contents for them */
	const struct scope *scope; /* names, for template */
	void **memo; /* starts NULL: probe may leave work here that check and patch of the same call
			use */
	const char *const *src_dirs; /* where relative src are looked for, with files/ or templates/
					in between; NULL-terminated */
};

/* The outcome of check. */
struct changes {
	struct arena *a;
	VEC(struct task_change) v; /* empty: the host is as it should be */
	struct value *
		result; /* a map: what register holds; unknown values: only known after the patch */
	bool failed;
	bool skipped;
	bool run;		   /* actions: patch is to be run */
	const char *msg;	   /* why it failed or was skipped */
	void *want;		   /* check's word to patch, in the arena */
	int64_t takes_ms;	   /* the patch may take this much longer than any may */
	bool as_root;		   /* who will make the patch */
	struct answers *predicted; /* by patch: what the host will answer afterwards (predict_file);
				      NULL: nobody asks */
};

/* Returned by probe beside 0 and -1: what it needs to know first is not known yet (an unknown value
 * in a template). */
#define PROBE_LATER 1

struct module {
	const char *name;
	const char *aliases; /* "x|y", or NULL; ansible.builtin.NAME and ansible.legacy.NAME are
				understood anyway */
	const char *doc;     /* one sentence, no full stop */
	const struct module_arg *args;
	unsigned flags;
	/* Adds requests. May read files of the controller (src). ERR_SPEC: the call itself is wrong
	 * (a failed task). */
	int (*probe)(const struct mod_call *c, struct probe *p, struct err *e);
	/* Pure. A failure that belongs to the task: change_fail. -1: the call is wrong. */
	int (*check)(const struct mod_call *c, const struct answers *an, struct changes *ch,
		     struct err *e);
	/* Pure. Called when check found changes (or set run), right after check with its changes. */
	int (*patch)(const struct mod_call *c, const struct changes *ch, struct patch *p,
		     struct err *e);
	/* Actions: the script's status and output into ch->result, ch->failed. */
	int (*finish)(const struct mod_call *c, const struct script_result *r, struct changes *ch,
		      struct err *e);
	/* What needs the connection. Fills ch as finish does. */
	int (*act)(const struct mod_call *c, struct host *h, const struct run_opts *o,
		   struct changes *ch, struct err *e);
};

/* By name, alias or full name (ansible.builtin.x, ansible.posix.x, community.general.x); NULL. */
const struct module *module_find(struct str name);
const char *module_suggest(struct str name); /* NULL if nothing is near */

/* ---- helpers for check ---- */
int change_fail(struct changes *ch, const char *fmt, ...)
	printf_fmt(2, 3); /* returns 0: a failed task is a result */
/* A finish: changed if there are changes; a failure's message is what the script wrote. */
int change_finish(struct changes *ch, const struct script_result *r);
void change_add(struct changes *ch, const char *what, const struct value *before,
		const struct value *after);
void change_adds(struct changes *ch, const char *what, const char *before, const char *after);
/* Content of a file: with a unified diff if `diff`. Binary and large content is shown by size only.
 */
struct content_change {
	const char *path;
	struct str before, after;
	bool existed; /* false: no "before" */
	bool known;   /* false: before was too large or not fetched */
	bool diff;
};
void change_content(struct changes *ch, const struct content_change *c);
void result_set(struct changes *ch, const char *key, const struct value *v);
void result_sets(struct changes *ch, const char *key, const char *s);
void result_bool(struct changes *ch, const char *key, bool b);
void result_int(struct changes *ch, const char *key, int64_t i);
/* key and key_lines, as command's stdout and stdout_lines: one trailing newline dropped. */
void result_output(struct changes *ch, const char *key, struct str text);

/* ---- owner, group, mode: shared by file, copy, template, lineinfile, ... ---- */
struct attrs {
	const char *path;		     /* set by the caller, as fresh_mode */
	unsigned fresh_mode;		     /* what a new one would have */
	bool set_mode, set_owner, set_group; /* differ from what is there */
	unsigned mode;			     /* what it will be */
	const char *owner, *group;	     /* as asked for, NULL: as it is */
};
/* Compares what is asked for with `now` (PATH_NONE: a new one) and adds the changes. */
must_check int attrs_check(const struct mod_call *c, const struct path_info *now, struct attrs *at,
			   struct changes *ch, struct err *e);
/* chown, chgrp, chmod of what differs. no_follow: of a symbolic link itself. */
void attrs_patch(struct patch *p, const struct attrs *at, const char *path, bool no_follow);
void attrs_patch_word(struct patch *p, const struct attrs *at, const char *word,
		      bool no_follow); /* word: already quoted */
/* mode, owner, group, uid, gid, size, state of a path after the change, as Ansible's results have
 * them. */
void attrs_result(struct changes *ch, const struct attrs *at, const struct path_info *now);

/*
 * What a patch leaves behind, so that later tasks of the window decide on it. A wrong prediction
 * does no harm: the guard of the task that relied on it stops the window there, and it is decided
 * anew.
 */
struct predicted_file {
	const char *path;
	struct str content;
	unsigned mode;
	int64_t uid, gid; /* below 0: not known, then nothing is predicted */
	const char *owner, *group;
};
void predict_file(const struct changes *ch, const struct predicted_file *f);
void predict(const struct changes *ch, enum probe_kind kind, const char *key, struct str payload);

/* ---- sources on the controller ---- */
/* Looks for `name` in each of src_dirs/`sub`, then src_dirs itself; an absolute name is taken as it
 * is. ERR_NOT_FOUND lists where. */
must_check int src_find(const struct mod_call *c, const char *sub, const char *name,
			const char **path, struct err *e);

#endif
