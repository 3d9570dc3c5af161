/* SPDX-License-Identifier: Apache-2.0 */
/* group: a group of the host's own database. */
#include <inttypes.h>

#include "playbooks/list.h"

enum group_do { GROUP_NOTHING, GROUP_ADD, GROUP_MOD, GROUP_DEL };

struct group_want {
	const char *name;
	enum group_do act;
};

static const struct module_arg group_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "the group" },
	{ "gid", ARG_INT, 0, NULL, NULL, NULL, "its number" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "whether it is there" },
	{ "system", ARG_BOOL, 0, "no", NULL, NULL,
	  "a new one gets a number of the system's range" },
	{ "non_unique", ARG_BOOL, 0, "no", NULL, NULL, "the number may be another group's too" },
	{ "force", ARG_BOOL, 0, "no", NULL, NULL, "delete it even if it is a user's own group" },
	{ "local", ARG_BOOL, ARG_IGNORED, "no", NULL, NULL, "groupadd is always local" },
	{ "gid_min", ARG_INT, 0, NULL, NULL, NULL, "lowest number of a new one" },
	{ "gid_max", ARG_INT, 0, NULL, NULL, NULL, "highest number of a new one" },
	ARG_END,
};

static int group_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = arg_cstr(c->args, "name");

	if (!*name || name[0] == '-' || strpbrk(name, ":,\n"))
		return err_at(e,
			      (err_set(e, ERR_SPEC, "'%s' is no name of a group", name), c->pos));
	probe_ask(p, PROBE_GROUP, name);
	return 0;
}

/* Field `n` of "name:x:gid:members". */
static struct str colon_field(struct str line, int n)
{
	struct str part = STR_NONE;

	for (; n >= 0; n--)
		if (!str_next(&line, ':', &part))
			return STR_NONE;
	return part;
}

static int group_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		       struct err *e unused_arg)
{
	struct group_want *w = arena_obj(ch->a, struct group_want);
	const char *name = arg_cstr(c->args, "name");
	struct str line = answers_get(an, PROBE_GROUP, name), gid = colon_field(line, 2);
	const char *what = arena_printf(ch->a, "group %s", name);
	int64_t now = -1, asked = arg_int(c->args, "gid", -1);
	bool absent = str_eqc(arg_str(c->args, "state"), "absent");

	ch->want = w;
	w->name = name;
	result_sets(ch, "name", name);
	result_sets(ch, "state", absent ? "absent" : "present");
	if (absent) {
		w->act = line.n ? GROUP_DEL : GROUP_NOTHING;
		if (line.n)
			change_adds(ch, what, "present", "absent");
		return 0;
	}
	result_bool(ch, "system", arg_bool(c->args, "system"));
	if (!line.n) {
		w->act = GROUP_ADD;
		change_adds(ch, what, "absent", "present");
		result_set(ch, "gid", asked >= 0 ? value_int(ch->a, asked) : value_unknown(ch->a));
		return 0;
	}
	str_to_int(gid, &now);
	result_int(ch, "gid", asked >= 0 ? asked : now);
	if (asked >= 0 && asked != now) {
		w->act = GROUP_MOD;
		change_add(ch, arena_printf(ch->a, "%s: gid", what), value_int(ch->a, now),
			   value_int(ch->a, asked));
	}
	return 0;
}

static size_t add_gid(const struct mod_call *c, const char **argv, size_t n)
{
	if (!arg_has(c->args, "gid"))
		return n;
	argv[n++] = "-g";
	argv[n++] = arena_printf(c->a, "%" PRId64, arg_int(c->args, "gid", 0));
	if (arg_bool(c->args, "non_unique"))
		argv[n++] = "-o";
	return n;
}

static size_t add_limit(const struct mod_call *c, const char **argv, size_t n, const char *arg,
			const char *key)
{
	if (!arg_has(c->args, arg))
		return n;
	argv[n++] = "-K";
	argv[n++] = arena_printf(c->a, "%s=%" PRId64, key, arg_int(c->args, arg, 0));
	return n;
}

static int group_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
		       struct err *e unused_arg)
{
	static const char *const programs[] = { NULL, "groupadd", "groupmod", "groupdel" };
	const struct group_want *w = ch->want;
	const char *argv[16] = { programs[w->act] };
	size_t n = 1;

	if (w->act == GROUP_ADD && arg_bool(c->args, "system"))
		argv[n++] = "-r";
	if (w->act == GROUP_DEL && arg_bool(c->args, "force"))
		argv[n++] = "-f";
	if (w->act != GROUP_DEL)
		n = add_gid(c, argv, n);
	if (w->act == GROUP_ADD) {
		n = add_limit(c, argv, n, "gid_min", "GID_MIN");
		n = add_limit(c, argv, n, "gid_max", "GID_MAX");
	}
	argv[n++] = "--";
	argv[n++] = w->name;
	patch_argv(p, argv);
	return 0;
}

const struct module module_group = {
	.name = "group",
	.doc = "a group of the host",
	.args = group_args,
	.probe = group_probe,
	.check = group_check,
	.patch = group_patch,
};
