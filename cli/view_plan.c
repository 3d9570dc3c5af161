/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as people read it: changes of one shape are one entry with a node set, what destroys
 * comes first and in full, and the summary line is the one that users of Terraform know.
 */
#include "cli/plan_paint.h"

#define ENTRIES_SHOWN 100 /* that destroy nothing; --full shows all */

static void change_lines(struct painter *p, const struct plan *plan, struct change *const *v,
			 size_t n)
{
	struct fold fold;
	size_t left_entries = 0, left = 0;

	plan_fold(p->a, plan, v, n, p->how, &fold);
	for (size_t i = 0; i < fold.v.n; i++) {
		if (!p->how->full && i >= fold.destructive + ENTRIES_SHOWN) {
			left_entries++;
			left += fold.v.v[i].members.n;
			continue;
		}
		paint_head(p, &fold.v.v[i]);
		paint_body(p, &fold.v.v[i]);
	}
	if (left_entries)
		buf_addf(p->b, "  … and %zu more changes in %zu more entries (--full shows them)\n",
			 left, left_entries);
}

static const char *what_was_compared(const struct plan *plan)
{
	return plan->unreachable.n ? "What could be asked"
	       : plan->left_out.n  ? "What may be changed"
				   : "The fleet";
}

void plan_text(struct buf *b, struct arena *a, const struct plan *plan, const struct plan_view *how,
	       bool color)
{
	struct painter p = { .b = b, .a = a, .how = how, .color = color, .indent = "  " };

	if (plan_is_empty(plan)) {
		buf_addf(b, "%sNo changes.%s %s is as the spec says.\n", view_on(color, VIEW_GREEN),
			 view_off(color), what_was_compared(plan));
		paint_unreachable(&p, plan);
		paint_left_out(&p, plan);
		return;
	}
	buf_adds(b, plan->is_destroy ? "muster will destroy:\n\n" : "muster will do this:\n\n");
	change_lines(&p, plan, plan->changes.v, plan->changes.n);
	paint_unreachable(&p, plan);
	paint_left_out(&p, plan);
	buf_addc(b, '\n');
	paint_summary(&p, plan);
	buf_addc(b, '\n');
}

void drift_text(struct buf *b, struct arena *a, const struct plan *plan,
		const struct plan_view *how, bool color)
{
	struct painter p = {
		.b = b, .a = a, .how = how, .color = color, .indent = "  ", .drift = true
	};

	if (!plan->drift.n) {
		buf_addf(b, "%sNo drift.%s Nothing%s was changed outside.\n",
			 view_on(color, VIEW_GREEN), view_off(color),
			 plan->unreachable.n ? " that could be asked" : "");
		paint_unreachable(&p, plan);
		return;
	}
	buf_adds(b, "Changed outside of muster; `muster apply` mends it:\n\n");
	change_lines(&p, plan, plan->drift.v, plan->drift.n);
	paint_unreachable(&p, plan);
	buf_addf(b, "\n%sDrift:%s %zu %s.\n", view_on(color, VIEW_BOLD), view_off(color),
		 plan->drift.n, plan->drift.n == 1 ? "object" : "objects");
}

void view_plan(struct cli *c, const struct plan *plan, const struct plan_view *how)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	plan_text(&b, c->a, plan, how, c->color_out);
	view_out(c, &b);
}

void view_drift(struct cli *c, const struct plan *plan, const struct plan_view *how)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	drift_text(&b, c->a, plan, how, c->color_out);
	view_out(c, &b);
}
