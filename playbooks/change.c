/* SPDX-License-Identifier: Apache-2.0 */
/* What modules share when they decide: outcomes, attributes of paths, sources on the controller. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "playbooks/diff.h"
#include "playbooks/module.h"

#define SHOWN_MAX ((size_t)512 << 10) /* larger contents are named by size */

int change_fail(struct changes *ch, const char *fmt, ...)
{
	struct buf b;
	va_list ap;

	buf_init(&b, 64 << 10);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	ch->failed = true;
	ch->msg = buf_dup(&b, ch->a);
	buf_fini(&b);
	return 0;
}

int change_finish(struct changes *ch, const struct script_result *r)
{
	struct str out = str_trim(r->out), err = str_trim(r->err);

	result_bool(ch, "changed", ch->v.n > 0);
	if (r->status == 0)
		return 0;
	result_int(ch, "rc", r->status);
	if (!out.n && !err.n)
		return change_fail(ch, "the script ended with status %d", r->status);
	return change_fail(ch, STR_FMT "%s" STR_FMT, STR_ARG(err), out.n && err.n ? "\n" : "",
			   STR_ARG(out));
}

void change_add(struct changes *ch, const char *what, const struct value *before,
		const struct value *after)
{
	VEC_ADD(ch->a, &ch->v) = (struct task_change){ arena_strdup(ch->a, what), before, after,
						       NULL };
}

void change_adds(struct changes *ch, const char *what, const char *before, const char *after)
{
	change_add(ch, what, before ? value_cstr(ch->a, before) : NULL,
		   after ? value_cstr(ch->a, after) : NULL);
}

static const struct value *content_value(struct arena *a, struct str s)
{
	if (!diff_is_text(s) || s.n > SHOWN_MAX)
		return value_strf(a, "(%zu bytes)", s.n);
	return value_str(a, s);
}

void change_content(struct changes *ch, const struct content_change *c)
{
	struct task_change tc = { 0 };
	bool text = c->known && diff_is_text(c->before) && diff_is_text(c->after) &&
		    c->before.n <= SHOWN_MAX && c->after.n <= SHOWN_MAX;

	tc.what = arena_printf(ch->a, "file %s: content", c->path);
	if (c->diff) {
		if (!c->existed)
			tc.before = NULL;
		else if (c->known)
			tc.before = content_value(ch->a, c->before);
		else
			tc.before = value_cstr(ch->a, "(other content)");
		tc.after = content_value(ch->a, c->after);
		if (text)
			tc.diff = diff_unified(ch->a, c->before, c->after,
					       c->existed ? c->path : "/dev/null", c->path);
	}
	VEC_ADD(ch->a, &ch->v) = tc;
}

void result_set(struct changes *ch, const char *key, const struct value *v)
{
	value_set(ch->result, key, v);
}

void result_sets(struct changes *ch, const char *key, const char *s)
{
	result_set(ch, key, value_cstr(ch->a, s));
}

void result_bool(struct changes *ch, const char *key, bool b)
{
	result_set(ch, key, value_bool(ch->a, b));
}

void result_int(struct changes *ch, const char *key, int64_t i)
{
	result_set(ch, key, value_int(ch->a, i));
}

void result_output(struct changes *ch, const char *key, struct str text)
{
	struct value *lines = value_list(ch->a), *v;
	struct str rest, line;

	text = str_trim_end(text, '\n');
	text = str_trim_end(text, '\r');
	v = value_str(ch->a, text);
	v->unsafe = true;
	result_set(ch, key, v);
	rest = text;
	while (str_next_line(&rest, &line)) {
		struct value *item = value_str(ch->a, line);
		item->unsafe = true;
		value_add(ch->a, lines, item);
	}
	result_set(ch, arena_printf(ch->a, "%s_lines", key), lines);
}

/* ---- owner, group, mode ---- */

/* Asked for by name or by number. */
static bool same_owner(const char *asked, struct str name, int64_t id)
{
	int64_t n;

	return str_to_int(str_of(asked), &n) ? n == id : str_eqc(name, asked);
}

static void change_attr(struct changes *ch, const char *path, const char *attr, const char *before,
			const char *after)
{
	change_adds(ch, arena_printf(ch->a, "%s: %s", path, attr), before, after);
}

static void add_attr_changes(struct changes *ch, const struct path_info *now,
			     const struct attrs *at)
{
	if (at->set_owner)
		change_attr(ch, at->path, "owner", str_cstr(ch->a, now->owner), at->owner);
	if (at->set_group)
		change_attr(ch, at->path, "group", str_cstr(ch->a, now->group), at->group);
	if (at->set_mode)
		change_attr(ch, at->path, "mode", arena_printf(ch->a, "0%o", now->mode),
			    arena_printf(ch->a, "0%o", at->mode));
}

int attrs_check(const struct mod_call *c, const struct path_info *now, struct attrs *at,
		struct changes *ch, struct err *e)
{
	const struct value *mode = value_get(c->args, "mode");
	bool fresh = now->type == PATH_NONE;
	bool is_dir = now->type == PATH_DIR || (fresh && (at->fresh_mode & 0100));
	unsigned have = fresh ? at->fresh_mode : now->mode;

	at->mode = have;
	at->owner = arg_cstr(c->args, "owner");
	at->group = arg_cstr(c->args, "group");
	if (mode && !(mode->kind == V_STR && str_eqc(mode->s, "preserve")) &&
	    mode_parse(mode, is_dir, have, &at->mode, e))
		return -1;
	at->set_mode = fresh ? mode != NULL : at->mode != now->mode;
	at->set_owner = at->owner && (fresh || !same_owner(at->owner, now->owner, now->uid));
	at->set_group = at->group && (fresh || !same_owner(at->group, now->group, now->gid));
	if (!fresh)
		add_attr_changes(ch, now, at);
	return 0;
}

static void attr_command(struct patch *p, const char *program, const char *arg, const char *word,
			 bool no_follow)
{
	buf_addf(&p->text, "%s%s -- ", program, no_follow ? " -h" : "");
	proc_quote(&p->text, str_of(arg));
	buf_addf(&p->text, " %s\n", word);
}

void attrs_patch_word(struct patch *p, const struct attrs *at, const char *word, bool no_follow)
{
	char mode[8];

	/* chown clears setuid bits, so it comes first. */
	if (at->set_owner)
		attr_command(p, "chown", at->owner, word, no_follow);
	if (at->set_group)
		attr_command(p, "chgrp", at->group, word, no_follow);
	if (!at->set_mode && !(at->set_owner && (at->mode & 06000)))
		return;
	snprintf(mode, sizeof(mode), "0%o", at->mode);
	attr_command(p, "chmod", mode, word, false);
}

void attrs_patch(struct patch *p, const struct attrs *at, const char *path, bool no_follow)
{
	struct buf word scoped(buf_fini) = { 0 };

	buf_init(&word, BUF_MAX_DEFAULT);
	proc_quote(&word, str_of(path));
	attrs_patch_word(p, at, word.p, no_follow);
}

/* What a new or given-away path's ids are is only known once it is there. */
static const struct value *id_value(struct arena *a, bool set, bool fresh, const char *asked,
				    int64_t now)
{
	int64_t n;

	if (!set && !fresh)
		return value_int(a, now);
	return set && str_to_int(str_of(asked), &n) ? value_int(a, n) : value_unknown(a);
}

static const struct value *name_value(struct arena *a, bool set, bool fresh, const char *asked,
				      struct str now)
{
	int64_t n;

	if (!set && !fresh)
		return value_str(a, now);
	return set && !str_to_int(str_of(asked), &n) ? value_cstr(a, asked) : value_unknown(a);
}

void attrs_result(struct changes *ch, const struct attrs *at, const struct path_info *now)
{
	bool fresh = now->type == PATH_NONE;

	result_sets(ch, "mode", arena_printf(ch->a, "0%o", at->mode));
	result_set(ch, "owner", name_value(ch->a, at->set_owner, fresh, at->owner, now->owner));
	result_set(ch, "group", name_value(ch->a, at->set_group, fresh, at->group, now->group));
	result_set(ch, "uid", id_value(ch->a, at->set_owner, fresh, at->owner, now->uid));
	result_set(ch, "gid", id_value(ch->a, at->set_group, fresh, at->group, now->gid));
}

/* ---- predictions ---- */

void predict(const struct changes *ch, enum probe_kind kind, const char *key, struct str payload)
{
	if (ch->predicted)
		answers_put(ch->predicted, &(struct probe_req){ .kind = kind, .key = str_of(key) },
			    payload);
}

void predict_file(const struct changes *ch, const struct predicted_file *f)
{
	struct probe_req content = { PROBE_CONTENT, str_of(f->path), PATH_CONTENT_MAX, STR_NONE };
	struct buf b scoped(buf_wipe) = { 0 };
	const char *stat;
	char sum[SHA256_HEX];

	if (!ch->predicted || f->uid < 0 || f->gid < 0 || f->content.n > PATH_CONTENT_MAX)
		return;
	stat = arena_printf(ch->a, "%x %" PRId64 " %" PRId64 " %zu %s %s %s", 0100000u | f->mode,
			    f->uid, f->gid, f->content.n, f->owner, f->group, f->path);
	predict(ch, PROBE_STAT, f->path, str_of(stat));
	predict(ch, PROBE_STATL, f->path, str_of(stat));
	sha256_hex(f->content, sum);
	predict(ch, PROBE_SHA256, f->path, str_of(arena_printf(ch->a, "%s  %s", sum, f->path)));
	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addc(&b, '+');
	buf_addstr(&b, f->content);
	answers_put(ch->predicted, &content, buf_str(&b));
}

/* ---- sources ---- */

int src_find(const struct mod_call *c, const char *sub, const char *name, const char **path,
	     struct err *e)
{
	const char *tried = "";

	if (name[0] == '/') {
		*path = name;
		if (fs_exists(name))
			return 0;
		return err_at(e, (err_set(e, ERR_NOT_FOUND, "there is no file %s", name), c->pos));
	}
	for (size_t i = 0; c->src_dirs && c->src_dirs[i]; i++) {
		const char *dir = fs_join(c->a, c->src_dirs[i], sub);
		*path = fs_join(c->a, dir, name);
		if (fs_exists(*path))
			return 0;
		*path = fs_join(c->a, c->src_dirs[i], name);
		if (fs_exists(*path))
			return 0;
		tried = arena_printf(c->a, "%s%s%s", tried, *tried ? ", " : "", dir);
	}
	err_set(e, ERR_NOT_FOUND, "there is no file '%s'", name);
	err_hint(e, "it was looked for in %s and the folders above", *tried ? tried : "no folder");
	return err_at(e, c->pos);
}
