/* SPDX-License-Identifier: Apache-2.0 */
/* known_hosts as data: a file's text, a question, the verdict. No network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/known_hosts.h"
#include "net/pattern.h"
#include "net/wire.h"

static struct arena *A;

/* Made-up keys: the type, then bytes. */
static struct str blob(const char *type, char fill)
{
	struct buf b;

	buf_init(&b, 1000);
	wire_put_string(&b, str_of(type));
	wire_put_string(&b, (struct str){ (char[]){ fill, fill, fill, fill }, 4 });
	struct str s = str_dup(A, buf_str(&b));
	buf_fini(&b);
	return s;
}

static const char *text_of(const char *type, char fill)
{
	struct buf b;

	buf_init(&b, 1000);
	buf_addf(&b, "%s ", type);
	base64_encode(&b, blob(type, fill));
	const char *s = buf_dup(&b, A);
	buf_fini(&b);
	return s;
}

#define ED  "ssh-ed25519"
#define RSA "ssh-rsa"

static struct known_hosts load(const char *text)
{
	struct known_hosts kh = { 0 };

	known_hosts_parse(A, "kh", str_of(text), &kh);
	return kh;
}

/* In the lines, $A $B are ed25519 keys, $R an RSA key. */
static const char *fill(const char *line)
{
	struct buf b;

	buf_init(&b, 10000);
	for (; *line; line++) {
		if (line[0] == '$' && strchr("AB", line[1]))
			buf_adds(&b, text_of(ED, *++line));
		else if (line[0] == '$' && line[1] == 'R')
			buf_adds(&b, text_of(RSA, *++line));
		else
			buf_addc(&b, *line);
	}
	const char *s = buf_dup(&b, A);
	buf_fini(&b);
	return s;
}

static void test_table(void **state)
{
	static const struct {
		const char *lines, *name;
		int port;
		char key; /* A, B or R */
		enum known_verdict want;
		int line; /* that decided; 0: none */
	} cases[] = {
		{ "", "h", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "h $A\n", "h", 22, 'A', KNOWN_OK, 1 },
		{ "h $A comment here\n", "h", 0, 'A', KNOWN_OK, 1 },
		{ "  h\t $A\r\n", "H", 22, 'A', KNOWN_OK, 1 },
		{ "h $A\n", "h", 22, 'B', KNOWN_CHANGED, 1 },
		{ "h $A\n", "other", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "# h $A\n\n#\nh $B\n", "h", 22, 'B', KNOWN_OK, 4 },
		{ "a,h,b $A\n", "h", 22, 'A', KNOWN_OK, 1 },
		{ "*.example.org $A\n", "x.example.org", 22, 'A', KNOWN_OK, 1 },
		{ "*.example.org $A\n", "example.org", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "n? $A\n", "n1", 22, 'A', KNOWN_OK, 1 },
		{ "n? $A\n", "n12", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "*,!bad $A\n", "bad", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "!bad,* $A\n", "bad", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "*,!bad $A\n", "good", 22, 'A', KNOWN_OK, 1 },
		{ "!bad $A\n", "good", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "[h]:2222 $A\n", "h", 2222, 'A', KNOWN_OK, 1 },
		{ "[h]:2222 $A\n", "h", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "[h]:2222 $A\n", "h", 2222, 'B', KNOWN_CHANGED, 1 },
		{ "h $A\n", "h", 2222, 'A', KNOWN_OK, 1 }, /* the host's key on another port */
		{ "h $A\n", "h", 2222, 'B', KNOWN_UNKNOWN, 0 },
		{ "h $A\nh $B\n", "h", 22, 'B', KNOWN_OK, 2 },
		{ "h $R\nh $A\n", "h", 22, 'B', KNOWN_CHANGED,
		  2 },					      /* names the line of the same type */
		{ "h $R\n", "h", 22, 'A', KNOWN_CHANGED, 1 }, /* stricter than OpenSSH */
		{ "@revoked h $A\n", "h", 22, 'A', KNOWN_REVOKED, 1 },
		{ "h $A\n@revoked * $A\n", "h", 22, 'A', KNOWN_REVOKED, 2 },
		{ "h $A\n@revoked * $B\n", "h", 22, 'A', KNOWN_OK, 1 },
		{ "@revoked * $A\n", "h", 22, 'B', KNOWN_UNKNOWN, 0 },
		{ "[h]:2222 $A\n@revoked h $A\n", "h", 2222, 'A', KNOWN_REVOKED, 2 },
		{ "@revoked other $A\nh $A\n", "h", 22, 'A', KNOWN_OK, 2 },
		{ "@cert-authority *.org $A\n", "x.org", 22, 'A', KNOWN_CA_ONLY, 1 },
		{ "@cert-authority *.org $A\nx.org $B\n", "x.org", 22, 'B', KNOWN_OK, 2 },
		{ "@cert-authority *.org $A\nx.org $B\n", "x.org", 22, 'A', KNOWN_CHANGED, 2 },
		{ "@unknown h $A\n", "h", 22, 'A', KNOWN_UNKNOWN, 0 },
		{ "h ssh-ed25519\nh\nh ssh-ed25519 !!!!\nh ssh-rsa AAAA\nh $A", "h", 22, 'A',
		  KNOWN_OK, 5 },
		{ "h ssh-rsa AAAAC3NzaC1lZDI1NTE5AAAABEFBQUE=\n", "h", 22, 'A', KNOWN_UNKNOWN,
		  0 }, /* lies */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct known_hosts kh = load(fill(cases[i].lines));
		const struct known_entry *which = NULL;
		struct str key = blob(cases[i].key == 'R' ? RSA : ED, cases[i].key);
		enum known_verdict v = known_hosts_check(&kh, cases[i].name, cases[i].port, key,
							 &which);
		int line = which ? which->pos.line : 0;

		if (v != cases[i].want || line != cases[i].line)
			fail_msg("case %zu: %s for %s: %d, line %d", i, cases[i].lines,
				 cases[i].name, (int)v, line);
	}
}

static void test_types(void **state)
{
	struct known_hosts kh = load(fill("h $A\n[p]:2222 $R\n@revoked h $R\n"));

	(void)state;
	assert_true(known_hosts_has_type(&kh, "h", 22, ED));
	assert_false(known_hosts_has_type(&kh, "h", 22, RSA));
	assert_true(known_hosts_has_type(&kh, "p", 2222, RSA));
	assert_false(known_hosts_has_type(&kh, "p", 22, RSA));
}

/* Lines that ssh-keygen -H wrote. */
static void test_hashed_by_openssh(void **state)
{
#define OPENSSH_KEY \
	"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBSD+N2CS5c3ox1pmzFaHzLFPNFv4ej2KCHMfFhOmOX1"
	struct known_hosts kh = load(
		"|1|ZYIA3J/CMuuv3bzwGrY81feN4l0=|GTtGYwaZP1D7PuO2+tDQnC6GifM= " OPENSSH_KEY "\n"
		"|1|ELk71QbDGAc7DCrQQo6bbiNhwSA=|YpqmCO16IkuTMfCFkNkNBeTWe7I= " OPENSSH_KEY "\n");
	struct known_hosts pin = { 0 };
	struct err e;

	(void)state;
	assert_int_equal(known_hosts_pin(A, OPENSSH_KEY, &pin, &e), 0);
	struct str key = pin.entries.v[0].blob;
	assert_int_equal(known_hosts_check(&kh, "gpu001.example.org", 22, key, NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "GPU001.example.org", 0, key, NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "gpu002", 2222, key, NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "gpu002", 22, key, NULL), KNOWN_UNKNOWN);
	assert_int_equal(known_hosts_check(&kh, "gpu003", 22, key, NULL), KNOWN_UNKNOWN);
	assert_int_equal(known_hosts_check(&kh, "gpu002", 2222, blob(ED, 'A'), NULL),
			 KNOWN_CHANGED);
}

static void append(const char *path, const char *name, int port, char key, bool hashed)
{
	struct known_new k = { .name = name, .port = port, .blob = blob(ED, key), .hashed = hashed };
	struct err e;

	assert_int_equal(known_hosts_append(path, &k, deadline_in(1000), &e), 0);
}

static void test_append(void **state)
{
	char dir[] = "/tmp/muster-test-kh-XXXXXX";
	struct known_hosts kh = { 0 };
	struct err e;
	struct stat st;
	struct str text;

	(void)state;
	assert_non_null(mkdtemp(dir));
	const char *path = fs_join(A, dir, "sub/known_hosts");
	assert_int_equal(known_hosts_load(A, path, &kh, &e), 0); /* absent is fine */
	assert_int_equal(known_hosts_count(&kh), 0);
	append(path, "Plain", 22, 'A', false);
	append(path, "port", 2222, 'B', false);
	append(path, "secret", 22, 'A', true);
	append(path, "secret", 2200, 'B', true);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(known_hosts_load(A, path, &kh, &e), 0);
	assert_int_equal(known_hosts_count(&kh), 4);
	assert_int_equal(known_hosts_check(&kh, "plain", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "port", 2222, blob(ED, 'B'), NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "secret", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "secret", 22, blob(ED, 'B'), NULL), KNOWN_CHANGED);
	assert_int_equal(known_hosts_check(&kh, "secret", 2200, blob(ED, 'B'), NULL), KNOWN_OK);
	assert_int_equal(fs_read(A, path, 10000, &text, &e), 0);
	assert_int_equal(str_find(text, STR("secret")), SIZE_MAX);
	/* a file whose last line has no newline */
	assert_int_equal(fs_write_atomic(path, STR("# no newline"), 0600, &e), 0);
	append(path, "h", 22, 'A', false);
	kh = (struct known_hosts){ 0 };
	assert_int_equal(known_hosts_load(A, path, &kh, &e), 0);
	assert_int_equal(known_hosts_check(&kh, "h", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	assert_int_equal(fs_remove_tree(dir, &e), 0);
}

/* One reading for all sessions: a fleet's file has ten thousand lines. */
static void test_kept(void **state)
{
	char dir[] = "/tmp/muster-test-kh-XXXXXX";
	struct known_hosts first = { 0 }, second = { 0 }, third = { 0 };
	const struct known_entry *which;
	struct err e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	const char *path = fs_join(A, dir, "known_hosts");
	append(path, "a,b", 22, 'A', false);
	assert_int_equal(known_hosts_load(A, path, &first, &e), 0);
	append(path, "C", 22, 'B', false);
	append(path, "d", 22, 'B', true);
	assert_int_equal(known_hosts_load(A, path, &second, &e), 0);
	assert_ptr_equal(first.files.v[0], second.files.v[0]); /* what we append is no news */
	assert_int_equal(known_hosts_check(&second, "B", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&second, "c", 22, blob(ED, 'B'), &which), KNOWN_OK);
	assert_int_equal(which->pos.line, 2);
	assert_int_equal(known_hosts_check(&second, "d", 22, blob(ED, 'B'), &which), KNOWN_OK);
	assert_int_equal(which->pos.line, 3);
	/* What others write is seen, and what was read before lives on. */
	assert_int_equal(fs_write_atomic(path, str_of(fill("x $A\n")), 0600, &e), 0);
	assert_int_equal(known_hosts_load(A, path, &third, &e), 0);
	assert_int_equal(known_hosts_check(&third, "b", 22, blob(ED, 'A'), NULL), KNOWN_UNKNOWN);
	assert_int_equal(known_hosts_check(&third, "x", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	assert_int_equal(known_hosts_check(&second, "b", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	known_hosts_forget();
	assert_int_equal(known_hosts_check(&third, "x", 22, blob(ED, 'A'), NULL), KNOWN_OK);
	assert_int_equal(fs_remove_tree(dir, &e), 0);
}

static void test_pin_and_fingerprint(void **state)
{
	struct known_hosts kh = { 0 };
	const struct known_entry *which;
	char fp[FINGERPRINT_LEN];
	struct err e;

	(void)state;
	assert_int_equal(known_hosts_pin(A, text_of(ED, 'A'), &kh, &e), 0);
	assert_int_equal(known_hosts_check(&kh, "any", 2222, blob(ED, 'A'), &which), KNOWN_OK);
	assert_int_equal(known_hosts_check(&kh, "any", 22, blob(ED, 'B'), &which), KNOWN_CHANGED);
	assert_int_equal(which->pos.line, 0);
	assert_int_equal(known_hosts_pin(A, "ssh-ed25519 nonsense!", &kh, &e), -1);
	assert_int_equal(e.kind, ERR_SPEC);
	key_fingerprint(STR("abc"), fp);
	assert_string_equal(fp, "SHA256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0");
}

static void test_pattern(void **state)
{
	static const struct {
		const char *p, *s;
		bool want;
	} cases[] = {
		{ "", "", true },
		{ "", "a", false },
		{ "*", "", true },
		{ "*", "abc", true },
		{ "a*c", "abbc", true },
		{ "a*c", "abbd", false },
		{ "*a*b*", "xxaxxbxx", true },
		{ "?", "", false },
		{ "??", "ab", true },
		{ "a?c", "abc", true },
		{ "A", "a", true },
		{ "*?", "", false },
		{ "**a", "bba", true },
		{ "*aab", "aaaab", true },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (pattern_match(str_of(cases[i].p), str_of(cases[i].s)) != cases[i].want)
			fail_msg("%s ~ %s", cases[i].p, cases[i].s);
	/* no exponential time */
	struct buf s;
	buf_init(&s, 100000);
	buf_addn(&s, 'a', 50000);
	assert_false(pattern_match(STR("*a*a*a*a*a*a*a*a*b"), buf_str(&s)));
	buf_fini(&s);
}

/* Any cut of a file is read without harm. */
static void test_truncated(void **state)
{
	const char *text = fill(
		"h,*.org,!x $A\n@revoked h $R c\n|1|c2FsdHNhbHRzYWx0c2FsdHNhbHQ=|aGFzaA==| $B\n");
	size_t n = strlen(text);

	(void)state;
	for (size_t i = 0; i <= n; i++) {
		struct known_hosts kh = { 0 };
		char *cut = malloc(i ? i : 1);

		memcpy(cut, text, i);
		known_hosts_parse(A, "kh", (struct str){ cut, i }, &kh);
		known_hosts_check(&kh, "h", 22, blob(ED, 'A'), NULL);
		free(cut);
	}
}

static int setup(void **state)
{
	(void)state;
	A = arena_new("test");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(A);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_hashed_by_openssh),
		cmocka_unit_test(test_append),
		cmocka_unit_test(test_kept),
		cmocka_unit_test(test_pin_and_fingerprint),
		cmocka_unit_test(test_pattern),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
