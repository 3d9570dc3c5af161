/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/ssh_config.h - ~/.ssh/config as OpenSSH reads it: Host, Match (host, originalhost, user,
 * localuser, all; exec is refused), HostName, User, Port, IdentityFile, IdentitiesOnly,
 * IdentityAgent, ProxyJump, UserKnownHostsFile, GlobalKnownHostsFile, StrictHostKeyChecking,
 * HostKeyAlias, RevokedHostKeys, HashKnownHosts, ConnectTimeout, ServerAliveInterval, Include.
 * Other keys are ignored (logged at -vv); ProxyCommand is refused with the remedy. First value
 * wins, as in OpenSSH.
 */
#ifndef MUSTER_NET_SSH_CONFIG_H
#define MUSTER_NET_SSH_CONFIG_H

#include "net/ssh.h"

/* Fills what is still unset in *t for the name in t->host (which HostName may replace), from the
 * user's and the system's file. path NULL: ~/.ssh/config and /etc/ssh/ssh_config; "none": only
 * defaults. Jump chains are resolved too. Memory from a.
 * ERR_SPEC, with the place: a fault in a file, or ~/.ssh/config (or what it includes) can be
 * written by others. */
must_check int ssh_target_resolve(struct arena *a, const char *path, struct ssh_target *t,
				  struct err *e);
/* One hop into host, user and port of *t: "[user@]host[:port]", an IPv6 address in brackets (or
 * bare, without a port), ssh://... ERR_SPEC. */
must_check int ssh_hop_parse(struct arena *a, struct str hop, struct ssh_target *t, struct err *e);
/* t->jump from ProxyJump's words, "[user@]host[:port],...", each resolved as above. ERR_SPEC: a hop
 * is none, or there are too many. */
must_check int ssh_jumps_resolve(struct arena *a, const char *path, const char *words,
				 struct ssh_target *t, struct err *e);

#endif
