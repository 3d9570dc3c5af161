/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

static const char *write_file(const char *name, const char *text)
{
	struct err e = { 0 };
	const char *path = arena_printf(a, "%s/%s",
					getenv("TEST_TMP") ? getenv("TEST_TMP") : "/tmp", name);

	if (fs_mkdirs(fs_dirname(a, path), 0755, &e) < 0 ||
	    fs_write_atomic(path, str_of(text), 0644, &e) < 0)
		fail_msg("%s", e.msg);
	return path;
}

static struct inv *load(const char *source)
{
	struct err_list errs = { 0 };
	struct inv *inv;

	if (inv_load(a, source, &inv, &errs) < 0)
		fail_msg("%s:%d: %s", errs.v[0].pos.file, errs.v[0].pos.line, errs.v[0].msg);
	err_list_fini(&errs);
	return inv;
}

static const char *matched(const struct inv *inv, const char *pattern)
{
	struct names n = { 0 };
	struct err e = { 0 };
	const char *s = "";

	if (inv_match(a, inv, pattern, &n, &e) < 0)
		return arena_printf(a, "%s|%s", e.msg, e.hint);
	for (size_t i = 0; i < n.v.n; i++)
		s = arena_printf(a, "%s%s%s", s, i ? " " : "", n.v.v[i]);
	return s;
}

static const struct inv_host *host(const struct inv *inv, const char *name)
{
	for (size_t i = 0; i < inv->hosts.n; i++)
		if (!strcmp(inv->hosts.v[i]->name, name))
			return inv->hosts.v[i];
	fail_msg("no host %s", name);
	return NULL;
}

static void check_tree(const struct inv *inv)
{
	const struct inv_host *h = host(inv, "web02");

	assert_string_equal(matched(inv, "all"), "lonely web01 web02 web03 db-a db-b");
	assert_string_equal(matched(inv, "web"), "web01 web02 web03");
	assert_string_equal(matched(inv, "prod:!db"), "web01 web02 web03");
	assert_string_equal(matched(inv, "web[0:1]"), "web01 web02");
	assert_string_equal(matched(inv, "web[-1]"), "web03");
	assert_string_equal(matched(inv, "prod:&db-*"), "db-a db-b");
	assert_string_equal(matched(inv, "ungrouped,db-b"), "lonely db-b");
	assert_string_equal(matched(inv, "wbe"),
			    "no host or group matches \"wbe\"|did you mean \"web\"?");
	assert_int_equal(h->groups.n, 2);
	assert_string_equal(h->groups.v[0], "prod");
	assert_int_equal(value_get_int(h->vars, "http_port", 0),
			 8080); /* child over parent over all */
	assert_true(str_eqc(value_get_str(h->vars, "mode", ""), "0644"));
	assert_true(str_eqc(value_get_str(h->vars, "who", ""), "a b"));
	assert_int_equal(value_get_int(host(inv, "db-a")->vars, "http_port", 0), 80);
	assert_int_equal(value_get_int(host(inv, "db-a")->vars, "ansible_port", 0), 2222);
	assert_true(value_get_bool(host(inv, "lonely")->vars, "flag", false));
	assert_int_equal(value_get_int(host(inv, "web01")->vars, "from_host_file", 0), 1);
	assert_int_equal(value_get_int(host(inv, "web03")->vars, "from_group_file", 0), 1);
}

static void test_ini(void **state)
{
	const char *path = write_file(
		"ini/hosts",
		"# inventory\nlonely flag=True\n\n[web]\nweb[01:03] who=\"a b\" mode=0644 # and more\n"
		"[db]\ndb-[a:b]:2222\n[prod:children]\nweb\ndb\n[prod:vars]\nhttp_port = 80\n"
		"[web:vars]\nhttp_port=8080\n[all:vars]\nhttp_port=1\nl=['x', 1]\n");

	(void)state;
	write_file("ini/host_vars/web01.yml", "from_host_file: 1\n");
	write_file("ini/group_vars/web/main.yml", "from_group_file: 1\n");
	struct inv *inv = load(path);
	check_tree(inv);
	assert_int_equal(value_get(host(inv, "lonely")->vars, "l")->list.n, 2);
}

static void test_yaml(void **state)
{
	const char *path = write_file(
		"yaml/hosts.yml",
		"all:\n  hosts:\n    lonely: {flag: yes}\n  vars: {http_port: 1}\n  children:\n    prod:\n"
		"      vars: {http_port: 80}\n      children:\n        web:\n          vars: {http_port: 8080}\n"
		"          hosts:\n            web[01:03]: {who: a b, mode: \"0644\"}\n        db:\n          hosts:\n"
		"            db-[a:b]: {ansible_port: 2222}\n");

	(void)state;
	write_file("yaml/host_vars/web01", "from_host_file: 1\n");
	write_file("yaml/group_vars/web.yaml", "from_group_file: 1\n");
	check_tree(load(path));
}

static void test_list(void **state)
{
	(void)state;
	assert_string_equal(matched(load("a,b,"), "all"), "a b");
	assert_string_equal(matched(load("n[1:3],"), "!n2"), "n1 n3");
}

static void test_faults(void **state)
{
	static const struct {
		const char *text, *msg;
		int line;
	} cases[] = {
		{ "[web\nx\n", "\"[\" without \"]\"", 1 },
		{ "[web:kids]\nx\n", "unknown kind of section \"kids\"", 1 },
		{ "a\nb novalue\n", "expected key=value, not \"novalue\"", 2 },
		{ "web[03:01]\n", "\"web[03:01]\" is not a host or range of hosts", 1 },
		{ "[a:children]\nb\n[b:children]\na\n", "group \"a\" is its own child", 1 },
		{ "[a:vars]\nx\n", "expected key=value in a section of variables", 2 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err_list errs = { 0 };
		struct inv *inv;
		assert_int_equal(inv_load(a, write_file("bad.ini", cases[i].text), &inv, &errs),
				 -1);
		assert_string_equal(errs.v[0].msg, cases[i].msg);
		assert_int_equal(errs.v[0].pos.line, cases[i].line);
		err_list_fini(&errs);
	}
}

static bool refused(const char *pattern)
{
	struct err_list errs = { 0 };
	struct inv *inv;
	int rc = inv_load(a, pattern, &inv, &errs);

	err_list_fini(&errs);
	return rc < 0;
}

/* A short line must not cost a long time or a deep stack. */
static void test_hostile_ranges(void **state)
{
	struct buf many, deep;

	(void)state;
	buf_init(&many, 1000);
	buf_init(&deep, 1 << 20);
	for (int i = 0; i < 40; i++) /* 2^40 ways to write 41 names */
		buf_adds(&many, "[1:11:10]");
	for (int i = 0; i < 50000; i++)
		buf_adds(&deep, "[1:1]");
	buf_addc(&many, ',');
	buf_addc(&deep, ',');
	assert_true(refused(many.p));
	assert_true(refused(deep.p));
	assert_true(refused("a[1:999999][1:999999],"));
	assert_true(refused("a[5:9:18446744073709551615],"));
	assert_string_equal(matched(load("a[1:2][x:y],"), "all"), "a1x a1y a2x a2y");
	buf_fini(&many);
	buf_fini(&deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ini, setup, teardown),
		cmocka_unit_test_setup_teardown(test_yaml, setup, teardown),
		cmocka_unit_test_setup_teardown(test_list, setup, teardown),
		cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_ranges, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
