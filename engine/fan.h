/* SPDX-License-Identifier: Apache-2.0 */
/* engine/fan.h - the same work on many items, so many at a time. */
#ifndef MUSTER_ENGINE_FAN_H
#define MUSTER_ENGINE_FAN_H

#include "base/base.h"

struct fan {
	const char *name; /* of the tasks */
	size_t n, workers;
	void (*fn)(void *arg, size_t i); /* in a task; keeps its own result and error */
	void *arg;
	/* set to the group while it works, so that ^C finds it; may be NULL */
	struct group **shown;
};

/* -1 only if the caller was cancelled. After a cancellation of the group the rest of the items is
 * not begun. */
must_check int fan_out(const struct fan *f, struct err *e);

#endif
