/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TCP, from names to a connected socket. Names are resolved on a pool thread, as many at a time as
 * there are threads, so that a name's deadline does not pass while others are looked up; numbers
 * are not names. A socket belongs for life to the network namespace it was made in, so only
 * socket() has to happen inside another one: a pool thread goes there and comes back.
 */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/session.h"

enum { MAX_ADDRESSES = 16, RESOLVERS = 8 };

/* ---- names ------------------------------------------------------------------------------------ */

struct tcp_names {
	char host[300];
	char port[8];
	struct addrinfo *list;
};

static int resolve_run(void *arg, struct err *e)
{
	struct tcp_names *r = arg;
	struct addrinfo want = { .ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_ADDRCONFIG | AI_NUMERICSERV };
	int rc = getaddrinfo(r->host, r->port, &want, &r->list);

	if (rc == 0)
		return 0;
	r->list = NULL;
	if (rc == EAI_AGAIN)
		err_set(e, ERR_BUSY, "cannot resolve %s now: %s", r->host, gai_strerror(rc));
	else
		err_set(e, ERR_NOT_FOUND, "cannot resolve %s: %s", r->host, gai_strerror(rc));
	return err_hint(e, "check the host's name, or give its address");
}

static void resolve_free(void *arg)
{
	tcp_names_free(arg);
}

void tcp_names_free(struct tcp_names *names)
{
	if (names && names->list)
		freeaddrinfo(names->list);
	mem_free(names);
}

static struct task_sem resolvers = { .free = RESOLVERS };

static int look_up(struct tcp_names *r, int64_t ms, struct err *e)
{
	bool inside = task_is_running();

	/* Each of those before us is done within its own deadline. */
	if (inside && task_sem_take(&resolvers, DEADLINE_NONE, e) != 0) {
		tcp_names_free(r);
		return -1;
	}
	int rc = task_offload((struct offload_call){ resolve_run, r, resolve_free },
			      deadline_in(ms), e);
	if (inside)
		task_sem_give(&resolvers);
	if (rc != 0 && e->kind != ERR_TIMEOUT && e->kind != ERR_CANCELLED)
		tcp_names_free(r);
	return rc;
}

int tcp_resolve(const struct ssh_target *t, int64_t ms, struct tcp_names **out, struct err *e)
{
	struct addrinfo numeric = { .ai_socktype = SOCK_STREAM,
				    .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	struct tcp_names *r = mem_alloc(sizeof *r);

	snprintf(r->host, sizeof r->host, "%s", t->host);
	snprintf(r->port, sizeof r->port, "%d", t->port ? t->port : 22);
	if (getaddrinfo(r->host, r->port, &numeric, &r->list) != 0) {
		r->list = NULL;
		if (look_up(r, ms, e) != 0) {
			if (e->kind == ERR_TIMEOUT || e->kind == ERR_CANCELLED)
				err_wrap(e, "resolving %s", t->host);
			return -1;
		}
	}
	*out = r;
	return 0;
}

/* ---- sockets ---------------------------------------------------------------------------------- */

struct make_socket {
	char netns[200];
	int family;
	int fd;
};

static int socket_in_netns(void *arg, struct err *e)
{
	struct make_socket *m = arg;
	scoped(close_fd) int home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
	scoped(close_fd) int away = open(m->netns, O_RDONLY | O_CLOEXEC);

	if (home < 0 || away < 0)
		return err_sys(e, "network namespace %s", m->netns);
	if (setns(away, CLONE_NEWNET) != 0)
		return err_sys(e, "entering network namespace %s", m->netns);
	m->fd = socket(m->family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int saved = errno;
	if (setns(home, CLONE_NEWNET) != 0)
		bug("a thread cannot leave network namespace %s", m->netns);
	errno = saved;
	return m->fd < 0 ? err_sys(e, "socket") : 0;
}

static void make_socket_free(void *arg)
{
	struct make_socket *m = arg;

	close_fd(&m->fd);
	mem_free(m);
}

static int make_socket(const struct ssh_target *t, int family, struct deadline d, int *fd,
		       struct err *e)
{
	if (!t->netns) {
		*fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		return *fd < 0 ? err_sys(e, "socket") : 0;
	}
	struct make_socket *m = mem_alloc(sizeof *m);
	m->family = family;
	m->fd = -1;
	snprintf(m->netns, sizeof m->netns, "%s", t->netns);
	if (task_offload((struct offload_call){ socket_in_netns, m, make_socket_free }, d, e) !=
	    0) {
		if (e->kind != ERR_TIMEOUT && e->kind != ERR_CANCELLED)
			make_socket_free(m);
		return -1;
	}
	*fd = m->fd;
	mem_free(m);
	return 0;
}

static int connect_error(const struct ssh_target *t, int code, struct err *e)
{
	errno = code;
	err_sys(e, "cannot connect to %s port %d", t->host, t->port ? t->port : 22);
	e->code = code;
	if (code == ECONNREFUSED)
		return err_hint(e, "check that sshd runs there and listens on this port");
	if (code == EHOSTUNREACH || code == ENETUNREACH)
		return err_hint(e, "check the address, the route and the firewall");
	return -1;
}

static int connect_one(struct ssh *s, const struct addrinfo *ai, struct deadline d, struct err *e)
{
	const struct ssh_target *t = &s->t;
	scoped(close_fd) int fd = -1;
	int on = 1, code = 0;
	socklen_t n = sizeof code;

	if (make_socket(t, ai->ai_family, d, &fd, e) != 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	if (connect(fd, ai->ai_addr, ai->ai_addrlen) != 0) {
		if (errno != EINPROGRESS)
			return connect_error(t, errno, e);
		if (session_wait_fd(s, fd, FD_WRITE, d, e) != 0) {
			if (e->kind != ERR_TIMEOUT)
				return -1;
			err_set(e, ERR_TIMEOUT, "no answer from %s port %d (TCP connect)", t->host,
				t->port ? t->port : 22);
			return err_hint(e,
					"check that the host is up, its address, and the firewall");
		}
		if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &n) != 0 || code != 0)
			return connect_error(t, code, e);
	}
	s->fd = fd;
	fd = -1;
	return 0;
}

int tcp_connect(struct ssh *s, const struct tcp_names *names, struct deadline d, struct err *e)
{
	int left = 0;

	for (const struct addrinfo *ai = names->list; ai && left < MAX_ADDRESSES; ai = ai->ai_next)
		left++;
	for (const struct addrinfo *ai = names->list; ai && left > 0; ai = ai->ai_next, left--) {
		/* A silent address gets its share of the time, so that the next one has some. */
		struct deadline mine = left > 1 ? deadline_in(deadline_left(d) / left) : d;

		if (connect_one(s, ai, mine, e) == 0)
			return 0;
		if (e->kind == ERR_CANCELLED)
			return -1;
	}
	return names->list ? -1 : err_set(e, ERR_NOT_FOUND, "%s has no address", s->t.host);
}
