/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command and shell: run as written. command splits its line here into words (as Python's shlex
 * does) and replaces $NAME, so no shell on the host sees the user's text; shell hands the text as
 * one argument to sh -c.
 */
#include "playbooks/list.h"

#define COMMAND_ROWS                                                                                    \
	{ "_raw_params", ARG_STR, 0, NULL, NULL, NULL, "the command" },                                 \
		{ "cmd", ARG_STR, 0, NULL, NULL, NULL, "the command" },                                 \
		{ "chdir", ARG_PATH, 0, NULL, NULL, NULL, "folder to run it in" },                      \
		{ "creates", ARG_PATH, 0, NULL, NULL, NULL, "not run if this (or a glob) is there" },   \
		{ "removes", ARG_PATH, 0, NULL, NULL, NULL, "not run if this (or a glob) is missing" }, \
		{ "executable", ARG_PATH, 0, NULL, NULL, NULL, "shell to use" },                        \
		{ "stdin", ARG_STR, 0, NULL, NULL, NULL, "text for its stdin" },                        \
		{ "stdin_add_newline", ARG_BOOL, 0, "yes", NULL, NULL, "add a newline to stdin" },      \
		{ "strip_empty_ends", ARG_BOOL, 0, "yes", NULL, NULL, "drop empty lines at the end" },  \
	{                                                                                               \
		"warn", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "there are no warnings"                \
	}

static const struct module_arg command_args[] = {
	COMMAND_ROWS,
	{ "argv", ARG_LIST, 0, NULL, NULL, NULL, "the command as a list of words" },
	{ "expand_argument_vars", ARG_BOOL, 0, "yes", NULL, NULL, "replace $NAME" },
	ARG_END,
};

static const struct module_arg shell_args[] = {
	COMMAND_ROWS,
	ARG_END,
};

struct words {
	VEC(struct str) v;
};

static struct str command_text(const struct mod_call *c)
{
	return arg_has(c->args, "cmd") ? arg_str(c->args, "cmd") : arg_str(c->args, "_raw_params");
}

/* One word off *s; -1: a quote is open. */
static int next_word(struct arena *a, struct str *s, struct str *word)
{
	struct buf b scoped(buf_wipe) = { 0 };
	char quote = 0;
	size_t i;

	buf_init(&b, BUF_MAX_DEFAULT);
	*s = str_trim(*s);
	for (i = 0; i < s->n; i++) {
		char ch = s->p[i];
		if (quote == '\'' ? ch == '\'' : quote && ch == '"') {
			quote = 0;
		} else if (quote != '\'' && ch == '\\' && i + 1 < s->n &&
			   (!quote || s->p[i + 1] == '"' || s->p[i + 1] == '\\')) {
			buf_addc(&b, s->p[++i]);
		} else if (!quote && (ch == '"' || ch == '\'')) {
			quote = ch;
		} else if (!quote && (ch == ' ' || ch == '\t' || ch == '\n')) {
			break;
		} else {
			buf_addc(&b, ch);
		}
	}
	*word = str_dup(a, buf_str(&b));
	*s = str_sub(*s, i, SIZE_MAX);
	return quote ? -1 : 0;
}

static int split_words(const struct mod_call *c, struct words *out, struct err *e)
{
	const struct value *argv = arg_list(c->args, "argv");
	struct str s = command_text(c), word;

	for (size_t i = 0; argv && i < argv->list.n; i++)
		VEC_ADD(c->a, &out->v) = argv->list.v[i]->s;
	while (!argv && str_trim(s).n) {
		if (next_word(c->a, &s, &word))
			return err_at(e,
				      (err_set(e, ERR_SPEC, "a quote is not closed in the command"),
				       c->pos));
		VEC_ADD(c->a, &out->v) = word;
	}
	return 0;
}

static size_t name_len(struct str s)
{
	size_t i = 0;

	while (i < s.n && ((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= 'A' && s.p[i] <= 'Z') ||
			   s.p[i] == '_' || (i && s.p[i] >= '0' && s.p[i] <= '9')))
		i++;
	return i;
}

/* 'text'"${NAME-"'$NAME'"}": an unset name stays as it is written. */
static void add_expanded(struct buf *b, struct str word)
{
	while (word.n) {
		size_t at = str_find_char(word, '$'), n, skip = 1;
		struct str rest, name;
		if (at == SIZE_MAX)
			break;
		if (at)
			proc_quote(b, str_sub(word, 0, at));
		rest = str_sub(word, at + 1, SIZE_MAX);
		if (str_starts(rest, "{") && rest.n > 2)
			skip = 2;
		n = name_len(str_sub(rest, skip - 1, SIZE_MAX));
		name = str_sub(rest, skip - 1, skip - 1 + n);
		if (!n || (skip == 2 && (skip - 1 + n >= rest.n || rest.p[skip - 1 + n] != '}'))) {
			buf_adds(b, "'$'");
			word = rest;
			continue;
		}
		buf_addf(b, "\"${" STR_FMT "-\\$" STR_FMT "}\"", STR_ARG(name), STR_ARG(name));
		word = str_sub(rest, skip - 1 + n + (skip == 2), SIZE_MAX);
	}
	if (word.n)
		proc_quote(b, word);
}

/* ---- creates, removes ---- */

static bool has_glob(const char *path)
{
	return strpbrk(path, "*?[") != NULL;
}

static const char *in_chdir(const struct mod_call *c, const char *name)
{
	const char *path = arg_cstr(c->args, name), *chdir = arg_cstr(c->args, "chdir");

	return path && chdir ? fs_join(c->a, chdir, path) : path;
}

/* A glob is expanded by the host's shell: quoted in its plain parts only. */
static const char *glob_script(struct arena *a, const char *path)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	buf_adds(&b, "for f in ");
	while (*path) {
		size_t n = strcspn(path, "*?[]");
		if (n)
			proc_quote(&b, (struct str){ path, n });
		path += n;
		if (*path)
			buf_addc(&b, *path++);
	}
	buf_adds(&b, "; do [ -e \"$f\" ] && exit 0; done; exit 1");
	return buf_dup(&b, a);
}

static void probe_exists(const struct mod_call *c, const char *name, struct probe *p)
{
	const char *path = in_chdir(c, name);

	if (path && has_glob(path))
		probe_ask(p, PROBE_COMMAND, glob_script(c->a, path));
	else if (path)
		probe_ask(p, PROBE_STATL, path);
}

static bool path_exists(const struct mod_call *c, const char *name, const struct answers *an)
{
	const char *path = in_chdir(c, name);
	struct command_answer r;

	if (!has_glob(path))
		return answers_get(an, PROBE_STATL, path).n > 0;
	answers_command(an, glob_script(c->a, path), &r);
	return r.status == 0;
}

static int command_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	if (!str_trim(command_text(c)).n && !arg_list(c->args, "argv"))
		return err_at(e, (err_set(e, ERR_SPEC, "no command given"), c->pos));
	probe_exists(c, "creates", p);
	probe_exists(c, "removes", p);
	return 0;
}

static void not_run(struct changes *ch, const char *path, bool there)
{
	const char *state = there ? "exists" : "does not exist";

	result_int(ch, "rc", 0);
	result_output(ch, "stdout",
		      str_of(arena_printf(ch->a, "skipped, since %s %s", path, state)));
	result_output(ch, "stderr", STR_NONE);
	result_sets(ch, "msg",
		    arena_printf(ch->a, "Did not run command since '%s' %s", path,
				 there ? "exists" : "does not exist"));
}

/* Which word a secret went into is lost, so all are as secret as it. */
static struct value *text_value(struct arena *a, struct str s, bool secret)
{
	struct value *v = value_str(a, s);

	v->secret = secret;
	return v;
}

static void set_cmd(const struct mod_call *c, struct changes *ch, struct err *e)
{
	struct words words = { { 0 } };
	bool secret = value_has_secret(c->args);
	struct value *list;

	if (c->module == &module_shell || split_words(c, &words, e)) {
		result_set(ch, "cmd", text_value(ch->a, command_text(c), secret));
		return;
	}
	list = value_list(ch->a);
	for (size_t i = 0; i < words.v.n; i++)
		value_add(ch->a, list, text_value(ch->a, words.v.v[i], secret));
	result_set(ch, "cmd", list);
}

static int command_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			 struct err *e)
{
	const char *creates = arg_cstr(c->args, "creates"), *removes = arg_cstr(c->args, "removes");

	set_cmd(c, ch, e);
	if (creates && path_exists(c, "creates", an)) {
		not_run(ch, creates, true);
		return 0;
	}
	if (removes && !path_exists(c, "removes", an)) {
		not_run(ch, removes, false);
		return 0;
	}
	ch->run = true;
	if (!c->check)
		return 0;
	result_int(ch, "rc", 0);
	result_sets(ch, "msg", "Command would have run if not in check mode");
	if (creates || removes)
		change_adds(ch, "command", NULL, "to be run");
	else
		ch->skipped = true;
	return 0;
}

/* ---- running ---- */

static int command_patch(const struct mod_call *c, const struct changes *ch unused_arg,
			 struct patch *p, struct err *e)
{
	const char *chdir = arg_cstr(c->args, "chdir"), *shell = arg_cstr(c->args, "executable");
	bool expand = (arg_bool(c->args, "expand_argument_vars"));
	struct words words = { { 0 } };

	if (chdir)
		patch_cmd(p, "cd", "--", chdir);
	if (arg_has(c->args, "stdin")) {
		buf_adds(&p->text,
			 arg_bool(c->args, "stdin_add_newline") ? "printf '%s\\n' " : "printf %s ");
		proc_quote(&p->text, arg_str(c->args, "stdin"));
		buf_adds(&p->text, " | ");
	}
	if (c->module == &module_shell) {
		proc_quote(&p->text, str_of(shell ? shell : "/bin/sh"));
		buf_adds(&p->text, " -c ");
		proc_quote(&p->text, command_text(c));
		buf_addc(&p->text, '\n');
		return 0;
	}
	if (split_words(c, &words, e))
		return -1;
	for (size_t i = 0; i < words.v.n; i++) {
		/* env, so that the first word is a program and nothing of the shell's. */
		buf_adds(&p->text, i ? " " : "env -- ");
		if (expand)
			add_expanded(&p->text, words.v.v[i]);
		else
			proc_quote(&p->text, words.v.v[i]);
		if (!words.v.v[i].n)
			buf_adds(&p->text, "''");
	}
	buf_addc(&p->text, '\n');
	return 0;
}

static int command_finish(const struct mod_call *c, const struct script_result *r,
			  struct changes *ch, struct err *e unused_arg)
{
	int status = r->status;

	/* env's word for "no such program"; Ansible reports errno. */
	if (status == 127 && c->module == &module_command)
		status = 2;
	result_int(ch, "rc", status);
	result_output(ch, "stdout", r->out);
	result_output(ch, "stderr", r->err);
	result_sets(ch, "msg", status ? "non-zero return code" : "");
	if (status)
		return change_fail(ch, "non-zero return code");
	return 0;
}

const struct module module_command = {
	.name = "command",
	.doc = "a command, without a shell",
	.args = command_args,
	.flags = MODULE_ACTION | MODULE_FREE_FORM,
	.probe = command_probe,
	.check = command_check,
	.patch = command_patch,
	.finish = command_finish,
};

const struct module module_shell = {
	.name = "shell",
	.doc = "a command line, given to /bin/sh",
	.args = shell_args,
	.flags = MODULE_ACTION | MODULE_FREE_FORM,
	.probe = command_probe,
	.check = command_check,
	.patch = command_patch,
	.finish = command_finish,
};
