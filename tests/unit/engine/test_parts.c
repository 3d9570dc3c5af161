/* SPDX-License-Identifier: Apache-2.0 */
/* The small parts: wanted resources, selections, waiting, keys, play patterns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/keys.h"
#include "engine/retry.h"
#include "engine/selection.h"
#include "engine/want.h"
#include "engine/world.h"

/* ---- want ---- */

struct test_attrs {
	struct obj obj;
	struct str image, machine, host, address, token;
	int64_t disk, wait, n;
	bool flag;
	struct str_list tags;
};

static const struct field machine_rows[] = {
	FIELD(test_attrs, image, F_STR, FIELD_FIXED, NULL, NULL, "x"),
	FIELD(test_attrs, machine, F_STR, 0, "small", NULL, "x"),
	FIELD(test_attrs, disk, F_BYTES, 0, "10 GiB", NULL, "x"),
	FIELD(test_attrs, wait, F_DURATION, 0, NULL, NULL, "x"),
	FIELD(test_attrs, n, F_INT, 0, NULL, NULL, "x"),
	FIELD(test_attrs, flag, F_BOOL, 0, NULL, NULL, "x"),
	FIELD(test_attrs, tags, F_STRS, 0, NULL, NULL, "x"),
	FIELD(test_attrs, token, F_STR, FIELD_SECRET, NULL, NULL, "x"),
	FIELD(test_attrs, address, F_STR, FIELD_COMPUTED, NULL, NULL, "x"),
	FIELD_END,
};
static const struct field network_rows[] = {
	{ "cidr", F_CIDR, FIELD_FIXED, 0, "10.0.0.0/8", NULL, "x", NULL, 0 },
	FIELD_END,
};
static const struct field host_rows[] = {
	FIELD(test_attrs, host, F_STR, FIELD_FIXED, NULL, NULL, "x"),
	FIELD_END,
};
static const struct resource_type machine = { .kind = "machine", .fields = machine_rows };
static const struct resource_type network = { .kind = "network", .fields = network_rows };
static const struct resource_type host = { .kind = "machine", .fields = host_rows };
static const struct resource_type *const cloud_types[] = { &network, &machine, NULL };
static const struct resource_type *const metal_types[] = { &host, NULL };
static const struct provider_type cloud = {
	.name = "cloud", .owns_hosts = true, .has_network = true, .types = cloud_types
};
static const struct provider_type metal = { .name = "metal", .types = metal_types };

static const struct provider_type *type_of(struct str type)
{
	return str_eqc(type, "cloud") ? &cloud : str_eqc(type, "metal") ? &metal : NULL;
}

static int seal(void *arg, struct arena *a, const struct value *v, const struct value **out,
		struct err *e unused_arg)
{
	struct value *own = value_map(a);

	++*(int *)arg;
	value_set(own, "token", value_cstr(a, "sealed"));
	*out = value_merge(a, v, own, false);
	return 0;
}

/* A spec made by hand: cloud pools a (2 nodes, default network) and b (1 node, network main), metal
 * pool m. */
static struct spec *make_spec(struct arena *a)
{
	struct spec *s = arena_obj(a, struct spec);
	struct spec_provider *p = arena_array(a, struct spec_provider, 2);
	struct spec_network *n = arena_array(a, struct spec_network, 1);
	struct spec_pool *pools = arena_array(a, struct spec_pool, 3);
	struct value *options = value_map(a);

	p[0].name = p[0].type = STR("cloud");
	p[1].name = STR("owned");
	p[1].type = STR("metal");
	n[0].name = STR("main");
	n[0].provider = STR("cloud");
	n[0].cidr = STR("10.7.0.0/16");
	value_set(options, "wait", value_cstr(a, "2m"));
	value_set(options, "n", value_cstr(a, "7"));
	value_set(options, "flag", value_cstr(a, "true"));
	value_set(options, "tags", value_cstr(a, "one"));
	value_set(options, "token", value_cstr(a, "hunter22"));
	pools[0] = (struct spec_pool){ .name = STR("a"),
				       .provider = STR("cloud"),
				       .count = 2,
				       .image = STR("deb"),
				       .options = options };
	pools[1] = (struct spec_pool){ .name = STR("b"),
				       .provider = STR("cloud"),
				       .count = 1,
				       .machine = STR("big"),
				       .network = STR("main") };
	pools[2] = (struct spec_pool){ .name = STR("m"), .provider = STR("owned") };
	VEC_ADD(a, &pools[2].hosts.items) = STR("gpu[1-2].lab");
	s->providers = (struct obj_list){ p, 2 };
	s->networks = (struct obj_list){ n, 1 };
	s->pools = (struct obj_list){ pools, 3 };
	return s;
}

static void want_list(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("test");
	struct err_list errs = { 0 };
	struct err e = { 0 };
	struct want w;
	int seals = 0;
	static const char *const addrs[] = {
		"cloud.network.main", "cloud.network.default", "node.a[0]",	   "node.a[1]",
		"node.b[0]",	      "node.m[gpu1.lab]",      "node.m[gpu2.lab]",
	};
	struct fleet *f = NULL;
	struct want_source src = {
		.spec = make_spec(a), .type_of = type_of, .seal = seal, .arg = &seals
	};

	assert_int_equal(fleet_expand(a, src.spec, &f, &errs), 0);
	src.fleet = f;
	assert_int_equal(want_build(a, &src, &w, &e), 0);
	assert_int_equal(w.v.n, ARRAY_LEN(addrs));
	for (size_t i = 0; i < w.v.n; i++)
		assert_string_equal(w.v.v[i]->addr, addrs[i]);
	assert_int_equal(seals, 1); /* once a pool, not once a node */
	const struct want_item *x = map_getc(&w.by_addr, "node.a[1]");
	assert_string_equal(x->name, "a-1");
	assert_int_equal(value_get_int(x->attrs, "disk", 0), (int64_t)10 << 30);
	assert_int_equal(value_get_int(x->attrs, "wait", 0), 120000);
	assert_int_equal(value_get_int(x->attrs, "n", 0), 7);
	assert_true(value_get_bool(x->attrs, "flag", false));
	assert_int_equal(value_get(x->attrs, "tags")->kind, V_LIST);
	assert_true(str_eqc(value_get_str(x->attrs, "machine", ""), "small"));
	assert_true(value_get(x->attrs, "token")->secret);
	assert_true(str_eqc(value_get_str(x->sealed, "token", ""), "sealed"));
	assert_string_equal(x->deps.v[0], "cloud.network.default");
	x = map_getc(&w.by_addr, "node.b[0]");
	assert_string_equal(x->deps.v[0], "cloud.network.main");
	assert_true(str_eqc(value_get_str(x->attrs, "machine", ""), "big"));
	x = map_getc(&w.by_addr, "node.m[gpu2.lab]");
	assert_true(str_eqc(value_get_str(x->attrs, "host", ""), "gpu2.lab"));
	assert_int_equal(x->deps.n, 0);
	x = map_getc(&w.by_addr, "cloud.network.main");
	assert_true(str_eqc(value_get_str(x->attrs, "cidr", ""), "10.7.0.0/16"));
	err_list_fini(&errs);
}

static void node_names(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("test");

	assert_string_equal(want_node_name(a, NULL, "node.h100[17]"), "h100-17");
	assert_string_equal(want_node_name(a, NULL, "node.old[gpu1.lab]"), "gpu1.lab");
	assert_string_equal(want_node_name(a, NULL, "cloud.network.main"), "cloud.network.main");
	assert_string_equal(want_node_name(a, NULL, "node.x"), "node.x");
}

/* ---- selection ---- */

static void check_selection(const struct selection_said *said, const char *chosen)
{
	scoped(arena_freep) struct arena *a = arena_new("test");
	static const struct selectable things[] = {
		{ "p.network.main", NULL, NULL },
		{ "node.a[0]", "a-0", "a" },
		{ "node.a[1]", "a-1", "a" },
		{ "node.b[0]", "b-0", "b" },
	};
	struct selectables all = { 0 };
	struct selection s = { 0 };
	struct err e = { 0 };
	char got[ARRAY_LEN(things) + 1] = "";

	for (size_t i = 0; i < ARRAY_LEN(things); i++)
		VEC_ADD(a, &all.v) = things[i];
	if (selection_make(a, &all, said, &s, &e)) {
		assert_null(chosen);
		assert_int_equal(e.kind, ERR_USAGE);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(things); i++)
		got[i] = selection_has(&s, things[i].addr) ? 'x' : '.';
	assert_non_null(chosen);
	assert_string_equal(got, chosen);
}

static void selections(void **unused unused_arg)
{
	static const char *const net[] = { "p.network.main", NULL },
				 *const a1[] = { "node.a[1]", NULL },
				 *const both[] = { "p.network.main", "@b", NULL },
				 *const none[] = { "node.q[1]", NULL };
	const struct {
		struct selection_said said;
		const char *chosen;
	} cases[] = {
		{ { NULL, NULL, NULL }, "xxxx" },      { { "@a", NULL, NULL }, ".xx." },
		{ { "a-1,b-0", NULL, NULL }, "..xx" }, { { NULL, net, NULL }, "x..." },
		{ { NULL, a1, NULL }, "..x." },	       { { NULL, both, NULL }, "x..x" },
		{ { NULL, NULL, a1 }, "xx.x" },	       { { "@a", NULL, a1 }, ".x.." },
		{ { "zzz", NULL, NULL }, NULL },       { { NULL, none, NULL }, NULL },
		{ { "@a", a1, NULL }, "..x." },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_selection(&cases[i].said, cases[i].chosen);
}

/* ---- retry ---- */

static void waits_grow_and_are_spread(void **unused unused_arg)
{
	struct retry r = { .base_ms = 200, .cap_ms = 15000 };
	int64_t last = 0;

	for (r.tries = 0; r.tries < 40; r.tries++) {
		int64_t low = retry_delay(&r, 0), high = 0;
		for (uint64_t x = 0; x < 20000; x += 7) {
			int64_t d = retry_delay(&r, x);
			assert_true(d >= low);
			high = d > high ? d : high;
		}
		assert_true(low >= last / 2 && high <= 15000);
		assert_true(high > low);
		last = high;
	}
	assert_true(last > 14000);
}

/* ---- keys ---- */

static void keys_are_what_openssh_reads(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("test");
	char dir[] = "/tmp/muster-keys-XXXXXX";
	const char *path, *public_line, *again;
	struct proc_result r;
	struct str text;
	struct err e = { 0 };

	assert_non_null(mkdtemp(dir));
	assert_int_equal(keys_admin(a, dir, false, &path, &public_line, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_int_equal(keys_admin(a, dir, true, &path, &public_line, &e), 0);
	assert_int_equal(keys_admin(a, dir, true, &path, &again, &e), 0);
	assert_string_equal(public_line, again);
	assert_int_equal(fs_read(a, path, 4096, &text, &e), 0);
	const char *const argv[] = { "ssh-keygen", "-y", "-f", path, NULL };
	struct proc_opts o = { 0 };
	if (proc_run(a, argv, &o, &r, &e)) {
		print_message("no ssh-keygen here: %s\n", e.msg);
	} else {
		assert_int_equal(r.status, 0);
		assert_true(str_eqc(str_trim(r.out), public_line));
	}
	assert_int_equal(fs_remove_tree(dir, &e), 0);
}

static void every_key_is_another(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("test");
	struct ssh_keypair x, y;
	struct err e = { 0 };

	assert_int_equal(keys_generate(a, "x", &x, &e), 0);
	assert_int_equal(keys_generate(a, "x", &y, &e), 0);
	assert_string_not_equal(x.public_line, y.public_line);
	assert_false(str_eq(x.private_text, y.private_text));
}

/* ---- plays ---- */

static void play_patterns(void **unused unused_arg)
{
	static const struct spec_pool pool = { .name = STR("gpu") };
	const struct node n = { .name = "gpu-3", .pool = &pool };
	struct world_host h = { &n };
	static const struct {
		const char *pattern;
		bool match;
	} cases[] = {
		{ "all", true },	 { "*", true },		 { "gpu", true },
		{ "gpu-3", true },	 { "web", false },	 { "web,gpu", true },
		{ "web:gpu", true },	 { "gpu-*", true },	 { "all:!gpu", false },
		{ "!gpu:all", false },	 { "all:&gpu", true },	 { "all:&web", false },
		{ "gpu:!gpu-3", false }, { "gpu-[1-2]", false }, { "web, gpu-3", true },
		{ "all,!web", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (world_play_matches(&h, cases[i].pattern, n.name) != cases[i].match)
			fail_msg("%s", cases[i].pattern);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(want_list),
		cmocka_unit_test(node_names),
		cmocka_unit_test(selections),
		cmocka_unit_test(waits_grow_and_are_spread),
		cmocka_unit_test(keys_are_what_openssh_reads),
		cmocka_unit_test(every_key_is_another),
		cmocka_unit_test(play_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
