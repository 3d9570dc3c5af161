/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of the local provider that are only text and rules: apt's configuration, the proxy's
 * requests, addresses, ids. */
#include "providers/local/image.h"
#include "providers/local/netns.h"
#include "providers/local/proxy.h"
#include "providers/local/record.h"
#include "providers/local/sources.h"

#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- apt
 * --------------------------------------------------------------------------------------------- */

static const char deb822[] = "# a comment\n"
			     "Types: deb\n"
			     "URIs: http://mirror.example.org/debian\n"
			     "Suites: bookworm bookworm-updates\n"
			     "Components: main contrib\n"
			     "Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg\n"
			     "\n"
			     "Types: deb deb-src\n"
			     "URIs: https://security.example.org:8443/debian-security\n"
			     "Suites:\n"
			     " bookworm-security\n"
			     "Components: main\n"
			     "\n"
			     "Types: deb\n"
			     "URIs: https://other.example.com/apt\n"
			     "Suites: bookworm\n"
			     "Components: main\n"
			     "Signed-By: /etc/apt/keyrings/other.gpg\n"
			     "\n"
			     "Enabled: no\n"
			     "Types: deb\n"
			     "URIs: http://off.example.org/debian\n"
			     "Suites: bookworm\n"
			     "Components: main\n";

static void reads_deb822(void **state unused_arg)
{
	struct arena *a = arena_new("test");
	struct sources s = { 0 };
	sources_parse_deb822(a, str_of(deb822), &s);
	assert_int_equal(s.v.n, 4);
	assert_string_equal(s.v.v[0].uri, "http://mirror.example.org/debian");
	assert_string_equal(s.v.v[1].suite, "bookworm-updates");
	assert_string_equal(s.v.v[2].suite, "bookworm-security");
	assert_true(s.v.v[0].debian && s.v.v[1].debian && s.v.v[2].debian);
	assert_string_equal(s.v.v[3].uri, "https://other.example.com/apt");
	assert_false(s.v.v[3].debian);
	arena_free(a);
}

static void reads_one_line_format(void **state unused_arg)
{
	struct arena *a = arena_new("test");
	struct sources s = { 0 };
	sources_parse_list(
		a,
		STR("# deb http://no.example.org/debian bookworm main\n"
		    "deb http://mirror.example.org/debian bookworm main non-free # here\n"
		    "deb-src http://mirror.example.org/debian bookworm main\n"
		    "deb [arch=amd64 signed-by=/etc/apt/keyrings/x.gpg] https://x.example.com stable main\n"
		    "deb cdrom:[Debian]/ bookworm main\n"
		    "deb\n"
		    "deb [\n"),
		&s);
	assert_int_equal(s.v.n, 2);
	assert_true(s.v.v[0].debian);
	assert_string_equal(s.v.v[0].components, "main non-free");
	assert_false(s.v.v[1].debian);
	assert_string_equal(s.v.v[1].signed_by, "/etc/apt/keyrings/x.gpg");
	arena_free(a);
}

/* Any cut of the file is read without harm. */
static void reads_torn_files(void **state unused_arg)
{
	for (size_t n = 0; n < sizeof deb822; n++) {
		struct arena *a = arena_new("test");
		struct sources s = { 0 };
		char *copy = arena_dup(a, deb822, n);
		sources_parse_deb822(a, (struct str){ copy, n }, &s);
		sources_parse_list(a, (struct str){ copy, n }, &s);
		arena_free(a);
	}
}

static void writes_for_another_release(void **state unused_arg)
{
	struct arena *a = arena_new("test");
	struct sources s = { 0 }, none = { 0 };
	struct err e = { 0 };
	struct buf scoped(buf_fini) b = { 0 };
	buf_init(&b, 1 << 16);
	sources_parse_deb822(a, str_of(deb822), &s);
	assert_int_equal(sources_for(a, &s, "bookworm", "trixie", &b, &e), 0);
	assert_non_null(strstr(b.p, "URIs: http://mirror.example.org/debian\nSuites: trixie\n"));
	assert_non_null(strstr(b.p, "Suites: trixie-updates\n"));
	assert_non_null(strstr(b.p, "Suites: trixie-security\n"));
	assert_null(strstr(b.p, "other.example.com"));
	assert_null(strstr(b.p, "bookworm"));
	assert_int_equal(sources_for(a, &none, "noble", "trixie", &b, &e), -1);
	assert_int_equal(e.kind, ERR_NOT_FOUND);
	assert_non_null(strstr(e.hint, "mirror"));
	arena_free(a);
}

static void splits_urls(void **state unused_arg)
{
	struct str host;
	int port;
	assert_true(url_split(STR("http://a.example.org/x"), &host, &port) && port == 80 &&
		    str_eqc(host, "a.example.org"));
	assert_true(url_split(STR("https://u:p@b.example.org:444"), &host, &port) && port == 444 &&
		    str_eqc(host, "b.example.org"));
	assert_true(url_split(STR("http://[2001:db8::1]:81/"), &host, &port) && port == 81 &&
		    str_eqc(host, "2001:db8::1"));
	assert_false(url_split(STR("ftp://a/"), &host, &port));
	assert_false(url_split(STR("http:///x"), &host, &port));
	assert_false(url_split(STR("http://a:0/"), &host, &port));
	assert_false(url_split(STR("http://a:99999/"), &host, &port));
}

/* ---- the proxy
 * ----------------------------------------------------------------------------------------- */

static bool asks(const char *head, struct proxy_request *r)
{
	struct err e = { 0 };
	return proxy_parse(str_of(head), r, &e) == 0;
}

static void parses_requests(void **state unused_arg)
{
	struct proxy_request r;
	assert_true(asks(
		"GET http://m.example.org/debian/dists HTTP/1.1\r\nHost: m.example.org\r\n\r\n",
		&r));
	assert_true(str_eqc(r.to.host, "m.example.org") && r.to.port == 80 &&
		    str_eqc(r.path, "/debian/dists") && !r.connect);
	assert_true(asks("HEAD http://m.example.org:8080 HTTP/1.0\r\n\r\n", &r) &&
		    str_eqc(r.path, "/") && r.to.port == 8080);
	assert_true(asks("CONNECT s.example.org:443 HTTP/1.1\r\n\r\n", &r) && r.connect &&
		    r.to.port == 443);
	assert_true(str_eqc(r.to.host, "s.example.org"));
	static const char *const bad[] = {
		"",
		"\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET http:// HTTP/1.1\r\n\r\n",
		"GET http://a/ HTTP/2\r\n\r\n",
		"POST http://a/ HTTP/1.1\r\n\r\n",
		"GET http://u:p@a/ HTTP/1.1\r\n\r\n",
		"GET ftp://a/ HTTP/1.1\r\n\r\n",
		"GET http://a/ b HTTP/1.1\r\n\r\n",
		"GET http://a\tb/ HTTP/1.1\r\n\r\n",
		"CONNECT a/b:443 HTTP/1.1\r\n\r\n",
		"CONNECT a:x HTTP/1.1\r\n\r\n",
		"GET http://a%00b/ HTTP/1.1\r\n\r\n",
		"GET http://a:80:90/ HTTP/1.1\r\n\r\n",
		"G\x01T http://a/ HTTP/1.1\r\n\r\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (asks(bad[i], &r))
			fail_msg("taken: %s", bad[i]);
}

static void rewrites_requests(void **state unused_arg)
{
	struct proxy_request r;
	struct buf scoped(buf_fini) b = { 0 };
	buf_init(&b, 1 << 16);
	assert_true(asks(
		"GET http://m.example.org/x HTTP/1.1\r\nHost: other\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive\r\n"
		"Content-Length: 5\r\nRange: bytes=1-\r\nTransfer-Encoding:\r\n chunked\r\n\r\n",
		&r));
	proxy_rewrite(&r, false, STR_NONE, &b);
	assert_string_equal(
		b.p,
		"GET /x HTTP/1.1\r\nHost: m.example.org\r\nRange: bytes=1-\r\nConnection: close\r\n\r\n");
	buf_clear(&b);
	proxy_rewrite(&r, true, STR("Basic eDp5"), &b);
	assert_non_null(strstr(b.p, "GET http://m.example.org/x HTTP/1.1\r\n"));
	assert_non_null(strstr(b.p, "Proxy-Authorization: Basic eDp5\r\n"));
	buf_clear(&b);
	proxy_rewrite_answer(
		STR("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: keep-alive\r\nKeep-Alive: 5\r\n\r\n"),
		&b);
	assert_string_equal(b.p,
			    "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nConnection: close\r\n\r\n");
}

static bool is_public(const char *text)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return proxy_is_public((struct sockaddr *)&v4);
	assert_int_equal(inet_pton(AF_INET6, text, &v6.sin6_addr), 1);
	return proxy_is_public((struct sockaddr *)&v6);
}

static void knows_what_is_public(void **state unused_arg)
{
	static const char *const open[] = { "1.1.1.1",	      "9.255.255.255", "11.0.0.0",
					    "172.15.255.255", "172.32.0.0",    "192.167.0.1",
					    "100.63.0.1",     "100.128.0.1",   "223.255.255.255",
					    "2606:4700::1",   "::ffff:1.1.1.1" };
	static const char *const closed[] = { "0.0.0.0",     "127.0.0.1",	 "127.9.9.9",
					      "10.0.0.1",    "172.16.0.1",	 "172.31.255.255",
					      "192.168.1.1", "169.254.169.254",	 "100.64.0.1",
					      "224.0.0.1",   "255.255.255.255",	 "::1",
					      "::",	     "fe80::1",		 "fd00::1",
					      "ff02::1",     "::ffff:127.0.0.1", "64:ff9b::a00:1",
					      "2002:a00:1::" };
	for (size_t i = 0; i < ARRAY_LEN(open); i++)
		if (!is_public(open[i]))
			fail_msg("%s is public", open[i]);
	for (size_t i = 0; i < ARRAY_LEN(closed); i++)
		if (is_public(closed[i]))
			fail_msg("%s is not public", closed[i]);
}

static void follows_rules(void **state unused_arg)
{
	struct arena *a = arena_new("test");
	struct proxy_rules rules = { 0 };
	struct err e = { 0 };
	VEC_ADD(a, &rules.archives) = (struct proxy_place){ STR("mirror.lan"), 3142 };
	assert_true(
		proxy_allows_port(&rules, &(struct proxy_place){ STR("any.example.org"), 443 }));
	assert_false(
		proxy_allows_port(&rules, &(struct proxy_place){ STR("any.example.org"), 3142 }));
	assert_true(proxy_allows_port(&rules, &(struct proxy_place){ STR("MIRROR.lan"), 3142 }));
	assert_false(proxy_is_archive(&rules, &(struct proxy_place){ STR("mirror.lan"), 22 }));
	assert_int_equal(
		proxy_set_upstream(a, &rules, STR("http://me:secret@proxy.example.org:8080/"), &e),
		0);
	assert_true(str_eqc(rules.upstream.host, "proxy.example.org") &&
		    rules.upstream.port == 8080);
	assert_true(str_eqc(rules.authorization, "Basic bWU6c2VjcmV0"));
	struct proxy_rules none = { 0 };
	assert_int_equal(proxy_set_upstream(a, &none, STR("DIRECT"), &e), 0);
	assert_int_equal(none.upstream.host.n, 0);
	assert_int_equal(proxy_set_upstream(a, &none, STR("socks5h://x"), &e), -1);
	scrub_reset();
	arena_free(a);
}

/* ---- addresses, ids, images
 * ------------------------------------------------------------------------------ */

static void parses_ranges(void **state unused_arg)
{
	struct err e = { 0 };
	uint32_t net;
	int prefix;
	char text[16];
	assert_int_equal(cidr_parse(STR("10.77.3.4/16"), &net, &prefix, &e), 0);
	ipv4_text(net + 1, text);
	assert_string_equal(text, "10.77.0.1");
	assert_int_equal(prefix, 16);
	static const char *const bad[] = { "",		"10.0.0.0",  "10.0.0.0/7", "10.0.0.0/30",
					   "10.0.0/16", "fd00::/64", "10.0.0.0/x", "999.0.0.0/16" };
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(cidr_parse(str_of(bad[i]), &net, &prefix, &e), -1);
}

static void ids_stay_inside(void **state unused_arg)
{
	static const char *const bad[] = { "", ".", "..", "../x", "a/b", "/etc", ".dead-x" };
	assert_true(record_id_is_valid("h100-3-abcdefgh"));
	assert_false(record_id_is_valid(NULL));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_false(record_id_is_valid(bad[i]));
}

static void records_come_back(void **state unused_arg)
{
	struct arena *a = arena_new("test");
	char dir[] = "/tmp/muster-record-XXXXXX";
	struct err e = { 0 };
	struct value *rec = value_map(a), *got, *list;
	assert_non_null(mkdtemp(dir));
	const char *root = fs_join(a, dir, "cluster");
	const char *one = record_dir(a, root, "host", record_id(a, "h-0", "abcdefghijkl"));
	assert_int_equal(record_list(a, root, "host", &list, &e), 0);
	assert_int_equal(list->list.n, 0);
	assert_int_equal(record_read(a, one, &got, &e), 0);
	assert_null(got);
	value_set(rec, "name", value_cstr(a, "h-0"));
	assert_int_equal(record_write(one, rec, &e), 0);
	assert_int_equal(fs_mkdirs(record_dir(a, root, "host", "no-record"), 0755, &e), 0);
	assert_int_equal(record_list(a, root, "host", &list, &e), 0);
	assert_int_equal(list->list.n, 1);
	assert_true(str_eqc(value_get_str(list->list.v[0], "id", ""), "h-0-abcdefgh"));
	assert_int_equal(record_remove(one, &e), 0);
	assert_int_equal(record_remove(one, &e), 0);
	assert_int_equal(record_remove(record_dir(a, root, "host", "no-record"), &e), 0);
	assert_false(fs_exists(root)); /* the last takes its folders along */
	assert_int_equal(fs_remove_tree(dir, &e), 0);
	arena_free(a);
}

/* What kills leave goes with the last record, and not before. */
static void sweeps_leftovers(void **state unused_arg)
{
	static const char *const left[] = { "host/.dead-h-1", "host/no-record", "net/.dead-n" };
	struct arena *a = arena_new("test");
	char dir[] = "/tmp/muster-record-XXXXXX";
	struct err e = { 0 };
	assert_non_null(mkdtemp(dir));
	const char *root = fs_join(a, dir, "cluster");
	const char *net = record_dir(a, root, "net", "default-abcdefgh");
	assert_int_equal(record_sweep(a, root, &e), 0); /* nothing was ever made */
	assert_int_equal(record_write(net, value_map(a), &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(left); i++)
		assert_int_equal(fs_mkdirs(fs_join(a, root, left[i]), 0700, &e), 0);
	assert_int_equal(record_sweep(a, root, &e), 0);
	assert_true(fs_exists(fs_join(a, root, left[0]))); /* others may be at work */
	assert_int_equal(record_remove(net, &e), 0);
	assert_int_equal(record_sweep(a, root, &e), 0);
	assert_false(fs_exists(root));
	assert_int_equal(fs_remove_tree(dir, &e), 0);
	arena_free(a);
}

static void names_images(void **state unused_arg)
{
	assert_string_equal(image_suite(STR("debian-12")), "bookworm");
	assert_string_equal(image_suite(STR("debian-13")), "trixie");
	assert_null(image_suite(STR("ubuntu-24.04")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_deb822),	     cmocka_unit_test(reads_one_line_format),
		cmocka_unit_test(reads_torn_files),  cmocka_unit_test(writes_for_another_release),
		cmocka_unit_test(splits_urls),	     cmocka_unit_test(parses_requests),
		cmocka_unit_test(rewrites_requests), cmocka_unit_test(knows_what_is_public),
		cmocka_unit_test(follows_rules),     cmocka_unit_test(parses_ranges),
		cmocka_unit_test(ids_stay_inside),   cmocka_unit_test(records_come_back),
		cmocka_unit_test(sweeps_leftovers),  cmocka_unit_test(names_images),
	};
	return cmocka_run_group_tests_name("local text", tests, NULL, NULL);
}
