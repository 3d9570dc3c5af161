/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fan.h"

struct fan_run {
	const struct fan *f;
	size_t next;
};

static void fan_worker(void *arg)
{
	struct fan_run *r = arg;

	while (r->next < r->f->n && !task_is_cancelled())
		r->f->fn(r->f->arg, r->next++);
}

int fan_out(const struct fan *f, struct err *e)
{
	struct fan_run r = { .f = f };
	struct group g;

	group_init(&g);
	if (f->shown)
		*f->shown = &g;
	for (size_t i = 0; i < f->workers && i < f->n; i++)
		task_spawn(&g, f->name, fan_worker, &r);
	int rc = group_wait(&g, e);
	if (f->shown)
		*f->shown = NULL;
	return rc;
}
