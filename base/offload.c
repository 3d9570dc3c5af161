/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A queue, at most eight threads started as they are needed, and an eventfd on which the loop hears
 * of finished calls. A call belongs to its task until it is abandoned; then to the thread that runs
 * it. Everything shared is under one mutex.
 */
#include "base/offload.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/sched.h"

enum { MAX_THREADS = 8 };

enum state { QUEUED, RUNNING, FINISHED };

struct job {
	struct offload_call call;
	struct err err;
	int rc;
	enum state state;
	bool abandoned;
	struct task_event done; /* the loop's thread only */
	struct job *next;
};

struct job_list {
	struct job *first, *last;
	int n;
};

static struct {
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct job_list queue, finished;
	int threads, idle;
	int event_fd;
	uint64_t loop; /* whose epoll knows event_fd */
} P = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER, .event_fd = -1 };

static void list_add(struct job_list *l, struct job *j)
{
	j->next = NULL;
	if (l->last)
		l->last->next = j;
	else
		l->first = j;
	l->last = j;
	l->n++;
}

static bool list_remove(struct job_list *l, const struct job *j)
{
	struct job *prev = NULL;

	for (struct job *i = l->first; i; prev = i, i = i->next) {
		if (i != j)
			continue;
		if (prev)
			prev->next = i->next;
		else
			l->first = i->next;
		if (l->last == i)
			l->last = prev;
		l->n--;
		return true;
	}
	return false;
}

static void job_drop(struct job *j)
{
	if (j->call.free_arg)
		j->call.free_arg(j->call.arg);
	mem_free(j);
}

static void tell_loop(void)
{
	uint64_t one = 1;

	while (write(P.event_fd, &one, sizeof one) < 0 && errno == EINTR)
		continue;
}

static void *worker(void *unused)
{
	pthread_mutex_lock(&P.lock);
	for (;;) {
		struct job *j = P.queue.first;

		if (!j) {
			P.idle++;
			pthread_cond_wait(&P.more, &P.lock);
			P.idle--;
			continue;
		}
		list_remove(&P.queue, j);
		j->state = RUNNING;
		pthread_mutex_unlock(&P.lock);
		int rc = j->call.fn(j->call.arg, &j->err);
		pthread_mutex_lock(&P.lock);
		j->rc = rc;
		j->state = FINISHED;
		if (!j->abandoned) {
			list_add(&P.finished, j);
			tell_loop();
			continue;
		}
		pthread_mutex_unlock(&P.lock);
		job_drop(j);
		pthread_mutex_lock(&P.lock);
	}
	return unused;
}

/* Under the lock. Signals belong to the loop's thread. */
static int start_thread(void)
{
	sigset_t all, old;
	pthread_t t;

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	int rc = pthread_create(&t, NULL, worker, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (rc != 0)
		return -1;
	pthread_detach(t);
	P.threads++;
	return 0;
}

static void on_finished(void *unused)
{
	uint64_t count;

	(void)unused;
	if (read(P.event_fd, &count, sizeof count) < 0)
		return;
	pthread_mutex_lock(&P.lock);
	struct job *j = P.finished.first;
	P.finished = (struct job_list){ 0 };
	pthread_mutex_unlock(&P.lock);
	while (j) {
		struct job *next = j->next;

		j->next = NULL;
		task_event_set(&j->done);
		j = next;
	}
}

static int pool_attach(struct err *e)
{
	if (P.event_fd < 0)
		P.event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (P.event_fd < 0)
		return err_sys(e, "eventfd");
	if (P.loop == sched_id())
		return 0;
	if (sched_watch(P.event_fd, on_finished, NULL, e) != 0)
		return -1;
	P.loop = sched_id();
	return 0;
}

static int enqueue(struct job *j, struct err *e)
{
	int rc = 0;

	pthread_mutex_lock(&P.lock);
	/* An idle thread that has been woken still counts as idle: the queue knows better. */
	if (P.idle <= P.queue.n && P.threads < MAX_THREADS && start_thread() != 0 && P.threads == 0)
		rc = err_set(e, ERR_IO, "no thread could be started");
	if (rc == 0) {
		list_add(&P.queue, j);
		pthread_cond_signal(&P.more);
	}
	pthread_mutex_unlock(&P.lock);
	return rc;
}

/* True if the call is (or will be) somebody else's; false if it has finished after all. */
static bool abandon(struct job *j)
{
	pthread_mutex_lock(&P.lock);
	bool queued = list_remove(&P.queue, j);
	bool gone = queued || j->state == RUNNING;
	j->abandoned = j->state == RUNNING;
	if (!gone)
		list_remove(&P.finished, j);
	pthread_mutex_unlock(&P.lock);
	if (queued)
		job_drop(j);
	return gone;
}

int task_offload(struct offload_call call, struct deadline d, struct err *e)
{
	if (!task_is_running())
		return call.fn(call.arg, e);
	if (pool_attach(e) != 0)
		return -1;
	struct job *j = mem_alloc(sizeof *j);
	j->call = call;
	if (enqueue(j, e) != 0) {
		mem_free(j);
		return -1;
	}
	struct err why;
	sched_outside_begin();
	int woke = task_event_wait(&j->done, d, &why);
	sched_outside_end();
	if (woke != 0 && abandon(j)) {
		*e = why;
		return -1;
	}
	int rc = j->rc;
	if (rc != 0)
		*e = j->err;
	mem_free(j);
	return rc;
}
