/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/progress.h - what a long run shows on stderr while it works.
 *
 * On a terminal: one live region (bar, nodes by state, the slowest few, time left), drawn at most
 * ten times a second, with failures scrolling above it. Elsewhere: a line per ended step in small
 * runs, a summary every few seconds in large ones, each kind of failure at once, and, when nothing
 * else happens, what is waited for every --heartbeat. Engine events also go to events_emit.
 *
 * Between progress_begin and progress_end all that goes to stderr through view passes here, so that
 * it never mixes with the region. Both run in a task; begin is nested by no one.
 */
#ifndef MUSTER_CLI_PROGRESS_H
#define MUSTER_CLI_PROGRESS_H

#include "cli/view.h"

void progress_begin(struct cli *c);
/* how many steps each node has: for the counts of nodes */
void progress_plan(struct cli *c, const struct plan *p);
void progress_event(void *cli, const struct engine_event *ev); /* an engine_opts.on_event */
/* A command's own work, a node at a time; told to nobody but the person who watches. */
void progress_nodes(struct cli *c, size_t total);
void progress_node_start(struct cli *c, const char *node, const char *action);
void progress_node_end(struct cli *c, const char *node, const char *action, bool failed);
void progress_end(struct cli *c); /* clears the live region; call before printing results */

#endif
