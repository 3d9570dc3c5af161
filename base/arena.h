/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/arena.h - memory that dies together.
 *
 * An arena owns everything allocated from it; nothing is freed one by one. Memory is zeroed and
 * 16-byte aligned and never NULL: when the machine has none left, one line is written and the
 * program aborts (style.md §4). Not thread-safe: a pool thread (base/offload.h) uses an arena of
 * its own. In sanitizer builds every object is a malloc of its own.
 */
#ifndef MUSTER_BASE_ARENA_H
#define MUSTER_BASE_ARENA_H

#include "base/attr.h"

struct arena;

struct arena *arena_new(const char *name); /* name: static string, for debugging */
void arena_free(struct arena *a);	   /* NULL is fine */
void arena_freep(struct arena **a);	   /* for scoped() */
void arena_reset(struct arena *a);	   /* frees the objects, keeps the arena */
size_t arena_bytes(const struct arena *a); /* bytes handed out since new/reset */

void *arena_alloc(struct arena *a, size_t size);
void *arena_calloc(struct arena *a, size_t count, size_t size); /* overflow aborts */
void *arena_grow(struct arena *a, void *old, size_t old_size, size_t new_size);
char *arena_dup(struct arena *a, const void *p, size_t n); /* copy of n bytes plus a NUL */
char *arena_strdup(struct arena *a, const char *s);	   /* NULL gives NULL */
char *arena_printf(struct arena *a, const char *fmt, ...) printf_fmt(2, 3);

/* Runs fn(arg) when the arena is reset or freed, last registered first. */
void arena_on_free(struct arena *a, void (*fn)(void *), void *arg);

#define arena_obj(a, type)	    ((type *)arena_alloc((a), sizeof(type)))
#define arena_array(a, type, count) ((type *)arena_calloc((a), (count), sizeof(type)))

/*
 * Heap with the same out-of-memory rule, for containers that cross arenas.
 * mem_fail_after(n) makes the n-th following allocation fail (torture tests); 0 turns it off.
 */
void *mem_alloc(size_t size); /* zeroed */
void *mem_realloc(void *p, size_t size);
void mem_free(void *p);
void mem_freep(void *pp); /* for scoped(): pp is a pointer to the pointer */
void mem_fail_after(long n);
/* what they do when there is none: for libraries that report it to us */
no_return void mem_oom(void);

#endif
