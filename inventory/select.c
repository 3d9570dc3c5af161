/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A term is tried as what it can only be first ("@pool", "node.pool[3]", a glob), then as a node
 * set of names, then as a pool. Operators have no precedence: a reader of "a,b!c&d" goes left to
 * right, and so do we.
 */
#include "inventory/select.h"

#include <fnmatch.h>

struct selection {
	struct arena *a;
	const char *const *all;
	size_t n;
	struct map index; /* name -> position in all, plus one */
	const struct select_group *groups;
	size_t n_groups;
};

static int fault(struct err *e, size_t at, const char *hint, const char *msg, struct str what)
{
	err_set(e, ERR_USAGE, "%s \"" STR_FMT "\"", msg, STR_ARG(what));
	if (hint)
		err_hint(e, "did you mean \"%s\"?", hint);
	e->pos = (struct pos){ NULL, 1, (int)at + 1 };
	return -1;
}

static const struct select_group *group_find(const struct selection *s, struct str name)
{
	for (size_t i = 0; i < s->n_groups; i++)
		if (str_eqc(name, s->groups[i].name))
			return &s->groups[i];
	return NULL;
}

static size_t index_of(const struct selection *s, struct str name)
{
	uintptr_t i = (uintptr_t)map_get(&s->index, name);

	return i ? (size_t)i - 1 : SIZE_MAX;
}

static void mark_all_of(const struct selection *s, const struct select_group *g, bool *marks)
{
	for (size_t i = 0; i < g->n; i++) {
		size_t at = index_of(s, str_of(g->members[i]));
		if (at != SIZE_MAX)
			marks[at] = true;
	}
}

/* The nearest of the nodes' names (unless only groups can be meant) and the groups' names, for "did
 * you mean". */
static const char *suggest(const struct selection *s, struct str word, bool groups)
{
	const char **names = arena_array(s->a, const char *, s->n + s->n_groups + 1);
	size_t n = 0;

	for (size_t i = 0; !groups && i < s->n; i++)
		names[n++] = s->all[i];
	for (size_t i = 0; i < s->n_groups; i++)
		names[n++] = s->groups[i].name;
	return str_suggest(word, names, n);
}

/* "pool[0-3]" and "pool[gpu001.dc1]": by index or by name within the pool. */
static int mark_members(const struct selection *s, const struct select_group *g, struct str inside,
			size_t at, bool *marks, struct err *e)
{
	struct names names = { 0 };
	struct str text = str_of(arena_printf(s->a, "[" STR_FMT "]", STR_ARG(inside)));
	size_t i = index_of(s, inside);

	for (size_t k = 0; i != SIZE_MAX && k < g->n; k++) {
		if (str_eqc(inside, g->members[k])) {
			marks[i] = true;
			return 0;
		}
	}
	if (hostlist_expand(s->a, text, &names, e) < 0) {
		e->pos.col += (int)at - 1;
		return -1;
	}
	for (size_t k = 0; k < names.v.n; k++) {
		uint64_t nth;
		if (!str_to_uint(str_of(names.v.v[k]), 10, &nth) || nth >= g->n) {
			err_set(e, ERR_USAGE, "pool \"%s\" has no node [%s]", g->name,
				names.v.v[k]);
			err_hint(e, g->n ? "it has %zu, numbered from 0" : "it is empty", g->n);
			e->pos = (struct pos){ NULL, 1, (int)at + 1 };
			return -1;
		}
		size_t where = index_of(s, str_of(g->members[nth]));
		if (where != SIZE_MAX)
			marks[where] = true;
	}
	return 0;
}

static int mark_glob(const struct selection *s, struct str term, size_t at, bool *marks,
		     struct err *e)
{
	const char *pattern = str_cstr(s->a, term);
	bool any = false;

	for (size_t i = 0; i < s->n; i++) {
		if (fnmatch(pattern, s->all[i], 0) == 0)
			any = marks[i] = true;
	}
	return any ? 0 : fault(e, at, NULL, "no node matches", term);
}

/* A node set of names; *known false, without a fault, when a name is no node's. */
static int mark_names(const struct selection *s, struct str term, size_t at, bool *marks,
		      bool *known, struct err *e)
{
	struct names names = { 0 };

	*known = true;
	if (hostlist_expand(s->a, term, &names, e) < 0) {
		e->pos.col += (int)at;
		return -1;
	}
	for (size_t i = 0; i < names.v.n && *known; i++)
		*known = index_of(s, str_of(names.v.v[i])) != SIZE_MAX;
	for (size_t i = 0; i < names.v.n && *known; i++)
		marks[index_of(s, str_of(names.v.v[i]))] = true;
	return 0;
}

/* The part before "[...]" when the bracket ends the term. */
static bool split_bracket(struct str term, struct str *name, struct str *inside)
{
	size_t open = str_find_char(term, '[');

	if (open == SIZE_MAX || !str_ends(term, "]") || str_find_char(term, ']') != term.n - 1)
		return false;
	*name = str_sub(term, 0, open);
	*inside = str_sub(term, open + 1, term.n - 1);
	return true;
}

static int unknown_name(const struct selection *s, struct str term, size_t at, struct err *e)
{
	struct names names = { 0 };
	struct str bad = term;

	if (hostlist_expand(s->a, term, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.v.n; i++) {
		if (index_of(s, str_of(names.v.v[i])) == SIZE_MAX) {
			bad = str_of(names.v.v[i]);
			break;
		}
	}
	return fault(e, at, suggest(s, bad, false), "no node is named", bad);
}

static int mark_term(const struct selection *s, struct str term, size_t at, bool *marks,
		     struct err *e)
{
	const struct select_group *g;
	struct str name, inside;
	bool known;

	if (term.p[0] == '@') {
		name = str_sub(term, 1, SIZE_MAX);
		if (str_eqc(name, "all")) {
			memset(marks, true, s->n);
			return 0;
		}
		g = group_find(s, name);
		if (!g)
			return fault(e, at, suggest(s, name, true), "no pool is named", name);
		mark_all_of(s, g, marks);
		return 0;
	}
	bool is_addr = str_starts(term, "node.");
	if (is_addr) {
		term = str_sub(term, 5, SIZE_MAX);
		at += 5;
	}
	if (str_find_char(term, '*') != SIZE_MAX || str_find_char(term, '?') != SIZE_MAX)
		return mark_glob(s, term, at, marks, e);
	bool has_bracket = split_bracket(term, &name, &inside);
	if (!is_addr && (!has_bracket || !group_find(s, name) || index_of(s, inside) == SIZE_MAX)) {
		if (mark_names(s, term, at, marks, &known, e) < 0)
			return -1;
		if (known)
			return 0;
	}
	if (has_bracket && (g = group_find(s, name)))
		return mark_members(s, g, inside, at + name.n + 1, marks, e);
	if (!has_bracket && (g = group_find(s, term))) {
		mark_all_of(s, g, marks);
		return 0;
	}
	if (is_addr && has_bracket)
		return fault(e, at, suggest(s, name, true), "no pool is named", name);
	return unknown_name(s, term, at, e);
}

static void combine(bool *chosen, const bool *marks, size_t n, char op)
{
	for (size_t i = 0; i < n; i++) {
		if (op == '&')
			chosen[i] = chosen[i] && marks[i];
		else if (op == '!')
			chosen[i] = chosen[i] && !marks[i];
		else
			chosen[i] = chosen[i] || marks[i];
	}
}

static int evaluate(const struct selection *s, struct str text, bool *chosen, struct err *e)
{
	bool *marks = arena_array(s->a, bool, s->n + 1);
	char op = ',';
	size_t i = 0;

	/* "!x" alone means everything but x. */
	if (str_trim(text).p[0] == '!') {
		memset(chosen, true, s->n);
		i = str_find_char(text, '!') + 1;
		op = '!';
	}
	for (;; op = text.p[i], i++) {
		size_t end = hostlist_term_end(text, i, ",&!");
		struct str raw = str_sub(text, i, end), term = str_trim(raw);
		size_t at = i + (size_t)(term.n ? term.p - raw.p : 0);

		if (!term.n)
			return fault(e, at, NULL, "a name is missing in", text);
		memset(marks, 0, s->n);
		if (mark_term(s, term, at, marks, e) < 0)
			return -1;
		combine(chosen, marks, s->n, op);
		i = end;
		if (i >= text.n)
			return 0;
	}
}

int select_names(struct arena *a, struct str expression, const struct select_from *from,
		 struct names *out, struct err *e)
{
	struct selection s = { .a = a,
			       .all = from->all,
			       .n = from->n,
			       .groups = from->groups,
			       .n_groups = from->n_groups };
	bool *chosen = arena_array(a, bool, s.n + 1);

	map_init(&s.index, a);
	for (size_t i = 0; i < s.n; i++)
		map_put(&s.index, str_of(s.all[i]), (void *)(uintptr_t)(i + 1));
	if (!str_trim(expression).n)
		memset(chosen, true, s.n);
	else if (evaluate(&s, expression, chosen, e) < 0)
		return -1;
	for (size_t i = 0; i < s.n; i++)
		if (chosen[i])
			VEC_ADD(a, &out->v) = s.all[i];
	return 0;
}
