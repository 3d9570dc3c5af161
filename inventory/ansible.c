/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ansible's inventories. Groups form a graph (children); a host's variables are those of "all",
 * then of its groups from the farthest parent to the nearest, equals by name, then its own; in each
 * step what the inventory says comes before what group_vars/ and host_vars/ say, as Ansible has it.
 */
#include "inventory/ansible.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "inventory/ansible_read.h"

#define MAX_DEPTH     50
#define PATTERN_STOPS ",:" /* between patterns */

/* ---- groups to hosts ------------------------------------------------------------------------ */

struct building {
	struct arena *a;
	struct inv_raw *raw;
	struct inv *inv;
	struct err_list *errs;
};

/* The longest way from "all" down to the group; -1 after a loop was reported. */
static int find_depth(struct building *b, struct inv_group *g, int level)
{
	if (g->depth)
		return g->depth;
	if (g->visiting || level > MAX_DEPTH) {
		err_list_addf(b->errs, g->pos, "remove one of the children",
			      "group \"%s\" is its own child", g->name);
		return -1;
	}
	g->visiting = true;
	int depth = 1;
	for (size_t i = 0; i < g->parents.n; i++) {
		int d = find_depth(b, g->parents.v[i], level + 1);
		if (d < 0)
			return -1;
		depth = d + 1 > depth ? d + 1 : depth;
	}
	g->visiting = false;
	g->depth = depth;
	return depth;
}

static int compare_groups(const void *x, const void *y)
{
	const struct inv_group *a = *(struct inv_group *const *)x,
			       *b = *(struct inv_group *const *)y;

	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void add_ancestors(struct building *b, struct inv_group *g, struct map *seen)
{
	if (map_getc(seen, g->name))
		return;
	map_put(seen, str_of(g->name), g);
	for (size_t i = 0; i < g->parents.n; i++)
		add_ancestors(b, g->parents.v[i], seen);
}

static int compare_names(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

static void join_group(struct building *b, const char *group, const char *host)
{
	struct names *n = map_getc(&b->inv->groups, group);

	if (!n) {
		n = arena_obj(b->a, struct names);
		map_put(&b->inv->groups, str_of(group), n);
	}
	VEC_ADD(b->a, &n->v) = host;
}

static void build_host(struct building *b, struct inv_raw_host *h)
{
	struct inv_host *out = arena_obj(b->a, struct inv_host);
	struct inv_group *all = map_getc(&b->raw->groups, "all");
	struct map seen;
	struct value *vars = value_merge(b->a, all->vars, all->file_vars, false);

	map_init(&seen, b->a);
	for (size_t i = 0; i < h->groups.n; i++)
		add_ancestors(b, h->groups.v[i], &seen);
	struct inv_group **order = arena_array(b->a, struct inv_group *, seen.n + 1);
	size_t n = 0;
	for (size_t i = 0; i < seen.n; i++)
		if (seen.e[i].val != all)
			order[n++] = seen.e[i].val;
	/* A host in no group is in "ungrouped". */
	if (!n)
		order[n++] = map_getc(&b->raw->groups, "ungrouped");
	qsort(order, n, sizeof *order, compare_groups);
	for (size_t i = 0; i < n; i++) {
		vars = value_merge(b->a, vars, order[i]->vars, false);
		vars = value_merge(b->a, vars, order[i]->file_vars, false);
		VEC_ADD(b->a, &out->groups) = order[i]->name;
		join_group(b, order[i]->name, h->name);
	}
	qsort(out->groups.v, out->groups.n, sizeof *out->groups.v, compare_names);
	out->name = h->name;
	out->vars = value_merge(b->a, value_merge(b->a, vars, h->vars, false), h->file_vars, false);
	join_group(b, "all", h->name);
	VEC_ADD(b->a, &b->inv->hosts) = out;
}

int inv_load(struct arena *a, const char *source, struct inv **out, struct err_list *errs)
{
	struct inv_raw raw = { 0 };
	struct building b = { .a = a, .raw = &raw, .inv = arena_obj(a, struct inv), .errs = errs };
	size_t before = errs->n + errs->dropped;

	map_init(&b.inv->groups, a);
	*out = b.inv;
	if (inv_read(a, source, &raw, errs) < 0)
		return -1;
	for (size_t i = 0; i < raw.groups.n; i++)
		if (find_depth(&b, raw.groups.e[i].val, 0) < 0)
			break;
	if (errs->n + errs->dropped > before)
		return -1;
	for (size_t i = 0; i < raw.hosts.n; i++)
		build_host(&b, raw.hosts.e[i].val);
	/* Groups without hosts exist too. */
	for (size_t i = 0; i < raw.groups.n; i++)
		if (!map_has(&b.inv->groups, raw.groups.e[i].key))
			map_put(&b.inv->groups, raw.groups.e[i].key, arena_obj(a, struct names));
	return 0;
}

/* ---- patterns ------------------------------------------------------------------------------- */

struct matcher {
	struct arena *a;
	const struct inv *inv;
	struct map index; /* host -> position + 1 */
};

static bool matches(const char *pattern, const char *name)
{
	return fnmatch(pattern, name, 0) == 0;
}

static void take_group(const struct matcher *m, const struct names *n, size_t from, size_t to,
		       bool *marks)
{
	for (size_t i = from; i < n->v.n && i < to; i++)
		marks[(uintptr_t)map_getc(&m->index, n->v.v[i]) - 1] = true;
}

/* "web[0:2]", "web[1]", "web[-1]" : hosts of a group by position, ends included. */
static bool take_slice(const struct matcher *m, struct str pattern, bool *marks)
{
	size_t open = str_find_char(pattern, '[');
	int64_t from = 0, to;

	if (open == SIZE_MAX || !str_ends(pattern, "]"))
		return false;
	const struct names *n = map_get(&m->inv->groups, str_sub(pattern, 0, open));
	struct str inside = str_sub(pattern, open + 1, pattern.n - 1), low = inside, high = inside;
	size_t sep = str_find_char(inside, ':');
	if (sep == SIZE_MAX)
		sep = inside.n > 1 ? str_find_char(str_sub(inside, 1, SIZE_MAX), '-') : SIZE_MAX,
		sep += sep != SIZE_MAX;
	if (sep != SIZE_MAX) {
		low = str_sub(inside, 0, sep);
		high = str_sub(inside, sep + 1, SIZE_MAX);
	}
	if (!n || (low.n && !str_to_int(low, &from)))
		return false;
	int64_t count = (int64_t)n->v.n;
	to = count - 1;
	if (high.n && !str_to_int(high, &to))
		return false;
	from += from < 0 ? count : 0;
	to += to < 0 ? count : 0;
	if (from >= 0 && to >= from)
		take_group(m, n, (size_t)from, (size_t)to + 1, marks);
	return true;
}

/* One name, glob or group; false: nothing has that name. */
static bool take_pattern(const struct matcher *m, struct str pattern, bool *marks)
{
	const char *p = str_cstr(m->a, pattern);
	bool any = false;

	if (take_slice(m, pattern, marks))
		return true;
	for (size_t i = 0; i < m->inv->groups.n; i++) {
		if (!matches(p, m->inv->groups.e[i].key.p))
			continue;
		any = true;
		take_group(m, m->inv->groups.e[i].val, 0, SIZE_MAX, marks);
	}
	for (size_t i = 0; i < m->inv->hosts.n; i++) {
		const struct inv_host *h = m->inv->hosts.v[i];
		if (matches(p, h->name))
			any = marks[i] = true;
	}
	return any;
}

static int unknown_pattern(const struct matcher *m, struct str pattern, struct err *e)
{
	const char **names = arena_array(m->a, const char *,
					 m->inv->groups.n + m->inv->hosts.n + 1),
		   *best;
	size_t n = 0;

	for (size_t i = 0; i < m->inv->groups.n; i++)
		names[n++] = m->inv->groups.e[i].key.p;
	for (size_t i = 0; i < m->inv->hosts.n; i++)
		names[n++] = m->inv->hosts.v[i]->name;
	err_set(e, ERR_USAGE, "no host or group matches \"" STR_FMT "\"", STR_ARG(pattern));
	best = str_suggest(pattern, names, n);
	return best ? err_hint(e, "did you mean \"%s\"?", best) : -1;
}

/* Unions first, then "&", then "!": the order in which Ansible applies them, wherever they stand. */
static int apply_patterns(const struct matcher *m, struct str text, char kind, bool *chosen,
			  struct err *e)
{
	size_t n = m->inv->hosts.n;
	bool *marks = arena_array(m->a, bool, n + 1);

	for (size_t i = 0; i <= text.n;) {
		size_t end = hostlist_term_end(text, i, PATTERN_STOPS);
		struct str p = str_trim(str_sub(text, i, end));
		i = end + 1;
		char op = p.n && (p.p[0] == '&' || p.p[0] == '!') ? p.p[0] : ',';
		if (!p.n || op != kind)
			continue;
		p = op == ',' ? p : str_sub(p, 1, SIZE_MAX);
		memset(marks, 0, n);
		if (!take_pattern(m, p, marks) && kind == ',')
			return unknown_pattern(m, p, e);
		for (size_t k = 0; k < n; k++)
			chosen[k] = kind == ','	  ? chosen[k] || marks[k]
				    : kind == '&' ? chosen[k] && marks[k]
						  : chosen[k] && !marks[k];
	}
	return 0;
}

static bool has_union(struct str text)
{
	for (size_t i = 0; i <= text.n;) {
		size_t end = hostlist_term_end(text, i, PATTERN_STOPS);
		struct str p = str_trim(str_sub(text, i, end));
		if (p.n && p.p[0] != '&' && p.p[0] != '!')
			return true;
		i = end + 1;
	}
	return false;
}

int inv_match(struct arena *a, const struct inv *inv, const char *pattern, struct names *out,
	      struct err *e)
{
	struct matcher m = { .a = a, .inv = inv };
	bool *chosen = arena_array(a, bool, inv->hosts.n + 1);
	struct str text = str_of(pattern);

	map_init(&m.index, a);
	for (size_t i = 0; i < inv->hosts.n; i++)
		map_put(&m.index, str_of(inv->hosts.v[i]->name), (void *)(uintptr_t)(i + 1));
	/* Only exclusions: everything but them. */
	if (!has_union(text))
		memset(chosen, true, inv->hosts.n);
	if (apply_patterns(&m, text, ',', chosen, e) < 0 ||
	    apply_patterns(&m, text, '&', chosen, e) < 0 ||
	    apply_patterns(&m, text, '!', chosen, e) < 0)
		return -1;
	for (size_t i = 0; i < inv->hosts.n; i++)
		if (chosen[i])
			VEC_ADD(a, &out->v) = inv->hosts.v[i]->name;
	return 0;
}
