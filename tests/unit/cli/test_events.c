/* SPDX-License-Identifier: Apache-2.0 */
/* The table of events: its examples keep to it, and what does not keep to it is found. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/events.h"

static struct arena *a;

static struct value *parsed(const char *text)
{
	struct err e = { 0 };
	struct value *v = NULL;

	if (json_parse(a, "example", str_of(text), &v, &e) < 0)
		fail_msg("%s: %s", text, e.msg);
	return v;
}

static void examples_keep_to_the_table(void **state unused_arg)
{
	size_t n = 0;

	for (const struct event_type *t = event_types; t->name; t++, n++) {
		const char *fault = event_fault(a, t->name, parsed(t->example));

		if (fault)
			fail_msg("the example of %s: %s", t->name, fault);
	}
	assert_true(n >= 18);
}

static void every_field_is_described(void **state unused_arg)
{
	for (const struct event_type *t = event_types; t->name; t++) {
		assert_non_null(t->doc);
		for (const struct event_field *f = t->fields; f->name; f++) {
			assert_non_null(f->doc);
			assert_null(strstr(f->doc, "|")); /* would end a cell */
		}
	}
}

static void faults_are_found(void **state unused_arg)
{
	static const struct {
		const char *type, *fields, *fault;
	} cases[] = {
		{ "stepp_done", "{}", "the type stepp_done is not in the table" },
		{ "stopping", "{\"signal\":\"INT\"}", "stopping lacks at_once" },
		{ "stopping", "{\"signal\":2,\"at_once\":true}", "stopping.signal is no string" },
		{ "stopping", "{\"signal\":\"INT\",\"at_once\":true,\"color\":1}",
		  "stopping has the field color, which is not in the table" },
		{ "stopping", "{\"signal\":\"INT\",\"at_once\":true,\"run\":\"x\"}", NULL },
		{ "leftover",
		  "{\"provider\":\"c\",\"kind\":\"m\",\"id\":\"1\",\"name\":null,\"created\":null,\"quota\":null,\"scarcity\":0,\"owner\":null,\"deleted\":false}",
		  NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *fault = event_fault(a, cases[i].type, parsed(cases[i].fields));

		if (!cases[i].fault)
			assert_null(fault);
		else
			assert_string_equal(fault, cases[i].fault);
	}
	assert_string_equal(event_fault(a, "stopping", NULL), "stopping lacks signal");
}

static void the_page_has_all_types(void **state unused_arg)
{
	scoped(buf_fini) struct buf md = { 0 }, man = { 0 };

	buf_init(&md, SIZE_MAX);
	buf_init(&man, SIZE_MAX);
	event_markdown(&md);
	event_manual(&man);
	for (const struct event_type *t = event_types; t->name; t++) {
		assert_non_null(strstr(md.p, arena_printf(a, "### `%s`\n", t->name)));
		assert_non_null(strstr(man.p, arena_printf(a, "## %s\n", t->name)));
		assert_non_null(strstr(md.p, t->example));
	}
}

static int setup(void **state unused_arg)
{
	a = arena_new("test");
	return 0;
}

static int teardown(void **state unused_arg)
{
	arena_free(a);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_keep_to_the_table),
		cmocka_unit_test(every_field_is_described),
		cmocka_unit_test(faults_are_found),
		cmocka_unit_test(the_page_has_all_types),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
