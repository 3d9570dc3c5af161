/* SPDX-License-Identifier: Apache-2.0 */
/* Digests and encodings against published vectors; randomness; clocks; the environment. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/env.h"
#include "base/hash.h"
#include "base/rand.h"

static void digests(void **state)
{
	char hex[SHA256_HEX], sha1[41];
	uint8_t mac[20];
	struct buf b;

	(void)state;
	sha256_hex(STR("abc"), hex);
	assert_string_equal(hex,
			    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	sha256_hex(STR_NONE, hex);
	assert_string_equal(hex,
			    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	sha1_hex(STR("abc"), sha1);
	assert_string_equal(sha1, "a9993e364706816aba3e25717850c26c9cd0d89d");
	/* RFC 4231 test case 2, RFC 2202 test case 2 */
	hmac_sha256_hex(STR("Jefe"), STR("what do ya want for nothing?"), hex);
	assert_string_equal(hex,
			    "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	hmac_sha1(STR("Jefe"), STR("what do ya want for nothing?"), mac);
	buf_init(&b, 100);
	hex_encode(&b, (struct str){ (const char *)mac, sizeof(mac) });
	assert_string_equal(b.p, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79");
	buf_fini(&b);
	hmac_sha256_hex(STR_NONE, STR_NONE, hex);
	assert_string_equal(hex,
			    "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void base64_vectors(void **state)
{
	static const char *const cases[][2] = { { "", "" },
						{ "f", "Zg==" },
						{ "fo", "Zm8=" },
						{ "foo", "Zm9v" },
						{ "foob", "Zm9vYg==" },
						{ "fooba", "Zm9vYmE=" },
						{ "foobar", "Zm9vYmFy" } };
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 1000);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		buf_clear(&b);
		base64_encode(&b, str_of(cases[i][0]));
		assert_string_equal(b.p, cases[i][1]);
		buf_clear(&b);
		assert_int_equal(base64_decode(&b, str_of(cases[i][1]), &e), 0);
		assert_string_equal(b.p, cases[i][0]);
	}
	buf_clear(&b);
	assert_int_equal(base64_decode(&b, STR(" Zm9v\r\n\tYmFy \n"), &e), 0);
	assert_string_equal(b.p, "foobar");
	buf_fini(&b);
}

static void bad_base64_is_refused(void **state)
{
	static const char *const bad[] = { "Zg",    "Zg=",  "Zg===", "Z===", "=",   "Zg==Zg==",
					   "Zm9v!", "Zm-_", "Z",     "Zg=a", "====" };
	struct buf b;
	struct err e;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		buf_init(&b, 100);
		if (base64_decode(&b, str_of(bad[i]), &e) != -1)
			fail_msg("'%s' was taken", bad[i]);
		assert_int_equal(e.kind, ERR_SPEC);
		buf_fini(&b);
	}
	buf_init(&b, 100);
	assert_int_equal(base64_decode(&b, STR("Zm\0v"), &e), -1);
	buf_fini(&b);
}

static void all_bytes_survive_base64(void **state)
{
	char bytes[256];
	struct buf text, back;
	struct err e;

	(void)state;
	for (int i = 0; i < 256; i++)
		bytes[i] = (char)i;
	for (size_t n = 250; n <= 256; n++) {
		buf_init(&text, 1000);
		buf_init(&back, 1000);
		base64_encode(&text, (struct str){ bytes, n });
		assert_int_equal(base64_decode(&back, buf_str(&text), &e), 0);
		assert_int_equal(back.n, n);
		assert_memory_equal(back.p, bytes, n);
		buf_fini(&text);
		buf_fini(&back);
	}
}

static void randomness(void **state)
{
	char one[TOKEN_LEN], two[TOKEN_LEN];
	uint64_t first[8];
	size_t seen[5] = { 0 };

	(void)state;
	rand_token(one);
	rand_token(two);
	assert_int_equal(strlen(one), 26);
	assert_int_equal(strspn(one, "abcdefghijklmnopqrstuvwxyz234567"), 26);
	assert_string_not_equal(one, two);
	for (int i = 0; i < 1000; i++)
		seen[rand_below(5)]++;
	for (int i = 0; i < 5; i++)
		assert_in_range(seen[i], 100, 300);
	assert_int_equal(rand_below(0), 0);
	assert_int_equal(rand_below(1), 0);
	rand_seed(42);
	for (int i = 0; i < 8; i++)
		first[i] = rand_below(UINT64_MAX);
	rand_seed(42);
	for (int i = 0; i < 8; i++)
		assert_true(rand_below(UINT64_MAX) == first[i]);
	rand_token(one); /* seeding does not make tokens repeat */
	rand_seed(42);
	rand_token(two);
	assert_string_not_equal(one, two);
}

static void clocks(void **state)
{
	char iso[CLOCK_ISO_LEN];
	int64_t t = clock_now();

	(void)state;
	assert_true(clock_now() >= t && t > 0);
	assert_true(clock_wall() > 1600000000000);
	clock_iso(1796076720123, iso);
	assert_string_equal(iso, "2026-11-30T22:12:00.123Z");
	clock_iso(-5, iso);
	assert_string_equal(iso, "1970-01-01T00:00:00.000Z");
	clock_iso(INT64_MAX, iso);
	assert_string_equal(iso, "9999-12-31T23:59:59.999Z");
	clock_set_virtual(true);
	assert_int_equal(clock_now(), 0);
	clock_advance(1500);
	clock_advance(-3);
	assert_int_equal(clock_now(), 1500);
	clock_set_virtual(false);
	assert_true(clock_now() >= t);
}

static void durations(void **state)
{
	static const struct {
		int64_t ms;
		const char *text;
	} cases[] = { { -5, "0.0s" },	    { 0, "0.0s" },	     { 450, "0.4s" },
		      { 9999, "9.9s" },	    { 12000, "12s" },	     { 59999, "59s" },
		      { 60000, "1m00s" },   { 200000, "3m20s" },     { 3599999, "59m59s" },
		      { 7500000, "2h05m" }, { INT64_MAX, ">99999h" } };
	char text[16];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		clock_format_duration(cases[i].ms, text);
		assert_string_equal(text, cases[i].text);
	}
}

static void environment(void **state)
{
	char a[] = "A=1", ab[] = "AB=2", empty[] = "EMPTY=", odd[] = "ODD";
	char *block[] = { a, ab, empty, odd, NULL };

	(void)state;
	assert_null(env_get("A"));
	env_init(block);
	assert_string_equal(env_get("A"), "1");
	assert_string_equal(env_get("AB"), "2");
	assert_null(env_get("EMPTY"));
	assert_null(env_get("ODD"));
	assert_null(env_get("B"));
	env_set("A", "3");
	env_set("B", "4");
	assert_string_equal(env_get("A"), "3");
	assert_string_equal(env_get("B"), "4");
	env_set("A", env_get("A")); /* from itself */
	assert_string_equal(env_get("A"), "3");
	env_set("A", NULL);
	assert_null(env_get("A"));
	env_set("AB", "");
	assert_null(env_get("AB"));
	env_fini();
	assert_null(env_get("B"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(digests),
		cmocka_unit_test(base64_vectors),
		cmocka_unit_test(bad_base64_is_refused),
		cmocka_unit_test(all_bytes_survive_base64),
		cmocka_unit_test(randomness),
		cmocka_unit_test(clocks),
		cmocka_unit_test(durations),
		cmocka_unit_test(environment),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
