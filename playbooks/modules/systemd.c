/* SPDX-License-Identifier: Apache-2.0 */
/*
 * service and systemd: whether a unit runs, is enabled, is masked; and reloads of the manager.
 *
 * One `systemctl show` answers for all units of a window. A template (foo@.service) cannot be
 * shown, only enabled, so it has a question of its own. daemon_reload is asked for by roles far
 * more often than something was changed: the host says whether any unit file is younger than the
 * manager's last load, and only then it is done.
 */
#include "playbooks/list.h"

struct unit {
	struct str load, active, sub, file_state;
	bool known;
};

struct unit_want {
	const char *name;
	const char *mask, *enable, *act; /* verbs for systemctl, or NULL */
	bool reload, reexec, no_block, force;
};

#define STATES "reloaded|restarted|started|stopped"

static const struct module_arg service_args[] = {
	{ "name", ARG_STR, ARG_REQUIRED, NULL, NULL, NULL, "the service" },
	{ "state", ARG_STR, 0, NULL, STATES, NULL,
	  "whether it runs; restarted and reloaded always act" },
	{ "enabled", ARG_BOOL, 0, NULL, NULL, NULL, "whether it starts at boot" },
	{ "arguments", ARG_STR, ARG_IGNORED, NULL, NULL, "args", "systemd takes none" },
	{ "pattern", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "systemd knows what runs" },
	{ "runlevel", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "systemd has none" },
	{ "sleep", ARG_INT, ARG_IGNORED, NULL, NULL, NULL, "systemd waits itself" },
	{ "use", ARG_STR, ARG_IGNORED, NULL, NULL, NULL, "always systemd" },
	ARG_END,
};

static const struct module_arg systemd_args[] = {
	{ "name", ARG_STR, 0, NULL, NULL, "service|unit", "the unit; .service may be left out" },
	{ "state", ARG_STR, 0, NULL, STATES, NULL,
	  "whether it runs; restarted and reloaded always act" },
	{ "enabled", ARG_BOOL, 0, NULL, NULL, NULL, "whether it starts at boot" },
	{ "masked", ARG_BOOL, 0, NULL, NULL, NULL, "whether it can be started at all" },
	{ "force", ARG_BOOL, 0, "no", NULL, NULL, "replace links that are in the way" },
	{ "daemon_reload", ARG_BOOL, 0, "no", NULL, "daemon-reload",
	  "read changed unit files first" },
	{ "daemon_reexec", ARG_BOOL, 0, "no", NULL, "daemon-reexec", "start systemd anew first" },
	{ "scope", ARG_STR, 0, "system", "system", NULL, "only the system's manager" },
	{ "no_block", ARG_BOOL, 0, "no", NULL, NULL,
	  "do not wait until it has started or stopped" },
	ARG_END,
};

/*
 * Prints "stale" when a reload would read something new. systemd touches systemd-units-load
 * whenever it has loaded all units; older ones make the folder of generated units anew.
 */
static const char reload_question[] =
	"r=/run/systemd/systemd-units-load; [ -e $r ] || r=/run/systemd/generator\n"
	"[ -e $r ] || { echo stale; exit; }\n"
	"f=$(find /etc/systemd/system /run/systemd/system /usr/local/lib/systemd/system "
	"/lib/systemd/system/ /usr/lib/systemd/system /etc/init.d /etc/fstab /etc/crypttab "
	"-newercm $r 2>/dev/null | head -n 1)\n"
	"[ -z \"$f\" ] || echo stale\n";

/* What systemctl would take for a pattern, an option or several units. */
static bool is_unit_name(struct str s)
{
	if (!s.n || s.n > 255 || s.p[0] == '-')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || memchr("*?[]", s.p[i], 4) || s.p[i] == 127)
			return false;
	return true;
}

static bool is_template(struct str s)
{
	return str_ends(s, "@") || str_find(s, STR("@.")) != SIZE_MAX;
}

static const char *template_question(struct arena *a, const char *name)
{
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 4096);
	buf_adds(&b, "systemctl is-enabled -- ");
	proc_quote(&b, str_of(name));
	return buf_dup(&b, a);
}

static int systemd_probe(const struct mod_call *c, struct probe *p, struct err *e)
{
	const char *name = arg_cstr(c->args, "name");
	bool about_unit = arg_has(c->args, "state") || arg_has(c->args, "enabled") ||
			  arg_has(c->args, "masked");

	if (arg_bool(c->args, "daemon_reload"))
		probe_ask(p, PROBE_COMMAND, reload_question);
	if (!name) {
		if (about_unit)
			return err_at(
				e, (err_set(e, ERR_SPEC, "state, enabled and masked need a name"),
				    c->pos));
		return 0;
	}
	if (!is_unit_name(str_of(name)))
		return err_at(e, (err_set(e, ERR_SPEC, "'%s' is no name of a unit", name), c->pos));
	if (is_template(str_of(name)))
		probe_ask(p, PROBE_COMMAND, template_question(c->a, name));
	else
		probe_ask(p, PROBE_UNIT, name);
	return 0;
}

static void read_template(const struct mod_call *c, const struct answers *an, const char *name,
			  struct unit *u)
{
	struct command_answer r;

	answers_command(an, template_question(c->a, name), &r);
	u->known = r.out.n > 0;
	u->load = STR("loaded");
	u->active = STR("inactive");
	u->file_state = r.out;
}

/* "Id=ssh.service|LoadState=loaded|..." */
static void read_unit(const struct mod_call *c, const struct answers *an, const char *name,
		      struct unit *u)
{
	struct str rest, field, key;

	memset(u, 0, sizeof(*u));
	if (is_template(str_of(name))) {
		read_template(c, an, name, u);
		return;
	}
	rest = answers_get(an, PROBE_UNIT, name);
	while (str_next(&rest, '|', &field)) {
		size_t eq = str_find_char(field, '=');
		if (eq == SIZE_MAX)
			continue;
		key = str_sub(field, 0, eq);
		field = str_sub(field, eq + 1, SIZE_MAX);
		if (str_eqc(key, "LoadState"))
			u->load = field;
		else if (str_eqc(key, "ActiveState"))
			u->active = field;
		else if (str_eqc(key, "SubState"))
			u->sub = field;
		else if (str_eqc(key, "UnitFileState"))
			u->file_state = field;
	}
	u->known = u->load.n > 0;
}

static void change_unit(struct changes *ch, const struct unit_want *w, const char *what,
			const char *before, const char *after)
{
	change_adds(ch, arena_printf(ch->a, "service %s: %s", w->name, what), before, after);
}

static void check_masked(const struct mod_call *c, const struct unit *u, struct unit_want *w,
			 struct changes *ch)
{
	bool want = arg_bool(c->args, "masked"), is = str_eqc(u->file_state, "masked");

	if (!arg_has(c->args, "masked") || want == is)
		return;
	w->mask = want ? "mask" : "unmask";
	change_unit(ch, w, "masked", is ? "yes" : "no", want ? "yes" : "no");
}

/*
 * static and generated count as enabled: nothing can be done about them. indirect does not:
 * somebody asked for this unit, whatever may pull it in otherwise.
 */
static bool is_enabled(const struct unit *u)
{
	return str_eqc(u->file_state, "enabled") || str_eqc(u->file_state, "static") ||
	       str_eqc(u->file_state, "generated");
}

static void check_enabled(const struct mod_call *c, const struct unit *u, struct unit_want *w,
			  struct changes *ch)
{
	bool want = arg_bool(c->args, "enabled"), is = is_enabled(u);

	if (!arg_has(c->args, "enabled"))
		return;
	result_bool(ch, "enabled", want);
	if (want == is)
		return;
	w->enable = want ? "enable" : "disable";
	change_unit(ch, w, "enabled", is ? "yes" : "no", want ? "yes" : "no");
}

static void check_state(const struct mod_call *c, const struct unit *u, struct unit_want *w,
			struct changes *ch)
{
	struct str want = arg_str(c->args, "state");
	bool runs = str_eqc(u->active, "active") || str_eqc(u->active, "activating");

	if (!want.n)
		return;
	if (str_eqc(want, "stopped")) {
		if (runs || str_eqc(u->active, "deactivating"))
			w->act = "stop";
	} else if (!runs) {
		w->act = "start";
	} else if (!str_eqc(want, "started")) {
		w->act = str_eqc(want, "restarted") ? "restart" : "reload";
	}
	result_sets(ch, "state", str_eqc(want, "stopped") ? "stopped" : "started");
	if (w->act)
		change_unit(ch, w, "state", str_cstr(ch->a, u->active), str_cstr(ch->a, want));
}

static void add_status(struct changes *ch, const struct unit *u)
{
	struct value *status = value_map(ch->a);

	value_set(status, "LoadState", value_str(ch->a, u->load));
	value_set(status, "ActiveState", value_str(ch->a, u->active));
	value_set(status, "SubState", value_str(ch->a, u->sub));
	value_set(status, "UnitFileState", value_str(ch->a, u->file_state));
	result_set(ch, "status", status);
}

/* The unit may come with a package that is not yet installed: planning goes on as if it were there.
 */
static int check_missing(const struct mod_call *c, struct unit *u, struct unit_want *w,
			 struct changes *ch)
{
	bool there = u->known && !str_eqc(u->load, "not-found");
	bool asks = arg_has(c->args, "state") || arg_has(c->args, "enabled") ||
		    arg_has(c->args, "masked");

	if (!u->known && !c->check)
		return change_fail(
			ch,
			is_template(str_of(w->name))
				? "Could not find the requested service %s: host"
				: "cannot manage service %s: systemd does not run on this host",
			w->name);
	if (!there && !c->check && asks)
		return change_fail(ch, "Could not find the requested service %s: host", w->name);
	if (!there)
		*u = (struct unit){ .load = STR("not-found"), .active = STR("absent") };
	return 0;
}

static int systemd_check(const struct mod_call *c, const struct answers *an, struct changes *ch,
			 struct err *e unused_arg)
{
	struct unit_want *w = arena_obj(ch->a, struct unit_want);
	struct command_answer r;
	struct unit u;

	ch->want = w;
	w->name = arg_cstr(c->args, "name");
	w->no_block = arg_bool(c->args, "no_block");
	w->force = arg_bool(c->args, "force");
	w->reexec = arg_bool(c->args, "daemon_reexec");
	if (arg_bool(c->args, "daemon_reload")) {
		answers_command(an, reload_question, &r);
		w->reload = r.status != 0 || r.out.n > 0;
	}
	ch->run = (w->reload || w->reexec) && !c->check;
	if (!w->name) {
		result_set(ch, "name", value_null(ch->a));
		return 0;
	}
	result_sets(ch, "name", w->name);
	read_unit(c, an, w->name, &u);
	if (check_missing(c, &u, w, ch) || ch->failed)
		return 0;
	add_status(ch, &u);
	check_masked(c, &u, w, ch);
	check_enabled(c, &u, w, ch);
	check_state(c, &u, w, ch);
	return 0;
}

static void systemctl(struct patch *p, const struct unit_want *w, const char *verb)
{
	const char *argv[8] = { "systemctl" };
	struct buf msg scoped(buf_fini) = { 0 };
	size_t n = 1;
	bool acts = verb == w->act;

	buf_init(&msg, 1024);
	if (acts && w->no_block)
		argv[n++] = "--no-block";
	if (!acts && w->force)
		argv[n++] = "--force";
	argv[n++] = verb;
	argv[n++] = "--";
	argv[n++] = w->name;
	buf_addf(&msg, "Unable to %s service %s", verb, w->name);
	patch_require(p, argv, msg.p);
}

static int systemd_patch(const struct mod_call *c unused_arg, const struct changes *ch,
			 struct patch *p, struct err *e unused_arg)
{
	const struct unit_want *w = ch->want;

	if (w->reload)
		patch_cmd(p, "systemctl", "daemon-reload");
	if (w->reexec)
		patch_cmd(p, "systemctl", "daemon-reexec");
	if (w->mask)
		systemctl(p, w, w->mask);
	if (w->enable)
		systemctl(p, w, w->enable);
	if (w->act)
		systemctl(p, w, w->act);
	return 0;
}

static int systemd_finish(const struct mod_call *c unused_arg, const struct script_result *r,
			  struct changes *ch, struct err *e unused_arg)
{
	return change_finish(ch, r);
}

const struct module module_service = {
	.name = "service",
	.doc = "whether a service runs and starts at boot",
	.args = service_args,
	.probe = systemd_probe,
	.check = systemd_check,
	.patch = systemd_patch,
	.finish = systemd_finish,
};

const struct module module_systemd = {
	.name = "systemd",
	.aliases = "systemd_service",
	.doc = "whether a systemd unit runs, starts at boot, is masked",
	.args = systemd_args,
	.probe = systemd_probe,
	.check = systemd_check,
	.patch = systemd_patch,
	.finish = systemd_finish,
};
