/* SPDX-License-Identifier: Apache-2.0 */
/* modprobe: a module of the kernel is loaded, or is not; also after a reboot. */
#include "playbooks/list.h"

struct modprobe_want {
	const char *name, *load_file, *options_file, *options;
	bool load, unload, write_load, write_options, drop_load, drop_options;
};

static const struct module_arg modprobe_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "the module" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "is it loaded" },
	{ "params", ARG_STR, 0, "", NULL, NULL, "its parameters" },
	{ "persistent", ARG_STR, 0, "disabled", "disabled|present|absent", NULL,
	  "is it loaded at boot; disabled: left as it is" },
	ARG_END,
};

static bool is_name(const char *s)
{
	size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-");

	return n > 0 && !s[n] && s[0] != '-';
}

/* The kernel writes every dash as an underscore. Built-in modules are loaded for good. */
static const char *question(const struct mod_call *c)
{
	char *name = arena_strdup(c->a, arg_cstr(c->args, "name"));
	const char *dashed = arena_strdup(c->a, name);

	for (char *p = name; *p; p++)
		*p = *p == '-' ? '_' : *p;
	for (char *p = (char *)dashed; *p; p++)
		*p = *p == '_' ? '-' : *p;
	return arena_printf(c->a,
			    "[ -d /sys/module/%s ] || grep -Eq '/(%s|%s)\\.ko' "
			    "/lib/modules/$(uname -r)/modules.builtin",
			    name, name, dashed);
}

static const char *load_file(const struct mod_call *c)
{
	return arena_printf(c->a, "/etc/modules-load.d/%s.conf", arg_cstr(c->args, "name"));
}

static const char *options_file(const struct mod_call *c)
{
	return arena_printf(c->a, "/etc/modprobe.d/%s.conf", arg_cstr(c->args, "name"));
}

static int modprobe_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = arg_cstr(c->args, "name");

	if (!is_name(name))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no name of a kernel module", name),
				  c->pos));
	probe_ask(p, PROBE_COMMAND, question(c));
	if (str_eqc(arg_str(c->args, "persistent"), "disabled"))
		return 0;
	probe_path(p, load_file(c), PATH_FOLLOW | PATH_CONTENT);
	probe_path(p, options_file(c), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

static bool has_line(struct str text, const char *line)
{
	struct str l;

	while (str_next_line(&text, &l))
		if (str_eqc(str_trim(l), line))
			return true;
	return false;
}

static void check_boot(const struct mod_call *c, const struct answers *an, struct modprobe_want *w,
		       struct changes *ch)
{
	struct path_info load, options;
	bool present = str_eqc(arg_str(c->args, "persistent"), "present");
	bool at_boot, same_options;

	if (str_eqc(arg_str(c->args, "persistent"), "disabled"))
		return;
	w->load_file = load_file(c);
	w->options_file = options_file(c);
	answers_path(an, w->load_file, PATH_FOLLOW | PATH_CONTENT, &load);
	answers_path(an, w->options_file, PATH_FOLLOW | PATH_CONTENT, &options);
	at_boot = has_line(load.content, w->name);
	same_options = !*w->options || has_line(options.content, w->options);
	w->write_load = present && !at_boot;
	w->write_options = present && !same_options;
	w->drop_load = !present && load.type != PATH_NONE;
	w->drop_options = !present && options.type != PATH_NONE &&
			  str_starts(options.content, "options ");
	if (w->write_load || w->drop_load)
		change_adds(ch, arena_printf(ch->a, "kernel module %s: at boot", w->name),
			    at_boot ? "yes" : "no", present ? "yes" : "no");
	if (w->write_options || w->drop_options)
		change_adds(ch, arena_printf(ch->a, "kernel module %s: options", w->name), NULL,
			    present ? w->options : NULL);
}

static int modprobe_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			  struct err *e unused_arg)
{
	struct modprobe_want *w = arena_obj(ch->a, struct modprobe_want);
	bool absent = str_eqc(arg_str(c->args, "state"), "absent"), loaded;
	struct command_answer r;

	ch->want = w;
	w->name = arg_cstr(c->args, "name");
	w->options = arg_str(c->args, "params").n ? arena_printf(ch->a, "options %s %s", w->name,
								 arg_cstr(c->args, "params"))
						  : "";
	answers_command(an, question(c), &r);
	loaded = r.status == 0;
	w->load = !absent && !loaded;
	w->unload = absent && loaded;
	result_sets(ch, "name", w->name);
	result_sets(ch, "state", absent ? "absent" : "present");
	result_set(ch, "params", value_get(c->args, "params"));
	if (w->load || w->unload)
		change_adds(ch, arena_printf(ch->a, "kernel module %s", w->name),
			    loaded ? "loaded" : "absent", absent ? "absent" : "loaded");
	check_boot(c, an, w, ch);
	return 0;
}

static int modprobe_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			  struct err *e unused_arg)
{
	const struct modprobe_want *w = ch->want;

	if (w->load) {
		/* Several parameters are several words; each stays one. */
		struct str rest = arg_str(c->args, "params"), word;
		patch_raw(p, "modprobe -- ");
		proc_quote(&p->text, str_of(w->name));
		while (rest.n && str_next(&rest, ' ', &word))
			if (word.n) {
				buf_addc(&p->text, ' ');
				proc_quote(&p->text, word);
			}
		patch_raw(p, "\n");
	}
	if (w->unload)
		patch_cmd(p, "modprobe", "-r", "--", w->name);
	if (w->write_load)
		patch_put(p, &(struct patch_file){
				     .path = w->load_file,
				     .content = str_of(arena_printf(c->a, "%s\n", w->name)) });
	if (w->write_options)
		patch_put(p, &(struct patch_file){
				     .path = w->options_file,
				     .content = str_of(arena_printf(c->a, "%s\n", w->options)) });
	if (w->drop_load)
		patch_cmd(p, "rm", "-f", "--", w->load_file);
	if (w->drop_options)
		patch_cmd(p, "rm", "-f", "--", w->options_file);
	return 0;
}

const struct module module_modprobe = {
	.name = "modprobe",
	.doc = "a module of the kernel is loaded, or is not",
	.args = modprobe_args,
	.probe = modprobe_probe,
	.check = modprobe_check,
	.patch = modprobe_patch,
};
