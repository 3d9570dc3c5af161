/* SPDX-License-Identifier: Apache-2.0 */
/* A network of the fake cloud: a range of addresses and nothing behind it. */
#include "providers/fake/cloud.h"

struct network_attrs {
	struct obj obj;
	struct str cidr, network_id;
};

static const struct field fields[] = {
	FIELD(network_attrs, cidr, F_CIDR, FIELD_FIXED, "10.0.0.0/8", NULL,
	      "range of the network's addresses"),
	FIELD(network_attrs, network_id, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "the provider's id of the network"),
	FIELD_END,
};

static void compute(struct provider *p unused_arg, struct arena *a, int64_t id,
		    const struct value *deps unused_arg, struct value *attrs)
{
	value_set(attrs, "network_id", value_strf(a, "net-%lld", (long long)id));
}

static const struct fake_kind kind = { "network", compute };

static int network_list(struct provider *p, struct arena *a, struct resources_seen *out,
			struct err *e)
{
	return fake_list(p, a, &kind, out, e);
}

static int network_create(struct provider *p, struct arena *a, const struct resource_want *w,
			  struct resource_seen **out, struct err *e)
{
	return fake_create(p, a, &kind, w, out, e);
}

static int network_update(struct provider *p, struct arena *a, const char *id,
			  const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	if (fake_update(p, a, kind.kind, id, w->attrs, e))
		return -1;
	return fake_by_id(p, a, kind.kind, id, out, e);
}

static int network_destroy(struct provider *p, const char *id, struct err *e)
{
	return fake_destroy(p, &kind, id, e);
}

static int network_find(struct provider *p, struct arena *a, const char *token,
			struct resource_seen **out, struct err *e)
{
	return fake_find(p, a, &kind, token, out, e);
}

const struct resource_type fake_network = {
	.kind = "network",
	.fields = fields,
	.create_timeout_ms = 60000,
	.delete_timeout_ms = 60000,
	.quota = "networks",
	.scarcity = 3,
	.settle = fake_settle,
	.list = network_list,
	.create = network_create,
	.update = network_update,
	.destroy = network_destroy,
	.find = network_find,
};
