/* SPDX-License-Identifier: Apache-2.0 */
/*
 * authorized_key: which public keys may log in as a user.
 *
 * Where the file is depends on the user's home, which only the host knows, so one question brings
 * both: home and content. Lines that are not touched stay as they are written, to the byte.
 */
#include "playbooks/content.h"
#include "playbooks/list.h"
#include "playbooks/modules/authorized_key.h"

struct key_want {
	struct content content;
	const char *user, *dir; /* dir: to be made, or NULL */
	bool by_user;		/* owner and modes as sshd wants them */
};

struct key {
	struct str options, type, blob, comment;
};

struct line {
	struct str text;
	struct key key;
	bool is_key, gone;
};

struct file {
	VEC(struct line) v;
};

static const struct module_arg authorized_key_args[] = {
	{ "user", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "whose keys" },
	{ "key", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "public keys, one a line" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "may they log in" },
	{ "path", ARG_PATH, 0, NULL, NULL, NULL, "the file, if not ~user/.ssh/authorized_keys" },
	{ "manage_dir", ARG_BOOL, 0, "yes", NULL, NULL, "make the folder and set its mode" },
	{ "key_options", ARG_STR, 0, NULL, NULL, NULL, "options before the keys" },
	{ "exclusive", ARG_BOOL, 0, "no", NULL, NULL, "other keys go" },
	{ "comment", ARG_STR, 0, NULL, NULL, NULL, "comment instead of the keys' own" },
	{ "follow", ARG_BOOL, 0, "no", NULL, NULL, "the file or folder may be a symbolic link" },
	{ "validate_certs", ARG_BOOL, ARG_IGNORED, "yes", NULL, NULL, "keys are not fetched" },
	ARG_END,
};

/* ---- the host ---- */

/*
 * Prints the home, then the file between a line that says it is there and a dot that keeps its last
 * newlines; or a path that is a link. A user owns his folder, so a link in there could make root
 * read and give away whatever he likes.
 */
static const char *question_of(struct arena *a, const char *user, const char *path, bool follow)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 64 << 10);
	buf_adds(&b, "u=$(getent passwd -- ");
	proc_quote(&b, str_of(user));
	buf_adds(&b, ") || exit 3\nh=${u%:*}; h=${h##*:}; echo \"$h\"\nf=");
	if (path)
		proc_quote(&b, str_of(path));
	else
		buf_adds(&b, "$h/.ssh/authorized_keys");
	if (!follow)
		buf_adds(&b, "\nfor l in \"${f%/*}\" \"$f\"; do "
			     "[ ! -h \"$l\" ] || { printf 'link\\n%s\\n' \"$l\"; exit 0; }; done");
	buf_addf(&b, "\n[ -f \"$f\" ] || exit 0\necho file; head -c %zu -- \"$f\"; echo .\n",
		 PATH_CONTENT_MAX + 1);
	return buf_dup(&b, a);
}

static const char *question(const struct mod_call *c)
{
	return question_of(c->a, arg_cstr(c->args, "user"), arg_cstr(c->args, "path"),
			   arg_bool(c->args, "follow"));
}

void authorized_key_predict_none(const struct changes *ch, const char *user, const char *home)
{
	predict(ch, PROBE_COMMAND, question_of(ch->a, user, NULL, false),
		str_of(arena_printf(ch->a, "+0\n%s\n", home)));
}

/* ---- keys ---- */

static bool is_key_type(struct str s)
{
	static const char *const types[] = {
		"ssh-ed25519",
		"ssh-rsa",
		"ssh-dss",
		"ssh-ed448",
		"ecdsa-sha2-nistp256",
		"ecdsa-sha2-nistp384",
		"ecdsa-sha2-nistp521",
		"sk-ssh-ed25519@openssh.com",
		"sk-ecdsa-sha2-nistp256@openssh.com",
		"ssh-ed25519-cert-v01@openssh.com",
		"ssh-rsa-cert-v01@openssh.com",
		"ecdsa-sha2-nistp256-cert-v01@openssh.com",
		"ecdsa-sha2-nistp384-cert-v01@openssh.com",
		"ecdsa-sha2-nistp521-cert-v01@openssh.com",
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_eqc(s, types[i]))
			return true;
	return false;
}

/* A word off *s; blanks in double quotes belong to it. */
static struct str word_of(struct str *s)
{
	bool quoted = false;
	struct str out;
	size_t i;

	*s = str_trim(*s);
	for (i = 0; i < s->n && (quoted || (s->p[i] != ' ' && s->p[i] != '\t')); i++) {
		if (quoted && s->p[i] == '\\' && i + 1 < s->n)
			i++;
		else if (s->p[i] == '"')
			quoted = !quoted;
	}
	out = str_sub(*s, 0, i);
	*s = str_trim(str_sub(*s, i, SIZE_MAX));
	return out;
}

/* "[options] type base64 [comment]" */
static bool parse_key(struct str line, struct key *out)
{
	struct str rest = line;

	memset(out, 0, sizeof(*out));
	rest = str_trim(rest);
	if (!rest.n || rest.p[0] == '#')
		return false;
	out->type = word_of(&rest);
	if (!is_key_type(out->type)) {
		out->options = out->type;
		out->type = word_of(&rest);
	}
	out->blob = word_of(&rest);
	out->comment = rest;
	return is_key_type(out->type) && out->blob.n >= 16;
}

static void parse_file(struct arena *a, struct str text, struct file *f)
{
	struct str line;

	while (text.n) {
		struct line l = { 0 };
		str_next(&text, '\n', &line);
		l.text = line;
		l.is_key = parse_key(line, &l.key);
		VEC_ADD(a, &f->v) = l;
	}
}

static bool same_key(const struct key *x, const struct key *y)
{
	return str_eq(x->options, y->options) && str_eq(x->type, y->type) &&
	       str_eq(x->comment, y->comment);
}

static const char *key_text(struct arena *a, const struct key *k)
{
	return arena_printf(a, STR_FMT "%s" STR_FMT " " STR_FMT "%s" STR_FMT, STR_ARG(k->options),
			    k->options.n ? " " : "", STR_ARG(k->type), STR_ARG(k->blob),
			    k->comment.n ? " " : "", STR_ARG(k->comment));
}

/* Equal keys of the file: with the same options and comment it is there, else it is replaced. */
static void put_key(struct arena *a, struct file *f, const struct key *k)
{
	bool there = false;

	for (size_t i = 0; i < f->v.n; i++) {
		struct line *l = &f->v.v[i];
		if (!l->is_key || l->gone || !str_eq(l->key.blob, k->blob))
			continue;
		if (!there && same_key(&l->key, k))
			there = true;
		else
			l->gone = true;
	}
	if (!there) {
		struct line l = { .key = *k, .is_key = true };
		l.text = str_of(key_text(a, k));
		VEC_ADD(a, &f->v) = l;
	}
}

static void drop_key(struct file *f, const struct key *k)
{
	for (size_t i = 0; i < f->v.n; i++)
		if (f->v.v[i].is_key && str_eq(f->v.v[i].key.blob, k->blob))
			f->v.v[i].gone = true;
}

static struct str file_text(struct arena *a, const struct file *f)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < f->v.n; i++) {
		if (f->v.v[i].gone)
			continue;
		buf_addstr(&b, f->v.v[i].text);
		buf_addc(&b, '\n');
	}
	return str_dup(a, buf_str(&b));
}

/* ---- the call ---- */

struct keys {
	VEC(struct key) v;
};

static int read_keys(const struct mod_call *c, struct keys *out, struct err *e)
{
	struct str rest = arg_str(c->args, "key"), line;
	struct key k;

	if (str_starts(rest, "http://") || str_starts(rest, "https://") ||
	    str_starts(rest, "file://")) {
		err_set(e, ERR_SPEC, "authorized_key does not fetch keys from addresses");
		err_hint(e, "give the key itself, or use lookup('file', ...)");
		return err_at(e, c->pos);
	}
	while (str_next_line(&rest, &line)) {
		line = str_trim(line);
		if (!line.n || line.p[0] == '#')
			continue;
		if (!parse_key(line, &k))
			return err_at(e, (err_set(e, ERR_SPEC, "invalid key specified: %.60s",
						  str_cstr(c->a, line)),
					  c->pos));
		if (arg_has(c->args, "key_options"))
			k.options = arg_str(c->args, "key_options");
		if (arg_has(c->args, "comment"))
			k.comment = arg_str(c->args, "comment");
		VEC_ADD(c->a, &out->v) = k;
	}
	return 0;
}

static int authorized_key_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	struct keys keys = { { 0 } };
	const char *user = arg_cstr(c->args, "user");

	if (!*user || user[0] == '-' || strpbrk(user, ":/\n"))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no name of a user", user), c->pos));
	if (read_keys(c, &keys, e))
		return -1;
	probe_ask(p, PROBE_COMMAND, question(c));
	return 0;
}

static void apply_keys(const struct mod_call *c, const struct keys *keys, struct file *f)
{
	bool absent = str_eqc(arg_str(c->args, "state"), "absent");

	if (!absent && arg_bool(c->args, "exclusive"))
		for (size_t i = 0; i < f->v.n; i++) {
			bool wanted = false;
			for (size_t k = 0; k < keys->v.n; k++)
				wanted = wanted || str_eq(f->v.v[i].key.blob, keys->v.v[k].blob);
			f->v.v[i].gone = f->v.v[i].is_key && !wanted;
		}
	for (size_t k = 0; k < keys->v.n; k++)
		if (absent)
			drop_key(f, &keys->v.v[k]);
		else
			put_key(c->a, f, &keys->v.v[k]);
}

static bool any_gone_or_new(const struct file *f, size_t old)
{
	for (size_t i = 0; i < old; i++)
		if (f->v.v[i].gone)
			return true;
	return f->v.n > old;
}

struct found {
	bool known, exists; /* the user; the file */
	struct str home, text;
	struct str link; /* a link that is not to be followed; empty: none */
};

/* home, "file" if it is there, then its text; or "link" and its name. */
static struct found read_answer(struct command_answer *r)
{
	struct found f = { 0 };
	struct str line;

	f.known = r->status == 0 && str_next(&r->out, '\n', &f.home);
	if (!f.known || !str_next(&r->out, '\n', &line))
		return f;
	f.exists = str_eqc(line, "file");
	if (f.exists)
		f.text = str_sub(r->out, 0, r->out.n ? r->out.n - 1 : 0);
	else if (str_eqc(line, "link"))
		f.link = r->out;
	return f;
}

static int authorized_key_check(const struct mod_call *c, const struct answers *an,
				struct changes *ch, struct err *e)
{
	struct key_want *w = arena_obj(ch->a, struct key_want);
	struct keys keys = { { 0 } };
	struct file f = { { 0 } };
	struct command_answer r;
	struct found now;
	size_t old;

	ch->want = w;
	w->user = arg_cstr(c->args, "user");
	w->by_user = arg_bool(c->args, "manage_dir");
	if (read_keys(c, &keys, e))
		return -1;
	answers_command(an, question(c), &r);
	now = read_answer(&r);
	if (!now.known && !c->check)
		return change_fail(ch, "Failed to lookup user %s", w->user);
	if (now.link.n)
		return change_fail(ch,
				   STR_FMT " is a symbolic link: say follow: yes if that is meant",
				   STR_ARG(now.link));
	if (now.text.n > PATH_CONTENT_MAX)
		return change_fail(ch, "the file of %s's keys is too large to edit", w->user);
	if (!now.home.n)
		now.home = str_of(arena_printf(ch->a, "/home/%s", w->user));
	w->content.path = arg_has(c->args, "path")
				  ? arg_cstr(c->args, "path")
				  : arena_printf(ch->a, STR_FMT "/.ssh/authorized_keys",
						 STR_ARG(now.home));
	w->dir = fs_dirname(ch->a, w->content.path);
	parse_file(c->a, now.text, &f);
	old = f.v.n;
	apply_keys(c, &keys, &f);
	w->content.content = file_text(ch->a, &f);
	result_sets(ch, "user", w->user);
	result_sets(ch, "keyfile", w->content.path);
	result_set(ch, "key", value_get(c->args, "key"));
	result_bool(ch, "exclusive", arg_bool(c->args, "exclusive"));
	if (!any_gone_or_new(&f, old))
		return 0;
	w->content.write = true;
	change_content(ch, &(struct content_change){ .path = w->content.path,
						     .before = now.text,
						     .after = w->content.content,
						     .existed = now.exists,
						     .known = true,
						     .diff = c->diff });
	return 0;
}

/* As Ansible: the folder and the file get their owner and modes whenever the file is written. */
static int authorized_key_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
				struct err *e unused_arg)
{
	const struct key_want *w = ch->want;
	bool follow = arg_bool(c->args, "follow");

	patch_raw(p, "g=$(id -g -- ");
	proc_quote(&p->text, str_of(w->user));
	patch_raw(p, ")\n");
	if (w->by_user) {
		patch_raw(p, "d=");
		proc_quote(&p->text, str_of(w->dir));
		patch_raw(p, "; [ -d \"$d\" ] || mkdir -- \"$d\"\nchown ");
		patch_raw(p, follow ? "-- " : "-h -- ");
		proc_quote(&p->text, str_of(w->user));
		patch_raw(p, ":\"$g\" \"$d\"\nchmod -- 0700 \"$d\"\n");
	}
	patch_put(p, &(struct patch_file){ .path = w->content.path,
					   .content = w->content.content,
					   .set_mode = true,
					   .mode = 0600,
					   .owner = w->user,
					   .replace_link = !follow });
	patch_raw(p, follow ? "chgrp -- \"$g\" " : "chgrp -h -- \"$g\" ");
	proc_quote(&p->text, str_of(w->content.path));
	patch_raw(p, "\n");
	return 0;
}

const struct module module_authorized_key = {
	.name = "authorized_key",
	.doc = "which public keys may log in as a user",
	.args = authorized_key_args,
	.probe = authorized_key_probe,
	.check = authorized_key_check,
	.patch = authorized_key_patch,
};
