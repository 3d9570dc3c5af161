/* SPDX-License-Identifier: Apache-2.0 */
/* The lease and its fence: who may write, who is dead, who lost it. */
#include "fixture.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static struct lease_holder shown(struct state *s)
{
	struct leases all;

	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	assert_true(all.v.v[0]->whole);
	return all.v.v[0]->h;
}

static bool is_held(struct state *s)
{
	struct leases all;

	OK(lease_list(s, arena, &all, &err));
	return all.v.n > 0;
}

static struct state *open_again(void)
{
	struct state *s;

	OK(state_open(db, "train", 0, &s, &err));
	return s;
}

static void no_write_without_the_lease(void **data)
{
	struct state *s = open_new();
	struct journal_row row = { .addr = "a", .action = "create" };
	struct value *doc = value_map(arena);
	int64_t seq;
	const char *id;

	(void)data;
	value_set(doc, "muster_state", value_int(arena, 1));
	FAILS(state_resource_put(s, sample("a"), &err), ERR_LEASE, "needs the lease");
	FAILS(state_resource_del(s, "a", &err), ERR_LEASE, "needs the lease");
	FAILS(state_resource_move(s, "a", "b", &err), ERR_LEASE, "needs the lease");
	FAILS(state_facts_put(s, "a", doc, &err), ERR_LEASE, "needs the lease");
	FAILS(state_run_begin(s, arena, &(struct state_run){ .command = "x" }, &id, &err),
	      ERR_LEASE, "needs");
	FAILS(state_run_end(s, "x", "ok", NULL, &err), ERR_LEASE, "needs the lease");
	FAILS(state_event_add(s, NULL, NULL, "x", NULL, &err), ERR_LEASE, "needs the lease");
	FAILS(journal_intent(s, &row, &seq, &err), ERR_LEASE, "needs the lease");
	FAILS(journal_settle(s, 1, &(struct journal_result){ .outcome = JOURNAL_DONE }, &err),
	      ERR_LEASE, "needs the lease");
	FAILS(state_meta_put(s, "a", "b", &err), ERR_LEASE, "needs the lease");
	FAILS(state_import(s, arena, doc, &err), ERR_LEASE, "needs the lease");
	FAILS(lease_beat(s, &err), ERR_LEASE, "needs the lease");
	FAILS(lease_release(s, &err), ERR_LEASE, "needs the lease");
	assert_false(journal_is_dirty(s));
	OK(journal_flush(s, &err));
	/* A repair command takes it like any other. */
	OK(lease_take(s, NULL, "state rm", &err));
	OK(state_resource_put(s, sample("a"), &err));
	OK(state_resource_del(s, "a", &err));
	OK(lease_release(s, &err));
	FAILS(state_resource_put(s, sample("a"), &err), ERR_LEASE, "needs the lease");
	state_close(s);
}

static void holder_is_shown(void **data)
{
	struct state *s = open_new();
	struct lease_holder h;
	int64_t now = clock_wall();

	(void)data;
	assert_false(is_held(s));
	assert_null(lease_run(s));
	OK(lease_take(s, "run7", "apply", &err));
	assert_string_equal(lease_run(s), "run7");
	h = shown(s);
	assert_string_equal(h.run, "run7");
	assert_string_equal(h.command, "apply");
	assert_int_equal(h.pid, getpid());
	assert_true(h.who[0] && h.host[0] && h.boot_id[0]);
	assert_int_equal(h.fence, 1);
	assert_true(h.taken_ms >= now && h.taken_ms == h.beat_ms);
	assert_int_equal(h.expires_ms, h.beat_ms + LEASE_EXPIRY_MS);
	assert_false(h.dead || h.expired);
	while (clock_wall() <= h.beat_ms)
		;
	OK(lease_beat(s, &err));
	assert_true(shown(s).beat_ms > h.beat_ms);
	assert_int_equal(shown(s).taken_ms, h.taken_ms);
	OK(lease_release(s, &err));
	assert_false(is_held(s));
	OK(lease_take(s, NULL, "apply", &err));
	assert_int_equal(strlen(lease_run(s)), 26);
	assert_int_equal(shown(s).fence, 2);
	state_close(s);
}

static void live_holder_is_respected(void **data)
{
	struct state *s = open_leased(), *other = open_again();

	(void)data;
	FAILS(lease_take(other, NULL, "destroy", &err), ERR_LEASE,
	      "holds the lease: apply, run run1");
	assert_non_null(strstr(err.hint, "muster lock break"));
	assert_int_equal(err_exit_code(&err), 5);
	FAILS(lease_break(other, NULL, true, &err), ERR_LEASE, "holds the lease");
	FAILS(state_resource_put(other, sample("a"), &err), ERR_LEASE, "needs the lease");
	OK(state_resource_put(s, sample("a"), &err));
	OK(lease_release(s, &err));
	OK(lease_take(other, NULL, "destroy", &err));
	state_close(s);
	state_close(other);
}

static void broken_lease_stops_its_owner(void **data)
{
	struct state *s = open_leased(), *other = open_again();
	struct journal_row row = { .addr = "a", .action = "create" };
	struct state_events ev;
	int64_t seq;

	(void)data;
	OK(lease_break(other, NULL, false, &err));
	FAILS(lease_break(other, NULL, false, &err), ERR_NOT_FOUND, "nobody");
	FAILS(state_resource_put(s, sample("a"), &err), ERR_LEASE, "was taken away");
	FAILS(journal_intent(s, &row, &seq, &err), ERR_LEASE, "was taken away");
	FAILS(lease_beat(s, &err), ERR_LEASE, "was taken away");
	/* The same when somebody else has it now. */
	OK(lease_take(other, "run2", "apply", &err));
	FAILS(state_resource_put(s, sample("a"), &err), ERR_LEASE, "was taken away");
	FAILS(lease_release(s, &err), ERR_LEASE, "was taken away");
	assert_null(lease_run(s));
	assert_true(is_held(other));
	OK(state_resource_put(other, sample("a"), &err));
	OK(state_events(other, arena, NULL, &ev, &err));
	assert_int_equal(ev.v.n, 1);
	assert_string_equal(ev.v.v[0]->what, "lease broken");
	assert_string_equal(value_get_str(ev.v.v[0]->data, "why", "").p, "forced");
	state_close(s);
	state_close(other);
}

static void expired_lease_is_taken_over(void **data)
{
	struct state *s = open_leased(), *other = open_again();
	struct state_events ev;

	(void)data;
	raw_sql(db, "UPDATE leases SET expires_ms = 1");
	assert_true(shown(other).expired);
	/* Nobody took it yet: its owner may wake up and go on. */
	OK(state_resource_put(s, sample("a"), &err));
	OK(lease_beat(s, &err));
	assert_false(shown(other).expired);
	raw_sql(db, "UPDATE leases SET expires_ms = 1");
	OK(lease_take(other, "run2", "apply", &err));
	assert_int_equal(shown(other).fence, 2);
	FAILS(lease_beat(s, &err), ERR_LEASE, "was taken away");
	OK(state_events(other, arena, "run2", &ev, &err));
	assert_int_equal(ev.v.n, 1);
	assert_string_equal(ev.v.v[0]->what, "lease taken over");
	assert_string_equal(value_get_str(ev.v.v[0]->data, "why", "").p, "expired");
	assert_string_equal(value_get_str(ev.v.v[0]->data, "run", "").p, "run1");
	assert_int_equal(problems_of(other), 1); /* the dangling network */
	state_close(s);
	state_close(other);
}

/* A child takes the lease and is killed. */
static void dead_owner(void)
{
	int ready[2];
	char c;

	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (!pid) {
		struct state *s = open_again();
		if (lease_take(s, "child", "apply", &err) || write(ready[1], "x", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	struct state *s = open_again();
	assert_false(shown(s).dead);
	FAILS(lease_take(s, NULL, "apply", &err), ERR_LEASE, "run child");
	state_close(s);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

static void dead_owner_is_taken_over_at_once(void **data)
{
	struct state *s = open_new();
	struct state_events ev;

	(void)data;
	dead_owner();
	assert_true(shown(s).dead);
	assert_false(shown(s).expired);
	OK(lease_take(s, "run2", "apply", &err));
	OK(state_events(s, arena, NULL, &ev, &err));
	assert_string_equal(value_get_str(ev.v.v[0]->data, "why", "").p, "dead");
	OK(lease_release(s, &err));
	dead_owner();
	OK(lease_break(s, NULL, true, &err));
	assert_false(is_held(s));
	state_close(s);
}

static void pid_reuse_is_seen(void **data)
{
	struct state *s = open_leased();

	(void)data;
	assert_false(shown(s).dead);
	raw_sql(db, "UPDATE leases SET pid_start = pid_start + 1");
	assert_true(shown(s).dead);
	state_close(s);
}

static void other_places_wait_for_the_expiry(void **data)
{
	struct state *s = open_leased();

	(void)data;
	/* A container on this kernel: same boot, other pids. */
	raw_sql(db, "UPDATE leases SET pid = 999999999, pid_ns = 'pid:[1]'");
	assert_false(shown(s).dead);
	/* Another machine with our name. */
	raw_sql(db, "UPDATE leases SET boot_id = 'x', machine = 'y'");
	assert_false(shown(s).dead);
	/* No machine id known: no guess. */
	raw_sql(db, "UPDATE leases SET boot_id = 'x', machine = ''");
	assert_false(shown(s).dead);
	state_close(s);
}

static void rebooted_machine_is_dead(void **data)
{
	struct state *s = open_leased();

	(void)data;
	if (!raw_int(db, "SELECT length(machine) > 0 FROM leases")) {
		state_close(s);
		print_message("no /etc/machine-id here\n");
		skip();
	}
	raw_sql(db, "UPDATE leases SET boot_id = 'x'");
	assert_true(shown(s).dead);
	state_close(s);
}

/* Many at once: exactly one has it. */
static void one_of_many_wins(void **data)
{
	pid_t pid[6];
	int won = 0;
	struct state *s = open_new();

	(void)data;
	state_close(s);
	int go[2];
	assert_int_equal(pipe(go), 0);
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		pid[i] = fork();
		if (!pid[i]) {
			struct state *mine = open_again();
			int rc = lease_take(mine, NULL, "apply", &err);
			/* The winner lives until all have tried. */
			char c;
			close(go[1]);
			if (!rc && read(go[0], &c, 1) < 0)
				_exit(9);
			state_close(mine);
			_exit(!rc ? 0 : err.kind == ERR_LEASE ? 1 : 9);
		}
	}
	close(go[0]);
	for (size_t i = 0; i < ARRAY_LEN(pid); i++) {
		int status;
		if (i == ARRAY_LEN(pid) - 1)
			close(go[1]);
		assert_true(waitpid(-1, &status, 0) > 0);
		assert_true(WIFEXITED(status));
		assert_int_not_equal(WEXITSTATUS(status), 9);
		won += WEXITSTATUS(status) == 0;
	}
	assert_int_equal(won, 1);
}

static void beat_in_a_group(void **data)
{
	struct state *s = open_leased();
	struct journal_row row = { .addr = "a", .action = "create" };
	int64_t seq;

	(void)data;
	OK(journal_intent(s, &row, &seq, &err));
	OK(lease_beat(s, &err));
	assert_true(journal_is_dirty(s));
	OK(lease_release(s, &err)); /* flushes */
	assert_false(journal_is_dirty(s));
	state_close(s);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM journal"), 1);
}

/* ---- leases of some objects ---- */

static void scope_of(struct lease_scope *out, const char *write, const char *read)
{
	struct str rest = str_of(write), word;

	*out = (struct lease_scope){ 0 };
	while (str_next(&rest, ' ', &word))
		if (word.n)
			VEC_ADD(arena, &out->write) = str_cstr(arena, word);
	rest = str_of(read);
	while (str_next(&rest, ' ', &word))
		if (word.n)
			VEC_ADD(arena, &out->read) = str_cstr(arena, word);
}

static void who_excludes_whom(void **data)
{
	static const struct {
		const char *write, *read, *write2, *read2, *both; /* both: the first in the way */
	} cases[] = {
		{ "a b", "", "c d", "", NULL },	  { "a b", "n", "c d", "n", NULL },
		{ "a b", "", "b c", "", "b" },	  { "a", "n", "n", "", "n" },
		{ "n", "", "b", "n", "n" },	  { "a", "b", "b", "a", "b" },
		{ "", "", "a", "", NULL },	  { "a[1]", "", "a[11]", "", NULL },
		{ NULL, "", "a", "", "objects" }, { "a", "", NULL, "", "objects" },
		{ NULL, "", NULL, "", "" },
	};

	(void)data;
	struct state *s = open_new(), *other = open_again();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct lease_scope one, two;
		scope_of(&one, cases[i].write ? cases[i].write : "", cases[i].read);
		scope_of(&two, cases[i].write2 ? cases[i].write2 : "", cases[i].read2);
		OK(lease_take_scope(s, "run1", "apply", cases[i].write ? &one : NULL, &err));
		const struct lease_scope *want = cases[i].write2 ? &two : NULL;
		if (cases[i].both) {
			FAILS(lease_take_scope(other, "run2", "apply", want, &err), ERR_LEASE,
			      "run run1");
			if (cases[i].write && cases[i].write2)
				assert_non_null(strstr(err.msg, cases[i].both));
		} else {
			OK(lease_take_scope(other, "run2", "apply", want, &err));
			OK(lease_release(other, &err));
		}
		OK(lease_release(s, &err));
	}
	assert_int_equal(raw_int(db, "SELECT count(*) FROM lease_scopes"), 0);
	state_close(s);
	state_close(other);
}

static void outside_of_its_scope_nothing_is_written(void **data)
{
	struct state *s = open_new();
	struct journal_row row = { .addr = "b", .action = "create" };
	struct lease_scope scope;
	struct leases all;
	int64_t seq;

	(void)data;
	scope_of(&scope, "a c", "n");
	OK(lease_take(s, NULL, "apply", &err));
	OK(state_resource_put(s, sample("b"), &err));
	OK(state_resource_put(s, sample("n"), &err));
	OK(lease_release(s, &err));
	OK(lease_take_scope(s, "run1", "apply", &scope, &err));
	OK(state_resource_put(s, sample("a"), &err));
	FAILS(state_resource_put(s, sample("b"), &err), ERR_LEASE, "b is not among");
	FAILS(state_resource_del(s, "b", &err), ERR_LEASE, "not among");
	FAILS(state_resource_put(s, sample("n"), &err), ERR_LEASE, "n is not among");
	FAILS(state_resource_move(s, "a", "b2", &err), ERR_LEASE, "not among");
	FAILS(state_resource_move(s, "b", "c", &err), ERR_LEASE, "not among");
	FAILS(state_facts_put(s, "b", sample_value(1, "x"), &err), ERR_LEASE, "not among");
	FAILS(journal_intent(s, &row, &seq, &err), ERR_LEASE, "not among");
	OK(journal_flush(s, &err));
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	assert_false(all.v.v[0]->whole);
	assert_true(lease_covers(all.v.v[0], "c"));
	assert_false(lease_covers(all.v.v[0], "n"));
	OK(lease_beat(s, &err));
	OK(lease_release(s, &err));
	/* The next lease has a scope of its own. */
	OK(lease_take(s, NULL, "apply", &err));
	OK(state_resource_put(s, sample("b"), &err));
	OK(lease_release(s, &err));
	state_close(s);
}

static void one_of_several_is_broken_by_name(void **data)
{
	struct state *s = open_new(), *other = open_again();
	struct lease_scope one, two;

	(void)data;
	scope_of(&one, "a", "");
	scope_of(&two, "b", "");
	OK(lease_take_scope(s, "run1", "apply", &one, &err));
	OK(lease_take_scope(other, "run2", "apply", &two, &err));
	FAILS(lease_break(s, NULL, false, &err), ERR_USAGE, "run1, run2");
	FAILS(lease_break(s, "run", false, &err), ERR_USAGE, "several");
	FAILS(lease_break(s, "run3", false, &err), ERR_NOT_FOUND, "run3");
	OK(lease_break(s, "run2", false, &err));
	FAILS(state_resource_put(other, sample("b"), &err), ERR_LEASE, "taken away");
	OK(state_resource_put(s, sample("a"), &err));
	OK(lease_release(s, &err));
	state_close(s);
	state_close(other);
}

enum { SIDE_TURNS = 150 };

/* Intents and outcomes of `addr`s of its own, until it is killed or done. */
static _Noreturn void write_aside(const char *run, const char *prefix)
{
	struct state *mine;
	struct lease_scope scope = { 0 };

	for (int i = 0; i < SIDE_TURNS; i++)
		VEC_ADD(arena, &scope.write) = arena_printf(arena, "%s[%d]", prefix, i);
	if (state_open(db, "train", 0, &mine, &err) ||
	    lease_take_scope(mine, run, "apply", &scope, &err))
		_exit(1);
	for (int i = 0; i < SIDE_TURNS; i++) {
		struct journal_row row = { .addr = scope.write.v[i], .action = "create" };
		struct state_resource *r = sample(scope.write.v[i]);
		struct journal_result done = { .outcome = JOURNAL_DONE, .put = r };

		r->deps.n = 0; /* state check would miss it */
		if (journal_intent(mine, &row, &row.seq, &err) || journal_flush(mine, &err) ||
		    journal_settle(mine, row.seq, &done, &err) || journal_flush(mine, &err))
			_exit(2);
	}
	_exit(lease_release(mine, &err) ? 3 : 0);
}

static pid_t fork_writer(const char *run, const char *prefix)
{
	pid_t pid = fork();

	if (!pid)
		write_aside(run, prefix);
	return pid;
}

/* One of two is killed in the middle: the other does not notice, and its nodes are free again. */
static void two_write_side_by_side(void **data)
{
	struct lease_scope scope;
	struct leases all;
	int status;

	(void)data;
	state_close(open_new());
	pid_t victim = fork_writer("run1", "a"), other = fork_writer("run2", "b");
	struct state *s = open_again();
	while (raw_int(db, "SELECT count(*) FROM resources WHERE addr LIKE 'a[%'") < SIDE_TURNS / 5)
		usleep(1000);
	kill(victim, SIGKILL);
	assert_int_equal(waitpid(victim, &status, 0), victim);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(waitpid(other, &status, 0), other);
	assert_int_equal(status, 0);
	assert_int_equal(raw_int(db, "SELECT count(*) FROM resources WHERE addr LIKE 'b[%'"),
			 SIDE_TURNS);
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	assert_true(all.v.v[0]->h.dead);
	scope_of(&scope, "b[1]", "");
	/* the dead one is in nobody's way */
	OK(lease_take_scope(s, "run3", "apply", &scope, &err));
	OK(lease_release(s, &err));
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 1);
	scope_of(&scope, "a[1]", "");
	OK(lease_take_scope(s, "run4", "apply", &scope, &err)); /* it is taken over */
	OK(lease_release(s, &err));
	OK(lease_list(s, arena, &all, &err));
	assert_int_equal(all.v.n, 0);
	/* The intent that it was killed in, at most. */
	assert_int_equal(problems_of(s),
			 raw_int(db, "SELECT count(*) FROM journal WHERE outcome = 0"));
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(no_write_without_the_lease),
		STATE_TEST(holder_is_shown),
		STATE_TEST(live_holder_is_respected),
		STATE_TEST(broken_lease_stops_its_owner),
		STATE_TEST(expired_lease_is_taken_over),
		STATE_TEST(dead_owner_is_taken_over_at_once),
		STATE_TEST(pid_reuse_is_seen),
		STATE_TEST(other_places_wait_for_the_expiry),
		STATE_TEST(rebooted_machine_is_dead),
		STATE_TEST(one_of_many_wins),
		STATE_TEST(beat_in_a_group),
		STATE_TEST(who_excludes_whom),
		STATE_TEST(outside_of_its_scope_nothing_is_written),
		STATE_TEST(one_of_several_is_broken_by_name),
		STATE_TEST(two_write_side_by_side),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
