/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machines that muster made are reached with muster's own key and the host key that it knows from
 * their making; the user's ssh_config must not reroute them, so it is not read unless the spec
 * names one. Machines that exist are the user's: their ssh_config, agent and known_hosts count.
 */
#include "engine/reach.h"

#include <unistd.h>

#include "engine/keys.h"
#include "engine/retry.h"

static void set_user_port(struct engine *en, struct arena *a, const struct spec_ssh *s,
			  struct ssh_target *t)
{
	const struct ssh_target *d = en->o.ssh_defaults;

	if (d && d->user)
		t->user = d->user;
	if (d && d->port)
		t->port = d->port;
	if (s && !t->user && s->user.n)
		t->user = str_cstr(a, s->user);
	if (s && !t->port && s->port)
		t->port = (int)s->port;
}

static void set_common(struct engine *en, struct arena *a, const struct spec_ssh *s,
		       struct ssh_target *t)
{
	const struct ssh_target *d = en->o.ssh_defaults;

	for (size_t i = 0; d && i < d->identities.n; i++)
		VEC_ADD(a, &t->identities) = d->identities.v[i];
	if (!s)
		return;
	if (s->key.n)
		VEC_ADD(a, &t->identities) = str_cstr(a, s->key);
	if (s->known_hosts.n)
		VEC_ADD(a, &t->known_hosts) = str_cstr(a, s->known_hosts);
	t->strict = (enum ssh_strict)s->host_key_checking;
	if (s->connect_timeout)
		t->connect_ms = s->connect_timeout;
}

/* "a,b": through a to b, from there to the node. */
static int set_jump(struct arena *a, const struct spec_ssh *s, const char *config,
		    struct ssh_target *t, struct err *e)
{
	struct str rest = s->jump, part;
	const struct ssh_target *through = NULL;

	while (str_next(&rest, ',', &part)) {
		if (!str_trim(part).n)
			continue;
		struct ssh_target *j = arena_obj(a, struct ssh_target);
		if (ssh_hop_parse(a, part, j, e))
			return -1;
		for (size_t i = 0; i < t->identities.n; i++)
			VEC_ADD(a, &j->identities) = t->identities.v[i];
		for (size_t i = 0; i < t->known_hosts.n; i++)
			VEC_ADD(a, &j->known_hosts) = t->known_hosts.v[i];
		j->strict = t->strict;
		j->jump = through;
		if (ssh_target_resolve(a, config, j, e))
			return err_wrap(e, "jump host " STR_FMT, STR_ARG(part));
		through = j;
	}
	t->jump = through;
	return 0;
}

static void set_become(struct arena *a, const struct spec_ssh *s, const struct ssh_target *t,
		       struct host_become *b)
{
	bool root = t->user ? strcmp(t->user, "root") == 0 : geteuid() == 0;
	const struct value *written = s ? value_get(s->obj.source, "become") : NULL;
	const char *user = s && s->become_user.n ? str_cstr(a, s->become_user) : "root";

	b->on = written ? s->become : !root;
	if (root && strcmp(user, "root") == 0)
		b->on = false; /* it is there already */
	b->user = strcmp(user, "root") == 0 ? NULL : user;
	if (s)
		b->password = s->become_password;
}

static int set_own(struct engine *en, struct arena *a, struct ssh_target *t, struct err *e)
{
	const char *path;

	if (keys_admin(a, en->o.state_dir, false, &path, NULL, e))
		return -1;
	VEC_ADD(a, &t->identities) = path;
	t->no_agent = true;
	t->identities_only = true;
	return 0;
}

static void pin_recorded(struct arena *a, const struct value *attrs, struct ssh_target *t)
{
	const struct value *keys = value_get(attrs, "host_keys");

	for (size_t i = 0; keys && keys->kind == V_LIST && i < keys->list.n; i++)
		if (keys->list.v[i]->kind == V_STR)
			VEC_ADD(a, &t->host_keys) = str_cstr(a, keys->list.v[i]->s);
}

int reach_opts(struct engine *en, struct arena *a, const struct reach_node *n,
	       struct host_opts *out, struct err *e)
{
	const struct spec_ssh *s = n->pool ? &n->pool->ssh : NULL;
	struct engine_provider *ep;

	*out = (struct host_opts){ .name = n->name };
	struct ssh_target *t = &out->target;
	if (context_provider(en, n->provider, &ep, e))
		return -1;
	const struct resource_type *type = want_type(ep->type, "machine");
	if (!type || !type->reach)
		return err_set(e, ERR_SPEC, "machines of provider \"%s\" can't be logged in to",
			       n->provider);
	if (type->reach(ep->p, a, n->seen, t, e))
		return -1;
	bool ours = ep->type->owns_hosts;
	if (ours && !t->host_keys.n)
		pin_recorded(a, n->attrs, t);
	set_user_port(en, a, s, t);
	if (ours && set_own(en, a, t, e))
		return -1;
	set_common(en, a, s, t);
	const char *config = s && s->config.n ? str_cstr(a, s->config) : ours ? "none" : NULL;
	if (s && s->jump.n && set_jump(a, s, config, t, e))
		return -1;
	if (ssh_target_resolve(a, config, t, e))
		return -1;
	set_become(a, s, t, &out->become);
	return 0;
}

static bool may_come_up(const struct err *e, int tries)
{
	switch (e->kind) {
	case ERR_IO:
	case ERR_TIMEOUT:
	case ERR_BUSY:
	case ERR_REMOTE: return true;
	case ERR_AUTH: return tries < 4; /* sshd may listen before the key is in its place */
	default: return false;
	}
}

int reach_open(struct engine *en, struct arena *a, const struct reach_node *n, int64_t wait_ms,
	       struct host **out, struct err *e)
{
	struct retry r = retry_within(wait_ms);
	struct host_opts o;
	bool told = false;

	r.base_ms = 100;
	r.cap_ms = 3000;
	r.stop = &en->stopping;
	if (reach_opts(en, a, n, &o, e))
		return err_on(e, n->addr, n->name);
	for (;;) {
		struct err now = { 0 };
		if (!host_open(&o, out, &now))
			return 0;
		if (!wait_ms || !may_come_up(&now, r.tries) || !retry_again(&r, &now)) {
			*e = now;
			return err_on(e, n->addr, n->name);
		}
		if (!told && r.tries > 3) {
			struct engine_event ev = { .type = "waiting",
						   .addr = n->addr,
						   .node = n->name,
						   .text = "waiting for SSH" };
			context_emit(en, &ev);
			told = true;
		}
	}
}

struct resource_seen *reach_seen(struct arena *a, const struct state_resource *r, const char *name)
{
	struct resource_seen *s = arena_obj(a, struct resource_seen);

	*s = (struct resource_seen){
		.addr = r->addr,
		.id = r->id,
		.name = name,
		.token = r->token,
		.attrs = r->attrs,
		.status = "running",
	};
	return s;
}

static int recorded_by_name(struct engine *en, struct arena *a, const char *node,
			    struct state_resource **out, struct err *e)
{
	const struct node *n = en->o.fleet ? map_getc(&en->o.fleet->by_name, node) : NULL;
	struct state_resources all;

	*out = NULL;
	if (n && en->o.state)
		return state_resource_find(en->o.state, a, n->addr, out, e);
	if (context_resources(en, a, &all, e))
		return -1;
	for (size_t i = 0; i < all.v.n; i++)
		if (all.v.v[i]->pool &&
		    strcmp(want_node_name(a, en->o.fleet, all.v.v[i]->addr), node) == 0)
			*out = all.v.v[i];
	return 0;
}

/* A machine that exists is there before any apply; NULL for what muster has to make. */
static struct resource_seen *existing(struct engine *en, struct arena *a, const struct node *n)
{
	const struct provider_type *type;
	struct resource_seen *s;
	struct value *attrs;

	if (!n || !n->host)
		return NULL;
	type = context_provider_type(en, str_cstr(a, n->pool->provider));
	if (!type || type->owns_hosts)
		return NULL;
	attrs = value_map(a);
	value_set(attrs, "host", value_cstr(a, n->host));
	s = arena_obj(a, struct resource_seen);
	*s = (struct resource_seen){
		.addr = n->addr, .id = n->host, .name = n->name, .attrs = attrs
	};
	return s;
}

int engine_reach(struct engine *en, struct arena *a, const char *node, struct host_opts *out,
		 struct err *e)
{
	const struct node *n = en->o.fleet ? map_getc(&en->o.fleet->by_name, node) : NULL;
	struct state_resource *r;

	struct resource_seen *seen = NULL;
	bool recorded;

	if (recorded_by_name(en, a, node, &r, e))
		return -1;
	recorded = r && r->id;
	if (!recorded)
		seen = existing(en, a, n);
	if (!recorded && !seen) {
		err_set(e, ERR_NOT_FOUND, "node %s has not been made", node);
		return err_hint(e, "make it with `muster apply`");
	}
	struct reach_node rn = {
		.name = node,
		.addr = recorded ? r->addr : n->addr,
		.provider = recorded ? r->provider : str_cstr(a, n->pool->provider),
		.pool = n ? n->pool : NULL,
		.seen = recorded ? reach_seen(a, r, node) : seen,
		.attrs = recorded ? r->attrs : NULL,
	};
	return reach_opts(en, a, &rn, out, e) ? err_on(e, rn.addr, node) : 0;
}
