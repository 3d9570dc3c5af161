/* SPDX-License-Identifier: Apache-2.0 */
/* The lease while a run holds it: it stays fresh, and a run that lost it stops. */
#include "bed.h"

#include "engine/beat.h"

#define BEAT_MS 20

static struct err told;
static int waited;

static void hold(struct bed *b)
{
	struct err e = { 0 };

	must(!lease_take(b->state, NULL, "test", &e), "%s", e.msg);
}

static int64_t last_beat(struct bed *b)
{
	struct leases all;
	struct err e = { 0 };

	must(!lease_list(b->state, b->a, &all, &e) && all.v.n == 1, "%s", e.msg);
	return all.v.v[0]->h.beat_ms;
}

/* Also what was written meanwhile: nobody else may be asked to commit it. */
static void a_held_lease(struct bed *b)
{
	struct journal_row row = { .addr = "x", .action = "update" };
	struct err e = { 0 };
	struct beat beat;

	hold(b);
	int64_t first = last_beat(b);
	must(!journal_intent(b->state, &row, &row.seq, &e), "%s", e.msg);
	beat_start(&beat, b->en, BEAT_MS);
	must(!task_sleep(5 * BEAT_MS, &e), "%s", e.msg);
	must(last_beat(b) > first, "no beat");
	must(!journal_is_dirty(b->state), "a group stays open");
	must(!beat_stop(&beat, &e), "%s", e.msg);
	must(!context_check(b->en, &e), "%s", e.msg);
	must(!lease_release(b->state, &e), "%s", e.msg);
}

static void long_work(void *arg unused_arg)
{
	waited = task_sleep(10000, &told);
}

static void a_lost_lease(struct bed *b)
{
	struct err e = { 0 };
	struct group work;
	struct beat beat;

	hold(b);
	group_init(&work);
	b->en->work = &work;
	beat_start(&beat, b->en, BEAT_MS);
	task_spawn(&work, "work", long_work, NULL);
	must(!lease_break(b->state, NULL, false, &e), "%s", e.msg);
	must(!group_wait(&work, &e), "%s", e.msg);
	b->en->work = NULL;
	must(waited == -1 && told.kind == ERR_CANCELLED, "the work went on");
	must(context_check(b->en, &e) == -1 && e.kind == ERR_LEASE, "%s", e.msg);
	e = (struct err){ 0 };
	must(beat_stop(&beat, &e) == -1 && e.kind == ERR_LEASE, "%s", e.msg);
}

static void run_in_bed(void (*fn)(struct bed *b))
{
	struct bed b;

	bed_make(&b);
	bed_spec(&b, "", "  web: {provider: cloud, count: 1, image: debian-12, machine: s}\n");
	bed_run(&b, fn);
	bed_gone(&b);
}

static void beats_keep_the_lease(void **unused unused_arg)
{
	run_in_bed(a_held_lease);
}

static void a_run_without_its_lease_stops(void **unused unused_arg)
{
	run_in_bed(a_lost_lease);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(beats_keep_the_lease),
		cmocka_unit_test(a_run_without_its_lease_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
