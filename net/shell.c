/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frame. One line (so that the shell has read all of it before anything runs):
 *
 *	printf START; printf START >&2; (eval 'SCRIPT') </dev/null; printf '\nEND %d\n' "$?"; printf
 *'\nEND\n' >&2
 *
 * START and END hold 128 random bits made for this script, so no output can look like them; what
 *comes before START (login banners, leftovers) is dropped, the newline before END is ours and is
 *taken off again. The subshell keeps cd, set, exit and syntax errors inside; quoting keeps every
 *byte but NUL.
 */
#include "net/shell.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_CHUNK ((size_t)64 << 10)
#define NOISE_MAX  ((size_t)64 << 10)
#define TURN_BYTES ((size_t)256 << 10) /* read before others have their turn */

/* ---- the two transports ------------------------------------------------------------------------ */

static int ssh_write(void *self, struct str data, struct deadline d, struct err *e)
{
	return ssh_channel_write(self, data, d, e);
}

static int ssh_read(void *self, struct buf *out, struct buf *err, bool *eof, struct deadline d,
		    struct err *e)
{
	return ssh_channel_read(self, out, err, eof, d, e);
}

static void ssh_done(void *self)
{
	ssh_channel_close(self);
}

int shell_io_ssh(struct ssh *s, const char *command, struct deadline d, struct shell_io *io,
		 struct err *e)
{
	struct ssh_channel *c = NULL;

	if (ssh_channel_open(s, command, d, &c, e) != 0)
		return -1;
	*io = (struct shell_io){ ssh_write, ssh_read, ssh_done, c };
	return 0;
}

static int local_write(void *self, struct str data, struct deadline d, struct err *e)
{
	const struct proc_stream *p = self;

	while (data.n) {
		ssize_t n = write(p->in, data.p, data.n < READ_CHUNK ? data.n : READ_CHUNK);

		if (n >= 0)
			data = str_sub(data, (size_t)n, SIZE_MAX);
		else if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "the local shell");
		else if (task_wait_fd(p->in, FD_WRITE, d, e) != 0)
			return -1;
	}
	return 0;
}

/* Bytes, 0 for none now; sets *end at the end. */
static size_t local_pull(int *fd, struct buf *to)
{
	char tmp[16384];

	if (*fd < 0)
		return 0;
	ssize_t n = read(*fd, tmp, sizeof tmp);
	if (n > 0)
		buf_add(to, tmp, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		close_fd(fd);
	return n > 0 ? (size_t)n : 0;
}

static int local_read(void *self, struct buf *out, struct buf *err, bool *eof, struct deadline d,
		      struct err *e)
{
	struct proc_stream *p = self;

	for (;;) {
		size_t got = local_pull(&p->out, out) + local_pull(&p->err, err);

		*eof = got == 0 && p->out < 0;
		if (got || *eof)
			return 0;
		if (task_wait_fd(p->poll, FD_READ, d, e) != 0)
			return -1;
	}
}

static void local_done(void *self)
{
	proc_stream_close(self);
	mem_free(self);
}

int shell_io_local(const char *command, struct shell_io *io, struct err *e)
{
	const char *const argv[] = { "/bin/sh", "-c", command, NULL };
	struct proc_stream *p = mem_alloc(sizeof *p);

	if (proc_stream_open(argv, p, e) != 0) {
		mem_free(p);
		return -1;
	}
	*io = (struct shell_io){ local_write, local_read, local_done, p };
	return 0;
}

/* ---- starting --------------------------------------------------------------------------------- */

/* sudo's words for refusing, and what to do. */
static const struct {
	const char *text, *message, *hint;
} refusals[] = {
	{ "a password is required", "sudo asks for a password",
	  "give the become password, or allow NOPASSWD" },
	{ "a terminal is required", "sudo asks for a password",
	  "give the become password, or allow NOPASSWD" },
	{ "incorrect password", "the sudo password is wrong", "check the become password" },
	{ "not in the sudoers", "sudo does not allow this user", "add the login user to sudoers" },
	{ "may not run sudo", "sudo does not allow this user", "add the login user to sudoers" },
	{ "not allowed to execute", "sudo does not allow this", "allow it in sudoers" },
	{ "must have a tty", "sudo wants a terminal", "remove requiretty from sudoers" },
	{ "unknown user", "no such user to become", "check the become user" },
	{ "does not exist", "no such user to become", "check the become user" },
};

static int ended(struct shell *sh, struct str err_text, struct err *e)
{
	struct str rest = str_trim(err_text), line, last = STR_NONE;

	sh->dead = true;
	for (size_t i = 0; i < ARRAY_LEN(refusals); i++) {
		if (str_find(err_text, str_of(refusals[i].text)) == SIZE_MAX)
			continue;
		err_set(e, ERR_AUTH, "%s: %s", sh->host, refusals[i].message);
		return err_hint(e, "%s", refusals[i].hint);
	}
	while (str_next_line(&rest, &line))
		last = line;
	if (str_find(last, STR("sudo")) != SIZE_MAX &&
	    str_find(last, STR("not found")) != SIZE_MAX) {
		err_set(e, ERR_AUTH, "%s has no sudo", sh->host);
		return err_hint(e, "log in as the user itself, or install sudo there");
	}
	if (last.n)
		return err_set(e, ERR_IO, "the shell on %s ended: " STR_FMT, sh->host,
			       STR_ARG(last));
	return err_set(e, ERR_IO, "the shell on %s ended", sh->host);
}

static void random_mark(char *out, size_t cap, const char *prefix)
{
	unsigned char r[16];
	size_t n = (size_t)snprintf(out, cap, "%s", prefix);

	rand_bytes(r, sizeof r);
	for (size_t i = 0; i < sizeof r; i++)
		n += (size_t)snprintf(out + n, cap - n, "%02x", r[i]);
}

/* Root needs no sudo to be root; and to be someone else it may use runuser where sudo is not
 * installed. */
void shell_command(struct buf *out, const struct shell_become *b, struct shell_start *s)
{
	scoped(buf_fini) struct buf script = { 0 };

	*s = (struct shell_start){ 0 };
	random_mark(s->ready, sizeof s->ready, "r");
	if (!b->user) {
		buf_adds(out, "exec sh");
		s->ready[0] = '\0';
		return;
	}
	buf_init(&script, 8192);
	buf_adds(&script, "r='printf %s ");
	buf_adds(&script, s->ready);
	buf_adds(&script, "; exec sh'; u=");
	proc_quote(&script, str_of(b->user));
	buf_adds(&script,
		 "; if [ \"$(id -u)\" = 0 ]; then [ \"$u\" = root ] && exec sh -c \"$r\"; "
		 "command -v sudo >/dev/null 2>&1 || exec runuser -u \"$u\" -- sh -c \"$r\"; fi; ");
	if (b->password.n) {
		random_mark(s->prompt, sizeof s->prompt, "p");
		buf_addf(&script, "exec sudo -S -p %s -H -u \"$u\" -- sh -c \"$r\"", s->prompt);
	} else {
		buf_adds(&script, "exec sudo -n -H -u \"$u\" -- sh -c \"$r\"");
	}
	buf_adds(out, "exec sh -c ");
	proc_quote(out, buf_str(&script));
}

static int give_password(struct shell *sh, const struct shell_become *b, struct deadline d,
			 struct err *e)
{
	scoped(buf_wipe) struct buf line = { 0 };

	buf_init(&line, b->password.n + 2);
	buf_addstr(&line, b->password);
	buf_addc(&line, '\n');
	return sh->io.write(sh->io.self, buf_str(&line), d, e);
}

static int wait_ready(struct shell *sh, const struct shell_become *b, const struct shell_start *s,
		      struct deadline d, struct err *e)
{
	scoped(buf_fini) struct buf out = { 0 };
	scoped(buf_fini) struct buf err = { 0 };
	struct str prompt = str_of(s->prompt);
	bool eof = false, given = false;

	buf_init(&out, NOISE_MAX);
	buf_init(&err, NOISE_MAX);
	while (str_find(buf_str(&out), str_of(s->ready)) == SIZE_MAX) {
		if (eof)
			return ended(sh, buf_str(&err), e);
		if (sh->io.read(sh->io.self, &out, &err, &eof, d, e) != 0)
			return err_wrap(e, "becoming %s", b->user);
		size_t asked = prompt.n ? str_find(buf_str(&err), prompt) : SIZE_MAX;
		if (asked == SIZE_MAX)
			continue;
		if (given)
			return ended(sh, STR("incorrect password"), e);
		if (give_password(sh, b, d, e) != 0)
			return -1;
		given = true;
		buf_clear(&err);
	}
	return 0;
}

int shell_begin(struct shell *sh, const struct shell_become *b, const struct shell_start *s,
		struct deadline d, struct err *e)
{
	static const char setup[] =
		"LC_ALL=C LANG=C; export LC_ALL LANG; unset ENV BASH_ENV CDPATH; "
		"case :$PATH: in *:/usr/sbin:*) ;; "
		"*) PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin; export PATH;; esac\n";
	int rc = s->ready[0] ? wait_ready(sh, b, s, d, e) : 0;

	if (rc == 0)
		rc = sh->io.write(sh->io.self, STR(setup), d, e);
	if (rc != 0)
		sh->dead = true;
	return rc;
}

/* ---- reading a frame --------------------------------------------------------------------------- */

enum at { BEFORE, INSIDE, AFTER };

struct stream {
	char start[48], end[48];
	enum at at;
	struct buf raw;	 /* arrived, not yet looked through */
	struct buf kept; /* the script's output */
	size_t max;
	bool truncated;
	int status;
};

static void keep(struct stream *s, struct str data)
{
	size_t room = s->max - s->kept.n;

	buf_addstr(&s->kept, str_sub(data, 0, room));
	s->truncated |= data.n > room;
}

static void drop_front(struct buf *b, size_t n)
{
	memmove(b->p, b->p + n, b->n - n);
	buf_truncate(b, b->n - n);
}

/* Everything but what might be the beginning of `mark`. */
static size_t settled(const struct buf *b, struct str mark)
{
	return b->n >= mark.n ? b->n - (mark.n - 1) : 0;
}

/* END, a blank and the status (stdout) or nothing (stderr), a newline. */
static bool take_end(struct stream *s, struct str mark)
{
	size_t at = str_find(buf_str(&s->raw), mark);
	int64_t status = 0;

	if (at == SIZE_MAX) {
		size_t n = settled(&s->raw, mark);

		keep(s, str_sub(buf_str(&s->raw), 0, n));
		drop_front(&s->raw, n);
		return false;
	}
	struct str rest = str_sub(buf_str(&s->raw), at + mark.n, SIZE_MAX);
	size_t line = str_find_char(rest, '\n');
	if (line == SIZE_MAX)
		return false;
	str_to_int(str_trim(str_sub(rest, 0, line)), &status);
	s->status = (int)status;
	keep(s, str_sub(buf_str(&s->raw), 0, at));
	s->at = AFTER;
	return true;
}

static void stream_scan(struct stream *s)
{
	if (s->at == BEFORE) {
		struct str mark = str_of(s->start);
		size_t at = str_find(buf_str(&s->raw), mark);

		if (at == SIZE_MAX) {
			drop_front(&s->raw, settled(&s->raw, mark));
			return;
		}
		drop_front(&s->raw, at + mark.n);
		s->at = INSIDE;
	}
	if (s->at == INSIDE)
		take_end(s, str_of(s->end));
}

static void stream_init(struct stream *s, const char *mark, size_t max)
{
	*s = (struct stream){ .max = max };
	snprintf(s->start, sizeof s->start, "b%s\n", mark);
	snprintf(s->end, sizeof s->end, "\ne%s", mark);
	buf_init(&s->raw, 4 * READ_CHUNK);
	buf_init(&s->kept, max + 1);
}

static void stream_fini(struct stream *s)
{
	buf_fini(&s->raw);
	buf_fini(&s->kept);
}

/* ---- running ---------------------------------------------------------------------------------- */

static void frame(struct buf *b, const char *mark, struct str script)
{
	buf_addf(b, "printf 'b%s\\n'; printf 'b%s\\n' >&2; (eval ", mark, mark);
	proc_quote(b, script);
	buf_addf(b, ") </dev/null; printf '\\ne%s %%d\\n' \"$?\"; printf '\\ne%s\\n' >&2\n", mark,
		 mark);
}

static int send_script(struct shell *sh, const char *mark, const struct shell_run *run,
		       struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 4 * run->script.n + 1024);
	frame(&b, mark, run->script);
	sh->bytes_out += b.n;
	return sh->io.write(sh->io.self, buf_str(&b), run->deadline, e);
}

static int receive(struct shell *sh, struct stream *out, struct stream *err, struct deadline d,
		   struct err *e)
{
	uint64_t turn = sh->bytes_in;

	while (out->at != AFTER || err->at != AFTER) {
		size_t before = out->raw.n + err->raw.n;
		bool eof = false;

		if (sh->bytes_in - turn > TURN_BYTES) {
			turn = sh->bytes_in;
			if (task_turn(d, e) != 0)
				return -1;
		}
		if (sh->io.read(sh->io.self, &out->raw, &err->raw, &eof, d, e) != 0)
			return -1;
		sh->bytes_in += out->raw.n + err->raw.n - before;
		stream_scan(out);
		stream_scan(err);
		if (eof && (out->at != AFTER || err->at != AFTER)) {
			keep(err, buf_str(&err->raw));
			return ended(sh, buf_str(err->kept.n ? &err->kept : &err->raw), e);
		}
	}
	return 0;
}

int shell_run(struct shell *sh, struct arena *a, const struct shell_run *run,
	      struct shell_result *r, struct err *e)
{
	struct stream out, err;
	char mark[40];

	if (sh->dead)
		return err_set(e, ERR_IO, "the connection to %s is gone", sh->host);
	random_mark(mark, sizeof mark, "");
	stream_init(&out, mark, run->max_output);
	stream_init(&err, mark, run->max_output);
	int rc = send_script(sh, mark, run, e);
	if (rc == 0)
		rc = receive(sh, &out, &err, run->deadline, e);
	if (rc == 0) {
		*r = (struct shell_result){ .status = out.status,
					    .truncated = out.truncated || err.truncated };
		r->out = (struct str){ buf_dup(&out.kept, a), out.kept.n };
		r->err = (struct str){ buf_dup(&err.kept, a), err.kept.n };
	} else {
		sh->dead = true; /* its answer may still come: nothing may be asked any more */
		if (e->kind == ERR_TIMEOUT) {
			err_set(e, ERR_TIMEOUT, "%s: the script did not end in time", sh->host);
			err_hint(e, "it may still run there: look before you repeat it");
		}
	}
	stream_fini(&out);
	stream_fini(&err);
	return rc;
}

void shell_close(struct shell *sh)
{
	if (sh->io.close)
		sh->io.close(sh->io.self);
	sh->io.close = NULL;
	sh->dead = true;
}
