/* SPDX-License-Identifier: Apache-2.0 */
/* internal: helper processes that providers start (a host's keeper, a package proxy). Not for
 * people. */
#include "cli/view.h"

static int cmd_internal(struct cli *c, struct err *e)
{
	size_t n = c->args.v.n;

	if (!n)
		return err_set(e, ERR_USAGE, "internal is for muster itself");
	char **argv = arena_array(c->a, char *, n + 1);

	for (size_t i = 0; i < n; i++)
		argv[i] = arena_strdup(c->a, c->args.v.v[i]);
	return provider_helper((int)n, argv, e);
}

const struct command command_internal = {
	"internal",	      "",	    "helper processes of providers", NULL, NULL, 0,
	HIDDEN | STOP_AT_ARG, cmd_internal,
};
