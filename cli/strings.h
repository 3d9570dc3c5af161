/* SPDX-License-Identifier: Apache-2.0 */
/* cli/strings.h - repeated options as the NULL-terminated vectors that the engine takes. */
#ifndef MUSTER_CLI_STRINGS_H
#define MUSTER_CLI_STRINGS_H

#include "cli/cli.h"

const char *const *cli_strings(struct cli *c, const struct opt_list *l); /* NULL when empty */

#endif
