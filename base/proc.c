/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One child, its three pipes and its pidfd are put into a small epoll set of their own; that set is
 * itself a pollable fd, so the same code waits in a task and outside of one, for all four at once,
 * and big input with big output cannot deadlock.
 */
#include "base/proc.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/sched.h"

#define OUTPUT_DEFAULT	((size_t)1 << 20)
#define TIMEOUT_DEFAULT 60000
#define TERM_GRACE_MS	2000 /* between SIGTERM and SIGKILL */
#define EXIT_GRACE_MS	500  /* for output that a grandchild still holds open */

extern char **environ;

enum { IN, OUT, ERR, PIDFD, N_FDS };

struct run {
	pid_t pid;
	int fd[N_FDS]; /* our ends */
	int child[3];  /* the child's ends, until it runs */
	int ep;
	struct str input;
	struct buf out, err;
	size_t max;
	bool exited, truncated, polled;
};

/* ---- starting --------------------------------------------------------------------------------- */

/* Above 2, so that making them the child's 0, 1, 2 cannot overwrite one another. */
static int high_fd(int fd)
{
	if (fd > 2 || fd < 0)
		return fd;
	int up = fcntl(fd, F_DUPFD_CLOEXEC, 3);

	close(fd);
	return up;
}

static int pipe_high(int *read_end, int *write_end, struct err *e)
{
	int p[2];

	if (pipe2(p, O_CLOEXEC) != 0)
		return err_sys(e, "pipe");
	*read_end = high_fd(p[0]);
	*write_end = high_fd(p[1]);
	return *read_end < 0 || *write_end < 0 ? err_sys(e, "pipe") : 0;
}

static int open_pipes(struct run *r, struct err *e)
{
	if (r->input.n) {
		if (pipe_high(&r->child[0], &r->fd[IN], e) != 0)
			return -1;
	} else {
		r->child[0] = high_fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
		if (r->child[0] < 0)
			return err_sys(e, "/dev/null");
	}
	if (pipe_high(&r->fd[OUT], &r->child[1], e) != 0 ||
	    pipe_high(&r->fd[ERR], &r->child[2], e) != 0)
		return -1;
	for (int i = IN; i <= ERR; i++)
		if (r->fd[i] >= 0 && fcntl(r->fd[i], F_SETFL, O_NONBLOCK) != 0)
			return err_sys(e, "fcntl");
	return 0;
}

struct spawn {
	const char *const *argv;
	const char *cwd;
	const char *const *env;
	const int *fds; /* become 0, 1, 2; everything above is closed */
	short flags;
};

static int spawn(const struct spawn *s, pid_t *pid)
{
	posix_spawn_file_actions_t fa;
	posix_spawnattr_t attr;
	sigset_t none, all;
	char *const *env = s->env ? (char *const *)(uintptr_t)s->env : environ;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&fa);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&fa, s->fds[i], i);
	posix_spawn_file_actions_addclosefrom_np(&fa, 3);
	if (s->cwd)
		posix_spawn_file_actions_addchdir_np(&fa, s->cwd);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setflags(
		&attr, (short)(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | s->flags));
	int rc = posix_spawnp(pid, s->argv[0], &fa, &attr, (char *const *)(uintptr_t)s->argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&fa);
	return rc;
}

static int spawn_error(const struct spawn *s, int rc, struct err *e)
{
	if (rc == ENOENT && (!s->cwd || fs_is_dir(s->cwd))) {
		err_set(e, ERR_NOT_FOUND, "%s: no such program", s->argv[0]);
		e->code = rc;
		return err_hint(e, "install %s, or put it into PATH", s->argv[0]);
	}
	errno = rc;
	return err_sys(e, "cannot run %s", s->argv[0]);
}

static int watch(struct run *r, int which, uint32_t events, struct err *e)
{
	struct epoll_event ev = { .events = events, .data.u32 = (uint32_t)which };

	if (r->fd[which] < 0)
		return 0;
	return epoll_ctl(r->ep, EPOLL_CTL_ADD, r->fd[which], &ev) == 0 ? 0 : err_sys(e, "epoll");
}

/* Kernels before 5.3, and valgrind, have no pidfd: then a timer asks every 10 ms. */
static int exit_timer(void)
{
	const struct itimerspec every = { .it_interval = { 0, 10000000 },
					  .it_value = { 0, 10000000 } };
	int fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd >= 0)
		timerfd_settime(fd, 0, &every, NULL);
	return fd;
}

static bool has_exited(const struct run *r)
{
	siginfo_t si = { 0 };
	uint64_t ticks;

	if (!r->polled)
		return true; /* a pidfd says so by being readable */
	if (read(r->fd[PIDFD], &ticks, sizeof ticks) < 0)
		return false;
	return waitid(P_PID, (id_t)r->pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       si.si_pid == r->pid;
}

static int run_watch(struct run *r, struct err *e)
{
	r->fd[PIDFD] = (int)syscall(SYS_pidfd_open, r->pid, 0);
	r->polled = r->fd[PIDFD] < 0;
	if (r->polled)
		r->fd[PIDFD] = exit_timer();
	if (r->fd[PIDFD] < 0)
		return err_sys(e, "timerfd");
	r->ep = epoll_create1(EPOLL_CLOEXEC);
	if (r->ep < 0)
		return err_sys(e, "epoll_create1");
	return watch(r, IN, EPOLLOUT, e) || watch(r, OUT, EPOLLIN, e) ||
			       watch(r, ERR, EPOLLIN, e) || watch(r, PIDFD, EPOLLIN, e)
		       ? -1
		       : 0;
}

/* ---- pumping ---------------------------------------------------------------------------------- */

static void write_input(struct run *r)
{
	struct timespec now = { 0 };
	sigset_t pipe_sig, old;

	/* A reader that went away is the child's business: EPIPE, not SIGPIPE. */
	sigemptyset(&pipe_sig);
	sigaddset(&pipe_sig, SIGPIPE);
	pthread_sigmask(SIG_BLOCK, &pipe_sig, &old);
	ssize_t n = write(r->fd[IN], r->input.p, r->input.n);
	int saved = errno;
	if (n < 0 && saved == EPIPE && !sigismember(&old, SIGPIPE))
		while (sigtimedwait(&pipe_sig, NULL, &now) < 0 && errno == EINTR)
			continue;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (n > 0)
		r->input = str_sub(r->input, (size_t)n, SIZE_MAX);
	else if (n < 0 && (saved == EAGAIN || saved == EINTR))
		return;
	if (n < 0 || r->input.n == 0)
		close_fd(&r->fd[IN]);
}

static void read_output(struct run *r, int which)
{
	struct buf *b = which == OUT ? &r->out : &r->err;
	char tmp[16384];
	ssize_t n = read(r->fd[which], tmp, sizeof tmp);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		close_fd(&r->fd[which]);
		return;
	}
	size_t room = r->max - b->n, take = (size_t)n < room ? (size_t)n : room;
	buf_add(b, tmp, take);
	r->truncated |= take < (size_t)n;
}

static void on_event(struct run *r, uint32_t which)
{
	if (which == PIDFD) {
		if (!has_exited(r))
			return;
		r->exited = true;
		epoll_ctl(r->ep, EPOLL_CTL_DEL, r->fd[PIDFD], NULL);
	} else if (r->fd[which] >= 0 && which == IN) {
		write_input(r);
	} else if (r->fd[which] >= 0) {
		read_output(r, (int)which);
	}
}

/* Until the child has exited and its output is read to the end, or d. */
static int pump(struct run *r, struct deadline d, struct err *e)
{
	while (!r->exited || r->fd[OUT] >= 0 || r->fd[ERR] >= 0) {
		struct epoll_event ev[N_FDS];
		bool was_exited = r->exited;

		/* A child that never stops talking is always ready: waiting would not time out. */
		if (deadline_left(d) == 0)
			return r->exited ? 0 : err_set(e, ERR_TIMEOUT, "timed out");
		if (task_wait_fd(r->ep, FD_READ, d, e) != 0)
			return r->exited && e->kind == ERR_TIMEOUT ? 0 : -1;
		int n = epoll_wait(r->ep, ev, N_FDS, 0);
		for (int i = 0; i < n; i++)
			on_event(r, ev[i].data.u32);
		if (r->exited && !was_exited)
			d = deadline_min(d, deadline_in(EXIT_GRACE_MS));
	}
	return 0;
}

/* The zombie keeps the pid ours until it is reaped, so signalling the group here cannot hit
 * strangers. */
static void stop(struct run *r)
{
	struct err ignored;

	task_shield_begin();
	kill(-r->pid, SIGTERM);
	if (pump(r, deadline_in(TERM_GRACE_MS), &ignored) != 0 || !r->exited) {
		kill(-r->pid, SIGKILL);
		struct deadline d = deadline_in(10000);
		while (!r->exited && task_wait_fd(r->fd[PIDFD], FD_READ, d, &ignored) == 0)
			r->exited = has_exited(r);
	}
	kill(-r->pid, SIGKILL);
	task_shield_end();
}

static int reap(pid_t pid)
{
	int st = 0;

	while (waitpid(pid, &st, 0) < 0 && errno == EINTR)
		continue;
	return WIFSIGNALED(st) ? 128 + WTERMSIG(st) : WEXITSTATUS(st);
}

static void run_init(struct run *r, const struct proc_opts *o)
{
	*r = (struct run){ .fd = { -1, -1, -1, -1 }, .child = { -1, -1, -1 }, .ep = -1 };
	r->input = o->input;
	r->max = o->max_output ? o->max_output : OUTPUT_DEFAULT;
	buf_init(&r->out, r->max + 1);
	buf_init(&r->err, r->max + 1);
}

static void run_fini(struct run *r)
{
	for (int i = 0; i < N_FDS; i++)
		close_fd(&r->fd[i]);
	for (int i = 0; i < 3; i++)
		close_fd(&r->child[i]);
	close_fd(&r->ep);
	buf_fini(&r->out);
	buf_fini(&r->err);
}

static int run_start(struct run *r, const char *const *argv, const struct proc_opts *o,
		     struct err *e)
{
	struct spawn s = { argv, o->cwd, o->env, r->child, POSIX_SPAWN_SETPGROUP };

	if (open_pipes(r, e) != 0)
		return -1;
	int rc = spawn(&s, &r->pid);
	for (int i = 0; i < 3; i++)
		close_fd(&r->child[i]);
	if (rc != 0)
		return spawn_error(&s, rc, e);
	if (run_watch(r, e) != 0) {
		kill(-r->pid, SIGKILL);
		reap(r->pid);
		return -1;
	}
	return 0;
}

static int run_to_end(struct run *r, const char *name, int64_t timeout_ms, struct err *e)
{
	sched_outside_begin();
	int rc = pump(r, deadline_in(timeout_ms), e);
	if (rc != 0)
		stop(r);
	sched_outside_end();
	if (rc == 0)
		return 0;
	if (e->kind == ERR_TIMEOUT) {
		char limit[16];

		clock_format_duration(timeout_ms, limit);
		return err_set(e, ERR_TIMEOUT, "%s did not end within %s and was stopped", name,
			       limit);
	}
	return err_wrap(e, "%s was stopped", name);
}

int proc_run(struct arena *a, const char *const *argv, const struct proc_opts *o,
	     struct proc_result *r, struct err *e)
{
	static const struct proc_opts defaults;
	struct run run;

	if (!o)
		o = &defaults;
	if (task_check(e) != 0)
		return -1;
	run_init(&run, o);
	int rc = run_start(&run, argv, o, e);
	if (rc == 0) {
		rc = run_to_end(&run, argv[0], o->timeout_ms ? o->timeout_ms : TIMEOUT_DEFAULT, e);
		int status = run.exited ? reap(run.pid) : -1;
		*r = (struct proc_result){ .status = status, .truncated = run.truncated };
		r->out = (struct str){ buf_dup(&run.out, a), run.out.n };
		r->err = (struct str){ buf_dup(&run.err, a), run.err.n };
	}
	run_fini(&run);
	return rc;
}

int proc_check(struct arena *a, const char *const *argv, const struct proc_opts *o,
	       struct proc_result *r, struct err *e)
{
	struct proc_result mine;

	if (!r)
		r = &mine;
	if (proc_run(a, argv, o, r, e) != 0)
		return -1;
	if (r->status == 0)
		return 0;
	struct str rest = str_trim(r->err), line, last = STR_NONE;
	while (str_next_line(&rest, &line))
		last = line;
	if (last.n)
		err_set(e, ERR_REMOTE, "%s failed (%d): " STR_FMT, argv[0], r->status,
			STR_ARG(last));
	else
		err_set(e, ERR_REMOTE, "%s failed with status %d", argv[0], r->status);
	e->code = r->status;
	return -1;
}

/* ---- streams ---------------------------------------------------------------------------------- */

int proc_stream_open(const char *const *argv, struct proc_stream *out, struct err *e)
{
	const struct proc_opts o = { .input = STR("x") }; /* a pipe, not /dev/null */
	struct run r;

	run_init(&r, &o);
	if (run_start(&r, argv, &o, e) != 0) {
		run_fini(&r);
		return -1;
	}
	*out = (struct proc_stream){ r.pid, r.fd[IN], r.fd[OUT], r.fd[ERR], r.ep };
	epoll_ctl(r.ep, EPOLL_CTL_DEL, r.fd[IN], NULL);
	close_fd(&r.fd[PIDFD]); /* leaves the set; the end of out tells */
	buf_fini(&r.out);
	buf_fini(&r.err);
	return 0;
}

void proc_stream_close(struct proc_stream *s)
{
	struct err ignored;
	siginfo_t si = { 0 };

	close_fd(&s->in);
	close_fd(&s->out);
	close_fd(&s->err);
	close_fd(&s->poll);
	task_shield_begin();
	for (int i = 0; s->pid > 0 && i < TERM_GRACE_MS / 10; i++) {
		if (waitid(P_PID, (id_t)s->pid, &si, WEXITED | WNOHANG | WNOWAIT) == 0 &&
		    si.si_pid == s->pid)
			break;
		if (i == 5) /* the end of its input was not enough */
			kill(-s->pid, SIGTERM);
		if (task_sleep(i < 5 ? 2 : 10, &ignored) != 0)
			break;
	}
	if (s->pid > 0) {
		kill(-s->pid, SIGKILL);
		reap(s->pid);
	}
	s->pid = 0;
	task_shield_end();
}

/* ---- daemons ---------------------------------------------------------------------------------- */

struct born {
	int rc;
	pid_t pid;
};

/* In a child that ends at once, so that the daemon is init's and never our zombie. */
static no_return void daemon_child(const struct spawn *s, int tell)
{
	struct born b = { 0 };

	b.rc = spawn(s, &b.pid);
	ssize_t n = write(tell, &b, sizeof b);
	_exit(n == (ssize_t)sizeof b ? 0 : 1);
}

int proc_daemon(const char *const *argv, const char *log_path, pid_t *pid, struct err *e)
{
	scoped(close_fd) int null_fd = high_fd(open("/dev/null", O_RDWR | O_CLOEXEC));
	scoped(close_fd) int log_fd =
		high_fd(open(log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
	scoped(close_fd) int hear = -1;
	scoped(close_fd) int tell = -1;
	struct born b;

	if (null_fd < 0)
		return err_sys(e, "/dev/null");
	if (log_fd < 0)
		return err_sys(e, "%s", log_path);
	if (pipe_high(&hear, &tell, e) != 0)
		return -1;
	const int fds[3] = { null_fd, log_fd, log_fd };
	const struct spawn s = { argv, NULL, NULL, fds, POSIX_SPAWN_SETSID };
	pid_t middle = fork();
	if (middle < 0)
		return err_sys(e, "fork");
	if (middle == 0)
		daemon_child(&s, tell);
	close_fd(&tell);
	ssize_t n = read(hear, &b, sizeof b); /* the middle child writes at once or dies */
	reap(middle);
	if (n != (ssize_t)sizeof b)
		return err_set(e, ERR_IO, "%s could not be started", argv[0]);
	if (b.rc != 0)
		return spawn_error(&s, b.rc, e);
	*pid = b.pid;
	return 0;
}

/* ---- identity --------------------------------------------------------------------------------- */

static ssize_t read_small(const char *path, char *out, size_t cap)
{
	scoped(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, cap - 1);

	out[n > 0 ? n : 0] = '\0';
	return n;
}

/* The name in field 2 may hold blanks and brackets: count from the last ')'. */
static bool parse_stat(const char *stat, char *state, uint64_t *start)
{
	const char *p = strrchr(stat, ')');
	struct str rest, field = STR_NONE;

	if (!p || p[1] != ' ')
		return false;
	rest = str_of(p + 2);
	*state = p[2];
	for (int i = 3; i <= 22; i++)
		if (!str_next(&rest, ' ', &field))
			return false;
	return str_to_uint(field, 10, start);
}

int proc_identify(pid_t pid, struct proc_id *out, struct err *e)
{
	char path[64], stat[1024], state;

	*out = (struct proc_id){ .pid = pid };
	if (read_small("/proc/sys/kernel/random/boot_id", out->boot_id, sizeof out->boot_id) < 36)
		return err_sys(e, "boot_id");
	snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
	if (pid <= 0 || read_small(path, stat, sizeof stat) <= 0 ||
	    !parse_stat(stat, &state, &out->start) || state == 'Z' || state == 'X')
		return err_set(e, ERR_NOT_FOUND, "no process %ld", (long)pid);
	return 0;
}

bool proc_is_alive(const struct proc_id *id)
{
	struct proc_id now;
	struct err ignored;

	return proc_identify(id->pid, &now, &ignored) == 0 && now.start == id->start &&
	       strcmp(now.boot_id, id->boot_id) == 0;
}

/* ---- quoting ---------------------------------------------------------------------------------- */

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!isalnum((unsigned char)s.p[i]) && !memchr("@%+:,./_-", s.p[i], 9))
			return false;
	return s.n > 0;
}

void proc_quote(struct buf *b, struct str s)
{
	if (is_plain(s)) {
		buf_addstr(b, s);
		return;
	}
	buf_addc(b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_adds(b, "'\\''");
		else if (s.p[i] != '\0') /* no shell word can hold it */
			buf_addc(b, s.p[i]);
	}
	buf_addc(b, '\'');
}

/* ---- limits ----------------------------------------------------------------------------------- */

size_t proc_files_allow(size_t want)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return 1024;
	if (r.rlim_cur < want && r.rlim_cur < r.rlim_max) {
		rlim_t before = r.rlim_cur;

		r.rlim_cur = want < r.rlim_max ? want : r.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &r) != 0)
			r.rlim_cur = before;
	}
	return (size_t)r.rlim_cur;
}
