/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rand.h"

#include <openssl/rand.h>

static bool seeded;
static uint64_t state;

void rand_bytes(void *p, size_t n)
{
	unsigned char *at = p;

	while (n > 0) {
		int some = n > 1 << 20 ? 1 << 20 : (int)n;
		/* Predictable tokens would be worse than stopping. */
		if (RAND_bytes(at, some) != 1)
			bug("the system gives no random bytes");
		at += some;
		n -= (size_t)some;
	}
}

void rand_token(char out[TOKEN_LEN])
{
	static const char alphabet[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char bytes[TOKEN_LEN - 1];

	rand_bytes(bytes, sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		out[i] = alphabet[bytes[i] & 31];
	out[TOKEN_LEN - 1] = '\0';
}

void rand_seed(uint64_t seed)
{
	seeded = true;
	state = seed;
}

static uint64_t next(void)
{
	uint64_t z;

	if (!seeded) {
		rand_bytes(&z, sizeof(z));
		return z;
	}
	/* SplitMix64: every seed is a good one. */
	z = state += 0x9e3779b97f4a7c15u;
	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

uint64_t rand_below(uint64_t n)
{
	uint64_t r, skip;

	if (n < 2)
		return 0;
	skip = (0 - n) % n; /* 2^64 mod n: below it the remainders would be uneven */
	do
		r = next();
	while (r < skip);
	return r % n;
}
