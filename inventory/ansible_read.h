/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/ansible_read.h - the files of an Ansible inventory, before groups are resolved. Used by
 * ansible.c only. */
#ifndef MUSTER_INVENTORY_ANSIBLE_READ_H
#define MUSTER_INVENTORY_ANSIBLE_READ_H

#include "base/base.h"

#define INV_MAX_HOSTS 200000

struct inv_group {
	const char *name;
	struct pos pos;
	int depth; /* 0: not known yet */
	bool visiting;
	VEC(struct inv_group *) parents; /* but for "all" */
	struct value *vars;
	struct value *file_vars; /* of group_vars/ */
};

struct inv_raw_host {
	const char *name;
	VEC(struct inv_group *) groups; /* that name it */
	struct value *vars;
	struct value *file_vars; /* of host_vars/ */
};

struct inv_raw {
	struct map groups; /* name -> struct inv_group *; "all" and "ungrouped" are always there */
	struct map hosts;  /* name -> struct inv_raw_host * */
};

must_check int inv_read(struct arena *a, const char *source, struct inv_raw *raw,
			struct err_list *errs);

#endif
