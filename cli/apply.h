/* SPDX-License-Identifier: Apache-2.0 */
/* cli/apply.h - doing a plan, for the commands that do one: apply, destroy, revert. Their options
 * are struct apply_opts. */
#ifndef MUSTER_CLI_APPLY_H
#define MUSTER_CLI_APPLY_H

#include "cli/cli.h"

struct apply_opts {
	bool yes, full, diff, no_refresh;
	int64_t parallel, yes_destroy, lock_timeout_ms;
	struct count max_failures;
	struct opt_list targets, excludes;
};

/* Shows the plan, asks, does it and tells the results. An exit code, or -1. */
must_check int apply_confirmed(struct cli *c, const struct plan *p, const char *question,
			       struct err *e);
/* Nothing to do: a document for machines still, and a success. */
must_check int apply_empty(struct cli *c, const struct plan *p, struct err *e);

#endif
