/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes are a private key file or a fault; what was loaded signs. */
#include "net/keyfile.h"
#include "net/wire.h"
#include "tests/fuzz/fuzz.h"

static const char *algorithm_for(struct str blob)
{
	struct str type = wire_key_type(blob);

	if (str_eqc(type, "ssh-rsa"))
		return "rsa-sha2-256";
	return str_eqc(type, "ssh-ed25519")	      ? "ssh-ed25519"
	       : str_eqc(type, "ecdsa-sha2-nistp384") ? "ecdsa-sha2-nistp384"
	       : str_eqc(type, "ecdsa-sha2-nistp521") ? "ecdsa-sha2-nistp521"
						      : "ecdsa-sha2-nistp256";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new("fuzz");
	const char *path = fuzz_file(".key", fuzz_text(data, size));
	struct ssh_key *key = NULL;
	struct str public;
	struct err e = { 0 };
	struct buf sig;

	buf_init(&sig, 64 << 10);
	/* Without a passphrase: an encrypted file may ask for two minutes of hashing, by right. */
	if (ssh_key_load(path, STR_NONE, deadline_in(1000), &key, &e) == 0) {
		struct str blob = ssh_key_blob(key);

		(void)!ssh_key_sign(key, str_of(algorithm_for(blob)), STR("data"), &sig, &e);
		ssh_key_free(key);
	} else {
		fuzz_must(e.msg[0], "refused without a word");
	}
	ssh_keys_forget();
	(void)!ssh_key_public(a, path, &public, &e);
	buf_fini(&sig);
	arena_free(a);
	return 0;
}
