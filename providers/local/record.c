/* SPDX-License-Identifier: Apache-2.0 */
#include "providers/local/record.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define RECORD_FILE "record.json"
#define RECORD_MAX  ((size_t)1 << 20)
#define DEAD_PREFIX ".dead-"
#define REMOVE_MS   (5 * 60 * 1000)

char *record_dir(struct arena *a, const char *root, const char *kind, const char *id)
{
	return arena_printf(a, "%s/%s/%s", root, kind, id);
}

/* The token's start is in the id, so that a host and its successor of the same name never share a
 * folder. */
char *record_id(struct arena *a, const char *name, const char *token)
{
	return arena_printf(a, "%s-%.8s", name, token);
}

int record_offload(int (*fn)(void *arg, struct err *e), void *arg, struct err *e)
{
	bool in_task = task_is_running();
	if (in_task)
		task_shield_begin();
	int rc = task_offload((struct offload_call){ fn, arg, NULL }, DEADLINE_NONE, e);
	if (in_task)
		task_shield_end();
	return rc;
}

/* Ids come back from the state file, which a user may edit: they must never lead out of our folder.
 */
bool record_id_is_valid(const char *id)
{
	return id && id[0] && id[0] != '.' && strlen(id) < 200 && !strchr(id, '/');
}

struct writing {
	const char *dir, *path;
	struct str text;
};

static int writing_run(void *arg, struct err *e)
{
	const struct writing *w = arg;
	/* Nobody else's: the host's root files lie in there, programs that run as root among them. */
	return fs_mkdirs(w->dir, 0700, e) || fs_write_atomic(w->path, w->text, 0600, e) ? -1 : 0;
}

/* Two fsyncs: on a pool thread. Shielded, so the thread never outlives what it reads. */
int record_write(const char *dir, const struct value *rec, struct err *e)
{
	struct buf scoped(buf_fini) b = { 0 };
	struct arena *a = arena_new("record");
	buf_init(&b, RECORD_MAX);
	json_write(&b, rec, JSON_PRETTY);
	int rc = buf_check(&b, e);
	if (!rc) {
		struct writing w = { dir, fs_join(a, dir, RECORD_FILE), buf_str(&b) };
		rc = record_offload(writing_run, &w, e);
	}
	arena_free(a);
	return rc;
}

int record_read(struct arena *a, const char *dir, struct value **out, struct err *e)
{
	struct str text;
	struct err miss = { 0 };
	const char *path = fs_join(a, dir, RECORD_FILE);
	*out = NULL;
	if (fs_read(a, path, RECORD_MAX, &text, &miss)) {
		if (miss.kind == ERR_NOT_FOUND)
			return 0;
		*e = miss;
		return -1;
	}
	return json_parse(a, path, text, out, e);
}

int record_list(struct arena *a, const char *root, const char *kind, struct value **list,
		struct err *e)
{
	struct fs_names names = { 0 };
	const char *parent = fs_join(a, root, kind);
	*list = value_list(a);
	if (!fs_is_dir(parent))
		return 0;
	if (fs_list(a, parent, &names, e))
		return -1;
	for (size_t i = 0; i < names.names.n; i++) {
		struct value *rec;
		const char *id = names.names.v[i];
		if (!record_id_is_valid(id))
			continue;
		if (record_read(a, fs_join(a, parent, id), &rec, e))
			return -1;
		if (!rec)
			continue;
		value_set(rec, "id", value_cstr(a, id));
		value_add(a, *list, rec);
	}
	return 0;
}

struct removal {
	char path[1024];
};

static int removal_run(void *arg, struct err *e)
{
	return fs_remove_tree(((struct removal *)arg)->path, e);
}

int record_remove_tree(const char *path, struct err *e)
{
	struct removal *r = mem_alloc(sizeof *r);
	if (snprintf(r->path, sizeof r->path, "%s", path) >= (int)sizeof r->path) {
		mem_free(r);
		return err_set(e, ERR_IO, "%.200s...: the path is too long", path);
	}
	struct err why = { 0 };
	int rc = task_offload((struct offload_call){ removal_run, r, mem_free },
			      deadline_in(REMOVE_MS), &why);
	if (rc)
		*e = why;
	if (!rc || (why.kind != ERR_TIMEOUT && why.kind != ERR_CANCELLED))
		mem_free(r); /* else the thread does */
	return rc;
}

int record_remove(const char *dir, struct err *e)
{
	struct arena *a = arena_new("record remove");
	const char *parent = fs_dirname(a, dir);
	const char *dead = arena_printf(a, "%s/" DEAD_PREFIX "%s", parent,
					dir + strlen(parent) + 1);
	int rc = 0;
	if (rename(dir, dead) < 0 && errno != ENOENT) {
		/* One of an earlier, interrupted removal is in the way. */
		rc = record_remove_tree(dead, e);
		if (!rc && rename(dir, dead) < 0 && errno != ENOENT)
			rc = err_sys(e, "removing %s", dir);
	}
	if (!rc)
		rc = record_remove_tree(dead, e);
	if (!rc) {
		(void)rmdir(parent); /* the last of its kind: leave no empty folders */
		(void)rmdir(fs_dirname(a, parent));
	}
	arena_free(a);
	return rc;
}

static int count_recorded(struct arena *a, const char *root, size_t *n, struct err *e)
{
	static const char *const kinds[] = { "host", "net" };
	struct value *recs;

	*n = 0;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (record_list(a, root, kinds[i], &recs, e))
			return -1;
		*n += recs->list.n;
	}
	return 0;
}

int record_sweep(struct arena *a, const char *root, struct err *e)
{
	size_t n;

	if (count_recorded(a, root, &n, e))
		return -1;
	return n ? 0 : record_remove_tree(root, e);
}
