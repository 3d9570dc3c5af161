/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row a lookup. Relative paths are looked for as Ansible does, in the folders of scope->world:
 * first in the one for the kind (files/, templates/), then in the folder itself. Commands run only
 * where the program allows it (world->pipe).
 */
#include "templates/lookup.h"

#include <ctype.h>
#include <fnmatch.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/proc.h"
#include "base/rand.h"
#include "templates/cache.h"
#include "templates/files.h"
#include "templates/filters.h"

#define PIPE_OUTPUT  ((size_t)4 << 20)
#define PIPE_TIME_MS 60000
#define MAX_NUMBERS  100000

struct lookup {
	struct eval *ev;
	struct arena *a;
	const struct value *terms;  /* a list */
	const struct value *kwargs; /* a map */
	struct value *out;	    /* a list: what was found */
	struct err *e;
};

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

static int look_file(struct lookup *l)
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

static int look_template(struct lookup *l)
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

static int look_fileglob(struct lookup *l)
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
static int look_first_found(struct lookup *l)
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
static int look_ini(struct lookup *l)
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

static int look_env(struct lookup *l)
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

static int look_pipe(struct lookup *l)
{
	struct str s;

	for (size_t i = 0; i < l->terms->list.n; i++)
		if (run_pipe(l, l->terms->list.v[i], &s) < 0 || add_text(l, s) < 0)
			return -1;
	return 0;
}

static int look_lines(struct lookup *l)
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

static int look_password(struct lookup *l)
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

/* ---- names ---------------------------------------------------------------------------------- */

static int look_vars(struct lookup *l)
{
	const struct value *fallback = value_get(l->kwargs, "default");

	for (size_t i = 0; i < l->terms->list.n; i++) {
		struct str name = op_text(l->a, l->terms->list.v[i]);
		const struct value *v = eval_name(l->ev, name);
		if (!v)
			return -1;
		if (v->kind == V_UNDEFINED && !fallback)
			return err_set(l->e, ERR_SPEC, "no variable \"" STR_FMT "\"",
				       STR_ARG(name));
		value_add(l->a, l->out, v->kind == V_UNDEFINED ? fallback : v);
	}
	return 0;
}

/* ---- lists ---------------------------------------------------------------------------------- */

static void add_flat(struct lookup *l, const struct value *v, int depth)
{
	if (v->kind != V_LIST || depth == 0) {
		value_add(l->a, l->out, v);
		return;
	}
	for (size_t i = 0; i < v->list.n; i++)
		add_flat(l, v->list.v[i], depth - 1);
}

static int look_items(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++)
		add_flat(l, l->terms->list.v[i], 1);
	return 0;
}

static int look_list(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++)
		value_add(l->a, l->out, l->terms->list.v[i]);
	return 0;
}

static int look_flattened(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++)
		add_flat(l, l->terms->list.v[i], OPS_MAX_NESTING);
	return 0;
}

static int look_indexed_items(struct lookup *l)
{
	look_items(l);
	for (size_t i = 0; i < l->out->list.n; i++) {
		struct value *pair = value_list(l->a);
		pair->tuple = true;
		value_add(l->a, pair, value_int(l->a, (int64_t)i));
		value_add(l->a, pair, l->out->list.v[i]);
		l->out->list.v[i] = pair;
	}
	return 0;
}

static int look_dict(struct lookup *l)
{
	for (size_t i = 0; i < l->terms->list.n; i++) {
		const struct value *m = l->terms->list.v[i];
		if (m->kind != V_MAP)
			return err_set(l->e, ERR_SPEC, "dict needs maps, not %s", op_type_name(m));
		for (size_t k = 0; k < m->map.n; k++) {
			struct value *item = value_map(l->a);
			value_set(item, "key", value_of_key(l->a, m->map.e[k].key));
			value_set(item, "value", m->map.e[k].val);
			value_add(l->a, l->out, item);
		}
	}
	return 0;
}

static int look_random_choice(struct lookup *l)
{
	if (l->terms->list.n)
		value_add(l->a, l->out, l->terms->list.v[rand_below(l->terms->list.n)]);
	return 0;
}

/* By a filter over the first term, with the rest as its arguments. */
static int by_filter(struct lookup *l, const char *name)
{
	const struct callable *f = filter_find(str_of(name));
	struct value *rest = value_list(l->a);
	struct call c = { .a = l->a, .args = rest, .kwargs = value_map(l->a), .e = l->e };
	const struct value *v;

	if (!l->terms->list.n)
		return err_set(l->e, ERR_SPEC, "the lookup needs a list");
	c.self = l->terms->list.v[0];
	for (size_t i = 1; i < l->terms->list.n; i++)
		value_add(l->a, rest, l->terms->list.v[i]);
	if (call_bind(f, &c) < 0 || !(v = f->fn(&c)))
		return -1;
	for (size_t i = 0; i < v->list.n; i++) {
		struct value *row = (struct value *)(uintptr_t)v->list.v[i];
		row->tuple = row->kind == V_LIST ? false : row->tuple;
		value_add(l->a, l->out, row);
	}
	return 0;
}

static int look_nested(struct lookup *l)
{
	return by_filter(l, "product");
}

static int look_together(struct lookup *l)
{
	return by_filter(l, "zip_longest");
}

static int look_subelements(struct lookup *l)
{
	const struct value *opts = l->terms->list.n > 2 ? l->terms->list.v[2] : NULL, *skip;
	struct value *terms = value_list(l->a);

	for (size_t i = 0; i < l->terms->list.n && i < 2; i++)
		value_add(l->a, terms, l->terms->list.v[i]);
	skip = opts && opts->kind == V_MAP ? value_get(opts, "skip_missing") : NULL;
	skip = skip ? skip : value_get(l->kwargs, "skip_missing");
	value_add(l->a, terms, value_bool(l->a, skip && value_is_truthy(skip)));
	l->terms = terms;
	return by_filter(l, "subelements");
}

/* ---- sequence ------------------------------------------------------------------------------- */

struct sequence {
	int64_t start, end, stride, count;
	bool has_end, has_count, hex;
	struct str format;
};

static int set_part(struct lookup *l, struct sequence *s, struct str name, struct str text)
{
	int64_t *to = str_eqc(name, "start")	? &s->start
		      : str_eqc(name, "end")	? &s->end
		      : str_eqc(name, "count")	? &s->count
		      : str_eqc(name, "stride") ? &s->stride
						: NULL;
	uint64_t u;

	if (str_eqc(name, "format")) {
		s->format = text;
		return 0;
	}
	if (!to || (!str_to_int(text, to) &&
		    !(str_starts(text, "0x") && str_to_uint(str_sub(text, 2, SIZE_MAX), 16, &u))))
		return err_set(l->e, ERR_SPEC,
			       "sequence: \"" STR_FMT "=" STR_FMT "\" is not understood",
			       STR_ARG(name), STR_ARG(text));
	if (str_starts(text, "0x") && str_to_uint(str_sub(text, 2, SIZE_MAX), 16, &u))
		*to = (int64_t)u;
	s->has_end = s->has_end || to == &s->end;
	s->has_count = s->has_count || to == &s->count;
	return 0;
}

/* "5", "2-10/2", "4:host%02d" */
static int short_form(struct lookup *l, struct sequence *s, struct str text)
{
	size_t colon = str_find_char(text, ':'), slash, dash;

	if (colon != SIZE_MAX)
		s->format = str_sub(text, colon + 1, SIZE_MAX);
	text = str_sub(text, 0, colon);
	if ((slash = str_find_char(text, '/')) != SIZE_MAX) {
		if (set_part(l, s, STR("stride"), str_sub(text, slash + 1, SIZE_MAX)) < 0)
			return -1;
		text = str_sub(text, 0, slash);
	}
	if ((dash = str_find_char(text, '-')) != SIZE_MAX && dash > 0) {
		if (set_part(l, s, STR("start"), str_sub(text, 0, dash)) < 0)
			return -1;
		text = str_sub(text, dash + 1, SIZE_MAX);
	}
	return set_part(l, s, STR("end"), text);
}

static int parse_sequence(struct lookup *l, struct sequence *s, struct str text)
{
	struct str word;

	if (text.n && str_find_char(text, '=') == SIZE_MAX)
		return short_form(l, s, str_trim(text));
	while (text.n && str_next(&text, ' ', &word)) {
		size_t eq = str_find_char(word, '=');
		if (word.n &&
		    set_part(l, s, str_sub(word, 0, eq),
			     eq == SIZE_MAX ? STR("") : str_sub(word, eq + 1, SIZE_MAX)) < 0)
			return -1;
	}
	for (size_t i = 0; i < l->kwargs->map.n; i++)
		if (set_part(l, s, l->kwargs->map.e[i].key,
			     op_text(l->a, l->kwargs->map.e[i].val)) < 0)
			return -1;
	return 0;
}

static int add_sequence(struct lookup *l, struct sequence *s)
{
	if (s->has_count && !s->has_end)
		s->end = s->start + (s->count - 1) * s->stride;
	if (s->has_count && s->count == 0)
		return 0;
	if (!s->stride || (s->stride > 0 ? s->end < s->start : s->end > s->start))
		return err_set(l->e, ERR_SPEC, "sequence: the stride leads away from the end");
	for (int64_t i = s->start; s->stride > 0 ? i <= s->end : i >= s->end; i += s->stride) {
		struct value n = { .kind = V_INT, .i = i };
		const struct value *v = op_format(l->a, s->format, &n, l->e);
		if (!v)
			return -1;
		if (l->out->list.n >= MAX_NUMBERS)
			return err_set(l->e, ERR_SPEC, "sequence gives more than %d numbers",
				       MAX_NUMBERS);
		value_add(l->a, l->out, v);
	}
	return 0;
}

static int look_sequence(struct lookup *l)
{
	size_t n = l->terms->list.n;

	for (size_t i = 0; i < (n ? n : 1); i++) {
		struct sequence s = { .start = 1, .stride = 1, .format = STR("%d") };
		if (parse_sequence(l, &s, n ? op_text(l->a, l->terms->list.v[i]) : STR("")) < 0 ||
		    add_sequence(l, &s) < 0)
			return -1;
	}
	return 0;
}

/* ---- all ------------------------------------------------------------------------------------ */

enum lookup_flags { LOOKUP_WORLD = 1 /* reaches this machine */ };

static const struct row {
	const char *name;
	int (*fn)(struct lookup *l); /* NULL: refused */
	unsigned flags;
	const char *why;
} rows[] = {
	{ "env", look_env, LOOKUP_WORLD, NULL },
	{ "file", look_file, LOOKUP_WORLD, NULL },
	{ "template", look_template, LOOKUP_WORLD, NULL },
	{ "fileglob", look_fileglob, LOOKUP_WORLD, NULL },
	{ "first_found", look_first_found, LOOKUP_WORLD, NULL },
	{ "ini", look_ini, LOOKUP_WORLD, NULL },
	{ "pipe", look_pipe, LOOKUP_WORLD, NULL },
	{ "lines", look_lines, LOOKUP_WORLD, NULL },
	{ "password", look_password, LOOKUP_WORLD, NULL },
	{ "vars", look_vars, 0, NULL },
	{ "items", look_items, 0, NULL },
	{ "list", look_list, 0, NULL },
	{ "flattened", look_flattened, 0, NULL },
	{ "indexed_items", look_indexed_items, 0, NULL },
	{ "dict", look_dict, 0, NULL },
	{ "random_choice", look_random_choice, 0, NULL },
	{ "nested", look_nested, 0, NULL },
	{ "cartesian", look_nested, 0, NULL },
	{ "together", look_together, 0, NULL },
	{ "subelements", look_subelements, 0, NULL },
	{ "sequence", look_sequence, 0, NULL },
	{ "url", NULL, 0, "expressions reach no network: fetch it with the get_url module" },
	{ "config", NULL, 0, "there is no Ansible configuration: write the value" },
	{ "inventory_hostnames", NULL, 0, "use groups['name']" },
	{ "varnames", NULL, 0, "name the variables" },
	{ "unvault", NULL, 0, "use secret('...')" },
};

const char *lookup_name(size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(rows); k++)
		if (rows[k].fn && i-- == 0)
			return rows[k].name;
	return NULL;
}

static const struct row *find_row(struct eval *ev, struct str name)
{
	const char *names[ARRAY_LEN(rows)], *best;

	for (size_t i = name.n; i > 0; i--) {
		if (name.p[i - 1] != '.')
			continue;
		name = str_sub(name, i, SIZE_MAX); /* ansible.builtin.file */
		break;
	}
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (str_eqc(name, rows[i].name) && rows[i].fn)
			return &rows[i];
		if (str_eqc(name, rows[i].name)) {
			err_set(ev->e, ERR_SPEC, "lookup('%s') is not available", rows[i].name);
			err_hint(ev->e, "%s", rows[i].why);
			return NULL;
		}
		names[i] = rows[i].name;
	}
	err_set(ev->e, ERR_SPEC, "unknown lookup \"" STR_FMT "\"", STR_ARG(name));
	if ((best = str_suggest(name, names, ARRAY_LEN(rows))))
		err_hint(ev->e, "did you mean \"%s\"?", best);
	return NULL;
}

/* wantlist and errors are every lookup's; the rest is its own. */
static struct value *own_kwargs(struct eval *ev, const struct value *kwargs)
{
	struct value *own = value_map(ev->a);

	for (size_t i = 0; i < kwargs->map.n; i++)
		if (!str_eqc(kwargs->map.e[i].key, "wantlist") &&
		    !str_eqc(kwargs->map.e[i].key, "errors"))
			value_sets(own, kwargs->map.e[i].key, kwargs->map.e[i].val);
	return own;
}

/* One value, or texts joined by commas; as Ansible's lookup gives them. */
static const struct value *as_one(struct lookup *l)
{
	scoped(buf_wipe) struct buf b = { 0 };
	const struct value *out = l->out;
	bool secret = false;

	if (out->list.n == 1)
		return out->list.v[0];
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < out->list.n; i++) {
		const struct value *v = out->list.v[i];
		if (v->kind != V_STR)
			return out;
		buf_addf(&b, "%s", i ? "," : "");
		buf_addstr(&b, v->s);
		secret = secret || v->secret;
	}
	return op_marked(l->a, value_str(l->a, buf_str(&b)), secret);
}

const struct value *lookup_run(struct eval *ev, struct call *c, bool list)
{
	struct str name = c->args->list.n ? op_text(ev->a, c->args->list.v[0]) : STR(""),
		   errors = value_get_str(c->kwargs, "errors", "strict");
	struct lookup l = { .ev = ev, .a = ev->a, .out = value_list(ev->a), .e = ev->e };
	const struct row *row = find_row(ev, name);
	struct value *terms = value_list(ev->a);

	if (!row)
		return NULL;
	if (row->flags & LOOKUP_WORLD && !ev->bounds->world) {
		err_set(ev->e, ERR_SPEC,
			"lookup('%s') is not available: expressions reach no file, environment or command here",
			row->name);
		err_hint(ev->e,
			 strcmp(row->name, "env") == 0
				 ? "use secret('env:NAME'), or give the value with -e NAME=VALUE"
				 : "use secret('file:PATH'), or give the value as a variable");
		return NULL;
	}
	for (size_t i = 1; i < c->args->list.n; i++)
		value_add(ev->a, terms, c->args->list.v[i]);
	l.terms = terms;
	l.kwargs = own_kwargs(ev, c->kwargs);
	if (value_has_unknown(terms) || value_has_unknown(l.kwargs))
		return value_unknown(ev->a);
	if (row->fn(&l) < 0) {
		if (str_eqc(errors, "strict"))
			return NULL;
		*ev->e = (struct err){ 0 };
		return list ? value_list(ev->a) : value_null(ev->a);
	}
	return list || value_get_bool(c->kwargs, "wantlist", false) ? l.out : as_one(&l);
}
