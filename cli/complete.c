/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/complete.h"

static void names(struct buf *b)
{
	for (size_t i = 0; commands[i]; i++) {
		if (!(commands[i]->flags & HIDDEN))
			buf_addf(b, "%s%s", b->n && b->p[b->n - 1] != '"' ? " " : "",
				 commands[i]->name);
	}
}

static void options(struct buf *b, const struct opt *rows)
{
	for (const struct opt *o = rows; o && o->name; o++)
		buf_addf(b, " --%s", o->name);
}

/* The words that a command's own line offers: "list|show|rm", "[bash|zsh|fish]". What is in
 * capitals stands for something else; COMMAND for the commands. */
static void argument_words(struct buf *b, const struct command *cmd)
{
	struct str all = str_of(cmd->args), rest, word;

	if (str_starts(all, "["))
		all = str_sub(all, 1, str_find_char(all, ']'));
	for (rest = all; rest.n && str_next(&rest, '|', &word);) {
		word = str_sub(word, 0, str_find_char(word, ' '));
		if (str_eqc(word, "COMMAND")) {
			buf_addc(b, ' ');
			names(b);
		} else if (word.n && word.p[0] >= 'a' && word.p[0] <= 'z') {
			buf_addf(b, " " STR_FMT, STR_ARG(word));
		}
	}
}

/* Node names come from the state, quietly: completion must never print an error. */
#define NODES_COMMAND "muster status --names 2>/dev/null"

static void bash(struct buf *b)
{
	buf_adds(b,
		 "_muster() {\n"
		 "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd= w\n"
		 "\tlocal commands=\"");
	names(b);
	buf_adds(b, "\"\n\tlocal global=\"");
	options(b, global_opts);
	buf_adds(
		b,
		"\"\n"
		"\tfor w in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
		"\t\tcase \" $commands \" in *\" $w \"*) cmd=$w; break ;; esac\n"
		"\tdone\n"
		"\tcase $prev in\n"
		"\t-f|--file|--state|--json-into|--out|-C|--chdir) COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n"
		"\t-l|--limit) COMPREPLY=($(compgen -W \"$(" NODES_COMMAND
		")\" -- \"$cur\")); return ;;\n"
		"\tesac\n"
		"\tcase $cmd in\n"
		"\t'') COMPREPLY=($(compgen -W \"$commands $global\" -- \"$cur\")) ;;\n");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->flags & HIDDEN)
			continue;
		buf_addf(b, "\t%s)\n\t\tCOMPREPLY=($(compgen -W \"", commands[i]->name);
		argument_words(b, commands[i]);
		options(b, commands[i]->opts);
		buf_addf(b, " $global%s\" -- \"$cur\")) ;;\n",
			 commands[i]->flags & TAKES_NODES ? " $(" NODES_COMMAND ")" : "");
	}
	buf_adds(b, "\tesac\n"
		    "\t[ ${#COMPREPLY[@]} -gt 0 ] || COMPREPLY=($(compgen -f -- \"$cur\"))\n"
		    "}\n"
		    "complete -F _muster muster\n");
}

static void zsh_quote(struct buf *b, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_adds(b, "'\\''");
		else if (*text == '[' || *text == ']' || *text == ':')
			buf_addf(b, "\\%c", *text);
		else
			buf_addc(b, *text);
	}
}

static void zsh_options(struct buf *b, const struct opt *rows)
{
	for (const struct opt *o = rows; o && o->name; o++) {
		bool value = o->type != OPT_FLAG && o->type != OPT_COUNT;

		buf_addf(b, " \\\n\t\t\t'--%s%s[", o->name, value ? "=" : "");
		zsh_quote(b, o->doc);
		buf_adds(b, "]");
		if (value)
			buf_adds(b, ":value:_files");
		buf_addc(b, '\'');
	}
}

static void zsh(struct buf *b)
{
	buf_adds(b, "#compdef muster\n"
		    "_muster() {\n"
		    "\tlocal -a commands\n"
		    "\tlocal state\n"
		    "\tcommands=(\n");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->flags & HIDDEN)
			continue;
		buf_addf(b, "\t\t'%s:", commands[i]->name);
		zsh_quote(b, commands[i]->summary);
		buf_adds(b, "'\n");
	}
	buf_adds(b, "\t)\n"
		    "\t_arguments -C '1: :->command' '*:: :->rest' && return\n"
		    "\tcase $state in\n"
		    "\tcommand) _describe command commands ;;\n"
		    "\trest)\n"
		    "\t\tcase $words[1] in\n");
	for (size_t i = 0; commands[i]; i++) {
		if (commands[i]->flags & HIDDEN)
			continue;
		buf_addf(b, "\t\t%s) _arguments", commands[i]->name);
		zsh_options(b, commands[i]->opts);
		zsh_options(b, global_opts);
		scoped(buf_fini) struct buf words = { 0 };

		buf_init(&words, BUF_MAX_DEFAULT);
		argument_words(&words, commands[i]);
		if (words.n)
			buf_addf(b, " \\\n\t\t\t'1: :(" STR_FMT " )'", STR_ARG(buf_str(&words)));
		buf_addf(b, " \\\n\t\t\t'*: :%s' ;;\n",
			 commands[i]->flags & TAKES_NODES ? "($(" NODES_COMMAND "))" : "_files");
	}
	buf_adds(b, "\t\tesac ;;\n"
		    "\tesac\n"
		    "}\n"
		    "_muster \"$@\"\n");
}

static void fish_quote(struct buf *b, const char *text)
{
	buf_addc(b, '\'');
	for (; *text; text++)
		buf_addf(b, "%s%c", *text == '\'' || *text == '\\' ? "\\" : "", *text);
	buf_addc(b, '\'');
}

static void fish_options(struct buf *b, const char *condition, const struct opt *rows)
{
	for (const struct opt *o = rows; o && o->name; o++) {
		buf_addf(b, "complete -c muster %s -l %s", condition, o->name);
		if (o->letter)
			buf_addf(b, " -s %c", o->letter);
		if (o->type != OPT_FLAG && o->type != OPT_COUNT)
			buf_adds(b, " -r");
		buf_adds(b, " -d ");
		fish_quote(b, o->doc);
		buf_addc(b, '\n');
	}
}

static void fish(struct buf *b)
{
	scoped(arena_freep) struct arena *a = arena_new("completion");

	fish_options(b, "", global_opts);
	for (size_t i = 0; commands[i]; i++) {
		const char *on = arena_printf(a, "-n '__fish_seen_subcommand_from %s'",
					      commands[i]->name);

		if (commands[i]->flags & HIDDEN)
			continue;
		buf_addf(b, "complete -c muster -n __fish_use_subcommand -f -a %s -d ",
			 commands[i]->name);
		fish_quote(b, commands[i]->summary);
		buf_addc(b, '\n');
		fish_options(b, on, commands[i]->opts);
		scoped(buf_fini) struct buf words = { 0 };

		buf_init(&words, BUF_MAX_DEFAULT);
		argument_words(&words, commands[i]);
		if (words.n)
			buf_addf(b, "complete -c muster %s -f -a '" STR_FMT "'\n", on,
				 STR_ARG(buf_str(&words)));
		if (commands[i]->flags & TAKES_NODES)
			buf_addf(b, "complete -c muster %s -f -a '(" NODES_COMMAND ")'\n", on);
	}
}

static const struct shell {
	const char *name;
	void (*print)(struct buf *b);
} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

int complete_script(struct buf *b, const char *shell, struct err *e)
{
	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		if (strcmp(shells[i].name, shell) == 0) {
			shells[i].print(b);
			return 0;
		}
	}
	err_set(e, ERR_USAGE, "there is no completion for \"%s\"", shell);
	return err_hint(e, "choose bash, zsh or fish");
}
