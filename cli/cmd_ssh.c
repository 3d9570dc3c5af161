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
static int pinned_keys(struct cli *c, struct words *w, const struct target *t, struct err *e)
{
	const struct ssh_target *st = &t->host.target;
	char *dir = fs_join(c->a, c->state_dir, "ssh/known_hosts.d"),
	     *path = fs_join(c->a, dir, t->name);
	scoped(buf_fini) struct buf b = { 0 };

	if (!st->host_keys.n)
		return 0;
	buf_init(&b, 65536);
	for (size_t i = 0; i < st->host_keys.n; i++)
		buf_addf(&b, "%s %s\n", t->name, st->host_keys.v[i]);
	if (fs_mkdirs(dir, 0700, e) < 0 || fs_write_atomic(path, buf_str(&b), 0600, e) < 0)
		return -1;
	add_option(c, w, arena_printf(c->a, "UserKnownHostsFile=\"%s\"", path));
	add_option(c, w, arena_printf(c->a, "HostKeyAlias=%s", t->name));
	add_option(c, w, "StrictHostKeyChecking=yes");
	return 0;
}

/* "user@first:22,user@last:22" */
static const char *jump_list(struct cli *c, const struct ssh_target *j)
{
	bool v6 = strchr(j->host, ':') != NULL;

	return arena_printf(c->a, "%s%s%s%s%s%s%s:%d", j->jump ? jump_list(c, j->jump) : "",
			    j->jump ? "," : "", j->user ? j->user : "", j->user ? "@" : "",
			    v6 ? "[" : "", j->host, v6 ? "]" : "", j->port ? j->port : 22);
}

static int ssh_words(struct cli *c, const struct target *t, struct words *w, struct err *e)
{
	const struct ssh_target *st = &t->host.target;
	bool ours = st->host_keys.n > 0;

	if (t->host.local)
		return err_set(e, ERR_USAGE, "%s is this machine", t->name);
	if (st->netns) {
		add(c, w, "nsenter");
		add(c, w, arena_printf(c->a, "--net=%s", st->netns));
	}
	add(c, w, "ssh");
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
	if (ours)
		add_option(c, w, "IdentitiesOnly=yes");
	if (pinned_keys(c, w, t, e) < 0)
		return -1;
	if (st->jump) {
		add(c, w, "-J");
		add(c, w, jump_list(c, st->jump));
	}
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
