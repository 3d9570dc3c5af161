/* SPDX-License-Identifier: Apache-2.0 */
/* templates/tests.h - what may follow `is`. A test's function returns a truth value. */
#ifndef MUSTER_TEMPLATES_TESTS_H
#define MUSTER_TEMPLATES_TESTS_H

#include "templates/call.h"

const struct callable *test_find(struct str name); /* NULL: none */
const char *test_suggest(struct str name);

const struct callable *test_at(size_t i); /* all, in order; NULL past the last */

#endif
