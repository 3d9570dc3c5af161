/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debugging maker of coroutines: a thread each, and a baton (two semaphores), so that exactly
 * one runs at any time and every hand-over is a happens-before edge. Slower; "thread apply all bt"
 * then shows every task.
 */
#ifdef MUSTER_TASK_PTHREAD

#include "base/co.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "base/arena.h"

struct co {
	pthread_t thread;
	sem_t go, back;
	void (*fn)(void *);
	void *arg;
	bool done;
};

static void take(sem_t *s)
{
	while (sem_wait(s) != 0)
		continue; /* EINTR */
}

static void *co_main(void *arg)
{
	struct co *c = arg;

	take(&c->go);
	c->fn(c->arg);
	c->done = true;
	sem_post(&c->back);
	return NULL;
}

struct co *co_new(void (*fn)(void *), void *arg)
{
	struct co *c = mem_alloc(sizeof *c);
	pthread_attr_t attr;
	sigset_t all, old;

	c->fn = fn;
	c->arg = arg;
	sem_init(&c->go, 0, 0);
	sem_init(&c->back, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 4 * CO_STACK_SIZE); /* sanitizers need more */
	sigfillset(&all); /* signals stay with the loop's thread */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (pthread_create(&c->thread, &attr, co_main, c) != 0)
		bug("no thread for a task");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	return c;
}

void co_resume(struct co *c)
{
	sem_post(&c->go);
	take(&c->back);
}

void co_suspend(struct co *c)
{
	sem_post(&c->back);
	take(&c->go);
}

bool co_is_done(const struct co *c)
{
	return c->done;
}

void co_free(struct co *c)
{
	if (!c->done)
		bug("a task's thread freed before the task ended");
	pthread_join(c->thread, NULL);
	sem_destroy(&c->go);
	sem_destroy(&c->back);
	mem_free(c);
}

void co_pool_free(void)
{
}

#endif
