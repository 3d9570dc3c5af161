/* SPDX-License-Identifier: Apache-2.0 */
/* What a client of the proxy sends is a request or a fault; what is sent on has one request line
 * and ends with one empty line, so that nothing can be smuggled behind it. */
#include "providers/local/proxy.h"
#include "providers/local/sources.h"
#include "tests/fuzz/fuzz.h"

static void look_at(const struct proxy_request *r, bool absolute)
{
	struct buf b;

	buf_init(&b, BUF_MAX_DEFAULT);
	proxy_rewrite(r, absolute, STR("Basic x"), &b);
	size_t end = str_find(buf_str(&b), STR("\r\n\r\n"));
	fuzz_must(b.overflow || (end != SIZE_MAX && end + 4 == b.n), "the head ends elsewhere");
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct str text = fuzz_text(data, size);
	struct proxy_request r = { 0 };
	struct sources sources = { 0 };
	struct err e = { 0 };
	struct buf b;

	/* As proxy_parse is called: up to and with the first empty line. */
	size_t end = str_find(text, STR("\r\n\r\n"));
	struct str head = str_sub(text, 0, end == SIZE_MAX ? SIZE_MAX : end + 4);
	if (end != SIZE_MAX && proxy_parse(head, &r, &e) == 0) {
		look_at(&r, false);
		look_at(&r, true);
	}
	buf_init(&b, BUF_MAX_DEFAULT);
	proxy_rewrite_answer(head, &b);
	buf_fini(&b);
	sources_parse_list(a, text, &sources);
	sources_parse_deb822(a, text, &sources);
	arena_free(a);
	return 0;
}
