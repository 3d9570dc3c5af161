/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/arena.h"

#define SHA1_BYTES   20
#define SHA256_BYTES 32

static void to_hex(const unsigned char *p, size_t n, char *out)
{
	for (size_t i = 0; i < n; i++) {
		out[2 * i] = "0123456789abcdef"[p[i] >> 4];
		out[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
	}
	out[2 * n] = '\0';
}

static const void *bytes_of(struct str s)
{
	return s.p ? s.p : "";
}

static void digest(struct str data, const EVP_MD *md, unsigned char *out)
{
	/* The only way that a digest in memory can fail. */
	if (EVP_Digest(bytes_of(data), data.n, out, NULL, md, NULL) != 1)
		mem_oom();
}

void sha256_hex(struct str data, char out[SHA256_HEX])
{
	unsigned char md[SHA256_BYTES];

	digest(data, EVP_sha256(), md);
	to_hex(md, sizeof(md), out);
}

void sha1_hex(struct str data, char out[41])
{
	unsigned char md[SHA1_BYTES];

	digest(data, EVP_sha1(), md);
	to_hex(md, sizeof(md), out);
}

static void hmac(const EVP_MD *type, struct str key, struct str data, unsigned char *out)
{
	if (key.n > INT32_MAX)
		bug("an HMAC key of %zu bytes", key.n);
	if (!HMAC(type, bytes_of(key), (int)key.n, bytes_of(data), data.n, out, NULL))
		mem_oom();
}

void hmac_sha256_hex(struct str key, struct str data, char out[SHA256_HEX])
{
	unsigned char md[SHA256_BYTES];

	hmac(EVP_sha256(), key, data, md);
	to_hex(md, sizeof(md), out);
}

void hmac_sha1(struct str key, struct str data, uint8_t out[20])
{
	hmac(EVP_sha1(), key, data, out);
}

void hex_encode(struct buf *b, struct str data)
{
	for (size_t i = 0; i < data.n; i++) {
		char two[3];
		to_hex((const unsigned char *)data.p + i, 1, two);
		buf_add(b, two, 2);
	}
}

static const char base64_alphabet[] =
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_encode(struct buf *b, struct str data)
{
	const unsigned char *p = (const unsigned char *)data.p;

	for (size_t i = 0; i < data.n; i += 3) {
		size_t left = data.n - i;
		uint32_t w = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);
		char four[4] = {
			base64_alphabet[w >> 18],
			base64_alphabet[w >> 12 & 63],
			left > 1 ? base64_alphabet[w >> 6 & 63] : '=',
			left > 2 ? base64_alphabet[w & 63] : '=',
		};
		buf_add(b, four, 4);
	}
}

static int base64_value(char c)
{
	const char *at = c ? strchr(base64_alphabet, c) : NULL;

	return at ? (int)(at - base64_alphabet) : -1;
}

int base64_decode(struct buf *b, struct str text, struct err *e)
{
	uint32_t w = 0;
	size_t chars = 0, pads = 0;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		int v = base64_value(c);
		if (c == ' ' || c == '\t' || c == '\r' || c == '\n')
			continue;
		if (c == '=' ? ++pads > 2 : v < 0 || pads)
			return err_set(e, ERR_SPEC, "not base64: byte %zu is not allowed there",
				       i + 1);
		w = w << 6 | (c == '=' ? 0 : (uint32_t)v);
		if (++chars % 4 == 0) {
			char three[3] = { (char)(w >> 16), (char)(w >> 8), (char)w };
			buf_add(b, three, 3 - pads);
		}
	}
	if (chars % 4)
		return err_set(e, ERR_SPEC, "not base64: it is cut short");
	return 0;
}

size_t hash_named(const char *name, struct str data, uint8_t out[HASH_MAX])
{
	const EVP_MD *md = EVP_get_digestbyname(name);
	unsigned n = 0;

	if (!md || EVP_MD_size(md) > HASH_MAX || EVP_Digest(data.p, data.n, out, &n, md, NULL) != 1)
		return 0;
	return n;
}
