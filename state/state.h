/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/state.h - front door of what was recorded: one SQLite file (WAL, synchronous=FULL, foreign keys, user_version migrations).
 *
 * Reads take no lock and see one snapshot. Writes need the lease (state_lease_take) and carry its fencing number: a write of a run that lost its
 * lease is refused (ERR_LEASE). No call here yields to other tasks. Secrets never arrive here: attributes with a secret inside are stored
 * with a keyed digest in its place.
 */
#ifndef MUSTER_STATE_STATE_H
#define MUSTER_STATE_STATE_H

#include "base/base.h"

struct state;

enum state_flags { STATE_CREATE = 1, STATE_READONLY = 2 };

/* Opens (STATE_CREATE: makes folder 0700 and file 0600) and migrates. Refuses a newer version's file, a damaged file (says how to restore the
 * backup), a file of another cluster. cluster NULL: whatever is inside. */
must_check int state_open(const char *path, const char *cluster, unsigned flags, struct state **out, struct err *e);
void state_close(struct state *s); /* NULL is fine */
const char *state_path(const struct state *s);
must_check int state_serial(struct state *s, int64_t *out, struct err *e); /* grows with each committed change */

/* ---- resources ---- */
enum resource_status {
	RES_READY,	/* exists, as recorded */
	RES_CREATING,	/* intent open */
	RES_TAINTED,	/* exists, but a step on it failed: configure again or replace */
	RES_DELETING,
};

struct state_resource {
	const char *addr;     /* node.h100[17], local.network.main */
	const char *kind;     /* machine, network, ... */
	const char *provider; /* name in the spec */
	const char *provider_type;
	const char *id;	      /* the provider's; NULL until known */
	const char *token;    /* of the create that made it */
	const char *pool;     /* machines; else NULL */
	enum resource_status status;
	const struct value *want;  /* attributes asked for */
	const struct value *attrs; /* attributes the provider told (addresses, host key, ...) */
	VEC(const char *) deps;	   /* addresses */
	const char *config_digest; /* of the playbooks, roles and vars last applied to the node; NULL: never */
	int64_t created_ms, updated_ms;
};

struct state_resources {
	VEC(struct state_resource *) v; /* sorted by addr */
};
must_check int state_resources(struct state *s, struct arena *a, struct state_resources *out, struct err *e);
must_check int state_resource_find(struct state *s, struct arena *a, const char *addr, struct state_resource **out, struct err *e); /* *out NULL if absent */
must_check int state_resource_put(struct state *s, const struct state_resource *r, struct err *e);
must_check int state_resource_del(struct state *s, const char *addr, struct err *e);
must_check int state_resource_move(struct state *s, const char *from, const char *to, struct err *e);

/* ---- node facts ---- */
must_check int state_facts_put(struct state *s, const char *addr, const struct value *facts, struct err *e);
must_check int state_facts_get(struct state *s, struct arena *a, const char *addr, const struct value **out, struct err *e); /* NULL if none */

/* ---- runs and events ---- */
struct state_run {
	const char *id; /* 26 characters, sorts by time */
	const char *command; /* apply, destroy, ... */
	const char *who;     /* user@host */
	const char *spec_digest, *plan_digest;
	const char *result;  /* NULL: running or killed; "ok", "failed", "partial", "cancelled" */
	int64_t started_ms, ended_ms;
	const struct value *summary; /* counts */
};
struct state_runs {
	VEC(struct state_run *) v; /* newest first */
};
must_check int state_run_begin(struct state *s, struct arena *a, const struct state_run *r, const char **id, struct err *e);
must_check int state_run_end(struct state *s, const char *id, const char *result, const struct value *summary, struct err *e);
must_check int state_runs(struct state *s, struct arena *a, int64_t limit, struct state_runs *out, struct err *e);

struct state_event {
	int64_t seq, at_ms;
	const char *run, *addr, *what; /* what: "created", "configured", "failed", ... */
	const struct value *data;
};
struct state_events {
	VEC(struct state_event *) v; /* oldest first */
};
must_check int state_event_add(struct state *s, const char *run, const char *addr, const char *what, const struct value *data, struct err *e);
must_check int state_events(struct state *s, struct arena *a, const char *run, struct state_events *out, struct err *e);

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
	const char *request; /* provider's request id, or NULL */
	const char *error;
	int64_t at_ms, settled_ms;
};
struct journal_rows {
	VEC(struct journal_row *) v; /* by seq */
};
/* Durable (fsynced) when journal_intent's group has been committed: the caller waits for journal_flush before it acts. */
must_check int journal_intent(struct state *s, const struct journal_row *row, int64_t *seq, struct err *e);
/* Outcome and resource change in one transaction: `put` (or NULL) is stored and `del` (or NULL) removed with it. */
must_check int journal_settle(struct state *s, int64_t seq, enum journal_outcome outcome, const char *request, const char *error,
			      const struct state_resource *put, const char *del, struct err *e);
/* Opens a group: intents and settles until journal_flush share one transaction and one fsync. */
must_check int journal_flush(struct state *s, struct err *e);
bool journal_is_dirty(const struct state *s);
must_check int journal_open_rows(struct state *s, struct arena *a, struct journal_rows *out, struct err *e); /* outcome INTENT or UNKNOWN */

/* ---- lease ---- */
struct lease_holder {
	char run[32], who[128], host[128], command[32], boot_id[40];
	int64_t pid;
	uint64_t pid_start;
	int64_t taken_ms, beat_ms, expires_ms; /* wall clock */
	int64_t fence;
	bool dead;    /* same machine, and that process is gone */
	bool expired;
};
#define LEASE_BEAT_MS	10000
#define LEASE_EXPIRY_MS 60000
/* A dead or expired owner is taken over at once (an event records it); a live one: ERR_LEASE with who, since when, and the command to type. */
must_check int lease_take(struct state *s, const char *run, const char *command, struct err *e);
must_check int lease_beat(struct state *s, struct err *e); /* ERR_LEASE: it was taken from us; stop */
must_check int lease_release(struct state *s, struct err *e);
must_check int lease_show(struct state *s, struct lease_holder *out, bool *held, struct err *e);
must_check int lease_break(struct state *s, bool only_if_dead, struct err *e);

/* ---- repair ---- */
must_check int state_check(struct state *s, struct err_list *problems, struct err *e); /* integrity, foreign keys, dangling deps, open intents */
must_check int state_export(struct state *s, struct buf *json, struct err *e);	       /* whole state, portable JSON */
must_check int state_import(struct state *s, struct arena *a, const struct value *doc, struct err *e); /* into an empty state; all or nothing */
must_check int state_backup(struct state *s, const char *path, struct err *e);	       /* online copy (sqlite3_backup), atomic rename */

/* Small facts of the state itself: cluster name, digest key for secrets. */
must_check int state_meta_get(struct state *s, struct arena *a, const char *key, const char **out, struct err *e); /* NULL if absent */
must_check int state_meta_put(struct state *s, const char *key, const char *value, struct err *e);
/* v with every secret replaced by {"__secret__": "hmac-sha256:..."} under this state's key. */
must_check int state_seal(struct state *s, struct arena *a, const struct value *v, const struct value **out, struct err *e);

#endif
