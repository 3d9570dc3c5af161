/* SPDX-License-Identifier: Apache-2.0 */
/* tests/fuzz/fuzz.h - what the fuzz programs share. Linked into each. */
#ifndef MUSTER_TESTS_FUZZ_H
#define MUSTER_TESTS_FUZZ_H

#include <stdint.h>

#include "base/base.h"

/* Each program defines it; libFuzzer calls it. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline struct str fuzz_text(const uint8_t *data, size_t size)
{
	return (struct str){ (const char *)data, size };
}

/* A file of this process's own (mode 0600, in memory where there is such a place) with these bytes;
 * removed when the process ends. suffix: ".yaml"; at most two of them a program. */
const char *fuzz_file(const char *suffix, struct str text);
/* A path like that, with nothing there: what was there is removed, and "-wal", "-shm" beside it. */
const char *fuzz_no_file(const char *suffix);

/* A promise of the code under test: when it is broken, that is the finding. */
void fuzz_must(bool so, const char *what);

#endif
