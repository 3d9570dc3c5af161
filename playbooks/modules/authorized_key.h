/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/modules/authorized_key.h - what a new user's keys will be found to be. For
 * playbooks/modules. */
#ifndef MUSTER_PLAYBOOKS_MODULES_AUTHORIZED_KEY_H
#define MUSTER_PLAYBOOKS_MODULES_AUTHORIZED_KEY_H

#include "playbooks/module.h"

/* Of a user that the patch makes: no keys yet, in `home`. */
void authorized_key_predict_none(const struct changes *ch, const char *user, const char *home);

#endif
