/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public face of tasks: groups, waits, events, semaphores, all on top of sched_park. Outside
 * any task the two waits that make sense there (sleep, fd) block the thread, so that code such as
 * proc_run works in both worlds.
 */
#include "base/task.h"

#include <errno.h>
#include <poll.h>
#include <time.h>

#include "base/clock.h"
#include "base/sched.h"

/* ---- deadlines -------------------------------------------------------------------------------- */

struct deadline deadline_in(int64_t ms)
{
	int64_t now = clock_now();

	return (struct deadline){ ms > INT64_MAX - now ? INT64_MAX : now + ms };
}

struct deadline deadline_min(struct deadline a, struct deadline b)
{
	return a.at < b.at ? a : b;
}

int64_t deadline_left(struct deadline d)
{
	int64_t now = clock_now();

	return d.at == INT64_MAX ? INT64_MAX : d.at > now ? d.at - now : 0;
}

/* ---- tasks and groups ------------------------------------------------------------------------- */

void group_init(struct group *g)
{
	*g = (struct group){ 0 };
}

static void leave_group(struct task *t)
{
	struct group *g = t->group;

	if (t->prev)
		t->prev->next = t->next;
	else
		g->first = t->next;
	if (t->next)
		t->next->prev = t->prev;
	if (--g->live == 0 && g->done)
		task_event_set(g->done);
}

struct task *task_spawn(struct group *g, const char *name, task_fn *fn, void *arg)
{
	struct task *t = sched_spawn(name, fn, arg, leave_group);

	t->group = g;
	t->cancelled = g->cancelled;
	t->next = g->first;
	if (g->first)
		g->first->prev = t;
	g->first = t;
	g->live++;
	return t;
}

void group_cancel(struct group *g)
{
	g->cancelled = true;
	for (struct task *t = g->first; t; t = t->next)
		sched_cancel(t);
}

static int wake_err(enum wake w, struct err *e)
{
	switch (w) {
	case WAKE_CANCELLED: return err_set(e, ERR_CANCELLED, "cancelled");
	case WAKE_TIMEOUT: return err_set(e, ERR_TIMEOUT, "timed out");
	default: return 0;
	}
}

int group_wait(struct group *g, struct err *e)
{
	struct task_event all_ended = { 0 };
	int rc = task_check(e);

	if (rc != 0)
		group_cancel(g);
	while (g->live) {
		struct err why;

		g->done = &all_ended;
		if (rc != 0)
			task_shield_begin(); /* our members are being cancelled; they must still be
						waited for */
		int woke = task_event_wait(&all_ended, DEADLINE_NONE, &why);
		if (rc != 0)
			task_shield_end();
		if (woke != 0) {
			group_cancel(g);
			rc = err_set(e, ERR_CANCELLED, "cancelled");
		}
		if (all_ended.set && g->live)
			all_ended.set = false; /* a member that ended last had started another */
	}
	g->done = NULL;
	return rc;
}

bool task_is_running(void)
{
	return sched_current() != NULL;
}

void task_cancel(struct task *t)
{
	sched_cancel(t);
}

bool task_is_cancelled(void)
{
	const struct task *t = sched_current();

	return t && sched_is_cancelled(t);
}

int task_check(struct err *e)
{
	return task_is_cancelled() ? err_set(e, ERR_CANCELLED, "cancelled") : 0;
}

void task_yield(void)
{
	if (task_is_running())
		sched_pass();
}

int task_turn(struct deadline d, struct err *e)
{
	task_yield();
	if (task_check(e) != 0)
		return -1;
	return deadline_left(d) == 0 ? err_set(e, ERR_TIMEOUT, "timed out") : 0;
}

static int block_fd(int fd, int events, struct deadline d, struct err *e)
{
	struct pollfd p = { .fd = fd };

	p.events = (short)((events & FD_READ ? POLLIN : 0) | (events & FD_WRITE ? POLLOUT : 0));
	for (;;) {
		int64_t left = deadline_left(d);
		int rc = poll(&p, 1, left > 60000 ? 60000 : (int)left);

		if (rc > 0)
			return 0;
		if (rc < 0 && errno != EINTR)
			return err_sys(e, "poll");
		if (rc == 0 && deadline_left(d) == 0)
			return err_set(e, ERR_TIMEOUT, "timed out");
	}
}

int task_sleep(int64_t ms, struct err *e)
{
	if (!task_is_running()) {
		struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

		while (nanosleep(&ts, &ts) != 0 && errno == EINTR)
			continue;
		return 0;
	}
	if (ms <= 0) {
		sched_pass();
		return task_check(e);
	}
	enum wake w = sched_park(deadline_in(ms).at);
	return w == WAKE_CANCELLED ? wake_err(w, e) : 0;
}

int task_wait_fd(int fd, int events, struct deadline d, struct err *e)
{
	if (!task_is_running())
		return block_fd(fd, events, d, e);
	return wake_err(sched_wait_fd(fd, events, d.at), e);
}

/* Outside any task there is nothing to shield. */
void task_shield_begin(void)
{
	struct task *t = sched_current();

	if (t)
		t->shield++;
}

void task_shield_end(void)
{
	struct task *t = sched_current();

	if (t && --t->shield < 0)
		bug("task_shield_end without task_shield_begin");
}

void no_yield_begin(void)
{
	sched_no_yield(1);
}

void no_yield_end(void)
{
	sched_no_yield(-1);
}

/* ---- events and semaphores -------------------------------------------------------------------- */

int task_event_wait(struct task_event *ev, struct deadline d, struct err *e)
{
	struct waiter w = { .task = sched_current(), .next = ev->waiting };

	if (task_check(e) != 0)
		return -1;
	if (ev->set)
		return 0;
	if (ev->waiting)
		ev->waiting->prev = &w;
	ev->waiting = &w;
	enum wake why = sched_park(d.at);
	if (w.granted)
		return wake_err(why, e);
	if (w.prev)
		w.prev->next = w.next;
	else
		ev->waiting = w.next;
	if (w.next)
		w.next->prev = w.prev;
	return wake_err(why, e);
}

void task_event_set(struct task_event *ev)
{
	struct waiter *w = ev->waiting, *last_first = NULL;

	ev->set = true;
	ev->waiting = NULL;
	/* Newest first in the list; wake in the order of arrival. */
	while (w) {
		struct waiter *next = w->next;

		w->next = last_first;
		last_first = w;
		w->granted = true; /* it is off the list */
		w = next;
	}
	for (w = last_first; w; w = w->next)
		sched_wake(w->task, WAKE_DONE);
}

int task_sem_take(struct task_sem *s, struct deadline d, struct err *e)
{
	struct waiter w = { .task = sched_current(), .prev = s->last };

	if (task_check(e) != 0)
		return -1;
	if (s->free > 0 && !s->first) {
		s->free--;
		return 0;
	}
	if (s->last)
		s->last->next = &w;
	else
		s->first = &w;
	s->last = &w;
	enum wake why = sched_park(d.at);
	if (w.granted)
		/* whatever else happened: the unit is ours and must be given back by us */
		return 0;
	if (w.prev)
		w.prev->next = w.next;
	else
		s->first = w.next;
	if (w.next)
		w.next->prev = w.prev;
	else
		s->last = w.prev;
	return wake_err(why, e);
}

/* Hands the unit to a waiter that is not already on its way out, so that none is lost. */
void task_sem_give(struct task_sem *s)
{
	struct waiter *w = s->first;

	while (w && w->task->wake != WAKE_NONE)
		w = w->next;
	if (!w) {
		s->free++;
		return;
	}
	if (w->prev)
		w->prev->next = w->next;
	else
		s->first = w->next;
	if (w->next)
		w->next->prev = w->prev;
	else
		s->last = w->prev;
	w->granted = true;
	sched_wake(w->task, WAKE_DONE);
}
