/* SPDX-License-Identifier: Apache-2.0 */
/* cli/help.h - help texts out of the command and option tables. */
#ifndef MUSTER_CLI_HELP_H
#define MUSTER_CLI_HELP_H

#include "cli/cli.h"

int help_command(struct cli *c, const struct command *cmd); /* prints; gives the exit code */
int help_unknown_command(const char *name, struct err *e);  /* ERR_USAGE with a suggestion */

#endif
