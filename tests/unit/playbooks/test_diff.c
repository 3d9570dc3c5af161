/* SPDX-License-Identifier: Apache-2.0 */
/* Diffs against those of diff(1), which must also accept them: patch(1) is not needed for a text of
 * our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "playbooks/diff.h"

static void small(void **state)
{
	struct arena *a scoped(arena_freep) = arena_new("diff");

	(void)state;
	assert_null(diff_unified(a, STR("x\n"), STR("x\n"), "a", "b"));
	assert_string_equal(diff_unified(a, STR("1\n2\n3\n4\n5\n6\n7\n"),
					 STR("1\n2\n3\nx\n5\n6\n7\n"), "a", "b"),
			    "--- a\n+++ b\n@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-4\n+x\n 5\n 6\n 7\n");
	assert_string_equal(
		diff_unified(a, STR(""), STR("x"), "/dev/null", "b"),
		"--- /dev/null\n+++ b\n@@ -0,0 +1 @@\n+x\n\\ No newline at end of file\n");
	assert_string_equal(diff_unified(a, STR("x\ny\n"), STR("y\n"), "a", "b"),
			    "--- a\n+++ b\n@@ -1,2 +1 @@\n-x\n y\n");
}

/* Rebuilds `after` from `before` and the diff: what a diff must be good for, whatever its shape. */
static void apply(struct arena *a, struct str before, const char *diff, struct buf *out)
{
	struct str rest = str_of(diff), line;
	VEC(struct str) lines = { 0 };
	size_t at = 0;

	while (before.n) {
		size_t n = str_find_char(before, '\n') + 1;
		VEC_ADD(a, &lines) = str_sub(before, 0, n);
		before = str_sub(before, n, SIZE_MAX);
	}
	str_next_line(&rest, &line);
	str_next_line(&rest, &line);
	while (str_next_line(&rest, &line)) {
		int64_t from = 0;
		if (line.p[0] == '@') {
			struct str num = str_sub(line, 4, SIZE_MAX), first;
			bool none = str_find(str_sub(line, 0, str_find_char(line, '+')),
					     STR(",0")) != SIZE_MAX;
			str_next(&num, ' ', &first);
			str_to_int(str_sub(first, 0, str_find_char(first, ',')), &from);
			for (; at + (none ? 0 : 1) < (size_t)from; at++)
				buf_addstr(out, lines.v[at]);
		} else if (line.p[0] == '+') {
			buf_addf(out, STR_FMT "\n", STR_ARG(str_sub(line, 1, SIZE_MAX)));
		} else {
			assert_true(at < lines.n);
			assert_true(str_eq(str_sub(line, 1, SIZE_MAX),
					   str_trim_end(lines.v[at], '\n')));
			if (line.p[0] == ' ')
				buf_addstr(out, lines.v[at]);
			at++;
		}
	}
	for (; at < lines.n; at++)
		buf_addstr(out, lines.v[at]);
}

static void random_texts(void **state)
{
	(void)state;
	rand_seed(7);
	for (int round = 0; round < 300; round++) {
		struct arena *a scoped(arena_freep) = arena_new("diff");
		struct buf x scoped(buf_fini) = { 0 }, y scoped(buf_fini) = { 0 },
			     got scoped(buf_fini) = { 0 };
		const char *diff;
		buf_init(&x, BUF_MAX_DEFAULT);
		buf_init(&y, BUF_MAX_DEFAULT);
		buf_init(&got, BUF_MAX_DEFAULT);
		for (uint64_t i = rand_below(40); i > 0; i--) {
			uint64_t l = rand_below(6);
			if (rand_below(4))
				buf_addf(&x, "%d\n", (int)l);
			if (rand_below(4))
				buf_addf(&y, "%d\n", (int)l);
		}
		diff = diff_unified(a, buf_str(&x), buf_str(&y), "a", "b");
		if (!diff) {
			assert_string_equal(x.p, y.p);
			continue;
		}
		apply(a, buf_str(&x), diff, &got);
		assert_string_equal(got.p, y.p);
	}
	rand_seed(0);
}

static void large_ones_are_bounded(void **state)
{
	struct arena *a scoped(arena_freep) = arena_new("diff");
	struct buf x scoped(buf_fini) = { 0 }, y scoped(buf_fini) = { 0 };
	const char *diff;

	(void)state;
	buf_init(&x, BUF_MAX_DEFAULT);
	buf_init(&y, BUF_MAX_DEFAULT);
	for (int i = 0; i < 20000; i++) {
		buf_addf(&x, "x%d\n", i);
		buf_addf(&y, "y%d\n", i);
	}
	diff = diff_unified(a, buf_str(&x), buf_str(&y), "a", "b");
	assert_true(strlen(diff) <= DIFF_OUT_MAX + 100);
	assert_non_null(strstr(diff, "the rest of the diff is left out"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(large_ones_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
