/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookups that reach this machine. Relative paths are looked for as Ansible does, in the folders of
 * scope->world: first in the one for the kind (files/, templates/), then in the folder itself.
 * Commands run only where the program allows it (world->pipe).
 */
#include <ctype.h>
#include <fnmatch.h>

#include "base/env.h"
#include "base/proc.h"
#include "base/rand.h"
#include "templates/files.h"
#include "templates/lookup.h"

#define PIPE_OUTPUT  ((size_t)4 << 20)
#define PIPE_TIME_MS 60000

static const char *c_text(struct lookup *l, const struct value *v)
{
	struct str s = op_text(l->a, v);

	return arena_dup(l->a, s.p, s.n);
}

static bool flag(const struct lookup *l, const char *name, bool fallback)
{
	const struct value *v = value_get(l->kwargs, name);

	return v ? value_is_truthy(v) : fallback;
}

/* ---- files ---------------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
	return fs_exists(path) && !fs_is_dir(path);
}

static const char *find_file(struct lookup *l, const char *sub, const char *name)
{
	const struct template_world *world = l->ev->bounds->world;
	const char *path;

	if (name[0] == '/')
		return is_file(name) ? name : NULL;
	for (size_t i = 0; world->dirs && world->dirs[i]; i++) {
		path = fs_join(l->a, fs_join(l->a, world->dirs[i], sub), name);
		if (is_file(path))
			return path;
		path = fs_join(l->a, world->dirs[i], name);
		if (is_file(path))
			return path;
	}
	return NULL;
}

static int read_term(struct lookup *l, const char *sub, const struct value *term, struct str *text,
		     const char **path)
{
	*path = find_file(l, sub, c_text(l, term));
	if (*path)
		return fs_read(l->a, *path, FILES_MAX, text, l->e);
	err_set(l->e, ERR_SPEC, "there is no file \"" STR_FMT "\"", STR_ARG(op_text(l->a, term)));
	return err_hint(
		l->e,
		"it is looked for in %s/ beside the playbook and its roles, or give its whole path",
		sub);
}

static int add_text(struct lookup *l, struct str s)
{
	if (!str_is_utf8(s))
		return err_set(l->e, ERR_SPEC, "the file is not UTF-8 text");
	value_add(l->a, l->out, value_str(l->a, s));
	return 0;
}

int look_file(struct lookup *l)
{
	struct str s;
	const char *path;

	for (size_t i = 0; i < l->terms->list.n; i++) {
		if (read_term(l, "files", l->terms->list.v[i], &s, &path) < 0)
			return -1;
		while (flag(l, "rstrip", true) && s.n && isspace((unsigned char)s.p[s.n - 1]))
			s.n--;
		while (flag(l, "lstrip", false) && s.n && isspace((unsigned char)s.p[0]))
			s = str_sub(s, 1, SIZE_MAX);
		if (add_text(l, s) < 0)
			return -1;
	}
	return 0;
}

int look_template(struct lookup *l)
{
	const struct value *more = value_get(l->kwargs, "template_vars"), *v;
	struct scope with = { .outer = l->ev->scope, .vars = more };
	struct str s;
	const char *path;

	for (size_t i = 0; i < l->terms->list.n; i++) {
		if (read_term(l, "templates", l->terms->list.v[i], &s, &path) < 0)
			return -1;
		struct value text = { .kind = V_STR, .s = s, .pos = { path, 1, 1 } };
		v = l->ev->bounds->file_fn(l->ev, &text, more ? &with : l->ev->scope);
		if (!v)
			return -1;
		value_add(l->a, l->out, v);
	}
	return 0;
}

int look_fileglob(struct lookup *l)
{
	const struct template_world *world = l->ev->bounds->world;

	for (size_t i = 0; i < l->terms->list.n; i++) {
		const char *term = c_text(l, l->terms->list.v[i]), *slash = strrchr(term, '/');
		const char *pattern = slash ? slash + 1 : term;
		const char *below = slash ? arena_dup(l->a, term, (size_t)(slash - term)) : "";
		size_t before = l->out->list.n;
		for (size_t d = 0; l->out->list.n == before && world->dirs && world->dirs[d]; d++) {
			struct fs_names names = { 0 };
			struct err ignored = { 0 };
			const char *dir = fs_join(l->a, fs_join(l->a, world->dirs[d], "files"),
						  below);
			if (!fs_is_dir(dir))
				dir = fs_join(l->a, world->dirs[d], below);
			if (fs_list(l->a, dir, &names, &ignored) < 0)
				continue;
			for (size_t k = 0; k < names.names.n; k++) {
				const char *path = fs_join(l->a, dir, names.names.v[k]);
				if (fnmatch(pattern, names.names.v[k], FNM_PERIOD) == 0 &&
				    is_file(path))
					value_add(l->a, l->out, value_cstr(l->a, path));
			}
		}
	}
	return 0;
}

static void add_names(struct lookup *l, const struct value *v, struct value *out)
{
	if (v && v->kind == V_LIST)
		for (size_t i = 0; i < v->list.n; i++)
			value_add(l->a, out, v->list.v[i]);
	else if (v)
		value_add(l->a, out, v);
}

/* Terms: names, lists of names, or maps with files, paths, skip. */
int look_first_found(struct lookup *l)
{
	struct value *files = value_list(l->a), *paths = value_list(l->a);
	bool skip = flag(l, "skip", false);

	add_names(l, value_get(l->kwargs, "files"), files);
	add_names(l, value_get(l->kwargs, "paths"), paths);
	for (size_t i = 0; i < l->terms->list.n; i++) {
		const struct value *t = l->terms->list.v[i], *s;
		if (t->kind != V_MAP) {
			add_names(l, t, files);
			continue;
		}
		add_names(l, value_get(t, "files"), files);
		add_names(l, value_get(t, "paths"), paths);
		s = value_get(t, "skip");
		skip = skip || (s && value_is_truthy(s));
	}
	for (size_t p = 0; p < (paths->list.n ? paths->list.n : 1); p++) {
		for (size_t i = 0; i < files->list.n; i++) {
			const char *name = c_text(l, files->list.v[i]), *found = NULL;
			if (paths->list.n)
				name = fs_join(l->a, c_text(l, paths->list.v[p]), name);
			found = find_file(l, "files", name);
			found = found ? found : find_file(l, "templates", name);
			found = found ? found : find_file(l, "vars", name);
			if (!found)
				continue;
			value_add(l->a, l->out, value_cstr(l->a, found));
			return 0;
		}
	}
	if (skip)
		return 0;
	err_set(l->e, ERR_SPEC, "first_found: none of the %zu files is there", files->list.n);
	return err_hint(l->e, "give one that is always there, or skip=true");
}

/* "key section=s file=f", or section=, file= beside the key */
int look_ini(struct lookup *l)
{
	const struct value *file = value_get(l->kwargs, "file"),
			   *section = value_get(l->kwargs, "section"),
			   *fallback = value_get(l->kwargs, "default");
	struct str text, line, want = section ? op_text(l->a, section) : STR("global");
	const char *path;

	for (size_t i = 0; i < l->terms->list.n; i++) {
		struct str key = str_trim(op_text(l->a, l->terms->list.v[i])), rest,
			   value = STR_NONE;
		bool inside = false;
		struct value name = { .kind = V_STR,
				      .s = file ? op_text(l->a, file) : STR("ansible.ini") };
		if (read_term(l, "files", &name, &text, &path) < 0)
			return -1;
		rest = text;
		while (!value.p && str_next(&rest, '\n', &line)) {
			line = str_trim(line);
			size_t eq = str_find_char(line, '=');
			if (str_starts(line, "["))
				inside = str_eq(str_sub(line, 1, str_find_char(line, ']')), want);
			else if (inside && eq != SIZE_MAX &&
				 str_eq_nocase(str_trim(str_sub(line, 0, eq)), key))
				value = str_trim(str_sub(line, eq + 1, SIZE_MAX));
		}
		value_add(l->a, l->out,
			  value.p    ? value_str(l->a, value)
			  : fallback ? fallback
				     : value_cstr(l->a, ""));
	}
	return 0;
}

/* ---- the environment, commands -------------------------------------------------------------- */

int look_env(struct lookup *l)
{
	const struct value *fallback = value_get(l->kwargs, "default");

	for (size_t i = 0; i < l->terms->list.n; i++) {
		const char *v = env_get(c_text(l, l->terms->list.v[i]));
		if (v)
			value_add(l->a, l->out, value_cstr(l->a, v));
		else
			value_add(l->a, l->out, fallback ? fallback : value_cstr(l->a, ""));
	}
	return 0;
}

static int run_pipe(struct lookup *l, const struct value *term, struct str *out)
{
	const char *argv[] = { "/bin/sh", "-c", c_text(l, term), NULL };
	const struct template_world *world = l->ev->bounds->world;
	struct proc_opts o = { .max_output = PIPE_OUTPUT, .timeout_ms = PIPE_TIME_MS };
	struct proc_result r;

	if (!world->pipe) {
		err_set(l->e, ERR_SPEC, "commands may not be run here");
		return err_hint(l->e, "allow them with --allow-pipe");
	}
	if (world->dirs && world->dirs[0])
		o.cwd = world->dirs[0];
	if (proc_check(l->a, argv, &o, &r, l->e) < 0)
		return -1;
	*out = r.out;
	while (out->n && out->p[out->n - 1] == '\n')
		out->n--;
	return 0;
}

int look_pipe(struct lookup *l)
{
	struct str s;

	for (size_t i = 0; i < l->terms->list.n; i++)
		if (run_pipe(l, l->terms->list.v[i], &s) < 0 || add_text(l, s) < 0)
			return -1;
	return 0;
}

int look_lines(struct lookup *l)
{
	struct str s, line;

	for (size_t i = 0; i < l->terms->list.n; i++) {
		if (run_pipe(l, l->terms->list.v[i], &s) < 0)
			return -1;
		while (s.n && str_next(&s, '\n', &line))
			if (add_text(l, line) < 0)
				return -1;
	}
	return 0;
}

/* ---- passwords ------------------------------------------------------------------------------ */

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

/* "ascii_letters,digits,.-" to the letters themselves; a double comma is a comma */
static const char *letters_of(struct lookup *l, struct str names)
{
	static const struct {
		const char *name, *letters;
	} sets[] = { { "ascii_letters", LOWER UPPER },
		     { "ascii_lowercase", LOWER },
		     { "ascii_uppercase", UPPER },
		     { "digits", DIGITS },
		     { "hexdigits", DIGITS "abcdefABCDEF" },
		     { "punctuation", "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" } };
	scoped(buf_fini) struct buf b = { 0 };
	struct str name;

	buf_init(&b, 4096);
	while (names.n && str_next(&names, ',', &name)) {
		const char *letters = NULL;
		for (size_t i = 0; i < ARRAY_LEN(sets); i++)
			letters = str_eqc(name, sets[i].name) ? sets[i].letters : letters;
		if (letters)
			buf_adds(&b, letters);
		else if (name.n)
			buf_addstr(&b, name);
		else
			buf_addc(&b, ',');
	}
	return b.overflow || !b.n ? NULL : buf_dup(&b, l->a);
}

struct password {
	const char *path;
	struct str chars;
	int64_t length;
};

/* "path length=12 chars=digits", and the same as keyword arguments */
static int password_term(struct lookup *l, const struct value *term, struct password *p)
{
	const struct value *length = value_get(l->kwargs, "length"),
			   *chars = value_get(l->kwargs, "chars");
	struct str rest = op_text(l->a, term), word, path = STR_NONE;

	*p = (struct password){ .chars = STR("ascii_letters,digits,.,,:-_"), .length = 20 };
	while (rest.n && str_next(&rest, ' ', &word)) {
		if (str_starts(word, "length=") &&
		    str_to_int(str_sub(word, 7, SIZE_MAX), &p->length))
			continue;
		if (str_starts(word, "chars="))
			p->chars = str_sub(word, 6, SIZE_MAX);
		else if (!path.p && word.n)
			path = word;
	}
	if (length && length->kind == V_INT)
		p->length = length->i;
	if (chars && chars->kind == V_STR) {
		p->chars = chars->s;
	} else if (chars && chars->kind == V_LIST) {
		struct buf b = { 0 };
		buf_init(&b, 4096);
		for (size_t i = 0; i < chars->list.n; i++)
			buf_addf(&b, "%s" STR_FMT, i ? "," : "",
				 STR_ARG(op_text(l->a, chars->list.v[i])));
		p->chars = (struct str){ buf_dup(&b, l->a), b.n };
		buf_fini(&b);
	}
	if (p->length < 1 || p->length > 4096)
		return err_set(l->e, ERR_SPEC, "a password has 1 to 4096 letters");
	if (!path.p)
		return err_set(l->e, ERR_SPEC,
			       "password needs the file that keeps it, or /dev/null");
	p->path = arena_dup(l->a, path.p, path.n);
	return 0;
}

static int make_password(struct lookup *l, const struct password *p, struct str *out)
{
	const char *letters = letters_of(l, p->chars);
	char *s = arena_alloc(l->a, (size_t)p->length + 1);
	size_t n = letters ? strlen(letters) : 0;
	unsigned char r;

	if (!n || n > 256)
		return err_set(l->e, ERR_SPEC, "password: no letters to choose from");
	for (int64_t i = 0; i < p->length;) {
		rand_bytes(&r, 1);
		if (r < 256 / n * n) /* every letter is as likely */
			s[i++] = letters[r % n];
	}
	s[p->length] = '\0';
	*out = (struct str){ s, (size_t)p->length };
	return 0;
}

int look_password(struct lookup *l)
{
	const struct template_world *world = l->ev->bounds->world;

	for (size_t i = 0; i < l->terms->list.n; i++) {
		struct password p;
		struct str s;
		if (password_term(l, l->terms->list.v[i], &p) < 0)
			return -1;
		bool keep = strcmp(p.path, "/dev/null") != 0;
		const char *path = p.path[0] == '/' || !world->dirs || !world->dirs[0]
					   ? p.path
					   : fs_join(l->a, world->dirs[0], p.path);
		if (keep && fs_exists(path)) {
			if (fs_read(l->a, path, FILES_MAX, &s, l->e) < 0)
				return -1;
			s = str_sub(s, 0, str_find_char(s, '\n'));
		} else if (make_password(l, &p, &s) < 0) {
			return -1;
		} else if (keep) {
			struct str line = str_of(arena_printf(l->a, STR_FMT "\n", STR_ARG(s)));
			if (fs_mkdirs(fs_dirname(l->a, path), 0700, l->e) < 0 ||
			    fs_write_atomic(path, line, 0600, l->e) < 0)
				return -1;
		}
		value_add(l->a, l->out, value_secret(l->a, value_str(l->a, s)));
	}
	return 0;
}
