/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One entry is a line (what, how many nodes, which, why, with what effects) and lines of fields
 * under it. Everything that comes from outside (names, values, what a node told) goes through
 * view_plain: it may hold anything.
 */
#include "cli/plan_paint.h"

#define FIELDS_SHOWN 12	  /* of an entry; --full shows all */
#define VALUE_SHOWN  160  /* bytes of a value */
#define VALUE_FULL   2000 /* the same with --full */
#define SET_SHOWN    240  /* bytes of a node set that is not destroyed */
#define ATTRS_SHOWN  8	  /* attributes of what is created */

static const char *const symbols[] = {
	[CHANGE_CREATE] = "+", [CHANGE_UPDATE] = "~",	 [CHANGE_REPLACE] = "-/+",
	[CHANGE_DELETE] = "-", [CHANGE_CONFIGURE] = "~", [CHANGE_FORGET] = ".",
};
static const enum view_color colors[] = {
	[CHANGE_CREATE] = VIEW_GREEN, [CHANGE_UPDATE] = VIEW_YELLOW,	[CHANGE_REPLACE] = VIEW_RED,
	[CHANGE_DELETE] = VIEW_RED,   [CHANGE_CONFIGURE] = VIEW_YELLOW, [CHANGE_FORGET] = VIEW_DIM,
};
static const char *const words[] = {
	[CHANGE_CREATE] = "create",
	[CHANGE_UPDATE] = "update in place",
	[CHANGE_REPLACE] = "destroy, then create again",
	[CHANGE_DELETE] = "destroy",
	[CHANGE_CONFIGURE] = "configure",
	[CHANGE_FORGET] = "forget",
};
/* machines that exist without us */
static const char *const owned_words[] = {
	[CHANGE_CREATE] = "take in",
	[CHANGE_UPDATE] = "update in place",
	[CHANGE_REPLACE] = "let go, then take in again",
	[CHANGE_DELETE] = "let go",
	[CHANGE_CONFIGURE] = "configure",
	[CHANGE_FORGET] = "forget",
};
/* what was found, not what will be done */
static const char *const drift_words[] = {
	[CHANGE_CREATE] = "is there",
	[CHANGE_UPDATE] = "not as recorded",
	[CHANGE_REPLACE] = "not as recorded",
	[CHANGE_DELETE] = "gone",
	[CHANGE_CONFIGURE] = "not as configured",
	[CHANGE_FORGET] = "gone",
};

static const char *words_of(const struct painter *p, const struct change *ch)
{
	return p->drift	   ? drift_words[ch->action]
	       : ch->owned ? owned_words[ch->action]
			   : words[ch->action];
}

static void put(struct painter *p, const char *text)
{
	view_plain(p->b, str_of(text));
}

/* On one line: a name may hold anything. */
static void put_line(struct painter *p, const char *text)
{
	for (struct str rest = str_of(text), part; str_next(&rest, '\n', &part);) {
		view_plain(p->b, part);
		if (rest.n)
			buf_addc(p->b, ' ');
	}
}

static void put_on(struct painter *p, enum view_color c)
{
	buf_adds(p->b, view_on(p->color, c));
}

static void put_off(struct painter *p)
{
	buf_adds(p->b, view_off(p->color));
}

/* At most max bytes, never in the middle of a character. */
static void put_cut(struct painter *p, struct str s, size_t max)
{
	size_t n = s.n;

	if (n > max) {
		n = max;
		while (n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
			n--;
	}
	view_plain(p->b, str_sub(s, 0, n));
	if (n < s.n)
		buf_adds(p->b, "…");
}

static void put_value(struct painter *p, const struct value *v)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!v || v->kind == V_NULL) {
		buf_adds(p->b, "(none)");
	} else if (v->kind == V_UNKNOWN) {
		buf_adds(p->b, "(known after apply)");
	} else if (v->secret) {
		buf_adds(p->b, "(sensitive)");
	} else {
		buf_init(&b, BUF_MAX_DEFAULT);
		json_write(&b, v, 0);
		put_cut(p, buf_str(&b), p->how->full ? VALUE_FULL : VALUE_SHOWN);
	}
}

static void diff_lines(struct painter *p, const char *diff)
{
	struct str rest = str_of(diff), line;

	while (str_next_line(&rest, &line)) {
		put_on(p, str_starts(line, "+")	  ? VIEW_GREEN
			  : str_starts(line, "-") ? VIEW_RED
						  : VIEW_DIM);
		buf_adds(p->b, "        ");
		view_plain(p->b, line);
		put_off(p);
		buf_addc(p->b, '\n');
	}
}

/* Both sides read alike where only a secret inside has changed. */
static bool only_secret(const struct field_change *f)
{
	scoped(buf_fini) struct buf before = { 0 }, after = { 0 };

	if (!f->before || !f->after || !value_has_secret(f->before) || !value_has_secret(f->after))
		return false;
	buf_init(&before, BUF_MAX_DEFAULT);
	buf_init(&after, BUF_MAX_DEFAULT);
	json_write(&before, f->before, JSON_SORT);
	json_write(&after, f->after, JSON_SORT);
	return str_eq(buf_str(&before), buf_str(&after));
}

static void field_values(struct painter *p, const struct fold_entry *en, size_t i)
{
	const struct field_change *f = &en->first->fields.v[i];

	if (en->varies && en->varies[i]) {
		buf_adds(p->b, ": (not the same on all: --full shows them)");
		return;
	}
	if ((!f->before && !f->after) || (p->how->diff && f->diff))
		return;
	buf_adds(p->b, ": ");
	if (only_secret(f)) {
		put_value(p, f->after);
		buf_adds(p->b, " (what is sensitive in it changed)");
		return;
	}
	/* drift reads: as it should be, as it is. A node was asked what would mend it. */
	bool turned = p->drift && en->first->action == CHANGE_CONFIGURE;
	put_value(p, turned ? f->after : f->before);
	buf_adds(p->b, " → ");
	put_value(p, turned ? f->before : f->after);
}

static void field_line(struct painter *p, const struct fold_entry *en, size_t i)
{
	const struct field_change *f = &en->first->fields.v[i];

	buf_adds(p->b, "      ");
	put_line(p, f->path);
	field_values(p, en, i);
	if (f->forces_replace) {
		buf_adds(p->b, "  ");
		put_on(p, VIEW_RED);
		buf_adds(p->b, "# forces replacement");
		put_off(p);
	} else if (f->cause != CAUSE_SPEC && !p->drift) {
		buf_adds(p->b, "  ");
		put_on(p, VIEW_DIM);
		buf_adds(p->b, "# changed outside");
		put_off(p);
	}
	buf_addc(p->b, '\n');
	if (p->how->diff && f->diff)
		diff_lines(p, f->diff);
}

static void field_lines(struct painter *p, const struct fold_entry *en)
{
	size_t n = en->first->fields.n;
	size_t shown = p->how->full || p->how->diff || n <= FIELDS_SHOWN ? n : FIELDS_SHOWN;

	for (size_t i = 0; i < shown; i++)
		field_line(p, en, i);
	if (shown < n)
		buf_addf(p->b, "      … and %zu more (--full shows them)\n", n - shown);
}

/* What will be there: `image "debian-12", machine "small"; address known after apply`. */
static void attribute_line(struct painter *p, const struct change *ch)
{
	const struct map *m = ch->after && ch->after->kind == V_MAP ? &ch->after->map : NULL;
	size_t n = 0;

	for (size_t i = 0; m && i < m->n; i++) {
		if (!p->how->full && n == ATTRS_SHOWN) {
			buf_adds(p->b, ", …");
			break;
		}
		buf_adds(p->b, n++ ? ", " : "      ");
		view_plain(p->b, m->e[i].key);
		buf_addc(p->b, ' ');
		put_value(p, m->e[i].val);
	}
	for (size_t i = 0; i < ch->unknown.n; i++) {
		buf_adds(p->b, i ? ", " : n ? "; " : "      ");
		put(p, ch->unknown.v[i]);
	}
	if (ch->unknown.n)
		buf_adds(p->b, " (known after apply)");
	if (n || ch->unknown.n)
		buf_addc(p->b, '\n');
}

/* ---- the first line of an entry ---- */

/* A node set that destroys nothing may be cut, between two names and not inside brackets. */
static void put_set(struct painter *p, const char *set, bool whole)
{
	struct str s = str_of(set);
	size_t end = 0;

	if ((whole && !p->cut) || s.n <= SET_SHOWN) {
		view_plain(p->b, s);
		return;
	}
	for (size_t next; (next = hostlist_term_end(s, end ? end + 1 : 0, ",")) <= SET_SHOWN;)
		end = next;
	bool inside = !end; /* one name with a long list in its brackets */
	if (inside) {
		end = SET_SHOWN;
		while (end > 0 && s.p[end] != ',')
			end--;
	}
	view_plain(p->b, str_sub(s, 0, end));
	buf_adds(p->b, inside ? ",…] (--full shows all)" : ",… (--full shows all)");
}

static void put_subject(struct painter *p, const struct fold_entry *en)
{
	const struct change *ch = en->first;
	bool is_node = strcmp(ch->kind, "machine") == 0;

	if (en->members.n == 1) {
		put_line(p, ch->action == CHANGE_CONFIGURE && ch->node ? ch->node : ch->addr);
		return;
	}
	buf_addf(p->b, "%zu ", en->members.n);
	put_line(p, is_node ? "nodes" : ch->kind);
	if (en->pools > 1)
		buf_addf(p->b, " in %zu pools", en->pools);
	buf_addc(p->b, ' ');
	put_set(p, fold_names(p->a, en), p->how->full || fold_is_destructive(ch));
}

static void put_duration(struct buf *b, int64_t ms)
{
	if (ms < 90 * 1000)
		buf_addf(b, "~%lld s", (long long)(ms + 500) / 1000);
	else if (ms < 90LL * 60 * 1000)
		buf_addf(b, "~%lld min", (long long)(ms + 30000) / 60000);
	else
		buf_addf(b, "~%.1f h", (double)ms / 3600000);
}

static void put_effects(struct painter *p, const struct fold_entry *en)
{
	const char *between = "   ";
	const struct {
		bool on;
		const char *word;
	} effects[] = { { en->first->effect_drain, "drain" },
			{ en->first->effect_reboot, "reboot" } };

	if (p->drift)
		return;
	for (size_t i = 0; i < ARRAY_LEN(effects); i++) {
		if (!effects[i].on)
			continue;
		buf_addf(p->b, "%s%s", between, effects[i].word);
		between = ", ";
	}
	if (en->each_ms >= 1000) {
		buf_adds(p->b, between);
		put_duration(p->b, en->each_ms);
		buf_adds(p->b, " each");
		between = ", ";
	}
	if (en->canary && en->at_a_time != FOLD_LIMITS_DIFFER) {
		buf_addf(p->b, "%s%lld first%s", between, (long long)en->canary,
			 en->pools > 1 ? " of each pool" : "");
		between = ", then ";
	}
	if (en->at_a_time == FOLD_LIMITS_DIFFER)
		buf_addf(p->b, "%sso many at a time as each pool allows", between);
	else if (en->at_a_time)
		buf_addf(p->b, "%s%lld at a time%s", between, (long long)en->at_a_time,
			 en->pools > 1 ? " in each pool" : "");
}

/* Said already by the words: "destroy (destroy)", "gone (deleted outside)". */
static bool tells_more(const struct painter *p, const struct change *ch)
{
	return ch->reason && strcmp(ch->reason, words_of(p, ch)) != 0 && !p->drift &&
	       !(ch->owned && strcmp(ch->reason, "destroy") == 0);
}

void paint_head(struct painter *p, const struct fold_entry *en)
{
	const struct change *ch = en->first;

	buf_adds(p->b, p->indent);
	put_on(p, colors[ch->action]);
	buf_adds(p->b, symbols[ch->action]);
	put_off(p);
	buf_addc(p->b, ' ');
	put_subject(p, en);
	buf_addf(p->b, ": %s", words_of(p, ch));
	if (tells_more(p, ch)) {
		buf_adds(p->b, " (");
		put_line(p, ch->reason);
		buf_addc(p->b, ')');
	}
	if (p->how->full && ch->id && fold_is_destructive(ch)) {
		buf_adds(p->b, "  # id ");
		put_line(p, ch->id);
	}
	put_effects(p, en);
	buf_addc(p->b, '\n');
}

void paint_body(struct painter *p, const struct fold_entry *en)
{
	if (en->first->action == CHANGE_CREATE && !en->first->owned) {
		if (!en->equal)
			buf_adds(p->b, "      (not the same for all: --full shows them)\n");
		else
			attribute_line(p, en->first);
	}
	field_lines(p, en);
}

/* ---- around the entries ---- */

void paint_unreachable(struct painter *p, const struct plan *plan)
{
	size_t n = plan->unreachable.n;

	if (!n)
		return;
	buf_addc(p->b, '\n');
	put_on(p, VIEW_YELLOW);
	buf_addf(p->b, "%zu %s could not be asked:", n, n == 1 ? "node" : "nodes");
	put_off(p);
	buf_addc(p->b, ' ');
	put_set(p, view_fold(p->a, plan->unreachable.v, n), p->how->full);
	buf_addc(p->b, '\n');
}

void paint_left_out(struct painter *p, const struct plan *plan)
{
	struct map by_why;

	if (plan->is_configure)
		return; /* the command tells them itself */
	map_init(&by_why, p->a);
	for (size_t i = 0; i < plan->left_out.n; i++) {
		const struct left_out *x = plan->left_out.v[i];
		struct names *names = map_getc(&by_why, x->why);
		if (!names) {
			names = arena_obj(p->a, struct names);
			map_put(&by_why, str_of(x->why), names);
		}
		VEC_ADD(p->a, &names->v) = x->node;
	}
	for (size_t i = 0; i < by_why.n; i++) {
		const struct names *names = by_why.e[i].val;
		buf_adds(p->b, i ? "" : "\n");
		put_on(p, VIEW_YELLOW);
		buf_addf(p->b, "%zu %s left out:", names->v.n,
			 names->v.n == 1 ? "node is" : "nodes are");
		put_off(p);
		buf_addc(p->b, ' ');
		put_set(p, view_fold(p->a, names->v.v, names->v.n), p->how->full);
		buf_adds(p->b, ": ");
		view_plain(p->b, by_why.e[i].key);
		buf_addc(p->b, '\n');
	}
}

void paint_summary(struct painter *p, const struct plan *plan)
{
	put_on(p, VIEW_BOLD);
	buf_adds(p->b, "Plan:");
	put_off(p);
	buf_addf(p->b, " %zu to add, %zu to change, %zu to destroy.", plan->add, plan->change,
		 plan->destroy);
	if (plan->release)
		buf_addf(p->b, " %zu to let go.", plan->release);
	if (plan->configure)
		buf_addf(p->b, " %zu to configure.", plan->configure);
}
