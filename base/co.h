/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/co.h - a stack of its own for a function, and the switch to it and back. Only base/sched.c
 * uses this.
 *
 * Two makers of the same thing: co_jmp.c (one thread, swaps stacks) and, with
 * -DMUSTER_TASK_PTHREAD, co_thread.c (each coroutine is a thread that runs only while it holds the
 * baton), which ThreadSanitizer, valgrind and gdb understand.
 */
#ifndef MUSTER_BASE_CO_H
#define MUSTER_BASE_CO_H

#include "base/attr.h"

#define CO_STACK_SIZE ((size_t)256 << 10)

struct co;

struct co *co_new(void (*fn)(void *), void *arg); /* fn first runs in co_resume; no memory: bug() */
void co_resume(struct co *c);			  /* until it suspends or fn returns */
void co_suspend(struct co *c);			  /* called by c itself */
bool co_is_done(const struct co *c);		  /* fn has returned */
void co_free(struct co *c); /* only when done; its stack may be kept for the next one */
void co_pool_free(void);    /* gives kept stacks back to the system */

#endif
