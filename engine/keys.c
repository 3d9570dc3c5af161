/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The private file is OpenSSH's own container (magic, cipher "none", one key), since that is what
 * libssh2, sshd and ssh all read for ed25519. Its fields are SSH strings: a 32-bit length, most
 * significant byte first, then the bytes.
 */
#include "engine/keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#define KEY_TYPE  "ssh-ed25519"
#define KEY_BYTES 32

static void put_u32(struct buf *b, uint32_t x)
{
	const uint8_t bytes[4] = { (uint8_t)(x >> 24), (uint8_t)(x >> 16), (uint8_t)(x >> 8),
				   (uint8_t)x };

	buf_add(b, bytes, sizeof bytes);
}

static void put_string(struct buf *b, const void *p, size_t n)
{
	put_u32(b, (uint32_t)n);
	buf_add(b, p, n);
}

static void put_public(struct buf *b, const uint8_t pub[KEY_BYTES])
{
	put_string(b, KEY_TYPE, strlen(KEY_TYPE));
	put_string(b, pub, KEY_BYTES);
}

struct raw_key {
	uint8_t pub[KEY_BYTES], priv[KEY_BYTES];
};

static int make_raw(struct raw_key *k, struct err *e)
{
	size_t n_pub = KEY_BYTES, n_priv = KEY_BYTES;
	EVP_PKEY *pkey = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
	bool ok = pkey && EVP_PKEY_get_raw_public_key(pkey, k->pub, &n_pub) == 1 &&
		  EVP_PKEY_get_raw_private_key(pkey, k->priv, &n_priv) == 1 && n_pub == KEY_BYTES &&
		  n_priv == KEY_BYTES;

	EVP_PKEY_free(pkey);
	return ok ? 0 : err_set(e, ERR_BUG, "OpenSSL could not make an ed25519 key");
}

static void put_private_block(struct buf *b, const struct raw_key *k, const char *comment)
{
	uint32_t check;
	uint8_t both[2 * KEY_BYTES];

	rand_bytes(&check, sizeof check);
	put_u32(b, check); /* twice the same: how a reader knows that it decrypted well */
	put_u32(b, check);
	put_public(b, k->pub);
	memcpy(both, k->priv, KEY_BYTES);
	memcpy(both + KEY_BYTES, k->pub, KEY_BYTES);
	put_string(b, both, sizeof both);
	OPENSSL_cleanse(both, sizeof both);
	put_string(b, comment, strlen(comment));
	for (char pad = 1; b->n % 8; pad++)
		buf_addc(b, pad);
}

static void armour(struct buf *out, struct str body)
{
	scoped(buf_wipe) struct buf b64 = { 0 };

	buf_init(&b64, 4096);
	base64_encode(&b64, body);
	buf_adds(out, "-----BEGIN OPENSSH PRIVATE KEY-----\n");
	for (size_t i = 0; i < b64.n; i += 70) {
		buf_addstr(out, str_sub(buf_str(&b64), i, i + 70));
		buf_addc(out, '\n');
	}
	buf_adds(out, "-----END OPENSSH PRIVATE KEY-----\n");
}

static struct str private_file(struct arena *a, const struct raw_key *k, const char *comment)
{
	static const char magic[] = "openssh-key-v1"; /* with its NUL */
	scoped(buf_wipe) struct buf body = { 0 }, block = { 0 }, text = { 0 };
	scoped(buf_fini) struct buf pub = { 0 };

	buf_init(&body, 4096);
	buf_init(&block, 4096);
	buf_init(&text, 4096);
	buf_init(&pub, 256);
	put_private_block(&block, k, comment);
	put_public(&pub, k->pub);
	buf_add(&body, magic, sizeof magic);
	put_string(&body, "none", 4); /* cipher */
	put_string(&body, "none", 4); /* key derivation */
	put_string(&body, "", 0);
	put_u32(&body, 1); /* keys */
	put_string(&body, pub.p, pub.n);
	put_string(&body, block.p, block.n);
	armour(&text, buf_str(&body));
	return (struct str){ buf_dup(&text, a), text.n };
}

int keys_generate(struct arena *a, const char *comment, struct ssh_keypair *out, struct err *e)
{
	struct raw_key k = { 0 };
	scoped(buf_fini) struct buf pub = { 0 }, line = { 0 };

	buf_init(&pub, 256);
	buf_init(&line, 1024);
	if (make_raw(&k, e))
		return -1;
	put_public(&pub, k.pub);
	buf_adds(&line, KEY_TYPE " ");
	base64_encode(&line, buf_str(&pub));
	buf_addf(&line, " %s", comment);
	out->public_line = buf_dup(&line, a);
	out->private_text = private_file(a, &k, comment);
	OPENSSL_cleanse(&k, sizeof k);
	return 0;
}

static int make_admin(struct arena *a, const char *dir, const char *path, struct err *e)
{
	struct ssh_keypair k;

	if (keys_generate(a, "muster", &k, e) || fs_mkdirs(dir, 0700, e))
		return -1;
	scrub_register(k.private_text);
	/* The private file last: once it is there the pair is whole. */
	if (fs_write_atomic(arena_printf(a, "%s.pub", path),
			    str_of(arena_printf(a, "%s\n", k.public_line)), 0644, e))
		return -1;
	return fs_write_atomic(path, k.private_text, 0600, e);
}

int keys_admin(struct arena *a, const char *state_dir, bool make, const char **private_path,
	       const char **public_line, struct err *e)
{
	const char *dir = fs_join(a, state_dir, "ssh"), *path = fs_join(a, dir, "id_ed25519");
	struct str text;

	*private_path = path;
	if (!fs_exists(path)) {
		if (!make)
			return err_set(e, ERR_NOT_FOUND,
				       "muster has made no key yet: %s is not there", path);
		if (make_admin(a, dir, path, e))
			return err_wrap(e, "making muster's SSH key");
	}
	if (!public_line)
		return 0;
	if (fs_read(a, arena_printf(a, "%s.pub", path), 4096, &text, e))
		return err_wrap(e, "reading muster's SSH key");
	*public_line = str_cstr(a, str_trim(text));
	return 0;
}
