/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/journal.h - rows of the journal, for the other files of the room.
 *
 * Inside state/ only.
 */
#ifndef MUSTER_STATE_JOURNAL_H
#define MUSTER_STATE_JOURNAL_H

#include "state/row.h"

extern const struct row_type journal_row_type;

/* With the number and times as they are in the row (seq 0: the next), inside a write of the caller.
 */
must_check int journal_insert(struct state *s, const struct journal_row *row, struct err *e);
must_check int journal_all(struct state *s, struct arena *a, struct journal_rows *out,
			   struct err *e);

#endif
