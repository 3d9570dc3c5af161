/* SPDX-License-Identifier: Apache-2.0 */
/* YAML: both dialects, positions, every refusal with place and hint, bounds, writing that reads
 * back. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/yaml.h"

static struct arena *A;
static struct err_list faults;

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
	err_list_fini(&faults);
	return 0;
}

static struct value *parse_as(enum yaml_dialect dialect, struct str text)
{
	struct value *v = NULL;

	if (yaml_parse(A, "t.yaml", text, dialect, &v, &faults) != 0)
		fail_msg(STR_FMT ": %d:%d %s", STR_ARG(text), faults.v[0].pos.line,
			 faults.v[0].pos.col, faults.v[0].msg);
	assert_non_null(v);
	return v;
}

static struct value *parse(const char *text)
{
	return parse_as(YAML_SPEC, str_of(text));
}

struct scalar {
	const char *yaml, *json;
};

static void scalars_are(enum yaml_dialect dialect, const struct scalar *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct value *v = parse_as(dialect, str_of(cases[i].yaml));
		struct buf b;
		buf_init(&b, 1000);
		json_write(&b, v, 0);
		if (strcmp(b.p, cases[i].json) != 0)
			fail_msg("%s is %s, not %s", cases[i].yaml, b.p, cases[i].json);
		buf_fini(&b);
	}
}

static void core_scalars(void **state)
{
	static const struct scalar cases[] = {
		{ "", "null" },
		{ "~", "null" },
		{ "Null", "null" },
		{ "nULL", "\"nULL\"" },
		{ "true", "true" },
		{ "FALSE", "false" },
		{ "tRue", "\"tRue\"" },
		{ "0", "0" },
		{ "-17", "-17" },
		{ "+3", "3" },
		{ "0o17", "15" },
		{ "0xfF", "255" },
		{ "0o8", "\"0o8\"" },
		{ "0xg", "\"0xg\"" },
		{ "9223372036854775807", "9223372036854775807" },
		{ "-9223372036854775808", "-9223372036854775808" },
		{ "1.", "1.0" },
		{ ".5", "0.5" },
		{ "-1.5e3", "-1500.0" },
		{ "1e3", "1000.0" },
		{ "+12.25E-1", "1.225" },
		{ ".", "\".\"" },
		{ "1e", "\"1e\"" },
		{ "e3", "\"e3\"" },
		{ "1.2.3", "\"1.2.3\"" },
		{ "0.0.0.0/0", "\"0.0.0.0/0\"" },
		{ "1000 GiB", "\"1000 GiB\"" },
		{ "30m", "\"30m\"" },
		{ "2026-11-30", "\"2026-11-30\"" },
		{ "8080:80", "\"8080:80\"" },
		{ "00:1b:44:11:3a:b7", "\"00:1b:44:11:3a:b7\"" },
		{ "::1", "\"::1\"" },
		{ "fe80::1", "\"fe80::1\"" },
		{ "a_b", "\"a_b\"" },
		{ "_1", "\"_1\"" },
		{ "yesterday", "\"yesterday\"" },
		{ "\"yes\"", "\"yes\"" },
		{ "'012'", "\"012\"" },
		{ "\"\"", "\"\"" },
		{ "!!str 12", "\"12\"" },
		{ "!!str yes", "\"yes\"" },
		{ "! 12", "\"12\"" },
		{ "!!int 12", "12" },
		{ "!!int \"12\"", "12" },
		{ "!!float 12", "12.0" },
		{ "!!null ''", "null" },
		{ "!!bool true", "true" },
		{ "|\n a\n b\n", "\"a\\nb\\n\"" },
		{ ">-\n a\n b\n", "\"a b\"" },
		{ "{a: 1, b: [x, {c: null}]}", "{\"a\":1,\"b\":[\"x\",{\"c\":null}]}" },
		{ "\xef\xbb\xbf"
		  "a: 1",
		  "{\"a\":1}" },
		{ "a: 1\r\nb: 2\r\n", "{\"a\":1,\"b\":2}" },
		{ "# only a comment\n", "null" },
		{ "--- 5\n...\n", "5" },
		{ "on: 1\nyes: 2\nno: 3\n22: x\ny: 4\nn: 5",
		  "{\"on\":1,\"yes\":2,\"no\":3,\"22\":\"x\",\"y\":4,\"n\":5}" },
		{ "\"true\": 1\n\"\": 2", "{\"true\":1,\"\":2}" },
	};

	(void)state;
	scalars_are(YAML_SPEC, cases, ARRAY_LEN(cases));
	assert_true(isinf(parse("-.inf")->f) && parse("-.INF")->f < 0);
	assert_true(isnan(parse(".nan")->f));
}

/* The expectations were printed by PyYAML's safe loader. */
static void scalars_as_pyyaml(void **state)
{
	static const struct scalar cases[] = {
		{ "yes", "true" },
		{ "No", "false" },
		{ "ON", "true" },
		{ "off", "false" },
		{ "y", "\"y\"" },
		{ "yES", "\"yES\"" },
		{ "0644", "420" },
		{ "-010", "-8" },
		{ "08", "\"08\"" },
		{ "0o17", "\"0o17\"" },
		{ "0x1F", "31" },
		{ "0b101", "5" },
		{ "1_000", "1000" },
		{ "0_7", "7" },
		{ "+5", "5" },
		{ "1:30", "90" },
		{ "-1:30", "-90" },
		{ "190:20:30", "685230" },
		{ "1:30.5", "90.5" },
		{ "0:30", "\"0:30\"" },
		{ "1:60", "\"1:60\"" },
		{ "1.5", "1.5" },
		{ "1.", "1.0" },
		{ ".5", "0.5" },
		{ "1e3", "\"1e3\"" },
		{ "1.5e3", "\"1.5e3\"" },
		{ "1.5e+3", "1500.0" },
		{ "6.02E+2", "602.0" },
		{ "1_0.5", "10.5" },
		{ "1.2.3", "\"1.2.3\"" },
		{ "12345678901234567890123", "\"12345678901234567890123\"" },
		{ "~", "null" },
		{ "true: 1\n1: 2\n1.5: 3\nyes: 4\nnull: 5",
		  "{\"true\":1,\"1\":2,\"1.5\":3,\"yes\":4,\"null\":5}" },
		{ "!unsafe '{{ x }}'", "\"{{ x }}\"" },
		{ "!unsafe 12", "\"12\"" },
	};

	(void)state;
	scalars_are(YAML_ANSIBLE, cases, ARRAY_LEN(cases));
}

static void unsafe_is_marked(void **state)
{
	struct value *v = parse_as(YAML_ANSIBLE,
				   STR("a: !unsafe x\nb: y\nc: !unsafe [p, {q: r}]\nd: z"));

	(void)state;
	assert_true(value_get(v, "a")->unsafe);
	assert_false(value_get(v, "b")->unsafe);
	assert_true(value_path(v, "c.0")->unsafe);
	assert_true(value_path(v, "c.1.q")->unsafe);
	assert_false(value_get(v, "d")->unsafe);
}

struct refusal {
	const char *yaml;
	int line, col;
	const char *says, *hint;
};

static void refuses(enum yaml_dialect dialect, const struct refusal *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct refusal *c = &cases[i];
		struct value *v = NULL;
		const struct err *e;
		err_list_fini(&faults);
		if (yaml_parse(A, "t.yaml", str_of(c->yaml), dialect, &v, &faults) != -1)
			fail_msg("taken: %s", c->yaml);
		assert_true(faults.n >= 1);
		e = &faults.v[0];
		assert_int_equal(e->kind, ERR_SPEC);
		assert_string_equal(e->pos.file, "t.yaml");
		if (e->pos.line != c->line || e->pos.col != c->col || !strstr(e->msg, c->says) ||
		    !strstr(e->hint, c->hint) || !e->hint[0])
			fail_msg("%s\n%d:%d: %s\nhint: %s", c->yaml, e->pos.line, e->pos.col,
				 e->msg, e->hint);
	}
}

static void traps_of_the_spec(void **state)
{
	static const struct refusal cases[] = {
		{ "a: yes", 1, 4, "'yes' is a boolean",
		  "did you mean true? write true, or quote it: \"yes\"" },
		{ "a: No", 1, 4, "'No' is a boolean", "write false" },
		{ "- on", 1, 3, "'on' is a boolean", "write true" },
		{ "a: [x, OFF]", 1, 8, "'OFF' is a boolean", "write false" },
		{ "a: y", 1, 4, "'y' is a boolean", "write true" },
		{ "a: N", 1, 4, "'N' is a boolean", "write false" },
		{ "a: 012", 1, 4, "'012' begins with 0",
		  "write 0o12 for octal, 12 for decimal, or quote it: \"012\"" },
		{ "a: 089", 1, 4, "'089' begins with 0", "write 89, or quote it" },
		{ "a: 00", 1, 4, "'00' begins with 0", "0o0" },
		{ "a: -07", 1, 4, "'-07' begins with 0", "leave the zeros out" },
		{ "a: 1:30", 1, 4, "base 60", "quote it if it is a text: \"1:30\"" },
		{ "a: 1:30:59", 1, 4, "base 60", "\"1:30:59\"" },
		{ "a: 1:30.5", 1, 4, "base 60", "\"1:30.5\"" },
		{ "a: 1_000", 1, 4, "'1_000' is a number", "plain digits" },
		{ "a: 1_0.5", 1, 4, "'1_0.5' is a number", "plain digits" },
		{ "a: 0x_ff", 1, 4, "'0x_ff' is a number", "plain digits" },
		{ "a: 0b101", 1, 4, "binary", "plain digits" },
		{ "a: 99999999999999999999", 1, 4, "64 bits", "quote it" },
		{ "a: 0xfffffffffffffffff", 1, 4, "64 bits", "quote it" },
		{ "a: 1e999", 1, 4, "too large", "quote it" },
		{ "1.5: x", 1, 1, "the key is a number", "quote the key" },
		{ "true: x", 1, 1, "the key is a boolean", "quote the key" },
		{ "~: x", 1, 1, "the key is null", "quote the key" },
		{ "a: 1\n? ~\n: x", 2, 3, "the key is null", "quote the key" },
		{ "a: !unsafe x", 1, 4, "the tag !unsafe is not known", "remove the tag" },
		{ "a: !!int x", 1, 4, "'x' is not an integer", "correct the value" },
		{ "a: !!map x", 1, 4, "does not fit", "remove the tag" },
		{ "a: !!str [x]", 1, 4, "does not fit a list", "remove the tag" },
		{ "a: !!int {x: 1}", 1, 4, "does not fit a map", "remove the tag" },
	};

	(void)state;
	refuses(YAML_SPEC, cases, ARRAY_LEN(cases));
}

static void refused_in_both(void **state)
{
	static const struct refusal cases[] = {
		{ "a: 1\nb: 2\na: 3", 3, 1, "the key 'a' is there twice, first in line 1 column 1",
		  "merge" },
		{ "a: {x: 1, x: 2}", 1, 11, "first in line 1 column 5", "remove" },
		{ "a: *nope", 1, 4, "the alias *nope is not defined", "&name" },
		{ "a: &x [1, *x]", 1, 11, "inside its own anchor", "take the alias out" },
		{ "a: !foo x", 1, 4, "the tag !foo is not known", "remove the tag" },
		{ "{a: 1}: x", 1, 1, "a map cannot be a key", "quote" },
		{ "? [a]\n: x", 1, 3, "a list cannot be a key", "quote" },
		{ "a: &n 5\n*n : x", 2, 1, "an integer cannot be a key", "write the key out" },
		{ "<<: 5", 1, 5, "'<<' takes a map", "<<: *name" },
		{ "<<: [5]", 1, 5, "'<<' takes a map", "<<: *name" },
		{ "a: 1\n---\nb: 2", 2, 1, "a second document", "file of its own" },
		{ "a:\n\tb: 1", 2, 1, "a tab is used for indentation", "indent with blanks" },
		{ "a:\n  b: 1\n\tc: 2", 3, 1, "a tab is used for indentation",
		  "indent with blanks" },
		{ "a: x: y", 1, 5, "a ':' is not allowed here", "quote" },
		{ "a: 1\n  b: 2", 2, 4, "a ':' is not allowed here", "indent" },
		{ "a: [1, 2\nb: 3", 2, 2, "the list that begins with '[' in line 1", "']'" },
		{ "a: {b: 1\nc: 3", 2, 2, "the map that begins with '{' in line 1", "'}'" },
		{ "a: \"x\nb: 1", 1, 4, "this quote is never closed", "the same quote" },
		{ "a: 'it's'", 1, 8, "", "" },
		{ "a: \"\\q\"", 1, 5, "no such escape", "single quotes" },
		{ "a: @x", 1, 4, "cannot begin a value", "quote" },
		{ "a: %x", 1, 4, "cannot begin a value", "quote" },
		{ "a: `x`", 1, 4, "cannot begin a value", "quote" },
		{ "a: *", 1, 5, "'*' begins an alias", "quote" },
		{ "- a\nb: 1", 2, 1, "the list that begins in line 1", "indent" },
		{ "a: 1\n- b", 2, 1, "the map that begins in line 1", "indent" },
		{ "key\nother: 1", 2, 6, "a ':' is not allowed here", "the line above" },
		{ "a: - b", 1, 4, "a list item '- ' is not allowed here", "new line" },
		{ "a: {{ x }}", 1, 5, "a map cannot be a key", "quote" },
		{ "a: \xc3\xa9\xff", 1, 6, "byte 0xff is not UTF-8", "UTF-8" },
		{ "a: 1\nb: \x01", 2, 4, "a control character (0x01)", "escape" },
		{ "a: \xe2\x80\xa8", 1, 4, "a control character", "escape" },
		{ "\xc3\xa9\xc3\xa9: *x", 1, 7, "the alias *x is not defined", "&name" },
	};

	(void)state;
	refuses(YAML_SPEC, cases, ARRAY_LEN(cases));
	refuses(YAML_ANSIBLE, cases, ARRAY_LEN(cases));
}

static void vault_is_refused_with_its_place(void **state)
{
	static const struct refusal cases[] = {
		{ "a: !vault |\n  $ANSIBLE_VAULT;1.1;AES256\n  6162", 1, 4,
		  "!vault are not supported yet", "another way" },
	};

	(void)state;
	refuses(YAML_ANSIBLE, cases, ARRAY_LEN(cases));
}

static void all_faults_in_one_run(void **state)
{
	struct value *v = NULL;

	(void)state;
	assert_int_equal(
		yaml_parse(A, "t", STR("a: yes\nb: 012\na: 1\nc: *x\nd: [on, {e: off}]\nf: \"open"),
			   YAML_SPEC, &v, &faults),
		-1);
	assert_int_equal(faults.n, 7);
	assert_int_equal(faults.v[0].pos.line, 1);
	assert_int_equal(faults.v[5].pos.col, 13);
	assert_int_equal(faults.v[6].pos.line, 6); /* the syntax fault, last */
	assert_null(v);
}

static void the_rest_of_a_faulty_document_is_given(void **state)
{
	struct value *v = NULL;

	(void)state;
	assert_int_equal(yaml_parse(A, "t",
				    STR("a: yes\nb: 2\nb: 3\nc: [*x, !foo z]\n*y : 4\n<<: *z"),
				    YAML_SPEC, &v, &faults),
			 -1);
	assert_int_equal(faults.n, 6); /* each once, though one thing leads to another */
	assert_int_equal(value_get(v, "a")->kind, V_UNKNOWN);
	assert_int_equal(value_get_int(v, "b", 0), 2);
	assert_int_equal(value_path(v, "c.0")->kind, V_UNKNOWN);
	assert_true(str_eqc(value_path(v, "c.1")->s, "z"));
	assert_int_equal(v->map.n, 3);
}

static void positions(void **state)
{
	struct value *v = parse(
		"a: 1\nb:\n  - x\n  - {k: v}\nc: \"\xc3\xa9\"\n\xc3\xa9: [\xe2\x82\xac, z]\n");

	(void)state;
	assert_int_equal(v->pos.line, 1);
	assert_int_equal(value_get(v, "a")->pos.col, 4);
	assert_int_equal(value_path(v, "b.0")->pos.line, 3);
	assert_int_equal(value_path(v, "b.0")->pos.col, 5);
	assert_int_equal(value_path(v, "b.1.k")->pos.col, 9);
	assert_int_equal(yaml_key_pos(value_path(v, "b.1"), "k").col, 6);
	assert_int_equal(yaml_key_pos(v, "c").line, 5);
	assert_int_equal(value_path(v, "\xc3\xa9.1")->pos.col, 11); /* bytes, not characters */
	assert_int_equal(yaml_key_pos(v, "nope").line, 0);
	assert_string_equal(yaml_key_pos(v, "a").file, "t.yaml");
	v = parse("a: 1\r\nb: 2\rc: 3\n");
	assert_int_equal(yaml_key_pos(v, "b").line, 2);
	assert_int_equal(yaml_key_pos(v, "c").line, 3);
}

static void anchors_and_merges(void **state)
{
	static const struct scalar cases[] = {
		{ "a: &x {p: 1}\nb: *x", "{\"a\":{\"p\":1},\"b\":{\"p\":1}}" },
		{ "a: &x 5\nb: [*x, *x]", "{\"a\":5,\"b\":[5,5]}" },
		{ "a: &x k\n*x : 1", "{\"a\":\"k\",\"k\":1}" },
		{ "&k a: 1\nb: *k", "{\"a\":1,\"b\":\"a\"}" },
		{ "a: &x 1\nb: &x 2\nc: *x", "{\"a\":1,\"b\":2,\"c\":2}" },
		{ "a: &x {p: 1, q: 2}\nb: {<<: *x, q: 3, r: 4}",
		  "{\"a\":{\"p\":1,\"q\":2},\"b\":{\"p\":1,\"q\":3,\"r\":4}}" },
		{ "a: &x {p: 1}\nb: {q: 3, <<: *x, p: 4}",
		  "{\"a\":{\"p\":1},\"b\":{\"p\":4,\"q\":3}}" },
		{ "a: &x {p: 1}\nb: &y {p: 2, q: 2}\nc: {<<: [*x, *y]}",
		  "{\"a\":{\"p\":1},\"b\":{\"p\":2,\"q\":2},\"c\":{\"p\":1,\"q\":2}}" },
		{ "a: {<<: {p: 1}, q: 2}", "{\"a\":{\"p\":1,\"q\":2}}" },
		{ "a: &x {p: 1}\nb: &y {<<: *x, q: 2}\nc: {<<: *y}",
		  "{\"a\":{\"p\":1},\"b\":{\"p\":1,\"q\":2},\"c\":{\"p\":1,\"q\":2}}" },
		{ "a: {\"<<\": 1}", "{\"a\":{\"<<\":1}}" },
		{ "a: {<<: []}", "{\"a\":{}}" },
	};
	struct value *v;

	(void)state;
	scalars_are(YAML_SPEC, cases, ARRAY_LEN(cases));
	scalars_are(YAML_ANSIBLE, cases, ARRAY_LEN(cases));
	v = parse("a: &x {p: 1}\nb:\n  <<: *x");
	assert_int_equal(yaml_key_pos(value_get(v, "b"), "p").line, 1);
}

static void fails_at(const struct buf *b, int line, const char *says)
{
	struct value *v = NULL;

	err_list_fini(&faults);
	assert_int_equal(yaml_parse(A, "t", buf_str(b), YAML_SPEC, &v, &faults), -1);
	assert_int_equal(faults.n, 1);
	assert_int_equal(faults.v[0].pos.line, line);
	assert_non_null(strstr(faults.v[0].msg, says));
}

static void aliases_cannot_explode(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 100000);
	buf_adds(&b, "l0: &l0 [x,x,x,x,x,x,x,x,x]\n");
	for (int i = 1; i < 12; i++) {
		buf_addf(&b, "l%d: &l%d [", i, i);
		for (int k = 0; k < 9; k++)
			buf_addf(&b, "%s*l%d", k ? "," : "", i - 1);
		buf_adds(&b, "]\n");
	}
	fails_at(&b, 7, "more than 1000000 values, aliases expanded");
	buf_clear(&b);
	for (int i = 0; i < 100; i++) /* deep by aliases only */
		buf_addf(&b, i ? "l%d: &l%d [*l%d]\n" : "l%d: &l%d x\n", i, i, i - 1);
	fails_at(&b, 64, "more than 64 levels deep");
	buf_fini(&b);
}

static void depth_is_bounded(void **state)
{
	struct value *v;
	struct buf b;

	(void)state;
	buf_init(&b, 1000000);
	buf_addn(&b, '[', 64);
	buf_addn(&b, ']', 64);
	assert_int_equal(yaml_parse(A, "t", buf_str(&b), YAML_SPEC, &v, &faults), 0);
	buf_clear(&b);
	buf_addn(&b, '[', 100000);
	fails_at(&b, 1, "more than 64 levels deep");
	buf_clear(&b);
	for (int i = 0; i < 500; i++) {
		buf_addn(&b, ' ', (size_t)i);
		buf_adds(&b, "a:\n");
	}
	fails_at(&b, 64, "more than 64 levels deep");
	buf_clear(&b);
	buf_addn(&b, '&', 100);
	assert_int_equal(yaml_parse(A, "t", buf_str(&b), YAML_SPEC, &v, &faults), -1);
	buf_fini(&b);
}

static void size_is_bounded(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, YAML_MAX_BYTES + 100);
	buf_addc(&b, '#');
	buf_addn(&b, 'x', YAML_MAX_BYTES);
	fails_at(&b, 1, "more than 16 MiB");
	buf_fini(&b);
}

static void one_long_line_is_read_in_time(void **state)
{
	struct value *v;
	struct buf b;

	(void)state;
	buf_init(&b, YAML_MAX_BYTES);
	buf_addc(&b, '[');
	for (int i = 0; i < 100000; i++)
		buf_adds(&b, "\xc3\xa9,");
	buf_addc(&b, ']');
	v = parse_as(YAML_SPEC, buf_str(&b));
	assert_int_equal(v->list.n, 100000);
	assert_int_equal(v->list.v[99999]->pos.col, 2 + 3 * 99999);
	buf_fini(&b);
}

/* Written, then read in both dialects. */
static void survives(const struct value *v)
{
	struct buf b;

	buf_init(&b, 1000000);
	yaml_write(&b, v, 0);
	for (int dialect = YAML_SPEC; dialect <= YAML_ANSIBLE; dialect++) {
		struct value *back = NULL;
		if (yaml_parse(A, "t", buf_str(&b), (enum yaml_dialect)dialect, &back, &faults) !=
		    0)
			fail_msg("%s\n%d:%d %s", b.p, faults.v[0].pos.line, faults.v[0].pos.col,
				 faults.v[0].msg);
		if (!value_equal(v, back))
			fail_msg("changed: %s", b.p);
	}
	buf_fini(&b);
}

/* Each is a trap of some kind. */
static const char *const hard_texts[] = {
	"",
	" ",
	"a",
	"a b",
	"yes",
	"NO",
	"on",
	"y",
	"true",
	"null",
	"~",
	"12",
	"012",
	"1:30",
	"1_000",
	"1.5",
	"1e3",
	".5",
	"0x1f",
	"0b1",
	"0o7",
	"+1",
	"-1",
	"-",
	"- a",
	"-a",
	"?",
	"? a",
	":",
	": a",
	"a:",
	"a: b",
	"a:b",
	"a #b",
	"a#b",
	"#a",
	"&a",
	"*a",
	"!a",
	"|",
	">",
	"'",
	"\"",
	"it's",
	"say \"x\"",
	"%a",
	"@a",
	"`a",
	"[a",
	"{a",
	"{{ x }}",
	"a, b",
	"a]",
	"---",
	"--- a",
	"...",
	"<<",
	"=",
	"2026-11-30",
	"2001-1-1",
	".inf",
	".nan",
	"\t",
	"a\tb",
	"a\nb",
	"a\nb\n",
	"a\nb\n\n\n",
	"\na",
	"\n",
	"\n\n",
	" a\nb",
	"a \nb",
	"a\n b\n",
	"a\n\n\nb",
	"a\n\tb",
	"a\r\nb",
	"\x01",
	"\x7f",
	"\xc2\x85",
	"\xc2\xa0",
	"\xe2\x80\xa8",
	"\xef\xbb\xbf_a",
	"\xc3\xa9",
	"\xf0\x9f\x98\x80",
	"a\n---\nb",
	"a\n# b\n",
	"a\n...\n",
	"#a\nb\n",
	"12345678901234567890",
	"0.0.0.0/0",
	"key: |",
	"a\\b",
	"a\n\xe2\x82\xac",
	"\xef\xbf\xbe",
	"~a",
	"<a",
	".a",
	"=a",
};

static void written_text_reads_back(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(hard_texts); i++) {
		struct value *s = value_cstr(A, hard_texts[i]), *l = value_list(A),
			     *m = value_map(A), *deep = value_map(A);
		survives(s);
		value_add(A, l, s);
		value_add(A, l, s);
		survives(l);
		value_set(m, "k", s);
		value_set(m, "l", value_copy(A, l));
		value_set(m, hard_texts[i], s);
		survives(m);
		value_set(deep, "m", m);
		value_add(A, l, deep);
		value_add(A, l, value_copy(A, l));
		survives(l);
	}
	survives(value_str(A, STR("a\0b")));
}

static void written_numbers_and_shapes_read_back(void **state)
{
	static const char *const texts[] = {
		"null",
		"true",
		"[false]",
		"0",
		"-5",
		"1.0",
		"0.1",
		"1e+16",
		"1e-07",
		"1.5e+300",
		"[]",
		"{}",
		"[[],{},[[]],[{}]]",
		"{\"a\":[],\"b\":{},\"c\":[[1,[2,{\"d\":3}]],{\"e\":{\"f\":[{\"g\":null,\"h\":1}]}}]}",
	};
	char long_key[600];
	struct value *m = value_map(A);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct value *v = NULL;
		struct err e;
		assert_int_equal(json_parse(A, "t", str_of(texts[i]), &v, &e), 0);
		survives(v);
	}
	survives(value_float(A, (double)INFINITY));
	survives(value_float(A, -(double)INFINITY));
	for (size_t n = 100; n < sizeof(long_key); n += 100) {
		memset(long_key, 'k', sizeof(long_key));
		long_key[0] = '#';
		value_sets(m, (struct str){ long_key, n },
			   n % 200 ? value_int(A, 1) : value_copy(A, m));
	}
	survives(m);
}

static void layout(void **state)
{
	struct value *v = parse(
		"cluster: t\npools: {a: {count: 2, roles: [x, {role: z, vars: {p: 'yes'}}], empty: [], text: \"l1\\nl2\\n\"}}");
	struct value *m = value_map(A);
	struct buf b;

	(void)state;
	buf_init(&b, 10000);
	yaml_write(&b, v, 0);
	assert_string_equal(
		b.p,
		"cluster: t\npools:\n  a:\n    count: 2\n    roles:\n      - x\n      - role: z\n        vars:\n"
		"          p: 'yes'\n    empty: []\n    text: |\n      l1\n      l2\n");
	buf_clear(&b);
	value_set(m, "p", value_secret(A, value_cstr(A, "hunter22")));
	value_set(m, "u", value_unknown(A));
	yaml_write(&b, m, 4);
	assert_string_equal(b.p, "    p: (sensitive)\n    u: (known after apply)\n");
	buf_fini(&b);
}

#define yaml_test(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		yaml_test(core_scalars),
		yaml_test(scalars_as_pyyaml),
		yaml_test(unsafe_is_marked),
		yaml_test(traps_of_the_spec),
		yaml_test(refused_in_both),
		yaml_test(vault_is_refused_with_its_place),
		yaml_test(all_faults_in_one_run),
		yaml_test(the_rest_of_a_faulty_document_is_given),
		yaml_test(positions),
		yaml_test(anchors_and_merges),
		yaml_test(aliases_cannot_explode),
		yaml_test(depth_is_bounded),
		yaml_test(size_is_bounded),
		yaml_test(one_long_line_is_read_in_time),
		yaml_test(written_text_reads_back),
		yaml_test(written_numbers_and_shapes_read_back),
		yaml_test(layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
