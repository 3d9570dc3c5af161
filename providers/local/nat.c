/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses are translated twice: inside the namespace from the hosts' range to one link-local
 * address, and on the machine from that to its own. So the machine never learns a route to the
 * hosts' range, which may clash with one of its own.
 */
#include "providers/local/nat.h"

#include <unistd.h>

#include "providers/local/netns.h"

#define FORWARD "/proc/sys/net/ipv4/ip_forward"
#define UPLINK	"up0"

static bool forwards(void)
{
	struct arena *a = arena_new("nat");
	struct str s;
	struct err ignored = { 0 };
	bool yes = fs_read(a, FORWARD, 16, &s, &ignored) == 0 && str_eqc(str_trim(s), "1");
	arena_free(a);
	return yes;
}

/* nft's first line says what is wrong, the ones below only point at it. */
static int nft(struct arena *a, const char *netns, const char *rules, struct err *e)
{
	struct proc_result r;
	struct str line = STR_NONE;
	struct proc_opts o = { .input = str_of(rules), .timeout_ms = 20000 };
	const char *inside[] = { "ip", "netns", "exec", netns, "nft", "-f", "-", NULL };
	const char *own[] = { "nft", "-f", "-", NULL };
	if (proc_run(a, netns ? inside : own, &o, &r, e))
		return err_wrap(e, "address translation");
	if (!r.status)
		return 0;
	(void)str_next_line(&r.err, &line);
	return err_set(e, ERR_IO, "address translation: nft: " STR_FMT, STR_ARG(line));
}

/* A table made anew: what an earlier run left in it goes first, in the same transaction. */
static const char *masquerade(struct arena *a, const char *table, const char *match)
{
	return arena_printf(a,
			    "add table ip %s\ndelete table ip %s\nadd table ip %s\n"
			    "add chain ip %s post { type nat hook postrouting priority 100; }\n"
			    "add rule ip %s post %s masquerade\n",
			    table, table, table, table, table, match);
}

int nat_check(struct err *e)
{
	struct arena *a = arena_new("nat");
	struct proc_result r;
	int rc = proc_check(a, (const char *const[]){ "nft", "--version", NULL },
			    &(struct proc_opts){ .timeout_ms = 10000 }, &r, e);
	arena_free(a);
	if (rc)
		return err_hint(
			e,
			"run: apt-get install nftables; or set `internet: proxy` of the local provider");
	if (forwards())
		return 0;
	err_set(e, ERR_IO,
		"`internet: nat` needs a machine that forwards packets, and this one does not");
	return err_hint(
		e,
		"run: sysctl -w net.ipv4.ip_forward=1; or set `internet: proxy` of the local provider");
}

/* A /30 of the link-local range for this namespace: 169.254.1.0 to 169.254.254.255, by a digest of
 * its name, so that every process finds the same. */
static uint32_t subnet_of(const char *netns)
{
	char hex[SHA256_HEX];
	uint64_t h = 0;

	sha256_hex(str_of(netns), hex);
	if (!str_to_uint(str_sub(str_of(hex), 0, 12), 16, &h))
		bug("a digest is no number");
	return 0xa9fe0100u + (uint32_t)(h % (254 * 64)) * 4;
}

static const char *table_of(struct arena *a, const char *netns)
{
	char *t = arena_strdup(a, netns);
	for (char *c = t; *c; c++)
		if (*c == '-')
			*c = '_';
	return t;
}

static int cable(struct arena *a, const char *netns, const char *outer, const char *inner,
		 struct err *e)
{
	if (!netns_has_link(netns, UPLINK) &&
	    netns_ip(NULL,
		     arena_printf(a, "link add %s type veth peer name " UPLINK " netns %s\n", netns,
				  netns),
		     e))
		return -1;
	if (netns_ip(NULL,
		     arena_printf(a, "addr replace %s/30 dev %s\nlink set %s up\n", outer, netns,
				  netns),
		     e))
		return -1;
	return netns_ip(netns,
			arena_printf(a,
				     "addr replace %s/30 dev " UPLINK "\nlink set " UPLINK
				     " up\nroute replace default via %s\n",
				     inner, outer),
			e);
}

static int up(struct arena *a, const char *netns, const char *cidr, struct err *e)
{
	char outer[16], inner[16];
	struct proc_result r;
	const char *t = table_of(a, netns);
	const char *sysctl[] = { "ip", "netns", "exec", netns, "sh", "-c", ("echo 1 >" FORWARD),
				 NULL };
	ipv4_text(subnet_of(netns) + 1, outer);
	ipv4_text(subnet_of(netns) + 2, inner);
	if (nat_check(e) || cable(a, netns, outer, inner, e))
		return -1;
	if (proc_check(a, sysctl, &(struct proc_opts){ .timeout_ms = 10000 }, &r, e))
		return -1;
	const char *in = masquerade(a, t, arena_printf(a, "ip saddr %s oifname " UPLINK, cidr));
	const char *out = masquerade(a, t, arena_printf(a, "ip saddr %s", inner));
	return nft(a, netns, in, e) || nft(a, NULL, out, e) ? -1 : 0;
}

int nat_up(const char *netns, const char *cidr, struct err *e)
{
	struct arena *a = arena_new("nat");
	int rc = up(a, netns, cidr, e);
	arena_free(a);
	return rc;
}

int nat_down(const char *netns, struct err *e)
{
	struct arena *a = arena_new("nat");
	const char *t = table_of(a, netns);
	/* Added first, so that deleting never fails because it is not there. The cable goes with
	 * the namespace. */
	int rc = nft(a, NULL, arena_printf(a, "add table ip %s\ndelete table ip %s\n", t, t), e);
	arena_free(a);
	return rc;
}

static bool usable(struct str line)
{
	struct str s = str_trim(line);
	return str_starts(s, "nameserver") && str_find(s, STR(" 127.")) == SIZE_MAX &&
	       str_find(s, STR("::1")) == SIZE_MAX;
}

const char *nat_resolv_conf(struct arena *a)
{
	static const char *const files[] = { "/etc/resolv.conf",
					     "/run/systemd/resolve/resolv.conf" };
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct str text, line;
		struct err ignored = { 0 };
		if (fs_read(a, files[i], 1 << 16, &text, &ignored))
			continue;
		for (struct str rest = text; str_next_line(&rest, &line);)
			if (usable(line))
				return str_cstr(a, text);
	}
	return NULL;
}
