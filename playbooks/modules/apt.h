/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/modules/apt.h - what modules about packages of Debian share. For playbooks/modules. */
#ifndef MUSTER_PLAYBOOKS_MODULES_APT_H
#define MUSTER_PLAYBOOKS_MODULES_APT_H

#include "playbooks/module.h"

/* Refreshes the package lists; exits 1 when one cannot be loaded. Reads the arguments lock_timeout,
 * update_cache_retries and update_cache_retry_max_delay. */
void apt_patch_update(const struct mod_call *c, struct patch *p);

#endif
