/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of modules as documentation: text for `muster help module`, scdoc for the manual. */
#include <ctype.h>

#include "playbooks/list.h"

static const char *const type_words[] = {
	[ARG_STR] = "text",	    [ARG_PATH] = "path",     [ARG_BOOL] = "yes or no",
	[ARG_INT] = "whole number", [ARG_MODE] = "mode",     [ARG_LIST] = "list of texts",
	[ARG_DICT] = "map",	    [ARG_RAW] = "any value",
};

static void add_words(struct buf *b, const char *words, const char *between)
{
	struct str rest = str_of(words), word;
	bool first = true;

	while (str_next(&rest, '|', &word)) {
		buf_addf(b, "%s" STR_FMT, first ? "" : between, STR_ARG(word));
		first = false;
	}
}

/* "path, required; also dest" */
static void add_traits(struct buf *b, const struct module_arg *r)
{
	if (r->choices) {
		buf_adds(b, "one of ");
		add_words(b, r->choices, ", ");
	} else {
		buf_adds(b, type_words[r->type]);
	}
	if (r->flags & ARG_REQUIRED)
		buf_adds(b, "; required");
	if (r->fallback)
		buf_addf(b, "; default %s", r->fallback);
	if (r->flags & ARG_SECRET)
		buf_adds(b, "; secret");
	if (r->aliases) {
		buf_adds(b, "; also ");
		add_words(b, r->aliases, ", ");
	}
}

static const char *state_of(const struct module_arg *r)
{
	return r->flags & ARG_IGNORED	? "accepted, without effect"
	       : r->flags & ARG_NOT_YET ? "not supported yet"
					: NULL;
}

bool module_help(struct buf *b, const char *name)
{
	const struct module *m = module_find(str_of(name));

	if (!m)
		return false;
	buf_addf(b, "module %s: %s\n", m->name, m->doc);
	if (m->aliases) {
		buf_adds(b, "\nalso called ");
		add_words(b, m->aliases, ", ");
		buf_addc(b, '\n');
	}
	if (m->args[0].name)
		buf_adds(b, "\narguments:\n");
	for (const struct module_arg *r = m->args; r->name; r++) {
		buf_addf(b, "  %s (", r->name);
		add_traits(b, r);
		buf_adds(b, ")\n");
		if (state_of(r))
			buf_addf(b, "      %s%s%s\n", state_of(r), r->doc ? ": " : "",
				 r->doc ? r->doc : "");
		else if (r->doc)
			buf_addf(b, "      %s\n", r->doc);
	}
	return true;
}

/* scdoc takes * and _ for markup, and a dot at a line's start for a macro of roff. */
static void add_escaped(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (strchr("*_\\`<>[#", s.p[i]))
			buf_addc(b, '\\');
		buf_addc(b, s.p[i]);
	}
}

static void manual_arg(struct buf *b, const struct module_arg *r)
{
	scoped(buf_fini) struct buf traits = { 0 };

	buf_init(&traits, 4096);
	add_traits(&traits, r);
	buf_addc(b, '*');
	add_escaped(b, str_of(r->name));
	buf_adds(b, "* (");
	add_escaped(b, buf_str(&traits));
	buf_adds(b, ")\n\t");
	if (state_of(r))
		buf_addf(b, "%c%s", toupper((unsigned char)state_of(r)[0]), state_of(r) + 1);
	if (state_of(r) && r->doc)
		buf_adds(b, ": ");
	if (r->doc && !state_of(r))
		buf_addc(b, toupper((unsigned char)r->doc[0]));
	if (r->doc)
		add_escaped(b, str_of(state_of(r) ? r->doc : r->doc + 1));
	buf_adds(b, ".\n\n");
}

void module_manual(struct buf *b)
{
	for (size_t i = 0; module_list[i]; i++) {
		const struct module *m = module_list[i];

		buf_addf(b, "## %s\n\n%c", m->name, toupper((unsigned char)m->doc[0]));
		add_escaped(b, str_of(m->doc + 1));
		buf_adds(b, ".");
		if (m->aliases) {
			buf_adds(b, " Also called ");
			add_words(b, m->aliases, ", ");
			buf_addc(b, '.');
		}
		buf_adds(b, "\n\n");
		for (const struct module_arg *r = m->args; r->name; r++)
			manual_arg(b, r);
	}
}
