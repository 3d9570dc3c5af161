/* SPDX-License-Identifier: Apache-2.0 */
/* stat: what a path is, for register. */
#include "playbooks/list.h"

static const struct module_arg stat_args[] = {
	{ "path", ARG_PATH, ARG_REQUIRED, NULL, NULL, "dest|name", "the path" },
	{ "follow", ARG_BOOL, 0, "no", NULL, NULL, "of what a link leads to" },
	{ "get_checksum", ARG_BOOL, 0, "yes", NULL, NULL, "digest of a file" },
	{ "checksum_algorithm", ARG_STR, 0, "sha1", "sha1|sha256", "checksum|checksum_algo",
	  "which digest" },
	{ "get_mime", ARG_BOOL, ARG_IGNORED, NULL, NULL, "mime|mime_type|mime-type",
	  "MIME types are not told" },
	{ "get_attributes", ARG_BOOL, ARG_IGNORED, NULL, NULL, "attr|attributes",
	  "chattr flags are not told" },
	{ "get_md5", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "md5 is not told" },
	ARG_END,
};

static enum probe_kind sum_kind(const struct mod_call *c)
{
	return str_eqc(arg_str(c->args, "checksum_algorithm"), "sha256") ? PROBE_SHA256
									 : PROBE_SHA1;
}

static int stat_probe(const struct mod_call *c, struct probe *p, struct err *e unused_arg)
{
	const char *path = arg_cstr(c->args, "path");
	bool follow = arg_bool(c->args, "follow");

	probe_path(p, path, (follow ? PATH_FOLLOW : 0) | PATH_LINK);
	probe_ask(p, follow ? PROBE_TIMESL : PROBE_TIMES, path);
	probe_ask(p, PROBE_ACCESS, path);
	probe_ask(p, PROBE_REAL, path);
	if (arg_bool(c->args, "get_checksum"))
		probe_ask(p, sum_kind(c), path);
	return 0;
}

static void set_bool(struct changes *ch, struct value *st, const char *key, bool b)
{
	value_set(st, key, value_bool(ch->a, b));
}

static void add_permissions(struct changes *ch, struct value *st, unsigned mode)
{
	static const char *const names[] = { "xoth", "woth", "roth", "xgrp", "wgrp",
					     "rgrp", "xusr", "wusr", "rusr" };

	for (unsigned i = 0; i < ARRAY_LEN(names); i++)
		set_bool(ch, st, names[i], mode & 1u << i);
	set_bool(ch, st, "isuid", mode & 04000);
	set_bool(ch, st, "isgid", mode & 02000);
}

static void add_types(struct changes *ch, struct value *st, enum path_type type)
{
	static const struct {
		enum path_type type;
		const char *key;
	} rows[] = {
		{ PATH_FILE, "isreg" },	   { PATH_DIR, "isdir" },   { PATH_SYMLINK, "islnk" },
		{ PATH_CHAR, "ischr" },	   { PATH_BLOCK, "isblk" }, { PATH_FIFO, "isfifo" },
		{ PATH_SOCKET, "issock" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		set_bool(ch, st, rows[i].key, rows[i].type == type);
}

static void add_numbers(struct changes *ch, struct value *st, struct str times)
{
	static const char *const names[] = { "atime", "mtime", "ctime", "inode",
					     "nlink", "dev",   "blocks" };
	struct str field;
	int64_t n;

	for (size_t i = 0; i < ARRAY_LEN(names) && str_next(&times, ' ', &field); i++)
		if (str_to_int(field, &n))
			value_set(st, names[i],
				  i < 3 ? value_float(ch->a, (double)n) : value_int(ch->a, n));
}

static void add_digest(const struct mod_call *c, const struct answers *an, struct changes *ch,
		       struct value *st)
{
	struct str s = answers_get(an, sum_kind(c), arg_cstr(c->args, "path"));

	if (str_starts(s, "\\"))
		s = str_sub(s, 1, SIZE_MAX);
	if (s.n)
		value_set(st, "checksum", value_str(ch->a, str_sub(s, 0, str_find_char(s, ' '))));
}

static int stat_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		      struct err *e unused_arg)
{
	const char *path = arg_cstr(c->args, "path");
	bool follow = arg_bool(c->args, "follow");
	struct value *st = value_map(ch->a);
	struct str access = answers_get(an, PROBE_ACCESS, path);
	struct path_info pi;

	answers_path(an, path, (follow ? PATH_FOLLOW : 0) | PATH_LINK, &pi);
	set_bool(ch, st, "exists", pi.type != PATH_NONE);
	result_set(ch, "stat", st);
	if (pi.type == PATH_NONE)
		return 0;
	value_set(st, "path", value_cstr(ch->a, path));
	value_set(st, "mode", value_strf(ch->a, "%04o", pi.mode));
	value_set(st, "uid", value_int(ch->a, pi.uid));
	value_set(st, "gid", value_int(ch->a, pi.gid));
	value_set(st, "size", value_int(ch->a, pi.size));
	value_set(st, "pw_name", value_str(ch->a, pi.owner));
	value_set(st, "gr_name", value_str(ch->a, pi.group));
	add_types(ch, st, pi.type);
	add_permissions(ch, st, pi.mode);
	add_numbers(ch, st, answers_get(an, follow ? PROBE_TIMESL : PROBE_TIMES, path));
	set_bool(ch, st, "readable", str_find_char(access, 'r') != SIZE_MAX);
	set_bool(ch, st, "writeable", str_find_char(access, 'w') != SIZE_MAX);
	set_bool(ch, st, "executable", str_find_char(access, 'x') != SIZE_MAX);
	if (pi.type == PATH_SYMLINK) {
		value_set(st, "lnk_target", value_str(ch->a, pi.link));
		value_set(st, "lnk_source", value_str(ch->a, answers_get(an, PROBE_REAL, path)));
	}
	if (arg_bool(c->args, "get_checksum") && pi.type == PATH_FILE)
		add_digest(c, an, ch, st);
	return 0;
}

const struct module module_stat = {
	.name = "stat",
	.doc = "what a path is, for register",
	.args = stat_args,
	.probe = stat_probe,
	.check = stat_check,
};
