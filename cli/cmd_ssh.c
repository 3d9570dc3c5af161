/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ssh: OpenSSH's own client, told what muster knows: address, keys, network namespace and pinned
 * host keys. It replaces this process, so the terminal behaves as ever.
 */
#include <signal.h>
#include <unistd.h>

#include "cli/targets.h"
#include "cli/view.h"

struct ssh_opts {
	struct login_opts login;
};

struct words {
	VEC(const char *) v;
};

static void add(struct cli *c, struct words *w, const char *word)
{
	VEC_ADD(c->a, &w->v) = word;
}

static void add_option(struct cli *c, struct words *w, const char *option)
{
	add(c, w, "-o");
	add(c, w, option);
}

/* Pinned keys as a known_hosts file of this node alone. */
static int pinned_keys(struct cli *c, struct words *w, const char *name,
		       const struct ssh_target *st, struct err *e)
{
	char *dir = fs_join(c->a, c->state_dir, "ssh/known_hosts.d"),
	     *path = fs_join(c->a, dir, name);
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 65536);
	for (size_t i = 0; i < st->host_keys.n; i++)
		buf_addf(&b, "%s %s\n", name, st->host_keys.v[i]);
	if (fs_mkdirs(dir, 0700, e) < 0 || fs_write_atomic(path, buf_str(&b), 0600, e) < 0)
		return -1;
	add_option(c, w, arena_printf(c->a, "UserKnownHostsFile=\"%s\"", path));
	add_option(c, w, arena_printf(c->a, "HostKeyAlias=%s", name));
	add_option(c, w, "StrictHostKeyChecking=yes");
	return 0;
}

/* The files and the strictness that all other commands check by. */
static void known_hosts(struct cli *c, struct words *w, const struct ssh_target *st)
{
	static const char *const strict[] = {
		[SSH_STRICT_YES] = NULL, /* asking on the terminal is strict enough */
		[SSH_STRICT_ACCEPT_NEW] = "StrictHostKeyChecking=accept-new",
		[SSH_STRICT_NO] = "StrictHostKeyChecking=no",
	};
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, "UserKnownHostsFile=");
	for (size_t i = 0; i < st->known_hosts.n; i++)
		buf_addf(&b, "%s\"%s\"", i ? " " : "", st->known_hosts.v[i]);
	if (st->known_hosts.n)
		add_option(c, w, buf_dup(&b, c->a));
	if (strict[st->strict])
		add_option(c, w, strict[st->strict]);
	if (st->host_key_alias)
		add_option(c, w, arena_printf(c->a, "HostKeyAlias=%s", st->host_key_alias));
}

static int client_words(struct cli *c, const char *name, const struct ssh_target *st,
			struct words *w, struct err *e);

/* -J would take neither keys nor known hosts along: a command of our own does. In it a percent
 * sign stands for itself. */
static int jump_words(struct cli *c, const struct ssh_target *st, struct words *w, struct err *e)
{
	const struct ssh_target *j = st->jump;
	struct words inner = { { 0 } };
	scoped(buf_fini) struct buf b = { 0 };
	bool v6 = strchr(st->host, ':') != NULL;

	add(c, &inner, "ssh");
	add(c, &inner, "-W");
	add(c, &inner,
	    arena_printf(c->a, "%s%s%s:%d", v6 ? "[" : "", st->host, v6 ? "]" : "",
			 st->port ? st->port : 22));
	if (client_words(c, j->host, j, &inner, e) < 0)
		return -1;
	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < inner.v.n; i++) {
		if (i)
			buf_addc(&b, ' ');
		proc_quote(&b, str_of(inner.v.v[i]));
	}
	const char *line = buf_dup(&b, c->a);

	buf_fini(&b);
	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, "ProxyCommand=");
	for (; *line; line++)
		buf_adds(&b, *line == '%' ? "%%" : (char[]){ *line, '\0' });
	add_option(c, w, buf_dup(&b, c->a));
	return 0;
}

static int client_words(struct cli *c, const char *name, const struct ssh_target *st,
			struct words *w, struct err *e)
{
	bool ours = st->host_keys.n > 0;

	for (size_t i = 0; i < st->identities.n; i++) {
		add(c, w, "-i");
		add(c, w, st->identities.v[i]);
	}
	/* As for all other commands: the user's ssh_config must not reroute machines of our making.
	 */
	if (c->g.ssh_config || ours) {
		add(c, w, "-F");
		add(c, w, c->g.ssh_config ? c->g.ssh_config : "none");
	}
	if (ours) {
		add_option(c, w, "IdentitiesOnly=yes");
		if (pinned_keys(c, w, name, st, e) < 0)
			return -1;
	} else {
		known_hosts(c, w, st);
	}
	if (st->jump && jump_words(c, st, w, e) < 0)
		return -1;
	add(c, w, "-p");
	add(c, w, arena_printf(c->a, "%d", st->port ? st->port : 22));
	if (st->user) {
		add(c, w, "-l");
		add(c, w, st->user);
	}
	add(c, w, "--");
	add(c, w, st->host);
	return 0;
}

static int ssh_words(struct cli *c, const struct target *t, struct words *w, struct err *e)
{
	const struct ssh_target *st = &t->host.target;

	if (t->host.local)
		return err_set(e, ERR_USAGE, "%s is this machine", t->name);
	if (st->netns) {
		add(c, w, "nsenter");
		add(c, w, arena_printf(c->a, "--net=%s", st->netns));
	}
	add(c, w, "ssh");
	return client_words(c, t->name, st, w, e);
}

struct finding {
	struct cli *c;
	struct words words;
	struct err *e;
	int rc;
};

static void find(void *arg)
{
	struct finding *f = arg;
	const struct ssh_opts *o = f->c->opts;
	struct targets ts = { 0 };

	f->rc = targets_find(f->c, &o->login, f->c->args.v.v[0], &ts, f->e);
	if (f->rc == 0 && ts.v.n != 1)
		f->rc = err_set(f->e, ERR_USAGE, "ssh goes to one node, not to %zu", ts.v.n);
	if (f->rc == 0)
		f->rc = ssh_words(f->c, ts.v.v[0], &f->words, f->e);
	engine_close(f->c->engine);
	f->c->engine = NULL;
}

static int cmd_ssh(struct cli *c, struct err *e)
{
	struct finding f = { .c = c, .e = e };

	if (session_arg_count(c, 1, 10000, e) < 0)
		return -1;
	if (loop_run(find, &f, NULL, e) < 0 || f.rc < 0)
		return -1;
	size_t first = c->args.v.n > 1 && strcmp(c->args.v.v[1], "--") == 0 ? 2 : 1;

	for (size_t i = first; i < c->args.v.n; i++)
		add(c, &f.words, c->args.v.v[i]);
	add(c, &f.words, NULL);
	signal(SIGPIPE, SIG_DFL);
	execvp(f.words.v.v[0], (char *const *)f.words.v.v);
	err_sys(e, "running %s", f.words.v.v[0]);
	return err_hint(e, "install openssh-client");
}

static const struct opt ssh_rows[] = { LOGIN_ROWS(ssh_opts), OPT_END };

const struct command command_ssh = {
	"ssh",
	"NODE [CMD...]",
	"logs in to one node, with muster's keys and known hosts",
	NULL,
	ssh_rows,
	sizeof(struct ssh_opts),
	STOP_AT_ARG | TAKES_NODES,
	cmd_ssh,
};
