/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes into the upper folder of an overlay that is not mounted. A folder made there replaces the
 * base's attributes in the merged view, so each gets the mode of its twin in the base. Files are
 * not fsynced one by one: the record says "building" until the host has answered, and after a crash
 * of the machine before that they are all written again.
 */
#include "providers/local/root.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define PASSWD_MAX ((size_t)1 << 20)
#define USER_ID	   1000

struct writer {
	struct arena *a;
	const struct root_files *f;
};

static int make_dir(struct writer *w, const char *rel, struct err *e)
{
	struct stat s;
	mode_t mode = 0755;
	if (!strcmp(rel, ".") || !rel[0])
		return 0;
	if (make_dir(w, fs_dirname(w->a, rel), e))
		return -1;
	const char *path = fs_join(w->a, w->f->upper, rel);
	if (stat(fs_join(w->a, w->f->base, rel), &s) == 0)
		mode = s.st_mode & 07777;
	if (mkdir(path, mode) < 0)
		return errno == EEXIST ? 0 : err_sys(e, "%s", path);
	return chmod(path, mode) < 0 ? err_sys(e, "%s", path) : 0; /* whatever the umask was */
}

static int put(struct writer *w, const char *rel, struct str text, mode_t mode, struct err *e)
{
	if (make_dir(w, fs_dirname(w->a, rel), e))
		return -1;
	const char *path = fs_join(w->a, w->f->upper, rel);
	(void)unlink(path);
	scoped(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				       mode);
	if (fd < 0)
		return err_sys(e, "%s", path);
	for (size_t n = 0; n < text.n;) {
		ssize_t k = write(fd, text.p + n, text.n - n);
		if (k < 0 && errno != EINTR)
			return err_sys(e, "%s", path);
		n += k > 0 ? (size_t)k : 0;
	}
	return fchmod(fd, mode) < 0 ? err_sys(e, "%s", path) : 0;
}

static int put_text(struct writer *w, const char *rel, const char *text, struct err *e)
{
	return put(w, rel, str_of(text), 0644, e);
}

/* The base's file with a line added. */
static int append(struct writer *w, const char *rel, mode_t mode, const char *line, struct err *e)
{
	struct str old;
	if (fs_read(w->a, fs_join(w->a, w->f->base, rel), PASSWD_MAX, &old, e))
		return -1;
	return put(w, rel, str_of(arena_printf(w->a, STR_FMT "%s\n", STR_ARG(old), line)), mode, e);
}

static int own(struct writer *w, const char *rel, struct err *e)
{
	const char *path = fs_join(w->a, w->f->upper, rel);
	return chown(path, USER_ID, USER_ID) < 0 ? err_sys(e, "%s", path) : 0;
}

static int add_user(struct writer *w, struct err *e)
{
	const char *u = w->f->user;
	const char *home = arena_printf(w->a, "home/%s", u);
	if (append(w, "etc/passwd", 0644,
		   arena_printf(w->a, "%s:x:%d:%d::/home/%s:/bin/bash", u, USER_ID, USER_ID, u),
		   e) ||
	    append(w, "etc/group", 0644, arena_printf(w->a, "%s:x:%d:", u, USER_ID), e) ||
	    append(w, "etc/shadow", 0600, arena_printf(w->a, "%s:*:19000:0:99999:7:::", u), e) ||
	    append(w, "etc/gshadow", 0600, arena_printf(w->a, "%s:*::", u), e) ||
	    put(w, arena_printf(w->a, "etc/sudoers.d/90-%s", u),
		str_of(arena_printf(w->a, "%s ALL=(ALL) NOPASSWD: ALL\n", u)), 0440, e))
		return -1;
	if (make_dir(w, home, e) || own(w, home, e))
		return -1;
	return 0;
}

static int put_admin_key(struct writer *w, struct err *e)
{
	bool root = !w->f->user || !strcmp(w->f->user, "root");
	if (!root && add_user(w, e))
		return -1;
	if (!w->f->admin_key)
		return 0;
	const char *ssh = root ? "root/.ssh" : arena_printf(w->a, "home/%s/.ssh", w->f->user);
	const char *file = fs_join(w->a, ssh, "authorized_keys");
	if (put(w, file, str_of(arena_printf(w->a, "%s\n", w->f->admin_key)), 0600, e))
		return -1;
	const char *path = fs_join(w->a, w->f->upper, ssh);
	if (chmod(path, 0700) < 0)
		return err_sys(e, "%s", path);
	return root ? 0 : own(w, ssh, e) || own(w, file, e) ? -1 : 0;
}

static int put_host_key(struct writer *w, struct err *e)
{
	if (put(w, "etc/ssh/ssh_host_ed25519_key", w->f->host_private, 0600, e))
		return -1;
	return put_text(w, "etc/ssh/ssh_host_ed25519_key.pub",
			arena_printf(w->a, "%s\n", w->f->host_public), e);
}

static int put_apt(struct writer *w, struct err *e)
{
	if (!w->f->proxy)
		return 0;
	/* One request a connection is what the proxy does; a pipeline would only be broken off and
	 * begun again. */
	return put_text(
		w, "etc/apt/apt.conf.d/00proxy",
		arena_printf(
			w->a,
			"Acquire::http::Proxy \"%s\";\nAcquire::https::Proxy \"%s\";\nAcquire::http::Pipeline-Depth \"0\";\n",
			w->f->proxy, w->f->proxy),
		e);
}

static int write_all(struct writer *w, struct err *e)
{
	const struct root_files *f = w->f;
	if (fs_mkdirs(f->upper, 0755, e))
		return -1;
	const char *hosts = arena_printf(
		w->a, "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n%s %s\n",
		f->address, f->name);
	if (put_text(w, "etc/hostname", arena_printf(w->a, "%s\n", f->name), e) ||
	    put_text(w, "etc/hosts", hosts, e) ||
	    put(w, "etc/machine-id", str_of(arena_printf(w->a, "%s\n", f->machine_id)), 0444, e))
		return -1;
	if (f->resolv_conf && put_text(w, "etc/resolv.conf", f->resolv_conf, e))
		return -1;
	return put_host_key(w, e) || put_admin_key(w, e) || put_apt(w, e) ? -1 : 0;
}

int root_write(const struct root_files *f, struct err *e)
{
	struct writer w = { arena_new("root files"), f };
	int rc = write_all(&w, e);
	arena_free(w.a);
	return rc;
}
