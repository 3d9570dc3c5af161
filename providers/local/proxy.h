/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/proxy.h - a small forward proxy that listens inside a network namespace and
 * connects from outside of it: `muster internal local-proxy --netns PATH --listen ADDR:PORT --lock
 * FILE`, a hidden command.
 *
 * It serves package archives to hosts that have no way out: GET and HEAD of http:// addresses and
 * CONNECT, ports 80 and 443, one request a connection. It refuses addresses that are not public
 * (this machine, its networks), except the very hosts and ports that this machine's apt is
 * configured for. The machine's own proxy (environment, or apt's) is used where there is one.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_PROXY_H
#define MUSTER_PROVIDERS_LOCAL_PROXY_H

#include <netinet/in.h>

#include "base/base.h"

/* argv[0] is "local-proxy". The exit status. Runs a loop of its own until SIGTERM. */
int local_proxy_main(int argc, char **argv);

/* ---- its parts, for tests ---- */

struct proxy_place {
	struct str host;
	int port;
};
struct proxy_request {
	bool connect;		/* CONNECT host:port */
	struct str method, url; /* as sent */
	struct str path;	/* origin form, begins with '/' */
	struct proxy_place to;
	struct str headers; /* the lines after the first, without the empty one */
};
/* head: up to and with the empty line. */
must_check int proxy_parse(struct str head, struct proxy_request *r, struct err *e);
/* The request as sent on: origin form, or absolute to another proxy; without hop-by-hop lines, with
 * Connection: close. */
void proxy_rewrite(const struct proxy_request *r, bool absolute, struct str authorization,
		   struct buf *out);
/* The head of an answer, likewise. */
void proxy_rewrite_answer(struct str head, struct buf *out);
bool proxy_is_public(const struct sockaddr *sa);

struct proxy_rules {
	VEC(struct proxy_place) archives; /* of this machine's apt */
	struct proxy_place upstream;	  /* host empty: none */
	struct str authorization;	  /* "Basic ..." for it, or empty; secret */
};
bool proxy_allows_port(const struct proxy_rules *rules, const struct proxy_place *to);
bool proxy_is_archive(const struct proxy_rules *rules, const struct proxy_place *to);
/* proxy: "http://user:password@host:port". */
must_check int proxy_set_upstream(struct arena *a, struct proxy_rules *rules, struct str proxy,
				  struct err *e);

#endif
