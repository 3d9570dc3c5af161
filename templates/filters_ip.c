/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses and networks: Ansible's ipaddr and its kin, as ansible.utils has them over netaddr.
 * What is no address gives false, a question that does not fit it nothing.
 */
#include <arpa/inet.h>

#include "templates/filters.h"

typedef unsigned __int128 u128;

struct net {
	bool v6;
	u128 ip;
	int prefix;
	bool has_prefix; /* it was written */
};

/* ---- numbers -------------------------------------------------------------------------------- */

static int bits_of(const struct net *n)
{
	return n->v6 ? 128 : 32;
}

static u128 all_ones(int bits)
{
	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

static u128 host_mask(const struct net *n)
{
	return all_ones(bits_of(n) - n->prefix);
}

static u128 mask_of(const struct net *n)
{
	return all_ones(bits_of(n)) & ~host_mask(n);
}

static u128 first_of(const struct net *n)
{
	return n->ip & ~host_mask(n);
}

static u128 last_of(const struct net *n)
{
	return n->ip | host_mask(n);
}

static bool is_single(const struct net *n)
{
	return n->prefix == bits_of(n);
}

static bool is_network(const struct net *n)
{
	return !is_single(n) && n->ip == first_of(n);
}

/* No host: a link of two has two of them. */
static bool is_no_host(const struct net *n)
{
	return is_network(n) && bits_of(n) - n->prefix > 1;
}

/* ---- texts ---------------------------------------------------------------------------------- */

static const char *ip_text(struct arena *a, bool v6, u128 ip)
{
	char *out = arena_alloc(a, INET6_ADDRSTRLEN);
	unsigned char bytes[16];

	for (int i = 0; i < 16; i++)
		bytes[i] = (unsigned char)(ip >> (8 * (15 - i)));
	inet_ntop(v6 ? AF_INET6 : AF_INET, v6 ? bytes : bytes + 12, out, INET6_ADDRSTRLEN);
	return out;
}

static const struct value *text_ip(struct call *c, const struct net *n, u128 ip)
{
	return value_cstr(c->a, ip_text(c->a, n->v6, ip));
}

static const struct value *text_net(struct call *c, const struct net *n, u128 ip)
{
	return value_strf(c->a, "%s/%d", ip_text(c->a, n->v6, ip), n->prefix);
}

static bool parse_ip(struct arena *a, struct str s, struct net *n)
{
	const char *text = arena_dup(a, s.p, s.n);
	unsigned char bytes[16] = { 0 };

	n->v6 = str_find_char(s, ':') != SIZE_MAX;
	if (inet_pton(n->v6 ? AF_INET6 : AF_INET, text, n->v6 ? bytes : bytes + 12) != 1)
		return false;
	n->ip = 0;
	for (int i = 0; i < 16; i++)
		n->ip = n->ip << 8 | bytes[i];
	return true;
}

/* "/24" or "/255.255.255.0" */
static bool parse_prefix(struct arena *a, struct str s, struct net *n)
{
	struct net mask;
	int64_t i;

	n->has_prefix = true;
	if (str_is_digits(s) && str_to_int(s, &i) && i <= bits_of(n)) {
		n->prefix = (int)i;
		return true;
	}
	if (!parse_ip(a, s, &mask) || mask.v6 != n->v6)
		return false;
	for (n->prefix = 0; n->prefix <= bits_of(n); n->prefix++)
		if (mask_of(n) == mask.ip)
			return true;
	return false;
}

static bool parse(struct arena *a, const struct value *v, struct net *n)
{
	size_t slash;

	*n = (struct net){ 0 };
	if (v->kind == V_INT && v->i > 0 && v->i <= UINT32_MAX) {
		n->ip = (u128)v->i;
		n->prefix = 32;
		return true;
	}
	if (v->kind != V_STR || !v->s.n)
		return false;
	slash = str_find_char(v->s, '/');
	if (!parse_ip(a, str_sub(v->s, 0, slash), n))
		return false;
	n->prefix = bits_of(n);
	return slash == SIZE_MAX || parse_prefix(a, str_sub(v->s, slash + 1, SIZE_MAX), n);
}

/* ---- questions ------------------------------------------------------------------------------ */

static const struct value *none(struct call *c)
{
	return value_null(c->a);
}

static const struct value *itself(struct call *c, const struct net *n)
{
	return n->has_prefix ? text_net(c, n, n->ip) : text_ip(c, n, n->ip);
}

static const struct value *q_address(struct call *c, const struct net *n)
{
	if (is_no_host(n) && !n->v6)
		return none(c);
	return text_ip(c, n, n->ip);
}

static const struct value *q_net(struct call *c, const struct net *n)
{
	return is_network(n) || (n->has_prefix && n->ip == first_of(n) && !is_single(n))
		       ? text_net(c, n, n->ip)
		       : none(c);
}

static const struct value *q_network(struct call *c, const struct net *n)
{
	return text_ip(c, n, first_of(n));
}

static const struct value *q_network_prefix(struct call *c, const struct net *n)
{
	return text_net(c, n, first_of(n));
}

static const struct value *q_netmask(struct call *c, const struct net *n)
{
	return text_ip(c, n, mask_of(n));
}

static const struct value *q_hostmask(struct call *c, const struct net *n)
{
	return text_ip(c, n, host_mask(n));
}

static const struct value *q_prefix(struct call *c, const struct net *n)
{
	return value_int(c->a, n->prefix);
}

static const struct value *q_host(struct call *c, const struct net *n)
{
	return is_no_host(n) ? none(c) : text_net(c, n, n->ip);
}

static const struct value *q_host_prefix(struct call *c, const struct net *n)
{
	bool broadcast = bits_of(n) - n->prefix > 1 && !n->v6 && n->ip == last_of(n);

	return is_no_host(n) || broadcast ? value_bool(c->a, false) : text_net(c, n, n->ip);
}

static const struct value *q_ip_prefix(struct call *c, const struct net *n)
{
	return is_no_host(n) || !n->has_prefix || is_single(n) ? none(c) : text_net(c, n, n->ip);
}

static const struct value *q_ip_netmask(struct call *c, const struct net *n)
{
	if (is_no_host(n) || is_single(n))
		return none(c);
	return value_strf(c->a, "%s %s", ip_text(c->a, n->v6, n->ip),
			  ip_text(c->a, n->v6, mask_of(n)));
}

static const struct value *q_network_netmask(struct call *c, const struct net *n)
{
	return value_strf(c->a, "%s %s", ip_text(c->a, n->v6, first_of(n)),
			  ip_text(c->a, n->v6, mask_of(n)));
}

static const struct value *q_size(struct call *c, const struct net *n)
{
	u128 size = host_mask(n) + 1;
	char digits[40];
	size_t at = sizeof digits;

	if (size && size <= INT64_MAX)
		return value_int(c->a, (int64_t)size);
	if (!size)
		return value_cstr(c->a, "340282366920938463463374607431768211456");
	do
		digits[--at] = (char)('0' + (int)(size % 10));
	while (size /= 10);
	return value_str(c->a, (struct str){ digits + at, sizeof digits - at });
}

static const struct value *q_broadcast(struct call *c, const struct net *n)
{
	return bits_of(n) - n->prefix < 2 ? none(c) : text_ip(c, n, last_of(n));
}

/* The first and the last address that a host may have; false: there are none. */
static bool usable(struct call *c, const struct net *n, u128 *first, u128 *last)
{
	if (is_single(n)) {
		if (!n->has_prefix)
			call_fault(c, "not a network address");
		return false;
	}
	bool two = bits_of(n) - n->prefix == 1;
	*first = first_of(n) + !two;
	*last = last_of(n) - !two;
	return true;
}

static const struct value *none_unless_fault(struct call *c)
{
	return c->e->kind ? NULL : none(c);
}

static const struct value *q_first_usable(struct call *c, const struct net *n)
{
	u128 first, last;

	return usable(c, n, &first, &last) ? text_ip(c, n, first) : none_unless_fault(c);
}

static const struct value *q_last_usable(struct call *c, const struct net *n)
{
	u128 first, last;

	return usable(c, n, &first, &last) ? text_ip(c, n, last) : none_unless_fault(c);
}

static const struct value *q_range_usable(struct call *c, const struct net *n)
{
	u128 first, last;

	if (!usable(c, n, &first, &last))
		return none_unless_fault(c);
	return value_strf(c->a, "%s-%s", ip_text(c->a, n->v6, first), ip_text(c->a, n->v6, last));
}

static const struct value *near_usable(struct call *c, const struct net *n, int64_t offset)
{
	u128 first, last, ip = n->ip + (u128)(__int128)offset;

	if (!usable(c, n, &first, &last))
		return none_unless_fault(c);
	return ip >= first && ip <= last ? text_ip(c, n, ip) : none(c);
}

static const struct value *q_next_usable(struct call *c, const struct net *n)
{
	return near_usable(c, n, 1);
}

static const struct value *q_previous_usable(struct call *c, const struct net *n)
{
	return near_usable(c, n, -1);
}

/* The other end of a link of two. */
static const struct value *q_peer(struct call *c, const struct net *n)
{
	int host_bits = bits_of(n) - n->prefix;

	if (host_bits == 1)
		return text_ip(c, n, n->ip ^ 1);
	if (host_bits == 2 && (n->ip & 3) != 0 && (n->ip & 3) != 3)
		return text_ip(c, n, n->ip ^ 3);
	return call_fault(c, "not a point-to-point network");
}

static bool is_in(const struct net *n, const char *network)
{
	struct arena *a scoped(arena_freep) = arena_new("network");
	struct value v = { .kind = V_STR, .s = str_of(network) };
	struct net in;

	return parse(a, &v, &in) && in.v6 == n->v6 && n->prefix >= in.prefix &&
	       first_of(&in) == (n->ip & mask_of(&in));
}

static bool is_in_any(const struct net *n, const char *const *networks)
{
	for (; *networks; networks++)
		if (is_in(n, *networks))
			return true;
	return false;
}

static const char *const private_networks[] = { "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16",
						"fc00::/7",   "fec0::/10",     NULL };
static const char *const special_networks[] = { "0.0.0.0/8",
						"127.0.0.0/8",
						"169.254.0.0/16",
						"192.0.2.0/24",
						"198.51.100.0/24",
						"203.0.113.0/24",
						"240.0.0.0/4",
						"::1/128",
						"fe80::/10",
						"2001:db8::/32",
						NULL };
static const char *const loopbacks[] = { "127.0.0.0/8", "::1/128", NULL };
static const char *const multicasts[] = { "224.0.0.0/4", "ff00::/8", NULL };
static const char *const link_locals[] = { "169.254.0.0/16", "fe80::/10", NULL };

static const struct value *itself_if(struct call *c, const struct net *n, bool yes)
{
	return yes ? itself(c, n) : none(c);
}

static const struct value *q_private(struct call *c, const struct net *n)
{
	return itself_if(c, n, is_in_any(n, private_networks));
}

static const struct value *q_public(struct call *c, const struct net *n)
{
	return itself_if(c, n,
			 !is_in_any(n, private_networks) && !is_in_any(n, special_networks) &&
				 !is_in_any(n, multicasts));
}

static const struct value *q_loopback(struct call *c, const struct net *n)
{
	return itself_if(c, n, is_in_any(n, loopbacks));
}

static const struct value *q_multicast(struct call *c, const struct net *n)
{
	return itself_if(c, n, is_in_any(n, multicasts));
}

static const struct value *q_link_local(struct call *c, const struct net *n)
{
	return itself_if(c, n, is_in_any(n, link_locals));
}

static const struct value *q_unicast(struct call *c, const struct net *n)
{
	return itself_if(c, n, !is_in_any(n, multicasts));
}

static const struct value *q_version(struct call *c, const struct net *n)
{
	return value_int(c->a, n->v6 ? 6 : 4);
}

static const struct value *q_ipv4(struct call *c, const struct net *n)
{
	return n->v6 ? value_bool(c->a, false) : itself(c, n);
}

static const struct value *q_ipv6(struct call *c, const struct net *n)
{
	return n->v6 ? itself(c, n) : value_bool(c->a, false);
}

static const struct value *q_type(struct call *c, const struct net *n)
{
	return value_cstr(c->a, is_network(n) ? "network" : "address");
}

static const struct value *q_bool(struct call *c, const struct net *n unused_arg)
{
	return value_bool(c->a, true);
}

static const struct value *q_int(struct call *c, const struct net *n)
{
	if (n->v6)
		return call_fault(c, "an IPv6 address has more than the 64 bits of a number here");
	if (n->has_prefix && !is_single(n))
		return value_strf(c->a, "%llu/%d", (unsigned long long)n->ip, n->prefix);
	return value_int(c->a, (int64_t)n->ip);
}

static const struct value *q_revdns(struct call *c, const struct net *n)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 128);
	for (int i = 0; i < (n->v6 ? 32 : 4); i++)
		buf_addf(&b, n->v6 ? "%x." : "%u.",
			 (unsigned)(n->ip >> (n->v6 ? 4 * i : 8 * i)) & (n->v6 ? 0xfu : 0xffu));
	buf_adds(&b, n->v6 ? "ip6.arpa." : "in-addr.arpa.");
	return value_str(c->a, buf_str(&b));
}

static const struct value *q_wrap(struct call *c, const struct net *n)
{
	if (!n->v6)
		return itself(c, n);
	if (n->has_prefix)
		return value_strf(c->a, "[%s]/%d", ip_text(c->a, true, n->ip), n->prefix);
	return value_strf(c->a, "[%s]", ip_text(c->a, true, n->ip));
}

static const struct value *q_cidr(struct call *c, const struct net *n)
{
	return text_net(c, n, n->ip);
}

static const struct question {
	const char *name;
	const struct value *(*fn)(struct call *c, const struct net *n);
} questions[] = {
	{ "", itself },
	{ "address", q_address },
	{ "ip", q_address },
	{ "net", q_net },
	{ "network", q_network },
	{ "network_id", q_network },
	{ "network/prefix", q_network_prefix },
	{ "subnet", q_network_prefix },
	{ "netmask", q_netmask },
	{ "hostmask", q_hostmask },
	{ "wildcard", q_hostmask },
	{ "prefix", q_prefix },
	{ "host", q_host },
	{ "host/prefix", q_host_prefix },
	{ "hostnet", q_host_prefix },
	{ "gateway", q_host_prefix },
	{ "gw", q_host_prefix },
	{ "router", q_host_prefix },
	{ "address/prefix", q_host_prefix },
	{ "ip/prefix", q_ip_prefix },
	{ "ip_netmask", q_ip_netmask },
	{ "network_netmask", q_network_netmask },
	{ "size", q_size },
	{ "broadcast", q_broadcast },
	{ "first_usable", q_first_usable },
	{ "last_usable", q_last_usable },
	{ "range_usable", q_range_usable },
	{ "next_usable", q_next_usable },
	{ "previous_usable", q_previous_usable },
	{ "peer", q_peer },
	{ "private", q_private },
	{ "public", q_public },
	{ "loopback", q_loopback },
	{ "lo", q_loopback },
	{ "multicast", q_multicast },
	{ "link-local", q_link_local },
	{ "unicast", q_unicast },
	{ "version", q_version },
	{ "ipv4", q_ipv4 },
	{ "v4", q_ipv4 },
	{ "4", q_ipv4 },
	{ "ipv6", q_ipv6 },
	{ "v6", q_ipv6 },
	{ "6", q_ipv6 },
	{ "type", q_type },
	{ "bool", q_bool },
	{ "int", q_int },
	{ "revdns", q_revdns },
	{ "wrap", q_wrap },
	{ "cidr", q_cidr },
};

/* The n-th address of the network, from its end below zero. */
static bool nth(const struct net *n, int64_t i, u128 *ip)
{
	u128 size = host_mask(n);

	if (i >= 0 ? (u128)i > size : (u128) - (i + 1) > size)
		return false;
	*ip = i >= 0 ? first_of(n) + (u128)i : last_of(n) - (u128) - (i + 1);
	return true;
}

static const struct value *ask_one(struct call *c, const struct net *n, const struct value *query)
{
	struct str q = query ? op_text(c->a, query) : STR("");
	struct net in;
	int64_t i;
	u128 ip;

	if (query && query->kind == V_STR)
		for (size_t k = 0; k < ARRAY_LEN(questions); k++)
			if (str_eqc(q, questions[k].name))
				return questions[k].fn(c, n);
	if (!query)
		return itself(c, n);
	if (str_to_int(q, &i)) {
		if (is_single(n))
			return itself(c, n);
		return nth(n, i, &ip) ? text_net(c, n, ip) : value_bool(c->a, false);
	}
	if (parse(c->a, query, &in))
		return itself_if(c, n,
				 in.v6 == n->v6 && first_of(n) >= first_of(&in) &&
					 last_of(n) <= last_of(&in));
	return call_fault(c, "%s: unknown question \"" STR_FMT "\"", c->name, STR_ARG(q));
}

static const struct value *ask(struct call *c, const struct value *query, int version)
{
	const struct value *v = c->self;
	struct value *out;
	struct net n;

	if (v->kind != V_LIST) {
		if (!parse(c->a, v, &n) || (version && n.v6 != (version == 6)))
			return value_bool(c->a, false);
		return ask_one(c, &n, query);
	}
	out = value_list(c->a);
	for (size_t i = 0; i < v->list.n; i++) {
		if (!parse(c->a, v->list.v[i], &n) || (version && n.v6 != (version == 6)))
			continue;
		const struct value *one = ask_one(c, &n, query);
		if (!one)
			return NULL;
		if (one->kind != V_NULL && !(one->kind == V_BOOL && !one->b))
			value_add(c->a, out, one);
	}
	return out;
}

static const struct value *f_ipaddr(struct call *c)
{
	return ask(c, c->arg[0], 0);
}

static const struct value *f_ipv4(struct call *c)
{
	return ask(c, c->arg[0], 4);
}

static const struct value *f_ipv6(struct call *c)
{
	return ask(c, c->arg[0], 6);
}

/* Brackets around IPv6 addresses; everything else as it is. */
static const struct value *wrapped(struct call *c, const struct value *v)
{
	struct value *out;
	struct net n;

	if (v->kind != V_LIST)
		return parse(c->a, v, &n) && v->kind == V_STR ? q_wrap(c, &n) : v;
	out = value_list(c->a);
	for (size_t i = 0; i < v->list.n; i++)
		value_add(c->a, out, wrapped(c, v->list.v[i]));
	return out;
}

static const struct value *f_ipwrap(struct call *c)
{
	return wrapped(c, c->self);
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

static const struct value *f_ipmath(struct call *c)
{
	struct net n;
	int64_t i;

	if (!parse(c->a, c->self, &n))
		return call_fault(c, "ipmath: \"" STR_FMT "\" is no address",
				  STR_ARG(op_text(c->a, c->self)));
	if (call_int(c, 0, 0, &i) < 0)
		return NULL;
	u128 ip = n.ip + (u128)(__int128)i;
	if (ip > all_ones(bits_of(&n)) || (i < 0 && ip > n.ip) || (i > 0 && ip < n.ip))
		return call_fault(c, "ipmath leads out of all addresses");
	return text_ip(c, &n, ip);
}

static const struct value *f_nthhost(struct call *c)
{
	struct net n;
	int64_t i;
	u128 ip;

	if (!parse(c->a, c->self, &n) || call_int(c, 0, 0, &i) < 0)
		return c->e->kind ? NULL : value_bool(c->a, false);
	return nth(&n, i, &ip) ? text_ip(c, &n, ip) : value_bool(c->a, false);
}

static const struct value *f_next_nth_usable(struct call *c)
{
	struct net n;
	int64_t i;

	if (!parse(c->a, c->self, &n))
		return value_bool(c->a, false);
	return call_int(c, 0, 0, &i) < 0 ? NULL : near_usable(c, &n, i);
}

static const struct value *f_previous_nth_usable(struct call *c)
{
	struct net n;
	int64_t i;

	if (!parse(c->a, c->self, &n))
		return value_bool(c->a, false);
	return call_int(c, 0, 0, &i) < 0 ? NULL : near_usable(c, &n, -i);
}

static const struct value *f_network_in_network(struct call *c)
{
	struct net x, y;

	if (!parse(c->a, c->self, &x) || !parse(c->a, c->arg[0], &y))
		return value_bool(c->a, false);
	return value_bool(c->a, x.v6 == y.v6 && first_of(&y) >= first_of(&x) &&
					last_of(&y) <= last_of(&x));
}

static const struct value *f_network_in_usable(struct call *c)
{
	u128 first, last;
	struct net x, y;

	if (!parse(c->a, c->self, &x) || !parse(c->a, c->arg[0], &y))
		return value_bool(c->a, false);
	if (!usable(c, &x, &first, &last))
		return c->e->kind ? NULL : value_bool(c->a, false);
	return value_bool(c->a, x.v6 == y.v6 && first_of(&y) >= first && last_of(&y) <= last);
}

static const struct value *f_ip4_hex(struct call *c)
{
	struct str by = call_text(c, 0, "");
	struct net n;

	if (!parse(c->a, c->self, &n) || n.v6)
		return call_fault(c, "ip4_hex needs an IPv4 address");
	unsigned ip = (unsigned)n.ip;
	return value_strf(c->a, "%02x" STR_FMT "%02x" STR_FMT "%02x" STR_FMT "%02x", ip >> 24,
			  STR_ARG(by), ip >> 16 & 255, STR_ARG(by), ip >> 8 & 255, STR_ARG(by),
			  ip & 255);
}

/* ---- ipsubnet ------------------------------------------------------------------------------- */

/* The smaller network of `prefix` bits number i in n, or the larger one around it. */
static const struct value *subnet_at(struct call *c, struct net n, int prefix, int64_t i)
{
	u128 ip;

	if (prefix < n.prefix) { /* i: how many bits larger than asked for; the network around it */
		n.prefix = prefix;
		return text_net(c, &n, first_of(&n));
	}
	struct net of = { .v6 = n.v6, .ip = first_of(&n) >> (bits_of(&n) - prefix), .prefix = 0 };
	u128 count = (u128)1 << (prefix - n.prefix), at = i >= 0 ? (u128)i : count - (u128)-i;
	if (i >= 0 ? (u128)i >= count : (u128)-i > count)
		return value_bool(c->a, false);
	ip = (of.ip + at) << (bits_of(&n) - prefix);
	n.prefix = prefix;
	return text_net(c, &n, ip);
}

static const struct value *f_ipsubnet(struct call *c)
{
	const struct value *query = c->arg[0], *index = c->arg[1];
	struct net n, in;
	int64_t prefix, i;

	if (!parse(c->a, c->self, &n))
		return value_bool(c->a, false);
	if (!query || (query->kind == V_STR && !query->s.n))
		return text_net(c, &n, first_of(&n));
	if (str_to_int(op_text(c->a, query), &prefix)) {
		if (prefix < 0 || prefix > bits_of(&n))
			return value_bool(c->a, false);
		if (index && !(str_to_int(op_text(c->a, index), &i)))
			return call_fault(c, "ipsubnet: the index must be a number");
		if (index && is_single(&n)) { /* of an address: the network around it */
			n.prefix = (int)prefix;
			return text_net(c, &n, first_of(&n));
		}
		if (index)
			return subnet_at(c, n, (int)prefix, i);
		if (prefix < n.prefix && is_single(&n)) {
			n.prefix = (int)prefix;
			return text_net(c, &n, first_of(&n));
		}
		if (prefix < n.prefix)
			return call_fault(c, "ipsubnet: the network is smaller than /%d",
					  (int)prefix);
		return prefix - n.prefix < 63 ? value_strf(c->a, "%lld", 1LL << (prefix - n.prefix))
					      : value_bool(c->a, false);
	}
	/* Which of the parts of that network this one is, from 1. */
	if (!parse(c->a, query, &in) || in.v6 != n.v6 || n.prefix < in.prefix ||
	    first_of(&n) < first_of(&in) || last_of(&n) > last_of(&in))
		return call_fault(c, "ipsubnet: it is not in that network");
	u128 rank = ((first_of(&n) - first_of(&in)) >> (bits_of(&n) - n.prefix)) + 1;
	return value_strf(c->a, "%llu", (unsigned long long)rank);
}

const struct callable filters_ip[] = {
	{ "ipaddr", f_ipaddr, "query", 0 },
	{ "ipv4", f_ipv4, "query", 0 },
	{ "ipv6", f_ipv6, "query", 0 },
	{ "ipwrap", f_ipwrap, "", 0 },
	{ "ipmath", f_ipmath, "amount!", 0 },
	{ "ipsubnet", f_ipsubnet, "query,index", 0 },
	{ "nthhost", f_nthhost, "query!", 0 },
	{ "next_nth_usable", f_next_nth_usable, "offset!", 0 },
	{ "previous_nth_usable", f_previous_nth_usable, "offset!", 0 },
	{ "network_in_network", f_network_in_network, "test!", 0 },
	{ "network_in_usable", f_network_in_usable, "test!", 0 },
	{ "ip4_hex", f_ip4_hex, "delimiter", 0 },
	{ NULL, NULL, NULL, 0 },
};
