/* SPDX-License-Identifier: Apache-2.0 */
/*
 * State must notice that a secret changed without holding it. A plain digest of a weak password can
 * be searched; one under a random key can't, as long as the key is elsewhere: it lies in seal.key,
 * which is in no backup, copy or export of the state. Whoever loses the key sees each secret as
 * changed once.
 */
#include <errno.h>
#include <unistd.h>

#include "state/files.h"
#include "state/sql.h"

#define KEY_BYTES 32
#define KEY_HEX	  (2 * KEY_BYTES)

static bool is_key(struct str s)
{
	if (s.n != KEY_HEX)
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!memchr("0123456789abcdef", s.p[i], 16))
			return false;
	return true;
}

static int read_key(struct arena *a, const char *path, struct str *key, struct err *e)
{
	if (fs_read(a, path, 1024, key, e))
		return -1;
	*key = str_trim(*key);
	if (is_key(*key))
		return 0;
	err_set(e, ERR_IO, "%s is not a seal key", path);
	return err_hint(
		e,
		"put the right file back, or remove it: then every secret counts as changed once");
}

/* link fails when the name exists, so of two processes that make a key at once, both end with the
 * first one's. */
static int make_key(struct arena *a, const char *path, struct err *e)
{
	char token[TOKEN_LEN];
	unsigned char raw[KEY_BYTES];
	scoped(buf_wipe) struct buf hex = { 0 };

	rand_token(token);
	rand_bytes(raw, sizeof raw);
	buf_init(&hex, KEY_HEX + 1);
	hex_encode(&hex, (struct str){ (char *)raw, sizeof raw });
	explicit_bzero(raw, sizeof raw);
	buf_addc(&hex, '\n');
	char *tmp = arena_printf(a, "%s.%.8s.tmp", path, token);
	if (fs_write_atomic(tmp, buf_str(&hex), 0600, e))
		return err_wrap(e, "making the seal key");
	int rc = link(tmp, path);
	if (rc && errno != EEXIST)
		err_sys(e, "making the seal key %s", path);
	else
		rc = 0;
	unlink(tmp);
	return rc;
}

static int find_key(const char *state, struct arena *a, struct str *key, struct err *e)
{
	char *path = files_seal_key(a, state);

	if (!fs_exists(path) && make_key(a, path, e))
		return -1;
	return read_key(a, path, key, e);
}

/* The kind goes in as well: the number 1 and the text "1" are two secrets. */
static struct value *digest(struct arena *a, struct str key, const struct value *v)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct value *out = value_map(a);
	char hex[SHA256_HEX];

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "%s:", value_kind_name(v->kind));
	value_reveal(&b, v);
	hmac_sha256_hex(key, buf_str(&b), hex);
	value_set(out, "__secret__", value_strf(a, "hmac-sha256:%s", hex));
	return out;
}

static struct value *seal(struct arena *a, struct str key, const struct value *v)
{
	struct value *out;

	if (v->secret)
		return digest(a, key, v);
	if (v->kind == V_LIST) {
		out = value_list(a);
		for (size_t i = 0; i < v->list.n; i++)
			value_add(a, out, seal(a, key, v->list.v[i]));
		return out;
	}
	if (v->kind == V_MAP) {
		out = value_map(a);
		for (size_t i = 0; i < v->map.n; i++)
			value_sets(out, v->map.e[i].key, seal(a, key, v->map.e[i].val));
		return out;
	}
	return value_copy(a, v);
}

int state_seal(struct state *s, struct arena *a, const struct value *v, const struct value **out,
	       struct err *e)
{
	scoped(arena_freep) struct arena *tmp = arena_new("seal");
	struct str key;

	*out = v;
	if (!value_has_secret(v))
		return 0;
	if (find_key(s->path, tmp, &key, e))
		return -1;
	*out = seal(a, key, v);
	return 0;
}

/* ---- signatures ---- */

/* A key of its own for each purpose, so that no digest of a secret is a signature of anything. */
static void sign(struct str key, const char *purpose, struct str data, char out[SHA256_HEX])
{
	scoped(buf_wipe) struct buf b = { 0 };
	char derived[SHA256_HEX];

	buf_init(&b, 1024);
	buf_addf(&b, "muster signature: %s", purpose);
	hmac_sha256_hex(key, buf_str(&b), derived);
	hmac_sha256_hex(str_of(derived), data, out);
	explicit_bzero(derived, sizeof derived);
}

int state_sign(const char *path, const char *purpose, struct str data, char out[SHA256_HEX],
	       struct err *e)
{
	scoped(arena_freep) struct arena *tmp = arena_new("sign");
	struct str key;

	if (fs_mkdirs(fs_dirname(tmp, path), 0700, e) || find_key(path, tmp, &key, e))
		return err_wrap(e, "signing");
	sign(key, purpose, data, out);
	return 0;
}

/* In a time that does not tell how much of it was right. */
static bool equal_digests(const char *x, const char *y)
{
	unsigned char differ = 0;

	if (strlen(x) != SHA256_HEX - 1 || strlen(y) != SHA256_HEX - 1)
		return false;
	for (size_t i = 0; i < SHA256_HEX - 1; i++)
		differ |= (unsigned char)(x[i] ^ y[i]);
	return differ == 0;
}

int state_verify(const char *path, const char *purpose, struct str data, const char *signature,
		 struct err *e)
{
	scoped(arena_freep) struct arena *tmp = arena_new("verify");
	char *file = files_seal_key(tmp, path);
	char want[SHA256_HEX];
	struct str key;

	if (!fs_exists(file))
		return err_set(e, ERR_CONFLICT, "nothing was signed here: there is no %s", file);
	if (read_key(tmp, file, &key, e))
		return -1;
	sign(key, purpose, data, want);
	if (equal_digests(want, signature))
		return 0;
	return err_set(e, ERR_CONFLICT, "it was not signed with the key in %s", file);
}
