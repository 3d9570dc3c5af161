/* SPDX-License-Identifier: Apache-2.0 */
/* A row a lookup. */
#include "templates/lookup.h"

enum lookup_flags { LOOKUP_WORLD = 1 /* reaches this machine */ };

static const struct row {
	const char *name;
	int (*fn)(struct lookup *l); /* NULL: refused */
	unsigned flags;
	const char *why;
} rows[] = {
	{ "env", look_env, LOOKUP_WORLD, NULL },
	{ "file", look_file, LOOKUP_WORLD, NULL },
	{ "template", look_template, LOOKUP_WORLD, NULL },
	{ "fileglob", look_fileglob, LOOKUP_WORLD, NULL },
	{ "first_found", look_first_found, LOOKUP_WORLD, NULL },
	{ "ini", look_ini, LOOKUP_WORLD, NULL },
	{ "pipe", look_pipe, LOOKUP_WORLD, NULL },
	{ "lines", look_lines, LOOKUP_WORLD, NULL },
	{ "password", look_password, LOOKUP_WORLD, NULL },
	{ "vars", look_vars, 0, NULL },
	{ "items", look_items, 0, NULL },
	{ "list", look_list, 0, NULL },
	{ "flattened", look_flattened, 0, NULL },
	{ "indexed_items", look_indexed_items, 0, NULL },
	{ "dict", look_dict, 0, NULL },
	{ "random_choice", look_random_choice, 0, NULL },
	{ "nested", look_nested, 0, NULL },
	{ "cartesian", look_nested, 0, NULL },
	{ "together", look_together, 0, NULL },
	{ "subelements", look_subelements, 0, NULL },
	{ "sequence", look_sequence, 0, NULL },
	{ "url", NULL, 0, "expressions reach no network: fetch it with the get_url module" },
	{ "config", NULL, 0, "there is no Ansible configuration: write the value" },
	{ "inventory_hostnames", NULL, 0, "use groups['name']" },
	{ "varnames", NULL, 0, "name the variables" },
	{ "unvault", NULL, 0, "use secret('...')" },
};

const char *lookup_name(size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(rows); k++)
		if (rows[k].fn && i-- == 0)
			return rows[k].name;
	return NULL;
}

static const struct row *find_row(struct eval *ev, struct str name)
{
	const char *names[ARRAY_LEN(rows)], *best;

	name = call_plain_name(name);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_eqc(name, rows[i].name) && rows[i].fn)
			return &rows[i];
		if (str_eqc(name, rows[i].name)) {
			err_set(ev->e, ERR_SPEC, "lookup('%s') is not available", rows[i].name);
			err_hint(ev->e, "%s", rows[i].why);
			return NULL;
		}
		names[i] = rows[i].name;
	}
	err_set(ev->e, ERR_SPEC, "unknown lookup \"" STR_FMT "\"", STR_ARG(name));
	if ((best = str_suggest(name, names, ARRAY_LEN(rows))))
		err_hint(ev->e, "did you mean \"%s\"?", best);
	return NULL;
}

/* wantlist and errors are every lookup's; the rest is its own. */
static struct value *own_kwargs(struct eval *ev, const struct value *kwargs)
{
	struct value *own = value_map(ev->a);

	for (size_t i = 0; i < kwargs->map.n; i++)
		if (!str_eqc(kwargs->map.e[i].key, "wantlist") &&
		    !str_eqc(kwargs->map.e[i].key, "errors"))
			value_sets(own, kwargs->map.e[i].key, kwargs->map.e[i].val);
	return own;
}

/* One value, or texts joined by commas; as Ansible's lookup gives them. */
static const struct value *as_one(struct lookup *l)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *out = l->out;
	bool secret = false;

	if (out->list.n == 1)
		return out->list.v[0];
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < out->list.n; i++) {
		const struct value *v = out->list.v[i];
		if (v->kind != V_STR)
			return out;
		buf_addf(&b, "%s", i ? "," : "");
		buf_addstr(&b, v->s);
		secret = secret || v->secret;
	}
	return op_marked(l->a, value_str(l->a, buf_str(&b)), secret);
}

const struct value *lookup_run(struct eval *ev, struct call *c, bool list)
{
	struct str name = c->args->list.n ? op_text(ev->a, c->args->list.v[0]) : STR(""),
		   errors = value_get_str(c->kwargs, "errors", "strict");
	struct lookup l = { .ev = ev, .a = ev->a, .out = value_list(ev->a), .e = ev->e };
	const struct row *row = find_row(ev, name);
	struct value *terms = value_list(ev->a);

	if (!row)
		return NULL;
	if (row->flags & LOOKUP_WORLD && !ev->bounds->world) {
		err_set(ev->e, ERR_SPEC,
			"lookup('%s') is not available: expressions reach no file, environment or command here",
			row->name);
		err_hint(ev->e,
			 strcmp(row->name, "env") == 0
				 ? "use secret('env:NAME'), or give the value with -e NAME=VALUE"
				 : "use secret('file:PATH'), or give the value as a variable");
		return NULL;
	}
	for (size_t i = 1; i < c->args->list.n; i++)
		value_add(ev->a, terms, c->args->list.v[i]);
	l.terms = terms;
	l.kwargs = own_kwargs(ev, c->kwargs);
	if (value_has_unknown(terms) || value_has_unknown(l.kwargs))
		return value_unknown(ev->a);
	if (row->fn(&l) < 0) {
		if (str_eqc(errors, "strict"))
			return NULL;
		*ev->e = (struct err){ 0 };
		return list ? value_list(ev->a) : value_null(ev->a);
	}
	return list || value_get_bool(c->kwargs, "wantlist", false) ? l.out : as_one(&l);
}
