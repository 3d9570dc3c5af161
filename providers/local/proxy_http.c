/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the proxy that is only text and rules: what may be asked for, and how it is sent on. */
#include "providers/local/proxy.h"

#include <arpa/inet.h>
#include <stdio.h>

#include "providers/local/sources.h"

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'A' && s.p[i] <= 'Z') || (s.p[i] >= 'a' && s.p[i] <= 'z') ||
		      s.p[i] == '-'))
			return false;
	return s.n > 0;
}

/* Names go to the resolver and into a request: letters, digits, dots, dashes, and what IPv6 needs. */
static bool is_host(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '.' || c == '-' || c == '_' || c == ':'))
			return false;
	}
	return s.n > 0 && s.n < 256;
}

static bool has_control(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 127)
			return true;
	return false;
}

static int parse_target(struct proxy_request *r, struct err *e)
{
	r->connect = str_eqc(r->method, "CONNECT");
	if (!r->connect && !str_eqc(r->method, "GET") && !str_eqc(r->method, "HEAD"))
		return err_set(e, ERR_USAGE, "405 only GET, HEAD and CONNECT are served");
	if (r->connect) {
		char text[300];
		int n = snprintf(text, sizeof text, "https://" STR_FMT, STR_ARG(r->url));
		struct str host;
		if (n < 0 || (size_t)n >= sizeof text || str_find_char(r->url, '/') != SIZE_MAX ||
		    !url_split(str_of(text), &host, &r->to.port))
			return err_set(e, ERR_USAGE, "400 CONNECT needs host:port");
		/* The same slice, in the caller's memory. */
		size_t at = str_find(r->url, host);
		r->to.host = str_sub(r->url, at, at + host.n);
	} else {
		if (!str_starts(r->url, "http://") || !url_split(r->url, &r->to.host, &r->to.port))
			return err_set(e, ERR_USAGE, "400 an http:// address is needed");
		struct str rest = str_sub(r->url, 7, SIZE_MAX);
		size_t slash = str_find_char(rest, '/');
		r->path = slash == SIZE_MAX ? STR("/") : str_sub(rest, slash, SIZE_MAX);
		if (str_find_char(str_sub(rest, 0, slash), '@') != SIZE_MAX)
			return err_set(e, ERR_USAGE, "400 no user names in addresses");
	}
	return is_host(r->to.host) ? 0 : err_set(e, ERR_USAGE, "400 bad host name");
}

int proxy_parse(struct str head, struct proxy_request *r, struct err *e)
{
	struct str line, version;
	*r = (struct proxy_request){ 0 };
	if (memchr(head.p, 0, head.n))
		return err_set(e, ERR_USAGE, "400 bad request");
	if (!str_next_line(&head, &line) || !str_next(&line, ' ', &r->method) ||
	    !str_next(&line, ' ', &r->url) || !str_next(&line, ' ', &version) || line.n)
		return err_set(e, ERR_USAGE, "400 bad request line");
	if (!is_token(r->method) || !r->url.n || has_control(r->url) ||
	    !str_starts(version, "HTTP/1."))
		return err_set(e, ERR_USAGE, "400 bad request line");
	r->headers = head;
	return parse_target(r, e);
}

static bool is_hop_by_hop(struct str name)
{
	static const char *const names[] = { "connection",
					     "keep-alive",
					     "proxy-connection",
					     "proxy-authorization",
					     "proxy-authenticate",
					     "te",
					     "trailer",
					     "upgrade",
					     "host",
					     "content-length",
					     "transfer-encoding" };
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq_nocase(name, str_of(names[i])))
			return true;
	return false;
}

/* Requests have no body here, so the lines that would announce one go as well: what follows can
 * never be read as a second request. */
static void copy_headers(struct str headers, bool answer, struct buf *out)
{
	struct str line;
	bool keep = false;
	while (str_next_line(&headers, &line) && line.n) {
		size_t colon = str_find_char(line, ':');
		struct str name = str_trim(str_sub(line, 0, colon));
		bool folded = line.p[0] == ' ' || line.p[0] == '\t';
		bool framing = str_eq_nocase(name, STR("content-length")) ||
			       str_eq_nocase(name, STR("transfer-encoding"));
		if (!folded)
			keep = colon != SIZE_MAX && (!is_hop_by_hop(name) || (answer && framing));
		if (keep) {
			buf_addstr(out, line);
			buf_adds(out, "\r\n");
		}
	}
	buf_adds(out, "Connection: close\r\n");
}

void proxy_rewrite(const struct proxy_request *r, bool absolute, struct str authorization,
		   struct buf *out)
{
	bool v6 = str_find_char(r->to.host, ':') != SIZE_MAX;
	const char *open = v6 ? "[" : "", *close = v6 ? "]" : "";
	if (r->connect)
		buf_addf(out, "CONNECT %s" STR_FMT "%s:%d HTTP/1.1\r\n", open, STR_ARG(r->to.host),
			 close, r->to.port);
	else
		buf_addf(out, STR_FMT " " STR_FMT " HTTP/1.1\r\n", STR_ARG(r->method),
			 STR_ARG(absolute ? r->url : r->path));
	buf_addf(out, "Host: %s" STR_FMT "%s", open, STR_ARG(r->to.host), close);
	if (r->connect || r->to.port != 80)
		buf_addf(out, ":%d", r->to.port);
	buf_adds(out, "\r\n");
	if (authorization.n)
		buf_addf(out, "Proxy-Authorization: " STR_FMT "\r\n", STR_ARG(authorization));
	copy_headers(r->connect ? STR_NONE : r->headers, false, out);
	buf_adds(out, "\r\n");
}

void proxy_rewrite_answer(struct str head, struct buf *out)
{
	struct str line;
	if (str_next_line(&head, &line)) {
		buf_addstr(out, line);
		buf_adds(out, "\r\n");
	}
	copy_headers(head, true, out);
	buf_adds(out, "\r\n");
}

static bool v4_is_public(uint32_t a)
{
	static const struct {
		uint32_t net;
		int bits;
	} closed[] = {
		{ 0x00000000, 8 },  { 0x0a000000, 8 },	{ 0x64400000, 10 }, { 0x7f000000, 8 },
		{ 0xa9fe0000, 16 }, { 0xac100000, 12 }, { 0xc0000000, 24 }, { 0xc0a80000, 16 },
		{ 0xc6120000, 15 }, { 0xe0000000, 3 },
	};
	for (size_t i = 0; i < ARRAY_LEN(closed); i++)
		if (((a ^ closed[i].net) >> (32 - closed[i].bits)) == 0)
			return false;
	return true;
}

static bool v6_is_public(const struct in6_addr *a)
{
	const uint8_t *b = a->s6_addr;
	uint32_t v4 = (uint32_t)b[12] << 24 | (uint32_t)b[13] << 16 | (uint32_t)b[14] << 8 | b[15];
	if (IN6_IS_ADDR_V4MAPPED(a))
		return v4_is_public(v4);
	if (b[0] == 0x00 && b[1] == 0x64 && b[2] == 0xff && b[3] == 0x9b) /* NAT64 */
		return v4_is_public(v4);
	if (b[0] == 0x20 && b[1] == 0x02) /* 6to4 */
		return false;
	return (b[0] & 0xe0) == 0x20; /* 2000::/3, the only range that is given out */
}

bool proxy_is_public(const struct sockaddr *sa)
{
	if (sa->sa_family == AF_INET) {
		struct sockaddr_in in;
		memcpy(&in, sa, sizeof in);
		return v4_is_public(ntohl(in.sin_addr.s_addr));
	}
	if (sa->sa_family == AF_INET6) {
		struct sockaddr_in6 in6;
		memcpy(&in6, sa, sizeof in6);
		return v6_is_public(&in6.sin6_addr);
	}
	return false;
}

bool proxy_is_archive(const struct proxy_rules *rules, const struct proxy_place *to)
{
	for (size_t i = 0; i < rules->archives.n; i++)
		if (rules->archives.v[i].port == to->port &&
		    str_eq_nocase(rules->archives.v[i].host, to->host))
			return true;
	return false;
}

bool proxy_allows_port(const struct proxy_rules *rules, const struct proxy_place *to)
{
	return to->port == 80 || to->port == 443 || proxy_is_archive(rules, to);
}

int proxy_set_upstream(struct arena *a, struct proxy_rules *rules, struct str proxy, struct err *e)
{
	struct str rest = str_trim(proxy);
	if (!rest.n || str_eq_nocase(rest, STR("DIRECT")) || str_eq_nocase(rest, STR("none")))
		return 0;
	if (str_find(rest, STR("://")) == SIZE_MAX)
		rest = str_of(arena_printf(a, "http://" STR_FMT, STR_ARG(rest)));
	if (!str_starts(rest, "http://") ||
	    !url_split(rest, &rules->upstream.host, &rules->upstream.port))
		return err_set(e, ERR_SPEC,
			       "this machine's proxy is not an http:// address with a host");
	struct str tail = str_sub(rest, 7, SIZE_MAX);
	size_t at = str_find_char(tail, '@');
	if (at == SIZE_MAX)
		return 0;
	struct buf scoped(buf_wipe) b = { 0 };
	buf_init(&b, 4096);
	buf_adds(&b, "Basic ");
	scrub_register(str_sub(tail, 0, at));
	base64_encode(&b, str_sub(tail, 0, at));
	rules->authorization = str_dup(a, buf_str(&b));
	return buf_check(&b, e);
}
