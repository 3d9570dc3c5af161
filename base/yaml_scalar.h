/* SPDX-License-Identifier: Apache-2.0 */
/* base/yaml_scalar.h - what a plain scalar of YAML means in each dialect. Used by yaml.c and
 * yaml_write.c only. */
#ifndef MUSTER_BASE_YAML_SCALAR_H
#define MUSTER_BASE_YAML_SCALAR_H

#include "base/value.h"

/* Sets v's kind and content; a string is copied into the arena. -1 with reason and hint (no
 * position) for text that readers of YAML 1.1 and 1.2 would take differently (spec only) or that is
 * too large. */
must_check int yaml_scalar_spec(struct arena *a, struct str text, struct value *v, struct err *e);
/* As PyYAML reads it: never refused. */
void yaml_scalar_ansible(struct arena *a, struct str text, struct value *v);

#endif
