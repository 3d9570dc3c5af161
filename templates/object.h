/* SPDX-License-Identifier: Apache-2.0 */
/* templates/object.h - objects that a function makes: cycler(...), joiner(sep). */
#ifndef MUSTER_TEMPLATES_OBJECT_H
#define MUSTER_TEMPLATES_OBJECT_H

#include "templates/eval.h"

const struct value *object_cycler(struct eval *ev, const struct value *args);
const struct value *object_joiner(struct eval *ev, const struct value *args);

#endif
