/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: reading with positions and bounds, writing with secrets, order and floats kept. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/log.h"

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

static struct value *parse(const char *text)
{
	struct value *v = NULL;
	struct err e;

	if (json_parse(A, "test", str_of(text), &v, &e) != 0)
		fail_msg("%s: %s", text, e.msg);
	return v;
}

static void writes(const struct value *v, unsigned flags, const char *want)
{
	struct buf b;

	buf_init(&b, 10000);
	json_write(&b, v, flags);
	assert_string_equal(b.p, want);
	buf_fini(&b);
}

static void round_trips(void **state)
{
	static const char *const texts[] = {
		"null",
		"true",
		"0",
		"-9223372036854775808",
		"1.0",
		"0.1",
		"1e+300",
		"\"\"",
		"[]",
		"{}",
		"{\"z\":1,\"a\":[1,2.5,\"x\",null,false,{\"b\":{}}],\"m\":\"\xc3\xa9\"}",
		"\"\\\"\\\\\\n\\r\\t\\u0001\\u0000\\u007f\"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		writes(parse(texts[i]), 0, texts[i]);
	writes(parse(" { \"a\" : [ 1 , 2 ] } \n"), 0, "{\"a\":[1,2]}");
	writes(parse("\"\\u00e9\\ud83d\\ude00\""), 0, "\"\xc3\xa9\xf0\x9f\x98\x80\"");
	assert_int_equal(parse("1")->kind, V_INT);
	assert_int_equal(parse("1.0")->kind, V_FLOAT);
}

static void pretty_and_sorted(void **state)
{
	struct value *v = parse("{\"b\":[1,{\"x\":null}],\"a\":{},\"B\":[]}");

	(void)state;
	writes(v, JSON_PRETTY,
	       "{\n  \"b\": [\n    1,\n    {\n      \"x\": null\n    }\n  ],\n  \"a\": {},\n  \"B\": []\n}\n");
	writes(v, JSON_SORT, "{\"B\":[],\"a\":{},\"b\":[1,{\"x\":null}]}");
	writes(value_null(A), JSON_PRETTY, "null\n");
}

static void secrets_and_odd_values(void **state)
{
	struct value *m = value_map(A);

	(void)state;
	value_set(m, "p", value_secret(A, value_cstr(A, "hunter22")));
	value_set(m, "u", value_unknown(A));
	value_set(m, "i", value_float(A, (double)INFINITY));
	writes(m, 0, "{\"p\":\"(sensitive)\",\"u\":null,\"i\":null}");
	writes(m, JSON_REVEAL, "{\"p\":\"hunter22\",\"u\":null,\"i\":null}");
	writes(value_cstr(A, "a\xff"
			     "b\xe2\x82"),
	       0,
	       "\"a\xef\xbf\xbd"
	       "b\xef\xbf\xbd\xef\xbf\xbd\"");
}

static void faults_have_positions(void **state)
{
	static const struct {
		const char *text;
		int line, col;
		const char *says;
	} cases[] = {
		{ "", 1, 1, "not valid JSON" },
		{ "{\n  \"a\": 1,\n  \"b\": x\n}", 3, 8, "not valid JSON" },
		{ "{\"a\":1,\"a\":2}", 1, 8, "duplicate" },
		{ "[1,2", 1, 4, "end of file" },
		{ "{\"a\" 1}", 1, 6, "':' expected" },
		{ "[1] x", 1, 5, "end of file expected" },
		{ "\"\xff\"", 1, 2, "byte 0xff" },
		{ "99999999999999999999", 1, 1, "too big" },
		{ "1e999", 1, 1, "overflow" },
		{ "\"a\nb\"", 1, 1, "unexpected newline" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct value *v = NULL;
		struct err e;
		assert_int_equal(json_parse(A, "f.json", str_of(cases[i].text), &v, &e), -1);
		assert_int_equal(e.kind, ERR_SPEC);
		assert_string_equal(e.pos.file, "f.json");
		if (!strstr(e.msg, cases[i].says) || e.pos.line != cases[i].line ||
		    e.pos.col != cases[i].col)
			fail_msg("%s: %d:%d %s", cases[i].text, e.pos.line, e.pos.col, e.msg);
		assert_null(v);
	}
}

static void depth_is_bounded(void **state)
{
	struct value *v;
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1000000);
	buf_addn(&b, '[', 64);
	buf_addn(&b, ']', 64);
	assert_int_equal(json_parse(A, "t", buf_str(&b), &v, &e), 0);
	buf_clear(&b);
	buf_addc(&b, '\n');
	buf_addn(&b, '[', 100000);
	assert_int_equal(json_parse(A, "t", buf_str(&b), &v, &e), -1);
	assert_int_equal(e.pos.line, 2);
	assert_int_equal(e.pos.col, 65);
	assert_non_null(strstr(e.msg, "64 deep"));
	buf_fini(&b);
	v = parse(
		"\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\\\"[[[[[\"");
	assert_int_equal(v->kind, V_STR);
}

#define json_test(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		json_test(round_trips),
		json_test(pretty_and_sorted),
		json_test(secrets_and_odd_values),
		json_test(faults_have_positions),
		json_test(depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
