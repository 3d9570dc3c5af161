/* SPDX-License-Identifier: Apache-2.0 */
/* base/fs.h - files of this machine. Blocking; for large files call through task_offload. */
#ifndef MUSTER_BASE_FS_H
#define MUSTER_BASE_FS_H

#include <sys/types.h>

#include "base/str.h"
#include "base/vec.h"

void close_fd(int *fd); /* for scoped(): closes if >= 0, sets -1 */

/* Whole file, at most max bytes (more: ERR_IO that says so). ERR_NOT_FOUND when absent. */
must_check int fs_read(struct arena *a, const char *path, size_t max, struct str *out,
		       struct err *e);
/* Temporary file beside it, fsync, rename, fsync of the folder. Never leaves a half-written file.
 * ERR_IO where path is a device, a pipe or a socket, or a link to one: they are never replaced. */
must_check int fs_write_atomic(const char *path, struct str data, mode_t mode, struct err *e);
must_check int fs_mkdirs(const char *path, mode_t mode, struct err *e); /* mkdir -p */
/* absent is fine; never follows links or crosses mounts */
must_check int fs_remove_tree(const char *path, struct err *e);
bool fs_exists(const char *path);
bool fs_is_dir(const char *path);
struct fs_names {
	VEC(const char *) names;
};
/* sorted, without . and .. */
must_check int fs_list(struct arena *a, const char *dir, struct fs_names *out, struct err *e);
/* an absolute name wins; dir "." or "" vanishes */
char *fs_join(struct arena *a, const char *dir, const char *name);
char *fs_dirname(struct arena *a, const char *path);
char *fs_expand_home(struct arena *a, const char *path); /* leading ~ or ~/ by env HOME */

#endif
