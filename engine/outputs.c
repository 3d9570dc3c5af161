/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/outputs.h"

#include "engine/world.h"
#include "templates/templates.h"

static const struct value *node_value(struct arena *a, const struct node *n,
				      const struct value *attrs)
{
	struct value *own = value_map(a);
	const char *address = world_address(attrs);
	const struct value *where = address ? value_cstr(a, address) : value_unknown(a);

	value_set(own, "name", value_cstr(a, n->name));
	value_set(own, "index", value_int(a, n->index));
	value_set(own, "address", where);
	if (!attrs || !value_get(attrs, "public_address"))
		value_set(own, "public_address", where);
	return attrs && attrs->kind == V_MAP ? value_merge(a, attrs, own, false) : own;
}

static const struct value *nodes_value(struct engine *en, struct arena *a, const struct map *attrs)
{
	struct value *pools = value_map(a), *list = NULL;
	const struct spec_pool *last = NULL;

	for (size_t i = 0; en->o.fleet && i < en->o.fleet->nodes.n; i++) {
		const struct node *n = en->o.fleet->nodes.v[i];
		if (n->pool != last) {
			list = value_list(a);
			value_sets(pools, n->pool->name, list);
			last = n->pool;
		}
		value_add(a, list, node_value(a, n, map_getc(attrs, n->addr)));
	}
	return pools;
}

int outputs_make(struct engine *en, struct arena *a, const struct map *attrs,
		 const struct value **out, struct err *e)
{
	const struct spec *s = en->o.spec;
	struct value *ours = value_map(a);

	*out = NULL;
	if (!s || !s->outputs || s->outputs->kind != V_MAP || !s->outputs->map.n)
		return 0;
	value_set(ours, "nodes", nodes_value(en, a, attrs));
	value_set(ours, "cluster", value_str(a, s->cluster));
	struct scope vars = { .vars = s->vars };
	struct scope extra = { .outer = &vars, .vars = en->o.extra_vars };
	struct scope scope = { .outer = &extra, .vars = ours };
	return template_render_value(a, s->outputs, &scope, TEMPLATE_NATIVE | TEMPLATE_LAZY, out, e)
		       ? err_wrap(e, "outputs")
		       : 0;
}
