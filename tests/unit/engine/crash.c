/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRASH_POINTS=N kills at about N points of each test, spread evenly from a random first one, whose
 * seed is printed (CRASH_SEED=S repeats it); "all" kills at every one. CRASH_ONLY=NAME takes one
 * scenario. The beds of a scenario are
 * copies of one that was prepared once.
 */
#include "crash.h"

#include <dirent.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef MUSTER_SANITIZE
#define POINTS_USUAL 20
#else
#define POINTS_USUAL 60
#endif

/* ---- things to do ---- */

static void no_failures(const struct apply_result *r)
{
	must(!r->failed, "%s: %s", r->failures.v[0]->addr, r->failures.v[0]->err.msg);
}

void crash_apply(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_APPLY, &r, &e), "%s", e.msg);
	no_failures(&r);
}

void crash_apply_at_once(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };
	struct plan *p = bed_plan(b, PLAN_APPLY);

	if (plan_is_empty(p))
		return;
	if (!plan_apply(b->en, b->a, p, "apply", &r, &e))
		no_failures(&r);
	else /* what was agreed to does not cover what is to be done: a new plan is asked for */
		must(e.kind == ERR_CONFLICT, "%s", e.msg);
}

void crash_destroy(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_DESTROY, &r, &e), "%s", e.msg);
	no_failures(&r);
}

void crash_refresh(struct bed *b)
{
	struct apply_result r;
	struct err e = { 0 };

	must(!bed_apply(b, PLAN_REFRESH_ONLY, &r, &e), "%s", e.msg);
}

void crash_recover(struct bed *b)
{
	struct recover_report r;
	struct err e = { 0 };

	must(!engine_recover(b->en, b->a, &r, &e), "%s", e.msg);
}

void crash_gc_all(struct bed *b)
{
	static const char *const all[] = { "*", NULL };
	struct gc_report r;
	struct err e = { 0 };

	must(!engine_gc(b->en, b->a, all, &r, &e), "%s", e.msg);
	must(!r.failed);
}

/* ---- beds ---- */

/* Without an fsync: thousands are made, and none must outlive the machine. */
static void copy_file(const char *to, struct str bytes, mode_t mode)
{
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	must(fd >= 0 && write(fd, bytes.p, bytes.n) == (ssize_t)bytes.n, "%s", to);
	close(fd);
}

static void copy_tree(const char *from, const char *to)
{
	struct dirent *d;
	DIR *dir = opendir(from);
	struct err e = { 0 };

	must(dir != NULL, "%s", from);
	must(mkdir(to, 0700) == 0 || access(to, W_OK) == 0, "%s", to);
	while ((d = readdir(dir))) {
		scoped(arena_freep) struct arena *a = arena_new("copy");
		const char *src = fs_join(a, from, d->d_name), *dst = fs_join(a, to, d->d_name);
		struct stat st;
		struct str bytes;

		if (d->d_name[0] == '.' || strcmp(d->d_name, "backups") == 0)
			continue;
		must(stat(src, &st) == 0, "%s", src);
		if (S_ISDIR(st.st_mode)) {
			copy_tree(src, dst);
			continue;
		}
		must(!fs_read(a, src, 1 << 26, &bytes, &e), "%s", e.msg);
		copy_file(dst, bytes, st.st_mode & 0777);
	}
	closedir(dir);
}

static const char *options_of(const struct crash *c)
{
	return c->options ? c->options : "";
}

/* In memory where that is possible: a kill of the process loses nothing there that a disk would
 * keep, and thousands of beds wait for no fsync. */
static void make_bed(struct bed *b)
{
	if (access("/dev/shm", W_OK) == 0)
		bed_make_in(b, "/dev/shm");
	else
		bed_make(b);
}

static void lay_out(const struct crash *c, struct bed *b)
{
	make_bed(b);
	b->opts.parallel = 3;
	if (c->before) {
		bed_spec(b, options_of(c), c->before);
		bed_run(b, crash_apply);
	}
	bed_spec(b, options_of(c), c->after);
	if (c->prepare)
		c->prepare(b);
}

static void copy_bed(const struct bed *from, struct bed *to)
{
	make_bed(to);
	to->opts.parallel = from->opts.parallel;
	to->opts.limit = from->opts.limit;
	copy_tree(from->dir, to->dir);
}

static uint64_t count_in(const struct bed *laid, void (*act)(struct bed *b))
{
	uint64_t *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct bed b;
	int status;

	assert_true(shared != MAP_FAILED);
	copy_bed(laid, &b);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		fault_arm("count");
		bed_run(&b, act);
		*shared = fault_passes();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	uint64_t passes = *shared;
	munmap(shared, sizeof *shared);
	bed_gone(&b);
	return passes;
}

uint64_t crash_count(const struct crash *c)
{
	struct bed b;

	lay_out(c, &b);
	uint64_t n = count_in(&b, c->act);
	bed_gone(&b);
	return n;
}

/* ---- what must hold ---- */

static const struct value *without_chance(struct arena *a, const struct value *v)
{
	static const char *const chance[] = { "address", "network_id" };
	struct value *out = value_map(a);

	for (size_t i = 0; v && v->kind == V_MAP && i < v->map.n; i++) {
		bool kept = true;
		for (size_t k = 0; k < ARRAY_LEN(chance); k++)
			kept &= !str_eqc(v->map.e[i].key, chance[k]);
		if (kept)
			value_sets(out, v->map.e[i].key, v->map.e[i].val);
	}
	return out;
}

static void picture_state(struct bed *b, struct buf *out)
{
	struct state_resources rows = { 0 };
	struct err e = { 0 };

	must(!state_resources(b->state, b->a, &rows, &e), "%s", e.msg);
	for (size_t i = 0; i < rows.v.n; i++) {
		const struct state_resource *r = rows.v.v[i];

		buf_addf(out, "%s %s %s %s %s %d ", r->addr, r->kind, r->provider, r->provider_type,
			 r->pool ? r->pool : "-", r->status);
		json_write(out, r->want, JSON_SORT);
		buf_addc(out, ' ');
		json_write(out, without_chance(b->a, r->attrs), JSON_SORT);
		for (size_t k = 0; k < r->deps.n; k++)
			buf_addf(out, " %s", r->deps.v[k]);
		buf_addc(out, '\n');
	}
}

static sqlite3 *open_cloud(struct bed *b, const char *name)
{
	char path[300];
	sqlite3 *db = NULL;

	snprintf(path, sizeof path, "%s/state/fake-%s.db", b->dir, name);
	if (access(path, R_OK))
		return NULL;
	must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, "%s", path);
	return db;
}

void crash_cloud_sql(struct bed *b, const char *sql)
{
	sqlite3 *db = open_cloud(b, "cloud");

	must(db && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK && sqlite3_changes(db) == 1,
	     "%s", sql);
	sqlite3_close(db);
}

static const char *const clouds[] = { "cloud", "other" };

/* Straight from the cloud's own file: what it holds, whatever it shows. */
static void each_object(struct bed *b,
			void (*fn)(struct bed *b, const char *cloud, sqlite3_stmt *st, void *arg),
			void *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(clouds); i++) {
		sqlite3 *db = open_cloud(b, clouds[i]);
		sqlite3_stmt *st;

		if (!db)
			continue;
		must(sqlite3_prepare_v2(db,
					"SELECT kind, name, status, attrs, id, token FROM object "
					"ORDER BY kind, name, id",
					-1, &st, NULL) == SQLITE_OK);
		while (sqlite3_step(st) == SQLITE_ROW)
			fn(b, clouds[i], st, arg);
		sqlite3_finalize(st);
		sqlite3_close(db);
	}
}

static void picture_object(struct bed *b, const char *cloud, sqlite3_stmt *st, void *arg)
{
	struct buf *out = arg;
	struct value *attrs;
	struct err e = { 0 };

	must(!json_parse(b->a, "attrs", str_of((const char *)sqlite3_column_text(st, 3)), &attrs,
			 &e),
	     "%s", e.msg);
	buf_addf(out, "%s: %s %s %s ", cloud, sqlite3_column_text(st, 0),
		 sqlite3_column_text(st, 1), sqlite3_column_text(st, 2));
	json_write(out, without_chance(b->a, attrs), JSON_SORT);
	buf_addc(out, '\n');
}

static char *picture;

static void picture_main(struct bed *b)
{
	scoped(buf_fini) struct buf out = { 0 };

	buf_init(&out, 1 << 22);
	picture_state(b, &out);
	each_object(b, picture_object, &out);
	picture = strdup(out.p ? out.p : "");
}

char *crash_picture(struct bed *b)
{
	bed_run(b, picture_main);
	return picture;
}

struct census {
	struct map known; /* token of a record -> times seen in the clouds */
	size_t objects;
};

static void count_object(struct bed *b unused_arg, const char *cloud, sqlite3_stmt *st, void *arg)
{
	struct census *c = arg;
	const char *token = (const char *)sqlite3_column_text(st, 5);
	size_t *times = map_getc(&c->known, token);

	c->objects++;
	must(times != NULL, "an orphan: %s %s %s", cloud, sqlite3_column_text(st, 0),
	     sqlite3_column_text(st, 1));
	must(++*times == 1, "a double: %s %s", cloud, sqlite3_column_text(st, 1));
}

static void check_objects(struct bed *b)
{
	struct census c = { 0 };
	struct state_resources rows = { 0 };
	struct err e = { 0 };

	map_init(&c.known, b->a);
	must(!state_resources(b->state, b->a, &rows, &e), "%s", e.msg);
	for (size_t i = 0; i < rows.v.n; i++) {
		must(rows.v.v[i]->token != NULL, "%s has no token", rows.v.v[i]->addr);
		map_put(&c.known, str_of(rows.v.v[i]->token), arena_obj(b->a, size_t));
	}
	each_object(b, count_object, &c);
	must(c.objects == rows.v.n, "%zu in the cloud, %zu in the state", c.objects, rows.v.n);
}

static void check_main(struct bed *b)
{
	struct err_list problems = { 0 };
	struct gc_report orphans = { 0 };
	struct fleet_status st = { 0 };
	struct err e = { 0 };

	check_objects(b);
	must(!engine_gc(b->en, b->a, NULL, &orphans, &e) &&
		     !engine_status(b->en, b->a, false, &st, &e) &&
		     !state_check(b->state, &problems, &e),
	     "%s", e.msg);
	must(!orphans.v.n, "%zu leftovers, %s", orphans.v.n, orphans.v.v[0]->id);
	must(!st.intents.v.n, "an open intent: %s %s", st.intents.v.v[0]->action,
	     st.intents.v.v[0]->addr);
	must(!st.leases.v.n, "the lease is held by %s", st.leases.v.v[0]->h.run);
	must(!problems.n, "%s", problems.v[0].msg);
	err_list_fini(&problems);
}

void crash_check_sound(struct bed *b)
{
	bed_run(b, check_main);
}

/* ---- killing ---- */

static const char *reference(const struct crash *c, const struct bed *laid)
{
	struct bed b;

	copy_bed(laid, &b);
	bed_run(&b, c->act);
	if (c->finish)
		bed_run(&b, c->finish);
	crash_check_sound(&b);
	const char *p = crash_picture(&b);
	bed_gone(&b);
	return p;
}

static void compare(const char *want, const char *got)
{
	if (strcmp(want, got) != 0)
		must(false, "the end differs\n--- undisturbed\n%s--- after the kill\n%s", want,
		     got);
}

struct blow {
	const struct crash *c;
	uint64_t at;	 /* pass of any point */
	uint64_t second; /* of the run after that; 0: it is left alone */
};

/* Returns how many kills there were. */
static size_t strike(const struct blow *x, const struct bed *laid, const char *want)
{
	const struct crash *c = x->c;
	void (*again)(struct bed * b) = c->again ? c->again : c->act;
	char fault[48], now[160];
	struct bed b;

	snprintf(now, sizeof now, "%s, killed at pass %llu, again at %llu", c->name,
		 (unsigned long long)x->at, (unsigned long long)x->second);
	bed_now = now;
	copy_bed(laid, &b);
	snprintf(fault, sizeof fault, "any:%llu", (unsigned long long)x->at);
	size_t kills = bed_killed(&b, fault, c->act);
	if (x->second) {
		snprintf(fault, sizeof fault, "any:%llu", (unsigned long long)x->second);
		kills += bed_killed(&b, fault, again);
	}
	/* Every other time the run after it plans before anything was settled. */
	if (c->act == crash_apply && x->at % 2)
		bed_run(&b, crash_apply_at_once);
	bed_run(&b, again);
	if (c->settle_ms) { /* what showed only after that run had asked is recorded by the next */
		usleep((useconds_t)c->settle_ms * 1000);
		bed_run(&b, again);
	}
	if (c->finish)
		bed_run(&b, c->finish);
	crash_check_sound(&b);
	char *got = crash_picture(&b);
	compare(want, got);
	free(got);
	bed_gone(&b);
	bed_now = NULL;
	return kills;
}

static uint64_t seed(void)
{
	const char *given = getenv("CRASH_SEED");

	return given ? strtoull(given, NULL, 10) : (uint64_t)time(NULL) ^ (uint64_t)getpid();
}

/* 0: every point. */
static uint64_t points_wanted(void)
{
	const char *given = getenv("CRASH_POINTS");

	if (!given)
		return POINTS_USUAL;
	return strcmp(given, "all") == 0 ? 0 : strtoull(given, NULL, 10);
}

struct share {
	uint64_t step, next; /* over the points of all scenarios, one after the other */
};

static struct share share_of(uint64_t total)
{
	uint64_t wanted = points_wanted(), from = seed();
	struct share s = { 1, 0 };

	if (wanted && wanted < total) {
		s.step = total / wanted;
		s.next = from % s.step;
		print_message("# CRASH_SEED=%llu: every %llu. of %llu points\n",
			      (unsigned long long)from, (unsigned long long)s.step,
			      (unsigned long long)total);
	}
	return s;
}

static size_t kill_one(const struct crash *c, const struct bed *laid, uint64_t passes,
		       struct share *s, bool twice)
{
	const char *want = NULL;
	size_t kills = 0;

	for (; s->next < passes; s->next += s->step) {
		struct blow x = { .c = c, .at = s->next + 1 };

		if (!want)
			want = reference(c, laid);
		if (twice) /* anywhere, and not always at the same distance */
			x.second = 1 + x.at * 31 % (passes + 20);
		kills += strike(&x, laid, want);
	}
	s->next -= passes;
	free((void *)want);
	return kills;
}

size_t crash_kill(const struct crash *const *all, size_t n, bool twice)
{
	struct bed *beds = calloc(n, sizeof *beds);
	uint64_t *passes = calloc(n, sizeof *passes), total = 0;
	const char *only = getenv("CRASH_ONLY");
	size_t kills = 0;

	assert_true(beds && passes);
	for (size_t i = 0; i < n; i++) {
		if (only && strcmp(only, all[i]->name) != 0)
			continue;
		bed_now = all[i]->name;
		lay_out(all[i], &beds[i]);
		passes[i] = count_in(&beds[i], all[i]->act);
		bed_now = NULL;
		total += passes[i];
	}
	struct share s = share_of(total);
	for (size_t i = 0; i < n; i++) {
		if (!passes[i])
			continue;
		kills += kill_one(all[i], &beds[i], passes[i], &s, twice);
		bed_gone(&beds[i]);
	}
	print_message("# %zu kills at %llu points of %zu scenarios\n", kills,
		      (unsigned long long)total, n);
	free(beds);
	free(passes);
	return kills;
}
