/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nodes of a pool differ in their name only (and owned hosts in theirs), so a pool's attributes are
 * made and sealed once and shared by its nodes: a fleet of 10,000 costs 10,000 small structs.
 */
#include "engine/want.h"

struct builder {
	struct arena *a;
	const struct want_source *s;
	struct want *out;
};

const struct resource_type *want_type(const struct provider_type *p, const char *kind)
{
	for (size_t i = 0; p->types && p->types[i]; i++)
		if (strcmp(p->types[i]->kind, kind) == 0)
			return p->types[i];
	return NULL;
}

static const struct value *canonical_text(struct arena *a, const struct field *row,
					  const struct value *v)
{
	struct err e = { 0 };
	int64_t i = 0;
	double f = 0;

	switch (row->type) {
	case F_INT: return str_to_int(v->s, &i) ? value_int(a, i) : v;
	case F_FLOAT: return str_to_double(v->s, &f) ? value_float(a, f) : v;
	case F_BYTES: return quantity_bytes(v->s, &i, &e) ? v : value_int(a, i);
	case F_DURATION: return quantity_duration(v->s, &i, &e) ? v : value_int(a, i);
	case F_BOOL:
		if (str_eqc(v->s, "true") || str_eqc(v->s, "false"))
			return value_bool(a, str_eqc(v->s, "true"));
		return v;
	case F_STRS: {
		struct value *l = value_list(a);
		value_add(a, l, v);
		return l;
	}
	default: return v;
	}
}

const struct value *want_canonical(struct arena *a, const struct field *row, const struct value *v)
{
	if (!v || v->kind != V_STR || v->secret)
		return v;
	return canonical_text(a, row, v);
}

static const struct value *text_value(struct arena *a, struct str s)
{
	return s.n ? value_str(a, s) : NULL;
}

/* What the common keys of a pool say about an attribute of that name; NULL: nothing. */
static const struct value *pool_common(struct arena *a, const struct spec_pool *p, const char *row)
{
	if (strcmp(row, "image") == 0)
		return text_value(a, p->image);
	if (strcmp(row, "machine") == 0)
		return text_value(a, p->machine);
	if (strcmp(row, "network") == 0)
		return p->network.n ? value_str(a, p->network) : value_cstr(a, "default");
	return NULL;
}

static void attr_put(struct arena *a, struct value *attrs, const struct field *row,
		     const struct value *v)
{
	if (!v && row->fallback)
		v = value_cstr(a, row->fallback);
	v = want_canonical(a, row, v);
	if (!v || v->kind == V_NULL)
		return;
	if (row->flags & FIELD_SECRET)
		v = value_secret(a, v);
	value_set(attrs, row->name, v);
}

static struct value *machine_attrs(struct arena *a, const struct resource_type *t,
				   const struct spec_pool *p)
{
	struct value *attrs = value_map(a);

	for (const struct field *f = t ? t->fields : NULL; f && f->name; f++) {
		if (f->flags & FIELD_COMPUTED)
			continue;
		const struct value *v = pool_common(a, p, f->name);
		const struct value *own = value_get(p->options, f->name);
		attr_put(a, attrs, f, own ? own : v);
	}
	return attrs;
}

static struct value *network_attrs(struct arena *a, const struct resource_type *t,
				   const struct spec_network *n)
{
	struct value *attrs = value_map(a);

	for (const struct field *f = t ? t->fields : NULL; f && f->name; f++) {
		if (f->flags & FIELD_COMPUTED)
			continue;
		const struct value *v = n ? value_get(n->options, f->name) : NULL;
		if (!v && n && strcmp(f->name, "cidr") == 0)
			v = text_value(a, n->cidr);
		attr_put(a, attrs, f, v);
	}
	return attrs;
}

static int seal(struct builder *b, const struct value *v, const struct value **out, struct err *e)
{
	*out = v;
	if (!b->s->seal || !value_has_secret(v))
		return 0;
	return b->s->seal(b->s->arg, b->a, v, out, e);
}

static void add(struct builder *b, struct want_item *w)
{
	VEC_ADD(b->a, &b->out->v) = w;
	map_put(&b->out->by_addr, str_of(w->addr), w);
}

static int provider_of(struct builder *b, struct str name, const struct provider_type **out,
		       struct err *e)
{
	const struct spec_provider *p = spec_provider_find(b->s->spec, name);

	if (!p)
		return err_set(e, ERR_SPEC, "provider \"" STR_FMT "\" is not in the spec",
			       STR_ARG(name));
	*out = b->s->type_of(p->type);
	if (!*out) {
		err_set(e, ERR_SPEC,
			"provider \"" STR_FMT "\" has the unknown type \"" STR_FMT "\"",
			STR_ARG(name), STR_ARG(p->type));
		return err_at(e, p->obj.pos);
	}
	return 0;
}

static int add_network(struct builder *b, struct str provider, const struct spec_network *n,
		       struct err *e)
{
	const struct provider_type *pt = NULL;

	if (provider_of(b, provider, &pt, e))
		return -1;
	const struct resource_type *t = want_type(pt, "network");
	if (!t) {
		if (!n)
			bug("provider %s says has_network and serves none", pt->name);
		err_set(e, ERR_SPEC, "provider \"" STR_FMT "\" has no networks", STR_ARG(provider));
		return err_at(e, n->obj.pos);
	}
	struct want_item *w = arena_obj(b->a, struct want_item);
	w->name = n ? str_cstr(b->a, n->name) : "default";
	w->kind = "network";
	w->provider = str_cstr(b->a, provider);
	w->addr = arena_printf(b->a, "%s.network.%s", w->provider, w->name);
	if (map_getc(&b->out->by_addr, w->addr))
		return 0;
	w->provider_type = pt;
	w->type = t;
	w->attrs = network_attrs(b->a, t, n);
	if (seal(b, w->attrs, &w->sealed, e))
		return -1;
	add(b, w);
	return 0;
}

/* Every network of the spec whose provider has networks, then the implicit ones of pools that name
 * none. */
static int add_networks(struct builder *b, struct err *e)
{
	const struct spec *s = b->s->spec;
	const struct spec_network *nets = s->networks.v;
	const struct spec_pool *pools = s->pools.v;

	for (size_t i = 0; i < s->networks.n; i++)
		if (add_network(b, nets[i].provider, &nets[i], e))
			return -1;
	for (size_t i = 0; i < s->pools.n; i++) {
		const struct provider_type *pt = NULL;
		if (provider_of(b, pools[i].provider, &pt, e))
			return -1;
		if (pt->has_network && !pools[i].network.n &&
		    add_network(b, pools[i].provider, NULL, e))
			return -1;
	}
	return 0;
}

/* What the machines of one pool share. */
struct pool_share {
	const struct spec_pool *pool;
	const struct provider_type *pt;
	const struct resource_type *type;
	const struct value *attrs, *sealed;
	const char *provider, *name, *network; /* network: address, or NULL */
};

static int share_make(struct builder *b, const struct spec_pool *p, struct pool_share *sh,
		      struct err *e)
{
	*sh = (struct pool_share){ .pool = p,
				   .provider = str_cstr(b->a, p->provider),
				   .name = str_cstr(b->a, p->name) };
	if (provider_of(b, p->provider, &sh->pt, e))
		return -1;
	sh->type = want_type(sh->pt, "machine");
	if (!sh->type) {
		err_set(e, ERR_SPEC, "provider \"%s\" has no machines", sh->provider);
		return err_at(e, p->obj.pos);
	}
	sh->attrs = machine_attrs(b->a, sh->type, p);
	if (seal(b, sh->attrs, &sh->sealed, e))
		return -1;
	if (sh->pt->has_network) {
		struct str net = p->network.n ? p->network : STR("default");
		sh->network = arena_printf(b->a, "%s.network." STR_FMT, sh->provider, STR_ARG(net));
		if (!map_getc(&b->out->by_addr, sh->network)) {
			err_set(e, ERR_SPEC,
				"pool \"%s\" is in network \"" STR_FMT
				"\", which provider \"%s\" does not have",
				sh->name, STR_ARG(net), sh->provider);
			return err_at(e, p->obj.pos);
		}
	}
	return 0;
}

static bool has_row(const struct resource_type *t, const char *name)
{
	for (const struct field *f = t ? t->fields : NULL; f && f->name; f++)
		if (strcmp(f->name, name) == 0 && !(f->flags & FIELD_COMPUTED))
			return true;
	return false;
}

static void add_machine(struct builder *b, const struct pool_share *sh, const struct node *n)
{
	struct want_item *w = arena_obj(b->a, struct want_item);

	*w = (struct want_item){
		.addr = n->addr,
		.kind = "machine",
		.provider = sh->provider,
		.name = n->name,
		.pool = sh->name,
		.node = n,
		.provider_type = sh->pt,
		.type = sh->type,
		.attrs = sh->attrs,
		.sealed = sh->sealed,
	};
	if (n->host && has_row(sh->type, "host")) {
		struct value *own = value_map(b->a);
		value_set(own, "host", value_cstr(b->a, n->host));
		w->attrs = value_merge(b->a, sh->attrs, own, false);
		w->sealed = sh->sealed == sh->attrs ? w->attrs
						    : value_merge(b->a, sh->sealed, own, false);
	}
	if (sh->network)
		VEC_ADD(b->a, &w->deps) = sh->network;
	add(b, w);
}

int want_build(struct arena *a, const struct want_source *s, struct want *out, struct err *e)
{
	struct builder b = { .a = a, .s = s, .out = out };
	struct pool_share sh = { 0 };

	*out = (struct want){ 0 };
	map_init(&out->by_addr, a);
	if (!s->spec || !s->fleet)
		return 0;
	if (add_networks(&b, e))
		return -1;
	for (size_t i = 0; i < s->fleet->nodes.n; i++) {
		const struct node *n = s->fleet->nodes.v[i];
		if (sh.pool != n->pool && share_make(&b, n->pool, &sh, e))
			return -1;
		add_machine(&b, &sh, n);
	}
	return 0;
}

const char *want_node_name(struct arena *a, const struct fleet *f, const char *addr)
{
	const struct node *n = f ? map_getc(&f->by_addr, addr) : NULL;
	struct str s = str_of(addr);
	int64_t index;

	if (n)
		return n->name;
	if (!str_starts(s, "node.") || !str_ends(s, "]"))
		return addr;
	s = str_sub(s, strlen("node."), s.n - 1);
	size_t open = str_find_char(s, '[');
	if (open == SIZE_MAX)
		return addr;
	struct str pool = str_sub(s, 0, open), key = str_sub(s, open + 1, SIZE_MAX);
	if (str_to_int(key, &index))
		return arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(pool), STR_ARG(key));
	return str_cstr(a, key);
}
