/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/str.h - a borrowed slice of bytes, and a growable buffer with a ceiling.
 *
 * `struct str` owns nothing and need not end in NUL. `struct buf` owns heap memory and is
 * NUL-terminated at all times; it has a ceiling, and adding beyond it drops the bytes and sets
 * `overflow` (sticky), which buf_check turns into an error.
 */
#ifndef MUSTER_BASE_STR_H
#define MUSTER_BASE_STR_H

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/err.h"

struct str {
	const char *p;
	size_t n;
};

#define STR(literal) ((struct str){ (literal), sizeof(literal) - 1 })
#define STR_NONE     ((struct str){ NULL, 0 })
#define STR_FMT	     "%.*s"
#define STR_ARG(s)   (int)(s).n, (s).p ? (s).p : ""

struct str str_of(const char *cstr); /* NULL gives the empty slice */
char *str_cstr(struct arena *a, struct str s);
struct str str_dup(struct arena *a, struct str s);
bool str_eq(struct str a, struct str b);
bool str_eqc(struct str a, const char *b);
bool str_eq_nocase(struct str a, struct str b); /* ASCII */
int str_cmp(struct str a, struct str b);	/* bytewise, like memcmp */
bool str_is_digits(struct str s);		/* not empty, all of 0-9 */
bool str_starts(struct str s, const char *prefix);
bool str_ends(struct str s, const char *suffix);
struct str str_sub(struct str s, size_t from, size_t to); /* clamped; to = SIZE_MAX: to the end */
struct str str_trim(struct str s);			  /* ASCII blanks at both ends */
struct str str_trim_end(struct str s, char c);		  /* every trailing c */
size_t str_find(struct str s, struct str needle);	  /* SIZE_MAX if absent */
size_t str_find_char(struct str s, char c);		  /* SIZE_MAX if absent */
/* Takes the part before `sep` off *rest (all of it at the last one); false when *rest is used up.
 * Empty parts are given. */
bool str_next(struct str *rest, char sep, struct str *part);
/* like str_next('\n'), no last empty line, drops '\r' */
bool str_next_line(struct str *rest, struct str *line);
bool str_to_int(struct str s, int64_t *out); /* whole slice, base 10, optional sign */
bool str_to_uint(struct str s, int base, uint64_t *out);
bool str_to_double(struct str s, double *out); /* whole slice, '.' whatever the locale */
bool str_is_utf8(struct str s);
size_t str_utf8_len(struct str s); /* bytes of the valid character at the start; 0 if none */
#define STR_DOUBLE_LEN 48
/* The shortest text that reads back as the same double, laid out as Python's repr: 1.0, 0.1, 1e+16,
 * inf, nan. */
void str_format_double(double d, char out[STR_DOUBLE_LEN]);
uint64_t str_hash(struct str s); /* for tables in memory: another number in each process */
/* Of `n` candidates, the one that a person most likely meant (small edit distance), or NULL. */
const char *str_suggest(struct str word, const char *const *candidates, size_t n);

struct buf {
	char *p; /* NUL-terminated; never NULL after buf_init */
	size_t n, cap, max;
	bool overflow;
	bool lent; /* p is the caller's own memory, from buf_init_in */
};

#define BUF_MAX_DEFAULT ((size_t)64 << 20)

void buf_init(struct buf *b, size_t max);
/* Begins in `room`, which must outlive it: what fits costs no allocation. */
void buf_init_in(struct buf *b, char *room, size_t size, size_t max);
void buf_fini(struct buf *b); /* for scoped() too; frees */
void buf_wipe(struct buf *b); /* overwrites the bytes with zeros, then frees: for secrets */
void buf_clear(struct buf *b);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_adds(struct buf *b, const char *s);
void buf_addstr(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_addn(struct buf *b, char c, size_t times);
void buf_addi(struct buf *b, int64_t i); /* its digits */
void buf_addf(struct buf *b, const char *fmt, ...) printf_fmt(2, 3);
void buf_addv(struct buf *b, const char *fmt, va_list ap) printf_fmt(2, 0);
void buf_truncate(struct buf *b, size_t n);
struct str buf_str(const struct buf *b);	     /* borrowed until the next add */
char *buf_dup(const struct buf *b, struct arena *a); /* NUL-terminated copy */
/* ERR_IO when the ceiling was hit */
must_check int buf_check(const struct buf *b, struct err *e);

#endif
