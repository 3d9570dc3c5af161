/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/session.h - what the files behind net/ssh.h share: connect.c (sockets), session.c (open,
 * wait, close), auth.c, channel.c.
 *
 * A session is driven by one task at a time. libssh2 is non-blocking; whenever it says EAGAIN,
 * session_wait waits on the one real socket, which for a session behind jump hosts is that of the
 * first hop.
 */
#ifndef MUSTER_NET_SESSION_H
#define MUSTER_NET_SESSION_H

#include <libssh2.h>

#include "net/known_hosts.h"
#include "net/ssh.h"

/* err.code of a host key that is not the right one: trying again cannot help. */
enum { SESSION_BAD_HOST_KEY = 7001 };

struct ssh {
	struct arena *a;
	struct ssh_target t; /* as given; its content is borrowed */
	char name[300];	     /* host or host:port, for messages */
	int fd;		     /* -1 behind a jump host */
	LIBSSH2_SESSION *l;
	struct ssh *jump;     /* owned */
	LIBSSH2_CHANNEL *via; /* channel of jump->l that carries us */
	bool half_read;	      /* via's last read left half a packet in jump */
	struct buf stash;     /* read from the socket or via, not yet asked for */
	bool want_write; /* libssh2 holds half a packet: nothing but the same call may follow */
	bool dead;	 /* no further use; why */
	char why[200];
	int64_t heard;	  /* when bytes last came */
	int64_t asked;	  /* when the last keepalive left */
	bool unacked;	  /* bytes came since TCP_QUICKACK was last armed */
	bool at_gate;	  /* counted among those that are logging in (session.c) */
	bool is_aside;	  /* of the gate: still logging in, but not counted */
	int64_t entered;  /* the gate */
	struct buf hello; /* what the server sent first, until the key exchange is over: explains
			     failures */
	bool hello_done;
};

/* connect.c: addresses (tcp_names_free), then a connected, non-blocking TCP socket in s->fd. */
struct tcp_names;
must_check int tcp_resolve(const struct ssh_target *t, int64_t ms, struct tcp_names **out,
			   struct err *e);
void tcp_names_free(struct tcp_names *names); /* NULL is fine */
must_check int tcp_connect(struct ssh *s, const struct tcp_names *names, struct deadline d,
			   struct err *e);

/* session.c */
must_check int session_wait(struct ssh *s, struct deadline d, struct err *e);
/* As task_wait_fd, for a session that may be at the gate: who is silent does not hold up others. */
must_check int session_wait_fd(struct ssh *s, int fd, int events, struct deadline d, struct err *e);
/* Turns a libssh2 failure into *e (ERR_IO, the session is dead if its connection is). Returns -1. */
int session_fail(struct ssh *s, const char *doing, struct err *e);
must_check int session_alive(struct ssh *s, struct err *e);
void session_kill(struct ssh *s, const char *why);
/* libssh2's own filter of unknown names copies memory onto itself: ours comes first. */
void session_prefer(struct ssh *s, int method, struct str algorithms);
bool session_supports(struct ssh *s, int method, struct str any_of);

/* auth.c: logs in with the agent's keys and the key files. */
must_check int session_auth(struct ssh *s, struct deadline d, struct err *e);
const char *session_user(struct ssh *s);

/* verify.c: which host key algorithms to ask for, and whether the key is the right one. */
void session_prefer_host_keys(struct ssh *s, const struct known_hosts *kh);
must_check int session_load_known(struct ssh *s, struct known_hosts *kh, struct err *e);
must_check int session_verify(struct ssh *s, const struct known_hosts *kh, struct deadline d,
			      struct err *e);
int session_explain_kex(struct ssh *s, struct err *e); /* -1 */

#endif
