/* SPDX-License-Identifier: Apache-2.0 */
/* Values: building, paths, merging, equality, and their text as Python shows it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/log.h"
#include "base/value.h"

static struct arena *A;

static int set_up(void **state)
{
	(void)state;
	A = arena_new("test");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	arena_freep(&A);
	scrub_reset();
	return 0;
}

static struct value *json(const char *text)
{
	struct value *v = NULL;
	struct err e;

	if (json_parse(A, "test", str_of(text), &v, &e) != 0)
		fail_msg("%s: %s", text, e.msg);
	return v;
}

static void prints(const struct value *v, const char *want)
{
	struct buf b;

	buf_init(&b, 10000);
	value_print(&b, v);
	assert_string_equal(b.p, want);
	buf_fini(&b);
}

static void paths_and_defaults(void **state)
{
	struct value *v =
		json("{\"a\":{\"b\":[{\"c\":7},{\"c\":8}]},\"s\":\"x\",\"t\":true,\"\":1}");

	(void)state;
	assert_int_equal(value_path(v, "a.b.1.c")->i, 8);
	assert_null(value_path(v, "a.b.2.c"));
	assert_null(value_path(v, "a.b.x"));
	assert_null(value_path(v, "s.x"));
	assert_null(value_path(NULL, "s"));
	assert_int_equal(value_path(v, "")->i, 1);
	assert_true(str_eqc(value_get_str(v, "s", "y"), "x"));
	assert_true(str_eqc(value_get_str(v, "t", "y"), "y"));
	assert_true(str_eqc(value_get_str(v, "nope", NULL), ""));
	assert_int_equal(value_get_int(v, "", 5), 1);
	assert_int_equal(value_get_int(v, "s", 5), 5);
	assert_true(value_get_bool(v, "t", false));
	assert_true(value_get_bool(v, "s", true));
	assert_null(value_get(value_int(A, 3), "x"));
	assert_null(value_get(NULL, "x"));
}

static void copies_are_deep(void **state)
{
	struct arena *other = arena_new("other");
	struct value *v = json("{\"a\":[1,{\"b\":\"text\"}],\"c\":null}");
	struct value *c = value_copy(other, v);

	(void)state;
	assert_true(value_equal(v, c));
	value_set(value_path(v, "a.1"), "b", value_cstr(A, "changed"));
	assert_false(value_equal(v, c));
	arena_reset(A);
	prints(c, "{'a': [1, {'b': 'text'}], 'c': None}");
	value_add(other, value_get(c, "a"), value_null(other)); /* a copy can grow */
	prints(c, "{'a': [1, {'b': 'text'}, None], 'c': None}");
	arena_free(other);
}

static void merging(void **state)
{
	struct value *under = json("{\"a\":{\"x\":1,\"y\":{\"p\":1}},\"b\":[1],\"c\":3}");
	struct value *over = json("{\"b\":[2],\"a\":{\"y\":{\"q\":2}},\"d\":4}");

	(void)state;
	prints(value_merge(A, under, over, true),
	       "{'a': {'x': 1, 'y': {'p': 1, 'q': 2}}, 'b': [2], 'c': 3, 'd': 4}");
	prints(value_merge(A, under, over, false),
	       "{'a': {'y': {'q': 2}}, 'b': [2], 'c': 3, 'd': 4}");
	prints(under, "{'a': {'x': 1, 'y': {'p': 1}}, 'b': [1], 'c': 3}");
	prints(value_merge(A, NULL, over, true), "{'b': [2], 'a': {'y': {'q': 2}}, 'd': 4}");
	assert_ptr_equal(value_merge(A, under, NULL, true), under);
	assert_int_equal(value_merge(A, under, value_int(A, 3), true)->i, 3);
}

static void equality(void **state)
{
	static const struct {
		const char *a, *b;
		bool equal;
	} cases[] = {
		{ "1", "1.0", true },
		{ "1", "true", false },
		{ "0", "false", false },
		{ "null", "null", true },
		{ "null", "false", false },
		{ "\"a\"", "\"a\"", true },
		{ "\"1\"", "1", false },
		{ "[1,2]", "[1,2]", true },
		{ "[1,2]", "[2,1]", false },
		{ "[1]", "[1,2]", false },
		{ "{\"a\":1,\"b\":2}", "{\"b\":2,\"a\":1.0}", true },
		{ "{\"a\":1}", "{\"b\":1}", false },
		{ "{\"a\":1}", "{\"a\":1,\"b\":1}", false },
		{ "9007199254740993", "9007199254740992.0", false },
		{ "9223372036854775807", "9223372036854775808.0", false },
		{ "1.5", "1.5", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value *a = json(cases[i].a), *b = json(cases[i].b);
		if (value_equal(a, b) != cases[i].equal || value_equal(b, a) != cases[i].equal)
			fail_msg("%s and %s", cases[i].a, cases[i].b);
	}
	assert_false(value_equal(value_unknown(A), value_unknown(A)));
	assert_false(value_equal(value_float(A, (double)NAN), value_float(A, (double)NAN)));
}

static void truth(void **state)
{
	static const char *const yes[] = { "true", "1", "-1", "0.5", "\"0\"", "[0]", "{\"a\":0}" };
	static const char *const no[] = { "false", "null", "0", "0.0", "\"\"", "[]", "{}" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(value_is_truthy(json(yes[i])));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(value_is_truthy(json(no[i])));
}

/* The expectations were printed by Python 3. */
static void text_as_python(void **state)
{
	struct value *l = value_list(A);

	(void)state;
	prints(value_null(A), "None");
	prints(value_bool(A, true), "True");
	prints(value_int(A, INT64_MIN), "-9223372036854775808");
	prints(value_float(A, 1e16), "1e+16");
	prints(value_float(A, 2), "2.0");
	prints(value_cstr(A, "it's \"x\"\n"), "it's \"x\"\n");
	prints(value_unknown(A), "(known after apply)");
	prints(json("[]"), "[]");
	prints(json("{}"), "{}");
	prints(json("{\"a\":[1,2.5,true,null,\"x\"],\"b\":{\"c\":{}}}"),
	       "{'a': [1, 2.5, True, None, 'x'], 'b': {'c': {}}}");
	value_add(A, l, value_cstr(A, "it's"));
	value_add(A, l, value_cstr(A, "say \"it's\""));
	value_add(A, l, value_cstr(A, "back\\slash\n\r\t\x01\x7f"));
	value_add(A, l, value_cstr(A, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
	value_add(A, l, value_cstr(A, "\xc2\xa0\xc2\xad\xe2\x80\xa8\xef\xbb\xbf"));
	value_add(A, l, value_str(A, STR("nul\0")));
	prints(l,
	       "[\"it's\", 'say \"it\\'s\"', 'back\\\\slash\\n\\r\\t\\x01\\x7f', '\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80', "
	       "'\\xa0\\xad\\u2028\\ufeff', 'nul\\x00']");
}

static void secrets(void **state)
{
	struct value *m = value_map(A), *s = value_secret(A, value_cstr(A, "hunter22"));
	struct buf b;

	(void)state;
	value_set(m, "user", value_cstr(A, "root"));
	value_set(m, "password", s);
	prints(m, "{'user': 'root', 'password': (sensitive)}");
	prints(s, "(sensitive)");
	assert_true(value_has_secret(m));
	assert_false(m->secret);
	buf_init(&b, 1000);
	value_reveal(&b, m);
	assert_string_equal(b.p, "{'user': 'root', 'password': 'hunter22'}");
	buf_wipe(&b);
	scrub(&b, STR("a hunter22 b")); /* registered by value_secret */
	assert_string_equal(b.p, "a (sensitive) b");
	buf_fini(&b);
}

static void secret_trees_are_registered(void **state)
{
	struct value *s = value_secret(A, json("{\"k\":[\"first-secret\",12345678]}"));
	struct buf b;

	(void)state;
	prints(s, "(sensitive)");
	buf_init(&b, 1000);
	scrub(&b, STR("first-secret 12345678 k"));
	assert_string_equal(b.p, "(sensitive) (sensitive) k");
	buf_fini(&b);
	assert_false(value_has_secret(json("{\"k\":[1]}")));
}

static void unknowns(void **state)
{
	struct value *m = json("{\"a\":[{}]}");

	(void)state;
	assert_false(value_has_unknown(m));
	value_set(value_path(m, "a.0"), "x", value_unknown(A));
	assert_true(value_has_unknown(m));
	prints(m, "{'a': [{'x': (known after apply)}]}");
}

static void long_formatted_text(void **state)
{
	(void)state;
	assert_int_equal(value_strf(A, "%3000d", 1)->s.n, 3000);
	assert_string_equal(value_strf(A, "%s-%d", "a", 1)->s.p, "a-1");
	assert_string_equal(value_kind_name(V_INT), "an integer");
}

static void marking_unsafe_is_deep(void **state)
{
	struct value *v = value_map(A), *l = value_list(A), *text = value_cstr(A, "{{ x }}");

	(void)state;
	value_add(A, l, value_int(A, 1));
	value_add(A, l, text);
	value_set(v, "{{ key }}", l);
	value_mark_unsafe(v);
	assert_true(v->unsafe); /* its keys */
	assert_true(text->unsafe);
	assert_false(l->list.v[0]->unsafe);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(paths_and_defaults, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copies_are_deep, set_up, tear_down),
		cmocka_unit_test_setup_teardown(merging, set_up, tear_down),
		cmocka_unit_test_setup_teardown(equality, set_up, tear_down),
		cmocka_unit_test_setup_teardown(truth, set_up, tear_down),
		cmocka_unit_test_setup_teardown(text_as_python, set_up, tear_down),
		cmocka_unit_test_setup_teardown(secrets, set_up, tear_down),
		cmocka_unit_test_setup_teardown(secret_trees_are_registered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(unknowns, set_up, tear_down),
		cmocka_unit_test_setup_teardown(long_formatted_text, set_up, tear_down),
		cmocka_unit_test_setup_teardown(marking_unsafe_is_deep, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
