/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as Markdown, to be posted where a change of the spec is reviewed. What comes from
 * outside stands in fences, which are longer than any run of backticks inside, so that it can be no
 * markup. The summary always has room; then entries are taken in their order (destructive ones
 * first) as long as they fit, whole, else by their first line; the rest is counted.
 */
#include "cli/plan_paint.h"

/* What may still follow an entry: the fence, the end of a section, the heads of the sections to
 * come, and the line that counts what was left out. */
#define RESERVE 400

struct markdown {
	struct buf *b;
	struct arena *a;
	const struct plan *plan;
	const struct plan_view *how;
	size_t max;
	bool drift;
	bool opened;		   /* a section is */
	size_t left, left_entries; /* not shown */
};

/* A line of texts that go into one fence. */
struct fenced {
	VEC(struct str) v;
	size_t ticks; /* the longest run of backticks in them */
	size_t n;     /* bytes */
};

static size_t longest_ticks(struct str s)
{
	size_t run = 0, longest = 0;

	for (size_t i = 0; i < s.n; i++) {
		run = s.p[i] == '`' ? run + 1 : 0;
		if (run > longest)
			longest = run;
	}
	return longest;
}

static void add_fenced(struct markdown *m, struct fenced *f, struct str s)
{
	size_t ticks = longest_ticks(s);

	VEC_ADD(m->a, &f->v) = s;
	f->n += s.n;
	if (ticks > f->ticks)
		f->ticks = ticks;
}

/* In a fence that holds these, and two of these fences. */
static bool fits(const struct markdown *m, const struct fenced *f, struct str s)
{
	size_t ticks = longest_ticks(s);

	if (f->ticks > ticks)
		ticks = f->ticks;
	return m->b->n + f->n + s.n + 2 * ticks + RESERVE <= m->max;
}

/* As it will be seen: what is secret is taken out here already, since that changes lengths. */
static struct str painted(struct markdown *m, const struct fold_entry *en, bool head_only)
{
	scoped(buf_fini) struct buf b = { 0 }, clean = { 0 };
	struct painter p = {
		.b = &b, .a = m->a, .how = m->how, .indent = "", .cut = head_only, .drift = m->drift
	};

	buf_init(&b, SIZE_MAX);
	buf_init(&clean, SIZE_MAX);
	paint_head(&p, en);
	if (!head_only)
		paint_body(&p, en);
	scrub(&clean, buf_str(&b));
	return (struct str){ buf_dup(&clean, m->a), clean.n };
}

static void collect(struct markdown *m, const struct fold *fold, size_t from, size_t to,
		    struct fenced *f)
{
	bool full = m->left_entries > 0;

	for (size_t i = from; i < to; i++) {
		const struct fold_entry *en = &fold->v.v[i];
		struct str s = STR_NONE;
		if (!full) {
			s = painted(m, en, false);
			if (!fits(m, f, s))
				s = painted(m, en, true);
			full = !fits(m, f, s);
		}
		if (!full) {
			add_fenced(m, f, s);
			continue;
		}
		m->left_entries++;
		m->left += en->members.n;
	}
}

static void put_fence(struct markdown *m, const struct fenced *f)
{
	size_t ticks = f->ticks < 3 ? 3 : f->ticks + 1;

	if (!f->v.n)
		return;
	if (!str_ends(buf_str(m->b), "\n\n"))
		buf_addc(m->b, '\n');
	buf_addn(m->b, '`', ticks);
	buf_adds(m->b, "diff\n");
	for (size_t i = 0; i < f->v.n; i++)
		buf_addstr(m->b, f->v.v[i]);
	buf_addn(m->b, '`', ticks);
	buf_adds(m->b, "\n\n");
}

static size_t members(const struct fold *fold, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		n += fold->v.v[i].members.n;
	return n;
}

/* The first one is open: what is destroyed is not hidden behind a click. */
static void section(struct markdown *m, const struct fold *fold, size_t from, size_t to,
		    const char *what)
{
	struct fenced f = { 0 };
	size_t n = members(fold, from, to);

	if (!n)
		return;
	buf_addf(m->b, "<details%s><summary>%zu %s</summary>\n", m->opened ? "" : " open", n, what);
	m->opened = true;
	collect(m, fold, from, to, &f);
	put_fence(m, &f);
	buf_adds(m->b, f.v.n ? "</details>\n" : "\n(no room here)\n\n</details>\n");
}

static void unreachable(struct markdown *m)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct painter p = { .b = &b, .a = m->a, .how = m->how, .indent = "", .cut = true };
	struct fenced f = { 0 };
	struct str s;

	if (!m->plan->unreachable.n)
		return;
	buf_init(&b, SIZE_MAX);
	paint_unreachable(&p, m->plan);
	s = str_sub(buf_str(&b), 1, SIZE_MAX); /* without the blank line */
	if (m->b->n + s.n + 2 * longest_ticks(s) + RESERVE / 2 > m->max)
		return; /* counted in the first lines */
	add_fenced(m, &f, str_dup(m->a, s));
	put_fence(m, &f);
}

static void escaped(struct buf *b, const char *text)
{
	for (const char *s = text; *s; s++) {
		if (strchr("\\`*_{}[]<>()#+-.!|&~", *s))
			buf_addc(b, '\\');
		buf_addc(b, (unsigned char)*s < 0x20 ? ' ' : *s);
	}
}

static void heading(struct markdown *m)
{
	const struct plan *p = m->plan;
	struct painter paint = { .b = m->b, .a = m->a, .how = m->how };

	buf_adds(m->b, m->drift ? "### muster drift: " : "### muster plan: ");
	escaped(m->b, p->cluster ? p->cluster : "");
	buf_adds(m->b, "\n\n");
	if (m->drift && p->drift.n) {
		buf_addf(m->b, "**Drift: %zu %s changed outside.**", p->drift.n,
			 p->drift.n == 1 ? "object was" : "objects were");
	} else if (m->drift) {
		buf_adds(m->b, "**No drift.** Nothing was changed outside.");
	} else if (plan_is_empty(p)) {
		buf_addf(m->b, "**No changes.** %s is as the spec says.",
			 p->unreachable.n ? "What could be asked" : "The fleet");
	} else {
		buf_adds(m->b, "**");
		paint_summary(&paint, p);
		buf_adds(m->b, "**");
	}
	if (p->unreachable.n)
		buf_addf(m->b, " %zu %s could not be asked.", p->unreachable.n,
			 p->unreachable.n == 1 ? "node" : "nodes");
	buf_adds(m->b, "\n\n");
}

void plan_markdown(struct buf *b, const struct plan *plan, const struct plan_view *how,
		   size_t max_bytes, bool drift)
{
	scoped(arena_freep) struct arena *a = arena_new("markdown");
	struct markdown m = {
		.b = b, .a = a, .plan = plan, .how = how, .max = max_bytes, .drift = drift
	};
	struct fold fold, outside;

	heading(&m);
	if (!drift) {
		plan_fold(a, plan, plan->changes.v, plan->changes.n, how, &fold);
		section(&m, &fold, 0, fold.destructive, "destroyed, replaced or let go");
		section(&m, &fold, fold.destructive, fold.v.n, "made, changed or configured");
	}
	m.drift = true;
	plan_fold(a, plan, plan->drift.v, plan->drift.n, how, &outside);
	section(&m, &outside, 0, outside.v.n, "changed outside of muster");
	m.drift = drift;
	unreachable(&m);
	if (m.left)
		buf_addf(b, "\n_%zu more in %zu %s have no room here: see `muster %s --full`._\n",
			 m.left, m.left_entries, m.left_entries == 1 ? "entry" : "entries",
			 drift ? "drift" : "plan");
}

void view_plan_markdown(struct cli *c, const struct plan *p, const struct plan_view *how,
			size_t max_bytes, bool drift)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	plan_markdown(&b, p, how, max_bytes, drift);
	view_out(c, &b);
}
