/* SPDX-License-Identifier: Apache-2.0 */
#include "playbooks/content.h"

void text_lines_split(struct arena *a, struct str text, struct text_lines *out)
{
	while (text.n) {
		size_t end = str_find_char(text, '\n');
		size_t n = end == SIZE_MAX ? text.n : end + 1;
		VEC_ADD(a, &out->v) = str_sub(text, 0, n);
		text = str_sub(text, n, SIZE_MAX);
	}
}

struct str text_lines_join(struct arena *a, const struct text_lines *l)
{
	struct buf b scoped(buf_wipe) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < l->v.n; i++)
		buf_addstr(&b, l->v.v[i]);
	return str_dup(a, buf_str(&b));
}

void content_probe(const struct mod_call *c, struct content *w, struct probe *p)
{
	sha256_hex(w->content, w->sha256);
	probe_path(p, w->path, PATH_FOLLOW | PATH_SHA256);
	if (c->diff && !w->secret)
		probe_content_unless(p, w->path, w->sha256);
}

int content_fetch(const struct answers *an, struct content *w, struct changes *ch)
{
	answers_path(an, w->path, PATH_FOLLOW | PATH_CONTENT, &w->now);
	if (w->now.type == PATH_DIR)
		return change_fail(ch, "Path %s is a directory !", w->path);
	if (w->now.too_large)
		return change_fail(ch, "%s is larger than %zu bytes: too large to edit", w->path,
				   PATH_CONTENT_MAX);
	if (w->now.type != PATH_NONE && !w->now.has_content)
		return change_fail(ch, "%s is no file that can be read", w->path);
	return 0;
}

static void add_change(const struct mod_call *c, const struct answers *an, struct content *w,
		       struct changes *ch)
{
	struct content_change cc = { .path = w->path,
				     .after = w->content,
				     .existed = w->now.type != PATH_NONE,
				     .diff = c->diff && !w->secret };
	bool too_large = false;

	if (!w->by_digest) {
		cc.before = w->now.content;
		cc.known = true;
	} else if (!cc.existed) {
		cc.known = true;
	} else if (cc.diff) {
		cc.known = answers_content_unless(an, w->path, w->sha256, &cc.before, &too_large) &&
			   !too_large;
	}
	change_content(ch, &cc);
}

static void set_results(const struct content *w, struct changes *ch)
{
	char sum[41];

	sha1_hex(w->content, sum);
	result_sets(ch, "dest", w->path);
	result_sets(ch, "path", w->path);
	result_sets(ch, "checksum", sum);
	result_sets(ch, "state", "file");
	result_int(ch, "size", (int64_t)w->content.n);
	attrs_result(ch, &w->at, &w->now);
}

static bool differs(const struct content *w)
{
	if (w->now.type == PATH_NONE)
		return true;
	if (w->by_digest)
		return !w->keep && !str_eqc(w->now.sha256, w->sha256);
	return !str_eq(w->now.content, w->content);
}

int content_check(const struct mod_call *c, const struct answers *an, struct content *w,
		  struct changes *ch, struct err *e)
{
	if (w->by_digest)
		answers_path(an, w->path, PATH_FOLLOW | PATH_SHA256, &w->now);
	if (w->now.type == PATH_DIR)
		return change_fail(ch, "Destination %s is a directory", w->path);
	w->write = differs(w);
	if (w->write)
		add_change(c, an, w, ch);
	w->at = (struct attrs){ .path = w->path, .fresh_mode = 0644 };
	if (attrs_check(c, &w->now, &w->at, ch, e))
		return -1;
	set_results(w, ch);
	return 0;
}

/* A file that is there keeps what isn't asked to change; of a new one the owner is only known if
 * root makes it. */
static void predict_content(const struct content *w, const struct changes *ch)
{
	struct predicted_file f = { .path = w->path, .content = w->content, .mode = w->at.mode };

	if (w->now.type == PATH_NONE && ch->as_root && !w->at.set_owner && !w->at.set_group &&
	    !w->secret) {
		f.owner = f.group = "root";
		predict_file(ch, &f);
		return;
	}
	if (w->now.type != PATH_FILE || w->at.set_owner || w->at.set_group || w->secret)
		return;
	f.uid = w->now.uid;
	f.gid = w->now.gid;
	f.owner = str_cstr(ch->a, w->now.owner);
	f.group = str_cstr(ch->a, w->now.group);
	predict_file(ch, &f);
}

void content_patch(const struct mod_call *c, const struct content *w, const struct changes *ch,
		   struct patch *p)
{
	if (!w->write) {
		attrs_patch(p, &w->at, w->path, false);
		return;
	}
	predict_content(w, ch);
	patch_put(p, &(struct patch_file){ .path = w->path,
					   .content = w->content,
					   .set_mode = w->at.set_mode,
					   .mode = w->at.mode,
					   .owner = w->at.owner,
					   .group = w->at.group,
					   .validate = arg_cstr(c->args, "validate"),
					   .backup = arg_bool(c->args, "backup"),
					   .replace_link = w->by_digest &&
							   !arg_bool(c->args, "follow") });
}
