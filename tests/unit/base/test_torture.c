/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out at every allocation in turn, and documents cut and bent at every byte: the
 * program ends with its one line or with a positioned fault, never otherwise.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/env.h"
#include "base/fs.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/log.h"
#include "base/yaml.h"

static const char rich_yaml[] =
	"# a spec with a little of everything\n"
	"cluster: train\n"
	"vars: &vars {a: 1, \"b\": 'it''s', c: [1.5, -0x1F, .inf, ~, true]}\n"
	"more:\n"
	"  <<: *vars\n"
	"  b: \"\\u00e9 \\x41\\n\"\n"
	"list:\n"
	"- &one one\n"
	"- *one\n"
	"- - nested\n"
	"  - !!str 12\n"
	"-\n"
	"  text: |+\n"
	"    line 1\n"
	"      line 2\n"
	"\n"
	"  folded: >-\n"
	"    a\n"
	"    b\n"
	"? complex key\n"
	": value # comment\n"
	"\xc3\xa9t\xc3\xa9: {x: {y: {z: []}}}\n"
	"plain: several\n"
	"  lines\n"
	"...\n";

static const char rich_json[] =
	"{\"a\": [1, -2.5e+3, true, false, null, \"x\\u00e9\\n\\\"\"], \"b\": {\"c\": {}, \"d\": []},\n"
	" \"\xc3\xa9\": \"\xf0\x9f\x98\x80\", \"long\": \"0123456789012345678901234567890123456789\"}";

static void read_and_write(struct arena *a)
{
	struct err_list faults = { 0 };
	struct value *y = NULL, *j = NULL, *m;
	struct buf b;
	struct err e;

	buf_init(&b, BUF_MAX_DEFAULT);
	if (yaml_parse(a, "t", str_of(rich_yaml), YAML_SPEC, &y, &faults) == 0 &&
	    json_parse(a, "t", str_of(rich_json), &j, &e) == 0) {
		m = value_merge(a, value_copy(a, y), j, true);
		value_set(m, "secret",
			  value_secret(a, value_cstr(a, "hunter22-\n-and-a-second-line")));
		yaml_write(&b, m, 0);
		json_write(&b, m, JSON_PRETTY | JSON_SORT);
		value_print(&b, m);
		scrub(&b, STR("x hunter22 y"));
	}
	buf_fini(&b);
	err_list_fini(&faults);
	if (yaml_parse(a, "t", STR("a: yes\nb: *x\nc: [on, 012]\n\td: 1"), YAML_SPEC, &y,
		       &faults) == 0)
		bug("nonsense was taken");
	err_list_fini(&faults);
}

static void files_and_texts(struct arena *a)
{
	struct str s = STR_NONE;
	struct err e;
	struct buf b;
	struct fs_names names;
	char hex[SHA256_HEX];

	env_set("HOME", "/nowhere");
	fs_join(a, fs_expand_home(a, "~/x"), "y");
	if (fs_read(a, "/proc/self/status", 1 << 20, &s, &e) == 0)
		sha256_hex(s, hex);
	if (fs_list(a, "/proc/self", &names, &e) == 0 && names.names.n == 0)
		bug("nothing in /proc/self");
	buf_init(&b, 1 << 20);
	base64_encode(&b, s);
	buf_wipe(&b);
	env_fini();
}

static void workload(void)
{
	struct arena *a = arena_new("torture");

	read_and_write(a);
	files_and_texts(a);
	arena_free(a);
	scrub_reset();
}

/* Runs the workload with the n-th allocation failing. True when it came to its end. */
static bool end_is_clean(long n)
{
	char said[4096] = { 0 };
	size_t len = 0;
	ssize_t got;
	int p[2], status;
	pid_t pid;

	assert_int_equal(pipe(p), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit none = { 0, 0 };
		setrlimit(RLIMIT_CORE, &none);
		signal(SIGABRT, SIG_DFL);
		dup2(p[1], STDERR_FILENO);
		close(p[0]);
		mem_fail_after(n);
		workload();
		_exit(0);
	}
	close(p[1]);
	while (len < sizeof(said) - 1 && (got = read(p[0], said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)got;
	close(p[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 && len == 0)
		return true;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
	    strcmp(said, "muster: out of memory\n") != 0)
		fail_msg("allocation %ld: status %x, said: %s", n, (unsigned)status, said);
	return false;
}

static void memory_runs_out_everywhere(void **state)
{
	long n, failed = 0;

	(void)state;
	for (n = 1; n < 100000; n += n < 400 ? 1 : n / 40) {
		if (end_is_clean(n))
			break;
		failed++;
	}
	/* the workload allocates that often at least, or nothing was tested */
	assert_true(failed > 100);
	assert_true(n < 100000);
}

static void parse_either(enum yaml_dialect dialect, struct str text)
{
	struct arena *a = arena_new("torture");
	struct err_list faults = { 0 };
	struct value *v = NULL;
	struct err e = { 0 };

	if (yaml_parse(a, "t", text, dialect, &v, &faults) == 0) {
		assert_non_null(v);
		assert_int_equal(faults.n, 0);
	} else {
		assert_true(faults.n > 0);
		for (size_t i = 0; i < faults.n; i++) {
			assert_true(faults.v[i].pos.line > 0 && faults.v[i].pos.col > 0);
			assert_true(faults.v[i].msg[0] && str_is_utf8(str_of(faults.v[i].msg)));
		}
	}
	err_list_fini(&faults);
	v = NULL;
	if (json_parse(a, "t", text, &v, &e) == 0)
		assert_non_null(v);
	else
		assert_true(!v && e.pos.line > 0 && e.pos.col > 0 && e.msg[0]);
	arena_free(a);
}

static void cut_and_bend(const char *doc, size_t n)
{
	static const unsigned char flips[] = { 0x01, 0x20, 0x80, 0xff };
	char copy[2048];

	assert_true(n < sizeof(copy));
	for (size_t i = 0; i <= n; i++) {
		/* An allocation of exactly this size: a read past its end is seen. */
		scoped(mem_freep) char *exact = mem_alloc(i ? i : 1);
		memcpy(exact, doc, i);
		parse_either(i % 2 ? YAML_SPEC : YAML_ANSIBLE, (struct str){ exact, i });
	}
	for (size_t i = 0; i < n; i++) {
		static const char put[] = "\0\t\n :-#[]{}&*!|>'\"%@?,<\\~0";
		for (size_t f = 0; f < ARRAY_LEN(flips); f++) {
			memcpy(copy, doc, n);
			copy[i] = (char)((unsigned char)copy[i] ^ flips[f]);
			parse_either(YAML_SPEC, (struct str){ copy, n });
		}
		for (size_t k = 0; k < sizeof(put); k++) {
			memcpy(copy, doc, n);
			copy[i] = put[k];
			parse_either(k % 2 ? YAML_SPEC : YAML_ANSIBLE, (struct str){ copy, n });
		}
	}
}

static void yaml_cut_and_bent(void **state)
{
	(void)state;
	cut_and_bend(rich_yaml, sizeof(rich_yaml) - 1);
}

static void json_cut_and_bent(void **state)
{
	(void)state;
	cut_and_bend(rich_json, sizeof(rich_json) - 1);
}

static void the_rich_documents_are_good(void **state)
{
	struct arena *a = arena_new("torture");
	struct err_list faults = { 0 };
	struct value *v;
	struct err e;

	(void)state;
	if (yaml_parse(a, "t", str_of(rich_yaml), YAML_SPEC, &v, &faults) != 0)
		fail_msg("%d:%d %s", faults.v[0].pos.line, faults.v[0].pos.col, faults.v[0].msg);
	assert_int_equal(v->map.n, 7);
	assert_int_equal(json_parse(a, "t", str_of(rich_json), &v, &e), 0);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_rich_documents_are_good),
		cmocka_unit_test(memory_runs_out_everywhere),
		cmocka_unit_test(yaml_cut_and_bent),
		cmocka_unit_test(json_cut_and_bent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
