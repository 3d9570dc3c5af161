/* SPDX-License-Identifier: Apache-2.0 */
/* blockinfile: lines between two marker lines of a text file. Decided here from the fetched file. */
#include "playbooks/content.h"
#include "playbooks/list.h"
#include "playbooks/pyre.h"

struct block_want {
	struct content content; /* first: content_patch's */
	bool make_dir;
};

struct edit {
	const struct mod_call *c;
	struct text_lines old, out;
	struct str begin, end; /* marker lines, with newline */
	struct str block;      /* ends in a newline, or empty: no block, no markers */
	const char *after, *before;
	struct pyre *re;
	size_t place; /* in old: where the block goes */
};

static const struct module_arg blockinfile_args[] = {
	{ "path", ARG_PATH, ARG_REQUIRED, NULL, NULL, "dest|destfile|name", "the file" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "should the block be there" },
	{ "marker", ARG_STR, 0, "# {mark} ANSIBLE MANAGED BLOCK", NULL, NULL,
	  "line around the block; {mark} becomes marker_begin and marker_end" },
	{ "marker_begin", ARG_STR, 0, "BEGIN", NULL, NULL, "word of the first marker" },
	{ "marker_end", ARG_STR, 0, "END", NULL, NULL, "word of the last marker" },
	{ "block", ARG_STR, 0, "", NULL, "content", "the lines; none removes the block" },
	{ "insertafter", ARG_STR, 0, NULL, NULL, NULL, "regular expression, or EOF" },
	{ "insertbefore", ARG_STR, 0, NULL, NULL, NULL, "regular expression, or BOF" },
	{ "create", ARG_BOOL, 0, "no", NULL, NULL, "make the file if it is missing" },
	{ "append_newline", ARG_BOOL, 0, "no", NULL, NULL, "an empty line after the block" },
	{ "prepend_newline", ARG_BOOL, 0, "no", NULL, NULL, "an empty line before the block" },
	{ "encoding", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "bytes are kept as they are" },
	ARG_CONTENT_ROWS,
	ARG_FILE_ATTRS,
	ARG_END,
};

static int blockinfile_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	if (arg_has(c->args, "insertafter") && arg_has(c->args, "insertbefore"))
		return err_at(e, (err_set(e, ERR_SPEC,
					  "insertbefore and insertafter are mutually exclusive"),
				  c->pos));
	probe_path(p, arg_cstr(c->args, "path"), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

static struct str marker_line(const struct mod_call *c, const char *word)
{
	struct str s = arg_str(c->args, "marker"), mark = STR("{mark}");
	struct buf b scoped(buf_fini) = { 0 };
	size_t at;

	buf_init(&b, BUF_MAX_DEFAULT);
	while ((at = str_find(s, mark)) != SIZE_MAX) {
		buf_addstr(&b, str_sub(s, 0, at));
		buf_addstr(&b, arg_str(c->args, word));
		s = str_sub(s, at + mark.n, SIZE_MAX);
	}
	buf_addstr(&b, s);
	buf_addc(&b, '\n');
	return str_dup(c->a, buf_str(&b));
}

static int open_edit(const struct mod_call *c, struct edit *ed, struct err *e)
{
	const char *pattern = NULL;

	*ed = (struct edit){ .c = c };
	ed->begin = marker_line(c, "marker_begin");
	ed->end = marker_line(c, "marker_end");
	ed->after = arg_cstr(c->args, "insertafter");
	ed->before = arg_cstr(c->args, "insertbefore");
	if (!str_eqc(arg_str(c->args, "state"), "absent"))
		ed->block = arg_str(c->args, "block");
	if (ed->block.n && !str_ends(ed->block, "\n"))
		ed->block = str_of(arena_printf(c->a, STR_FMT "\n", STR_ARG(ed->block)));
	if (!ed->after && !ed->before)
		ed->after = "EOF";
	if (ed->after && strcmp(ed->after, "EOF") != 0)
		pattern = ed->after;
	else if (ed->before && strcmp(ed->before, "BOF") != 0)
		pattern = ed->before;
	if (pattern && pyre_compile(c->a, str_of(pattern), false, &ed->re, e))
		return err_at(e, c->pos);
	return 0;
}

/* Takes the old block out (markers in either order) and says where it was. */
static bool take_block(struct edit *ed)
{
	size_t n = ed->old.v.n, b = SIZE_MAX, z = SIZE_MAX, first, last;

	for (size_t i = 0; i < n; i++) {
		if (str_eq(ed->old.v.v[i], ed->begin))
			b = i;
		if (str_eq(ed->old.v.v[i], ed->end))
			z = i;
	}
	if (b == SIZE_MAX || z == SIZE_MAX)
		return false;
	first = b < z ? b : z;
	last = b < z ? z : b;
	memmove(ed->old.v.v + first, ed->old.v.v + last + 1, (n - last - 1) * sizeof(*ed->old.v.v));
	ed->old.v.n -= last - first + 1;
	ed->place = first;
	return true;
}

static size_t line_of(struct str text, size_t offset)
{
	size_t n = 0;

	for (size_t i = 0; i < offset; i++)
		n += text.p[i] == '\n';
	return n;
}

/* The last line that matches; a pattern that begins with (?m) is tried on the whole text, and its
 * first match counts. */
static size_t matching_line(const struct edit *ed, struct str text)
{
	const char *pattern = ed->after ? ed->after : ed->before;
	size_t found = SIZE_MAX;
	struct pyre_match m;

	if (str_starts(str_of(pattern), "(?m)")) {
		if (!pyre_search(ed->re, text, 0, &m))
			return SIZE_MAX;
		return line_of(text, ed->after ? m.end : m.start);
	}
	for (size_t i = 0; i < ed->old.v.n; i++)
		if (pyre_search(ed->re, ed->old.v.v[i], 0, NULL))
			found = i;
	return found;
}

static void find_place(struct edit *ed, struct str text)
{
	size_t at;

	if (take_block(ed))
		return;
	ed->place = ed->old.v.n;
	if (!ed->re) {
		if (ed->before)
			ed->place = 0;
		return;
	}
	at = matching_line(ed, text);
	if (at != SIZE_MAX)
		ed->place = ed->after ? at + 1 : at;
	if (ed->place > ed->old.v.n)
		ed->place = ed->old.v.n;
}

static struct str edited(struct edit *ed)
{
	struct buf b scoped(buf_wipe) = { 0 };
	bool present = !str_eqc(arg_str(ed->c->args, "state"), "absent");
	size_t i;

	buf_init(&b, BUF_MAX_DEFAULT);
	for (i = 0; i < ed->place; i++)
		buf_addstr(&b, ed->old.v.v[i]);
	if (b.n && b.p[b.n - 1] != '\n')
		buf_addc(&b, '\n');
	if (present && arg_bool(ed->c->args, "prepend_newline") && i &&
	    !str_eqc(ed->old.v.v[i - 1], "\n"))
		buf_addc(&b, '\n');
	if (ed->block.n) {
		buf_addstr(&b, ed->begin);
		buf_addstr(&b, ed->block);
		buf_addstr(&b, ed->end);
	}
	if (present && arg_bool(ed->c->args, "append_newline") && i < ed->old.v.n &&
	    !str_eqc(ed->old.v.v[i], "\n"))
		buf_addc(&b, '\n');
	for (; i < ed->old.v.n; i++)
		buf_addstr(&b, ed->old.v.v[i]);
	return str_dup(ed->c->a, buf_str(&b));
}

static int blockinfile_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			     struct err *e)
{
	struct block_want *w = arena_obj(ch->a, struct block_want);
	struct content *f = &w->content;
	const struct value *block = value_get(c->args, "block");
	struct edit ed;

	ch->want = w;
	f->path = arg_cstr(c->args, "path");
	f->secret = block && block->secret;
	if (open_edit(c, &ed, e) || content_fetch(an, f, ch))
		return -1;
	if (ch->failed)
		return 0;
	w->make_dir = f->now.type == PATH_NONE;
	if (w->make_dir && !arg_bool(c->args, "create")) {
		result_int(ch, "rc", 257);
		return change_fail(ch, "Path %s does not exist !", f->path);
	}
	text_lines_split(c->a, f->now.content, &ed.old);
	find_place(&ed, f->now.content);
	f->content = edited(&ed);
	if (content_check(c, an, f, ch, e))
		return -1;
	result_sets(ch, "msg",
		    !f->write	  ? ""
		    : w->make_dir ? "File created"
		    : ed.block.n  ? "Block inserted"
				  : "Block removed");
	return 0;
}

static int blockinfile_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			     struct err *e unused_arg)
{
	const struct block_want *w = ch->want;

	if (w->make_dir)
		patch_cmd(p, "mkdir", "-p", "--", fs_dirname(c->a, w->content.path));
	content_patch(c, &w->content, ch, p);
	return 0;
}

const struct module module_blockinfile = {
	.name = "blockinfile",
	.doc = "lines between two marker lines of a text file",
	.args = blockinfile_args,
	.probe = blockinfile_probe,
	.check = blockinfile_check,
	.patch = blockinfile_patch,
};
