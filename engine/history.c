/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A past run, out of its events. A step's event tells which step's end let it begin, so the chain
 * that determined how long the run took is found backwards, from the step that ended last.
 */
#include "engine/engine.h"
#include "engine/want.h"

static const char *text_of(struct arena *a, const struct value *v, const char *key)
{
	struct str s = value_get_str(v, key, NULL);

	return s.p ? str_cstr(a, s) : NULL;
}

static struct run_step *step_of(struct arena *a, const struct state_event *ev)
{
	const char *action = ev->data && ev->addr ? text_of(a, ev->data, "action") : NULL;

	if (!action)
		return NULL;
	struct run_step *s = arena_obj(a, struct run_step);
	*s = (struct run_step){
		.addr = ev->addr,
		.name = want_node_name(a, NULL, ev->addr),
		.action = action,
		.what = ev->what,
		.error = text_of(a, ev->data, "error"),
		.ended_ms = ev->at_ms,
		.took_ms = value_get_int(ev->data, "ms", 0),
		.after_text = text_of(a, ev->data, "after"),
		.needed = str_eqc(value_get_str(ev->data, "wait", ""), "needs"),
	};
	return s;
}

static const char *key_of(struct arena *a, const struct run_step *s)
{
	return arena_printf(a, "%s %s", s->action, s->addr);
}

static void link_steps(struct arena *a, struct run_history *h)
{
	struct map by_key;

	map_init(&by_key, a);
	for (size_t i = 0; i < h->steps.n; i++) {
		struct run_step *s = h->steps.v[i];
		/* In the order of their ends: what a step waited for is there already. */
		if (s->after_text)
			s->after = map_getc(&by_key, s->after_text);
		map_put(&by_key, str_of(key_of(a, s)), s);
	}
}

static void find_critical(struct arena *a, struct run_history *h)
{
	const struct run_step *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < h->steps.n; i++)
		if (!last || h->steps.v[i]->ended_ms >= last->ended_ms)
			last = h->steps.v[i];
	for (const struct run_step *s = last; s; s = s->after)
		n++;
	for (size_t i = 0; i < n; i++)
		VEC_ADD(a, &h->critical) = NULL;
	for (const struct run_step *s = last; s; s = s->after)
		h->critical.v[--n] = s;
}

const char *engine_node_name(struct arena *a, const char *addr)
{
	return want_node_name(a, NULL, addr);
}

int engine_history(struct state *st, struct arena *a, const struct state_run *run,
		   struct run_history *out, struct err *e)
{
	*out = (struct run_history){ .run = run };
	if (state_events(st, a, run->id, &out->events, e))
		return -1;
	for (size_t i = 0; i < out->events.v.n; i++) {
		struct run_step *s = step_of(a, out->events.v.v[i]);
		if (s)
			VEC_ADD(a, &out->steps) = s;
	}
	link_steps(a, out);
	find_critical(a, out);
	return 0;
}
