/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fault.h"

#include <signal.h>

#include "base/base.h"

static struct {
	bool read, armed;
	char name[48];
	uint64_t left;
} fault;

void fault_arm(const char *spec)
{
	struct str text = str_of(spec), name;

	memset(&fault, 0, sizeof fault);
	fault.read = true;
	if (!text.n || !str_next(&text, ':', &name) || name.n >= sizeof fault.name || !name.n)
		return;
	memcpy(fault.name, name.p, name.n);
	fault.armed = str_to_uint(text, 10, &fault.left) && fault.left > 0;
}

void fault_point(const char *name)
{
	if (!fault.read)
		fault_arm(env_get("MUSTER_FAULT"));
	if (fault.armed && strcmp(name, fault.name) == 0 && --fault.left == 0)
		raise(SIGKILL);
}
