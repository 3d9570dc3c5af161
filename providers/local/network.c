/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A network: a namespace with a bridge in it. Nothing leads out of it but, where asked for, a proxy
 * that listens inside (proxy.h) or network address translation (nat.h). What exists only in memory
 * (namespace, bridge, proxy) is made again from the record by local_network_up whenever it is
 * missing, so a machine that was restarted is repaired like any other.
 */
#include "providers/local/world.h"

#include <stdio.h>
#include <unistd.h>

#include "providers/local/keeper.h"
#include "providers/local/nat.h"
#include "providers/local/netns.h"
#include "providers/local/proxy.h"
#include "providers/local/record.h"

#define PROXY_PORT    3142
#define PROXY_LOCK    "proxy.lock"
#define PROXY_WAIT_MS 10000
#define STOP_MS	      10000

struct network_attrs {
	struct obj obj;
	struct str cidr, network_id, netns, gateway, proxy;
};

static const struct field fields[] = {
	FIELD(network_attrs, cidr, F_CIDR, FIELD_FIXED, "10.77.0.0/16", NULL,
	      "range of the hosts' addresses; it is seen nowhere else"),
	FIELD(network_attrs, network_id, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "the provider's id of the network"),
	FIELD(network_attrs, netns, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "path of its network namespace"),
	FIELD(network_attrs, gateway, F_STR, FIELD_COMPUTED, NULL, NULL, "address of the bridge"),
	FIELD(network_attrs, proxy, F_STR, FIELD_COMPUTED, NULL, NULL,
	      "proxy that hosts reach package archives through"),
	FIELD_END,
};

static const char *rec_str(struct arena *a, const struct value *rec, const char *key)
{
	return str_cstr(a, value_get_str(rec, key, ""));
}

static bool is_up(struct arena *a, const char *dir, const struct value *rec)
{
	if (!netns_exists(rec_str(a, rec, "netns")))
		return false;
	return !value_get_str(rec, "proxy", "").n || keeper_pid(fs_join(a, dir, PROXY_LOCK)) > 0;
}

static struct resource_seen *seen_of(struct provider *p, struct arena *a, const struct value *rec)
{
	struct resource_seen *s = arena_obj(a, struct resource_seen);
	struct value *attrs = value_map(a);
	s->id = rec_str(a, rec, "id");
	s->addr = rec_str(a, rec, "addr");
	s->name = rec_str(a, rec, "name");
	s->token = rec_str(a, rec, "token");
	value_set(attrs, "cidr", value_str(a, value_get_str(rec, "cidr", "")));
	value_set(attrs, "network_id", value_cstr(a, s->id));
	value_set(attrs, "netns", value_cstr(a, netns_path(a, rec_str(a, rec, "netns"))));
	value_set(attrs, "gateway", value_str(a, value_get_str(rec, "gateway", "")));
	if (value_get_str(rec, "proxy", "").n)
		value_set(attrs, "proxy", value_str(a, value_get_str(rec, "proxy", "")));
	s->attrs = attrs;
	const char *dir = record_dir(a, p->root, "net", s->id);
	s->status = !str_eqc(value_get_str(rec, "status", ""), "ready") ? "building"
		    : is_up(a, dir, rec)				? "running"
									: "stopped";
	return s;
}

static int start_proxy(struct provider *p, struct arena *a, const char *dir,
		       const struct value *rec, struct err *e)
{
	const char *lock = fs_join(a, dir, PROXY_LOCK),
		   *netns = netns_path(a, rec_str(a, rec, "netns"));
	const char *gateway = rec_str(a, rec, "gateway");
	const char *argv[] = { p->self,
			       "internal",
			       "local-proxy",
			       "--netns",
			       netns,
			       "--listen",
			       arena_printf(a, "%s:%d", gateway, PROXY_PORT),
			       "--lock",
			       lock,
			       NULL };
	struct deadline d = deadline_in(PROXY_WAIT_MS);
	pid_t pid;
	if (keeper_pid(lock))
		return 0;
	if (keeper_make(lock, e) || proc_daemon(argv, fs_join(a, dir, "proxy.log"), &pid, e))
		return -1;
	while (!keeper_pid(lock) || !netns_answers(netns, gateway, PROXY_PORT, "", 200)) {
		if (!deadline_left(d)) {
			err_set(e, ERR_IO, "the package proxy of %s does not start", dir);
			return err_hint(
				e,
				"read %s/proxy.log, or set `internet: none` of the local provider",
				dir);
		}
		if (task_sleep(20, e))
			return -1;
	}
	return 0;
}

static int bring_up(struct provider *p, struct arena *a, const char *dir, const struct value *rec,
		    struct err *e)
{
	const char *netns = rec_str(a, rec, "netns");
	if (netns_add(netns, e))
		return -1;
	/* A proxy that lives yet listens in the namespace of before. */
	if (!netns_has_link(netns, "br0") &&
	    (keeper_stop(fs_join(a, dir, PROXY_LOCK), STOP_MS, e) ||
	     netns_ip(netns, "link add br0 type bridge forward_delay 0\n", e)))
		return -1;
	if (netns_ip(netns,
		     arena_printf(a,
				  "link set lo up\naddr replace %s/%lld dev br0\nlink set br0 up\n",
				  rec_str(a, rec, "gateway"),
				  (long long)value_get_int(rec, "prefix", 16)),
		     e))
		return -1;
	if (str_eqc(value_get_str(rec, "internet", ""), "nat") &&
	    nat_up(netns, rec_str(a, rec, "cidr"), e))
		return -1;
	return value_get_str(rec, "proxy", "").n ? start_proxy(p, a, dir, rec, e) : 0;
}

int local_network_up(struct provider *p, const char *dir, const struct value *rec, struct err *e)
{
	struct arena *a = arena_new("network up");
	int rc = 0;
	if (!is_up(a, dir, rec)) {
		rc = task_sem_take(&p->net_turn, deadline_in(60000), e);
		if (!rc) {
			rc = is_up(a, dir, rec) ? 0 : bring_up(p, a, dir, rec, e);
			task_sem_give(&p->net_turn);
		}
	}
	arena_free(a);
	return rc;
}

static struct value *new_record(struct provider *p, struct arena *a, const struct resource_want *w,
				struct err *e)
{
	static const char *const internets[] = { "none", "proxy", "nat" };
	struct value *rec = value_map(a);
	struct str cidr = value_get_str(w->attrs, "cidr", "10.77.0.0/16");
	char gateway[16], hex[SHA256_HEX];
	uint32_t net;
	int prefix;
	if (cidr_parse(cidr, &net, &prefix, e))
		return NULL;
	const char *id = record_id(a, w->name, w->token);
	ipv4_text(net + 1, gateway);
	sha256_hex(str_of(record_dir(a, p->root, "net", id)), hex);
	value_set(rec, "status", value_cstr(a, "building"));
	value_set(rec, "id", value_cstr(a, id));
	value_set(rec, "addr", value_cstr(a, w->addr));
	value_set(rec, "name", value_cstr(a, w->name));
	value_set(rec, "token", value_cstr(a, w->token));
	value_set(rec, "cidr", value_str(a, cidr));
	value_set(rec, "prefix", value_int(a, prefix));
	value_set(rec, "gateway", value_cstr(a, gateway));
	value_set(rec, "netns", value_strf(a, "mu-%.8s", hex));
	value_set(rec, "internet", value_cstr(a, internets[p->o.internet]));
	if (p->o.internet == INTERNET_PROXY)
		value_set(rec, "proxy", value_strf(a, "http://%s:%d", gateway, PROXY_PORT));
	return rec;
}

static int finish(struct provider *p, struct arena *a, struct value *rec,
		  struct resource_seen **out, struct err *e)
{
	const char *dir = record_dir(a, p->root, "net", rec_str(a, rec, "id"));
	if (local_network_up(p, dir, rec, e))
		return -1;
	if (!str_eqc(value_get_str(rec, "status", ""), "ready")) {
		value_set(rec, "status", value_cstr(a, "ready"));
		if (record_write(dir, rec, e))
			return -1;
	}
	*out = seen_of(p, a, rec);
	return 0;
}

static int network_create(struct provider *p, struct arena *a, const struct resource_want *w,
			  struct resource_seen **out, struct err *e)
{
	const char *dir = record_dir(a, p->root, "net", record_id(a, w->name, w->token));
	struct value *rec;
	if (record_read(a, dir, &rec, e))
		return -1;
	if (!rec) {
		rec = new_record(p, a, w, e);
		if (!rec || record_write(dir, rec, e))
			return -1;
	}
	return finish(p, a, rec, out, e);
}

static int by_id(struct provider *p, struct arena *a, const char *id, struct value **rec,
		 struct err *e)
{
	*rec = NULL;
	return record_id_is_valid(id) ? record_read(a, record_dir(a, p->root, "net", id), rec, e)
				      : 0;
}

static int network_update(struct provider *p, struct arena *a, const char *id,
			  const struct resource_want *w unused_arg, struct resource_seen **out,
			  struct err *e)
{
	struct value *rec;
	if (by_id(p, a, id, &rec, e))
		return -1;
	if (!rec)
		return err_set(e, ERR_NOT_FOUND, "there is no local network %s", id);
	return finish(p, a, rec, out, e);
}

static int network_list(struct provider *p, struct arena *a, struct resources_seen *out,
			struct err *e)
{
	struct value *recs;
	if (record_list(a, p->root, "net", &recs, e))
		return -1;
	for (size_t i = 0; i < recs->list.n; i++)
		VEC_ADD(a, &out->v) = seen_of(p, a, recs->list.v[i]);
	return 0;
}

static int network_find(struct provider *p, struct arena *a, const char *token,
			struct resource_seen **out, struct err *e)
{
	struct value *recs;
	*out = NULL;
	if (record_list(a, p->root, "net", &recs, e))
		return -1;
	for (size_t i = 0; i < recs->list.n; i++)
		if (str_eqc(value_get_str(recs->list.v[i], "token", ""), token))
			return finish(p, a, recs->list.v[i], out, e);
	return 0;
}

static int tear_down(struct provider *p, struct arena *a, const char *id, struct err *e)
{
	const char *dir = record_dir(a, p->root, "net", id);
	struct value *rec;
	if (by_id(p, a, id, &rec, e))
		return -1;
	if (!rec)
		return 0;
	if (keeper_stop(fs_join(a, dir, PROXY_LOCK), STOP_MS, e))
		return -1;
	if (str_eqc(value_get_str(rec, "internet", ""), "nat") &&
	    nat_down(rec_str(a, rec, "netns"), e))
		return -1;
	if (netns_del(rec_str(a, rec, "netns"), e))
		return -1;
	return record_remove(dir, e);
}

static int network_destroy(struct provider *p, const char *id, struct err *e)
{
	struct arena *a = arena_new("network destroy");
	int rc = tear_down(p, a, id, e) || record_sweep(a, p->root, e) ? -1 : 0;
	arena_free(a);
	return rc;
}

const struct resource_type local_network = {
	.kind = "network",
	.fields = fields,
	.create_timeout_ms = 60000,
	.delete_timeout_ms = 60000,
	.list = network_list,
	.create = network_create,
	.update = network_update,
	.destroy = network_destroy,
	.find = network_find,
};
