/* SPDX-License-Identifier: Apache-2.0 */
/* Any text is a node set or a fault; what is folded unfolds to the same names; a choice is a part
 * of what there is. */
#include <stdlib.h>

#include "inventory/inventory.h"
#include "tests/fuzz/fuzz.h"

enum { DIGITS_MAX = 4, FOLDED_MAX = 20000, TEXT_MAX = 1 << 20 };

/* Large sets are right, but take a second each, and then nothing else is tried. */
static bool is_large(struct str s)
{
	size_t digits = 0;

	for (size_t i = 0; i < s.n; i++) {
		digits = s.p[i] >= '0' && s.p[i] <= '9' ? digits + 1 : 0;
		if (digits > DIGITS_MAX)
			return true;
	}
	return false;
}

static int by_text(const void *x, const void *y)
{
	return strcmp(*(const char *const *)x, *(const char *const *)y);
}

/* Folding drops duplicates. */
static size_t sort_and_unite(struct names *n)
{
	size_t kept = 0;

	if (n->v.n)
		qsort(n->v.v, n->v.n, sizeof *n->v.v, by_text);
	for (size_t i = 0; i < n->v.n; i++)
		if (i == 0 || strcmp(n->v.v[i], n->v.v[kept - 1]) != 0)
			n->v.v[kept++] = n->v.v[i];
	return kept;
}

static void fold_and_expand(struct arena *a, struct names *first)
{
	struct names again = { 0 };
	struct err e;
	struct buf b;

	if (first->v.n > FOLDED_MAX)
		return;
	buf_init(&b, (size_t)64 << 20);
	hostlist_fold(&b, a, first->v.v, first->v.n);
	if (b.n > TEXT_MAX) { /* it would be refused for its length */
		buf_fini(&b);
		return;
	}
	fuzz_must(hostlist_expand(a, buf_str(&b), &again, &e) == 0, "what was folded is no set");
	size_t n = sort_and_unite(first);
	fuzz_must(n == sort_and_unite(&again), "folding changes how many there are");
	for (size_t i = 0; i < n; i++)
		fuzz_must(strcmp(first->v.v[i], again.v.v[i]) == 0, "folding changes a name");
	buf_fini(&b);
}

static void choose(struct arena *a, struct str text)
{
	static const char *const all[] = { "gpu-0", "gpu-1", "gpu-2", "gpu-10", "login-0", "a" };
	static const char *const some[] = { "gpu-0", "gpu-1", "gpu-2", "gpu-10" };
	static const struct select_group group = { "gpu", some, ARRAY_LEN(some) };
	const struct select_from from = { all, ARRAY_LEN(all), &group, 1 };
	struct names chosen = { 0 };
	struct err e = { 0 };

	if (select_names(a, text, &from, &chosen, &e) != 0) {
		fuzz_must(e.msg[0], "refused without a word");
		return;
	}
	fuzz_must(chosen.v.n <= ARRAY_LEN(all), "more than there are");
	for (size_t i = 0, at = 0; i < chosen.v.n; i++) {
		while (at < ARRAY_LEN(all) && strcmp(all[at], chosen.v.v[i]) != 0)
			at++;
		fuzz_must(at < ARRAY_LEN(all), "a name from nowhere, or out of order");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_text(data, size);

	if (is_large(text))
		return 0;
	struct arena *a = arena_new("fuzz");
	struct names names = { 0 };
	struct err e = { 0 };

	if (hostlist_expand(a, text, &names, &e) == 0)
		fold_and_expand(a, &names);
	else
		fuzz_must(e.msg[0], "refused without a word");
	choose(a, text);
	arena_free(a);
	return 0;
}
