/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/list.h - the modules: one line each, in the order of the documentation. */
#ifndef MUSTER_PLAYBOOKS_LIST_H
#define MUSTER_PLAYBOOKS_LIST_H

#include "playbooks/module.h"

/* files */
extern const struct module module_file;

extern const struct module *const module_list[]; /* NULL-terminated */

#endif
