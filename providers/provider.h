/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/provider.h - what a provider promises to the engine.
 *
 * Every call runs in a task, straight-line, may wait, and never retries, prints, or writes state:
 * ERR_BUSY is retried by the engine, ERR_TIMEOUT means "effect unknown" and is settled with find. A
 * create repeated with the same token makes one object. Everything made bears the cluster's name
 * and its token where the provider can keep them, so that list finds all of it and nothing else. A
 * machine seen as "stopped" (or a network whose status is not "running") is repaired by update with
 * its want: that starts it again and returns when it answers. An attribute that has no row in
 * `fields` never reaches a provider.
 */
#ifndef MUSTER_PROVIDERS_PROVIDER_H
#define MUSTER_PROVIDERS_PROVIDER_H

#include "base/base.h"
#include "inventory/inventory.h"
#include "net/net.h"

struct provider;

/* What the engine asks for: one object. */
struct resource_want {
	const char *addr;
	const char *name;  /* the object's own name; machines: the node's name, also its hostname */
	const char *token; /* of this create */
	const struct value *attrs; /* by the resource type's rows */
	const struct value *deps;  /* map addr -> attrs of what it depends on (as recorded) */
	const char *admin_key; /* machines: "ssh-ed25519 AAAA..." to be put in authorized_keys */
	const struct value *host_key; /* machines: {private: secret, public: "ssh-ed25519 ..."} that
					 muster generated; NULL: not needed */
	/* where want_tell leads; NULL: nobody asks */
	void (*tell)(void *arg, const char *text);
	void *tell_arg;
};

/* What a create or update that takes its time waits for now, for people: "building". */
static inline void want_tell(const struct resource_want *w, const char *text)
{
	if (w->tell)
		w->tell(w->tell_arg, text);
}

/* What the provider has. */
struct resource_seen {
	const char *addr; /* as recorded at the provider, NULL if it can't keep it */
	const char *id;
	const char *name;
	const char *token;	   /* NULL if it can't keep it */
	const struct value *attrs; /* by the rows: FIELD_COMPUTED ones included */
	const char *status;	   /* "running", "stopped", "building", "error" */
	int64_t created_ms;	   /* when it was made; 0: not known */
	const char *request;	   /* of the call that told */
};
struct resources_seen {
	VEC(struct resource_seen *) v;
};

struct resource_type {
	const char *kind; /* "machine", "network" */
	const struct field
		*fields; /* rows of a plain struct; engine uses name, flags, fallback and doc */
	int64_t create_timeout_ms, delete_timeout_ms;
	/* what an object uses up of a quota ("machines", "addresses"); NULL: nothing */
	const char *quota;
	int scarcity;	   /* of that, 0..9: leftovers that hold what is scarce are shown first */
	int64_t settle_ms; /* how long after a request was lost its object may still appear; 0: the
			      "no" of find is final at once */
	int64_t (*settle)(const struct provider *p); /* the same, where options say it; NULL:
							settle_ms */
	/* how long lists may show what destroy has said is gone; 0: not at all */
	int64_t linger_ms;
	/* All objects of this kind that bear the cluster's mark. One bulk read. NULL: the provider
	 * can't tell; what is recorded is taken as seen (machines that exist). */
	int (*list)(struct provider *p, struct arena *a, struct resources_seen *out, struct err *e);
	int (*create)(struct provider *p, struct arena *a, const struct resource_want *w,
		      struct resource_seen **out, struct err *e);
	/* Changes that need no replacement, and starting what has stopped; NULL if there are none.
	 * ERR_NOT_FOUND if it is gone. */
	int (*update)(struct provider *p, struct arena *a, const char *id,
		      const struct resource_want *w, struct resource_seen **out, struct err *e);
	/* Returns when it is gone; an absent object is success. */
	int (*destroy)(struct provider *p, const char *id, struct err *e);
	/* "Did it happen?" *out NULL: no, and it will not (a half-made object is finished or
	 * removed here). */
	int (*find)(struct provider *p, struct arena *a, const char *token,
		    struct resource_seen **out, struct err *e);
	/* Machines only: power off and on, whatever state it is in; returns when it answers again.
	 * NULL: the engine asks the host. */
	int (*reboot)(struct provider *p, const char *id, struct err *e);
	/* Machines only: how to log in. Fills host, port, user, netns, host_keys of *t; the engine
	 * adds keys and spec settings. */
	int (*reach)(struct provider *p, struct arena *a, const struct resource_seen *seen,
		     struct ssh_target *t, struct err *e);
};

struct provider_open {
	const char *cluster;
	const struct spec_provider *spec; /* name, options, positions */
	const char *state_dir; /* ".muster" beside the spec, absolute: for files of the provider's
				  own */
	const char *self;      /* path of the muster program, for helper processes; absolute */
};

struct provider_type {
	const char *name;
	const char *doc;
	const struct field
		*options; /* rows for the provider's own keys in the spec; FIELD_END only if none */
	const struct field *pool_options;
	bool owns_hosts; /* true: pools have count; false: pools have hosts (machines that exist) */
	bool has_network; /* machines depend on a network resource; an implicit "default" one is
			     made if the pool names none */
	const struct resource_type *const *types; /* NULL-terminated */
	int (*open)(struct arena *a, const struct provider_open *o, struct provider **out,
		    struct err *e);
	void (*close)(struct provider *p);
	/* What is missing on this machine (not root, no systemd-nspawn, ...): clear error. NULL:
	 * nothing needed. */
	int (*doctor)(const struct provider_open *o, struct err *e);
	/* false: its machines can't be logged into (a simulated cloud), so they are not configured
	 * or probed. NULL: they can. */
	bool (*can_login)(struct provider *p);
	int64_t max_parallel; /* creates at a time; 0: the engine's */
};

#endif
