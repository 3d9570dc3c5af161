/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/keyfile.h - private key files: ed25519, ecdsa and RSA, in OpenSSH's own format (plain,
 * aes-ctr, aes-cbc) or PEM.
 *
 * Refused with the remedy: security keys (sk-...), dsa, OpenSSH files encrypted with gcm or
 * chacha20, our own files that others can read. Opened keys are kept for the process (a passphrase
 * costs 0.2 s of CPU, and a fleet shares one key); ssh_keys_forget wipes them. For net/ only.
 */
#ifndef MUSTER_NET_KEYFILE_H
#define MUSTER_NET_KEYFILE_H

#include "base/base.h"

struct ssh_key;

/* ERR_NOT_FOUND: no such file; ERR_AUTH: all else, with a hint. Waits (another thread does the
 * hashing). Release with ssh_key_free. */
must_check int ssh_key_load(const char *path, struct str passphrase, struct deadline d,
			    struct ssh_key **out, struct err *e);
void ssh_key_free(struct ssh_key *k);		  /* NULL is fine */
struct str ssh_key_blob(const struct ssh_key *k); /* the public key */

/* alg: ssh-ed25519, ecdsa-sha2-*, rsa-sha2-256, rsa-sha2-512 (or ssh-rsa). Appends the bare
 * signature blob. */
must_check int ssh_key_sign(const struct ssh_key *k, struct str alg, struct str data,
			    struct buf *sig, struct err *e);

/* The public key that belongs to a private key file, without its passphrase: path.pub, or the head
 * of an OpenSSH file. */
must_check int ssh_key_public(struct arena *a, const char *path, struct str *blob, struct err *e);

void ssh_keys_forget(void);

#endif
