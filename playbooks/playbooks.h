/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/playbooks.h - front door of node configuration: playbooks in Ansible's YAML format, run
 * by the node engine.
 *
 * A playbook is loaded once (read-only afterwards, shared by all hosts) and run host by host, each
 * in a task of its own. The run of a host is: window of tasks -> one probe script -> decisions here
 * -> one patch script (architecture.md §5).
 */
#ifndef MUSTER_PLAYBOOKS_PLAYBOOKS_H
#define MUSTER_PLAYBOOKS_PLAYBOOKS_H

#include "base/base.h"
#include "inventory/inventory.h"
#include "net/net.h"

struct playbook; /* one file's plays, with their roles, or the play made from a pool's roles */

struct playbook_paths {
	const char *dir; /* of the spec or the playbook: roles/ beside it is searched first */
	const char *const *roles; /* further role folders, NULL-terminated; the shipped ones last */
};

/* All faults (YAML, unknown keys, unknown modules and arguments, missing roles and files) in errs,
 * with positions and suggestions. */
must_check int playbook_load(struct arena *a, const char *path, const struct playbook_paths *paths,
			     struct playbook **out, struct err_list *errs);
/* One play over all hosts that applies `roles` (struct spec_role rows) in order, with become. */
must_check int playbook_of_roles(struct arena *a, const struct obj_list *roles,
				 const struct playbook_paths *paths, struct playbook **out,
				 struct err_list *errs);
/* Digest of every byte that was read, and of the files and templates that its tasks name. 64 hex
 * digits. */
const char *playbook_digest(const struct playbook *p);
/* Paths of the files that the digest is of; one may be there twice. */
struct playbook_sources {
	VEC(const char *) v;
};
const struct playbook_sources *playbook_sources(const struct playbook *p);
/* Does anything in it name hostvars? Then it runs rightly only once the other hosts are known. */
bool playbook_uses_hostvars(const struct playbook *p);

/* What plays see of the other hosts: groups and hostvars. Read-only during a run. */
struct run_world {
	const struct value *groups;   /* map group -> list of names */
	const struct value *hostvars; /* map name -> map; may be NULL */
};

struct run_host {
	const char *name;		 /* inventory_hostname */
	const struct value *vars;	 /* unevaluated: templates in them are lazy */
	const struct value *group_names; /* list */
	struct host *conn;		 /* open */
	const struct value
		*facts; /* as cached from an earlier run, or NULL; refreshed in the first window */
};

enum task_status { TASK_OK, TASK_CHANGED, TASK_SKIPPED, TASK_FAILED, TASK_UNREACHABLE };

/* One difference, for plan, --diff and drift. Secrets in before/after are marked. */
struct task_change {
	const char *what; /* "file /etc/motd: content", "package nginx", "service ssh: state" */
	const struct value *before, *after;
	const char *diff; /* unified diff, or NULL; bounded, never with secrets */
};

struct task_result {
	const char *host, *play, *role, *task, *module;
	struct pos pos; /* of the task */
	enum task_status status;
	bool ignored;	  /* failed, but ignore_errors is set, or a rescue section takes it */
	const char *item; /* loop item, or NULL */
	const char *msg;  /* of a failure or skip; what debug says */
	VEC(struct task_change) changes;
	const struct value *result; /* what register would hold */
};

struct run_opts {
	bool allow_pipe;	  /* lookup('pipe') may run commands on this machine */
	bool check;		  /* decide and report, change nothing */
	bool diff;		  /* fill task_change.diff */
	bool gather_facts_always; /* false: only when the play needs them */
	const char *const *tags, *const *skip_tags; /* NULL-terminated, or NULL */
	const struct value *extra_vars;
	const struct run_world *world; /* may be NULL */
	int64_t task_timeout_ms;       /* of one task, unless it says that it takes longer; 0: 10
					minutes */
	int64_t reboot_timeout_ms;     /* at least; 0: as the task says */
	/* Called in the host's task for each finished task (each loop item too); may be NULL. */
	void (*on_result)(void *arg, const struct task_result *r);
	/* Does a play's `hosts` pattern match the host? NULL: all do, the caller has chosen. */
	bool (*play_matches)(void *arg, const char *hosts_pattern, const char *host);
	void *arg; /* of both */
};

struct run_result {
	int64_t ok, changed, skipped, failed, ignored;
	bool unreachable;
	bool rebooted;
	VEC(struct task_result *) changes; /* the changed (or, in check, would-be changed) and
					      failed ones, in order */
	const struct value *facts;	   /* current, if they were read; else NULL */
	uint64_t probe_trips, patch_trips; /* scripts sent */
};

/* Runs the plays that match the host. A failed task is a result (result.failed > 0), -1 is for what
 * ended the run itself: connection lost, cancelled, a template error before any task could tell. */
must_check int playbook_run(const struct playbook *p, struct arena *a, const struct run_host *h,
			    const struct run_opts *o, struct run_result *out, struct err *e);

/* Rows of the module list, for docs and completion: name and one-line doc; NULL past the end. */
const char *module_name_at(size_t i, const char **doc);
/* A module and its arguments as text; false, and nothing written, if there is none of that name. */
bool module_help(struct buf *b, const char *name);
/* All modules with their arguments, in scdoc. */
void module_manual(struct buf *b);

#endif
