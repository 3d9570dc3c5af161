/* SPDX-License-Identifier: Apache-2.0 */
/* lock: who writes, and taking that right from a run that is gone. */
#include "cli/leases.h"
#include "cli/session.h"
#include "cli/view.h"

struct lock_opts {
	bool yes, if_dead;
};

static int lock_ls(struct cli *c, struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct value *v = value_map(c->a);
	struct leases all;

	buf_init(&b, 0);
	if (lease_list(c->state, c->a, &all, e) < 0)
		return -1;
	value_set(v, "held", value_bool(c->a, all.v.n > 0));
	value_set(v, "leases", leases_value(c->a, &all));
	if (c->g.json) {
		view_json(c, v);
		return EXIT_DONE;
	}
	leases_text(c->a, &b, &all);
	if (!all.v.n)
		buf_adds(&b, "nobody holds the lease\n");
	view_out(c, &b);
	return EXIT_DONE;
}

/* What is not there is said without asking. */
static int has_lease(struct cli *c, const char *run, bool *found, struct err *e)
{
	struct leases all;

	*found = false;
	if (lease_list(c->state, c->a, &all, e) < 0)
		return -1;
	for (size_t i = 0; i < all.v.n; i++)
		*found = *found || !run || str_starts(str_of(all.v.v[i]->h.run), run);
	return 0;
}

static int lock_break(struct cli *c, const char *run, struct err *e)
{
	const struct lock_opts *o = c->opts;
	bool found;

	if (has_lease(c, run, &found, e) < 0)
		return -1;
	if (found && !o->if_dead && !o->yes &&
	    session_confirm(c, "Break the lease of a run that may be alive?", "--yes or --if-dead",
			    e) < 0)
		return -1;
	if (lease_break(c->state, run, o->if_dead, e) < 0)
		return -1;
	view_donef(c, "the lease is free");
	return EXIT_DONE;
}

static int cmd_lock(struct cli *c, struct err *e)
{
	const char *const *args = c->args.v.v;
	size_t n = c->args.v.n;
	bool ls = n == 1 && strcmp(args[0], "ls") == 0;

	if (!ls && !(n >= 1 && n <= 2 && strcmp(args[0], "break") == 0)) {
		err_set(e, ERR_USAGE, "usage: muster lock ls, or muster lock break [RUN]");
		return err_hint(e, "see muster help lock");
	}
	if (session_state(c, ls ? STATE_READONLY : 0, e) < 0)
		return -1;
	if (!c->state)
		return err_set(e, ERR_NOT_FOUND, "there is no state here yet");
	return ls ? lock_ls(c, e) : lock_break(c, n == 2 ? args[1] : NULL, e);
}

static const struct opt rows[] = {
	{ "yes", 'y', OPT_FLAG, offsetof(struct lock_opts, yes), NULL, "break it whoever holds it",
	  "force" },
	{ "if-dead", 0, OPT_FLAG, offsetof(struct lock_opts, if_dead), NULL,
	  "break it only if its owner is gone or it expired", NULL },
	OPT_END,
};

const struct command command_lock = {
	"lock",
	"ls|break [RUN]",
	"shows or breaks leases",
	"Runs on different nodes (--limit, --target) hold a lease each. A dead owner on this machine, or one that has not renewed its lease for a minute, is taken over by the next run that needs its nodes without this.",
	rows,
	sizeof(struct lock_opts),
	0,
	cmd_lock,
};
