/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two passes. Changes of equal shape are one entry, over pools too. When that leaves many entries
 * which differ only in the values of the same fields (each node's own name in a file), those are
 * one entry as well, which says what differs: else ten thousand nodes would be ten thousand lines
 * again. Destructive changes are folded by the first pass only where they are nodes, and the node
 * set that comes of it is never cut.
 */
#include "cli/plan_fold.h"

#include <stdlib.h>

#define VARIANTS_APART 4 /* so many entries of one kind may stand side by side */

struct folder {
	struct arena *a;
	const struct plan *p;
	struct map pools; /* name -> const struct plan_pool * */
	bool full, diff;
};

bool fold_is_destructive(const struct change *ch)
{
	return ch->action == CHANGE_DELETE || ch->action == CHANGE_REPLACE;
}

static const struct plan_pool *pool_of(const struct folder *f, const struct change *ch)
{
	return ch->pool ? map_getc(&f->pools, ch->pool) : NULL;
}

/* A limit of the whole pool is none. */
static int64_t limit_of(const struct folder *f, const struct change *ch)
{
	const struct plan_pool *pool = pool_of(f, ch);

	return pool && ch->in_service && pool->at_a_time < pool->nodes ? pool->at_a_time : 0;
}

static int64_t canary_of(const struct folder *f, const struct change *ch)
{
	const struct plan_pool *pool = pool_of(f, ch);

	return pool && ch->in_service ? pool->canary : 0;
}

/* What one such step took before: a replacement is a deletion and a making. */
static int64_t pace_of(const struct folder *f, const struct change *ch)
{
	const struct plan_pool *pool = pool_of(f, ch);

	if (!pool)
		return 0;
	switch (ch->action) {
	case CHANGE_CREATE: return pool->create_ms;
	case CHANGE_UPDATE: return pool->update_ms;
	case CHANGE_DELETE: return pool->delete_ms;
	case CHANGE_CONFIGURE: return pool->configure_ms;
	case CHANGE_REPLACE:
		return pool->create_ms && pool->delete_ms ? pool->create_ms + pool->delete_ms : 0;
	case CHANGE_FORGET: break;
	}
	return 0;
}

static struct str key_of(const struct folder *f, const struct change *ch)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "%d %s %lld %lld", (int)ch->action, ch->shape ? ch->shape : ch->addr,
		 (long long)limit_of(f, ch), (long long)canary_of(f, ch));
	for (size_t i = 0; f->diff && i < ch->fields.n; i++)
		buf_addf(&b, "\n%s", ch->fields.v[i].diff ? ch->fields.v[i].diff : "");
	return (struct str){ buf_dup(&b, f->a), b.n };
}

static void add_member(struct folder *f, struct fold_entry *en, const struct change *ch)
{
	int64_t ms = pace_of(f, ch);

	VEC_ADD(f->a, &en->members) = ch;
	if (ms > en->each_ms)
		en->each_ms = ms;
}

static void group_equal(struct folder *f, struct change *const *v, size_t n, struct fold *out)
{
	struct map by_key;

	map_init(&by_key, f->a);
	for (size_t i = 0; i < n; i++) {
		struct str key = f->full ? STR_NONE : key_of(f, v[i]);
		size_t at = f->full ? 0 : (size_t)(uintptr_t)map_get(&by_key, key);

		if (!at) {
			VEC_ADD(f->a,
				&out->v) = (struct fold_entry){ .first = v[i],
								.equal = true,
								.canary = canary_of(f, v[i]),
								.at_a_time = limit_of(f, v[i]) };
			at = out->v.n;
			if (!f->full) {
				// cppcheck-suppress intToPointerCast
				map_put(&by_key, key, (void *)(uintptr_t)at);
			}
		}
		add_member(f, &out->v.v[at - 1], v[i]);
	}
}

/* ---- changes that differ in the values of the same fields ---- */

static struct str loose_key(const struct folder *f, const struct fold_entry *en)
{
	const struct change *ch = en->first;
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "%d %d %d%d%d%d %s %s %s", (int)ch->action, (int)ch->cause, ch->owned,
		 ch->in_service, ch->effect_drain, ch->effect_reboot, ch->kind, ch->provider,
		 ch->reason ? ch->reason : "");
	for (size_t i = 0; i < ch->fields.n; i++)
		buf_addf(&b, "\n%s %d %d", ch->fields.v[i].path, ch->fields.v[i].forces_replace,
			 (int)ch->fields.v[i].cause);
	return (struct str){ buf_dup(&b, f->a), b.n };
}

static bool same_value(const struct value *x, const struct value *y)
{
	return x && y ? value_equal(x, y) : x == y;
}

/* They may also be entries of their own for the limits of their pools alone. */
static bool same_content(const struct change *x, const struct change *y)
{
	return x->shape && y->shape && strcmp(x->shape, y->shape) == 0;
}

static void absorb(struct folder *f, struct fold_entry *into, const struct fold_entry *en)
{
	const struct change *one = into->first, *other = en->first;

	if (!into->varies)
		into->varies = arena_array(f->a, bool, one->fields.n + 1);
	for (size_t i = 0; i < one->fields.n; i++)
		into->varies[i] |= !same_value(one->fields.v[i].before,
					       other->fields.v[i].before) ||
				   !same_value(one->fields.v[i].after, other->fields.v[i].after);
	for (size_t i = 0; i < en->members.n; i++)
		VEC_ADD(f->a, &into->members) = en->members.v[i];
	if (en->each_ms > into->each_ms)
		into->each_ms = en->each_ms;
	if (en->at_a_time != into->at_a_time || en->canary != into->canary)
		into->at_a_time = FOLD_LIMITS_DIFFER;
	into->equal &= same_content(one, other);
}

struct kin {
	size_t n, first; /* entries of one loose key; index of the first + 1, once kept */
};

static void group_variants(struct folder *f, struct fold *out)
{
	struct map kins;
	struct kin **of = arena_array(f->a, struct kin *, out->v.n + 1);
	size_t kept = 0;

	map_init(&kins, f->a);
	for (size_t i = 0; i < out->v.n; i++) {
		if (!out->v.v[i].first->node)
			continue;
		struct str key = loose_key(f, &out->v.v[i]);
		of[i] = map_get(&kins, key);
		if (!of[i]) {
			of[i] = arena_obj(f->a, struct kin);
			map_put(&kins, key, of[i]);
		}
		of[i]->n++;
	}
	for (size_t i = 0; i < out->v.n; i++) {
		struct kin *k = of[i];
		if (k && k->n > VARIANTS_APART && k->first) {
			absorb(f, &out->v.v[k->first - 1], &out->v.v[i]);
			continue;
		}
		out->v.v[kept++] = out->v.v[i];
		if (k)
			k->first = kept;
	}
	out->v.n = kept;
}

/* ---- order ---- */

static int compare_entries(const void *x, const void *y)
{
	const struct fold_entry *one = x, *other = y;

	return hostlist_compare(one->first->addr, other->first->addr);
}

static bool same_run(const struct change *x, const struct change *y)
{
	return x->node && y->node && x->action == y->action;
}

/* Records are kept in the order of their text: node 10 before node 2. Runs of nodes that are
 * changed in one way are put into the order in which people count. */
static void sort_runs(struct fold *out)
{
	struct fold_entry *v = out->v.v;

	for (size_t i = 0; i < out->v.n;) {
		size_t end = i + 1;
		while (end < out->v.n && same_run(v[i].first, v[end].first))
			end++;
		qsort(v + i, end - i, sizeof *v, compare_entries);
		i = end;
	}
}

static void destructive_first(struct folder *f, struct fold *out)
{
	struct fold_entry *sorted = arena_array(f->a, struct fold_entry, out->v.n + 1);
	size_t n = 0;

	for (int pass = 0; pass < 2; pass++) {
		for (size_t i = 0; i < out->v.n; i++) {
			if (fold_is_destructive(out->v.v[i].first) == (pass == 0))
				sorted[n++] = out->v.v[i];
		}
		if (pass == 0)
			out->destructive = n;
	}
	out->v.v = sorted;
	out->v.cap = out->v.n + 1;
}

static void count_pools(struct folder *f, struct fold_entry *en)
{
	struct map seen;

	map_init(&seen, f->a);
	for (size_t i = 0; i < en->members.n; i++) {
		if (en->members.v[i]->pool)
			map_put(&seen, str_of(en->members.v[i]->pool), f);
	}
	en->pools = seen.n;
	if ((size_t)en->canary >= en->members.n)
		en->canary = 0;
	if (en->at_a_time > 0 && (size_t)en->at_a_time >= en->members.n)
		en->at_a_time = 0;
}

void plan_fold(struct arena *a, const struct plan *p, struct change *const *changes, size_t n,
	       const struct plan_view *how, struct fold *out)
{
	struct folder f = { .a = a, .p = p, .full = how->full, .diff = how->diff };

	*out = (struct fold){ 0 };
	map_init(&f.pools, a);
	for (size_t i = 0; i < p->pools.n; i++)
		map_put(&f.pools, str_of(p->pools.v[i]->name), p->pools.v[i]);
	group_equal(&f, changes, n, out);
	if (!how->full && !how->diff)
		group_variants(&f, out);
	destructive_first(&f, out);
	if (how->full)
		sort_runs(out);
	for (size_t i = 0; i < out->v.n; i++)
		count_pools(&f, &out->v.v[i]);
}

char *fold_names(struct arena *a, const struct fold_entry *en)
{
	const char **names = arena_array(a, const char *, en->members.n);

	for (size_t i = 0; i < en->members.n; i++)
		names[i] = en->members.v[i]->node ? en->members.v[i]->node : en->members.v[i]->addr;
	return view_fold(a, names, en->members.n);
}
