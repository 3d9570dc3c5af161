/* SPDX-License-Identifier: Apache-2.0 */
#include "inventory/spec_check.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>

#include "inventory/fleet.h"

struct checker {
	struct arena *a;
	const struct spec *s;
	struct err_list *errs;
};

/* ---- references ----------------------------------------------------------------------------- */

/* The names in one of the spec's maps ("providers"), as candidates. */
static const char **names_of(struct checker *c, const char *section, size_t *n)
{
	const struct value *m = value_get(c->s->obj.source, section);

	*n = m && m->kind == V_MAP ? m->map.n : 0;
	const char **names = arena_array(c->a, const char *, *n + 1);
	for (size_t i = 0; i < *n; i++)
		names[i] = m->map.e[i].key.p;
	return names;
}

static void check_reference(struct checker *c, const struct field *row, struct str name,
			    struct pos at, const char *path)
{
	size_t n;
	const char **names = names_of(c, row->accepts, &n);
	const char *hint = NULL, *best;

	for (size_t i = 0; i < n; i++)
		if (str_eqc(name, names[i]))
			return;
	best = str_suggest(name, names, n);
	if (best)
		hint = arena_printf(c->a, "did you mean \"%s\"?", best);
	else if (n)
		hint = arena_printf(c->a,
				    "declare it under %s, or use one that is there, such as \"%s\"",
				    row->accepts, names[0]);
	else
		hint = arena_printf(c->a, "declare it under %s", row->accepts);
	err_list_addf(c->errs, at, hint, "%s.%s: no \"" STR_FMT "\" in %s", path, row->name,
		      STR_ARG(name), row->accepts);
}

static void check_references(struct checker *c, const struct field *rows, const struct obj *o,
			     const char *path)
{
	for (const struct field *r = rows; r->name; r++) {
		if (!(r->flags & FIELD_REF))
			continue;
		struct str name = *(const struct str *)(const void *)((const char *)o + r->offset);
		if (name.p)
			check_reference(c, r, name, field_pos(rows, o, r->name), path);
	}
}

/* ---- names ---------------------------------------------------------------------------------- */

/* Pools, networks and providers end up in host names, addresses and tags. */
static void check_name(struct checker *c, const char *section, struct str name, struct pos at)
{
	bool good = name.n > 0 && name.n <= 40 && name.p[0] != '-' && name.p[name.n - 1] != '-';

	for (size_t i = 0; i < name.n; i++)
		good = good && ((name.p[i] >= 'a' && name.p[i] <= 'z') ||
				(name.p[i] >= '0' && name.p[i] <= '9') || name.p[i] == '-');
	if (!good)
		err_list_addf(c->errs, at, "use 1-40 of a-z 0-9 -, not beginning or ending with -",
			      "%s: \"" STR_FMT "\" is not a good name", section, STR_ARG(name));
}

static const struct field *sub_rows(const char *name)
{
	for (const struct field *r = spec_fields; r->name; r++)
		if (!strcmp(r->name, name))
			return r->sub;
	bug("no section \"%s\"", name);
}

/* ---- networks ------------------------------------------------------------------------------- */

struct block {
	unsigned char addr[16];
	int bits, family;
};

static bool parse_block(struct str cidr, struct block *b)
{
	char text[64];
	int64_t bits;
	size_t slash = str_find_char(cidr, '/');

	if (slash == SIZE_MAX || slash >= sizeof text ||
	    !str_to_int(str_sub(cidr, slash + 1, SIZE_MAX), &bits))
		return false;
	snprintf(text, sizeof text, "%.*s", (int)slash, cidr.p);
	b->family = strchr(text, ':') ? AF_INET6 : AF_INET;
	b->bits = (int)bits;
	return inet_pton(b->family, text, b->addr) == 1;
}

static bool overlap(const struct block *x, const struct block *y)
{
	int bits = x->bits < y->bits ? x->bits : y->bits;

	if (x->family != y->family || memcmp(x->addr, y->addr, (size_t)bits / 8) != 0)
		return false;
	int rest = bits % 8;
	return !rest || !((x->addr[bits / 8] ^ y->addr[bits / 8]) >> (8 - rest));
}

/* Each pair once, reported at the later one. Networks of different providers may use the same
 * addresses. */
static void check_overlaps(struct checker *c, const struct spec_network *v, size_t n,
			   const struct field *rows)
{
	struct block *blocks = arena_array(c->a, struct block, n + 1);

	for (size_t i = 0; i < n; i++) {
		if (!v[i].cidr.p || !parse_block(v[i].cidr, &blocks[i]))
			continue;
		for (size_t k = 0; k < i; k++) {
			if (!blocks[k].family || !str_eq(v[k].provider, v[i].provider) ||
			    !overlap(&blocks[k], &blocks[i]))
				continue;
			err_list_addf(c->errs, field_pos(rows, &v[i], "cidr"),
				      "choose addresses that no other network has",
				      "networks." STR_FMT ".cidr: " STR_FMT " overlaps " STR_FMT
				      " of network \"" STR_FMT "\" (line %d)",
				      STR_ARG(v[i].name), STR_ARG(v[i].cidr), STR_ARG(v[k].cidr),
				      STR_ARG(v[k].name), field_pos(rows, &v[k], "cidr").line);
			break;
		}
	}
}

/* ---- pools ---------------------------------------------------------------------------------- */

/* Whether a key that nobody knows was probably meant to say how many: then that is the fault, and
 * it was reported. */
static bool misspelt_size(const struct spec_pool *p, const struct field *rows)
{
	static const char *const sizes[] = { "count", "hosts" };

	for (size_t i = 0; i < p->obj.source->map.n; i++) {
		struct str key = p->obj.source->map.e[i].key;
		const struct field *r = rows;
		while (r->name && !str_eqc(key, r->name))
			r++;
		if (!r->name && str_suggest(key, sizes, ARRAY_LEN(sizes)))
			return true;
	}
	return false;
}

static void check_size(struct checker *c, const struct spec_pool *p, const struct field *rows)
{
	bool count = field_was_set(rows, p, "count"), hosts = field_was_set(rows, p, "hosts");

	if (!p->obj.source)
		return;
	if (count && hosts)
		err_list_addf(c->errs, field_pos(rows, p, "count"),
			      "remove count: the hosts are counted already",
			      "pools." STR_FMT ": has both count and hosts", STR_ARG(p->name));
	else if (!count && !hosts && !misspelt_size(p, rows))
		err_list_addf(
			c->errs, p->obj.pos,
			"add \"count: N\" for machines to make, or \"hosts: [...]\" for machines that exist",
			"pools." STR_FMT ": has neither count nor hosts", STR_ARG(p->name));
}

static void check_network_of(struct checker *c, const struct spec_pool *p, const struct field *rows)
{
	const struct spec_network *n = p->network.p ? spec_network_find(c->s, p->network) : NULL;

	if (n && n->provider.p && p->provider.p && !str_eq(n->provider, p->provider))
		err_list_addf(c->errs, field_pos(rows, p, "network"),
			      "choose a network of the pool's provider",
			      "pools." STR_FMT ".network: \"" STR_FMT
			      "\" is a network of \"" STR_FMT "\", the pool is on \"" STR_FMT "\"",
			      STR_ARG(p->name), STR_ARG(p->network), STR_ARG(n->provider),
			      STR_ARG(p->provider));
}

/* A password in clear would lie in every clone of the spec. */
static void check_password(struct checker *c, const struct spec_pool *p)
{
	const struct value *v = p->obj.source ? value_path(p->obj.source, "ssh.become_password")
					      : NULL;

	if (!v || v->kind != V_STR || v->secret)
		return;
	scrub_register(v->s); /* not in the report either, which shows the line */
	err_list_addf(
		c->errs, v->pos,
		"write {{ secret('env:NAME') }}, {{ secret('file:PATH') }} or {{ secret('cmd:COMMAND') }}",
		"pools." STR_FMT ".ssh.become_password: a password may not stand in the spec",
		STR_ARG(p->name));
}

static bool says_zero(const struct value *v)
{
	return v->kind == V_INT ? v->i == 0
				: v->kind == V_STR && (str_eqc(v->s, "0") || str_eqc(v->s, "0%"));
}

/* Nothing would ever be done. */
static void check_pace(struct checker *c, const struct spec_pool *p)
{
	const struct value *v = value_path(p->obj.source, "update.max_unavailable");

	if (v && says_zero(v))
		err_list_addf(c->errs, v->pos, "write 1 or more, or a percentage above 0%",
			      "pools." STR_FMT ".update.max_unavailable: must not be 0",
			      STR_ARG(p->name));
}

static void check_pools(struct checker *c)
{
	const struct spec_pool *v = c->s->pools.v;
	const struct field *rows = sub_rows("pools");

	for (size_t i = 0; i < c->s->pools.n; i++) {
		const char *path = arena_printf(c->a, "pools." STR_FMT, STR_ARG(v[i].name));
		if (!v[i].obj.source)
			continue;
		check_name(c, "pools", v[i].name, v[i].obj.pos);
		check_references(c, rows, &v[i].obj, path);
		check_size(c, &v[i], rows);
		check_network_of(c, &v[i], rows);
		check_password(c, &v[i]);
		check_pace(c, &v[i]);
	}
}

void spec_check(struct arena *a, const struct spec *s, struct err_list *errs)
{
	struct checker c = { a, s, errs };
	const struct spec_provider *providers = s->providers.v;
	const struct spec_network *networks = s->networks.v;
	const struct field *rows = sub_rows("networks");
	struct fleet *fleet;

	for (size_t i = 0; i < s->providers.n; i++)
		check_name(&c, "providers", providers[i].name, providers[i].obj.pos);
	for (size_t i = 0; i < s->networks.n; i++) {
		if (!networks[i].obj.source)
			continue;
		check_name(&c, "networks", networks[i].name, networks[i].obj.pos);
		check_references(&c, rows, &networks[i].obj,
				 arena_printf(a, "networks." STR_FMT, STR_ARG(networks[i].name)));
	}
	check_overlaps(&c, networks, s->networks.n, rows);
	check_pools(&c);
	/* Expanding finds the faults in node sets and the nodes that two pools claim; they are in
	 * errs. */
	if (fleet_expand(a, s, &fleet, errs) < 0)
		return;
}
