/* SPDX-License-Identifier: Apache-2.0 */
/* providers/providers.h - front door: the provider contract (provider.h) and the list of them
 * (list.h). */
#ifndef MUSTER_PROVIDERS_PROVIDERS_H
#define MUSTER_PROVIDERS_PROVIDERS_H

#include "providers/provider.h"

/* NULL-terminated, in providers/list.c from the rows of list.h. */
extern const struct provider_type *const provider_types[];
const struct provider_type *provider_type_find(struct str type);

/* `muster internal NAME ...`: what a helper process of a provider does (a host's keeper, a package
 * proxy); argv[0] is NAME. Gives its exit status. ERR_USAGE: there is no such helper. */
must_check int provider_helper(int argc, char **argv, struct err *e);

#endif
