/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/keeper.h - a daemon that holds a lock file for as long as it lives.
 *
 * "Is it running, and as which pid?" is asked of the kernel, which knows who holds a record lock:
 * no pid file that may be stale, no moment at which a daemon runs unrecorded. A daemon must not
 * open its lock file a second time (POSIX: any close drops the lock).
 */
#ifndef MUSTER_PROVIDERS_LOCAL_KEEPER_H
#define MUSTER_PROVIDERS_LOCAL_KEEPER_H

#include <sys/types.h>

#include "base/base.h"

/* For the daemon: takes the lock of an existing file until the process ends. ERR_CONFLICT: another
 * holds it. */
must_check int keeper_hold(const char *lock, struct err *e);
must_check int keeper_make(const char *lock,
			   struct err *e); /* creates the file, if it isn't there */
pid_t keeper_pid(const char *lock);	   /* 0: nobody */
/* SIGTERM, and SIGKILL when that has not helped by half of the time. Success when nobody holds it.
 * In a task. */
must_check int keeper_stop(const char *lock, int64_t timeout_ms, struct err *e);
/* Sends a signal to the holder; false if there is none. */
bool keeper_signal(const char *lock, int signo);

#endif
