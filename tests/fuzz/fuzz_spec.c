/* SPDX-License-Identifier: Apache-2.0 */
/* The spec reader over arbitrary bytes: YAML, merging, expressions, decoding, checks, expansion. It
 * must answer, never crash or hang. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "inventory/inventory.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file of this process, in memory where there is such a place. */
static const char *input_path(void)
{
	static char path[64];

	if (!path[0])
		snprintf(path, sizeof path, "%s/muster-fuzz-%d.yaml",
			 access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp", (int)getpid());
	return path;
}

static void remove_input(void)
{
	unlink(input_path());
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	struct err_list errs = { 0 };
	struct spec *s;
	static bool once;

	if (!once)
		atexit(remove_input);
	once = true;
	FILE *f = fopen(input_path(), "w");
	if (!f)
		abort();
	fwrite(data, 1, size, f);
	fclose(f);
	int rc = spec_load(a, input_path(), NULL, &s, &errs);
	/* Right or wrong, but one of the two. */
	if ((rc < 0) != (errs.n > 0))
		abort();
	for (size_t i = 0; i < errs.n; i++)
		if (!errs.v[i].msg[0])
			abort();
	err_list_fini(&errs);
	arena_free(a);
	return 0;
}
