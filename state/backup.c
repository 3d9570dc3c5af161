/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A copy is made by SQLite's own online backup in one step, so it is one consistent picture while
 * others write. It goes to a temporary file without a journal, which is fsynced and renamed: a copy
 * is whole or absent.
 *
 * Restoring must not leave the old -wal file beside the new file: SQLite would replay it into the
 * wrong database. So the order is copy, move the old WAL away, and only then put the copy in place
 * with one rename; a kill anywhere leaves either the old (still damaged) state or the restored one,
 * never none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state/files.h"
#include "state/store.h"

/* ---- copying ---- */

static int make_private(const char *path, struct err *e)
{
	scoped(close_fd) int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	return fd < 0 ? err_sys(e, "creating %s", path) : 0;
}

static int sync_path(const char *path, int flags, struct err *e)
{
	scoped(close_fd) int fd = open(path, flags | O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fsync(fd))
		return err_sys(e, "syncing %s", path);
	return 0;
}

/* The destination's connection: only its file and its error matter. */
static int copy_pages(struct state *from, struct state *to, struct err *e)
{
	int rc = sqlite3_open_v2(to->path, &to->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
				 NULL);

	if (!to->db)
		mem_oom();
	if (rc != SQLITE_OK ||
	    sqlite3_exec(to->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", NULL, NULL,
			 NULL) != SQLITE_OK)
		return sql_fail(to, sqlite3_errcode(to->db), e);
	sqlite3_backup *b = sqlite3_backup_init(to->db, "main", from->db, "main");
	if (!b)
		return sql_fail(to, sqlite3_errcode(to->db), e);
	rc = sqlite3_backup_step(b, -1);
	int end = sqlite3_backup_finish(b);
	if (rc == SQLITE_DONE && end == SQLITE_OK)
		return 0;
	return sql_fail(to, rc == SQLITE_DONE ? end : rc, e);
}

static int copy_to(struct state *s, char *path, struct err *e)
{
	struct state to = { .path = path };

	if (make_private(path, e))
		return -1;
	int rc = copy_pages(s, &to, e);
	if (to.db)
		sql_close(&to);
	if (!rc)
		rc = sync_path(path, 0, e);
	if (rc)
		unlink(path);
	return rc;
}

static char *temporary(struct arena *a, const char *path)
{
	char token[TOKEN_LEN];

	rand_token(token);
	return arena_printf(a, "%s.%.8s.tmp", path, token);
}

static int put_in_place(struct arena *a, const char *from, const char *to, struct err *e)
{
	if (rename(from, to)) {
		err_sys(e, "renaming %s to %s", from, to);
		unlink(from);
		return -1;
	}
	return sync_path(fs_dirname(a, to), O_DIRECTORY, e);
}

static void rotate(struct arena *a, const char *state)
{
	struct fs_names all = files_backups(a, state);

	for (size_t i = 0; i + STATE_BACKUPS < all.names.n; i++)
		if (unlink(all.names.v[i]))
			log_warn("state: cannot remove the old backup %s", all.names.v[i]);
}

int state_backup(struct state *s, const char *path, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state backup");
	const char *to = path ? path : files_backup_path(a, s->path, clock_wall());

	if (s->group || s->depth)
		return err_set(e, ERR_BUG, "a backup while a group of writes is open");
	if (!path && fs_mkdirs(fs_dirname(a, to), 0700, e))
		return err_wrap(e, "backup");
	char *tmp = temporary(a, to);
	if (copy_to(s, tmp, e) || put_in_place(a, tmp, to, e))
		return err_wrap(e, "backup");
	if (!path)
		rotate(a, s->path);
	return 0;
}

/* Small ones are copied after each run. A large one only when it has grown by a quarter, or the
 * last copy is old: else each run of one node would write all nodes and all history again. */
#define SMALL_STATE ((int64_t)4 << 20)
#define OLD_COPY_MS ((int64_t)60 * 60 * 1000)

bool backup_is_due(struct state *s)
{
	scoped(arena_freep) struct arena *a = arena_new("backup due");
	const char *last = files_newest_backup(a, s->path);
	int64_t pages = 0, page_size = 0;
	struct err ignored = { 0 };
	struct stat st;

	if (!last || stat(last, &st))
		return true;
	if (sql_int_of(s, "SELECT page_count FROM pragma_page_count", SQL_NO_ARGS, &pages,
		       &ignored) ||
	    sql_int_of(s, "SELECT page_size FROM pragma_page_size", SQL_NO_ARGS, &page_size,
		       &ignored))
		return true;
	int64_t size = pages * page_size;
	return size < SMALL_STATE || size - st.st_size > st.st_size / 4 ||
	       clock_wall() - (int64_t)st.st_mtim.tv_sec * 1000 > OLD_COPY_MS;
}

/* ---- restoring ---- */

bool state_is_backup(const char *path)
{
	scoped(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char head[16];

	return fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
	       !memcmp(head, "SQLite format 3", sizeof head);
}

static int check_pages(struct state *s, struct err *e)
{
	sqlite3_stmt *st;

	if (sql_query(s, "PRAGMA integrity_check(1)", SQL_NO_ARGS, &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc < 0)
		return -1;
	const char *said = rc ? (const char *)sqlite3_column_text(st, 0) : "no answer";
	rc = said && !strcmp(said, "ok") ? 0 : sql_damaged(s->path, said ? said : "no answer", e);
	sql_done(st);
	return rc;
}

static int copy_healthy(const char *backup, char *to, struct err *e)
{
	scoped(state_closep) struct state *b = NULL;

	if (state_open_raw(backup, &b, e) || check_pages(b, e) || copy_to(b, to, e))
		return err_wrap(e, "restoring from %s", backup);
	return 0;
}

/* Damaged beyond reading: then no run can be using it either. */
static int refuse_live_lease(const char *path, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("leases");
	scoped(state_closep) struct state *s = NULL;
	struct leases all;
	struct err ignored = { 0 };

	if (state_open_raw(path, &s, &ignored) || lease_list(s, a, &all, &ignored))
		return 0;
	for (size_t i = 0; i < all.v.n; i++) {
		const struct lease_holder *h = &all.v.v[i]->h;
		if (h->dead || h->expired)
			continue;
		err_set(e, ERR_LEASE, "%s@%s holds the lease of %s (run %s)", h->who, h->host, path,
			h->run);
		return err_hint(e, "wait until that run has ended");
	}
	return 0;
}

static int move_if_there(const char *from, const char *to, struct err *e)
{
	if (rename(from, to) && errno != ENOENT)
		return err_sys(e, "renaming %s to %s", from, to);
	return 0;
}

static int set_aside(struct arena *a, const char *path, struct err *e)
{
	char iso[CLOCK_ISO_LEN];

	clock_iso(clock_wall(), iso);
	char *aside = arena_printf(a, "%s.damaged-%s", path, iso);
	if (link(path, aside) && errno != ENOENT)
		return err_sys(e, "keeping %s as %s", path, aside);
	if (move_if_there(arena_printf(a, "%s-wal", path), arena_printf(a, "%s-wal", aside), e))
		return -1;
	if (unlink(arena_printf(a, "%s-shm", path)) && errno != ENOENT)
		return err_sys(e, "removing %s-shm", path);
	return 0;
}

int state_restore(const char *path, const char *backup, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state restore");
	char *tmp = temporary(a, path);

	if (refuse_live_lease(path, e) || fs_mkdirs(fs_dirname(a, path), 0700, e) ||
	    copy_healthy(backup, tmp, e))
		return -1;
	if (set_aside(a, path, e)) {
		unlink(tmp);
		return -1;
	}
	return put_in_place(a, tmp, path, e);
}
