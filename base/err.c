/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything is formatted into the caller's struct, because an error must be reportable when memory
 * is gone. Texts that do not fit are cut at a character boundary: a cut message is better than none.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"

/* Drops a UTF-8 sequence that the end of the buffer cut in two. */
static void trim_cut(char *s, size_t size, int wanted)
{
	size_t n, back;

	if (wanted < 0) {
		s[0] = '\0';
		return;
	}
	if ((size_t)wanted < size)
		return;
	n = size - 1;
	for (back = 1; back <= 4 && back <= n; back++) {
		unsigned char c = (unsigned char)s[n - back];
		if ((c & 0xc0) == 0x80)
			continue;
		if (c >= 0xc0 && back < (c >= 0xf0 ? 4u : c >= 0xe0 ? 3u : 2u))
			s[n - back] = '\0';
		return;
	}
}

/*
 * And what the cut left of the last word: half a secret is one that the scrubber, which comes when
 * a message is shown, no longer knows. A text without blanks is data of ours, and stays.
 */
static void trim_word(char *s, size_t size, int wanted)
{
	char *blank;

	if (wanted < 0 || (size_t)wanted < size)
		return;
	blank = strrchr(s, ' ');
	if (blank)
		*blank = '\0';
}

static void format_into(char *out, size_t size, const char *fmt, va_list ap) printf_fmt(3, 0);

static void format_into(char *out, size_t size, const char *fmt, va_list ap)
{
	int wanted = vsnprintf(out, size, fmt, ap);

	trim_cut(out, size, wanted);
	trim_word(out, size, wanted);
}

static void copy_into(char *out, size_t size, const char *s)
{
	int wanted = snprintf(out, size, "%s", s);

	trim_cut(out, size, wanted);
	trim_word(out, size, wanted);
}

static void start(struct err *e, enum err_kind kind, const char *msg)
{
	e->kind = kind;
	e->code = 0;
	e->pos = (struct pos){ 0 };
	e->addr[0] = e->node[0] = e->request[0] = e->hint[0] = '\0';
	memcpy(e->msg, msg, strlen(msg) + 1);
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	char msg[sizeof(e->msg)]; /* an argument may point into *e */
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format_into(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	start(e, kind, msg);
	return -1;
}

int err_sys(struct err *e, const char *fmt, ...)
{
	int code = errno;
	char msg[sizeof(e->msg)], why[128];
	size_t n;
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format_into(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	n = strlen(msg);
	trim_cut(msg + n, sizeof(msg) - n,
		 snprintf(msg + n, sizeof(msg) - n, ": %s", strerror_r(code, why, sizeof(why))));
	start(e, ERR_IO, msg);
	e->code = code;
	return -1;
}

int err_wrap(struct err *e, const char *fmt, ...)
{
	char msg[sizeof(e->msg)];
	size_t n;
	va_list ap;

	if (!e)
		return -1;
	va_start(ap, fmt);
	format_into(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	n = strlen(msg);
	int wanted = snprintf(msg + n, sizeof(msg) - n, ": %s", e->msg);
	trim_cut(msg + n, sizeof(msg) - n, wanted);
	trim_word(msg + n, sizeof(msg) - n, wanted);
	memcpy(e->msg, msg, sizeof(msg));
	return -1;
}

int err_hint(struct err *e, const char *fmt, ...)
{
	va_list ap;

	if (!e || e->hint[0])
		return -1;
	va_start(ap, fmt);
	format_into(e->hint, sizeof(e->hint), fmt, ap);
	va_end(ap);
	return -1;
}

int err_at(struct err *e, struct pos p)
{
	if (e && e->pos.line == 0)
		e->pos = p;
	return -1;
}

int err_on(struct err *e, const char *addr, const char *node)
{
	if (e && addr && !e->addr[0])
		copy_into(e->addr, sizeof(e->addr), addr);
	if (e && node && !e->node[0])
		copy_into(e->node, sizeof(e->node), node);
	return -1;
}

int err_req(struct err *e, const char *request_id)
{
	if (e && request_id && !e->request[0])
		copy_into(e->request, sizeof(e->request), request_id);
	return -1;
}

bool err_is_throttle(const struct err *e)
{
	return e->kind == ERR_BUSY && (e->code == 429 || e->code == 503);
}

bool err_is_retryable(const struct err *e)
{
	return e->kind == ERR_BUSY;
}

int err_exit_code(const struct err *e)
{
	switch (e->kind) {
	case ERR_NONE: return 0;
	case ERR_USAGE: return 64;
	case ERR_LEASE: return 5;
	case ERR_CANCELLED: return 130;
	default: return 1;
	}
}

const char *err_kind_name(enum err_kind kind)
{
	static const char *const names[] = {
		[ERR_NONE] = "none",   [ERR_USAGE] = "usage",	      [ERR_SPEC] = "spec",
		[ERR_AUTH] = "auth",   [ERR_NOT_FOUND] = "not_found", [ERR_CONFLICT] = "conflict",
		[ERR_LEASE] = "lease", [ERR_QUOTA] = "quota",	      [ERR_CAPACITY] = "capacity",
		[ERR_BUSY] = "busy",   [ERR_TIMEOUT] = "timeout",     [ERR_REMOTE] = "remote",
		[ERR_IO] = "io",       [ERR_CANCELLED] = "cancelled", [ERR_BUG] = "bug",
	};

	return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "unknown";
}

void err_list_add(struct err_list *l, const struct err *e)
{
	struct err copy = *e; /* e may be in the list, which may move */

	if (!l)
		return;
	if (l->n == ERR_LIST_MAX) {
		l->dropped++;
		return;
	}
	if (l->n == l->cap) {
		l->cap = l->cap ? l->cap * 2 : 4;
		l->v = mem_realloc(l->v, l->cap * sizeof(*l->v));
	}
	l->v[l->n++] = copy;
}

void err_list_addf(struct err_list *l, struct pos p, const char *hint, const char *fmt, ...)
{
	struct err e = { .kind = ERR_SPEC, .pos = p };
	va_list ap;

	va_start(ap, fmt);
	format_into(e.msg, sizeof(e.msg), fmt, ap);
	va_end(ap);
	if (hint)
		copy_into(e.hint, sizeof(e.hint), hint);
	err_list_add(l, &e);
}

static int pos_cmp(struct pos a, struct pos b)
{
	int by_file = strcmp(a.file ? a.file : "", b.file ? b.file : "");

	if (by_file)
		return by_file;
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	return (a.col > b.col) - (a.col < b.col);
}

/* Insertion sort: stable, in place, and there are at most ERR_LIST_MAX. */
void err_list_sort(struct err_list *l)
{
	for (size_t i = 1; i < l->n; i++) {
		struct err e = l->v[i];
		size_t at = i;

		while (at > 0 && pos_cmp(l->v[at - 1].pos, e.pos) > 0)
			at--;
		if (at == i)
			continue;
		memmove(l->v + at + 1, l->v + at, (i - at) * sizeof(e));
		l->v[at] = e;
	}
}

void err_list_fini(struct err_list *l)
{
	mem_free(l->v);
	*l = (struct err_list){ 0 };
}
