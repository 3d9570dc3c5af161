/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are an Ansible inventory, in INI or YAML, or faults; the first line as a host pattern
 * chooses from what there is. */
#include "inventory/inventory.h"
#include "tests/fuzz/fuzz.h"

static void match(struct arena *a, const struct inv *inv, const char *pattern)
{
	struct names chosen = { 0 };
	struct err e = { 0 };

	if (inv_match(a, inv, pattern, &chosen, &e) == 0)
		fuzz_must(chosen.v.n <= inv->hosts.n, "more hosts than there are");
	else
		fuzz_must(e.msg[0], "refused without a word");
}

static void read_as(const char *suffix, struct str text)
{
	struct arena *a = arena_new("fuzz");
	struct err_list errs = { 0 };
	struct inv *inv = NULL;
	struct str rest = text, line = STR_NONE;

	int rc = inv_load(a, fuzz_file(suffix, text), &inv, &errs);
	fuzz_must((rc < 0) == (errs.n > 0), "refused without a fault, or read with one");
	if (rc == 0) {
		str_next_line(&rest, &line);
		match(a, inv, "all");
		match(a, inv, str_cstr(a, line));
	}
	err_list_fini(&errs);
	arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_as(".ini", fuzz_text(data, size));
	read_as(".yaml", fuzz_text(data, size));
	return 0;
}
