/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An included map lies under the map that includes it: what the includer says wins. Pools are the
 * exception: two files that both describe a pool are more often an accident than a wish, and half
 * of each would be a third thing that nobody wrote.
 */
#include "inventory/spec_read.h"

#include <stdlib.h>
#include <limits.h>

#include "inventory/spec_text.h"

static const char *const merged_maps[] = { "vars", "providers", "networks", "pools", "outputs" };

struct reader {
	struct arena *a;
	struct err_list *errs;
	struct spec_files *out;
	struct map done; /* real path -> non-NULL */
	VEC(const char *) stack;
	struct buf digests;
	bool full; /* SPEC_MAX_FILES was reported */
};

static struct value *read_file(struct reader *r, const char *path, struct pos from);

static const char *real_path(struct arena *a, const char *path)
{
	char *real = realpath(path, NULL);
	const char *copy = arena_strdup(a, real ? real : path);

	free(real); /* realpath's own memory */
	return copy;
}

static struct value *merge_maps(struct reader *r, const char *key, struct value *under,
				struct value *over)
{
	if (under->kind == V_NULL || over->kind != V_MAP)
		return over->kind == V_NULL ? under : over;
	if (under->kind != V_MAP)
		return over;
	for (size_t i = 0; !strcmp(key, "pools") && i < over->map.n; i++) {
		struct str name = over->map.e[i].key;
		const struct value *other = value_gets(under, name);
		if (!other)
			continue;
		struct pos at = yaml_key_pos(over, name.p), first = yaml_key_pos(under, name.p);
		if (!first.line)
			first = other->pos;
		err_list_addf(r->errs, at.line ? at : ((struct value *)over->map.e[i].val)->pos,
			      "rename one of them",
			      "pool \"" STR_FMT "\" is already described in %s:%d", STR_ARG(name),
			      first.file, first.line);
	}
	return value_merge(r->a, under, over, false);
}

static bool is_merged(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(merged_maps); i++)
		if (!strcmp(key, merged_maps[i]))
			return true;
	return false;
}

/* Two roots. NULL is an empty one. */
static struct value *merge_roots(struct reader *r, struct value *under, struct value *over)
{
	if (!under || !over)
		return over ? over : under;
	struct value *m = value_merge(r->a, under, over, false);
	m->pos = over->pos;
	for (size_t i = 0; i < m->map.n; i++) {
		const char *key = m->map.e[i].key.p;
		struct value *u = value_get(under, key), *o = value_get(over, key);
		if (is_merged(key) && u && o)
			m->map.e[i].val = merge_maps(r, key, u, o);
	}
	return m;
}

static bool on_stack(const struct reader *r, const char *real)
{
	for (size_t i = 0; i < r->stack.n; i++)
		if (!strcmp(r->stack.v[i], real))
			return true;
	return false;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void report_cycle(struct reader *r, const char *real, struct pos from)
{
	scoped(buf_fini) struct buf b = { 0 };
	bool in = false;

	buf_init(&b, 900);
	for (size_t i = 0; i < r->stack.n; i++) {
		in = in || !strcmp(r->stack.v[i], real);
		if (in)
			buf_addf(&b, "%s -> ", base_name(r->stack.v[i]));
	}
	buf_adds(&b, base_name(real));
	err_list_addf(r->errs, from, "remove one of the includes", "include cycle: %s", b.p);
}

static struct value *include_item(struct reader *r, const char *file, const struct value *item,
				  struct value *under)
{
	if (item->kind != V_STR || !item->s.n) {
		err_list_addf(r->errs, item->pos, NULL, "include: must be a path, not %s",
			      value_kind_name(item->kind));
		return under;
	}
	if (str_find(item->s, STR("{{")) != SIZE_MAX) {
		err_list_addf(r->errs, item->pos, "write the path itself",
			      "include: cannot hold an expression");
		return under;
	}
	const char *path = fs_join(r->a, fs_dirname(r->a, file), fs_expand_home(r->a, item->s.p));
	return merge_roots(r, under, read_file(r, path, item->pos));
}

static struct value *read_includes(struct reader *r, const char *file, const struct value *root)
{
	const struct value *inc = value_get(root, "include");
	struct value *under = NULL;

	if (!inc || inc->kind == V_NULL)
		return NULL;
	if (inc->kind != V_LIST)
		return include_item(r, file, inc, NULL);
	for (size_t i = 0; i < inc->list.n; i++)
		under = include_item(r, file, inc->list.v[i], under);
	return under;
}

/* Reads the bytes; from: where the include was written (line 0: the spec itself). */
static int read_bytes(struct reader *r, const char *path, struct pos from, struct str *text)
{
	struct err e = { 0 };

	if (fs_read(r->a, path, YAML_MAX_BYTES, text, &e) == 0)
		return 0;
	if (from.line) {
		err_wrap(&e, "include");
		e.kind = ERR_SPEC;
		err_at(&e, from);
	} else if (e.kind == ERR_NOT_FOUND) {
		err_hint(&e, "write one with: muster init, or name it with -f FILE");
	}
	err_list_add(r->errs, &e);
	return -1;
}

static struct value *parse_file(struct reader *r, const char *path, struct str text)
{
	struct value *v = NULL;
	char digest[SHA256_HEX];

	sha256_hex(text, digest);
	buf_adds(&r->digests, digest);
	const char *name = arena_strdup(r->a, path);
	VEC_ADD(r->a, &r->out->sources) = name;
	if (yaml_parse(r->a, name, text, YAML_SPEC, &v, r->errs) < 0)
		return NULL;
	struct pos top = { name, 1, 1 };
	if (v->kind == V_NULL) {
		err_list_addf(r->errs, top, "start with \"cluster: NAME\"", "the file is empty");
		return NULL;
	}
	if (v->kind != V_MAP) {
		err_list_addf(r->errs, v->pos.line ? v->pos : top, "start with \"cluster: NAME\"",
			      "a spec is a map of keys, not %s", value_kind_name(v->kind));
		return NULL;
	}
	spec_text_adjust(v, text);
	return v;
}

static struct value *read_file(struct reader *r, const char *path, struct pos from)
{
	const char *real = real_path(r->a, path);
	struct str text;

	if (on_stack(r, real)) {
		report_cycle(r, real, from);
		return NULL;
	}
	/* A file that two others include counts once. */
	if (map_getc(&r->done, real))
		return NULL;
	if (r->done.n >= SPEC_MAX_FILES) {
		if (!r->full)
			err_list_addf(r->errs, from, "merge some of them", "more than %d files",
				      SPEC_MAX_FILES);
		r->full = true;
		return NULL;
	}
	if (read_bytes(r, path, from, &text) < 0)
		return NULL;
	map_put(&r->done, str_of(real), r);
	struct value *v = parse_file(r, path, text);
	if (!v)
		return NULL;
	VEC_ADD(r->a, &r->stack) = real;
	struct value *under = read_includes(r, path, v);
	r->stack.n--;
	return merge_roots(r, under, v);
}

static struct value *read_folder(struct reader *r, const char *path)
{
	struct fs_names list = { 0 };
	struct err e = { 0 };
	struct value *tree = NULL;
	bool any = false;

	if (fs_list(r->a, path, &list, &e) < 0) {
		err_list_add(r->errs, &e);
		return NULL;
	}
	for (size_t i = 0; i < list.names.n; i++) {
		struct str name = str_of(list.names.v[i]);
		if (name.p[0] == '.' || (!str_ends(name, ".yaml") && !str_ends(name, ".yml")))
			continue;
		any = true;
		tree = merge_roots(r, tree,
				   read_file(r, fs_join(r->a, path, name.p), (struct pos){ 0 }));
	}
	if (!any) {
		err_set(&e, ERR_NOT_FOUND, "%s: no *.yaml file in this folder", path);
		err_list_add(r->errs, &e);
	}
	return tree;
}

int spec_read(struct arena *a, const char *path, struct spec_files *out, struct err_list *errs)
{
	struct reader r = { .a = a, .errs = errs, .out = out };
	size_t before = errs->n + errs->dropped;

	map_init(&r.done, a);
	buf_init(&r.digests, SPEC_MAX_FILES * SHA256_HEX);
	if (fs_is_dir(path))
		out->tree = read_folder(&r, path);
	else
		out->tree = read_file(&r, path, (struct pos){ 0 });
	/* One file's digest is the digest of its bytes; several are hashed again. */
	sha256_hex(buf_str(&r.digests), out->digest);
	if (r.digests.n == SHA256_HEX - 1)
		memcpy(out->digest, r.digests.p, SHA256_HEX);
	buf_fini(&r.digests);
	return errs->n + errs->dropped > before ? -1 : 0;
}
