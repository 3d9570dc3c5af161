/* SPDX-License-Identifier: Apache-2.0 */
/* cli/history.h - past runs, as the commands status, history and revert show them. */
#ifndef MUSTER_CLI_HISTORY_H
#define MUSTER_CLI_HISTORY_H

#include "cli/cli.h"

struct value *history_run_value(struct arena *a, const struct state_run *r);
/* The run whose id begins so, or "last". ERR_NOT_FOUND: there is none. */
must_check int history_find(struct cli *c, const char *id, struct state_run **out, struct err *e);
/* "1234567890ab on main, not as committed (roles/x/tasks/main.yml)"; or why no commit is known. */
const char *history_source_text(struct arena *a, const struct value *source);

#endif
