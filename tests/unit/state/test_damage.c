/* SPDX-License-Identifier: Apache-2.0 */
/* Flipped bits, cut files, full disks: an error or a working state, never a crash and never a wrong
 * row. */
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS 40

/* ---- flips and cuts ---- */

static char *name_of(int i)
{
	return arena_printf(arena, "node.gpu[%d]", i);
}

/* A state of ROWS resources with facts, events and journal, closed. Its bytes. */
static struct str make_original(void)
{
	struct state *s = open_leased();
	struct state_resource *net = sample("here.network.main");
	struct str bytes;
	int64_t seq;

	net->deps.n = 0;
	OK(journal_intent(s, &(struct journal_row){ .addr = "x", .action = "create" }, &seq, &err));
	OK(state_resource_put(s, net, &err));
	for (int i = 0; i < ROWS; i++) {
		OK(state_resource_put(s, sample(name_of(i)), &err));
		OK(state_facts_put(s, name_of(i), sample_value(i, "facts"), &err));
		OK(state_event_add(s, NULL, name_of(i), "created", NULL, &err));
	}
	OK(journal_settle(s, seq, &(struct journal_result){ .outcome = JOURNAL_DONE }, &err));
	OK(journal_flush(s, &err));
	OK(lease_release(s, &err));
	state_close(s);
	OK(fs_read(arena, db, 64 << 20, &bytes, &err));
	return bytes;
}

static bool is_sample(const struct state_resource *r)
{
	const struct state_resource *w = sample(r->addr);

	return r->kind && !strcmp(r->kind, w->kind) && r->id && !strcmp(r->id, w->id) && r->token &&
	       !strcmp(r->token, w->token) && value_equal(r->want, w->want) &&
	       value_equal(r->attrs, w->attrs);
}

/* Whatever it says, it says it with words. */
static void was_said(int rc, const char *what, size_t at)
{
	if (!rc)
		return;
	if (err.kind == ERR_NONE || err.kind == ERR_BUG || !err.msg[0])
		fail_msg("%s at %zu: %s: %s", what, at, err_kind_name(err.kind), err.msg);
	err = (struct err){ 0 };
}

static void use_everything(struct state *s, size_t at)
{
	struct state_resources all;
	struct state_events ev;
	struct journal_rows rows;
	struct err_list l = { 0 };
	struct buf json;

	int rc = state_check(s, &l, &err);
	size_t problems = l.n;
	err_list_fini(&l);
	was_said(rc, "check", at);
	int read = state_resources(s, arena, &all, &err);
	was_said(read, "resources", at);
	for (size_t i = 0; !read && i < all.v.n; i++)
		if (!is_sample(all.v.v[i]))
			fail_msg("a wrong row was read after byte %zu changed: %s", at,
				 all.v.v[i]->addr);
	if (!rc && !problems)
		assert_int_equal(all.v.n, ROWS + 1);
	was_said(state_events(s, arena, NULL, &ev, &err), "events", at);
	was_said(journal_open_rows(s, arena, &rows, &err), "journal", at);
	buf_init(&json, BUF_MAX_DEFAULT);
	was_said(state_export(s, &json, &err), "export", at);
	buf_fini(&json);
	rc = lease_take(s, NULL, "apply", &err);
	was_said(rc, "take", at);
	if (!rc) {
		was_said(state_resource_put(s, sample("new"), &err), "put", at);
		was_said(state_resource_del(s, name_of(1), &err), "del", at);
		was_said(state_event_add(s, NULL, NULL, "x", NULL, &err), "event", at);
		was_said(lease_release(s, &err), "release", at);
	}
}

/* Opens the bytes as a state of their own. true: it opened. */
static bool try_bytes(struct str bytes, size_t at)
{
	struct state *s;
	char *path = arena_printf(arena, "%s/try/state.db", dir);
	int fd;

	OK(fs_remove_tree(fs_dirname(arena, path), &err));
	OK(fs_mkdirs(fs_dirname(arena, path), 0700, &err));
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.p, bytes.n), (ssize_t)bytes.n);
	close(fd);
	err = (struct err){ 0 };
	int rc = state_open(path, "train", at % 2 ? STATE_READONLY : 0, &s, &err);
	was_said(rc, "open", at);
	if (rc)
		return false;
	if (at % 2) {
		struct state_resources all;
		was_said(state_resources(s, arena, &all, &err), "resources", at);
	} else {
		use_everything(s, at);
	}
	state_close(s);
	return true;
}

static void flip(struct str bytes, size_t at, unsigned bit, int *refused)
{
	char *p = (char *)(uintptr_t)bytes.p;

	p[at] = (char)(p[at] ^ (1 << bit));
	*refused += !try_bytes(bytes, at);
	p[at] = (char)(p[at] ^ (1 << bit));
}

static void flipped_bits(void **data)
{
	struct str bytes = make_original();
	int refused = 0;

	(void)data;
	rand_seed(1);
	for (size_t i = 0; i < 100; i++)
		flip(bytes, i, (unsigned)rand_below(8), &refused);
	assert_true(refused > 20); /* the magic, at least */
	for (int i = 0; i < 300; i++)
		flip(bytes, rand_below(bytes.n), (unsigned)rand_below(8), &refused);
}

/* A letter of a value: SQLite cannot see it, the row's checksum does. */
static void flipped_values_are_found(void **data)
{
	struct str bytes = make_original();
	struct state *s;
	struct state_resources all;
	char *p = (char *)(uintptr_t)bytes.p;
	int tried = 0;

	(void)data;
	for (size_t at = 0; (at = str_find(str_sub(bytes, at, SIZE_MAX), STR("i-123"))) != SIZE_MAX;
	     tried++) {
		char *path = arena_printf(arena, "%s/v%d/state.db", dir, tried);
		if (tried)
			break;
		p[at + 4] ^= 1;
		OK(fs_mkdirs(fs_dirname(arena, path), 0700, &err));
		OK(fs_write_atomic(path, bytes, 0600, &err));
		OK(state_open(path, "train", 0, &s, &err));
		FAILS(state_resources(s, arena, &all, &err), ERR_IO, "does not match its checksum");
		assert_true(problems_of(s) >= 1);
		state_close(s);
	}
	assert_int_equal(tried, 1);
}

static void cut_files(void **data)
{
	struct str bytes = make_original();

	(void)data;
	for (size_t n = 1; n < bytes.n; n += n < 4096 ? 517 : 3583)
		if (try_bytes((struct str){ bytes.p, n }, 2 * n))
			fail_msg("a file cut to %zu of %zu bytes was opened", n, bytes.n);
}

/* A damaged WAL is an older state, whole. */
static void cut_and_flipped_wal(void **data)
{
	struct state *s = open_leased(), *t;
	struct str file, wal;
	char *path = arena_printf(arena, "%s/wal/state.db", dir);

	(void)data;
	for (int i = 0; i < ROWS; i++)
		OK(state_resource_put(s, sample(name_of(i)), &err));
	OK(fs_read(arena, db, 64 << 20, &file, &err));
	OK(fs_read(arena, arena_printf(arena, "%s-wal", db), 64 << 20, &wal, &err));
	state_close(s);
	rand_seed(2);
	for (int i = 0; i < 60; i++) {
		char *p = arena_dup(arena, wal.p, wal.n);
		size_t n = wal.n, at = rand_below(wal.n);
		if (i % 2)
			n = at;
		else
			p[at] ^= 4;
		OK(fs_remove_tree(fs_dirname(arena, path), &err));
		OK(fs_mkdirs(fs_dirname(arena, path), 0700, &err));
		OK(fs_write_atomic(path, file, 0600, &err));
		OK(fs_write_atomic(arena_printf(arena, "%s-wal", path), (struct str){ p, n }, 0600,
				   &err));
		err = (struct err){ 0 };
		if (state_open(path, NULL, 0, &t, &err)) {
			was_said(-1, "open", at);
			continue;
		}
		struct state_resources all;
		OK(state_resources(t, arena, &all, &err));
		assert_true(all.v.n <= ROWS);
		for (size_t k = 0; k < all.v.n; k++)
			assert_true(is_sample(all.v.v[k]));
		state_close(t);
	}
}

/* ---- full disks: in a child, which speaks by its exit status ---- */

#define CHECK(cond)                                                                       \
	do {                                                                              \
		if (!(cond)) {                                                            \
			fprintf(stderr, "# line %d: %s: %s\n", __LINE__, #cond, err.msg); \
			_exit(1);                                                         \
		}                                                                         \
	} while (0)

static struct state_resource *big(int i)
{
	struct state_resource *r = sample(name_of(i));
	char *text = arena_alloc(arena, 8001);

	memset(text, 'x', 8000);
	r->attrs = value_cstr(arena, text);
	return r;
}

/* Groups of writes until the disk is full; returns how many groups were acknowledged. */
static int fill(struct state *s)
{
	for (int i = 0; i < 10000; i++) {
		int64_t seq;
		struct journal_row row = { .addr = "x", .action = "create" };
		err = (struct err){ 0 };
		if (!journal_intent(s, &row, &seq, &err) && !state_resource_put(s, big(i), &err) &&
		    !journal_flush(s, &err))
			continue;
		CHECK(err.kind == ERR_IO && strstr(err.msg, "disk is full") &&
		      strstr(err.hint, "free space"));
		/* Nothing of the group may be reported as stored. */
		if (journal_is_dirty(s)) {
			struct err why = { 0 };
			int dirty = journal_settle(
				s, seq, &(struct journal_result){ .outcome = JOURNAL_DONE }, &why);
			CHECK(journal_flush(s, &why) == -1 || dirty == 0);
		}
		return i;
	}
	return -1;
}

static void after_the_flood(struct state *s, int acked)
{
	struct state_resources all;
	struct err_list l = { 0 };

	err = (struct err){ 0 };
	CHECK(!state_resources(s, arena, &all, &err));
	CHECK((int)all.v.n >= acked && (int)all.v.n <= acked + 1);
	CHECK(!state_check(s, &l, &err));
	for (size_t i = 0; i < l.n; i++)
		if (!strstr(l.v[i].msg, "not in the state") &&
		    !strstr(l.v[i].msg, "how it ended")) {
			fprintf(stderr, "# %s\n", l.v[i].msg);
			_exit(2);
		}
	err_list_fini(&l);
	CHECK(!state_resource_put(s, sample("small"), &err));
	CHECK(!lease_release(s, &err));
	state_close(s);
}

static int run_child(void (*fn)(void))
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fn();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void with_file_limit(void)
{
	struct rlimit small = { 600 << 10, RLIM_INFINITY }, none = { RLIM_INFINITY, RLIM_INFINITY };
	struct state *s;

	signal(SIGXFSZ, SIG_IGN);
	CHECK(!state_open(db, "train", STATE_CREATE, &s, &err));
	CHECK(!lease_take(s, NULL, "apply", &err));
	CHECK(!setrlimit(RLIMIT_FSIZE, &small));
	int acked = fill(s);
	CHECK(acked > 5);
	CHECK(!setrlimit(RLIMIT_FSIZE, &none));
	after_the_flood(s, acked);
}

static void file_size_limit(void **data)
{
	(void)data;
	assert_int_equal(run_child(with_file_limit), 0);
}

static void on_small_tmpfs(void)
{
	struct state *s;
	char path[700];

	if (unshare(CLONE_NEWNS) || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", dir, "tmpfs", 0, "size=1m"))
		_exit(77);
	/* No room at all: not even a state is begun. */
	snprintf(path, sizeof path, "%s/filler", dir);
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	char block[4096] = { 0 };
	while (write(fd, block, sizeof block) > 0)
		;
	close(fd);
	CHECK(state_open(db, "train", STATE_CREATE, &s, &err) == -1 && err.kind == ERR_IO);
	unlink(path);
	err = (struct err){ 0 };
	CHECK(!state_open(db, "train", STATE_CREATE, &s, &err));
	CHECK(!lease_take(s, NULL, "apply", &err));
	int acked = fill(s);
	CHECK(acked > 5);
	struct err no_room = { 0 };
	CHECK(state_backup(s, NULL, &no_room) == -1 && no_room.kind == ERR_IO);
	CHECK(!mount("none", dir, "tmpfs", MS_REMOUNT, "size=4m"));
	after_the_flood(s, acked);
}

static void full_tmpfs(void **data)
{
	(void)data;
	int rc = run_child(on_small_tmpfs);
	if (rc == 77) {
		print_message("mounting a tmpfs is not allowed here\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(flipped_bits),    STATE_TEST(flipped_values_are_found),
		STATE_TEST(cut_files),	     STATE_TEST(cut_and_flipped_wal),
		STATE_TEST(file_size_limit), STATE_TEST(full_tmpfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
