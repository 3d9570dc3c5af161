/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before each call stands the turn that net/limit.h gives, so that a provider which takes fifty
 * calls a second is asked fifty times a second, and not a thousand times to be refused. A list in
 * pages is one call here; who fetches the pages paces them.
 */
#include "engine/ask.h"

#include "engine/retry.h"

#define LIST_BUDGET_MS 120000
#define TURN_WAIT_MS   1800000

struct turn {
	struct limit *limit;
	struct limit_turn turn;
};

static int take_turn(const struct served *at, enum ask_kind kind, struct turn *t, struct err *e)
{
	struct engine_provider *ep = at->ep;
	struct deadline until = deadline_in(TURN_WAIT_MS);
	struct limit_turn any;

	t->limit = &ep->limits[kind];
	if (ep->all.ceiling && limit_take(&ep->all, &any, until, &ep->en->stopping, e))
		return -1;
	return limit_take(t->limit, &t->turn, until, &ep->en->stopping, e);
}

static void tell_rate(const struct served *at, const struct limit *l, bool halved)
{
	scoped(arena_freep) struct arena *a = arena_new("rate");
	struct value *v = value_map(a);
	struct engine_event ev = { .type = "rate", .data = v };
	char rate[24];

	limit_text(l->rate, rate);
	ev.text = halved ? arena_printf(a, "%s is asked too often: halved to %s", l->name, rate)
			 : arena_printf(a, "%s: recovered to %s", l->name, rate);
	value_set(v, "endpoint", value_cstr(a, l->name));
	value_set(v, "state", value_cstr(a, halved ? "halved" : "recovered"));
	value_set(v, "per_second", value_float(a, (double)l->rate / LIMIT_UNIT));
	value_set(v, "calls", value_int(a, (int64_t)l->calls));
	value_set(v, "refused", value_int(a, (int64_t)l->refused));
	context_emit(at->ep->en, &ev);
}

static void end_turn(const struct served *at, struct turn *t, int rc, const struct err *e)
{
	enum limit_change change = limit_tell(t->limit, &t->turn, rc ? e : NULL);

	if (change != LIMIT_SAME)
		tell_rate(at, t->limit, change == LIMIT_HALVED);
}

bool ask_again(struct engine *en, const char *addr, struct retry *again, struct err *now,
	       struct err *e)
{
	struct err why = *now;
	bool passing = why.kind == ERR_BUSY || why.kind == ERR_TIMEOUT;
	struct engine_event ev = { .type = "retry", .addr = addr, .text = why.msg, .err = &why };

	again->stop = &en->stopping;
	if (!passing || !retry_again(again, now)) {
		*e = *now;
		return false;
	}
	if (!err_is_throttle(&why)) /* told as a rate, once for all */
		context_emit(en, &ev);
	return true;
}

int ask_at(struct engine *en, const char *provider, const char *kind, struct served *out,
	   struct err *e)
{
	struct engine_provider *ep;

	if (context_provider(en, provider, &ep, e))
		return -1;
	*out = (struct served){ ep, want_type(ep->type, kind) };
	if (!out->t)
		return err_set(e, ERR_SPEC, "provider \"%s\" knows no %s in this version", provider,
			       kind);
	return 0;
}

int ask_list(const struct served *at, struct arena *a, struct resources_seen *out, struct err *e)
{
	struct turn turn;

	if (take_turn(at, ASK_READ, &turn, e))
		return -1;
	fault_point("call.list", "before");
	int rc = at->t->list(at->ep->p, a, out, e);
	fault_point("call.list", "reply");
	end_turn(at, &turn, rc, e);
	return rc;
}

int ask_list_again(struct engine *en, struct arena *a, const struct served *at,
		   struct resources_seen *out, struct err *e)
{
	struct retry again = retry_within(LIST_BUDGET_MS);

	for (;;) {
		struct err now = { 0 };
		*out = (struct resources_seen){ 0 };
		if (!ask_list(at, a, out, &now))
			return 0;
		if (!ask_again(en, NULL, &again, &now, e))
			return -1;
	}
}

int ask_create(const struct served *at, struct arena *a, const struct resource_want *w,
	       struct resource_seen **out, struct err *e)
{
	struct turn turn;

	*out = NULL;
	if (take_turn(at, ASK_WRITE, &turn, e))
		return -1;
	fault_point("call.create", "before");
	int rc = at->t->create(at->ep->p, a, w, out, e);
	fault_point("call.create", "reply");
	end_turn(at, &turn, rc, e);
	if (!rc && !*out)
		return err_set(e, ERR_BUG, "the provider made nothing and reported no error");
	return rc;
}

int ask_update(const struct served *at, struct arena *a, const char *id,
	       const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	struct turn turn;

	*out = NULL;
	if (take_turn(at, ASK_WRITE, &turn, e))
		return -1;
	fault_point("call.update", "before");
	int rc = at->t->update(at->ep->p, a, id, w, out, e);
	fault_point("call.update", "reply");
	end_turn(at, &turn, rc, e);
	if (!rc && !*out)
		return err_set(e, ERR_BUG, "the provider changed it and told nothing");
	return rc;
}

int ask_destroy(const struct served *at, const char *id, struct err *e)
{
	struct turn turn;

	if (take_turn(at, ASK_WRITE, &turn, e))
		return -1;
	fault_point("call.destroy", "before");
	int rc = at->t->destroy(at->ep->p, id, e);
	fault_point("call.destroy", "reply");
	end_turn(at, &turn, rc, e);
	return rc;
}

int ask_find(const struct served *at, struct arena *a, const char *token,
	     struct resource_seen **out, struct err *e)
{
	struct turn turn;

	*out = NULL;
	if (take_turn(at, ASK_READ, &turn, e))
		return -1;
	fault_point("call.find", "before");
	int rc = at->t->find(at->ep->p, a, token, out, e);
	fault_point("call.find", "reply");
	end_turn(at, &turn, rc, e);
	return rc;
}

int64_t ask_settle_ms(const struct served *at)
{
	return at->t->settle ? at->t->settle(at->ep->p) : at->t->settle_ms;
}
