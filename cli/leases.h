/* SPDX-License-Identifier: Apache-2.0 */
/* cli/leases.h - who holds which lease, for people and for machines. */
#ifndef MUSTER_CLI_LEASES_H
#define MUSTER_CLI_LEASES_H

#include "cli/cli.h"

/* A line each; nothing when there is none. */
void leases_text(struct arena *a, struct buf *b, const struct leases *all);
struct value *leases_value(struct arena *a, const struct leases *all); /* a list of maps */

#endif
