/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest says whether a node has been given what the spec says now. Variables count
 * unevaluated, as they are written: what they evaluate to on a node is the probe's business. A
 * secret counts by its keyed digest, so that a changed secret is noticed and none is kept.
 */
#include "engine/pool_config.h"

static const char *const *role_folders(struct engine *en)
{
	const char **dirs = arena_array(en->a, const char *, 3);

	dirs[0] = fs_join(en->a, en->o.spec->dir ? en->o.spec->dir : ".", "roles");
	if (en->o.share_dir)
		dirs[1] = fs_join(en->a, en->o.share_dir, "roles");
	return dirs;
}

static int first_of(struct err_list *errs, const char *pool, struct err *e)
{
	size_t n = errs->n + errs->dropped;

	if (!n)
		err_set(e, ERR_SPEC, "pool \"%s\": its roles or playbooks could not be read", pool);
	else
		*e = errs->v[0];
	if (n > 1)
		err_wrap(e, "pool \"%s\": %zu faults, the first", pool, n);
	err_list_fini(errs);
	return -1;
}

static int load(struct engine *en, const struct spec_pool *p, struct pool_config *c, struct err *e)
{
	const char *pool = str_cstr(en->a, p->name);
	const char *const *roles = role_folders(en);
	struct err_list errs = { 0 };
	struct playbook *pb;

	if (p->roles.n) {
		struct playbook_paths paths = { .dir = en->o.spec->dir, .roles = roles };
		if (playbook_of_roles(en->a, &p->roles, &paths, &pb, &errs))
			return first_of(&errs, pool, e);
		VEC_ADD(en->a, &c->playbooks) = pb;
	}
	for (size_t i = 0; i < p->playbooks.items.n; i++) {
		const char *path = fs_join(en->a, en->o.spec->dir,
					   str_cstr(en->a, p->playbooks.items.v[i]));
		struct playbook_paths paths = { .dir = fs_dirname(en->a, path), .roles = roles };
		if (playbook_load(en->a, path, &paths, &pb, &errs))
			return first_of(&errs, pool, e);
		VEC_ADD(en->a, &c->playbooks) = pb;
	}
	err_list_fini(&errs);
	return 0;
}

static int add_sealed(struct engine *en, struct buf *b, const struct value *v, struct err *e)
{
	if (!v)
		return 0;
	if (value_has_secret(v) && en->o.state && state_seal(en->o.state, en->a, v, &v, e))
		return -1;
	json_write(b, v, JSON_SORT);
	buf_addc(b, '\n');
	return 0;
}

static int digest(struct engine *en, const struct node *n, struct pool_config *c, struct err *e)
{
	const struct spec_role *roles = n->pool->roles.v;
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < c->playbooks.n; i++) {
		buf_addf(&b, "%s\n", playbook_digest(c->playbooks.v[i]));
		c->sees_fleet |= playbook_uses_hostvars(c->playbooks.v[i]);
	}
	for (size_t i = 0; i < n->pool->roles.n; i++) {
		buf_addf(&b, STR_FMT "\n", STR_ARG(roles[i].role));
		if (add_sealed(en, &b, roles[i].vars, e))
			return -1;
	}
	if (add_sealed(en, &b, n->vars, e) || add_sealed(en, &b, en->o.extra_vars, e) ||
	    buf_check(&b, e))
		return -1;
	sha256_hex(buf_str(&b), c->digest);
	return 0;
}

int pool_config_get(struct engine *en, const struct node *n, const struct pool_config **out,
		    struct err *e)
{
	const struct spec_pool *p = n->pool;

	*out = NULL;
	if (!p->roles.n && !p->playbooks.items.n)
		return 0;
	struct pool_config *c = map_get(&en->configs, p->name);
	if (!c) {
		c = arena_obj(en->a, struct pool_config);
		if (load(en, p, c, e) || digest(en, n, c, e))
			return -1;
		map_put(&en->configs, p->name, c);
	}
	*out = c;
	return 0;
}

int pool_config_playbooks(struct engine *en, struct config_playbooks *out, struct err *e)
{
	const struct spec_pool *last = NULL;
	const struct pool_config *c;

	for (size_t i = 0; en->o.fleet && i < en->o.fleet->nodes.n; i++) {
		const struct node *n = en->o.fleet->nodes.v[i];
		if (n->pool == last)
			continue;
		last = n->pool;
		if (pool_config_get(en, n, &c, e))
			return -1;
		for (size_t k = 0; c && k < c->playbooks.n; k++)
			VEC_ADD(en->a, &out->v) = c->playbooks.v[k];
	}
	return 0;
}

int pool_config_spec_digest(struct engine *en, char out[SHA256_HEX], struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct config_playbooks books = { 0 };

	out[0] = '\0';
	buf_init(&b, BUF_MAX_DEFAULT);
	if (!en->o.spec)
		return 0;
	buf_addf(&b, "%s\n", en->o.spec->digest);
	if (add_sealed(en, &b, en->o.extra_vars, e) || pool_config_playbooks(en, &books, e))
		return -1;
	for (size_t i = 0; i < books.v.n; i++)
		buf_addf(&b, "%s\n", playbook_digest(books.v.v[i]));
	if (buf_check(&b, e))
		return -1;
	sha256_hex(buf_str(&b), out);
	return 0;
}
