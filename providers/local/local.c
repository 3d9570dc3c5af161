/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/local.h"

#include <errno.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "providers/local/nat.h"
#include "providers/local/world.h"
#include "providers/options.h"

#define ROOT_DIR      "/var/lib/muster/local"
#define ROOT_CACHE    "/var/cache/muster/local"
#define OVERLAY_MAGIC 0x794c7630

static const struct field options[] = {
	FIELD(local_options, dir, F_PATH, 0, NULL, NULL,
	      "where hosts are kept; not on an overlay; default " ROOT_DIR),
	FIELD(local_options, cache, F_PATH, 0, NULL, NULL,
	      "where built roots are kept; default " ROOT_CACHE),
	FIELD(local_options, packages, F_STRS, 0, NULL, NULL,
	      "Debian packages that every host has from the start"),
	FIELD(local_options, mirror, F_STRS, 0, NULL, NULL,
	      "Debian mirrors to build from; default: those of this machine's apt"),
	FIELD(local_options, internet, F_ENUM, 0, "proxy", "none|proxy|nat",
	      "how hosts reach the outside: not at all, by a proxy for packages, or by address translation"),
	FIELD(local_options, user, F_STR, 0, "root", "/[a-z_][a-z0-9_-]{0,30}/",
	      "login name; another than root may use sudo"),
	FIELD(local_options, durable, F_BOOL, 0, "false", NULL,
	      "hosts' disks survive a crash of this machine; slower"),
	FIELD(local_options, boot_timeout, F_DURATION, 0, "60s", NULL,
	      "how long a host may take to answer SSH"),
	FIELD_END,
};
static const struct field pool_options[] = { FIELD_END };

static const struct resource_type *const types[] = { &local_network, &local_machine, NULL };

static void local_close(struct provider *p)
{
	if (p)
		arena_free(p->a);
}

/* Clusters of one name in different folders, and providers of one cluster, never meet. */
static char *cluster_root(struct arena *a, const char *dir, const struct provider_open *o)
{
	char hex[SHA256_HEX];
	sha256_hex(str_of(arena_printf(a, "%s\n%s\n" STR_FMT, o->cluster, o->state_dir,
				       STR_ARG(o->spec->name))),
		   hex);
	return arena_printf(a, "%s/%s-%.8s", dir, o->cluster, hex);
}

static int check_path(const char *path, struct err *e)
{
	if (path[0] == '/' && !strpbrk(path, ",:\\\n"))
		return 0;
	err_set(e, ERR_SPEC, "hosts can't be kept in '%s'", path);
	return err_hint(
		e,
		"use an absolute path without comma, colon and backslash: overlay mounts can't name others");
}

static int local_open(struct arena *caller unused_arg, const struct provider_open *o,
		      struct provider **out, struct err *e)
{
	struct arena *a = arena_new("local provider");
	struct provider *p = arena_obj(a, struct provider);
	p->a = a;
	p->image_turn.free = 1;
	p->net_turn.free = 1;
	if (provider_options(a, o, options, &p->o, e))
		goto fail;
	const char *dir = p->o.dir.n ? str_cstr(a, p->o.dir) : ROOT_DIR;
	p->cache = p->o.cache.n ? str_cstr(a, p->o.cache) : ROOT_CACHE;
	p->root = cluster_root(a, dir, o);
	p->self = arena_strdup(a, o->self);
	if (check_path(dir, e) || check_path(p->cache, e))
		goto fail;
	*out = p;
	return 0;
fail:
	local_close(p);
	return -1;
}

/* ---- what is missing
 * ----------------------------------------------------------------------------- */

static bool has_program(struct arena *a, const char *name)
{
	const char *env = env_get("PATH");
	struct str path = str_of(env ? env : "/usr/sbin:/usr/bin:/sbin:/bin"), dir;
	while (str_next(&path, ':', &dir))
		if (dir.n && access(fs_join(a, str_cstr(a, dir), name), X_OK) == 0)
			return true;
	return false;
}

static void check_programs(struct arena *a, struct buf *missing, struct buf *packages)
{
	static const struct {
		const char *program, *package;
	} rows[] = {
		{ "systemd-nspawn", "systemd-container" },
		{ "mmdebstrap", "mmdebstrap" },
		{ "ip", "iproute2" },
		{ "unshare", "util-linux" },
		{ "setpriv", "util-linux" },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (has_program(a, rows[i].program))
			continue;
		buf_addf(missing, "%s%s", missing->n ? ", " : "", rows[i].program);
		buf_addf(packages, " %s", rows[i].package);
	}
}

static bool has_filesystem(struct arena *a, const char *name, const char *module)
{
	struct str text, line;
	struct utsname u;
	struct err ignored = { 0 };
	if (fs_read(a, "/proc/filesystems", 1 << 16, &text, &ignored) == 0)
		while (str_next_line(&text, &line))
			if (str_ends(line, arena_printf(a, "\t%s", name)))
				return true;
	/* As a module it is loaded by the first mount. */
	return uname(&u) == 0 && module &&
	       fs_exists(arena_printf(a, "/lib/modules/%s/kernel/fs/%s", u.release, module));
}

/* An overlay's upper folder can't lie on another overlay, as inside most containers. */
static bool on_overlay(struct arena *a, const char *path)
{
	struct statfs s;
	while (statfs(path, &s) < 0) {
		if (!strcmp(path, "/") || !strcmp(path, "."))
			return false;
		path = fs_dirname(a, path);
	}
	return s.f_type == OVERLAY_MAGIC;
}

static int check_machine(struct arena *a, struct err *e)
{
	struct buf scoped(buf_fini) missing = { 0 };
	struct buf scoped(buf_fini) packages = { 0 };
	buf_init(&missing, 4096);
	buf_init(&packages, 4096);
	if (geteuid() != 0) {
		err_set(e, ERR_AUTH,
			"local hosts need root: they are made of namespaces, mounts and network devices");
		return err_hint(e, "run muster with sudo, or use another provider");
	}
	check_programs(a, &missing, &packages);
	if (missing.n) {
		err_set(e, ERR_NOT_FOUND, "local hosts need %s on this machine", missing.p);
		return err_hint(e, "run: apt-get install%s", packages.p);
	}
	if (!has_filesystem(a, "overlay", "overlayfs") || !has_filesystem(a, "cgroup2", NULL)) {
		err_set(e, ERR_NOT_FOUND,
			"this machine's kernel lacks overlayfs or control groups v2");
		return err_hint(e, "use a machine with a kernel of a general-purpose distribution");
	}
	if (!fs_exists("/proc/self/ns/net"))
		return err_set(e, ERR_NOT_FOUND, "this machine's kernel lacks network namespaces");
	return 0;
}

static int check_options(struct arena *a, const struct provider_open *o, struct err *e)
{
	struct local_options opts = { 0 };
	if (provider_options(a, o, options, &opts, e))
		return -1;
	const char *dir = opts.dir.n ? str_cstr(a, opts.dir) : ROOT_DIR;
	if (on_overlay(a, dir)) {
		err_set(e, ERR_IO, "hosts can't be kept in %s: it lies on an overlay filesystem",
			dir);
		return err_hint(
			e,
			"set `dir` of the local provider to a folder on ext4, xfs, btrfs or tmpfs");
	}
	return opts.internet == INTERNET_NAT ? nat_check(e) : 0;
}

static int local_doctor(const struct provider_open *o, struct err *e)
{
	struct arena *a = arena_new("local doctor");
	int rc = check_machine(a, e) || check_options(a, o, e) ? -1 : 0;
	arena_free(a);
	return rc;
}

const struct provider_type local_provider = {
	.name = "local",
	.doc = "throw-away Debian hosts on this Linux machine, in namespaces of their own (needs root)",
	.options = options,
	.pool_options = pool_options,
	.owns_hosts = true,
	.has_network = true,
	.types = types,
	.open = local_open,
	.close = local_close,
	.doctor = local_doctor,
};
