/* SPDX-License-Identifier: Apache-2.0 */
/* net/net.h - front door of the outside world: one connection to a host (host.h), what says how to
 * reach it (ssh.h), and how many calls a second an endpoint takes (limit.h). */
#ifndef MUSTER_NET_NET_H
#define MUSTER_NET_NET_H

#include "net/git.h"
#include "net/host.h"
#include "net/limit.h"
#include "net/ssh.h"
#include "net/ssh_config.h"

#endif
