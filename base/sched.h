/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/sched.h - the engine room of tasks: who is ready, who waits for what, until when. For
 * task.c, loop.c, offload.c, proc.c only.
 *
 * Everything here belongs to the loop's thread (and the task that runs on it). The public faces are
 * task.h and loop.h.
 */
#ifndef MUSTER_BASE_SCHED_H
#define MUSTER_BASE_SCHED_H

#include "base/co.h"
#include "base/err.h"

enum wake { WAKE_NONE, WAKE_DONE, WAKE_TIMEOUT, WAKE_CANCELLED };

struct task {
	struct co *co;
	const char *name;
	void (*fn)(void *);
	void *arg;
	struct task *ready_next;
	struct task *all_prev, *all_next; /* every live task, for diagnostics */
	int64_t at;			  /* its timer, while heap_at is set */
	uint64_t seq;			  /* equal timers fire in the order they were set */
	size_t heap_at;			  /* place in the timer heap + 1; 0: no timer */
	enum wake wake;			  /* set by the first who wakes it */
	bool parked;
	bool cancelled;
	int shield;
	/* task.c's: the group */
	void *group;
	struct task *prev, *next;
	void (*end)(struct task *); /* runs on the task's stack after fn */
};

/* A task in somebody's queue; lives on its stack while it is parked. */
struct waiter {
	struct task *task;
	struct waiter *prev, *next;
	bool granted;
};

struct task *sched_current(void); /* NULL outside any task; callable from any thread */
struct task *sched_spawn(const char *name, void (*fn)(void *), void *arg,
			 void (*end)(struct task *));

/* Parks the running task until sched_wake, its time, or (if unshielded) its cancellation. */
enum wake sched_park(int64_t at);
void sched_wake(struct task *t, enum wake why); /* harmless if it is not parked or already woken */
void sched_pass(void);
void sched_cancel(struct task *t);
bool sched_is_cancelled(const struct task *t); /* and not shielded */

/* Parks until fd is ready for events (FD_READ 1, FD_WRITE 2). */
enum wake sched_wait_fd(int fd, int events, int64_t at);

/* Calls fn(arg) from the loop whenever fd is readable. The loop does not stay alive for it. */
typedef void sched_watch_fn(void *arg);
must_check int sched_watch(int fd, sched_watch_fn *fn, void *arg, struct err *e);

/* Something outside (a thread, a process) will wake a task: while so, virtual time stands still. */
void sched_outside_begin(void);
void sched_outside_end(void);

void sched_no_yield(int delta);

struct sched_opts {
	uint64_t seed;
	int64_t warn_ms;
	bool may_idle; /* something other than tasks (signals) may wake one: no deadlock check */
};

bool sched_is_running(void);
uint64_t sched_id(void); /* another number for each loop of the process; 0: none runs */
must_check int sched_open(const struct sched_opts *o, struct err *e);
void sched_run(void (*on_turn)(void)); /* until no task is left */
void sched_close(void);
void sched_set_may_idle(bool on);

#endif
