/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan as people read it: changes of one shape are one entry with a node set, what destroys
 * comes first and in full, and the summary line is the one that users of Terraform know.
 */
#include "cli/view.h"

#define FIELDS_SHOWN 12 /* of a grouped entry; --full shows all */

struct entry {
	const struct change *first;
	VEC(const char *) names;
};
struct entries {
	VEC(struct entry) v;
};

struct painter {
	struct buf *b;
	struct arena *a;
	const struct plan_view *how;
	bool color;
};

static const char *action_symbol(enum change_action action)
{
	static const char *const symbols[] = {
		[CHANGE_CREATE] = "+", [CHANGE_UPDATE] = "~",	 [CHANGE_REPLACE] = "-/+",
		[CHANGE_DELETE] = "-", [CHANGE_CONFIGURE] = "~", [CHANGE_FORGET] = ".",
	};

	return symbols[action];
}

static enum view_color action_color(enum change_action action)
{
	static const enum view_color colors[] = {
		[CHANGE_CREATE] = VIEW_GREEN,	  [CHANGE_UPDATE] = VIEW_YELLOW,
		[CHANGE_REPLACE] = VIEW_RED,	  [CHANGE_DELETE] = VIEW_RED,
		[CHANGE_CONFIGURE] = VIEW_YELLOW, [CHANGE_FORGET] = VIEW_DIM,
	};

	return colors[action];
}

static const char *action_words(enum change_action action)
{
	static const char *const words[] = {
		[CHANGE_CREATE] = "create",
		[CHANGE_UPDATE] = "update in place",
		[CHANGE_REPLACE] = "destroy, then create again",
		[CHANGE_DELETE] = "destroy",
		[CHANGE_CONFIGURE] = "configure",
		[CHANGE_FORGET] = "forget (not destroyed)",
	};

	return words[action];
}

static bool is_destructive(const struct change *ch)
{
	return ch->action == CHANGE_DELETE || ch->action == CHANGE_REPLACE;
}

/* Equal shape, equal action: one entry. Destructive changes are never folded away. */
static void group_changes(struct painter *p, struct change *const *changes, size_t n,
			  struct entries *out)
{
	struct map by_shape;

	map_init(&by_shape, p->a);
	for (size_t i = 0; i < n; i++) {
		const struct change *ch = changes[i];
		struct str key = str_of(arena_printf(p->a, "%d %s", (int)ch->action,
						     ch->shape ? ch->shape : ch->addr));
		size_t *at = p->how->full || is_destructive(ch) ? NULL : map_get(&by_shape, key);

		if (!at) {
			at = arena_obj(p->a, size_t);
			*at = out->v.n;
			VEC_ADD(p->a, &out->v) = (struct entry){ .first = ch };
			map_put(&by_shape, key, at);
		}
		VEC_ADD(p->a, &out->v.v[*at].names) = ch->node ? ch->node : ch->addr;
	}
}

static void value_text(struct painter *p, const struct value *v)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!v || v->kind == V_NULL) {
		buf_adds(p->b, "(none)");
	} else if (v->kind == V_UNKNOWN) {
		buf_adds(p->b, "(known after apply)");
	} else {
		buf_init(&b, 4096);
		if (v->kind == V_STR && !v->secret)
			json_write_string(&b, str_sub(v->s, 0, 120));
		else
			value_print(&b, v);
		buf_addstr(p->b, str_sub(buf_str(&b), 0, 200));
	}
}

static void diff_lines(struct painter *p, const char *diff)
{
	struct str rest = str_of(diff), line;

	while (str_next_line(&rest, &line)) {
		enum view_color c = str_starts(line, "+")   ? VIEW_GREEN
				    : str_starts(line, "-") ? VIEW_RED
							    : VIEW_DIM;

		buf_addf(p->b, "        %s" STR_FMT "%s\n", view_on(p->color, c), STR_ARG(line),
			 view_off(p->color));
	}
}

static void field_lines(struct painter *p, const struct change *ch)
{
	size_t shown = p->how->full || p->how->diff  ? ch->fields.n
		       : ch->fields.n < FIELDS_SHOWN ? ch->fields.n
						     : FIELDS_SHOWN;

	for (size_t i = 0; i < shown; i++) {
		const struct field_change *f = &ch->fields.v[i];

		buf_addf(p->b, "      %s", f->path);
		if ((f->before || f->after) && !(p->how->diff && f->diff)) {
			buf_adds(p->b, ": ");
			if (ch->action != CHANGE_CREATE) {
				value_text(p, f->before);
				buf_adds(p->b, " → ");
			}
			value_text(p, f->after);
		}
		if (f->forces_replace)
			buf_addf(p->b, "  %s# forces replacement%s", view_on(p->color, VIEW_RED),
				 view_off(p->color));
		else if (f->cause != CAUSE_SPEC && ch->action != CHANGE_CREATE)
			buf_addf(p->b, "  %s# changed outside%s", view_on(p->color, VIEW_DIM),
				 view_off(p->color));
		buf_addc(p->b, '\n');
		if (p->how->diff && f->diff)
			diff_lines(p, f->diff);
	}
	if (shown < ch->fields.n)
		buf_addf(p->b, "      … and %zu more (--full shows them)\n", ch->fields.n - shown);
}

static const char *plural(const struct change *ch, size_t n)
{
	if (strcmp(ch->kind, "machine") == 0)
		return n == 1 ? "node" : "nodes";
	return ch->kind;
}

static void entry_lines(struct painter *p, const struct entry *en)
{
	const struct change *ch = en->first;
	size_t n = en->names.n;

	buf_addf(p->b, "  %s%s%s ", view_on(p->color, action_color(ch->action)),
		 action_symbol(ch->action), view_off(p->color));
	if (n > 1)
		buf_addf(p->b, "%zu %s %s", n, plural(ch, n), view_fold(p->a, en->names.v, n));
	else
		buf_adds(p->b, ch->action == CHANGE_CONFIGURE && ch->node ? ch->node : ch->addr);
	buf_addf(p->b, ": %s", action_words(ch->action));
	if (ch->reason && strcmp(ch->reason, action_words(ch->action)) != 0)
		buf_addf(p->b, " (%s)", ch->reason);
	if (ch->effect_drain || ch->effect_reboot)
		buf_addf(p->b, "   %s%s%s", ch->effect_drain ? "drain" : "",
			 ch->effect_drain && ch->effect_reboot ? ", " : "",
			 ch->effect_reboot ? "reboot" : "");
	buf_addc(p->b, '\n');
	field_lines(p, ch);
}

static void change_lines(struct painter *p, struct change *const *changes, size_t n)
{
	struct entries entries = { 0 };

	group_changes(p, changes, n, &entries);
	for (size_t i = 0; i < entries.v.n; i++)
		entry_lines(p, &entries.v.v[i]);
}

static void unreachable_line(struct painter *p, const struct plan *plan)
{
	if (!plan->unreachable.n)
		return;
	buf_addf(p->b, "\n%s%zu nodes could not be asked:%s %s\n", view_on(p->color, VIEW_YELLOW),
		 plan->unreachable.n, view_off(p->color),
		 view_fold(p->a, plan->unreachable.v, plan->unreachable.n));
}

static void summary_line(struct painter *p, const struct plan *plan)
{
	buf_addf(p->b, "\n%sPlan:%s %zu to add, %zu to change, %zu to destroy.",
		 view_on(p->color, VIEW_BOLD), view_off(p->color), plan->add, plan->change,
		 plan->destroy);
	if (plan->configure)
		buf_addf(p->b, " %zu to configure.", plan->configure);
	buf_addc(p->b, '\n');
}

void plan_text(struct buf *b, struct arena *a, const struct plan *plan, const struct plan_view *how,
	       bool color)
{
	struct painter p = { b, a, how, color };

	if (plan_is_empty(plan)) {
		buf_addf(b, "%sNo changes.%s The fleet is as the spec says.\n",
			 view_on(color, VIEW_GREEN), view_off(color));
		unreachable_line(&p, plan);
		return;
	}
	buf_adds(b, plan->is_destroy ? "muster will destroy:\n\n" : "muster will do this:\n\n");
	change_lines(&p, plan->changes.v, plan->changes.n);
	unreachable_line(&p, plan);
	summary_line(&p, plan);
}

void drift_text(struct buf *b, struct arena *a, const struct plan *plan,
		const struct plan_view *how, bool color)
{
	struct painter p = { b, a, how, color };

	if (!plan->drift.n) {
		buf_addf(b, "%sNo drift.%s Nothing was changed outside.\n",
			 view_on(color, VIEW_GREEN), view_off(color));
		unreachable_line(&p, plan);
		return;
	}
	buf_addf(b, "Changed outside of muster; `muster apply` mends it:\n\n");
	change_lines(&p, plan->drift.v, plan->drift.n);
	unreachable_line(&p, plan);
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
