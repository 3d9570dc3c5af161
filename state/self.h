/* SPDX-License-Identifier: Apache-2.0 */
/* state/self.h - who runs this: user and host, as history and lease name them. Inside state/ only. */
#ifndef MUSTER_STATE_SELF_H
#define MUSTER_STATE_SELF_H

#include <stddef.h>

void self_user(char *to, size_t size); /* login name, or the number */
void self_host(char *to, size_t size);

#endif
