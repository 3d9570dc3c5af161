/* SPDX-License-Identifier: Apache-2.0 */
/* Slices, numbers, UTF-8, suggestions, buffers. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/str.h"

#define same(slice, text) assert_true(str_eqc((slice), (text)))

static void comparing(void **state)
{
	(void)state;
	assert_true(str_eq(STR_NONE, STR("")));
	assert_false(str_eqc(STR("ab"), "abc"));
	assert_true(str_eq_nocase(STR("AbZ"), STR("aBz")));
	assert_false(str_eq_nocase(STR("@"), STR("`")));
	assert_true(str_cmp(STR("a"), STR("ab")) < 0);
	assert_true(str_cmp(STR("b"), STR("ab")) > 0);
	assert_true(str_cmp(STR("\xff"), STR("a")) > 0);
	assert_int_equal(str_cmp(STR_NONE, STR("")), 0);
	assert_true(str_starts(STR("abc"), "ab") && str_starts(STR_NONE, ""));
	assert_true(str_ends(STR("abc"), "bc") && !str_ends(STR("c"), "bc"));
	assert_int_equal(str_of(NULL).n, 0);
	assert_true(str_hash(STR("abc")) == str_hash(str_of("abc")));
	assert_true(str_hash(STR("abc")) != str_hash(STR("abd")));
	assert_true(str_hash(STR("abcdefgh")) != str_hash(STR("abcdefgh\0")));
}

static void cutting(void **state)
{
	(void)state;
	same(str_sub(STR("abcdef"), 2, 4), "cd");
	same(str_sub(STR("abcdef"), 2, SIZE_MAX), "cdef");
	same(str_sub(STR("abcdef"), 9, 3), "");
	same(str_sub(STR_NONE, 1, 2), "");
	same(str_trim(STR(" \t a b\r\n")), "a b");
	same(str_trim(STR("  ")), "");
	same(str_trim_end(STR("a//"), '/'), "a");
	assert_int_equal(str_find(STR("hello"), STR("ll")), 2);
	assert_true(str_find(STR("hello"), STR("lol")) == SIZE_MAX);
	assert_int_equal(str_find(STR_NONE, STR("")), 0);
	assert_int_equal(str_find_char(STR("hello"), 'o'), 4);
	assert_true(str_find_char(STR_NONE, 'o') == SIZE_MAX);
}

static void splitting(void **state)
{
	static const struct {
		const char *text, *parts;
	} cases[] = {
		{ "a,b", "[a][b]" }, { "a,,b,", "[a][][b][]" }, { "", "[]" }, { ",", "[][]" }
	};
	static const struct {
		const char *text, *lines;
	} lines[] = {
		{ "a\nb", "[a][b]" }, { "a\r\n\nb\n", "[a][][b]" }, { "", "" }, { "\n", "[]" }
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct str rest = str_of(cases[i].text), part;
		struct buf b;
		buf_init(&b, 100);
		while (str_next(&rest, ',', &part))
			buf_addf(&b, "[" STR_FMT "]", STR_ARG(part));
		assert_string_equal(b.p, cases[i].parts);
		buf_fini(&b);
	}
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct str rest = str_of(lines[i].text), part;
		struct buf b;
		buf_init(&b, 100);
		while (str_next_line(&rest, &part))
			buf_addf(&b, "[" STR_FMT "]", STR_ARG(part));
		assert_string_equal(b.p, lines[i].lines);
		buf_fini(&b);
	}
}

static void integers(void **state)
{
	static const char *const bad[] = { "",
					   "-",
					   "+",
					   "1x",
					   " 1",
					   "1 ",
					   "--1",
					   "0x1",
					   "9223372036854775808",
					   "-9223372036854775809" };
	int64_t i;
	uint64_t u;

	(void)state;
	assert_true(str_to_int(STR("-9223372036854775808"), &i) && i == INT64_MIN);
	assert_true(str_to_int(STR("+9223372036854775807"), &i) && i == INT64_MAX);
	assert_true(str_to_int(STR("007"), &i) && i == 7);
	for (size_t k = 0; k < ARRAY_LEN(bad); k++)
		assert_false(str_to_int(str_of(bad[k]), &i));
	assert_true(str_to_uint(STR("18446744073709551615"), 10, &u) && u == UINT64_MAX);
	assert_false(str_to_uint(STR("18446744073709551616"), 10, &u));
	assert_true(str_to_uint(STR("fF"), 16, &u) && u == 255);
	assert_false(str_to_uint(STR("8"), 8, &u));
	assert_false(str_to_uint(STR("-1"), 10, &u));
}

static void doubles_read(void **state)
{
	static const char *const bad[] = { "",	  ".",	"e5", "1e",    "0x10", "inf",
					   "nan", "1 ", " 1", "1.2.3", "1,5" };
	double d;

	(void)state;
	assert_true(str_to_double(STR("-1.5e3"), &d) && fabs(d + 1500) < DBL_EPSILON);
	assert_true(str_to_double(STR(".5"), &d) && fabs(d - 0.5) < DBL_EPSILON);
	for (size_t k = 0; k < ARRAY_LEN(bad); k++)
		assert_false(str_to_double(str_of(bad[k]), &d));
	assert_false(str_to_double(STR("1\0"), &d));
}

static void doubles_written(void **state)
{
	static const struct {
		double d;
		const char *text;
	} cases[] = {
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 1, "1.0" },
		{ -100, "-100.0" },
		{ 0.1, "0.1" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ 1e15, "1000000000000000.0" },
		{ 9999999999999998.0, "9999999999999998.0" },
		{ 1e16, "1e+16" },
		{ 12345678901234567.0, "1.2345678901234568e+16" },
		{ 0.0001, "0.0001" },
		{ 0.00012345, "0.00012345" },
		{ 0.00001, "1e-05" },
		{ 1.5e-7, "1.5e-07" },
		{ 1e100, "1e+100" },
		{ 5e-324, "5e-324" },
		{ DBL_MAX, "1.7976931348623157e+308" },
		{ -DBL_MIN, "-2.2250738585072014e-308" },
		{ 123.456, "123.456" },
		{ 1e22, "1e+22" },
		{ (double)INFINITY, "inf" },
		{ -(double)INFINITY, "-inf" },
		{ (double)NAN, "nan" },
	};
	char text[STR_DOUBLE_LEN];
	uint64_t bits = 12345;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		str_format_double(cases[i].d, text);
		assert_string_equal(text, cases[i].text);
	}
	for (int i = 0; i < 20000; i++) {
		double d, back;
		bits = bits * 6364136223846793005u + 1442695040888963407u;
		memcpy(&d, &bits, sizeof(d));
		if (!isfinite(d))
			continue;
		str_format_double(d, text);
		assert_true(str_to_double(str_of(text), &back));
		assert_memory_equal(&d, &back, sizeof(d));
	}
}

static void utf8(void **state)
{
	static const char *const good[] = { "",
					    "abc",
					    "\xc3\xa9",
					    "\xe2\x82\xac",
					    "\xf0\x9f\x98\x80",
					    "\xf4\x8f\xbf\xbf",
					    "\xef\xbf\xbf" };
	static const char *const bad[] = { "\x80",
					   "\xc0\x80",
					   "\xc1\xbf",
					   "\xc3",
					   "\xe0\x80\x80",
					   "\xed\xa0\x80",
					   "\xf0\x80\x80\x80",
					   "\xf4\x90\x80\x80",
					   "\xf5\x80\x80\x80",
					   "\xff",
					   "a\xe2\x82",
					   "\xe2(\xa1" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_true(str_is_utf8(str_of(good[i])));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(str_is_utf8(str_of(bad[i])));
	assert_int_equal(str_utf8_len(STR("\xe2\x82\xac!")), 3);
}

static void suggestions(void **state)
{
	static const char *const words[] = { "count",	  "cidr", "provider",
					     "providers", "aws",  "max_unavailable",
					     "subnet" };
	static const struct {
		const char *typed, *meant;
	} cases[] = {
		{ "coutn", "count" },
		{ "conut", "count" },
		{ "cider", "cidr" },
		{ "provder", "provider" },
		{ "provides", "provider" },
		{ "AWS", "aws" },
		{ "asw", "aws" },
		{ "max-unavailable", "max_unavailable" },
		{ "maxunavailble", "max_unavailable" },
		{ "zzz", NULL },
		{ "", NULL },
		{ "x", NULL },
		{ "completely", NULL },
	};
	char longer[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = str_suggest(str_of(cases[i].typed), words, ARRAY_LEN(words));
		if (!cases[i].meant) {
			assert_null(got);
			continue;
		}
		assert_non_null(got);
		assert_string_equal(got, cases[i].meant);
	}
	memset(longer, 'a', sizeof(longer));
	assert_null(str_suggest((struct str){ longer, sizeof(longer) }, words, ARRAY_LEN(words)));
	assert_null(str_suggest(STR("count"), NULL, 0));
}

static void buffers(void **state)
{
	struct arena *a = arena_new("test");
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1000);
	assert_string_equal(b.p, "");
	buf_clear(&b);
	buf_adds(&b, "ab");
	buf_addc(&b, 'c');
	buf_addn(&b, '-', 3);
	buf_addstr(&b, STR("d\0e"));
	buf_addf(&b, "%05d", 42);
	buf_addstr(&b, STR_NONE);
	assert_int_equal(b.n, 14);
	assert_memory_equal(b.p, "abc---d\0e00042", 15);
	assert_memory_equal(buf_dup(&b, a), "abc---d\0e00042", 15);
	buf_truncate(&b, 3);
	assert_string_equal(b.p, "abc");
	buf_truncate(&b, 99);
	assert_int_equal(b.n, 3);
	assert_int_equal(buf_check(&b, &e), 0);
	for (int i = 0; i < 500; i++)
		buf_addf(&b, "%d,", i);
	assert_true(b.overflow);
	assert_true(b.n <= 1000);
	assert_int_equal(buf_check(&b, &e), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_string_equal(e.msg, "more than 1000 bytes");
	buf_clear(&b);
	assert_int_equal(buf_check(&b, &e), 0);
	buf_addn(&b, 'x', 1000);
	assert_false(b.overflow);
	buf_addc(&b, 'x');
	assert_true(b.overflow);
	buf_addc(&b, 'x');
	assert_int_equal(b.n, 1000);
	buf_wipe(&b);
	assert_string_equal(b.p, "");
	buf_adds(&b, "again");
	assert_string_equal(buf_str(&b).p, "again");
	buf_fini(&b);
	buf_fini(&b);
	arena_free(a);
}

static void zeroed_buffers_work(void **state)
{
	struct buf b = { 0 };

	(void)state;
	assert_string_equal(buf_str(&b).p, "");
	buf_truncate(&b, 0);
	buf_adds(&b, "x");
	assert_string_equal(b.p, "x");
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(comparing),	cmocka_unit_test(cutting),
		cmocka_unit_test(splitting),	cmocka_unit_test(integers),
		cmocka_unit_test(doubles_read), cmocka_unit_test(doubles_written),
		cmocka_unit_test(utf8),		cmocka_unit_test(suggestions),
		cmocka_unit_test(buffers),	cmocka_unit_test(zeroed_buffers_work),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
