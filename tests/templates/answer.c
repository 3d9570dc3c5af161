/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer FILE - our side of the differential test (run.py): a case a line, JSON in, JSON out.
 *
 * In: {"t": template, "v": variables, "m": ["trim", "keep", "lazy", "native", "expr"], "d": folder
 * of files}. Out:
 * {"ok": text or value} or {"err": message}.
 */
#include <stdio.h>

#include "templates/templates.h"

static unsigned flags_of(const struct value *modes, bool *is_expression)
{
	static const struct {
		const char *name;
		unsigned flag;
	} names[] = { { "trim", TEMPLATE_TRIM_BLOCKS },
		      { "keep", TEMPLATE_KEEP_NEWLINE },
		      { "lazy", TEMPLATE_LAZY },
		      { "native", TEMPLATE_NATIVE } };
	unsigned flags = 0;

	*is_expression = false;
	for (size_t i = 0; modes && i < modes->list.n; i++) {
		*is_expression = *is_expression || str_eqc(modes->list.v[i]->s, "expr");
		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (str_eqc(modes->list.v[i]->s, names[k].name))
				flags |= names[k].flag;
	}
	return flags;
}

static void answer(struct arena *a, const struct value *c)
{
	const char *dirs[] = { value_get_str(c, "d", "").p, NULL };
	struct template_world world = { .dirs = dirs };
	struct scope scope = { .vars = value_get(c, "v"), .world = &world };
	struct template t = { value_get_str(c, "t", ""), { "case", 1, 1 } };
	scoped(buf_fini) struct buf b = { 0 };
	struct value *out = value_map(a);
	const struct value *got;
	struct err e = { 0 };
	bool is_expression;
	unsigned flags = flags_of(value_get(c, "m"), &is_expression);

	if ((is_expression ? template_eval(a, t, &scope, flags, &got, &e)
			   : template_render(a, t, &scope, flags, &got, &e)) < 0)
		value_set(out, "err", value_strf(a, "%d:%d: %s", e.pos.line, e.pos.col, e.msg));
	else
		value_set(out, "ok", got);
	buf_init(&b, SIZE_MAX);
	json_write(&b, out, 0);
	puts(b.p);
}

static int answer_line(struct str line)
{
	struct arena *a scoped(arena_freep) = arena_new("case");
	struct err e = { 0 };
	struct value *c;

	if (json_parse(a, "case", line, &c, &e) < 0) {
		fprintf(stderr, "answer: %s\n", e.msg);
		return -1;
	}
	answer(a, c);
	return 0;
}

int main(int argc, char **argv)
{
	struct arena *a scoped(arena_freep) = arena_new("cases");
	struct err e = { 0 };
	struct str text, line;

	if (argc != 2 || fs_read(a, argv[1], (size_t)1 << 30, &text, &e) < 0) {
		fprintf(stderr, "usage: answer FILE\n");
		return 64;
	}
	while (str_next(&text, '\n', &line))
		if (line.n && answer_line(line) < 0)
			return 1;
	return 0;
}
