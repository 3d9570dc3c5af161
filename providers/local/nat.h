/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/nat.h - a way out of a network namespace by address translation, for those who
 * ask for it (`internet: nat`).
 *
 * It needs nftables and a machine that already forwards packets: muster does not turn a machine
 * into a router by itself.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_NAT_H
#define MUSTER_PROVIDERS_LOCAL_NAT_H

#include "base/base.h"

must_check int nat_check(struct err *e); /* what is missing */
must_check int nat_up(const char *netns, const char *cidr, struct err *e);
must_check int nat_down(const char *netns, struct err *e); /* absent is fine */
/* The machine's name servers, as text of resolv.conf; NULL if hosts could not reach them. */
const char *nat_resolv_conf(struct arena *a);

#endif
