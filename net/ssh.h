/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/ssh.h - an SSH session (libssh2, non-blocking) in straight-line calls from a task.
 *
 * Host keys are checked by our own code (net/known_hosts.h) before any credential is offered;
 * strict by default. One session serves one task at a time.
 */
#ifndef MUSTER_NET_SSH_H
#define MUSTER_NET_SSH_H

#include "base/base.h"

enum ssh_strict {
	SSH_STRICT_YES,	       /* unknown host key: refused */
	SSH_STRICT_ACCEPT_NEW, /* unknown: accepted and appended to known_hosts; changed: refused */
	SSH_STRICT_NO,	       /* ssh_config's StrictHostKeyChecking no: a warning is logged */
};

/* Everything needed to log in. Filled from the spec, then ssh_config (net/ssh_config.h), then
 * ssh_target_defaults. */
struct ssh_target {
	const char *host;  /* name or address to connect to */
	int port;	   /* 0: 22 */
	const char *user;  /* NULL: the local user's name */
	const char *netns; /* NULL, or a path (/run/netns/x): the socket is made inside that network
			      namespace */
	VEC(const char *) identities; /* private key files, tried in order after the agent's */
	bool no_agent;		      /* don't ask an agent */
	const char *agent;	      /* the agent's socket; NULL: SSH_AUTH_SOCK */
	bool identities_only;	      /* from the agent only keys that are in identities */
	struct str passphrase;	      /* for encrypted key files; secret */
	VEC(const char *)
	known_hosts; /* files, checked in order; the first is appended to by accept-new */
	VEC(const char *) host_keys; /* pinned "ssh-ed25519 AAAA..." keys: if any, known_hosts is
					not consulted, and `strict` does not loosen them */
	VEC(const char *) revoked;   /* files of host keys that are refused everywhere; one that
					cannot be read refuses every host, as in OpenSSH */
	bool hash_known_hosts;	     /* accept-new writes the name hashed */
	const char *host_key_alias;  /* name looked up in known_hosts; NULL: host (with port) */
	enum ssh_strict strict;
	const struct ssh_target *jump; /* NULL, or log in there first (chains) */
	int64_t connect_ms;	       /* TCP, key exchange and login; 0: 15 s */
	int64_t keepalive_ms;	       /* 0: 15 s; three unanswered end the session */
};

struct ssh;

/* As many as you like may be opened at once: a bounded number log in at a time, and connect_ms
 * counts from when it is this one's turn. */
must_check int ssh_open(const struct ssh_target *t, struct ssh **out, struct err *e);
void ssh_close(struct ssh *s); /* NULL is fine */
/* Wipes the private keys and drops the known hosts that are kept for the process. */
void ssh_forget(void);

struct ssh_result {
	int status;	     /* exit status; 128 + n for signal n; -1 if the server gave none */
	struct str out, err; /* in the arena */
	bool truncated;
};

struct ssh_command {
	const char *text;	  /* goes to the user's login shell: quote with proc_quote */
	struct str input;	  /* to its stdin, which then ends */
	size_t max_output;	  /* each of stdout and stderr; more is dropped; 0: 8 MiB */
	struct deadline deadline; /* when it passes the session is used up */
};

/* One command on a channel of its own; ends when the command and everything that holds its output
 * has. */
must_check int ssh_exec(struct ssh *s, struct arena *a, const struct ssh_command *c,
			struct ssh_result *r, struct err *e);

/* A long-lived channel, for net/host's shell. */
struct ssh_channel;
must_check int ssh_channel_open(struct ssh *s, const char *command, struct deadline d,
				struct ssh_channel **out, struct err *e);
must_check int ssh_channel_write(struct ssh_channel *c, struct str data, struct deadline d,
				 struct err *e);
/* Appends what has arrived on stdout and stderr, waiting for at least one byte or the end (*eof). */
must_check int ssh_channel_read(struct ssh_channel *c, struct buf *out, struct buf *err, bool *eof,
				struct deadline d, struct err *e);
void ssh_channel_close(struct ssh_channel *c);

#endif
