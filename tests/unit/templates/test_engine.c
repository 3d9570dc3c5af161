/* SPDX-License-Identifier: Apache-2.0 */
/* What Jinja2 does not have: places in faults, lazy variables, secret and unknown values, bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "templates/templates.h"

static struct arena *a;
static struct value *vars;
static struct scope scope;

static int setup(void **state)
{
	(void)state;
	a = arena_new("test");
	vars = value_map(a);
	scope = (struct scope){ .vars = vars };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scrub_reset();
	arena_free(a);
	return 0;
}

static void set(const char *name, const char *text)
{
	struct value *v = value_cstr(a, text);

	v->pos = (struct pos){ "vars", 10, 5 };
	value_set(vars, name, v);
}

/* The value as JSON ("secret " before it if it is), or "line:col: message|hint". */
static const char *rendered(const char *text, unsigned flags)
{
	const struct value *v;
	struct err e = { 0 };
	struct buf b;

	if (template_render(a, (struct template){ str_of(text), { "f", 3, 7 } }, &scope, flags, &v,
			    &e) < 0)
		return arena_printf(a, "%s:%d:%d: %s|%s", e.pos.file, e.pos.line, e.pos.col, e.msg,
				    e.hint);
	if (v->kind == V_UNKNOWN)
		return "unknown";
	buf_init(&b, BUF_MAX_DEFAULT);
	if (v->secret)
		buf_adds(&b, "secret ");
	json_write(&b, v, JSON_REVEAL);
	const char *s = buf_dup(&b, a);
	buf_fini(&b);
	return s;
}

static void test_places(void **state)
{
	(void)state;
	set("image", "x");
	value_set(vars, "d", value_map(a));
	value_set(value_get(vars, "d"), "host", value_cstr(a, "h"));
	assert_string_equal(rendered("{{ imgae }}", 0),
			    "f:3:10: \"imgae\" is undefined|did you mean \"image\"?");
	assert_string_equal(rendered("a\n b {{ imgae }}", 0),
			    "f:4:13: \"imgae\" is undefined|did you mean \"image\"?");
	assert_string_equal(
		rendered("{{ d.hots }}", 0),
		"f:3:10: \"d.hots\" is undefined: d has no key \"hots\"|did you mean \"host\"?");
	assert_string_equal(rendered("{{ d.host.x }}", 0),
			    "f:3:10: \"d.host.x\" is undefined: d.host is a string|");
	assert_string_equal(rendered("{{ 1 | itn }}", 0),
			    "f:3:14: unknown filter \"itn\"|did you mean \"int\"?");
	assert_string_equal(rendered("{{ 1 is definde }}", 0),
			    "f:3:15: unknown test \"definde\"|did you mean \"defined\"?");
	assert_string_equal(rendered("{{ 'a'.uper() }}", 0),
			    "f:3:10: a string has no method \"uper\"|did you mean \"upper\"?");
	assert_string_equal(rendered("{{ rnage(3) }}", 0),
			    "f:3:10: unknown function \"rnage\"|did you mean \"range\"?");
	assert_string_equal(rendered("{% fi x %}", 0),
			    "f:3:10: unknown tag \"fi\"|did you mean \"if\"?");
	assert_string_equal(
		rendered("{{ 'a' | indent(widht=2) }}", 0),
		"f:3:16: indent has no parameter \"widht\"|its parameters: width,first,blank");
	assert_string_equal(
		rendered("{{ lookup('env', 'HOME') }}", 0),
		"f:3:10: lookup('env') is not available: expressions reach no file, environment or command here|"
		"use secret('env:NAME'), or give the value with -e NAME=VALUE");
	assert_string_equal(rendered("{{ [1].push(2) }}", 0),
			    "f:3:10: a list has no method \"push\"|");
}

static void test_native(void **state)
{
	(void)state;
	assert_string_equal(rendered("{{ [1, 'a'] }}", TEMPLATE_NATIVE), "[1,\"a\"]");
	assert_string_equal(rendered("{{ 1 }}", TEMPLATE_NATIVE), "1");
	assert_string_equal(rendered("{{ 1 }}\n", TEMPLATE_NATIVE), "1");
	assert_string_equal(rendered("{{ 1 }}{{ 2 }}", TEMPLATE_NATIVE), "\"12\"");
	assert_string_equal(rendered(" {{ 1 }}", TEMPLATE_NATIVE), "\" 1\"");
	assert_string_equal(rendered("{{ 1 }}\n", TEMPLATE_KEEP_NEWLINE), "\"1\\n\"");
	assert_string_equal(rendered("{% if 1 %}\nx\n{% endif %}\ny", TEMPLATE_TRIM_BLOCKS),
			    "\"x\\ny\"");
}

static void test_lazy(void **state)
{
	(void)state;
	set("a", "{{ b }}-{{ n }}");
	set("b", "x{{ n }}");
	value_set(vars, "n", value_int(a, 3));
	set("list", "{{ [n, n + 1] }}");
	set("self", "{{ self }}");
	set("p", "{{ q }}");
	set("q", "{{ p }}");
	set("bad", "{{ nowhere }}");
	struct value *db = value_map(a), *raw = value_cstr(a, "{{ not evaluated }}");
	value_set(vars, "db", db);
	value_set(db, "host", value_cstr(a, "h{{ n }}"));
	value_set(db, "url", value_cstr(a, "http://{{ db.host }}/"));
	raw->unsafe = true;
	value_set(vars, "raw", raw);
	assert_string_equal(rendered("{{ a }}", TEMPLATE_LAZY), "\"x3-3\"");
	assert_string_equal(rendered("{{ list[1] + 1 }}", TEMPLATE_LAZY), "\"5\"");
	assert_string_equal(rendered("{{ db.url }}", TEMPLATE_LAZY), "\"http://h3/\"");
	assert_string_equal(rendered("{{ db }}", TEMPLATE_LAZY | TEMPLATE_NATIVE),
			    "{\"host\":\"h3\",\"url\":\"http://h3/\"}");
	assert_string_equal(
		rendered("{% for k, v in db.items() %}{{ v }} {% endfor %}", TEMPLATE_LAZY),
		"\"h3 http://h3/ \"");
	assert_string_equal(rendered("{{ raw }}", TEMPLATE_LAZY), "\"{{ not evaluated }}\"");
	assert_string_equal(rendered("{{ a }}", 0), "\"{{ b }}-{{ n }}\"");
	assert_string_equal(rendered("{{ none }}|", TEMPLATE_LAZY), "\"|\"");
	assert_string_equal(rendered("{{ self }}", TEMPLATE_LAZY),
			    "vars:10:8: in variable \"self\": \"self\" refers to itself|");
	assert_string_equal(
		rendered("{{ p }}", TEMPLATE_LAZY),
		"vars:10:8: in variable \"p\": in variable \"q\": \"p\" refers to itself|");
	assert_string_equal(rendered("{{ bad }}", TEMPLATE_LAZY),
			    "vars:10:8: in variable \"bad\": \"nowhere\" is undefined|");
}

static void test_secret(void **state)
{
	(void)state;
	value_set(vars, "s", value_secret(a, value_cstr(a, "hunter22")));
	struct value *d = value_map(a);
	value_set(d, "pw", value_get(vars, "s"));
	value_set(d, "user", value_cstr(a, "bob"));
	value_set(vars, "d", d);
	assert_string_equal(rendered("pw={{ s }}", 0), "secret \"pw=hunter22\"");
	assert_string_equal(rendered("{{ s | upper }}", 0), "secret \"HUNTER22\"");
	assert_string_equal(rendered("{{ s ~ 'x' }}", TEMPLATE_NATIVE), "secret \"hunter22x\"");
	assert_string_equal(rendered("{{ 'x' + s }}", TEMPLATE_NATIVE), "secret \"xhunter22\"");
	assert_string_equal(rendered("{{ [s, 'a'] | join('-') }}", TEMPLATE_NATIVE),
			    "secret \"hunter22-a\"");
	assert_string_equal(rendered("{{ d | to_json }}", TEMPLATE_NATIVE),
			    "secret \"{\\\"pw\\\": \\\"hunter22\\\", \\\"user\\\": \\\"bob\\\"}\"");
	assert_string_equal(rendered("{{ 'x' | replace('x', s) }}", TEMPLATE_NATIVE),
			    "secret \"hunter22\"");
	assert_string_equal(rendered("{{ s[0:3] }}", TEMPLATE_NATIVE), "secret \"hun\"");
	assert_string_equal(rendered("{{ s | b64encode }}", TEMPLATE_NATIVE),
			    "secret \"aHVudGVyMjI=\"");
	assert_string_equal(rendered("{{ '%s!' % s }}", TEMPLATE_NATIVE), "secret \"hunter22!\"");
	assert_string_equal(rendered("{% for c in [s] %}{{ c }}{% endfor %}", 0),
			    "secret \"hunter22\"");
	assert_string_equal(rendered("{% set x %}{{ s }}{% endset %}{{ x }}", 0),
			    "secret \"hunter22\"");
	assert_string_equal(rendered("{{ [s] | map('upper') | first }}", TEMPLATE_NATIVE),
			    "secret \"HUNTER22\"");
	assert_string_equal(rendered("{{ d.user }}", 0), "\"bob\"");
	assert_string_equal(rendered("{{ s == 'x' }}", TEMPLATE_NATIVE), "false");
	assert_string_equal(rendered("{{ nope | default(s) }}", TEMPLATE_NATIVE),
			    "secret \"hunter22\"");
	assert_string_equal(rendered("{{ 'a' | default(s) }}", TEMPLATE_NATIVE), "\"a\"");
}

static const char *scrubbed(const char *text)
{
	struct buf b;

	buf_init(&b, BUF_MAX_DEFAULT);
	scrub(&b, str_of(text));
	const char *s = buf_dup(&b, a);
	buf_fini(&b);
	return s;
}

/* The scrubber knows what a secret turned into, but does not collect every text around it. */
static void test_secret_is_scrubbed(void **state)
{
	(void)state;
	value_set(vars, "s", value_secret(a, value_cstr(a, "hunter22")));
	value_set(vars, "q", value_secret(a, value_cstr(a, "a'b\"c\\1")));
	assert_string_equal(rendered("pw={{ s }} {{ s | upper }}", 0),
			    "secret \"pw=hunter22 HUNTER22\"");
	assert_string_equal(scrubbed("pw=hunter22 HUNTER22"), "pw=(sensitive) (sensitive)");
	const struct value *v;
	struct err e = { 0 };
	assert_int_equal(template_render(a, (struct template){ .text = STR("{{ [q] }}") }, &scope,
					 0, &v, &e),
			 0);
	assert_true(v->secret);
	assert_string_equal(scrubbed(v->s.p), "(sensitive)");
}

static void test_unknown(void **state)
{
	(void)state;
	value_set(vars, "u", value_unknown(a));
	value_set(vars, "l", value_list(a));
	value_add(a, value_get(vars, "l"), value_unknown(a));
	assert_string_equal(rendered("ip {{ u }}", 0), "unknown");
	assert_string_equal(rendered("{{ u.x[1].y }}", 0), "unknown");
	assert_string_equal(rendered("{{ u + 1 }}", TEMPLATE_NATIVE), "unknown");
	assert_string_equal(rendered("{{ u == 1 }}", TEMPLATE_NATIVE), "unknown");
	assert_string_equal(rendered("{{ u is defined }}", TEMPLATE_NATIVE), "true");
	assert_string_equal(rendered("{{ false and u }}", TEMPLATE_NATIVE), "false");
	assert_string_equal(rendered("{{ true or u }}", TEMPLATE_NATIVE), "true");
	assert_string_equal(rendered("{{ u and false }}", TEMPLATE_NATIVE), "false");
	assert_string_equal(rendered("{{ l | length }}", TEMPLATE_NATIVE), "1");
	assert_string_equal(rendered("{{ l | join }}", TEMPLATE_NATIVE), "unknown");
	assert_string_equal(rendered("{% if u %}a{% endif %}", 0), "unknown");
	assert_string_equal(rendered("{% for x in u %}a{% endfor %}", 0), "unknown");
	assert_string_equal(rendered("{{ u | default('x') }}", TEMPLATE_NATIVE), "unknown");
}

/* Text from a node stays text, however it travels: else a node could have the controller run
 * {{ secret('cmd:...') }}. */
static void test_never_twice(void **state)
{
	static const char *const ways[] = { "{{ u }}",
					    "x{{ u }}",
					    "{{ u ~ 'x' }}",
					    "{{ u | trim }}",
					    "{{ u.split('|') }}",
					    "{{ [u | upper] | first | lower }}",
					    "{{ {'k': [u + ' ']} }}",
					    "{{ {u | trim: 1} }}",
					    "{{ '{' ~ '{ n }}' }}",
					    "{% for c in u %}{{ c }}{% endfor %}" };

	(void)state;
	value_set(vars, "n", value_int(a, 3));
	set("u", "{{ n }}");
	value_get(vars, "u")->unsafe = true;
	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		struct value *text = value_cstr(a, ways[i]), *task = value_map(a);
		const struct value *got = NULL, *again = NULL;
		struct err e = { 0 };

		assert_int_equal(template_render_value(a, text, &scope, TEMPLATE_LAZY, &got, &e),
				 0);
		value_set(vars, "fact", got); /* set_fact */
		value_set(task, "arg", value_cstr(a, "{{ fact }}"));
		assert_int_equal(template_render_value(a, task, &scope, TEMPLATE_LAZY, &again, &e),
				 0);
		assert_true(value_equal(value_get(again, "arg"), got));
		/* rendered arguments are a tree of values for whoever renders them once more */
		assert_int_equal(template_render_value(a, again, &scope, TEMPLATE_LAZY, &again, &e),
				 0);
		assert_true(value_equal(value_get(again, "arg"), got));
		assert_non_null(strstr(rendered("{{ fact }}", TEMPLATE_LAZY), "{ n }}"));
	}
}

static bool refused(const char *text, const char *why)
{
	const char *r = rendered(text, TEMPLATE_LAZY);

	if (strstr(r, why) && str_starts(str_of(r), "f:"))
		return true;
	print_error("%s: %.200s\n", text, r);
	return false;
}

static void test_bounds(void **state)
{
	struct buf b;

	(void)state;
	assert_true(refused("{{ range(100001) }}", "more than 100000"));
	assert_true(refused(
		"{% for i in range(100000) %}{% for j in range(100000) %}{{ j }}{% endfor %}{% endfor %}",
		"steps"));
	assert_true(refused("{{ 'a' * 100000000 }}", "16 MiB"));
	assert_true(refused("{{ 'a' * 16000000 ~ 'b' * 16000000 }}", "16777216"));
	assert_true(refused("{% for i in range(1000) %}{{ 'a' * 100000 }}{% endfor %}", "16 MiB"));
	assert_true(refused("{{ 2 ** 100 }}", "too large"));
	assert_true(refused("{{ 9223372036854775807 + 1 }}", "too large"));
	assert_true(refused("{{ [0] * 10000000 }}", "1000000"));
	assert_true(refused(
		"{% set ns = namespace(x=[]) %}{% for i in range(100) %}{% set ns.x = [ns.x] %}{% endfor %}",
		"deeper"));
	assert_true(refused(
		"{% set ns = namespace(x=1) %}{% for i in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}",
		"items"));
	assert_true(refused("{% set ns = namespace() %}{% set ns.x = ns %}{{ ns }}", "deeper"));
	assert_true(refused("{{ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' is match('(a+)+$') }}",
			    "too long"));
	const char *const open[] = { "(", "[", "-", "not ", "{'a':", "x[", "1 if ", "f(" };
	for (size_t i = 0; i < ARRAY_LEN(open); i++) {
		buf_init(&b, BUF_MAX_DEFAULT);
		buf_adds(&b, "{{ ");
		for (int k = 0; k < 10000; k++)
			buf_adds(&b, open[i]);
		assert_true(refused(b.p, ""));
		buf_fini(&b);
	}
	buf_init(&b, BUF_MAX_DEFAULT);
	for (int k = 0; k < 10000; k++)
		buf_adds(&b, "{% if 1 %}");
	assert_true(refused(b.p, "too deep"));
	buf_fini(&b);
}

/* The deepest that is allowed, on the small stack of a task. */
static void deep_in_task(void *arg)
{
	struct buf b;

	(void)arg;
	for (int depth = 1; depth < 120; depth++) {
		buf_init(&b, BUF_MAX_DEFAULT);
		buf_adds(&b, "{{ ");
		buf_addn(&b, '(', (size_t)depth);
		buf_adds(&b, "v0");
		for (int k = 0; k < depth; k++)
			buf_adds(&b, " | default([1] + (x | d([2]))))");
		buf_adds(&b, " }}");
		const char *r = rendered(b.p, TEMPLATE_LAZY);
		assert_true(r[0] == '"' || strstr(r, "too deep"));
		buf_fini(&b);
	}
}

static void test_deep_in_task(void **state)
{
	struct err e = { 0 };

	(void)state;
	for (int i = 0; i < 100; i++)
		set(arena_printf(a, "v%d", i),
		    arena_printf(
			    a,
			    "{%% if 1 %%}{%% for i in [1] %%}{{ (([v%d][0] ~ 'x'))[0:3] | upper }}{%% endfor %%}{%% endif %%}",
			    i + 1));
	set("v100", "end");
	if (loop_run(deep_in_task, NULL, NULL, &e) < 0)
		fail_msg("%s", e.msg);
}

static void test_truncated(void **state)
{
	static const char text[] =
		"{% for a, b in d.items() if a is not none %}{{ loop.index ~ '-' ~ (a | upper)[0:2] }}"
		"{# c #}{% else %}{%- set x = {'k': [1, 2.5, (3,)]} -%}{% raw %}{{{% endraw %}{% endfor %}"
		"{{ x.y['z'] if 1 < 2 <= 3 and not 4 in [5] else -6 ** 2 // 3 }}";

	(void)state;
	value_set(vars, "d", value_map(a));
	for (size_t n = 0; n < sizeof text; n++) {
		const char *r = rendered(arena_dup(a, text, n), 0);
		assert_true(r[0] == '"' || strstr(r, "f:"));
	}
}

static void test_names_and_check(void **state)
{
	struct map names;
	struct err e = { 0 };

	(void)state;
	map_init(&names, a);
	assert_int_equal(
		template_names(
			a,
			STR("{% for x in hosts %}{{ x ~ ansible_facts.os | default(y) }}{% endfor %}{{ f(z) }}"),
			false, &names, &e),
		0);
	assert_int_equal(names.n, 4);
	assert_true(map_has(&names, STR("hosts")) && map_has(&names, STR("ansible_facts")) &&
		    map_has(&names, STR("y")));
	assert_true(map_has(&names, STR("z")));
	assert_int_equal(template_names(a, STR("a is defined and b > 3"), true, &names, &e), 0);
	assert_true(map_has(&names, STR("a")) && map_has(&names, STR("b")));
	assert_int_equal(template_check(STR("{{ nowhere }}"), (struct pos){ "f", 1, 1 }, &e), 0);
	assert_int_equal(template_check(STR("{{ 1 + }}"), (struct pos){ "f", 1, 1 }, &e), -1);
	assert_int_equal(e.pos.col, 8);
}

static void test_render_value(void **state)
{
	struct value *v = value_map(a), *plain = value_map(a);
	const struct value *out;
	struct err e = { 0 };

	(void)state;
	set("n", "5");
	value_set(plain, "a", value_cstr(a, "b"));
	value_set(v, "{{ n }}x", value_cstr(a, "{{ n | int + 1 }}"));
	value_set(v, "plain", plain);
	assert_int_equal(template_render_value(a, v, &scope, 0, &out, &e), 0);
	assert_int_equal(value_get_int(out, "5x", 0), 6);
	assert_ptr_equal(value_get(out, "plain"), plain);
}

static void test_eval(void **state)
{
	const struct value *v;
	struct err e = { 0 };

	(void)state;
	set("x", "3");
	assert_int_equal(template_eval(a,
				       (struct template){ STR("x is defined and x | int > 2"),
							  { "f", 1, 1 } },
				       &scope, 0, &v, &e),
			 0);
	assert_true(v->kind == V_BOOL && v->b);
	assert_int_equal(template_eval(a, (struct template){ STR("x = 3"), { "f", 1, 1 } }, &scope,
				       0, &v, &e),
			 -1);
	assert_int_equal(e.pos.col, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_places, setup, teardown),
		cmocka_unit_test_setup_teardown(test_native, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lazy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secret_is_scrubbed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_never_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_deep_in_task, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_names_and_check, setup, teardown),
		cmocka_unit_test_setup_teardown(test_render_value, setup, teardown),
		cmocka_unit_test_setup_teardown(test_eval, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
