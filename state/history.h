/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/history.h - rows of runs and events, for the other files of the room.
 *
 * Inside state/ only.
 */
#ifndef MUSTER_STATE_HISTORY_H
#define MUSTER_STATE_HISTORY_H

#include "state/row.h"

/* An event as stored: with its link of the chain. */
struct event_link {
	struct state_event event;
	const char *hash;
};

extern const struct row_type run_row;
extern const struct row_type event_row; /* of struct event_link */

/* The next event, inside a write of the caller. */
must_check int event_insert(struct state *s, const struct state_event *ev, struct err *e);
must_check int run_insert(struct state *s, const struct state_run *r, struct err *e);
/* An imported event: its own number and hash, which must fit the event before it (ERR_SPEC). */
must_check int event_import(struct state *s, const struct event_link *l, struct err *e);
/* All, oldest first, with hashes; does not check the chain. */
struct event_links {
	VEC(struct event_link *) v;
};
must_check int event_links(struct state *s, struct arena *a, struct event_links *out,
			   struct err *e);
/* Adds a problem for the first broken link, and for events that are gone at the end. */
must_check int event_chain_check(struct state *s, struct err_list *problems, struct err *e);

/* Adds a problem for each run whose row does not fit its digest in the chain, or is gone. */
must_check int runs_check(struct state *s, struct err_list *problems, struct err *e);

#endif
