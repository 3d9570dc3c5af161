/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/fault.h - moments at which a test may kill the program.
 *
 * MUSTER_FAULT="point:n" sends SIGKILL to the program itself at the n-th pass of that point,
 * "any:n" at the n-th pass of whichever point, and "count" only counts. Points stand in the few
 * doors through which everything goes that outlives a process (writes of the state, intents and
 * outcomes of steps, calls to providers), so that a new step has them without anybody's doing.
 * Their names are listed in engine/README.md. Unset, a pass costs a comparison.
 */
#ifndef MUSTER_BASE_FAULT_H
#define MUSTER_BASE_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum fault_mode { FAULT_UNREAD, FAULT_OFF, FAULT_COUNTING, FAULT_ARMED };
extern enum fault_mode fault_mode; /* fault.c; read by fault_point alone */

void fault_arm(const char *text); /* as in the variable; NULL: none. Passes count from 0 again. */
uint64_t fault_passes(void);	  /* of all points, since something is counted */
void fault_hit(const char *what, const char *moment); /* of fault_point */

/* The point "what.moment" is passed. */
static inline void fault_point(const char *what, const char *moment)
{
	if (fault_mode != FAULT_OFF)
		fault_hit(what, moment);
}

#endif
