/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/fake/cloud.h - the inside of the fake provider: a cloud kept in a file of its own, for
 * tests and demonstrations.
 *
 * It behaves as clouds do: calls take time, are throttled, run out of room, fail, and lose their
 * replies; all of that by options (fake.c). What it holds is in one SQLite file, so it survives the
 * death of muster at any moment, and several processes may use it at once, as they would a real
 * cloud. This header is for the files of this folder.
 */
#ifndef MUSTER_PROVIDERS_FAKE_CLOUD_H
#define MUSTER_PROVIDERS_FAKE_CLOUD_H

#include <sqlite3.h>

#include "providers/provider.h"

extern const struct resource_type fake_network; /* network.c */
extern const struct resource_type fake_machine; /* machine.c */

/* One row of `error_script`. */
struct fake_fault {
	struct obj obj;
	int64_t call; /* enum fake_call */
	struct str match;
	int64_t nth;   /* 0: every one */
	int64_t times; /* from the nth on */
	struct str error;
	bool lost, late, twice, vanish, ignored;
	int64_t delay;
};

struct fake_ssh {
	struct obj obj;
	struct str host, user, netns, host_key;
	int64_t port;
};

struct fake_options {
	struct obj obj;
	struct str file;
	int64_t create_ms, update_ms, delete_ms, list_ms;
	int64_t throttle_per_s;
	int64_t capacity, quota;
	int64_t lose_reply, fail_every;
	int64_t settle_ms, page;
	struct obj_list error_script; /* struct fake_fault */
	struct fake_ssh ssh;
};

enum fake_call { FAKE_CREATE, FAKE_UPDATE, FAKE_DESTROY, FAKE_LIST, FAKE_FIND, FAKE_REBOOT };

/* store.c: the file. No call here yields. */
enum fake_query {
	Q_INSERT,
	Q_BY_TOKEN,
	Q_BY_ID,
	Q_SHOWN,
	Q_PAGE,
	Q_UPDATE,
	Q_DELETE,
	Q_COUNT_ALL,
	Q_COUNT_CLUSTER,
	Q_BUMP,
	Q_THROTTLE,
	Q_N,
};

struct provider {
	struct arena *a; /* its own */
	const char *cluster;
	struct fake_options o;
	const char *file;
	sqlite3 *db;
	sqlite3_stmt *q[Q_N];
};

must_check int fake_store_open(struct provider *p, struct err *e);
void fake_store_close(struct provider *p);
must_check int fake_begin(struct provider *p, struct err *e);  /* takes the write lock */
must_check int fake_commit(struct provider *p, struct err *e); /* or rolls back and fails */
void fake_rollback(struct provider *p);
/* A counter that survives: adds one and gives the new number. */
must_check int fake_bump(struct provider *p, const char *name, int64_t *n, struct err *e);
/* Calls of this second, this one included. */
must_check int fake_calls_now(struct provider *p, int64_t *n, struct err *e);
must_check int fake_count(struct provider *p, const char *kind, bool of_cluster, int64_t *n,
			  struct err *e);
must_check int fake_put(struct provider *p, const char *kind, const struct resource_want *w,
			const struct value *attrs, int64_t *id, struct err *e);
must_check int fake_set(struct provider *p, int64_t id, const struct value *attrs,
			const char *status, struct err *e);
must_check int fake_drop(struct provider *p, const char *kind, const char *id, struct err *e);
/* *out NULL if absent. They see also what does not show yet. */
must_check int fake_by_token(struct provider *p, struct arena *a, const char *kind,
			     const char *token, struct resource_seen **out, struct err *e);
must_check int fake_shown(struct provider *p, const char *kind, const char *id, bool *shown,
			  struct err *e);
must_check int fake_by_id(struct provider *p, struct arena *a, const char *kind, const char *id,
			  struct resource_seen **out, struct err *e);
/* Up to `page` objects after *last, those that show already; moves *last. Fewer: that was the end. */
must_check int fake_page(struct provider *p, struct arena *a, const char *kind, int64_t *last,
			 struct resources_seen *out, struct err *e);
bool fake_id_parse(const char *kind, const char *id, int64_t *out);

/* faults.c: what is going to happen to a call. */
struct fake_fate {
	char request[32];
	enum fake_call call;
	int64_t delay_ms;
	bool fails; /* before any effect */
	bool throttled;
	bool lost;    /* has its effect, and the caller gets ERR_TIMEOUT */
	bool late;    /* has its effect, and fails then */
	bool ignored; /* is answered, and has no effect */
	bool twice;   /* the request arrives twice */
	bool vanish;  /* what it made or changed is gone afterwards */
	enum err_kind kind;
};
/* Counts the call, applies throttling (then it fails with ERR_BUSY), and decides. name NULL: none.
 * Its own transaction. */
must_check int fake_fate(struct provider *p, enum fake_call call, const char *name,
			 struct fake_fate *f, struct err *e);
int fake_fail(const struct fake_fate *f, const char *what, struct err *e); /* -1 */
must_check int fake_check_script(const struct fake_options *o, struct err *e);

/* object.c: the calls, the same for every kind. compute: adds what the provider tells to attrs. */
struct fake_kind {
	const char *kind;
	void (*compute)(struct provider *p, struct arena *a, int64_t id, const struct value *deps,
			struct value *attrs);
};
int64_t fake_settle(const struct provider *p);
must_check int fake_create(struct provider *p, struct arena *a, const struct fake_kind *k,
			   const struct resource_want *w, struct resource_seen **out,
			   struct err *e);
/* The object as seen comes back by a find of the caller's: fake_by_id. */
must_check int fake_update(struct provider *p, struct arena *a, const char *kind, const char *id,
			   const struct value *want, struct err *e);
must_check int fake_destroy(struct provider *p, const struct fake_kind *k, const char *id,
			    struct err *e);
must_check int fake_list(struct provider *p, struct arena *a, const struct fake_kind *k,
			 struct resources_seen *out, struct err *e);
must_check int fake_find(struct provider *p, struct arena *a, const struct fake_kind *k,
			 const char *token, struct resource_seen **out, struct err *e);
must_check int fake_reboot(struct provider *p, const struct fake_kind *k, const char *id,
			   struct err *e);

#endif
