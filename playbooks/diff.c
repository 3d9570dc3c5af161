/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Myers' greedy algorithm on lines between the common head and tail. Texts that differ by more than
 * EDITS_MAX lines are shown as one whole replacement: nobody reads such a diff, and the search
 * would cost its square.
 */
#include "playbooks/diff.h"

#include <stdlib.h>

#define EDITS_MAX 600
#define CONTEXT	  3

struct line {
	struct str s;
	uint64_t hash;
};

struct lines {
	VEC(struct line) v;
};

/* A run of edits: lines [a0, a1) of before become [b0, b1) of after. */
struct hunk {
	size_t a0, a1, b0, b1;
};

struct hunks {
	VEC(struct hunk) v;
};

bool diff_is_text(struct str s)
{
	return str_is_utf8(s) && str_find_char(s, '\0') == SIZE_MAX;
}

static void split(struct arena *a, struct str text, struct lines *out)
{
	while (text.n) {
		size_t end = str_find_char(text, '\n');
		struct str s = str_sub(text, 0, end == SIZE_MAX ? text.n : end + 1);
		VEC_ADD(a, &out->v) = (struct line){ s, str_hash(s) };
		text = str_sub(text, s.n, SIZE_MAX);
	}
}

static bool same(const struct line *x, const struct line *y)
{
	return x->hash == y->hash && str_eq(x->s, y->s);
}

/* The furthest x on each diagonal after d edits, for every d: the trace that is walked backwards. */
struct search {
	const struct line *a, *b;
	long n, m;
	long *trace[EDITS_MAX + 1];
};

static long step(const struct search *s, const long *v, long d, long k)
{
	long off = EDITS_MAX + 1;
	long x = k == -d || (k != d && v[off + k - 1] < v[off + k + 1]) ? v[off + k + 1]
									: v[off + k - 1] + 1;
	long y = x - k;

	while (x < s->n && y < s->m && y >= 0 && same(&s->a[x], &s->b[y])) {
		x++;
		y++;
	}
	return x;
}

/* The number of edits, or -1 if it is beyond EDITS_MAX. */
static long search(struct arena *a, struct search *s)
{
	size_t width = 2 * EDITS_MAX + 3;
	long *v = arena_array(a, long, width);

	for (long d = 0; d <= EDITS_MAX; d++) {
		for (long k = -d; k <= d; k += 2) {
			long x = step(s, v, d, k);
			v[EDITS_MAX + 1 + k] = x;
			if (x >= s->n && x - k >= s->m)
				return d;
		}
		/* What the next round starts from is all that walking back needs. */
		s->trace[d] = arena_array(a, long, width);
		memcpy(s->trace[d], v, width * sizeof(*v));
	}
	return -1;
}

static void prepend_edit(struct arena *a, struct hunks *h, struct hunk e)
{
	struct hunk *last = h->v.n ? &h->v.v[h->v.n - 1] : NULL;

	/* Walking backwards: e ends where the last one begins if nothing equal lies between. */
	if (last && last->a0 == e.a1 && last->b0 == e.b1) {
		last->a0 = e.a0;
		last->b0 = e.b0;
	} else {
		VEC_ADD(a, &h->v) = e;
	}
}

static void walk_back(struct arena *a, const struct search *s, long d, size_t base,
		      struct hunks *out)
{
	long off = EDITS_MAX + 1, x = s->n, y = s->m;

	for (; d > 0; d--) {
		const long *v = s->trace[d - 1];
		long k = x - y;
		bool down = k == -d || (k != d && v[off + k - 1] < v[off + k + 1]);
		long pk = down ? k + 1 : k - 1, px = v[off + pk], py = px - pk;
		size_t a0 = base + (size_t)px, b0 = base + (size_t)py;
		prepend_edit(a, out,
			     (struct hunk){ a0, a0 + (down ? 0 : 1), b0, b0 + (down ? 1 : 0) });
		x = px;
		y = py;
	}
	for (size_t i = 0; i < out->v.n / 2; i++) {
		struct hunk t = out->v.v[i];
		out->v.v[i] = out->v.v[out->v.n - 1 - i];
		out->v.v[out->v.n - 1 - i] = t;
	}
}

static void find_hunks(struct arena *a, const struct lines *x, const struct lines *y,
		       struct hunks *out)
{
	size_t head = 0, tail = 0;
	struct search s = { 0 };
	long d;

	while (head < x->v.n && head < y->v.n && same(&x->v.v[head], &y->v.v[head]))
		head++;
	while (tail < x->v.n - head && tail < y->v.n - head &&
	       same(&x->v.v[x->v.n - 1 - tail], &y->v.v[y->v.n - 1 - tail]))
		tail++;
	s.a = x->v.v + head;
	s.b = y->v.v + head;
	s.n = (long)(x->v.n - head - tail);
	s.m = (long)(y->v.n - head - tail);
	d = s.n && s.m ? search(a, &s) : -1;
	if (d >= 0)
		walk_back(a, &s, d, head, out);
	else
		VEC_ADD(a, &out->v) = (struct hunk){ head, x->v.n - tail, head, y->v.n - tail };
}

static void put_line(struct buf *b, char mark, struct str s)
{
	buf_addc(b, mark);
	buf_addstr(b, s);
	if (!str_ends(s, "\n"))
		buf_adds(b, "\n\\ No newline at end of file\n");
}

static void put_range(struct buf *b, char mark, size_t from, size_t n)
{
	/* An empty range names the line before it. */
	if (n == 1)
		buf_addf(b, "%c%zu", mark, from + 1);
	else
		buf_addf(b, "%c%zu,%zu", mark, n ? from + 1 : from, n);
}

/* Hunks [i, j) are near enough to share context. */
/* Of a text without lines v.v is NULL; no hunk reaches into one. */
static struct str line_at(const struct lines *l, size_t i)
{
	return l->v.v && i < l->v.n ? l->v.v[i].s : STR_NONE;
}

static void put_group(struct buf *b, const struct lines *x, const struct lines *y,
		      const struct hunk *h, size_t n)
{
	size_t lead = h[0].a0 < CONTEXT ? h[0].a0 : CONTEXT;
	size_t left = x->v.n - h[n - 1].a1, trail = left < CONTEXT ? left : CONTEXT;
	size_t at = h[0].a0 - lead;

	buf_adds(b, "@@ ");
	put_range(b, '-', at, h[n - 1].a1 + trail - at);
	buf_addc(b, ' ');
	put_range(b, '+', h[0].b0 - lead, h[n - 1].b1 + trail - (h[0].b0 - lead));
	buf_adds(b, " @@\n");
	for (size_t i = 0; i < n; i++) {
		for (; at < h[i].a0; at++)
			put_line(b, ' ', line_at(x, at));
		for (; at < h[i].a1; at++)
			put_line(b, '-', line_at(x, at));
		for (size_t k = h[i].b0; k < h[i].b1; k++)
			put_line(b, '+', line_at(y, k));
	}
	for (size_t end = at + trail; at < end; at++)
		put_line(b, ' ', line_at(x, at));
}

const char *diff_unified(struct arena *a, struct str before, struct str after,
			 const char *before_name, const char *after_name)
{
	struct arena *tmp scoped(arena_freep) = NULL;
	struct buf b scoped(buf_wipe) = { 0 };
	struct lines x = { { 0 } }, y = { { 0 } };
	struct hunks h = { { 0 } };

	if (str_eq(before, after))
		return NULL;
	tmp = arena_new("diff");
	buf_init(&b, DIFF_OUT_MAX);
	split(tmp, before, &x);
	split(tmp, after, &y);
	find_hunks(tmp, &x, &y, &h);
	buf_addf(&b, "--- %s\n+++ %s\n", before_name, after_name);
	for (size_t i = 0, j; i < h.v.n; i = j) {
		for (j = i + 1; j < h.v.n && h.v.v[j].a0 - h.v.v[j - 1].a1 <= (size_t)2 * CONTEXT;
		     j++)
			;
		put_group(&b, &x, &y, h.v.v + i, j - i);
	}
	if (b.overflow) {
		struct buf cut scoped(buf_wipe) = { 0 };
		buf_init(&cut, DIFF_OUT_MAX + 64);
		buf_addstr(&cut, buf_str(&b));
		buf_adds(&cut, "\n(the rest of the diff is left out)\n");
		return buf_dup(&cut, a);
	}
	return buf_dup(&b, a);
}
