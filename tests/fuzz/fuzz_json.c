/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are JSON or a positioned fault; what was read, written and read again is equal, pretty
 * or not. */
#include "base/json.h"
#include "tests/fuzz/fuzz.h"

static void write_and_read(struct arena *a, const struct value *v, unsigned flags)
{
	struct value *back = NULL;
	struct err e;
	struct buf b;

	buf_init(&b, BUF_MAX_DEFAULT);
	json_write(&b, v, flags);
	if (!b.overflow) {
		fuzz_must(json_parse(a, "again", buf_str(&b), &back, &e) == 0,
			  "what was written cannot be read");
		fuzz_must(value_equal(v, back), "what was written reads as something else");
	}
	buf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct value *v = NULL;
	struct err e = { 0 };
	struct buf b;

	if (json_parse(a, "f", fuzz_text(data, size), &v, &e) == 0) {
		write_and_read(a, v, 0);
		write_and_read(a, v, JSON_PRETTY | JSON_SORT);
		buf_init(&b, BUF_MAX_DEFAULT);
		value_print(&b, v);
		buf_fini(&b);
	} else {
		fuzz_must(e.pos.line > 0 && e.pos.col > 0 && e.msg[0], "a fault without a place");
	}
	arena_free(a);
	return 0;
}
