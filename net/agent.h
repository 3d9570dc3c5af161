/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/agent.h - ssh-agent, spoken from a task. Our own, because libssh2's cannot ask for RSA with
 * SHA-2 before 1.11. For net/ only.
 *
 * socket: path of the agent's socket. No agent there: ERR_NOT_FOUND.
 */
#ifndef MUSTER_NET_AGENT_H
#define MUSTER_NET_AGENT_H

#include "base/base.h"

struct agent_key {
	struct str blob, comment;
};

struct agent_keys {
	VEC(struct agent_key) keys;
};

must_check int agent_list(struct arena *a, const char *socket, struct deadline d,
			  struct agent_keys *out, struct err *e);

struct agent_request {
	const char *socket;
	struct str blob; /* which key */
	struct str data;
	uint32_t flags; /* AGENT_RSA_... for RSA keys */
	struct deadline deadline;
};

enum { AGENT_RSA_SHA256 = 2, AGENT_RSA_SHA512 = 4 };

/* Appends the bare signature (without the algorithm's name). ERR_AUTH: the agent refused. */
must_check int agent_sign(const struct agent_request *r, struct buf *sig, struct err *e);

#endif
