/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A machine of the fake cloud: a row with an address. Nothing answers there, unless the option
 * `ssh` says which real sshd stands in for all of them.
 */
#include "providers/fake/cloud.h"

struct machine_attrs {
	struct obj obj;
	struct str image, machine, zone, address, network_id;
	const struct value *labels;
};

static const struct field fields[] = {
	FIELD(machine_attrs, image, F_STR, FIELD_FIXED, NULL, NULL,
	      "image that the machine is made from"),
	FIELD(machine_attrs, machine, F_STR, 0, NULL, NULL,
	      "size of the machine; a change resizes it in place"),
	FIELD(machine_attrs, zone, F_STR, FIELD_FIXED, NULL, NULL,
	      "zone that the machine is made in"),
	FIELD(machine_attrs, labels, F_VALUE, 0, NULL, NULL, "words attached to the machine"),
	FIELD(machine_attrs, address, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "address of the machine in its network"),
	FIELD(machine_attrs, network_id, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "the provider's id of the network it is in"),
	FIELD_END,
};

/* The id is never used again, so neither is the address, up to sixteen million machines. */
static void compute(struct provider *p unused_arg, struct arena *a, int64_t id,
		    const struct value *deps, struct value *attrs)
{
	unsigned n = (unsigned)(id & 0xffffff);
	value_set(attrs, "address", value_strf(a, "10.%u.%u.%u", n >> 16, (n >> 8) & 255, n & 255));
	for (size_t i = 0; deps && deps->kind == V_MAP && i < deps->map.n; i++) {
		struct str net = value_get_str(deps->map.e[i].val, "network_id", NULL);
		if (net.n)
			value_set(attrs, "network_id", value_str(a, net));
	}
}

static const struct fake_kind kind = { "machine", compute };

static int machine_list(struct provider *p, struct arena *a, struct resources_seen *out,
			struct err *e)
{
	return fake_list(p, a, &kind, out, e);
}

static int machine_create(struct provider *p, struct arena *a, const struct resource_want *w,
			  struct resource_seen **out, struct err *e)
{
	return fake_create(p, a, &kind, w, out, e);
}

static int machine_update(struct provider *p, struct arena *a, const char *id,
			  const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	if (fake_update(p, a, kind.kind, id, w->attrs, e))
		return -1;
	return fake_by_id(p, a, kind.kind, id, out, e);
}

static int machine_destroy(struct provider *p, const char *id, struct err *e)
{
	return fake_destroy(p, &kind, id, e);
}

static int machine_find(struct provider *p, struct arena *a, const char *token,
			struct resource_seen **out, struct err *e)
{
	return fake_find(p, a, &kind, token, out, e);
}

static int machine_reboot(struct provider *p, const char *id, struct err *e)
{
	return fake_reboot(p, &kind, id, e);
}

static int machine_reach(struct provider *p, struct arena *a,
			 const struct resource_seen *seen unused_arg, struct ssh_target *t,
			 struct err *e)
{
	const struct fake_ssh *s = &p->o.ssh;
	if (!s->host.n) {
		err_set(e, ERR_NOT_FOUND, "fake machines have no SSH");
		return err_hint(
			e,
			"set `ssh: {host: ..., port: ...}` of the provider to a real sshd that stands in for them");
	}
	t->host = str_cstr(a, s->host);
	t->port = (int)s->port;
	if (s->user.n)
		t->user = str_cstr(a, s->user);
	if (s->netns.n)
		t->netns = str_cstr(a, s->netns);
	if (s->host_key.n)
		VEC_ADD(a, &t->host_keys) = str_cstr(a, s->host_key);
	return 0;
}

const struct resource_type fake_machine = {
	.kind = "machine",
	.fields = fields,
	.create_timeout_ms = 600000,
	.delete_timeout_ms = 600000,
	.quota = "machines",
	.scarcity = 5,
	.settle = fake_settle,
	.list = machine_list,
	.create = machine_create,
	.update = machine_update,
	.destroy = machine_destroy,
	.find = machine_find,
	.reboot = machine_reboot,
	.reach = machine_reach,
};
