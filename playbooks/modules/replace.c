/* SPDX-License-Identifier: Apache-2.0 */
/* replace: every match of a regular expression in a text file becomes something else. */
#include "playbooks/content.h"
#include "playbooks/list.h"
#include "playbooks/pyre.h"

static const struct module_arg replace_args[] = {
	{ "path", ARG_PATH, ARG_REQUIRED, NULL, NULL, "dest|destfile|name", "the file" },
	{ "regexp", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL,
	  "what is replaced; ^ and $ are at lines" },
	{ "replace", ARG_STR, 0, "", NULL, NULL, "what it becomes; \\1 and \\g<name> are groups" },
	{ "after", ARG_STR, 0, NULL, NULL, NULL, "only after what this matches" },
	{ "before", ARG_STR, 0, NULL, NULL, NULL, "only before what this matches" },
	{ "encoding", ARG_STR, 0, "utf-8", "utf-8|utf8|UTF-8|ascii", NULL, "of the file" },
	ARG_CONTENT_ROWS,
	ARG_FILE_ATTRS,
	ARG_END,
};

static int replace_probe(const struct mod_call *c, struct probe *p, struct err *e unused_arg)
{
	probe_path(p, arg_cstr(c->args, "path"), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

/*
 * The part that after and before leave. \K and the lookahead make the whole match that part, so
 * groups in the user's patterns do not matter.
 */
static int find_section(const struct mod_call *c, struct str text, struct str *section, bool *found,
			struct err *e)
{
	const char *after = arg_cstr(c->args, "after"), *before = arg_cstr(c->args, "before");
	const char *pattern = NULL;
	struct pyre *re;
	struct pyre_match m;

	*section = text;
	*found = true;
	if (after && *after && before && *before)
		pattern = arena_printf(c->a, "(?s)(?:%s)\\K.*?(?=%s)", after, before);
	else if (after && *after)
		pattern = arena_printf(c->a, "(?s)(?:%s)\\K.*", after);
	else if (before && *before)
		pattern = arena_printf(c->a, "(?s).*(?=%s)", before);
	if (!pattern)
		return 0;
	if (pyre_compile(c->a, str_of(pattern), false, &re, e))
		return err_at(e, c->pos);
	*found = pyre_search(re, text, 0, &m);
	if (*found)
		*section = str_sub(text, m.start, m.end);
	return 0;
}

/* An empty match stands between characters: the one after it is copied before the search goes on. */
static size_t substitute(struct buf *b, const struct pyre *re, struct str s, struct str with)
{
	struct pyre_match m;
	size_t from = 0, n = 0, step;

	while (from <= s.n && pyre_search(re, s, from, &m)) {
		buf_addstr(b, str_sub(s, from, m.start));
		pyre_expand(b, re, &m, with);
		n++;
		from = m.end;
		if (m.end > m.start)
			continue;
		if (from == s.n)
			return n;
		step = str_utf8_len(str_sub(s, from, SIZE_MAX));
		step = step ? step : 1;
		buf_addstr(b, str_sub(s, from, from + step));
		from += step;
	}
	buf_addstr(b, str_sub(s, from, SIZE_MAX));
	return n;
}

static int edit(const struct mod_call *c, struct content *w, struct changes *ch, struct err *e)
{
	struct str text = w->now.content, section;
	struct buf b scoped(buf_wipe) = { 0 };
	struct pyre *re;
	bool found;
	size_t n, start;

	buf_init(&b, BUF_MAX_DEFAULT);
	w->content = text;
	result_sets(ch, "msg", "");
	if (find_section(c, text, &section, &found, e))
		return -1;
	if (!found) {
		result_sets(ch, "msg",
			    "Pattern for before/after params did not match the given file");
		return 0;
	}
	if (pyre_compile(c->a, arg_str(c->args, "regexp"), true, &re, e))
		return err_at(e, c->pos);
	start = section.n ? (size_t)(section.p - text.p) : 0;
	buf_addstr(&b, str_sub(text, 0, start));
	n = substitute(&b, re, section, arg_str(c->args, "replace"));
	buf_addstr(&b, str_sub(text, start + section.n, SIZE_MAX));
	if (buf_check(&b, e))
		return -1;
	w->content = str_dup(c->a, buf_str(&b));
	if (!str_eq(w->content, text))
		result_sets(ch, "msg", arena_printf(ch->a, "%zu replacements made", n));
	return 0;
}

static int replace_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			 struct err *e)
{
	struct content *w = arena_obj(ch->a, struct content);
	const struct value *with = value_get(c->args, "replace");

	ch->want = w;
	w->path = arg_cstr(c->args, "path");
	w->secret = with && with->secret;
	if (content_fetch(an, w, ch))
		return -1;
	if (ch->failed)
		return 0;
	if (w->now.type == PATH_NONE) {
		result_int(ch, "rc", 257);
		return change_fail(ch, "Path %s does not exist !", w->path);
	}
	if (edit(c, w, ch, e))
		return -1;
	result_int(ch, "rc", 0);
	return content_check(c, an, w, ch, e);
}

static int replace_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			 struct err *e unused_arg)
{
	content_patch(c, ch->want, ch, p);
	return 0;
}

const struct module module_replace = {
	.name = "replace",
	.doc = "every match of a regular expression in a text file becomes something else",
	.args = replace_args,
	.probe = replace_probe,
	.check = replace_check,
	.patch = replace_patch,
};
