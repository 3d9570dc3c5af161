/* SPDX-License-Identifier: Apache-2.0 */
/* engine/recover.h - settles what a killed run left open in the journal. engine_recover of engine.h
 * is here. */
#ifndef MUSTER_ENGINE_RECOVER_H
#define MUSTER_ENGINE_RECOVER_H

#include "engine/context.h"

/* Under the lease. Flushes. */
must_check int recover_settle(struct engine *en, struct arena *a, const struct journal_rows *open,
			      struct recover_report *out, struct err *e);

#endif
