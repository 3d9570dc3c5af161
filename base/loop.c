/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Signals reach the loop through a pipe that the handler writes to, not through signalfd: that needs
 * the signal blocked in every thread, and a thread that a library started before us would break it.
 */
#include "base/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/sched.h"

enum { MAX_SIGNALS = 8 };

struct handler {
	int signo;
	loop_signal_fn *fn;
	void *arg;
	bool installed;
	struct sigaction before;
};

static struct handler handlers[MAX_SIGNALS];
static size_t handlers_n;
static int sig_pipe[2] = { -1, -1 };
static void (*turn_fn)(void *);
static void *turn_arg;

static void on_signal(int signo)
{
	int saved = errno;
	unsigned char c = (unsigned char)signo;

	/* A full pipe means that the loop has thousands to look at already. */
	if (write(sig_pipe[1], &c, 1) < 0)
		errno = saved;
	errno = saved;
}

static void read_signals(void *arg)
{
	unsigned char got[64];
	ssize_t n = read(sig_pipe[0], got, sizeof got);

	(void)arg;
	for (ssize_t i = 0; i < n; i++)
		for (size_t k = 0; k < handlers_n; k++)
			if (handlers[k].signo == got[i] && handlers[k].fn)
				handlers[k].fn(handlers[k].arg, got[i]);
}

static void install(struct handler *h)
{
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	sigemptyset(&sa.sa_mask);
	if (!h->installed && sigaction(h->signo, &sa, &h->before) == 0)
		h->installed = true;
}

static void uninstall(struct handler *h)
{
	if (h->installed)
		sigaction(h->signo, &h->before, NULL);
	h->installed = false;
}

void loop_on_signal(int signo, loop_signal_fn *fn, void *arg)
{
	struct handler *h = NULL;

	for (size_t i = 0; i < handlers_n && !h; i++)
		if (handlers[i].signo == signo)
			h = &handlers[i];
	if (!h) {
		if (handlers_n == MAX_SIGNALS)
			bug("more than %d signals", MAX_SIGNALS);
		h = &handlers[handlers_n++];
		h->signo = signo;
	}
	h->fn = fn;
	h->arg = arg;
	if (!sched_is_running())
		return;
	if (fn)
		install(h);
	else
		uninstall(h);
	sched_set_may_idle(true);
}

void loop_on_turn(void (*fn)(void *), void *arg)
{
	turn_fn = fn;
	turn_arg = arg;
}

static void end_of_turn(void)
{
	if (turn_fn)
		turn_fn(turn_arg);
}

static int signals_open(struct err *e)
{
	if (pipe2(sig_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
		return err_sys(e, "pipe");
	if (sched_watch(sig_pipe[0], read_signals, NULL, e) != 0)
		return -1;
	for (size_t i = 0; i < handlers_n; i++)
		if (handlers[i].fn)
			install(&handlers[i]);
	return 0;
}

static void signals_close(void)
{
	for (size_t i = 0; i < handlers_n; i++)
		uninstall(&handlers[i]);
	handlers_n = 0;
	for (int i = 0; i < 2; i++) {
		if (sig_pipe[i] >= 0)
			close(sig_pipe[i]);
		sig_pipe[i] = -1;
	}
}

int loop_run(task_fn *fn, void *arg, const struct loop_opts *o, struct err *e)
{
	struct sched_opts so = { .may_idle = handlers_n > 0 };

	if (o) {
		so.seed = o->seed;
		so.warn_ms = o->warn_ms;
	}
	if (sched_open(&so, e) != 0)
		return -1;
	int rc = signals_open(e);
	if (rc == 0) {
		sched_spawn("main", fn, arg, NULL);
		sched_run(end_of_turn);
	}
	signals_close();
	sched_close();
	return rc;
}
