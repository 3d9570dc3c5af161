/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/world.h - the inside of the local provider: throw-away hosts on this Linux
 * machine: real Debian with systemd, sshd and apt, made in half a second.
 *
 * A host is an overlay on one cached Debian root, run by systemd-nspawn. Its cluster's hosts share
 * a network namespace with a bridge and no way out. Each host has a keeper process (keeper.h,
 * supervisor.h) in whose own namespaces the overlay is mounted and the host's network lives: when
 * it dies, however it dies, nothing of the host stays mounted or running.
 *
 * On disk, below the provider's `dir`: CLUSTER-HASH/{net,host}/ID/, each with a record (record.h)
 * that is written before anything is made. This header is for the files of this folder.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_WORLD_H
#define MUSTER_PROVIDERS_LOCAL_WORLD_H

#include "providers/provider.h"

extern const struct resource_type local_network; /* network.c */
extern const struct resource_type local_machine; /* machine.c */

enum local_internet { INTERNET_NONE, INTERNET_PROXY, INTERNET_NAT };

struct local_options {
	struct obj obj;
	struct str dir, cache;
	struct str_list packages, mirror;
	int64_t internet; /* enum local_internet */
	struct str user;
	bool durable;
	int64_t boot_timeout;
};

struct provider {
	struct arena *a; /* its own */
	struct local_options o;
	const char *self;	    /* the muster program, for keepers */
	const char *cache;	    /* built roots */
	const char *root;	    /* DIR/CLUSTER-HASH */
	struct task_sem image_turn; /* one task builds or looks at a time */
	struct task_sem net_turn;   /* brings networks up, gives addresses out */
};

#define LOCAL_SSH_PORT 22

/* network.c, for machines: makes the network of this record directory run, whatever was there
 * before. */
must_check int local_network_up(struct provider *p, const char *dir, const struct value *rec,
				struct err *e);

#endif
