/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/play.h - plays as loaded: a tree of steps that the node engine walks. Inside playbooks/
 * only.
 *
 * Everything is a step: a task, a block, a role, an import, an include. What a keyword means for
 * the tasks below (when, become, vars, tags, ...) is found by walking `parent`. The tree is
 * read-only after loading, but for includes whose file name is a template: those are loaded when a
 * host comes by, once, and kept (playbook_include).
 */
#ifndef MUSTER_PLAYBOOKS_PLAY_H
#define MUSTER_PLAYBOOKS_PLAY_H

#include "playbooks/list.h"

enum step_kind { STEP_TASK, STEP_BLOCK, STEP_INCLUDE, STEP_FLUSH };

struct role {
	const char *name, *path;
	const struct value *defaults, *vars; /* maps or NULL */
};

struct steps {
	VEC(struct step *) v;
};

struct loop_spec {
	const struct value *items; /* NULL: no loop */
	bool flatten;		   /* with_items: one level of lists is flattened */
	bool dict;		   /* with_dict */
	const char *var, *index_var;
	const struct value *label;
};

struct step {
	enum step_kind kind;
	struct pos pos;
	const struct step *parent;
	const struct play *play;
	const struct role *role; /* whose files, templates, vars are near; NULL: the play's */
	const char *dir;	 /* folder of the file it was written in */
	const char *name;	 /* as written, or NULL */
	/* of this node; NULL where nothing is said */
	const struct value *vars,
		*params; /* params: of a role, or of an include (they win over set_fact) */
	const struct value *environment;
	const struct value *when; /* a list */
	const struct value *become, *become_user, *ignore_errors, *check_mode, *no_log, *run_once;
	const struct value *tags; /* a list */
	/* tasks */
	const struct module *module;
	const struct value *args;				/* a map */
	const char *reg;					/* register */
	const struct value *changed_when, *failed_when, *until; /* lists */
	const struct value *retries, *delay;
	const struct value *notify; /* a list */
	const struct value *listen; /* handlers: a list */
	struct loop_spec loop;
	size_t handler; /* handlers: place in play->handlers + 1 */
	/* blocks */
	struct steps block, rescue, always;
	bool implicit; /* the gathering of facts at a play's start */
	bool once; /* an include: its own conditions were decided at its entry, tasks below don't
		      ask again */
	const struct value *file; /* includes by a templated name */
};

struct play {
	struct pos pos;
	const char *name, *hosts;
	const char *dir;
	struct step *root;
	const struct value *vars; /* play vars, vars_files over them */
	bool gather;
	const struct value *gather_facts; /* NULL: yes */
	bool has_dynamic;		  /* an include whose content isn't known */
	VEC(struct role *) roles;
	struct steps handlers;
	const struct value *defaults, *role_vars; /* of all its roles, merged */
};

struct playbook {
	struct arena *a;
	const char *file, *dir;
	const char *const *role_dirs; /* NULL-terminated */
	VEC(struct play *) plays;
	char digest[SHA256_HEX]; /* rolling while loading */
	struct playbook_sources sources;
	bool uses_facts;     /* something that was read names a fact */
	bool uses_hostvars;  /* or what other hosts have */
	struct map includes; /* "step path" -> struct step * */
};

/* A file of tasks for an include node; loaded once. */
must_check int playbook_include(const struct playbook *p, const struct step *include,
				const char *path, const struct step **out, struct err *e);

/* ---- inside the loader ---- */

struct loader {
	struct playbook *p;
	struct arena *a;
	struct err_list *errs;
	int depth; /* of files in files */
	VEC(const char *) role_stack;
};

#define LOAD_DEPTH_MAX 40

/* Reads and parses; faults (a missing file too, at `from`) go to errs. NULL then. Counts for the
 * digest. */
const struct value *load_yaml(struct loader *l, const char *path, struct pos from);
void load_digest_file(struct loader *l, const char *path);
/* Where the node stands: play, role, dir, parent are taken from `like`. */
struct step *load_step(struct loader *l, enum step_kind kind, const struct step *like,
		       struct pos pos);
void load_tasks(struct loader *l, const struct value *list, const struct step *parent,
		bool handlers, struct steps *out);
void load_tasks_file(struct loader *l, const char *path, struct pos from, const struct step *parent,
		     bool handlers, struct steps *out);
/* A role as a block below parent: dependencies, tasks; its handlers into the play. `entry` is
 * "role: x" as map, or the name. */
struct step *load_role(struct loader *l, const struct value *entry, const struct step *parent);
/* The node's keywords that blocks, tasks, roles and plays share. false: not one of them. */
bool load_common(struct loader *l, struct step *n, struct str key, const struct value *v,
		 struct pos key_pos);
void load_unknown(struct loader *l, const char *what, const char *const *known,
		  const struct map_entry *me);
const struct value *load_list_of(struct loader *l,
				 const struct value *v); /* a scalar becomes a list of one */
void load_check_notify(struct loader *l, const struct play *play);
/* Finds the handlers that a notification means; returns how many were marked. */
size_t play_notify(const struct play *play, const struct role *role, struct str name, bool *marks);

#endif
