/* SPDX-License-Identifier: Apache-2.0 */
/* Specs that are right, what they decode to, and that every malformed one of tests/spec/ is refused
 * with a place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "inventory/inventory.h"

static struct arena *a;
static struct err_list errs;

static int setup(void **state)
{
	(void)state;
	a = arena_new("test");
	secret_register(NULL);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	err_list_fini(&errs);
	errs = (struct err_list){ 0 };
	scrub_reset();
	arena_free(a);
	return 0;
}

static const char *write_file(const char *name, const char *text)
{
	struct err e = { 0 };
	const char *tmp = getenv("TEST_TMP") ? getenv("TEST_TMP") : "/tmp";
	const char *path = arena_printf(a, "%s/%s", tmp, name);

	if (fs_mkdirs(fs_dirname(a, path), 0755, &e) < 0 ||
	    fs_write_atomic(path, str_of(text), 0644, &e) < 0)
		fail_msg("%s", e.msg);
	return path;
}

static struct spec *load(const char *text, const struct spec_opts *o)
{
	struct spec *s;

	if (spec_load(a, write_file("spec.yaml", text), o, &s, &errs) < 0)
		fail_msg("%d:%d: %s", errs.v[0].pos.line, errs.v[0].pos.col, errs.v[0].msg);
	return s;
}

static void test_decoded(void **state)
{
	struct spec *s = load(
		"cluster: demo\n"
		"vars: {img: debian, full: \"{{ img }}-12\", n: 3}\n"
		"providers: {local: {root: /x, rate: 90/m}, metal: {type: ssh}}\n"
		"networks: {net1: {provider: local, cidr: 10.1.0.0/24, options: {mtu: 9000}}}\n"
		"pools:\n"
		"  web:\n"
		"    provider: local\n"
		"    count: \"{{ n + 1 }}\"\n"
		"    image: \"{{ full }}\"\n"
		"    network: net1\n"
		"    roles: [base, {role: web, vars: {port: \"{{ p }}\"}}]\n"
		"    playbooks: site.yml\n"
		"    update: {max_unavailable: 10%, canary: 1, soak: 90s}\n"
		"  old:\n"
		"    provider: metal\n"
		"    hosts: [\"gpu[01-02].dc\"]\n"
		"    ssh: {user: root, connect_timeout: 1m30s}\n"
		"    vars: {img: other}\n"
		"outputs: {x: \"{{ late }}\"}\n",
		NULL);
	const struct spec_pool *web = spec_pool_find(s, STR("web")),
			       *old = spec_pool_find(s, STR("old"));
	const struct spec_role *roles = web->roles.v;

	(void)state;
	assert_int_equal(web->count, 4);
	assert_true(str_eqc(web->image, "debian-12"));
	assert_int_equal(web->roles.n, 2);
	assert_true(str_eqc(roles[0].role, "base"));
	assert_true(
		str_eqc(value_get_str(roles[1].vars, "port", ""), "{{ p }}")); /* later, per node */
	assert_true(str_ends(web->playbooks.items.v[0], "/site.yml"));
	assert_true(web->update.max_unavailable.percent);
	assert_int_equal(count_of(web->update.max_unavailable, 4), 1);
	assert_int_equal(count_of(web->update.canary, 4), 1);
	assert_int_equal(web->update.soak, 90000);
	assert_int_equal(count_of(old->update.canary, 2), 0);
	assert_int_equal(spec_provider_find(s, STR("local"))->rate, 1500);
	assert_int_equal(spec_provider_find(s, STR("metal"))->rate, 0);
	assert_null(value_get(spec_provider_find(s, STR("local"))->options, "rate"));
	assert_true(web->ssh.become);
	assert_false(old->ssh.become);
	assert_int_equal(old->ssh.connect_timeout, 90000);
	assert_int_equal(web->ssh.connect_timeout, 30000);
	assert_true(str_eqc(spec_provider_find(s, STR("local"))->type, "local"));
	assert_true(str_eqc(value_get_str(spec_provider_find(s, STR("local"))->options, "root", ""),
			    "/x"));
	assert_int_equal(value_get_int(spec_network_find(s, STR("net1"))->options, "mtu", 0), 9000);
	assert_int_equal(strlen(s->digest), 64);

	struct fleet *f;
	assert_int_equal(fleet_expand(a, s, &f, &errs), 0);
	assert_int_equal(f->nodes.n, 6);
	assert_string_equal(f->nodes.v[0]->name, "web-0");
	assert_string_equal(f->nodes.v[0]->addr, "node.web[0]");
	assert_string_equal(f->nodes.v[5]->name, "gpu02.dc");
	assert_string_equal(f->nodes.v[5]->addr, "node.old[gpu02.dc]");
	assert_true(str_eqc(value_get_str(f->nodes.v[4]->vars, "img", ""), "other"));
	assert_true(str_eqc(value_get_str(f->nodes.v[0]->vars, "img", ""), "debian"));
}

static void test_extra_vars(void **state)
{
	struct value *extra = value_map(a);
	struct spec_opts o = { .extra_vars = extra };
	struct fleet *f;

	(void)state;
	value_set(extra, "x", value_int(a, 7));
	struct spec *s = load("cluster: c\nvars: {x: 1}\nproviders: {p: {}}\n"
			      "pools: {web: {provider: p, count: \"{{ x }}\", vars: {x: 2}}}\n",
			      &o);
	assert_int_equal(spec_pool_find(s, STR("web"))->count, 7);
	assert_int_equal(fleet_expand(a, s, &f, &errs), 0);
	assert_int_equal(value_get_int(f->nodes.v[0]->vars, "x", 0), 7);
}

static void test_include_and_folder(void **state)
{
	struct spec *s;

	(void)state;
	write_file("d/10-base.yaml", "cluster: c\nvars: {x: 1, y: 1}\nproviders: {p: {}}\n");
	const char *second = write_file("d/20-pools.yml",
					"include: ../inc/more.yaml\nvars: {x: 2}\n");
	write_file(
		"inc/more.yaml",
		"vars: {x: 3, z: 3}\npools: {web: {provider: p, count: 1, playbooks: [site.yml]}}\n");
	assert_int_equal(spec_load(a, fs_dirname(a, second), NULL, &s, &errs), 0);
	assert_int_equal(value_get_int(s->vars, "x", 0), 2);
	assert_int_equal(value_get_int(s->vars, "y", 0), 1);
	assert_int_equal(value_get_int(s->vars, "z", 0), 3);
	assert_int_equal(s->sources.n, 3);
	/* A path is relative to the file that it is written in. */
	assert_true(str_ends(spec_pool_find(s, STR("web"))->playbooks.items.v[0], "/inc/site.yml"));
}

static void test_secret(void **state)
{
	(void)state;
	env_set("MUSTER_TEST_SECRET", "hunter22");
	struct spec *s = load(
		"cluster: c\nproviders: {p: {}}\npools: {web: {provider: p, count: 1, ssh: {become_password: \"{{ secret('env:MUSTER_TEST_SECRET') }}\"}}}\n",
		NULL);
	struct buf b;
	assert_true(str_eqc(spec_pool_find(s, STR("web"))->ssh.become_password, "hunter22"));
	buf_init(&b, 1000);
	scrub(&b, STR("password hunter22 here"));
	assert_string_equal(b.p, "password (sensitive) here");
	buf_clear(&b);
	json_write(&b, s->tree, 0);
	assert_null(strstr(b.p, "hunter22"));
	buf_fini(&b);
	const char *file = write_file("secret.txt", "from-file\n");
	const struct value *v;
	struct err e = { 0 };
	assert_int_equal(secret_read(a, str_of(arena_printf(a, "file:%s", file)), NULL, &v, &e), 0);
	assert_true(v->secret && str_eqc(v->s, "from-file"));
	assert_int_equal(secret_read(a, STR("cmd:printf '%s %s' a \"b c\""), NULL, &v, &e), 0);
	assert_true(v->secret && str_eqc(v->s, "a b c"));
	assert_int_equal(secret_read(a, STR("env:MUSTER_TEST_NOT_SET"), NULL, &v, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(secret_read(a, STR("vault:x"), NULL, &v, &e), -1);
	env_set("MUSTER_TEST_SECRET", NULL);
}

/* Cut at every byte: a fault with a place, never a crash. */
static void test_truncated(void **state)
{
	static const char text[] =
		"cluster: demo\nvars: {img: \"{{ x | default('a') }}\", l: [1, 2]}\nproviders: {metal: {type: ssh}}\n"
		"pools:\n  web: &w\n    provider: metal\n    hosts: [\"n[1-3]\"]\n    image: \"{{ img }}\"\n"
		"    ssh: {user: root, port: 22}\n  db: {<<: *w, hosts: [\"{{ img }}\"]}\n";

	(void)state;
	for (size_t n = 0; n < sizeof text - 1; n++) {
		struct arena *inner = arena_new("cut");
		struct err_list l = { 0 };
		struct spec *s;
		char *cut = arena_dup(inner, text, n);
		int rc = spec_load(inner, write_file("cut.yaml", cut), NULL, &s, &l);
		assert_int_equal(rc<0, l.n> 0);
		for (size_t i = 0; i < l.n; i++) {
			assert_true(l.v[i].msg[0]);
			assert_true(l.v[i].pos.line > 0);
		}
		err_list_fini(&l);
		arena_free(inner);
	}
}

static void test_malformed(void **state)
{
	struct fs_names list = { 0 };
	struct err e = { 0 };
	int n = 0;

	(void)state;
	assert_int_equal(fs_list(a, "tests/spec", &list, &e), 0);
	for (size_t i = 0; i < list.names.n; i++) {
		struct err_list l = { 0 };
		struct spec *s;
		if (!str_ends(str_of(list.names.v[i]), ".yaml"))
			continue;
		n++;
		if (spec_load(a, fs_join(a, "tests/spec", list.names.v[i]), NULL, &s, &l) == 0 ||
		    !l.n)
			fail_msg("%s is taken as right", list.names.v[i]);
		for (size_t k = 0; k < l.n; k++) {
			assert_true(l.v[k].pos.line > 0 && l.v[k].pos.col > 0);
			assert_true(k == 0 || l.v[k - 1].pos.line <= l.v[k].pos.line);
		}
		err_list_fini(&l);
	}
	assert_true(n >= 30);
}

static void test_large(void **state)
{
	struct buf b;
	struct fleet *f;

	(void)state;
	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, "cluster: big\nproviders: {metal: {type: ssh}}\npools:\n");
	for (int i = 0; i < 100; i++)
		buf_addf(
			&b,
			"  p%d: {provider: metal, hosts: [\"p%d-n[000-099].example.org\"], vars: {i: %d}}\n",
			i, i, i);
	struct spec *s = load(b.p, NULL);
	assert_int_equal(fleet_expand(a, s, &f, &errs), 0);
	assert_int_equal(f->nodes.n, 10000);
	buf_fini(&b);
}

static void check_quantities(void)
{
	struct err e = { 0 };
	struct count c;
	int64_t n;

	assert_int_equal(quantity_bytes(STR("1000 GiB"), &n, &e), 0);
	assert_int_equal(n, 1000LL << 30);
	assert_int_equal(quantity_bytes(STR("1.5kB"), &n, &e), 0);
	assert_int_equal(n, 1500);
	assert_int_equal(quantity_bytes(STR("10"), &n, &e), -1);
	assert_int_equal(quantity_bytes(STR("10 GiBB"), &n, &e), -1);
	assert_int_equal(quantity_bytes(STR("99999999 PiB"), &n, &e), -1);
	assert_int_equal(quantity_duration(STR("1h30m"), &n, &e), 0);
	assert_int_equal(n, 5400000);
	assert_int_equal(quantity_duration(STR("500ms"), &n, &e), 0);
	assert_int_equal(n, 500);
	assert_int_equal(quantity_duration(STR("30m1h"), &n, &e), -1);
	assert_int_equal(quantity_duration(STR("m"), &n, &e), -1);
	assert_int_equal(quantity_count(STR("10%"), &c, &e), 0);
	assert_int_equal(count_of(c, 5), 1);
	assert_int_equal(count_of(c, 100), 10);
	assert_int_equal(count_of((struct count){ 0, true }, 100), 0);
	assert_int_equal(quantity_count(STR("101%"), &c, &e), -1);
	assert_int_equal(quantity_count(STR("-1"), &c, &e), -1);
}

static void check_rates(void)
{
	const struct {
		const char *text;
		int64_t rate; /* 0: refused */
	} cases[] = { { "20/s", 20000 },
		      { "90/m", 1500 },
		      { " 500 / h ", 138 },
		      { "0.5/s", 500 },
		      { "1000000/s", 1000000000 },
		      { "0/s", 0 },
		      { "1/w", 0 },
		      { "20", 0 },
		      { "/s", 0 },
		      { "20/", 0 },
		      { "20/s/s", 0 },
		      { "-1/s", 0 },
		      { "20/fortnight", 0 },
		      { "1000001/s", 0 },
		      { "99999999999999/s", 0 } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err e = { 0 };
		int64_t n = 0;
		int rc = quantity_rate(str_of(cases[i].text), &n, &e);
		assert_int_equal(rc, cases[i].rate ? 0 : -1);
		assert_int_equal(n, cases[i].rate);
		assert_int_equal(e.kind, rc ? ERR_SPEC : ERR_NONE);
	}
}

static void test_quantities(void **state)
{
	(void)state;
	check_quantities();
	check_rates();
}

static void test_documents(void **state)
{
	struct value *v;
	struct err e = { 0 };
	struct buf b;

	(void)state;
	buf_init(&b, BUF_MAX_DEFAULT);
	field_schema(&b, spec_fields, "muster");
	assert_int_equal(json_parse(a, "schema", buf_str(&b), &v, &e), 0);
	assert_non_null(value_path(
		v, "properties.pools.additionalProperties.properties.ssh.properties.port"));
	assert_null(value_path(v, "properties.volumes"));
	buf_clear(&b);
	field_manual(&b, spec_fields);
	assert_non_null(strstr(b.p, "pools.NAME.ssh.user"));
	assert_non_null(strstr(b.p, "host\\_key\\_checking"));
	buf_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_decoded, setup, teardown),
		cmocka_unit_test_setup_teardown(test_extra_vars, setup, teardown),
		cmocka_unit_test_setup_teardown(test_include_and_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_secret, setup, teardown),
		cmocka_unit_test_setup_teardown(test_truncated, setup, teardown),
		cmocka_unit_test_setup_teardown(test_malformed, setup, teardown),
		cmocka_unit_test_setup_teardown(test_large, setup, teardown),
		cmocka_unit_test_setup_teardown(test_quantities, setup, teardown),
		cmocka_unit_test_setup_teardown(test_documents, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
