/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host keys. The server is asked first for a type that we know of it, else a host with an rsa and
 * an ed25519 key would look changed. A failed key exchange is explained from the server's own first
 * packet, which is not yet encrypted.
 */
#include <stdio.h>

#include "net/session.h"
#include "net/wire.h"

static const char *const host_key_types[][2] = {
	/* the key's type, the algorithms that use it */
	{ "ssh-ed25519", "ssh-ed25519" },
	{ "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256" },
	{ "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384" },
	{ "ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521" },
	{ "ssh-rsa", "rsa-sha2-512,rsa-sha2-256" },
};

static const char *lookup_name(const struct ssh *s, int *port)
{
	*port = s->t.host_key_alias ? 0 : s->t.port;
	return s->t.host_key_alias ? s->t.host_key_alias : s->t.host;
}

int session_load_known(struct ssh *s, struct known_hosts *kh, struct err *e)
{
	for (size_t i = 0; i < s->t.revoked.n; i++)
		if (known_hosts_revoke(s->a, s->t.revoked.v[i], kh, e) != 0)
			return err_wrap(e, "revoked host keys");
	for (size_t i = 0; i < s->t.host_keys.n; i++)
		if (known_hosts_pin(s->a, s->t.host_keys.v[i], kh, e) != 0)
			return -1;
	if (s->t.host_keys.n)
		return 0;
	for (size_t i = 0; i < s->t.known_hosts.n; i++)
		if (known_hosts_load(s->a, s->t.known_hosts.v[i], kh, e) != 0)
			return err_wrap(e, "known hosts");
	return 0;
}

void session_prefer_host_keys(struct ssh *s, const struct known_hosts *kh)
{
	scoped(buf_fini) struct buf list = { 0 };
	int port;
	const char *name = lookup_name(s, &port);

	buf_init(&list, 1024);
	for (int known = 1; known >= 0; known--) {
		for (size_t i = 0; i < ARRAY_LEN(host_key_types); i++) {
			if (known_hosts_has_type(kh, name, port, host_key_types[i][0]) !=
			    (bool)known)
				continue;
			buf_addf(&list, "%s%s", list.n ? "," : "", host_key_types[i][1]);
		}
	}
	session_prefer(s, LIBSSH2_METHOD_HOSTKEY, buf_str(&list));
}

static int changed(struct ssh *s, const struct known_entry *k, struct str blob, struct err *e)
{
	char have[FINGERPRINT_LEN], got[FINGERPRINT_LEN];
	int port;
	const char *name = lookup_name(s, &port);

	key_fingerprint(k->blob, have);
	key_fingerprint(blob, got);
	if (k->pos.line == 0) {
		err_set(e, ERR_AUTH,
			"%s has another host key than the pinned one: it shows " STR_FMT
			" %s, pinned is " STR_FMT " %s",
			s->name, STR_ARG(wire_key_type(blob)), got, STR_ARG(k->type), have);
		return err_hint(
			e,
			"if the host was rebuilt, replace its pinned host key; else someone may be in between");
	}
	err_set(e, ERR_AUTH,
		"the host key of %s has changed: it shows " STR_FMT " %s, %s:%d has " STR_FMT " %s",
		s->name, STR_ARG(wire_key_type(blob)), got, k->pos.file, k->pos.line,
		STR_ARG(k->type), have);
	if (port && port != 22)
		return err_hint(e, "if the host was rebuilt: ssh-keygen -R '[%.150s]:%d' -f %.150s",
				name, port, k->pos.file);
	return err_hint(e, "if the host was rebuilt: ssh-keygen -R '%.150s' -f %.150s", name,
			k->pos.file);
}

static int refuse_unknown(struct ssh *s, struct str blob, struct err *e)
{
	char got[FINGERPRINT_LEN];

	key_fingerprint(blob, got);
	err_set(e, ERR_AUTH, "the host key of %s is not known: it shows " STR_FMT " %s", s->name,
		STR_ARG(wire_key_type(blob)), got);
	return err_hint(
		e,
		"check the fingerprint and add the key to known_hosts, or set host_key_checking: accept-new");
}

static int accept(struct ssh *s, struct str blob, struct deadline d, struct err *e)
{
	char got[FINGERPRINT_LEN];
	struct known_new k = { .blob = blob, .hashed = s->t.hash_known_hosts };

	k.name = lookup_name(s, &k.port);
	key_fingerprint(blob, got);
	if (s->t.strict == SSH_STRICT_NO) {
		log_warn("%s: host key " STR_FMT " %s is not checked", s->name,
			 STR_ARG(wire_key_type(blob)), got);
		return 0;
	}
	log_info("%s: new host key " STR_FMT " %s accepted", s->name, STR_ARG(wire_key_type(blob)),
		 got);
	if (s->t.known_hosts.n == 0)
		return 0;
	return known_hosts_append(s->t.known_hosts.v[0], &k, d, e);
}

static int verify(struct ssh *s, const struct known_hosts *kh, struct deadline d, struct err *e)
{
	const struct known_entry *which = NULL;
	size_t n = 0;
	int type, port;
	const char *key = libssh2_session_hostkey(s->l, &n, &type);
	const char *name = lookup_name(s, &port);
	struct str blob = { key, n };
	bool lax = s->t.strict == SSH_STRICT_NO && s->t.host_keys.n == 0;

	if (!key)
		return err_set(e, ERR_AUTH, "%s showed no host key", s->name);
	switch (known_hosts_check(kh, name, port, blob, &which)) {
	case KNOWN_OK: return 0;
	case KNOWN_REVOKED:
		err_set(e, ERR_AUTH, "the host key of %s is revoked by %s:%d", s->name,
			which->pos.file, which->pos.line);
		return err_hint(e, "give the host a new key; do not log in with this one");
	case KNOWN_CHANGED:
		if (lax)
			return accept(s, blob, d, e);
		return changed(s, which, blob, e);
	case KNOWN_CA_ONLY:
		if (lax)
			return accept(s, blob, d, e);
		err_set(e, ERR_AUTH,
			"%s is known only by a certificate authority (%s:%d), and host certificates are not supported",
			s->name, which->pos.file, which->pos.line);
		return err_hint(
			e, "add the host's plain key to known_hosts: ssh-keyscan -p PORT %.200s",
			name);
	case KNOWN_UNKNOWN: break;
	}
	if (s->t.strict == SSH_STRICT_YES || s->t.host_keys.n)
		return refuse_unknown(s, blob, e);
	return accept(s, blob, d, e);
}

int session_verify(struct ssh *s, const struct known_hosts *kh, struct deadline d, struct err *e)
{
	if (verify(s, kh, d, e) == 0)
		return 0;
	if (e->kind == ERR_AUTH)
		e->code = SESSION_BAD_HOST_KEY;
	return -1;
}

/* ---- why a key exchange failed ------------------------------------------------------------------
 */

enum { MSG_KEXINIT = 20 };

/* The server's lists: key exchange methods, host key algorithms. */
static bool parse_kexinit(struct str hello, struct str *kex, struct str *host_keys)
{
	struct str line;

	while (str_next_line(&hello, &line))
		if (str_starts(line, "SSH-"))
			break;
	struct wire w = wire_of(hello);
	wire_u32(&w); /* packet length */
	wire_u8(&w);  /* padding length */
	if (wire_u8(&w) != MSG_KEXINIT)
		return false;
	wire_bytes(&w, 16); /* cookie */
	*kex = wire_string(&w);
	*host_keys = wire_string(&w);
	return !w.bad;
}

int session_explain_kex(struct ssh *s, struct err *e)
{
	struct str kex, host_keys;

	if (str_find(buf_str(&s->hello), STR("SSH-")) == SIZE_MAX) {
		err_set(e, ERR_IO, "%s closed the connection before its SSH banner", s->name);
		return err_hint(e, "check that this port is sshd's, and sshd's MaxStartups");
	}
	if (parse_kexinit(buf_str(&s->hello), &kex, &host_keys)) {
		if (!session_supports(s, LIBSSH2_METHOD_HOSTKEY, host_keys)) {
			err_set(e, ERR_AUTH,
				"%s has only host keys of a kind that libssh2 %s cannot check: " STR_FMT,
				s->name, libssh2_version(0), STR_ARG(host_keys));
			return err_hint(
				e,
				"give the host an ed25519 host key (ssh-keygen -A there), or use libssh2 1.11");
		}
		if (!session_supports(s, LIBSSH2_METHOD_KEX, kex)) {
			err_set(e, ERR_IO, "%s offers no key exchange that we have: " STR_FMT,
				s->name, STR_ARG(kex));
			return err_hint(
				e,
				"allow curve25519-sha256 in the host's sshd_config (KexAlgorithms)");
		}
	}
	return session_fail(s, "key exchange", e);
}
