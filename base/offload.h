/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/offload.h - blocking calls (getaddrinfo, libgit2, hashing large files, setns) on a small
 * thread pool, while the task waits.
 *
 * fn runs on another thread: it must touch only what arg gives it, and must not fail with TIMEOUT
 * or CANCELLED. When the deadline passes or the task is cancelled the call is abandoned:
 * task_offload returns -1 with one of these two kinds, fn still runs to its end, and then
 * free_arg(arg) is called (on whatever thread). After any other return the arg is the caller's
 * again and free_arg is not called. free_arg may be NULL if arg outlives the process's use of it.
 */
#ifndef MUSTER_BASE_OFFLOAD_H
#define MUSTER_BASE_OFFLOAD_H

#include "base/task.h"

struct offload_call {
	int (*fn)(void *arg, struct err *e);
	void *arg;
	void (*free_arg)(void *); /* only for an abandoned call */
};

/* Result and *e are fn's. Outside a task it just calls fn. At most 8 calls run at once; the rest
 * queue. */
must_check int task_offload(struct offload_call call, struct deadline d, struct err *e);

#endif
