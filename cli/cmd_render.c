/* SPDX-License-Identifier: Apache-2.0 */
/* render and eval: a template or an expression tried out with the spec's variables and those of the
 * command line. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "cli/view.h"
#include "templates/templates.h"

#define RENDER_MAX ((size_t)4 << 20)

struct render_opts {
	bool trim, lstrip, no_newline, allow_pipe, native;
	const char *node;
};

/* Where names are looked up, innermost first: -e, the node's or the spec's variables. */
struct render_names {
	const char *dirs[3];
	struct template_world world;
	struct scope given, spec;
};

static int find_names(struct cli *c, const struct render_opts *o, const char *file,
		      struct render_names *n, struct err *e)
{
	const struct node *node = NULL;

	*n = (struct render_names){ .dirs = { fs_dirname(c->a, file), "." } };
	n->world = (struct template_world){ n->dirs, o->allow_pipe };
	n->given = (struct scope){ .outer = &n->spec, .vars = c->extra_vars, .world = &n->world };
	for (size_t i = 0; o->node && c->fleet && i < c->fleet->nodes.n; i++)
		if (strcmp(c->fleet->nodes.v[i]->name, o->node) == 0)
			node = c->fleet->nodes.v[i];
	if (o->node && !node) {
		err_set(e, ERR_NOT_FOUND, "no node \"%s\" in the spec", o->node);
		return err_hint(e, "see muster inventory or the pools of %s", c->spec_file);
	}
	n->spec.vars = node ? node->vars : c->spec ? c->spec->vars : NULL;
	return 0;
}

/* To its end, however slowly it comes. */
static int read_input(struct cli *c, struct str *out, struct err *e)
{
	scoped(buf_wipe) struct buf b = { 0 };
	char part[4096];
	ssize_t n;

	buf_init(&b, RENDER_MAX);
	while ((n = read(STDIN_FILENO, part, sizeof part)) != 0) {
		struct pollfd ready = { .fd = STDIN_FILENO, .events = POLLIN };
		if (n > 0)
			buf_addstr(&b, (struct str){ part, (size_t)n });
		else if (errno == EAGAIN && poll(&ready, 1, -1) < 0 && errno != EINTR)
			return err_sys(e, "waiting for stdin");
		else if (errno != EAGAIN && errno != EINTR)
			return err_sys(e, "reading stdin");
	}
	*out = (struct str){ buf_dup(&b, c->a), b.n };
	return buf_check(&b, e);
}

static int read_template(struct cli *c, const char *file, struct template *t, struct err *e)
{
	bool input = strcmp(file, "-") == 0;

	t->where = (struct pos){ input ? "stdin" : file, 1, 1 };
	return input ? read_input(c, &t->text, e) : fs_read(c->a, file, RENDER_MAX, &t->text, e);
}

static int finish(struct cli *c, const struct value *v, bool as_json, struct err *e)
{
	scoped(buf_wipe) struct buf b = { 0 };

	if (value_has_unknown(v))
		return err_set(e, ERR_SPEC, "the result is known only after apply");
	buf_init(&b, SIZE_MAX);
	if (as_json)
		json_write(&b, v, JSON_PRETTY);
	else
		value_print(&b, v);
	view_out(c, &b);
	return EXIT_DONE;
}

static int cmd_render(struct cli *c, struct err *e)
{
	const struct render_opts *o = c->opts;
	const struct value *out;
	unsigned flags = TEMPLATE_LAZY;
	struct template t;
	struct render_names n;

	if (session_arg_count(c, 1, 1, e) < 0)
		return -1;
	flags |= o->no_newline ? 0 : TEMPLATE_KEEP_NEWLINE;
	flags |= o->trim ? 0 : TEMPLATE_TRIM_BLOCKS;
	flags |= o->lstrip ? TEMPLATE_LSTRIP_BLOCKS : 0;
	if (find_names(c, o, c->args.v.v[0], &n, e) < 0 ||
	    read_template(c, c->args.v.v[0], &t, e) < 0 || template_header(&t, &flags, e) < 0 ||
	    template_render(c->a, t, &n.given, flags, &out, e) < 0)
		return -1;
	if (c->g.json) {
		struct value *doc = value_map(c->a);
		value_set(doc, "text", out);
		view_json(c, doc);
		return EXIT_DONE;
	}
	return finish(c, out, false, e);
}

static int cmd_eval(struct cli *c, struct err *e)
{
	const struct render_opts *o = c->opts;
	struct template t = { STR(""), { "expression", 1, 1 } };
	const struct value *out;
	struct render_names n;

	if (session_arg_count(c, 1, 1, e) < 0 || find_names(c, o, ".", &n, e) < 0)
		return -1;
	t.text = str_of(c->args.v.v[0]);
	int rc = template_has_markup(t.text)
			 ? template_render(c->a, t, &n.given, TEMPLATE_LAZY | TEMPLATE_NATIVE, &out,
					   e)
			 : template_eval(c->a, t, &n.given, TEMPLATE_LAZY, &out, e);
	if (rc < 0)
		return -1;
	if (o->native || c->g.json)
		return finish(c, out, true, e);
	if (finish(c, out, false, e) < 0)
		return -1;
	view_outf(c, "\n");
	return EXIT_DONE;
}

#define NAME_ROWS                                                                              \
	{ "node",  0,                                                                          \
	  OPT_STR, offsetof(struct render_opts, node),                                         \
	  "NODE",  "with the variables of this node of the spec",                              \
	  NULL },                                                                              \
	{                                                                                      \
		"allow-pipe", 0, OPT_FLAG, offsetof(struct render_opts, allow_pipe), NULL,     \
			"let lookup('pipe') and lookup('lines') run commands on this machine", \
			NULL                                                                   \
	}

static const struct opt render_rows[] = {
	NAME_ROWS,
	{ "no-trim-blocks", 0, OPT_FLAG, offsetof(struct render_opts, trim), NULL,
	  "keep the newline after a block", NULL },
	{ "lstrip-blocks", 0, OPT_FLAG, offsetof(struct render_opts, lstrip), NULL,
	  "drop the blanks before a block", NULL },
	{ "no-trailing-newline", 0, OPT_FLAG, offsetof(struct render_opts, no_newline), NULL,
	  "drop the last newline, as Jinja2 does by itself", NULL },
	OPT_END,
};

static const struct opt eval_rows[] = {
	NAME_ROWS,
	{ "native", 0, OPT_FLAG, offsetof(struct render_opts, native), NULL,
	  "print the value as JSON, with its type", NULL },
	OPT_END,
};

const struct command command_render = {
	"render",
	"FILE",
	"a template's text, with the spec's variables and -e",
	"FILE is a Jinja2 template as the template module takes it (trim_blocks is on, a first line \"#jinja2: ...\" is read); - reads stdin. Names are those of -e, then of the node or the spec if there is one.",
	render_rows,
	sizeof(struct render_opts),
	MAY_SPEC | NEEDS_LOOP,
	cmd_render,
};

const struct command command_eval = {
	"eval",
	"EXPR",
	"an expression's value, with the spec's variables and -e",
	"EXPR is an expression, such as 'x | default(1) > 2', or a text with {{ }} in it.",
	eval_rows,
	sizeof(struct render_opts),
	MAY_SPEC | NEEDS_LOOP,
	cmd_eval,
};
