/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/ssh/ssh.h - machines that exist: muster takes them in, configures them, and lets them
 * go. It never makes or breaks one.
 */
#ifndef MUSTER_PROVIDERS_SSH_SSH_H
#define MUSTER_PROVIDERS_SSH_SSH_H

#include "providers/provider.h"

extern const struct provider_type ssh_provider;
extern const struct resource_type ssh_machine; /* machine.c */

#endif
