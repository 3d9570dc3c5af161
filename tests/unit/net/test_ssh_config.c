/* SPDX-License-Identifier: Apache-2.0 */
/* ssh_config as data: a file, a host, what comes out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/net.h"

static struct arena *A;
static char home[] = "/tmp/muster-test-sc-XXXXXX";

static const char *in_home(const char *name)
{
	return fs_join(A, home, name);
}

static void put(const char *name, const char *text)
{
	struct err e = { 0 };

	if (fs_mkdirs(fs_dirname(A, in_home(name)), 0700, &e) != 0 ||
	    fs_write_atomic(in_home(name), str_of(text), 0600, &e) != 0)
		fail_msg("%s", e.msg);
}

static int try(const char *config, struct ssh_target *t, struct err *e)
{
	put("config", config);
	return ssh_target_resolve(A, in_home("config"), t, e);
}

static struct ssh_target resolve(const char *config, const char *host)
{
	struct ssh_target t = { .host = host };
	struct err e = { 0 };

	if (try(config, &t, &e) != 0)
		fail_msg("%s: %s:%d %s", config, e.pos.file ? e.pos.file : "", e.pos.line, e.msg);
	return t;
}

/* "host user port" and the identities without the home folder. */
static const char *summary(const struct ssh_target *t)
{
	struct buf b;

	buf_init(&b, 10000);
	buf_addf(&b, "%s %s %d", t->host, t->user, t->port);
	for (size_t i = 0; i < t->identities.n; i++) {
		const char *p = t->identities.v[i];

		buf_addf(&b, " %s", strncmp(p, home, strlen(home)) == 0 ? p + strlen(home) : p);
	}
	const char *s = buf_dup(&b, A);
	buf_fini(&b);
	return s;
}

static void test_table(void **state)
{
	static const struct {
		const char *config, *host, *want;
	} cases[] = {
		{ "Host h\n User u\n Port 2200\n HostName 10.0.0.1\n", "h", "10.0.0.1 u 2200" },
		{ "Host h\n User u\n", "h", "h u 22" },
		{ "host=h\nUSER = u\n\tport=7\n", "h", "h u 7" },
		{ "Host \"h\"\nUser \"a b\"\n", "h", "h a b 22" },
		{ "User first\nHost h\nUser second\n", "h",
		  "h first 22" }, /* the first value wins */
		{ "Host x\nUser no\nHost h y\nUser yes\n", "h", "h yes 22" },
		{ "Host *.org !bad.org\nUser u\nHost *\nUser other\n", "good.org",
		  "good.org u 22" },
		{ "Host *.org !bad.org\nUser u\nHost *\nUser other\n", "bad.org",
		  "bad.org other 22" },
		{ "Host !h\nUser u\nHost *\nUser v\n", "x",
		  "x v 22" }, /* only negations match nothing */
		{ "Host n?\nUser u\nHost *\nUser v\n", "n12", "n12 v 22" },
		{ "# c\n\n  # d\nHost h # not a name\nUser u # nor this\n", "h", "h u 22" },
		{ "Host h\nUser u\nHostName %h.example.org\nIdentityFile ~/k_%h_%n_%r_%p_%%\n", "h",
		  "h.example.org u 22 /k_h.example.org_h_u_22_%" },
		{ "IdentityFile %d/a\nUser u\nHost h\nIdentityFile ~/b\n", "h",
		  "h u 22 /a /b" }, /* adds up */
		{ "IdentityFile none\nUser u\n", "h", "h u 22" },
		{ "Match host h\nUser u\nMatch all\nUser v\n", "h", "h u 22" },
		{ "Match host x,y\nUser u\nMatch all\nUser v\n", "h", "h v 22" },
		{ "HostName real\nMatch host real\nUser u\nMatch all\nUser v\n", "h", "real u 22" },
		{ "HostName real\nMatch originalhost h\nUser u\n", "h", "real u 22" },
		{ "User a\nMatch user a host h\nPort 9\n", "h", "h a 9" },
		{ "User a\nMatch user b host h\nPort 9\n", "h", "h a 22" },
		{ "User a\nMatch !host x\nPort 9\n", "h", "h a 9" },
		{ "User a\nMatch !host h\nPort 9\n", "h", "h a 22" },
		{ "User u\nCiphers aes128-ctr\nSendEnv LANG LC_*\nForwardAgent yes\n", "h",
		  "h u 22" },
		{ "User u\r\nPort 8\r\n", "h", "h u 8" },
		{ "Host h\nInclude inc*.conf\nHost *\nUser last\n", "h", "h inc 22" },
		{ "Host x\nInclude inc*.conf\nHost *\nUser last\n", "h",
		  "h last 22" }, /* Include is inside */
		{ "Include host.conf\nPort 5\nUser u\n", "h",
		  "h u 5" }, /* its Host ends with the file */
		{ "Include nothing-there*\nUser u\n", "h", "h u 22" },
		{ "Include \"~/.ssh/inc1.conf\" inc2.conf\nUser last\n", "h", "h inc 22" },
	};

	(void)state;
	put(".ssh/inc1.conf", "User inc\n");
	put(".ssh/inc2.conf", "User inc2\n");
	put(".ssh/host.conf", "Host other\nUser wrong\n");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ssh_target t = resolve(cases[i].config, cases[i].host);
		const char *got = summary(&t);

		if (strcmp(got, cases[i].want) != 0)
			fail_msg("case %zu:\n%s-> %s, not %s", i, cases[i].config, got,
				 cases[i].want);
	}
}

static void test_other_keys(void **state)
{
	struct ssh_target t = resolve(
		"IdentitiesOnly yes\nStrictHostKeyChecking accept-new\nHostKeyAlias %n.alias\n"
		"ConnectTimeout 7\nServerAliveInterval 1m\nUserKnownHostsFile ~/a \"%d/b c\"\n"
		"GlobalKnownHostsFile none\nIdentityAgent ~/agent\nHashKnownHosts yes\n"
		"RevokedHostKeys ~/revoked\nRevokedHostKeys later\n",
		"h");

	(void)state;
	assert_true(t.identities_only);
	assert_int_equal(t.strict, SSH_STRICT_ACCEPT_NEW);
	assert_string_equal(t.host_key_alias, "h.alias");
	assert_int_equal(t.connect_ms, 7000);
	assert_int_equal(t.keepalive_ms, 60000);
	assert_int_equal(t.known_hosts.n, 2);
	assert_string_equal(t.known_hosts.v[0], in_home("a"));
	assert_string_equal(t.known_hosts.v[1], in_home("b c"));
	assert_string_equal(t.agent, in_home("agent"));
	assert_true(t.hash_known_hosts);
	assert_int_equal(t.revoked.n, 1);
	assert_string_equal(t.revoked.v[0], in_home("revoked"));
	t = resolve("RevokedHostKeys none\nIdentityAgent none\nStrictHostKeyChecking ask\nUser u\n",
		    "h");
	assert_true(t.no_agent);
	assert_false(t.hash_known_hosts);
	assert_int_equal(t.revoked.n, 0);
	assert_int_equal(t.strict, SSH_STRICT_YES);
	assert_int_equal(t.known_hosts.n, 4); /* the defaults */
	assert_string_equal(t.known_hosts.v[0], in_home(".ssh/known_hosts"));
	assert_string_equal(t.known_hosts.v[2], "/etc/ssh/ssh_known_hosts");
}

static void test_spec_comes_first(void **state)
{
	struct ssh_target t = { .host = "h", .user = "spec", .port = 4 };
	struct err e;

	(void)state;
	VEC_ADD(A, &t.identities) = "/spec/key";
	assert_int_equal(try("User u\nPort 5\nIdentityFile /x\nHostName real\n", &t, &e), 0);
	assert_string_equal(summary(&t), "real spec 4 /spec/key");
}

static void test_default_identities(void **state)
{
	struct ssh_target t;

	(void)state;
	put(".ssh/id_rsa", "x");
	put(".ssh/id_ed25519", "x");
	t = resolve("User u\n", "h");
	assert_string_equal(summary(&t), "h u 22 /.ssh/id_ed25519 /.ssh/id_rsa");
	unlink(in_home(".ssh/id_rsa"));
	unlink(in_home(".ssh/id_ed25519"));
}

static void test_jumps(void **state)
{
	struct ssh_target t = resolve(
		"Host h\nProxyJump u1@j1:2201,j2\nHost j2\nUser two\nPort 2202\nHostName real2\n",
		"h");

	(void)state;
	assert_non_null(t.jump);
	assert_string_equal(t.jump->host, "real2");
	assert_string_equal(t.jump->user, "two");
	assert_int_equal(t.jump->port, 2202);
	assert_non_null(t.jump->jump);
	assert_string_equal(t.jump->jump->host, "j1");
	assert_string_equal(t.jump->jump->user, "u1");
	assert_int_equal(t.jump->jump->port, 2201);
	assert_null(t.jump->jump->jump);
	t = resolve("Host *\nProxyJump bastion\n", "h"); /* catches the bastion too */
	assert_string_equal(t.jump->host, "bastion");
	assert_null(t.jump->jump);
	t = resolve("Host h\nProxyJump none\nHost *\nProxyJump bastion\n", "h");
	assert_null(t.jump);
	t = resolve("ProxyJump [::1]:22\nUser u\n", "h");
	assert_string_equal(t.jump->host, "::1");
	t = resolve("ProxyJump ssh://u@x:3\nUser u\n", "h");
	assert_string_equal(t.jump->host, "x");
	assert_int_equal(t.jump->port, 3);
}

/* As OpenSSH: a file of our own that others can write is not believed, nor what it includes. */
static void test_writable_by_others(void **state)
{
	struct ssh_target t = { .host = "h" };
	struct err e = { 0 };

	(void)state;
	put(".ssh/config", "User u\nInclude more.conf\n");
	put(".ssh/more.conf", "Port 3\n");
	assert_int_equal(ssh_target_resolve(A, NULL, &t, &e), 0);
	assert_int_equal(t.port, 3);
	for (int i = 0; i < 2; i++) {
		const char *path = in_home(i ? ".ssh/more.conf" : ".ssh/config");

		assert_int_equal(chmod(path, i ? 0620 : 0602), 0);
		t = (struct ssh_target){ .host = "h" };
		assert_int_equal(ssh_target_resolve(A, NULL, &t, &e), -1);
		assert_int_equal(e.kind, ERR_SPEC);
		assert_non_null(strstr(e.msg, path));
		assert_non_null(strstr(e.hint, "chmod 600"));
		assert_int_equal(chmod(path, 0600), 0);
	}
	assert_int_equal(unlink(in_home(".ssh/config")), 0);
}

static void test_refused(void **state)
{
	static const struct {
		const char *config;
		int line; /* 0: no position */
		const char *part;
	} cases[] = {
		{ "User u\nProxyCommand nc %h %p\n", 2, "ProxyCommand" },
		{ "Match exec \"true\"\nUser u\n", 1, "exec" },
		{ "Port no\n", 1, "Port" },
		{ "Port 70000\n", 1, "Port" },
		{ "IdentitiesOnly maybe\n", 1, "IdentitiesOnly" },
		{ "\nStrictHostKeyChecking perhaps\n", 2, "StrictHostKeyChecking" },
		{ "User\n", 1, "needs a value" },
		{ "User \"u\n", 1, "quote" },
		{ "Match host\n", 1, "pattern" },
		{ "ConnectTimeout 3x\n", 1, "ConnectTimeout" },
		{ "Include loop.conf\n", 1, "deeper" },
		{ "ProxyJump j:0\n", 0, "bad port" },
		{ "Host a\nProxyJump b\nHost b\nProxyJump a\nHost h\nProxyJump a\n", 0,
		  "jump hosts" },
	};

	(void)state;
	put(".ssh/loop.conf", "Include loop.conf\n");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct ssh_target t = { .host = "h" };
		struct err e = { 0 };

		if (try(cases[i].config, &t, &e) == 0)
			fail_msg("%s was accepted", cases[i].config);
		assert_int_equal(e.kind, ERR_SPEC);
		if (e.pos.line != cases[i].line || !strstr(e.msg, cases[i].part))
			fail_msg("%s: line %d: %s", cases[i].config, e.pos.line, e.msg);
	}
	/* ProxyCommand for other hosts, or after a ProxyJump, harms nobody */
	resolve("Host other\nProxyCommand nc %h %p\nHost h\nProxyJump j\nHost *\nProxyCommand none\n",
		"h");
	struct ssh_target none = { .host = "h" };
	struct err e;
	put("config", "Port no\n");
	assert_int_equal(ssh_target_resolve(A, "none", &none, &e), 0);
	assert_int_equal(none.port, 22);
}

static int setup(void **state)
{
	(void)state;
	A = arena_new("test");
	assert_non_null(mkdtemp(home));
	env_set("HOME", home);
	return 0;
}

static int teardown(void **state)
{
	struct err e;

	(void)state;
	int rc = fs_remove_tree(home, &e);
	arena_free(A);
	env_fini();
	return rc;
}

/* As Ansible's arguments and the spec give them: apart from the configuration. */
static void jumps_by_word(void **state)
{
	struct ssh_target t = { .host = "h" };
	struct err e = { 0 };

	(void)state;
	put("config", "Host b\nPort 2022\nUser bob\n");
	assert_int_equal(ssh_jumps_resolve(A, in_home("config"), "joe@a:2222, b", &t, &e), 0);
	assert_string_equal(t.jump->host, "b");
	assert_int_equal(t.jump->port, 2022);
	assert_string_equal(t.jump->user, "bob");
	assert_string_equal(t.jump->jump->host, "a");
	assert_int_equal(t.jump->jump->port, 2222);
	assert_string_equal(t.jump->jump->user, "joe");
	assert_null(t.jump->jump->jump);
	assert_int_equal(ssh_jumps_resolve(A, in_home("config"), "a:0", &t, &e), -1);
	assert_int_equal(e.kind, ERR_SPEC);
	struct ssh_target hop = { 0 };
	assert_int_equal(ssh_hop_parse(A, STR("me@fe80::1"), &hop, &e), 0);
	assert_string_equal(hop.host, "fe80::1");
	assert_string_equal(hop.user, "me");
	assert_int_equal(hop.port, 0);
	assert_int_equal(ssh_hop_parse(A, STR("[fe80::1]:2222"), &hop, &e), 0);
	assert_string_equal(hop.host, "fe80::1");
	assert_int_equal(hop.port, 2222);
	assert_int_equal(ssh_hop_parse(A, STR("[fe80::1]x"), &hop, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_by_word),	   cmocka_unit_test(test_table),
		cmocka_unit_test(test_other_keys),	   cmocka_unit_test(test_spec_comes_first),
		cmocka_unit_test(test_default_identities), cmocka_unit_test(test_jumps),
		cmocka_unit_test(test_writable_by_others), cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
