/* SPDX-License-Identifier: Apache-2.0 */
/* Every row of the truth table of one field, and of one resource; configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/diff.h"

struct attrs {
	struct obj obj;
	struct str size, image, password, address;
};

static const struct field rows[] = {
	FIELD(attrs, size, F_STR, 0, NULL, NULL, "x"),
	FIELD(attrs, image, F_STR, FIELD_FIXED, NULL, NULL, "x"),
	FIELD(attrs, password, F_STR, FIELD_SECRET, NULL, NULL, "x"),
	FIELD(attrs, address, F_STR, FIELD_COMPUTED, NULL, NULL, "x"),
	FIELD_END,
};

static struct arena *a;

static int setup(void **unused unused_arg)
{
	a = arena_new("test");
	return 0;
}

static int teardown(void **unused unused_arg)
{
	arena_free(a);
	return 0;
}

static const struct value *map1(const char *key, const char *text)
{
	struct value *m = value_map(a);

	if (text)
		value_set(m, key, value_cstr(a, text));
	return m;
}

static struct diff_input base(void)
{
	return (struct diff_input){
		.addr = "node.a[0]",
		.kind = "machine",
		.provider = "p",
		.node = "a-0",
		.pool = "a",
		.fields = rows,
		.can_update = true,
		.looked = true,
		.status = "running",
		.id = "i-1",
	};
}

/* w, r, s -> what is to be done about it, and is it drift? */
static void one_field(void **unused unused_arg)
{
	static const struct {
		const char *w, *r, *s;
		int cause; /* -1: no change */
		bool drift;
	} cases[] = {
		{ "1", "1", "1", -1, false },
		{ "2", "1", "1", CAUSE_SPEC, false },
		{ "1", "1", "2", CAUSE_OUTSIDE, true },
		{ "3", "1", "2", CAUSE_BOTH, true },
		{ "2", "1", "2", -1, false },  /* somebody made it so already */
		{ "1", "1", NULL, -1, false }, /* not told: as recorded */
		{ "2", "1", NULL, CAUSE_SPEC, false },
		{ NULL, "1", "1", CAUSE_SPEC, false }, /* taken out of the spec */
		{ "1", NULL, NULL, CAUSE_SPEC, false },
		{ NULL, NULL, NULL, -1, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct diff_input in = base();
		struct diff_output out;
		in.want = map1("size", cases[i].w);
		in.recorded = map1("size", cases[i].r);
		in.seen = map1("size", cases[i].s);
		diff_resource(a, &in, &out);
		assert_int_equal(out.change ? (int)out.change->cause : -1, cases[i].cause);
		assert_int_equal(out.drift != NULL, cases[i].drift);
		if (out.change) {
			assert_int_equal(out.change->action, CHANGE_UPDATE);
			assert_int_equal(out.change->fields.n, 1);
			assert_string_equal(out.change->fields.v[0].path, "size");
		}
	}
}

static void fixed_fields_replace(void **unused unused_arg)
{
	struct diff_input in = base();
	struct diff_output out;

	in.want = map1("image", "b");
	in.recorded = in.seen = map1("image", "a");
	diff_resource(a, &in, &out);
	assert_int_equal(out.change->action, CHANGE_REPLACE);
	assert_true(out.change->fields.v[0].forces_replace);
	assert_string_equal(out.change->reason, "image changed");
	assert_int_equal(out.change->unknown.n, 1);
	assert_string_equal(out.change->unknown.v[0], "address");
	/* What can't be updated is replaced as well. */
	in.want = map1("size", "b");
	in.recorded = in.seen = map1("size", "a");
	in.can_update = false;
	diff_resource(a, &in, &out);
	assert_int_equal(out.change->action, CHANGE_REPLACE);
}

static void computed_fields_never_count(void **unused unused_arg)
{
	struct diff_input in = base();
	struct diff_output out;

	in.want = value_map(a);
	in.recorded = map1("address", "10.0.0.1");
	in.seen = map1("address", "10.0.0.2");
	diff_resource(a, &in, &out);
	assert_null(out.change);
	assert_null(out.drift);
}

static void secrets_are_compared_sealed_and_never_shown(void **unused unused_arg)
{
	struct diff_input in = base();
	struct diff_output out;
	scoped(buf_fini) struct buf b = { 0 };

	in.want = map1("password", "digest-2");
	in.recorded = map1("password", "digest-1");
	in.seen = map1("password", "clear text"); /* can't be compared with a digest */
	diff_resource(a, &in, &out);
	assert_non_null(out.change);
	assert_null(out.drift);
	buf_init(&b, 4096);
	json_write(&b, out.change->fields.v[0].before, 0);
	json_write(&b, out.change->fields.v[0].after, 0);
	json_write(&b, out.change->after, 0);
	json_write(&b, out.change->before, 0);
	assert_null(strstr(b.p, "digest"));
	assert_null(strstr(b.p, "clear"));
	assert_non_null(strstr(b.p, "(sensitive)"));
	in.want = in.recorded;
	diff_resource(a, &in, &out);
	assert_null(out.change);
}

static void whole_resources(void **unused unused_arg)
{
	const struct value *v = map1("size", "1");
	const struct {
		const char *name;
		bool want, recorded, seen, looked, interrupted, deleting;
		int action; /* -1: none */
		bool drift;
	} cases[] = {
		{ "nothing", 0, 0, 0, 1, 0, 0, -1, false },
		{ "create", 1, 0, 0, 1, 0, 0, CHANGE_CREATE, false },
		{ "there", 1, 1, 1, 1, 0, 0, -1, false },
		{ "vanished", 1, 1, 0, 1, 0, 0, CHANGE_CREATE, true },
		{ "vanished, nobody looked", 1, 1, 0, 0, 0, 0, -1, false },
		{ "delete", 0, 1, 1, 1, 0, 0, CHANGE_DELETE, false },
		{ "delete, nobody looked", 0, 1, 0, 0, 0, 0, CHANGE_DELETE, false },
		{ "gone already", 0, 1, 0, 1, 0, 0, CHANGE_FORGET, true },
		{ "interrupted, not made", 1, 0, 0, 1, 1, 0, CHANGE_CREATE, false },
		{ "interrupted, made", 1, 1, 1, 1, 1, 0, -1, false },
		{ "interrupted, not made, unwanted", 0, 0, 0, 1, 1, 0, CHANGE_FORGET, false },
		{ "interrupted, made, unwanted", 0, 1, 1, 1, 1, 0, CHANGE_DELETE, false },
		{ "deletion interrupted, gone", 0, 1, 0, 1, 0, 1, CHANGE_FORGET, false },
		{ "deletion interrupted, gone, wanted again", 1, 1, 0, 1, 0, 1, CHANGE_CREATE,
		  false },
		{ "deletion interrupted, there, wanted again", 1, 1, 1, 1, 0, 1, CHANGE_REPLACE,
		  false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct diff_input in = base();
		struct diff_output out;
		in.want = cases[i].want ? v : NULL;
		in.recorded = cases[i].recorded ? v : NULL;
		in.seen = cases[i].seen ? v : NULL;
		in.looked = cases[i].looked;
		in.interrupted = cases[i].interrupted;
		in.deleting = cases[i].deleting;
		diff_resource(a, &in, &out);
		int action = out.change ? (int)out.change->action : -1;
		if (action != cases[i].action || (out.drift != NULL) != cases[i].drift)
			fail_msg("%s: action %d, drift %d", cases[i].name, action,
				 out.drift != NULL);
	}
}

static void status_matters(void **unused unused_arg)
{
	struct diff_input in = base();
	struct diff_output out;

	in.want = in.recorded = in.seen = map1("size", "1");
	in.status = "stopped";
	diff_resource(a, &in, &out);
	assert_int_equal(out.change->action, CHANGE_UPDATE);
	assert_int_equal(out.change->cause, CAUSE_OUTSIDE);
	assert_string_equal(out.change->reason, "it is stopped");
	assert_false(out.change->in_service);
	assert_non_null(out.drift);
	in.status = "error";
	diff_resource(a, &in, &out);
	assert_int_equal(out.change->action, CHANGE_REPLACE);
}

static void other_dependencies_replace(void **unused unused_arg)
{
	struct diff_input in = base();
	struct diff_output out;

	in.want = in.recorded = in.seen = map1("size", "1");
	VEC_ADD(a, &in.want_deps.v) = "p.network.new";
	VEC_ADD(a, &in.recorded_deps.v) = "p.network.old";
	diff_resource(a, &in, &out);
	assert_int_equal(out.change->action, CHANGE_REPLACE);
	assert_string_equal(out.change->fields.v[0].path, "network");
}

static void configurations(void **unused unused_arg)
{
	struct node_probe clean = { .probed = true }, dirty = { .probed = true },
			  failed = { .probed = true, .failed = true },
			  away = { .unreachable = true };
	const struct {
		const char *name, *digest, *recorded;
		bool tainted, fresh, moved;
		const struct node_probe *probe;
		int cause; /* -1: none */
		bool drift;
		size_t unknown;
	} cases[] = {
		{ "as recorded, nothing found", "d", "d", 0, 0, 0, &clean, -1, false, 0 },
		{ "as recorded, changed on the node", "d", "d", 0, 0, 0, &dirty, CAUSE_OUTSIDE,
		  true, 0 },
		{ "as recorded, not probed", "d", "d", 0, 0, 0, NULL, -1, false, 0 },
		{ "as recorded, unreachable", "d", "d", 0, 0, 0, &away, -1, false, 0 },
		{ "spec changed", "e", "d", 0, 0, 0, &dirty, CAUSE_SPEC, false, 0 },
		{ "spec changed, nothing found", "e", "d", 0, 0, 0, &clean, CAUSE_SPEC, false, 0 },
		{ "spec changed, not probed", "e", "d", 0, 0, 0, NULL, CAUSE_SPEC, false, 1 },
		{ "never", "d", NULL, 0, 0, 0, NULL, CAUSE_SPEC, false, 1 },
		{ "failed before", "d", "d", 1, 0, 0, &clean, CAUSE_SPEC, false, 0 },
		{ "new machine", "d", NULL, 0, 1, 0, NULL, CAUSE_SPEC, false, 1 },
		{ "other nodes came", "d", "d", 0, 0, 1, &dirty, CAUSE_SPEC, false, 0 },
		{ "could not be checked", "d", "d", 0, 0, 0, &failed, CAUSE_OUTSIDE, false, 0 },
	};

	VEC_ADD(a, &dirty.fields) = (struct field_change){ .path = "package nginx" };
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct diff_config_input in = {
			.addr = "node.a[0]",
			.node = "a-0",
			.pool = "a",
			.provider = "p",
			.wanted = true,
			.digest = cases[i].digest,
			.recorded = cases[i].recorded,
			.tainted = cases[i].tainted,
			.fresh = cases[i].fresh,
			.fleet_moved = cases[i].moved,
			.probe = cases[i].probe,
		};
		struct diff_output out;
		diff_config(a, &in, &out);
		int cause = out.change ? (int)out.change->cause : -1;
		if (cause != cases[i].cause || (out.drift != NULL) != cases[i].drift ||
		    (out.change && out.change->unknown.n != cases[i].unknown))
			fail_msg("%s: cause %d, drift %d", cases[i].name, cause, out.drift != NULL);
		in.wanted = false;
		diff_config(a, &in, &out);
		assert_null(out.change);
	}
}

/* The plan names the task that could not be decided, and nothing of its message. */
static void unchecked_tasks(void **unused unused_arg)
{
	static const struct {
		const char *note, *reason;
	} cases[] = {
		{ NULL, "a task could not be checked" },
		{ "no task at all", "a task could not be checked" },
		{ "judge: it said: no", "a task could not be checked: judge" },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct node_probe failed = { .probed = true, .failed = true };
		const struct diff_config_input in = {
			.addr = "node.a[0]",
			.node = "a-0",
			.pool = "a",
			.provider = "p",
			.wanted = true,
			.digest = "d",
			.recorded = "d",
			.probe = &failed,
		};
		struct diff_output out;

		if (cases[i].note)
			VEC_ADD(a, &failed.notes) = cases[i].note;
		diff_config(a, &in, &out);
		assert_string_equal(out.change->reason, cases[i].reason);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_field, setup, teardown),
		cmocka_unit_test_setup_teardown(fixed_fields_replace, setup, teardown),
		cmocka_unit_test_setup_teardown(computed_fields_never_count, setup, teardown),
		cmocka_unit_test_setup_teardown(secrets_are_compared_sealed_and_never_shown, setup,
						teardown),
		cmocka_unit_test_setup_teardown(whole_resources, setup, teardown),
		cmocka_unit_test_setup_teardown(status_matters, setup, teardown),
		cmocka_unit_test_setup_teardown(other_dependencies_replace, setup, teardown),
		cmocka_unit_test_setup_teardown(configurations, setup, teardown),
		cmocka_unit_test_setup_teardown(unchecked_tasks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
