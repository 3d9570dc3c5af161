/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostname: the host's own name, kept and current. Read from /etc/hostname and the kernel, set by
 * hostnamectl; where that does not work (no systemd, no bus) the file is written and the kernel
 * told.
 */
#include "playbooks/list.h"

#define HOSTNAME_FILE "/etc/hostname"
#define HOSTNAME_KEY  "kernel.hostname"

static const struct module_arg hostname_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "the name" },
	{ "use", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "found out on the host" },
	ARG_END,
};

static bool is_hostname(struct str s)
{
	if (!s.n || s.n > 64 || s.p[0] == '-' || s.p[0] == '.')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
		      (s.p[i] >= '0' && s.p[i] <= '9') || s.p[i] == '-' || s.p[i] == '.' ||
		      s.p[i] == '_'))
			return false;
	return true;
}

static int hostname_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = arg_cstr(c->args, "name");

	if (!is_hostname(str_of(name)))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no name of a host", name), c->pos));
	probe_path(p, HOSTNAME_FILE, PATH_FOLLOW | PATH_CONTENT);
	probe_ask(p, PROBE_SYSCTL, HOSTNAME_KEY);
	return 0;
}

/* The first line that is no comment. */
static struct str kept_name(struct str text)
{
	struct str line;

	while (str_next_line(&text, &line)) {
		line = str_trim(line);
		if (line.n && line.p[0] != '#')
			return line;
	}
	return STR_NONE;
}

static void add_facts(struct changes *ch, struct str name)
{
	struct value *facts = value_map(ch->a);
	size_t dot = str_find_char(name, '.');

	value_set(facts, "ansible_hostname", value_str(ch->a, str_sub(name, 0, dot)));
	value_set(facts, "ansible_nodename", value_str(ch->a, name));
	value_set(facts, "ansible_fqdn", value_str(ch->a, name));
	value_set(facts, "ansible_domain",
		  value_str(ch->a, dot == SIZE_MAX ? STR_NONE : str_sub(name, dot + 1, SIZE_MAX)));
	result_set(ch, "ansible_facts", facts);
}

static int hostname_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			  struct err *e unused_arg)
{
	const char *name = arg_cstr(c->args, "name");
	struct str live = answers_sysctl(an, HOSTNAME_KEY), kept;
	struct path_info now;

	answers_path(an, HOSTNAME_FILE, PATH_FOLLOW | PATH_CONTENT, &now);
	kept = kept_name(now.content);
	result_sets(ch, "name", name);
	add_facts(ch, str_of(name));
	if (!str_eqc(kept, name))
		change_adds(ch, "hostname", str_cstr(ch->a, kept), name);
	else if (!str_eqc(live, name))
		change_adds(ch, "hostname: current", str_cstr(ch->a, live), name);
	return 0;
}

static int hostname_patch(const struct mod_call *c, const struct changes *ch unused_arg,
			  struct patch *p, struct err *e unused_arg)
{
	patch_raw(p, "n=");
	proc_quote(&p->text, arg_str(c->args, "name"));
	patch_raw(
		p,
		"\nif [ ! -d /run/systemd/system ] || ! hostnamectl set-hostname \"$n\" 2>/dev/null; then\n"
		"printf '%s\\n' \"$n\" >/etc/hostname\n"
		"fi\n"
		"[ \"$(cat /proc/sys/kernel/hostname)\" = \"$n\" ] || hostname \"$n\"\n"
		"[ \"$(grep -v '^#' /etc/hostname | head -n 1)\" = \"$n\" ] || printf '%s\\n' \"$n\" >/etc/hostname\n");
	return 0;
}

const struct module module_hostname = {
	.name = "hostname",
	.doc = "the host's own name",
	.args = hostname_args,
	.probe = hostname_probe,
	.check = hostname_check,
	.patch = hostname_patch,
};
