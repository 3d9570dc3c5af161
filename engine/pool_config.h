/* SPDX-License-Identifier: Apache-2.0 */
/* engine/pool_config.h - what is to be applied to the nodes of a pool: its roles, then its
 * playbooks, loaded once; and the digest of it all. */
#ifndef MUSTER_ENGINE_POOL_CONFIG_H
#define MUSTER_ENGINE_POOL_CONFIG_H

#include "engine/context.h"

struct pool_config {
	VEC(struct playbook *) playbooks; /* the play of the roles first */
	bool sees_fleet;		  /* they name hostvars */
	char digest[SHA256_HEX]; /* of every byte of them, and of the vars that the pool's nodes
				    have */
};

/* *out NULL: the pool has neither roles nor playbooks. Cached by the engine. */
must_check int pool_config_get(struct engine *en, const struct node *n,
			       const struct pool_config **out, struct err *e);
/* The playbooks of all pools, in the fleet's order; in the engine's arena. */
struct config_playbooks {
	VEC(struct playbook *) v;
};
must_check int pool_config_playbooks(struct engine *en, struct config_playbooks *out,
				     struct err *e);
/* Digest of the spec, of the variables of the command line, and of all pools' configuration. */
must_check int pool_config_spec_digest(struct engine *en, char out[SHA256_HEX], struct err *e);

#endif
