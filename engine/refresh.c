/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/refresh.h"

static int forget(struct work *w, const char *addr, struct err *e)
{
	if (!work_recorded(w, addr))
		return 0;
	if (state_resource_del(w->commit.state, addr, e) ||
	    work_event(w, addr, "deleted outside", NULL, e))
		return -1;
	map_put(&w->recorded, str_of(addr), NULL);
	w->result->updated++;
	return 0;
}

/* What differs becomes what was asked for, so that the next plan shows it as a change from the
 * spec. */
static int learn(struct work *w, const struct change *drift, struct err *e)
{
	const struct state_resource *old = work_recorded(w, drift->addr);
	const struct resource_seen *seen = map_getc(&w->en->seen, drift->addr);
	struct state_resource *r = arena_obj(w->a, struct state_resource);
	struct value *want;

	if (!old || !seen)
		return 0;
	*r = *old;
	want = value_copy(w->a, old->want ? old->want : value_map(w->a));
	for (size_t i = 0; i < drift->fields.n; i++) {
		const struct field_change *f = &drift->fields.v[i];
		if (strcmp(f->path, "status") != 0 && f->after && !f->after->secret)
			value_set(want, f->path, f->after);
	}
	r->want = want;
	struct value *attrs = value_merge(w->a, old->attrs ? old->attrs : value_map(w->a),
					  seen->attrs, false);
	if (work_seal(w, attrs, &r->attrs, e) || state_resource_put(w->commit.state, r, e) ||
	    work_event(w, r->addr, "refreshed", NULL, e))
		return -1;
	map_put(&w->recorded, str_of(r->addr), r);
	w->result->updated++;
	return 0;
}

int refresh_record(struct work *w, const struct plan *seen, struct err *e)
{
	for (size_t i = 0; i < seen->drift.n; i++) {
		const struct change *d = seen->drift.v[i];
		if (d->action == CHANGE_DELETE && forget(w, d->addr, e))
			return -1;
		if (d->action == CHANGE_UPDATE && learn(w, d, e))
			return -1;
	}
	return journal_flush(w->commit.state, e);
}
