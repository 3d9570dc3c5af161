/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fault.h"

#include <signal.h>
#include <string.h>

#include "base/env.h"
#include "base/str.h"

enum fault_mode fault_mode;

static struct {
	char point[48];
	bool any;
	uint64_t left, passes;
} fault;

void fault_arm(const char *text)
{
	struct str rest = str_of(text), name;

	memset(&fault, 0, sizeof fault);
	fault_mode = FAULT_OFF;
	if (str_eqc(rest, "count"))
		fault_mode = FAULT_COUNTING;
	if (!rest.n || !str_next(&rest, ':', &name) || name.n >= sizeof fault.point || !name.n)
		return;
	memcpy(fault.point, name.p, name.n);
	fault.any = str_eqc(name, "any");
	if (str_to_uint(rest, 10, &fault.left) && fault.left > 0)
		fault_mode = FAULT_ARMED;
}

uint64_t fault_passes(void)
{
	return fault.passes;
}

static bool is_armed_point(const char *what, const char *moment)
{
	size_t n = strlen(what);

	return fault.any || (strncmp(fault.point, what, n) == 0 && fault.point[n] == '.' &&
			     strcmp(fault.point + n + 1, moment) == 0);
}

void fault_hit(const char *what, const char *moment)
{
	if (fault_mode == FAULT_UNREAD)
		fault_arm(env_get("MUSTER_FAULT"));
	if (fault_mode == FAULT_OFF)
		return;
	fault.passes++;
	if (fault_mode == FAULT_ARMED && is_armed_point(what, moment) && --fault.left == 0)
		raise(SIGKILL);
}
