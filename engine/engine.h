/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/engine.h - front door of deciding and acting: observe, diff, plan (pure), apply
 * (journalled), drift, recover, gc, destroy.
 *
 * Everything here runs in a task. The engine knows no provider and no module by name; it prints
 * nothing: what happens is told through on_event.
 */
#ifndef MUSTER_ENGINE_ENGINE_H
#define MUSTER_ENGINE_ENGINE_H

#include "inventory/inventory.h"
#include "playbooks/playbooks.h"
#include "providers/providers.h"
#include "state/state.h"

/* What happens, as it happens. Borrowed for the call. */
struct engine_event {
	const char *type; /* "observe", "step_start", "step_done", "step_failed", "step_progress",
			     "task", "settled", "retry", "waiting", "wave", "rate" */
	const char *run, *addr, *node, *action;
	const char *text;	  /* for people, one line */
	const struct value *data; /* for machines */
	const struct err *err;	  /* step_failed */
	int64_t elapsed_ms;
	size_t done, total; /* steps */
};

struct engine_opts {
	const struct spec
		*spec; /* NULL: only recorded objects (recover, gc, destroy without a spec) */
	const struct fleet *fleet;
	struct state *state;
	const char *cluster;
	const char *state_dir;	   /* absolute */
	const char *self;	   /* path of this program */
	const char *share_dir;	   /* shipped roles: share_dir/roles */
	const char *who;	   /* user@host, for the lease and history */
	int64_t parallel;	   /* steps at a time; 0: 32 */
	struct count max_failures; /* failed nodes after which no new step starts; 0: the first one
				      stops */
	int64_t lock_timeout_ms;   /* to wait for others' leases; 0: not at all */
	const char *limit;	   /* node set, NULL: all */
	const char *const *targets, *const *excludes; /* addresses (node sets in brackets allowed),
							 NULL-terminated, or NULL */
	bool no_refresh; /* plan from what was recorded; nodes are not probed */
	bool diff;	 /* keep unified diffs of node changes */
	const struct value *extra_vars;
	const char *command_line;   /* for the history; no secrets in it; may be NULL */
	const struct value *source; /* what the run works from, when it is known already (revert) */
	const struct ssh_target *ssh_defaults; /* from the command line, may be NULL */
	void (*on_event)(void *arg, const struct engine_event *ev);
	void *arg;
};

struct engine;
must_check int engine_open(struct arena *a, const struct engine_opts *o, struct engine **out,
			   struct err *e);
void engine_close(struct engine *en); /* closes connections and providers; NULL is fine */
void engine_stop(struct engine *en);  /* first ^C: no new steps; running ones finish or are
					 journalled. Callable from a signal callback. */
void engine_abort(struct engine *en); /* second ^C: cancels everything; the journal stays true */

/*
 * Notes, for the history of a run to come, what its spec is to git: {"commit", "branch", "dirty",
 * "changed", "path"} or, where there is none, {"why"}; and "vars", the names of variables given on
 * the command line. Called when the plan is made. Fails only by ^C.
 */
must_check int engine_note_source(struct engine *en, struct err *e);

/* ---- plan ---- */
enum change_action {
	CHANGE_CREATE,
	CHANGE_UPDATE,
	CHANGE_REPLACE,
	CHANGE_DELETE,
	CHANGE_CONFIGURE,
	CHANGE_FORGET
};
enum change_cause {
	CAUSE_SPEC,    /* the spec asks for something else than was recorded */
	CAUSE_OUTSIDE, /* recorded and wanted agree; what is there was changed outside: drift */
	CAUSE_BOTH,
};

struct field_change {
	const char *path; /* "image", "file /etc/motd: content", ... */
	const struct value *before, *after;
	bool forces_replace;
	enum change_cause cause;
	const char *diff; /* unified, or NULL */
};

struct change {
	const char *addr, *kind, *provider;
	const char *node; /* machines and their configuration: the node's name */
	const char *pool; /* the same; else NULL */
	const char *id;	  /* the provider's id of what is there now; NULL: nothing is */
	enum change_action action;
	enum change_cause cause;
	const char *reason; /* one phrase: "not there", "image changed", "not in the spec any more",
			       "configuration never applied" */
	const struct value *before, *after; /* attributes; NULL where not applicable */
	VEC(struct field_change) fields;
	VEC(const char *) unknown; /* paths known after apply */
	bool effect_reboot, effect_drain;
	bool owned; /* a machine of the user's own: taken in and let go, not made and destroyed */
	bool in_service; /* the node serves now: counts against the pool's max_unavailable while it
			    is worked on */
	bool unwell; /* it is there, but does not run, or a step on it failed: already down, and the
			first to be mended */
	VEC(size_t) deps; /* indices into plan.changes: made (configured) before this is made */
	VEC(size_t) undone_first; /* indices into plan.changes: deleted before this is deleted */
	const char *shape; /* changes with equal shape differ only in the node (and its pool): shown
			      as one line */
	const char *config_digest; /* configure */
};

/* How fast a pool's changes go: for people, and no part of what is decided. */
struct plan_pool {
	const char *name;
	int64_t nodes;	   /* as the spec has it; 0: it is not in the spec any more */
	int64_t at_a_time; /* nodes in service that may be down at a time; 0: any number */
	int64_t canary;	   /* so many nodes in service go first, alone; 0: none */
	int64_t soak_ms;   /* and are watched so long before the others follow */
	/* what one step took in earlier runs, the median; 0: not known */
	int64_t create_ms, update_ms, delete_ms, configure_ms;
};

struct left_out {
	const char *node, *why; /* "not in that spec" */
};

struct plan {
	/* destructive first, then in an order in which they can run */
	VEC(struct change *) changes;
	VEC(struct change *)
	drift; /* the CAUSE_OUTSIDE part, also when nothing will be done about it */
	VEC(const char *) unreachable; /* nodes that could not be probed */
	size_t add, change, destroy, configure;
	size_t release; /* the user's own machines that are let go: not in `destroy` */
	VEC(struct plan_pool *) pools; /* of its nodes */
	bool is_destroy;
	bool with_diff;	   /* what nodes told of contents is in it, and in its digest */
	bool is_refresh;   /* nothing is made or deleted: the record learns what is there */
	bool is_configure; /* PLAN_CONFIGURE */
	VEC(struct left_out *) left_out; /* chosen nodes that it does not touch, though something
					 differs */
	const char *cluster;
	bool is_saved; /* it comes from a file: done exactly or not at all */
	/* What was selected, as said: --limit, --target, --exclude (NULL-terminated). NULL: all. */
	const char *limit;
	const char *const *targets, *const *excludes;
	char spec_digest[65], observed_digest[65], digest[65];
	char record_digest[65]; /* of the record that a plan with --limit, --target or --exclude
				   rests on; else empty: state_serial stands for all of it */
	int64_t state_serial;
	int64_t created_ms;
	const struct value *outputs; /* evaluated where known */
	uint64_t probe_trips;	     /* scripts sent to nodes while observing */
	size_t probed_nodes;
	VEC(const char *) probed; /* their names: plan_verify asks the same */
};

enum plan_mode {
	PLAN_APPLY,
	PLAN_DESTROY,
	PLAN_REFRESH_ONLY,
	/* only the configuration of nodes that are there and in the spec: a revert */
	PLAN_CONFIGURE,
};
must_check int plan_make(struct engine *en, struct arena *a, enum plan_mode mode, struct plan **out,
			 struct err *e);
bool plan_is_empty(const struct plan *p);
/* 0600, signed with the key beside the state, which is made if there is none; no secrets inside. */
must_check int plan_save(struct engine *en, const struct plan *p, const char *path, struct err *e);
/* Refuses what was changed, was cut, is of another state, or is no regular file: ERR_CONFLICT. */
must_check int plan_load(struct engine *en, struct arena *a, const char *path, struct plan **out,
			 struct err *e);
/* Observes again; ERR_CONFLICT saying which of spec, state, observation moved since. */
must_check int plan_verify(struct engine *en, const struct plan *p, struct err *e);
const struct value *plan_json(struct arena *a, const struct plan *p); /* cli.md's document */

/* ---- apply ---- */
struct node_failure {
	const char *addr, *node, *action;
	const char *pool; /* NULL: not a node, or not known */
	struct err err;
};
/* Nodes that nothing was done to, because of others. */
struct nodes_held {
	const char *pool; /* NULL: of several */
	size_t nodes;
	const char *reason; /* "its canary web-0 failed" */
};
struct apply_result {
	const char *run; /* run id */
	size_t done, failed, skipped, created, updated, destroyed, configured;
	bool stopped;	      /* by ^C */
	bool budget_exceeded; /* more nodes failed than max_failures says */
	VEC(struct node_failure *) failures;
	VEC(struct nodes_held *) held;
	const struct value *outputs;
	uint64_t probe_trips, patch_trips;
};
/* Why nodes failed, once for all that failed alike (engine/causes.c). Pure; borrows from the
 * result. */
#define CAUSE_EXAMPLES 3
struct cause {
	const struct node_failure *first;
	const char *action;
	/* the node as NODE; if the messages vary, the words in which they may as * */
	const char *message;
	bool varies;
	VEC(const char *) nodes;		   /* or addresses, of what is no node */
	struct map pools;			   /* name -> size_t *: how many nodes of each */
	VEC(const struct node_failure *) examples; /* the first ones */
	size_t place;				   /* of its first failure among those of causes */
};
struct causes {
	VEC(struct cause *) v; /* those of most nodes first */
};
void causes_fold(struct arena *a, const struct apply_result *r, struct causes *out);

/* Takes the lease, settles old intents, walks the plan. -1 for what ended the run itself; failed
 * steps are in the result. */
must_check int plan_apply(struct engine *en, struct arena *a, const struct plan *p,
			  const char *command, struct apply_result *out, struct err *e);

/* ---- history ---- */
/* A step of a past run, as it ended. */
struct run_step {
	const char *addr, *name;      /* a node's name; else the address */
	const char *action, *what;    /* "create"; "created", "create failed", "interrupted" */
	const char *error;	      /* NULL: it went well */
	int64_t ended_ms, took_ms;    /* wall clock; duration */
	const struct run_step *after; /* the step whose end let it begin; NULL: it began first */
	const char *after_text;	      /* the same: "create node.web[0]" */
	bool needed; /* it rests on `after`; false: a limit (parallel, max_unavailable) gave way */
};
struct run_history {
	const struct state_run *run;
	VEC(struct run_step *) steps; /* in the order of their ends */
	/* the chain of steps that ended last, each let begin by the one before */
	VEC(const struct run_step *) critical;
	struct state_events events;
};
/* A node's name by its address, when no spec tells it: "node.a[3]" is "a-3". */
const char *engine_node_name(struct arena *a, const char *addr);
must_check int engine_history(struct state *st, struct arena *a, const struct state_run *run,
			      struct run_history *out, struct err *e);

/* ---- the rest ---- */
/* What became of a step that a killed run left unfinished. */
struct settled {
	const char *addr, *action, *run, *provider;
	/* "recorded", "tainted", "dropped", "gone", "leftover",
				"interrupted", "unknown" */
	const char *outcome;
	const char *decision, *reason; /* "made: recorded as vm-7", "the provider has an object with
					  its token" */
	const char *id;		       /* the object's, NULL: none, or not known */
	int64_t since_ms;	       /* when the step began */
	/* unknown: it may still appear until then; 0: no such time */
	int64_t until_ms;
	bool open; /* could not be settled */
};
struct recover_report {
	VEC(struct settled *) v;
	size_t busy; /* unfinished, but of runs that are alive: left to them */
};
must_check int engine_recover(struct engine *en, struct arena *a, struct recover_report *out,
			      struct err *e);

/* An object that bears our mark and that no record knows. */
struct orphan {
	const char *provider, *kind, *id;
	const char *name, *addr; /* as the provider keeps them, or NULL */
	const char *quota;	 /* what it uses up ("machines"); NULL: nothing that is counted */
	int scarcity;		 /* of that, as in struct resource_type */
	int64_t created_ms;	 /* 0: the provider doesn't tell */
	const char *owner; /* an unfinished step may own it: "create node.web[0] of run 01..."; it
			      is never deleted; NULL: none */
	bool deleted;	   /* and a list after that shows it no more */
	struct err err;	   /* it was to be deleted, and is still there: why */
};
struct gc_report {
	VEC(struct orphan *) v; /* what is scarce first */
	size_t deleted, failed;
};
/* delete_ids NULL: only lists. Else deletes those of its ids (as shown, or PROVIDER.KIND.ID where
 * one id is two objects'; "*": all that no unfinished step owns). An id that is no leftover, or is
 * owned: ERR_NOT_FOUND or ERR_CONFLICT, and nothing is deleted. What can't be deleted is in the
 * report, and stays an open item of the journal. */
must_check int engine_gc(struct engine *en, struct arena *a, const char *const *delete_ids,
			 struct gc_report *out, struct err *e);

/* How to log in to a recorded node, and an open connection (exec, ssh, copy). */
must_check int engine_reach(struct engine *en, struct arena *a, const char *node,
			    struct host_opts *out, struct err *e);

/* Does a play's `hosts` pattern ("web,gpu-*:!gpu-3") choose this node? */
bool engine_play_matches(const struct node *n, const char *pattern);

struct node_status {
	const char *name, *addr, *pool, *provider,
		*state; /* "ready", "creating", "deleting", "tainted", "missing", "not created",
			   "stopped" */
	const char *address, *id;
	int64_t updated_ms;
};
struct fleet_status {
	VEC(struct node_status *) nodes;
	struct state_runs last;	     /* the last run */
	struct journal_rows intents; /* unfinished */
	struct leases leases;
};
must_check int engine_status(struct engine *en, struct arena *a, bool observe,
			     struct fleet_status *out, struct err *e);

#endif
