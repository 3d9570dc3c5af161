/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <unistd.h>

struct err err;
struct arena *arena;
char dir[512];
char db[600];

int fixture_setup(void **data)
{
	const char *tmp = getenv("TEST_TMP");

	(void)data;
	snprintf(dir, sizeof dir, "%s/state.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(db, sizeof db, "%s/.muster/state.db", dir);
	arena = arena_new("test");
	return 0;
}

int fixture_teardown(void **data)
{
	(void)data;
	arena_free(arena);
	scrub_reset();
	return fs_remove_tree(dir, &err);
}

struct state *open_new(void)
{
	struct state *s;

	OK(state_open(db, "train", STATE_CREATE, &s, &err));
	return s;
}

struct state *open_leased(void)
{
	struct state *s = open_new();

	OK(lease_take(s, "run1", "apply", &err));
	return s;
}

struct value *sample_value(int64_t n, const char *text)
{
	struct value *v = value_map(arena);

	value_set(v, "n", value_int(arena, n));
	value_set(v, "text", value_cstr(arena, text));
	return v;
}

struct state_resource *sample(const char *addr)
{
	struct state_resource *r = arena_obj(arena, struct state_resource);

	*r = (struct state_resource){
		.addr = addr,
		.kind = "machine",
		.provider = "here",
		.provider_type = "local",
		.id = "i-123",
		.token = "tok",
		.pool = "gpu",
		.status = RES_READY,
		.want = sample_value(1, "want"),
		.attrs = sample_value(2, "attrs"),
	};
	VEC_ADD(arena, &r->deps) = "here.network.main";
	return r;
}

static sqlite3 *raw_open(const char *path)
{
	sqlite3 *h;

	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	return h;
}

void raw_sql(const char *path, const char *sql)
{
	sqlite3 *h = raw_open(path);
	char *msg = NULL;

	if (sqlite3_exec(h, sql, NULL, NULL, &msg) != SQLITE_OK)
		fail_msg("%s: %s", sql, msg);
	assert_int_equal(sqlite3_close(h), SQLITE_OK);
}

int64_t raw_int(const char *path, const char *sql)
{
	sqlite3 *h = raw_open(path);
	sqlite3_stmt *st;

	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &st, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(st), SQLITE_ROW);
	int64_t n = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	assert_int_equal(sqlite3_close(h), SQLITE_OK);
	return n;
}

size_t problems_of(struct state *s)
{
	struct err_list l = { 0 };

	OK(state_check(s, &l, &err));
	for (size_t i = 0; i < l.n; i++)
		print_message("problem: %s\n", l.v[i].msg);
	size_t n = l.n;
	err_list_fini(&l);
	return n;
}

long copy_file(const char *from, const char *to)
{
	FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
	char block[65536];
	size_t n;
	long total = 0;

	assert_non_null(in);
	assert_non_null(out);
	while ((n = fread(block, 1, sizeof block, in)) > 0) {
		assert_int_equal(fwrite(block, 1, n, out), n);
		total += (long)n;
	}
	fclose(in);
	assert_int_equal(fclose(out), 0);
	return total;
}
