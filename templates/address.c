/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/address.h"

#include <arpa/inet.h>

int net_bits(const struct net *n)
{
	return n->v6 ? 128 : 32;
}

u128 net_all_ones(int bits)
{
	return bits >= 128 ? ~(u128)0 : ((u128)1 << bits) - 1;
}

u128 net_host_mask(const struct net *n)
{
	return net_all_ones(net_host_bits(n));
}

u128 net_mask(const struct net *n)
{
	return net_all_ones(net_bits(n)) & ~net_host_mask(n);
}

u128 net_first(const struct net *n)
{
	return n->ip & ~net_host_mask(n);
}

u128 net_last(const struct net *n)
{
	return n->ip | net_host_mask(n);
}

/* ---- reading -------------------------------------------------------------------------------- */

static bool parse_ip(struct arena *a, struct str s, struct net *n)
{
	const char *text = arena_dup(a, s.p, s.n);
	unsigned char bytes[16] = { 0 };

	n->v6 = str_find_char(s, ':') != SIZE_MAX;
	if (memchr(text, 0, s.n) ||
	    inet_pton(n->v6 ? AF_INET6 : AF_INET, text, n->v6 ? bytes : bytes + 12) != 1)
		return false;
	n->ip = 0;
	for (int i = 0; i < 16; i++)
		n->ip = n->ip << 8 | bytes[i];
	return true;
}

/* "24" or "255.255.255.0" or "0.0.0.255" */
static bool parse_prefix(struct arena *a, struct str s, struct net *n)
{
	struct net mask;
	int64_t i;

	n->has_prefix = true;
	if (str_to_int(str_trim(s), &i)) {
		n->prefix = (int)i;
		return i >= 0 && i <= net_bits(n);
	}
	if (!parse_ip(a, s, &mask) || mask.v6 != n->v6)
		return false;
	for (n->prefix = 0; n->prefix <= net_bits(n); n->prefix++)
		if (net_mask(n) == mask.ip)
			return true;
	for (n->prefix = 0; n->prefix <= net_bits(n); n->prefix++)
		if (net_host_mask(n) == mask.ip)
			return true;
	return false;
}

bool net_parse(struct arena *a, struct str s, struct net *n)
{
	size_t slash = str_find_char(s, '/');

	*n = (struct net){ .text = s };
	if (!s.n || !parse_ip(a, str_sub(s, 0, slash), n))
		return false;
	n->prefix = net_bits(n);
	return slash == SIZE_MAX || parse_prefix(a, str_sub(s, slash + 1, SIZE_MAX), n);
}

static bool parse_number(struct str s, u128 *out)
{
	*out = 0;
	if (!str_is_digits(s))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (__builtin_mul_overflow(*out, (u128)10, out) ||
		    __builtin_add_overflow(*out, (u128)(s.p[i] - '0'), out))
			return false;
	return true;
}

/* A number, perhaps with a prefix. */
static bool numeric(struct arena *a, struct str s, int version, struct net *n)
{
	size_t slash = str_find_char(s, '/');
	u128 ip;
	int64_t prefix = -1;

	if (!parse_number(str_trim(str_sub(s, 0, slash)), &ip))
		return false;
	if (slash != SIZE_MAX && !str_to_int(str_trim(str_sub(s, slash + 1, SIZE_MAX)), &prefix))
		return false;
	*n = (struct net){ .ip = ip, .has_prefix = slash != SIZE_MAX };
	n->v6 = ip > UINT32_MAX || prefix > 32 || (version == 6 && slash == SIZE_MAX);
	n->prefix = slash == SIZE_MAX ? net_bits(n) : (int)prefix;
	if (n->prefix < 0 || n->prefix > net_bits(n))
		return false;
	n->text = net_text(a, n, ip)->s;
	return true;
}

bool net_of(struct arena *a, const struct value *v, int version, struct net *n)
{
	struct str s = v->kind == V_STR ? v->s : STR("");

	if (v->kind == V_INT && v->i > 0)
		s = str_of(arena_printf(a, "%lld", (long long)v->i));
	if (!net_parse(a, s, n) && !numeric(a, s, version, n))
		return false;
	return !version || n->v6 == (version == 6);
}

/* ---- writing -------------------------------------------------------------------------------- */

const char *net_ip_text(struct arena *a, bool v6, u128 ip)
{
	char *out = arena_alloc(a, INET6_ADDRSTRLEN);
	unsigned char bytes[16];

	for (int i = 0; i < 16; i++)
		bytes[i] = (unsigned char)(ip >> (8 * (15 - i)));
	inet_ntop(v6 ? AF_INET6 : AF_INET, v6 ? bytes : bytes + 12, out, INET6_ADDRSTRLEN);
	return out;
}

const struct value *net_plain(struct arena *a, u128 ip)
{
	return value_cstr(a, net_ip_text(a, ip > UINT32_MAX, ip));
}

const struct value *net_text(struct arena *a, const struct net *n, u128 ip)
{
	return value_strf(a, "%s/%d", net_ip_text(a, n->v6, ip), n->prefix);
}

const struct value *net_number(struct arena *a, u128 i)
{
	char digits[40];
	size_t at = sizeof digits;

	if (i <= INT64_MAX)
		return value_int(a, (int64_t)i);
	for (; i; i /= 10)
		digits[--at] = (char)('0' + (int)(i % 10));
	return value_str(a, (struct str){ digits + at, sizeof digits - at });
}
