/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/loop.h - runs tasks: epoll, timers, signals. One loop a process at a time.
 */
#ifndef MUSTER_BASE_LOOP_H
#define MUSTER_BASE_LOOP_H

#include "base/task.h"

struct loop_opts {
	uint64_t seed;	 /* not 0: ready tasks run in a seeded random order (replayable); 0: first
			    come first served */
	int64_t warn_ms; /* not 0: log_warn when a task holds the loop longer (debug builds) */
};

/* Runs fn(arg) as the first task and returns when it and every task it started have ended. o may be
 * NULL. */
must_check int loop_run(task_fn *fn, void *arg, const struct loop_opts *o, struct err *e);

/* Calls fn(arg, signo) from the loop (not in signal context) for each arrival; the signal's default
 * is suppressed while the loop runs. Call before loop_run or in a task. fn must not wait; it may
 * cancel groups. */
typedef void loop_signal_fn(void *arg, int signo);
void loop_on_signal(int signo, loop_signal_fn *fn, void *arg);

/* Calls fn(arg) once at the end of each loop turn in which any task ran (group commit of the
 * journal). NULL removes. */
void loop_on_turn(void (*fn)(void *), void *arg);

#endif
