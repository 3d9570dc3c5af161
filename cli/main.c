/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command in the table, satisfies its preconditions, runs it, and reports. Everything
 * else is in the commands. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/events.h"
#include "cli/help.h"
#include "cli/out.h"
#include "cli/session.h"
#include "cli/view.h"

extern char **environ;

struct command_run {
	struct cli *c;
	struct err *e;
	int code;
};

static void run_in_task(void *arg)
{
	struct command_run *r = arg;

	r->code = r->c->cmd->run(r->c, r->e);
	engine_close(r->c->engine);
	r->c->engine = NULL;
}

static int prepare(struct cli *c, struct err *e)
{
	unsigned f = c->cmd->flags;

	if (session_paths(c, e) < 0 || events_open(c, e) < 0)
		return -1;
	if ((f & NEEDS_SPEC || (f & MAY_SPEC && fs_exists(c->spec_file))) && session_spec(c, e) < 0)
		return -1;
	if (f & NEEDS_STATE)
		return session_state(c, STATE_CREATE, e);
	if (f & READS_STATE)
		return session_state(c, STATE_READONLY, e);
	return 0;
}

static int run_command(struct cli *c, struct err *e)
{
	struct command_run r = { .c = c, .e = e, .code = -1 };

	if (prepare(c, e) < 0)
		return -1;
	if (!(c->cmd->flags & NEEDS_LOOP))
		return c->cmd->run(c, e);
	return loop_run(run_in_task, &r, NULL, e) < 0 ? -1 : r.code;
}

#define COMMAND_LINE_MAX 2048

/* For the history: what was asked for, in one spelling. */
static const char *command_line(const struct cli *c, const struct opt_said *said)
{
	scoped(buf_fini) struct buf b = { 0 };
	scoped(buf_fini) struct buf clean = { 0 };

	buf_init(&b, SIZE_MAX);
	buf_init(&clean, SIZE_MAX);
	buf_addf(&b, "muster %s", c->cmd->name);
	for (size_t i = 0; i < c->args.v.n && b.n < COMMAND_LINE_MAX; i++) {
		buf_addc(&b, ' ');
		proc_quote(&b, str_of(c->args.v.v[i]));
	}
	for (size_t i = 0; i < said->v.n && b.n < COMMAND_LINE_MAX; i++)
		buf_addf(&b, " %s", said->v.v[i]);
	scrub(&clean, str_sub(buf_str(&b), 0, COMMAND_LINE_MAX));
	return buf_dup(&clean, c->a);
}

/* The command's name is the first argument that is no global option. */
static int parse(struct cli *c, int argc, const char *const *argv, struct err *e)
{
	const struct opt_set global = { global_opts, &c->g };
	struct opt_said said = { 0 };
	const struct opt_line whole = { argv + 1, (size_t)argc - 1, &global, 1, true, &said };
	struct opt_args first = { 0 };

	if (opt_parse(c->a, &whole, &first, e) < 0)
		return -1;
	const char *name = first.v.n ? first.v.v[0] : "help";

	c->cmd = command_find(name);
	if (!c->cmd)
		return help_unknown_command(name, e);
	c->opts = arena_alloc(c->a, c->cmd->opts_size + 1);
	const struct opt_set sets[] = { global, { c->cmd->opts, c->opts } };
	const struct opt_line rest = {
		.argv = first.v.n ? first.v.v + 1 : NULL,
		.n = first.v.n ? first.v.n - 1 : 0,
		.sets = sets,
		.n_sets = 2,
		.stop_at_argument = c->cmd->flags & STOP_AT_ARG,
		.said = &said,
	};

	if (opt_parse(c->a, &rest, &c->args, e) < 0)
		return err_hint(e, "see muster help %s", name);
	if (opt_from_env(c->a, &global, &said, e) < 0)
		return -1;
	c->command_line = command_line(c, &said);
	/* A shell variable that is not set must not mean everything. */
	if (c->g.limit && !str_trim(str_of(c->g.limit)).n) {
		err_set(e, ERR_USAGE, "--limit: no node is named");
		return err_hint(e, "name nodes, or leave the option out");
	}
	return 0;
}

static bool wants_color(const struct cli *c, bool tty)
{
	const char *term = env_get("TERM");

	if (c->g.color && strcmp(c->g.color, "auto") != 0)
		return strcmp(c->g.color, "always") == 0;
	if (env_get("NO_COLOR") || (term && strcmp(term, "dumb") == 0))
		return false;
	return tty || env_get("CLICOLOR_FORCE");
}

static void log_to_stderr(void *arg unused_arg, enum log_level level unused_arg, const char *line)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_addf(&b, "muster: %s\n", line);
	out_err(buf_str(&b));
}

static void look_around(struct cli *c)
{
	const char *term = env_get("TERM");
	bool dumb = term && strcmp(term, "dumb") == 0;

	c->out_tty = isatty(STDOUT_FILENO);
	c->err_tty = isatty(STDERR_FILENO) && !dumb && !env_get("CI");
	c->color_out = wants_color(c, c->out_tty);
	c->color_err = wants_color(c, isatty(STDERR_FILENO));
	c->interactive = isatty(STDIN_FILENO) && !env_get("CI");
	log_set_sink(log_to_stderr, NULL,
		     c->g.verbose > 1 ? LOG_DEBUG
		     : c->g.verbose   ? LOG_INFO
				      : LOG_WARN);
}

static int report(struct cli *c, const struct err *e)
{
	if (e->kind != ERR_NONE) /* ERR_NONE: already told, in full */
		view_error(c, e);
	if (c->signalled)
		return 128 + c->signalled;
	return e->kind == ERR_NONE ? EXIT_ERROR : err_exit_code(e);
}

static int run(struct cli *c, int argc, const char *const *argv)
{
	struct err e = { 0 };
	int code;

	if (parse(c, argc, argv, &e) < 0) {
		look_around(c);
		code = report(c, &e);
		view_diagnostics(c);
		return code;
	}
	look_around(c);
	if (c->g.help)
		return help_command(c, c->cmd);
	code = run_command(c, &e);
	if (code >= 0 && out_lost(&e) < 0)
		code = -1;
	if (code < 0)
		code = report(c, &e);
	else if (c->signalled)
		code = 128 + c->signalled;
	view_diagnostics(c);
	events_close(c, code);
	state_close(c->state);
	return code;
}

/* A program that starts with stdout closed would open its state as descriptor 1 and print into it. */
static void fill_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* A connection is an open file, and the usual soft limit is 1024. Not more than we can use: some
 * programs that we start close all that they might have. */
#define FILES_WANTED 65536

int main(int argc, char **argv)
{
	struct cli c = { .a = arena_new("run") };
	struct sigaction hangup;
	int code;

	fill_standard_files();
	proc_files_allow(FILES_WANTED);
	signal(SIGPIPE, SIG_IGN);
	c.keep_hangup = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
	env_init(environ);
	code = argc < 1 ? EXIT_USAGE : run(&c, argc, (const char *const *)argv);
	ssh_forget();
	scrub_reset();
	arena_free(c.a);
	env_fini();
	if (fflush(stdout) != 0 && code == 0)
		code = EXIT_ERROR;
	return code;
}
