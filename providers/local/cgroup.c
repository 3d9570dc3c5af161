/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define CGROUP2_MAGIC 0x63677270
#define TOP	      "/sys/fs/cgroup"
#define HOME	      "muster"
#define INOTIFY	      "/proc/sys/fs/inotify/max_user_instances"
#define INOTIFY_WAS   "/run/muster-inotify-was"
#define INOTIFY_EACH  6 /* instances of one host, with room for the machine's own */
#define INOTIFY_MANY  "8192"

static bool is_v2(const char *path)
{
	struct statfs s;
	return statfs(path, &s) == 0 && s.f_type == CGROUP2_MAGIC;
}

const char *cgroup_root(void)
{
	if (is_v2(TOP))
		return TOP;
	return is_v2(TOP "/unified") ? TOP "/unified" : NULL;
}

/* The v1 mounts lie on top of a tmpfs; all of it is taken off, lazily, in this mount namespace
 * only. */
int cgroup_mount_v2(struct err *e)
{
	if (is_v2(TOP))
		return 0;
	(void)umount2(TOP, MNT_DETACH);
	if (mount("cgroup2", TOP, "cgroup2", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) < 0) {
		err_sys(e, "mounting cgroup2 at " TOP);
		return err_hint(e,
				"the local provider needs control groups v2 (Linux 4.15 or later)");
	}
	return 0;
}

static bool group_path(char *out, size_t cap, const char *id, const char *leaf)
{
	const char *root = cgroup_root();
	if (!root)
		return false;
	int n = snprintf(out, cap, "%s/" HOME "%s%s%s%s", root, id ? "/" : "", id ? id : "",
			 leaf ? "/" : "", leaf ? leaf : "");
	return n > 0 && (size_t)n < cap;
}

static int write_small(const char *path, const char *text)
{
	scoped(close_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(text);
	return fd >= 0 && write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

static int enter_once(const char *path, struct err *e)
{
	char procs[600];
	if (fs_mkdirs(path, 0755, e))
		return -1;
	snprintf(procs, sizeof procs, "%s/cgroup.procs", path);
	return write_small(procs, "0") ? err_sys(e, "entering the control group %s", path) : 0;
}

/* The last host of another cluster that ends just now may remove /muster between our making it and
 * our entering it. */
int cgroup_enter(const char *id, const char *leaf, struct err *e)
{
	char path[512];
	struct err why = { 0 };
	if (!group_path(path, sizeof path, id, leaf))
		return err_set(e, ERR_IO, "no control groups v2 on this machine");
	for (int i = 0; i < 20; i++) {
		if (enter_once(path, &why) == 0)
			return 0;
		usleep(10000);
	}
	*e = why;
	return -1;
}

/* Directories below, deepest first. One buffer for all: how deep they lie is the host's doing, and
 * a task's stack is small. */
static void each_below(char *path, size_t cap, void (*fn)(const char *path, void *arg), void *arg)
{
	DIR *d = opendir(path);
	struct dirent *entry;
	size_t end = strlen(path);
	while (d && (entry = readdir(d))) {
		if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
			continue;
		int n = snprintf(path + end, cap - end, "/%s", entry->d_name);
		if (n > 0 && (size_t)n < cap - end)
			each_below(path, cap, fn, arg);
		path[end] = '\0';
	}
	if (d)
		closedir(d);
	fn(path, arg);
}

static void kill_procs(const char *path, void *arg)
{
	char file[800];
	size_t *left = arg;
	long pid;
	snprintf(file, sizeof file, "%s/cgroup.procs", path);
	FILE *f = fopen(file, "re");
	while (f && fscanf(f, "%ld", &pid) == 1) {
		(*left)++;
		if (pid > 1 && pid != getpid())
			kill((pid_t)pid, SIGKILL);
	}
	if (f)
		fclose(f);
}

bool cgroup_kill(const char *id, const char *leaf)
{
	char path[768];
	size_t left = 0;
	if (!group_path(path, sizeof path, id, leaf))
		return true;
	each_below(path, sizeof path, kill_procs, &left);
	return left == 0;
}

static void remove_group(const char *path, void *arg unused_arg)
{
	(void)rmdir(path);
}

bool cgroup_remove(const char *id)
{
	char path[768];
	if (!group_path(path, sizeof path, id, NULL))
		return false;
	each_below(path, sizeof path, remove_group, NULL);
	return group_path(path, sizeof path, NULL, NULL) && rmdir(path) == 0;
}

size_t cgroup_hosts(void)
{
	char path[512];
	size_t n = 0;
	struct stat s;
	if (!group_path(path, sizeof path, NULL, NULL) || stat(path, &s) < 0)
		return 0;
	n = s.st_nlink > 2 ? (size_t)s.st_nlink - 2
			   : 0; /* kernfs counts folders in the link count */
	return n;
}

/* O_EXCL: only the first who raises them knows what they were. */
int limits_raise(size_t hosts, struct err *e)
{
	struct arena *a = arena_new("limits");
	struct str now;
	int64_t n = 0;
	int rc = fs_read(a, INOTIFY, 32, &now, e);
	if (!rc && str_to_int(str_trim(now), &n) && n < (int64_t)(hosts * INOTIFY_EACH)) {
		scoped(close_fd) int fd = open(INOTIFY_WAS, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
					       0600);
		if (fd >= 0 && write(fd, now.p, now.n) != (ssize_t)now.n)
			rc = err_sys(e, INOTIFY_WAS);
		if (!rc && write_small(INOTIFY, INOTIFY_MANY)) {
			err_sys(e, "raising fs.inotify.max_user_instances for %zu hosts", hosts);
			rc = err_hint(e,
				      "run: sysctl -w fs.inotify.max_user_instances=" INOTIFY_MANY);
		}
	}
	arena_free(a);
	return rc;
}

void limits_restore(void)
{
	struct arena *a = arena_new("limits");
	struct str was;
	struct err ignored = { 0 };
	if (fs_read(a, INOTIFY_WAS, 32, &was, &ignored) == 0) {
		if (was.n)
			(void)write_small(INOTIFY, str_cstr(a, was));
		(void)unlink(INOTIFY_WAS);
	}
	arena_free(a);
}
