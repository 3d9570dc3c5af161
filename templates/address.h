/* SPDX-License-Identifier: Apache-2.0 */
/* templates/address.h - addresses and networks of both versions, as the netaddr package reads and
 * writes them. */
#ifndef MUSTER_TEMPLATES_ADDRESS_H
#define MUSTER_TEMPLATES_ADDRESS_H

#include "base/base.h"

typedef unsigned __int128 u128;

struct net {
	bool v6;
	bool has_prefix; /* it was written */
	int prefix;
	u128 ip;
	struct str text; /* as it was given */
};

int net_bits(const struct net *n); /* 32 or 128 */
u128 net_all_ones(int bits);
u128 net_host_mask(const struct net *n);
u128 net_mask(const struct net *n);
u128 net_first(const struct net *n);
u128 net_last(const struct net *n);
static inline int net_host_bits(const struct net *n)
{
	return net_bits(n) - n->prefix;
}

/* "1.2.3.4", "1.2.3.4/24", "1.2.3.4/255.255.255.0" */
bool net_parse(struct arena *a, struct str s, struct net *n);
/* Also numbers, and numbers with a prefix; version: 4, 6 or 0 (any). */
bool net_of(struct arena *a, const struct value *v, int version, struct net *n);

const char *net_ip_text(struct arena *a, bool v6, u128 ip);
/* An address whose version nobody says: IPv4 if it is small enough. */
const struct value *net_plain(struct arena *a, u128 ip);
const struct value *net_text(struct arena *a, const struct net *n, u128 ip); /* ip/prefix */
/* A text where it does not fit. */
const struct value *net_number(struct arena *a, u128 i);

#endif
