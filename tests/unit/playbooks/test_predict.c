/* SPDX-License-Identifier: Apache-2.0 */
/* What a patch leaves behind, foretold: the next task must find its own question answered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "playbooks/list.h"
#include "playbooks/probe.h"

struct task {
	struct mod_call call;
	struct probe probe;
	struct changes changes;
	void *memo;
};

static void ask(struct arena *a, struct task *t, const struct module *m, struct value *raw)
{
	struct err e = { 0 };

	*t = (struct task){ .call = { .a = a, .module = m }, .changes = { .a = a } };
	t->call.memo = &t->memo;
	t->changes.result = value_map(a);
	assert_int_equal(args_decode(a, m->name, m->args, raw, &t->call.args, &e), 0);
	probe_init(&t->probe, a);
	assert_int_equal(m->probe(&t->call, &t->probe, &e), 0);
}

static void nothing_is_there(struct answers *an, const struct probe *p)
{
	for (size_t i = 0; i < p->index.n; i++)
		answers_put(an, p->index.e[i].val, STR_NONE);
}

/* A user who is made and gets his keys in one window. */
static void keys_of_a_new_user(void **state)
{
	struct arena *a = arena_new("predict");
	struct value *user = value_map(a), *key = value_map(a);
	struct task make, keys;
	struct answers an;
	struct patch p;
	struct err e = { 0 };

	(void)state;
	value_set(user, "name", value_cstr(a, "ann"));
	value_set(user, "home", value_cstr(a, "/srv/ann"));
	value_set(key, "user", value_cstr(a, "ann"));
	value_set(key, "key", value_cstr(a, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA one"));
	answers_init(&an, a);
	ask(a, &make, &module_user, user);
	ask(a, &keys, &module_authorized_key, key);
	nothing_is_there(&an, &make.probe);
	assert_false(answers_have(&an, &keys.probe));
	assert_int_equal(module_user.check(&make.call, &an, &make.changes, &e), 0);
	make.changes.predicted = &an;
	patch_init(&p);
	assert_int_equal(module_user.patch(&make.call, &make.changes, &p, &e), 0);
	patch_fini(&p);
	assert_true(answers_have(&an, &keys.probe));
	assert_int_equal(module_authorized_key.check(&keys.call, &an, &keys.changes, &e), 0);
	assert_false(keys.changes.failed);
	assert_int_equal(keys.changes.v.n, 1);
	assert_string_equal(keys.changes.v.v[0].what,
			    "file /srv/ann/.ssh/authorized_keys: content");
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(keys_of_a_new_user) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
