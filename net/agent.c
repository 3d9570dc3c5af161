/* SPDX-License-Identifier: Apache-2.0 */
#include "net/agent.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "net/wire.h"

#define REPLY_MAX ((size_t)1 << 20)

enum {
	REQUEST_IDENTITIES = 11,
	IDENTITIES_ANSWER = 12,
	SIGN_REQUEST = 13,
	SIGN_RESPONSE = 14,
	KEYS_MAX = 1000,
};

static int no_agent(const char *path, struct err *e)
{
	int saved = errno;

	err_set(e, ERR_NOT_FOUND, "no ssh-agent answers at %s: %s", path, strerror(saved));
	e->code = saved;
	return -1;
}

static int dial(const char *path, struct deadline d, int *out, struct err *e)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	if ((size_t)snprintf(to.sun_path, sizeof to.sun_path, "%s", path) >= sizeof to.sun_path) {
		errno = ENAMETOOLONG;
		return no_agent(path, e);
	}
	*out = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (*out < 0)
		return err_sys(e, "socket");
	while (connect(*out, (const struct sockaddr *)&to, sizeof to) != 0) {
		if (errno != EAGAIN && errno != EINTR) /* EAGAIN: its queue is full for a moment */
			return no_agent(path, e);
		if (deadline_left(d) == 0)
			return err_set(e, ERR_TIMEOUT, "ssh-agent does not answer");
		if (task_sleep(5, e) != 0)
			return -1;
	}
	return 0;
}

static int send_all(int fd, struct str data, struct deadline d, struct err *e)
{
	while (data.n) {
		ssize_t n = send(fd, data.p, data.n, MSG_NOSIGNAL);

		if (n >= 0)
			data = str_sub(data, (size_t)n, SIZE_MAX);
		else if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "ssh-agent");
		else if (task_wait_fd(fd, FD_WRITE, d, e) != 0)
			return err_wrap(e, "ssh-agent");
	}
	return 0;
}

static int receive(int fd, size_t want, struct buf *b, struct deadline d, struct err *e)
{
	char tmp[4096];

	while (b->n < want) {
		size_t left = want - b->n;
		ssize_t n = recv(fd, tmp, left < sizeof tmp ? left : sizeof tmp, 0);

		if (n > 0)
			buf_add(b, tmp, (size_t)n);
		else if (n == 0)
			return err_set(e, ERR_IO, "ssh-agent closed the connection");
		else if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "ssh-agent");
		else if (task_wait_fd(fd, FD_READ, d, e) != 0)
			return err_wrap(e, "ssh-agent");
	}
	return 0;
}

static int ask(const char *path, struct str message, struct deadline d, struct buf *reply,
	       struct err *e)
{
	scoped(close_fd) int fd = -1;
	scoped(buf_fini) struct buf out = { 0 };
	scoped(buf_fini) struct buf head = { 0 };

	if (dial(path, d, &fd, e) != 0)
		return -1;
	buf_init(&out, message.n + 8);
	buf_init(&head, 8);
	wire_put_string(&out, message);
	if (send_all(fd, buf_str(&out), d, e) != 0 || receive(fd, 4, &head, d, e) != 0)
		return -1;
	struct wire w = wire_of(buf_str(&head));
	uint32_t n = wire_u32(&w);
	if (n == 0 || n >= REPLY_MAX)
		return err_set(e, ERR_IO, "ssh-agent sent a reply of %u bytes", n);
	return receive(fd, n, reply, d, e);
}

int agent_list(struct arena *a, const char *socket, struct deadline d, struct agent_keys *out,
	       struct err *e)
{
	const char request = REQUEST_IDENTITIES;
	scoped(buf_fini) struct buf reply = { 0 };

	buf_init(&reply, REPLY_MAX);
	if (ask(socket, (struct str){ &request, 1 }, d, &reply, e) != 0)
		return -1;
	struct wire w = wire_of(buf_str(&reply));
	if (wire_u8(&w) != IDENTITIES_ANSWER)
		return err_set(e, ERR_AUTH, "ssh-agent does not list its keys (locked?)");
	uint32_t n = wire_u32(&w);
	for (uint32_t i = 0; i < n && i < KEYS_MAX && !w.bad; i++) {
		struct agent_key k;

		k.blob = wire_string(&w);
		k.comment = wire_string(&w);
		if (w.bad)
			break;
		k.blob = str_dup(a, k.blob);
		k.comment = str_dup(a, k.comment);
		VEC_ADD(a, &out->keys) = k;
	}
	return 0;
}

int agent_sign(const struct agent_request *r, struct buf *sig, struct err *e)
{
	scoped(buf_fini) struct buf message = { 0 };
	scoped(buf_fini) struct buf reply = { 0 };

	buf_init(&message, REPLY_MAX);
	buf_init(&reply, REPLY_MAX);
	buf_addc(&message, SIGN_REQUEST);
	wire_put_string(&message, r->blob);
	wire_put_string(&message, r->data);
	wire_put_u32(&message, r->flags);
	if (ask(r->socket, buf_str(&message), r->deadline, &reply, e) != 0)
		return -1;
	struct wire w = wire_of(buf_str(&reply));
	if (wire_u8(&w) != SIGN_RESPONSE)
		return err_set(e, ERR_AUTH, "ssh-agent refused to sign");
	struct wire inner = wire_of(wire_string(&w));
	wire_string(&inner); /* the algorithm */
	struct str bare = wire_string(&inner);
	if (inner.bad || bare.n == 0)
		return err_set(e, ERR_AUTH, "ssh-agent sent a malformed signature");
	buf_addstr(sig, bare);
	return 0;
}
