/* SPDX-License-Identifier: Apache-2.0 */
/* engine/configure.h - the step that configures a node: connect (waiting until it answers), run its
 * roles and playbooks, record the digest. */
#ifndef MUSTER_ENGINE_CONFIGURE_H
#define MUSTER_ENGINE_CONFIGURE_H

#include "engine/work.h"

/* A failed configuration leaves the node tainted: the next plan configures it again. */
must_check int configure_node(struct work *w, struct arena *a, const struct change *c,
			      struct err *e);

#endif
