/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/spec_check.h - what rows cannot say: references, pairs of keys, overlaps, names. Used
 * by spec_load only. */
#ifndef MUSTER_INVENTORY_SPEC_CHECK_H
#define MUSTER_INVENTORY_SPEC_CHECK_H

#include "inventory/spec.h"

void spec_check(struct arena *a, const struct spec *s, struct err_list *errs);

#endif
