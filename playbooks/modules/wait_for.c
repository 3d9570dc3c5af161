/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wait_for: a port or a path of the host comes or goes, or simply some time passes.
 *
 * The condition is asked once with the probe: where it holds there is nothing to wait for. Else the
 * same question is asked in a loop on the host. Ports are tried with bash, nc or python3, whichever
 * the host has.
 */
#include <inttypes.h>

#include "playbooks/list.h"

#define DAY_S 86400

static const struct module_arg wait_for_args[] = {
	{ "host", ARG_STR, 0, "127.0.0.1", NULL, NULL, "address, as the host sees it" },
	{ "port", ARG_INT, 0, NULL, NULL, NULL, "TCP port that must answer" },
	{ "path", ARG_PATH, 0, NULL, NULL, NULL, "path that must be there" },
	{ "search_regex", ARG_STR, 0, NULL, NULL, NULL, "what the file must hold" },
	{ "state", ARG_STR, 0, "started", "absent|drained|present|started|stopped", NULL,
	  "whether it must be there" },
	{ "timeout", ARG_INT, 0, "300", NULL, NULL, "seconds to wait at most" },
	{ "delay", ARG_INT, 0, "0", NULL, NULL, "seconds before the first look" },
	{ "sleep", ARG_INT, 0, "1", NULL, NULL, "seconds between looks" },
	{ "connect_timeout", ARG_INT, 0, "5", NULL, NULL, "seconds for a connection" },
	{ "msg", ARG_STR, 0, NULL, NULL, NULL, "message of the failure" },
	{ "active_connection_states", ARG_LIST, ARG_IGNORED, NULL, NULL, NULL, "of drained" },
	{ "exclude_hosts", ARG_LIST, ARG_IGNORED, NULL, NULL, NULL, "of drained" },
	ARG_END,
};

static bool wants_gone(const struct mod_call *c)
{
	struct str s = arg_str(c->args, "state");

	return str_eqc(s, "absent") || str_eqc(s, "stopped");
}

static bool waits_for_thing(const struct mod_call *c)
{
	return arg_has(c->args, "port") || arg_has(c->args, "path");
}

/* Host and port are in $h and $p, out of the reach of the shells that use them. */
static void add_port_test(const struct mod_call *c, struct buf *b)
{
	int64_t limit = arg_int(c->args, "connect_timeout", 5);

	buf_adds(b, "h=");
	proc_quote(b, arg_str(c->args, "host"));
	buf_addf(b, "; p=%" PRId64 "; export h p\n", arg_int(c->args, "port", 0));
	buf_addf(b,
		 "if command -v bash >/dev/null; then timeout %" PRId64
		 " bash -c 'exec 3<>\"/dev/tcp/$h/$p\"' 2>/dev/null\n"
		 "elif command -v nc >/dev/null; then nc -z -w %" PRId64
		 " \"$h\" \"$p\" 2>/dev/null\n"
		 "elif command -v python3 >/dev/null; then python3 -c 'import os,socket;"
		 "socket.create_connection((os.environ[\"h\"],int(os.environ[\"p\"])),%" PRId64
		 ")' 2>/dev/null\n"
		 "else exit 9; fi\n",
		 limit, limit, limit);
}

/* Status 0: it is there; 9: the host has no program to find out. */
static const char *question(const struct mod_call *c)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 64 << 10);
	if (arg_has(c->args, "port")) {
		add_port_test(c, &b);
		return buf_dup(&b, c->a);
	}
	if (arg_has(c->args, "search_regex")) {
		buf_adds(&b, "grep -Eq -e ");
		proc_quote(&b, arg_str(c->args, "search_regex"));
		buf_adds(&b, " -- ");
	} else {
		buf_adds(&b, "test -e ");
	}
	proc_quote(&b, arg_str(c->args, "path"));
	buf_adds(&b, " 2>/dev/null");
	return buf_dup(&b, c->a);
}

static bool within_day(const struct mod_call *c, const char *arg, int64_t least)
{
	int64_t s = arg_int(c->args, arg, least);

	return s >= least && s <= DAY_S;
}

static int wait_for_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	int64_t port = arg_int(c->args, "port", 1);
	const char *problem = NULL;

	if (arg_has(c->args, "port") && arg_has(c->args, "path"))
		problem = "port and path parameter can not both be passed to wait_for";
	else if (port < 1 || port > 65535)
		problem = "port must be 1 to 65535";
	else if (str_eqc(arg_str(c->args, "state"), "drained"))
		problem = "state drained is not supported yet";
	else if (arg_has(c->args, "port") && arg_has(c->args, "search_regex"))
		problem = "search_regex of a port is not supported yet";
	else if (!within_day(c, "timeout", 0) || !within_day(c, "delay", 0) ||
		 !within_day(c, "sleep", 1) || !within_day(c, "connect_timeout", 1))
		problem = "timeout, delay, sleep and connect_timeout must be at most a day, "
			  "sleep and connect_timeout at least a second";
	if (problem)
		return err_at(e, (err_set(e, ERR_SPEC, "%s", problem), c->pos));
	if (waits_for_thing(c))
		probe_ask(p, PROBE_COMMAND, question(c));
	return 0;
}

static int wait_for_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			  struct err *e unused_arg)
{
	struct command_answer r = { .status = 1 };

	result_sets(ch, "state", arg_cstr(c->args, "state"));
	if (arg_has(c->args, "port"))
		result_int(ch, "port", arg_int(c->args, "port", 0));
	result_set(ch, "path",
		   arg_has(c->args, "path") ? value_get(c->args, "path") : value_null(ch->a));
	result_int(ch, "elapsed", 0);
	if (waits_for_thing(c))
		answers_command(an, question(c), &r);
	if (r.status == 9)
		return change_fail(ch, "the host has none of bash, nc and python3 to try a port");
	if (waits_for_thing(c) && (r.status == 0) == !wants_gone(c) &&
	    !arg_int(c->args, "delay", 0))
		return 0;
	ch->run = !c->check;
	ch->takes_ms = (arg_int(c->args, "delay", 0) + arg_int(c->args, "timeout", 300) +
			arg_int(c->args, "sleep", 1) + arg_int(c->args, "connect_timeout", 5)) *
		       1000;
	return 0;
}

static const char *failure(const struct mod_call *c)
{
	const char *word = wants_gone(c) ? "to stop" : "";

	if (arg_has(c->args, "msg"))
		return arg_cstr(c->args, "msg");
	if (arg_has(c->args, "port"))
		return arena_printf(c->a, "Timeout when waiting for " STR_FMT ":%" PRId64 "%s%s",
				    STR_ARG(arg_str(c->args, "host")), arg_int(c->args, "port", 0),
				    *word ? " " : "", word);
	if (arg_has(c->args, "search_regex"))
		return arena_printf(
			c->a, "Timeout when waiting for search string " STR_FMT " in %s",
			STR_ARG(arg_str(c->args, "search_regex")), arg_cstr(c->args, "path"));
	return arena_printf(c->a,
			    wants_gone(c) ? "Timeout when waiting for %s to be absent."
					  : "Timeout when waiting for file %s",
			    arg_cstr(c->args, "path"));
}

static int wait_for_patch(const struct mod_call *c, const struct changes *ch unused_arg,
			  struct patch *p, struct err *e unused_arg)
{
	int64_t timeout = arg_int(c->args, "timeout", 300), delay = arg_int(c->args, "delay", 0);

	if (!waits_for_thing(c)) {
		buf_addf(&p->text, "sleep %" PRId64 "\n", timeout);
		return 0;
	}
	buf_addf(&p->text, "s=$(date +%%s)\n");
	if (delay)
		buf_addf(&p->text, "sleep %" PRId64 "\n", delay);
	buf_addf(&p->text, "until %s(\n%s\n); do\n", wants_gone(c) ? "! " : "", question(c));
	buf_addf(&p->text, "[ $(($(date +%%s)-s)) -lt %" PRId64 " ] || { printf '%%s\\n' ",
		 timeout);
	proc_quote(&p->text, str_of(failure(c)));
	buf_addf(&p->text, "; exit 1; }\nsleep %" PRId64 "\ndone\n", arg_int(c->args, "sleep", 1));
	return 0;
}

static int wait_for_finish(const struct mod_call *c unused_arg, const struct script_result *r,
			   struct changes *ch, struct err *e unused_arg)
{
	return change_finish(ch, r);
}

const struct module module_wait_for = {
	.name = "wait_for",
	.doc = "a port or a path of the host comes or goes",
	.args = wait_for_args,
	.flags = MODULE_FRESH,
	.probe = wait_for_probe,
	.check = wait_for_check,
	.patch = wait_for_patch,
	.finish = wait_for_finish,
};
