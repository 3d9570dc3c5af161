/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "providers/local/record.h"
#include "providers/local/sources.h"

#define RECIPE	     "1" /* raise it when the recipe below changes what a root holds */
#define BUILD_MS     (15 * 60 * 1000)
#define WAIT_POLL_MS 200
#define BUILDING     ".building-"
#define BASE_PACKAGES \
	"systemd,systemd-sysv,dbus,libpam-systemd,openssh-server,sudo,iproute2,procps,ca-certificates"

/*
 * What makes a fresh root one that many hosts can share: no identity, no password, nothing that
 * runs by itself or writes logs to disk. Run by mmdebstrap with the root as $1; it holds no text of
 * the user's.
 */
static const char prepare[] =
	"set -e\n"
	"rm -f \"$1\"/etc/ssh/ssh_host_* \"$1\"/var/lib/dbus/machine-id \"$1\"/etc/apt/apt.conf.d/99mmdebstrap\n"
	": >\"$1\"/etc/machine-id\n"
	"ln -s /etc/machine-id \"$1\"/var/lib/dbus/machine-id\n"
	"rm -f \"$1\"/etc/resolv.conf\n"
	": >\"$1\"/etc/resolv.conf\n"
	"echo localhost >\"$1\"/etc/hostname\n"
	"printf '127.0.0.1 localhost\\n::1 localhost\\n' >\"$1\"/etc/hosts\n"
	"printf 'Acquire::Languages \"none\";\\n' >\"$1\"/etc/apt/apt.conf.d/00languages\n"
	"chroot \"$1\" passwd -q -l root\n"
	"chroot \"$1\" systemctl -q mask getty.target console-getty.service apt-daily.timer apt-daily-upgrade.timer"
	" e2scrub_all.timer e2scrub_reap.service fstrim.timer dpkg-db-backup.timer logrotate.timer systemd-journal-flush.service"
	" systemd-pstore.service\n"
	"chroot \"$1\" systemctl -q enable ssh.service\n"
	"mkdir -p \"$1\"/etc/systemd/journald.conf.d \"$1\"/etc/ssh/sshd_config.d\n"
	"printf '[Journal]\\nStorage=volatile\\nRuntimeMaxUse=4M\\n' >\"$1\"/etc/systemd/journald.conf.d/volatile.conf\n"
	"printf 'HostKey /etc/ssh/ssh_host_ed25519_key\\nPasswordAuthentication no\\nKbdInteractiveAuthentication no\\n"
	"PermitRootLogin prohibit-password\\nUseDNS no\\nMaxStartups 100:30:200\\n' >\"$1\"/etc/ssh/sshd_config.d/10-keys-only.conf\n";

static const struct {
	const char *image, *suite;
} images[] = { { "debian-12", "bookworm" }, { "debian-13", "trixie" } };

const char *image_suite(struct str image)
{
	for (size_t i = 0; i < ARRAY_LEN(images); i++)
		if (str_eqc(image, images[i].image))
			return images[i].suite;
	return NULL;
}

static const char *package_list(struct provider *p, struct arena *a)
{
	struct buf scoped(buf_fini) b = { 0 };
	buf_init(&b, 1 << 16);
	buf_adds(&b, BASE_PACKAGES);
	for (size_t i = 0; i < p->o.packages.items.n; i++) {
		buf_addc(&b, ',');
		buf_addstr(&b, p->o.packages.items.v[i]);
	}
	return buf_dup(&b, a);
}

static const char *machine_arch(struct arena *a)
{
	struct utsname u;
	if (uname(&u) < 0)
		return "unknown";
	return !strcmp(u.machine, "x86_64")    ? "amd64"
	       : !strcmp(u.machine, "aarch64") ? "arm64"
					       : arena_strdup(a, u.machine);
}

/* SUITE-ARCH-VERSION, where the version is a digest of all that decides what is inside. */
static const char *key_of(struct provider *p, struct arena *a, const char *suite)
{
	char hex[SHA256_HEX];
	const char *text = arena_printf(a, RECIPE "\n%s\n%s", package_list(p, a), prepare);
	sha256_hex(str_of(text), hex);
	return arena_printf(a, "%s-%s-%.8s", suite, machine_arch(a), hex);
}

static int source_text(struct provider *p, struct arena *a, const char *suite, struct buf *out,
		       struct err *e)
{
	struct sources s = { 0 };
	const struct str_list *mirrors = &p->o.mirror;
	for (size_t i = 0; i < mirrors->items.n; i++)
		sources_for_mirror(str_cstr(a, mirrors->items.v[i]), suite, out);
	if (mirrors->items.n)
		return 0;
	if (sources_read(a, "/etc/apt", &s, e))
		return -1;
	return sources_for(a, &s, sources_codename(a, "/etc/os-release"), suite, out, e);
}

/* The machine's own proxy, if apt has one set, serves the build too; it is not written into the
 * root. */
static const char *apt_proxy_option(struct arena *a)
{
	struct proc_result r;
	struct err ignored = { 0 };
	const char *argv[] = {
		"apt-config", "dump", "--format", "%v", "Acquire::http::Proxy", NULL
	};
	if (proc_check(a, argv, &(struct proc_opts){ .timeout_ms = 10000 }, &r, &ignored))
		return NULL;
	struct str url = str_trim(r.out);
	return url.n ? arena_printf(a, "--aptopt=Acquire::http::Proxy \"" STR_FMT "\"",
				    STR_ARG(url))
		     : NULL;
}

/* The last lines of mmdebstrap that say what went wrong. */
static int build_failed(struct arena *a, const struct proc_result *r, struct err *e)
{
	struct str text = r->err, line, last = STR_NONE, fault = STR_NONE;
	while (str_next_line(&text, &line)) {
		if (str_starts(line, "E: ") || str_starts(line, "Err:"))
			fault = fault.n ? fault : line;
		if (str_trim(line).n)
			last = line;
	}
	err_set(e, ERR_REMOTE, "mmdebstrap failed (status %d): %s", r->status,
		str_cstr(a, fault.n ? fault : last));
	return err_hint(
		e,
		"check that `apt-get update` works on this machine, or set `mirror` of the local provider");
}

static int debootstrap(struct provider *p, struct arena *a, const char *suite, const char *dir,
		       struct err *e)
{
	struct buf scoped(buf_fini) sources = { 0 };
	struct proc_result r;
	const char *proxy = apt_proxy_option(a);
	buf_init(&sources, 1 << 20);
	if (source_text(p, a, suite, &sources, e))
		return -1;
	/* In a process namespace that ends with us: a build that outlived its muster would write
	 * into the folder that the next one removes. */
	const char *argv[] = {
		"setpriv",
		"--pdeathsig=KILL",
		"unshare",
		"--pid",
		"--fork",
		"--kill-child=KILL",
		"--mount-proc",
		"mmdebstrap",
		"--mode=root",
		"--variant=minbase",
		"--format=directory",
		"--skip=check/empty",
		"--dpkgopt=path-exclude=/usr/share/man/*",
		"--dpkgopt=path-exclude=/usr/share/doc/*",
		"--dpkgopt=path-include=/usr/share/doc/*/copyright",
		"--dpkgopt=path-exclude=/usr/share/locale/*",
		"--dpkgopt=force-unsafe-io",
		"--aptopt=Acquire::Languages \"none\"",
		arena_printf(a, "--include=%s", package_list(p, a)),
		arena_printf(a, "--customize-hook=%s", prepare),
		proxy ? proxy : "--quiet",
		suite,
		dir,
		"-",
		NULL,
	};
	struct proc_opts o = { .input = buf_str(&sources),
			       .timeout_ms = BUILD_MS,
			       .max_output = 4 << 20 };
	if (proc_run(a, argv, &o, &r, e))
		return err_wrap(e, "building the %s root", suite);
	return r.status ? build_failed(a, &r, e) : 0;
}

/* Half-built roots of processes that were killed: we hold the lock, so nobody is building this key.
 */
static int remove_leftovers(struct provider *p, struct arena *a, const char *key, struct err *e)
{
	struct fs_names names = { 0 };
	if (fs_list(a, p->cache, &names, e))
		return -1;
	const char *prefix = arena_printf(a, BUILDING "%s.", key);
	for (size_t i = 0; i < names.names.n; i++) {
		if (!str_starts(str_of(names.names.v[i]), prefix))
			continue;
		if (record_remove_tree(fs_join(a, p->cache, names.names.v[i]), e))
			return -1;
	}
	return 0;
}

static int build(struct provider *p, struct arena *a, const char *suite, const char *key,
		 struct err *e)
{
	char token[TOKEN_LEN];
	int64_t since = clock_now();
	struct err trouble = { 0 };
	rand_token(token);
	if (remove_leftovers(p, a, key, e))
		return -1;
	const char *dir = arena_printf(a, "%s/" BUILDING "%s.%.6s", p->cache, key, token);
	log_info("building the %s root once, below %s: takes about a minute", suite, p->cache);
	int rc = fs_mkdirs(dir, 0755, e) || debootstrap(p, a, suite, dir, e);
	if (!rc && rename(dir, fs_join(a, p->cache, key)) < 0)
		rc = err_sys(e, "%s", dir);
	if (rc) {
		task_shield_begin();
		if (remove_leftovers(p, a, key, &trouble))
			log_warn("%s is left behind: %s", dir, trouble.msg);
		task_shield_end();
		return -1;
	}
	char took[16];
	clock_format_duration(clock_now() - since, took);
	log_info("built the %s root in %s", suite, took);
	return 0;
}

static int lock_key(struct provider *p, struct arena *a, const char *key, int *fd, struct err *e)
{
	const char *path = arena_printf(a, "%s/%s.lock", p->cache, key);
	struct deadline d = deadline_in(BUILD_MS);
	bool said = false;
	*fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (*fd < 0)
		return err_sys(e, "%s", path);
	while (flock(*fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(e, "%s", path);
		if (!said)
			log_info("another process is building the root %s: waiting for it", key);
		said = true;
		if (!deadline_left(d))
			return err_set(e, ERR_BUSY, "another process holds %s", path);
		if (task_sleep(WAIT_POLL_MS, e))
			return -1;
	}
	return 0;
}

static int ensure_locked(struct provider *p, struct arena *a, const char *suite, const char *key,
			 struct err *e)
{
	scoped(close_fd) int fd = -1;
	if (fs_is_dir(fs_join(a, p->cache, key)))
		return 0;
	if (fs_mkdirs(p->cache, 0755, e) || lock_key(p, a, key, &fd, e))
		return -1;
	return fs_is_dir(fs_join(a, p->cache, key)) ? 0 : build(p, a, suite, key, e);
}

int image_ensure(struct provider *p, struct arena *a, struct str image, const char **root,
		 struct err *e)
{
	const char *suite = image_suite(image);
	if (!suite) {
		err_set(e, ERR_SPEC, "the local provider has no image '" STR_FMT "'",
			STR_ARG(image));
		return err_hint(e, "use debian-12 or debian-13");
	}
	const char *key = key_of(p, a, suite);
	*root = fs_join(a, p->cache, key);
	if (fs_is_dir(*root))
		return 0;
	if (task_sem_take(&p->image_turn, deadline_in(BUILD_MS), e))
		return -1;
	int rc = ensure_locked(p, a, suite, key, e);
	task_sem_give(&p->image_turn);
	return rc;
}
