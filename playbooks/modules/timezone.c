/* SPDX-License-Identifier: Apache-2.0 */
/* timezone: the host's time zone, as /etc/localtime and /etc/timezone say it. */
#include "playbooks/list.h"

#define ZONEINFO "/usr/share/zoneinfo/"

static const struct module_arg timezone_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "the zone, as Europe/Berlin" },
	{ "hwclock", ARG_STR, ARG_NOT_YET, NULL, NULL, "rtc", "the hardware clock's zone" },
	ARG_END,
};

static int timezone_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = arg_cstr(c->args, "name");

	if (!*name || name[0] == '/' || name[0] == '-' || strstr(name, "..") ||
	    strpbrk(name, " \n"))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no time zone", name), c->pos));
	probe_ask(p, PROBE_LINK, "/etc/localtime");
	probe_path(p, "/etc/timezone", PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

static struct str linked_zone(struct str link)
{
	size_t at = str_find(link, STR("zoneinfo/"));

	return at == SIZE_MAX ? STR_NONE : str_sub(link, at + strlen("zoneinfo/"), SIZE_MAX);
}

static int timezone_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			  struct err *e unused_arg)
{
	const char *name = arg_cstr(c->args, "name");
	struct str now = linked_zone(answers_get(an, PROBE_LINK, "/etc/localtime"));
	struct path_info file;

	answers_path(an, "/etc/timezone", PATH_FOLLOW | PATH_CONTENT, &file);
	/* The file is Debian's own and may be missing; where it is, both must say the same. */
	if (str_eqc(now, name) && (file.type == PATH_NONE || str_eqc(str_trim(file.content), name)))
		return 0;
	change_adds(ch, "time zone", now.n ? str_cstr(ch->a, now) : NULL, name);
	return 0;
}

static int timezone_patch(const struct mod_call *c, const struct changes *ch unused_arg,
			  struct patch *p, struct err *e unused_arg)
{
	const char *name = arg_cstr(c->args, "name");
	const char *path = arena_printf(c->a, ZONEINFO "%s", name);

	patch_require(
		p, (const char *const[]){ "test", "-f", path, NULL },
		arena_printf(c->a, "the host knows no time zone %s (is tzdata installed?)", name));
	patch_cmd(p, "ln", "-sfn", "--", arena_printf(c->a, "..%s", path), "/etc/localtime");
	patch_raw(p, "[ ! -e /etc/timezone ] || printf '%s\\n' ");
	proc_quote(&p->text, str_of(name));
	patch_raw(p, " >/etc/timezone\n");
	return 0;
}

const struct module module_timezone = {
	.name = "timezone",
	.doc = "the host's time zone",
	.args = timezone_args,
	.probe = timezone_probe,
	.check = timezone_check,
	.patch = timezone_patch,
};
