/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The serving part of the proxy: a task a connection. Names are resolved here, and the address that
 * was checked is the one that is connected to, so a name can't change its meaning in between. With
 * a proxy of the machine's own in front, that one resolves: then only literal addresses are checked
 * here.
 */
#include "providers/local/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "providers/local/keeper.h"
#include "providers/local/netns.h"
#include "providers/local/sources.h"

#define HEAD_MAX    ((size_t)64 << 10)
#define CHUNK	    ((size_t)32 << 10)
#define CONNECT_MS  30000
#define IDLE_MS	    120000
#define LINGER_MS   2000
#define CLIENTS_MAX 256
#define ADDRESSES   8

struct proxy {
	struct arena *a;
	struct proxy_rules rules;
	const char *netns, *lock;
	struct sockaddr_in listen;
	int fd;
	struct group clients;
	size_t live;
	struct group *all;
};

struct client {
	struct proxy *p;
	int fd;
};

/* ---- bytes
 * ------------------------------------------------------------------------------------------ */

static int send_all(int fd, struct str data, struct err *e)
{
	struct deadline d = deadline_in(IDLE_MS);
	while (data.n) {
		ssize_t n = send(fd, data.p, data.n, MSG_NOSIGNAL);
		if (n > 0) {
			data = str_sub(data, (size_t)n, SIZE_MAX);
			d = deadline_in(IDLE_MS);
		} else if (n < 0 && errno == EAGAIN) {
			if (task_wait_fd(fd, FD_WRITE, d, e))
				return -1;
		} else if (errno != EINTR) {
			return err_sys(e, "send");
		}
	}
	return 0;
}

/* > 0 bytes, 0 at the end, -1. */
static ssize_t recv_some(int fd, char *p, size_t cap, struct err *e)
{
	for (;;) {
		ssize_t n = recv(fd, p, cap, 0);
		if (n >= 0)
			return n;
		if (errno == EAGAIN) {
			if (task_wait_fd(fd, FD_READ, deadline_in(IDLE_MS), e))
				return -1;
		} else if (errno != EINTR) {
			return err_sys(e, "recv");
		}
	}
}

/* Reads until an empty line; *end is where what follows begins. */
static int recv_head(int fd, struct buf *b, size_t *end, struct err *e)
{
	char chunk[4096];
	for (;;) {
		size_t at = str_find(buf_str(b), STR("\r\n\r\n"));
		if (at != SIZE_MAX) {
			*end = at + 4;
			return 0;
		}
		ssize_t n = recv_some(fd, chunk, sizeof chunk, e);
		if (n < 0)
			return -1;
		if (n == 0)
			return err_set(e, ERR_IO, "the other side ended in the middle");
		buf_add(b, chunk, (size_t)n);
		if (b->overflow)
			return err_set(e, ERR_IO, "a head of more than %zu bytes", HEAD_MAX);
	}
}

struct relay {
	int from, to;
};

static void relay_run(void *arg)
{
	const struct relay *r = arg;
	struct err e = { 0 };
	char *chunk = mem_alloc(CHUNK);
	ssize_t n;
	while ((n = recv_some(r->from, chunk, CHUNK, &e)) > 0)
		if (send_all(r->to, (struct str){ chunk, (size_t)n }, &e))
			break;
	shutdown(r->to, SHUT_WR);
	if (n < 0)
		shutdown(r->from, SHUT_RD);
	mem_free(chunk);
}

/* Both ways until both have ended. */
static void tunnel(int one, int other)
{
	struct err ignored = { 0 };
	struct group g;
	struct relay up = { one, other }, down = { other, one };
	group_init(&g);
	task_spawn(&g, "proxy up", relay_run, &up);
	task_spawn(&g, "proxy down", relay_run, &down);
	if (group_wait(&g, &ignored))
		log_debug("proxy: %s", ignored.msg);
}

/* Ends our side and reads on for a moment: closing with bytes unread would reset the connection and
 * lose what is on its way. */
static void linger(int fd)
{
	char chunk[1024];
	struct err ignored = { 0 };
	struct deadline d = deadline_in(LINGER_MS);
	shutdown(fd, SHUT_WR);
	for (;;) {
		ssize_t n = recv(fd, chunk, sizeof chunk, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
			return;
		if (n < 0 && task_wait_fd(fd, FD_READ, d, &ignored))
			return;
		if (!deadline_left(d))
			return;
	}
}

/* ---- where to
 * ----------------------------------------------------------------------------------------- */

struct lookup {
	char host[256], port[8];
	struct sockaddr_storage found[ADDRESSES];
	socklen_t len[ADDRESSES];
	size_t n;
};

static int lookup_run(void *arg, struct err *e)
{
	struct lookup *l = arg;
	struct addrinfo hints = { .ai_family = AF_UNSPEC,
				  .ai_socktype = SOCK_STREAM,
				  .ai_flags = AI_ADDRCONFIG },
			*list = NULL;
	int rc = getaddrinfo(l->host, l->port, &hints, &list);
	if (rc)
		return err_set(e, ERR_IO, "502 %s: %s", l->host, gai_strerror(rc));
	for (struct addrinfo *i = list; i && l->n < ADDRESSES; i = i->ai_next) {
		if (i->ai_addrlen > sizeof l->found[0])
			continue;
		memcpy(&l->found[l->n], i->ai_addr, i->ai_addrlen);
		l->len[l->n++] = i->ai_addrlen;
	}
	freeaddrinfo(list);
	return 0;
}

static int connect_one(const struct sockaddr_storage *to, socklen_t len, struct err *e)
{
	int error = 0;
	socklen_t n = sizeof error;
	int fd = socket(to->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_sys(e, "502 socket");
	if (connect(fd, (const struct sockaddr *)to, len) == 0)
		return fd;
	if (errno == EINPROGRESS && task_wait_fd(fd, FD_WRITE, deadline_in(CONNECT_MS), e) == 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && !error)
		return fd;
	close(fd);
	return err_set(e, ERR_IO, "502 cannot connect: %s", strerror(error ? error : errno));
}

/* trusted: the machine's own configuration named it, so it may lie anywhere. */
static int connect_to(const struct proxy_place *to, bool trusted, struct err *e)
{
	struct lookup *l = mem_alloc(sizeof *l);
	struct err why = { 0 };
	int fd = -1;
	snprintf(l->host, sizeof l->host, STR_FMT, STR_ARG(to->host));
	snprintf(l->port, sizeof l->port, "%d", to->port);
	int rc = task_offload((struct offload_call){ lookup_run, l, mem_free },
			      deadline_in(CONNECT_MS), &why);
	if (rc && (why.kind == ERR_TIMEOUT || why.kind == ERR_CANCELLED)) {
		*e = why; /* the thread still writes to l, and frees it */
		return -1;
	}
	if (!rc)
		err_set(&why, ERR_AUTH, "403 " STR_FMT " is not a public address",
			STR_ARG(to->host));
	for (size_t i = 0; !rc && fd < 0 && i < l->n; i++)
		if (trusted || proxy_is_public((const struct sockaddr *)&l->found[i]))
			fd = connect_one(&l->found[i], l->len[i], &why);
	mem_free(l);
	if (fd < 0)
		*e = why;
	return fd;
}

/* A literal address, or a name that always means this machine: checked even when another proxy
 * resolves. */
static bool looks_closed(struct str host)
{
	char text[256];
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	snprintf(text, sizeof text, STR_FMT, STR_ARG(host));
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		return !proxy_is_public((struct sockaddr *)&v4);
	if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
		return !proxy_is_public((struct sockaddr *)&v6);
	struct str bare = str_trim_end(host, '.');
	/* Also other spellings of numbers, such as 127.1 or 0x7f000001. */
	bool numeric = bare.n && bare.p[bare.n - 1] >= '0' && bare.p[bare.n - 1] <= '9';
	return numeric || str_eq_nocase(bare, STR("localhost")) || str_ends(bare, ".localhost");
}

static int open_upstream(struct proxy *p, const struct proxy_request *r, struct err *e)
{
	if (!proxy_allows_port(&p->rules, &r->to))
		return err_set(e, ERR_AUTH, "403 port %d is not served", r->to.port);
	bool archive = proxy_is_archive(&p->rules, &r->to);
	if (!p->rules.upstream.host.n)
		return connect_to(&r->to, archive, e);
	if (!archive && looks_closed(r->to.host))
		return err_set(e, ERR_AUTH, "403 " STR_FMT " is not a public address",
			       STR_ARG(r->to.host));
	return connect_to(&p->rules.upstream, true, e);
}

/* ---- one request
 * -------------------------------------------------------------------------------------- */

static void refuse(int fd, const struct err *why)
{
	struct buf scoped(buf_fini) b = { 0 };
	struct err ignored = { 0 };
	bool coded = why->msg[0] >= '4' && why->msg[0] <= '5' && strlen(why->msg) > 4;
	buf_init(&b, 8192);
	log_info("proxy: %s", why->msg);
	buf_addf(&b, "HTTP/1.1 %.3s %s\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		 coded ? why->msg : "502", coded ? why->msg + 4 : "no answer from the other side");
	if (send_all(fd, buf_str(&b), &ignored) == 0)
		linger(fd);
}

static int serve_connect(struct proxy *p, const struct proxy_request *r, int fd, int up,
			 struct str early, struct err *e)
{
	if (p->rules.upstream.host.n) {
		struct buf scoped(buf_fini) b = { 0 };
		buf_init(&b, HEAD_MAX);
		proxy_rewrite(r, true, p->rules.authorization, &b);
		if (send_all(up, buf_str(&b), e))
			return -1;
	} else if (send_all(fd, STR("HTTP/1.1 200 Connection established\r\n\r\n"), e)) {
		return -1;
	}
	if (send_all(up, early, e))
		return -1;
	tunnel(fd, up);
	return 0;
}

static int serve_get(struct proxy *p, const struct proxy_request *r, int fd, int up, struct err *e)
{
	struct buf scoped(buf_fini) b = { 0 };
	struct buf scoped(buf_fini) out = { 0 };
	size_t end = 0;
	buf_init(&b, HEAD_MAX);
	buf_init(&out, HEAD_MAX * 2);
	proxy_rewrite(r, p->rules.upstream.host.n > 0, p->rules.authorization, &out);
	if (buf_check(&out, e) || send_all(up, buf_str(&out), e) || recv_head(up, &b, &end, e))
		return -1;
	buf_clear(&out);
	proxy_rewrite_answer(str_sub(buf_str(&b), 0, end), &out);
	if (buf_check(&out, e) || send_all(fd, buf_str(&out), e) ||
	    send_all(fd, str_sub(buf_str(&b), end, SIZE_MAX), e))
		return -1;
	relay_run(&(struct relay){ up, fd });
	linger(fd);
	return 0;
}

static int serve(struct client *c, struct buf *head, struct err *e)
{
	struct proxy_request r;
	size_t end = 0;
	if (recv_head(c->fd, head, &end, e) || proxy_parse(str_sub(buf_str(head), 0, end), &r, e))
		return -1;
	scoped(close_fd) int up = open_upstream(c->p, &r, e);
	if (up < 0)
		return -1;
	log_debug("proxy: " STR_FMT " " STR_FMT, STR_ARG(r.method), STR_ARG(r.url));
	if (r.connect)
		return serve_connect(c->p, &r, c->fd, up, str_sub(buf_str(head), end, SIZE_MAX), e);
	return serve_get(c->p, &r, c->fd, up, e);
}

static void client_run(void *arg)
{
	struct client *c = arg;
	struct err e = { 0 };
	struct buf scoped(buf_fini) head = { 0 };
	buf_init(&head, HEAD_MAX);
	if (serve(c, &head, &e) && e.kind != ERR_CANCELLED)
		refuse(c->fd, &e);
	close(c->fd);
	c->p->live--;
	mem_free(c);
}

/* ---- the daemon
 * ----------------------------------------------------------------------------------------- */

static void accept_run(void *arg)
{
	struct proxy *p = arg;
	struct err e = { 0 };
	/* Waits for its next client as long as it lives; cancelling ends it. */
	while (task_wait_fd(p->fd, FD_READ, DEADLINE_NONE, &e) == 0) {
		int fd = accept4(p->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (fd < 0) {
			if ((errno == EMFILE || errno == ENFILE) && task_sleep(100, &e))
				break;
			continue;
		}
		if (p->live >= CLIENTS_MAX) {
			close(fd);
			continue;
		}
		struct client *c = mem_alloc(sizeof *c);
		*c = (struct client){ p, fd };
		p->live++;
		task_spawn(&p->clients, "proxy client", client_run, c);
	}
	group_cancel(&p->clients);
	if (group_wait(&p->clients, &e))
		log_debug("proxy: %s", e.msg);
}

static void on_signal(void *arg, int signo unused_arg)
{
	struct proxy *p = arg;
	if (p->all)
		group_cancel(p->all);
}

static void daemon_run(void *arg)
{
	struct proxy *p = arg;
	struct group g;
	struct err e = { 0 };
	group_init(&g);
	group_init(&p->clients);
	p->all = &g;
	task_spawn(&g, "proxy accept", accept_run, p);
	if (group_wait(&g, &e))
		log_debug("proxy: %s", e.msg);
	p->all = NULL;
}

static int listen_in(struct proxy *p, struct err *e)
{
	int one = 1;
	if (netns_socket(p->netns, SOCK_STREAM | SOCK_NONBLOCK, &p->fd, e))
		return -1;
	setsockopt(p->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
	if (bind(p->fd, (struct sockaddr *)&p->listen, sizeof p->listen) < 0)
		return err_sys(e, "binding the proxy's address");
	return listen(p->fd, 128) < 0 ? err_sys(e, "listen") : 0;
}

/* apt's own setting first: it is the one that is meant for packages. */
static int find_upstream(struct proxy *p, struct err *e)
{
	struct proc_result r;
	struct err ignored = { 0 };
	const char *argv[] = {
		"apt-config", "dump", "--format", "%v", "Acquire::http::Proxy", NULL
	};
	struct str url = STR_NONE;
	if (proc_check(p->a, argv, &(struct proc_opts){ .timeout_ms = 10000 }, &r, &ignored) == 0)
		url = str_trim(r.out);
	if (!url.n)
		url = str_of(env_get("http_proxy"));
	return proxy_set_upstream(p->a, &p->rules, url, e);
}

static int find_archives(struct proxy *p, struct err *e)
{
	struct sources s = { 0 };
	if (sources_read(p->a, "/etc/apt", &s, e))
		return -1;
	for (size_t i = 0; i < s.v.n; i++) {
		struct proxy_place place;
		if (url_split(str_of(s.v.v[i].uri), &place.host, &place.port))
			VEC_ADD(p->a, &p->rules.archives) = place;
	}
	return 0;
}

static int parse_args(struct proxy *p, int argc, char **argv, struct err *e)
{
	const char *listen_at = NULL;
	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--netns"))
			p->netns = argv[i + 1];
		else if (!strcmp(argv[i], "--listen"))
			listen_at = argv[i + 1];
		else if (!strcmp(argv[i], "--lock"))
			p->lock = argv[i + 1];
	}
	if (argc != 7 || !p->netns || !listen_at || !p->lock)
		return err_set(e, ERR_USAGE,
			       "usage: local-proxy --netns PATH --listen ADDRESS:PORT --lock FILE");
	struct str s = str_of(listen_at);
	size_t colon = str_find_char(s, ':');
	int64_t port;
	uint32_t addr;
	if (colon == SIZE_MAX || !str_to_int(str_sub(s, colon + 1, SIZE_MAX), &port) || port < 1 ||
	    port > 65535)
		return err_set(e, ERR_USAGE, "--listen needs ADDRESS:PORT");
	if (ipv4_parse(str_cstr(p->a, str_sub(s, 0, colon)), &addr, e))
		return -1;
	p->listen = (struct sockaddr_in){ .sin_family = AF_INET,
					  .sin_port = htons((uint16_t)port),
					  .sin_addr = { htonl(addr) } };
	return 0;
}

int local_proxy_main(int argc, char **argv)
{
	struct err e = { 0 };
	struct proxy p = { .a = arena_new("proxy"), .fd = -1 };
	int rc = parse_args(&p, argc, argv, &e) || keeper_hold(p.lock, &e) ||
		 find_archives(&p, &e) || find_upstream(&p, &e) || listen_in(&p, &e);
	if (!rc) {
		signal(SIGPIPE, SIG_IGN);
		loop_on_signal(SIGTERM, on_signal, &p);
		loop_on_signal(SIGINT, on_signal, &p);
		rc = loop_run(daemon_run, &p, NULL, &e);
	}
	/* Its stderr is a log file of its own; there is nobody to report to. */
	if (rc)
		dprintf(STDERR_FILENO, "muster: %s\n", e.msg);
	close_fd(&p.fd);
	arena_free(p.a);
	return rc ? 1 : 0;
}
