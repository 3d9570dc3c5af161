/* SPDX-License-Identifier: Apache-2.0 */
/* What there is, from the tables: a part of docs/templates.md. */
#include "templates/templates.h"

#include "templates/filters.h"
#include "templates/lookup.h"
#include "templates/methods.h"
#include "templates/parse.h"
#include "templates/tests.h"

/* indent(width, first, blank); what must be given is in **bold**. */
static void add_row(struct buf *b, const struct callable *f)
{
	struct str rest = str_of(f->params ? f->params : ""), name;
	bool any = false;

	buf_addf(b, "`%s`", f->name);
	while (rest.n && str_next(&rest, ',', &name)) {
		bool must = str_ends(name, "!");
		buf_adds(b, any ? ", " : "(");
		buf_addf(b, must ? "**" STR_FMT "**" : STR_FMT,
			 STR_ARG(str_sub(name, 0, name.n - must)));
		any = true;
	}
	if (f->flags & CALL_VARARGS)
		buf_adds(b, any ? ", ..." : "(...");
	buf_adds(b, any || f->flags & CALL_VARARGS ? ")" : "");
}

static void add_rows(struct buf *b, const char *title, const struct callable *(*at)(size_t))
{
	const struct callable *f;

	buf_addf(b, "\n**%s**: ", title);
	for (size_t i = 0; (f = at(i)); i++) {
		buf_adds(b, i ? " · " : "");
		add_row(b, f);
	}
	buf_adds(b, "\n");
}

static void add_words(struct buf *b, const char *title, const char *(*at)(size_t))
{
	const char *word;

	buf_addf(b, "%s**%s**: ", b->n ? "\n" : "", title);
	for (size_t i = 0; (word = at(i)); i++)
		buf_addf(b, "%s`%s`", i ? " " : "", word);
	buf_adds(b, "\n");
}

static void add_methods(struct buf *b)
{
	const struct callable *rows;
	const char *type;

	for (size_t i = 0; (rows = methods_of(i, &type)); i++) {
		buf_addf(b, "\n**Methods of %s**: ", type);
		for (const struct callable *m = rows; m->name; m++) {
			buf_adds(b, m == rows ? "" : " · ");
			add_row(b, m);
		}
		buf_adds(b, "\n");
	}
}

void template_markdown(struct buf *b)
{
	add_words(b, "Statements", parse_statement_word);
	add_rows(b, "Filters", filter_at);
	add_rows(b, "Tests", test_at);
	add_methods(b);
	add_words(b, "Functions", eval_function_name);
	add_words(b, "Lookups", lookup_name);
}
