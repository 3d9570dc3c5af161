/* SPDX-License-Identifier: Apache-2.0 */
/* Any JSON is a plan or a fault; a plan that was read, written and read again is the same one. (The
 * file around it is signed: what gets here was written by us, or our key is lost.) */
#include "engine/plan_doc.h"
#include "tests/fuzz/fuzz.h"

static void write_and_read(struct arena *a, const struct plan *p)
{
	struct value *first = plan_value(a, p);
	struct plan *again = NULL;
	struct err e;

	fuzz_must(plan_read(a, first, &again, &e) == 0, "what was written cannot be read");
	fuzz_must(value_equal(first, plan_value(a, again)), "it reads as something else");
	fuzz_must(plan_json(a, p) != NULL, "a plan without a document");
	fuzz_must(plan_is_empty(p) == plan_is_empty(again), "it is empty and is not");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct value *v = NULL;
	struct plan *p = NULL;
	struct err e = { 0 };

	if (json_parse(a, "f", fuzz_text(data, size), &v, &e) == 0) {
		if (plan_read(a, v, &p, &e) == 0)
			write_and_read(a, p);
		else
			fuzz_must(e.msg[0], "refused without a word");
	}
	arena_free(a);
	return 0;
}
