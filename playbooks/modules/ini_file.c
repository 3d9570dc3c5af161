/* SPDX-License-Identifier: Apache-2.0 */
/* ini_file: an option, or a section, of an INI file. Decided here from the fetched file. */
#include "playbooks/content.h"
#include "playbooks/list.h"

struct ini_want {
	struct content content;
	bool make_dir;
};

struct lines {
	VEC(struct str) v; /* without newlines */
};

struct edit {
	const struct mod_call *c;
	struct lines l;
	const char *section, *option; /* NULL: none */
	VEC(struct str) values;	      /* still to be put in */
	size_t from, to;	      /* lines of the section, its head left out */
	bool has_section;
	const char *msg;
};

static const struct module_arg ini_file_args[] = {
	{ "path", ARG_PATH, ARG_REQUIRED, NULL, NULL, "dest", "the file" },
	{ "section", ARG_STR, 0, NULL, NULL, NULL, "the section; none: before the first one" },
	{ "option", ARG_STR, 0, NULL, NULL, NULL, "the option; none: the whole section" },
	{ "value", ARG_STR, 0, NULL, NULL, NULL, "its value" },
	{ "values", ARG_LIST, 0, NULL, NULL, NULL, "its values, a line each" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "should it be there" },
	{ "exclusive", ARG_BOOL, 0, "yes", NULL, NULL, "other values of the option go" },
	{ "no_extra_spaces", ARG_BOOL, 0, "no", NULL, NULL, "no blanks around =" },
	{ "ignore_spaces", ARG_BOOL, 0, "no", NULL, NULL, "blanks around = are no difference" },
	{ "allow_no_value", ARG_BOOL, 0, "no", NULL, NULL, "an option without = and value" },
	{ "modify_inactive_option", ARG_BOOL, 0, "yes", NULL, NULL,
	  "a commented line of the option is replaced" },
	{ "section_has_values", ARG_LIST, ARG_NOT_YET, NULL, NULL, NULL,
	  "one of several sections of a name" },
	{ "create", ARG_BOOL, 0, "yes", NULL, NULL, "make the file if it is missing" },
	{ "follow", ARG_BOOL, ARG_IGNORED, "no", NULL, NULL, "links are followed" },
	ARG_CONTENT_ROWS,
	ARG_FILE_ATTRS,
	ARG_END,
};

static bool is_absent(const struct mod_call *c)
{
	return str_eqc(arg_str(c->args, "state"), "absent");
}

static int ini_file_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *problem = NULL;

	if (arg_has(c->args, "value") && arg_has(c->args, "values"))
		problem = "value and values are mutually exclusive";
	else if (!is_absent(c) && arg_has(c->args, "option") && !arg_has(c->args, "value") &&
		 !arg_has(c->args, "values") && !arg_bool(c->args, "allow_no_value"))
		problem = "option needs a value, or allow_no_value";
	else if (!arg_has(c->args, "section") && !arg_has(c->args, "option"))
		problem = "section or option is needed";
	if (problem)
		return err_at(e, (err_set(e, ERR_SPEC, "%s", problem), c->pos));
	probe_path(p, arg_cstr(c->args, "path"), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

static bool is_head(struct str line, struct str *name)
{
	line = str_trim(line);
	if (line.n < 2 || line.p[0] != '[' || line.p[line.n - 1] != ']')
		return false;
	*name = str_sub(line, 1, line.n - 1);
	return true;
}

static void find_section(struct edit *ed)
{
	struct str name;
	size_t i;

	ed->has_section = !ed->section;
	for (i = 0; i < ed->l.v.n; i++) {
		if (!is_head(ed->l.v.v[i], &name))
			continue;
		if (ed->has_section)
			break;
		if (str_eqc(name, ed->section)) {
			ed->has_section = true;
			ed->from = i + 1;
		}
	}
	ed->to = i;
}

/* "# option = value": says whether the line is the option's, what its value is and whether it is
 * commented out. */
static bool is_option(const struct edit *ed, struct str line, struct str *value, bool *inactive)
{
	struct str s = str_trim(line);

	*inactive = s.n && (s.p[0] == '#' || s.p[0] == ';');
	if (*inactive)
		s = str_trim(str_sub(s, 1, SIZE_MAX));
	if (!str_starts(s, ed->option))
		return false;
	s = str_sub(s, strlen(ed->option), SIZE_MAX);
	if (s.n && s.p[0] != '=' && s.p[0] != ' ' && s.p[0] != '\t')
		return false;
	s = str_trim(s);
	/* "# option is good" is a comment. */
	if (s.n && s.p[0] != '=')
		return false;
	*value = s.n ? str_trim(str_sub(s, 1, SIZE_MAX)) : STR_NONE;
	return true;
}

static struct str option_line(const struct edit *ed, struct str value)
{
	const char *eq = arg_bool(ed->c->args, "no_extra_spaces") ? "=" : " = ";

	if (!value.p && arg_bool(ed->c->args, "allow_no_value"))
		return str_of(ed->option);
	return str_of(arena_printf(ed->c->a, "%s%s" STR_FMT, ed->option, eq, STR_ARG(value)));
}

static void remove_lines(struct edit *ed, size_t at, size_t n)
{
	memmove(ed->l.v.v + at, ed->l.v.v + at + n, (ed->l.v.n - at - n) * sizeof(*ed->l.v.v));
	ed->l.v.n -= n;
	ed->to -= n;
}

static void insert_line(struct edit *ed, size_t at, struct str line)
{
	VEC_ADD(ed->c->a, &ed->l.v) = STR_NONE;
	memmove(ed->l.v.v + at + 1, ed->l.v.v + at, (ed->l.v.n - 1 - at) * sizeof(*ed->l.v.v));
	ed->l.v.v[at] = line;
	ed->to++;
}

static size_t wanted_at(const struct edit *ed, struct str value)
{
	for (size_t i = 0; i < ed->values.n; i++)
		if (str_eq(ed->values.v[i], value))
			return i;
	return SIZE_MAX;
}

static void drop_wanted(struct edit *ed, size_t i)
{
	memmove(ed->values.v + i, ed->values.v + i + 1,
		(ed->values.n - i - 1) * sizeof(*ed->values.v));
	ed->values.n--;
}

static void set_line(struct edit *ed, size_t at, struct str value)
{
	struct str line = option_line(ed, value), old = ed->l.v.v[at], had;
	bool inactive;

	if (str_eq(old, line))
		return;
	if (arg_bool(ed->c->args, "ignore_spaces") && is_option(ed, old, &had, &inactive) &&
	    !inactive && str_eq(had, value))
		return;
	ed->l.v.v[at] = line;
	ed->msg = "option changed";
}

/* Lines that have a wanted value stay where they are. */
static void keep_right_ones(struct edit *ed)
{
	struct str value;
	bool inactive;
	size_t k;

	for (size_t i = ed->from; i < ed->to; i++) {
		if (!is_option(ed, ed->l.v.v[i], &value, &inactive) || inactive)
			continue;
		k = wanted_at(ed, value);
		if (k == SIZE_MAX)
			continue;
		set_line(ed, i, ed->values.v[k]);
		drop_wanted(ed, k);
		/* Marked as done, so that exclusive does not take it. */
		ed->l.v.v[i] = str_of(arena_printf(ed->c->a, "\1" STR_FMT, STR_ARG(ed->l.v.v[i])));
	}
}

static void unmark(struct edit *ed)
{
	for (size_t i = 0; i < ed->l.v.n; i++)
		if (ed->l.v.v[i].n && ed->l.v.v[i].p[0] == '\1')
			ed->l.v.v[i] = str_sub(ed->l.v.v[i], 1, SIZE_MAX);
}

/* Other lines of the option take wanted values, or go. pass 0: active ones, 1: commented ones. */
static void reuse_lines(struct edit *ed, bool commented)
{
	bool exclusive = arg_bool(ed->c->args, "exclusive"), inactive;
	struct str value;

	for (size_t i = ed->from; i < ed->to; i++) {
		if (!is_option(ed, ed->l.v.v[i], &value, &inactive) || inactive != commented)
			continue;
		if (ed->values.n && (commented || exclusive)) {
			set_line(ed, i, ed->values.v[0]);
			ed->l.v.v[i] =
				str_of(arena_printf(ed->c->a, "\1" STR_FMT, STR_ARG(ed->l.v.v[i])));
			drop_wanted(ed, 0);
		} else if (!commented && exclusive) {
			remove_lines(ed, i--, 1);
			ed->msg = "option changed";
		}
	}
}

/* New lines go behind the section's last line that says something. */
static void add_lines(struct edit *ed)
{
	size_t at = ed->to;
	struct str s;

	while (at > ed->from) {
		s = str_trim(ed->l.v.v[at - 1]);
		if (s.n && s.p[0] != '#' && s.p[0] != ';')
			break;
		at--;
	}
	for (size_t i = 0; i < ed->values.n; i++) {
		insert_line(ed, at + i, option_line(ed, ed->values.v[i]));
		ed->msg = "option added";
	}
}

static void add_section(struct edit *ed)
{
	insert_line(ed, ed->l.v.n, str_of(arena_printf(ed->c->a, "[%s]", ed->section)));
	ed->from = ed->to = ed->l.v.n;
	ed->has_section = true;
	ed->msg = "section added";
}

static void read_values(struct edit *ed)
{
	const struct value *list = arg_list(ed->c->args, "values");

	if (arg_has(ed->c->args, "value"))
		VEC_ADD(ed->c->a, &ed->values) = arg_str(ed->c->args, "value");
	else if (!list || !list->list.n)
		VEC_ADD(ed->c->a, &ed->values) = STR_NONE;
	for (size_t i = 0; list && i < list->list.n; i++)
		VEC_ADD(ed->c->a, &ed->values) = list->list.v[i]->s;
}

static void make_present(struct edit *ed)
{
	const char *msg;

	read_values(ed);
	if (!ed->has_section)
		add_section(ed);
	if (!ed->option)
		return;
	keep_right_ones(ed);
	reuse_lines(ed, false);
	if (arg_bool(ed->c->args, "modify_inactive_option"))
		reuse_lines(ed, true);
	msg = ed->msg;
	add_lines(ed);
	if (strcmp(msg, "section added") == 0)
		ed->msg = "section and option added";
	unmark(ed);
}

static void make_absent(struct edit *ed)
{
	bool all = !arg_has(ed->c->args, "value") && !arg_has(ed->c->args, "values"), inactive;
	struct str value;

	if (!ed->has_section)
		return;
	if (!ed->option) {
		remove_lines(ed, ed->from - 1, ed->to - ed->from + 1);
		ed->msg = "section removed";
		return;
	}
	read_values(ed);
	for (size_t i = ed->from; i < ed->to; i++) {
		if (!is_option(ed, ed->l.v.v[i], &value, &inactive) || inactive)
			continue;
		if (!all && !arg_bool(ed->c->args, "exclusive") && wanted_at(ed, value) == SIZE_MAX)
			continue;
		remove_lines(ed, i--, 1);
		ed->msg = "option changed";
	}
}

static struct str edited(const struct edit *ed)
{
	struct buf b scoped(buf_wipe) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < ed->l.v.n; i++) {
		buf_addstr(&b, ed->l.v.v[i]);
		buf_addc(&b, '\n');
	}
	return str_dup(ed->c->a, buf_str(&b));
}

static void edit_content(const struct mod_call *c, struct content *f, struct changes *ch)
{
	struct edit ed = { .c = c, .msg = "OK" };
	struct str rest = f->now.content, line;

	ed.section = arg_cstr(c->args, "section");
	ed.option = arg_cstr(c->args, "option");
	if (ed.section && !*ed.section)
		ed.section = NULL;
	while (rest.n) {
		str_next(&rest, '\n', &line);
		VEC_ADD(c->a, &ed.l.v) = line;
	}
	/* As Ansible: a new file begins with an empty line. */
	if (!ed.l.v.n)
		VEC_ADD(c->a, &ed.l.v) = STR_NONE;
	find_section(&ed);
	if (is_absent(c))
		make_absent(&ed);
	else
		make_present(&ed);
	/* A missing last newline alone is no reason to write. */
	f->content = strcmp(ed.msg, "OK") == 0 ? f->now.content : edited(&ed);
	result_sets(ch, "msg", ed.msg);
}

static int ini_file_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			  struct err *e)
{
	struct ini_want *w = arena_obj(ch->a, struct ini_want);
	struct content *f = &w->content;
	const struct value *v = value_get(c->args, "value"), *list = arg_list(c->args, "values");

	ch->want = w;
	f->path = arg_cstr(c->args, "path");
	f->secret = (v && v->secret) || (list && value_has_secret(list));
	if (content_fetch(an, f, ch))
		return -1;
	if (ch->failed)
		return 0;
	w->make_dir = f->now.type == PATH_NONE;
	if (w->make_dir && is_absent(c)) {
		result_sets(ch, "msg", "OK");
		return 0;
	}
	if (w->make_dir && !arg_bool(c->args, "create")) {
		result_int(ch, "rc", 257);
		return change_fail(ch, "Destination %s does not exist!", f->path);
	}
	edit_content(c, f, ch);
	return content_check(c, an, f, ch, e);
}

static int ini_file_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			  struct err *e unused_arg)
{
	const struct ini_want *w = ch->want;

	if (w->make_dir)
		patch_cmd(p, "mkdir", "-p", "--", fs_dirname(c->a, w->content.path));
	content_patch(c, &w->content, ch, p);
	return 0;
}

const struct module module_ini_file = {
	.name = "ini_file",
	.doc = "an option or a section of an INI file",
	.args = ini_file_args,
	.probe = ini_file_probe,
	.check = ini_file_check,
	.patch = ini_file_patch,
};
