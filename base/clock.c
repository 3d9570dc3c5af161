/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

static bool is_virtual;
static int64_t virtual_now;

static int64_t read_ms(clockid_t id)
{
	struct timespec t;

	if (clock_gettime(id, &t) != 0)
		bug("clock_gettime failed for clock %d", (int)id);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t clock_now(void)
{
	return is_virtual ? virtual_now : read_ms(CLOCK_MONOTONIC);
}

int64_t clock_wall(void)
{
	return read_ms(CLOCK_REALTIME);
}

void clock_iso(int64_t wall_ms, char out[CLOCK_ISO_LEN])
{
	static const int64_t last = 253402300799999; /* the end of year 9999 */
	struct tm tm;
	time_t seconds;

	if (wall_ms < 0)
		wall_ms = 0;
	if (wall_ms > last)
		wall_ms = last;
	seconds = (time_t)(wall_ms / 1000);
	if (!gmtime_r(&seconds, &tm))
		bug("gmtime_r failed for %lld", (long long)wall_ms);
	snprintf(out, CLOCK_ISO_LEN, "%04u-%02u-%02uT%02u:%02u:%02u.%03uZ",
		 (unsigned)(tm.tm_year + 1900) % 10000, (unsigned)(tm.tm_mon + 1) % 100,
		 (unsigned)tm.tm_mday % 100, (unsigned)tm.tm_hour % 100, (unsigned)tm.tm_min % 100,
		 (unsigned)tm.tm_sec % 100, (unsigned)(wall_ms % 1000));
}

bool clock_is_virtual(void)
{
	return is_virtual;
}

void clock_set_virtual(bool on)
{
	is_virtual = on;
	virtual_now = 0;
}

void clock_advance(int64_t ms)
{
	if (!is_virtual)
		bug("clock_advance on the real clock");
	if (ms > 0)
		virtual_now += ms;
}

void clock_format_duration(int64_t ms, char out[16])
{
	int64_t s = ms / 1000;

	if (ms < 0)
		ms = s = 0;
	if (ms < 10000)
		snprintf(out, 16, "%d.%ds", (int)s, (int)(ms % 1000 / 100));
	else if (s < 60)
		snprintf(out, 16, "%ds", (int)s);
	else if (s < 3600)
		snprintf(out, 16, "%dm%02ds", (int)(s / 60), (int)(s % 60));
	else if (s / 3600 <= 99999)
		snprintf(out, 16, "%dh%02dm", (int)(s / 3600), (int)(s / 60 % 60));
	else
		snprintf(out, 16, ">99999h");
}
