/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/ask.h - the one door through which the engine asks a provider: every call passes its fault
 * points here, so none can be forgotten (tools/lint-banned sees to it that nobody goes around).
 * It waits for its turn, too: each endpoint is asked as often as it takes. What has an effect is
 * repeated by the caller, who knows whether it may be (make.h), with ask_again.
 */
#ifndef MUSTER_ENGINE_ASK_H
#define MUSTER_ENGINE_ASK_H

#include "engine/context.h"
#include "engine/retry.h"

/* A kind of object at a provider. */
struct served {
	struct engine_provider *ep;
	const struct resource_type *t;
};

/* Opens the provider. ERR_SPEC: it has no such kind in this version. */
must_check int ask_at(struct engine *en, const char *provider, const char *kind, struct served *out,
		      struct err *e);
/* As in provider.h. */
must_check int ask_list(const struct served *at, struct arena *a, struct resources_seen *out,
			struct err *e);
/* Again while the provider is busy or its answer is lost: a list has no effect. */
must_check int ask_list_again(struct engine *en, struct arena *a, const struct served *at,
			      struct resources_seen *out, struct err *e);
must_check int ask_create(const struct served *at, struct arena *a, const struct resource_want *w,
			  struct resource_seen **out, struct err *e);
must_check int ask_update(const struct served *at, struct arena *a, const char *id,
			  const struct resource_want *w, struct resource_seen **out, struct err *e);
must_check int ask_destroy(const struct served *at, const char *id, struct err *e);
must_check int ask_find(const struct served *at, struct arena *a, const char *token,
			struct resource_seen **out, struct err *e);
/*
 * The one policy of repetition, after a failure: true, when it may pass by itself and there is time
 * left; it has waited then, and told. Else *e is the last failure, or ERR_CANCELLED. BUSY is asked
 * again; TIMEOUT too, where the caller has looked what became of it or need not care; what fails
 * for want of room, rights or sense is not. addr may be NULL.
 */
bool ask_again(struct engine *en, const char *addr, struct retry *again, struct err *now,
	       struct err *e);
/* How long after a lost request its object may still appear. */
int64_t ask_settle_ms(const struct served *at);

#endif
