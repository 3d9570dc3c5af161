/* SPDX-License-Identifier: Apache-2.0 */
/* providers/local/root.h - the files that make a copy of the base root one particular host. */
#ifndef MUSTER_PROVIDERS_LOCAL_ROOT_H
#define MUSTER_PROVIDERS_LOCAL_ROOT_H

#include "base/base.h"

struct root_files {
	const char *base, *upper; /* folders */
	const char *name, *address, *gateway;
	const char *machine_id;	 /* 32 hex digits */
	const char *admin_key;	 /* one line of authorized_keys; NULL: nobody can log in */
	struct str host_private; /* secret */
	const char *host_public;
	const char *user;	 /* NULL or "root": log in as root */
	const char *proxy;	 /* http://... for apt, or NULL */
	const char *resolv_conf; /* text, or NULL */
};

/* Blocking: call through task_offload. May be repeated. */
must_check int root_write(const struct root_files *f, struct err *e);

#endif
