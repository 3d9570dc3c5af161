/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/spec_render.h - the expressions of a spec. Used by spec_load only. */
#ifndef MUSTER_INVENTORY_SPEC_RENDER_H
#define MUSTER_INVENTORY_SPEC_RENDER_H

#include "inventory/field.h"

/*
 * Replaces, in place, every text with an expression by its value, as `rows` describe the tree;
 * FIELD_LATE members are only checked for syntax. What failed becomes field_faulty. vars: what
 * expressions see (strings in it are expressions too); cluster: its name.
 */
void spec_render(struct arena *a, const struct field *rows, struct value *tree,
		 const struct value *vars, struct err_list *errs);

#endif
