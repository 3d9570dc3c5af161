/* SPDX-License-Identifier: Apache-2.0 */
/* base/env.h - the environment as the cli captured it at start; getenv is banned elsewhere. Tests
 * set their own. */
#ifndef MUSTER_BASE_ENV_H
#define MUSTER_BASE_ENV_H

#include "base/attr.h"

void env_init(char *const *environ_block); /* borrowed: the process environment */
const char *env_get(const char *name);	   /* NULL if unset or empty */
/* override for this process's own view; NULL removes. Not exported. */
void env_set(const char *name, const char *value);
void env_fini(void);

#endif
