/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/resource.h - the rows of resources and facts, for the other files of the room.
 *
 * Inside state/ only.
 */
#ifndef MUSTER_STATE_RESOURCE_H
#define MUSTER_STATE_RESOURCE_H

#include "state/row.h"

extern const struct row_type resource_row;

/* state_resource_put without a transaction of its own, with the times as they are in r. */
must_check int resource_store(struct state *s, const struct state_resource *r, struct err *e);
/* All facts as a map by addr. */
must_check int facts_all(struct state *s, struct arena *a, struct value **out, struct err *e);

#endif
