/* SPDX-License-Identifier: Apache-2.0 */
/* engine/refresh.h - the record learns what is there; nothing is made, changed or deleted. */
#ifndef MUSTER_ENGINE_REFRESH_H
#define MUSTER_ENGINE_REFRESH_H

#include "engine/work.h"

/* drift: of a plan observed just now (en->seen holds what was seen). */
must_check int refresh_record(struct work *w, const struct plan *seen, struct err *e);

#endif
