/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/sshd_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char sshd_program[] = "/usr/sbin/sshd";

static void die(const char *what)
{
	fprintf(stderr, "sshd fixture: %s: %s\n", what, strerror(errno));
	abort();
}

static char *ring(void)
{
	static char slots[32][1024];
	static unsigned next;

	return slots[next++ % 32];
}

const char *fixture_path(struct fixture *f, const char *name)
{
	char *p = ring();

	snprintf(p, 1024, "%s/%s", f->dir, name);
	return p;
}

static void put_text(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

void fixture_write(const char *path, const char *text)
{
	put_text(path, text, O_TRUNC);
}

void fixture_append(const char *path, const char *text)
{
	put_text(path, text, O_APPEND);
}

const char *fixture_line(const char *path)
{
	char *p = ring();
	FILE *f = fopen(path, "re");

	if (!f || !fgets(p, 1024, f))
		die(path);
	fclose(f);
	p[strcspn(p, "\n")] = '\0';
	return p;
}

/* ---- processes -------------------------------------------------------------------------------- */

static pid_t start(const char *const *argv, const char *log)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none;
	pid_t pid;

	sigemptyset(&none); /* a task may be a thread with its signals blocked */
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	posix_spawn_file_actions_adddup2(&fa, 1, 2);
	int rc = posix_spawnp(&pid, argv[0], &fa, &attr, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	posix_spawnattr_destroy(&attr);
	return rc == 0 ? pid : -1;
}

static int wait_for(pid_t pid)
{
	int st = 0;

	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
}

int fixture_run(struct fixture *f, const char *const *argv)
{
	pid_t pid = start(argv, fixture_path(f, "log"));

	return pid < 0 ? 127 : wait_for(pid);
}

/* ---- the folder and the user --------------------------------------------------------------------
 */

static void make_user(struct fixture *f)
{
	snprintf(f->user, sizeof f->user, "mustertest%ld", (long)getpid() % 100000);
	const char *const argv[] = { "useradd", "-m",	   "-d", fixture_path(f, "home"),
				     "-s",	"/bin/sh", "-p", "*",
				     f->user,	NULL };

	f->made_user = fixture_run(f, argv) == 0;
	if (!f->made_user)
		snprintf(f->user, sizeof f->user, "root");
}

const char *fixture_begin(struct fixture *f)
{
	memset(f, 0, sizeof *f);
	if (access(sshd_program, X_OK) != 0)
		return "openssh-server is not installed";
	snprintf(f->dir, sizeof f->dir, "/tmp/muster-sshd-XXXXXX");
	if (!mkdtemp(f->dir) || chmod(f->dir, 0711) != 0)
		die("mkdtemp");
	fixture_write(fixture_path(f, "authorized_keys"), "");
	chmod(fixture_path(f, "authorized_keys"), 0644);
	if (getuid() == 0) {
		if (mkdir("/run/sshd", 0755) != 0 && errno != EEXIST)
			die("/run/sshd");
		make_user(f);
	} else {
		const struct passwd *pw = getpwuid(getuid());

		snprintf(f->user, sizeof f->user, "%s", pw ? pw->pw_name : "nobody");
	}
	return NULL;
}

void fixture_end(struct fixture *f)
{
	if (f->agent > 0) {
		kill(f->agent, SIGTERM);
		wait_for(f->agent);
	}
	if (f->made_user) {
		const char *const del[] = { "userdel", "-f", f->user, NULL };

		fixture_run(f, del);
	}
	if (f->dir[0]) {
		const char *const rm[] = { "rm", "-rf", f->dir, NULL };
		pid_t pid = start(rm, "/dev/null");

		if (pid > 0)
			wait_for(pid);
	}
	f->dir[0] = '\0';
}

/* ---- keys and the agent -------------------------------------------------------------------------
 */

const char *fixture_key(struct fixture *f, const char *name, const char *type,
			const char *passphrase, const char *const *extra)
{
	const char *path = fixture_path(f, name);
	const char *argv[24] = { "ssh-keygen", "-q", "-t", type, "-N",
				 passphrase,   "-C", name, "-f", path };
	int n = 10;

	if (strcmp(type, "rsa") == 0) {
		argv[n++] = "-b";
		argv[n++] = "2048";
	}
	for (; extra && *extra && n < 23; extra++)
		argv[n++] = *extra;
	if (fixture_run(f, argv) != 0)
		die("ssh-keygen");
	return path;
}

void fixture_authorize(struct fixture *f, const char *key_path)
{
	char pub[1100], line[1100];

	snprintf(pub, sizeof pub, "%s.pub", key_path);
	snprintf(line, sizeof line, "%s\n", fixture_line(pub));
	fixture_append(fixture_path(f, "authorized_keys"), line);
}

static bool answers(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	bool ok = connect(fd, (const struct sockaddr *)&a, sizeof a) == 0;
	close(fd);
	return ok;
}

void fixture_agent_start(struct fixture *f)
{
	snprintf(f->agent_socket, sizeof f->agent_socket, "%s/agent", f->dir);
	const char *const argv[] = { "timeout", "600",		 "ssh-agent", "-D",
				     "-a",	f->agent_socket, NULL };

	f->agent = start(argv, fixture_path(f, "log"));
	for (int i = 0; i < 500 && access(f->agent_socket, F_OK) != 0; i++)
		usleep(10000);
	if (access(f->agent_socket, F_OK) != 0)
		die("ssh-agent");
}

int fixture_agent_add(struct fixture *f, const char *key_path)
{
	const char *const argv[] = { "ssh-add", "-q", key_path, NULL };

	setenv("SSH_AUTH_SOCK", f->agent_socket, 1);
	return fixture_run(f, argv);
}

/* ---- sshd ------------------------------------------------------------------------------------- */

static int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (const struct sockaddr *)&a, sizeof a) != 0 ||
	    getsockname(fd, (struct sockaddr *)&a, &n) != 0)
		die("bind");
	close(fd);
	return ntohs(a.sin_port);
}

static void launch(struct sshd *s)
{
	char config[192];

	snprintf(config, sizeof config, "%s/%s.conf", s->f->dir, s->name);
	/* -D: our child, ended by pid; it also ends with a test that aborts. */
	const char *const argv[] = { "setpriv", "--pdeathsig", "KILL", sshd_program, "-D",
				     "-e",	"-f",	       config, NULL };

	s->pid = start(argv, s->log);
	for (int i = 0; i < 500 && !answers(s->port); i++) {
		if (waitpid(s->pid, NULL, WNOHANG) == s->pid)
			die(fixture_line(s->log));
		usleep(10000);
	}
	if (!answers(s->port))
		die("sshd does not listen");
}

void sshd_start(struct fixture *f, struct sshd *s, const char *name, const char *host_key,
		const char *config)
{
	char text[4096], key[64];

	memset(s, 0, sizeof *s);
	s->f = f;
	s->port = free_port();
	snprintf(s->name, sizeof s->name, "%s", name);
	snprintf(key, sizeof key, "%s.host_key", name);
	snprintf(s->log, sizeof s->log, "%s/%s.log", f->dir, name);
	fixture_key(f, key, host_key, "", NULL);
	snprintf(s->host_pub, sizeof s->host_pub, "%s/%s.pub", f->dir, key);
	snprintf(
		text, sizeof text,
		"Port %d\nListenAddress 127.0.0.1\nHostKey %s/%s\nPidFile none\nUsePAM no\nStrictModes no\n"
		"AuthorizedKeysFile %s/authorized_keys\nPermitRootLogin yes\nPasswordAuthentication no\n"
		"KbdInteractiveAuthentication no\nMaxStartups 1000\nMaxSessions 50\nPrintMotd no\n"
		"LogLevel INFO\nUseDNS no\n%s\n",
		s->port, f->dir, key, f->dir, config);
	char path[192];
	snprintf(path, sizeof path, "%s/%s.conf", f->dir, name);
	fixture_write(path, text);
	launch(s);
}

void sshd_restart(struct sshd *s)
{
	launch(s);
}

/* Sessions are children of the server, in sessions (setsid) of their own: found by walking
 * /proc/PID/task/.../children. */
static void kill_tree(pid_t pid)
{
	char path[64], text[4096];

	kill(pid, SIGSTOP);
	snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", (long)pid, (long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	for (char *p = text, *end; (end = strchr(p, ' ')) != NULL; p = end + 1)
		kill_tree((pid_t)strtol(p, NULL, 10));
	kill(pid, SIGKILL);
}

void sshd_stop(struct sshd *s)
{
	if (s->pid <= 0)
		return;
	kill_tree(s->pid);
	wait_for(s->pid);
	s->pid = 0;
}

const char *sshd_known_line(const struct sshd *s)
{
	char *p = ring();

	snprintf(p, 1024, "[127.0.0.1]:%d %.900s\n", s->port, fixture_line(s->host_pub));
	return p;
}
