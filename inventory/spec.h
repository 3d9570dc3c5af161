/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/spec.h - the cluster spec, decoded. Read-only after spec_load; lives in one arena;
 * every value keeps its place.
 */
#ifndef MUSTER_INVENTORY_SPEC_H
#define MUSTER_INVENTORY_SPEC_H

#include "inventory/field.h"

struct spec_provider {
	struct obj obj;
	struct str name;
	struct str type;	     /* defaults to the name */
	int64_t rate;		     /* calls, thousandths a second; 0: no ceiling */
	const struct value *options; /* all other keys, checked by the provider's own rows */
};

struct spec_network {
	struct obj obj;
	struct str name;
	struct str provider;
	struct str cidr;
	const struct value *options;
};

struct spec_ssh {
	struct obj obj;
	struct str user;
	int64_t port;
	struct str key;	   /* private key file */
	struct str jump;   /* "user@host:port" or an ssh_config alias; several with commas */
	struct str config; /* ssh_config file; "none": only the spec */
	struct str known_hosts;
	int64_t host_key_checking; /* enum ssh_strict's order: "strict|accept-new|off" */
	bool become;		   /* default: true unless user is root */
	struct str become_user;
	struct str become_password; /* secret; an expression such as {{ secret('env:SUDO') }} */
	int64_t connect_timeout;    /* ms */
};

struct spec_role {
	struct obj obj;
	struct str role;
	const struct value *vars; /* map or NULL */
};

struct spec_update {
	struct obj obj;
	struct count max_unavailable;
	struct count canary; /* 0: none */
	int64_t soak;	     /* ms */
};

struct spec_pool {
	struct obj obj;
	struct str name;
	struct str provider;
	int64_t count;	       /* exactly one of count and hosts */
	struct str_list hosts; /* node sets */
	struct str image;
	struct str machine;
	struct str network;
	struct spec_ssh ssh;
	struct obj_list roles;	   /* struct spec_role */
	struct str_list playbooks; /* paths */
	const struct value *vars;
	struct spec_update update;
	const struct value *options; /* provider's own */
};

struct spec {
	struct obj obj;
	const char *file; /* as given */
	const char *dir;  /* relative paths start here */
	struct str cluster;
	struct str_list include;
	const struct value *vars; /* unevaluated; extra_vars are in it and win */
	const struct value
		*extra_vars; /* as given in spec_opts: they win over a pool's vars too; NULL */
	struct obj_list providers; /* struct spec_provider */
	struct obj_list networks;  /* struct spec_network */
	struct obj_list pools;	   /* struct spec_pool */
	const struct value *outputs;
	const struct value *tree;  /* merged, before expressions */
	char digest[65];	   /* of every byte read (spec and includes) */
	VEC(const char *) sources; /* files read, spec first */
};

struct spec_opts {
	const struct value *extra_vars; /* -e / -var: win over vars; NULL */
	/* Called for each provider so that its type and options can be checked without inventory
	 * knowing providers: adds to errs. */
	void (*check_provider)(void *arg, const struct spec *s, const struct spec_provider *p,
			       struct err_list *errs);
	void (*check_pool)(void *arg, const struct spec *s, const struct spec_pool *p,
			   const struct spec_provider *provider, struct err_list *errs);
	void *arg;
};

/* path: a file, or a folder whose *.yaml files are merged in name order. All faults in errs
 * (sorted); -1 if any. */
must_check int spec_load(struct arena *a, const char *path, const struct spec_opts *o,
			 struct spec **out, struct err_list *errs);
const struct spec_provider *spec_provider_find(const struct spec *s, struct str name);
const struct spec_network *spec_network_find(const struct spec *s, struct str name);
const struct spec_pool *spec_pool_find(const struct spec *s, struct str name);

extern const struct field spec_fields[]; /* the root rows: schema, manual, completion */

#endif
