/* SPDX-License-Identifier: Apache-2.0 */
/* cli/complete.h - completion scripts for the shells, out of the command and option tables. */
#ifndef MUSTER_CLI_COMPLETE_H
#define MUSTER_CLI_COMPLETE_H

#include "cli/cli.h"

must_check int complete_script(struct buf *b, const char *shell, struct err *e);

#endif
