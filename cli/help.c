/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/help.h"

#include <ctype.h>

#include "cli/events.h"
#include "cli/view.h"
#include "templates/templates.h"

static void overview(struct buf *b)
{
	buf_adds(
		b,
		"muster takes a GPU cluster from a YAML spec to a fleet that works, and keeps it so.\n\n"
		"usage: muster [options] COMMAND [arguments]\n\n");
	for (size_t i = 0; commands[i]; i++) {
		if (!(commands[i]->flags & HIDDEN))
			buf_addf(b, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	}
	buf_adds(b, "\noptions of all commands:\n");
	opt_help(b, global_opts);
	buf_adds(
		b,
		"\n`muster help COMMAND` says more. Also: muster help exit-codes, muster help modules,\n"
		"muster help module NAME.\n");
}

static const char exit_codes[] =
	"exit codes\n"
	"    0  done, or nothing to do\n"
	"    1  error\n"
	"    2  changes are pending (plan --detailed-exitcode)\n"
	"    3  drift and nothing else (drift; plan --detailed-exitcode)\n"
	"    4  some nodes failed, within the failure budget, or their canary did\n"
	"    5  another run holds the lease\n"
	"    6  more nodes failed than --max-failures allows\n"
	"   64  wrong use of the command line\n"
	"  130  stopped by SIGINT, 143 by SIGTERM, 129 by SIGHUP, with a true "
	"journal\n";

int help_command(struct cli *c, const struct command *cmd)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	if (strcmp(cmd->name, "help") == 0) {
		overview(&b);
	} else {
		buf_addf(&b, "muster %s%s%s: %s\n", cmd->name, cmd->args[0] ? " " : "", cmd->args,
			 cmd->summary);
		if (cmd->text)
			buf_addf(&b, "\n%s\n", cmd->text);
		if (cmd->opts) {
			buf_adds(&b, "\noptions:\n");
			opt_help(&b, cmd->opts);
		}
		buf_adds(&b, "\noptions of all commands: muster help\n");
	}
	view_out(c, &b);
	return EXIT_DONE;
}

int help_unknown_command(const char *name, struct err *e)
{
	const char *names[128];
	size_t n = 0;

	for (size_t i = 0; commands[i] && n < ARRAY_LEN(names); i++) {
		if (!(commands[i]->flags & HIDDEN))
			names[n++] = commands[i]->name;
	}
	const char *near = str_suggest(str_of(name), names, n);

	err_set(e, ERR_USAGE, "there is no command \"%s\"", name);
	return near ? err_hint(e, "did you mean `muster %s`?", near)
		    : err_hint(e, "see muster help");
}

static int help_modules(struct cli *c)
{
	scoped(buf_fini) struct buf b = { 0 };
	const char *doc, *name;

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; (name = module_name_at(i, &doc)); i++)
		buf_addf(&b, "  %-20s %s\n", name, doc);
	buf_adds(&b, "\n`muster help module NAME` lists the arguments of one.\n");
	view_out(c, &b);
	return EXIT_DONE;
}

static int help_module(struct cli *c, const char *name, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	if (!module_help(&b, name)) {
		err_set(e, ERR_USAGE, "there is no module \"%s\"", name);
		return err_hint(e, "muster help modules lists them");
	}
	view_out(c, &b);
	return EXIT_DONE;
}

static int cmd_help(struct cli *c, struct err *e)
{
	const char *const *args = c->args.v.v;
	bool module = c->args.v.n && strcmp(args[0], "module") == 0;

	if (session_arg_count(c, module ? 2 : 0, module ? 2 : 1, e) < 0)
		return -1;
	if (!c->args.v.n)
		return help_command(c, c->cmd);
	if (module)
		return help_module(c, args[1], e);
	if (strcmp(args[0], "modules") == 0)
		return help_modules(c);
	if (strcmp(args[0], "exit-codes") == 0) {
		view_outf(c, "%s", exit_codes);
		return EXIT_DONE;
	}
	const struct command *cmd = command_find(c->args.v.v[0]);

	return cmd ? help_command(c, cmd) : help_unknown_command(c->args.v.v[0], e);
}

static int cmd_version(struct cli *c, struct err *e)
{
	if (session_no_args(c, e) < 0)
		return -1;
	if (c->g.json) {
		struct value *v = value_map(c->a);

		value_set(v, "version", value_cstr(c->a, MUSTER_VERSION));
		view_json(c, v);
	} else {
		view_outf(c, "muster %s\n", MUSTER_VERSION);
	}
	return EXIT_DONE;
}

/* ---- tables for the manual: `muster docs-table NAME` ---- */

static void manual_commands(struct buf *b)
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];

		if (cmd->flags & HIDDEN)
			continue;
		buf_addf(b, "## muster %s %s\n\n%c%s.\n\n", cmd->name, cmd->args,
			 toupper((unsigned char)cmd->summary[0]), cmd->summary + 1);
		if (cmd->text)
			buf_addf(b, "%s\n\n", cmd->text);
		if (cmd->opts)
			opt_manual(b, cmd->opts);
	}
}

static void manual_options(struct buf *b)
{
	opt_manual(b, global_opts);
}

static void manual_exit_codes(struct buf *b)
{
	struct str rest = str_of(exit_codes), line;

	str_next_line(&rest, &line); /* the heading */
	while (str_next_line(&rest, &line)) {
		struct str text = str_trim(line);
		size_t end = str_find_char(text, ' ');

		buf_addf(b, "*" STR_FMT "*\n\t" STR_FMT "\n\n", STR_ARG(str_sub(text, 0, end)),
			 STR_ARG(str_trim(str_sub(text, end, SIZE_MAX))));
	}
}

static void manual_spec(struct buf *b)
{
	field_manual(b, spec_fields);
}

static void manual_providers(struct buf *b)
{
	for (const struct provider_type *const *t = provider_types; *t; t++) {
		buf_addf(b, "## provider %s\n\n%c%s.\n\n", (*t)->name,
			 toupper((unsigned char)(*t)->doc[0]), (*t)->doc + 1);
		if ((*t)->options && (*t)->options[0].name)
			field_manual(b, (*t)->options);
		if ((*t)->pool_options && (*t)->pool_options[0].name) {
			buf_addf(b, "Under _options_ of a pool:\n\n");
			field_manual(b, (*t)->pool_options);
		}
	}
}

static void manual_modules(struct buf *b)
{
	const char *doc, *name;

	for (size_t i = 0; (name = module_name_at(i, &doc)); i++)
		buf_addf(b, "*%s*\n\t%c%s.\n\n", name, toupper((unsigned char)doc[0]), doc + 1);
}

static const struct docs_table {
	const char *name;
	void (*print)(struct buf *b);
} docs_tables[] = {
	{ "commands", manual_commands },     { "options", manual_options },
	{ "exit-codes", manual_exit_codes }, { "spec", manual_spec },
	{ "providers", manual_providers },   { "modules", manual_modules },
	{ "module-args", module_manual },    { "events", event_manual },
	{ "events.md", event_markdown },     { "templates.md", template_markdown },
};

static int cmd_docs_table(struct cli *c, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	if (session_arg_count(c, 0, 1, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(docs_tables); i++) {
		if (!c->args.v.n)
			buf_addf(&b, "%s\n", docs_tables[i].name);
		else if (strcmp(docs_tables[i].name, c->args.v.v[0]) == 0)
			docs_tables[i].print(&b);
	}
	if (!b.n)
		return err_set(e, ERR_USAGE, "there is no table \"%s\"", c->args.v.v[0]);
	view_out(c, &b);
	return EXIT_DONE;
}

const struct command command_help = {
	"help",
	"[COMMAND|exit-codes|modules|module NAME]",
	"lists the commands, or explains one",
	NULL,
	NULL,
	0,
	0,
	cmd_help,
};
const struct command command_version = { "version", "", "prints the version", NULL, NULL,
					 0,	    0,	cmd_version };
const struct command command_docs_table = {
	"docs-table", "[NAME]",	      "prints a table for the manual", NULL, NULL, 0,
	HIDDEN,	      cmd_docs_table,
};
