/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic with addresses and networks, and hardware addresses, as ansible.utils has them. */
#include <ctype.h>
#include <stdlib.h>

#include "templates/address.h"
#include "templates/filters.h"
#include "templates/order.h"

/* Argument i as a whole number; a text of one is fine. */
static int number(struct call *c, int i, int64_t *out)
{
	if (c->arg[i] && c->arg[i]->kind == V_STR && str_to_int(str_trim(c->arg[i]->s), out))
		return 0;
	return call_int(c, i, 0, out);
}

static const struct value *no(struct call *c)
{
	return value_bool(c->a, false);
}

/* n.ip + i; false: that is no address. */
static bool moved(const struct net *n, int64_t i, u128 *ip)
{
	*ip = n->ip + (u128)(__int128)i;
	return i < 0 ? *ip < n->ip : *ip >= n->ip;
}

static const struct value *f_ipmath(struct call *c)
{
	struct net n;
	int64_t i;
	u128 ip;

	if (c->self->kind != V_STR || !net_parse(c->a, c->self->s, &n))
		return call_fault(c, "ipmath: \"" STR_FMT "\" is no address",
				  STR_ARG(op_text(c->a, c->self)));
	if (number(c, 0, &i) < 0)
		return NULL;
	if (!moved(&n, i, &ip) || ip > net_all_ones(net_bits(&n)))
		return call_fault(c, "ipmath leads out of all addresses");
	return value_cstr(c->a, net_ip_text(c->a, n.v6, ip));
}

static const struct value *f_nthhost(struct call *c)
{
	struct net n;
	int64_t i;

	if (!net_of(c->a, c->self, 0, &n) || !c->arg[0])
		return no(c);
	if (!str_to_int(str_trim(call_text(c, 0, "")), &i))
		return no(c);
	u128 last = net_host_mask(&n), back = i < 0 ? (u128)(-(i + 1)) : 0;
	if (i >= 0)
		return (u128)i > last
			       ? no(c)
			       : value_cstr(c->a, net_ip_text(c->a, n.v6, net_first(&n) + (u128)i));
	if (back > last)
		return call_fault(c, "nthhost: the network has no address %lld", (long long)i);
	return value_cstr(c->a, net_ip_text(c->a, n.v6, net_last(&n) - back));
}

static void usable(const struct net *n, u128 *first, u128 *last)
{
	bool edges = net_host_bits(n) > 1;

	*first = net_host_bits(n) ? net_first(n) + edges : n->ip;
	*last = net_host_bits(n) ? net_last(n) - edges : n->ip;
}

static const struct value *nth_usable(struct call *c, int sign)
{
	u128 first, last, ip;
	struct net n;
	int64_t i;

	if (!net_of(c->a, c->self, 0, &n))
		return no(c);
	if (number(c, 0, &i) < 0)
		return NULL;
	if (!net_host_bits(&n))
		return value_null(c->a);
	if (!moved(&n, sign * i, &ip))
		return call_fault(c, "%s leads out of all addresses", c->name);
	usable(&n, &first, &last);
	return ip >= first && ip <= last ? net_plain(c->a, ip) : value_null(c->a);
}

static const struct value *f_next_nth_usable(struct call *c)
{
	return nth_usable(c, 1);
}

static const struct value *f_previous_nth_usable(struct call *c)
{
	return nth_usable(c, -1);
}

/* ---- ranges --------------------------------------------------------------------------------- */

struct range {
	u128 first, last;
};

/* What is no address is 0 to 0, a link of two its first address. */
static struct range range_of(struct call *c, const struct value *v, bool only_usable)
{
	struct range r = { 0, 0 };
	struct net n;

	if (!net_of(c->a, v, 0, &n))
		return r;
	r.first = net_first(&n);
	r.last = net_host_bits(&n) > 1 ? net_last(&n) : r.first;
	if (only_usable)
		usable(&n, &r.first, &r.last);
	return r;
}

static bool is_within(struct range in, struct range r)
{
	return in.first <= r.first && r.first <= in.last && in.first <= r.last && r.last <= in.last;
}

static const struct value *f_network_in_network(struct call *c)
{
	return value_bool(c->a,
			  is_within(range_of(c, c->self, false), range_of(c, c->arg[0], false)));
}

static const struct value *f_network_in_usable(struct call *c)
{
	return value_bool(c->a,
			  is_within(range_of(c, c->self, true), range_of(c, c->arg[0], false)));
}

static const struct value *f_reduce_on_network(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct range in = range_of(c, c->arg[0], false);
	struct value *out = value_list(c->a);

	for (size_t i = 0; l && i < l->list.n; i++)
		if (is_within(in, range_of(c, l->list.v[i], false)))
			value_add(c->a, out, l->list.v[i]);
	return l ? out : NULL;
}

/* ---- cidr_merge ----------------------------------------------------------------------------- */

struct span {
	struct net net; /* as it was given, unless merged */
	struct range r;
	bool merged;
};

static int by_place(const void *x, const void *y)
{
	const struct span *a = x, *b = y;

	if (a->net.v6 != b->net.v6)
		return a->net.v6 ? 1 : -1;
	if (a->r.last != b->r.last)
		return a->r.last < b->r.last ? -1 : 1;
	return a->r.first == b->r.first ? 0 : a->r.first < b->r.first ? -1 : 1;
}

/* The largest networks that together are the range. */
static void add_range(struct call *c, struct value *out, const struct span *s)
{
	u128 at = s->r.first;

	for (;;) {
		struct net n = { .v6 = s->net.v6, .ip = at };
		while (net_first(&n) != at || net_last(&n) > s->r.last)
			n.prefix++;
		value_add(c->a, out, net_text(c->a, &n, at));
		if (net_last(&n) == s->r.last)
			return;
		at = net_last(&n) + 1;
	}
}

static const struct value *merged(struct call *c, struct span *v, size_t n)
{
	struct value *out = value_list(c->a);
	size_t kept = n;

	qsort(v, n, sizeof *v, by_place);
	for (size_t i = n; i-- > 1;) {
		struct span *low = &v[i - 1], *high = &v[i];
		if (low->net.v6 != high->net.v6 ||
		    (high->r.first && high->r.first - 1 > low->r.last))
			continue;
		low->r.last = high->r.last;
		if (high->r.first < low->r.first)
			low->r.first = high->r.first;
		low->merged = true;
		memmove(high, high + 1, (kept - i - 1) * sizeof *v);
		kept--;
	}
	for (size_t i = 0; i < kept; i++) {
		if (v[i].merged)
			add_range(c, out, &v[i]);
		else
			value_add(c->a, out, net_text(c->a, &v[i].net, v[i].net.ip));
	}
	return out;
}

static bool is_before(const struct net *x, const struct net *y)
{
	if (net_first(x) != net_first(y))
		return net_first(x) < net_first(y);
	if (x->prefix != y->prefix)
		return x->prefix < y->prefix;
	return x->ip < y->ip;
}

static const struct value *spanning(struct call *c, const struct span *v, size_t n)
{
	struct net low, high;

	if (n < 2)
		return n ? net_text(c->a, &v[0].net, v[0].net.ip) : value_null(c->a);
	low = high = v[0].net;
	for (size_t i = 1; i < n; i++) {
		if (v[i].net.v6 != low.v6)
			return call_fault(c, "cidr_merge: IPv4 and IPv6 have no common network");
		if (is_before(&v[i].net, &low))
			low = v[i].net;
		if (is_before(&high, &v[i].net))
			high = v[i].net;
	}
	high.ip = net_last(&high);
	while (high.prefix > 0 && high.ip > net_first(&low)) {
		high.prefix--;
		high.ip = net_first(&high);
	}
	return net_text(c->a, &high, high.ip);
}

static const struct value *listed(struct call *c, struct str s)
{
	struct value *out = value_list(c->a);
	struct str part;

	while (s.n && str_next(&s, ',', &part))
		value_add(c->a, out, value_str(c->a, str_trim(part)));
	return out;
}

static const struct value *f_cidr_merge(struct call *c)
{
	struct str action = call_text(c, 0, "merge");
	const struct value *l = c->self;
	struct span *v;

	if (l->kind == V_STR)
		l = listed(c, l->s);
	if (l->kind != V_LIST)
		return call_fault(c, "cidr_merge needs a list, not %s", op_type_name(l));
	v = arena_array(c->a, struct span, l->list.n + 1);
	for (size_t i = 0; i < l->list.n; i++) {
		struct value *item = l->list.v[i];
		if (item->kind != V_STR || !net_parse(c->a, item->s, &v[i].net))
			return call_fault(c, "cidr_merge: \"" STR_FMT "\" is no network",
					  STR_ARG(op_text(c->a, item)));
		v[i].r = (struct range){ net_first(&v[i].net), net_last(&v[i].net) };
	}
	if (str_eqc(action, "merge"))
		return merged(c, v, l->list.n);
	return str_eqc(action, "span") ? spanning(c, v, l->list.n)
				       : call_fault(c, "cidr_merge: action is merge or span");
}

static const struct value *f_ip4_hex(struct call *c)
{
	struct str by = call_text(c, 0, ""), rest = op_text(c->a, c->self), part;
	scoped(buf_fini) struct buf b = { 0 };
	int64_t n;

	buf_init(&b, OPS_MAX_TEXT);
	for (int i = 0; i < 4; i++) {
		if (!rest.n || !str_next(&rest, '.', &part) || !str_to_int(part, &n))
			return call_fault(c, "ip4_hex needs an IPv4 address");
		if (i)
			buf_addstr(&b, by);
		buf_addf(&b, "%02llx", (long long)n);
	}
	while (rest.n && str_next(&rest, '.', &part))
		if (!str_to_int(part, &n))
			return call_fault(c, "ip4_hex needs an IPv4 address");
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

/* ---- ipsubnet ------------------------------------------------------------------------------- */

/* The network number i of those with `prefix` bits around an address. */
static const struct value *around(struct call *c, struct net n, int prefix, int64_t i)
{
	int bits = net_bits(&n), count = bits - prefix;

	if (i > bits + 1 - i || i < prefix - bits)
		return no(c);
	if (i < 0)
		i += count;
	if (i < 0 || i >= count)
		return call_fault(c, "ipsubnet: there is no such network");
	n.prefix = prefix + (int)i;
	return net_text(c->a, &n, net_first(&n));
}

/* The part number i of n with `prefix` bits. */
static const struct value *part_of(struct call *c, struct net n, int prefix, int64_t i)
{
	int more = prefix - n.prefix;
	u128 first = net_first(&n), count = more > 0 && more < 128 ? (u128)1 << more : 1;

	if (more < 0 ? i != 0 : more < 128 && (i < 0 ? (u128)-i > count : (u128)i >= count))
		return no(c);
	u128 at = i >= 0 ? (u128)i : (more < 128 ? count : 0) - (u128)-i;
	n.prefix = prefix;
	return net_text(c->a, &n, prefix ? first + (at << (net_bits(&n) - prefix)) : first);
}

static const struct value *subnet_by_size(struct call *c, struct net n, int prefix)
{
	bool single = !net_host_bits(&n);
	int64_t i;

	if (prefix > net_bits(&n))
		return no(c);
	if (c->arg[1] && c->arg[1]->kind != V_NULL) {
		if (number(c, 1, &i) < 0)
			return NULL;
		return single ? around(c, n, prefix, i) : part_of(c, n, prefix, i);
	}
	if (single)
		return around(c, n, prefix, 0);
	if (prefix < n.prefix)
		return call_fault(c, "ipsubnet: the network is smaller than /%d", prefix);
	if (prefix - n.prefix == 128)
		return value_cstr(c->a, "340282366920938463463374607431768211456");
	return value_str(c->a, op_text(c->a, net_number(c->a, (u128)1 << (prefix - n.prefix))));
}

static const struct value *f_ipsubnet(struct call *c)
{
	struct str query = call_text(c, 0, "");
	struct net n, in;
	int64_t prefix;

	if (!net_of(c->a, c->self, 0, &n))
		return no(c);
	if (!query.n)
		return net_text(c->a, &n, net_first(&n));
	n.ip = net_first(&n);
	if (str_is_digits(query))
		return subnet_by_size(
			c, n, str_to_int(query, &prefix) && prefix < 999 ? (int)prefix : 999);
	/* which of the parts of that network this one is, from 1 */
	if (!net_of(c->a, value_str(c->a, query), 0, &in) || in.v6 != n.v6 ||
	    n.prefix < in.prefix || n.ip < net_first(&in) || n.ip > net_last(&in))
		return call_fault(c, "ipsubnet: it is not in that network");
	u128 rank = ((n.ip - net_first(&in)) >> (n.prefix ? net_host_bits(&n) : 0)) + 1;
	return value_str(c->a, op_text(c->a, net_number(c->a, rank)));
}

/* ---- hardware addresses --------------------------------------------------------------------- */

static const struct mac_form {
	char sep;
	int groups, least, most; /* of digits in each group */
} mac_forms[] = { { ':', 6, 1, 2 }, { '-', 6, 1, 2 }, { ':', 3, 1, 4 }, { '-', 3, 1, 4 },
		  { '.', 3, 1, 4 }, { '-', 2, 5, 6 }, { ':', 2, 5, 6 }, { 0, 1, 11, 12 },
		  { ':', 8, 1, 2 }, { '-', 8, 1, 2 }, { ':', 4, 1, 4 }, { '-', 4, 1, 4 },
		  { '.', 4, 1, 4 }, { 0, 1, 16, 16 } };

static bool mac_in_form(struct str s, const struct mac_form *f, uint64_t *out)
{
	int width = 4 * f->most, n = 0;
	struct str part = s;
	uint64_t v;

	*out = 0;
	for (; s.n && n < f->groups; n++) {
		if (f->sep)
			str_next(&s, f->sep, &part);
		else
			s.n = 0;
		if ((int)part.n < f->least || (int)part.n > f->most)
			return false;
		for (size_t i = 0; i < part.n; i++)
			if (!isxdigit((unsigned char)part.p[i]))
				return false;
		if (!str_to_uint(part, 16, &v))
			return false;
		*out = width < 64 ? *out << width | v : v;
	}
	return n == f->groups && !s.n;
}

struct mac {
	uint64_t v;
	bool wide; /* 64 bits */
};

static bool mac_parse(struct str s, struct mac *m)
{
	*m = (struct mac){ 0, false };
	for (size_t i = 0; i < ARRAY_LEN(mac_forms); i++)
		if (mac_in_form(s, &mac_forms[i], &m->v)) {
			m->wide = mac_forms[i].groups * mac_forms[i].most == 16;
			return true;
		}
	if (!str_is_digits(s) || !str_to_uint(s, 10, &m->v))
		return false;
	m->wide = m->v >> 48 != 0;
	return true;
}

static const struct mac_style {
	const char *name;
	int bits, digits; /* of a group */
	char sep;
	bool upper;
} mac_styles[] = {
	{ "bare", 64, 12, 0, true },	{ "cisco", 16, 4, '.', false },
	{ "eui48", 8, 2, '-', true },	{ "linux", 8, 2, ':', false },
	{ "pgsql", 24, 6, ':', false }, { "postgresql", 24, 6, ':', false },
	{ "psql", 24, 6, ':', false },	{ "unix", 8, 1, ':', false },
	{ "win", 8, 2, '-', true },
};

static const struct value *mac_text(struct call *c, const struct mac *m, const struct mac_style *s)
{
	int first = s->bits == 64 ? 0 : 48 - s->bits;
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 64);
	for (int at = first; at >= 0; at -= s->bits) {
		unsigned long long v = m->v >> at;
		if (s->bits < 64)
			v &= (1ULL << s->bits) - 1;
		if (at != first)
			buf_addc(&b, s->sep);
		if (s->upper)
			buf_addf(&b, "%0*llX", s->digits, v);
		else
			buf_addf(&b, "%0*llx", s->digits, v);
	}
	return value_str(c->a, buf_str(&b));
}

static const struct value *f_hwaddr(struct call *c)
{
	struct str query = call_text(c, 0, "");
	struct mac m;
	bool ok = mac_parse(op_text(c->a, c->self), &m);

	if (!ok && query.n && !str_eqc(query, "bool"))
		return call_fault(c, "%s: \"" STR_FMT "\" is no hardware address", c->name,
				  STR_ARG(op_text(c->a, c->self)));
	if (!query.n)
		return ok ? c->self : value_null(c->a);
	if (str_eqc(query, "bool"))
		return ok ? value_bool(c->a, true) : value_null(c->a);
	if (str_eqc(query, "int"))
		return net_number(c->a, m.v);
	for (size_t i = 0; !m.wide && i < ARRAY_LEN(mac_styles); i++)
		if (str_eqc(query, mac_styles[i].name))
			return mac_text(c, &m, &mac_styles[i]);
	return call_fault(c, "%s: unknown question \"" STR_FMT "\"", c->name, STR_ARG(query));
}

/* The address that a card gives itself in an IPv6 network. */
static const struct value *f_slaac(struct call *c)
{
	struct net n;
	struct mac m;

	if (!net_of(c->a, c->self, 6, &n) || !c->arg[0] || !mac_parse(call_text(c, 0, ""), &m))
		return no(c);
	if (!m.wide)
		m.v = m.v >> 24 << 40 | 0xfffe000000 | (m.v & 0xffffff);
	m.v ^= (uint64_t)2 << 56;
	u128 ip = net_first(&n) + m.v;
	return value_cstr(c->a, net_ip_text(c->a, true, ip));
}

const struct callable filters_ip[] = {
	{ "ipmath", f_ipmath, "amount!", 0 },
	{ "ipsubnet", f_ipsubnet, "query,index", 0 },
	{ "nthhost", f_nthhost, "query", 0 },
	{ "next_nth_usable", f_next_nth_usable, "offset!", 0 },
	{ "previous_nth_usable", f_previous_nth_usable, "offset!", 0 },
	{ "network_in_network", f_network_in_network, "test!", 0 },
	{ "network_in_usable", f_network_in_usable, "test!", 0 },
	{ "reduce_on_network", f_reduce_on_network, "network!", 0 },
	{ "cidr_merge", f_cidr_merge, "action", 0 },
	{ "ip4_hex", f_ip4_hex, "delimiter", 0 },
	{ "hwaddr", f_hwaddr, "query,alias", 0 },
	{ "macaddr", f_hwaddr, "query", 0 },
	{ "slaac", f_slaac, "query", 0 },
	{ NULL, NULL, NULL, 0 },
};
