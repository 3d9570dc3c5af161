/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logging in with public keys: the agent's first, then files. Every key goes through
 * libssh2_userauth_publickey with a signing callback of ours. The callback finds the algorithm in
 * the data to be signed, so it serves both ways of RSA: before libssh2 1.11 the key blob is sent
 * under the name rsa-sha2-512 (sshd takes that for an RSA key and the signature is SHA-2);
 * from 1.11 the library itself negotiates. The callback may wait: it runs on the task's own stack.
 */
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "net/agent.h"
#include "net/keyfile.h"
#include "net/session.h"
#include "net/wire.h"

#define LIBSSH2_NEGOTIATES_RSA 0x010b00

/* One key on offer, from the agent or from a file. */
struct offer {
	struct ssh *s;
	struct str blob;
	const struct ssh_key *key; /* NULL: the agent's */
	const char *agent;
	struct deadline deadline;
	struct err err; /* why signing failed */
	bool sign_failed;
};

struct login {
	struct ssh *s;
	struct deadline d;
	struct buf tried; /* for the message when nothing worked */
	int offers;
	VEC(struct str) done; /* blobs already offered */
	struct str file_blobs[32];
	size_t file_blobs_n;
};

const char *session_user(struct ssh *s)
{
	struct passwd pw, *found = NULL;
	char buf[4096];

	if (s->t.user)
		return s->t.user;
	if (getpwuid_r(getuid(), &pw, buf, sizeof buf, &found) == 0 && found)
		return arena_strdup(s->a, found->pw_name);
	return "root";
}

/* ---- signing ---------------------------------------------------------------------------------- */

/* RFC 4252 §7: session id, 50, user, service, "publickey", TRUE, algorithm, blob. */
static struct str algorithm_of(struct str data)
{
	struct wire w = wire_of(data);

	wire_string(&w);
	wire_u8(&w);
	wire_string(&w);
	wire_string(&w);
	wire_string(&w);
	wire_u8(&w);
	return wire_string(&w);
}

static int sign(struct offer *o, struct str data, struct buf *sig)
{
	struct str alg = algorithm_of(data);

	if (o->key)
		return ssh_key_sign(o->key, alg, data, sig, &o->err);
	struct agent_request r = { o->agent, o->blob, data, 0, o->deadline };
	if (str_eqc(alg, "rsa-sha2-512"))
		r.flags = AGENT_RSA_SHA512;
	else if (str_eqc(alg, "rsa-sha2-256"))
		r.flags = AGENT_RSA_SHA256;
	return agent_sign(&r, sig, &o->err);
}

static LIBSSH2_USERAUTH_PUBLICKEY_SIGN_FUNC(on_sign)
{
	struct offer *o = *abstract;
	scoped(buf_fini) struct buf b = { 0 };

	(void)session;
	buf_init(&b, 16 << 10);
	o->sign_failed = sign(o, (struct str){ (const char *)data, data_len }, &b) != 0;
	if (o->sign_failed)
		return -1;
	*sig = malloc(b.n); /* libssh2 frees it with its allocator, which is this one */
	if (!*sig)
		return -1;
	memcpy(*sig, b.p, b.n);
	*sig_len = b.n;
	return 0;
}

/* ---- offering --------------------------------------------------------------------------------- */

static void blob_to_send(const struct offer *o, struct buf *out)
{
	struct wire w = wire_of(o->blob);
	struct str type = wire_string(&w);

	if (str_eqc(type, "ssh-rsa") && !libssh2_version(LIBSSH2_NEGOTIATES_RSA)) {
		wire_put_string(out, STR("rsa-sha2-512"));
		buf_add(out, w.p, w.n);
	} else {
		buf_addstr(out, o->blob);
	}
}

static int offer_once(struct login *l, struct offer *o, struct str blob, struct err *e)
{
	struct ssh *s = l->s;
	void *arg = o;
	int rc;

	while ((rc = libssh2_userauth_publickey(s->l, session_user(s),
						(const unsigned char *)blob.p, blob.n, on_sign,
						&arg)) == LIBSSH2_ERROR_EAGAIN) {
		if (session_wait(s, l->d, e) == 0)
			continue;
		if (e->kind == ERR_TIMEOUT)
			err_set(e, ERR_TIMEOUT, "no answer from %s in time (login)", s->name);
		return -1;
	}
	return rc;
}

static int too_many(struct login *l, struct err *e)
{
	err_set(e, ERR_AUTH, "%s closed the connection after %d keys were offered: %s", l->s->name,
		l->offers, l->tried.p);
	return err_hint(e, "set IdentitiesOnly and the one key that %s accepts", l->s->name);
}

enum { REFUSED = 1 };

/* 0: logged in; REFUSED: the next key; -1: over, *e. what: the key in words. */
static int offer(struct login *l, struct offer *o, const char *what, struct err *e)
{
	scoped(buf_fini) struct buf blob = { 0 };

	for (size_t i = 0; i < l->done.n; i++)
		if (str_eq(l->done.v[i], o->blob))
			return REFUSED;
	VEC_ADD(l->s->a, &l->done) = str_dup(l->s->a, o->blob);
	buf_init(&blob, 64 << 10);
	blob_to_send(o, &blob);
	o->s = l->s;
	o->deadline = l->d;
	l->offers++;
	int rc = offer_once(l, o, buf_str(&blob), e);
	if (rc == 0) {
		log_debug("%s: logged in as %s with %s", l->s->name, session_user(l->s), what);
		return 0;
	}
	if (rc == -1 && libssh2_session_last_errno(l->s->l) == LIBSSH2_ERROR_EAGAIN)
		return -1;
	buf_addf(&l->tried, "%s%s%s", l->tried.n ? ", " : "", what,
		 o->sign_failed ? " (signing failed)" : "");
	if (o->sign_failed) {
		if (o->err.kind == ERR_CANCELLED || o->err.kind == ERR_TIMEOUT) {
			*e = o->err;
			return -1;
		}
		log_info("%s: %s: %s", l->s->name, what, o->err.msg);
	}
	if (rc == LIBSSH2_ERROR_AUTHENTICATION_FAILED || rc == LIBSSH2_ERROR_PUBLICKEY_UNVERIFIED ||
	    o->sign_failed)
		return REFUSED;
	if (l->offers > 2 && (rc == LIBSSH2_ERROR_SOCKET_DISCONNECT ||
			      rc == LIBSSH2_ERROR_SOCKET_RECV || rc == LIBSSH2_ERROR_SOCKET_SEND))
		return too_many(l, e);
	return session_fail(l->s, "login", e);
}

/* ---- the agent -------------------------------------------------------------------------------- */

static bool is_usable_type(struct str type)
{
	return str_eqc(type, "ssh-ed25519") || str_eqc(type, "ssh-rsa") ||
	       str_starts(type, "ecdsa-sha2-nistp");
}

static void add_tried(struct login *l, const char *fmt, const char *what)
{
	buf_addf(&l->tried, "%s", l->tried.n ? ", " : "");
	buf_addf(&l->tried, "%s: %s", what, fmt);
}

static bool is_wanted(const struct login *l, struct str blob)
{
	if (!l->s->t.identities_only)
		return true;
	for (size_t i = 0; i < l->file_blobs_n; i++)
		if (str_eq(l->file_blobs[i], blob))
			return true;
	return false;
}

static int try_agent(struct login *l, const char *path, struct err *e)
{
	struct agent_keys keys = { 0 };
	struct err why;
	char what[300];

	if (agent_list(l->s->a, path, l->d, &keys, &why) != 0) {
		if (why.kind == ERR_CANCELLED || why.kind == ERR_TIMEOUT) {
			*e = why;
			return -1;
		}
		log_info("%s", why.msg);
		add_tried(l, "no answer", "ssh-agent");
		return REFUSED;
	}
	if (keys.keys.n == 0)
		add_tried(l, "has no keys", "ssh-agent");
	for (size_t i = 0; i < keys.keys.n; i++) {
		const struct agent_key *k = &keys.keys.v[i];
		struct offer o = { .blob = k->blob, .agent = path };
		struct str type = wire_key_type(k->blob);

		if (!is_wanted(l, k->blob))
			continue;
		snprintf(what, sizeof what, "agent key " STR_FMT " %.100s", STR_ARG(type),
			 k->comment.p);
		if (!is_usable_type(type)) {
			add_tried(l, "this kind is not supported", what);
			continue;
		}
		int rc = offer(l, &o, what, e);
		if (rc != REFUSED)
			return rc;
	}
	return REFUSED;
}

/* ---- files ------------------------------------------------------------------------------------ */

static int try_file(struct login *l, const char *path, struct err *e)
{
	struct ssh_key *key = NULL;
	struct err why;

	if (ssh_key_load(path, l->s->t.passphrase, l->d, &key, &why) != 0) {
		if (why.kind == ERR_CANCELLED || why.kind == ERR_TIMEOUT) {
			*e = why;
			return -1;
		}
		buf_addf(&l->tried, "%s%s", l->tried.n ? ", " : "", why.msg);
		if (why.hint[0])
			err_hint(e, "%s", why.hint); /* kept for the final message */
		return REFUSED;
	}
	struct offer o = { .blob = ssh_key_blob(key), .key = key };
	int rc = offer(l, &o, path, e);
	ssh_key_free(key);
	return rc;
}

static void learn_file_blobs(struct login *l)
{
	for (size_t i = 0; i < l->s->t.identities.n && l->file_blobs_n < ARRAY_LEN(l->file_blobs);
	     i++) {
		struct err ignored;
		struct str blob;

		if (ssh_key_public(l->s->a, l->s->t.identities.v[i], &blob, &ignored) == 0)
			l->file_blobs[l->file_blobs_n++] = blob;
	}
}

/* The methods that the server would take, for the message; NULL if it does not say. */
static const char *server_methods(struct login *l)
{
	const char *user = session_user(l->s);
	struct err ignored;
	char *list;

	while (!(list = libssh2_userauth_list(l->s->l, user, (unsigned)strlen(user)))) {
		if (libssh2_session_last_errno(l->s->l) != LIBSSH2_ERROR_EAGAIN ||
		    session_wait(l->s, l->d, &ignored) != 0)
			return NULL;
	}
	return arena_strdup(l->s->a, list);
}

static int nothing_worked(struct login *l, const char *hint, struct err *e)
{
	const char *user = session_user(l->s), *methods = server_methods(l);

	if (libssh2_userauth_authenticated(l->s->l))
		return 0; /* the server asks for nothing */
	err_set(e, ERR_AUTH, "%s does not let %s in; tried %s", l->s->name, user,
		l->tried.n ? l->tried.p : "nothing: no key and no agent");
	if (methods && !strstr(methods, "publickey"))
		return err_hint(e, "the server takes only %.100s: allow PubkeyAuthentication there",
				methods);
	if (hint[0])
		return err_hint(e, "%s", hint);
	if (l->offers == 0)
		return err_hint(
			e, "name a private key (key: or IdentityFile), or load one with ssh-add");
	return err_hint(
		e, "check the user name, and that the public key is in ~%s/.ssh/authorized_keys",
		user);
}

static int log_in(struct login *l, struct err *e)
{
	const struct ssh_target *t = &l->s->t;
	const char *agent = t->no_agent ? NULL : t->agent ? t->agent : env_get("SSH_AUTH_SOCK");
	struct err why = { 0 };
	int rc = REFUSED;

	if (t->identities_only)
		learn_file_blobs(l);
	if (agent)
		rc = try_agent(l, agent, &why);
	for (size_t i = 0; i < t->identities.n && rc == REFUSED; i++)
		rc = try_file(l, t->identities.v[i], &why);
	if (rc == REFUSED)
		return nothing_worked(l, why.hint, e);
	if (rc != 0)
		*e = why;
	return rc;
}

int session_auth(struct ssh *s, struct deadline d, struct err *e)
{
	struct login l = { .s = s, .d = d };

	buf_init(&l.tried, 700);
	int rc = log_in(&l, e);
	buf_fini(&l.tried);
	return rc;
}
