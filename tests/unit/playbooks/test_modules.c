/* SPDX-License-Identifier: Apache-2.0 */
/* Every file of cases/ (module_case.h says what is in one). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "tests/unit/playbooks/module_case.h"

static void cases(void **state)
{
	size_t total = 0;

	assert_int_equal(module_cases_run(*state, &total), 0);
	assert_true(total > 0);
}

int main(void)
{
	struct arena *a scoped(arena_freep) = arena_new("test");
	struct CMUnitTest tests[64];
	struct fs_names files = { { 0 } };
	struct err e = { 0 };
	size_t n = 0;

	if (fs_list(a, "tests/unit/playbooks/cases", &files, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		return 1;
	}
	for (size_t i = 0; i < files.names.n && n < ARRAY_LEN(tests); i++)
		if (str_ends(str_of(files.names.v[i]), ".yaml"))
			tests[n++] = (struct CMUnitTest){
				.name = files.names.v[i],
				.test_func = cases,
				.initial_state = fs_join(a, "tests/unit/playbooks/cases",
							 files.names.v[i]),
			};
	return _cmocka_run_group_tests("modules", tests, n, NULL, NULL);
}
