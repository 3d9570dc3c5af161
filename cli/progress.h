/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/progress.h - what a long run shows on stderr: on a terminal one live region (bar, nodes at
 * work, the slowest few, ETA); elsewhere a line per state change and one summary every 30 s. Events
 * also go to events_emit.
 */
#ifndef MUSTER_CLI_PROGRESS_H
#define MUSTER_CLI_PROGRESS_H

#include "cli/view.h"

void progress_begin(struct cli *c);
void progress_event(void *cli, const struct engine_event *ev); /* an engine_opts.on_event */
void progress_end(struct cli *c); /* clears the live region; call before printing results */

#endif
