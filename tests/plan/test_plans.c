/* SPDX-License-Identifier: Apache-2.0 */
/* Golden plans, see README.md in this folder. */
#include "golden.h"

#include "templates/templates.h"

#define CASES "tests/plan"

static bool run_case(const char *dir)
{
	struct golden g = { .a = arena_new("golden"), .name = dir };
	scoped(buf_fini) struct buf got = { 0 };
	struct err e = { 0 };
	struct str want = STR_NONE;
	const char *path = fs_join(g.a, dir, "plan.txt");

	golden_spec(&g, fs_join(g.a, dir, "spec.yaml"));
	g.recorded = golden_json(&g, fs_join(g.a, dir, "recorded.json"));
	g.observed = golden_json(&g, fs_join(g.a, dir, "observed.json"));
	g.options = golden_json(&g, fs_join(g.a, dir, "options.json"));
	struct plan *p = golden_plan(&g);
	golden_round_trip(&g, p);
	buf_init(&got, 1 << 20);
	golden_write(&g, &got, p);
	if (golden_update()) {
		assert_int_equal(fs_write_atomic(path, buf_str(&got), 0644, &e), 0);
	} else if (fs_read(g.a, path, 1 << 20, &want, &e)) {
		print_message("%s: %s\n", path, e.msg);
	}
	bool ok = golden_update() || str_eq(want, buf_str(&got));
	if (!ok)
		print_message("%s: expected\n" STR_FMT "got\n%s\n", dir, STR_ARG(want), got.p);
	arena_free(g.a);
	return ok;
}

static void test_all(void **unused unused_arg)
{
	scoped(arena_freep) struct arena *a = arena_new("cases");
	struct fs_names dirs = { 0 };
	struct err e = { 0 };
	size_t run = 0, failed = 0;
	int64_t start = clock_now();

	assert_int_equal(fs_list(a, CASES, &dirs, &e), 0);
	for (size_t i = 0; i < dirs.names.n; i++) {
		const char *dir = fs_join(a, CASES, dirs.names.v[i]);
		if (str_ends(str_of(dir), ".cases"))
			run += cases_run(dir, &failed);
		if (!fs_exists(fs_join(a, dir, "spec.yaml")))
			continue;
		run++;
		failed += !run_case(dir);
	}
	print_message("# %zu plans in %lld ms\n", run, (long long)(clock_now() - start));
	assert_true(run >= 200);
	assert_int_equal(failed, 0);
}

bool golden_update(void)
{
	return getenv("MUSTER_TEST_UPDATE") != NULL;
}

/* {{ secret('text') }} gives the text, as a secret. */
static int secret(void *arg unused_arg, struct arena *a, const struct value *args,
		  const struct value **out, struct err *e)
{
	if (!args->list.n)
		return err_set(e, ERR_SPEC, "secret needs a text");
	*out = value_secret(a, args->list.v[0]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_all) };

	template_add_function("secret", secret, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
