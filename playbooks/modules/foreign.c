/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of other families of hosts, and others that roles for many systems name: a play that has
 * them is loaded, since such tasks mostly are skipped by their `when`. One that is run fails and
 * says why.
 */
#include "playbooks/list.h"

static const struct module_arg any_args[] = { ARG_END };

static int foreign_check(const struct mod_call *c, const struct answers *an unused_arg,
			 struct changes *ch, struct err *e unused_arg)
{
	return change_fail(ch, "module %s is not supported yet: %s", c->module->name,
			   c->module->doc);
}

#define FOREIGN(ident, text)                   \
	const struct module module_##ident = { \
		.name = #ident,                \
		.doc = text,                   \
		.args = any_args,              \
		.flags = MODULE_ANY_ARGS,      \
		.check = foreign_check,        \
	}

FOREIGN(dnf, "packages of Fedora and Red Hat; hosts must have apt");
FOREIGN(yum, "packages of Red Hat; hosts must have apt");
FOREIGN(yum_repository, "package sources of Red Hat; hosts must have apt");
FOREIGN(rpm_key, "keys of rpm; hosts must have apt");
FOREIGN(zypper, "packages of SUSE; hosts must have apt");
FOREIGN(zypper_repository, "package sources of SUSE; hosts must have apt");
FOREIGN(firewalld, "rules of firewalld");
FOREIGN(selinux, "state of SELinux");
FOREIGN(seboolean, "switches of SELinux");
FOREIGN(sefcontext, "labels of SELinux");
