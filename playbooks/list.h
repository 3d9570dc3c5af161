/* SPDX-License-Identifier: Apache-2.0 */
/* playbooks/list.h - the modules: one line each here and one in list.c, in the order of the
 * documentation. */
#ifndef MUSTER_PLAYBOOKS_LIST_H
#define MUSTER_PLAYBOOKS_LIST_H

#include "playbooks/module.h"

/* files */
extern const struct module module_file;
extern const struct module module_copy;
extern const struct module module_template;
extern const struct module module_lineinfile;
extern const struct module module_stat;
extern const struct module module_blockinfile;
extern const struct module module_replace;
extern const struct module module_ini_file;
extern const struct module module_get_url;
extern const struct module module_slurp;
/* packages and services */
extern const struct module module_apt;
extern const struct module module_package;
extern const struct module module_apt_repository;
extern const struct module module_service;
extern const struct module module_systemd;
/* accounts */
extern const struct module module_user;
extern const struct module module_group;
extern const struct module module_authorized_key;
/* the kernel and the host's name */
extern const struct module module_sysctl;
extern const struct module module_hostname;
extern const struct module module_modprobe;
extern const struct module module_timezone;
/* commands */
extern const struct module module_command;
extern const struct module module_shell;
extern const struct module module_wait_for;
/* the host and its connection */
extern const struct module module_setup;
extern const struct module module_ping;
extern const struct module module_reboot;
extern const struct module module_wait_for_connection;
/* of other families of hosts: only their names */
extern const struct module module_dnf;
extern const struct module module_yum;
extern const struct module module_yum_repository;
extern const struct module module_rpm_key;
extern const struct module module_zypper;
extern const struct module module_zypper_repository;
extern const struct module module_firewalld;
extern const struct module module_selinux;
extern const struct module module_seboolean;
extern const struct module module_sefcontext;
/* of the controller */
extern const struct module module_set_fact;
extern const struct module module_debug;
extern const struct module module_assert;
extern const struct module module_fail;
extern const struct module module_meta;
extern const struct module module_include_vars;

extern const struct module *const module_list[]; /* NULL-terminated */

#endif
