/* SPDX-License-Identifier: Apache-2.0 */
/* The spec's language as tables. Keys that later versions will know stand here too, so that they
 * are not mistaken for typing errors. */
#include "inventory/spec.h"

#define SOON(key)                                                      \
	{                                                              \
		key, F_VALUE, FIELD_SOON, 0, NULL, NULL, NULL, NULL, 0 \
	}

static const struct field provider_fields[] = {
	FIELD(spec_provider, name, F_STR, FIELD_NAME, NULL, NULL, "the provider's name"),
	FIELD(spec_provider, type, F_STR, 0, NULL, NULL,
	      "kind of provider, such as ssh, local or fake; defaults to the name"),
	FIELD(spec_provider, rate, F_RATE, 0, NULL, NULL,
	      "never more calls than so many, such as 20/s or 90/m; without it muster slows down when it is refused"),
	FIELD(spec_provider, options, F_VALUE, FIELD_REST, NULL, NULL,
	      "every other key is the provider's own"),
	FIELD_END,
};

static const struct field network_fields[] = {
	FIELD(spec_network, name, F_STR, FIELD_NAME, NULL, NULL, "the network's name"),
	FIELD(spec_network, provider, F_STR, FIELD_REQUIRED | FIELD_REF | FIELD_FIXED, NULL,
	      "providers", "name of the provider that has it"),
	FIELD(spec_network, cidr, F_CIDR, FIELD_FIXED, NULL, NULL, "its addresses"),
	FIELD(spec_network, options, F_VALUE, 0, NULL, "map", "what only this provider knows"),
	SOON("subnets"),
	SOON("firewall"),
	FIELD_END,
};

static const struct field ssh_fields[] = {
	FIELD(spec_ssh, user, F_STR, 0, NULL, NULL, "login name; else from ssh_config, else yours"),
	FIELD(spec_ssh, port, F_INT, 0, NULL, "1..65535", "port; else from ssh_config, else 22"),
	FIELD(spec_ssh, key, F_PATH, 0, NULL, NULL,
	      "private key file; else from ssh_config and the agent"),
	FIELD(spec_ssh, jump, F_STR, 0, NULL, NULL,
	      "host to connect through, as user@host:port; several with commas"),
	FIELD(spec_ssh, config, F_PATH, 0, NULL, "none",
	      "ssh_config file, or none to use this spec only"),
	FIELD(spec_ssh, known_hosts, F_PATH, 0, NULL, NULL, "file with the hosts' keys"),
	FIELD(spec_ssh, host_key_checking, F_ENUM, 0, "strict", "strict|accept-new|off",
	      "what to do about a host whose key is not known; yes and no need quotes"),
	FIELD(spec_ssh, become, F_BOOL, 0, NULL, NULL,
	      "become another user with sudo; defaults to true unless user is root"),
	FIELD(spec_ssh, become_user, F_STR, 0, "root", NULL, "the user to become"),
	FIELD(spec_ssh, become_password, F_STR, FIELD_SECRET, NULL, NULL,
	      "sudo's password, such as {{ secret('env:SUDO') }}"),
	FIELD(spec_ssh, connect_timeout, F_DURATION, 0, "30s", NULL,
	      "longest wait for a connection"),
	FIELD_END,
};

static const struct field role_fields[] = {
	FIELD(spec_role, role, F_STR, FIELD_REQUIRED | FIELD_SHORT, NULL, NULL,
	      "name of a role: a folder in roles/ beside the spec"),
	FIELD(spec_role, vars, F_VALUE, FIELD_LATE, NULL, "map",
	      "variables for this role; they win over the pool's"),
	FIELD_END,
};

static const struct field update_fields[] = {
	FIELD(spec_update, max_unavailable, F_COUNT, 0, "100%", NULL,
	      "how many nodes of the pool may be worked on at a time, as a number or a percentage"),
	FIELD(spec_update, canary, F_COUNT, 0, "0", NULL,
	      "how many nodes go first, alone, as a number or a percentage; the others follow only when these are done and well"),
	FIELD(spec_update, soak, F_DURATION, 0, "0s", NULL,
	      "how long the canary nodes are left alone before they are looked at again and the others follow"),
	SOON("drain"),
	FIELD_END,
};

static const struct field pool_fields[] = {
	FIELD(spec_pool, name, F_STR, FIELD_NAME, NULL, NULL, "the pool's name"),
	FIELD(spec_pool, provider, F_STR, FIELD_REQUIRED | FIELD_REF | FIELD_FIXED, NULL,
	      "providers", "name of the provider of its machines"),
	FIELD(spec_pool, count, F_INT, 0, NULL, "0..100000",
	      "number of machines to make, named POOL-0, POOL-1, ..."),
	FIELD(spec_pool, hosts, F_STRS, 0, NULL, NULL,
	      "node sets of machines that exist (ssh), such as gpu[001-016].example.org; these are their names"),
	FIELD(spec_pool, image, F_STR, FIELD_FIXED, NULL, NULL,
	      "portable name of the operating system's image, such as debian-12"),
	FIELD(spec_pool, machine, F_STR, FIELD_FIXED, NULL, NULL,
	      "the provider's name of the machine type"),
	FIELD(spec_pool, network, F_STR, FIELD_REF | FIELD_FIXED, NULL, "networks",
	      "name of the network it is in; without one, the provider's default"),
	FIELD_SUB(spec_pool, ssh, F_OBJ, 0, ssh_fields, spec_ssh, "how to log in"),
	FIELD_SUB(spec_pool, roles, F_LIST_OF, 0, role_fields, spec_role,
		  "roles to apply, in order"),
	FIELD(spec_pool, playbooks, F_STRS, 0, NULL, "path",
	      "playbooks to run after the roles, in order; of each, the plays whose hosts match the node"),
	FIELD(spec_pool, vars, F_VALUE, FIELD_LATE, NULL, "map",
	      "variables for its nodes; they win over those of the spec"),
	FIELD_SUB(spec_pool, update, F_OBJ, 0, update_fields, spec_update,
		  "how changes roll over the pool"),
	FIELD(spec_pool, options, F_VALUE, 0, NULL, "map", "what only this provider knows"),
	SOON("gpu"),
	SOON("subnet"),
	SOON("disks"),
	SOON("placement"),
	SOON("market"),
	SOON("stack"),
	SOON("verify"),
	FIELD_END,
};

const struct field spec_fields[] = {
	FIELD(spec, cluster, F_STR, FIELD_REQUIRED, NULL, "/[a-z0-9-]{1,40}/",
	      "name of the cluster, 1-40 of a-z 0-9 -"),
	FIELD(spec, include, F_STRS, 0, NULL, NULL,
	      "files to merge under this one, relative to it: what this one says wins"),
	FIELD(spec, vars, F_VALUE, FIELD_LATE, NULL, "map",
	      "variables for expressions here and on every node"),
	FIELD_SUB(spec, providers, F_MAP_OF, 0, provider_fields, spec_provider,
		  "where machines come from, by name"),
	FIELD_SUB(spec, networks, F_MAP_OF, 0, network_fields, spec_network,
		  "networks to make, by name"),
	FIELD_SUB(spec, pools, F_MAP_OF, 0, pool_fields, spec_pool,
		  "pools of equal machines, by name"),
	FIELD(spec, outputs, F_VALUE, FIELD_LATE, NULL, "map",
	      "values to show after apply; they also see nodes and cluster"),
	SOON("volumes"),
	SOON("load_balancers"),
	SOON("dns"),
	SOON("buckets"),
	SOON("budget"),
	SOON("policy"),
	FIELD_END,
};

const struct spec_provider *spec_provider_find(const struct spec *s, struct str name)
{
	const struct spec_provider *v = s->providers.v;

	for (size_t i = 0; i < s->providers.n; i++)
		if (str_eq(v[i].name, name))
			return &v[i];
	return NULL;
}

const struct spec_network *spec_network_find(const struct spec *s, struct str name)
{
	const struct spec_network *v = s->networks.v;

	for (size_t i = 0; i < s->networks.n; i++)
		if (str_eq(v[i].name, name))
			return &v[i];
	return NULL;
}

const struct spec_pool *spec_pool_find(const struct spec *s, struct str name)
{
	const struct spec_pool *v = s->pools.v;

	for (size_t i = 0; i < s->pools.n; i++)
		if (str_eq(v[i].name, name))
			return &v[i];
	return NULL;
}
