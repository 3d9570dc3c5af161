/* SPDX-License-Identifier: Apache-2.0 */
/*
 * playbooks/run.h - one host's run of a playbook. Inside playbooks/ only.
 *
 * A `struct state` is everything that decides what comes next: where in the tree, what is
 * registered, what is notified. It is small and what it points to is never changed, so copying it
 * is a snapshot. The tree is walked in one of two ways, by the same code:
 *
 *   collect  on a copy of the state, ahead, without answers: only gathers probe requests. What
 * isn't known is an unknown value; where that leaves open whether a task runs, its probes are asked
 * for anyway. Stops before what surely changes the host. decide   with the answers: each task's
 * outcome. Patches pile up in `pending`, each with the state before it; what comes after a patch
 * rests on predictions and is guarded. Stops where an answer is missing or an unknown value is
 * needed.
 */
#ifndef MUSTER_PLAYBOOKS_RUN_H
#define MUSTER_PLAYBOOKS_RUN_H

#include "playbooks/play.h"

enum section { IN_BLOCK, IN_RESCUE, IN_ALWAYS, IN_HANDLERS };

/* The task at hand; a task without a loop has one item. */
struct items {
	const struct step *step;  /* NULL: none */
	const struct value *list; /* NULL: no loop */
	size_t i;
	const struct value *results;
	bool changed, failed, ran; /* of any item so far */
	int64_t attempt;
};

struct frame {
	const struct frame *outer;
	const struct step *step;
	enum section section;
	size_t i; /* next in the section's list */
	const struct value
		*vars; /* of this entry: loop item of an include, ansible_failed_result; NULL */
	struct items resume; /* an include's loop goes on when this entry is done */
	bool failing;	     /* in always: the failure goes on afterwards */
};

struct state {
	const struct frame *at;
	const struct value *set;      /* register, set_fact */
	const struct value *included; /* include_vars */
	const struct value *facts;    /* NULL: not known */
	const bool *notified;	      /* one a handler of the play; NULL: none */
	struct items items;
	bool ended, failed; /* end_host, end_play */
};

/* Scripts of one user: the connection's own, or one that is become. */
struct lane {
	const char *user; /* NULL: the connection's own */
	struct host_become become;
	struct probe probe;
	struct answers answers;
};

struct outcome {
	enum task_status status;
	struct value *result;
	const struct changes *ch; /* NULL: no changes */
	const char *msg;
	bool ignored, hidden; /* no_log */
	bool rescued;	      /* failed, but a rescue section takes it */
	bool acted;   /* an action that failed: it may have changed something, and counts so */
	bool unknown; /* collect: it depends */
	bool quiet;   /* nothing to report (includes) */
	struct entry *entry; /* a patch or guard that is pending, or NULL */
};

/* What was decided behind a patch that is still to be sent. */
struct entry {
	struct state before;
	struct lane *lane;
	struct probe probe; /* what the decision rests on; n 0: nothing */
	char digest[SHA256_HEX];
	const char *patch; /* NULL: no change, only the guard and the report */
	const struct value *environment;
	struct changes *ch;
	const struct mod_call *action; /* a command: its output is read by the module's finish */
	bool harmless;		       /* by the play's own word it changes nothing */
	/* the report, when it has come true */
	struct outcome oc;
	const struct step *step;
	const char *item;
	bool last;
	enum task_status whole;
};

enum walk_mode { WALK_COLLECT, WALK_DECIDE };
enum walk_end { WALK_ON = 1, WALK_STOP, WALK_DONE }; /* -1: the run has ended with an error */

struct run {
	const struct playbook *p;
	struct arena *a; /* of the run */
	struct arena *w; /* what is used now: a's, or collect's own */
	const struct run_host *h;
	const struct run_opts *o;
	struct run_result *out;
	const struct play *play;
	enum walk_mode mode;
	struct state s;
	const struct value *magic;		   /* of the play */
	const struct value *fallback;		   /* names that anything may redefine */
	const struct value *facts_of, *fact_names; /* ansible_x names of the facts in facts_of */
	struct arena *facts_arena;
	VEC(struct lane *) lanes;
	VEC(struct entry *) pending;
	size_t pending_bytes, steps; /* steps: walked in this window */
};

/* How texts of a play are rendered: strings in variables are templates too, and a newline at the
 * end stays. */
#define RENDER	      (TEMPLATE_LAZY | TEMPLATE_KEEP_NEWLINE)
#define RENDER_NATIVE (RENDER | TEMPLATE_NATIVE)

/* ---- scope.c ---- */
#define SCOPES_MAX 96
struct scopes {
	/* the folders of the step: its role's, its file's, the play's */
	struct template_world world;
	struct scope v[SCOPES_MAX];
	size_t n;
};
void scope_magic(struct run *r);
/* `item_vars`: the loop's, or NULL. */
/* Where a step's files are looked for; NULL-ended, in r->w. */
const char *const *scope_dirs(struct run *r, const struct step *step);
const struct scope *scope_build(struct run *r, const struct state *s, const struct step *step,
				const struct value *item_vars, struct scopes *out);
enum truth { FALSE_, TRUE_, UNKNOWN_ };
/* All of a list of conditions (Ansible's when). -1: an error. */
must_check int scope_all(struct run *r, const struct value *list, const struct scope *sc,
			 enum truth *out, struct err *e);
/* A keyword that is a boolean or a template: of the step, else of what is around it. */
must_check int scope_flag(struct run *r, const struct step *step, size_t member,
			  const struct scope *sc, bool *out, struct err *e);
#define SCOPE_FLAG(r, at, member, sc, out, e) \
	scope_flag(r, at, offsetof(struct step, member), sc, out, e)
const struct value *scope_inherited(const struct step *step, size_t member);
#define SCOPE_INHERITED(at, member) scope_inherited(at, offsetof(struct step, member))
/* Steps around, nearest first, without those whose keywords don't reach inside an include. */
const struct step *scope_outer(const struct step *step);
bool scope_tags_match(const struct run *r, const struct step *step);

/* ---- walk.c ---- */
must_check int walk(struct run *r, struct state *s, struct err *e); /* enum walk_end or -1 */
void walk_enter(struct run *r, struct state *s, const struct step *block, enum section section,
		const struct value *vars);
/* A task has failed for good: on to rescue, always, or the end. */
void walk_fail(struct run *r, struct state *s, const struct step *step, const struct value *result);

/* ---- item.c ---- */
must_check int item_run(struct run *r, struct state *s, struct err *e); /* enum walk_end or -1 */
/* Takes an outcome into the state: changed_when, register, notify, loop, failure. Reports it, now
 * or with the pending ones. */
must_check int item_done(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
			 struct err *e);
const struct value *item_vars(struct run *r, const struct state *s);
struct outcome item_outcome(struct run *r, enum task_status status);
void item_fail(struct run *r, struct outcome *oc, const char *msg);

void item_unknown(struct run *r, struct state *s,
		  const char *name); /* collect: the variable's value isn't known */

/* ---- local.c ---- */
must_check int local_run(struct run *r, struct state *s, const struct scope *sc, struct outcome *oc,
			 struct err *e); /* 0, WALK_STOP, -1 */

/* ---- call.c ---- */
/* A module of the host. 0: oc is filled (with an entry, if a patch is to be sent); WALK_STOP; -1. */
must_check int call_run(struct run *r, struct state *s, const struct scope *sc, bool maybe,
			struct outcome *oc, struct err *e);
void call_forget(struct run *r); /* what was answered holds no more */

/* ---- flush.c ---- */
/* Sends the pending patches; leaves the state after the last thing that held. */
must_check int flush_pending(struct run *r, struct state *s, struct err *e);
/* more_ms: beyond what one task may take. */
must_check int flush_script(struct run *r, struct lane *lane, struct str script, int64_t more_ms,
			    struct script_result *out, struct err *e);
void flush_environment(struct buf *b, const struct value *environment);
must_check int flush_environment_of(struct run *r, const struct step *step, const struct scope *sc,
				    const struct value **out, struct err *e);

/* ---- report.c ---- */
void report(struct run *r, const struct entry *en); /* the report part of an entry */
const char *report_text(struct arena *a, const struct value *v);

#endif
