/* SPDX-License-Identifier: Apache-2.0 */
/* net/ssh.h against a real OpenSSH server and a real ssh-agent: keys, host keys, jumps, commands,
 * silence, many at once. */
#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <libssh2.h>

#include "net/bcrypt.h"
#include "net/keyfile.h"
#include "net/net.h"
#include "tests/support/sshd_fixture.h"

static struct fixture F;
static struct sshd S;
static struct arena *A;
static const char *no_sshd, *plain_key;

#define NEED_SSHD()                                     \
	do {                                            \
		if (no_sshd) {                          \
			print_message("%s\n", no_sshd); \
			skip();                         \
		}                                       \
	} while (0)

static void run(task_fn *fn, void *arg)
{
	struct err e;

	assert_int_equal(loop_run(fn, arg, NULL, &e), 0);
}

static struct ssh_target to(const struct sshd *s, const char *key)
{
	struct ssh_target t = { .host = "127.0.0.1", .port = s->port, .user = F.user };

	t.no_agent = true;
	if (key)
		VEC_ADD(A, &t.identities) = key;
	VEC_ADD(A, &t.host_keys) = arena_strdup(A, fixture_line(s->host_pub));
	return t;
}

static int cmd(struct ssh *s, struct arena *a, struct ssh_command c, struct ssh_result *r,
	       struct err *e)
{
	return ssh_exec(s, a, &c, r, e);
}

static void expect_in(const struct ssh_target *t, const char *what)
{
	struct ssh_result r;
	struct ssh *s = NULL;
	struct err e = { 0 };

	if (ssh_open(t, &s, &e) != 0)
		fail_msg("%s: %s (%s)", what, e.msg, e.hint);
	if (cmd(s, A, (struct ssh_command){ "echo ok", STR_NONE, 0, deadline_in(10000) }, &r, &e) !=
	    0)
		fail_msg("%s: %s", what, e.msg);
	assert_string_equal(r.out.p, "ok\n");
	ssh_close(s);
}

static void expect_out(const struct ssh_target *t, enum err_kind kind, const char *msg,
		       const char *hint)
{
	struct ssh *s = NULL;
	struct err e = { 0 };

	assert_int_equal(ssh_open(t, &s, &e), -1);
	if (e.kind != kind || !strstr(e.msg, msg) || !strstr(e.hint, hint))
		fail_msg("%s: \"%s\" (%s), not \"%s\" (%s)", err_kind_name(e.kind), e.msg, e.hint,
			 msg, hint);
}

/* ---- keys ------------------------------------------------------------------------------------- */

struct key_case {
	const char *name, *type, *passphrase;
	const char *extra[5];
};

static const struct key_case key_cases[] = {
	{ "k-ed25519", "ed25519", "", { 0 } },
	{ "k-ecdsa256", "ecdsa", "", { "-b", "256" } },
	{ "k-ecdsa384", "ecdsa", "", { "-b", "384" } },
	{ "k-ecdsa521", "ecdsa", "", { "-b", "521" } },
	{ "k-rsa", "rsa", "", { 0 } },
	{ "k-rsa-pem", "rsa", "", { "-m", "PEM" } },
	{ "k-rsa-pkcs8", "rsa", "", { "-m", "PKCS8" } },
	{ "k-ecdsa-pem", "ecdsa", "", { "-m", "PEM" } },
	{ "k-ed25519-pass", "ed25519", "se cret", { "-a", "2" } },
	{ "k-ecdsa-pass", "ecdsa", "secret", { "-a", "2" } },
	{ "k-rsa-pass", "rsa", "secret", { "-a", "2" } },
	{ "k-rsa-16rounds", "rsa", "secret", { 0 } },
	{ "k-ed-cbc", "ed25519", "secret", { "-a", "1", "-Z", "aes256-cbc" } },
	{ "k-ed-ctr128", "ed25519", "secret", { "-a", "3", "-Z", "aes128-ctr" } },
	{ "k-rsa-pem-pass", "rsa", "secret", { "-m", "PEM" } },
	{ "k-rsa-pkcs8-pass", "rsa", "secret", { "-m", "PKCS8" } },
};

static void files_main(void *arg)
{
	(void)arg;
	for (size_t i = 0; i < ARRAY_LEN(key_cases); i++) {
		const struct key_case *k = &key_cases[i];
		const char *path =
			arena_strdup(A, fixture_key(&F, k->name, k->type, k->passphrase, k->extra));

		fixture_authorize(&F, path);
		struct ssh_target t = to(&S, path);
		t.passphrase = str_of(k->passphrase);
		expect_in(&t, k->name);
		if (k->passphrase[0] == '\0')
			continue;
		t.passphrase = STR("wrong");
		expect_out(&t, ERR_AUTH, "wrong passphrase", "passphrase");
		t.passphrase = STR_NONE;
		expect_out(&t, ERR_AUTH, "encrypted", "ssh-add");
	}
}

static void test_key_files(void **state)
{
	(void)state;
	NEED_SSHD();
	run(files_main, NULL);
	ssh_keys_forget();
}

static const char *key_at(const char *name, const char *type, const char *a, const char *b)
{
	const char *extra[] = { "-a", "1", a, b, NULL };

	return arena_strdup(A, fixture_key(&F, name, type, a ? "secret" : "", a ? extra : NULL));
}

static void refused_main(void *arg)
{
	struct ssh_target t = to(&S, key_at("k-gcm", "ed25519", "-Z", "aes256-gcm@openssh.com"));

	(void)arg;
	t.passphrase = STR("secret");
	expect_out(&t, ERR_AUTH, "aes256-gcm@openssh.com", "ssh-keygen -p -Z aes256-ctr");
	t = to(&S, key_at("k-chacha", "ed25519", "-Z", "chacha20-poly1305@openssh.com"));
	t.passphrase = STR("secret");
	expect_out(&t, ERR_AUTH, "chacha20", "ssh-keygen -p -Z aes256-ctr");
	t = to(&S, arena_strdup(A, fixture_path(&F, "absent")));
	expect_out(&t, ERR_AUTH, "absent: No such file", "");
	t = to(&S, arena_printf(A, "%s.pub", plain_key));
	expect_out(&t, ERR_AUTH, "not a private key", ".pub");
	fixture_write(
		fixture_path(&F, "damaged"),
		"-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEA\n-----END OPENSSH PRIVATE KEY-----\n");
	t = to(&S, arena_strdup(A, fixture_path(&F, "damaged")));
	expect_out(&t, ERR_AUTH, "damaged", "");
	t = to(&S,
	       key_at("k-stranger", "ed25519", NULL, NULL)); /* a good key that nobody authorized */
	expect_out(&t, ERR_AUTH, "tried", "authorized_keys");
	const char *shown = key_at("k-shown", "ed25519", NULL, NULL);
	fixture_authorize(&F, shown);
	t = to(&S, shown);
	expect_in(&t, "not yet shown");
	assert_int_equal(chmod(shown, 0640), 0); /* also when it is kept already */
	expect_out(&t, ERR_AUTH, "can be read by others", "chmod 600");
	t = to(&S, NULL);
	expect_out(&t, ERR_AUTH, "no key and no agent", "ssh-add");
	t = to(&S, plain_key);
	t.user = "nosuchuser";
	expect_out(&t, ERR_AUTH, "nosuchuser", "user name");
}

static void test_refused_keys(void **state)
{
	(void)state;
	NEED_SSHD();
	run(refused_main, NULL);
}

/* Every cut and many flips of a key file: an error or a key, never a crash. */
static void fuzz_main(void *arg)
{
	const char *path = arena_strdup(A, fixture_path(&F, "cut"));
	struct str text;
	struct err e;

	assert_int_equal(fs_read(A, arg, 10000, &text, &e), 0);
	for (size_t i = 0; i < text.n; i += 3) {
		struct ssh_key *k = NULL;
		char *bad = arena_dup(A, text.p, text.n);

		bad[i] = (char)(bad[i] ^ 1);
		assert_int_equal(
			fs_write_atomic(path, (struct str){ bad, i % 2 ? i : text.n }, 0600, &e),
			0);
		if (ssh_key_load(path, STR("x"), deadline_in(10000), &k, &e) == 0)
			ssh_key_free(k);
	}
	ssh_keys_forget();
}

static void test_damaged_key_files(void **state)
{
	(void)state;
	NEED_SSHD();
	run(fuzz_main, (void *)(uintptr_t)plain_key);
}

/* The vector that is published with bcrypt_pbkdf. */
static void test_bcrypt(void **state)
{
	static const uint8_t want[32] = { 0x5b, 0xbf, 0x0c, 0xc2, 0x93, 0x58, 0x7f, 0x1c,
					  0x36, 0x35, 0x55, 0x5c, 0x27, 0x79, 0x65, 0x98,
					  0xd4, 0x7e, 0x57, 0x90, 0x71, 0xbf, 0x42, 0x7e,
					  0x9d, 0x8f, 0xbe, 0x84, 0x2a, 0xba, 0x34, 0xd9 };
	struct bcrypt_in in = { STR("password"), STR("salt"), 4 };
	uint8_t got[32];

	(void)state;
	assert_true(bcrypt_pbkdf(&in, got, sizeof got));
	assert_memory_equal(got, want, sizeof got);
	in.rounds = 0;
	assert_false(bcrypt_pbkdf(&in, got, sizeof got));
}

/* ---- agent ------------------------------------------------------------------------------------ */

static void agent_main(void *arg)
{
	static const char *const types[] = { "ed25519", "ecdsa", "rsa" };
	struct ssh_target t;

	(void)arg;
	fixture_agent_start(&F);
	t = to(&S, NULL);
	t.no_agent = false;
	t.agent = F.agent_socket;
	expect_out(&t, ERR_AUTH, "ssh-agent: has no keys", "ssh-add");
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		char name[32];

		snprintf(name, sizeof name, "agent-%s", types[i]);
		const char *path = arena_strdup(A, fixture_key(&F, name, types[i], "", NULL));
		const char *clear[] = { "ssh-add", "-q", "-D", NULL };
		fixture_authorize(&F, path);
		assert_int_equal(fixture_agent_add(&F, path), 0);
		t = to(&S, NULL);
		t.no_agent = false;
		t.agent = F.agent_socket;
		expect_in(&t, name);
		/* identities_only: the agent's key must be one of the named files (its .pub is
		 * enough) */
		unlink(path);
		VEC_ADD(A, &t.identities) = path;
		t.identities_only = true;
		expect_in(&t, name);
		t.identities.v[0] = plain_key;
		expect_in(&t, "the file, not the agent");
		t.identities.n = 0;
		expect_out(&t, ERR_AUTH, "nothing", "");
		fixture_run(&F, clear);
	}
	t = to(&S, plain_key);
	t.no_agent = false;
	t.agent = "/nonexistent/agent";
	expect_in(&t, "no agent there: the file");
	t.identities.n = 0;
	expect_out(&t, ERR_AUTH, "ssh-agent: no answer", "");
}

static void test_agent(void **state)
{
	(void)state;
	NEED_SSHD();
	run(agent_main, NULL);
}

/* ---- host keys -------------------------------------------------------------------------------- */

static struct ssh_target by_known_hosts(const char *file)
{
	struct ssh_target t = to(&S, plain_key);

	t.host_keys.n = 0;
	VEC_ADD(A, &t.known_hosts) = file;
	return t;
}

static void host_keys_main(void *arg)
{
	const char *file = arena_strdup(A, fixture_path(&F, "known_hosts"));
	struct ssh_target t = by_known_hosts(file);

	(void)arg;
	expect_out(&t, ERR_AUTH, "is not known: it shows ssh-ed25519 SHA256:", "accept-new");
	t.strict = SSH_STRICT_ACCEPT_NEW;
	expect_in(&t, "accepted");
	t.strict = SSH_STRICT_YES;
	expect_in(&t, "known now");
	const char *other = fixture_key(&F, "other-host", "ed25519", "", NULL);
	const char *pub = arena_printf(A, "%s.pub", other);
	fixture_write(file,
		      arena_printf(A, "# one\n[127.0.0.1]:%d %s\n", S.port, fixture_line(pub)));
	expect_out(&t, ERR_AUTH, arena_printf(A, "%s:2 has ssh-ed25519 SHA256:", file),
		   "ssh-keygen -R '[127.0.0.1]:");
	t.strict = SSH_STRICT_ACCEPT_NEW;
	expect_out(&t, ERR_AUTH, "has changed", "rebuilt");
	t.strict = SSH_STRICT_NO;
	expect_in(&t, "unchecked");
	t.strict = SSH_STRICT_YES;
	fixture_write(file, arena_printf(A, "@revoked * %s\n%s", fixture_line(S.host_pub),
					 sshd_known_line(&S)));
	expect_out(&t, ERR_AUTH, "is revoked by", "new key");
	fixture_write(file, arena_printf(A, "@cert-authority * %s\n", fixture_line(S.host_pub)));
	expect_out(&t, ERR_AUTH, "certificate", "plain key");
	fixture_write(file, arena_printf(A, "alias %s\n", fixture_line(S.host_pub)));
	t.host_key_alias = "alias";
	expect_in(&t, "alias");
	t = to(&S, plain_key);
	t.host_keys.v[0] = arena_strdup(A, fixture_line(pub));
	expect_out(&t, ERR_AUTH, "pinned", "pinned");
	t.strict = SSH_STRICT_NO; /* of ssh_config: what the spec pins stays pinned */
	expect_out(&t, ERR_AUTH, "pinned", "pinned");
}

/* A revoked key counts for nothing: not pinned, not unchecked; and a list that is not there may
 * hold any key. */
static void revoked_main(void *arg)
{
	const char *file = arena_strdup(A, fixture_path(&F, "revoked"));
	struct ssh_target t = to(&S, plain_key);

	(void)arg;
	VEC_ADD(A, &t.revoked) = file;
	expect_out(&t, ERR_AUTH, "revoked", "RevokedHostKeys");
	fixture_write(file, "SSHKRL\n");
	expect_out(&t, ERR_AUTH, "revoked:1: not a public key", "KRL");
	fixture_write(file, "# none\n");
	expect_in(&t, "none revoked");
	fixture_write(file, arena_printf(A, "# one\n%s\n", fixture_line(S.host_pub)));
	expect_out(&t, ERR_AUTH, "is revoked by", "new key");
	t.host_keys.n = 0;
	t.strict = SSH_STRICT_NO;
	expect_out(&t, ERR_AUTH, "is revoked by", "new key");
}

static void test_revoked_keys(void **state)
{
	(void)state;
	NEED_SSHD();
	run(revoked_main, NULL);
}

static void test_host_keys(void **state)
{
	(void)state;
	NEED_SSHD();
	run(host_keys_main, NULL);
}

static struct sshd both, rsa_only;

/* A server with two host keys, of which the second in the library's own order is the known one. */
static void two_keys_main(void *arg)
{
	const char *file = arena_strdup(A, fixture_path(&F, "known_two"));
	struct ssh_target t = to(&both, plain_key);

	t.host_keys.n = 0;
	VEC_ADD(A, &t.known_hosts) = file;
	fixture_write(file, arena_printf(A, "[127.0.0.1]:%d %s\n", both.port, fixture_line(arg)));
	expect_in(&t, "the known type was asked for");
}

static void rsa_only_main(void *arg)
{
	struct ssh_target t = to(&rsa_only, plain_key);

	(void)arg;
	if (libssh2_version(0x010b00))
		expect_in(&t, "rsa host key");
	else
		expect_out(&t, ERR_AUTH, "rsa-sha2-512", "ssh-keygen -A");
}

static void test_host_key_types(void **state)
{
	(void)state;
	NEED_SSHD();
	const char *second = arena_strdup(A, fixture_key(&F, "second.host_key", "ecdsa", "", NULL));
	sshd_start(&F, &both, "both", "ed25519", arena_printf(A, "HostKey %s", second));
	run(two_keys_main, arena_printf(A, "%s.pub", second));
	sshd_stop(&both);
	sshd_start(&F, &rsa_only, "rsaonly", "rsa", "");
	run(rsa_only_main, NULL);
	sshd_stop(&rsa_only);
}

/* ---- commands --------------------------------------------------------------------------------- */

static void exec_main(void *arg)
{
	struct ssh_target t = to(&S, plain_key);
	struct ssh_result r;
	struct ssh *s = NULL;
	struct err e = { 0 };
	size_t n = (size_t)3 << 20;
	char *in = arena_alloc(A, n);

	(void)arg;
	for (size_t i = 0; i < n; i++)
		in[i] = (char)(i * 7 >> 2);
	assert_int_equal(ssh_open(&t, &s, &e), 0);
	assert_int_equal(cmd(s, A,
			     (struct ssh_command){ "echo out; echo err >&2; exit 3", STR_NONE, 0,
						   deadline_in(5000) },
			     &r, &e),
			 0);
	assert_int_equal(r.status, 3);
	assert_string_equal(r.out.p, "out\n");
	assert_string_equal(r.err.p, "err\n");
	assert_int_equal(
		cmd(s, A, (struct ssh_command){ "kill -TERM $$", STR_NONE, 0, deadline_in(5000) },
		    &r, &e),
		0);
	assert_int_equal(r.status, 128 + SIGTERM);
	/* big in and big out at once, on both streams */
	assert_int_equal(cmd(s, A,
			     (struct ssh_command){ "tee /dev/stderr", (struct str){ in, n }, 0,
						   deadline_in(30000) },
			     &r, &e),
			 0);
	assert_int_equal(r.out.n, n);
	assert_memory_equal(r.out.p, in, n);
	assert_int_equal(r.err.n, n);
	assert_memory_equal(r.err.p, in, n);
	assert_int_equal(
		cmd(s, A,
		    (struct ssh_command){ "cat", (struct str){ in, n }, 1000, deadline_in(30000) },
		    &r, &e),
		0);
	assert_true(r.truncated);
	assert_int_equal(r.out.n, 1000);
	assert_int_equal(
		cmd(s, A,
		    (struct ssh_command){ "true", (struct str){ in, n }, 0, deadline_in(30000) },
		    &r, &e),
		0);
	assert_int_equal(r.status, 0); /* it did not read its input */
	int64_t began = clock_now();
	assert_int_equal(cmd(s, A,
			     (struct ssh_command){ "sleep 30", STR_NONE, 0, deadline_in(200) }, &r,
			     &e),
			 -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(
		cmd(s, A, (struct ssh_command){ "true", STR_NONE, 0, deadline_in(5000) }, &r, &e),
		-1);
	assert_int_equal(e.kind, ERR_IO); /* the session is used up */
	ssh_close(s);
	assert_true(clock_now() - began < 15000);
}

static void test_exec(void **state)
{
	(void)state;
	NEED_SSHD();
	run(exec_main, NULL);
}

/* ---- jump hosts -------------------------------------------------------------------------------- */

static struct sshd J1, J2;

static void jump_main(void *arg)
{
	struct ssh_target one = to(&J1, plain_key), two = to(&J2, plain_key),
			  last = to(&S, plain_key);
	struct ssh_result r;
	struct ssh *s = NULL;
	struct err e = { 0 };
	size_t n = (size_t)1 << 20;
	char *in = arena_alloc(A, n);

	(void)arg;
	two.jump = &one;
	last.jump = &two;
	expect_in(&last, "two jumps");
	assert_int_equal(ssh_open(&last, &s, &e), 0);
	memset(in, 'x', n);
	if (cmd(s, A, (struct ssh_command){ "cat", (struct str){ in, n }, 0, deadline_in(10000) },
		&r, &e) != 0)
		fail_msg("%s", e.msg);
	assert_int_equal(r.out.n, n);
	ssh_close(s);
	last.port = 1;
	expect_out(&last, ERR_IO, "cannot reach 127.0.0.1 port 1", "AllowTcpForwarding");
	last.port = S.port;
	one.host_keys.v[0] = last.host_keys.v[0];
	expect_out(&last, ERR_AUTH,
		   "jump host: jump host: ", ""); /* jump hosts are checked as well */
}

static void test_jump(void **state)
{
	(void)state;
	NEED_SSHD();
	sshd_start(&F, &J1, "jump1", "ed25519", "");
	sshd_start(&F, &J2, "jump2", "ecdsa", "");
	run(jump_main, NULL);
	sshd_stop(&J1);
	sshd_stop(&J2);
}

/* ---- network namespaces ------------------------------------------------------------------------ */

static struct sshd N;

static void netns_main(void *arg)
{
	struct ssh_target t = to(&N, plain_key);
	struct ssh *s = NULL;
	struct err e = { 0 };

	assert_int_equal(ssh_open(&t, &s, &e), -1); /* nobody listens out here */
	assert_int_equal(e.kind, ERR_IO);
	t.netns = arg;
	for (int i = 0; i < 200 && ssh_open(&t, &s, &e) != 0; i++)
		assert_int_equal(task_sleep(20, &e), 0);
	if (!s)
		fail_msg("%s", e.msg);
	ssh_close(s);
	expect_in(&t, "in the namespace");
	t.netns = "/nonexistent";
	expect_out(&t, ERR_IO, "network namespace /nonexistent", "");
	t.netns = NULL;
	expect_out(&t, ERR_IO, "Connection refused", ""); /* the pool's threads came home */
}

static void test_netns(void **state)
{
	(void)state;
	NEED_SSHD();
	if (getuid() != 0) {
		print_message("needs root, to make a network namespace\n");
		skip();
	}
	sshd_start(&F, &N, "netns", "ed25519", "");
	sshd_stop(&N);
	const char *const argv[] = { "unshare",
				     "-n",
				     "sh",
				     "-c",
				     "ip link set lo up && exec /usr/sbin/sshd -D -e -f \"$0\"",
				     fixture_path(&F, "netns.conf"),
				     NULL };
	struct err e;
	pid_t pid;

	assert_int_equal(proc_daemon(argv, N.log, &pid, &e), 0);
	run(netns_main, arena_printf(A, "/proc/%ld/ns/net", (long)pid));
	kill(pid, SIGKILL);
}

/* ---- silence and refusals
 * ------------------------------------------------------------------------ */

static int listener(int *port)
{
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t n = sizeof a;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(bind(fd, (const struct sockaddr *)&a, sizeof a), 0);
	assert_int_equal(listen(fd, 8), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	*port = ntohs(a.sin_port);
	return fd;
}

/* Accepts one connection, sends text, and keeps or closes it. */
struct fake {
	int fd;
	const char *text;
	bool close;
	int got;
};

static void fake_server(void *arg)
{
	struct fake *f = arg;
	struct err e;

	if (task_wait_fd(f->fd, FD_READ, deadline_in(5000), &e) != 0)
		return;
	f->got = accept(f->fd, NULL, NULL);
	if (write(f->got, f->text, strlen(f->text)) < 0 || f->close)
		close_fd(&f->got);
}

static void against(const char *text, bool close_it, enum err_kind kind, const char *msg)
{
	struct ssh_target t = { .host = "127.0.0.1", .user = "u", .connect_ms = 300 };
	struct fake f = { .text = text, .close = close_it, .got = -1 };
	struct group g;
	struct err e;

	f.fd = listener(&t.port);
	group_init(&g);
	task_spawn(&g, "fake", fake_server, &f);
	int64_t began = clock_now();
	expect_out(&t, kind, msg, "");
	assert_true(clock_now() - began < 15000);
	assert_int_equal(group_wait(&g, &e), 0);
	close_fd(&f.got);
	close_fd(&f.fd);
}

static void refusals_main(void *arg)
{
	struct ssh_target t = { .host = "127.0.0.1", .user = "u", .connect_ms = 300 };
	struct err e;
	struct ssh *s;

	(void)arg;
	int fd = listener(&t.port);
	close(fd);
	expect_out(&t, ERR_IO, "Connection refused", "sshd runs");
	t.host = "no-such-host.invalid";
	t.connect_ms = 5000;
	assert_int_equal(ssh_open(&t, &s, &e), -1);
	assert_non_null(strstr(e.msg, "cannot resolve no-such-host.invalid"));
	against("", false, ERR_TIMEOUT, "no SSH banner");
	against("SSH-2.0-silent\r\n", false, ERR_TIMEOUT, "SSH key exchange");
	against("", true, ERR_IO, "closed the connection before its SSH banner");
	against("HTTP/1.1 400 Bad Request\r\n\r\n", true, ERR_IO,
		"closed the connection before its SSH banner");
	against("SSH-2.0-x\r\n\x00\x00\x00\x0c\x0a\x14garbage-garbage", true, ERR_IO, "");
}

static void test_refusals(void **state)
{
	(void)state;
	run(refusals_main, NULL);
}

static void keepalive_main(void *arg)
{
	struct ssh_target t = to(&S, plain_key);
	struct ssh_result r;
	struct ssh *s = NULL;
	struct err e = { 0 };
	struct proc_result pr;
	const char *const find[] = { "pgrep", "-P", arena_printf(A, "%ld", (long)S.pid), NULL };

	(void)arg;
	t.keepalive_ms = 1000;
	assert_int_equal(ssh_open(&t, &s, &e), 0);
	int64_t began = clock_now();
	/* a live server answers: silence of the command is no reason to give up */
	assert_int_equal(cmd(s, A,
			     (struct ssh_command){ "sleep 4", STR_NONE, 0, deadline_in(20000) }, &r,
			     &e),
			 0);
	assert_true(clock_now() - began >= 4000);
	/* nor is it that nobody has asked it for long */
	assert_int_equal(task_sleep(4000, &e), 0);
	assert_int_equal(cmd(s, A,
			     (struct ssh_command){ "sleep 0.1", STR_NONE, 0, deadline_in(20000) },
			     &r, &e),
			 0);
	assert_int_equal(proc_run(A, find, NULL, &pr, &e), 0);
	struct str rest = pr.out, line;
	int64_t pid;
	while (str_next_line(&rest, &line))
		if (str_to_int(line, &pid)) {
			const char *const kids[] = { "pgrep", "-P",
						     arena_printf(A, "%ld", (long)pid), NULL };
			kill((pid_t)pid, SIGSTOP);
			if (proc_run(A, kids, NULL, &pr, &e) == 0 &&
			    str_to_int(str_trim(pr.out), &pid))
				kill((pid_t)pid, SIGSTOP); /* the unprivileged half talks */
		}
	began = clock_now();
	assert_int_equal(
		cmd(s, A, (struct ssh_command){ "true", STR_NONE, 0, deadline_in(20000) }, &r, &e),
		-1);
	assert_int_equal(e.kind, ERR_IO);
	assert_non_null(strstr(e.msg, "silent"));
	assert_in_range(clock_now() - began, 2000, 30000);
	ssh_close(s);
}

static void test_keepalive(void **state)
{
	(void)state;
	NEED_SSHD();
	run(keepalive_main, NULL);
	sshd_stop(&S);
	sshd_restart(&S);
}

/* ---- many ------------------------------------------------------------------------------------- */

struct many {
	struct ssh_target t;
	struct task_event *go;
	int *ok, *open;
};

static void one_of_many(void *arg)
{
	struct many *m = arg;
	struct arena *a = arena_new("one");
	struct ssh_result r;
	struct ssh *s = NULL;
	struct err e = { 0 };

	if (ssh_open(&m->t, &s, &e) != 0)
		fail_msg("%s", e.msg);
	++*m->open;
	if (task_event_wait(m->go, deadline_in(60000), &e) != 0)
		fail_msg("%s", e.msg);
	if (cmd(s, a, (struct ssh_command){ "echo ok", STR_NONE, 0, deadline_in(60000) }, &r, &e) !=
	    0)
		fail_msg("%s", e.msg);
	*m->ok += strcmp(r.out.p, "ok\n") == 0 && r.status == 0;
	ssh_close(s);
	arena_free(a);
}

static double cpu_ms(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * 1e3 +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e3;
}

enum { MANY = 200 };

static void many_main(void *arg)
{
	static struct many m[MANY];
	struct task_event go = { 0 };
	struct group g;
	struct err e;
	int ok = 0, open = 0;
	double before = cpu_ms();
	int64_t began = clock_now();

	(void)arg;
	group_init(&g);
	for (int i = 0; i < MANY; i++) {
		m[i] = (struct many){ to(&S, plain_key), &go, &ok, &open };
		m[i].t.connect_ms = 60000;
		task_spawn(&g, "many", one_of_many, &m[i]);
	}
	while (open < MANY && clock_now() - began < 60000)
		assert_int_equal(task_sleep(20, &e), 0);
	assert_int_equal(open, MANY); /* all at the same time */
	task_event_set(&go);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(ok, MANY);
	print_message("%d sessions at once: %lld ms, our CPU %.2f ms each\n", MANY,
		      (long long)(clock_now() - began), (cpu_ms() - before) / MANY);
}

static void test_many(void **state)
{
	(void)state;
	NEED_SSHD();
	run(many_main, NULL);
}

static void cancel_one(void *arg)
{
	struct ssh_target t = to(&S, plain_key);
	struct ssh_result r;
	struct ssh *s = NULL;
	struct err e = { 0 };

	if (ssh_open(&t, &s, &e) == 0) {
		assert_int_equal(
			cmd(s, A,
			    (struct ssh_command){ "sleep 30", STR_NONE, 0, deadline_in(60000) }, &r,
			    &e),
			-1);
		ssh_close(s);
	}
	assert_int_equal(e.kind, ERR_CANCELLED);
	++*(int *)arg;
}

/* ^C at any point of a login or a command: everything ends at once and nothing leaks (ASan). */
static void cancel_main(void *arg)
{
	int ended = 0;

	(void)arg;
	for (int ms = 0; ms < 60; ms += 3) {
		struct group g;
		struct err e;
		int64_t began = clock_now();

		group_init(&g);
		task_spawn(&g, "cancelled", cancel_one, &ended);
		assert_int_equal(task_sleep(ms, &e), 0);
		group_cancel(&g);
		assert_int_equal(group_wait(&g, &e), 0);
		assert_true(clock_now() - began < 15000);
	}
	assert_int_equal(ended, 20);
}

static void test_cancel(void **state)
{
	(void)state;
	NEED_SSHD();
	run(cancel_main, NULL);
}

static int setup(void **state)
{
	(void)state;
	A = arena_new("test");
	no_sshd = fixture_begin(&F);
	if (no_sshd)
		return 0;
	plain_key = arena_strdup(A, fixture_key(&F, "plain", "ed25519", "", NULL));
	fixture_authorize(&F, plain_key);
	sshd_start(&F, &S, "main", "ed25519", "");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	sshd_stop(&S);
	fixture_end(&F);
	ssh_keys_forget();
	arena_free(A);
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_key_files),
		cmocka_unit_test(test_refused_keys),
		cmocka_unit_test(test_damaged_key_files),
		cmocka_unit_test(test_bcrypt),
		cmocka_unit_test(test_agent),
		cmocka_unit_test(test_host_keys),
		cmocka_unit_test(test_revoked_keys),
		cmocka_unit_test(test_host_key_types),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_jump),
		cmocka_unit_test(test_netns),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_keepalive),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_cancel),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests(tests, setup, teardown);
}
