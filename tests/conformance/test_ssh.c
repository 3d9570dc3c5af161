/* SPDX-License-Identifier: Apache-2.0 */
/* The contract, asked of the ssh provider. */
#include "tests/conformance/suite.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct suite ssh = { .type = "ssh",
			    .options = "{}",
			    .state_dir = "/nonexistent",
			    .self = "/nonexistent",
			    .machine_attrs = "{host: gpu1.example.org}",
			    .machines = 5 };

static void life(void **state unused_arg)
{
	suite_run(&ssh, "one", suite_life);
}

static void parallel(void **state unused_arg)
{
	suite_run(&ssh, "one", suite_parallel);
}

static void strangers(void **state unused_arg)
{
	suite_run(&ssh, "one", suite_strangers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life),
		cmocka_unit_test(parallel),
		cmocka_unit_test(strangers),
	};
	return cmocka_run_group_tests_name("conformance ssh", tests, NULL, NULL);
}
