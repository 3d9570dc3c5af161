/* SPDX-License-Identifier: Apache-2.0 */
/* base/proc.h - programs of this machine: argument vectors only, no shell. Works in a task (waits)
 * and outside (blocks). */
#ifndef MUSTER_BASE_PROC_H
#define MUSTER_BASE_PROC_H

#include <sys/types.h>

#include "base/str.h"
#include "base/task.h"

struct proc_opts {
	struct str input; /* to stdin; empty: /dev/null */
	const char *cwd;  /* NULL: ours */
	const char *const *
		env; /* NULL-terminated "K=V" list that replaces the environment; NULL: inherited */
	size_t max_output;  /* each of stdout and stderr; more is dropped and noted; 0: 1 MiB */
	int64_t timeout_ms; /* 0: 60 s. Then SIGTERM to its process group, 2 s later SIGKILL;
			       ERR_TIMEOUT */
};

struct proc_result {
	int status; /* exit status, or 128 + signal */
	bool truncated;
	struct str out, err; /* in the arena, NUL-terminated */
};

/* Runs argv (looked up in PATH) to its end; -1 only if it could not be run or was stopped; a
 * non-zero status is a result. */
must_check int proc_run(struct arena *a, const char *const *argv, const struct proc_opts *o,
			struct proc_result *r, struct err *e);
/* The same, but a non-zero status is ERR_REMOTE with the last line of stderr. */
must_check int proc_check(struct arena *a, const char *const *argv, const struct proc_opts *o,
			  struct proc_result *r, struct err *e);

/* A program that is talked to: non-blocking pipes, own process group. `poll` is readable when out
 * or err is. */
struct proc_stream {
	pid_t pid;
	int in, out, err, poll;
};
must_check int proc_stream_open(const char *const *argv, struct proc_stream *s, struct err *e);
void proc_stream_close(
	struct proc_stream *s); /* closes, then SIGTERM, SIGKILL to its group; reaps */

/* Starts a daemon: own session, stdin /dev/null, stdout and stderr to log_path (appended). Gives
 * its pid. */
must_check int proc_daemon(const char *const *argv, const char *log_path, pid_t *pid,
			   struct err *e);

/* Identity of a process that survives pid reuse. start: field 22 of /proc/PID/stat. */
struct proc_id {
	pid_t pid;
	uint64_t start;
	char boot_id[37];
};
must_check int proc_identify(pid_t pid, struct proc_id *out,
			     struct err *e);  /* ERR_NOT_FOUND: no such process */
bool proc_is_alive(const struct proc_id *id); /* same boot, same pid, same start */

/* Shell quoting, in the one place: appends s so that a POSIX sh reads exactly these bytes as one
 * word. */
void proc_quote(struct buf *b, struct str s);

/* Raises this process's limit of open files to at least `want` as far as the hard limit lets it;
 * gives the limit in force. */
size_t proc_files_allow(size_t want);

#endif
