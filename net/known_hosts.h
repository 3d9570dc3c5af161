/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/known_hosts.h - which host key belongs to whom, as OpenSSH's known_hosts(5) says, read by our
 * own code.
 *
 * libssh2's own reader takes "@revoked" for a host name and patterns for plain names, which accepts
 * keys it must not. Stricter than OpenSSH in one thing: a host that is known with other key types
 * only is "changed", not "new", so accept-new never trusts a key of another type for a host that we
 * know. For net/ and tests; pure, except load and append.
 */
#ifndef MUSTER_NET_KNOWN_HOSTS_H
#define MUSTER_NET_KNOWN_HOSTS_H

#include "base/base.h"

enum known_marker { KNOWN_PLAIN, KNOWN_CA, KNOWN_REVOKE };

struct known_entry {
	enum known_marker marker;
	struct str hosts; /* the list as written, or |1|salt|hash */
	struct str type;  /* ssh-ed25519 */
	struct str blob;  /* the public key */
	struct pos pos;
};

struct known_file; /* a file as it was read, shared by all who read it */

struct known_hosts {
	VEC(struct known_entry) entries; /* pinned, revoked, parsed from text */
	VEC(const struct known_file *) files;
};

/* Adds the entries of one file's text; lines that make no sense are logged and skipped. file: for
 * positions, outlives kh. */
void known_hosts_parse(struct arena *a, const char *file, struct str text, struct known_hosts *kh);
/* Reads a file, or takes it as it was read before if it has not changed; absent is fine. It stays
 * valid as long as `a` lives. The loop's thread only. */
must_check int known_hosts_load(struct arena *a, const char *path, struct known_hosts *kh,
				struct err *e);
void known_hosts_forget(void); /* drops the files that are kept for the process */
size_t known_hosts_count(const struct known_hosts *kh); /* lines that made sense */
/* Reads a file of public keys, one a line, each refused for every host. Absent, unreadable or of
 * another form (a binary KRL): ERR_AUTH, since a list that is not known may hold any key. */
must_check int known_hosts_revoke(struct arena *a, const char *path, struct known_hosts *kh,
				  struct err *e);
/* Adds a pinned "type base64" line, valid for every host. */
must_check int known_hosts_pin(struct arena *a, const char *line, struct known_hosts *kh,
			       struct err *e);

enum known_verdict {
	KNOWN_OK,
	KNOWN_UNKNOWN, /* no entry for this host */
	KNOWN_CHANGED, /* entries, but not with this key */
	KNOWN_REVOKED, /* a @revoked line names this key */
	KNOWN_CA_ONLY, /* only a @cert-authority line, which needs host certificates */
};

/* name: the host as the user wrote it; port 0 or 22: the plain name. *which (may be NULL): the
 * entry that decided. */
enum known_verdict known_hosts_check(const struct known_hosts *kh, const char *name, int port,
				     struct str blob, const struct known_entry **which);
/* True if an entry for this host has this key type ("ssh-rsa"). */
bool known_hosts_has_type(const struct known_hosts *kh, const char *name, int port,
			  const char *type);

/* Appends one line, hashed or not, in one write under a lock (which is waited for on another
 * thread, until the deadline); makes the file (0600) and its folder (0700). */
struct known_new {
	const char *name;
	int port;
	struct str blob;
	bool hashed;
};
must_check int known_hosts_append(const char *path, const struct known_new *k, struct deadline d,
				  struct err *e);

/* "SHA256:base64", as ssh-keygen -l prints it. */
#define FINGERPRINT_LEN 52
void key_fingerprint(struct str blob, char out[FINGERPRINT_LEN]);

#endif
