/* SPDX-License-Identifier: Apache-2.0 */
/*
 * net/shell.h - a shell that is kept, and scripts framed into its input. Behind net/host.h only.
 *
 * The bytes travel over an ssh channel or over a local child's pipes (struct shell_io). Output of a
 * background process that an earlier script left behind may appear in a later script's output; it
 * never delays or breaks the frame.
 */
#ifndef MUSTER_NET_SHELL_H
#define MUSTER_NET_SHELL_H

#include "net/ssh.h"

struct shell_io {
	int (*write)(void *self, struct str data, struct deadline d, struct err *e);
	/* Waits for at least one byte, or *eof. */
	int (*read)(void *self, struct buf *out, struct buf *err, bool *eof, struct deadline d,
		    struct err *e);
	void (*close)(void *self);
	void *self;
};

/* The ways to get one; command: for a login shell of unknown kind, so quote. */
must_check int shell_io_ssh(struct ssh *s, const char *command, struct deadline d,
			    struct shell_io *io, struct err *e);
must_check int shell_io_local(const char *command, struct shell_io *io, struct err *e);

struct shell_become {
	const char *user;    /* NULL: nobody else */
	struct str password; /* empty: never asked for */
};

/* The command that becomes the shell. It answers nothing until spoken to, except with a password
 * prompt. */
struct shell_start {
	char prompt[48]; /* what sudo will ask with; empty: no password */
	char ready[48];	 /* printed on stdout when the shell runs */
};
void shell_command(struct buf *out, const struct shell_become *b, struct shell_start *s);

struct shell {
	struct shell_io io;
	const char *host; /* for messages; borrowed */
	bool dead;
	uint64_t bytes_out, bytes_in;
};

/* Feeds the password if asked, waits until the shell runs, and sets its environment. */
must_check int shell_begin(struct shell *sh, const struct shell_become *b,
			   const struct shell_start *s, struct deadline d, struct err *e);

struct shell_result {
	int status;
	bool truncated;
	struct str out, err;
};

struct shell_run {
	struct str script;
	size_t max_output; /* each */
	struct deadline deadline;
};
/* -1: the answer did not arrive and the shell is dead. */
must_check int shell_run(struct shell *sh, struct arena *a, const struct shell_run *run,
			 struct shell_result *r, struct err *e);
void shell_close(struct shell *sh);

#endif
