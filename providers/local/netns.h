/* SPDX-License-Identifier: Apache-2.0 */
/* providers/local/netns.h - network namespaces, through iproute2; sockets inside them. */
#ifndef MUSTER_PROVIDERS_LOCAL_NETNS_H
#define MUSTER_PROVIDERS_LOCAL_NETNS_H

#include "base/base.h"

#define NETNS_DIR "/run/netns"

char *netns_path(struct arena *a, const char *name);
bool netns_exists(const char *name);
must_check int netns_add(const char *name, struct err *e); /* being there already is fine */
must_check int netns_del(const char *name, struct err *e); /* absent is fine */
/* Runs lines of `ip -batch` inside a named namespace (NULL: the caller's own). The first that fails
 * is the error. */
must_check int netns_ip(const char *name, const char *lines, struct err *e);
bool netns_has_link(const char *name, const char *link);

/* A socket made inside the namespace; the calling thread is in its own again afterwards. */
must_check int netns_socket(const char *path, int type, int *fd, struct err *e);

/* Connects and reads the first bytes until a newline: true if they begin with `banner`. In a task;
 * bounded by `ms`. */
bool netns_answers(const char *path, const char *address, int port, const char *banner, int64_t ms);

/* "10.77.0.0/16" -> network address (host byte order) and prefix length. */
must_check int cidr_parse(struct str cidr, uint32_t *net, int *prefix, struct err *e);
void ipv4_text(uint32_t addr, char out[16]);
must_check int ipv4_parse(const char *text, uint32_t *out, struct err *e);

#endif
