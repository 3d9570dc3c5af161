/* SPDX-License-Identifier: Apache-2.0 */
/* templates/exec.h - statements: a body's text, with the marks of what went into it. */
#ifndef MUSTER_TEMPLATES_EXEC_H
#define MUSTER_TEMPLATES_EXEC_H

#include "templates/eval.h"

/* The body's text as a value: secret or unknown if a part was. native: a body that is one
 * expression gives its value. NULL: fault. */
const struct value *exec_body(struct eval *ev, const struct node *body, bool native);

#endif
