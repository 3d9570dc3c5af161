/* SPDX-License-Identifier: Apache-2.0 */
/* The journal: groups, outcomes, and a writer that is killed at random moments. */
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t intent(struct state *s, const char *addr)
{
	struct journal_row row = { .addr = addr,
				   .action = "create",
				   .token = "tok-1",
				   .provider = "here",
				   .kind = "machine" };
	int64_t seq;

	row.want = sample_value(4, "want");
	OK(journal_intent(s, &row, &seq, &err));
	return seq;
}

static void intent_is_open_until_settled(void **data)
{
	struct state *s = open_leased();
	struct journal_rows rows;
	struct state_resource *got;

	(void)data;
	int64_t a = intent(s, "node.a[0]"), b = intent(s, "node.a[1]");
	assert_true(b > a);
	assert_true(journal_is_dirty(s));
	OK(journal_flush(s, &err));
	assert_false(journal_is_dirty(s));
	OK(journal_open_rows(s, arena, &rows, &err));
	assert_int_equal(rows.v.n, 2);
	const struct journal_row *row = rows.v.v[0];
	assert_int_equal(row->seq, a);
	assert_string_equal(row->run, "run1");
	assert_string_equal(row->addr, "node.a[0]");
	assert_string_equal(row->action, "create");
	assert_string_equal(row->token, "tok-1");
	assert_string_equal(row->provider, "here");
	assert_string_equal(row->kind, "machine");
	assert_int_equal(row->outcome, JOURNAL_INTENT);
	assert_int_equal(value_get_int(row->want, "n", 0), 4);
	assert_true(row->at_ms > 0 && row->settled_ms == 0);

	OK(journal_settle(s, a,
			  &(struct journal_result){ .outcome = JOURNAL_DONE,
						    .request = "req-1",
						    .put = sample("node.a[0]") },
			  &err));
	OK(journal_settle(s, b,
			  &(struct journal_result){ .outcome = JOURNAL_UNKNOWN,
						    .request = "req-2",
						    .error = "no answer" },
			  &err));
	OK(journal_flush(s, &err));
	OK(journal_open_rows(s, arena, &rows, &err));
	assert_int_equal(rows.v.n, 1);
	assert_int_equal(rows.v.v[0]->outcome, JOURNAL_UNKNOWN);
	assert_string_equal(rows.v.v[0]->request, "req-2");
	assert_string_equal(rows.v.v[0]->error, "no answer");
	OK(journal_settle(s, b,
			  &(struct journal_result){
				  .outcome = JOURNAL_FAILED, .error = "quota", .del = "node.a[0]" },
			  &err));
	OK(journal_flush(s, &err));
	OK(journal_open_rows(s, arena, &rows, &err));
	assert_int_equal(rows.v.n, 0);
	OK(journal_run_rows(s, arena, "run1", &rows, &err));
	assert_int_equal(rows.v.n, 2);
	assert_string_equal(rows.v.v[1]->request, "req-2");
	assert_string_equal(rows.v.v[1]->error, "quota");
	assert_true(rows.v.v[1]->settled_ms >= rows.v.v[1]->at_ms);
	OK(state_resource_find(s, arena, "node.a[0]", &got, &err));
	assert_null(got);
	state_close(s);
}

static void settle_twice_is_refused(void **data)
{
	struct state *s = open_leased();
	struct state_resource *got;

	(void)data;
	int64_t a = intent(s, "a");
	OK(journal_settle(s, a, &(struct journal_result){ .outcome = JOURNAL_DONE }, &err));
	FAILS(journal_settle(
		      s, a,
		      &(struct journal_result){ .outcome = JOURNAL_FAILED, .put = sample("a") },
		      &err),
	      ERR_CONFLICT, "settled");
	FAILS(journal_settle(
		      s, 99,
		      &(struct journal_result){ .outcome = JOURNAL_DONE, .put = sample("a") },
		      &err),
	      ERR_CONFLICT, "not there");
	FAILS(journal_settle(s, a, &(struct journal_result){ .outcome = JOURNAL_INTENT }, &err),
	      ERR_BUG, "no outcome");
	OK(journal_flush(s, &err));
	OK(state_resource_find(s, arena, "a", &got, &err));
	assert_null(got);
	state_close(s);
}

/* A settle whose resource cannot be stored leaves no half: the intent stays open, the group lives. */
static void settle_is_whole(void **data)
{
	struct state *s = open_leased();
	struct state_resource *bad = sample("a");
	struct journal_rows rows;

	(void)data;
	int64_t a = intent(s, "a"), b = intent(s, "b");
	bad->kind = NULL;
	FAILS(journal_settle(s, a, &(struct journal_result){ .outcome = JOURNAL_DONE, .put = bad },
			     &err),
	      ERR_BUG, "without kind");
	OK(journal_settle(s, b,
			  &(struct journal_result){ .outcome = JOURNAL_DONE, .put = sample("b") },
			  &err));
	OK(journal_flush(s, &err));
	OK(journal_open_rows(s, arena, &rows, &err));
	assert_int_equal(rows.v.n, 1);
	assert_string_equal(rows.v.v[0]->addr, "a");
	state_close(s);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM resources"), 1);
}

static void group_is_seen_inside_only(void **data)
{
	struct state *s = open_leased(), *r;
	struct state_resources all;

	(void)data;
	OK(state_open(db, NULL, STATE_READONLY, &r, &err));
	intent(s, "a");
	OK(state_resource_put(s, sample("a"), &err));
	OK(state_resources(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	OK(state_resources(r, arena, &all, &err));
	assert_int_equal(all.v.n, 0);
	OK(journal_flush(s, &err));
	OK(state_resources(r, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	OK(journal_flush(s, &err)); /* nothing to do */
	state_close(r);
	state_close(s);
}

static void unflushed_group_is_gone(void **data)
{
	struct state *s = open_leased();

	(void)data;
	intent(s, "a");
	FAILS(state_backup(s, NULL, &err), ERR_BUG, "group");
	state_close(s);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM journal"), 0);
}

static void flipped_intent_is_found(void **data)
{
	struct state *s = open_leased();
	struct journal_rows rows;

	(void)data;
	intent(s, "a");
	OK(journal_flush(s, &err));
	raw_sql(db, "UPDATE journal SET token = 'tok-3'");
	FAILS(journal_open_rows(s, arena, &rows, &err), ERR_IO, "checksum");
	state_close(s);
}

/* ---- kill -9 ---- */

#define KILLS 40

/* Writes without end: an intent, its flush, an acknowledgement, the settle with a resource and two
 * deps, and again. Each number that it sends was durable before. */
static void writer(int ack)
{
	struct state *s;

	if (state_open(db, "train", STATE_CREATE, &s, &err) || lease_take(s, NULL, "apply", &err))
		_exit(1);
	for (int i = 0;; i++) {
		char addr[64];
		struct journal_row row = { .addr = addr, .action = "create", .token = "t" };
		int64_t seq;

		snprintf(addr, sizeof addr, "node.%s[%d]", lease_run(s), i);
		struct state_resource *r = sample(addr);
		VEC_ADD(arena, &r->deps) = "other";
		if (journal_intent(s, &row, &seq, &err) || journal_flush(s, &err))
			_exit(2);
		if (write(ack, &seq, sizeof seq) != (ssize_t)sizeof seq)
			_exit(3);
		if (journal_settle(s, seq,
				   &(struct journal_result){
					   .outcome = JOURNAL_DONE, .request = "r", .put = r },
				   &err) ||
		    state_event_add(s, NULL, addr, "created", NULL, &err) || journal_flush(s, &err))
			_exit(4);
		seq = -seq;
		if (write(ack, &seq, sizeof seq) != (ssize_t)sizeof seq)
			_exit(3);
	}
}

struct acknowledged {
	int64_t intent, settled; /* the highest */
};

static void note(struct acknowledged *a, int64_t seq)
{
	if (seq > 0)
		a->intent = seq;
	else
		a->settled = -seq;
}

/* started: not before its first acknowledgement; else perhaps while it opens the file. */
static void kill_one(struct acknowledged *a, bool started)
{
	int ack[2], status;
	int64_t seq;

	assert_int_equal(pipe(ack), 0);
	pid_t pid = fork();
	if (!pid) {
		close(ack[0]);
		writer(ack[1]);
	}
	close(ack[1]);
	if (started) {
		assert_int_equal(read(ack[0], &seq, sizeof seq), sizeof seq);
		note(a, seq);
	}
	struct timespec t = { .tv_nsec = (long)(2000000 + rand_below(25000000)) };
	nanosleep(&t, NULL);
	kill(pid, SIGKILL);
	while (read(ack[0], &seq, sizeof seq) == (ssize_t)sizeof seq)
		note(a, seq);
	close(ack[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	/* It was killed, and did not fail before. */
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

static void check_survivor(const struct acknowledged *a)
{
	struct state *s;
	struct err_list l = { 0 };
	struct journal_rows open;
	struct state_resources all;

	OK(state_open(db, "train", STATE_CREATE, &s, &err));
	OK(state_check(s, &l, &err));
	for (size_t i = 0; i < l.n; i++)
		if (!strstr(l.v[i].msg, "not in the state") &&
		    !strstr(l.v[i].msg, "how it ended is unknown"))
			fail_msg("%s", l.v[i].msg);
	err_list_fini(&l);
	OK(lease_take(s, NULL, "recover", &err)); /* its owner is dead: at once */
	OK(journal_open_rows(s, arena, &open, &err));
	assert_true(open.v.n <= 1);
	for (size_t i = 0; i < open.v.n; i++) {
		assert_true(open.v.v[i]->seq > a->settled);
		OK(journal_settle(
			s, open.v.v[i]->seq,
			&(struct journal_result){ .outcome = JOURNAL_FAILED, .error = "killed" },
			&err));
	}
	OK(journal_flush(s, &err));
	OK(state_resources(s, arena, &all, &err));
	for (size_t i = 0; i < all.v.n; i++)
		assert_int_equal(all.v.v[i]->deps.n, 2);
	OK(lease_release(s, &err));
	state_close(s);
	assert_true(raw_int(db, "SELECT coalesce(max(seq), 0) FROM journal") >= a->intent);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM journal WHERE outcome = 1"),
			 raw_int(db, "SELECT count(*) FROM resources"));
	if (a->settled)
		assert_int_equal(
			raw_int(db,
				arena_printf(arena, "SELECT outcome FROM journal WHERE seq = %lld",
					     (long long)a->settled)),
			1);
}

static void killed_writer_loses_nothing(void **data)
{
	struct acknowledged a = { 0 };
	struct timespec now;

	(void)data;
	clock_gettime(CLOCK_REALTIME, &now);
	print_message("seed %ld\n", now.tv_nsec);
	rand_seed((uint64_t)now.tv_nsec);
	for (int i = 0; i < KILLS; i++) {
		kill_one(&a, i % 4 != 0);
		check_survivor(&a);
	}
	print_message("%lld intents, the last settled %lld\n", (long long)a.intent,
		      (long long)a.settled);
	assert_true(a.settled > KILLS / 4);
}

/* ---- two processes ---- */

/* Three processes take turns with the lease; readers look on. No write is lost. */
static void processes_take_turns(void **data)
{
	enum { PROCS = 3, TURNS = 15 };
	pid_t pid[PROCS];
	struct state *s = open_new();
	struct state_resources all;

	(void)data;
	state_close(s); /* no connection may cross a fork */
	for (int p = 0; p < PROCS; p++) {
		pid[p] = fork();
		if (pid[p])
			continue;
		struct state *mine;
		int64_t give_up = clock_now() + 20000;
		if (state_open(db, "train", 0, &mine, &err))
			_exit(1);
		for (int i = 0; i < TURNS;) {
			err = (struct err){ 0 };
			if (lease_take(mine, NULL, "apply", &err)) {
				if (err.kind != ERR_LEASE || clock_now() > give_up)
					_exit(2);
				continue;
			}
			char *addr = arena_printf(arena, "p%d[%d]", p, i++);
			if (state_resource_put(mine, sample(addr), &err) ||
			    lease_release(mine, &err))
				_exit(3);
		}
		state_close(mine);
		_exit(0);
	}
	OK(state_open(db, NULL, STATE_READONLY, &s, &err));
	size_t before = 0;
	for (int i = 0; i < 20; i++) {
		OK(state_resources(s, arena, &all, &err));
		assert_true(all.v.n >= before);
		before = all.v.n;
	}
	for (int p = 0; p < PROCS; p++) {
		int status;
		assert_int_equal(waitpid(pid[p], &status, 0), pid[p]);
		assert_int_equal(status, 0);
	}
	OK(state_resources(s, arena, &all, &err));
	assert_int_equal(all.v.n, PROCS * TURNS);
	state_close(s);
	assert_int_equal(raw_int(db, "SELECT seq FROM sqlite_sequence WHERE name = 'leases'"),
			 PROCS * TURNS);
}

/* Medians by pool and action, of steps on nodes that ended well. */
static void pace_is_the_median(void **data)
{
	struct state *s = open_leased();
	struct journal_paces got = { 0 };

	(void)data;
	OK(journal_pace(s, arena, &got, &err));
	assert_int_equal(got.v.n, 0);
	OK(lease_release(s, &err));
	state_close(s);
	raw_sql(db,
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) "
		"INSERT INTO journal (run, addr, action, outcome, at_ms, settled_ms, sum) "
		"SELECT 'r', 'node.a[' || i || ']', 'create', 1, 1000, 1000 + i * 10, 0 FROM n");
	raw_sql(db,
		"INSERT INTO journal (run, addr, action, outcome, at_ms, settled_ms, sum) VALUES "
		"('r', 'node.a[1]', 'create', 2, 1000, 900000, 0), "
		"('r', 'node.a[1]', 'create', 0, 1000, 0, 0), "
		"('r', 'cloud.network.m', 'create', 1, 1000, 900000, 0), "
		"('r', 'node.a[1]', 'configure', 1, 1000, 8000, 0), "
		"('r', 'node.b[1]', 'create', 1, 9000, 8000, 0)");
	OK(state_open(db, NULL, 0, &s, &err));
	OK(journal_pace(s, arena, &got, &err));
	assert_int_equal(got.v.n, 2);
	assert_string_equal(got.v.v[0]->action, "configure"); /* newest first */
	assert_int_equal(got.v.v[0]->median_ms, 7000);
	assert_string_equal(got.v.v[1]->pool, "a");
	assert_string_equal(got.v.v[1]->action, "create");
	assert_int_equal(got.v.v[1]->median_ms, 50);
	assert_int_equal(got.v.v[1]->n, 9);
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(pace_is_the_median),	       STATE_TEST(intent_is_open_until_settled),
		STATE_TEST(settle_twice_is_refused),   STATE_TEST(settle_is_whole),
		STATE_TEST(group_is_seen_inside_only), STATE_TEST(unflushed_group_is_gone),
		STATE_TEST(flipped_intent_is_found),   STATE_TEST(killed_writer_loses_nothing),
		STATE_TEST(processes_take_turns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
