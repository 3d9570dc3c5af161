/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/local.h - door of the local provider: throw-away hosts on this Linux machine
 * (README.md).
 *
 * Its two daemons are hidden commands of the program, `muster internal local-host ...` and `muster
 * internal local-proxy ...`: the cli calls these mains with argv[0] being that word, before any
 * task runs.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_LOCAL_H
#define MUSTER_PROVIDERS_LOCAL_LOCAL_H

#include "providers/local/proxy.h"
#include "providers/local/supervisor.h"
#include "providers/provider.h"

extern const struct provider_type local_provider;

#endif
