/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why it is so: expansion counts before it makes, so that "a[0-999999][0-999999]" costs nothing and
 * is refused. Folding works on one run of digits at a time, from left to right: names that are
 * equal but for that run become one name with a range. Each pass is linear (a hash of "the name
 * without the run"), the sort before it is n log n.
 */
#include "inventory/hostlist.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define RUN_DIGITS 18 /* longer runs of digits are text: they would not fit an integer */
#define FOLD_RUNS  8  /* runs beyond the eighth are text too */

struct range {
	uint64_t from, to, step;
	int width; /* zero-padded to this; 0: not padded */
};

/* A term is literal, ranges, literal, ranges, ...: part i holds the text before its bracket. */
struct part {
	struct str text;
	VEC(struct range) ranges; /* none: a last literal */
	uint64_t n;		  /* numbers in the ranges */
};

struct term {
	VEC(struct part) parts;
};

static int fault(struct err *e, size_t at, const char *msg, struct str what)
{
	if (what.n)
		err_set(e, ERR_USAGE, "%s \"" STR_FMT "\"", msg, STR_ARG(what));
	else
		err_set(e, ERR_USAGE, "%s", msg);
	e->pos = (struct pos){ NULL, 1, (int)at + 1 };
	return -1;
}

/* "3", "001-016", "0-8/2" */
static int parse_range(struct str s, size_t at, struct range *r, struct err *e)
{
	struct str item = s, from = s, to, step = STR_NONE;
	size_t slash = str_find_char(s, '/');

	if (slash != SIZE_MAX) {
		step = str_sub(s, slash + 1, SIZE_MAX);
		from = s = str_sub(s, 0, slash);
	}
	size_t dash = str_find_char(s, '-');
	to = from;
	if (dash != SIZE_MAX) {
		from = str_sub(s, 0, dash);
		to = str_sub(s, dash + 1, SIZE_MAX);
	}
	if (!item.n)
		return fault(e, at, "a number or range is missing in the brackets", STR_NONE);
	if (!str_is_digits(from) || !str_is_digits(to) ||
	    (slash != SIZE_MAX && !str_is_digits(step)))
		return fault(e, at,
			     "expected a number or a range such as 0-15 in the brackets, not",
			     item);
	if (from.n > RUN_DIGITS || to.n > RUN_DIGITS || step.n > 9)
		return fault(e, at, "the number is too long:", item);
	*r = (struct range){ .step = 1 };
	if (!str_to_uint(from, 10, &r->from) || !str_to_uint(to, 10, &r->to))
		return fault(e, at, "expected a number, not", item);
	if (step.n && (!str_to_uint(step, 10, &r->step) || !r->step))
		return fault(e, at, "the step must be at least 1:", item);
	if (r->to < r->from)
		return fault(e, at, "the range runs backwards:", item);
	bool padded = (from.n > 1 && from.p[0] == '0') || (to.n > 1 && to.p[0] == '0');
	if (padded && from.n != to.n)
		return fault(e, at, "both ends must be padded to the same width:", item);
	r->width = padded ? (int)from.n : 0;
	return 0;
}

static int parse_bracket(struct arena *a, struct str in, size_t at, struct part *p, struct err *e)
{
	struct str item;
	size_t used = 0;
	bool any = false;

	for (struct str rest = in; str_next(&rest, ',', &item); used += item.n + 1) {
		struct range *r = &VEC_ADD(a, &p->ranges);
		if (parse_range(item, at + used, r, e) < 0)
			return -1;
		p->n += (r->to - r->from) / r->step + 1;
		if (p->n > HOSTLIST_MAX) /* many such would come round to few */
			p->n = HOSTLIST_MAX + 1;
		any = true;
	}
	if (!any)
		return fault(e, at, "a number or range is missing in the brackets", STR_NONE);
	return 0;
}

static bool is_name_char(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("-_.:@%", c)) || (unsigned char)c >= 0x80;
}

/* One term, which starts `at` bytes into the whole text. */
static int parse_term(struct arena *a, struct str s, size_t at, struct term *t, struct err *e)
{
	size_t begin = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == ']')
			return fault(e, at + i, "\"]\" without \"[\"", STR_NONE);
		if (s.p[i] != '[') {
			if (!is_name_char(s.p[i]))
				return fault(e, at + i, "this character cannot be in a name:",
					     str_sub(s, i, i + 1));
			continue;
		}
		size_t end = i + 1;
		while (end < s.n && s.p[end] != ']' && s.p[end] != '[')
			end++;
		if (end == s.n || s.p[end] == '[')
			return fault(e, at + i, "\"[\" without \"]\"", STR_NONE);
		struct part *p = &VEC_ADD(a, &t->parts);
		p->text = str_sub(s, begin, i);
		if (parse_bracket(a, str_sub(s, i + 1, end), at + i + 1, p, e) < 0)
			return -1;
		begin = end + 1;
		i = end;
	}
	if (begin < s.n || !t->parts.n)
		VEC_ADD(a, &t->parts).text = str_sub(s, begin, s.n);
	return 0;
}

static uint64_t term_size(const struct term *t)
{
	uint64_t n = 1;

	for (size_t i = 0; i < t->parts.n; i++) {
		if (!t->parts.v[i].ranges.n)
			continue;
		if (t->parts.v[i].n > HOSTLIST_MAX)
			return HOSTLIST_MAX + 1;
		n *= t->parts.v[i].n;
		if (n > HOSTLIST_MAX)
			return HOSTLIST_MAX + 1;
	}
	return n;
}

/* The last bracket runs fastest. */
static void expand_term(struct arena *a, const struct term *t, size_t part, struct buf *b,
			struct names *out)
{
	if (part == t->parts.n) {
		VEC_ADD(a, &out->v) = buf_dup(b, a);
		return;
	}
	const struct part *p = &t->parts.v[part];
	size_t keep = b->n;
	buf_addstr(b, p->text);
	size_t base = b->n;
	if (!p->ranges.n)
		expand_term(a, t, part + 1, b, out);
	for (size_t i = 0; i < p->ranges.n; i++) {
		const struct range *r = &p->ranges.v[i];
		for (uint64_t v = r->from; v <= r->to; v += r->step) {
			buf_addf(b, "%0*" PRIu64, r->width, v);
			expand_term(a, t, part + 1, b, out);
			buf_truncate(b, base);
		}
	}
	buf_truncate(b, keep);
}

size_t hostlist_term_end(struct str s, size_t i, const char *stops)
{
	bool inside = false;

	for (; i < s.n; i++) {
		if (s.p[i] == '[')
			inside = true;
		else if (s.p[i] == ']')
			inside = false;
		else if (!inside && s.p[i] && strchr(stops, s.p[i]))
			break;
	}
	return i;
}

int hostlist_expand(struct arena *a, struct str text, struct names *out, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	size_t begin = 0;

	buf_init(&b, 64 << 10);
	if (text.n > (1 << 20))
		return fault(e, 0, "a node set may be at most 1 MiB of text", STR_NONE);
	do {
		size_t end = hostlist_term_end(text, begin, ",");
		struct str s = str_sub(text, begin, end);
		struct str trimmed = str_trim(s);
		size_t at = begin + (size_t)(trimmed.n ? trimmed.p - s.p : 0);
		struct term t = { 0 };

		if (!trimmed.n)
			return fault(e, at, "a name is missing", STR_NONE);
		if (parse_term(a, trimmed, at, &t, e) < 0)
			return -1;
		if (t.parts.n > 64)
			return fault(e, at, "a name may have at most 64 brackets", STR_NONE);
		if (term_size(&t) + out->v.n > HOSTLIST_MAX) {
			fault(e, at, "more than 1000000 names", STR_NONE);
			return err_hint(e, "look for a number too many in the range");
		}
		expand_term(a, &t, 0, &b, out);
		if (buf_check(&b, e) < 0)
			return -1;
		begin = end + 1;
	} while (begin <= text.n);
	return 0;
}

/* ---- order ---------------------------------------------------------------------------------- */

static size_t digits(const char *s)
{
	size_t n = 0;

	while (isdigit((unsigned char)s[n]))
		n++;
	return n;
}

/* Two runs of digits by value; equal values by length, so that 1 < 01. */
static int compare_runs(const char *x, size_t nx, const char *y, size_t ny)
{
	size_t zx = 0, zy = 0;

	while (zx + 1 < nx && x[zx] == '0')
		zx++;
	while (zy + 1 < ny && y[zy] == '0')
		zy++;
	if (nx - zx != ny - zy)
		return nx - zx < ny - zy ? -1 : 1;
	int c = memcmp(x + zx, y + zy, nx - zx);
	if (c)
		return c;
	return nx < ny ? -1 : nx > ny;
}

int hostlist_compare(const char *x, const char *y)
{
	while (*x && *y) {
		if (isdigit((unsigned char)*x) && isdigit((unsigned char)*y)) {
			size_t nx = digits(x), ny = digits(y);
			int c = compare_runs(x, nx, y, ny);
			if (c)
				return c;
			x += nx;
			y += ny;
			continue;
		}
		if (*x != *y)
			return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
		x++;
		y++;
	}
	return *x ? 1 : *y ? -1 : 0;
}

/* ---- folding -------------------------------------------------------------------------------- */

/* A name under way: text chunks and the runs between them; a folded run's text is "[1-3]". */
struct folding {
	size_t n_runs;
	struct str text[FOLD_RUNS + 1];
	struct str run[FOLD_RUNS];
	bool dead;		/* merged into an earlier one */
	VEC(struct str) merged; /* runs of those merged into this one, in order, its own first */
};

static void split_name(const char *name, struct folding *f)
{
	const char *begin = name, *s = name;

	while (*s) {
		size_t n = digits(s);
		if (!n) {
			s++;
			continue;
		}
		if (n <= RUN_DIGITS && f->n_runs < FOLD_RUNS) {
			f->text[f->n_runs] = (struct str){ begin, (size_t)(s - begin) };
			f->run[f->n_runs++] = (struct str){ s, n };
			begin = s + n;
		}
		s += n;
	}
	f->text[f->n_runs] = (struct str){ begin, (size_t)(s - begin) };
}

/* The name with run k left out. */
static void fold_key(struct buf *b, const struct folding *f, size_t k)
{
	buf_clear(b);
	for (size_t i = 0; i < f->n_runs; i++) {
		buf_addstr(b, f->text[i]);
		if (i == k)
			buf_addc(b, '\1');
		else
			buf_addstr(b, f->run[i]);
	}
	buf_addstr(b, f->text[f->n_runs]);
}

/* Whether y is the number after x, written with the same padding. */
static bool follows(struct str x, struct str y)
{
	char next[24];
	uint64_t v;
	int width = x.n > 1 && x.p[0] == '0' ? (int)x.n : 0;

	if (!str_to_uint(x, 10, &v))
		return false;
	int n = snprintf(next, sizeof next, "%0*" PRIu64, width, v + 1);
	if (width && n != width)
		return false;
	return str_eq(y, (struct str){ next, (size_t)n });
}

static struct str ranges_text(struct arena *a, const struct folding *f)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addc(&b, '[');
	for (size_t i = 0; i < f->merged.n;) {
		size_t last = i;
		while (last + 1 < f->merged.n && follows(f->merged.v[last], f->merged.v[last + 1]))
			last++;
		if (i)
			buf_addc(&b, ',');
		buf_addstr(&b, f->merged.v[i]);
		if (last > i) {
			buf_addc(&b, '-');
			buf_addstr(&b, f->merged.v[last]);
		}
		i = last + 1;
	}
	buf_addc(&b, ']');
	return (struct str){ buf_dup(&b, a), b.n };
}

static void fold_run(struct arena *a, struct folding *f, size_t n, size_t k)
{
	scoped(buf_fini) struct buf key = { 0 };
	struct map seen;

	buf_init(&key, BUF_MAX_DEFAULT);
	map_init(&seen, a);
	for (size_t i = 0; i < n; i++) {
		if (f[i].dead || k >= f[i].n_runs)
			continue;
		fold_key(&key, &f[i], k);
		struct folding *first = map_get(&seen, buf_str(&key));
		if (!first) {
			map_put(&seen, buf_str(&key), &f[i]);
			first = &f[i];
		} else {
			f[i].dead = true;
		}
		VEC_ADD(a, &first->merged) = f[i].run[k];
	}
	for (size_t i = 0; i < n; i++) {
		if (!f[i].dead && f[i].merged.n > 1)
			f[i].run[k] = ranges_text(a, &f[i]);
		f[i].merged.n = 0;
	}
}

static int compare_pointers(const void *x, const void *y)
{
	return hostlist_compare(*(const char *const *)x, *(const char *const *)y);
}

void hostlist_fold(struct buf *b, struct arena *a, const char *const *names, size_t n)
{
	if (!n)
		return;
	const char **sorted = arena_array(a, const char *, n);
	memcpy(sorted, names, n * sizeof *names);
	qsort(sorted, n, sizeof *sorted, compare_pointers);

	struct folding *f = arena_array(a, struct folding, n);
	size_t m = 0, runs = 0;
	for (size_t i = 0; i < n; i++) {
		if (i && !strcmp(sorted[i], sorted[i - 1]))
			continue;
		split_name(sorted[i], &f[m]);
		if (f[m].n_runs > runs)
			runs = f[m].n_runs;
		m++;
	}
	for (size_t k = 0; k < runs; k++)
		fold_run(a, f, m, k);
	bool first = true;
	for (size_t i = 0; i < m; i++) {
		if (f[i].dead)
			continue;
		if (!first)
			buf_addc(b, ',');
		first = false;
		for (size_t k = 0; k < f[i].n_runs; k++) {
			buf_addstr(b, f[i].text[k]);
			buf_addstr(b, f[i].run[k]);
		}
		buf_addstr(b, f[i].text[f[i].n_runs]);
	}
}
