/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fault.h"

#include <signal.h>

#include "base/base.h"

static struct {
	bool read, armed;
	char name[48];
	uint64_t left;
} fault;

static void read_fault(void)
{
	struct str text = str_of(env_get("MUSTER_FAULT")), name;

	fault.read = true;
	if (!text.n || !str_next(&text, ':', &name) || name.n >= sizeof fault.name || !name.n)
		return;
	memcpy(fault.name, name.p, name.n);
	fault.armed = str_to_uint(text, 10, &fault.left) && fault.left > 0;
}

void fault_point(const char *name)
{
	if (!fault.read)
		read_fault();
	if (fault.armed && strcmp(name, fault.name) == 0 && --fault.left == 0)
		raise(SIGKILL);
}
