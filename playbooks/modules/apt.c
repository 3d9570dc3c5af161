/* SPDX-License-Identifier: Apache-2.0 */
/*
 * apt, and package on hosts that have apt.
 *
 * What is installed is known for all packages of a window from one dpkg-query, so a task whose
 * packages are there costs no call of apt. The package lists are refreshed before something is
 * installed and when they are older than the task allows; with nothing to install and no
 * cache_valid_time an hour is allowed, since a refresh on every run would be the dearest task of a
 * settled host. What is newer than what can only be said with fresh lists; when they are not, apt's
 * own summary says afterwards what was changed (finish).
 */
#include <fnmatch.h>
#include <inttypes.h>

#include "playbooks/list.h"
#include "playbooks/modules/apt.h"

#define APT_GET	    "/usr/bin/apt-get"
#define APT_MORE_MS 3000000 /* drivers are gigabytes and build kernel modules */

enum apt_verb { APT_NONE, APT_INSTALL, APT_REMOVE, APT_UPGRADE, APT_DIST_UPGRADE };

struct apt_want {
	bool update; /* refresh the lists first */
	bool within_hour, all;
	int64_t refreshed; /* when they were */
	enum apt_verb verb;
	VEC(const char *) packages; /* as apt-get takes them */
	bool autoremove, autoclean, clean;
};

#define APT_ARGS                                                                                        \
	{ "name", ARG_LIST, 0, NULL, NULL, "pkg|package", "packages, also as name=version" },           \
		{ "state",                                                                              \
		  ARG_STR,                                                                              \
		  0,                                                                                    \
		  "present",                                                                            \
		  "absent|build-dep|fixed|latest|present|installed|removed",                            \
		  NULL,                                                                                 \
		  "whether they are there; latest: the newest that the lists have" },                   \
		{ "update_cache",                                                                       \
		  ARG_BOOL,                                                                             \
		  0,                                                                                    \
		  NULL,                                                                                 \
		  NULL,                                                                                 \
		  "update-cache",                                                                       \
		  "refresh the package lists first" },                                                  \
		{ "cache_valid_time",                                                                   \
		  ARG_INT,                                                                              \
		  0,                                                                                    \
		  "0",                                                                                  \
		  NULL,                                                                                 \
		  NULL,                                                                                 \
		  "seconds for which lists need no refresh" },                                          \
		{ "update_cache_retries", ARG_INT, 0, "5", NULL, NULL, "tries to refresh" },            \
		{ "update_cache_retry_max_delay", ARG_INT, 0, "12", NULL, NULL,                         \
		  "most seconds between them" },                                                        \
		{ "purge", ARG_BOOL, 0, "no", NULL, NULL, "remove their configuration too" },           \
		{ "deb", ARG_PATH, 0, NULL, NULL, NULL, "a package file on the host" },                 \
		{ "default_release", ARG_STR, 0, NULL, NULL, "default-release", "release to prefer" },  \
		{ "install_recommends",                                                                 \
		  ARG_BOOL,                                                                             \
		  0,                                                                                    \
		  NULL,                                                                                 \
		  NULL,                                                                                 \
		  "install-recommends",                                                                 \
		  "what they recommend too; else as apt is configured" },                               \
		{ "force", ARG_BOOL, 0, "no", NULL, NULL, "accept everything dangerous" },              \
		{ "upgrade", ARG_STR, 0, "no", NULL, NULL, "yes, safe, full or dist: all packages" },   \
		{ "dpkg_options", ARG_STR,	    0, "force-confdef,force-confold", NULL,             \
		  NULL,		  "options of dpkg" },                                                  \
		{ "autoremove", ARG_BOOL, 0, "no", NULL, NULL, "remove what nothing needs any more" },  \
		{ "autoclean", ARG_BOOL, 0, "no", NULL, NULL, "delete outdated package files" },        \
		{ "fail_on_autoremove",                                                                 \
		  ARG_BOOL,                                                                             \
		  0,                                                                                    \
		  "no",                                                                                 \
		  NULL,                                                                                 \
		  NULL,                                                                                 \
		  "fail rather than remove something" },                                                \
		{ "policy_rc_d",                                                                        \
		  ARG_INT,                                                                              \
		  ARG_NOT_YET,                                                                          \
		  NULL,                                                                                 \
		  NULL,                                                                                 \
		  NULL,                                                                                 \
		  "keep services from starting" },                                                      \
		{ "only_upgrade", ARG_BOOL, 0, "no", NULL, NULL, "install nothing new" },               \
		{ "force_apt_get", ARG_BOOL, ARG_IGNORED, "no", NULL, NULL, "aptitude is never used" }, \
		{ "clean", ARG_BOOL, 0, "no", NULL, NULL, "delete all package files" },                 \
		{ "allow_unauthenticated",                                                              \
		  ARG_BOOL,                                                                             \
		  0,                                                                                    \
		  "no",                                                                                 \
		  NULL,                                                                                 \
		  "allow-unauthenticated",                                                              \
		  "packages without a valid signature" },                                               \
		{ "allow_downgrade",                                                                    \
		  ARG_BOOL,                                                                             \
		  0,                                                                                    \
		  "no",                                                                                 \
		  NULL,                                                                                 \
		  "allow-downgrade|allow_downgrades|allow-downgrades",                                  \
		  "older versions" },                                                                   \
		{ "allow_change_held_packages", ARG_BOOL, 0, "no", NULL, NULL,                          \
		  "packages that are on hold" },                                                        \
	{                                                                                               \
		"lock_timeout", ARG_INT, 0, "60", NULL, NULL, "seconds to wait for another apt"         \
	}

static const struct module_arg apt_args[] = { APT_ARGS, ARG_END };

static const struct module_arg package_args[] = {
	APT_ARGS,
	{ "use", ARG_STR, 0, "auto", "auto|apt", NULL, "the package manager" },
	ARG_END,
};

/* ---- names ---- */

struct pkg_spec {
	struct str name, version; /* version: may have wildcards; empty: any */
};

static struct pkg_spec split(struct str s)
{
	size_t eq;
	struct pkg_spec out;

	s = str_trim(s);
	eq = str_find_char(s, '=');
	out.name = str_trim(str_sub(s, 0, eq));
	out.version = eq == SIZE_MAX ? STR_NONE : str_trim(str_sub(s, eq + 1, SIZE_MAX));
	return out;
}

static bool all_of(struct str s, const char *more)
{
	for (size_t i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' && s.p[i] <= '9') ||
		      (s.p[i] >= 'A' && s.p[i] <= 'Z') || strchr(more, s.p[i])))
			return false;
	return true;
}

static int check_name(const struct mod_call *c, struct str s, struct err *e)
{
	struct pkg_spec sp = split(s);

	if (str_find_char(sp.name, '*') != SIZE_MAX || str_find_char(sp.name, '?') != SIZE_MAX) {
		err_set(e, ERR_SPEC, "package '" STR_FMT "' has a wildcard", STR_ARG(s));
		err_hint(e, "name the packages; only versions may have wildcards");
		return err_at(e, c->pos);
	}
	if (sp.name.n < 2 || !all_of(sp.name, "+-.:_") || sp.name.p[0] == '-' ||
	    !all_of(sp.version, "+-.:~*?_"))
		return err_at(e, (err_set(e, ERR_SPEC, "'" STR_FMT "' is no name of a package",
					  STR_ARG(s)),
				  c->pos));
	return 0;
}

/* Everything, as in name: "*" with state: latest. */
static bool is_all(const struct value *names)
{
	return names && names->list.n == 1 && str_eqc(str_trim(names->list.v[0]->s), "*");
}

static const struct value *names_of(const struct mod_call *c)
{
	const struct value *names = arg_list(c->args, "name");

	return is_all(names) ? NULL : names;
}

static bool state_is(const struct mod_call *c, const char *state)
{
	return str_eqc(arg_str(c->args, "state"), state);
}

static bool is_absent(const struct mod_call *c)
{
	return state_is(c, "absent") || state_is(c, "removed");
}

static enum apt_verb upgrade_of(const struct mod_call *c, struct err *e)
{
	struct str s = arg_str(c->args, "upgrade");

	if (is_all(arg_list(c->args, "name")) && state_is(c, "latest"))
		return APT_UPGRADE;
	if (str_eq_nocase(s, STR("yes")) || str_eq_nocase(s, STR("true")) || str_eqc(s, "safe"))
		return APT_UPGRADE;
	if (str_eqc(s, "dist") || str_eqc(s, "full"))
		return APT_DIST_UPGRADE;
	if (!str_eq_nocase(s, STR("no")) && !str_eq_nocase(s, STR("false")))
		err_at(e, (err_set(e, ERR_SPEC, "upgrade must be yes, safe, full, dist or no"),
			   c->pos));
	return APT_NONE;
}

/* ---- questions ---- */

static bool wants_update(const struct mod_call *c)
{
	return arg_bool(c->args, "update_cache") ||
	       (!arg_has(c->args, "update_cache") && arg_int(c->args, "cache_valid_time", 0) > 0);
}

/* Time of the last refresh; "fresh" if the task calls it recent enough, "hour" if it is within the
 * hour. */
static const char *age_question(const struct mod_call *c)
{
	int64_t valid = arg_int(c->args, "cache_valid_time", 0);

	return arena_printf(
		c->a,
		"f=/var/lib/apt/periodic/update-success-stamp; [ -e $f ] || f=/var/lib/apt/lists\n"
		"t=$(stat -c %%Y $f) || t=0\n"
		/* Lists that were never fetched are not fresh, however young their folder is. */
		"ls /var/lib/apt/lists | grep -q _Packages || t=0\n"
		"n=$(date +%%s); echo $t\n"
		"[ $((n-t)) -ge %" PRId64 " ] || echo fresh\n"
		"[ $((n-t)) -ge 3600 ] || echo hour\n",
		valid < 0	     ? 0
		: valid > 1000000000 ? 1000000000
				     : valid);
}

static const char *policy_question(const struct mod_call *c)
{
	const struct value *names = names_of(c);
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 1 << 20);
	buf_adds(&b, "apt-cache");
	if (arg_has(c->args, "default_release")) {
		buf_adds(&b, " -t ");
		proc_quote(&b, arg_str(c->args, "default_release"));
	}
	buf_adds(&b, " policy --");
	for (size_t i = 0; i < names->list.n; i++) {
		buf_addc(&b, ' ');
		proc_quote(&b, split(names->list.v[i]->s).name);
	}
	buf_adds(&b, " | grep -E '^([^ ]|  (Installed|Candidate):)'");
	return buf_dup(&b, c->a);
}

static const char *upgrade_question(enum apt_verb v)
{
	return v == APT_UPGRADE
		       ? "apt-get -s -q -o Debug::NoLocking=1 --with-new-pkgs upgrade | grep -E '^(Inst|Remv) '"
		       : "apt-get -s -q -o Debug::NoLocking=1 dist-upgrade | grep -E '^(Inst|Remv) '";
}

static const char autoremove_question[] =
	"apt-get -s -q -o Debug::NoLocking=1 autoremove | grep -E '^Remv '";
static const char autoclean_question[] =
	"apt-get -s -q -o Debug::NoLocking=1 autoclean | grep -E '^Del '";

/* "NAME VERSION ARCH" of the file, then "STATUS<tab>VERSION" of what is installed. */
static const char *deb_question(const struct mod_call *c)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 64 << 10);
	buf_adds(&b, "f=");
	proc_quote(&b, arg_str(c->args, "deb"));
	buf_adds(&b, "\np=$(dpkg-deb -f \"$f\" Package) && v=$(dpkg-deb -f \"$f\" Version) && "
		     "a=$(dpkg-deb -f \"$f\" Architecture) || exit 1\n"
		     "printf '%s %s %s\\n' \"$p\" \"$v\" \"$a\"\n"
		     "case $a in all) ;; *) p=$p:$a ;; esac\n"
		     "dpkg-query -W -f '${Status}\\t${Version}\\n' -- \"$p\" || :\n");
	return buf_dup(&b, c->a);
}

static int check_call(const struct mod_call *c, struct err *e)
{
	const struct value *names = names_of(c);
	struct str deb = arg_str(c->args, "deb");
	const char *wrong = NULL;

	if (state_is(c, "build-dep") || state_is(c, "fixed"))
		wrong = "states build-dep and fixed are not supported yet";
	else if (deb.n && str_find(deb, STR("://")) != SIZE_MAX)
		wrong = "deb must be a path on the host: fetch the file with get_url first";
	else if (deb.n && (names || !state_is(c, "present")))
		wrong = "deb goes with state=present and without name";
	else if (is_all(arg_list(c->args, "name")) && !state_is(c, "latest"))
		wrong = "name: \"*\" goes with state=latest only";
	if (wrong)
		return err_at(e, (err_set(e, ERR_SPEC, "%s", wrong), c->pos));
	for (size_t i = 0; names && i < names->list.n; i++)
		if (check_name(c, names->list.v[i]->s, e))
			return -1;
	return 0;
}

static int apt_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const struct value *names = names_of(c);
	struct err bad = { 0 };
	enum apt_verb up = upgrade_of(c, &bad);

	if (bad.kind) {
		*e = bad;
		return -1;
	}
	if (check_call(c, e))
		return -1;
	probe_path(p, APT_GET, PATH_FOLLOW);
	for (size_t i = 0; names && i < names->list.n; i++)
		probe_ask(p, PROBE_PACKAGE, str_cstr(c->a, split(names->list.v[i]->s).name));
	if (wants_update(c))
		probe_ask(p, PROBE_COMMAND, age_question(c));
	if (names && names->list.n && state_is(c, "latest"))
		probe_ask(p, PROBE_COMMAND, policy_question(c));
	if (up)
		probe_ask(p, PROBE_COMMAND, upgrade_question(up));
	if (arg_bool(c->args, "autoremove") && !names)
		probe_ask(p, PROBE_COMMAND, autoremove_question);
	if (arg_bool(c->args, "autoclean") && !names)
		probe_ask(p, PROBE_COMMAND, autoclean_question);
	if (arg_has(c->args, "deb"))
		probe_ask(p, PROBE_COMMAND, deb_question(c));
	return 0;
}

/* ---- decisions ---- */

struct pkg_now {
	bool installed, config; /* config: removed, its configuration is still there */
	struct str version;
};

/* Lines "NAME\tARCH\tWANT FLAG STATE\tVERSION": the first installed one counts. */
static void read_package(struct str lines, struct pkg_now *out)
{
	struct str line, name, arch, status;

	memset(out, 0, sizeof(*out));
	while (!out->installed && str_next_line(&lines, &line)) {
		if (!str_next(&line, '\t', &name) || !str_next(&line, '\t', &arch) ||
		    !str_next(&line, '\t', &status))
			continue;
		out->installed = str_ends(status, " ok installed");
		out->config = out->config || str_ends(status, " config-files");
		out->version = line;
	}
}

static bool version_fits(struct arena *a, struct str want, struct str have)
{
	return !want.n || fnmatch(str_cstr(a, want), str_cstr(a, have), 0) == 0;
}

/* The candidate of apt-cache policy's paragraph "NAME:\n  Installed: X\n  Candidate: Y". */
static struct str candidate_of(struct str out, struct str name)
{
	struct str line;
	bool here = false;

	while (str_next_line(&out, &line)) {
		if (!str_starts(line, " "))
			here = str_starts(line, "") && line.n == name.n + 1 &&
			       memcmp(line.p, name.p, name.n) == 0;
		else if (here && str_starts(line, "  Candidate: "))
			return str_sub(line, strlen("  Candidate: "), SIZE_MAX);
	}
	return STR_NONE;
}

static void change_package(struct changes *ch, struct str name, struct str before,
			   const char *after)
{
	change_adds(ch, arena_printf(ch->a, "package " STR_FMT, STR_ARG(name)),
		    before.n ? str_cstr(ch->a, before) : "absent", after);
}

static void want_package(struct apt_want *w, struct arena *a, struct pkg_spec sp)
{
	VEC_ADD(a, &w->packages) = sp.version.n
					   ? arena_printf(a, STR_FMT "=" STR_FMT, STR_ARG(sp.name),
							  STR_ARG(sp.version))
					   : str_cstr(a, sp.name);
}

static void check_removed(const struct mod_call *c, struct pkg_spec sp, const struct pkg_now *now,
			  struct apt_want *w, struct changes *ch)
{
	bool purge = arg_bool(c->args, "purge");

	if (!now->installed && !(purge && now->config))
		return;
	if (now->installed && !version_fits(c->a, sp.version, now->version))
		return;
	want_package(w, c->a, (struct pkg_spec){ sp.name, STR_NONE });
	change_package(ch, sp.name, now->version, purge ? "purged" : "absent");
}

static void check_installed(const struct mod_call *c, const struct answers *an, struct pkg_spec sp,
			    const struct pkg_now *now, struct apt_want *w, struct changes *ch)
{
	struct command_answer r;
	struct str candidate;

	if (!now->installed) {
		if (arg_bool(c->args, "only_upgrade"))
			return;
		want_package(w, c->a, sp);
		change_package(ch, sp.name, STR_NONE,
			       sp.version.n ? str_cstr(ch->a, sp.version) : "present");
		return;
	}
	if (!version_fits(c->a, sp.version, now->version)) {
		want_package(w, c->a, sp);
		change_package(ch, sp.name, now->version, str_cstr(ch->a, sp.version));
		return;
	}
	if (!state_is(c, "latest") || sp.version.n)
		return;
	answers_command(an, policy_question(c), &r);
	candidate = candidate_of(r.out, sp.name);
	if (candidate.n && !str_eqc(candidate, "(none)") && !str_eq(candidate, now->version)) {
		want_package(w, c->a, sp);
		change_package(ch, sp.name, now->version, str_cstr(ch->a, candidate));
	} else if (w->update) {
		/* Fresh lists may have something newer. */
		want_package(w, c->a, sp);
		ch->run = !c->check;
	}
}

static void check_packages(const struct mod_call *c, const struct answers *an, struct apt_want *w,
			   struct changes *ch)
{
	const struct value *names = names_of(c);
	struct pkg_now now;

	for (size_t i = 0; names && i < names->list.n; i++) {
		struct pkg_spec sp = split(names->list.v[i]->s);
		read_package(answers_get(an, PROBE_PACKAGE, str_cstr(c->a, sp.name)), &now);
		if (is_absent(c))
			check_removed(c, sp, &now, w, ch);
		else
			check_installed(c, an, sp, &now, w, ch);
	}
	if (w->packages.n)
		w->verb = is_absent(c) ? APT_REMOVE : APT_INSTALL;
}

/* "Inst bash [5.1] (5.2 Debian:12 [amd64])", "Remv bash [5.1]", "Del bash 5.1 [1 kB]" */
static size_t check_simulated(const struct answers *an, const char *question, struct changes *ch)
{
	struct command_answer r;
	struct str line, verb, name, old, rest;
	size_t n = 0;

	answers_command(an, question, &r);
	while (str_next_line(&r.out, &line)) {
		n++;
		if (!str_next(&line, ' ', &verb) || !str_next(&line, ' ', &name))
			continue;
		old = STR_NONE;
		if (str_starts(line, "[") && str_next(&line, ' ', &old))
			old = str_trim_end(str_sub(old, 1, SIZE_MAX), ']');
		rest = line;
		if (str_starts(rest, "("))
			str_next(&rest, ' ', &line);
		change_package(ch, name, old,
			       str_eqc(verb, "Inst")   ? str_cstr(ch->a, str_sub(line, 1, SIZE_MAX))
			       : str_eqc(verb, "Remv") ? "absent"
						       : "file deleted");
	}
	return n;
}

static void check_all(const struct mod_call *c, const struct answers *an, struct apt_want *w,
		      struct changes *ch)
{
	struct err none = { 0 };
	enum apt_verb up = upgrade_of(c, &none);

	w->all = up != APT_NONE;
	if (!up)
		return;
	if (check_simulated(an, upgrade_question(up), ch) || w->update) {
		w->verb = up;
		ch->run = !c->check;
	}
}

static int check_deb(const struct mod_call *c, const struct answers *an, struct apt_want *w,
		     struct changes *ch)
{
	const char *path = arg_cstr(c->args, "deb");
	struct command_answer r;
	struct str line, name = STR_NONE, version = STR_NONE, status = STR_NONE;

	answers_command(an, deb_question(c), &r);
	if (r.status != 0 && !c->check)
		return change_fail(ch, "%s is no package file, or is not there", path);
	if (str_next_line(&r.out, &line)) {
		str_next(&line, ' ', &name);
		str_next(&line, ' ', &version);
	}
	if (str_next_line(&r.out, &line))
		str_next(&line, '\t', &status);
	if (name.n && str_ends(status, " ok installed") && str_eq(line, version))
		return 0;
	w->verb = APT_INSTALL;
	VEC_ADD(c->a, &w->packages) = path[0] == '/' ? path : arena_printf(c->a, "./%s", path);
	change_package(ch, name.n ? name : str_of(path),
		       str_ends(status, " ok installed") ? line : STR_NONE,
		       version.n ? str_cstr(ch->a, version) : "present");
	return 0;
}

static void check_cache(const struct mod_call *c, const struct answers *an, struct apt_want *w)
{
	struct command_answer r;

	if (!wants_update(c))
		return;
	answers_command(an, age_question(c), &r);
	w->update = str_find(r.out, STR("fresh")) == SIZE_MAX;
	w->within_hour = str_find(r.out, STR("hour")) != SIZE_MAX;
	str_to_int(str_sub(r.out, 0, str_find_char(r.out, '\n')), &w->refreshed);
}

/* After the packages are known: with all of them there, lists of the last hour are good enough. */
static void settle_cache(const struct mod_call *c, struct apt_want *w, struct changes *ch)
{
	const struct value *names = names_of(c);
	bool about_packages = (names && names->list.n) || arg_has(c->args, "deb");

	if (!wants_update(c))
		return;
	if (about_packages && !w->verb && w->within_hour)
		w->update = false;
	result_bool(ch, "cache_updated", w->update);
	result_set(ch, "cache_update_time",
		   w->update ? value_unknown(ch->a) : value_int(ch->a, w->refreshed));
	if (!w->update)
		return;
	ch->run = !c->check;
	if (!about_packages && !w->all)
		change_adds(ch, "package lists", NULL, "refreshed");
}

static int apt_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
		     struct err *e unused_arg)
{
	struct apt_want *w = arena_obj(ch->a, struct apt_want);
	const struct value *names = names_of(c);
	struct path_info apt;

	ch->want = w;
	answers_path(an, APT_GET, PATH_FOLLOW, &apt);
	if (apt.type == PATH_NONE)
		return change_fail(
			ch, "this host has no apt-get: dnf and zypper are not supported yet");
	check_cache(c, an, w);
	if (arg_bool(c->args, "clean")) {
		w->clean = true;
		change_adds(ch, "package files", NULL, "deleted");
	}
	check_all(c, an, w, ch);
	check_packages(c, an, w, ch);
	if (arg_has(c->args, "deb") && check_deb(c, an, w, ch))
		return 0;
	settle_cache(c, w, ch);
	ch->takes_ms = APT_MORE_MS;
	w->autoremove = arg_bool(c->args, "autoremove") && w->verb;
	if (arg_bool(c->args, "autoremove") && !names)
		w->autoremove |= check_simulated(an, autoremove_question, ch) > 0;
	if (arg_bool(c->args, "autoclean") && !names)
		w->autoclean = check_simulated(an, autoclean_question, ch) > 0;
	return 0;
}

/* ---- the patch ---- */

static void add_word(struct patch *p, const char *s)
{
	buf_addc(&p->text, ' ');
	proc_quote(&p->text, str_of(s));
}

static void apt_get(const struct mod_call *c, struct patch *p)
{
	struct str rest = arg_str(c->args, "dpkg_options"), option;

	patch_raw(p, "DEBIAN_FRONTEND=noninteractive DEBIAN_PRIORITY=critical apt-get -q -y");
	buf_addf(&p->text, " -o DPkg::Lock::Timeout=%" PRId64,
		 arg_int(c->args, "lock_timeout", 60));
	while (rest.n && str_next(&rest, ',', &option)) {
		option = str_trim(option);
		add_word(p, "-o");
		add_word(p, arena_printf(c->a, "Dpkg::Options::=--" STR_FMT, STR_ARG(option)));
	}
}

static void add_if(const struct mod_call *c, struct patch *p, const char *arg, const char *flag)
{
	if (arg_bool(c->args, arg))
		add_word(p, flag);
}

static void add_options(const struct mod_call *c, struct patch *p, const struct apt_want *w)
{
	if (arg_has(c->args, "default_release")) {
		add_word(p, "-t");
		add_word(p, arg_cstr(c->args, "default_release"));
	}
	if (arg_has(c->args, "install_recommends"))
		buf_addf(&p->text, " -o APT::Install-Recommends=%s",
			 arg_bool(c->args, "install_recommends") ? "yes" : "no");
	add_if(c, p, "fail_on_autoremove", "--no-remove");
	if (w->verb == APT_INSTALL)
		add_if(c, p, "only_upgrade", "--only-upgrade");
	add_if(c, p, "allow_unauthenticated", "--allow-unauthenticated");
	add_if(c, p, "allow_downgrade", "--allow-downgrades");
	add_if(c, p, "allow_change_held_packages", "--allow-change-held-packages");
	if (arg_bool(c->args, "force"))
		patch_raw(p, " --allow-downgrades --allow-remove-essential "
			     "--allow-change-held-packages --allow-unauthenticated");
}

/* A list that fails to load is a failure, and it is tried again, as long as the task says. */
void apt_patch_update(const struct mod_call *c, struct patch *p)
{
	buf_addf(&p->text,
		 "n=1; d=1; while :; do\n"
		 "if DEBIAN_FRONTEND=noninteractive apt-get -q -o APT::Update::Error-Mode=any "
		 "-o DPkg::Lock::Timeout=%" PRId64 " update; then break; fi\n"
		 "[ $n -lt %" PRId64 " ] || { echo 'Failed to update apt cache'; exit 1; }\n"
		 "sleep $d; n=$((n+1)); d=$((d*2)); [ $d -le %" PRId64 " ] || d=%" PRId64 "\n"
		 "done\n"
		 "touch -- /var/lib/apt/lists\n"
		 "[ ! -e /var/lib/apt/periodic/update-success-stamp ] || "
		 "touch -- /var/lib/apt/periodic/update-success-stamp\n",
		 arg_int(c->args, "lock_timeout", 60), arg_int(c->args, "update_cache_retries", 5),
		 arg_int(c->args, "update_cache_retry_max_delay", 12),
		 arg_int(c->args, "update_cache_retry_max_delay", 12));
}

static void patch_verb(const struct mod_call *c, struct patch *p, const struct apt_want *w)
{
	static const char *const verbs[] = { NULL, " install", " remove",
					     " upgrade --with-new-pkgs", " dist-upgrade" };

	apt_get(c, p);
	add_options(c, p, w);
	patch_raw(p, verbs[w->verb]);
	add_if(c, p, "purge", "--purge");
	if (w->autoremove)
		add_word(p, "--auto-remove");
	if (w->packages.n)
		patch_raw(p, " --");
	for (size_t i = 0; i < w->packages.n; i++)
		add_word(p, w->packages.v[i]);
	patch_raw(p, "\n");
}

static int apt_patch(const struct mod_call *c, const struct changes *ch, struct patch *p,
		     struct err *e unused_arg)
{
	const struct apt_want *w = ch->want;

	if (w->clean)
		patch_raw(p, "apt-get clean\n");
	if (w->update)
		apt_patch_update(c, p);
	if (w->verb)
		patch_verb(c, p, w);
	if (w->autoclean)
		patch_raw(p, "apt-get -q -y autoclean\n");
	if (w->autoremove && !w->verb) {
		apt_get(c, p);
		patch_raw(p, " autoremove");
		add_if(c, p, "purge", "--purge");
		patch_raw(p, "\n");
	}
	return 0;
}

/* "3 upgraded, 1 newly installed, 0 to remove and 2 not upgraded." */
static bool nothing_done(struct str out)
{
	struct str line;

	while (str_next_line(&out, &line))
		if (str_starts(line, "0 upgraded, 0 newly installed, 0 to remove"))
			return true;
		else if (str_find(line, STR(" newly installed, ")) != SIZE_MAX)
			return false;
	return true;
}

static int apt_finish(const struct mod_call *c unused_arg, const struct script_result *r,
		      struct changes *ch, struct err *e unused_arg)
{
	const struct apt_want *w = ch->want;

	result_output(ch, "stdout", r->out);
	result_output(ch, "stderr", r->err);
	if (r->status == 0 && !ch->v.n && w->verb && !nothing_done(r->out)) {
		for (size_t i = 0; i < w->packages.n; i++)
			change_adds(ch, arena_printf(ch->a, "package %s", w->packages.v[i]), NULL,
				    "latest");
		if (!w->packages.n)
			change_adds(ch, "packages", NULL, "upgraded");
	}
	return change_finish(ch, r);
}

const struct module module_apt = {
	.name = "apt",
	.doc = "packages of Debian and Ubuntu",
	.args = apt_args,
	.probe = apt_probe,
	.check = apt_check,
	.patch = apt_patch,
	.finish = apt_finish,
};

const struct module module_package = {
	.name = "package",
	.doc = "packages, with the package manager that the host has",
	.args = package_args,
	.probe = apt_probe,
	.check = apt_check,
	.patch = apt_patch,
	.finish = apt_finish,
};
