/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/offload.h - blocking calls (getaddrinfo, libgit2, hashing large files, setns) on a small thread pool, while the task waits.
 *
 * fn runs on another thread: it must touch only what arg gives it. When the deadline passes or the task is cancelled the call is abandoned:
 * task_offload returns -1 and fn still runs to its end, so arg must then outlive it: free_arg(arg) is called when both sides are
 * done with it (also on success, after the caller's return, never before fn ended). free_arg may be NULL if arg outlives the loop.
 */
#ifndef MUSTER_BASE_OFFLOAD_H
#define MUSTER_BASE_OFFLOAD_H

#include "base/task.h"

struct offload_call {
	int (*fn)(void *arg, struct err *e);
	void *arg;
};

/* Result and *e are fn's. Without a running loop it just calls fn. The caller may read arg after a return that is not
 * TIMEOUT or CANCELLED. */
must_check int task_offload(struct offload_call call, struct deadline d, struct err *e);

#endif
