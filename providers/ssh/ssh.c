/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/ssh/ssh.h"

#include "providers/options.h"

struct ssh_options {
	struct obj obj;
};

static const struct field no_options[] = { FIELD_END };
static const struct resource_type *const types[] = { &ssh_machine, NULL };

static int ssh_provider_open(struct arena *a, const struct provider_open *o, struct provider **out,
			     struct err *e)
{
	struct ssh_options opts = { 0 };
	*out = NULL; /* there is nothing to keep: every call has all it needs */
	return provider_options(a, o, no_options, &opts, e);
}

const struct provider_type ssh_provider = {
	.name = "ssh",
	.doc = "machines that exist and answer SSH: muster configures them and never makes or destroys one",
	.options = no_options,
	.pool_options = no_options,
	.owns_hosts = false,
	.has_network = false,
	.types = types,
	.open = ssh_provider_open,
};
