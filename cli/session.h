/* SPDX-License-Identifier: Apache-2.0 */
/* cli/session.h - from options to open things: paths, spec, state, engine, and the questions that
 * commands ask. See cli.h for the rest. */
#ifndef MUSTER_CLI_SESSION_H
#define MUSTER_CLI_SESSION_H

#include "cli/cli.h"

/* Changes to -C, finds the spec file, the state folder, this program, and who we are; reads -e. */
must_check int session_paths(struct cli *c, struct err *e);

#endif
