/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apt_repository: a package source of apt, as a line in /etc/apt/sources.list or one of the files
 * beside it. One question brings all these files, for all such tasks of a window.
 */
#include "playbooks/content.h"
#include "playbooks/list.h"
#include "playbooks/modules/apt.h"

#define LIST_DIR "/etc/apt/sources.list.d"

struct source_file {
	const char *path;
	struct str before, after;
	bool existed;
};

struct repo_want {
	VEC(struct source_file) files; /* those that change */
	struct str line;
	bool update, set_mode;
	unsigned mode;
};

static const struct module_arg apt_repository_args[] = {
	{ "repo", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL,
	  "the line: deb [options] URL SUITE COMPONENT" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "should it be there" },
	{ "filename", ARG_STR, 0, NULL, NULL, NULL, "name of the file, without .list" },
	{ "mode", ARG_MODE, 0, NULL, NULL, NULL, "permissions of the file" },
	{ "update_cache", ARG_BOOL, 0, "yes", NULL, "update-cache",
	  "refresh the lists afterwards" },
	{ "update_cache_retries", ARG_INT, 0, "5", NULL, NULL, "tries to refresh" },
	{ "update_cache_retry_max_delay", ARG_INT, 0, "12", NULL, NULL,
	  "most seconds between them" },
	{ "codename", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "suite of a PPA" },
	{ "install_python_apt", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "no python is needed" },
	{ "validate_certs", ARG_BOOL, ARG_IGNORED, NULL, NULL, NULL, "of PPAs" },
	ARG_END,
};

static const char question[] =
	"for f in /etc/apt/sources.list " LIST_DIR "/*.list; do [ -f \"$f\" ] || continue\n"
	"printf '@%s\\n' \"$f\"; head -c 262144 -- \"$f\"; echo; done; echo @";

/* Words with one blank between them; empty if it is no source. `enabled`: not commented out. */
static struct str normal(struct arena *a, struct str line, bool *enabled)
{
	struct buf b scoped(buf_fini) = { 0 };
	struct str word;
	size_t hash;

	buf_init(&b, BUF_MAX_DEFAULT);
	line = str_trim(line);
	*enabled = !str_starts(line, "#");
	while (str_starts(line, "#"))
		line = str_trim(str_sub(line, 1, SIZE_MAX));
	hash = str_find_char(line, '#');
	line = str_sub(line, 0, hash);
	if (!str_starts(line, "deb ") && !str_starts(line, "deb-src ") &&
	    !str_starts(line, "deb\t"))
		return STR_NONE;
	while (line.n && str_next(&line, ' ', &word)) {
		word = str_trim(word);
		if (!word.n)
			continue;
		if (b.n)
			buf_addc(&b, ' ');
		buf_addstr(&b, word);
	}
	return str_dup(a, buf_str(&b));
}

/* "deb [x] http://user@host/path suite" to "host_path": as Ansible names the file. */
static const char *file_for(const struct mod_call *c, struct str line)
{
	struct buf b scoped(buf_fini) = { 0 };
	struct str word = STR_NONE;
	bool gap = false;
	size_t at;

	if (arg_has(c->args, "filename"))
		return arena_printf(c->a, LIST_DIR "/%s.list", arg_cstr(c->args, "filename"));
	buf_init(&b, BUF_MAX_DEFAULT);
	str_next(&line, ' ', &word);
	at = str_starts(line, "[") ? str_find_char(line, ']') : SIZE_MAX;
	if (at != SIZE_MAX)
		line = str_trim(str_sub(line, at + 1, SIZE_MAX));
	str_next(&line, ' ', &word);
	at = str_find(word, STR("://"));
	word = str_sub(word, at == SIZE_MAX ? 0 : at + 3, SIZE_MAX);
	at = str_find_char(word, '@');
	word = str_sub(word, at == SIZE_MAX ? 0 : at + 1, SIZE_MAX);
	for (size_t i = 0; i < word.n; i++) {
		char ch = word.p[i];
		if (!((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
		      (ch >= '0' && ch <= '9'))) {
			gap = b.n > 0;
			continue;
		}
		if (gap)
			buf_addc(&b, '_');
		gap = false;
		buf_addc(&b, ch);
	}
	return arena_printf(c->a, LIST_DIR "/%s.list", b.p);
}

static int apt_repository_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	struct str repo = str_trim(arg_str(c->args, "repo"));
	const char *name = arg_cstr(c->args, "filename");
	bool enabled;

	if (str_starts(repo, "ppa:")) {
		err_set(e, ERR_SPEC, "ppa: is not supported yet");
		err_hint(e, "write the whole line: deb [signed-by=...] URL SUITE COMPONENT");
		return err_at(e, c->pos);
	}
	if (!normal(c->a, repo, &enabled).n || !enabled || str_find_char(repo, '\n') != SIZE_MAX)
		return err_at(e, (err_set(e, ERR_SPEC, "Invalid repository string: %s",
					  str_cstr(c->a, repo)),
				  c->pos));
	if (name && (!*name || strchr(name, '/')))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no name of a file", name), c->pos));
	probe_ask(p, PROBE_COMMAND, question);
	return 0;
}

/* The file's text with the source enabled, or without it; *found: how often it is there, enabled. */
static struct str edit(const struct mod_call *c, struct str text, struct str source, bool absent,
		       size_t *found)
{
	struct buf b scoped(buf_fini) = { 0 };
	struct str line, have;
	bool enabled;

	buf_init(&b, BUF_MAX_DEFAULT);
	while (text.n) {
		str_next(&text, '\n', &line);
		have = normal(c->a, line, &enabled);
		if (!str_eq(have, source)) {
			buf_addstr(&b, line);
			buf_addc(&b, '\n');
			continue;
		}
		*found += 1;
		if (absent)
			continue;
		buf_addstr(&b, enabled ? line : source);
		buf_addc(&b, '\n');
	}
	return str_dup(c->a, buf_str(&b));
}

static void add_file(const struct mod_call *c, struct repo_want *w, struct changes *ch,
		     struct source_file f)
{
	VEC_ADD(ch->a, &w->files) = f;
	change_content(ch, &(struct content_change){ .path = f.path,
						     .before = f.before,
						     .after = f.after,
						     .existed = f.existed,
						     .known = true,
						     .diff = c->diff });
}

/* The next file of the answer. */
static bool next_file(struct str *out, struct source_file *f, struct arena *a)
{
	struct str line;
	size_t end;

	if (!str_next(out, '\n', &line) || line.n < 2)
		return false;
	f->path = str_cstr(a, str_sub(line, 1, SIZE_MAX));
	f->existed = true;
	end = str_starts(*out, "@") ? 0 : str_find(*out, STR("\n@"));
	f->before = str_sub(*out, 0, end);
	*out = str_sub(*out, end == SIZE_MAX ? out->n : end + 1, SIZE_MAX);
	return true;
}

static int apt_repository_check(const struct mod_call *c, const struct answers *an,
				struct changes *ch, struct err *e)
{
	struct repo_want *w = arena_obj(ch->a, struct repo_want);
	bool absent = str_eqc(arg_str(c->args, "state"), "absent"), enabled;
	struct str source = normal(c->a, arg_str(c->args, "repo"), &enabled);
	const char *path = file_for(c, source);
	struct source_file f, target = { .path = path };
	struct command_answer r;
	size_t found = 0;

	ch->want = w;
	answers_command(an, question, &r);
	while (next_file(&r.out, &f, ch->a)) {
		f.after = edit(c, f.before, source, absent, &found);
		if (!str_eq(str_trim_end(f.after, '\n'), str_trim_end(f.before, '\n')))
			add_file(c, w, ch, f);
		if (strcmp(f.path, path) == 0)
			target = f;
	}
	if (!absent && !found) {
		target.after = str_of(
			arena_printf(ch->a, STR_FMT "%s" STR_FMT "\n", STR_ARG(target.before),
				     target.before.n && !str_ends(target.before, "\n") ? "\n" : "",
				     STR_ARG(source)));
		add_file(c, w, ch, target);
	}
	w->mode = 0644;
	if (arg_has(c->args, "mode") &&
	    mode_parse(value_get(c->args, "mode"), false, 0644, &w->mode, e))
		return -1;
	w->set_mode = arg_has(c->args, "mode");
	w->update = arg_bool(c->args, "update_cache") && w->files.n;
	result_set(ch, "repo", value_get(c->args, "repo"));
	result_sets(ch, "state", absent ? "absent" : "present");
	return 0;
}

static void put_text(const struct repo_want *w, struct patch *p, const struct source_file *f,
		     struct str text, bool existed)
{
	if (!text.n || !existed)
		patch_cmd(p, "rm", "-f", "--", f->path);
	else
		patch_put(p, &(struct patch_file){ .path = f->path,
						   .content = text,
						   .set_mode = w->set_mode,
						   .mode = w->mode });
}

/* A source that cannot be loaded is taken back, or every later use of apt would fail. */
static int apt_repository_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
				struct err *e unused_arg)
{
	const struct repo_want *w = ch->want;

	for (size_t i = 0; i < w->files.n; i++)
		put_text(w, p, &w->files.v[i], w->files.v[i].after, true);
	if (!w->update)
		return 0;
	patch_raw(p, "if ! (\n");
	apt_patch_update(c, p);
	patch_raw(p, ") then\n");
	for (size_t i = 0; i < w->files.n; i++)
		put_text(w, p, &w->files.v[i], w->files.v[i].before, w->files.v[i].existed);
	patch_raw(p, "exit 1\nfi\n");
	return 0;
}

const struct module module_apt_repository = {
	.name = "apt_repository",
	.doc = "a package source of apt",
	.args = apt_repository_args,
	.probe = apt_repository_probe,
	.check = apt_repository_check,
	.patch = apt_repository_patch,
};
