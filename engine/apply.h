/* SPDX-License-Identifier: Apache-2.0 */
/* engine/apply.h - the walker: steps of a plan as tasks, so many at a time, until all are done or
 * the run must stop. */
#ifndef MUSTER_ENGINE_APPLY_H
#define MUSTER_ENGINE_APPLY_H

#include "engine/work.h"

/* Walks under the lease. -1 for what ended the run itself (journal, lease); failed steps are in
 * w->result. */
must_check int apply_walk(struct work *w, const struct plan *p, struct err *e);

#endif
