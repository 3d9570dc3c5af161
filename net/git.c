/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libgit2 is opened with dlopen: it drags in a dozen libraries, which would cost every start of the
 * program some milliseconds. The name carries the version whose header was compiled in, so that the
 * structs agree.
 *
 * A call on the pool must own all that it touches, for it may be abandoned: each job has an arena
 * with copies of the question, and the answer is copied out of it.
 */
#include "net/git.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define LOOK_MS	    20000
#define CHECKOUT_MS 120000
#define MAX_DEPTH   64
#define MAX_FILES   20000
#define MAX_BYTES   ((uint64_t)256 << 20)

/* ---- the library ---- */

#define CALLS(X)                    \
	X(libgit2_init)             \
	X(error_last)               \
	X(repository_open_ext)      \
	X(repository_free)          \
	X(repository_workdir)       \
	X(repository_head)          \
	X(repository_head_detached) \
	X(repository_is_shallow)    \
	X(reference_target)         \
	X(reference_shorthand)      \
	X(reference_free)           \
	X(oid_tostr)                \
	X(oid_fromstr)              \
	X(status_options_init)      \
	X(status_list_new)          \
	X(status_list_entrycount)   \
	X(status_byindex)           \
	X(status_list_free)         \
	X(commit_lookup)            \
	X(commit_tree)              \
	X(commit_free)              \
	X(tree_lookup)              \
	X(tree_entrycount)          \
	X(tree_entry_byindex)       \
	X(tree_entry_name)          \
	X(tree_entry_id)            \
	X(tree_entry_filemode)      \
	X(tree_free)                \
	X(blob_lookup)              \
	X(blob_rawsize)             \
	X(blob_rawcontent)          \
	X(blob_free)                \
	X(repository_odb)           \
	X(odb_read_header)          \
	X(odb_free)

#define MEMBER(name) __typeof__(git_##name) *name;
static struct {
	pthread_once_t once;
	bool there;
	CALLS(MEMBER)
} git = { .once = PTHREAD_ONCE_INIT };

static void load_library(void)
{
	void *lib = dlopen("libgit2.so." LIBGIT2_SOVERSION, RTLD_NOW | RTLD_LOCAL);
	void *at;

	if (!lib)
		return;
	git.there = true;
#define LOAD(name)                         \
	at = dlsym(lib, "git_" #name);     \
	memcpy(&git.name, &at, sizeof at); \
	git.there = git.there && at;
	CALLS(LOAD)
	git.there = git.there && git.libgit2_init() >= 0;
}

static int need_library(struct err *e)
{
	pthread_once(&git.once, load_library);
	if (git.there)
		return 0;
	err_set(e, ERR_NOT_FOUND, "libgit2 %s is not installed", LIBGIT2_SOVERSION);
	return err_hint(e, "install libgit2 to have the commit of the spec in the history");
}

static int failed(int rc, struct err *e, const char *doing)
{
	const git_error *why = git.error_last();
	enum err_kind kind = rc == GIT_ENOTFOUND ? ERR_NOT_FOUND : ERR_IO;

	return err_set(e, kind, "%s: git: %s", doing,
		       why && why->message ? why->message : "failed");
}

/* Version 1.5 reports that nobody has named a trusted folder as "not found". */
static bool is_foreign(int rc)
{
	const git_error *why = git.error_last();

	return rc == GIT_EOWNER || (rc == GIT_ENOTFOUND && why && why->message &&
				    strstr(why->message, "safe.directory"));
}

static int open_repository(const char *dir, git_repository **out, struct err *e)
{
	int rc = git.repository_open_ext(out, dir, 0, NULL);

	if (is_foreign(rc)) {
		err_set(e, ERR_AUTH, "the git repository of %s belongs to another user", dir);
		return err_hint(e, "git config --global --add safe.directory DIR trusts it");
	}
	if (rc == GIT_ENOTFOUND)
		return err_set(e, ERR_NOT_FOUND, "%s is not in a git repository", dir);
	if (rc)
		return failed(rc, e, dir);
	if (git.repository_workdir(*out))
		return 0;
	git.repository_free(*out);
	*out = NULL;
	return err_set(e, ERR_NOT_FOUND, "%s is not in a work tree of git", dir);
}

/* ---- what a commit is to the files ---- */

struct look_job {
	struct arena *a;
	struct git_question q;
	struct git_facts facts;
};

static void free_look(void *arg)
{
	arena_free(((struct look_job *)arg)->a);
}

/* Inside of root (which ends in a slash), "" for itself; NULL: elsewhere, or not there. */
static const char *inside(struct arena *a, const char *root, const char *path)
{
	char real[PATH_MAX];
	size_t n = strlen(root);

	if (!path || !realpath(path, real))
		return NULL;
	if (strncmp(real, root, n) == 0)
		return arena_strdup(a, real + n);
	return strlen(real) + 1 == n && strncmp(real, root, n - 1) == 0 ? "" : NULL;
}

static bool is_below(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	return n && strncmp(path, folder, n) == 0 && (path[n] == '/' || !path[n]);
}

static int read_head(struct look_job *j, git_repository *repo, struct err *e)
{
	git_reference *head = NULL;
	char hex[GIT_OID_HEXSZ + 1];
	int rc = git.repository_head(&head, repo);

	if (rc == GIT_EUNBORNBRANCH || rc == GIT_ENOTFOUND)
		return 0;
	if (rc)
		return failed(rc, e, "HEAD");
	git.oid_tostr(hex, sizeof hex, git.reference_target(head));
	j->facts.commit = arena_strdup(j->a, hex);
	if (git.repository_head_detached(repo) == 0)
		j->facts.branch = arena_strdup(j->a, git.reference_shorthand(head));
	git.reference_free(head);
	return 0;
}

struct paths {
	VEC(char *) v;
};

/* Asks for the state of some paths, and notes the first that is changed. */
static int look_for_changes(struct look_job *j, git_repository *repo, const struct paths *of,
			    unsigned flags, struct err *e)
{
	git_status_options o;
	git_status_list *list = NULL;
	const char *own = inside(j->a, j->facts.root, j->q.state_dir);

	git.status_options_init(&o, GIT_STATUS_OPTIONS_VERSION);
	o.show = GIT_STATUS_SHOW_INDEX_AND_WORKDIR;
	o.flags = flags | GIT_STATUS_OPT_DISABLE_PATHSPEC_MATCH | GIT_STATUS_OPT_EXCLUDE_SUBMODULES;
	o.pathspec = (git_strarray){ of->v.v, of->v.n };
	int rc = git.status_list_new(&list, repo, &o);
	if (rc)
		return failed(rc, e, "looking for changes");
	for (size_t i = 0; i < git.status_list_entrycount(list) && !j->facts.dirty; i++) {
		const git_status_entry *x = git.status_byindex(list, i);
		const git_diff_delta *d = x->index_to_workdir ? x->index_to_workdir
							      : x->head_to_index;
		const char *path = d ? d->new_file.path ? d->new_file.path : d->old_file.path
				     : NULL;
		if (!path || x->status == GIT_STATUS_CURRENT || (own && is_below(path, own)))
			continue;
		j->facts.dirty = true;
		j->facts.changed = arena_strdup(j->a, path);
	}
	git.status_list_free(list);
	return 0;
}

static int by_name(const void *x, const void *y)
{
	return strcmp(*(char *const *)x, *(char *const *)y);
}

/* Changed or deleted files that git knows, anywhere below the spec's folder; and files that were
 * read but that no commit holds. A plan file or a note beside the spec makes nothing dirty. */
static int read_changes(struct look_job *j, git_repository *repo, struct err *e)
{
	struct paths below = { 0 }, files = { 0 };

	if (j->facts.path[0])
		VEC_ADD(j->a, &below.v) = arena_strdup(j->a, j->facts.path);
	if (look_for_changes(j, repo, &below, 0, e))
		return -1;
	for (size_t i = 0; i < j->q.n_files; i++) {
		const char *path = inside(j->a, j->facts.root, j->q.files[i]);
		if (path && path[0])
			VEC_ADD(j->a, &files.v) = arena_strdup(j->a, path);
	}
	if (!files.v.n || j->facts.dirty)
		return 0;
	qsort(files.v.v, files.v.n, sizeof files.v.v[0], by_name);
	return look_for_changes(
		j, repo, &files,
		GIT_STATUS_OPT_INCLUDE_UNTRACKED | GIT_STATUS_OPT_RECURSE_UNTRACKED_DIRS, e);
}

static int look(void *arg, struct err *e)
{
	struct look_job *j = arg;
	git_repository *repo = NULL;

	if (need_library(e) || open_repository(j->q.dir, &repo, e))
		return -1;
	j->facts.root = arena_strdup(j->a, git.repository_workdir(repo));
	j->facts.path = inside(j->a, j->facts.root, j->q.dir);
	int rc = j->facts.path ? read_head(j, repo, e)
			       : err_set(e, ERR_IO, "%s is not below %s", j->q.dir, j->facts.root);
	if (!rc && j->facts.commit)
		rc = read_changes(j, repo, e);
	git.repository_free(repo);
	return rc;
}

static char *without_slash(struct arena *a, const char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	return arena_dup(a, path, n);
}

int git_look(struct arena *a, const struct git_question *q, struct git_facts *out, struct err *e)
{
	struct arena *own = arena_new("git");
	struct look_job *j = arena_obj(own, struct look_job);
	const char **files = arena_array(own, const char *, q->n_files + 1);

	for (size_t i = 0; i < q->n_files; i++)
		files[i] = arena_strdup(own, q->files[i]);
	*j = (struct look_job){ .a = own,
				.q = { .dir = arena_strdup(own, q->dir),
				       .files = files,
				       .n_files = q->n_files,
				       .state_dir = arena_strdup(own, q->state_dir) } };
	*out = (struct git_facts){ 0 };
	int rc = task_offload((struct offload_call){ look, j, free_look },
			      deadline_in(q->timeout_ms ? q->timeout_ms : LOOK_MS), e);
	if (rc && (e->kind == ERR_TIMEOUT || e->kind == ERR_CANCELLED))
		return -1; /* abandoned: the thread frees it */
	if (!rc)
		*out = (struct git_facts){
			.root = without_slash(a, j->facts.root),
			.path = arena_strdup(a, j->facts.path),
			.commit = arena_strdup(a, j->facts.commit),
			.branch = arena_strdup(a, j->facts.branch),
			.dirty = j->facts.dirty,
			.changed = arena_strdup(a, j->facts.changed),
		};
	arena_free(own);
	return rc;
}

/* ---- the files of a commit ---- */

struct checkout_job {
	struct arena *a;
	struct git_order o;
	struct git_files files;
	git_repository *repo;
	git_odb *odb;
	bool count_only;
	bool too_much;
};

static void free_checkout(void *arg)
{
	arena_free(((struct checkout_job *)arg)->a);
}

static bool is_needed(const struct checkout_job *j, const char *path)
{
	return !j->o.path[0] || is_below(path, j->o.path);
}

/* Without the whole tree only what is needed is taken, and the folders above it. */
static bool is_taken(const struct checkout_job *j, const char *path)
{
	return j->files.whole || is_needed(j, path) || is_below(j->o.path, path);
}

static bool is_plain_name(const char *name)
{
	return name[0] && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
	       strcasecmp(name, ".git") != 0 && strcmp(name, ".muster") != 0 && !strchr(name, '/');
}

static int no_way_back(const char *path, const char *what, struct err *e)
{
	return err_set(e, ERR_CONFLICT, "%s %s", path, what);
}

static bool leads_out(const char *path, struct str target)
{
	struct str rest = target, part;
	int depth = 0;

	for (const char *p = path; *p; p++)
		depth += *p == '/';
	if (!target.n || target.p[0] == '/' || memchr(target.p, '\0', target.n))
		return true;
	while (str_next(&rest, '/', &part)) {
		if (str_eqc(part, ".."))
			depth--;
		else if (part.n && !str_eqc(part, "."))
			depth++;
		if (depth < 0)
			return true;
	}
	return false;
}

static int write_link(const struct checkout_job *j, int dir, const char *name, const char *path,
		      struct str target, struct err *e)
{
	if (leads_out(path, target))
		return is_needed(j, path)
			       ? no_way_back(path, "is a link that leads out of the tree", e)
			       : 0;
	if (symlinkat(str_cstr(j->a, target), dir, name))
		return err_sys(e, "writing %s", path);
	return 0;
}

static int write_file(int dir, const char *name, mode_t mode, struct str body, struct err *e)
{
	scoped(close_fd) int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	if (fd < 0)
		return err_sys(e, "writing %s", name);
	while (body.n) {
		ssize_t n = write(fd, body.p, body.n);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_sys(e, "writing %s", name);
		body = str_sub(body, (size_t)n, SIZE_MAX);
	}
	return 0;
}

static void note_pointer(struct checkout_job *j, const char *path, struct str body)
{
	static const char head[] = "version https://git-lfs.github.com/spec/";

	if (body.n >= 1024 || !str_starts(body, head) || !is_needed(j, path))
		return;
	if (!j->files.pointers++)
		j->files.pointer = path;
}

static int put_blob(struct checkout_job *j, const git_tree_entry *x, int dir, const char *path,
		    struct err *e)
{
	git_blob *blob = NULL;
	git_filemode_t mode = git.tree_entry_filemode(x);
	size_t size = 0;
	git_object_t type;

	j->files.n++;
	if (j->count_only) {
		if (git.odb_read_header(&size, &type, j->odb, git.tree_entry_id(x)) == 0)
			j->files.bytes += size;
		j->too_much = j->files.n > MAX_FILES || j->files.bytes > MAX_BYTES;
		return 0;
	}
	int rc = git.blob_lookup(&blob, j->repo, git.tree_entry_id(x));
	if (rc)
		return failed(rc, e, path);
	struct str body = { git.blob_rawcontent(blob), (size_t)git.blob_rawsize(blob) };
	if (mode == GIT_FILEMODE_LINK) {
		rc = write_link(j, dir, git.tree_entry_name(x), path, body, e);
	} else {
		note_pointer(j, path, body);
		rc = write_file(dir, git.tree_entry_name(x),
				mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644, body, e);
	}
	git.blob_free(blob);
	return rc;
}

static int put_tree(struct checkout_job *j, const git_tree *tree, int dir, const char *at,
		    int depth, struct err *e);

static int put_folder(struct checkout_job *j, const git_tree_entry *x, int dir, const char *path,
		      int depth, struct err *e)
{
	git_tree *tree = NULL;
	scoped(close_fd) int sub = -1;

	if (depth > MAX_DEPTH)
		return no_way_back(path, "is too deep", e);
	if (!j->count_only) {
		if (mkdirat(dir, git.tree_entry_name(x), 0755))
			return err_sys(e, "making %s", path);
		sub = openat(dir, git.tree_entry_name(x),
			     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (sub < 0)
			return err_sys(e, "opening %s", path);
	}
	int rc = git.tree_lookup(&tree, j->repo, git.tree_entry_id(x));
	if (rc)
		return failed(rc, e, path);
	rc = put_tree(j, tree, sub, path, depth, e);
	git.tree_free(tree);
	return rc;
}

static int put_entry(struct checkout_job *j, const git_tree_entry *x, int dir, const char *path,
		     int depth, struct err *e)
{
	switch (git.tree_entry_filemode(x)) {
	case GIT_FILEMODE_TREE: return put_folder(j, x, dir, path, depth + 1, e);
	case GIT_FILEMODE_COMMIT:
		return is_needed(j, path) ? no_way_back(path, "is a submodule", e) : 0;
	default: return put_blob(j, x, dir, path, e);
	}
}

static int put_tree(struct checkout_job *j, const git_tree *tree, int dir, const char *at,
		    int depth, struct err *e)
{
	size_t n = git.tree_entrycount(tree);

	for (size_t i = 0; i < n && !j->too_much; i++) {
		const git_tree_entry *x = git.tree_entry_byindex(tree, i);
		const char *name = git.tree_entry_name(x);
		const char *path = at[0] ? arena_printf(j->a, "%s/%s", at, name)
					 : arena_strdup(j->a, name);
		if (!is_plain_name(name) || !is_taken(j, path))
			continue;
		if (put_entry(j, x, dir, path, depth, e))
			return -1;
	}
	return 0;
}

static int put_all(struct checkout_job *j, const git_tree *tree, struct err *e)
{
	scoped(close_fd) int dir = open(j->o.into, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir < 0)
		return err_sys(e, "opening %s", j->o.into);
	j->count_only = j->files.whole = true;
	if (put_tree(j, tree, -1, "", 0, e))
		return -1;
	if (j->too_much) {
		j->files = (struct git_files){ 0 };
		j->too_much = false;
		if (put_tree(j, tree, -1, "", 0, e))
			return -1;
	}
	if (j->too_much)
		return err_set(e, ERR_CONFLICT, "the commit holds more than %d files or %llu MiB",
			       MAX_FILES, (unsigned long long)(MAX_BYTES >> 20));
	j->files.n = 0;
	j->count_only = false;
	return put_tree(j, tree, dir, "", 0, e);
}

static int no_commit(struct checkout_job *j, struct err *e)
{
	err_set(e, ERR_NOT_FOUND, "commit %.12s is not in the git repository here", j->o.commit);
	return err_hint(e, git.repository_is_shallow(j->repo) == 1
				   ? "the clone is shallow: git fetch --unshallow"
				   : "get it with git fetch, if another clone has it");
}

static int find_tree(struct checkout_job *j, git_tree **out, struct err *e)
{
	git_commit *commit = NULL;
	git_oid id;

	if (strlen(j->o.commit) != GIT_OID_HEXSZ || git.oid_fromstr(&id, j->o.commit))
		return err_set(e, ERR_USAGE, "\"%s\" is no id of a commit", j->o.commit);
	int rc = git.commit_lookup(&commit, j->repo, &id);
	if (rc == GIT_ENOTFOUND)
		return no_commit(j, e);
	if (rc)
		return failed(rc, e, j->o.commit);
	rc = git.commit_tree(out, commit);
	git.commit_free(commit);
	return rc ? failed(rc, e, j->o.commit) : 0;
}

static int checkout(void *arg, struct err *e)
{
	struct checkout_job *j = arg;
	git_tree *tree = NULL;

	if (need_library(e) || open_repository(j->o.dir, &j->repo, e))
		return -1;
	int rc = git.repository_odb(&j->odb, j->repo);
	if (rc)
		rc = failed(rc, e, "objects");
	if (!rc)
		rc = find_tree(j, &tree, e);
	if (!rc) {
		rc = put_all(j, tree, e);
		git.tree_free(tree);
	}
	if (j->odb)
		git.odb_free(j->odb);
	git.repository_free(j->repo);
	return rc;
}

int git_checkout_into(struct arena *a, const struct git_order *o, struct git_files *out,
		      struct err *e)
{
	struct arena *own = arena_new("git files");
	struct checkout_job *j = arena_obj(own, struct checkout_job);

	*j = (struct checkout_job){ .a = own,
				    .o = { .dir = arena_strdup(own, o->dir),
					   .commit = arena_strdup(own, o->commit),
					   .path = arena_strdup(own, o->path ? o->path : ""),
					   .into = arena_strdup(own, o->into) } };
	*out = (struct git_files){ 0 };
	int rc = task_offload((struct offload_call){ checkout, j, free_checkout },
			      deadline_in(o->timeout_ms ? o->timeout_ms : CHECKOUT_MS), e);
	if (rc && (e->kind == ERR_TIMEOUT || e->kind == ERR_CANCELLED))
		return -1; /* abandoned: the thread frees it */
	if (!rc) {
		*out = j->files;
		out->pointer = arena_strdup(a, j->files.pointer);
	}
	arena_free(own);
	return rc;
}
