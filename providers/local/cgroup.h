/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/cgroup.h - control groups of hosts: what is in one can be found and ended,
 * whatever became of its parents.
 *
 * /muster/ID/keeper holds the keeper, /muster/ID/box the host. Works where cgroup v2 is the
 * machine's only hierarchy and where it is mounted beside v1 (then the keeper's private mount
 * namespace gets a v2 view of its own). Blocking, quick.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_CGROUP_H
#define MUSTER_PROVIDERS_LOCAL_CGROUP_H

#include <sys/types.h>

#include "base/base.h"

/* In a private mount namespace: afterwards /sys/fs/cgroup is a cgroup2 mount. */
must_check int cgroup_mount_v2(struct err *e);
/* Where this process sees the v2 tree: "/sys/fs/cgroup", "/sys/fs/cgroup/unified"; NULL if nowhere.
 * Static. */
const char *cgroup_root(void);

must_check int cgroup_enter(const char *id, const char *leaf,
			    struct err *e); /* this process; makes what is missing */
bool cgroup_kill(const char *id,
		 const char *leaf); /* SIGKILL to all in it, and below; true when it is empty */
/* Removes the empty groups of a host; true when it was the last host of the machine (and /muster
 * went too). */
bool cgroup_remove(const char *id);
size_t cgroup_hosts(void); /* hosts that have one now */

/*
 * Every systemd takes a few inotify instances, and the machine's default of 128 is enough for about
 * thirty hosts. They are raised when more hosts than that start, and put back when the last one
 * ends.
 */
must_check int limits_raise(size_t hosts, struct err *e);
void limits_restore(void);

#endif
