/* SPDX-License-Identifier: Apache-2.0 */
/* Levels, one clean line a message, and no secret in any of its forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/log.h"

static char last[70000];
static int lines;

static void keep(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	snprintf(last, sizeof(last), "%d:%s", (int)level, line);
	lines++;
}

static int tear_down(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL, LOG_DEBUG);
	scrub_reset();
	lines = 0;
	return 0;
}

static void scrubs_to(const char *text, const char *want)
{
	struct buf b;

	buf_init(&b, 10000);
	scrub(&b, str_of(text));
	assert_string_equal(b.p, want);
	buf_fini(&b);
}

static void levels(void **state)
{
	(void)state;
	log_warn("nobody hears %d", 1);
	assert_false(log_enabled(LOG_WARN));
	log_set_sink(keep, NULL, LOG_INFO);
	log_warn("a %s", "warning");
	assert_string_equal(last, "0:a warning");
	log_info("info");
	assert_string_equal(last, "1:info");
	log_debug("debug");
	assert_int_equal(lines, 2);
	assert_true(log_enabled(LOG_INFO) && !log_enabled(LOG_DEBUG));
}

static void a_message_is_one_harmless_line(void **state)
{
	char big[100000];

	(void)state;
	log_set_sink(keep, NULL, LOG_INFO);
	log_info("a\nb\x1b[31m\tc\r\x7f");
	assert_string_equal(last, "1:a\\nb\\x1b[31m\tc\\x0d\\x7f");
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	log_info("%s", big);
	assert_in_range(strlen(last), 60000, 66000);
}

static void messages_are_scrubbed(void **state)
{
	(void)state;
	log_set_sink(keep, NULL, LOG_INFO);
	scrub_register(STR("s3cr3t-token"));
	log_info("token=%s.", "s3cr3t-token");
	assert_string_equal(last, "1:token=(sensitive).");
}

static void plain_and_encoded_forms(void **state)
{
	(void)state;
	scrub_register(STR("p@ss w\"rd/1"));
	scrubs_to("x p@ss w\"rd/1 y", "x (sensitive) y");
	scrubs_to("p%40ss%20w%22rd%2F1", "(sensitive)");
	scrubs_to("p%40ss%20w%22rd%2f1", "(sensitive)");
	scrubs_to("p%40ss+w%22rd%2F1", "(sensitive)");
	scrubs_to("{\"p\":\"p@ss w\\\"rd/1\"}", "{\"p\":\"(sensitive)\"}");
	scrubs_to("p@ss w\"rd/2", "p@ss w\"rd/2");
}

static void base64_at_every_alignment(void **state)
{
	static const char secret[] = "hunter2-\xff\xfe~~?>";
	struct buf plain, text, out;

	(void)state;
	scrub_register(str_of(secret));
	for (size_t before = 0; before < 7; before++) {
		for (size_t after = 0; after < 4; after++) {
			buf_init(&plain, 100);
			buf_init(&text, 200);
			buf_init(&out, 200);
			buf_addn(&plain, 'A' + (char)before, before);
			buf_adds(&plain, secret);
			buf_addn(&plain, 'z', after);
			base64_encode(&text, buf_str(&plain));
			scrub(&out, buf_str(&text));
			assert_non_null(strstr(out.p, "(sensitive)"));
			/* At most the two characters at each end that mix with the neighbours
			 * remain. */
			assert_true(out.n <=
				    strlen("(sensitive)") + (before * 4 / 3) + (after * 4 / 3) + 8);
			for (size_t i = 0; i < text.n; i++)
				text.p[i] = text.p[i] == '+'   ? '-'
					    : text.p[i] == '/' ? '_'
							       : text.p[i];
			buf_clear(&out);
			scrub(&out, buf_str(&text));
			assert_non_null(strstr(out.p, "(sensitive)"));
			buf_fini(&plain);
			buf_fini(&text);
			buf_fini(&out);
		}
	}
}

static void the_longest_form_wins(void **state)
{
	(void)state;
	scrub_register(STR("secret"));
	scrub_register(STR("secret-and-more"));
	scrub_register(STR("secret"));
	scrubs_to("secret-and-more secret secretsecret",
		  "(sensitive) (sensitive) (sensitive)(sensitive)");
}

static void short_ones_are_left_alone(void **state)
{
	(void)state;
	scrub_register(STR("abc"));
	scrub_register(STR_NONE);
	scrubs_to("abc", "abc");
	scrub_register(STR("abcd"));
	scrubs_to("abcd", "(sensitive)");
}

static void key_files_line_by_line(void **state)
{
	(void)state;
	scrub_register(STR(
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----\n"));
	scrubs_to("line MIIEvQIBADANBgkqhkiG9w0B.", "line (sensitive).");
	scrubs_to("-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----");
	scrubs_to(
		"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASCBKcwggSjAgEAAoIB\n-----END PRIVATE KEY-----",
		"(sensitive)");
}

static void reset_forgets(void **state)
{
	(void)state;
	scrub_register(STR("secret"));
	scrub_reset();
	scrubs_to("secret", "secret");
	scrubs_to("", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(levels, tear_down),
		cmocka_unit_test_teardown(a_message_is_one_harmless_line, tear_down),
		cmocka_unit_test_teardown(messages_are_scrubbed, tear_down),
		cmocka_unit_test_teardown(plain_and_encoded_forms, tear_down),
		cmocka_unit_test_teardown(base64_at_every_alignment, tear_down),
		cmocka_unit_test_teardown(the_longest_form_wins, tear_down),
		cmocka_unit_test_teardown(short_ones_are_left_alone, tear_down),
		cmocka_unit_test_teardown(key_files_line_by_line, tear_down),
		cmocka_unit_test_teardown(reset_forgets, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
