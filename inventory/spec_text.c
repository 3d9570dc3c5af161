/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A YAML scalar's position is its first byte, which is a quote or a "|" as often as not. A caret
 * under column 7 of the text must stand seven columns from the text's own beginning, so the
 * positions are moved there once, right after parsing. In folded and escaped texts the column is a
 * little early; the line is right.
 */
#include "inventory/spec_text.h"

struct lines {
	const size_t *begin; /* of each line */
	size_t n;
	struct str text;
};

static struct str line_at(const struct lines *l, int line)
{
	if (line < 1 || (size_t)line > l->n)
		return STR_NONE;
	size_t from = l->begin[line - 1];
	size_t to = (size_t)line < l->n ? l->begin[line] - 1 : l->text.n;
	return str_sub(l->text, from, to);
}

static struct pos first_character(const struct lines *l, struct pos p)
{
	struct str line = line_at(l, p.line);

	if (p.col < 1 || (size_t)p.col > line.n)
		return p;
	char c = line.p[p.col - 1];
	if (c == '"' || c == '\'') {
		p.col++;
	} else if (c == '|' || c == '>') {
		int at = p.line + 1;
		while (!str_trim(line_at(l, at)).n && (size_t)at < l->n)
			at++;
		struct str first = line_at(l, at);
		size_t indent = 0;
		while (indent < first.n && first.p[indent] == ' ')
			indent++;
		if (indent < first.n)
			p = (struct pos){ p.file, at, (int)indent + 1 };
	}
	return p;
}

static void adjust(struct value *v, const struct lines *l)
{
	if (v->kind == V_STR) {
		if (str_find_char(v->s, '{') != SIZE_MAX || str_find_char(v->s, '[') != SIZE_MAX)
			v->pos = first_character(l, v->pos);
	} else if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++)
			adjust(v->list.v[i], l);
	} else if (v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++)
			adjust(v->map.e[i].val, l);
	}
}

void spec_text_adjust(struct value *v, struct str file_text)
{
	struct arena *a scoped(arena_freep) = arena_new("lines");
	VEC(size_t) begin = { 0 };

	VEC_ADD(a, &begin) = 0;
	for (size_t i = 0; i < file_text.n; i++)
		if (file_text.p[i] == '\n')
			VEC_ADD(a, &begin) = i + 1;
	struct lines l = { begin.v, begin.n, file_text };
	adjust(v, &l);
}

struct pos spec_text_pos(struct pos begin, struct pos inside)
{
	if (inside.line < 1)
		return begin;
	return (struct pos){ begin.file, begin.line + inside.line - 1, begin.col + inside.col - 1 };
}
