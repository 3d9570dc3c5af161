/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growable half of base/str.h. Growing never uses realloc: the old bytes may be a secret and
 * are wiped before they go back to the heap.
 */
#include <stdio.h>

#include "base/str.h"

#define FIRST_CAP ((size_t)256)

/* What an empty buffer points to; only ever read. */
static char nothing[1];

void buf_init(struct buf *b, size_t max)
{
	*b = (struct buf){ .p = nothing, .max = max ? max : BUF_MAX_DEFAULT };
}

void buf_init_in(struct buf *b, char *room, size_t size, size_t max)
{
	*b = (struct buf){
		.p = room, .cap = size, .max = max ? max : BUF_MAX_DEFAULT, .lent = true
	};
	room[0] = '\0';
}

void buf_fini(struct buf *b)
{
	if (b->cap && !b->lent)
		mem_free(b->p);
	buf_init(b, b->max);
}

void buf_wipe(struct buf *b)
{
	if (b->cap)
		explicit_bzero(b->p, b->lent ? b->n : b->cap);
	buf_fini(b);
}

void buf_clear(struct buf *b)
{
	buf_truncate(b, 0);
	b->overflow = false;
}

void buf_truncate(struct buf *b, size_t n)
{
	if (n >= b->n)
		return;
	b->n = n;
	b->p[n] = '\0';
}

/* Room for n more bytes and the NUL; false if that is over the ceiling. */
static bool reserve(struct buf *b, size_t n)
{
	size_t cap = b->cap ? b->cap : FIRST_CAP;
	char *p;

	if (!b->p)
		buf_init(b, b->max);
	if (b->overflow || n > b->max - b->n) {
		b->overflow = true;
		return false;
	}
	if (b->n + n < b->cap)
		return true;
	while (cap <= b->n + n)
		cap *= 2;
	p = mem_alloc(cap);
	memcpy(p, b->p, b->n + 1);
	if (b->cap)
		explicit_bzero(b->p, b->lent ? b->n : b->cap);
	if (b->cap && !b->lent)
		mem_free(b->p);
	b->lent = false;
	b->p = p;
	b->cap = cap;
	return true;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	if (!reserve(b, n) || n == 0)
		return;
	memcpy(b->p + b->n, p, n);
	b->n += n;
	b->p[b->n] = '\0';
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_addstr(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.n);
}

void buf_addc(struct buf *b, char c)
{
	if (!reserve(b, 1))
		return;
	b->p[b->n++] = c;
	b->p[b->n] = '\0';
}

void buf_addn(struct buf *b, char c, size_t times)
{
	if (!reserve(b, times) || times == 0)
		return;
	memset(b->p + b->n, c, times);
	b->n += times;
	b->p[b->n] = '\0';
}

void buf_addi(struct buf *b, int64_t i)
{
	uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
	char digits[21];
	size_t at = sizeof digits;

	do
		digits[--at] = (char)('0' + u % 10);
	while (u /= 10);
	if (i < 0)
		digits[--at] = '-';
	buf_add(b, digits + at, sizeof digits - at);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_addv(b, fmt, ap);
	va_end(ap);
}

void buf_addv(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		b->overflow = true; /* over INT_MAX bytes */
	else if (n > 0 && reserve(b, (size_t)n)) {
		vsnprintf(b->p + b->n, (size_t)n + 1, fmt, again);
		b->n += (size_t)n;
	}
	va_end(again);
}

struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : nothing, b->n };
}

char *buf_dup(const struct buf *b, struct arena *a)
{
	return arena_dup(a, b->p, b->n);
}

int buf_check(const struct buf *b, struct err *e)
{
	if (b->overflow)
		return err_set(e, ERR_IO, "more than %zu bytes", b->max);
	return 0;
}
