/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's life: connect, key exchange, host key, login, and the wait in between. libssh2 moves
 * its bytes through our two callbacks: on a socket TCP_QUICKACK is re-armed before each wait (sshd
 * answers a channel request in two small packets with Nagle's algorithm on, and a delayed ACK costs
 * 44 ms a session); behind a jump host they read and write a channel of the outer session.
 */
#include "net/session.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "net/keyfile.h"

#define CONNECT_DEFAULT	  15000
#define KEEPALIVE_DEFAULT 15000
#define KEEPALIVE_LOST	  3
#define HELLO_MAX	  ((size_t)8 << 10)
#define STASH_CHUNK	  ((size_t)16 << 10)
#define BANNER_CHUNK	  ((size_t)2 << 10)
#define GOODBYE_MS	  1000
#define MAX_JUMPS	  8
#define LOGGING_IN_MAX	  256 /* at a time */
#define ASIDE_MAX	  1024
#define CONNECT_PATIENCE  500
#define GATE_PATIENCE	  3000

/* ---- bytes in and out ------------------------------------------------------------------------- */

static void heard(struct ssh *s, const void *p, ssize_t n)
{
	s->heard = clock_now();
	if (!s->hello_done && n > 0)
		buf_add(&s->hello, p, (size_t)n);
}

static ssize_t take_stash(struct ssh *s, void *to, size_t n)
{
	size_t take = n < s->stash.n ? n : s->stash.n;

	memcpy(to, s->stash.p, take);
	memmove(s->stash.p, s->stash.p + take, s->stash.n - take);
	buf_truncate(&s->stash, s->stash.n - take);
	return (ssize_t)take;
}

/* libssh2 reads the banner byte by byte: from here, rather than from the kernel. */
static ssize_t recv_ahead(struct ssh *s, void *to, size_t n)
{
	char tmp[BANNER_CHUNK];
	ssize_t got = recv(s->fd, tmp, sizeof tmp, 0);

	if (got <= 0)
		return got;
	buf_add(&s->stash, tmp, (size_t)got);
	return take_stash(s, to, n);
}

static ssize_t recv_socket(struct ssh *s, void *to, size_t n)
{
	if (s->stash.n)
		return take_stash(s, to, n);
	ssize_t got = n == 1 ? recv_ahead(s, to, n) : recv(s->fd, to, n, 0);

	if (got < 0)
		return errno == EINTR ? -EAGAIN : -errno;
	s->unacked = got > 0;
	return got;
}

/*
 * The outer session, too, may hold half a packet, of a read (a window adjustment) or of a write,
 * and then takes nothing but that call again. half_read says which; bytes that a read gives while
 * we must write wait in the stash.
 */
static ssize_t read_via(struct ssh *s, void *to, size_t n)
{
	ssize_t got = libssh2_channel_read(s->via, to, n);

	s->half_read = got == LIBSSH2_ERROR_EAGAIN && s->jump->want_write;
	if (got == LIBSSH2_ERROR_EAGAIN)
		return -EAGAIN;
	if (got < 0)
		return -ECONNRESET;
	return got == 0 && !libssh2_channel_eof(s->via) ? -EAGAIN : got;
}

static ssize_t recv_jump(struct ssh *s, void *to, size_t n)
{
	if (s->stash.n)
		return take_stash(s, to, n);
	if (s->jump->want_write && !s->half_read)
		return -EAGAIN;
	return read_via(s, to, n);
}

static LIBSSH2_RECV_FUNC(on_recv)
{
	struct ssh *s = *abstract;

	(void)socket;
	(void)flags;
	if (s->dead)
		return 0;
	ssize_t n = s->jump ? recv_jump(s, buffer, length) : recv_socket(s, buffer, length);
	if (n > 0)
		heard(s, buffer, n);
	return n;
}

static ssize_t send_jump(struct ssh *s, const void *from, size_t n)
{
	char tmp[STASH_CHUNK];

	if (s->half_read) {
		ssize_t got = read_via(s, tmp, sizeof tmp);

		if (got > 0)
			buf_add(&s->stash, tmp, (size_t)got);
		if (s->half_read)
			return -EAGAIN;
	}
	/* libssh2 takes at most 32 KiB a call: stopping short of "would block" would leave nothing
	 * to wait for. */
	size_t total = 0;
	while (total < n) {
		ssize_t sent = libssh2_channel_write(s->via, (const char *)from + total, n - total);

		if (sent == LIBSSH2_ERROR_EAGAIN || sent == 0)
			break;
		if (sent < 0)
			return -EPIPE;
		total += (size_t)sent;
	}
	return total ? (ssize_t)total : -EAGAIN;
}

static LIBSSH2_SEND_FUNC(on_send)
{
	struct ssh *s = *abstract;
	ssize_t n;

	(void)socket;
	(void)flags;
	if (s->dead)
		return -EPIPE;
	if (s->jump) {
		n = send_jump(s, buffer, length);
	} else {
		n = send(s->fd, buffer, length, MSG_NOSIGNAL);
		if (n < 0)
			n = errno == EINTR ? -EAGAIN : -errno;
	}
	s->want_write = n == -EAGAIN || (n >= 0 && (size_t)n < length);
	return n;
}

/* ---- waiting ---------------------------------------------------------------------------------- */

void session_kill(struct ssh *s, const char *why)
{
	if (!s->dead)
		snprintf(s->why, sizeof s->why, "%s", why);
	s->dead = true;
}

int session_alive(struct ssh *s, struct err *e)
{
	if (!s->dead)
		return 0;
	return err_set(e, ERR_IO, "the connection to %s is gone: %s", s->name, s->why);
}

/* Before we wait for more; what we answer at once carries the ACK with it. */
static void quick_ack(struct ssh *root)
{
	int on = 1;

	if (root->unacked)
		setsockopt(root->fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof on);
	root->unacked = false;
}

static struct ssh *root_of(struct ssh *s)
{
	while (s->jump)
		s = s->jump;
	return s;
}

static int64_t keepalive_ms(const struct ssh *s)
{
	return s->t.keepalive_ms ? s->t.keepalive_ms : KEEPALIVE_DEFAULT;
}

/* A session that nobody waited on is no silent one: `since` is when the wait began. */
static int64_t next_keepalive(const struct ssh *s, int64_t since)
{
	int64_t last = s->asked > s->heard ? s->asked : s->heard;

	return (since > last ? since : last) + keepalive_ms(s);
}

static int keep_alive(struct ssh *s, int64_t since, struct err *e)
{
	int64_t now = clock_now(), last = s->heard > since ? s->heard : since;
	int next;

	if (now - last >= KEEPALIVE_LOST * keepalive_ms(s)) {
		char silence[16];

		clock_format_duration(now - last, silence);
		session_kill(s, "no answer to keepalives");
		err_set(e, ERR_IO, "the connection to %s is lost: silent for %s", s->name, silence);
		return err_hint(e, "check the host and the network");
	}
	s->asked = now;
	if (!s->want_write)
		libssh2_keepalive_send(s->l, &next); /* a broken socket shows at the next read */
	return 0;
}

/*
 * The gate: ten thousand sessions are not begun at once. Each would wait for the work of all the
 * others, listen queues would run over, and deadlines pass meanwhile. So only so many log in at a
 * time, and a deadline starts behind the gate. A host that does not answer costs nothing while we
 * wait: after a moment it steps aside, and its place is another's. As many may stand aside as a
 * fleet has dead hosts, not all of them: then it is we, or what lies between, who are slow.
 */
static struct task_sem gate = { .free = LOGGING_IN_MAX };
static size_t aside;

static int gate_enter(struct ssh *s, struct err *e)
{
	if (!task_is_running())
		return 0;
	/* Each of those before us is through, or aside, by its own deadline. */
	if (task_sem_take(&gate, DEADLINE_NONE, e) != 0)
		return -1;
	s->at_gate = true;
	s->entered = clock_now();
	return 0;
}

static void step_aside(struct ssh *s)
{
	if (aside == ASIDE_MAX)
		return;
	aside++;
	s->is_aside = true;
	s->at_gate = false;
	task_sem_give(&gate);
}

static void gate_leave(struct ssh *s)
{
	if (s->at_gate)
		task_sem_give(&gate);
	if (s->is_aside)
		aside--;
	s->at_gate = s->is_aside = false;
}

int session_wait_fd(struct ssh *s, int fd, int events, struct deadline d, struct err *e)
{
	bool connected = s->fd >= 0 || s->jump;
	struct deadline patience = { s->entered + (connected ? GATE_PATIENCE : CONNECT_PATIENCE) };

	if (s->at_gate && patience.at < d.at) {
		if (task_wait_fd(fd, events, patience, e) == 0)
			return 0;
		if (e->kind != ERR_TIMEOUT)
			return -1;
		step_aside(s);
	}
	return task_wait_fd(fd, events, d, e);
}

int session_wait(struct ssh *s, struct deadline d, struct err *e)
{
	struct ssh *root = root_of(s);
	int64_t since = clock_now();

	quick_ack(root);
	for (;;) {
		struct deadline keep = { next_keepalive(s, since) };
		struct deadline until = s->hello_done ? deadline_min(d, keep) : d;

		if (deadline_left(d) == 0)
			return err_set(e, ERR_TIMEOUT, "timed out");
		/* Half a packet in hand: nothing is read before it is gone, so don't wake up for
		 * input. */
		int events = root->want_write ? FD_WRITE : FD_READ;
		if (session_wait_fd(s, root->fd, events, until, e) == 0)
			return 0;
		if (e->kind != ERR_TIMEOUT || deadline_left(d) == 0)
			return -1;
		if (keep_alive(s, since, e) != 0)
			return -1;
	}
}

int session_fail(struct ssh *s, const char *doing, struct err *e)
{
	char *text = NULL;
	int code = libssh2_session_last_error(s->l, &text, NULL, 0);

	switch (code) {
	case LIBSSH2_ERROR_SOCKET_SEND:
	case LIBSSH2_ERROR_SOCKET_RECV:
	case LIBSSH2_ERROR_SOCKET_DISCONNECT:
	case LIBSSH2_ERROR_SOCKET_NONE:
	case LIBSSH2_ERROR_SOCKET_TIMEOUT:
	case LIBSSH2_ERROR_BANNER_RECV:
	case LIBSSH2_ERROR_CHANNEL_CLOSED:
	case LIBSSH2_ERROR_BAD_SOCKET:
	case LIBSSH2_ERROR_PROTO:
	case LIBSSH2_ERROR_INVALID_MAC:
	case LIBSSH2_ERROR_DECRYPT:
		session_kill(s, text && text[0] ? text : "connection closed");
		err_set(e, ERR_IO, "the connection to %s was lost (%s): %s", s->name, doing,
			s->why);
		break;
	default:
		err_set(e, ERR_REMOTE, "%s: %s failed: %s", s->name, doing,
			text && text[0] ? text : "no reason given");
	}
	e->code = code;
	return -1;
}

/* ---- algorithms ------------------------------------------------------------------------------- */

static void filter(struct ssh *s, int method, struct str list, struct buf *out)
{
	const char **algs = NULL;
	int n = libssh2_session_supported_algs(s->l, method, &algs);
	struct str one;

	while (str_next(&list, ',', &one))
		for (int i = 0; i < n; i++)
			if (str_eqc(one, algs[i]))
				buf_addf(out, "%s" STR_FMT, out->n ? "," : "", STR_ARG(one));
	if (algs)
		libssh2_free(s->l, (void *)(uintptr_t)algs);
}

bool session_supports(struct ssh *s, int method, struct str any_of)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 4096);
	filter(s, method, any_of, &b);
	return b.n > 0;
}

void session_prefer(struct ssh *s, int method, struct str algorithms)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 4096);
	filter(s, method, algorithms, &b);
	if (b.n)
		libssh2_session_method_pref(s->l, method, b.p);
}

/* curve25519 is the cheapest by far; nothing with SHA-1. */
static void prefer_algorithms(struct ssh *s)
{
	session_prefer(
		s, LIBSSH2_METHOD_KEX,
		STR("curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,"
		    "ecdh-sha2-nistp521,diffie-hellman-group16-sha512,diffie-hellman-group14-sha256,"
		    "diffie-hellman-group18-sha512,diffie-hellman-group-exchange-sha256"));
	session_prefer(s, LIBSSH2_METHOD_CRYPT_CS, STR("aes128-ctr,aes256-ctr,aes192-ctr"));
	session_prefer(s, LIBSSH2_METHOD_CRYPT_SC, STR("aes128-ctr,aes256-ctr,aes192-ctr"));
	session_prefer(s, LIBSSH2_METHOD_MAC_CS, STR("hmac-sha2-256,hmac-sha2-512"));
	session_prefer(s, LIBSSH2_METHOD_MAC_SC, STR("hmac-sha2-256,hmac-sha2-512"));
}

/* ---- opening ---------------------------------------------------------------------------------- */

/* libssh2 frees what a half-done exchange holds only when the exchange itself fails: so let it. */
static void abandon_handshake(struct ssh *s)
{
	session_kill(s, "given up");
	for (int i = 0;
	     i < 100 && libssh2_session_handshake(s->l, root_of(s)->fd) == LIBSSH2_ERROR_EAGAIN;
	     i++)
		continue;
}

static int handshake(struct ssh *s, struct deadline d, struct err *e)
{
	int rc;

	while ((rc = libssh2_session_handshake(s->l, root_of(s)->fd)) == LIBSSH2_ERROR_EAGAIN) {
		if (session_wait(s, d, e) == 0)
			continue;
		abandon_handshake(s);
		if (e->kind != ERR_TIMEOUT)
			return -1;
		if (libssh2_session_banner_get(s->l))
			return err_set(e, ERR_TIMEOUT,
				       "no answer from %s in time (SSH key exchange)", s->name);
		err_set(e, ERR_TIMEOUT, "%s accepts connections but sends no SSH banner", s->name);
		return err_hint(e,
				"check that this port is sshd's and that sshd is not overloaded");
	}
	if (rc != 0)
		return session_explain_kex(s, e);
	return 0;
}

static int open_via(struct ssh *s, struct deadline d, struct err *e)
{
	struct ssh *j = s->jump;
	int port = s->t.port ? s->t.port : 22;

	while (!(
		s->via = libssh2_channel_direct_tcpip_ex(j->l, s->t.host, port, "127.0.0.1", 22))) {
		if (libssh2_session_last_errno(j->l) != LIBSSH2_ERROR_EAGAIN) {
			session_fail(j, "forwarding", e);
			if (e->kind == ERR_REMOTE) {
				err_set(e, ERR_IO, "jump host %s cannot reach %s port %d", j->name,
					s->t.host, port);
				err_hint(
					e,
					"check the address as seen from %s, and AllowTcpForwarding there",
					j->name);
			}
			return -1;
		}
		if (session_wait(j, d, e) != 0)
			return err_wrap(e, "jump host %s: opening the way to %s", j->name,
					s->t.host);
	}
	return 0;
}

static int init_once(struct err *e)
{
	static bool done;

	if (!done && libssh2_init(0) != 0)
		return err_set(e, ERR_IO, "libssh2 does not start");
	done = true;
	return 0;
}

static int make_session(struct ssh *s, struct err *e)
{
	if (init_once(e) != 0)
		return -1;
	s->l = libssh2_session_init_ex(NULL, NULL, NULL, s);
	if (!s->l)
		return err_set(e, ERR_IO, "libssh2: out of memory");
	libssh2_session_set_blocking(s->l, 0);
	/* The callbacks travel as void *, which POSIX allows and ISO C does not. */
	union {
		LIBSSH2_RECV_FUNC((*recv));
		LIBSSH2_SEND_FUNC((*send));
		void *p;
	} fn;
	fn.recv = on_recv;
	libssh2_session_callback_set(s->l, LIBSSH2_CALLBACK_RECV, fn.p);
	fn.send = on_send;
	libssh2_session_callback_set(s->l, LIBSSH2_CALLBACK_SEND, fn.p);
	prefer_algorithms(s);
	return 0;
}

static int count_jumps(const struct ssh_target *t, struct err *e)
{
	int n = 0;

	for (; t->jump; t = t->jump)
		if (++n > MAX_JUMPS)
			return err_set(e, ERR_SPEC, "more than %d jump hosts", MAX_JUMPS);
	return 0;
}

static int open_way(struct ssh *s, const struct tcp_names *names, struct deadline d, struct err *e)
{
	return s->jump ? open_via(s, d, e) : tcp_connect(s, names, d, e);
}

static int log_in(struct ssh *s, const struct tcp_names *names, struct deadline d, struct err *e)
{
	struct known_hosts kh = { 0 };

	if (open_way(s, names, d, e) != 0 || make_session(s, e) != 0 ||
	    session_load_known(s, &kh, e) != 0)
		return -1;
	session_prefer_host_keys(s, &kh);
	if (handshake(s, d, e) != 0 || session_verify(s, &kh, d, e) != 0)
		return -1;
	buf_fini(&s->hello);
	buf_init(&s->hello, HELLO_MAX);
	if (session_auth(s, d, e) != 0)
		return -1;
	s->hello_done = true;
	buf_fini(&s->hello);
	int64_t every = keepalive_ms(s) / 1000;
	libssh2_keepalive_config(s->l, 1, every > 2 ? (unsigned)every : 2);
	return 0;
}

static int open_steps(struct ssh *s, struct err *e)
{
	int64_t ms = s->t.connect_ms ? s->t.connect_ms : CONNECT_DEFAULT;
	struct tcp_names *names = NULL;
	int rc;

	/* A session that waits for its jump host is not at the gate: its jump host has to be. */
	if (s->t.jump) {
		rc = ssh_open(s->t.jump, &s->jump, e);
		if (rc != 0)
			err_wrap(e, "jump host");
	} else {
		rc = tcp_resolve(&s->t, ms, &names, e);
	}
	if (rc == 0)
		rc = gate_enter(s, e);
	if (rc == 0)
		rc = log_in(s, names, deadline_in(ms), e);
	gate_leave(s);
	tcp_names_free(names);
	return rc;
}

int ssh_open(const struct ssh_target *t, struct ssh **out, struct err *e)
{
	if (count_jumps(t, e) != 0)
		return -1;
	struct ssh *s = mem_alloc(sizeof *s);

	s->a = arena_new("ssh");
	s->t = *t;
	s->fd = -1;
	s->heard = s->asked = clock_now();
	buf_init(&s->hello, HELLO_MAX);
	buf_init(&s->stash, (size_t)4 << 20);
	if (t->port && t->port != 22)
		snprintf(s->name, sizeof s->name, "%s:%d", t->host, t->port);
	else
		snprintf(s->name, sizeof s->name, "%s", t->host);
	if (open_steps(s, e) != 0) {
		ssh_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

/* ---- closing ---------------------------------------------------------------------------------- */

static void say_goodbye(struct ssh *s)
{
	struct deadline d = deadline_in(GOODBYE_MS);
	struct err ignored;

	while (!s->dead && libssh2_session_disconnect(s->l, "") == LIBSSH2_ERROR_EAGAIN)
		if (session_wait(s, d, &ignored) != 0)
			session_kill(s, "closed");
}

void ssh_close(struct ssh *s)
{
	if (!s)
		return;
	task_shield_begin();
	if (s->l) {
		if (!s->want_write)
			say_goodbye(s);
		session_kill(
			s,
			"closed"); /* from here the callbacks fail at once: freeing cannot wait */
		for (int i = 0; i < 1000 && libssh2_session_free(s->l) == LIBSSH2_ERROR_EAGAIN; i++)
			continue;
	}
	if (s->via) {
		struct deadline d = deadline_in(GOODBYE_MS);
		struct err ignored;

		while (!s->jump->dead && libssh2_channel_free(s->via) == LIBSSH2_ERROR_EAGAIN)
			if (session_wait(s->jump, d, &ignored) != 0)
				session_kill(s->jump, "closed");
	}
	ssh_close(s->jump);
	close_fd(&s->fd);
	buf_fini(&s->hello);
	buf_fini(&s->stash);
	arena_free(s->a);
	mem_free(s);
	task_shield_end();
}

void ssh_forget(void)
{
	ssh_keys_forget();
	known_hosts_forget();
}
