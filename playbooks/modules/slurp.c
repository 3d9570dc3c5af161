/* SPDX-License-Identifier: Apache-2.0 */
/* slurp: the content of a file of the host, in base64. */
#include "playbooks/list.h"

static const struct module_arg slurp_args[] = {
	{ "src", ARG_PATH, ARG_REQUIRED, NULL, NULL, "path", "the file" },
	ARG_END,
};

static int slurp_probe(const struct mod_call *c, struct probe *p, struct err *e unused_arg)
{
	probe_path(p, arg_cstr(c->args, "src"), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

static int slurp_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		       struct err *e unused_arg)
{
	const char *path = arg_cstr(c->args, "src");
	struct path_info pi;
	struct buf b scoped(buf_wipe) = { 0 };
	struct value *text;

	buf_init(&b, PATH_CONTENT_MAX * 2);
	answers_path(an, path, PATH_FOLLOW | PATH_CONTENT, &pi);
	if (pi.type == PATH_NONE)
		return change_fail(ch, "file not found: %s", path);
	if (pi.type == PATH_DIR)
		return change_fail(ch, "source is a directory and must be a file: %s", path);
	if (pi.too_large)
		return change_fail(ch, "%s is larger than %zu bytes", path, PATH_CONTENT_MAX);
	if (!pi.has_content)
		return change_fail(ch, "file is not readable: %s", path);
	base64_encode(&b, pi.content);
	text = value_str(ch->a, buf_str(&b));
	text->unsafe = true;
	result_set(ch, "content", text);
	result_sets(ch, "source", path);
	result_sets(ch, "encoding", "base64");
	return 0;
}

const struct module module_slurp = {
	.name = "slurp",
	.doc = "the content of a file of the host, in base64",
	.args = slurp_args,
	.flags = MODULE_FRESH,
	.probe = slurp_probe,
	.check = slurp_check,
};
