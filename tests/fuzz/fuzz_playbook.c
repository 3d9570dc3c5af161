/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a playbook or faults with places. */
#include "playbooks/playbooks.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct playbook_paths paths = { .dir = "/nonexistent" };
	struct arena *a = arena_new("fuzz");
	struct err_list errs = { 0 };
	struct playbook *book = NULL;
	int rc = playbook_load(a, fuzz_file(".yml", fuzz_text(data, size)), &paths, &book, &errs);

	fuzz_must((rc < 0) == (errs.n > 0), "refused without a fault, or read with one");
	for (size_t i = 0; i < errs.n; i++)
		fuzz_must(errs.v[i].msg[0], "a fault without a word");
	if (rc == 0)
		fuzz_must(playbook_digest(book)[0], "a playbook without a digest");
	err_list_fini(&errs);
	arena_free(a);
	return 0;
}
