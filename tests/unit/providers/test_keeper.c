/* SPDX-License-Identifier: Apache-2.0 */
/* A daemon and its lock: who holds it, who may not, and how it ends. */
#include "base/loop.h"
#include "providers/local/keeper.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[] = "/tmp/muster-keeper-XXXXXX";
static char lock[64];

/* A child that holds the lock until it is told to end; stubborn: only SIGKILL ends it. */
static pid_t hold(bool stubborn)
{
	int ready[2];
	char byte;
	struct err e = { 0 };
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		if (stubborn)
			signal(SIGTERM, SIG_IGN);
		if (keeper_hold(lock, &e) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void nobody_holds_it(void **state unused_arg)
{
	assert_int_equal(keeper_pid("/nonexistent/lock"), 0);
	assert_int_equal(keeper_pid(lock), 0);
	assert_false(keeper_signal(lock, SIGTERM));
}

static void one_holds_it(void **state unused_arg)
{
	pid_t pid = hold(false);
	int status;
	assert_int_equal(keeper_pid(lock), pid);
	pid_t second = fork();
	if (second == 0) {
		struct err e = { 0 };
		_exit(keeper_hold(lock, &e) == -1 && e.kind == ERR_CONFLICT ? 7 : 1);
	}
	waitpid(second, &status, 0);
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_true(keeper_signal(lock, SIGKILL));
	waitpid(pid, &status, 0);
	assert_int_equal(keeper_pid(lock), 0);
}

static int stop_rc;
static struct err stop_err;

static void stop_it(void *arg)
{
	stop_rc = keeper_stop(lock, *(int64_t *)arg, &stop_err);
}

static void stops_within(bool stubborn, int64_t ms)
{
	struct err e = { 0 };
	int status;
	pid_t pid = hold(stubborn);
	assert_int_equal(loop_run(stop_it, &ms, NULL, &e), 0);
	assert_int_equal(stop_rc, 0);
	assert_int_equal(keeper_pid(lock), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void is_stopped(void **state unused_arg)
{
	stops_within(false, 5000);
	stops_within(true, 400);
}

static int set_up(void **state unused_arg)
{
	struct err e = { 0 };
	if (!mkdtemp(dir))
		return -1;
	snprintf(lock, sizeof lock, "%s/lock", dir);
	return keeper_make(lock, &e);
}

static int tear_down(void **state unused_arg)
{
	struct err e = { 0 };
	return fs_remove_tree(dir, &e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nobody_holds_it),
		cmocka_unit_test(one_holds_it),
		cmocka_unit_test(is_stopped),
	};
	return cmocka_run_group_tests_name("keeper", tests, set_up, tear_down);
}
