/* SPDX-License-Identifier: Apache-2.0 */
/* engine/probe.h - one node's configuration compared with what it should be: the pool's plays in
 * check mode over one connection. */
#ifndef MUSTER_ENGINE_PROBE_H
#define MUSTER_ENGINE_PROBE_H

#include "engine/diff.h"
#include "engine/pool_config.h"
#include "engine/reach.h"

/* Never fails for the node's sake: what went wrong is in *out. -1: cancelled. */
must_check int probe_node(struct engine *en, struct arena *a, const struct node *n,
			  const struct reach_node *rn, struct node_probe *out, struct err *e);
/* What a run needs to know of the node; facts as cached. */
must_check int probe_run_host(struct engine *en, struct arena *a, const struct node *n,
			      struct host *conn, struct run_host *out, struct err *e);

#endif
