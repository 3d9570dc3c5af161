/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of chunks that double in size, with a bump pointer in the newest. A request that would
 * waste most of a chunk gets one of its own, behind the newest, so that the bump space is not lost.
 * In sanitizer builds every object is such a chunk of exactly its size: AddressSanitizer then sees
 * each overflow and each use after reset.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(MUSTER_SANITIZE) || defined(__SANITIZE_ADDRESS__)
#define ARENA_SPLIT 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_SPLIT 1
#endif
#endif
#ifndef ARENA_SPLIT
#define ARENA_SPLIT 0
#endif

#define ALIGN	    ((size_t)16)
#define FIRST_CHUNK ((size_t)4 << 10)
#define MAX_CHUNK   ((size_t)1 << 20)

struct chunk {
	struct chunk *next;
	size_t size, used;
	_Alignas(16) unsigned char data[];
};

struct on_free {
	struct on_free *next;
	void (*fn)(void *);
	void *arg;
};

struct arena {
	const char *name;
	struct chunk *chunks; /* the first is the one that is bumped */
	size_t next_size;
	size_t bytes;
	struct on_free *on_free;
};

static atomic_long fail_after;

void mem_fail_after(long n)
{
	atomic_store(&fail_after, n > 0 ? n : 0);
}

void mem_oom(void)
{
	static const char line[] = "muster: out of memory\n";

	if (write(STDERR_FILENO, line, sizeof(line) - 1) < 0)
		abort();
	abort();
}

/* Every allocation of the house comes through here or through mem_realloc. */
static void count_down(void)
{
	long left = atomic_load(&fail_after);

	while (left > 0)
		if (atomic_compare_exchange_weak(&fail_after, &left, left - 1)) {
			if (left == 1)
				mem_oom();
			return;
		}
}

void *mem_alloc(size_t size)
{
	void *p;

	count_down();
	p = calloc(1, size ? size : 1);
	if (!p)
		mem_oom();
	return p;
}

void *mem_realloc(void *p, size_t size)
{
	void *q;

	count_down();
	q = realloc(p, size ? size : 1);
	if (!q)
		mem_oom();
	return q;
}

void mem_free(void *p)
{
	free(p);
}

void mem_freep(void *pp)
{
	void *p;

	memcpy(&p, pp, sizeof(p));
	free(p);
	p = NULL;
	memcpy(pp, &p, sizeof(p));
}

struct arena *arena_new(const char *name)
{
	struct arena *a = mem_alloc(sizeof(*a));

	a->name = name;
	a->next_size = FIRST_CHUNK;
	return a;
}

static void release(struct arena *a)
{
	/* The entries are arena objects themselves: run all before freeing any. fn may register
	 * more. */
	while (a->on_free) {
		struct on_free *f = a->on_free;
		a->on_free = f->next;
		f->fn(f->arg);
	}
	while (a->chunks) {
		struct chunk *c = a->chunks;
		a->chunks = c->next;
		free(c);
	}
	a->bytes = 0;
}

void arena_reset(struct arena *a)
{
	release(a);
	a->next_size = FIRST_CHUNK;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	release(a);
	free(a);
}

void arena_freep(struct arena **a)
{
	arena_free(*a);
	*a = NULL;
}

size_t arena_bytes(const struct arena *a)
{
	return a->bytes;
}

static struct chunk *chunk_new(size_t size)
{
	struct chunk *c;

	if (size > SIZE_MAX / 2)
		mem_oom();
	c = mem_alloc(sizeof(*c) + size);
	c->size = size;
	return c;
}

/* A chunk that holds one object only; it goes behind the bumped one. */
static void *alloc_alone(struct arena *a, size_t size)
{
	struct chunk *c = chunk_new(size);

	c->used = size;
	if (a->chunks && !ARENA_SPLIT) {
		c->next = a->chunks->next;
		a->chunks->next = c;
	} else {
		c->next = a->chunks;
		a->chunks = c;
	}
	return c->data;
}

void *arena_alloc(struct arena *a, size_t size)
{
	struct chunk *c = a->chunks;
	size_t room;
	void *p;

	a->bytes += size;
	if (ARENA_SPLIT)
		return alloc_alone(a, size);
	if (size > SIZE_MAX / 2)
		mem_oom();
	room = (size + ALIGN - 1) & ~(ALIGN - 1);
	if (!c || c->size - c->used < room) {
		if (room > a->next_size / 4)
			return alloc_alone(a, room);
		c = chunk_new(a->next_size);
		c->next = a->chunks;
		a->chunks = c;
		if (a->next_size < MAX_CHUNK)
			a->next_size *= 2;
	}
	p = c->data + c->used;
	c->used += room;
	return p;
}

void *arena_calloc(struct arena *a, size_t count, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(count, size, &total))
		mem_oom();
	return arena_alloc(a, total);
}

/* The newest object of the bumped chunk grows where it is. */
static bool grow_in_place(struct arena *a, void *old, size_t old_size, size_t new_size)
{
	struct chunk *c = a->chunks;
	size_t old_room = (old_size + ALIGN - 1) & ~(ALIGN - 1);
	size_t new_room = (new_size + ALIGN - 1) & ~(ALIGN - 1);
	unsigned char *p = old;

	if (ARENA_SPLIT || !c || old_room == 0 || old_room > c->used ||
	    p != c->data + c->used - old_room)
		return false;
	if (new_size > SIZE_MAX / 2 || new_room - old_room > c->size - c->used)
		return false;
	c->used += new_room - old_room;
	a->bytes += new_size - old_size;
	return true;
}

void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size)
{
	void *p;

	if (new_size <= old_size)
		return old;
	if (old && grow_in_place(a, old, old_size, new_size))
		return old;
	p = arena_alloc(a, new_size);
	if (old && old_size)
		memcpy(p, old, old_size);
	return p;
}

char *arena_dup(struct arena *a, const void *p, size_t n)
{
	char *s;

	if (n == SIZE_MAX)
		mem_oom();
	s = arena_alloc(a, n + 1);
	if (n)
		memcpy(s, p, n);
	return s;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s ? arena_dup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;
	char *s;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		mem_oom();
	s = arena_alloc(a, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

void arena_on_free(struct arena *a, void (*fn)(void *), void *arg)
{
	struct on_free *f = arena_obj(a, struct on_free);

	f->fn = fn;
	f->arg = arg;
	f->next = a->on_free;
	a->on_free = f;
}
