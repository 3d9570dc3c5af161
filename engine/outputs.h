/* SPDX-License-Identifier: Apache-2.0 */
/* engine/outputs.h - the spec's `outputs`, evaluated over the nodes as they are; what is not there
 * yet is unknown. */
#ifndef MUSTER_ENGINE_OUTPUTS_H
#define MUSTER_ENGINE_OUTPUTS_H

#include "engine/context.h"

/* attrs: addr -> const struct value * of a node that is there. *out NULL: the spec has none. */
must_check int outputs_make(struct engine *en, struct arena *a, const struct map *attrs,
			    const struct value **out, struct err *e);

#endif
