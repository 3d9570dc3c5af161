/* SPDX-License-Identifier: Apache-2.0 */
/* Every case of cases.json gives, byte for byte, what Jinja2 gave (compare.py keeps the file
 * honest). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>
#include <glob.h>

#include "templates/templates.h"

static const char *shown(struct arena *a, const struct value *v)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	json_write(&b, v, 0);
	return buf_dup(&b, a);
}

/* 0 when the engine agrees with the case. */
static int check_case(struct arena *a, const struct value *c, const struct scope *scope)
{
	struct str text = c->list.v[0]->s;
	const struct value *want = c->list.v[1], *got;
	struct err e = { 0 };
	struct pos where = { "case", 1, 1 };
	int rc = template_render(a, (struct template){ text, where }, scope, 0, &got, &e);

	if (rc < 0 && want->kind == V_NULL && e.kind == ERR_SPEC && e.pos.line > 0)
		return 0;
	if (rc == 0 && got->kind == V_STR && want->kind == V_STR && str_eq(got->s, want->s))
		return 0;
	print_error("%s\n  want %s\n  got  %s\n", shown(a, c->list.v[0]), shown(a, want),
		    rc < 0 ? e.msg : shown(a, got));
	return 1;
}

static int check_file(struct arena *a, const char *file)
{
	struct err e = { 0 };
	struct str text;
	struct value *data;
	int bad = 0;

	if (fs_read(a, file, 4 << 20, &text, &e) < 0 || json_parse(a, file, text, &data, &e) < 0)
		fail_msg("%s", e.msg);
	struct scope scope = { .vars = value_get(data, "vars") };
	const struct value *cases = value_get(data, "cases");
	for (size_t i = 0; i < cases->list.n; i++)
		bad += check_case(a, cases->list.v[i], &scope);
	return bad;
}

static void test_against_jinja2(void **state)
{
	struct arena *a scoped(arena_freep) = arena_new("test");
	glob_t found;
	int bad = 0;

	(void)state;
	assert_int_equal(glob("tests/unit/templates/cases*.json", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		bad += check_file(a, found.gl_pathv[i]);
	globfree(&found);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_against_jinja2) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
