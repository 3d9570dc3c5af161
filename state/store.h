/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/store.h - transactions: one write, writes inside it, a journal group, and the fence that
 *guards them.
 *
 * Inside state/ only.
 *
 *	if (write_begin(s, WRITE_COUNTED, e))
 *		return -1;
 *	return write_end(s, change_rows(s, e), e);
 */
#ifndef MUSTER_STATE_STORE_H
#define MUSTER_STATE_STORE_H

#include "state/sql.h"

enum write_flags {
	WRITE_COUNTED = 1, /* moves the serial */
	WRITE_UNFENCED =
		2, /* the few that need no lease: taking and breaking it, naming a new state */
};

/* In a group or inside another write: a savepoint. Otherwise a transaction that holds the write
 * lock, with the lease checked under it. */
must_check int write_begin(struct state *s, unsigned flags, struct err *e);
/* rc 0: commits; -1: undoes this write alone (*e is kept). Returns -1 if either failed. */
must_check int write_end(struct state *s, int rc, struct err *e);
/* For looking at a file that may be old or unwell: read-only, identified as a muster state, neither
 * migrated nor checked. */
must_check int state_open_raw(const char *path, struct state **out, struct err *e);
/* May this run write that address? ERR_LEASE: it is outside of what its lease covers. */
must_check int check_scope(const struct state *s, const char *addr, struct err *e);
/* Is a copy of its own worth its bytes after this run? */
bool backup_is_due(struct state *s);
/* Begins a group if none is open. */
must_check int group_begin(struct state *s, struct err *e);

#endif
