/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From bytes to struct spec: read and merge (spec_read), evaluate expressions (spec_render), decode
 * by the tables (field), check what tables cannot say (spec_check), ask the providers. Each step
 * goes on after the faults of the one before, so that one run tells all; a value that failed is
 * field_faulty afterwards and is not reported twice.
 */
#include "inventory/spec.h"

#include "inventory/spec_check.h"
#include "inventory/spec_read.h"
#include "inventory/spec_render.h"

static void finish_pools(struct spec *s)
{
	struct spec_pool *p = s->pools.v;

	for (size_t i = 0; i < s->pools.n; i++)
		if (p[i].ssh.obj.source == NULL || !value_get(p[i].ssh.obj.source, "become"))
			p[i].ssh.become = !str_eqc(p[i].ssh.user, "root");
}

static void finish_providers(struct spec *s)
{
	struct spec_provider *p = s->providers.v;

	for (size_t i = 0; i < s->providers.n; i++)
		if (!p[i].type.n)
			p[i].type = p[i].name;
}

static void ask_providers(const struct spec *s, const struct spec_opts *o, struct err_list *errs)
{
	const struct spec_provider *providers = s->providers.v;
	const struct spec_pool *pools = s->pools.v;

	for (size_t i = 0; o->check_provider && i < s->providers.n; i++)
		if (providers[i].obj.source)
			o->check_provider(o->arg, s, &providers[i], errs);
	for (size_t i = 0; o->check_pool && i < s->pools.n; i++) {
		const struct spec_provider *p = pools[i].provider.p
							? spec_provider_find(s, pools[i].provider)
							: NULL;
		if (p && pools[i].obj.source)
			o->check_pool(o->arg, s, &pools[i], p, errs);
	}
}

/* The list is sorted: the same words at the same place are one fault (a file that is read by two
 * ways, a value that two checks saw). */
static void drop_repeats(struct err_list *errs)
{
	size_t n = 0;

	for (size_t i = 0; i < errs->n; i++) {
		const struct err *last = n ? &errs->v[n - 1] : NULL;
		if (last && last->pos.line == errs->v[i].pos.line &&
		    last->pos.col == errs->v[i].pos.col && !strcmp(last->msg, errs->v[i].msg))
			continue;
		if (n != i)
			errs->v[n] = errs->v[i];
		n++;
	}
	errs->n = n;
}

static const struct value *map_or_null(const struct value *v)
{
	return v && v->kind == V_MAP ? v : NULL;
}

static void load(struct arena *a, const struct spec_opts *o, struct spec *s, struct value *tree,
		 struct err_list *errs)
{
	const struct value *vars = map_or_null(value_get(tree, "vars"));

	s->tree = value_copy(a, tree);
	s->extra_vars = o->extra_vars;
	if (o->extra_vars)
		vars = vars ? value_merge(a, vars, o->extra_vars, false) : o->extra_vars;
	spec_render(a, spec_fields, tree, vars, errs);
	if (field_decode(a, spec_fields, tree, "", s, errs) < 0)
		log_debug("the spec has faults");
	s->vars = vars ? vars : value_map(a);
	finish_providers(s);
	finish_pools(s);
	spec_check(a, s, errs);
	ask_providers(s, o, errs);
}

int spec_load(struct arena *a, const char *path, const struct spec_opts *o, struct spec **out,
	      struct err_list *errs)
{
	static const struct spec_opts none = { 0 };
	struct spec_files files = { 0 };
	struct spec *s = arena_obj(a, struct spec);
	size_t before = errs->n + errs->dropped;

	s->file = arena_strdup(a, path);
	s->dir = fs_is_dir(path) ? s->file : fs_dirname(a, path);
	int rc = spec_read(a, path, &files, errs);
	/* A tree with holes would make faults that are none ("no such provider"). */
	if (rc == 0)
		load(a, o ? o : &none, s, files.tree, errs);
	memcpy(s->digest, files.digest, sizeof s->digest);
	for (size_t i = 0; i < files.sources.n; i++)
		VEC_ADD(a, &s->sources) = files.sources.v[i];
	err_list_sort(errs);
	drop_repeats(errs);
	*out = s;
	return errs->n + errs->dropped > before ? -1 : 0;
}
