/* SPDX-License-Identifier: Apache-2.0 */
/* templates/methods.h - methods of texts, lists and maps: x.startswith('a'). They change nothing:
 * every result is new. */
#ifndef MUSTER_TEMPLATES_METHODS_H
#define MUSTER_TEMPLATES_METHODS_H

#include "templates/call.h"

const struct callable *method_find(const struct value *self, struct str name); /* NULL: none */
const char *method_suggest(const struct value *self, struct str name);

extern const struct callable methods_text[]; /* ended by a NULL name */

/* The tables by Python's name of the type; NULL past the last. */
const struct callable *methods_of(size_t i, const char **type);

#endif
