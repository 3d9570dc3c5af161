/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The switch: makecontext once to get onto a new stack, sigsetjmp/siglongjmp (without the signal
 * mask) ever after, because swapcontext costs two system calls a switch. glibc's fortified longjmp
 * aborts when it jumps to a frame on another stack
 * ("longjmp causes uninitialized stack frame"), so this file alone turns that off. A finished
 * coroutine's stack is kept with its context: its main function loops, so reuse costs neither mmap
 * nor makecontext.
 *
 * AddressSanitizer must be told of each switch, and stacks are not reused then: a use after return
 * stays visible.
 */
#undef _FORTIFY_SOURCE
#ifndef MUSTER_TASK_PTHREAD

#include "base/co.h"

#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/arena.h"

#if defined(__SANITIZE_ADDRESS__)
#define CO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CO_ASAN 1
#endif
#endif

#ifdef CO_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#define SAN_START(save, base, len)  __sanitizer_start_switch_fiber((save), (base), (len))
#define SAN_FINISH(save, base, len) __sanitizer_finish_switch_fiber((save), (base), (len))
#define CO_POOL_MAX		    0
#else
#define SAN_START(save, base, len)  ((void)(save))
#define SAN_FINISH(save, base, len) ((void)0)
#define CO_POOL_MAX		    256
#endif

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif
#ifndef VALGRIND_STACK_REGISTER
#define VALGRIND_STACK_REGISTER(from, to) 0
#define VALGRIND_STACK_DEREGISTER(id)	  ((void)(id))
#endif

struct co {
	char *map; /* guard page, then the stack */
	size_t guard;
	void (*fn)(void *);
	void *arg;
	bool done;
	unsigned valgrind_id;
	sigjmp_buf here, back;
	const void *caller_base; /* the stack that resumed us, for ASan */
	size_t caller_size;
	void *fake, *caller_fake;
	struct co *next; /* in the pool */
};

static struct co *pool;
static size_t pool_n;
static struct co *starting; /* makecontext passes ints only */

static no_return void co_main(void)
{
	struct co *c = starting;

	SAN_FINISH(NULL, &c->caller_base, &c->caller_size);
	if (sigsetjmp(c->here, 0) == 0) {
		SAN_START(&c->fake, c->caller_base, c->caller_size);
		siglongjmp(c->back, 1);
	}
	SAN_FINISH(c->fake, &c->caller_base, &c->caller_size);
	for (;;) {
		c->fn(c->arg);
		c->done = true;
		co_suspend(c);
	}
}

static void co_map(struct co *c)
{
	c->guard = (size_t)sysconf(_SC_PAGESIZE);
	c->map = mmap(NULL, c->guard + CO_STACK_SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
	if (c->map == MAP_FAILED || mprotect(c->map, c->guard, PROT_NONE) != 0)
		bug("no memory for the stack of a task (vm.max_map_count?)");
	c->valgrind_id = VALGRIND_STACK_REGISTER(c->map + c->guard,
						 c->map + c->guard + CO_STACK_SIZE);
#ifdef CO_ASAN
	__asan_unpoison_memory_region(c->map + c->guard, CO_STACK_SIZE);
#endif
}

/* Enters the new stack once, so that c->here is a place to jump to. */
__attribute__((noinline)) static void co_prime(struct co *c)
{
	ucontext_t uc, old;

	if (getcontext(&uc) != 0)
		bug("getcontext failed");
	uc.uc_stack.ss_sp = c->map + c->guard;
	uc.uc_stack.ss_size = CO_STACK_SIZE;
	uc.uc_link = NULL;
	makecontext(&uc, co_main, 0);
	starting = c;
	if (sigsetjmp(c->back, 0) == 0) {
		SAN_START(&c->caller_fake, c->map + c->guard, CO_STACK_SIZE);
		swapcontext(&old, &uc);
	}
	SAN_FINISH(c->caller_fake, NULL, NULL);
}

struct co *co_new(void (*fn)(void *), void *arg)
{
	struct co *c = pool;

	if (c) {
		pool = c->next;
		pool_n--;
		c->next = NULL;
		c->done = false;
	} else {
		c = mem_alloc(sizeof *c);
		co_map(c);
		co_prime(c);
	}
	c->fn = fn;
	c->arg = arg;
	return c;
}

__attribute__((noinline)) void co_resume(struct co *c)
{
	SAN_START(&c->caller_fake, c->map + c->guard, CO_STACK_SIZE);
	if (sigsetjmp(c->back, 0) == 0)
		siglongjmp(c->here, 1);
	SAN_FINISH(c->caller_fake, NULL, NULL);
}

__attribute__((noinline)) void co_suspend(struct co *c)
{
	/* NULL tells ASan that the fake stack dies with the fibre. */
	SAN_START(c->done && CO_POOL_MAX == 0 ? NULL : &c->fake, c->caller_base, c->caller_size);
	if (sigsetjmp(c->here, 0) == 0)
		siglongjmp(c->back, 1);
	SAN_FINISH(c->fake, &c->caller_base, &c->caller_size);
}

bool co_is_done(const struct co *c)
{
	return c->done;
}

static void co_destroy(struct co *c)
{
	VALGRIND_STACK_DEREGISTER(c->valgrind_id);
#ifdef CO_ASAN
	__asan_unpoison_memory_region(c->map + c->guard, CO_STACK_SIZE);
#endif
	munmap(c->map, c->guard + CO_STACK_SIZE);
	mem_free(c);
}

void co_free(struct co *c)
{
	if (!c->done)
		bug("a task's stack freed before the task ended");
	if (pool_n + 1 > CO_POOL_MAX) {
		co_destroy(c);
		return;
	}
	c->next = pool;
	pool = c;
	pool_n++;
}

void co_pool_free(void)
{
	while (pool) {
		struct co *c = pool;

		pool = c->next;
		co_destroy(c);
	}
	pool_n = 0;
}

#endif
