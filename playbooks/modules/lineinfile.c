/* SPDX-License-Identifier: Apache-2.0 */
/* lineinfile: one line of a text file is there, or is not. Decided here from the fetched file, with
 * the rules of Ansible's module. */
#include "playbooks/content.h"
#include "playbooks/list.h"
#include "playbooks/pyre.h"

struct edit {
	const struct mod_call *c;
	struct text_lines lines;
	struct pyre *re, *ins;
	struct str line;
	const char *after, *before; /* insertafter, insertbefore; NULL if not given */
	long found, place;	    /* the line to replace; where to insert; -1: none */
	bool matched;		    /* by regexp or search_string */
	struct pyre_match match;
	const char *msg;
};

static const struct module_arg lineinfile_args[] = {
	{ "path", ARG_PATH, ARG_REQUIRED, NULL, NULL, "dest|destfile|name", "the file" },
	{ "regexp", ARG_STR, 0, NULL, NULL, "regex", "the line to replace or remove" },
	{ "search_string", ARG_STR, 0, NULL, NULL, NULL, "the same, as plain text" },
	{ "line", ARG_STR, 0, NULL, NULL, "value", "the line" },
	{ "state", ARG_STR, 0, "present", "present|absent", NULL, "should the line be there" },
	{ "backrefs", ARG_BOOL, 0, "no", NULL, NULL, "line may name groups of regexp" },
	{ "insertafter", ARG_STR, 0, NULL, NULL, NULL, "regular expression, or EOF" },
	{ "insertbefore", ARG_STR, 0, NULL, NULL, NULL, "regular expression, or BOF" },
	{ "create", ARG_BOOL, 0, "no", NULL, NULL, "make the file if it is missing" },
	{ "firstmatch", ARG_BOOL, 0, "no", NULL, NULL, "the first match counts, not the last" },
	ARG_CONTENT_ROWS,
	ARG_FILE_ATTRS,
	ARG_END,
};

static int lineinfile_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	bool present = str_eqc(arg_str(c->args, "state"), "present");
	const char *problem = NULL;

	if (present && !arg_has(c->args, "line"))
		problem = "line is required with state=present";
	else if (present && arg_bool(c->args, "backrefs") && !arg_has(c->args, "regexp"))
		problem = "regexp is required with backrefs=true";
	else if (arg_has(c->args, "insertafter") && arg_has(c->args, "insertbefore"))
		problem = "insertbefore and insertafter are mutually exclusive";
	else if (arg_has(c->args, "regexp") && arg_has(c->args, "search_string"))
		problem = "regexp and search_string are mutually exclusive";
	else if (!present && !arg_has(c->args, "line") && !arg_has(c->args, "regexp") &&
		 !arg_has(c->args, "search_string"))
		problem = "one of line, search_string, or regexp is required with state=absent";
	if (problem)
		return err_at(e, (err_set(e, ERR_SPEC, "%s", problem), c->pos));
	probe_path(p, arg_cstr(c->args, "path"), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

static struct str bare(struct str line)
{
	while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == '\r'))
		line.n--;
	return line;
}

static bool line_matches(struct edit *ed, struct str line)
{
	const char *search = arg_cstr(ed->c->args, "search_string");

	if (ed->re)
		return pyre_search(ed->re, line, 0, &ed->match);
	return search && str_find(line, str_of(search)) != SIZE_MAX;
}

static void find_line(struct edit *ed)
{
	struct pyre_match last = { 0 };
	bool first = arg_bool(ed->c->args, "firstmatch");

	for (size_t i = 0; i < ed->lines.v.n; i++) {
		if (!line_matches(ed, ed->lines.v.v[i]))
			continue;
		ed->found = (long)i;
		ed->matched = true;
		last = ed->match;
		if (first)
			break;
	}
	ed->match = last;
	for (size_t i = 0; i < ed->lines.v.n && !ed->matched; i++) {
		if (str_eq(ed->line, bare(ed->lines.v.v[i]))) {
			ed->found = (long)i;
		} else if (ed->ins && pyre_search(ed->ins, ed->lines.v.v[i], 0, NULL)) {
			ed->place = (long)i + (ed->after ? 1 : 0);
			if (first)
				break;
		}
	}
}

static struct str with_newline(struct arena *a, struct str s)
{
	return str_ends(s, "\n") ? s : str_of(arena_printf(a, STR_FMT "\n", STR_ARG(s)));
}

static void insert(struct edit *ed, size_t at, struct str line)
{
	VEC_ADD(ed->c->a, &ed->lines.v) = STR_NONE;
	for (size_t i = ed->lines.v.n - 1; i > at; i--)
		ed->lines.v.v[i] = ed->lines.v.v[i - 1];
	ed->lines.v.v[at] = line;
	ed->msg = "line added";
}

static void replace(struct edit *ed)
{
	struct str *old = &ed->lines.v.v[ed->found], now = ed->line;
	struct buf b;

	if (arg_bool(ed->c->args, "backrefs") && ed->matched) {
		buf_init(&b, BUF_MAX_DEFAULT);
		pyre_expand(&b, ed->re, &ed->match, ed->line);
		now = str_dup(ed->c->a, buf_str(&b));
		buf_fini(&b);
	}
	now = with_newline(ed->c->a, now);
	if (!str_eq(*old, now)) {
		*old = now;
		ed->msg = "line replaced";
	}
}

static void append(struct edit *ed, struct str line)
{
	size_t n = ed->lines.v.n;

	if (n && !str_ends(ed->lines.v.v[n - 1], "\n") && !str_ends(ed->lines.v.v[n - 1], "\r"))
		insert(ed, n++, STR("\n"));
	insert(ed, n, line);
}

static void make_present(struct edit *ed)
{
	struct str line = str_of(arena_printf(ed->c->a, STR_FMT "\n", STR_ARG(ed->line)));
	size_t n = ed->lines.v.n, at;

	find_line(ed);
	at = ed->place < 0 ? 0 : (size_t)ed->place;
	if (ed->found >= 0) {
		replace(ed);
	} else if (arg_bool(ed->c->args, "backrefs")) {
		return;
	} else if ((ed->before && strcmp(ed->before, "BOF") == 0) ||
		   (ed->after && strcmp(ed->after, "BOF") == 0)) {
		insert(ed, 0, line);
	} else if ((ed->after && strcmp(ed->after, "EOF") == 0) || ed->place < 0) {
		append(ed, line);
	} else if (ed->after && at == n) {
		if (!str_eq(bare(ed->lines.v.v[n - 1]), ed->line))
			append(ed, line);
	} else if (!ed->after || !str_eq(bare(ed->lines.v.v[at]), ed->line)) {
		insert(ed, at, line);
	}
}

static size_t make_absent(struct edit *ed)
{
	size_t kept = 0, n = ed->lines.v.n;
	bool by_pattern = ed->re || arg_has(ed->c->args, "search_string");

	for (size_t i = 0; i < n; i++) {
		struct str s = ed->lines.v.v[i];
		if (by_pattern ? line_matches(ed, s) : str_eq(ed->line, bare(s)))
			continue;
		ed->lines.v.v[kept++] = s;
	}
	ed->lines.v.n = kept;
	if (kept != n)
		ed->msg = arena_printf(ed->c->a, "%zu line(s) removed", n - kept);
	return n - kept;
}

static int open_edit(const struct mod_call *c, struct edit *ed, struct err *e)
{
	const char *re = arg_cstr(c->args, "regexp"), *ins;

	*ed = (struct edit){ .c = c, .found = -1, .place = -1, .msg = "" };
	ed->line = arg_str(c->args, "line");
	ed->after = arg_cstr(c->args, "insertafter");
	ed->before = arg_cstr(c->args, "insertbefore");
	if (!ed->after && !ed->before)
		ed->after = "EOF";
	ins = ed->after ? ed->after : ed->before;
	if (re && pyre_compile(c->a, str_of(re), false, &ed->re, e))
		return err_at(e, c->pos);
	if (strcmp(ins, "BOF") != 0 && strcmp(ins, "EOF") != 0 &&
	    pyre_compile(c->a, str_of(ins), false, &ed->ins, e))
		return err_at(e, c->pos);
	return 0;
}

static int lineinfile_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			    struct err *e)
{
	struct content *w = arena_obj(ch->a, struct content);
	bool present = str_eqc(arg_str(c->args, "state"), "present");
	const struct value *line = value_get(c->args, "line");
	struct edit ed;

	ch->want = w;
	w->path = arg_cstr(c->args, "path");
	w->secret = line && line->secret;
	if (open_edit(c, &ed, e) || content_fetch(an, w, ch))
		return -1;
	if (ch->failed)
		return 0;
	if (w->now.type == PATH_NONE && !present) {
		result_sets(ch, "msg", "file not present");
		return 0;
	}
	if (w->now.type == PATH_NONE && !arg_bool(c->args, "create")) {
		result_int(ch, "rc", 257);
		return change_fail(ch, "Destination %s does not exist !", w->path);
	}
	text_lines_split(c->a, w->now.content, &ed.lines);
	if (present)
		make_present(&ed);
	else
		result_int(ch, "found", (int64_t)make_absent(&ed));
	w->content = text_lines_join(c->a, &ed.lines);
	if (content_check(c, an, w, ch, e))
		return -1;
	result_sets(ch, "msg", ed.msg);
	result_sets(ch, "backup", "");
	return 0;
}

static int lineinfile_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			    struct err *e unused_arg)
{
	content_patch(c, ch->want, ch, p);
	return 0;
}

const struct module module_lineinfile = {
	.name = "lineinfile",
	.doc = "one line of a text file is there, or is not",
	.args = lineinfile_args,
	.probe = lineinfile_probe,
	.check = lineinfile_check,
	.patch = lineinfile_patch,
};
