/* SPDX-License-Identifier: Apache-2.0 */
/* What is about the host's connection itself: ping, setup, reboot, wait_for_connection. */
#include "playbooks/facts.h"
#include "playbooks/list.h"

#define DAY_S 86400

/* ---- ping ---- */

static const struct module_arg ping_args[] = {
	{ "data", ARG_STR, 0, "pong", NULL, NULL, "what is answered; crash fails" },
	ARG_END,
};

/* Something must be asked, or an unreachable host would answer. */
static int ping_probe(const struct mod_call *c unused_arg, struct probe *p,
		      struct err *e unused_arg)
{
	probe_ask(p, PROBE_COMMAND, "exit 0");
	return 0;
}

static int ping_check(const struct mod_call *c, const struct answers *an unused_arg,
		      struct changes *ch, struct err *e unused_arg)
{
	if (str_eqc(arg_str(c->args, "data"), "crash"))
		return change_fail(ch, "boom");
	result_set(ch, "ping", value_get(c->args, "data"));
	return 0;
}

const struct module module_ping = {
	.name = "ping",
	.doc = "does the host answer",
	.args = ping_args,
	.probe = ping_probe,
	.check = ping_check,
};

/* ---- setup ---- */

static const struct module_arg setup_args[] = {
	{ "gather_subset", ARG_LIST, ARG_IGNORED, "all", NULL, NULL, "all facts cost one script" },
	{ "gather_timeout", ARG_INT, ARG_IGNORED, NULL, NULL, NULL, "one deadline holds for all" },
	{ "filter", ARG_LIST, ARG_IGNORED, NULL, NULL, NULL, "all facts are kept" },
	{ "fact_path", ARG_PATH, ARG_IGNORED, NULL, NULL, NULL, "local facts are not read" },
	ARG_END,
};

static int setup_probe(const struct mod_call *c unused_arg, struct probe *p,
		       struct err *e unused_arg)
{
	probe_ask(p, PROBE_COMMAND, facts_script);
	return 0;
}

static int setup_check(const struct mod_call *c unused_arg, const struct answers *an,
		       struct changes *ch, struct err *e unused_arg)
{
	struct command_answer r;

	answers_command(an, facts_script, &r);
	result_set(ch, "ansible_facts", facts_parse(ch->a, r.out));
	return 0;
}

const struct module module_setup = {
	.name = "setup",
	.aliases = "gather_facts",
	.doc = "reads the host's facts",
	.args = setup_args,
	.flags = MODULE_FRESH,
	.probe = setup_probe,
	.check = setup_check,
};

/* ---- reboot ---- */

static const struct module_arg reboot_args[] = {
	{ "reboot_timeout", ARG_INT, 0, "600", NULL, "reboot_timeout_sec",
	  "seconds until it must answer again" },
	{ "pre_reboot_delay", ARG_INT, 0, "0", NULL, "pre_reboot_delay_sec",
	  "seconds to wait before" },
	{ "post_reboot_delay", ARG_INT, 0, "0", NULL, "post_reboot_delay_sec",
	  "seconds to wait after" },
	{ "connect_timeout", ARG_INT, ARG_IGNORED, NULL, NULL, "connect_timeout_sec",
	  "the connection has its own" },
	{ "msg", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "nobody is told" },
	{ "test_command", ARG_STR, 0, NULL, NULL, NULL, "must succeed afterwards" },
	{ "search_paths", ARG_LIST, ARG_IGNORED, NULL, NULL, NULL, "systemctl or reboot is found" },
	{ "boot_time_command", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "the boot id tells" },
	{ "reboot_command", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "another command" },
	ARG_END,
};

static int always_run(const struct mod_call *c, const struct answers *an unused_arg,
		      struct changes *ch, struct err *e unused_arg)
{
	ch->run = true;
	if (c->module == &module_reboot)
		change_adds(ch, "reboot", NULL, "to be done");
	return 0;
}

/* An argument in seconds as milliseconds, a day at most. */
static int64_t ms_of(const struct mod_call *c, const char *arg)
{
	int64_t s = arg_int(c->args, arg, 0);

	return (s < 0 ? 0 : s > DAY_S ? DAY_S : s) * 1000;
}

/* Until the command succeeds or the time is over. */
static int test_host(const struct mod_call *c, struct host *h, struct deadline d,
		     struct changes *ch, struct err *e)
{
	const char *test = arg_cstr(c->args, "test_command");
	struct script_result r = { 0 };

	while (test) {
		if (host_script(h, c->a, str_of(test), &(struct script_opts){ .deadline = d }, &r,
				e))
			return -1;
		if (r.status == 0)
			break;
		if (!deadline_left(d))
			return change_fail(ch, "Timed out waiting for the test command");
		if (task_sleep(1000, e))
			return -1;
	}
	return 0;
}

static int reboot_act(const struct mod_call *c, struct host *h, const struct run_opts *o,
		      struct changes *ch, struct err *e)
{
	int64_t limit = ms_of(c, "reboot_timeout"), begin = clock_now();
	struct deadline d;

	if (limit < o->reboot_timeout_ms)
		limit = o->reboot_timeout_ms;
	d = deadline_in(limit);
	if (task_sleep(ms_of(c, "pre_reboot_delay"), e))
		return -1;
	if (host_reboot(h, limit, e)) {
		if (e->kind != ERR_TIMEOUT)
			return -1;
		result_bool(ch, "rebooted", true);
		return change_fail(ch, "Timed out waiting for the host after its reboot");
	}
	if (task_sleep(ms_of(c, "post_reboot_delay"), e) || test_host(c, h, d, ch, e))
		return -1;
	result_bool(ch, "rebooted", true);
	result_bool(ch, "changed", true);
	result_int(ch, "elapsed", (clock_now() - begin) / 1000);
	return 0;
}

const struct module module_reboot = {
	.name = "reboot",
	.doc = "reboots the host and waits until it answers with another boot id",
	.args = reboot_args,
	.flags = MODULE_ACTION | MODULE_LOST,
	.check = always_run,
	.act = reboot_act,
};

/* ---- wait_for_connection ---- */

static const struct module_arg wait_args[] = {
	{ "timeout", ARG_INT, 0, "600", NULL, NULL, "seconds until it must answer" },
	{ "delay", ARG_INT, 0, "0", NULL, NULL, "seconds to wait before" },
	{ "sleep", ARG_INT, ARG_IGNORED, "1", NULL, NULL,
	  "the pause between attempts grows by itself" },
	{ "connect_timeout", ARG_INT, ARG_IGNORED, NULL, NULL, NULL, "the connection has its own" },
	ARG_END,
};

static int wait_act(const struct mod_call *c, struct host *h, const struct run_opts *o unused_arg,
		    struct changes *ch, struct err *e)
{
	int64_t begin = clock_now(), limit = ms_of(c, "timeout");
	struct script_result r = { 0 };
	struct err lost = { 0 };

	if (task_sleep(ms_of(c, "delay"), e))
		return -1;
	if (host_script(h, c->a, STR(":"), &(struct script_opts){ .deadline = deadline_in(limit) },
			&r, &lost)) {
		if (lost.kind == ERR_CANCELLED) {
			*e = lost;
			return -1;
		}
		if (host_reconnect(h, limit, e)) {
			if (e->kind != ERR_TIMEOUT)
				return -1;
			return change_fail(ch, "timed out waiting for the host to answer");
		}
	}
	result_int(ch, "elapsed", (clock_now() - begin) / 1000);
	return 0;
}

const struct module module_wait_for_connection = {
	.name = "wait_for_connection",
	.doc = "waits until the host answers",
	.args = wait_args,
	.flags = MODULE_ACTION,
	.check = always_run,
	.act = wait_act,
};
