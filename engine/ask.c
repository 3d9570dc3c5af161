/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ask.h"

#include "engine/retry.h"

#define LIST_BUDGET_MS 120000

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
	fault_point("call.list", "before");
	int rc = at->t->list(at->ep->p, a, out, e);
	fault_point("call.list", "reply");
	return rc;
}

int ask_list_again(struct engine *en, struct arena *a, const struct served *at,
		   struct resources_seen *out, struct err *e)
{
	struct retry again = retry_within(LIST_BUDGET_MS);

	again.stop = &en->stopping;
	for (;;) {
		struct err now = { 0 };
		*out = (struct resources_seen){ 0 };
		if (!ask_list(at, a, out, &now))
			return 0;
		bool passing = now.kind == ERR_BUSY || now.kind == ERR_TIMEOUT;
		if (!passing || !retry_again(&again, &now)) {
			*e = now;
			return -1;
		}
	}
}

int ask_create(const struct served *at, struct arena *a, const struct resource_want *w,
	       struct resource_seen **out, struct err *e)
{
	*out = NULL;
	fault_point("call.create", "before");
	int rc = at->t->create(at->ep->p, a, w, out, e);
	fault_point("call.create", "reply");
	if (!rc && !*out)
		return err_set(e, ERR_BUG, "the provider made nothing and reported no error");
	return rc;
}

int ask_update(const struct served *at, struct arena *a, const char *id,
	       const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	*out = NULL;
	fault_point("call.update", "before");
	int rc = at->t->update(at->ep->p, a, id, w, out, e);
	fault_point("call.update", "reply");
	if (!rc && !*out)
		return err_set(e, ERR_BUG, "the provider changed it and told nothing");
	return rc;
}

int ask_destroy(const struct served *at, const char *id, struct err *e)
{
	fault_point("call.destroy", "before");
	int rc = at->t->destroy(at->ep->p, id, e);
	fault_point("call.destroy", "reply");
	return rc;
}

int ask_find(const struct served *at, struct arena *a, const char *token,
	     struct resource_seen **out, struct err *e)
{
	*out = NULL;
	fault_point("call.find", "before");
	int rc = at->t->find(at->ep->p, a, token, out, e);
	fault_point("call.find", "reply");
	return rc;
}

int64_t ask_settle_ms(const struct served *at)
{
	return at->t->settle ? at->t->settle(at->ep->p) : at->t->settle_ms;
}
