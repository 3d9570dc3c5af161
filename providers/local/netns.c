/* SPDX-License-Identifier: Apache-2.0 */
/*
 * iproute2 is used for changing networks and not rtnetlink directly: a host costs two runs of `ip`,
 * about 5 ms, and what was done can be read in the debug log and typed again by hand.
 */
#include "providers/local/netns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/vfs.h>
#include <unistd.h>

#define NSFS_MAGIC_NUMBER 0x6e736673 /* linux/magic.h has it only since 5.11's headers */

char *netns_path(struct arena *a, const char *name)
{
	return fs_join(a, NETNS_DIR, name);
}

bool netns_exists(const char *name)
{
	struct statfs s;
	struct arena *a = arena_new("netns");
	bool yes = statfs(netns_path(a, name), &s) == 0 && s.f_type == NSFS_MAGIC_NUMBER;
	arena_free(a);
	return yes;
}

static int ip_run(struct arena *a, const char *const *argv, struct str input, struct err *e)
{
	struct proc_result r;
	struct proc_opts o = { .input = input, .timeout_ms = 20000 };
	if (proc_check(a, argv, &o, &r, e))
		return err_wrap(e, "%s", argv[0]);
	return 0;
}

int netns_add(const char *name, struct err *e)
{
	struct arena *a = arena_new("netns");
	int rc = 0;
	if (!netns_exists(name)) {
		(void)unlink(netns_path(
			a, name)); /* an empty file: a crash between making and mounting */
		rc = ip_run(a, (const char *const[]){ "ip", "netns", "add", name, NULL }, STR_NONE,
			    e);
		if (rc && netns_exists(name))
			rc = 0; /* another process was quicker */
	}
	arena_free(a);
	return rc;
}

int netns_del(const char *name, struct err *e)
{
	struct arena *a = arena_new("netns");
	int rc = 0;
	if (netns_exists(name))
		rc = ip_run(a, (const char *const[]){ "ip", "netns", "del", name, NULL }, STR_NONE,
			    e);
	else
		(void)unlink(netns_path(a, name));
	if (rc && !netns_exists(name))
		rc = 0;
	arena_free(a);
	return rc;
}

int netns_ip(const char *name, const char *lines, struct err *e)
{
	struct arena *a = arena_new("ip");
	const char *inside[] = { "ip", "-n", name, "-batch", "-", NULL };
	const char *own[] = { "ip", "-batch", "-", NULL };
	log_debug("ip%s%s: %s", name ? " -n " : "", name ? name : "", lines);
	int rc = ip_run(a, name ? inside : own, str_of(lines), e);
	arena_free(a);
	return rc;
}

/* The namespace belongs to the thread, and nothing can run between the two setns: there is no wait
 * in here. */
int netns_socket(const char *path, int type, int *fd, struct err *e)
{
	scoped(close_fd) int own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	scoped(close_fd) int ns = open(path, O_RDONLY | O_CLOEXEC);
	if (own < 0)
		return err_sys(e, "own network namespace");
	if (ns < 0)
		return err_sys(e, "network namespace %s", path);
	if (setns(ns, CLONE_NEWNET) < 0)
		return err_sys(e, "entering network namespace %s", path);
	*fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	int why = errno;
	if (setns(own, CLONE_NEWNET) < 0)
		bug("cannot return to the own network namespace");
	errno = why;
	return *fd < 0 ? err_sys(e, "socket in %s", path) : 0;
}

/* Asked of a socket that lives there: every look at the fleet asks this of every host. */
bool netns_has_link(const char *name, const char *link)
{
	struct arena *a = arena_new("link");
	struct ifreq req = { 0 };
	struct err ignored = { 0 };
	scoped(close_fd) int fd = -1;
	bool yes = false;

	snprintf(req.ifr_name, sizeof req.ifr_name, "%s", link);
	if (netns_socket(netns_path(a, name), SOCK_DGRAM, &fd, &ignored) == 0)
		yes = ioctl(fd, SIOCGIFINDEX, &req) == 0;
	arena_free(a);
	return yes;
}

static bool banner_arrives(int fd, const char *banner, struct deadline d)
{
	char got[64] = { 0 };
	size_t want = strlen(banner), n = 0;
	struct err ignored = { 0 };
	while (n < want) {
		if (task_wait_fd(fd, FD_READ, d, &ignored))
			return false;
		ssize_t k = recv(fd, got + n, want - n, 0);
		if (k < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (k <= 0)
			return false;
		n += (size_t)k;
	}
	return memcmp(got, banner, want) == 0;
}

bool netns_answers(const char *path, const char *address, int port, const char *banner, int64_t ms)
{
	struct err ignored = { 0 };
	struct deadline d = deadline_in(ms);
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	scoped(close_fd) int fd = -1;
	int error = 0;
	socklen_t len = sizeof error;
	if (strlen(banner) >= 64 || inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return false;
	if (netns_socket(path, SOCK_STREAM | SOCK_NONBLOCK, &fd, &ignored))
		return false;
	if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		if (errno != EINPROGRESS || task_wait_fd(fd, FD_WRITE, d, &ignored))
			return false;
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0 || error)
			return false;
	}
	return banner_arrives(fd, banner, d);
}

int ipv4_parse(const char *text, uint32_t *out, struct err *e)
{
	struct in_addr in;
	if (inet_pton(AF_INET, text, &in) != 1)
		return err_set(e, ERR_SPEC, "'%s' is not an IPv4 address", text);
	*out = ntohl(in.s_addr);
	return 0;
}

void ipv4_text(uint32_t addr, char out[16])
{
	struct in_addr in = { .s_addr = htonl(addr) };
	inet_ntop(AF_INET, &in, out, 16);
}

int cidr_parse(struct str cidr, uint32_t *net, int *prefix, struct err *e)
{
	char text[32];
	size_t slash = str_find_char(cidr, '/');
	int64_t bits;
	struct str addr = str_sub(cidr, 0, slash);
	if (slash == SIZE_MAX || addr.n >= sizeof text ||
	    !str_to_int(str_sub(cidr, slash + 1, SIZE_MAX), &bits) || bits < 8 || bits > 29) {
		err_set(e, ERR_SPEC,
			"'" STR_FMT "' is not a range of IPv4 addresses from /8 to /29",
			STR_ARG(cidr));
		return err_hint(e, "write a range such as 10.77.0.0/16");
	}
	memcpy(text, addr.p, addr.n);
	text[addr.n] = '\0';
	if (ipv4_parse(text, net, e))
		return -1;
	*prefix = (int)bits;
	*net &= ~(uint32_t)0 << (32 - bits);
	return 0;
}
