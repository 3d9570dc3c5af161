/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command is split into words, never given to a shell: what a spec says cannot become more than
 * one program with arguments. One trailing newline is cut, since every tool that prints a password
 * ends it with one. Answers are not cached: a secret lives no longer than the expression that asked
 * for it.
 */
#include "inventory/secret.h"

#include "templates/templates.h"

#define SECRET_MAX	  (1 << 20)
#define SECRET_TIMEOUT_MS 30000

static const char *secret_dir;

static struct str without_newline(struct str s)
{
	if (s.n && s.p[s.n - 1] == '\n')
		s.n--;
	if (s.n && s.p[s.n - 1] == '\r')
		s.n--;
	return s;
}

/* Words between blanks; quotes '...' and "..." keep blanks. */
static int split_words(struct arena *a, struct str s, const char ***out, struct err *e)
{
	VEC(const char *) words = { 0 };

	while ((s = str_trim(s)).n) {
		scoped(buf_fini) struct buf b = { 0 };
		char quote = '\0';
		size_t i = 0;
		buf_init(&b, SECRET_MAX);
		for (; i < s.n && (quote || (s.p[i] != ' ' && s.p[i] != '\t')); i++) {
			if (quote ? s.p[i] == quote : s.p[i] == '\'' || s.p[i] == '"')
				quote = quote ? '\0' : s.p[i];
			else
				buf_addc(&b, s.p[i]);
		}
		if (quote)
			return err_set(e, ERR_SPEC, "secret: a quote in the command is not closed");
		VEC_ADD(a, &words) = buf_dup(&b, a);
		s = str_sub(s, i, SIZE_MAX);
	}
	if (!words.n)
		return err_set(e, ERR_SPEC, "secret: the command is empty");
	VEC_ADD(a, &words) = NULL;
	*out = words.v;
	return 0;
}

static int read_command(struct arena *a, struct str command, struct str *out, struct err *e)
{
	struct proc_opts o = { .timeout_ms = SECRET_TIMEOUT_MS, .max_output = SECRET_MAX };
	struct proc_result r;
	const char **argv = NULL;

	if (split_words(a, command, &argv, e) < 0)
		return -1;
	if (proc_check(a, argv, &o, &r, e) < 0)
		return err_wrap(e, "secret: %s", argv[0]);
	*out = without_newline(r.out);
	return 0;
}

static int read_file(struct arena *a, struct str path, const char *dir, struct str *out,
		     struct err *e)
{
	const char *p = fs_expand_home(a, str_cstr(a, path));

	if (dir)
		p = fs_join(a, dir, p);
	if (fs_read(a, p, SECRET_MAX, out, e) < 0)
		return err_wrap(e, "secret");
	*out = without_newline(*out);
	return 0;
}

static int read_env(struct arena *a, struct str name, struct str *out, struct err *e)
{
	const char *v = env_get(str_cstr(a, name));

	if (!v) {
		err_set(e, ERR_NOT_FOUND, "secret: the environment has no " STR_FMT, STR_ARG(name));
		return err_hint(e, "set it before running muster: export " STR_FMT "=...",
				STR_ARG(name));
	}
	*out = str_of(v);
	return 0;
}

int secret_read(struct arena *a, struct str source, const char *dir, const struct value **out,
		struct err *e)
{
	struct str text = STR_NONE;
	int rc;

	if (str_starts(source, "env:"))
		rc = read_env(a, str_sub(source, 4, SIZE_MAX), &text, e);
	else if (str_starts(source, "file:"))
		rc = read_file(a, str_sub(source, 5, SIZE_MAX), dir, &text, e);
	else if (str_starts(source, "cmd:"))
		rc = read_command(a, str_sub(source, 4, SIZE_MAX), &text, e);
	else
		return err_set(
			e, ERR_SPEC,
			"secret takes 'env:NAME', 'file:PATH' or 'cmd:PROGRAM', not \"" STR_FMT
			"\"",
			STR_ARG(str_sub(source, 0, str_find_char(source, ':'))));
	if (rc < 0)
		return -1;
	if (!text.n)
		return err_set(e, ERR_NOT_FOUND, "secret: " STR_FMT " gave an empty text",
			       STR_ARG(source));
	*out = value_secret(a, value_str(a, text));
	return 0;
}

static int call_secret(void *arg, struct arena *a, const struct value *args,
		       const struct value **out, struct err *e)
{
	(void)arg;
	if (args->list.n != 1 || args->list.v[0]->kind != V_STR)
		return err_set(e, ERR_SPEC, "secret takes one text, such as secret('env:NAME')");
	return secret_read(a, args->list.v[0]->s, secret_dir, out, e);
}

void secret_register(const char *dir)
{
	secret_dir = dir;
	template_add_function("secret", call_secret, NULL);
}
