/* SPDX-License-Identifier: Apache-2.0 */
/* Widths of texts on a terminal, and the rows of the live region. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/region.h"
#include "cli/view.h"
#include "cli/width.h"

static const struct {
	const char *text;
	size_t width;
} widths[] = {
	{ "", 0 },
	{ "gpu-17", 6 },
	{ "é", 1 },	    /* one code point */
	{ "e\xCC\x81", 1 }, /* e and a combining accent */
	{ "日本", 4 },
	{ "한글", 4 },
	{ "ﾊﾝ", 2 },		   /* half-width */
	{ "\xF0\x9F\x9A\x80", 2 }, /* a rocket */
	{ "a\xE2\x80\x8B"
	  "b",
	  2 },		    /* zero width space */
	{ "\xFF\xFEx", 3 }, /* broken: a column a byte */
	{ "→…", 2 },
};

static void widths_are_those_of_a_terminal(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_LEN(widths); i++)
		assert_int_equal(text_width(str_of(widths[i].text)), widths[i].width);
}

static const struct {
	const char *text;
	size_t columns;
	const char *cut;
} cuts[] = {
	{ "gpu-17", 6, "gpu-17" },
	{ "gpu-17", 5, "gpu-…" },
	{ "gpu-17", 1, "…" },
	{ "gpu-17", 0, "" },
	{ "", 0, "" },
	{ "日本語", 6, "日本語" },
	{ "日本語", 5, "日本…" },
	{ "日本語", 4, "日…" }, /* a wide one that would stand across the edge */
	{ "ae\xCC\x81"
	  "bc",
	  3, "ae\xCC\x81…" },
};

static void cuts_fit(void **state unused_arg)
{
	for (size_t i = 0; i < ARRAY_LEN(cuts); i++) {
		scoped(buf_fini) struct buf b = { 0 };

		buf_init(&b, 100);
		text_cut(&b, str_of(cuts[i].text), cuts[i].columns);
		assert_string_equal(b.p, cuts[i].cut);
		assert_true(text_width(buf_str(&b)) <= cuts[i].columns);
	}
}

static void draw(struct region *r, struct buf *out, size_t columns, size_t height)
{
	buf_clear(out);
	r->columns = columns;
	r->height = height;
	region_erase(r, out);
	region_row(r, out, STR("twelve chars"));
	region_row(r, out, STR("two"));
}

static void rows_are_drawn_over(void **state unused_arg)
{
	struct region r = { 0 };
	scoped(buf_fini) struct buf out = { 0 };

	buf_init(&out, 1000);
	draw(&r, &out, 20, 10);
	assert_string_equal(out.p, "twelve chars\ntwo\n");
	draw(&r, &out, 20, 10);
	assert_string_equal(out.p, "\r\033[2A\033[Jtwelve chars\ntwo\n");
	/* narrower: the first row now takes three lines, which go too */
	draw(&r, &out, 5, 10);
	assert_string_equal(out.p, "\r\033[4A\033[Jtwe…\ntwo\n");
	/* lower: one row, and the cursor's line */
	draw(&r, &out, 20, 2);
	assert_string_equal(out.p, "\r\033[2A\033[Jtwelve chars\n");
	buf_clear(&out);
	region_erase(&r, &out);
	assert_string_equal(out.p, "\r\033[1A\033[J");
	buf_clear(&out);
	region_erase(&r, &out);
	assert_string_equal(out.p, "");
}

static void nothing_steers_the_terminal(void **state unused_arg)
{
	static const struct {
		const char *text, *plain;
	} cases[] = {
		{ "\033[2Jx", "?[2Jx" },
		{ "a\rb\x7f", "a?b?" },
		{ "\xC2\x9B"
		  "31m",
		  "??31m" }, /* C1: another way to say ESC [ */
		{ "abc\xE2\x80\xAE"
		  "def",
		  "abc?def" }, /* from here on right to left */
		{ "\xE2\x81\xA6x\xE2\x81\xA9", "?x?" },
		{ "日本 é →", "日本 é →" },
		{ "two\nlines\tand a tab", "two\nlines\tand a tab" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		scoped(buf_fini) struct buf b = { 0 };

		buf_init(&b, 100);
		view_plain(&b, str_of(cases[i].text));
		assert_string_equal(b.p, cases[i].plain);
	}
}

static void causes_are_alike(void **state unused_arg)
{
	static const struct {
		const char *msg, *node, *addr, *cause;
	} cases[] = {
		{ "no room for gpu-1", "gpu-1", "node.gpu[1]", "no room for NODE" },
		{ "no room for gpu-17", "gpu-1", "node.gpu[1]", "no room for gpu-17" },
		{ "my-gpu-1: lost", "gpu-1", NULL, "my-gpu-1: lost" },
		{ "creating node.gpu[1]: gpu-1", "gpu-1", "node.gpu[1]", "creating NODE: NODE" },
		{ "lost", NULL, NULL, "lost" },
		{ "lost", "", "", "lost" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		scoped(buf_fini) struct buf b = { 0 };

		buf_init(&b, 100);
		view_cause(&b, cases[i].msg, cases[i].node, cases[i].addr);
		assert_string_equal(b.p, cases[i].cause);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widths_are_those_of_a_terminal),
		cmocka_unit_test(cuts_fit),
		cmocka_unit_test(rows_are_drawn_over),
		cmocka_unit_test(nothing_steers_the_terminal),
		cmocka_unit_test(causes_are_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
