/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/targets.h"

#include "cli/view.h"

/* ---- Ansible's connection variables ---- */

static const char *var_str(struct cli *c, const struct value *vars, const char *name)
{
	const struct value *v = value_get(vars, name);
	scoped(buf_fini) struct buf b = { 0 };

	if (!v || v->kind == V_NULL)
		return NULL;
	buf_init(&b, 65536);
	value_reveal(&b, v);
	return buf_dup(&b, c->a);
}

static bool var_true(const struct value *vars, const char *name)
{
	const struct value *v = value_get(vars, name);

	return v && (v->kind == V_BOOL
			     ? v->b
			     : v->kind == V_STR && (str_eqc(v->s, "yes") || str_eqc(v->s, "true")));
}

/* One "-o Key=Value" of ansible_ssh_common_args. What we can't do is said, never dropped. */
static int ssh_option(struct cli *c, struct ssh_target *t, struct str option, struct err *e)
{
	size_t eq = str_find_char(option, '=');
	struct str key = str_sub(option, 0, eq),
		   val = eq == SIZE_MAX ? STR_NONE : str_sub(option, eq + 1, SIZE_MAX);

	if (str_eq_nocase(key, STR("StrictHostKeyChecking"))) {
		t->strict = str_eqc(val, "no")		 ? SSH_STRICT_NO
			    : str_eqc(val, "accept-new") ? SSH_STRICT_ACCEPT_NEW
							 : SSH_STRICT_YES;
	} else if (str_eq_nocase(key, STR("UserKnownHostsFile"))) {
		VEC_ADD(c->a, &t->known_hosts) = str_cstr(c->a, val);
	} else if (str_eq_nocase(key, STR("ProxyJump"))) {
		return ssh_jumps_resolve(c->a, c->g.ssh_config, str_cstr(c->a, val), t, e);
	} else if (!str_eq_nocase(key, STR("ControlMaster")) &&
		   !str_eq_nocase(key, STR("ControlPersist")) &&
		   !str_eq_nocase(key, STR("ControlPath"))) {
		err_set(e, ERR_USAGE, "ssh option " STR_FMT " is not understood here",
			STR_ARG(option));
		return err_hint(e, "put it into ~/.ssh/config, or leave it out");
	}
	return 0;
}

static int ssh_args(struct cli *c, struct ssh_target *t, const char *args, struct err *e)
{
	struct str rest = str_of(args), word;
	bool option = false, jump = false;

	while (str_next(&rest, ' ', &word)) {
		if (!word.n)
			continue;
		if (option || (str_starts(word, "-o") && word.n > 2)) {
			if (ssh_option(c, t, option ? word : str_sub(word, 2, SIZE_MAX), e) < 0)
				return -1;
			option = false;
		} else if (jump) {
			if (ssh_jumps_resolve(c->a, c->g.ssh_config, str_cstr(c->a, word), t, e) <
			    0)
				return -1;
			jump = false;
		} else if (str_eqc(word, "-o")) {
			option = true;
		} else if (str_eqc(word, "-J")) {
			jump = true;
		} else if (!str_eqc(word, "-C")) {
			err_set(e, ERR_USAGE, "ssh argument " STR_FMT " is not understood here",
				STR_ARG(word));
			return err_hint(e, "write it as an option in ~/.ssh/config");
		}
	}
	return 0;
}

static void overrule(struct cli *c, const struct login_opts *o, struct host_opts *h)
{
	if (o->user)
		h->target.user = o->user;
	if (o->key) {
		h->target.identities.n = 0;
		VEC_ADD(c->a, &h->target.identities) = fs_expand_home(c->a, o->key);
	}
	if (o->connection)
		h->local = strcmp(o->connection, "local") == 0;
	if (o->become || o->become_user) {
		h->become.on = true;
		h->become.user = o->become_user;
	}
}

static int reach_by_vars(struct cli *c, const struct login_opts *o, const struct inv_host *host,
			 struct host_opts *h, struct err *e)
{
	const struct value *v = host->vars;
	const char *key = var_str(c, v, "ansible_ssh_private_key_file"),
		   *args = var_str(c, v, "ansible_ssh_common_args");
	const char *connection = var_str(c, v, "ansible_connection"),
		   *password = var_str(c, v, "ansible_become_password");
	const char *checking = env_get("ANSIBLE_HOST_KEY_CHECKING");

	h->name = host->name;
	h->target.host = var_str(c, v, "ansible_host");
	if (!h->target.host)
		h->target.host = host->name;
	h->target.port = (int)value_get_int(v, "ansible_port", 0);
	h->target.user = var_str(c, v, "ansible_user");
	if (key)
		VEC_ADD(c->a, &h->target.identities) = fs_expand_home(c->a, key);
	if (checking && (strcmp(checking, "False") == 0 || strcmp(checking, "false") == 0 ||
			 strcmp(checking, "0") == 0))
		h->target.strict = SSH_STRICT_NO;
	h->local = connection && strcmp(connection, "local") == 0;
	h->become.on = var_true(v, "ansible_become");
	h->become.user = var_str(c, v, "ansible_become_user");
	h->become.password = str_of(password ? password : var_str(c, v, "ansible_become_pass"));
	if (args && ssh_args(c, &h->target, args, e) < 0)
		return -1;
	overrule(c, o, h);
	return h->local ? 0 : ssh_target_resolve(c->a, c->g.ssh_config, &h->target, e);
}

static struct value *names_value(struct arena *a, const char *const *names, size_t n)
{
	struct value *list = value_list(a);

	for (size_t i = 0; i < n; i++)
		value_add(a, list, value_cstr(a, names[i]));
	return list;
}

static const struct value *inventory_groups(struct cli *c, const struct inv *inv)
{
	struct value *groups = value_map(c->a);
	struct value *all = value_list(c->a);

	for (size_t i = 0; i < inv->hosts.n; i++)
		value_add(c->a, all, value_cstr(c->a, inv->hosts.v[i]->name));
	value_set(groups, "all", all);
	for (size_t i = 0; i < inv->groups.n; i++) {
		const struct names *members = inv->groups.e[i].val;

		value_sets(groups, inv->groups.e[i].key,
			   names_value(c->a, members->v.v, members->v.n));
	}
	return groups;
}

static const struct inv_host *inv_host_find(const struct inv *inv, const char *name)
{
	for (size_t i = 0; i < inv->hosts.n; i++) {
		if (strcmp(inv->hosts.v[i]->name, name) == 0)
			return inv->hosts.v[i];
	}
	return NULL;
}

static int from_inventory(struct cli *c, const struct login_opts *o, const char *pattern,
			  struct targets *out, struct err *e)
{
	struct err_list errs = { 0 };
	struct inv *inv;
	struct names chosen = { 0 };
	struct value *hostvars = value_map(c->a);

	if (inv_load(c->a, o->inventory, &inv, &errs) < 0) {
		view_errors(c, &errs);
		err_list_fini(&errs);
		*e = (struct err){ 0 };
		return -1;
	}
	err_list_fini(&errs);
	const char *all = c->g.limit ? arena_printf(c->a, "%s:&%s", pattern ? pattern : "all",
						    c->g.limit)
			  : pattern  ? pattern
				     : "all";

	if (inv_match(c->a, inv, all, &chosen, e) < 0)
		return -1;
	for (size_t i = 0; i < inv->hosts.n; i++)
		value_set(hostvars, inv->hosts.v[i]->name, inv->hosts.v[i]->vars);
	for (size_t i = 0; i < chosen.v.n; i++) {
		struct target *t = arena_obj(c->a, struct target);
		const struct inv_host *host = inv_host_find(inv, chosen.v.v[i]);

		t->name = host->name;
		t->vars = host->vars;
		t->groups = names_value(c->a, host->groups.v, host->groups.n);
		if (reach_by_vars(c, o, host, &t->host, e) < 0)
			return err_on(e, NULL, host->name);
		VEC_ADD(c->a, &out->v) = t;
	}
	out->inv = inv;
	out->world = (struct run_world){ inventory_groups(c, inv), hostvars };
	return 0;
}

/* ---- nodes of the spec ---- */

static const struct value *pool_groups(struct cli *c)
{
	struct value *groups = value_map(c->a), *all = value_list(c->a);
	const struct select_group *g;
	size_t n;

	session_groups(c, &g, &n);
	for (size_t i = 0; c->fleet && i < c->fleet->nodes.n; i++)
		value_add(c->a, all, value_cstr(c->a, c->fleet->nodes.v[i]->name));
	value_set(groups, "all", all);
	for (size_t i = 0; i < n; i++)
		value_set(groups, g[i].name, names_value(c->a, g[i].members, g[i].n));
	return groups;
}

static int from_spec(struct cli *c, const struct login_opts *o, const char *expression,
		     struct targets *out, struct err *e)
{
	struct engine_opts eo = { 0 };
	struct names chosen = { 0 };

	if (!c->state && session_state(c, STATE_READONLY, e) < 0)
		return -1;
	if (session_nodes(c, expression, &chosen, e) < 0)
		return -1;
	if (!c->engine && session_engine(c, &eo, e) < 0)
		return -1;
	for (size_t i = 0; i < chosen.v.n; i++) {
		struct target *t = arena_obj(c->a, struct target);
		const struct node *node = c->fleet ? map_getc(&c->fleet->by_name, chosen.v.v[i])
						   : NULL;

		t->name = chosen.v.v[i];
		if (engine_reach(c->engine, c->a, t->name, &t->host, e) < 0)
			return err_on(e, NULL, t->name);
		t->vars = node ? node->vars : NULL;
		const char *pool = node ? str_cstr(c->a, node->pool->name) : NULL;

		t->groups = names_value(c->a, &pool, pool ? 1 : 0);
		overrule(c, o, &t->host);
		VEC_ADD(c->a, &out->v) = t;
	}
	out->world = (struct run_world){ pool_groups(c), NULL };
	return 0;
}

int targets_find(struct cli *c, const struct login_opts *o, const char *expression,
		 struct targets *out, struct err *e)
{
	if (o->inventory)
		return from_inventory(c, o, expression, out, e);
	if (!c->spec && fs_exists(c->spec_file) && session_spec(c, e) < 0)
		return -1;
	if (!c->spec && !c->state && session_state(c, STATE_READONLY, e) < 0)
		return -1;
	if (!c->spec && !c->state) {
		err_set(e, ERR_USAGE,
			"there is neither a spec nor a state here, so no nodes are known");
		return err_hint(e, "name a spec with -f, or an inventory with -i");
	}
	return from_spec(c, o, expression, out, e);
}

/* ---- all at once, not too many at once ---- */

/* Open files beside the connections, and of each target while it logs in or is this machine. */
enum { FILES_OWN = 64, FILES_A_TARGET = 4, FAN_DEFAULT = 64 };

struct fan {
	const struct targets *ts;
	size_t next;
	target_fn *fn;
	void *arg;
};

static void fan_worker(void *arg)
{
	struct fan *f = arg;

	while (f->next < f->ts->v.n && !task_is_cancelled()) {
		size_t i = f->next++;

		f->fn(f->arg, f->ts->v.v[i], i);
	}
}

static size_t workers_for(struct cli *c, size_t n, int64_t parallel)
{
	size_t want = parallel > 0 ? (size_t)parallel : FAN_DEFAULT;

	if (want > n)
		want = n;
	size_t files = proc_files_allow(FILES_OWN + FILES_A_TARGET * want);
	size_t most = files > FILES_OWN + FILES_A_TARGET ? (files - FILES_OWN) / FILES_A_TARGET : 1;

	if (want <= most)
		return want;
	view_notef(c, "only %zu nodes at a time: this machine allows %zu open files (ulimit -Hn)\n",
		   most, files);
	return most;
}

int targets_each(struct cli *c, const struct targets *ts, int64_t parallel, target_fn *fn,
		 void *arg, struct err *e)
{
	struct fan fan = { .ts = ts, .fn = fn, .arg = arg };
	size_t workers = workers_for(c, ts->v.n, parallel);
	struct group g;

	group_init(&g);
	c->fan = &g;
	session_catch_signals(c);
	for (size_t i = 0; i < workers; i++)
		task_spawn(&g, "targets", fan_worker, &fan);
	int rc = group_wait(&g, e);
	c->fan = NULL;
	return rc;
}
