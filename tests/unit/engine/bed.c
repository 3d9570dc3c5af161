/* SPDX-License-Identifier: Apache-2.0 */
#include "bed.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

const char *bed_now;

void bed_make_in(struct bed *b, const char *parent)
{
	*b = (struct bed){ 0 };
	assert_true((size_t)snprintf(b->dir, sizeof b->dir, "%s/bed-XXXXXX", parent) <
		    sizeof b->dir);
	assert_non_null(mkdtemp(b->dir));
	b->opts.parallel = 8;
}

void bed_make(struct bed *b)
{
	const char *tmp = getenv("TEST_TMP");

	bed_make_in(b, tmp ? tmp : "/tmp");
}

void bed_gone(struct bed *b)
{
	struct err e = { 0 };

	assert_int_equal(fs_remove_tree(b->dir, &e), 0);
}

static const char *path_of(struct bed *b, char out[256], const char *name)
{
	snprintf(out, 256, "%s/%s", b->dir, name);
	return out;
}

void bed_spec(struct bed *b, const char *provider_options, const char *pools)
{
	scoped(buf_fini) struct buf text = { 0 };
	struct err e = { 0 };
	char path[256];

	buf_init(&text, 1 << 20);
	buf_addf(&text, "cluster: bed\nproviders:\n  cloud: {type: fake%s%s}\npools:\n%s",
		 provider_options[0] ? ", " : "", provider_options, pools);
	assert_int_equal(fs_write_atomic(path_of(b, path, "muster.yaml"), buf_str(&text), 0644, &e),
			 0);
}

static void on_event(void *arg, const struct engine_event *ev)
{
	struct bed *b = arg;

	b->events_done += strcmp(ev->type, "step_done") == 0;
	b->events_failed += strcmp(ev->type, "step_failed") == 0;
	b->events_retry += strcmp(ev->type, "retry") == 0;
}

void bed_open(struct bed *b)
{
	struct err_list errs = { 0 };
	struct err e = { 0 };
	struct spec_opts so = { 0 };
	char path[256];

	b->a = arena_new("bed");
	must(!spec_load(b->a, arena_strdup(b->a, path_of(b, path, "muster.yaml")), &so, &b->spec,
			&errs) &&
		     !fleet_expand(b->a, b->spec, &b->fleet, &errs),
	     "%s", errs.n ? errs.v[0].msg : "");
	err_list_fini(&errs);
	must(!state_open(path_of(b, path, "state/state.db"), "bed", STATE_CREATE, &b->state, &e),
	     "%s", e.msg);
	b->opts.spec = b->spec;
	b->opts.fleet = b->fleet;
	b->opts.state = b->state;
	b->opts.cluster = "bed";
	b->opts.state_dir = arena_strdup(b->a, path_of(b, path, "state"));
	b->opts.who = "tester@bed";
	b->opts.on_event = on_event;
	b->opts.arg = b;
	must(!engine_open(b->a, &b->opts, &b->en, &e), "%s", e.msg);
}

void bed_close(struct bed *b)
{
	engine_close(b->en);
	state_close(b->state);
	arena_free(b->a);
	b->a = NULL;
}

struct job {
	struct bed *b;
	void (*fn)(struct bed *b);
};

static void job_main(void *arg)
{
	struct job *j = arg;

	bed_open(j->b);
	j->fn(j->b);
	bed_close(j->b);
}

void bed_run(struct bed *b, void (*fn)(struct bed *b))
{
	struct job j = { b, fn };
	struct err e = { 0 };

	if (loop_run(job_main, &j, NULL, &e))
		fail_msg("%s", e.msg);
}

struct plan *bed_plan(struct bed *b, enum plan_mode mode)
{
	struct plan *p = NULL;
	struct err e = { 0 };

	must(!plan_make(b->en, b->a, mode, &p, &e), "%s", e.msg);
	return p;
}

int bed_apply(struct bed *b, enum plan_mode mode, struct apply_result *r, struct err *e)
{
	struct recover_report rep;
	struct plan *p;

	if (engine_recover(b->en, b->a, &rep, e) || plan_make(b->en, b->a, mode, &p, e))
		return -1;
	return plan_apply(b->en, b->a, p, "apply", r, e);
}

bool bed_killed(struct bed *b, const char *fault, void (*fn)(struct bed *b))
{
	int status = 0;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		fault_arm(fault);
		bed_run(b, fn);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return false;
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		fail_msg("%s: status %x", fault, status);
	return true;
}

static void check(struct bed *b, size_t resources)
{
	struct gc_report orphans = { 0 };
	struct fleet_status st = { 0 };
	struct state_resources rows = { 0 };
	struct err e = { 0 };
	struct plan *p = bed_plan(b, PLAN_APPLY);

	must(plan_is_empty(p), "%s: %s", p->changes.v[0]->addr, p->changes.v[0]->reason);
	must(p->drift.n == 0);
	must(!engine_gc(b->en, b->a, NULL, &orphans, &e) &&
		     !engine_status(b->en, b->a, true, &st, &e) &&
		     !state_resources(b->state, b->a, &rows, &e),
	     "%s", e.msg);
	must(orphans.v.n == 0, "%zu orphans, %s", orphans.v.n, orphans.v.v[0]->id);
	must(st.intents.v.n == 0);
	must(!st.leases.v.n);
	for (size_t i = 0; i < st.nodes.n; i++)
		must(strcmp(st.nodes.v[i]->state, "ready") == 0, "%s is %s", st.nodes.v[i]->name,
		     st.nodes.v[i]->state);
	must(rows.v.n == resources, "%zu", rows.v.n);
}

static size_t wanted_rows;

static void check_main(struct bed *b)
{
	check(b, wanted_rows);
}

void bed_check_converged(struct bed *b, size_t resources)
{
	wanted_rows = resources;
	bed_run(b, check_main);
}
