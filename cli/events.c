/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same line goes to every sink, so that a pipeline that reads stdout and a person who looks at
 * the record later see the same thing. A line that could not be written whole is taken back where
 * that is possible: a reader may count on whole lines.
 */
#include "cli/events.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/out.h"

enum {
	READER_WAIT_MS = 5000,
	READER_POLL_MS = 20,
};

#define EARLY_MAX ((size_t)64 << 20)

struct sink {
	int fd;
	const char *path;
};

static struct {
	bool opened;
	bool to_stdout;
	struct sink into, run;
	bool keeps_early;
	struct buf early; /* what came before the run had a name: the plan */
	int64_t started;
	const struct value *result;
} sinks = { .into.fd = -1, .run.fd = -1 };

/* ---- a line, whole or not at all ---- */

static int write_line(int fd, struct str line)
{
	struct str rest = line;

	while (rest.n) {
		ssize_t n = write(fd, rest.p, rest.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			int cause = n < 0 ? errno : EIO;
			off_t end = lseek(fd, 0, SEEK_END);

			/* pipes and terminals keep what they got */
			if (rest.n < line.n && end >= (off_t)(line.n - rest.n) &&
			    ftruncate(fd, end - (off_t)(line.n - rest.n)) < 0)
				cause = errno;
			errno = cause;
			return -1;
		}
		rest = str_sub(rest, (size_t)n, SIZE_MAX);
	}
	return 0;
}

static void sink_write(struct sink *s, struct str line)
{
	if (s->fd < 0 || write_line(s->fd, line) == 0)
		return;
	log_warn("%s: %s: later events are not written there; the run goes on", s->path,
		 strerror(errno));
	close_fd(&s->fd);
}

static void stdout_write(struct cli *c, struct str line)
{
	if (!sinks.to_stdout)
		return;
	out_write(STDOUT_FILENO, line);
	int lost = out_lost_errno();

	if (!lost)
		return;
	sinks.to_stdout = false;
	if (lost == EPIPE)
		session_stop(c, SIGPIPE);
	else
		log_warn("stdout: %s: later events are not written there; the run goes on",
			 strerror(lost));
}

/* A run that was killed may have left half a line in the file. */
static void end_half_line(int fd)
{
	char last = '\n';
	off_t size = lseek(fd, 0, SEEK_END);

	if (size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n' &&
	    write(fd, "\n", 1) != 1)
		log_debug("the file of events takes nothing");
}

/*
 * Opening a named pipe waits for its reader without end. Ours may come a little later (`cat pipe &`
 * before us), but one that never comes must not hold the run.
 */
static int pipe_open(const char *path)
{
	const struct timespec pause = { .tv_nsec = READER_POLL_MS * 1000000L };

	for (int waited = 0;; waited += READER_POLL_MS) {
		int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

		if (fd >= 0) {
			int flags = fcntl(fd, F_GETFL);

			if (flags >= 0 && fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) == 0)
				return fd;
			close_fd(&fd);
			return -1;
		}
		if (errno != ENXIO || waited >= READER_WAIT_MS)
			return -1;
		if (nanosleep(&pause, NULL) != 0)
			return -1; /* a signal */
	}
}

static int sink_open(struct sink *s, const char *path, struct err *e)
{
	struct stat st;
	/* a named pipe is not opened for reading, or it would be its own reader */
	bool is_pipe = stat(path, &st) == 0 && !S_ISREG(st.st_mode);

	s->path = path;
	s->fd = is_pipe && S_ISFIFO(st.st_mode)
			? pipe_open(path)
			: open(path, (is_pipe ? O_WRONLY : O_RDWR) | O_CREAT | O_APPEND | O_CLOEXEC,
			       0600);
	if (s->fd < 0 && errno == ENXIO)
		return err_set(e, ERR_IO, "opening %s: nobody reads this pipe", path);
	if (s->fd < 0)
		return err_sys(e, "opening %s", path);
	if (!is_pipe)
		end_half_line(s->fd);
	return 0;
}

/* ---- open ---- */

int events_open(struct cli *c, struct err *e)
{
	struct value *v = value_map(c->a);

	if (sinks.opened)
		return 0;
	sinks.started = clock_now();
	sinks.to_stdout = c->g.json && c->cmd->flags & EVENTS;
	sinks.keeps_early = c->cmd->flags & RECORDED;
	if (c->g.json_into && sink_open(&sinks.into, c->g.json_into, e) < 0)
		return -1;
	buf_init(&sinks.early, EARLY_MAX);
	sinks.opened = true;
	value_set(v, "format_version", value_cstr(c->a, EVENTS_FORMAT));
	value_set(v, "muster", value_cstr(c->a, MUSTER_VERSION));
	value_set(v, "command", value_cstr(c->a, c->cmd->name));
	value_set(v, "pid", value_int(c->a, getpid()));
	events_emit(c, "start", v);
	return 0;
}

int events_open_run(struct cli *c, const char *run, struct err *e)
{
	char *dir = fs_join(c->a, c->state_dir, "runs");

	if (!sinks.keeps_early)
		return 0;
	sinks.keeps_early = false;
	if (fs_mkdirs(dir, 0700, e) < 0 ||
	    sink_open(&sinks.run, arena_printf(c->a, "%s/%s.ndjson", dir, run), e) < 0)
		return -1;
	sink_write(&sinks.run, buf_str(&sinks.early));
	buf_fini(&sinks.early);
	return 0;
}

bool events_wanted(void)
{
	return sinks.opened &&
	       (sinks.to_stdout || sinks.keeps_early || sinks.into.fd >= 0 || sinks.run.fd >= 0);
}

/* ---- emit ---- */

static void check(struct arena *a, const char *type, const struct value *v)
{
	const char *fault = event_fault(a, type, v);

	if (fault)
		log_warn("an undocumented event: %s", fault);
}

void events_emit(struct cli *c, const char *type, const struct value *fields)
{
	if (!events_wanted())
		return;
	scoped(arena_freep) struct arena *a = arena_new("event");
	scoped(buf_fini) struct buf raw = { 0 }, line = { 0 };
	char now[CLOCK_ISO_LEN];
	struct value *v = value_map(a);

	clock_iso(clock_wall(), now);
	value_set(v, "@timestamp", value_cstr(a, now));
	value_set(v, "type", value_cstr(a, type));
	value_set(v, "elapsed_ms", value_int(a, clock_now() - sinks.started));
	for (size_t i = 0; fields && i < fields->map.n; i++)
		value_sets(v, fields->map.e[i].key, fields->map.e[i].val);
	check(a, type, v);
	buf_init(&raw, SIZE_MAX);
	buf_init(&line, SIZE_MAX);
	json_write(&raw, v, 0);
	scrub(&line, buf_str(&raw));
	buf_addc(&line, '\n');
	sink_write(&sinks.into, buf_str(&line));
	sink_write(&sinks.run, buf_str(&line));
	if (sinks.keeps_early)
		buf_addstr(&sinks.early, buf_str(&line));
	stdout_write(c, buf_str(&line));
}

/* ---- the last line ---- */

void events_result(struct cli *c unused_arg, const struct value *fields)
{
	sinks.result = fields;
}

void events_nodes_result(struct cli *c, size_t nodes, size_t failed)
{
	struct value *v = value_map(c->a);

	value_set(v, "nodes", value_int(c->a, (int64_t)nodes));
	value_set(v, "failed", value_int(c->a, (int64_t)failed));
	events_result(c, v);
}

static const char *outcome_of(int code)
{
	switch (code) {
	case EXIT_DONE: return "done";
	case EXIT_CHANGES: return "changes";
	case EXIT_DRIFT: return "drift";
	case EXIT_PARTIAL: return "partial";
	case 5: return "leased";
	case EXIT_REFUSED: return "refused";
	case EXIT_USAGE: return "usage";
	default: return code > 128 ? "stopped" : "failed";
	}
}

void events_close(struct cli *c, int exit_code)
{
	struct value *v = value_map(c->a);

	if (!sinks.opened)
		return;
	value_set(v, "command", value_cstr(c->a, c->cmd->name));
	value_set(v, "exit_code", value_int(c->a, exit_code));
	value_set(v, "outcome", value_cstr(c->a, outcome_of(exit_code)));
	for (size_t i = 0; sinks.result && i < sinks.result->map.n; i++)
		value_sets(v, sinks.result->map.e[i].key, sinks.result->map.e[i].val);
	events_emit(c, "result", v);
	close_fd(&sinks.into.fd);
	close_fd(&sinks.run.fd);
	buf_fini(&sinks.early);
	sinks.opened = false;
}
