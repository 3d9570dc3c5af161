/* SPDX-License-Identifier: Apache-2.0 */
/* Every provider's tables are whole: what the engine relies on without asking. */
#include "providers/providers.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void finds_by_name(void **state unused_arg)
{
	for (size_t i = 0; provider_types[i]; i++)
		assert_ptr_equal(provider_type_find(str_of(provider_types[i]->name)),
				 provider_types[i]);
	assert_null(provider_type_find(STR("nosuch")));
	assert_null(provider_type_find(STR_NONE));
}

static const struct field *row(const struct field *f, const char *name)
{
	for (; f->name; f++)
		if (!strcmp(f->name, name))
			return f;
	return NULL;
}

static void check_rows(const struct field *f)
{
	for (; f->name; f++) {
		assert_non_null(f->doc);
		assert_true(strlen(f->doc) > 3);
		assert_true(f->doc[strlen(f->doc) - 1] != '.');
		if (f->sub)
			check_rows(f->sub);
	}
}

static void tables_are_whole(void **state unused_arg)
{
	for (size_t i = 0; provider_types[i]; i++) {
		const struct provider_type *t = provider_types[i];
		bool network = false;
		assert_non_null(t->doc);
		assert_non_null(t->open);
		check_rows(t->options);
		check_rows(t->pool_options);
		for (size_t k = 0; t->types[k]; k++) {
			const struct resource_type *r = t->types[k];
			network = network || !strcmp(r->kind, "network");
			check_rows(r->fields);
			assert_non_null(r->create);
			assert_non_null(r->destroy);
			assert_non_null(r->find);
			assert_true(r->create_timeout_ms > 0 && r->delete_timeout_ms > 0);
			assert_true(strcmp(r->kind, "machine") || r->reach);
			if (t->owns_hosts)
				assert_non_null(r->list);
		}
		assert_int_equal(network, t->has_network);
	}
}

/* A pool's own options arrive as attributes of its machines, so each needs a row there. */
static void pool_options_are_attributes(void **state unused_arg)
{
	for (size_t i = 0; provider_types[i]; i++)
		for (size_t k = 0; provider_types[i]->types[k]; k++)
			for (const struct field *f = provider_types[i]->pool_options; f->name; f++)
				if (!strcmp(provider_types[i]->types[k]->kind, "machine"))
					assert_non_null(
						row(provider_types[i]->types[k]->fields, f->name));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_by_name),
		cmocka_unit_test(tables_are_whole),
		cmocka_unit_test(pool_options_are_attributes),
	};
	return cmocka_run_group_tests_name("providers list", tests, NULL, NULL);
}
