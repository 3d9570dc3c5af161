/* SPDX-License-Identifier: Apache-2.0 */
/* base/hash.h - digests (OpenSSL inside), base64, hex. */
#ifndef MUSTER_BASE_HASH_H
#define MUSTER_BASE_HASH_H

#include "base/str.h"

#define SHA256_HEX 65 /* 64 digits and a NUL */

void sha256_hex(struct str data, char out[SHA256_HEX]);
/* Ansible's checksum of files; not for security */
void sha1_hex(struct str data, char out[41]);
void hmac_sha256_hex(struct str key, struct str data, char out[SHA256_HEX]);
void hmac_sha1(struct str key, struct str data, uint8_t out[20]); /* hashed known_hosts */

void base64_encode(struct buf *b, struct str data); /* no line breaks */
/* blanks and newlines are skipped; ERR_SPEC */
must_check int base64_decode(struct buf *b, struct str text, struct err *e);
void hex_encode(struct buf *b, struct str data);

#define HASH_MAX 64
/* By OpenSSL's name: md5, sha512, ... Gives the digest's length, 0 if there is none of that name. */
size_t hash_named(const char *name, struct str data, uint8_t out[HASH_MAX]);

#endif
