/* SPDX-License-Identifier: Apache-2.0 */
/* template: a Jinja2 template of the controller, rendered with the host's variables, to a file of
 * the host. */
#include "playbooks/content.h"
#include "playbooks/list.h"

#define TEMPLATE_MAX ((size_t)4 << 20)

struct plan {
	struct content w, into; /* into: if dest is a folder; path NULL if that can't be */
};

static const struct module_arg template_args[] = {
	{ "src", ARG_PATH, ARG_REQUIRED, NULL, NULL, NULL, "template of the controller" },
	{ "dest", ARG_PATH, ARG_REQUIRED, NULL, NULL, NULL, "file of the host" },
	{ "force", ARG_BOOL, 0, "yes", NULL, NULL, "no: only if dest is not there" },
	{ "follow", ARG_BOOL, 0, "no", NULL, NULL, "write what a link at dest leads to" },
	{ "trim_blocks", ARG_BOOL, 0, "yes", NULL, NULL, "no newline after a block" },
	{ "lstrip_blocks", ARG_BOOL, 0, "no", NULL, NULL, "no blanks before a block" },
	{ "newline_sequence", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "line ends" },
	{ "output_encoding", ARG_STR, 0, "utf-8", "utf-8", NULL, "only UTF-8" },
	{ "block_start_string", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "other marks than {%" },
	{ "block_end_string", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "other marks than %}" },
	{ "variable_start_string", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "other marks than {{" },
	{ "variable_end_string", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "other marks than }}" },
	ARG_CONTENT_ROWS,
	ARG_FILE_ATTRS,
	ARG_END,
};

/* 0, -1, or PROBE_LATER. */
static int render(const struct mod_call *c, struct content *w, struct err *e)
{
	unsigned flags = TEMPLATE_KEEP_NEWLINE | TEMPLATE_LAZY;
	const char *src = arg_cstr(c->args, "src"), *path;
	const struct value *out;
	struct template t = { 0 };

	if (arg_bool(c->args, "trim_blocks"))
		flags |= TEMPLATE_TRIM_BLOCKS;
	if (arg_bool(c->args, "lstrip_blocks"))
		flags |= TEMPLATE_LSTRIP_BLOCKS;
	if (src_find(c, "templates", src, &path, e) ||
	    fs_read(c->a, path, TEMPLATE_MAX, &t.text, e))
		return err_at(e, c->pos);
	t.where = (struct pos){ path, 1, 1 };
	if (template_header(&t, &flags, e) || template_render(c->a, t, c->scope, flags, &out, e))
		return err_at(e, (struct pos){ path, 1, 1 });
	if (value_has_unknown(out))
		return PROBE_LATER;
	w->secret = out->secret;
	w->content = out->s;
	return 0;
}

static int template_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	struct plan *plan = arena_obj(c->a, struct plan);
	const char *src = arg_cstr(c->args, "src"), *dest = arg_cstr(c->args, "dest"),
		   *base = strrchr(src, '/');
	int rc = render(c, &plan->w, e);

	if (rc == PROBE_LATER) /* the text isn't known, but what is there can be asked already */
		probe_path(p, dest, PATH_FOLLOW | PATH_SHA256);
	if (rc)
		return rc;
	*c->memo = plan;
	base = base ? base + 1 : src;
	plan->w.by_digest = true;
	plan->w.keep = !arg_bool(c->args, "force");
	plan->w.path = dest;
	plan->into = plan->w;
	plan->into.path = fs_join(c->a, dest, base);
	if (str_ends(str_of(dest), "/")) {
		plan->w = plan->into;
		plan->into.path = NULL;
	}
	content_probe(c, &plan->w, p);
	if (plan->into.path)
		content_probe(c, &plan->into, p);
	return 0;
}

static int check_template(const struct mod_call *c, const struct answers *an, struct changes *ch,
			  struct err *e)
{
	struct plan *plan = *c->memo;
	struct path_info pi;

	ch->want = &plan->w;
	answers_path(an, plan->w.path, PATH_FOLLOW, &pi);
	if (pi.type == PATH_DIR && plan->into.path)
		ch->want = &plan->into;
	result_sets(ch, "src", arg_cstr(c->args, "src"));
	return content_check(c, an, ch->want, ch, e);
}

static int template_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			  struct err *e unused_arg)
{
	content_patch(c, ch->want, ch, p);
	return 0;
}

const struct module module_template = {
	.name = "template",
	.doc = "a template of the controller, rendered to a file of the host",
	.args = template_args,
	.probe = template_probe,
	.check = check_template,
	.patch = template_patch,
};
