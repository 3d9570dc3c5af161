/* SPDX-License-Identifier: Apache-2.0 */
#include "playbooks/list.h"

const struct module *const module_list[] = {
	&module_file,
	&module_copy,
	&module_template,
	&module_lineinfile,
	&module_blockinfile,
	&module_replace,
	&module_ini_file,
	&module_get_url,
	&module_slurp,
	&module_apt,
	&module_package,
	&module_apt_repository,
	&module_service,
	&module_systemd,
	&module_user,
	&module_group,
	&module_authorized_key,
	&module_sysctl,
	&module_hostname,
	&module_modprobe,
	&module_timezone,
	&module_stat,
	&module_command,
	&module_shell,
	&module_wait_for,
	&module_setup,
	&module_ping,
	&module_reboot,
	&module_wait_for_connection,
	&module_set_fact,
	&module_debug,
	&module_assert,
	&module_fail,
	&module_meta,
	&module_include_vars,
	&module_dnf,
	&module_yum,
	&module_yum_repository,
	&module_rpm_key,
	&module_zypper,
	&module_zypper_repository,
	&module_firewalld,
	&module_selinux,
	&module_seboolean,
	&module_sefcontext,
	NULL,
};

/* Collections whose modules of the same name are meant by the short name. */
static const char *const collections[] = {
	"ansible.builtin.",
	"ansible.legacy.",
	"ansible.posix.",
	"community.general.",
};

static bool in_words(const char *words, struct str name)
{
	struct str rest = str_of(words), word;

	while (str_next(&rest, '|', &word))
		if (word.n && str_eq(word, name))
			return true;
	return false;
}

const struct module *module_find(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(collections); i++)
		if (str_starts(name, collections[i])) {
			name = str_sub(name, strlen(collections[i]), SIZE_MAX);
			break;
		}
	for (size_t i = 0; module_list[i]; i++)
		if (str_eqc(name, module_list[i]->name) || in_words(module_list[i]->aliases, name))
			return module_list[i];
	return NULL;
}

const char *module_suggest(struct str name)
{
	const char *names[128];
	size_t n = 0;

	for (size_t i = 0; module_list[i] && n < ARRAY_LEN(names); i++)
		names[n++] = module_list[i]->name;
	return str_suggest(name, names, n);
}

const char *module_name_at(size_t i, const char **doc)
{
	if (i + 1 >= ARRAY_LEN(module_list))
		return NULL;
	*doc = module_list[i]->doc;
	return module_list[i]->name;
}
