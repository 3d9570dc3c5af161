/* SPDX-License-Identifier: Apache-2.0 */
/* cli/view_causes.h - why nodes failed and which were left alone, as text and as values. */
#ifndef MUSTER_CLI_VIEW_CAUSES_H
#define MUSTER_CLI_VIEW_CAUSES_H

#include "cli/cli.h"

/* Each cause as an error with its nodes, their pools, and examples where the messages vary; then
 * what was not begun because of it. To stderr. */
void view_causes(struct cli *c, const struct causes *causes, const struct apply_result *r);
struct value *view_causes_value(struct arena *a, const struct causes *causes);
struct value *view_held_value(struct arena *a, const struct apply_result *r);

#endif
