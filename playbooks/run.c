/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The node engine's loop (architecture.md §5): decide as far as the answers reach; send what is to
 * be patched; look ahead for what must be asked next; ask it in one script; again.
 */
#include "playbooks/run.h"

static int send_probe(struct run *r, struct lane *lane, struct err *e)
{
	struct script_result res = { 0 };
	struct buf b scoped(buf_fini) = { 0 };

	buf_init(&b, 2 * PATCH_MAX);
	probe_script(&b, &lane->probe);
	if (buf_check(&b, e))
		return -1;
	r->out->probe_trips++;
	if (flush_script(r, lane, buf_str(&b), 0, &res, e))
		return -1;
	if (res.truncated)
		return err_on(e, (err_set(e, ERR_REMOTE, "the probe's answer is too large"), NULL),
			      r->h->name);
	if (answers_parse(&lane->answers, &lane->probe, res.out, e)) {
		err_on(e, NULL, r->h->name);
		return err_hint(e, "the host's shell may print something of its own: run with -vv");
	}
	return 0;
}

/* Looks ahead from the present state on a copy, and asks. *asked: anything at all. */
static int look_ahead(struct run *r, bool *asked, struct err *e)
{
	struct arena *ahead scoped(arena_freep) = arena_new("ahead");
	struct state copy = r->s;
	int rc;

	r->w = ahead;
	r->mode = WALK_COLLECT;
	r->steps = 0;
	for (size_t i = 0; i < r->lanes.n; i++)
		probe_init(&r->lanes.v[i]->probe, ahead);
	rc = walk(r, &copy, e);
	*asked = false;
	for (size_t i = 0; i < r->lanes.n && rc >= 0; i++) {
		struct lane *lane = r->lanes.v[i];
		if (!lane->probe.n || answers_have(&lane->answers, &lane->probe))
			continue;
		*asked = true;
		if (send_probe(r, lane, e))
			rc = -1;
	}
	r->w = r->a;
	r->mode = WALK_DECIDE;
	for (size_t i = 0; i < r->lanes.n; i++)
		probe_init(&r->lanes.v[i]->probe, r->a);
	return rc < 0 ? -1 : 0;
}

static int stuck(struct run *r, struct err *e)
{
	const struct step *step = r->s.items.step;

	err_set(e, ERR_BUG, "the run does not come past task '%s'",
		step && step->name ? step->name : "(no name)");
	if (step)
		err_at(e, step->pos);
	return err_on(e, NULL, r->h->name);
}

static int run_play(struct run *r, struct err *e)
{
	bool asked = true;

	for (;;) {
		int rc = walk(r, &r->s, e);
		if (rc < 0)
			return -1;
		if (r->pending.n) {
			if (flush_pending(r, &r->s, e))
				return -1;
			asked = true;
			continue;
		}
		if (rc == WALK_DONE)
			return 0;
		log_debug("%s: asks before '%s'", r->h->name,
			  r->s.items.step && r->s.items.step->name ? r->s.items.step->name
								   : "(what is next)");
		/* It stopped for want of an answer; if nothing was left to ask last time, it never
		 * will be. */
		if (!asked)
			return stuck(r, e);
		if (task_check(e) || look_ahead(r, &asked, e))
			return -1;
	}
}

static void begin_play(struct run *r, const struct play *play)
{
	r->play = play;
	r->s.at = NULL;
	r->s.items = (struct items){ 0 };
	r->s.notified = NULL;
	scope_magic(r);
	walk_enter(r, &r->s, play->root, IN_BLOCK, NULL);
}

int playbook_run(const struct playbook *p, struct arena *a, const struct run_host *h,
		 const struct run_opts *o, struct run_result *out, struct err *e)
{
	struct run r = { .p = p, .a = a, .w = a, .h = h, .o = o, .out = out, .mode = WALK_DECIDE };

	memset(out, 0, sizeof(*out));
	r.s.facts = h->facts;
	for (size_t i = 0; i < p->plays.n && !r.s.failed && !r.s.ended; i++) {
		const struct play *play = p->plays.v[i];
		if (o->play_matches && !o->play_matches(o->arg, play->hosts, h->name))
			continue;
		begin_play(&r, play);
		if (run_play(&r, e))
			return -1;
		out->facts = r.s.facts != h->facts ? r.s.facts : NULL;
	}
	return 0;
}
