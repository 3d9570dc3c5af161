/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to addresses and networks: Ansible's ipaddr, as ansible.utils has it over netaddr. What
 * is no address gives false, a question that does not fit it nothing.
 */
#include "templates/address.h"
#include "templates/filters.h"

static bool is_single(const struct net *n)
{
	return n->prefix == net_bits(n);
}

static bool is_network(const struct net *n)
{
	return !is_single(n) && n->ip == net_first(n);
}

/* No host: a link of two has two of them. */
static bool is_no_host(const struct net *n)
{
	return is_network(n) && net_host_bits(n) > 1;
}

static const struct value *text_ip(struct call *c, const struct net *n, u128 ip)
{
	return value_cstr(c->a, net_ip_text(c->a, n->v6, ip));
}

/* ---- questions ------------------------------------------------------------------------------ */

static const struct value *none(struct call *c)
{
	return value_null(c->a);
}

static const struct value *itself(struct call *c, const struct net *n)
{
	return n->has_prefix ? net_text(c->a, n, n->ip) : text_ip(c, n, n->ip);
}

static const struct value *q_address(struct call *c, const struct net *n)
{
	if (is_no_host(n) && !n->v6)
		return none(c);
	return text_ip(c, n, n->ip);
}

static const struct value *q_net(struct call *c, const struct net *n)
{
	return is_network(n) || (n->has_prefix && n->ip == net_first(n) && !is_single(n))
		       ? net_text(c->a, n, n->ip)
		       : none(c);
}

static const struct value *q_network(struct call *c, const struct net *n)
{
	return text_ip(c, n, net_first(n));
}

static const struct value *q_network_prefix(struct call *c, const struct net *n)
{
	return net_text(c->a, n, net_first(n));
}

static const struct value *q_netmask(struct call *c, const struct net *n)
{
	return text_ip(c, n, net_mask(n));
}

static const struct value *q_hostmask(struct call *c, const struct net *n)
{
	return text_ip(c, n, net_host_mask(n));
}

static const struct value *q_prefix(struct call *c, const struct net *n)
{
	return value_int(c->a, n->prefix);
}

static const struct value *q_host(struct call *c, const struct net *n)
{
	return is_no_host(n) ? none(c) : net_text(c->a, n, n->ip);
}

static const struct value *q_host_prefix(struct call *c, const struct net *n)
{
	bool host = net_host_bits(n) < 2 || (n->ip != net_first(n) && n->ip != net_last(n));

	return host ? net_text(c->a, n, n->ip) : value_bool(c->a, false);
}

static const struct value *q_ip_prefix(struct call *c, const struct net *n)
{
	return is_no_host(n) || is_single(n) ? none(c) : net_text(c->a, n, n->ip);
}

static const struct value *q_ip_netmask(struct call *c, const struct net *n)
{
	if (is_no_host(n) || is_single(n))
		return none(c);
	return value_strf(c->a, "%s %s", net_ip_text(c->a, n->v6, n->ip),
			  net_ip_text(c->a, n->v6, net_mask(n)));
}

static const struct value *q_network_netmask(struct call *c, const struct net *n)
{
	return value_strf(c->a, "%s %s", net_ip_text(c->a, n->v6, net_first(n)),
			  net_ip_text(c->a, n->v6, net_mask(n)));
}

static const struct value *q_network_wildcard(struct call *c, const struct net *n)
{
	return value_strf(c->a, "%s %s", net_ip_text(c->a, n->v6, net_first(n)),
			  net_ip_text(c->a, n->v6, net_host_mask(n)));
}

static const struct value *q_size(struct call *c, const struct net *n)
{
	if (net_host_bits(n) == 128)
		return value_cstr(c->a, "340282366920938463463374607431768211456");
	return net_number(c->a, net_host_mask(n) + 1);
}

static const struct value *q_size_usable(struct call *c, const struct net *n)
{
	int bits = net_host_bits(n);

	return bits < 2 ? value_int(c->a, 2 * bits) : net_number(c->a, net_host_mask(n) - 1);
}

static const struct value *q_broadcast(struct call *c, const struct net *n)
{
	return net_host_bits(n) < 2 ? none(c) : text_ip(c, n, net_last(n));
}

/* The first and the last address that a host may have; false: there are none. */
static bool usable(struct call *c, const struct net *n, u128 *first, u128 *last)
{
	if (is_single(n)) {
		if (!n->has_prefix)
			call_fault(c, "not a network address");
		return false;
	}
	bool two = net_host_bits(n) == 1;
	*first = net_first(n) + !two;
	*last = net_last(n) - !two;
	return true;
}

static const struct value *none_unless_fault(struct call *c)
{
	return c->e->kind ? NULL : none(c);
}

static const struct value *q_first_usable(struct call *c, const struct net *n)
{
	u128 first, last;

	return usable(c, n, &first, &last) ? net_plain(c->a, first) : none_unless_fault(c);
}

static const struct value *q_last_usable(struct call *c, const struct net *n)
{
	u128 first, last;

	return usable(c, n, &first, &last) ? net_plain(c->a, last) : none_unless_fault(c);
}

static const struct value *q_range_usable(struct call *c, const struct net *n)
{
	u128 first, last;

	if (!usable(c, n, &first, &last))
		return none_unless_fault(c);
	return value_strf(c->a, "%s-%s", net_plain(c->a, first)->s.p, net_plain(c->a, last)->s.p);
}

static const struct value *near_usable(struct call *c, const struct net *n, int64_t offset)
{
	u128 first, last, ip = n->ip + (u128)(__int128)offset;

	if (!usable(c, n, &first, &last))
		return none_unless_fault(c);
	if (offset < 0 ? ip > n->ip : ip < n->ip)
		return call_fault(c, "it leads out of all addresses");
	return ip >= first && ip <= last ? net_plain(c->a, ip) : none(c);
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
	if (net_host_bits(n) == 1)
		return net_plain(c->a, n->ip ^ 1);
	if (net_host_bits(n) == 2 && (n->ip & 3) != 0 && (n->ip & 3) != 3)
		return net_plain(c->a, n->ip ^ 3);
	return call_fault(c, "not a point-to-point network");
}

static bool is_in(const struct net *n, const char *network)
{
	struct arena *a scoped(arena_freep) = arena_new("network");
	struct net in;

	return net_parse(a, str_of(network), &in) && in.v6 == n->v6 && n->prefix >= in.prefix &&
	       net_first(&in) == (n->ip & net_mask(&in));
}

static bool is_in_any(const struct net *n, const char *const *networks)
{
	for (; *networks; networks++)
		if (is_in(n, *networks))
			return true;
	return false;
}

static const char *const private_networks[] = { "10.0.0.0/8",	"100.64.0.0/10",  "172.16.0.0/12",
						"192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15",
						"239.0.0.0/8",	"169.254.0.0/16", "fc00::/7",
						"fec0::/10",	"fe80::/10",	  NULL };
static const char *const loopbacks[] = { "127.0.0.0/8", "::1/128", NULL };
static const char *const multicasts[] = { "224.0.0.0/4", "ff00::/8", NULL };
static const char *const link_locals[] = { "169.254.0.0/16", "fe80::/10", NULL };

/* What was asked about, if so. */
static const struct value *itself_if(struct call *c, const struct net *n, bool yes)
{
	return yes ? value_str(c->a, n->text) : none(c);
}

static const struct value *q_private(struct call *c, const struct net *n)
{
	return itself_if(c, n, is_in_any(n, private_networks));
}

static bool is_mask(const struct net *n)
{
	u128 hole = (n->ip ^ net_all_ones(net_bits(n))) + 1;

	return (hole & (hole - 1)) == 0 || ((n->ip + 1) & n->ip) == 0;
}

/* Of the address alone. */
static struct net address_of(const struct net *n)
{
	struct net one = *n;

	one.prefix = net_bits(n);
	return one;
}

static const struct value *q_public(struct call *c, const struct net *n)
{
	struct net one = address_of(n);

	return itself_if(c, n,
			 !is_in_any(&one, private_networks) && !is_in_any(&one, loopbacks) &&
				 !is_in_any(&one, multicasts) && !is_mask(&one));
}

static const struct value *q_loopback(struct call *c, const struct net *n)
{
	struct net one = address_of(n);

	return itself_if(c, n, is_in_any(&one, loopbacks));
}

static const struct value *q_multicast(struct call *c, const struct net *n)
{
	return itself_if(c, n, is_in_any(n, multicasts));
}

static const struct value *q_link_local(struct call *c, const struct net *n)
{
	struct net one = address_of(n);

	return itself_if(c, n, is_in_any(&one, link_locals));
}

static const struct value *q_unicast(struct call *c, const struct net *n)
{
	return itself_if(c, n, !is_in_any(n, multicasts));
}

static const struct value *q_version(struct call *c, const struct net *n)
{
	return value_int(c->a, n->v6 ? 6 : 4);
}

#define MAPPED ((u128)0xffff << 32)

static const struct value *q_ipv4(struct call *c, const struct net *n)
{
	struct net out = { .ip = n->ip, .prefix = n->prefix - 96 };

	if (!n->v6)
		return itself_if(c, n, true);
	if (n->ip >= MAPPED && n->ip <= MAPPED + UINT32_MAX)
		out.ip -= MAPPED;
	return out.ip > UINT32_MAX || out.prefix < 0 ? value_bool(c->a, false)
						     : net_text(c->a, &out, out.ip);
}

static const struct value *q_ipv6(struct call *c, const struct net *n)
{
	struct net out = { .v6 = true, .ip = n->ip + MAPPED, .prefix = n->prefix + 96 };

	return n->v6 ? itself_if(c, n, true) : net_text(c->a, &out, out.ip);
}

/* The network of a host with that address, or itself if it is in one. */
static const struct value *q_6to4(struct call *c, const struct net *n)
{
	if (n->v6)
		return n->ip >> 112 == 0x2002 && (!n->has_prefix || n->ip != net_first(n))
			       ? itself_if(c, n, true)
			       : value_bool(c->a, false);
	if (is_network(n))
		return value_bool(c->a, false);
	if (!value_is_truthy(q_public(c, n)) && !is_in_any(n, private_networks))
		return value_bool(c->a, false);
	unsigned ip = (unsigned)n->ip;
	return value_strf(c->a, "2002:%02x%02x:%02x%02x::1/48", ip >> 24, ip >> 16 & 255,
			  ip >> 8 & 255, ip & 255);
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
	const struct value *ip = net_number(c->a, n->ip);

	if (!n->has_prefix)
		return ip;
	return value_strf(c->a, STR_FMT "/%d", STR_ARG(op_text(c->a, ip)), n->prefix);
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
		return itself_if(c, n, true);
	if (n->has_prefix)
		return value_strf(c->a, "[%s]/%d", net_ip_text(c->a, true, n->ip), n->prefix);
	return value_strf(c->a, "[%s]", net_ip_text(c->a, true, n->ip));
}

static const struct value *q_cidr(struct call *c, const struct net *n)
{
	return net_text(c->a, n, n->ip);
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
	{ "network_wildcard", q_network_wildcard },
	{ "size", q_size },
	{ "size_usable", q_size_usable },
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
	{ "ipv6", q_ipv6 },
	{ "v6", q_ipv6 },
	{ "6to4", q_6to4 },
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
	u128 size = net_host_mask(n);

	if (i >= 0 ? (u128)i > size : (u128) - (i + 1) > size)
		return false;
	*ip = i >= 0 ? net_first(n) + (u128)i : net_last(n) - (u128) - (i + 1);
	return true;
}

/* What the number or the network in the question says. */
static const struct value *ask_other(struct call *c, const struct net *n, struct str q)
{
	struct net in;
	int64_t i;
	double f;
	u128 ip;

	if (net_parse(c->a, q, &in))
		return itself_if(c, n,
				 in.v6 == n->v6 && net_first(n) >= net_first(&in) &&
					 net_last(n) <= net_last(&in));
	if (!str_to_double(str_trim(q), &f))
		return call_fault(c, "%s: unknown question \"" STR_FMT "\"", c->name, STR_ARG(q));
	if (is_single(n))
		return itself(c, n);
	return str_to_int(str_trim(q), &i) && nth(n, i, &ip) ? net_text(c->a, n, ip)
							     : value_bool(c->a, false);
}

static const struct value *ask_one(struct call *c, const struct net *n, struct str q)
{
	for (size_t k = 0; k < ARRAY_LEN(questions); k++)
		if (str_eqc(q, questions[k].name))
			return questions[k].fn(c, n);
	return ask_other(c, n, q);
}

static const struct value *ask(struct call *c, const struct value *v, struct str q, int version)
{
	struct value *out = value_list(c->a);
	struct net n;

	if (v->kind != V_LIST)
		return net_of(c->a, v, version, &n) ? ask_one(c, &n, q) : value_bool(c->a, false);
	for (size_t i = 0; i < v->list.n; i++) {
		const struct value *one = ask(c, v->list.v[i], q, version);
		if (!one)
			return NULL;
		if (value_is_truthy(one))
			value_add(c->a, out, one);
	}
	return out;
}

static const struct value *ask_self(struct call *c, int64_t version)
{
	int kind = (int)c->self->kind;

	if (kind != V_STR && kind != V_LIST && kind != V_INT && kind != V_BOOL)
		return call_fault(c, "%s needs an address, not %s", c->name, op_type_name(c->self));
	return ask(c, c->self, call_text(c, 0, ""), (int)version);
}

static const struct value *f_ipaddr(struct call *c)
{
	int64_t version;

	return call_int(c, 1, 0, &version) < 0 ? NULL : ask_self(c, version);
}

static const struct value *f_ipv4(struct call *c)
{
	return ask_self(c, 4);
}

static const struct value *f_ipv6(struct call *c)
{
	return ask_self(c, 6);
}

/* Brackets around IPv6 addresses; everything else as it is. */
static const struct value *wrapped(struct call *c, const struct value *v)
{
	struct net n;

	return net_of(c->a, v, 0, &n) ? q_wrap(c, &n) : v;
}

static const struct value *f_ipwrap(struct call *c)
{
	struct value *out = value_list(c->a);
	const struct value *l = c->self;

	if (l->kind == V_INT)
		return call_fault(c, "ipwrap needs a text or a list");
	if (l->kind != V_LIST)
		return wrapped(c, l);
	for (size_t i = 0; i < l->list.n; i++)
		value_add(c->a, out, wrapped(c, l->list.v[i]));
	return out;
}

const struct callable filters_ipaddr[] = {
	{ "ipaddr", f_ipaddr, "query,version,alias", 0 },
	{ "ipv4", f_ipv4, "query", 0 },
	{ "ipv6", f_ipv6, "query", 0 },
	{ "ipwrap", f_ipwrap, "query", 0 },
	{ NULL, NULL, NULL, 0 },
};
