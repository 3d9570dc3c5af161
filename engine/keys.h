/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/keys.h - ed25519 keys in OpenSSH's formats: muster's own (state folder, ssh/id_ed25519,
 * 0600, made once), and one for each machine that it makes.
 *
 * A machine's private host key exists only between its making and the end of the create call: it is
 * never written by muster. The public half is in the journal before the call, so that a machine
 * whose making was interrupted is still known by its key.
 */
#ifndef MUSTER_ENGINE_KEYS_H
#define MUSTER_ENGINE_KEYS_H

#include "base/base.h"

struct ssh_keypair {
	const char *public_line; /* "ssh-ed25519 AAAA... comment" */
	struct str private_text; /* OpenSSH private key file; secret, not registered with the
				    scrubber */
};

must_check int keys_generate(struct arena *a, const char *comment, struct ssh_keypair *out,
			     struct err *e);
/* Paths of muster's key; makes it if `make`, else ERR_NOT_FOUND when there is none. public_line may
 * be NULL. */
must_check int keys_admin(struct arena *a, const char *state_dir, bool make,
			  const char **private_path, const char **public_line, struct err *e);

#endif
