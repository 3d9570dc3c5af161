/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host is an ssh session (or this machine) and one kept shell for each user that scripts run as.
 * The shell of the connection's own user is opened first; others when a script first asks for them.
 */
#include "net/host.h"

#include <stdio.h>

#include "net/session.h"
#include "net/shell.h"

#define SCRIPT_MS      300000
#define SCRIPT_OUTPUT  ((size_t)8 << 20)
#define SHELL_START_MS 30000
#define RETRY_CONNECT  5000 /* of one attempt while a host boots */
#define RETRY_FIRST    100
#define RETRY_MOST     2000

struct user_shell {
	struct shell sh;
	const char *user; /* NULL: the login user */
	struct user_shell *next;
};

struct host {
	struct arena *a;
	struct host_opts o;
	char name[128];
	struct ssh *ssh;
	struct user_shell *shells;
	char boot_id[80];
	uint64_t round_trips, bytes_out, bytes_in; /* of shells that are gone */
};

/* ---- shells ----------------------------------------------------------------------------------- */

static const char *become_user(const struct host_become *b)
{
	if (!b->on)
		return NULL;
	return b->user ? b->user : "root";
}

static int shell_open(struct host *h, const struct host_become *b, struct deadline d,
		      struct shell *sh, struct err *e)
{
	scoped(buf_fini) struct buf command = { 0 };
	struct shell_become sb = { .user = become_user(b), .password = b->password };
	struct shell_start start;

	buf_init(&command, 16384);
	shell_command(&command, &sb, &start);
	*sh = (struct shell){ .host = h->name };
	int rc = h->o.local ? shell_io_local(command.p, &sh->io, e)
			    : shell_io_ssh(h->ssh, command.p, d, &sh->io, e);
	return rc == 0 ? shell_begin(sh, &sb, &start, d, e) : -1;
}

static void shell_gone(struct host *h, struct user_shell *u)
{
	h->bytes_out += u->sh.bytes_out;
	h->bytes_in += u->sh.bytes_in;
	shell_close(&u->sh);
	mem_free(u);
}

static int shell_for(struct host *h, const struct host_become *b, struct deadline d,
		     struct shell **out, struct err *e)
{
	const char *user = become_user(b);

	for (struct user_shell *u = h->shells; u; u = u->next) {
		if (user ? u->user && strcmp(u->user, user) == 0 : !u->user) {
			*out = &u->sh;
			return 0;
		}
	}
	struct user_shell *u = mem_alloc(sizeof *u);
	u->user = arena_strdup(h->a, user);
	if (shell_open(h, b, deadline_min(d, deadline_in(SHELL_START_MS)), &u->sh, e) != 0) {
		shell_gone(h, u);
		return -1;
	}
	u->next = h->shells;
	h->shells = u;
	*out = &u->sh;
	return 0;
}

/* ---- opening and closing ------------------------------------------------------------------------
 */

/* A container shares its machine's boot id, so the start of pid 1 counts too. */
static int ask_identity(struct host *h, char out[80], struct err *e)
{
	static const char script[] =
		"read -r b </proc/sys/kernel/random/boot_id; read -r l </proc/1/stat; "
		"l=${l##*) }; set -- $l; shift 19; echo \"$b:$1\"";
	struct arena *a = arena_new("identity");
	struct script_result r;
	int rc = host_script(h, a, STR(script), NULL, &r, e);

	if (rc == 0) {
		struct str id = str_trim(r.out);

		snprintf(out, 80, STR_FMT, STR_ARG(id));
	}
	arena_free(a);
	return rc;
}

static void disconnect(struct host *h)
{
	while (h->shells) {
		struct user_shell *u = h->shells;

		h->shells = u->next;
		shell_gone(h, u);
	}
	ssh_close(h->ssh);
	h->ssh = NULL;
}

static int connect_host(struct host *h, int64_t connect_ms, struct err *e)
{
	struct ssh_target t = h->o.target;

	if (connect_ms && (!t.connect_ms || t.connect_ms > connect_ms))
		t.connect_ms = connect_ms;
	if (!h->o.local && ssh_open(&t, &h->ssh, e) != 0)
		return err_on(e, NULL, h->name);
	if (ask_identity(h, h->boot_id, e) != 0) {
		disconnect(h);
		return err_on(e, NULL, h->name);
	}
	return 0;
}

int host_open(const struct host_opts *o, struct host **out, struct err *e)
{
	struct host *h = mem_alloc(sizeof *h);
	const char *name = o->name ? o->name : o->local ? "localhost" : o->target.host;

	h->a = arena_new("host");
	h->o = *o;
	snprintf(h->name, sizeof h->name, "%s", name ? name : "host");
	if (connect_host(h, 0, e) != 0) {
		host_close(h);
		return -1;
	}
	*out = h;
	return 0;
}

void host_close(struct host *h)
{
	if (!h)
		return;
	disconnect(h);
	arena_free(h->a);
	mem_free(h);
}

const char *host_boot_id(const struct host *h)
{
	return h->boot_id;
}

struct host_stats host_stats(const struct host *h)
{
	struct host_stats s = { h->round_trips, h->bytes_out, h->bytes_in };

	for (const struct user_shell *u = h->shells; u; u = u->next) {
		s.bytes_out += u->sh.bytes_out;
		s.bytes_in += u->sh.bytes_in;
	}
	return s;
}

/* ---- scripts ---------------------------------------------------------------------------------- */

int host_script(struct host *h, struct arena *a, struct str script, const struct script_opts *o,
		struct script_result *r, struct err *e)
{
	static const struct script_opts defaults;
	struct shell_result got;
	struct shell *sh;

	if (!o)
		o = &defaults;
	if (!h->o.local && !h->ssh) {
		err_set(e, ERR_IO, "%s is not connected", h->name);
		return err_on(e, NULL, h->name);
	}
	struct shell_run run = { script, o->max_output ? o->max_output : SCRIPT_OUTPUT,
				 o->deadline.at ? o->deadline : deadline_in(SCRIPT_MS) };
	if (shell_for(h, o->become ? o->become : &h->o.become, run.deadline, &sh, e) != 0)
		return err_on(e, NULL, h->name);
	h->round_trips++;
	if (shell_run(sh, a, &run, &got, e) != 0)
		return err_on(e, NULL, h->name);
	*r = (struct script_result){ got.status, got.truncated, got.out, got.err };
	return 0;
}

/* ---- coming back ------------------------------------------------------------------------------- */

/* A host that boots refuses, is silent, or (pam_nologin) does not let users in yet. A wrong host
 * key stays wrong. */
static bool may_pass(const struct err *e)
{
	return e->kind != ERR_CANCELLED && e->kind != ERR_SPEC && e->code != SESSION_BAD_HOST_KEY;
}

/* old: "" or the identity that the host must no longer have. */
static int come_back(struct host *h, const char *old, int64_t timeout_ms, struct err *e)
{
	struct deadline d = deadline_in(timeout_ms);
	struct err why = { 0 };
	int64_t pause = RETRY_FIRST;
	char before[80], limit[16];

	snprintf(before, sizeof before, "%s", old);
	disconnect(h);
	for (;;) {
		int64_t left = deadline_left(d);

		if (left == 0)
			break;
		if (connect_host(h, left < RETRY_CONNECT ? left : RETRY_CONNECT, &why) == 0) {
			if (strcmp(before, h->boot_id) != 0)
				return 0;
			err_set(&why, ERR_TIMEOUT, "it still answers as before");
			disconnect(h);
		}
		if (!may_pass(&why)) {
			*e = why;
			return -1;
		}
		left = deadline_left(d);
		if (task_sleep(pause < left ? pause : left, e) != 0)
			return -1;
		pause = pause * 3 / 2 < RETRY_MOST ? pause * 3 / 2 : RETRY_MOST;
	}
	clock_format_duration(timeout_ms, limit);
	err_set(e, ERR_TIMEOUT, "%s did not come back within %s: %s", h->name, limit, why.msg);
	err_on(e, NULL, h->name);
	return err_hint(e, "look at its console");
}

int host_reconnect(struct host *h, int64_t timeout_ms, struct err *e)
{
	return come_back(h, "", timeout_ms, e);
}

int host_reboot(struct host *h, int64_t timeout_ms, struct err *e)
{
	/* Detached, and a moment later, so that the answer still gets out. */
	static const char script[] =
		"s=; command -v setsid >/dev/null 2>&1 && s=setsid\n"
		"nohup $s sh -c 'sleep 1; systemctl reboot || reboot || shutdown -r now' >/dev/null 2>&1 </dev/null &\n";
	struct host_become root = h->o.become;
	struct script_opts o = { .become = &root, .deadline = deadline_in(30000) };
	struct script_result r;
	char old[80];

	if (h->o.local) {
		err_set(e, ERR_USAGE, "%s is the machine that muster runs on: it is not rebooted",
			h->name);
		return err_hint(e, "reboot it by hand");
	}
	snprintf(old, sizeof old, "%s", h->boot_id);
	struct arena *a = arena_new("reboot");
	int rc = host_script(h, a, STR(script), &o, &r, e);
	if (rc == 0 && r.status != 0)
		rc = err_set(e, ERR_REMOTE, "%s: the reboot could not be asked for: " STR_FMT,
			     h->name, STR_ARG(str_trim(r.err)));
	arena_free(a);
	return rc == 0 ? come_back(h, old, timeout_ms, e) : -1;
}
