/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: one command with its input and both outputs, or a long-lived one. libssh2 cannot have
 * two half-sent packets: after a call that left one (want_write) the same call is repeated before
 * any other, hence `again` below.
 */
#include <signal.h>

#include "net/session.h"

#define CHUNK	       ((size_t)32 << 10)
#define OUTPUT_DEFAULT ((size_t)8 << 20)
#define TURN_STEPS     8 /* chunks moved before others have their turn */

/* What a read brings, until it is copied: nobody yields in between. On the stack it would cost each
 * of ten thousand tasks these pages for good. */
static char scratch[CHUNK];

struct ssh_channel {
	struct ssh *s;
	LIBSSH2_CHANNEL *c;
};

/* Half done calls cannot be taken back: the session has no future. */
static int give_up(struct ssh *s, const char *doing, struct err *e)
{
	session_kill(s, e->kind == ERR_CANCELLED ? "cancelled" : "timed out");
	if (e->kind == ERR_TIMEOUT)
		err_set(e, ERR_TIMEOUT, "%s: %s timed out", s->name, doing);
	return -1;
}

static int wait_or_kill(struct ssh *s, const char *doing, struct deadline d, struct err *e)
{
	return session_wait(s, d, e) == 0 ? 0 : give_up(s, doing, e);
}

static int open_channel(struct ssh *s, struct deadline d, LIBSSH2_CHANNEL **out, struct err *e)
{
	while (!(*out = libssh2_channel_open_session(s->l))) {
		if (libssh2_session_last_errno(s->l) != LIBSSH2_ERROR_EAGAIN) {
			session_fail(s, "opening a channel", e);
			return err_hint(e, "check MaxSessions in the host's sshd_config");
		}
		if (wait_or_kill(s, "opening a channel", d, e) != 0)
			return -1;
	}
	return 0;
}

static void free_channel(struct ssh *s, LIBSSH2_CHANNEL *c, struct deadline d)
{
	struct err ignored;

	if (!c)
		return;
	while (libssh2_channel_free(c) == LIBSSH2_ERROR_EAGAIN)
		if (!s->dead && wait_or_kill(s, "closing a channel", d, &ignored) != 0)
			continue; /* now dead: the callbacks fail and the free ends */
}

int ssh_channel_open(struct ssh *s, const char *command, struct deadline d,
		     struct ssh_channel **out, struct err *e)
{
	LIBSSH2_CHANNEL *c;
	int rc;

	if (session_alive(s, e) != 0 || open_channel(s, d, &c, e) != 0)
		return -1;
	while ((rc = libssh2_channel_exec(c, command)) == LIBSSH2_ERROR_EAGAIN)
		if (wait_or_kill(s, "starting a command", d, e) != 0)
			return -1; /* the channel goes with the dead session */
	if (rc != 0) {
		session_fail(s, "starting a command", e);
		free_channel(s, c, d);
		return -1;
	}
	*out = mem_alloc(sizeof **out);
	(*out)->s = s;
	(*out)->c = c;
	return 0;
}

int ssh_channel_write(struct ssh_channel *c, struct str data, struct deadline d, struct err *e)
{
	if (session_alive(c->s, e) != 0)
		return -1;
	while (data.n) {
		size_t n = data.n < CHUNK ? data.n : CHUNK;
		ssize_t rc = libssh2_channel_write(c->c, data.p, n);

		if (rc > 0)
			data = str_sub(data, (size_t)rc, SIZE_MAX);
		else if (rc < 0 && rc != LIBSSH2_ERROR_EAGAIN)
			return session_fail(c->s, "writing", e);
		else if (libssh2_channel_eof(c->c))
			return err_set(e, ERR_IO,
				       "the command on %s ended before its input was sent",
				       c->s->name);
		else if (wait_or_kill(c->s, "writing", d, e) != 0)
			return -1;
	}
	return 0;
}

/* Reads what is there of one stream: bytes, 0 for nothing now, -1. */
static ssize_t read_stream(struct ssh_channel *c, int stream, struct buf *to, struct err *e)
{
	ssize_t n = libssh2_channel_read_ex(c->c, stream, scratch, sizeof scratch);

	if (n == LIBSSH2_ERROR_EAGAIN)
		return 0;
	if (n < 0)
		return session_fail(c->s, "reading", e);
	buf_add(to, scratch, (size_t)n);
	return n;
}

int ssh_channel_read(struct ssh_channel *c, struct buf *out, struct buf *err, bool *eof,
		     struct deadline d, struct err *e)
{
	int again = -1; /* the stream whose read left half a packet */

	*eof = false;
	if (session_alive(c->s, e) != 0)
		return -1;
	for (;;) {
		ssize_t got = 0;

		for (int stream = 0; stream <= SSH_EXTENDED_DATA_STDERR; stream++) {
			if (c->s->want_write && stream != again)
				continue;
			ssize_t n = read_stream(c, stream, stream ? err : out, e);
			if (n < 0)
				return -1;
			got += n;
			again = c->s->want_write ? stream : -1;
		}
		if (got > 0)
			return 0;
		*eof = libssh2_channel_eof(c->c) == 1;
		if (*eof)
			return 0;
		if (wait_or_kill(c->s, "reading", d, e) != 0)
			return -1;
	}
}

void ssh_channel_close(struct ssh_channel *c)
{
	if (!c)
		return;
	task_shield_begin();
	free_channel(c->s, c->c, deadline_in(1000));
	task_shield_end();
	mem_free(c);
}

/* ---- one command ------------------------------------------------------------------------------ */

struct exec {
	struct ssh_channel *ch;
	struct str input;
	bool eof_sent;
	struct buf out, err;
	size_t max;
	bool truncated;
};

/* 1: something moved; 0: wait; -1 */
static int push_input(struct exec *x, struct err *e)
{
	size_t n = x->input.n < CHUNK ? x->input.n : CHUNK;

	if (x->eof_sent)
		return 0;
	if (n == 0) {
		int rc = libssh2_channel_send_eof(x->ch->c);

		if (rc == LIBSSH2_ERROR_EAGAIN)
			return 0;
		x->eof_sent = true;
		return rc == 0 ? 1 : session_fail(x->ch->s, "closing input", e);
	}
	ssize_t rc = libssh2_channel_write(x->ch->c, x->input.p, n);
	if (rc == LIBSSH2_ERROR_EAGAIN || rc == 0)
		return 0;
	if (rc < 0) {
		if (libssh2_channel_eof(x->ch->c) || rc == LIBSSH2_ERROR_CHANNEL_CLOSED) {
			x->eof_sent = true; /* it ended without reading: no failure of ours */
			return 1;
		}
		return session_fail(x->ch->s, "writing", e);
	}
	x->input = str_sub(x->input, (size_t)rc, SIZE_MAX);
	return 1;
}

static int pull_output(struct exec *x, int stream, struct err *e)
{
	struct buf *to = stream ? &x->err : &x->out;
	ssize_t n = libssh2_channel_read_ex(x->ch->c, stream, scratch, sizeof scratch);

	if (n == LIBSSH2_ERROR_EAGAIN || n == 0)
		return 0;
	if (n < 0)
		return session_fail(x->ch->s, "reading", e);
	size_t room = x->max - to->n, take = (size_t)n < room ? (size_t)n : room;
	buf_add(to, scratch, take);
	x->truncated |= take < (size_t)n;
	return 1;
}

static int run_op(struct exec *x, int op, struct err *e)
{
	return op == 0 ? push_input(x, e) : pull_output(x, op - 1, e);
}

static int pump(struct exec *x, struct deadline d, struct err *e)
{
	int again = -1, steps = 0;

	while (!libssh2_channel_eof(x->ch->c)) {
		int moved = 0;

		if (++steps % TURN_STEPS == 0 && task_turn(d, e) != 0)
			return give_up(x->ch->s, "the command", e);

		for (int op = 0; op < 3; op++) {
			if (x->ch->s->want_write && op != again)
				continue;
			int rc = run_op(x, op, e);
			if (rc < 0)
				return -1;
			moved += rc;
			again = x->ch->s->want_write ? op : -1;
		}
		if (!moved && !libssh2_channel_eof(x->ch->c) &&
		    wait_or_kill(x->ch->s, "the command", d, e) != 0)
			return -1;
	}
	return 0;
}

static int signal_number(const char *name)
{
	static const struct {
		const char *name;
		int n;
	} table[] = {
		{ "ABRT", SIGABRT }, { "ALRM", SIGALRM }, { "FPE", SIGFPE },   { "HUP", SIGHUP },
		{ "ILL", SIGILL },   { "INT", SIGINT },	  { "KILL", SIGKILL }, { "PIPE", SIGPIPE },
		{ "QUIT", SIGQUIT }, { "SEGV", SIGSEGV }, { "TERM", SIGTERM }, { "USR1", SIGUSR1 },
		{ "USR2", SIGUSR2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(name, table[i].name) == 0)
			return table[i].n;
	return 0;
}

/* The status comes after the end of the output; a connection that breaks here has given none. */
static int exit_status(struct exec *x, struct deadline d)
{
	LIBSSH2_CHANNEL *c = x->ch->c;
	char *name = NULL;
	struct err ignored;
	int status;
	int rc;

	while ((rc = libssh2_channel_wait_closed(c)) == LIBSSH2_ERROR_EAGAIN)
		if (wait_or_kill(x->ch->s, "waiting for the status", d, &ignored) != 0)
			return -1;
	if (rc != 0)
		return -1;
	libssh2_channel_get_exit_signal(c, &name, NULL, NULL, NULL, NULL, NULL);
	if (name) {
		status = 128 + signal_number(name);
		libssh2_free(x->ch->s->l, name);
		return status;
	}
	return libssh2_channel_get_exit_status(c);
}

static int send_close(struct exec *x, struct deadline d, struct err *e)
{
	while (libssh2_channel_close(x->ch->c) == LIBSSH2_ERROR_EAGAIN)
		if (wait_or_kill(x->ch->s, "closing", d, e) != 0)
			return -1;
	return 0;
}

int ssh_exec(struct ssh *s, struct arena *a, const struct ssh_command *c, struct ssh_result *r,
	     struct err *e)
{
	struct exec x = { .input = c->input,
			  .max = c->max_output ? c->max_output : OUTPUT_DEFAULT };
	struct deadline d = c->deadline;

	if (ssh_channel_open(s, c->text, d, &x.ch, e) != 0)
		return -1;
	buf_init(&x.out, x.max + 1);
	buf_init(&x.err, x.max + 1);
	int rc = pump(&x, d, e);
	if (rc == 0) {
		*r = (struct ssh_result){ .status = exit_status(&x, d), .truncated = x.truncated };
		r->out = (struct str){ buf_dup(&x.out, a), x.out.n };
		r->err = (struct str){ buf_dup(&x.err, a), x.err.n };
		rc = send_close(&x, d, e);
	}
	buf_fini(&x.out);
	buf_fini(&x.err);
	ssh_channel_close(x.ch);
	return rc;
}
