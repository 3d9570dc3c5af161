/* SPDX-License-Identifier: Apache-2.0 */
/*
 * user: an account of the host's own database.
 *
 * What groups somebody is in is asked by user (`groups`), not by group: so a group that an earlier
 * task makes does not disturb the decision, and useradd itself says when one is missing. The
 * password's hash is compared here with the host's, and goes to the host on chpasswd's stdin: it is
 * in no argument list, change or result.
 */
#include <inttypes.h>

#include "playbooks/list.h"
#include "playbooks/modules/authorized_key.h"

struct user_now {
	bool exists;
	int64_t uid, gid;
	struct str comment, home, shell;
	struct str groups; /* "primary second third" */
	struct str hash;
};

struct user_want {
	const char *name;
	bool add, del, make_home, remove_home;
	VEC(const char *) opts; /* of useradd or usermod; empty: no call */
	struct str hash;	/* to set, empty: none */
	bool lock, unlock;
	const char *home;
};

static const struct module_arg user_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, "user", "the account" },
	{ "state", ARG_STR, 0, "present", "absent|present", NULL, "whether it is there" },
	{ "uid", ARG_INT, 0, NULL, NULL, NULL, "its number" },
	{ "non_unique", ARG_BOOL, 0, "no", NULL, NULL, "the number may be another's too" },
	{ "group", ARG_STR, 0, NULL, NULL, NULL, "its own group, by name or number" },
	{ "groups", ARG_LIST, 0, NULL, NULL, NULL, "the other groups it is in" },
	{ "append", ARG_BOOL, 0, "no", NULL, NULL, "keep it in the groups not named" },
	{ "comment", ARG_STR, 0, NULL, NULL, NULL, "full name" },
	{ "home", ARG_PATH, 0, NULL, NULL, NULL, "home directory" },
	{ "shell", ARG_PATH, 0, NULL, NULL, NULL, "login shell" },
	{ "create_home", ARG_BOOL, 0, "yes", NULL, "createhome", "make the home directory" },
	{ "move_home", ARG_BOOL, 0, "no", NULL, NULL, "move what is in the old home directory" },
	{ "skeleton", ARG_PATH, 0, NULL, NULL, NULL, "what a new home directory holds" },
	{ "umask", ARG_STR, 0, NULL, NULL, NULL, "permissions of a new home directory" },
	{ "system", ARG_BOOL, 0, "no", NULL, NULL,
	  "a new one gets a number of the system's range" },
	{ "password", ARG_STR, ARG_SECRET, NULL, NULL, NULL,
	  "hash of the password, as in shadow(5)" },
	{ "update_password", ARG_STR, 0, "always", "always|on_create", NULL, "when it is set" },
	{ "password_lock", ARG_BOOL, 0, NULL, NULL, NULL, "nobody can log in with the password" },
	{ "remove", ARG_BOOL, 0, "no", NULL, NULL, "absent: its files too" },
	{ "force", ARG_BOOL, 0, "no", NULL, NULL, "absent: even if it is logged in" },
	{ "local", ARG_BOOL, ARG_IGNORED, "no", NULL, NULL, "useradd is always local" },
	{ "expires", ARG_RAW, ARG_NOT_YET, NULL, NULL, NULL, "when the account ends" },
	{ "password_expire_min", ARG_INT, ARG_NOT_YET, NULL, NULL, NULL, "days" },
	{ "password_expire_max", ARG_INT, ARG_NOT_YET, NULL, NULL, NULL, "days" },
	{ "password_expire_warn", ARG_INT, ARG_NOT_YET, NULL, NULL, NULL, "days" },
	{ "seuser", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "SELinux user" },
	{ "login_class", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "BSD only" },
	{ "hidden", ARG_BOOL, ARG_NOT_YET, NULL, NULL, NULL, "macOS only" },
	{ "profile", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "Solaris only" },
	{ "role", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "Solaris only" },
	{ "authorization", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "Solaris only" },
	{ "generate_ssh_key", ARG_BOOL, ARG_NOT_YET, NULL, NULL, NULL,
	  "use the command module with ssh-keygen and creates" },
	{ "ssh_key_bits", ARG_INT, ARG_IGNORED, NULL, NULL, NULL, "see generate_ssh_key" },
	{ "ssh_key_type", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "see generate_ssh_key" },
	{ "ssh_key_file", ARG_PATH, ARG_IGNORED, NULL, NULL, NULL, "see generate_ssh_key" },
	{ "ssh_key_comment", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "see generate_ssh_key" },
	{ "ssh_key_passphrase", ARG_STR, ARG_NOT_YET, NULL, NULL, NULL, "see generate_ssh_key" },
	ARG_END,
};

static bool is_absent(const struct mod_call *c)
{
	return str_eqc(arg_str(c->args, "state"), "absent");
}

static bool wants_home(const struct mod_call *c)
{
	return arg_bool(c->args, "create_home");
}

/* Where the home is as far as the task says. With none given and another in passwd, nothing is
 * asked about it. */
static const char *home_of(const struct mod_call *c)
{
	const char *home = arg_cstr(c->args, "home"), *name = arg_cstr(c->args, "name");

	if (home)
		return home;
	return strcmp(name, "root") == 0 ? "/root" : arena_printf(c->a, "/home/%s", name);
}

static bool is_octal(const char *s)
{
	return !s || (*s && strlen(s) <= 4 && !s[strspn(s, "01234567")]);
}

static int user_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = arg_cstr(c->args, "name");

	if (!*name || name[0] == '-' || strpbrk(name, ":,/ \t\n"))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no name of a user", name), c->pos));
	if (strpbrk(arg_has(c->args, "comment") ? arg_cstr(c->args, "comment") : "", ":\n"))
		return err_at(e,
			      (err_set(e, ERR_SPEC, "comment has a colon or line break"), c->pos));
	if (strpbrk(arg_has(c->args, "password") ? arg_cstr(c->args, "password") : "", ":\n"))
		return err_at(e, (err_set(e, ERR_SPEC, "password is no hash as shadow(5) has them"),
				  c->pos));
	if (!is_octal(arg_cstr(c->args, "umask")))
		return err_at(e, (err_set(e, ERR_SPEC, "umask is an octal number"), c->pos));
	probe_ask(p, PROBE_PASSWD, name);
	if (is_absent(c))
		return 0;
	probe_ask(p, PROBE_GROUPS, name);
	if (arg_has(c->args, "password") || arg_has(c->args, "password_lock"))
		probe_ask(p, PROBE_SHADOW, name);
	if (wants_home(c))
		probe_path(p, home_of(c), PATH_FOLLOW);
	return 0;
}

static struct str next_field(struct str *line)
{
	struct str part = STR_NONE;

	return str_next(line, ':', &part) ? part : STR_NONE;
}

static void read_now(const struct mod_call *c, const struct answers *an, const char *name,
		     struct user_now *u)
{
	struct str line = answers_get(an, PROBE_PASSWD, name);

	memset(u, 0, sizeof(*u));
	u->exists = line.n > 0;
	next_field(&line);
	next_field(&line);
	str_to_int(next_field(&line), &u->uid);
	str_to_int(next_field(&line), &u->gid);
	u->comment = next_field(&line);
	u->home = next_field(&line);
	u->shell = next_field(&line);
	if (is_absent(c))
		return;
	line = answers_get(an, PROBE_GROUPS, name);
	if (line.n) {
		size_t at = str_find(line, STR(" : "));
		u->groups = at == SIZE_MAX ? STR_NONE : str_trim(str_sub(line, at + 3, SIZE_MAX));
	}
	if (arg_has(c->args, "password") || arg_has(c->args, "password_lock")) {
		line = answers_get(an, PROBE_SHADOW, name);
		next_field(&line);
		u->hash = next_field(&line);
	}
}

static void opt(struct user_want *w, struct arena *a, const char *flag, const char *value)
{
	VEC_ADD(a, &w->opts) = flag;
	if (value)
		VEC_ADD(a, &w->opts) = value;
}

static void change_user(struct changes *ch, const struct user_want *w, const char *what,
			struct str before, const char *after)
{
	change_adds(ch, arena_printf(ch->a, "user %s: %s", w->name, what), str_cstr(ch->a, before),
		    after);
}

static bool has_word(struct str words, struct str word)
{
	struct str part;

	while (str_next(&words, ' ', &part))
		if (str_eq(part, word))
			return true;
	return false;
}

static struct str first_word(struct str *words)
{
	struct str part = STR_NONE;

	return str_next(words, ' ', &part) ? part : STR_NONE;
}

static const char *joined(struct arena *a, const struct value *list, char sep)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 64 << 10);
	for (size_t i = 0; list && i < list->list.n; i++) {
		if (!list->list.v[i]->s.n)
			continue;
		if (b.n)
			buf_addc(&b, sep);
		buf_addstr(&b, list->list.v[i]->s);
	}
	return buf_dup(&b, a);
}

/* ---- a new one ---- */

static void add_ids(const struct mod_call *c, struct user_want *w)
{
	const char *group = arg_cstr(c->args, "group");

	if (arg_has(c->args, "uid")) {
		opt(w, c->a, "-u", arena_printf(c->a, "%" PRId64, arg_int(c->args, "uid", 0)));
		if (arg_bool(c->args, "non_unique"))
			opt(w, c->a, "-o", NULL);
	}
	if (group)
		opt(w, c->a, "-g", group);
}

static void check_new(const struct mod_call *c, struct user_want *w, struct changes *ch)
{
	const char *groups = joined(c->a, arg_list(c->args, "groups"), ',');
	const char *s;

	w->add = true;
	add_ids(c, w);
	if (*groups)
		opt(w, c->a, "-G", groups);
	if ((s = arg_cstr(c->args, "comment")))
		opt(w, c->a, "-c", s);
	if ((s = arg_cstr(c->args, "home")))
		opt(w, c->a, "-d", s);
	if ((s = arg_cstr(c->args, "shell")))
		opt(w, c->a, "-s", s);
	if (arg_bool(c->args, "system"))
		opt(w, c->a, "-r", NULL);
	opt(w, c->a, wants_home(c) ? "-m" : "-M", NULL);
	if (wants_home(c) && (s = arg_cstr(c->args, "skeleton")))
		opt(w, c->a, "-k", s);
	if (wants_home(c) && (s = arg_cstr(c->args, "umask")))
		opt(w, c->a, "-K", arena_printf(c->a, "UMASK=%s", s));
	w->hash = arg_str(c->args, "password");
	w->lock = arg_bool(c->args, "password_lock");
	change_adds(ch, arena_printf(ch->a, "user %s", w->name), "absent", "present");
}

/* ---- one that is there ---- */

static void check_uid(const struct mod_call *c, const struct user_now *u, struct user_want *w,
		      struct changes *ch)
{
	int64_t uid = arg_int(c->args, "uid", u->uid);

	if (uid == u->uid)
		return;
	opt(w, c->a, "-u", arena_printf(c->a, "%" PRId64, uid));
	if (arg_bool(c->args, "non_unique"))
		opt(w, c->a, "-o", NULL);
	change_add(ch, arena_printf(ch->a, "user %s: uid", w->name), value_int(ch->a, u->uid),
		   value_int(ch->a, uid));
}

static bool is_primary(const struct user_now *u, struct str group)
{
	struct str words = u->groups;
	int64_t gid;

	return str_to_int(group, &gid) ? gid == u->gid : str_eq(first_word(&words), group);
}

static void check_group(const struct mod_call *c, const struct user_now *u, struct user_want *w,
			struct changes *ch)
{
	const char *group = arg_cstr(c->args, "group");
	struct str words = u->groups;

	if (!group || !*group || is_primary(u, str_of(group)))
		return;
	opt(w, c->a, "-g", group);
	change_user(ch, w, "group", first_word(&words), group);
}

static void check_groups(const struct mod_call *c, const struct user_now *u, struct user_want *w,
			 struct changes *ch)
{
	const struct value *want = arg_list(c->args, "groups");
	struct str others = u->groups, rest, word;
	size_t missing = 0, found = 0, has = 0;
	bool append = arg_bool(c->args, "append");

	if (!want)
		return;
	first_word(&others);
	for (size_t i = 0; i < want->list.n; i++) {
		struct str g = want->list.v[i]->s;
		if (!g.n || is_primary(u, g))
			continue;
		if (has_word(others, g))
			found++;
		else
			missing++;
	}
	for (rest = others; rest.n && str_next(&rest, ' ', &word);)
		has++;
	if (!missing && (append || has == found))
		return;
	if (append)
		opt(w, c->a, "-a", NULL);
	opt(w, c->a, "-G", joined(c->a, want, ','));
	change_user(ch, w, "groups", others,
		    append ? arena_printf(ch->a, STR_FMT "%s+ %s", STR_ARG(others),
					  others.n ? " " : "", joined(ch->a, want, ' '))
			   : joined(ch->a, want, ' '));
}

static void check_text(const struct mod_call *c, const char *arg, const char *flag, struct str now,
		       struct user_want *w, struct changes *ch)
{
	const char *want = arg_cstr(c->args, arg);

	if (!want || str_eqc(now, want))
		return;
	opt(w, c->a, flag, want);
	if (strcmp(arg, "home") == 0 && arg_bool(c->args, "move_home"))
		opt(w, c->a, "-m", NULL);
	change_user(ch, w, arg, now, want);
}

static struct str without_lock(struct str hash)
{
	while (hash.n && hash.p[0] == '!')
		hash = str_sub(hash, 1, SIZE_MAX);
	return hash;
}

static void check_password(const struct mod_call *c, const struct user_now *u, struct user_want *w,
			   struct changes *ch)
{
	struct str want = arg_str(c->args, "password");
	bool locked = str_starts(u->hash, "!"), lock = arg_bool(c->args, "password_lock");

	if (arg_has(c->args, "password") &&
	    str_eqc(arg_str(c->args, "update_password"), "always") &&
	    !str_eq(without_lock(want), without_lock(u->hash))) {
		w->hash = want;
		/* chpasswd's new hash would unlock it. */
		w->lock = arg_has(c->args, "password_lock") ? lock
							    : locked && str_starts(want, "!");
		change_adds(ch, arena_printf(ch->a, "user %s: password", w->name), NULL, NULL);
	}
	if (!arg_has(c->args, "password_lock") || lock == locked)
		return;
	w->lock = lock;
	w->unlock = !lock && !w->hash.n;
	change_user(ch, w, "password_lock", locked ? STR("yes") : STR("no"), lock ? "yes" : "no");
}

static void check_home(const struct mod_call *c, const struct answers *an, const struct user_now *u,
		       struct user_want *w, struct changes *ch)
{
	const char *home = home_of(c);
	struct path_info pi;

	if (!wants_home(c) || (!arg_has(c->args, "home") && !str_eqc(u->home, home)))
		return;
	answers_path(an, home, PATH_FOLLOW, &pi);
	if (pi.type != PATH_NONE)
		return;
	/* usermod -m brings it along. */
	if (arg_bool(c->args, "move_home") && !str_eqc(u->home, home))
		return;
	w->make_home = true;
	w->home = home;
	change_user(ch, w, "home directory", STR("absent"), home);
}

static void check_old(const struct mod_call *c, const struct answers *an, const struct user_now *u,
		      struct user_want *w, struct changes *ch)
{
	check_uid(c, u, w, ch);
	check_group(c, u, w, ch);
	check_groups(c, u, w, ch);
	check_text(c, "comment", "-c", u->comment, w, ch);
	check_text(c, "home", "-d", u->home, w, ch);
	check_text(c, "shell", "-s", u->shell, w, ch);
	check_password(c, u, w, ch);
	check_home(c, an, u, w, ch);
}

static const struct value *text_or(struct arena *a, const char *asked, bool exists, struct str now)
{
	if (asked)
		return value_cstr(a, asked);
	return exists ? value_str(a, now) : value_unknown(a);
}

static void add_results(const struct mod_call *c, const struct user_now *u, struct changes *ch)
{
	struct arena *a = ch->a;
	const char *group = arg_cstr(c->args, "group");
	const struct value *groups = arg_list(c->args, "groups");
	bool has_uid = arg_has(c->args, "uid");

	result_set(ch, "uid",
		   has_uid || u->exists ? value_int(a, arg_int(c->args, "uid", u->uid))
					: value_unknown(a));
	result_set(ch, "group",
		   u->exists && (!group || is_primary(u, str_of(group))) ? value_int(a, u->gid)
									 : value_unknown(a));
	result_set(ch, "home", text_or(a, arg_cstr(c->args, "home"), u->exists, u->home));
	result_set(ch, "shell", text_or(a, arg_cstr(c->args, "shell"), u->exists, u->shell));
	result_set(ch, "comment", text_or(a, arg_cstr(c->args, "comment"), u->exists, u->comment));
	if (groups)
		result_sets(ch, "groups", joined(a, groups, ','));
	result_bool(ch, "append", arg_bool(c->args, "append"));
	if (u->exists) {
		result_bool(ch, "move_home", arg_bool(c->args, "move_home"));
	} else {
		result_bool(ch, "system", arg_bool(c->args, "system"));
		result_bool(ch, "create_home", wants_home(c));
	}
	if (arg_has(c->args, "password"))
		result_sets(ch, "password", "NOT_LOGGING_PASSWORD");
}

static int user_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		      struct err *e unused_arg)
{
	struct user_want *w = arena_obj(ch->a, struct user_want);
	struct user_now u;

	ch->want = w;
	w->name = arg_cstr(c->args, "name");
	read_now(c, an, w->name, &u);
	result_sets(ch, "name", w->name);
	result_sets(ch, "state", is_absent(c) ? "absent" : "present");
	if (is_absent(c)) {
		w->del = u.exists;
		result_bool(ch, "force", arg_bool(c->args, "force"));
		result_bool(ch, "remove", arg_bool(c->args, "remove"));
		if (u.exists)
			change_adds(ch, arena_printf(ch->a, "user %s", w->name), "present",
				    "absent");
		return 0;
	}
	if (u.exists)
		check_old(c, an, &u, w, ch);
	else
		check_new(c, w, ch);
	add_results(c, &u, ch);
	return 0;
}

/* ---- the patch ---- */

static void call(struct patch *p, const struct user_want *w, const char *program)
{
	buf_adds(&p->text, program);
	for (size_t i = 0; i < w->opts.n; i++) {
		buf_addc(&p->text, ' ');
		proc_quote(&p->text, str_of(w->opts.v[i]));
	}
}

static void end_call(struct patch *p, const struct user_want *w)
{
	buf_adds(&p->text, " -- ");
	proc_quote(&p->text, str_of(w->name));
	buf_addc(&p->text, '\n');
}

/* As useradd: a group of the user's own, unless one of that name is there already. */
static void patch_new(const struct mod_call *c, struct patch *p, const struct user_want *w)
{
	bool own_group = !arg_has(c->args, "group");

	if (own_group) {
		patch_raw(p, "n=; if getent group -- ");
		proc_quote(&p->text, str_of(w->name));
		patch_raw(p, " >/dev/null; then n=-N; fi\n");
	}
	call(p, w, "useradd");
	if (own_group)
		patch_raw(p, " $n");
	end_call(p, w);
}

static void patch_hash(struct patch *p, const struct user_want *w)
{
	struct buf line scoped(buf_wipe) = { 0 };

	buf_init(&line, 8192);
	/* Locked at once: at no moment does the hash stand there open. */
	buf_addf(&line, "%s:%s", w->name, w->lock && !str_starts(w->hash, "!") ? "!" : "");
	buf_addstr(&line, w->hash);
	patch_raw(p, "printf '%s\\n' ");
	proc_quote(&p->text, buf_str(&line));
	patch_raw(p, " | chpasswd -e\n");
}

/* u is the user's number and g the number of its group. */
static void patch_home(const struct mod_call *c, struct patch *p, const struct user_want *w)
{
	const char *skel = arg_cstr(c->args, "skeleton"), *mask = arg_cstr(c->args, "umask");

	patch_raw(p, "u=$(id -u -- ");
	proc_quote(&p->text, str_of(w->name));
	patch_raw(p, "); g=$(id -g -- ");
	proc_quote(&p->text, str_of(w->name));
	patch_raw(p, "); h=");
	proc_quote(&p->text, str_of(w->home));
	patch_raw(p, "; s=");
	proc_quote(&p->text, str_of(skel ? skel : "/etc/skel"));
	patch_raw(p, "; m=");
	proc_quote(&p->text, str_of(mask ? mask : ""));
	patch_raw(
		p,
		"\nmkdir -p -- \"${h%/*}/\"\n"
		"if [ -d \"$s\" ]; then cp -R -P -- \"$s\" \"$h\"; else mkdir -- \"$h\"; fi\n"
		"chown -R -h -- \"$u:$g\" \"$h\"\n"
		"[ -n \"$m\" ] || m=$(sed -n 's/^UMASK[[:space:]]*//p' /etc/login.defs 2>/dev/null | head -n 1)\n"
		"chmod -- \"$(printf '%04o' $((0777 & ~0${m:-22})))\" \"$h\"\n");
}

static int user_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
		      struct err *e unused_arg)
{
	const struct user_want *w = ch->want;

	if (w->del) {
		patch_raw(p, "userdel");
		if (arg_bool(c->args, "force"))
			patch_raw(p, " -f");
		if (arg_bool(c->args, "remove"))
			patch_raw(p, " -r");
		end_call(p, w);
		return 0;
	}
	if (w->add) {
		patch_new(c, p, w);
		authorized_key_predict_none(ch, w->name, home_of(c));
	} else if (w->opts.n) {
		call(p, w, "usermod");
		end_call(p, w);
	}
	if (w->hash.n)
		patch_hash(p, w);
	else if (w->lock && !w->add)
		patch_cmd(p, "usermod", "-L", "--", w->name);
	if (w->unlock)
		patch_cmd(p, "usermod", "-U", "--", w->name);
	if (w->make_home)
		patch_home(c, p, w);
	return 0;
}

const struct module module_user = {
	.name = "user",
	.doc = "an account of the host",
	.args = user_args,
	.probe = user_probe,
	.check = user_check,
	.patch = user_patch,
};
