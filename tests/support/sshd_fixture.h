/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/support/sshd_fixture.h - a real OpenSSH server on 127.0.0.1 for a test, with keys of its
 * own, and an ssh-agent.
 *
 * Everything lives in one temporary folder (fixture_begin) and is gone after fixture_end; processes
 * are ended by pid. As root a throw-away user with /bin/sh is made to log in as, else the current
 * user is used. Functions fail the test on trouble.
 */
#ifndef MUSTER_TESTS_SSHD_FIXTURE_H
#define MUSTER_TESTS_SSHD_FIXTURE_H

#include <stdbool.h>
#include <sys/types.h>

struct fixture {
	char dir[64];
	char user[32];
	bool made_user;
	pid_t agent;
	char agent_socket[128];
};

/* NULL, or why there can be no sshd here (a test skips with that text). */
const char *fixture_begin(struct fixture *f);
void fixture_end(struct fixture *f);

/* Runs argv with its output to a log in the folder; gives the exit status. */
int fixture_run(struct fixture *f, const char *const *argv);
/* The file's path in the folder; result in a static ring of buffers. */
const char *fixture_path(struct fixture *f, const char *name);
void fixture_write(const char *path, const char *text);
/* Appended, made if needed. */
void fixture_append(const char *path, const char *text);
/* First line of a file, without the newline; static ring. */
const char *fixture_line(const char *path);

/* ssh-keygen: type ed25519, ecdsa, rsa; passphrase "" for none; extra: more arguments,
 * NULL-terminated, or NULL. Gives its path. */
const char *fixture_key(struct fixture *f, const char *name, const char *type,
			const char *passphrase, const char *const *extra);
void fixture_authorize(struct fixture *f,
		       const char *key_path); /* adds key_path.pub for every sshd of this folder */

void fixture_agent_start(struct fixture *f); /* sets f->agent_socket */
int fixture_agent_add(struct fixture *f, const char *key_path);

struct sshd {
	struct fixture *f;
	pid_t pid;
	int port;
	char name[32];
	char host_pub[192]; /* path of its public host key */
	char log[192];
};

/* name: unique in the fixture; host_key: type of its only host key; config: more lines for
 * sshd_config, or "". */
void sshd_start(struct fixture *f, struct sshd *s, const char *name, const char *host_key,
		const char *config);
void sshd_stop(struct sshd *s); /* the server and its sessions */
void sshd_restart(struct sshd *s);
/* known_hosts line "[127.0.0.1]:port type base64". */
const char *sshd_known_line(const struct sshd *s);

#endif
