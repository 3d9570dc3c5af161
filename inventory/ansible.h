/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/ansible.h - inventories in Ansible's INI and YAML formats (files, or folders of them),
 * with group_vars/ and host_vars/ beside.
 */
#ifndef MUSTER_INVENTORY_ANSIBLE_H
#define MUSTER_INVENTORY_ANSIBLE_H

#include "inventory/hostlist.h"

struct inv_host {
	const char *name;
	struct value *vars; /* merged: all < parent groups < child groups < host; ansible_host etc.
			       included */
	VEC(const char *) groups; /* all the groups it is in, without "all", sorted */
};

struct inv {
	VEC(struct inv_host *) hosts; /* in order of first appearance */
	struct map groups;	      /* name -> struct names * (member hosts, deep) */
};

/* source: a path, or "host1,host2," (a list with a comma). ERR_SPEC with positions in errs. */
must_check int inv_load(struct arena *a, const char *source, struct inv **out,
			struct err_list *errs);
/* Ansible host pattern: "all", "web:&dc1:!old", "gpu*", "web[0:2]", names and groups, ',' or ':'
 * between. */
must_check int inv_match(struct arena *a, const struct inv *inv, const char *pattern,
			 struct names *out, struct err *e);

#endif
