/* SPDX-License-Identifier: Apache-2.0 */
/* The spec reader over arbitrary bytes: YAML, merging, expressions, decoding, checks, expansion. It
 * must answer, never crash or hang. */
#include "inventory/inventory.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct err_list errs = { 0 };
	struct spec *s;
	int rc = spec_load(a, fuzz_file(".yaml", fuzz_text(data, size)), NULL, &s, &errs);

	fuzz_must((rc < 0) == (errs.n > 0), "refused without a fault, or read with one");
	for (size_t i = 0; i < errs.n; i++)
		fuzz_must(errs.v[i].msg[0], "a fault without a word");
	err_list_fini(&errs);
	arena_free(a);
	return 0;
}
