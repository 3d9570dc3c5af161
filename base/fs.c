/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replacing a file is: a new file beside it, fsync, rename, fsync of the folder. Whoever reads sees
 * the old bytes or the new ones, also after a power cut. Removing a tree goes by descriptors and
 * never by paths, so that a link put in the way meanwhile cannot lead it out.
 */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/env.h"
#include "base/rand.h"

#define TREE_DEPTH_MAX 256 /* descriptors that removing a tree may hold */
#define LIST_MAX       1000000

void close_fd(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

static void close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
	*d = NULL;
}

/* err_sys that tells absence apart. */
static int fail_sys(struct err *e, const char *doing, const char *path)
{
	bool absent = errno == ENOENT || errno == ENOTDIR;

	err_sys(e, "%s %s", doing, path);
	if (e && absent)
		e->kind = ERR_NOT_FOUND;
	return -1;
}

int fs_read(struct arena *a, const char *path, size_t max, struct str *out, struct err *e)
{
	scoped(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	size_t cap, n = 0;
	struct stat st;
	char *p;

	if (fd < 0)
		return fail_sys(e, "opening", path);
	if (fstat(fd, &st) != 0)
		return err_sys(e, "reading %s", path);
	if (S_ISDIR(st.st_mode))
		return err_set(e, ERR_IO, "reading %s: it is a folder", path);
	if (max > SIZE_MAX - 2)
		max = SIZE_MAX - 2;
	cap = (st.st_size > 0 && (uint64_t)st.st_size < max ? (size_t)st.st_size
	       : st.st_size > 0				    ? max
							    : 4096) +
	      2;
	p = arena_alloc(a, cap);
	for (;;) {
		ssize_t got;
		if (n + 1 >= cap) {
			p = arena_grow(a, p, cap, cap * 2);
			cap *= 2;
		}
		got = read(fd, p + n, cap - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_sys(e, "reading %s", path);
		if (got == 0)
			break;
		n += (size_t)got;
		if (n > max)
			return err_set(e, ERR_IO, "reading %s: more than %zu bytes", path, max);
	}
	p[n] = '\0';
	*out = (struct str){ p, n };
	return 0;
}

static int write_all(int fd, struct str data)
{
	while (data.n) {
		ssize_t n = write(fd, data.p, data.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		data = str_sub(data, (size_t)n, SIZE_MAX);
	}
	return 0;
}

static int open_beside(struct arena *a, const char *path, char **temp)
{
	for (int tries = 0; tries < 16; tries++) {
		char token[TOKEN_LEN];
		int fd;
		rand_token(token);
		token[12] = '\0';
		*temp = arena_printf(a, "%s.%s.tmp", path, token);
		fd = open(*temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0 || errno != EEXIST)
			return fd;
	}
	return -1;
}

static int sync_dir(const char *dir)
{
	scoped(close_fd) int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* Some file systems cannot sync a folder, and say so with EINVAL. */
	return fd < 0 || (fsync(fd) != 0 && errno != EINVAL) ? -1 : 0;
}

/*
 * The rename would put a file in the place of a device, a pipe or a link to one: as root
 * `--out /dev/null` would take /dev/null from the whole machine. A link into /proc is a stream
 * (/dev/stdout), whatever it leads to now.
 */
static bool is_special(const char *path)
{
	static const char proc[] = "/proc/";
	char target[sizeof(proc) - 1];
	struct stat st;

	if (lstat(path, &st) != 0)
		return false;
	if (S_ISLNK(st.st_mode)) {
		if (readlink(path, target, sizeof(target)) == (ssize_t)sizeof(target) &&
		    memcmp(target, proc, sizeof(target)) == 0)
			return true;
		if (stat(path, &st) != 0)
			return false;
	}
	return !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

int fs_write_atomic(const char *path, struct str data, mode_t mode, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("fs_write_atomic");
	char *temp = NULL;
	int fd, saved;
	bool ok;

	if (is_special(path))
		return err_set(e, ERR_IO,
			       "writing %s: it is a device, a pipe or a socket, not a file", path);
	fd = open_beside(a, path, &temp);
	if (fd < 0)
		return fail_sys(e, "writing", path);
	ok = fchmod(fd, mode) == 0 && write_all(fd, data) == 0 && fsync(fd) == 0;
	if (ok)
		ok = close(fd) == 0;
	else
		close_fd(&fd);
	if (ok && rename(temp, path) == 0) {
		if (sync_dir(fs_dirname(a, path)) != 0)
			return err_sys(e, "syncing the folder of %s", path);
		return 0;
	}
	saved = errno;
	unlink(temp);
	errno = saved;
	return err_sys(e, "writing %s", path);
}

int fs_mkdirs(const char *path, mode_t mode, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("fs_mkdirs");
	char *part = arena_strdup(a, path);
	struct stat st;

	for (char *p = part + 1; part[0] && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(part, mode) != 0 && errno != EEXIST && errno != EISDIR &&
		    stat(part, &st) != 0)
			return fail_sys(e, "making the folder", part);
		*p = '/';
	}
	if (mkdir(path, mode) == 0)
		return 0;
	if (errno == EEXIST && stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		errno = ENOTDIR;
	}
	return err_sys(e, "making the folder %s", path);
}

struct removal {
	const char *path; /* for messages */
	dev_t dev;
	int depth;
};

static int remove_in(struct removal *r, int dir_fd, struct err *e);

static int remove_dir(struct removal *r, int parent, const char *name, struct err *e)
{
	scoped(close_fd) int fd = openat(parent, name,
					 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return err_sys(e, "removing %s: opening %s", r->path, name);
	if (st.st_dev != r->dev)
		return err_set(e, ERR_IO, "removing %s: %s is another file system mounted there",
			       r->path, name);
	if (r->depth >= TREE_DEPTH_MAX)
		return err_set(e, ERR_IO, "removing %s: more than %d folders deep", r->path,
			       TREE_DEPTH_MAX);
	r->depth++;
	if (remove_in(r, fd, e) != 0)
		return -1;
	r->depth--;
	if (unlinkat(parent, name, AT_REMOVEDIR) != 0 && errno != ENOENT)
		return err_sys(e, "removing %s: %s", r->path, name);
	return 0;
}

static int remove_entry(struct removal *r, int dir_fd, const char *name, struct err *e)
{
	struct stat st;

	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		if (errno == ENOENT)
			return 0;
		return err_sys(e, "removing %s: %s", r->path, name);
	}
	if (S_ISDIR(st.st_mode))
		return remove_dir(r, dir_fd, name, e);
	if (unlinkat(dir_fd, name, 0) != 0 && errno != ENOENT)
		return err_sys(e, "removing %s: %s", r->path, name);
	return 0;
}

static int remove_in(struct removal *r, int dir_fd, struct err *e)
{
	scoped(close_fd) int copy = fcntl(dir_fd, F_DUPFD_CLOEXEC, 0);
	scoped(close_dir) DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct dirent *entry;

	if (!d)
		return err_sys(e, "removing %s", r->path);
	copy = -1; /* d owns it now */
	while ((errno = 0, entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (remove_entry(r, dir_fd, entry->d_name, e) != 0)
			return -1;
	}
	return errno ? err_sys(e, "removing %s", r->path) : 0;
}

int fs_remove_tree(const char *path, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("fs_remove_tree");
	struct removal r = { .path = path };
	struct stat st;
	char *trimmed = str_cstr(a, str_trim_end(str_of(path), '/'));

	/* "link/" would mean what the link points to. */
	if (!trimmed[0])
		return err_set(e, ERR_IO, "removing '%s': refused", path);
	if (lstat(trimmed, &st) != 0) {
		if (errno == ENOENT)
			return 0;
		return err_sys(e, "removing %s", path);
	}
	r.dev = st.st_dev;
	return remove_entry(&r, AT_FDCWD, trimmed, e);
}

bool fs_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool fs_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

int fs_list(struct arena *a, const char *dir, struct fs_names *out, struct err *e)
{
	scoped(close_dir) DIR *d = opendir(dir);
	struct dirent *entry;

	*out = (struct fs_names){ 0 };
	if (!d)
		return fail_sys(e, "listing", dir);
	while ((errno = 0, entry = readdir(d))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (out->names.n == LIST_MAX)
			return err_set(e, ERR_IO, "listing %s: more than %d names", dir, LIST_MAX);
		VEC_ADD(a, &out->names) = arena_strdup(a, entry->d_name);
	}
	if (errno)
		return err_sys(e, "listing %s", dir);
	if (out->names.n)
		qsort(out->names.v, out->names.n, sizeof(*out->names.v), by_name);
	return 0;
}

char *fs_join(struct arena *a, const char *dir, const char *name)
{
	struct str head = str_of(dir);

	if (name[0] == '/' || head.n == 0 || str_eqc(head, "."))
		return arena_strdup(a, name);
	if (head.n > 1)
		head = str_trim_end(head, '/').n ? str_trim_end(head, '/') : STR("/");
	return arena_printf(a, STR_FMT "%s%s", STR_ARG(head), str_eqc(head, "/") ? "" : "/", name);
}

char *fs_dirname(struct arena *a, const char *path)
{
	struct str s = str_trim_end(str_of(path), '/');

	if (s.n == 0)
		return arena_strdup(a, path[0] == '/' ? "/" : ".");
	while (s.n && s.p[s.n - 1] != '/')
		s.n--;
	if (s.n == 0)
		return arena_strdup(a, ".");
	s = str_trim_end(s, '/');
	return s.n ? str_cstr(a, s) : arena_strdup(a, "/");
}

char *fs_expand_home(struct arena *a, const char *path)
{
	const char *home = env_get("HOME");

	if (path[0] != '~' || (path[1] && path[1] != '/') || !home)
		return arena_strdup(a, path);
	return path[1] ? fs_join(a, home, path + 2) : arena_strdup(a, home);
}
