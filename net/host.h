/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/host.h - one connection to a host, and many scripts over it.
 *
 * A host needs sshd (or is this machine) and a POSIX sh. One shell, already with the rights asked
 * for (become), lives for the whole connection; scripts travel to it framed, so a script costs one
 * round trip and no process on the controller. A lost connection is reported, never silently
 * repeated: only the caller knows whether the script may run twice.
 */
#ifndef MUSTER_NET_HOST_H
#define MUSTER_NET_HOST_H

#include "net/ssh.h"

struct host_become {
	bool on;
	const char *user;    /* NULL: root */
	struct str password; /* sudo password, fed on stdin; secret; empty: sudo -n */
};

struct host_opts {
	const char *name;	  /* the node's name, for messages; borrowed */
	bool local;		  /* this machine, no SSH */
	struct ssh_target target; /* borrowed content */
	struct host_become become;
};

struct host;

/* Connects and starts the shell; one round trip after login also tells boot id (host_boot_id). */
must_check int host_open(const struct host_opts *o, struct host **out, struct err *e);
void host_close(struct host *h);
const char *host_boot_id(const struct host *h);

struct script_opts {
	const struct host_become *
		become; /* NULL: the connection's own; another user gets a shell of its own, kept */
	size_t max_output;	  /* each of stdout and stderr; 0: 8 MiB */
	struct deadline deadline; /* at: 0: 5 minutes from now */
};

struct script_result {
	int status;
	bool truncated;
	struct str out, err; /* in the arena */
};

/* Runs `script` (text of a POSIX sh program; its stdin is /dev/null) in a subshell: cd, set, exit
 * and exported variables don't outlive it. -1 only if the answer did not arrive (ERR_TIMEOUT,
 * ERR_IO: connection lost, effect unknown; CANCELLED); a status is a result. */
must_check int host_script(struct host *h, struct arena *a, struct str script,
			   const struct script_opts *o, struct script_result *r, struct err *e);

/* Content to a file: to a temporary name beside it, digest checked on the node, mode and owner set,
 * then renamed. */
struct host_file {
	const char *path;
	const char *mode;  /* octal text, or NULL: 0600 */
	const char *owner; /* NULL: leave */
	const char *group;
};
must_check int host_put(struct host *h, struct str content, const struct host_file *f,
			struct err *e);
/* A file's bytes, at most max (ERR_IO that says so). ERR_NOT_FOUND when absent. Digest checked. */
must_check int host_get(struct host *h, struct arena *a, const char *path, size_t max,
			struct str *out, struct err *e);

/* Asks for a reboot and waits until the host answers with another boot id, then reconnects h. */
must_check int host_reboot(struct host *h, int64_t timeout_ms, struct err *e);
/* Closes and opens again until it answers (after a reboot that somebody else did, or a network
 * change). */
must_check int host_reconnect(struct host *h, int64_t timeout_ms, struct err *e);

struct host_stats {
	uint64_t round_trips; /* scripts sent, uploads and downloads included */
	uint64_t bytes_out, bytes_in;
};
struct host_stats host_stats(const struct host *h);

#endif
