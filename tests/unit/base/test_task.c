/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks, groups, events, semaphores, the loop and the offload pool. Virtual time wherever nothing
 * outside takes part. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/offload.h"
#include "base/str.h"

static char trace[512];

static void note(const char *what)
{
	size_t n = strlen(trace);

	snprintf(trace + n, sizeof trace - n, "%s%s", n ? " " : "", what);
}

static void run(task_fn *fn, void *arg)
{
	struct err e;

	trace[0] = '\0';
	assert_int_equal(loop_run(fn, arg, NULL, &e), 0);
}

static void run_virtual(task_fn *fn, void *arg)
{
	clock_set_virtual(true);
	run(fn, arg);
	clock_set_virtual(false);
}

/* ---- order and sleep -------------------------------------------------------------------------- */

struct sleeper {
	const char *name;
	int64_t ms;
};

static void sleeper(void *arg)
{
	const struct sleeper *s = arg;
	struct err e;

	assert_int_equal(task_sleep(s->ms, &e), 0);
	note(s->name);
}

static void sleep_main(void *arg)
{
	struct sleeper s[] = { { "c", 3000 }, { "a", 1000 }, { "b", 2000 }, { "b2", 2000 } };
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	for (size_t i = 0; i < ARRAY_LEN(s); i++)
		task_spawn(&g, s[i].name, sleeper, &s[i]);
	assert_int_equal(trace[0], '\0'); /* nobody has run yet */
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(clock_now(), 3000);
}

static void test_sleep_order(void **state)
{
	(void)state;
	run_virtual(sleep_main, NULL);
	assert_string_equal(trace, "a b b2 c");
}

static void yielder(void *arg)
{
	for (int i = 0; i < 3; i++) {
		note(arg);
		task_yield();
	}
}

static void yield_main(void *arg)
{
	static char names[3][2] = { "a", "b", "c" };
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	for (int i = 0; i < 3; i++)
		task_spawn(&g, names[i], yielder, names[i]);
	assert_int_equal(group_wait(&g, &e), 0);
}

static void due_main(void *arg)
{
	static char name[] = "a";
	struct deadline d = deadline_in(100);
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	task_spawn(&g, "a", yielder, name);
	assert_int_equal(task_turn(d, &e), 0);
	assert_string_equal(trace, "a"); /* it has had its turn */
	clock_advance(100);
	assert_int_equal(task_turn(d, &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_string_equal(trace, "a a");
	assert_int_equal(group_wait(&g, &e), 0);
}

static void cancelled_turn(void *arg)
{
	struct err e;

	(void)arg;
	while (task_turn(DEADLINE_NONE, &e) == 0)
		continue;
	assert_int_equal(e.kind, ERR_CANCELLED);
	note("ended");
}

static void cancel_turn_main(void *arg)
{
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	task_spawn(&g, "turns", cancelled_turn, NULL);
	task_yield();
	group_cancel(&g);
	assert_int_equal(group_wait(&g, &e), 0);
}

static void test_turn(void **state)
{
	struct err e;

	(void)state;
	run_virtual(due_main, NULL);
	run(cancel_turn_main, NULL);
	assert_string_equal(trace, "ended");
	assert_int_equal(task_turn(deadline_in(1000), &e), 0); /* outside any task */
}

static void test_yield_is_fair(void **state)
{
	(void)state;
	run_virtual(yield_main, NULL);
	assert_string_equal(trace, "a b c a b c a b c");
}

static void seeded(uint64_t seed, char *out, size_t cap)
{
	struct loop_opts o = { .seed = seed };
	struct err e;

	trace[0] = '\0';
	clock_set_virtual(true);
	assert_int_equal(loop_run(yield_main, NULL, &o, &e), 0);
	clock_set_virtual(false);
	snprintf(out, cap, "%s", trace);
}

static void test_seed_replays(void **state)
{
	char first[128], again[128], other[128];
	int different = 0;

	(void)state;
	seeded(7, first, sizeof first);
	seeded(7, again, sizeof again);
	assert_string_equal(first, again);
	for (uint64_t s = 8; s < 16; s++) {
		seeded(s, other, sizeof other);
		different += strcmp(first, other) != 0;
	}
	assert_true(different >= 6);
}

/* ---- cancellation ----------------------------------------------------------------------------- */

struct waits {
	struct task_event ev;
	struct task_sem sem;
	int fd[2];
	int cancelled;
};

static void expect_cancel(struct waits *w, int rc, const struct err *e)
{
	assert_int_equal(rc, -1);
	assert_int_equal(e->kind, ERR_CANCELLED);
	assert_true(task_is_cancelled());
	struct err again;
	assert_int_equal(task_sleep(1, &again), -1); /* every later wait too */
	assert_int_equal(again.kind, ERR_CANCELLED);
	w->cancelled++;
}

static void in_sleep(void *arg)
{
	struct err e;
	int rc = task_sleep(1000000, &e);

	expect_cancel(arg, rc, &e);
}

static void in_event(void *arg)
{
	struct waits *w = arg;
	struct err e;
	int rc = task_event_wait(&w->ev, DEADLINE_NONE, &e);

	expect_cancel(w, rc, &e);
}

static void in_sem(void *arg)
{
	struct waits *w = arg;
	struct err e;
	int rc = task_sem_take(&w->sem, deadline_in(1000000), &e);

	expect_cancel(w, rc, &e);
}

static void in_fd(void *arg)
{
	struct waits *w = arg;
	struct err e;
	int rc = task_wait_fd(w->fd[0], FD_READ, DEADLINE_NONE, &e);

	expect_cancel(w, rc, &e);
}

static void in_group(void *arg)
{
	struct group g;
	struct err e;

	group_init(&g);
	task_spawn(&g, "grandchild", in_sleep, arg);
	int rc = group_wait(&g, &e);
	assert_int_equal(g.live, 0);
	expect_cancel(arg, rc, &e);
}

static void never_started(void *arg)
{
	struct err e;
	int rc = task_check(&e);

	expect_cancel(arg, rc, &e);
}

static void cancel_main(void *arg)
{
	struct waits *w = arg;
	struct group g;
	struct err e;

	group_init(&g);
	task_spawn(&g, "sleep", in_sleep, w);
	task_spawn(&g, "event", in_event, w);
	task_spawn(&g, "sem", in_sem, w);
	task_spawn(&g, "fd", in_fd, w);
	task_spawn(&g, "group", in_group, w);
	assert_int_equal(task_sleep(10, &e), 0);
	group_cancel(&g);
	task_spawn(&g, "late", never_started, w); /* born cancelled */
	assert_int_equal(group_wait(&g, &e), 0);
	assert_null(w->ev.waiting);
	assert_null(w->sem.first);
	assert_null(w->sem.last);
	assert_int_equal(clock_now(), 10);
}

static void test_cancel_every_wait(void **state)
{
	struct waits w = { 0 };

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, w.fd), 0);
	run_virtual(cancel_main, &w);
	assert_int_equal(w.cancelled, 7);
	close(w.fd[0]);
	close(w.fd[1]);
}

static void shielded(void *arg)
{
	struct err e;

	(void)arg;
	task_shield_begin();
	task_shield_begin();
	assert_int_equal(task_sleep(100, &e), 0);
	task_shield_end();
	assert_false(task_is_cancelled());
	assert_int_equal(task_sleep(100, &e), 0);
	task_shield_end();
	assert_true(task_is_cancelled());
	assert_int_equal(task_sleep(100, &e), -1);
	assert_int_equal(e.kind, ERR_CANCELLED);
	note("clean");
}

static void shield_main(void *arg)
{
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	struct task *t = task_spawn(&g, "shielded", shielded, NULL);
	assert_int_equal(task_sleep(50, &e), 0);
	task_cancel(t);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(clock_now(), 200);
}

static void test_shield(void **state)
{
	(void)state;
	run_virtual(shield_main, NULL);
	assert_string_equal(trace, "clean");
}

/* ---- events, semaphores, deadlines ------------------------------------------------------------ */

static void event_waiter(void *arg)
{
	struct err e;

	assert_int_equal(task_event_wait(arg, deadline_in(1000), &e), 0);
	note("woken");
}

static void event_main(void *arg)
{
	struct task_event ev = { 0 };
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	for (int i = 0; i < 3; i++)
		task_spawn(&g, "waiter", event_waiter, &ev);
	assert_int_equal(task_event_wait(&ev, deadline_in(100), &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(clock_now(), 100);
	task_event_set(&ev);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(task_event_wait(&ev, deadline_in(0), &e), 0); /* stays set */
	assert_int_equal(clock_now(), 100);
}

static void test_event(void **state)
{
	(void)state;
	run_virtual(event_main, NULL);
	assert_string_equal(trace, "woken woken woken");
}

struct semtest {
	struct task_sem sem;
	int inside, most, done;
};

static void sem_user(void *arg)
{
	struct semtest *t = arg;
	struct err e;

	assert_int_equal(task_sem_take(&t->sem, DEADLINE_NONE, &e), 0);
	if (++t->inside > t->most)
		t->most = t->inside;
	assert_int_equal(task_sleep(10, &e), 0);
	t->inside--;
	t->done++;
	task_sem_give(&t->sem);
}

static void sem_main(void *arg)
{
	struct semtest *t = arg;
	struct group g;
	struct err e;

	group_init(&g);
	for (int i = 0; i < 10; i++)
		task_spawn(&g, "user", sem_user, t);
	assert_int_equal(task_sleep(5, &e), 0);
	assert_int_equal(task_sem_take(&t->sem, deadline_in(7), &e),
			 -1); /* queued behind the others */
	assert_int_equal(e.kind, ERR_TIMEOUT);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(t->sem.free, 3);
	assert_int_equal(clock_now(), 40);
}

static void test_semaphore(void **state)
{
	struct semtest t = { .sem = { .free = 3 } };

	(void)state;
	run_virtual(sem_main, &t);
	assert_int_equal(t.most, 3);
	assert_int_equal(t.done, 10);
}

/* A unit given in the same instant in which its waiter times out or is cancelled must not be lost. */
static void sem_race_user(void *arg)
{
	struct semtest *t = arg;
	struct err e;

	if (task_sem_take(&t->sem, deadline_in(10), &e) == 0) {
		t->done++;
		task_sem_give(&t->sem);
	}
}

static void sem_giver(void *arg)
{
	struct semtest *t = arg;
	struct err e;

	assert_int_equal(task_sleep(10, &e), 0);
	task_sem_give(&t->sem);
}

static void sem_race_main(void *arg)
{
	struct semtest *t = arg;
	struct group g;
	struct err e;

	group_init(&g);
	task_spawn(&g, "giver", sem_giver, t);
	for (int i = 0; i < 5; i++)
		task_spawn(&g, "racer", sem_race_user, t);
	task_spawn(&g, "giver", sem_giver, t);
	assert_int_equal(task_sleep(10, &e), 0);
	group_cancel(&g);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(t->sem.free, 2);
	assert_null(t->sem.first);
}

static void test_semaphore_loses_nothing(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct semtest t = { 0 };
		struct loop_opts o = { .seed = seed };
		struct err e;

		clock_set_virtual(true);
		assert_int_equal(loop_run(sem_race_main, &t, &o, &e), 0);
		clock_set_virtual(false);
	}
}

/* ---- file descriptors ------------------------------------------------------------------------- */

static void fd_reader(void *arg)
{
	const int *fd = arg;
	struct err e;
	char c;

	assert_int_equal(task_wait_fd(fd[0], FD_READ, deadline_in(5000), &e), 0);
	assert_int_equal(read(fd[0], &c, 1), 1);
	note("read");
	assert_int_equal(task_wait_fd(fd[0], FD_READ, deadline_in(5000), &e), 0);
	assert_int_equal(read(fd[0], &c, 1), 0);
	note("end");
}

static void fd_main(void *arg)
{
	int *fd = arg;
	struct group g;
	struct err e;

	group_init(&g);
	assert_int_equal(task_wait_fd(fd[0], FD_READ, deadline_in(20), &e), -1);
	assert_int_equal(e.kind, ERR_TIMEOUT);
	task_spawn(&g, "reader", fd_reader, fd);
	task_yield();
	/* Two tasks on one fd, different events. */
	assert_int_equal(task_wait_fd(fd[0], FD_WRITE, deadline_in(1000), &e), 0);
	note("writable");
	assert_int_equal(write(fd[1], "x", 1), 1);
	assert_int_equal(task_sleep(20, &e), 0);
	close(fd[1]);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(task_wait_fd(fd[0], FD_READ, deadline_in(0), &e),
			 0); /* ready: no time needed */
	close(fd[0]);
	/* The number comes again, for another socket. */
	int again[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, again), 0);
	assert_int_equal(task_wait_fd(again[0], FD_READ, deadline_in(10), &e), -1);
	assert_int_equal(write(again[1], "x", 1), 1);
	assert_int_equal(task_wait_fd(again[0], FD_READ, deadline_in(1000), &e), 0);
	close(again[0]);
	close(again[1]);
	int file = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	assert_int_equal(task_wait_fd(file, FD_READ, deadline_in(1000), &e), 0);
	close(file);
}

static void test_fds(void **state)
{
	int fd[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
	run(fd_main, fd);
	assert_string_equal(trace, "writable read end");
}

/* ---- many tasks ------------------------------------------------------------------------------- */

static size_t many_done;

static void one_of_many(void *arg)
{
	volatile char deep[8192];
	struct err e;

	memset((void *)(uintptr_t)deep, (int)(uintptr_t)arg, sizeof deep);
	assert_int_equal(task_sleep((int64_t)(uintptr_t)arg % 100 + 1, &e), 0);
	task_yield();
	assert_int_equal((unsigned char)deep[4711], (unsigned char)(uintptr_t)arg);
	many_done++;
}

static void many_main(void *arg)
{
	struct group g;
	struct err e;

	group_init(&g);
	for (size_t i = 0; i < (size_t)(uintptr_t)arg; i++)
		task_spawn(&g, "one", one_of_many, (void *)(uintptr_t)i);
	assert_int_equal(group_wait(&g, &e), 0);
}

static void test_ten_thousand(void **state)
{
#ifdef MUSTER_TASK_PTHREAD
	size_t n = 500;
#else
	size_t n = 10000;
#endif
	(void)state;
	for (int round = 0; round < 2; round++) { /* the second on reused stacks */
		many_done = 0;
		run_virtual(many_main, (void *)(uintptr_t)n);
		assert_int_equal(many_done, n);
	}
}

/* ---- loop: turns, signals, warnings ----------------------------------------------------------- */

static int turns, signals;

static void on_turn(void *arg)
{
	(void)arg;
	assert_false(task_is_running());
	turns++;
}

static void turn_main(void *arg)
{
	struct err e;

	(void)arg;
	for (int i = 0; i < 3; i++)
		assert_int_equal(task_sleep(1000, &e), 0);
}

static void test_on_turn(void **state)
{
	(void)state;
	turns = 0;
	loop_on_turn(on_turn, NULL);
	run_virtual(turn_main, NULL);
	loop_on_turn(NULL, NULL);
	assert_int_equal(turns, 4);
}

static void on_int(void *arg, int signo)
{
	assert_int_equal(signo, SIGUSR1);
	if (++signals == 2)
		group_cancel(arg);
}

static void signal_main(void *arg)
{
	struct group g;
	struct waits w = { 0 };
	struct err e;

	(void)arg;
	group_init(&g);
	loop_on_signal(SIGUSR1, on_int, &g);
	task_spawn(&g, "sleep", in_sleep, &w);
	task_yield();
	kill(getpid(), SIGUSR1);
	assert_int_equal(task_sleep(20, &e), 0);
	assert_int_equal(signals, 1);
	kill(getpid(), SIGUSR1);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(w.cancelled, 1);
}

static void test_signals(void **state)
{
	struct sigaction now;

	(void)state;
	signals = 0;
	run(signal_main, NULL);
	assert_int_equal(signals, 2);
	sigaction(SIGUSR1, NULL, &now);
	assert_true(now.sa_handler == SIG_DFL); /* put back */
}

static void count_warning(void *arg, enum log_level level, const char *line)
{
	if (level == LOG_WARN && strstr(line, "held the loop"))
		(*(int *)arg)++;
}

static void hold_main(void *arg)
{
	int64_t end = clock_now() + 30;

	(void)arg;
	while (clock_now() < end)
		continue;
}

static void test_warns_of_holding(void **state)
{
	struct loop_opts o = { .warn_ms = 10 };
	int warnings = 0;
	struct err e;

	(void)state;
	log_set_sink(count_warning, &warnings, LOG_WARN);
	assert_int_equal(loop_run(hold_main, NULL, &o, &e), 0);
	log_set_sink(NULL, NULL, LOG_WARN);
	assert_int_equal(warnings, 1);
}

/* A bug() in a child process: true if it aborted. */
static bool aborts(task_fn *fn)
{
	pid_t pid = fork();
	int st = 0;

	if (pid == 0) {
		struct err e;

		signal(SIGABRT, SIG_DFL);
		close(2);
		_exit(loop_run(fn, NULL, NULL, &e) ? 2 : 0);
	}
	waitpid(pid, &st, 0);
	return WIFSIGNALED(st) ? WTERMSIG(st) == SIGABRT : WEXITSTATUS(st) > 2;
}

static void waits_without_yield(void *arg)
{
	struct err e;

	(void)arg;
	no_yield_begin();
	if (task_sleep(1, &e) != 0)
		return;
	no_yield_end();
}

static void waits_for_nobody(void *arg)
{
	struct task_event ev = { 0 };
	struct err e;

	(void)arg;
	if (task_event_wait(&ev, DEADLINE_NONE, &e) != 0)
		return;
}

static void no_yield_ok(void *arg)
{
	(void)arg;
	no_yield_begin();
	no_yield_end();
	task_yield();
}

static void test_bugs_are_caught(void **state)
{
	(void)state;
	assert_true(aborts(waits_without_yield));
	assert_true(aborts(waits_for_nobody));
	assert_false(aborts(no_yield_ok));
}

/* ---- offload ---------------------------------------------------------------------------------- */

struct call {
	int in, out;
	int freed;
	useconds_t us;
};

static int square(void *arg, struct err *e)
{
	struct call *c = arg;

	assert_false(task_is_running()); /* another thread */
	usleep(c->us);
	c->out = c->in * c->in;
	return c->in == 13 ? err_set(e, ERR_REMOTE, "thirteen") : 0;
}

static void count_free(void *arg)
{
	struct call *c = arg;

	__atomic_add_fetch(&c->freed, 1, __ATOMIC_SEQ_CST);
}

static void offload_one(void *arg)
{
	struct call *c = arg;
	struct err e;

	assert_int_equal(task_offload((struct offload_call){ square, c, count_free },
				      deadline_in(10000), &e),
			 0);
	assert_int_equal(c->out, c->in * c->in);
}

static void offload_main(void *arg)
{
	struct call *c = arg;
	struct call bad = { .in = 13 };
	struct group g;
	struct err e;

	group_init(&g);
	for (int i = 0; i < 50; i++) {
		c[i] = (struct call){ .in = i + 20, .us = 2000 };
		task_spawn(&g, "offload", offload_one, &c[i]);
	}
	assert_int_equal(group_wait(&g, &e), 0);
	for (int i = 0; i < 50; i++)
		assert_int_equal(c[i].freed, 0);
	assert_int_equal(
		task_offload((struct offload_call){ square, &bad, NULL }, deadline_in(10000), &e),
		-1);
	assert_int_equal(e.kind, ERR_REMOTE);
	assert_string_equal(e.msg, "thirteen");
}

static void spread_main(void *arg)
{
	struct call c[5] = { { .in = 1 } };
	struct group g;
	struct err e;

	(void)arg;
	offload_one(&c[0]); /* leaves one idle thread */
	int64_t began = clock_now();
	group_init(&g);
	for (int i = 1; i < 5; i++) {
		c[i] = (struct call){ .in = i, .us = 2000000 };
		task_spawn(&g, "spread", offload_one, &c[i]);
	}
	assert_int_equal(group_wait(&g, &e), 0);
	assert_true(clock_now() - began < 3500); /* two on one thread: 4000 */
}

/* One idle thread does not get all the calls of a turn. */
static void test_offload_spreads(void **state)
{
	(void)state;
	run(spread_main, NULL);
}

static void test_offload(void **state)
{
	struct call c[50];

	(void)state;
	run(offload_main, c);
	run_virtual(offload_main, c); /* time must not run away while threads work */
}

static struct call slow[12]; /* more than threads: some are abandoned in the queue */

static void offload_abandoned(void *arg)
{
	struct err e;

	assert_int_equal(
		task_offload((struct offload_call){ square, arg, count_free }, deadline_in(30), &e),
		-1);
	assert_true(e.kind == ERR_TIMEOUT || e.kind == ERR_CANCELLED);
}

static void abandon_main(void *arg)
{
	struct group g;
	struct err e;

	(void)arg;
	group_init(&g);
	for (size_t i = 0; i < ARRAY_LEN(slow); i++) {
		slow[i].us = 200000;
		task_spawn(&g, "abandoned", offload_abandoned, &slow[i]);
	}
	assert_int_equal(task_sleep(10, &e), 0);
	task_cancel(g.first);
	assert_int_equal(group_wait(&g, &e), 0);
	assert_int_equal(task_sleep(600, &e), 0);
	for (size_t i = 0; i < ARRAY_LEN(slow); i++)
		assert_int_equal(__atomic_load_n(&slow[i].freed, __ATOMIC_SEQ_CST), 1);
}

static int plain(void *arg, struct err *e)
{
	(void)e;
	*(int *)arg = 1;
	return 0;
}

static void test_offload_abandoned(void **state)
{
	struct err e;
	int ran = 0;

	(void)state;
	run(abandon_main, NULL);
	assert_int_equal(
		task_offload((struct offload_call){ plain, &ran, NULL }, DEADLINE_NONE, &e), 0);
	assert_int_equal(ran, 1); /* no loop: just called */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sleep_order),
		cmocka_unit_test(test_yield_is_fair),
		cmocka_unit_test(test_turn),
		cmocka_unit_test(test_seed_replays),
		cmocka_unit_test(test_cancel_every_wait),
		cmocka_unit_test(test_shield),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_semaphore),
		cmocka_unit_test(test_semaphore_loses_nothing),
		cmocka_unit_test(test_fds),
		cmocka_unit_test(test_ten_thousand),
		cmocka_unit_test(test_on_turn),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_warns_of_holding),
		cmocka_unit_test(test_bugs_are_caught),
		cmocka_unit_test(test_offload_spreads), /* first: no thread runs yet */
		cmocka_unit_test(test_offload),
		cmocka_unit_test(test_offload_abandoned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
