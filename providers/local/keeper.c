/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#define POLL_MS 10

int keeper_make(const char *lock, struct err *e)
{
	scoped(close_fd) int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return fd < 0 ? err_sys(e, "%s", lock) : 0;
}

int keeper_hold(const char *lock, struct err *e)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(lock, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, "%s", lock);
	if (fcntl(fd, F_SETLK, &l) == 0)
		return 0; /* fd stays open on purpose: it is the lock */
	int why = errno;
	close(fd);
	if (why == EAGAIN || why == EACCES)
		return err_set(e, ERR_CONFLICT, "%s: another process already keeps it", lock);
	errno = why;
	return err_sys(e, "%s", lock);
}

pid_t keeper_pid(const char *lock)
{
	struct flock l = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	scoped(close_fd) int fd = open(lock, O_RDWR | O_CLOEXEC);
	if (fd < 0 || fcntl(fd, F_GETLK, &l) < 0 || l.l_type == F_UNLCK)
		return 0;
	return l.l_pid;
}

/* Through a pidfd, and asked again after it is open: so the signal can't hit a process that took
 * over the number. */
bool keeper_signal(const char *lock, int signo)
{
	pid_t pid = keeper_pid(lock);
	if (pid <= 0)
		return false;
	scoped(close_fd) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0 || keeper_pid(lock) != pid)
		return false;
	return syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0) == 0;
}

int keeper_stop(const char *lock, int64_t timeout_ms, struct err *e)
{
	struct deadline end = deadline_in(timeout_ms);
	struct deadline patience = deadline_in(timeout_ms / 2);
	bool killed = false;
	if (!keeper_pid(lock))
		return 0;
	keeper_signal(lock, SIGTERM);
	while (keeper_pid(lock)) {
		if (!killed && !deadline_left(patience)) {
			keeper_signal(lock, SIGKILL);
			killed = true;
		}
		if (!deadline_left(end))
			return err_set(e, ERR_TIMEOUT, "process %d, which keeps %s, does not end",
				       (int)keeper_pid(lock), lock);
		if (task_sleep(POLL_MS, e))
			return -1;
	}
	return 0;
}
