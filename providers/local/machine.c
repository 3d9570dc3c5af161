/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A host. Steps of a create, each of which may be the last that a dying muster takes, and all of
 * which a repeated create goes through again: record ("building") → network → files → keeper → sshd
 * answers → record ("ready"). Nothing outside the record's folder and its keeper exists, so
 * removing those two removes the host.
 */
#include "providers/local/world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include "providers/local/cgroup.h"
#include "providers/local/image.h"
#include "providers/local/keeper.h"
#include "providers/local/nat.h"
#include "providers/local/netns.h"
#include "providers/local/record.h"
#include "providers/local/root.h"
#include "providers/local/supervisor.h"

#define POLL_MS	    40
#define STOP_MS	    30000
#define ADDRESS_MS  60000
#define CONSOLE_END 4096
#define FIRST_HOST  2 /* .1 is the bridge */

struct machine_attrs {
	struct obj obj;
	struct str image, address, user, netns, host_key_public, network_id, console;
	int64_t port;
};

static const struct field fields[] = {
	FIELD(machine_attrs, image, F_STR, FIELD_FIXED, "debian-12", "/debian-(12|13)/",
	      "Debian release: debian-12 or debian-13"),
	FIELD(machine_attrs, address, F_STR, FIELD_COMPUTED, NULL, NULL, "address in its network"),
	FIELD(machine_attrs, port, F_INT, FIELD_COMPUTED, NULL, NULL, "TCP port of sshd"),
	FIELD(machine_attrs, user, F_STR, FIELD_COMPUTED, NULL, NULL, "login name"),
	FIELD(machine_attrs, netns, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "path of the network namespace it is reached from"),
	FIELD(machine_attrs, host_key_public, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "host key that muster generated for it"),
	FIELD(machine_attrs, network_id, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "the provider's id of its network"),
	FIELD(machine_attrs, console, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "file with what its console showed"),
	FIELD_END,
};

/* One host at work: its record and folder. */
struct machine {
	struct provider *p;
	struct arena *a;
	struct value *rec;
	const char *id, *dir;
};

static const char *get(const struct machine *m, const char *key)
{
	return str_cstr(m->a, value_get_str(m->rec, key, ""));
}

static bool status_is(const struct machine *m, const char *status)
{
	return str_eqc(value_get_str(m->rec, "status", ""), status);
}

static const char *lock_of(const struct machine *m)
{
	return fs_join(m->a, m->dir, SUPERVISOR_LOCK);
}

/* Its keeper lives and its cable lies in the network that is there now: when a namespace is removed
 * by hand and made anew, the hosts of the old one run on where nobody reaches them. */
static bool is_running(const struct machine *m)
{
	return keeper_pid(lock_of(m)) && netns_has_link(get(m, "netns"), get(m, "link"));
}

static int set_status(struct machine *m, const char *status, struct err *e)
{
	value_set(m->rec, "status", value_cstr(m->a, status));
	return record_write(m->dir, m->rec, e);
}

/* m->rec NULL: there is none. */
static int machine_load(struct provider *p, struct arena *a, const char *id, struct machine *m,
			struct err *e)
{
	*m = (struct machine){ .p = p, .a = a, .id = id };
	if (!record_id_is_valid(id))
		return 0;
	m->dir = record_dir(a, p->root, "host", id);
	return record_read(a, m->dir, &m->rec, e);
}

static struct resource_seen *seen_of(const struct machine *m)
{
	static const char *const told[] = { "image", "address", "user", "host_key_public",
					    "network_id" };
	struct resource_seen *s = arena_obj(m->a, struct resource_seen);
	struct value *attrs = value_map(m->a);
	s->id = m->id;
	s->addr = get(m, "addr");
	s->name = get(m, "name");
	s->token = get(m, "token");
	for (size_t i = 0; i < ARRAY_LEN(told); i++)
		value_set(attrs, told[i], value_str(m->a, value_get_str(m->rec, told[i], "")));
	value_set(attrs, "port", value_int(m->a, LOCAL_SSH_PORT));
	value_set(attrs, "netns", value_cstr(m->a, netns_path(m->a, get(m, "netns"))));
	value_set(attrs, "console", value_cstr(m->a, fs_join(m->a, m->dir, "console.log")));
	s->attrs = attrs;
	if (status_is(m, "building"))
		s->status = "building";
	else if (status_is(m, "deleting"))
		s->status = "error";
	else
		s->status = is_running(m) ? "running" : "stopped";
	return s;
}

/* ---- its network and address
 * --------------------------------------------------------------------- */

static const struct value *network_of(const struct resource_want *w)
{
	for (size_t i = 0; w->deps && w->deps->kind == V_MAP && i < w->deps->map.n; i++) {
		const struct value *attrs = w->deps->map.e[i].val;
		if (value_get_str(attrs, "netns", "").n && value_get_str(attrs, "network_id", "").n)
			return attrs;
	}
	return NULL;
}

static int network_load(const struct machine *m, const char *id, const char **dir,
			struct value **net, struct err *e)
{
	*net = NULL;
	*dir = "";
	if (record_id_is_valid(id)) {
		*dir = record_dir(m->a, m->p->root, "net", id);
		if (record_read(m->a, *dir, net, e))
			return -1;
	}
	return *net ? 0
		    : err_set(e, ERR_NOT_FOUND, "there is no local network %s for %s", id, m->id);
}

/* The lowest free one. Removed hosts give theirs back, so it is looked up in the records each time.
 */
static int choose_address(struct machine *m, const struct value *net, char out[16], struct err *e)
{
	struct value *recs;
	struct map used;
	uint32_t base;
	int prefix;
	map_init(&used, m->a);
	if (cidr_parse(value_get_str(net, "cidr", ""), &base, &prefix, e) ||
	    record_list(m->a, m->p->root, "host", &recs, e))
		return -1;
	for (size_t i = 0; i < recs->list.n; i++)
		if (str_eq(value_get_str(recs->list.v[i], "network_id", ""),
			   value_get_str(net, "id", "")))
			map_put(&used, value_get_str(recs->list.v[i], "address", ""),
				recs->list.v[i]);
	for (uint32_t n = FIRST_HOST; n < (1u << (32 - prefix)) - 1; n++) {
		ipv4_text(base + n, out);
		if (!map_has(&used, str_of(out)))
			return 0;
	}
	return err_set(e, ERR_CAPACITY, "network %s has no free address left",
		       str_cstr(m->a, value_get_str(net, "name", "")));
}

/* The record with the address in it is written while the network's lock is held: so no two hosts
 * choose the same. */
static int claim_locked(struct machine *m, const char *net_dir, const struct value *net,
			struct err *e)
{
	scoped(close_fd) int fd = open(fs_join(m->a, net_dir, "address.lock"),
				       O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	struct deadline d = deadline_in(ADDRESS_MS);
	char address[16];
	if (fd < 0)
		return err_sys(e, "%s/address.lock", net_dir);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (!deadline_left(d))
			return err_set(e, ERR_BUSY,
				       "the addresses of %s are being given out by another process",
				       net_dir);
		if (task_sleep(POLL_MS, e))
			return -1;
	}
	if (choose_address(m, net, address, e))
		return -1;
	value_set(m->rec, "address", value_cstr(m->a, address));
	return record_write(m->dir, m->rec, e);
}

static int claim(struct machine *m, const char *net_dir, const struct value *net, struct err *e)
{
	if (task_sem_take(&m->p->net_turn, deadline_in(ADDRESS_MS), e))
		return -1;
	int rc = claim_locked(m, net_dir, net, e);
	task_sem_give(&m->p->net_turn);
	return rc;
}

static void new_record(struct machine *m, const struct resource_want *w, const struct value *net,
		       const char *base)
{
	struct arena *a = m->a;
	char hex[SHA256_HEX];
	m->rec = value_map(a);
	sha256_hex(str_of(m->dir), hex);
	value_set(m->rec, "status", value_cstr(a, "building"));
	value_set(m->rec, "id", value_cstr(a, m->id));
	value_set(m->rec, "addr", value_cstr(a, w->addr));
	value_set(m->rec, "name", value_cstr(a, w->name));
	value_set(m->rec, "token", value_cstr(a, w->token));
	value_set(m->rec, "image", value_str(a, value_get_str(w->attrs, "image", "debian-12")));
	value_set(m->rec, "base", value_cstr(a, base));
	value_set(m->rec, "unit", value_strf(a, "mu-%.12s", hex));
	value_set(m->rec, "link", value_strf(a, "h%.12s", hex));
	value_set(m->rec, "user", value_str(a, m->p->o.user));
	value_set(m->rec, "durable", value_bool(a, m->p->o.durable));
	value_set(m->rec, "network_id", value_str(a, value_get_str(net, "id", "")));
	value_set(m->rec, "netns", value_str(a, value_get_str(net, "netns", "")));
	value_set(m->rec, "gateway", value_str(a, value_get_str(net, "gateway", "")));
	value_set(m->rec, "prefix", value_int(a, value_get_int(net, "prefix", 16)));
	value_set(m->rec, "host_key_public",
		  value_str(a, value_get_str(w->host_key, "public", "")));
}

/* ---- files
 * ------------------------------------------------------------------------------------------- */

static int root_write_run(void *arg, struct err *e)
{
	return root_write(arg, e);
}

static int write_files(struct machine *m, const struct resource_want *w, const struct value *net,
		       struct err *e)
{
	struct buf key;
	char hex[SHA256_HEX];
	const struct value *private = value_get(w->host_key, "private");
	struct str proxy = value_get_str(net, "proxy", "");
	/* Debian's sshd does not start without one, and one of its own making would have to be
	 * trusted unseen. */
	if (!private)
		return err_set(e, ERR_BUG, "no host key for %s", m->id);
	buf_init(&key, 1 << 16);
	value_reveal(&key, private);
	sha256_hex(str_of(w->token), hex);
	struct root_files f = {
		.base = get(m, "base"),
		.upper = fs_join(m->a, m->dir, "upper"),
		.name = get(m, "name"),
		.address = get(m, "address"),
		.gateway = get(m, "gateway"),
		.machine_id = arena_printf(m->a, "%.32s", hex),
		.admin_key = w->admin_key,
		.host_private = buf_str(&key),
		.host_public = get(m, "host_key_public"),
		.user = get(m, "user"),
		.proxy = proxy.n ? str_cstr(m->a, proxy) : NULL,
		.resolv_conf = str_eqc(value_get_str(net, "internet", ""), "nat")
				       ? nat_resolv_conf(m->a)
				       : NULL,
	};
	int rc = record_offload(root_write_run, &f, e);
	buf_wipe(&key);
	return rc;
}

/* ---- running
 * ----------------------------------------------------------------------------------------- */

static int64_t boots(const struct machine *m)
{
	struct str text;
	struct err ignored = { 0 };
	int64_t n = 0;
	if (fs_read(m->a, fs_join(m->a, m->dir, "boots"), 32, &text, &ignored) ||
	    !str_to_int(str_trim(text), &n))
		return 0;
	return n;
}

/* The last thing that its console showed, made fit for a message. */
static const char *console_end(const struct machine *m)
{
	struct str text, line, last = STR_NONE;
	struct err ignored = { 0 };
	if (fs_read(m->a, fs_join(m->a, m->dir, "console.log"), 64 << 20, &text, &ignored))
		return "nothing";
	text = str_sub(text, text.n > CONSOLE_END ? text.n - CONSOLE_END : 0, SIZE_MAX);
	while (str_next_line(&text, &line))
		if (str_trim(line).n)
			last = str_trim(line);
	char *clean = str_cstr(m->a, last);
	for (char *c = clean; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = ' ';
	return clean[0] ? clean : "nothing";
}

static int not_started(const struct machine *m, enum err_kind kind, const char *what, struct err *e)
{
	err_set(e, kind, "%s %s; its console's last line: %.300s", get(m, "name"), what,
		console_end(m));
	return err_hint(e, "read %s/console.log", m->dir);
}

static bool is_alive(pid_t pid)
{
	struct proc_id id;
	struct err ignored = { 0 };
	return pid > 0 && proc_identify(pid, &id, &ignored) == 0;
}

/* Until it has been started more than `before` times and its sshd answers. */
static int wait_ready(const struct machine *m, pid_t starter, int64_t before, struct err *e)
{
	struct deadline d = deadline_in(m->p->o.boot_timeout);
	const char *netns = netns_path(m->a, get(m, "netns")), *address = get(m, "address");
	while (boots(m) <= before ||
	       !netns_answers(netns, address, LOCAL_SSH_PORT, "SSH-2.0", 1000)) {
		if (task_check(e))
			return -1;
		if (!keeper_pid(lock_of(m)) && !is_alive(starter))
			return not_started(m, ERR_REMOTE, "went down while starting", e);
		if (!deadline_left(d))
			return not_started(m, ERR_REMOTE, "did not answer SSH in time", e);
		if (task_sleep(POLL_MS, e))
			return -1;
	}
	return 0;
}

/* The keeper takes the host down with it; what a killed keeper left is found by its control group. */
static int stop(const struct machine *m, struct err *e)
{
	const char *unit = get(m, "unit");
	struct deadline d = deadline_in(STOP_MS);
	if (keeper_stop(lock_of(m), STOP_MS, e))
		return -1;
	while (!cgroup_kill(unit, NULL)) {
		if (!deadline_left(d))
			return err_set(e, ERR_TIMEOUT, "processes of %s do not end", m->id);
		if (task_sleep(POLL_MS, e))
			return -1;
	}
	if (cgroup_remove(unit))
		limits_restore();
	return 0;
}

/* Starts it if it is not running, and waits until it answers. */
static int start(struct machine *m, struct err *e)
{
	const char *argv[] = { m->p->self, "internal", "local-host", "--dir", m->dir, NULL };
	const char *net_dir;
	struct value *net;
	pid_t pid = 0;
	int64_t before = boots(m);
	if (network_load(m, get(m, "network_id"), &net_dir, &net, e) ||
	    local_network_up(m->p, net_dir, net, e))
		return -1;
	if (is_running(m))
		return wait_ready(m, 0, 0, e);
	if (keeper_pid(lock_of(m)) && stop(m, e))
		return -1;
	if (keeper_make(lock_of(m), e) ||
	    proc_daemon(argv, fs_join(m->a, m->dir, "console.log"), &pid, e))
		return -1;
	return wait_ready(m, pid, before, e);
}

static int remove_machine(struct machine *m, struct err *e)
{
	/* Marked first: a keeper that is only just starting reads the record after it has the lock,
	 * and gives up. */
	if (set_status(m, "deleting", e) || stop(m, e))
		return -1;
	return record_remove(m->dir, e);
}

/* ---- the calls
 * --------------------------------------------------------------------------------------- */

static int make(struct machine *m, const struct resource_want *w, struct err *e)
{
	const struct value *dep = network_of(w);
	const char *base, *net_dir;
	struct value *net;
	if (!dep)
		return err_set(e, ERR_SPEC, "%s has no network", w->addr);
	if (network_load(m, str_cstr(m->a, value_get_str(dep, "network_id", "")), &net_dir, &net,
			 e))
		return -1;
	want_tell(w, "making its image, where there is none yet");
	if (image_ensure(m->p, m->a, value_get_str(w->attrs, "image", "debian-12"), &base, e))
		return -1;
	if (!m->rec) {
		new_record(m, w, net, base);
		if (claim(m, net_dir, net, e))
			return -1;
	}
	/* Files are only written under a host that does not run. */
	if (!keeper_pid(lock_of(m)) && write_files(m, w, net, e))
		return -1;
	want_tell(w, "booting");
	if (start(m, e))
		return -1;
	return set_status(m, "ready", e);
}

/* A host that failed for good is not left behind half-made; one whose muster was told to stop is:
 * find settles it. */
static void undo(struct machine *m, const struct err *why)
{
	struct err e = { 0 };
	if (!m->rec || why->kind == ERR_CANCELLED || why->kind == ERR_TIMEOUT)
		return;
	if (remove_machine(m, &e))
		log_warn("%s is left behind: %s", m->dir, e.msg);
}

static int machine_create(struct provider *p, struct arena *a, const struct resource_want *w,
			  struct resource_seen **out, struct err *e)
{
	struct machine m;
	if (machine_load(p, a, record_id(a, w->name, w->token), &m, e))
		return -1;
	if (!m.dir)
		return err_set(e, ERR_SPEC, "'%s' can't be the name of a local host", w->name);
	if (m.rec && status_is(&m, "deleting")) {
		if (remove_machine(&m, e))
			return -1;
		m.rec = NULL;
	}
	int rc = m.rec && status_is(&m, "ready") ? start(&m, e) : make(&m, w, e);
	if (rc) {
		if (!m.rec || !status_is(&m, "ready"))
			undo(&m, e);
		return -1;
	}
	*out = seen_of(&m);
	return 0;
}

static int machine_update(struct provider *p, struct arena *a, const char *id,
			  const struct resource_want *w unused_arg, struct resource_seen **out,
			  struct err *e)
{
	struct machine m;
	if (machine_load(p, a, id, &m, e))
		return -1;
	if (!m.rec || !status_is(&m, "ready"))
		return err_set(e, ERR_NOT_FOUND, "there is no local host %s", id);
	if (start(&m, e))
		return -1;
	*out = seen_of(&m);
	return 0;
}

static int machine_list(struct provider *p, struct arena *a, struct resources_seen *out,
			struct err *e)
{
	struct value *recs;
	if (record_list(a, p->root, "host", &recs, e))
		return -1;
	for (size_t i = 0; i < recs->list.n; i++) {
		const char *id = str_cstr(a, value_get_str(recs->list.v[i], "id", ""));
		struct machine m = { p, a, recs->list.v[i], id,
				     record_dir(a, p->root, "host", id) };
		VEC_ADD(a, &out->v) = seen_of(&m);
	}
	return 0;
}

static int machine_destroy(struct provider *p, const char *id, struct err *e)
{
	struct arena *a = arena_new("host destroy");
	struct machine m;
	int rc = machine_load(p, a, id, &m, e);
	if (!rc && m.rec)
		rc = remove_machine(&m, e);
	arena_free(a);
	return rc;
}

/* What was interrupted is finished if the host runs already, and else undone. */
static int settle(struct machine *m, struct resource_seen **out, struct err *e)
{
	struct err why = { 0 };
	if (status_is(m, "building") && keeper_pid(lock_of(m))) {
		if (wait_ready(m, 0, 0, &why) == 0) {
			if (set_status(m, "ready", e))
				return -1;
		} else if (why.kind == ERR_CANCELLED) {
			*e = why;
			return -1;
		}
	}
	if (status_is(m, "ready")) {
		*out = seen_of(m);
		return 0;
	}
	return remove_machine(m, e);
}

static int machine_find(struct provider *p, struct arena *a, const char *token,
			struct resource_seen **out, struct err *e)
{
	struct value *recs;
	*out = NULL;
	if (record_list(a, p->root, "host", &recs, e))
		return -1;
	for (size_t i = 0; i < recs->list.n; i++) {
		const char *id = str_cstr(a, value_get_str(recs->list.v[i], "id", ""));
		struct machine m = { p, a, recs->list.v[i], id,
				     record_dir(a, p->root, "host", id) };
		if (str_eqc(value_get_str(m.rec, "token", ""), token))
			return settle(&m, out, e);
	}
	return 0;
}

static int power_cycle(struct machine *m, struct err *e)
{
	int64_t before = boots(m);
	if (!is_running(m) || !keeper_signal(lock_of(m), SIGHUP))
		return start(m, e);
	return wait_ready(m, 0, before, e);
}

static int machine_reboot(struct provider *p, const char *id, struct err *e)
{
	struct arena *a = arena_new("host reboot");
	struct machine m;
	int rc = machine_load(p, a, id, &m, e);
	if (!rc && !m.rec)
		rc = err_set(e, ERR_NOT_FOUND, "there is no local host %s", id);
	if (!rc)
		rc = power_cycle(&m, e);
	arena_free(a);
	return rc;
}

static int machine_reach(struct provider *p unused_arg, struct arena *a,
			 const struct resource_seen *seen, struct ssh_target *t, struct err *e)
{
	struct str key = value_get_str(seen->attrs, "host_key_public", "");
	t->host = str_cstr(a, value_get_str(seen->attrs, "address", ""));
	if (!t->host[0])
		return err_set(e, ERR_NOT_FOUND, "%s has no address yet",
			       seen->id ? seen->id : "the host");
	t->port = (int)value_get_int(seen->attrs, "port", LOCAL_SSH_PORT);
	t->user = str_cstr(a, value_get_str(seen->attrs, "user", "root"));
	t->netns = str_cstr(a, value_get_str(seen->attrs, "netns", ""));
	if (key.n)
		VEC_ADD(a, &t->host_keys) = str_cstr(a, key);
	return 0;
}

const struct resource_type local_machine = {
	.kind = "machine",
	.fields = fields,
	.create_timeout_ms = 20 * 60 * 1000, /* the first one may build its image */
	.delete_timeout_ms = 120000,
	.list = machine_list,
	.create = machine_create,
	.update = machine_update,
	.destroy = machine_destroy,
	.find = machine_find,
	.reboot = machine_reboot,
	.reach = machine_reach,
};
