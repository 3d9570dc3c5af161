/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/err.h - how anything fails.
 *
 * A function that can fail returns 0 or -1 and takes `struct err *e` last. On 0, *e is untouched.
 * On -1, *e is filled, so `return err_set(e, ...)` is the idiom. A struct err never allocates and
 * never needs freeing: it works when memory is gone, and it lives on the stack of whoever will
 * report it (one per command, one per task). It is always passed, never thread-local: tasks share a
 * thread.
 */
#ifndef MUSTER_BASE_ERR_H
#define MUSTER_BASE_ERR_H

#include "base/attr.h"

/* Chosen by what the CALLER can do about it. */
enum err_kind {
	ERR_NONE,
	ERR_USAGE, /* the command line is wrong: the user types something else */
	/* the spec (or a playbook, inventory, template) is wrong: the user edits a file */
	ERR_SPEC,
	ERR_AUTH,      /* credentials missing, wrong, or not allowed */
	ERR_NOT_FOUND, /* the thing is not there */
	ERR_CONFLICT,  /* someone else changed it: refresh, then retry */
	ERR_LEASE,     /* another run holds the lease */
	ERR_QUOTA,     /* the account has no room: ask for more, or choose another */
	ERR_CAPACITY,  /* the provider has no room: another zone, type, provider, or later */
	ERR_BUSY,      /* throttled or temporary: the retry policy may try again */
	/* no answer in time; the effect is UNKNOWN: find by token before repeating */
	ERR_TIMEOUT,
	ERR_REMOTE,    /* the node or service answered, and the answer was failure */
	ERR_IO,	       /* this machine: disk, socket, permission */
	ERR_CANCELLED, /* ^C, or fail-fast */
	ERR_BUG,       /* ours; please report */
};

/* A place in a file. `file` outlives the err: it is in the run's arena or static. line 0 = no
 * position. */
struct pos {
	const char *file;
	int line; /* from 1 */
	int col;  /* from 1, in bytes */
};

struct err {
	enum err_kind kind;
	int code; /* errno, HTTP status or exit status: whatever the lowest layer had */
	/* BUSY: how long the other side wants to be left alone; 0: unsaid */
	int64_t retry_after_ms;
	struct pos pos;	  /* clusters/train.yaml:42:7 */
	char addr[160];	  /* node.h100[17] */
	char node[128];	  /* h100-17 */
	char request[64]; /* the provider's request id */
	char msg[1024];	  /* outermost context first: "creating node.a[0]: quota exceeded: ..." */
	char hint[384];	  /* one imperative sentence: what to do next */
};

/* returns -1 */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) printf_fmt(3, 4);
/* ERR_IO + strerror(errno), -1 */
int err_sys(struct err *e, const char *fmt, ...) printf_fmt(2, 3);
/* "fmt: " before msg, -1 */
int err_wrap(struct err *e, const char *fmt, ...) printf_fmt(2, 3);
/* the first hint wins, -1 */
int err_hint(struct err *e, const char *fmt, ...) printf_fmt(2, 3);
/* innermost wins, -1 */
int err_at(struct err *e, struct pos p);
/* innermost wins, NULL = keep, -1 */
int err_on(struct err *e, const char *addr, const char *node);
/* innermost wins, -1 */
int err_req(struct err *e, const char *request_id);

bool err_is_retryable(const struct err *e); /* ERR_BUSY only. ERR_TIMEOUT is not: look first. */
/* The other side refused it because there are too many: BUSY with an HTTP status of 429 or 503. */
bool err_is_throttle(const struct err *e);
int err_exit_code(const struct err *e); /* cli.md: 1, 5 lease held, 64 usage, 130 cancelled */
const char *err_kind_name(enum err_kind kind); /* "usage", "spec", ... */

/*
 * Many faults at once (a spec reports all of them in one run). Bounded: after ERR_LIST_MAX the rest
 * is only counted. Heap; err_list_fini frees. Adding to a full or NULL list is harmless.
 */
#define ERR_LIST_MAX 100

struct err_list {
	struct err *v;
	size_t n, cap;
	size_t dropped; /* faults beyond ERR_LIST_MAX */
};

void err_list_add(struct err_list *l, const struct err *e);
/* ERR_SPEC */
void err_list_addf(struct err_list *l, struct pos p, const char *hint, const char *fmt, ...)
	printf_fmt(4, 5);
void err_list_sort(struct err_list *l); /* by file, line, column; stable */
void err_list_fini(struct err_list *l);

#endif
