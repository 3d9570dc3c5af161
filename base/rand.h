/* SPDX-License-Identifier: Apache-2.0 */
/* base/rand.h - randomness (OpenSSL inside). rand_seed makes rand_below and the scheduler
 * replayable; tokens stay unpredictable. */
#ifndef MUSTER_BASE_RAND_H
#define MUSTER_BASE_RAND_H

#include "base/attr.h"

#define TOKEN_LEN 27 /* 26 characters of a-z2-7 (130 bits) and a NUL */

void rand_bytes(void *p, size_t n);
void rand_token(char out[TOKEN_LEN]);
void rand_seed(uint64_t seed);
uint64_t rand_below(uint64_t n); /* 0 .. n-1; 0 for n < 2 */

#endif
