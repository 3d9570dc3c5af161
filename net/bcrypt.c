/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Neither libssh2 (privately) nor OpenSSL gives us this, and without it RSA keys in encrypted
 * OpenSSH files could not be used with SHA-2. Blowfish's tables are the binary digits of pi, so
 * they are computed once (about 0.1 s) rather than written out.
 */
#include "net/bcrypt.h"

#include <pthread.h>

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/sha.h>

enum {
	P_WORDS = 18,
	S_WORDS = 4 * 256,
	TABLE_WORDS = P_WORDS + S_WORDS,
	GUARD_BITS = 64,
	HASH_BYTES = 32,
	HASH_WORDS = HASH_BYTES / 4,
};

struct blowfish {
	uint32_t p[P_WORDS];
	uint32_t s[4][256];
};

static struct blowfish initial;
static bool initial_ok;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* ---- pi --------------------------------------------------------------------------------------- */

/* out += or -= factor * atan(1/x), as fixed point with `bits` binary places. */
static bool add_atan(BIGNUM *out, BN_ULONG factor, BN_ULONG x, int bits)
{
	BIGNUM *power = BN_new(), *term = BN_new();
	bool minus = factor == 4; /* the second of Machin's two terms */
	bool ok = power && term && BN_one(power) && BN_lshift(power, power, bits) &&
		  BN_mul_word(power, factor) && BN_div_word(power, x) != (BN_ULONG)-1;

	for (BN_ULONG k = 1; ok && !BN_is_zero(power); k += 2, minus = !minus) {
		ok = BN_copy(term, power) && BN_div_word(term, k) != (BN_ULONG)-1 &&
		     (minus ? BN_sub(out, out, term) : BN_add(out, out, term)) &&
		     BN_div_word(power, x * x) != (BN_ULONG)-1;
	}
	BN_free(power);
	BN_free(term);
	return ok;
}

/* pi = 16 atan(1/5) - 4 atan(1/239); the tables are its fraction, 32 bits at a time. */
static void compute_initial(void)
{
	int bits = TABLE_WORDS * 32 + GUARD_BITS;
	static unsigned char digits[TABLE_WORDS * 4];
	BIGNUM *pi = BN_new();

	if (pi && add_atan(pi, 16, 5, bits) && add_atan(pi, 4, 239, bits) &&
	    BN_mask_bits(pi, bits) && BN_rshift(pi, pi, GUARD_BITS) &&
	    BN_bn2binpad(pi, digits, sizeof digits) == (int)sizeof digits) {
		for (size_t i = 0; i < TABLE_WORDS; i++) {
			const unsigned char *d = digits + 4 * i;
			uint32_t w = (uint32_t)d[0] << 24 | (uint32_t)d[1] << 16 |
				     (uint32_t)d[2] << 8 | d[3];

			if (i < P_WORDS)
				initial.p[i] = w;
			else
				initial.s[(i - P_WORDS) / 256][(i - P_WORDS) % 256] = w;
		}
		initial_ok = initial.p[0] == 0x243f6a88u;
	}
	BN_free(pi);
}

/* ---- blowfish with the expensive key schedule -------------------------------------------------- */

static uint32_t round_f(const struct blowfish *b, uint32_t x)
{
	return ((b->s[0][x >> 24] + b->s[1][x >> 16 & 0xff]) ^ b->s[2][x >> 8 & 0xff]) +
	       b->s[3][x & 0xff];
}

static void encipher(const struct blowfish *b, uint32_t *left, uint32_t *right)
{
	uint32_t l = *left ^ b->p[0], r = *right;

	for (int i = 1; i <= 16; i += 2) {
		r ^= round_f(b, l) ^ b->p[i];
		l ^= round_f(b, r) ^ b->p[i + 1];
	}
	*left = r ^ b->p[17];
	*right = l;
}

/* The next four bytes, going round. */
static uint32_t next_word(const uint8_t *data, size_t n, size_t *at)
{
	uint32_t w = 0;

	for (int i = 0; i < 4; i++) {
		w = w << 8 | data[*at];
		*at = (*at + 1) % n;
	}
	return w;
}

/* data: mixed into the chain (the salt), or NULL. */
static void expand(struct blowfish *b, const uint8_t *data, const uint8_t *key)
{
	uint32_t l = 0, r = 0;
	size_t at = 0;

	for (int i = 0; i < P_WORDS; i++)
		b->p[i] ^= next_word(key, SHA512_DIGEST_LENGTH, &at);
	at = 0;
	for (int i = 0; i < TABLE_WORDS; i += 2) {
		uint32_t *to = i < P_WORDS ? &b->p[i] : &b->s[0][0] + (i - P_WORDS);

		if (data) {
			l ^= next_word(data, SHA512_DIGEST_LENGTH, &at);
			r ^= next_word(data, SHA512_DIGEST_LENGTH, &at);
		}
		encipher(b, &l, &r);
		to[0] = l;
		to[1] = r;
	}
}

static void bcrypt_hash(const uint8_t *pass, const uint8_t *salt, uint8_t out[HASH_BYTES])
{
	static const uint8_t text[HASH_BYTES + 1] = "OxychromaticBlowfishSwatDynamite";
	struct blowfish b = initial;
	uint32_t c[HASH_WORDS];
	size_t at = 0;

	expand(&b, salt, pass);
	for (int i = 0; i < 64; i++) {
		expand(&b, NULL, salt);
		expand(&b, NULL, pass);
	}
	for (int i = 0; i < HASH_WORDS; i++)
		c[i] = next_word(text, HASH_BYTES, &at);
	for (int i = 0; i < 64; i++)
		for (int k = 0; k < HASH_WORDS; k += 2)
			encipher(&b, &c[k], &c[k + 1]);
	for (int i = 0; i < HASH_BYTES; i++)
		out[i] = (uint8_t)(c[i / 4] >> 8 * (i % 4));
	OPENSSL_cleanse(&b, sizeof b);
}

/* One output block: the salt's hash, hashed again and again, all of them xored. */
static void pbkdf_block(const struct bcrypt_in *in, const uint8_t *pass, uint32_t number,
			uint8_t out[HASH_BYTES])
{
	scoped(buf_fini) struct buf salted = { 0 };
	uint8_t salt[SHA512_DIGEST_LENGTH], tmp[HASH_BYTES];
	const char be[4] = { (char)(number >> 24), (char)(number >> 16), (char)(number >> 8),
			     (char)number };

	buf_init(&salted, in->salt.n + 8);
	buf_addstr(&salted, in->salt);
	buf_add(&salted, be, sizeof be);
	SHA512((const uint8_t *)salted.p, salted.n, salt);
	bcrypt_hash(pass, salt, tmp);
	memcpy(out, tmp, HASH_BYTES);
	for (uint32_t r = 1; r < in->rounds; r++) {
		SHA512(tmp, sizeof tmp, salt);
		bcrypt_hash(pass, salt, tmp);
		for (int i = 0; i < HASH_BYTES; i++)
			out[i] ^= tmp[i];
	}
	OPENSSL_cleanse(tmp, sizeof tmp);
}

bool bcrypt_pbkdf(const struct bcrypt_in *in, uint8_t *key, size_t n)
{
	uint8_t pass[SHA512_DIGEST_LENGTH], block[HASH_BYTES];

	pthread_once(&once, compute_initial);
	if (!initial_ok || n == 0 || n > 1024 || in->rounds == 0 || in->salt.n == 0 ||
	    in->passphrase.n == 0)
		return false;
	/* Blocks are dealt out over the key like cards, so that no block can be skipped. */
	size_t stride = (n + HASH_BYTES - 1) / HASH_BYTES;
	size_t share = (n + stride - 1) / stride;

	SHA512((const uint8_t *)in->passphrase.p, in->passphrase.n, pass);
	for (size_t k = 0; k < stride; k++) {
		pbkdf_block(in, pass, (uint32_t)k + 1, block);
		for (size_t i = 0; i < share && i * stride + k < n; i++)
			key[i * stride + k] = block[i];
	}
	OPENSSL_cleanse(pass, sizeof pass);
	OPENSSL_cleanse(block, sizeof block);
	return true;
}
