/* SPDX-License-Identifier: Apache-2.0 */
/*
 * copy: files of the controller (or text, or files that are on the host already) to the host.
 *
 * What goes where is worked out in probe and kept for check: a list of items, folders before their
 * content. Whether `dest` is a folder decides where one file goes, and only the host knows, so both
 * places are asked about.
 */
#include <sys/stat.h>

#include "playbooks/content.h"
#include "playbooks/list.h"

#define COPY_MAX  ((size_t)16 << 20) /* one file */
#define ITEMS_MAX 2000

struct item {
	struct content w;
	const char *from; /* the controller's file; NULL: none */
	bool is_dir;
};

struct plan {
	VEC(struct item *) items;
	struct item *into; /* where the one file goes if dest is a folder; NULL if that can't be */
	bool remote;
};

static const struct module_arg copy_args[] = {
	{ "src", ARG_PATH, 0, NULL, NULL, NULL, "file or folder of the controller" },
	{ "content", ARG_RAW, 0, NULL, NULL, NULL, "the content itself, in place of src" },
	{ "dest", ARG_PATH, ARG_REQUIRED, NULL, NULL, NULL, "where to, on the host" },
	{ "remote_src", ARG_BOOL, 0, "no", NULL, NULL, "src is on the host" },
	{ "force", ARG_BOOL, 0, "yes", NULL, NULL, "no: only if dest is not there" },
	{ "follow", ARG_BOOL, 0, "no", NULL, NULL, "write what a link at dest leads to" },
	{ "local_follow", ARG_BOOL, ARG_IGNORED, "yes", NULL, NULL,
	  "links of the controller are followed" },
	{ "directory_mode", ARG_MODE, 0, NULL, NULL, NULL, "mode of folders that are made" },
	{ "checksum", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "expected digest of src" },
	{ "decrypt", ARG_BOOL, ARG_IGNORED, "yes", NULL, NULL, "vault files are not known yet" },
	ARG_CONTENT_ROWS,
	ARG_FILE_ATTRS,
	ARG_END,
};

static struct item *add_item(const struct mod_call *c, struct plan *plan, const char *dest,
			     bool is_dir)
{
	struct item *it = arena_obj(c->a, struct item);

	it->w.path = dest;
	it->w.by_digest = true;
	it->w.keep = !arg_bool(c->args, "force");
	it->is_dir = is_dir;
	VEC_ADD(c->a, &plan->items) = it;
	return it;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool ends_with_slash(const char *path)
{
	return str_ends(str_of(path), "/");
}

static int add_folder(const struct mod_call *c, struct plan *plan, const char *src,
		      const char *dest, struct err *e)
{
	struct fs_names names = { { 0 } };

	if (fs_list(c->a, src, &names, e))
		return -1;
	for (size_t i = 0; i < names.names.n; i++) {
		const char *from = fs_join(c->a, src, names.names.v[i]),
			   *to = fs_join(c->a, dest, names.names.v[i]);
		if (plan->items.n > ITEMS_MAX)
			return err_set(e, ERR_SPEC, "src has more than %d entries", ITEMS_MAX);
		bool is_dir = fs_is_dir(from);
		struct item *it = add_item(c, plan, to, is_dir);
		it->from = from;
		if (is_dir ? add_folder(c, plan, from, to, e)
			   : fs_read(c->a, from, COPY_MAX, &it->w.content, e))
			return -1;
	}
	return 0;
}

/* As Python's json module writes it: a blank after each comma and colon. */
static void write_json(struct buf *b, const struct value *v)
{
	struct buf plain scoped(buf_wipe) = { 0 };
	bool in_string = false;

	buf_init(&plain, BUF_MAX_DEFAULT);
	json_write(&plain, v, JSON_REVEAL);
	for (size_t i = 0; i < plain.n; i++) {
		char c = plain.p[i];
		buf_addc(b, c);
		if (in_string && c == '\\' && i + 1 < plain.n)
			buf_addc(b, plain.p[++i]);
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == ',' || c == ':'))
			buf_addc(b, ' ');
	}
}

static struct str text_of_content(struct arena *a, const struct value *v)
{
	struct buf b;
	struct str s;

	if (v->kind == V_STR)
		return v->s;
	buf_init(&b, BUF_MAX_DEFAULT);
	if (v->kind == V_LIST || v->kind == V_MAP)
		write_json(&b, v);
	else
		value_reveal(&b, v);
	s = str_dup(a, buf_str(&b));
	buf_wipe(&b);
	return s;
}

static struct item *add_file(const struct mod_call *c, struct plan *plan, const char *dest,
			     const struct item *like)
{
	struct item *it = add_item(c, plan, dest, false);

	it->w.content = like->w.content;
	it->from = like->from;
	return it;
}

/* One file goes to dest, or into it if it is (or is written as) a folder. */
static void place_file(const struct mod_call *c, struct plan *plan, const char *src,
		       const struct item *file)
{
	const char *dest = arg_cstr(c->args, "dest");

	if (ends_with_slash(dest)) {
		add_file(c, plan, fs_join(c->a, dest, base_name(src)), file);
		return;
	}
	add_file(c, plan, dest, file);
	if (strcmp(base_name(dest), base_name(src)) != 0) {
		struct plan other = { { 0 }, NULL, false };
		plan->into = add_file(c, &other, fs_join(c->a, dest, base_name(src)), file);
	}
}

static int plan_local(const struct mod_call *c, struct plan *plan, struct err *e)
{
	const char *src = arg_cstr(c->args, "src"), *dest = arg_cstr(c->args, "dest"), *path;
	struct item file = { 0 };

	if (src_find(c, "files", src, &path, e))
		return -1;
	if (!fs_is_dir(path)) {
		file.from = path;
		if (fs_read(c->a, path, COPY_MAX, &file.w.content, e))
			return err_at(e, c->pos);
		place_file(c, plan, src, &file);
		return 0;
	}
	/* As rsync: "dir/" is the content, "dir" is the folder itself. */
	if (!ends_with_slash(src))
		dest = fs_join(c->a, dest, base_name(src));
	add_item(c, plan, dest, true);
	return add_folder(c, plan, path, dest, e);
}

static int make_plan(const struct mod_call *c, struct plan *plan, struct err *e)
{
	const struct value *content = value_get(c->args, "content");
	const char *src = arg_cstr(c->args, "src"), *dest = arg_cstr(c->args, "dest");

	if (!src == !content)
		return err_set(e, ERR_SPEC,
			       src ? "src and content are mutually exclusive"
				   : "src (or content) is required");
	plan->remote = arg_bool(c->args, "remote_src") && src;
	if (content) {
		struct item *it;
		if (ends_with_slash(dest))
			return err_set(e, ERR_SPEC, "can not use content with a dir as dest");
		it = add_item(c, plan, dest, false);
		it->w.content = text_of_content(c->a, content);
		it->w.secret = value_has_secret(content);
		return 0;
	}
	if (!plan->remote)
		return plan_local(c, plan, e);
	place_file(c, plan, src, &(struct item){ 0 });
	return 0;
}

static void probe_item(const struct mod_call *c, struct item *it, struct probe *p)
{
	if (it->is_dir)
		probe_path(p, it->w.path, PATH_FOLLOW);
	else
		content_probe(c, &it->w, p);
}

static int copy_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	struct plan *plan = arena_obj(c->a, struct plan);

	if (make_plan(c, plan, e))
		return err_at(e, c->pos);
	*c->memo = plan;
	for (size_t i = 0; i < plan->items.n; i++)
		probe_item(c, plan->items.v[i], p);
	if (plan->into)
		probe_item(c, plan->into, p);
	if (plan->remote)
		probe_path(p, arg_cstr(c->args, "src"), PATH_FOLLOW | PATH_SHA256);
	return 0;
}

static int check_folder(const struct mod_call *c, const struct answers *an, struct item *it,
			struct changes *ch, struct err *e)
{
	struct mod_call dir = *c;
	struct value *args = value_map(c->a);
	const struct value *mode = value_get(c->args, "directory_mode");

	answers_path(an, it->w.path, PATH_FOLLOW, &it->w.now);
	if (it->w.now.type != PATH_NONE && it->w.now.type != PATH_DIR)
		return change_fail(ch, "%s is there and no directory", it->w.path);
	it->w.write = it->w.now.type == PATH_NONE;
	if (it->w.write)
		change_adds(ch, arena_printf(ch->a, "file %s: state", it->w.path), "absent",
			    "directory");
	for (size_t i = 0; i < 2; i++) {
		const struct value *v = value_get(c->args, i ? "group" : "owner");
		if (v)
			value_set(args, i ? "group" : "owner", v);
	}
	if (mode)
		value_set(args, "mode", mode);
	dir.args = args;
	it->w.at = (struct attrs){ .path = it->w.path, .fresh_mode = 0755 };
	return attrs_check(&dir, &it->w.now, &it->w.at, ch, e);
}

/* mode: preserve - each file as its own on the controller has it. */
static int preserve_mode(const struct mod_call *c, const struct item *it, struct mod_call *out,
			 struct err *e)
{
	const struct value *mode = value_get(c->args, "mode");
	struct value *args;
	struct stat st;

	*out = *c;
	if (!it->from || !mode || mode->kind != V_STR || !str_eqc(mode->s, "preserve"))
		return 0;
	if (stat(it->from, &st))
		return err_sys(e, "%s", it->from);
	args = value_copy(c->a, c->args);
	value_set(args, "mode", value_int(c->a, st.st_mode & 07777));
	out->args = args;
	return 0;
}

static int check_remote(const struct mod_call *c, const struct answers *an, struct item *it,
			struct changes *ch, struct err *e)
{
	const char *src = arg_cstr(c->args, "src");
	struct path_info from;

	answers_path(an, src, PATH_FOLLOW | PATH_SHA256, &from);
	if (from.type == PATH_NONE)
		return change_fail(ch, "Source %s not found", src);
	if (from.type != PATH_FILE)
		return change_fail(ch, "remote_src of a %s is not supported yet",
				   path_type_name(from.type));
	answers_path(an, it->w.path, PATH_FOLLOW | PATH_SHA256, &it->w.now);
	it->w.write = it->w.now.type == PATH_NONE ||
		      (!it->w.keep && !str_eq(from.sha256, it->w.now.sha256));
	if (it->w.write)
		change_adds(ch, arena_printf(ch->a, "file %s: content", it->w.path), NULL,
			    arena_printf(ch->a, "content of %s", src));
	it->w.at = (struct attrs){ .path = it->w.path, .fresh_mode = 0644 };
	result_sets(ch, "dest", it->w.path);
	result_sets(ch, "src", src);
	if (attrs_check(c, &it->w.now, &it->w.at, ch, e))
		return -1;
	attrs_result(ch, &it->w.at, &it->w.now);
	return 0;
}

static bool is_folder(const struct answers *an, const char *path)
{
	struct path_info pi;

	answers_path(an, path, PATH_FOLLOW, &pi);
	return pi.type == PATH_DIR;
}

static int copy_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		      struct err *e)
{
	struct plan *plan = *c->memo;
	struct mod_call call;
	int rc = 0;

	ch->want = plan;
	if (plan->into && is_folder(an, plan->items.v[0]->w.path))
		plan->items.v[0] = plan->into;
	for (size_t i = 0; i < plan->items.n && !rc && !ch->failed; i++) {
		struct item *it = plan->items.v[i];
		if (preserve_mode(c, it, &call, e))
			return -1;
		if (it->is_dir)
			rc = check_folder(&call, an, it, ch, e);
		else if (plan->remote)
			rc = check_remote(&call, an, it, ch, e);
		else
			rc = content_check(&call, an, &it->w, ch, e);
	}
	if (plan->items.n > 1) /* of a folder only its name is told */
		result_sets(ch, "dest", arg_cstr(c->args, "dest"));
	if (arg_has(c->args, "src"))
		result_sets(ch, "src", arg_cstr(c->args, "src"));
	return rc;
}

static void patch_remote(const struct mod_call *c, const struct item *it, struct patch *p)
{
	if (it->w.write)
		patch_cmd(p, "cp", "--", arg_cstr(c->args, "src"), it->w.path);
	attrs_patch(p, &it->w.at, it->w.path, false);
}

static int copy_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
		      struct err *e unused_arg)
{
	const struct plan *plan = ch->want;

	for (size_t i = 0; i < plan->items.n; i++) {
		const struct item *it = plan->items.v[i];
		if (it->is_dir) {
			if (it->w.write)
				patch_cmd(p, "mkdir", "-p", "--", it->w.path);
			attrs_patch(p, &it->w.at, it->w.path, false);
		} else if (plan->remote) {
			patch_remote(c, it, p);
		} else {
			content_patch(c, &it->w, ch, p);
		}
	}
	return 0;
}

const struct module module_copy = {
	.name = "copy",
	.doc = "files and folders of the controller, or text, to the host",
	.args = copy_args,
	.probe = copy_probe,
	.check = copy_check,
	.patch = copy_patch,
};
