/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: filling, wrapping, innermost wins, cutting, lists. bug() in a child. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/str.h"

static void set_and_wrap(void **state)
{
	struct err e;

	(void)state;
	memset(&e, 0xaa, sizeof(e));
	assert_int_equal(err_set(&e, ERR_QUOTA, "no room for %d", 3), -1);
	assert_int_equal(e.kind, ERR_QUOTA);
	assert_string_equal(e.msg, "no room for 3");
	assert_string_equal(e.hint, "");
	assert_string_equal(e.addr, "");
	assert_int_equal(e.pos.line, 0);
	assert_int_equal(err_wrap(&e, "creating %s", "node.a[0]"), -1);
	assert_string_equal(e.msg, "creating node.a[0]: no room for 3");
	assert_int_equal(err_set(&e, ERR_IO, "again: %s", e.msg), -1); /* an argument inside e */
	assert_string_equal(e.msg, "again: creating node.a[0]: no room for 3");
	assert_int_equal(err_set(NULL, ERR_IO, "nobody listens"), -1);
}

static void innermost_wins(void **state)
{
	struct err e;

	(void)state;
	err_set(&e, ERR_SPEC, "x");
	err_hint(&e, "first");
	err_hint(&e, "second");
	assert_string_equal(e.hint, "first");
	err_at(&e, (struct pos){ "f", 3, 4 });
	err_at(&e, (struct pos){ "g", 5, 6 });
	assert_string_equal(e.pos.file, "f");
	assert_int_equal(e.pos.line, 3);
	err_on(&e, NULL, "n1");
	err_on(&e, "a1", "n2");
	assert_string_equal(e.addr, "a1");
	assert_string_equal(e.node, "n1");
	err_req(&e, "r1");
	err_req(&e, "r2");
	assert_string_equal(e.request, "r1");
}

static void system_errors(void **state)
{
	struct err e;

	(void)state;
	errno = ENOENT;
	assert_int_equal(err_sys(&e, "opening %s", "x"), -1);
	assert_int_equal(e.kind, ERR_IO);
	assert_int_equal(e.code, ENOENT);
	assert_string_equal(e.msg, "opening x: No such file or directory");
}

static void long_texts_are_cut(void **state)
{
	char big[4000];
	struct err e;

	(void)state;
	for (size_t shift = 0; shift < 4; shift++) {
		size_t n = shift;
		memset(big, 'x', sizeof(big));
		for (; n + 3 < sizeof(big); n += 3)
			memcpy(big + n, "\xe2\x82\xac", 3);
		big[n] = '\0';
		err_set(&e, ERR_IO, "%s", big);
		assert_in_range(strlen(e.msg), sizeof(e.msg) - 4, sizeof(e.msg) - 1);
		assert_true(str_is_utf8(str_of(e.msg)));
		err_wrap(&e, "%s", "outer");
		assert_true(str_is_utf8(str_of(e.msg)));
		err_wrap(&e, "%s", big);
		assert_true(str_is_utf8(str_of(e.msg)));
		err_on(&e, big, big);
		assert_true(str_is_utf8(str_of(e.addr)));
		assert_true(strlen(e.addr) < sizeof(e.addr));
	}
}

/* Half a secret is one that no scrubber knows. */
static void words_are_not_cut(void **state)
{
	char filler[sizeof(((struct err *)0)->msg)];
	struct err e;

	(void)state;
	for (size_t left = 2; left < 30; left++) {
		memset(filler, 'x', sizeof(filler));
		filler[sizeof(filler) - left] = '\0';
		err_set(&e, ERR_IO, "%s the-whole-secret-of-it", filler);
		assert_true(!strstr(e.msg, "the-") || strstr(e.msg, "the-whole-secret-of-it"));
		err_set(&e, ERR_IO, "the-whole-secret-of-it");
		err_wrap(&e, "%s", filler);
		assert_true(!strstr(e.msg, "the-") || strstr(e.msg, "the-whole-secret-of-it"));
	}
}

static void exit_codes(void **state)
{
	struct err e = { 0 };

	(void)state;
	assert_int_equal(err_exit_code(&e), 0);
	for (int k = ERR_USAGE; k <= ERR_BUG; k++) {
		e.kind = (enum err_kind)k;
		assert_int_equal(err_exit_code(&e), k == ERR_USAGE	 ? 64
						    : k == ERR_LEASE	 ? 5
						    : k == ERR_CANCELLED ? 130
									 : 1);
		assert_int_equal(err_is_retryable(&e), k == ERR_BUSY);
		assert_string_not_equal(err_kind_name(e.kind), "unknown");
	}
	assert_string_equal(err_kind_name(ERR_NOT_FOUND), "not_found");
	assert_string_equal(err_kind_name((enum err_kind)99), "unknown");
}

static void lists(void **state)
{
	struct err_list l = { 0 };
	static const struct pos at[] = { { "b", 1, 1 }, { "a", 2, 1 }, { "a", 1, 9 },
					 { "a", 1, 2 }, { "a", 1, 9 }, { 0 } };
	static const char *const want[] = { "5", "3", "2", "4", "1", "0" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		err_list_addf(&l, at[i], i ? NULL : "do this", "%zu", i);
	assert_string_equal(l.v[0].hint, "do this");
	assert_int_equal(l.v[0].kind, ERR_SPEC);
	err_list_sort(&l);
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(l.v[i].msg, want[i]);
	for (size_t i = 0; i < 200; i++)
		err_list_add(&l, &l.v[0]);
	assert_int_equal(l.n, ERR_LIST_MAX);
	assert_int_equal(l.dropped, 200 + ARRAY_LEN(at) - ERR_LIST_MAX);
	err_list_fini(&l);
	assert_int_equal(l.n, 0);
	err_list_addf(NULL, at[0], NULL, "harmless");
}

static void bug_says_and_aborts(void **state)
{
	char said[256] = { 0 };
	int p[2], status;
	ssize_t n;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(p), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		signal(SIGABRT, SIG_DFL);
		dup2(p[1], STDERR_FILENO);
		bug("state %d", 7);
	}
	close(p[1]);
	n = read(p[0], said, sizeof(said) - 1);
	close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	assert_true(n > 0);
	assert_string_equal(said, "muster: bug: state 7\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_and_wrap),
		cmocka_unit_test(innermost_wins),
		cmocka_unit_test(system_errors),
		cmocka_unit_test(long_texts_are_cut),
		cmocka_unit_test(words_are_not_cut),
		cmocka_unit_test(exit_codes),
		cmocka_unit_test(lists),
		cmocka_unit_test(bug_says_and_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
