/* SPDX-License-Identifier: Apache-2.0 */
/*
 * template_run CASE.json - renders CASE's template, or evaluates its expressions, and prints the
 * CPU seconds that took: the part of template.sh that is ours. CASE: {"vars", "template", "times"}
 * or {"vars", "expressions", "times"}.
 */
#include <stdio.h>
#include <time.h>

#include "templates/templates.h"

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static size_t render(struct value *c, const struct scope *scope, struct err *e)
{
	struct arena *a scoped(arena_freep) = arena_new("render");
	struct template t = { value_get_str(c, "template", ""), { "template", 1, 1 } };
	const struct value *out;

	if (template_render(a, t, scope, TEMPLATE_TRIM_BLOCKS, &out, e) < 0)
		return 0;
	return out->s.n;
}

static size_t evaluate(struct value *c, const struct scope *scope, struct err *e)
{
	const struct value *all = value_get(c, "expressions"), *out;
	struct arena *a scoped(arena_freep) = arena_new("conditions");
	size_t true_ones = 0;

	for (size_t i = 0; i < all->list.n; i++) {
		struct template t = { all->list.v[i]->s, { "expression", 1, 1 } };
		if (template_eval(a, t, scope, 0, &out, e) < 0)
			return 0;
		true_ones += value_is_truthy(out);
		arena_reset(a);
	}
	return true_ones;
}

int main(int argc, char **argv)
{
	struct arena *a scoped(arena_freep) = arena_new("bench");
	struct err e = { 0 };
	struct value *c;
	struct str text;
	size_t sum = 0;

	if (argc != 2 || fs_read(a, argv[1], (size_t)1 << 28, &text, &e) < 0 ||
	    json_parse(a, argv[1], text, &c, &e) < 0) {
		fprintf(stderr, "template_run: %s\n", e.msg);
		return 1;
	}
	struct scope scope = { .vars = value_get(c, "vars") };
	int64_t times = value_get_int(c, "times", 1);
	double begin = cpu_seconds();
	for (int64_t i = 0; i < times && !e.kind; i++)
		sum += value_get(c, "template") ? render(c, &scope, &e) : evaluate(c, &scope, &e);
	if (e.kind) {
		fprintf(stderr, "template_run: %s\n", e.msg);
		return 1;
	}
	printf("%.6f %zu\n", cpu_seconds() - begin, sum);
	return 0;
}
