/* SPDX-License-Identifier: Apache-2.0 */
/* base/clock.h - time. Milliseconds everywhere. The monotonic clock can be virtual (tests): then
 * only sleeping tasks move it. */
#ifndef MUSTER_BASE_CLOCK_H
#define MUSTER_BASE_CLOCK_H

#include "base/attr.h"

#define CLOCK_ISO_LEN 25 /* "2026-11-30T22:12:00.123Z" and a NUL */

int64_t clock_now(void);  /* monotonic, ms */
int64_t clock_wall(void); /* since 1970-01-01 UTC, ms */
void clock_iso(int64_t wall_ms, char out[CLOCK_ISO_LEN]);
void clock_set_virtual(bool on); /* starts at 0 */
bool clock_is_virtual(void);
void clock_advance(int64_t ms);			      /* virtual only */
void clock_format_duration(int64_t ms, char out[16]); /* "0.4s", "12s", "3m20s", "2h05m" */

#endif
