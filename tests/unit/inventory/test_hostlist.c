/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "inventory/inventory.h"

static struct arena *a;

static int setup(void **state)
{
	(void)state;
	a = arena_new("test");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(a);
	return 0;
}

static const char *joined(const struct names *n)
{
	struct buf b;
	const char *s;

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < n->v.n; i++)
		buf_addf(&b, "%s%s", i ? " " : "", n->v.v[i]);
	s = buf_dup(&b, a);
	buf_fini(&b);
	return s;
}

static const char *expanded(const char *text)
{
	struct names n = { 0 };
	struct err e = { 0 };

	if (hostlist_expand(a, str_of(text), &n, &e) < 0)
		return arena_printf(a, "%d: %s", e.pos.col, e.msg);
	return joined(&n);
}

static void test_expand(void **state)
{
	(void)state;
	assert_string_equal(expanded("a"), "a");
	assert_string_equal(expanded("n[1-3]"), "n1 n2 n3");
	assert_string_equal(expanded("n[001-003,7],x"), "n001 n002 n003 n7 x");
	assert_string_equal(expanded("n[8-10]"), "n8 n9 n10");
	assert_string_equal(expanded("n[08-10].dc1"), "n08.dc1 n09.dc1 n10.dc1");
	assert_string_equal(expanded("r[1-2]n[1-2]"), "r1n1 r1n2 r2n1 r2n2");
	assert_string_equal(expanded("n[0-8/4]"), "n0 n4 n8");
	assert_string_equal(expanded(" a , b "), "a b");
}

static void test_expand_faults(void **state)
{
	(void)state;
	assert_string_equal(expanded(""), "1: a name is missing");
	assert_string_equal(expanded("a,,b"), "3: a name is missing");
	assert_string_equal(expanded("n[1-3"), "2: \"[\" without \"]\"");
	assert_string_equal(expanded("n1]"), "3: \"]\" without \"[\"");
	assert_string_equal(expanded("n[3-1]"), "3: the range runs backwards: \"3-1\"");
	assert_string_equal(expanded("n[01-100]"),
			    "3: both ends must be padded to the same width: \"01-100\"");
	assert_string_equal(expanded("n[]"), "3: a number or range is missing in the brackets");
	assert_string_equal(expanded("a b"), "2: this character cannot be in a name: \" \"");
	assert_string_equal(expanded("n[0-999999999]"), "1: more than 1000000 names");
	assert_string_equal(expanded("n[0-8/0]"), "3: the step must be at least 1: \"0-8/0\"");
	/* 18 times 10^18 and the rest of 2^64: a sum that would come round to nothing */
	struct buf b;
	buf_init(&b, 1000);
	buf_adds(&b, "n[");
	for (int i = 0; i < 18; i++)
		buf_adds(&b, "0-999999999999999999,");
	buf_adds(&b, "0-446744073709551615]");
	assert_string_equal(expanded(b.p), "1: more than 1000000 names");
	buf_fini(&b);
}

static const char *folded(const char *text)
{
	struct names n = { 0 };
	struct err e = { 0 };
	struct buf b;

	assert_int_equal(hostlist_expand(a, str_of(text), &n, &e), 0);
	buf_init(&b, BUF_MAX_DEFAULT);
	hostlist_fold(&b, a, n.v.v, n.v.n);
	const char *s = buf_dup(&b, a);
	buf_fini(&b);
	return s;
}

static void test_fold(void **state)
{
	(void)state;
	assert_string_equal(folded("b,a"), "a,b");
	assert_string_equal(folded("n3,n1,n2"), "n[1-3]");
	assert_string_equal(folded("n001,n002,n003,n004,n007,login1"), "login1,n[001-004,007]");
	assert_string_equal(folded("n9,n10,n11"), "n[9-11]");
	assert_string_equal(folded("n09,n10,n11"), "n[09-11]");
	assert_string_equal(folded("h100-0,h100-1,h100-2"), "h100-[0-2]");
	assert_string_equal(folded("r1n1,r1n2,r2n1,r2n2"), "r[1-2]n[1-2]");
	assert_string_equal(folded("a,a,a"), "a");
	assert_string_equal(folded("n1.dc1,n2.dc1"), "n[1-2].dc1");
}

/* Folding and expanding again gives the same names, at size. */
static void test_round_trip(void **state)
{
	const char *sets[] = { "gpu[0001-9999]", "a[1-5]b[1-5]c[1-5]", "x[1-3,5-7,9],y[01-20],z" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sets); i++) {
		struct names x = { 0 }, y = { 0 };
		struct err e = { 0 };
		const char *text = folded(sets[i]);
		assert_int_equal(hostlist_expand(a, str_of(sets[i]), &x, &e), 0);
		assert_int_equal(hostlist_expand(a, str_of(text), &y, &e), 0);
		assert_int_equal(x.v.n, y.v.n);
		struct map seen;
		map_init(&seen, a);
		for (size_t k = 0; k < x.v.n; k++)
			map_put(&seen, str_of(x.v.v[k]), a);
		for (size_t k = 0; k < y.v.n; k++)
			assert_true(map_has(&seen, str_of(y.v.v[k])));
	}
}

static void test_compare(void **state)
{
	(void)state;
	assert_true(hostlist_compare("gpu9", "gpu10") < 0);
	assert_true(hostlist_compare("gpu1", "gpu01") < 0);
	assert_true(hostlist_compare("a", "b") < 0);
	assert_true(hostlist_compare("a1b", "a1a") > 0);
	assert_int_equal(hostlist_compare("n1", "n1"), 0);
	assert_true(hostlist_compare("n", "n1") < 0);
}

static const char *chosen(const char *expression)
{
	static const char *const all[] = { "login-0", "h100-0", "h100-1",
					   "h100-2",  "gpu001", "gpu002" };
	static const char *const h100[] = { "h100-0", "h100-1", "h100-2" },
				 *const login[] = { "login-0" },
				 *const old[] = { "gpu001", "gpu002" };
	const struct select_group groups[] = { { "login", login, 1 },
					       { "h100", h100, 3 },
					       { "old", old, 2 } };
	struct names n = { 0 };
	struct err e = { 0 };

	if (select_names(a, str_of(expression),
			 &(struct select_from){ all, ARRAY_LEN(all), groups, ARRAY_LEN(groups) },
			 &n, &e) < 0)
		return arena_printf(a, "%d: %s|%s", e.pos.col, e.msg, e.hint);
	return joined(&n);
}

static void test_select(void **state)
{
	(void)state;
	assert_string_equal(chosen(""), "login-0 h100-0 h100-1 h100-2 gpu001 gpu002");
	assert_string_equal(chosen("@all"), "login-0 h100-0 h100-1 h100-2 gpu001 gpu002");
	assert_string_equal(chosen("h100-[0-1],login-0"), "login-0 h100-0 h100-1");
	assert_string_equal(chosen("node.h100[0,2]"), "h100-0 h100-2");
	assert_string_equal(chosen("h100[1]"), "h100-1");
	assert_string_equal(chosen("node.old[gpu002]"), "gpu002");
	assert_string_equal(chosen("@h100!h100-1"), "h100-0 h100-2");
	assert_string_equal(chosen("@h100&h100-[1-2],login-0"), "login-0 h100-1 h100-2");
	assert_string_equal(chosen("gpu*"), "gpu001 gpu002");
	assert_string_equal(chosen("gpu[001-002]"), "gpu001 gpu002");
	assert_string_equal(chosen("!@h100"), "login-0 gpu001 gpu002");
	assert_string_equal(chosen("h100"), "h100-0 h100-1 h100-2");
	assert_string_equal(chosen("h100-3"),
			    "1: no node is named \"h100-3\"|did you mean \"h100-0\"?");
	assert_string_equal(chosen("login-0,@h10"),
			    "9: no pool is named \"h10\"|did you mean \"h100\"?");
	assert_string_equal(chosen("h100[5]"),
			    "6: pool \"h100\" has no node [5]|it has 3, numbered from 0");
	assert_string_equal(chosen("x*"), "1: no node matches \"x*\"|");
	assert_string_equal(chosen("a,"), "1: no node is named \"a\"|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_expand, setup, teardown),
		cmocka_unit_test_setup_teardown(test_expand_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fold, setup, teardown),
		cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
		cmocka_unit_test_setup_teardown(test_compare, setup, teardown),
		cmocka_unit_test_setup_teardown(test_select, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
