/* SPDX-License-Identifier: Apache-2.0 */
/* engine/plan_doc.h - changes and plans as values, there and back: the plan file, the digest and
 * cli.md's document are made of them. */
#ifndef MUSTER_ENGINE_PLAN_DOC_H
#define MUSTER_ENGINE_PLAN_DOC_H

#include "engine/engine.h"

struct value *change_value(struct arena *a, const struct change *c);
must_check int change_read(struct arena *a, const struct value *v, struct change **out,
			   struct err *e);
/* Everything in a plan, digests included. */
struct value *plan_value(struct arena *a, const struct plan *p);
must_check int plan_read(struct arena *a, const struct value *v, struct plan **out, struct err *e);

#endif
