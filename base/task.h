/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/task.h - coroutines: straight-line code on one thread and one epoll loop (base/loop.h).
 *
 * A task has a stack of its own (256 KiB and a guard page) and runs until it waits; nothing else
 * runs meanwhile, so there are no data races. Every wait takes a deadline and returns -1 with
 * ERR_TIMEOUT or ERR_CANCELLED. Cancelling a task makes its current and every later wait return
 * ERR_CANCELLED, except inside task_shield (clean-up that must finish). Functions here may only be
 * called from inside a task, unless said otherwise.
 */
#ifndef MUSTER_BASE_TASK_H
#define MUSTER_BASE_TASK_H

#include "base/err.h"

struct task;

typedef void task_fn(void *arg);

/* When to give up: a point of the monotonic clock (base/clock.h). */
struct deadline {
	int64_t at; /* ms; INT64_MAX is only for waits that another deadline bounds (children,
		       cancellation) */
};

#define DEADLINE_NONE ((struct deadline){ INT64_MAX })

struct deadline deadline_in(int64_t ms); /* from now */
struct deadline deadline_min(struct deadline a, struct deadline b);
int64_t deadline_left(struct deadline d); /* ms, 0 when past */

/* A set of tasks that are waited for, and cancelled, together. Lives on its owner's stack;
 * group_wait before it dies. */
struct group {
	struct task *first;
	size_t live;
	struct task_event *done;
	bool cancelled;
};

void group_init(struct group *g);
void group_cancel(struct group *g); /* asks all to stop; returns at once */
/* Until every task has ended. If the caller is cancelled the members are cancelled too and still
 * waited for; -1 ERR_CANCELLED then. */
must_check int group_wait(struct group *g, struct err *e);

/* Starts fn(arg) in a new task of g; it first runs when the caller waits. name: static or outliving
 * the task (diagnostics). The result is valid until the task has ended (task_cancel on an ended
 * task is a bug: use group_cancel). */
struct task *task_spawn(struct group *g, const char *name, task_fn *fn, void *arg);
bool task_is_running(void); /* callable anywhere: false outside any task */
void task_cancel(struct task *t);
bool task_is_cancelled(void);
must_check int task_check(struct err *e); /* ERR_CANCELLED if cancelled; does not yield */

void task_yield(void); /* lets others run */
/* For a loop over input that may never pause, and so never waits: lets others run, then says
 * whether it is time to stop. Harmless outside any task. */
must_check int task_turn(struct deadline d, struct err *e);
/* Outside any task, task_sleep and task_wait_fd block the thread. */
must_check int task_sleep(int64_t ms, struct err *e);

enum { FD_READ = 1, FD_WRITE = 2 };
/* Until fd is ready for one of `events`. Several tasks may wait on one fd only for different
 * events. */
must_check int task_wait_fd(int fd, int events, struct deadline d, struct err *e);

/* Clean-up sections: waits inside are not cancelled (deadlines still hold). Nest freely. */
void task_shield_begin(void);
void task_shield_end(void);
/* Sections in which waiting is a bug (state transactions): task_* waits call bug(). Nest freely. */
void no_yield_begin(void);
void no_yield_end(void);

/* A latch: set once, wakes all. Reset by assigning { 0 } when nobody waits. */
struct task_event {
	bool set;
	struct waiter *waiting;
};
must_check int task_event_wait(struct task_event *ev, struct deadline d, struct err *e);
void task_event_set(struct task_event *ev);

/* Counting semaphore, first come first served. */
struct task_sem {
	int64_t free;
	struct waiter *first, *last;
};
must_check int task_sem_take(struct task_sem *s, struct deadline d, struct err *e);
void task_sem_give(struct task_sem *s);

#endif
