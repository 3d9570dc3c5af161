/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#define SUGGEST_MAX  64		       /* longer words are not names */
#define SUGGEST_WORK ((size_t)8 << 20) /* steps: a hint is not worth more than some milliseconds */

struct str str_of(const char *cstr)
{
	return cstr ? (struct str){ cstr, strlen(cstr) } : STR_NONE;
}

char *str_cstr(struct arena *a, struct str s)
{
	return arena_dup(a, s.p, s.n);
}

struct str str_dup(struct arena *a, struct str s)
{
	return (struct str){ arena_dup(a, s.p, s.n), s.n };
}

bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

bool str_eqc(struct str a, const char *b)
{
	return str_eq(a, str_of(b));
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool str_eq_nocase(struct str a, struct str b)
{
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return true;
}

int str_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int c = n ? memcmp(a.p, b.p, n) : 0;

	return c ? c : (a.n > b.n) - (a.n < b.n);
}

bool str_is_digits(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.n > 0;
}

bool str_starts(struct str s, const char *prefix)
{
	size_t n = strlen(prefix);

	return s.n >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool str_ends(struct str s, const char *suffix)
{
	size_t n = strlen(suffix);

	return s.n >= n && (n == 0 || memcmp(s.p + s.n - n, suffix, n) == 0);
}

struct str str_sub(struct str s, size_t from, size_t to)
{
	if (to > s.n)
		to = s.n;
	if (from > to)
		from = to;
	return (struct str){ s.p ? s.p + from : NULL, to - from };
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim(struct str s)
{
	while (s.n && is_blank(s.p[s.n - 1]))
		s.n--;
	while (s.n && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	return s;
}

struct str str_trim_end(struct str s, char c)
{
	while (s.n && s.p[s.n - 1] == c)
		s.n--;
	return s;
}

size_t str_find(struct str s, struct str needle)
{
	const char *at;

	if (needle.n == 0)
		return 0;
	at = s.n ? memmem(s.p, s.n, needle.p, needle.n) : NULL;
	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

size_t str_find_char(struct str s, char c)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	return at ? (size_t)(at - s.p) : SIZE_MAX;
}

/* "Used up" is told from "an empty last part" by the pointer: NULL means that the last part was
 * given. */
bool str_next(struct str *rest, char sep, struct str *part)
{
	size_t at;

	if (!rest->p)
		return false;
	at = str_find_char(*rest, sep);
	if (at == SIZE_MAX) {
		*part = *rest;
		*rest = STR_NONE;
		return true;
	}
	*part = str_sub(*rest, 0, at);
	*rest = str_sub(*rest, at + 1, SIZE_MAX);
	return true;
}

bool str_next_line(struct str *rest, struct str *line)
{
	if (rest->n == 0 || !str_next(rest, '\n', line))
		return false;
	if (line->n && line->p[line->n - 1] == '\r')
		line->n--;
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = lower(c);
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

bool str_to_uint(struct str s, int base, uint64_t *out)
{
	uint64_t v = 0;

	if (s.n == 0)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		int d = digit_of(s.p[i]);
		if (d >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)d, &v))
			return false;
	}
	*out = v;
	return true;
}

bool str_to_int(struct str s, int64_t *out)
{
	bool minus = s.n && s.p[0] == '-';
	uint64_t v;

	if (s.n && (minus || s.p[0] == '+'))
		s = str_sub(s, 1, SIZE_MAX);
	if (!str_to_uint(s, 10, &v) || v > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool str_to_double(struct str s, double *out)
{
	char text[512], *end;
	locale_t c;
	double d;

	if (s.n == 0 || s.n >= sizeof(text))
		return false;
	for (size_t i = 0; i < s.n; i++) {
		if (!strchr("0123456789+-.eE", s.p[i]) || s.p[i] == '\0')
			return false;
		text[i] = s.p[i];
	}
	text[s.n] = '\0';
	c = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* glibc's own static one: no allocation */
	if (!c)
		mem_oom();
	d = strtod_l(text, &end, c);
	freelocale(c);
	if (*end || end == text)
		return false;
	*out = d;
	return true;
}

size_t str_utf8_len(struct str s)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)s.p;
	size_t len;
	uint32_t c;

	if (s.n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.n < len)
		return 0;
	c = p[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : len;
}

bool str_is_utf8(struct str s)
{
	while (s.n) {
		size_t len = str_utf8_len(s);
		if (len == 0)
			return false;
		s = str_sub(s, len, SIZE_MAX);
	}
	return true;
}

/* ---- hashing ---- */

static uint64_t hash_key[2];
static pthread_once_t hash_once = PTHREAD_ONCE_INIT;

static void hash_init(void)
{
	struct timespec now;

	if (getrandom(hash_key, sizeof(hash_key), GRND_NONBLOCK) == (ssize_t)sizeof(hash_key))
		return;
	clock_gettime(CLOCK_REALTIME, &now);
	hash_key[0] = (uint64_t)now.tv_nsec;
	hash_key[1] = (uint64_t)now.tv_sec;
}

static uint64_t rotl(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void sip_round(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

/* SipHash-1-3 with a key of this process: keys come from files and services, which must not be able
 * to make them collide. */
uint64_t str_hash(struct str s)
{
	uint64_t v[4], word, last = (uint64_t)s.n << 56;
	size_t i = 0;

	pthread_once(&hash_once, hash_init);
	v[0] = hash_key[0] ^ 0x736f6d6570736575u;
	v[1] = hash_key[1] ^ 0x646f72616e646f6du;
	v[2] = hash_key[0] ^ 0x6c7967656e657261u;
	v[3] = hash_key[1] ^ 0x7465646279746573u;
	for (; i + 8 <= s.n; i += 8) {
		memcpy(&word, s.p + i, 8);
		v[3] ^= word;
		sip_round(v);
		v[0] ^= word;
	}
	for (int shift = 0; i < s.n; i++, shift += 8)
		last |= (uint64_t)(unsigned char)s.p[i] << shift;
	v[3] ^= last;
	sip_round(v);
	v[0] ^= last;
	v[2] ^= 0xff;
	for (int r = 0; r < 3; r++)
		sip_round(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---- did you mean ---- */

/* Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment), ignoring
 * case. */
static size_t edit_distance(struct str a, struct str b)
{
	size_t rows[3][SUGGEST_MAX + 1], *before = rows[0], *prev = rows[1], *now = rows[2];

	for (size_t j = 0; j <= b.n; j++)
		prev[j] = j;
	memset(before, 0, sizeof(rows[0]));
	for (size_t i = 1; i <= a.n; i++) {
		size_t *spare = before;
		now[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			size_t same = lower(a.p[i - 1]) == lower(b.p[j - 1]);
			size_t d = prev[j - 1] + !same;
			if (prev[j] + 1 < d)
				d = prev[j] + 1;
			if (now[j - 1] + 1 < d)
				d = now[j - 1] + 1;
			if (i > 1 && j > 1 && lower(a.p[i - 1]) == lower(b.p[j - 2]) &&
			    lower(a.p[i - 2]) == lower(b.p[j - 1]) && before[j - 2] + 1 < d)
				d = before[j - 2] + 1;
			now[j] = d;
		}
		before = prev;
		prev = now;
		now = spare;
	}
	return prev[b.n];
}

const char *str_suggest(struct str word, const char *const *candidates, size_t n)
{
	size_t best = word.n / 3 > 1 ? word.n / 3 : 1, work = 0;
	const char *found = NULL;

	if (word.n == 0 || word.n > SUGGEST_MAX)
		return NULL;
	for (size_t i = 0; i < n && work < SUGGEST_WORK; i++) {
		struct str c = str_of(candidates[i]);
		size_t d, longer = c.n > word.n ? c.n - word.n : word.n - c.n;
		if (c.n == 0 || c.n > SUGGEST_MAX || longer > best)
			continue;
		work += word.n * c.n;
		d = edit_distance(word, c);
		/* A word that shares no character with the candidate was not meant to be it. */
		if (d >= word.n && d >= c.n)
			continue;
		if (d < best || (d == best && !found)) {
			best = d;
			found = candidates[i];
		}
	}
	return found;
}

/* ---- numbers as text ---- */

/* The digits of d (not 0, finite) without the point, and the power of ten of the first one. */
static int shortest_digits(double d, char digits[20])
{
	char text[40];
	int exp10, n = 0;

	for (int precision = 0; precision <= 16; precision++) {
		double back;
		snprintf(text, sizeof(text), "%.*e", precision, d);
		if (text[1] != 'e')
			text[1] = '.'; /* whatever the locale */
		if (str_to_double(str_of(text), &back) && back == d)
			break;
	}
	for (const char *p = text; *p != 'e'; p++)
		if (*p != '.')
			digits[n++] = *p;
	exp10 = (int)strtol(strchr(text, 'e') + 1, NULL, 10);
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return exp10;
}

void str_format_double(double d, char out[STR_DOUBLE_LEN])
{
	const char *sign = signbit(d) && !isnan(d) ? "-" : "";
	char digits[20];
	int e, n;

	if (isnan(d) || isinf(d) || d == 0) {
		snprintf(out, STR_DOUBLE_LEN, "%s%s", sign,
			 isnan(d)   ? "nan"
			 : isinf(d) ? "inf"
				    : "0.0");
		return;
	}
	e = shortest_digits(fabs(d), digits);
	n = (int)strlen(digits);
	if (e < -4 || e >= 16)
		snprintf(out, STR_DOUBLE_LEN, "%s%c%s%se%c%02d", sign, digits[0], n > 1 ? "." : "",
			 digits + 1, e < 0 ? '-' : '+', abs(e) % 1000);
	else if (e < 0)
		snprintf(out, STR_DOUBLE_LEN, "%s0.%.*s%s", sign, -e - 1, "0000", digits);
	else if (n <= e + 1)
		snprintf(out, STR_DOUBLE_LEN, "%s%s%.*s.0", sign, digits, e + 1 - n,
			 "0000000000000000");
	else
		snprintf(out, STR_DOUBLE_LEN, "%s%.*s.%s", sign, e + 1, digits, digits + e + 1);
}
