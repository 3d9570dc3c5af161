/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening is where every kind of wrong file is met: none, empty, not SQLite, somebody else's
 * SQLite, damaged, from a newer muster, of another cluster, or one that we may only read. Each gets
 * its own words. Migrations are run one transaction each; user_version moves inside it, so a kill
 * leaves the file at one version or the next, never between.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "state/files.h"
#include "state/store.h"

#include "gen/state_schema.h"

#define APPLICATION_ID 0x4d535452 /* "MSTR" */
#define SCHEMA_VERSION ((int64_t)ARRAY_LEN(state_schema))
#define BUSY_MS	       5000
#define PAGE_BYTES     2048 /* of new files: a lone change of a resource writes two or three */
#define LENGTH_MAX     (64 << 20)

/* ---- the file ---- */

static int make_file(struct arena *a, const char *path, struct err *e)
{
	char *dir = fs_dirname(a, path);

	if (!fs_is_dir(dir) && fs_mkdirs(dir, 0700, e))
		return -1;
	/* Before SQLite does: it would take the umask's mode, and its -wal and -shm files take this
	 * file's. */
	scoped(close_fd) int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 && errno != EEXIST) {
		err_sys(e, "creating state file %s", path);
		return err_hint(e, "make the folder %s writable, or choose another with --state",
				dir);
	}
	return 0;
}

static bool has_wal(struct arena *a, const char *path)
{
	struct stat st;

	return stat(arena_printf(a, "%s-wal", path), &st) == 0 && st.st_size > 0;
}

/* As its head says; files of versions before have pages of 4096 bytes. */
static off_t page_bytes(const char *path)
{
	scoped(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char head[18];

	if (fd < 0 || read(fd, head, sizeof head) != (ssize_t)sizeof head)
		return PAGE_BYTES;
	off_t n = head[16] << 8 | head[17];
	return n < 512 || (n & (n - 1)) ? PAGE_BYTES : n;
}

/* SQLite takes a file of less than a page for a new one, and so would make a new fleet out of a
 * state that was cut off. An empty file is also what a kill right after make_file leaves: then
 * there is neither a WAL nor a backup beside it. A part of a page is what a crash in a checkpoint
 * leaves: then the WAL has the whole of it. */
static bool is_cut_off(struct arena *a, const char *path, off_t size)
{
	if (!size)
		return has_wal(a, path) || files_newest_backup(a, path);
	off_t page = page_bytes(path);
	return size < page || (size % page && !has_wal(a, path));
}

static int look_at_file(struct arena *a, const char *path, unsigned flags, struct err *e)
{
	struct stat st;
	bool absent = stat(path, &st) != 0;

	if (absent && errno != ENOENT)
		return err_sys(e, "state file %s", path);
	if (!absent && !S_ISREG(st.st_mode))
		return err_set(e, ERR_IO, "state file %s is not a regular file", path);
	if (!absent && is_cut_off(a, path, st.st_size))
		return sql_damaged(path, "it was cut off", e);
	if (!absent && (st.st_size > 0 || (flags & STATE_CREATE)))
		return 0;
	if ((flags & STATE_CREATE) && !(flags & STATE_READONLY))
		return make_file(a, path, e);
	err_set(e, ERR_NOT_FOUND, "no state file %s", path);
	return err_hint(e, "run 'muster apply', or name the file with --state");
}

/* '?', '#' and '%' mean something in a file: name. */
static char *file_uri(struct arena *a, const char *path)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 64 << 10);
	buf_adds(&b, "file:");
	for (const char *p = path; *p; p++) {
		if (strchr("?#%", *p))
			buf_addf(&b, "%%%02x", (unsigned char)*p);
		else
			buf_addc(&b, *p);
	}
	buf_adds(&b, "?immutable=1");
	return buf_dup(&b, a);
}

/* ---- the connection ---- */

static int connect_file(struct state *s, const char *name, int flags, struct err *e)
{
	int rc = sqlite3_open_v2(name, &s->db, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (!s->db)
		mem_oom();
	if (rc != SQLITE_OK)
		return sql_fail(s, rc, e);
	sqlite3_extended_result_codes(s->db, 1);
	sqlite3_busy_timeout(s->db, BUSY_MS);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_ENABLE_FKEY, 1, NULL);
	return 0;
}

static int pragma_int(struct state *s, const char *sql, int64_t *out, struct err *e)
{
	*out = 0;
	return sql_int_of(s, sql, SQL_NO_ARGS, out, e);
}

struct head {
	int64_t id, version, tables;
};

/* In one transaction: another process may be making the state at this moment. */
static int read_head(struct state *s, struct head *h, struct err *e)
{
	if (sql_exec(s, "BEGIN DEFERRED", SQL_NO_ARGS, e))
		return -1;
	int rc = pragma_int(s, "PRAGMA application_id", &h->id, e) ||
		 pragma_int(s, "PRAGMA user_version", &h->version, e) ||
		 pragma_int(s, "SELECT count(*) FROM sqlite_schema", &h->tables, e);
	if (rc) {
		struct err ignored = { 0 };
		if (sql_exec(s, "ROLLBACK", SQL_NO_ARGS, &ignored))
			log_debug("state: %s", ignored.msg);
		return -1;
	}
	return sql_exec(s, "COMMIT", SQL_NO_ARGS, e);
}

/* Version of the schema inside; 0 for a new file. */
static int identify(struct state *s, int64_t *version, struct err *e)
{
	struct head h;

	if (read_head(s, &h, e))
		return -1;
	*version = h.version;
	if (!h.id && !h.version && !h.tables)
		return 0;
	if (h.id != APPLICATION_ID) {
		err_set(e, ERR_CONFLICT, "%s is a database, but not a muster state", s->path);
		return err_hint(e, "name the state file with --state");
	}
	if (*version < 1)
		return sql_damaged(s->path, "it has no version", e);
	if (*version <= SCHEMA_VERSION)
		return 0;
	err_set(e, ERR_CONFLICT,
		"state file %s was written by a newer muster (version %lld; this one knows %lld)",
		s->path, (long long)*version, (long long)SCHEMA_VERSION);
	return err_hint(e, "use that newer muster: an older one would lose what it recorded");
}

static int set_wal(struct state *s, struct err *e)
{
	sqlite3_stmt *st;

	if (sql_query(s, "PRAGMA journal_mode = WAL", SQL_NO_ARGS, &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc < 0)
		return -1;
	const char *mode = rc ? (const char *)sqlite3_column_text(st, 0) : NULL;
	bool wal = mode && !strcmp(mode, "wal");
	sql_done(st);
	if (wal)
		return 0;
	err_set(e, ERR_IO, "state file %s: its file system has no shared memory for SQLite's WAL",
		s->path);
	return err_hint(e, "keep the state on a local disk (--state PATH)");
}

/* SQLite does not wait for this lock, which only the first opening of a file needs. */
static int wait_for_wal(struct state *s, struct err *e)
{
	const struct timespec pause = { .tv_nsec = 5000000 };

	for (int64_t end = clock_now() + BUSY_MS; set_wal(s, e);) {
		if (e->kind != ERR_BUSY || clock_now() >= end)
			return -1;
		*e = (struct err){ 0 };
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* An existing file keeps its own. */
static int set_page_size(struct state *s, struct err *e)
{
	char text[32];

	snprintf(text, sizeof text, "PRAGMA page_size = %d", PAGE_BYTES);
	int rc = sqlite3_exec(s->db, text, NULL, NULL, NULL);
	return rc == SQLITE_OK ? 0 : sql_fail(s, rc, e);
}

static int set_pragmas(struct state *s, struct err *e)
{
	if (sql_exec(s, "PRAGMA cell_size_check = ON", SQL_NO_ARGS, e))
		return -1;
	if (s->readonly)
		return 0;
	if (set_page_size(s, e) || wait_for_wal(s, e) ||
	    sql_exec(s, "PRAGMA synchronous = FULL", SQL_NO_ARGS, e) ||
	    sql_exec(s, "PRAGMA journal_size_limit = 67108864", SQL_NO_ARGS, e))
		return -1;
	return 0;
}

/* ---- migrations ---- */

/* The schema's own text: the one thing here that is not a prepared statement. */
static int run_script(struct state *s, const char *sql, struct err *e)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? 0 : sql_fail(s, rc, e);
}

static int migrate_one(struct state *s, int64_t from, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("migration");
	int64_t now;

	if (pragma_int(s, "PRAGMA user_version", &now, e))
		return -1;
	if (now != from) /* another process was first */
		return 0;
	if (run_script(s, state_schema[from].sql, e) ||
	    run_script(s,
		       arena_printf(a, "PRAGMA application_id = %d; PRAGMA user_version = %lld",
				    APPLICATION_ID, (long long)from + 1),
		       e))
		return err_wrap(e, "migration %s", state_schema[from].name);
	return 0;
}

static int migrate(struct state *s, int64_t version, struct err *e)
{
	if (version > 0 && version < SCHEMA_VERSION && state_backup(s, NULL, e))
		return err_wrap(e, "backup before a migration");
	for (; version < SCHEMA_VERSION; version++) {
		if (write_begin(s, WRITE_UNFENCED, e) ||
		    write_end(s, migrate_one(s, version, e), e))
			return -1;
	}
	return 0;
}

/* ---- the cluster's name ---- */

static int name_cluster(struct state *s, const char *cluster, struct err *e)
{
	if (write_begin(s, WRITE_UNFENCED, e))
		return -1;
	int rc = sql_exec(
		s, "INSERT INTO meta (key, value) VALUES ('cluster', ?1) ON CONFLICT DO NOTHING",
		SQL_ARGS(sql_text(cluster)), e);
	return write_end(s, rc, e);
}

static int check_cluster(struct state *s, const char *cluster, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("cluster name");
	const char *inside;

	if (!cluster)
		return 0;
	if (state_meta_get(s, a, "cluster", &inside, e))
		return -1;
	if (!inside && s->readonly)
		return 0;
	if (!inside)
		return name_cluster(s, cluster, e);
	if (!strcmp(inside, cluster))
		return 0;
	err_set(e, ERR_CONFLICT, "state file %s belongs to cluster '%s', not '%s'", s->path, inside,
		cluster);
	return err_hint(e,
			"give each cluster a state of its own (--state PATH), or set 'cluster: %s'",
			inside);
}

/* ---- opening ---- */

static int open_writing(struct state *s, struct err *e)
{
	int64_t version;

	if (connect_file(s, s->path, SQLITE_OPEN_READWRITE, e))
		return -1;
	/* SQLite falls back to reading quietly; we say so before anything is done. */
	if (sqlite3_db_readonly(s->db, "main") == 1) {
		err_set(e, ERR_IO, "state file %s cannot be written", s->path);
		return err_hint(e, "make it writable for this user: chmod u+w %s", s->path);
	}
	if (identify(s, &version, e) || set_pragmas(s, e) || migrate(s, version, e))
		return -1;
	return 0;
}

/* A WAL file needs its -shm beside it even for reading; where that cannot be made and no WAL waits,
 * the file is still as it is. */
static int open_reading(struct state *s, int64_t *version, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state uri");

	if (!connect_file(s, s->path, SQLITE_OPEN_READONLY, e) && !identify(s, version, e))
		return set_pragmas(s, e);
	if ((s->failed_rc != SQLITE_CANTOPEN && s->failed_rc != SQLITE_READONLY) ||
	    has_wal(a, s->path))
		return -1;
	sql_close(s);
	*e = (struct err){ 0 };
	if (connect_file(s, file_uri(a, s->path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, e) ||
	    identify(s, version, e))
		return -1;
	return set_pragmas(s, e);
}

static struct state *state_new(const char *path, bool readonly)
{
	struct state *s = mem_alloc(sizeof *s);
	size_t n = strlen(path) + 1;

	s->path = mem_alloc(n);
	memcpy(s->path, path, n);
	s->scratch = arena_new("state write");
	s->readonly = readonly;
	return s;
}

/* A file of an older version is migrated even for a reader, since it could not be read otherwise. */
static int migrate_for_reader(const char *path, struct err *e)
{
	scoped(state_closep) struct state *w = state_new(path, false);

	if (open_writing(w, e))
		return err_wrap(e, "the state has an older format and must be migrated");
	return 0;
}

static int open_any(struct state *s, struct err *e)
{
	int64_t version = 0;

	if (!s->readonly)
		return open_writing(s, e);
	if (open_reading(s, &version, e))
		return -1;
	if (version == SCHEMA_VERSION)
		return 0;
	sql_close(s);
	if (migrate_for_reader(s->path, e))
		return -1;
	return open_reading(s, &version, e);
}

int state_open(const char *path, const char *cluster, unsigned flags, struct state **out,
	       struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state open");
	struct state *s;

	*out = NULL;
	if (look_at_file(a, path, flags, e))
		return -1;
	s = state_new(path, flags & STATE_READONLY);
	if (open_any(s, e) || check_cluster(s, cluster, e)) {
		state_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

int state_open_raw(const char *path, struct state **out, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state open");
	struct state *s;
	int64_t version = 0;

	*out = NULL;
	if (look_at_file(a, path, STATE_READONLY, e))
		return -1;
	s = state_new(path, true);
	if (open_reading(s, &version, e)) {
		state_close(s);
		return -1;
	}
	*out = s;
	return 0;
}

void state_close(struct state *s)
{
	if (!s)
		return;
	if (s->db)
		sql_close(s);
	arena_free(s->scratch);
	arena_free(s->scope_arena);
	mem_free(s->path);
	mem_free(s);
}

void state_closep(struct state **s)
{
	state_close(*s);
	*s = NULL;
}
