/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/list.h"

#include "cli/cli.h"

#define DECLARE(name) extern const struct command command_##name;
COMMAND_LIST(DECLARE)

#define ROW(name) &command_##name,
const struct command *const commands[] = { COMMAND_LIST(ROW) NULL };

const struct command *command_find(const char *name)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	}
	return NULL;
}

#define G(member, letter, type, arg, doc, aliases)                                         \
	{                                                                                  \
#member, letter, type, offsetof(struct globals, member), arg, doc, aliases \
	}

const struct opt global_opts[] = {
	G(file, 'f', OPT_STR, "FILE|DIR", "the spec (default muster.yaml)", NULL),
	G(chdir, 'C', OPT_STR, "DIR", "work in this folder", NULL),
	G(state, 0, OPT_STR, "PATH", "the state file (default .muster/state.db beside the spec)",
	  NULL),
	G(limit, 'l', OPT_STR, "NODESET", "only these nodes: gpu[001-016], @pool, A&B, A!B", NULL),
	{ "var", 'e', OPT_LIST, offsetof(struct globals, vars), "NAME=VALUE|@FILE",
	  "set a variable; wins over the spec's", "extra-vars" },
	G(json, 0, OPT_FLAG, NULL, "one JSON document, or one event a line for long commands",
	  NULL),
	{ "json-into", 0, OPT_STR, offsetof(struct globals, json_into), "FILE",
	  "text on the screen and events at the end of a file", NULL },
	{ "heartbeat", 0, OPT_MS, offsetof(struct globals, heartbeat_ms), "DURATION",
	  "how often a long run says what it waits for (default 30s)", NULL },
	{ "ssh-config", 0, OPT_STR, offsetof(struct globals, ssh_config), "FILE",
	  "ssh_config to read (default ~/.ssh/config)", NULL },
	G(verbose, 'v', OPT_COUNT, NULL, "tell more; twice: debug", NULL),
	G(quiet, 'q', OPT_FLAG, NULL, "no progress", NULL),
	G(color, 0, OPT_ENUM, "auto|always|never", "colour; NO_COLOR is obeyed", NULL),
	G(help, 'h', OPT_FLAG, NULL, "help on the command", NULL),
	OPT_END,
};
