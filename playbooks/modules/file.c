/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file: what a path is (file, directory, link, hard link, absent) and who owns it.
 *
 * Whether a link's source exists or a parent folder is there is tested by the patch, not asked by
 * the probe: earlier tasks of the same window make such things, and the decision doesn't depend on
 * them.
 */
#include <inttypes.h>
#include <stdio.h>

#include "playbooks/list.h"

enum state { STATE_FILE, STATE_DIRECTORY, STATE_ABSENT, STATE_LINK, STATE_HARD, STATE_TOUCH };

struct file_want {
	enum state state;
	const char *path, *src;
	struct path_info now;
	struct attrs at;
	bool create, recurse, replace;
};

static const struct module_arg file_args[] = {
	{ "path", ARG_PATH, ARG_REQUIRED, NULL, NULL, "dest|name", "the path" },
	{ "state", ARG_STR, 0, NULL, "absent|directory|file|hard|link|touch", NULL,
	  "what it should be" },
	{ "src", ARG_PATH, 0, NULL, NULL, NULL, "where a link points" },
	{ "recurse", ARG_BOOL, 0, "no", NULL, NULL,
	  "attributes of everything below a directory too" },
	{ "force", ARG_BOOL, 0, "no", NULL, NULL,
	  "links: also without a source, and in place of something else" },
	{ "follow", ARG_BOOL, 0, "yes", NULL, NULL, "attributes of what a link leads to" },
	{ "access_time", ARG_STR, 0, NULL, "preserve|now", NULL, "of touch" },
	{ "modification_time", ARG_STR, 0, NULL, "preserve|now", NULL, "of touch" },
	{ "access_time_format", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "times other than now" },
	{ "modification_time_format", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL,
	  "times other than now" },
	ARG_FILE_ATTRS,
	ARG_END,
};

static enum state wanted_state(const struct mod_call *c)
{
	static const char *const names[] = {
		"file", "directory", "absent", "link", "hard", "touch"
	};
	const char *s = arg_cstr(c->args, "state");

	if (!s)
		return arg_bool(c->args, "recurse") ? STATE_DIRECTORY : STATE_FILE;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(s, names[i]) == 0)
			return (enum state)i;
	bug("file state %s", s);
}

static unsigned wants(const struct mod_call *c, enum state s)
{
	if (s == STATE_LINK)
		return PATH_LINK;
	if (s == STATE_FILE || s == STATE_DIRECTORY || s == STATE_TOUCH)
		return arg_bool(c->args, "follow") ? PATH_FOLLOW : 0;
	return 0;
}

/* Kinds of entries below: raw mode and owners, each combination once. */
static const char *recurse_script(const struct mod_call *c)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, "find ");
	proc_quote(&b, str_of(arg_cstr(c->args, "path")));
	buf_adds(&b, " ! -type l -exec stat -c '%f %u %g 0 %U %G x' {} + | sort -u");
	return buf_dup(&b, c->a);
}

static int file_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *path = arg_cstr(c->args, "path"), *src = arg_cstr(c->args, "src");
	enum state s = wanted_state(c);

	if ((s == STATE_LINK || s == STATE_HARD) && !src)
		return err_at(e, (err_set(e, ERR_SPEC, "src is needed for state=%s",
					  s == STATE_LINK ? "link" : "hard"),
				  c->pos));
	if (arg_bool(c->args, "recurse") && s != STATE_DIRECTORY)
		return err_at(
			e, (err_set(e, ERR_SPEC, "recurse option requires state to be 'directory'"),
			    c->pos));
	probe_path(p, path, wants(c, s));
	if (s == STATE_HARD) {
		probe_ask(p, PROBE_TIMES, path);
		probe_ask(p, PROBE_TIMES, src);
	}
	if (arg_bool(c->args, "recurse"))
		probe_ask(p, PROBE_COMMAND, recurse_script(c));
	return 0;
}

static void change_state(struct changes *ch, const struct file_want *w, const char *after)
{
	change_adds(ch, arena_printf(ch->a, "file %s: state", w->path), path_type_name(w->now.type),
		    after);
}

static int attrs_of(const struct mod_call *c, struct file_want *w, unsigned fresh_mode,
		    struct changes *ch, struct err *e)
{
	w->at = (struct attrs){ .path = w->path, .fresh_mode = fresh_mode };
	return attrs_check(c, &w->now, &w->at, ch, e);
}

static int check_absent(struct file_want *w, struct changes *ch)
{
	result_sets(ch, "state", "absent");
	if (w->now.type != PATH_NONE)
		change_state(ch, w, "absent");
	return 0;
}

static int check_file(const struct mod_call *c, struct file_want *w, struct changes *ch,
		      struct err *e)
{
	if (w->now.type == PATH_NONE)
		return change_fail(ch, "file (%s) is absent, cannot continue", w->path);
	if (w->now.type == PATH_DIR && arg_has(c->args, "state"))
		return change_fail(ch, "file (%s) is directory, cannot continue", w->path);
	if (attrs_of(c, w, 0644, ch, e))
		return -1;
	result_sets(ch, "state", path_type_name(w->now.type));
	result_int(ch, "size", w->now.size);
	attrs_result(ch, &w->at, &w->now);
	return 0;
}

static int check_touch(const struct mod_call *c, struct file_want *w, struct changes *ch,
		       struct err *e)
{
	struct str atime = arg_str(c->args, "access_time"),
		   mtime = arg_str(c->args, "modification_time");

	w->create = w->now.type == PATH_NONE;
	if (attrs_of(c, w, 0644, ch, e))
		return -1;
	result_sets(ch, "dest", w->path);
	result_sets(ch, "state", w->now.type == PATH_DIR ? "directory" : "file");
	attrs_result(ch, &w->at, &w->now);
	if (w->create) {
		change_state(ch, w, "touch");
		w->replace = true;
	} else if (!str_eqc(atime, "preserve") || !str_eqc(mtime, "preserve")) {
		change_adds(ch, arena_printf(ch->a, "file %s: times", w->path), NULL, "now");
		w->replace = true;
	}
	return 0;
}

/* Does any entry below differ from what is asked for? */
static int check_below(const struct mod_call *c, const struct answers *an, struct file_want *w,
		       struct changes *ch, struct err *e)
{
	struct arena *tmp scoped(arena_freep) = arena_new("recurse");
	struct changes below = { .a = tmp };
	struct command_answer r;
	struct str line;

	answers_command(an, recurse_script(c), &r);
	while (str_next_line(&r.out, &line)) {
		struct answers one;
		struct path_info pi;
		struct attrs at = { .path = w->path, .fresh_mode = 0755 };
		answers_init(&one, tmp);
		answers_put(&one, &(struct probe_req){ .kind = PROBE_STAT, .key = STR("x") }, line);
		answers_path(&one, "x", 0, &pi);
		if (attrs_check(c, &pi, &at, &below, e))
			return -1;
	}
	if (below.v.n) {
		w->recurse = true;
		if (!ch->v.n)
			change_adds(ch,
				    arena_printf(ch->a, "directory %s: attributes of what is below",
						 w->path),
				    NULL, NULL);
	}
	return 0;
}

static int check_directory(const struct mod_call *c, const struct answers *an, struct file_want *w,
			   struct changes *ch, struct err *e)
{
	if (w->now.type != PATH_NONE && w->now.type != PATH_DIR)
		return change_fail(ch, "%s already exists as a %s", w->path,
				   path_type_name(w->now.type));
	w->create = w->now.type == PATH_NONE;
	if (w->create)
		change_state(ch, w, "directory");
	if (attrs_of(c, w, 0755, ch, e))
		return -1;
	result_sets(ch, "state", "directory");
	result_set(ch, "size", w->create ? value_unknown(ch->a) : value_int(ch->a, w->now.size));
	attrs_result(ch, &w->at, &w->now);
	return arg_bool(c->args, "recurse") && !w->create ? check_below(c, an, w, ch, e) : 0;
}

static int check_link(const struct mod_call *c, struct file_want *w, struct changes *ch,
		      struct err *e)
{
	bool force = arg_bool(c->args, "force");

	result_sets(ch, "dest", w->path);
	result_sets(ch, "src", w->src);
	result_sets(ch, "state", "link");
	if (w->now.type != PATH_NONE && w->now.type != PATH_SYMLINK && !force)
		return change_fail(ch, "refusing to convert from %s to symlink for %s",
				   path_type_name(w->now.type), w->path);
	w->create = w->now.type != PATH_SYMLINK || !str_eqc(w->now.link, w->src);
	w->replace = w->create && w->now.type != PATH_NONE;
	if (w->create && w->now.type == PATH_SYMLINK)
		change_adds(ch, arena_printf(ch->a, "link %s: src", w->path),
			    str_cstr(ch->a, w->now.link), w->src);
	else if (w->create)
		change_state(ch, w, "link");
	if (attrs_of(c, w, 0777, ch, e))
		return -1;
	/* Linux has no permissions of links. */
	w->at.set_mode = false;
	w->at.mode = 0777;
	attrs_result(ch, &w->at, &w->now);
	return 0;
}

/* inode and device of stat's "%X %Y %Z %i %h %d %b %n" */
static bool same_file(struct str x, struct str y)
{
	struct str fx, fy;

	if (!x.n || !y.n)
		return false;
	for (int i = 0; i < 6; i++) {
		if (!str_next(&x, ' ', &fx) || !str_next(&y, ' ', &fy))
			return false;
		if ((i == 3 || i == 5) && !str_eq(fx, fy))
			return false;
	}
	return true;
}

static int check_hard(const struct mod_call *c, const struct answers *an, struct file_want *w,
		      struct changes *ch, struct err *e)
{
	result_sets(ch, "dest", w->path);
	result_sets(ch, "src", w->src);
	result_sets(ch, "state", "hard");
	w->create = !same_file(answers_get(an, PROBE_TIMES, w->path),
			       answers_get(an, PROBE_TIMES, w->src));
	w->replace = w->create && w->now.type != PATH_NONE;
	if (w->replace && !arg_bool(c->args, "force"))
		return change_fail(ch, "Cannot link, different hard link exists at destination");
	if (w->create)
		change_state(ch, w, "hard");
	return attrs_of(c, w, 0644, ch, e);
}

static int file_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		      struct err *e)
{
	struct file_want *w = arena_obj(ch->a, struct file_want);

	ch->want = w;
	w->state = wanted_state(c);
	w->path = arg_cstr(c->args, "path");
	w->src = arg_cstr(c->args, "src");
	answers_path(an, w->path, wants(c, w->state), &w->now);
	result_sets(ch, "path", w->path);
	switch (w->state) {
	case STATE_ABSENT: return check_absent(w, ch);
	case STATE_FILE: return check_file(c, w, ch, e);
	case STATE_TOUCH: return check_touch(c, w, ch, e);
	case STATE_DIRECTORY: return check_directory(c, an, w, ch, e);
	case STATE_LINK: return check_link(c, w, ch, e);
	case STATE_HARD: return check_hard(c, an, w, ch, e);
	}
	return 0;
}

/* Every folder that is missing on the way is made, and gets the attributes, as Ansible does. */
static void make_directories(struct patch *p, const struct file_want *w)
{
	patch_raw(p, "p=; r=");
	proc_quote(&p->text, str_of(w->path));
	patch_raw(p, "\ncase $r in /*) ;; *) r=/$r; p=. ;; esac\n"
		     "while [ -n \"$r\" ]; do\n"
		     "r=${r#/}; p=$p/${r%%/*}\n"
		     "case $r in */*) r=/${r#*/} ;; *) r= ;; esac\n"
		     "if [ ! -d \"$p\" ]; then\n"
		     "mkdir -- \"$p\"\n");
	/* Whoever owns the folder above could have put a link there by now. */
	attrs_patch_word(p, &w->at, "\"$p\"", true);
	patch_raw(p, "fi\ndone\n");
}

static void patch_below(const struct mod_call *c, struct patch *p, const struct file_want *w)
{
	const struct value *mode = value_get(c->args, "mode");
	char text[24];

	if (w->at.owner)
		patch_cmd(p, "chown", "-Rh", "--", w->at.owner, w->path);
	if (w->at.group)
		patch_cmd(p, "chgrp", "-Rh", "--", w->at.group, w->path);
	if (!mode)
		return;
	if (mode->kind == V_INT)
		snprintf(text, sizeof(text), "%" PRIo64, (uint64_t)mode->i);
	patch_cmd(p, "find", w->path, "!", "-type", "l", "-exec", "chmod", "--",
		  mode->kind == V_INT ? text : mode->s.p, "{}", "+");
}

static void patch_link(const struct mod_call *c, struct patch *p, const struct file_want *w)
{
	const char *missing =
		"src file does not exist, use \"force=yes\" if you really want to create the link";

	if (!w->create)
		return;
	if (!arg_bool(c->args, "force")) {
		/* A relative source is relative to the link's folder. */
		const char *dir = fs_dirname(c->a, w->path);
		const char *src = w->src[0] == '/' ? w->src
						   : arena_printf(c->a, "%s/%s", dir, w->src);
		patch_require(p, (const char *const[]){ "test", "-e", src, NULL },
			      arena_printf(c->a, "%s: %s", missing, w->src));
	}
	if (w->replace && w->now.type == PATH_DIR)
		patch_cmd(p, "rmdir", "--", w->path);
	else if (w->replace && w->now.type != PATH_SYMLINK)
		patch_cmd(p, "rm", "-f", "--", w->path);
	patch_cmd(p, "ln", "-sfn", "--", w->src, w->path);
}

static void patch_touch(const struct mod_call *c, struct patch *p, const struct file_want *w)
{
	const char *argv[6] = { "touch" };
	size_t n = 1;

	if (!w->replace)
		return;
	if (!w->create && str_eqc(arg_str(c->args, "access_time"), "preserve"))
		argv[n++] = "-m";
	if (!w->create && str_eqc(arg_str(c->args, "modification_time"), "preserve"))
		argv[n++] = "-a";
	argv[n++] = "--";
	argv[n++] = w->path;
	patch_argv(p, argv);
}

static int file_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
		      struct err *e unused_arg)
{
	const struct file_want *w = ch->want;

	switch (w->state) {
	case STATE_ABSENT: patch_cmd(p, "rm", "-rf", "--", w->path); return 0;
	case STATE_DIRECTORY:
		if (w->create) {
			make_directories(p, w);
			return 0;
		}
		break;
	case STATE_LINK: patch_link(c, p, w); break;
	case STATE_HARD:
		if (w->create)
			patch_cmd(p, "ln", "-f", "--", w->src, w->path);
		break;
	case STATE_TOUCH: patch_touch(c, p, w); break;
	case STATE_FILE: break;
	}
	attrs_patch(p, &w->at, w->path, w->state == STATE_LINK);
	if (w->recurse)
		patch_below(c, p, w);
	return 0;
}

const struct module module_file = {
	.name = "file",
	.doc = "what a path is: file, directory, link, absent; its owner, group and mode",
	.args = file_args,
	.probe = file_probe,
	.check = file_check,
	.patch = file_patch,
};
