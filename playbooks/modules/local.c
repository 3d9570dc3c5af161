/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of what the controller does itself (run_local.c): names, arguments, documentation. */
#include "playbooks/list.h"

static const struct module_arg set_fact_args[] = {
	{ "cacheable", ARG_BOOL, ARG_IGNORED, "no", NULL, NULL,
	  "facts of a play last for the run" },
	ARG_END,
};

const struct module module_set_fact = {
	.name = "set_fact",
	.doc = "sets variables of the host",
	.args = set_fact_args,
	.flags = MODULE_LOCAL | MODULE_ANY_ARGS,
};

static const struct module_arg debug_args[] = {
	{ "msg", ARG_RAW, 0, "Hello world!", NULL, NULL, "what to say" },
	{ "var", ARG_RAW, 0, NULL, NULL, NULL, "the variable (or expression) to show" },
	{ "verbosity", ARG_INT, 0, "0", NULL, NULL, "said only with that many -v" },
	ARG_END,
};

const struct module module_debug = {
	.name = "debug",
	.doc = "shows a text or a variable",
	.args = debug_args,
	.flags = MODULE_LOCAL,
};

static const struct module_arg assert_args[] = {
	{ "that", ARG_RAW, ARG_REQUIRED, NULL, NULL, NULL, "conditions, all of which must hold" },
	{ "fail_msg", ARG_RAW, 0, NULL, NULL, "msg", "said when one does not" },
	{ "success_msg", ARG_RAW, 0, NULL, NULL, NULL, "said when all do" },
	{ "quiet", ARG_BOOL, 0, "no", NULL, NULL, "say less" },
	ARG_END,
};

const struct module module_assert = {
	.name = "assert",
	.doc = "fails unless conditions hold",
	.args = assert_args,
	.flags = MODULE_LOCAL,
};

static const struct module_arg fail_args[] = {
	{ "msg", ARG_STR, 0, "Failed as requested from task", NULL, NULL, "why" },
	ARG_END,
};

const struct module module_fail = {
	.name = "fail",
	.doc = "fails",
	.args = fail_args,
	.flags = MODULE_LOCAL,
};

static const struct module_arg meta_args[] = {
	{ "_raw_params", ARG_STR, ARG_REQUIRED, NULL,
	  "noop|flush_handlers|end_host|end_play|reset_connection|clear_facts|clear_host_errors|refresh_inventory",
	  NULL, "what to do" },
	ARG_END,
};

const struct module module_meta = {
	.name = "meta",
	.doc = "steers the run: flush_handlers, end_host, end_play, ...",
	.args = meta_args,
	.flags = MODULE_LOCAL | MODULE_FREE_FORM,
};

static const struct module_arg include_vars_args[] = {
	{ "_raw_params", ARG_PATH, 0, NULL, NULL, NULL, "file of variables" },
	{ "file", ARG_PATH, 0, NULL, NULL, NULL, "file of variables" },
	{ "name", ARG_STR, 0, NULL, NULL, NULL, "put them into this map" },
	{ "dir", ARG_PATH, ARG_NOT_YET, NULL, NULL, NULL, "a folder of files" },
	ARG_END,
};

const struct module module_include_vars = {
	.name = "include_vars",
	.doc = "reads variables from a file of the controller",
	.args = include_vars_args,
	.flags = MODULE_LOCAL | MODULE_FREE_FORM,
};
