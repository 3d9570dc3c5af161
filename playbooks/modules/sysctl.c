/* SPDX-License-Identifier: Apache-2.0 */
/* sysctl: a kernel parameter, in its file and in the running kernel. */
#include "playbooks/list.h"

struct sysctl_want {
	struct path_info now; /* of the file */
	const char *name, *file;
	const char *value; /* NULL: absent */
	struct str content;
	bool write, set, reload;
};

static const struct module_arg sysctl_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, "key",
	  "the parameter, as net.ipv4.ip_forward" },
	{ "value", ARG_STR, 0, NULL, NULL, "val", "what it is set to" },
	{ "state", ARG_STR, 0, "present", "present|absent", NULL, "whether the file has it" },
	{ "ignoreerrors", ARG_BOOL, 0, "no", NULL, NULL,
	  "parameters that the kernel does not know" },
	{ "reload", ARG_BOOL, 0, "yes", NULL, NULL, "load the file afterwards" },
	{ "sysctl_file", ARG_PATH, 0, "/etc/sysctl.conf", NULL, NULL, "the file" },
	{ "sysctl_set", ARG_BOOL, 0, "no", NULL, NULL, "set it in the kernel too" },
	ARG_END,
};

static bool is_absent(const struct mod_call *c)
{
	return str_eqc(arg_str(c->args, "state"), "absent");
}

static const char *name_of(const struct mod_call *c)
{
	return str_cstr(c->a, str_trim(arg_str(c->args, "name")));
}

/* sysctl takes net/ipv4/ip_forward too: when a slash comes first, slashes separate. */
static const char *probe_key(const struct mod_call *c)
{
	const char *name = name_of(c);
	char *key = arena_strdup(c->a, name);

	if (name[strcspn(name, "./")] != '/')
		return name;
	for (char *p = key; *p; p++)
		*p = *p == '/' ? '.' : *p == '.' ? '/' : *p;
	return key;
}

static int sysctl_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = name_of(c);

	if (!*name || name[0] == '-' || strpbrk(name, " =\t\n") || strstr(name, ".."))
		return err_at(e,
			      (err_set(e, ERR_SPEC, "'%s' is no name of a kernel parameter", name),
			       c->pos));
	if (!is_absent(c) && (!arg_has(c->args, "value") || !arg_str(c->args, "value").n))
		return err_at(e,
			      (err_set(e, ERR_SPEC, "value is needed for state=present"), c->pos));
	probe_ask(p, PROBE_SYSCTL, probe_key(c));
	probe_path(p, arg_cstr(c->args, "sysctl_file"), PATH_FOLLOW | PATH_CONTENT);
	return 0;
}

/* Words separated by any blanks: "4096 87380" is "4096\t87380". */
static bool same_words(struct str a, struct str b)
{
	for (;;) {
		a = str_trim(a);
		b = str_trim(b);
		if (!a.n || !b.n)
			return a.n == b.n;
		while (a.n && b.n && *a.p != ' ' && *a.p != '\t' && *a.p == *b.p) {
			a = str_sub(a, 1, SIZE_MAX);
			b = str_sub(b, 1, SIZE_MAX);
		}
		if ((a.n && *a.p != ' ' && *a.p != '\t') || (b.n && *b.p != ' ' && *b.p != '\t'))
			return false;
	}
}

/* A booleans' spelling is what YAML made of it; the kernel wants numbers. */
static const char *value_of(const struct mod_call *c)
{
	const char *v = str_cstr(c->a, str_trim(arg_str(c->args, "value")));

	if (strcmp(v, "True") == 0)
		return "1";
	return strcmp(v, "False") == 0 ? "0" : v;
}

struct lines {
	struct buf out;
	struct str found; /* the file's value, trimmed */
	bool has;
};

static bool split_line(struct str line, struct str *key, struct str *val)
{
	size_t eq;

	line = str_trim(line);
	if (!line.n || line.p[0] == '#' || line.p[0] == ';')
		return false;
	eq = str_find_char(line, '=');
	if (eq == SIZE_MAX)
		return false;
	*key = str_trim(str_sub(line, 0, eq));
	*val = str_trim(str_sub(line, eq + 1, SIZE_MAX));
	return true;
}

/* The first line of the parameter is set (or dropped), later ones are dropped, the rest stays as it
 * is. */
static void edit(struct lines *l, struct str text, const char *name, const char *value)
{
	struct str line, key, val;

	while (text.n) {
		str_next(&text, '\n', &line);
		if (!split_line(line, &key, &val) || !str_eqc(key, name)) {
			buf_addstr(&l->out, line);
			buf_addc(&l->out, '\n');
			continue;
		}
		if (!l->has && value)
			buf_addf(&l->out, "%s=%s\n", name, value);
		if (!l->has)
			l->found = val;
		l->has = true;
	}
	if (!l->has && value)
		buf_addf(&l->out, "%s=%s\n", name, value);
}

static void change_sysctl(struct changes *ch, const char *name, const char *where,
			  struct str before, const char *after)
{
	change_adds(ch, arena_printf(ch->a, "sysctl %s: %s", name, where),
		    before.n ? str_cstr(ch->a, before) : NULL, after);
}

static void check_file(const struct mod_call *c, const struct path_info *now, struct sysctl_want *w,
		       struct changes *ch)
{
	struct lines l = { .has = false };

	buf_init(&l.out, BUF_MAX_DEFAULT);
	edit(&l, now->content, w->name, w->value);
	/* Ansible compares the file's value as text. */
	w->write = w->value ? !l.has || !str_eqc(l.found, w->value) : l.has;
	w->content = str_dup(ch->a, buf_str(&l.out));
	buf_fini(&l.out);
	if (!w->write)
		return;
	change_content(ch, &(struct content_change){ .path = w->file,
						     .before = now->content,
						     .after = w->content,
						     .existed = now->type != PATH_NONE,
						     .known = true,
						     .diff = c->diff });
}

static int sysctl_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			struct err *e unused_arg)
{
	struct sysctl_want *w = arena_obj(ch->a, struct sysctl_want);
	struct str live = answers_sysctl(an, probe_key(c));
	bool differs;

	ch->want = w;
	w->name = name_of(c);
	w->file = arg_cstr(c->args, "sysctl_file");
	w->value = is_absent(c) ? NULL : value_of(c);
	answers_path(an, w->file, PATH_FOLLOW | PATH_CONTENT, &w->now);
	if (w->now.type != PATH_NONE && (!w->now.has_content || w->now.too_large))
		return change_fail(ch, "%s is no file that can be edited", w->file);
	check_file(c, &w->now, w, ch);
	differs = w->value && !same_words(live, str_of(w->value));
	w->set = differs && arg_bool(c->args, "sysctl_set");
	w->reload = arg_bool(c->args, "reload") && (w->write || differs);
	if (differs && (w->set || w->reload))
		change_sysctl(ch, w->name, "value", live, w->value);
	return 0;
}

static void sysctl_cmd(const struct mod_call *c, struct patch *p, const char *flag, const char *arg,
		       const char *message)
{
	const char *argv[6] = { "sysctl" };
	size_t n = 1;

	if (arg_bool(c->args, "ignoreerrors"))
		argv[n++] = "-e";
	argv[n++] = flag;
	argv[n++] = arg;
	patch_require(p, argv, message);
}

/*
 * sysctl exits 0 when the kernel refused a value (EINVAL) and prints that it did not: what the
 * kernel has afterwards is looked at.
 */
static void verify(struct patch *p, const struct sysctl_want *w)
{
	patch_raw(p, "set -- $(sysctl -e -n -- ");
	proc_quote(&p->text, str_of(w->name));
	patch_raw(p, "); h=$*\nset -- ");
	proc_quote(&p->text, str_of(w->value));
	patch_raw(
		p,
		"; set -- $1; [ \"$h\" = \"$*\" ] || { printf "
		"'the kernel did not accept the value: it has %s\\n' \"${h:-no such parameter}\"; exit 1; }\n");
}

/* Plays set several parameters in one file: the next task goes on from what this one writes. */
static void put_file(const struct changes *ch, const struct sysctl_want *w, struct patch *p)
{
	bool fresh = w->now.type == PATH_NONE;
	struct predicted_file f = { .path = w->file,
				    .content = w->content,
				    .mode = fresh ? 0644 : w->now.mode,
				    .uid = fresh && !ch->as_root ? -1 : w->now.uid,
				    .gid = w->now.gid,
				    .owner = fresh ? "root" : str_cstr(ch->a, w->now.owner),
				    .group = fresh ? "root" : str_cstr(ch->a, w->now.group) };

	predict_file(ch, &f);
	patch_put(p, &(struct patch_file){ .path = w->file, .content = w->content });
}

static int sysctl_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
			struct err *e unused_arg)
{
	const struct sysctl_want *w = ch->want;

	if (w->set)
		sysctl_cmd(c, p, "-w", arena_printf(c->a, "%s=%s", w->name, w->value),
			   arena_printf(c->a, "setting %s failed", w->name));
	if (w->write)
		put_file(ch, w, p);
	if (w->reload)
		sysctl_cmd(c, p, "-p", w->file,
			   arena_printf(c->a, "Failed to reload sysctl: %s", w->file));
	if (w->value && (w->set || w->reload) && !arg_bool(c->args, "ignoreerrors"))
		verify(p, w);
	return 0;
}

const struct module module_sysctl = {
	.name = "sysctl",
	.doc = "a parameter of the kernel",
	.args = sysctl_args,
	.probe = sysctl_probe,
	.check = sysctl_check,
	.patch = sysctl_patch,
};
