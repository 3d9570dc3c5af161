/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/state.h - front door of what was recorded: one SQLite file (WAL, synchronous=FULL, foreign
 * keys, user_version migrations).
 *
 * Reads take no lock; each call sees one snapshot, and state_snapshot_begin makes several calls see
 * the same one. Every write needs the lease and carries its fencing number: a write of a run that
 * has none, or lost it, is refused (ERR_LEASE). The order of a run: state_open, lease_take,
 * state_run_begin, ..., state_run_end, lease_release. No call here yields to other tasks, and a
 * struct state belongs to one thread. While a journal group is open (journal_intent), every write
 * joins it, and reads of this struct state see what it holds already.
 *
 * Secrets never arrive here: a value with a secret inside is refused (ERR_BUG); state_seal puts a
 * keyed digest in its place. Texts of attributes and facts come back marked `unsafe`: they are from
 * outside, and never templates.
 */
#ifndef MUSTER_STATE_STATE_H
#define MUSTER_STATE_STATE_H

#include "base/base.h"

struct state;

enum state_flags { STATE_CREATE = 1, STATE_READONLY = 2 };

/* Opens (STATE_CREATE: makes folder 0700 and file 0600) and migrates (after a backup). Refuses a
 * newer version's file, a damaged file (ERR_IO; the hint says how to restore the backup), a file of
 * another cluster (ERR_CONFLICT). ERR_NOT_FOUND: no such file, without STATE_CREATE. cluster NULL:
 * whatever is inside. STATE_READONLY works in a folder that cannot be written. */
must_check int state_open(const char *path, const char *cluster, unsigned flags, struct state **out,
			  struct err *e);
/* NULL is fine. A group that was not flushed is undone; the lease is not released. */
void state_close(struct state *s);
void state_closep(struct state **s); /* for scoped() */
const char *state_path(const struct state *s);
/* Grows by one with each committed change of resources, facts or journal (not runs, events, meta,
 * lease). */
must_check int state_serial(struct state *s, int64_t *out, struct err *e);
/* Reads between the two see one snapshot; they nest. No write may come between (ERR_BUG). */
must_check int state_snapshot_begin(struct state *s, struct err *e);
void state_snapshot_end(struct state *s);

/* ---- resources ---- */
enum resource_status {
	RES_READY,    /* exists, as recorded */
	RES_CREATING, /* intent open */
	RES_TAINTED,  /* exists, but a step on it failed: configure again or replace */
	RES_DELETING,
};

struct state_resource {
	const char *addr;     /* node.h100[17], local.network.main */
	const char *kind;     /* machine, network, ... */
	const char *provider; /* name in the spec */
	const char *provider_type;
	const char *id;	   /* the provider's; NULL until known */
	const char *token; /* of the create that made it */
	const char *pool;  /* machines; else NULL */
	enum resource_status status;
	const struct value *want;  /* attributes asked for */
	const struct value *attrs; /* attributes the provider told (addresses, host key, ...) */
	VEC(const char *) deps;	   /* addresses */
	const char *config_digest; /* of the playbooks, roles and vars last applied to the node;
				      NULL: never */
	int64_t created_ms, updated_ms;
};

struct state_resources {
	VEC(struct state_resource *) v; /* sorted by addr */
};
must_check int state_resources(struct state *s, struct arena *a, struct state_resources *out,
			       struct err *e);
must_check int state_resource_find(struct state *s, struct arena *a, const char *addr,
				   struct state_resource **out,
				   struct err *e); /* *out NULL if absent */
/* Makes or replaces the row of r->addr, with its deps. updated_ms becomes now; created_ms of a new
 * row r's, or now if 0. */
must_check int state_resource_put(struct state *s, const struct state_resource *r, struct err *e);
/* del, move: ERR_NOT_FOUND if absent; move: ERR_CONFLICT if `to` exists. Facts go with it; move
 * also follows in others' deps. */
must_check int state_resource_del(struct state *s, const char *addr, struct err *e);
must_check int state_resource_move(struct state *s, const char *from, const char *to,
				   struct err *e);

/* ---- node facts: of a resource (put: ERR_NOT_FOUND if there is none); they go when it goes ---- */
must_check int state_facts_put(struct state *s, const char *addr, const struct value *facts,
			       struct err *e);
must_check int state_facts_get(struct state *s, struct arena *a, const char *addr,
			       const struct value **out, struct err *e); /* NULL if none */

/* ---- runs and events ---- */
struct state_run {
	const char *id;	     /* 26 characters, sorts by time */
	const char *command; /* apply, destroy, ... */
	const char *who;     /* user@host */
	const char *spec_digest, *plan_digest;
	const char *result; /* NULL: running or killed; "ok", "failed", "partial", "cancelled" */
	int64_t started_ms, ended_ms;
	const struct value *summary; /* counts */
	const char *args;	     /* the command line, without secrets; NULL: not known */
	/* What it worked from: {"commit", "branch", "dirty", ...} (engine_note_source); NULL: not
	 * known */
	const struct value *source;
};
struct state_runs {
	VEC(struct state_run *) v; /* newest first */
};
#define RUN_ID_LEN 27			 /* 26 characters and a NUL */
void state_run_id(char out[RUN_ID_LEN]); /* a new one */
/* A run's row is in the chain of events: "run begun" and "run ended" hold its digest. r->id NULL:
 * the lease's run. r->who NULL: user@host. started_ms 0: now. */
must_check int state_run_begin(struct state *s, struct arena *a, const struct state_run *r,
			       const char **id, struct err *e);
/* Ends with a backup when the run changed anything (not while a group is open); of a large state
 * (over 4 MB) only when it has grown by a quarter since the last one, or that is an hour old. */
must_check int state_run_end(struct state *s, const char *id, const char *result,
			     const struct value *summary, struct err *e);
must_check int state_run_find(struct state *s, struct arena *a, const char *id,
			      struct state_run **out, struct err *e); /* *out NULL if absent */
/* The one whose id begins so; *out NULL: none. ERR_USAGE: several. */
must_check int state_run_by_prefix(struct state *s, struct arena *a, const char *prefix,
				   struct state_run **out, struct err *e);
/* limit 0: all */
must_check int state_runs(struct state *s, struct arena *a, int64_t limit, struct state_runs *out,
			  struct err *e);

struct state_event {
	int64_t seq, at_ms;
	const char *run, *addr, *what; /* what: "created", "configured", "failed", ... */
	const struct value *data;
};
struct state_events {
	VEC(struct state_event *) v; /* oldest first */
};
/* run NULL: the lease's. addr, data may be NULL. */
must_check int state_event_add(struct state *s, const char *run, const char *addr, const char *what,
			       const struct value *data, struct err *e);
/* run NULL: of all */
must_check int state_events(struct state *s, struct arena *a, const char *run,
			    struct state_events *out, struct err *e);

/* ---- journal ---- */
enum journal_outcome { JOURNAL_INTENT, JOURNAL_DONE, JOURNAL_FAILED, JOURNAL_UNKNOWN };

struct journal_row {
	int64_t seq;
	const char *run, *addr;
	const char *action; /* create, update, delete, configure, reboot, ... */
	const char *token;
	enum journal_outcome outcome;
	const char *provider, *kind;
	const struct value *want; /* enough to settle it without the spec */
	const char *request;	  /* provider's request id, or NULL */
	const char *error;
	int64_t at_ms;
	int64_t settled_ms; /* of an unknown one: when somebody last said so; 0: nobody did */
};
struct journal_rows {
	VEC(struct journal_row *) v; /* by seq */
};
/* Durable (fsynced) when journal_intent's group has been committed: the caller waits for
 * journal_flush before it acts. */
must_check int journal_intent(struct state *s, const struct journal_row *row, int64_t *seq,
			      struct err *e);
struct journal_result {
	enum journal_outcome outcome; /* not INTENT; UNKNOWN leaves the row open */
	const char *request;	      /* NULL keeps what is there */
	const char *error;
	const struct state_resource *put; /* stored with it, or NULL */
	const char *del;		  /* address removed with it (absent is fine), or NULL */
};
/* Outcome and resource change in one transaction. ERR_CONFLICT: the row is settled already. */
must_check int journal_settle(struct state *s, int64_t seq, const struct journal_result *r,
			      struct err *e);
/* Commits the group: all writes since its first intent or settle share one transaction and one
 * fsync. -1: none of them was stored (also when a full disk undid the group earlier; writes in
 * between are refused, so that none is lost unseen). */
must_check int journal_flush(struct state *s, struct err *e);
bool journal_is_dirty(const struct state *s); /* a group waits for journal_flush */
must_check int journal_open_rows(struct state *s, struct arena *a, struct journal_rows *out,
				 struct err *e); /* outcome INTENT or UNKNOWN */
must_check int journal_run_rows(struct state *s, struct arena *a, const char *run,
				struct journal_rows *out, struct err *e); /* all of a run */

/* What steps on a pool's nodes took, from intent to outcome: the median of those that ended well,
 * in the newest rows. */
struct journal_pace {
	const char *pool, *action;
	int64_t median_ms;
	size_t n; /* steps that it rests on */
};
struct journal_paces {
	VEC(struct journal_pace *) v;
};
must_check int journal_pace(struct state *s, struct arena *a, struct journal_paces *out,
			    struct err *e);

/* ---- leases: who may write what ---- */
/* Addresses that a run changes, and others that it rests on. Two runs exclude each other when one
 * changes what the other changes or rests on. */
struct lease_scope {
	VEC(const char *) write, read;
};
struct lease_holder {
	char run[32], who[128], host[128], command[32], boot_id[40];
	int64_t pid;
	uint64_t pid_start;
	int64_t taken_ms, beat_ms, expires_ms; /* wall clock */
	int64_t fence;
	bool dead; /* same machine, and that process is gone */
	bool expired;
};
struct lease {
	struct lease_holder h;
	bool whole; /* everything; else: */
	struct lease_scope scope;
};
struct leases {
	VEC(struct lease *) v; /* oldest first */
};
#define LEASE_BEAT_MS	10000
#define LEASE_EXPIRY_MS 60000
/* A dead or expired owner in our way is taken over at once (an event records it); a live one:
 * ERR_LEASE with who, since when, and the command to type. run NULL: a new run id (lease_run). */
must_check int lease_take(struct state *s, const char *run, const char *command, struct err *e);
/* As lease_take, of these addresses only: writes of others are refused. */
must_check int lease_take_scope(struct state *s, const char *run, const char *command,
				const struct lease_scope *scope, struct err *e);
const char *lease_run(const struct state *s); /* NULL: we hold none */
must_check int lease_beat(struct state *s,
			  struct err *e); /* ERR_LEASE: it was taken from us; stop */
/* An open group is flushed first. */
must_check int lease_release(struct state *s, struct err *e);
must_check int lease_list(struct state *s, struct arena *a, struct leases *out, struct err *e);
/* May its owner write this address? */
bool lease_covers(const struct lease *l, const char *addr);
/* Takes a lease from its owner, whose next write is refused. run: its run id or the start of it;
 * NULL: the only one. ERR_NOT_FOUND: there is none; ERR_USAGE: several. only_if_dead: ERR_LEASE
 * unless the owner is dead or expired. */
must_check int lease_break(struct state *s, const char *run, bool only_if_dead, struct err *e);

/* ---- repair ---- */
/* Adds one entry a fault: pages, foreign keys, checksums of rows, the event chain, dangling deps,
 * open intents. */
must_check int state_check(struct state *s, struct err_list *problems, struct err *e);
must_check int state_export(struct state *s, struct buf *json,
			    struct err *e); /* whole state without the lease, portable JSON */
/* Into an empty state (no resource, run, event, intent) whose lease we hold; all or nothing.
 * ERR_SPEC: what is wrong in doc. */
must_check int state_import(struct state *s, struct arena *a, const struct value *doc,
			    struct err *e);
/* Online copy, atomic rename, 0600. path NULL: into backups/ beside the state, where the newest
 * STATE_BACKUPS are kept. */
#define STATE_BACKUPS 5
must_check int state_backup(struct state *s, const char *path, struct err *e);
/* A SQLite file, not exported JSON. Never ask it of a state that is open here: closing the file
 * would drop SQLite's locks. */
bool state_is_backup(const char *path);
/* Puts a backup, once found healthy, in the place of the state file `path`, which is kept as
 * PATH.damaged-TIME. ERR_LEASE: a live run holds the lease of the file there. */
must_check int state_restore(const char *path, const char *backup, struct err *e);

/* Small facts of the state itself, as the cluster name. NULL if absent. */
must_check int state_meta_get(struct state *s, struct arena *a, const char *key, const char **out,
			      struct err *e);
must_check int state_meta_put(struct state *s, const char *key, const char *value, struct err *e);
/* v with every secret replaced by {"__secret__": "hmac-sha256:..."}. The key is in seal.key (0600)
 * beside the state file, made when first needed: never in the file itself, so that a copy or an
 * export of it cannot be searched for weak secrets. */
must_check int state_seal(struct state *s, struct arena *a, const struct value *v,
			  const struct value **out, struct err *e);

/* Signature of data under the key beside the state file `path`, which may not exist yet: the key is
 * made when there is none (so is its folder, 0700). `purpose` keeps signatures of different kinds
 * apart: one made for another purpose is not taken. */
must_check int state_sign(const char *path, const char *purpose, struct str data,
			  char out[SHA256_HEX], struct err *e);
/* ERR_CONFLICT: it is not the signature of these bytes, or there is no key. Makes none. */
must_check int state_verify(const char *path, const char *purpose, struct str data,
			    const char *signature, struct err *e);

#endif
