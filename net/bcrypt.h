/* SPDX-License-Identifier: Apache-2.0 */
/* net/bcrypt.h - bcrypt_pbkdf, the passphrase hash of encrypted OpenSSH keys. Slow on purpose (~10
 * ms a round): offload it. */
#ifndef MUSTER_NET_BCRYPT_H
#define MUSTER_NET_BCRYPT_H

#include "base/str.h"

struct bcrypt_in {
	struct str passphrase, salt;
	uint32_t rounds; /* at least 1 */
};

/* Derives n (1..1024) bytes. False on bad parameters. Callable from any thread. */
bool bcrypt_pbkdf(const struct bcrypt_in *in, uint8_t *key, size_t n);

#endif
