/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why not leave key files to libssh2: before 1.11 it signs RSA with SHA-1 only, it would hash
 * passphrases on the loop's thread, and it cannot say what is wrong with a file. So the key becomes
 * an EVP_PKEY here and libssh2 only carries the signature.
 */
#include "net/keyfile.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>

#include "net/bcrypt.h"
#include "net/wire.h"

#define KEY_FILE_MAX ((size_t)64 << 10)
#define ROUNDS_MAX   10000 /* about two minutes: beyond it the file is an attack or a mistake */

static const char magic[] = "openssh-key-v1"; /* with its NUL */

struct ssh_key {
	EVP_PKEY *pkey;
	struct buf blob;
	int refs;
	/* what it was made from */
	char *path;
	struct timespec mtime;
	ino_t inode;
	char passphrase_digest[SHA256_HEX];
	struct ssh_key *next;
};

static struct ssh_key *kept; /* the loop's thread only */

/* ---- public keys ------------------------------------------------------------------------------ */

static void put_bn(struct buf *b, EVP_PKEY *pkey, const char *param)
{
	BIGNUM *bn = NULL;
	unsigned char bytes[2048];

	if (EVP_PKEY_get_bn_param(pkey, param, &bn) == 1 && BN_num_bytes(bn) <= (int)sizeof bytes)
		wire_put_mpint(b, (struct str){ (char *)bytes, (size_t)BN_bn2bin(bn, bytes) });
	BN_free(bn);
}

static const char *const curves[][3] = {
	{ "nistp256", "prime256v1", "ecdsa-sha2-nistp256" },
	{ "nistp384", "secp384r1", "ecdsa-sha2-nistp384" },
	{ "nistp521", "secp521r1", "ecdsa-sha2-nistp521" },
};

static int put_ec(struct buf *b, EVP_PKEY *pkey)
{
	char group[64];
	unsigned char point[256];
	size_t n = 0;

	if (EVP_PKEY_get_group_name(pkey, group, sizeof group, NULL) != 1 ||
	    EVP_PKEY_get_octet_string_param(pkey, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point,
					    &n) != 1)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(curves); i++) {
		if (strcmp(group, curves[i][1]) != 0)
			continue;
		wire_put_string(b, str_of(curves[i][2]));
		wire_put_string(b, str_of(curves[i][0]));
		wire_put_string(b, (struct str){ (char *)point, n });
		return 0;
	}
	return -1;
}

static int put_blob(struct buf *b, EVP_PKEY *pkey, const char *path, struct err *e)
{
	unsigned char raw[32];
	size_t n = sizeof raw;

	switch (EVP_PKEY_get_base_id(pkey)) {
	case EVP_PKEY_RSA:
		wire_put_string(b, STR("ssh-rsa"));
		put_bn(b, pkey, OSSL_PKEY_PARAM_RSA_E);
		put_bn(b, pkey, OSSL_PKEY_PARAM_RSA_N);
		return 0;
	case EVP_PKEY_EC:
		if (put_ec(b, pkey) == 0)
			return 0;
		break;
	case EVP_PKEY_ED25519:
		if (EVP_PKEY_get_raw_public_key(pkey, raw, &n) != 1)
			break;
		wire_put_string(b, STR("ssh-ed25519"));
		wire_put_string(b, (struct str){ (char *)raw, n });
		return 0;
	default: break;
	}
	err_set(e, ERR_AUTH, "%s: a kind of key that SSH does not use here", path);
	return err_hint(e, "make an ed25519 key: ssh-keygen -t ed25519");
}

/* ---- the private part of OpenSSH's format ------------------------------------------------------ */

static EVP_PKEY *from_params(const char *type, OSSL_PARAM_BLD *bld)
{
	OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(bld);
	EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
	EVP_PKEY *pkey = NULL;

	if (params && ctx && EVP_PKEY_fromdata_init(ctx) == 1 &&
	    EVP_PKEY_fromdata(ctx, &pkey, EVP_PKEY_KEYPAIR, params) != 1)
		pkey = NULL;
	EVP_PKEY_CTX_free(ctx);
	OSSL_PARAM_free(params);
	return pkey;
}

static BIGNUM *wire_bn(struct wire *w)
{
	struct str s = wire_string(w);

	return BN_bin2bn((const unsigned char *)s.p, (int)s.n, NULL);
}

static EVP_PKEY *read_ec(struct wire *w)
{
	struct str curve = wire_string(w), point = wire_string(w);
	BIGNUM *d = wire_bn(w);
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY *pkey = NULL;

	for (size_t i = 0; i < ARRAY_LEN(curves) && !w->bad; i++) {
		if (!str_eqc(curve, curves[i][0]))
			continue;
		if (OSSL_PARAM_BLD_push_utf8_string(bld, OSSL_PKEY_PARAM_GROUP_NAME, curves[i][1],
						    0) &&
		    OSSL_PARAM_BLD_push_octet_string(bld, OSSL_PKEY_PARAM_PUB_KEY, point.p,
						     point.n) &&
		    OSSL_PARAM_BLD_push_BN(bld, OSSL_PKEY_PARAM_PRIV_KEY, d))
			pkey = from_params("EC", bld);
	}
	OSSL_PARAM_BLD_free(bld);
	BN_clear_free(d);
	return pkey;
}

enum { RSA_N, RSA_E, RSA_D, RSA_IQMP, RSA_P, RSA_Q, RSA_DP, RSA_DQ, RSA_PARTS };

/* OpenSSH leaves out d mod (p-1) and d mod (q-1); signing without them would be four times slower. */
static bool rsa_exponents(BIGNUM **v)
{
	BN_CTX *ctx = BN_CTX_new();
	BIGNUM *less = BN_new();
	bool ok = ctx && less;

	for (int i = 0; i < 2 && ok; i++) {
		BIGNUM *r = v[RSA_DP + i] = BN_new();

		ok = r && BN_copy(less, v[RSA_P + i]) && BN_sub_word(less, 1) &&
		     BN_mod(r, v[RSA_D], less, ctx);
	}
	BN_clear_free(less);
	BN_CTX_free(ctx);
	return ok;
}

static EVP_PKEY *read_rsa(struct wire *w)
{
	static const char *const names[RSA_PARTS] = {
		OSSL_PKEY_PARAM_RSA_N,	       OSSL_PKEY_PARAM_RSA_E,
		OSSL_PKEY_PARAM_RSA_D,	       OSSL_PKEY_PARAM_RSA_COEFFICIENT1,
		OSSL_PKEY_PARAM_RSA_FACTOR1,   OSSL_PKEY_PARAM_RSA_FACTOR2,
		OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2,
	};
	BIGNUM *v[RSA_PARTS] = { 0 };
	OSSL_PARAM_BLD *bld = OSSL_PARAM_BLD_new();
	EVP_PKEY *pkey = NULL;

	for (int i = RSA_N; i <= RSA_Q; i++)
		v[i] = wire_bn(w);
	bool ok = !w->bad && bld && rsa_exponents(v);
	for (int i = 0; i < RSA_PARTS && ok; i++)
		ok = OSSL_PARAM_BLD_push_BN(bld, names[i], v[i]);
	if (ok)
		pkey = from_params("RSA", bld);
	OSSL_PARAM_BLD_free(bld);
	for (int i = 0; i < RSA_PARTS; i++)
		BN_clear_free(v[i]);
	return pkey;
}

static EVP_PKEY *read_ed25519(struct wire *w)
{
	wire_string(w); /* the public half, again at the end of the private one */
	struct str both = wire_string(w);

	if (both.n != 64)
		return NULL;
	return EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, (const unsigned char *)both.p,
					    32);
}

static int refuse_kind(struct str type, const char *path, struct err *e)
{
	err_set(e, ERR_AUTH, "%s: keys of type " STR_FMT " are not supported", path, STR_ARG(type));
	if (str_starts(type, "sk-"))
		return err_hint(
			e, "muster cannot ask a security key: use an ed25519 key for this host");
	return err_hint(e, "make an ed25519 key (ssh-keygen -t ed25519) and add it to the host");
}

static int read_private(struct str plain, const char *path, EVP_PKEY **out, struct err *e)
{
	struct wire w = wire_of(plain);
	uint32_t check = wire_u32(&w);

	if (wire_u32(&w) != check || w.bad) {
		err_set(e, ERR_AUTH, "%s: wrong passphrase", path);
		return err_hint(
			e,
			"give the key's passphrase, or load the key into ssh-agent with ssh-add");
	}
	struct str type = wire_string(&w);
	if (str_eqc(type, "ssh-ed25519"))
		*out = read_ed25519(&w);
	else if (str_eqc(type, "ssh-rsa"))
		*out = read_rsa(&w);
	else if (str_starts(type, "ecdsa-sha2-"))
		*out = read_ec(&w);
	else
		return refuse_kind(type, path, e);
	if (!*out || w.bad)
		return err_set(e, ERR_AUTH, "%s: the private key is damaged", path);
	return 0;
}

/* ---- encryption ------------------------------------------------------------------------------- */

static const EVP_CIPHER *cipher_of(struct str name)
{
	static const struct {
		const char *name;
		const EVP_CIPHER *(*get)(void);
	} known[] = {
		{ "aes256-ctr", EVP_aes_256_ctr }, { "aes192-ctr", EVP_aes_192_ctr },
		{ "aes128-ctr", EVP_aes_128_ctr }, { "aes256-cbc", EVP_aes_256_cbc },
		{ "aes192-cbc", EVP_aes_192_cbc }, { "aes128-cbc", EVP_aes_128_cbc },
	};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eqc(name, known[i].name))
			return known[i].get();
	return NULL;
}

struct sealed {
	struct str cipher, kdf, kdf_options, public, private;
};

static bool open_sealed(struct str raw, struct sealed *s)
{
	struct wire w = wire_of(raw);

	if (!str_eq(wire_bytes(&w, sizeof magic), (struct str){ magic, sizeof magic }))
		return false;
	s->cipher = wire_string(&w);
	s->kdf = wire_string(&w);
	s->kdf_options = wire_string(&w);
	if (wire_u32(&w) != 1)
		return false;
	s->public = wire_string(&w);
	s->private = wire_string(&w);
	return !w.bad;
}

static bool decrypt(const EVP_CIPHER *c, const uint8_t *key_iv, struct str in, struct buf *out)
{
	EVP_CIPHER_CTX *ctx = EVP_CIPHER_CTX_new();
	unsigned char chunk[1024 + EVP_MAX_BLOCK_LENGTH];
	int n = 0;
	bool ok = ctx && EVP_DecryptInit_ex(ctx, c, NULL, key_iv,
					    key_iv + EVP_CIPHER_get_key_length(c)) == 1;

	if (ok)
		EVP_CIPHER_CTX_set_padding(ctx, 0);
	for (size_t at = 0; ok && at < in.n; at += 1024) {
		struct str part = str_sub(in, at, at + 1024);

		ok = EVP_DecryptUpdate(ctx, chunk, &n, (const unsigned char *)part.p,
				       (int)part.n) == 1;
		if (ok)
			buf_add(out, chunk, (size_t)n);
	}
	OPENSSL_cleanse(chunk, sizeof chunk);
	EVP_CIPHER_CTX_free(ctx);
	return ok;
}

static int need_passphrase(const char *path, struct err *e)
{
	err_set(e, ERR_AUTH, "%s is encrypted and no passphrase was given", path);
	return err_hint(e, "load it into ssh-agent: ssh-add %.200s", path);
}

static int unseal(const struct sealed *s, struct str passphrase, const char *path,
		  struct buf *plain, struct err *e)
{
	const EVP_CIPHER *c = cipher_of(s->cipher);
	struct wire w = wire_of(s->kdf_options);
	struct bcrypt_in in = { .passphrase = passphrase };
	uint8_t key_iv[64];

	in.salt = wire_string(&w);
	in.rounds = wire_u32(&w);
	if (!c || !str_eqc(s->kdf, "bcrypt")) {
		err_set(e, ERR_AUTH, "%s is encrypted with " STR_FMT ", which is not supported",
			path, STR_ARG(s->cipher));
		return err_hint(e, "encrypt it anew: ssh-keygen -p -Z aes256-ctr -f %.200s", path);
	}
	if (passphrase.n == 0)
		return need_passphrase(path, e);
	size_t need = (size_t)EVP_CIPHER_get_key_length(c) + (size_t)EVP_CIPHER_get_iv_length(c);
	if (w.bad || in.rounds > ROUNDS_MAX || !bcrypt_pbkdf(&in, key_iv, need))
		return err_set(e, ERR_AUTH, "%s: unusable encryption parameters", path);
	bool ok = decrypt(c, key_iv, s->private, plain);
	OPENSSL_cleanse(key_iv, sizeof key_iv);
	return ok ? 0 : err_set(e, ERR_AUTH, "%s: the private key is damaged", path);
}

/* ---- files ------------------------------------------------------------------------------------ */

static const char begin_openssh[] = "-----BEGIN OPENSSH PRIVATE KEY-----";

static int decode_openssh(struct str text, struct buf *raw)
{
	struct str rest = str_sub(
		text, str_find(text, STR(begin_openssh)) + sizeof begin_openssh - 1, SIZE_MAX);
	struct err ignored;

	return base64_decode(raw, str_sub(rest, 0, str_find(rest, STR("-----END"))), &ignored);
}

static int read_openssh(struct str text, struct str passphrase, const char *path, EVP_PKEY **out,
			struct err *e)
{
	scoped(buf_wipe) struct buf raw = { 0 };
	scoped(buf_wipe) struct buf plain = { 0 };
	struct sealed s;

	buf_init(&raw, KEY_FILE_MAX);
	buf_init(&plain, KEY_FILE_MAX);
	if (decode_openssh(text, &raw) != 0 || !open_sealed(buf_str(&raw), &s))
		return err_set(e, ERR_AUTH, "%s: the key file is damaged", path);
	struct str type = wire_key_type(s.public);
	if (str_starts(type, "sk-"))
		return refuse_kind(type, path, e);
	if (str_eqc(s.cipher, "none"))
		return read_private(s.private, path, out, e);
	if (unseal(&s, passphrase, path, &plain, e) != 0)
		return -1;
	return read_private(buf_str(&plain), path, out, e);
}

struct pem_pass {
	struct str passphrase;
	bool asked;
};

static int pem_passphrase(char *to, int size, int writing, void *arg)
{
	struct pem_pass *p = arg;

	(void)writing;
	p->asked = true;
	if (p->passphrase.n == 0 || p->passphrase.n > (size_t)size)
		return -1;
	memcpy(to, p->passphrase.p, p->passphrase.n);
	return (int)p->passphrase.n;
}

static int read_pem(struct str text, struct str passphrase, const char *path, EVP_PKEY **out,
		    struct err *e)
{
	struct pem_pass pass = { .passphrase = passphrase };
	BIO *bio = BIO_new_mem_buf(text.p, (int)text.n);

	*out = PEM_read_bio_PrivateKey(bio, NULL, pem_passphrase, &pass);
	BIO_free(bio);
	ERR_clear_error();
	if (*out)
		return 0;
	if (pass.asked && passphrase.n == 0)
		return need_passphrase(path, e);
	if (pass.asked) {
		err_set(e, ERR_AUTH, "%s: wrong passphrase", path);
		return err_hint(
			e,
			"give the key's passphrase, or load the key into ssh-agent with ssh-add");
	}
	err_set(e, ERR_AUTH, "%s is not a private key that can be read", path);
	return err_hint(e, "name the private key file, not the .pub or -cert.pub file");
}

static void wipe_str(struct str s)
{
	OPENSSL_cleanse((char *)(uintptr_t)s.p, s.n);
}

/* The work of one load, done on a pool thread: everything it needs is in here. */
struct load {
	char *path;
	struct buf passphrase;
	EVP_PKEY *pkey;
};

static int load_run(void *arg, struct err *e)
{
	struct load *l = arg;
	struct arena *a = arena_new("key file");
	struct str text, pass = buf_str(&l->passphrase);
	int rc = fs_read(a, l->path, KEY_FILE_MAX, &text, e);

	if (rc == 0) {
		bool openssh = str_find(text, STR(begin_openssh)) != SIZE_MAX;

		rc = openssh ? read_openssh(text, pass, l->path, &l->pkey, e)
			     : read_pem(text, pass, l->path, &l->pkey, e);
		wipe_str(text);
	}
	arena_free(a);
	return rc;
}

static void load_free(void *arg)
{
	struct load *l = arg;

	EVP_PKEY_free(l->pkey);
	buf_wipe(&l->passphrase);
	mem_free(l->path);
	mem_free(l);
}

static char *heap_dup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(mem_alloc(n), s, n);
}

static int load(const char *path, struct str passphrase, struct deadline d, EVP_PKEY **out,
		struct err *e)
{
	struct load *l = mem_alloc(sizeof *l);

	l->path = heap_dup(path);
	buf_init(&l->passphrase, passphrase.n + 1);
	buf_addstr(&l->passphrase, passphrase);
	int rc = task_offload((struct offload_call){ load_run, l, load_free }, d, e);
	if (rc != 0 && (e->kind == ERR_TIMEOUT || e->kind == ERR_CANCELLED))
		return err_wrap(e, "reading key %s", path);
	*out = l->pkey;
	l->pkey = NULL;
	load_free(l);
	return rc;
}

/* ---- the keys that are kept -------------------------------------------------------------------- */

static struct ssh_key *find_kept(const char *path, const struct stat *st, const char *pass_digest)
{
	for (struct ssh_key *k = kept; k; k = k->next)
		if (strcmp(k->path, path) == 0 && k->inode == st->st_ino &&
		    k->mtime.tv_sec == st->st_mtim.tv_sec &&
		    k->mtime.tv_nsec == st->st_mtim.tv_nsec &&
		    strcmp(k->passphrase_digest, pass_digest) == 0)
			return k;
	return NULL;
}

static int make_key(const char *path, EVP_PKEY *pkey, struct ssh_key **out, struct err *e)
{
	struct ssh_key *k = mem_alloc(sizeof *k);

	k->pkey = pkey;
	k->refs = 1;
	k->path = heap_dup(path);
	buf_init(&k->blob, KEY_FILE_MAX);
	*out = k;
	return put_blob(&k->blob, pkey, path, e);
}

/* One load at a time: a hundred tasks that want the same key must not hash its passphrase a hundred
 * times. */
static struct task_sem loading = { .free = 1 };

/* As OpenSSH: a key of ours that others can read is no secret any more. */
static int check_readers(const char *path, const struct stat *st, struct err *e)
{
	if (st->st_uid != getuid() || !(st->st_mode & 077))
		return 0;
	err_set(e, ERR_AUTH, "%s can be read by others (mode %04o), so it is not used", path,
		(unsigned)st->st_mode & 07777);
	return err_hint(e, "make it yours alone: chmod 600 %.200s", path);
}

static int load_and_keep(const char *path, struct str passphrase, struct deadline d,
			 struct ssh_key **out, struct err *e)
{
	char digest[SHA256_HEX];
	struct stat st;
	EVP_PKEY *pkey = NULL;

	sha256_hex(passphrase, digest);
	if (stat(path, &st) != 0) {
		int saved = errno;

		err_set(e, saved == ENOENT ? ERR_NOT_FOUND : ERR_AUTH, "%s: %s", path,
			strerror(saved));
		e->code = saved;
		return -1;
	}
	struct ssh_key *k = find_kept(path, &st, digest);
	if (!k && load(path, passphrase, d, &pkey, e) != 0)
		return -1;
	if (check_readers(path, &st, e) != 0) {
		EVP_PKEY_free(pkey);
		return -1;
	}
	if (!k) {
		if (make_key(path, pkey, &k, e) != 0) {
			ssh_key_free(k);
			return -1;
		}
		k->inode = st.st_ino;
		k->mtime = st.st_mtim;
		memcpy(k->passphrase_digest, digest, sizeof digest);
		k->next = kept;
		kept = k;
	}
	k->refs++;
	*out = k;
	return 0;
}

int ssh_key_load(const char *path, struct str passphrase, struct deadline d, struct ssh_key **out,
		 struct err *e)
{
	bool locked = task_is_running();

	if (locked && task_sem_take(&loading, d, e) != 0)
		return -1;
	int rc = load_and_keep(path, passphrase, d, out, e);
	if (locked)
		task_sem_give(&loading);
	return rc;
}

void ssh_key_free(struct ssh_key *k)
{
	if (!k || --k->refs > 0)
		return;
	EVP_PKEY_free(k->pkey);
	buf_fini(&k->blob);
	mem_free(k->path);
	mem_free(k);
}

void ssh_keys_forget(void)
{
	while (kept) {
		struct ssh_key *k = kept;

		kept = k->next;
		ssh_key_free(k);
	}
}

struct str ssh_key_blob(const struct ssh_key *k)
{
	return buf_str(&k->blob);
}

/* ---- signing ---------------------------------------------------------------------------------- */

static const EVP_MD *digest_of(struct str alg)
{
	if (str_eqc(alg, "rsa-sha2-512") || str_eqc(alg, "ecdsa-sha2-nistp521"))
		return EVP_sha512();
	if (str_eqc(alg, "rsa-sha2-256") || str_eqc(alg, "ecdsa-sha2-nistp256"))
		return EVP_sha256();
	if (str_eqc(alg, "ecdsa-sha2-nistp384"))
		return EVP_sha384();
	return str_eqc(alg, "ssh-rsa") ? EVP_sha1() : NULL; /* ed25519 hashes by itself */
}

/* DER to SSH: two mpints. */
static int put_ecdsa(struct buf *out, const unsigned char *der, size_t n)
{
	ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
	unsigned char v[128] = { 0 };
	const BIGNUM *part[2];

	if (!sig)
		return -1;
	ECDSA_SIG_get0(sig, &part[0], &part[1]);
	for (int i = 0; i < 2; i++) {
		int len = BN_bn2bin(part[i], v);

		wire_put_mpint(out, (struct str){ (char *)v, (size_t)len });
	}
	ECDSA_SIG_free(sig);
	return 0;
}

int ssh_key_sign(const struct ssh_key *k, struct str alg, struct str data, struct buf *out,
		 struct err *e)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	unsigned char sig[2048];
	size_t n = sizeof sig;
	bool ok = ctx && EVP_DigestSignInit(ctx, NULL, digest_of(alg), NULL, k->pkey) == 1 &&
		  EVP_DigestSign(ctx, sig, &n, (const unsigned char *)data.p, data.n) == 1;

	EVP_MD_CTX_free(ctx);
	if (ok && EVP_PKEY_get_base_id(k->pkey) == EVP_PKEY_EC)
		ok = put_ecdsa(out, sig, n) == 0;
	else if (ok)
		buf_add(out, sig, n);
	ERR_clear_error();
	return ok ? 0 : err_set(e, ERR_AUTH, "%s: signing failed", k->path);
}

/* ---- public half only -------------------------------------------------------------------------- */

static int public_from_pub(struct arena *a, struct str text, struct str *blob)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct str type, base64;
	struct err ignored;

	buf_init(&b, KEY_FILE_MAX);
	text = str_trim(text);
	if (!str_next(&text, ' ', &type) || !str_next(&text, ' ', &base64) ||
	    base64_decode(&b, base64, &ignored) != 0)
		return -1;
	*blob = str_dup(a, buf_str(&b));
	return str_eq(wire_key_type(*blob), type) ? 0 : -1;
}

int ssh_key_public(struct arena *a, const char *path, struct str *blob, struct err *e)
{
	scoped(buf_wipe) struct buf raw = { 0 };
	struct str text;
	struct sealed s;
	struct err ignored;

	if (fs_read(a, arena_printf(a, "%s.pub", path), KEY_FILE_MAX, &text, &ignored) == 0 &&
	    public_from_pub(a, text, blob) == 0)
		return 0;
	if (fs_read(a, path, KEY_FILE_MAX, &text, e) != 0)
		return -1;
	buf_init(&raw, KEY_FILE_MAX);
	bool ok = str_find(text, STR(begin_openssh)) != SIZE_MAX &&
		  decode_openssh(text, &raw) == 0 && open_sealed(buf_str(&raw), &s);
	if (ok)
		*blob = str_dup(a, s.public);
	else if (public_from_pub(a, text, blob) ==
		 0) /* IdentityFile may name the .pub of an agent's key */
		ok = true;
	else
		err_set(e, ERR_AUTH, "%s: its public half is unknown without %s.pub", path, path);
	wipe_str(text);
	return ok ? 0 : -1;
}
