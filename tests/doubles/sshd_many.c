/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sshd_many - one process that is thousands of SSH servers: it answers on every address of
 * 127.0.0.0/8 (and on no other, its sockets are bound to the loopback device). The protocol and its
 * cryptography are real (libssh); behind it is no shell but the few words of answer() below, so
 *that ten thousand logins cost ten seconds and no process.
 *
 *	sshd_many -k HOSTKEY [-p PORT] [-d PORT] [-r FIRST[-LAST]=HOW]...
 *
 * -d is a port that never answers: its queue is full, so the kernel drops each SYN. -r gives
 * addresses a manner (see `manners`); "slow:700" answers commands 700 ms late. Any public key is
 *let in. It prints "ready PORT [DEADPORT]" when it listens, and on SIGTERM one line of counts.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <libssh/libssh.h>
#include <libssh/server.h>

enum { BACKLOG = 4096, STACK = 192 << 10, LINE_MAX_BYTES = 64 << 10, MARK = 32 };

enum how {
	HOW_OK,
	HOW_HANG,  /* accepts, and is silent for ever */
	HOW_RESET, /* accepts, and resets */
	HOW_DENY,  /* lets nobody in */
	HOW_MUTE,  /* logs in, and never answers a command */
	HOW_DROP,  /* logs in, and breaks the connection at the first command */
	HOW_SLOW,  /* answers late */
};

static const char *const manners[] = {
	[HOW_OK] = "ok",     [HOW_HANG] = "hang", [HOW_RESET] = "reset", [HOW_DENY] = "deny",
	[HOW_MUTE] = "mute", [HOW_DROP] = "drop", [HOW_SLOW] = "slow",
};

struct rule {
	uint32_t first, last;
	enum how how;
	int ms;
};

static struct rule rules[64];
static size_t rules_n;
static ssh_bind binding;

/* What is told at the end. */
static atomic_long connections, logins, commands, greeting, most_greeting, live, most_live;

static void die(const char *what)
{
	fprintf(stderr, "sshd_many: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static void rise(atomic_long *n, atomic_long *most)
{
	long now = atomic_fetch_add(n, 1) + 1, seen = atomic_load(most);

	while (now > seen && !atomic_compare_exchange_weak(most, &seen, now))
		continue;
}

static const struct rule *rule_for(uint32_t address)
{
	static const struct rule plain;

	for (size_t i = 0; i < rules_n; i++)
		if (address >= rules[i].first && address <= rules[i].last)
			return &rules[i];
	return &plain;
}

static void pause_ms(long ms)
{
	struct timespec t = { ms / 1000, ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) != 0 && errno == EINTR)
		continue;
}

/* Until the other side has closed. */
static void wait_closed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	while (poll(&p, 1, -1) < 0 && errno == EINTR)
		continue;
}

/* ---- what a server says --------------------------------------------------------------------- */

struct server {
	ssh_session s;
	int fd;
	const struct rule *rule;
	char address[INET_ADDRSTRLEN];
	bool greeted;
};

struct reply {
	ssh_channel to;
	int status;
	bool over;
};

static void write_all(ssh_channel c, const char *p, size_t n, bool err)
{
	while (n) {
		int rc = err ? ssh_channel_write_stderr(c, p, (uint32_t)n)
			     : ssh_channel_write(c, p, (uint32_t)n);

		if (rc <= 0)
			return;
		p += rc;
		n -= (size_t)rc;
	}
}

static void say(struct reply *r, const char *text)
{
	write_all(r->to, text, strlen(text), false);
	write_all(r->to, "\n", 1, false);
}

/* One command: a few words of sh, so that a test may also be run against a real one. */
static void answer_one(const struct server *sv, struct reply *r, char *text)
{
	char *word = text + strspn(text, " ");
	char *rest = word + strcspn(word, " ");

	if (*rest)
		*rest++ = '\0';
	r->status = 0;
	if (strcmp(word, "echo") == 0) {
		say(r, rest);
	} else if (strcmp(word, "hostname") == 0) {
		say(r, sv->address);
	} else if (strcmp(word, "sleep") == 0) {
		pause_ms((long)(strtod(rest, NULL) * 1000));
	} else if (strcmp(word, "exit") == 0) {
		r->status = (int)strtol(rest, NULL, 10);
		r->over = true;
	} else if (strcmp(word, "false") == 0) {
		r->status = 1;
	}
}

static int answer(const struct server *sv, ssh_channel c, const char *command)
{
	struct reply r = { .to = c };
	char text[1024], *at = text;

	atomic_fetch_add(&commands, 1);
	if (sv->rule->how == HOW_SLOW)
		pause_ms(sv->rule->ms);
	snprintf(text, sizeof text, "%s", command);
	while (at && !r.over) {
		char *one = at;

		at = strchr(at, ';');
		if (at)
			*at++ = '\0';
		answer_one(sv, &r, one);
	}
	return r.status;
}

/*
 * A kept shell (net/shell.c): each line that begins with printf 'bMARK\n' is a framed script; the
 * others set the shell up.
 */
static void answer_frame(const struct server *sv, ssh_channel c, char *line)
{
	static const char begin[] = "printf 'b", script[] = "(eval '";
	char text[MARK + 32], *from = strstr(line, script), *to;
	int status = 0;

	if (strncmp(line, begin, sizeof begin - 1) != 0 || !from)
		return;
	const char *mark = line + sizeof begin - 1;
	from += sizeof script - 1;
	to = strstr(from, "') </dev/null");
	if (!to)
		return;
	*to = '\0';
	int n = snprintf(text, sizeof text, "b%.*s\n", MARK, mark);
	write_all(c, text, (size_t)n, false);
	write_all(c, text, (size_t)n, true);
	status = answer(sv, c, from);
	n = snprintf(text, sizeof text, "\ne%.*s %d\n", MARK, mark, status);
	write_all(c, text, (size_t)n, false);
	n = snprintf(text, sizeof text, "\ne%.*s\n", MARK, mark);
	write_all(c, text, (size_t)n, true);
}

static void keep_shell(const struct server *sv, ssh_channel c)
{
	char *line = malloc(LINE_MAX_BYTES);
	size_t have = 0;
	int n;

	while (line && have < LINE_MAX_BYTES - 1 &&
	       (n = ssh_channel_read(c, line + have, (uint32_t)(LINE_MAX_BYTES - 1 - have), 0)) >
		       0) {
		char *end;

		have += (size_t)n;
		line[have] = '\0';
		while ((end = memchr(line, '\n', have))) {
			*end = '\0';
			answer_frame(sv, c, line);
			have -= (size_t)(end + 1 - line);
			memmove(line, end + 1, have);
		}
	}
	free(line);
}

/* ---- a connection ----------------------------------------------------------------------------- */

/* libssh would rather be driven by its callbacks; its messages do, and are a third of the code. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
static bool on_auth(struct server *sv, ssh_message m)
{
	if (ssh_message_subtype(m) != SSH_AUTH_METHOD_PUBLICKEY || sv->rule->how == HOW_DENY) {
		ssh_message_auth_set_methods(m, SSH_AUTH_METHOD_PUBLICKEY);
		return false;
	}
	switch (ssh_message_auth_publickey_state(m)) {
	case SSH_PUBLICKEY_STATE_NONE: ssh_message_auth_reply_pk_ok_simple(m); return true;
	case SSH_PUBLICKEY_STATE_VALID:
		ssh_message_auth_reply_success(m, 0);
		atomic_fetch_add(&logins, 1);
		atomic_fetch_sub(&greeting, 1);
		sv->greeted = true;
		return true;
	default: return false;
	}
}
#pragma GCC diagnostic pop

static bool on_exec(struct server *sv, ssh_message m)
{
	ssh_channel c = ssh_message_channel_request_channel(m);
	const char *command = ssh_message_channel_request_command(m);
	int status = 0;

	if (sv->rule->how == HOW_MUTE || sv->rule->how == HOW_DROP) {
		if (sv->rule->how == HOW_MUTE)
			wait_closed(sv->fd);
		shutdown(sv->fd, SHUT_RDWR);
		return true;
	}
	ssh_message_channel_request_reply_success(m);
	if (strncmp(command, "exec sh", 7) == 0)
		keep_shell(sv, c);
	else
		status = answer(sv, c, command);
	ssh_channel_request_send_exit_status(c, status);
	ssh_channel_send_eof(c);
	ssh_channel_close(c);
	return true;
}

static bool on_message(struct server *sv, ssh_message m)
{
	switch (ssh_message_type(m)) {
	case SSH_REQUEST_SERVICE: ssh_message_service_reply_success(m); return true;
	case SSH_REQUEST_AUTH: return on_auth(sv, m);
	case SSH_REQUEST_CHANNEL_OPEN:
		return ssh_message_subtype(m) == SSH_CHANNEL_SESSION &&
		       ssh_message_channel_request_open_reply_accept(m) != NULL;
	case SSH_REQUEST_CHANNEL:
		return ssh_message_subtype(m) == SSH_CHANNEL_REQUEST_EXEC && on_exec(sv, m);
	default: return false;
	}
}

static void talk(struct server *sv)
{
	ssh_message m;

	sv->s = ssh_new();
	if (!sv->s)
		return;
	if (ssh_bind_accept_fd(binding, sv->s, sv->fd) == SSH_OK &&
	    ssh_handle_key_exchange(sv->s) == SSH_OK) {
		while ((m = ssh_message_get(sv->s))) {
			if (!on_message(sv, m))
				ssh_message_reply_default(m);
			ssh_message_free(m);
		}
	}
	ssh_disconnect(sv->s);
	ssh_free(sv->s); /* closes the socket */
	sv->fd = -1;
}

static void *serve(void *arg)
{
	struct server sv = { .fd = (int)(intptr_t)arg };
	struct linger now = { 1, 0 };
	struct sockaddr_in a;
	socklen_t n = sizeof a;
	int on = 1;

	rise(&live, &most_live);
	rise(&greeting, &most_greeting);
	if (getsockname(sv.fd, (struct sockaddr *)&a, &n) == 0) {
		inet_ntop(AF_INET, &a.sin_addr, sv.address, sizeof sv.address);
		sv.rule = rule_for(ntohl(a.sin_addr.s_addr));
		setsockopt(sv.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
		if (sv.rule->how == HOW_HANG)
			wait_closed(sv.fd);
		else if (sv.rule->how == HOW_RESET)
			setsockopt(sv.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
		else
			talk(&sv);
	}
	if (sv.fd >= 0)
		close(sv.fd);
	if (!sv.greeted)
		atomic_fetch_sub(&greeting, 1);
	atomic_fetch_sub(&live, 1);
	return NULL;
}

/* ---- listening -------------------------------------------------------------------------------- */

static int listen_on(int port, int backlog, int *got)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3) != 0)
		die("socket");
	if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 || listen(fd, backlog) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) != 0)
		die("listen");
	*got = ntohs(a.sin_port);
	return fd;
}

/* A queue of one place, taken by ourselves: every later SYN is dropped. */
static int dead_port(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	int got;

	listen_on(port, 0, &got);
	a.sin_port = htons((uint16_t)got);
	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	for (int i = 0; i < 4; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (fd < 0 ||
		    (connect(fd, (struct sockaddr *)&a, sizeof a) != 0 && errno != EINPROGRESS))
			die("filling the dead port");
	}
	return got;
}

static void *accept_all(void *arg)
{
	int listener = (int)(intptr_t)arg;
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (;;) {
		int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0) {
			pause_ms(1);
			continue;
		}
		atomic_fetch_add(&connections, 1);
		if (pthread_create(&t, &attr, serve, (void *)(intptr_t)fd) != 0)
			close(fd);
	}
	return NULL;
}

/* ---- the command line ------------------------------------------------------------------------- */

static bool parse_address(const char *text, size_t n, uint32_t *out)
{
	char tmp[INET_ADDRSTRLEN];
	struct in_addr in;

	if (n >= sizeof tmp)
		return false;
	memcpy(tmp, text, n);
	tmp[n] = '\0';
	if (inet_pton(AF_INET, tmp, &in) != 1)
		return false;
	*out = ntohl(in.s_addr);
	return true;
}

/* FIRST[-LAST]=HOW[:MS] */
static void add_rule(const char *text)
{
	const char *eq = strchr(text, '='), *dash = strchr(text, '-');
	struct rule *r = &rules[rules_n];
	bool ok = eq && rules_n < sizeof rules / sizeof rules[0];

	if (ok) {
		const char *end = dash && dash < eq ? dash : eq;

		ok = parse_address(text, (size_t)(end - text), &r->first);
		r->last = r->first;
		if (ok && end == dash)
			ok = parse_address(dash + 1, (size_t)(eq - dash - 1), &r->last);
	}
	for (size_t i = 0; ok && i < sizeof manners / sizeof manners[0]; i++) {
		size_t n = strlen(manners[i]);

		if (strncmp(eq + 1, manners[i], n) != 0)
			continue;
		r->how = (enum how)i;
		r->ms = eq[1 + n] == ':' ? (int)strtol(eq + 2 + n, NULL, 10) : 0;
		rules_n++;
		return;
	}
	fprintf(stderr, "sshd_many: not a rule: %s\n", text);
	exit(64);
}

static void tell(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	printf("connections=%ld logins=%ld commands=%ld most_live=%ld most_greeting=%ld live=%ld "
	       "cpu_ms=%ld maxrss_kb=%ld\n",
	       connections, logins, commands, most_live, most_greeting, live,
	       (u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1000 +
		       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1000,
	       u.ru_maxrss);
	fflush(stdout);
}

static void start(int port, int dead, const char *key)
{
	struct rlimit files;
	pthread_t t;
	int got = 0;

	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	binding = ssh_bind_new();
	if (ssh_init() != 0 || !binding ||
	    ssh_bind_options_set(binding, SSH_BIND_OPTIONS_HOSTKEY, key) != 0)
		die(key);
	int listener = listen_on(port, BACKLOG, &got);
	if (pthread_create(&t, NULL, accept_all, (void *)(intptr_t)listener) != 0)
		die("thread");
	printf("ready %d", got);
	if (dead >= 0)
		printf(" %d", dead_port(dead));
	printf("\n");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const char *key = NULL;
	int port = 0, dead = -1, opt, signo;
	sigset_t ends;

	while ((opt = getopt(argc, argv, "k:p:d:r:")) != -1) {
		switch (opt) {
		case 'k': key = optarg; break;
		case 'p': port = (int)strtol(optarg, NULL, 10); break;
		case 'd': dead = (int)strtol(optarg, NULL, 10); break;
		case 'r': add_rule(optarg); break;
		default: key = NULL; optind = argc;
		}
	}
	if (!key) {
		fprintf(stderr, "usage: sshd_many -k HOSTKEY [-p PORT] [-d PORT] "
				"[-r FIRST[-LAST]=HOW]...\n");
		return 64;
	}
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL); /* the threads inherit it */
	start(port, dead, key);
	while (sigwait(&ends, &signo) != 0)
		continue;
	tell();
	_exit(0); /* the threads are in the middle of something */
}
