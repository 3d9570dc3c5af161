/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event only changes counters; what is seen is made by a task that wakes ten times a second.
 * So ten thousand steps cost what ten do, and no burst of events can make the screen flicker.
 *
 * There is no handler for a terminal that changes its size: it is asked before each frame.
 */
#include "cli/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/events.h"
#include "cli/out.h"
#include "cli/region.h"

#define FRAME_MS     100
#define SUMMARY_MS   5000
#define HEARTBEAT_MS 30000
#define SLOWEST	     4
#define SMALL_RUN    50 /* steps that are told one by one where there is no terminal */
#define CAUSES_TOLD  20 /* kinds of failure that are told at once; the end tells all */
#define BAR_WIDTH    24
#define GUESS_FROM   10 /* ended steps; fewer tell nothing about the rest */

struct at_work {
	const char *name;
	const char *action; /* static words of the engine */
	char detail[96];    /* what it waits for; empty: not known */
	bool is_node;
	int64_t since;
	struct at_work *prev, *next; /* in starting order: the slowest are in front */
};

struct node_steps {
	size_t left;
	bool begun;
};

static struct {
	bool active, live, told_plan;
	bool own_work; /* a command's nodes: results are told at the end */
	struct group group;
	struct region region;
	struct buf above; /* lines that wait for the next frame */
	const char *phase;
	int64_t started, drawn, drawn_second, summed, beaten, heartbeat_ms;
	size_t done, total, failed, compared, untold;
	size_t frames;
	struct map by_key, nodes, causes;
	size_t n_nodes, nodes_begun, nodes_done, nodes_failed;
	struct at_work *first, *last, *spare;
	size_t at_work;
	bool dirty;
} show;

/* ---- bytes to stderr ---- */

/* Of a live region: what others say on stderr waits for the next frame, to stand above it. */
static void keep_above(struct str text)
{
	buf_addstr(&show.above, text);
	show.dirty = true;
}

static void line(const char *text)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (!show.active)
		return;
	buf_init(&b, 65536);
	view_plain(&b, str_of(text)); /* what hosts and clouds said may be in it */
	buf_addc(&b, '\n');
	out_err(buf_str(&b));
}

/* ---- what is at work ---- */

static struct str step_key(const struct engine_event *ev)
{
	return str_of(ev->addr ? ev->addr : ev->node ? ev->node : "");
}

/* A node's name where it is known: some events have the address only. */
static const char *step_name(const struct engine_event *ev)
{
	const struct at_work *s = map_get(&show.by_key, step_key(ev));

	return ev->node ? ev->node : s ? s->name : ev->addr ? ev->addr : "";
}

static void unlink_step(struct at_work *s)
{
	*(s->prev ? &s->prev->next : &show.first) = s->next;
	*(s->next ? &s->next->prev : &show.last) = s->prev;
	s->next = show.spare;
	show.spare = s;
	show.at_work--;
}

static void step_del(const struct engine_event *ev)
{
	struct map_entry *en = map_find(&show.by_key, step_key(ev));

	if (en && en->val) {
		unlink_step(en->val);
		en->val = NULL;
	}
}

static void step_add(struct cli *c, const struct engine_event *ev)
{
	struct at_work *s = show.spare;

	step_del(ev); /* an address has one step at a time */
	if (s)
		show.spare = s->next;
	else
		s = arena_obj(c->a, struct at_work);
	map_put(&show.by_key, step_key(ev), s);
	*s = (struct at_work){
		.action = ev->action ? ev->action : "",
		.is_node = ev->node != NULL,
		.since = clock_now(),
		.prev = show.last,
	};
	s->name = arena_strdup(c->a, step_name(ev));
	*(show.last ? &show.last->next : &show.first) = s;
	show.last = s;
	show.at_work++;
}

static void set_detail(const struct engine_event *ev)
{
	struct at_work *s = ev->addr || ev->node ? map_get(&show.by_key, step_key(ev)) : NULL;

	if (s)
		snprintf(s->detail, sizeof s->detail, "%s", ev->text ? ev->text : "");
}

/* ---- nodes ---- */

void progress_plan(struct cli *c, const struct plan *p)
{
	for (size_t i = 0; i < p->changes.n; i++) {
		const struct change *ch = p->changes.v[i];
		struct node_steps *n = ch->node ? map_getc(&show.nodes, ch->addr) : NULL;

		if (!ch->node)
			continue;
		if (!n) {
			n = arena_obj(c->a, struct node_steps);
			map_put(&show.nodes, str_of(ch->addr), n);
			show.n_nodes++;
		}
		n->left += ch->action == CHANGE_REPLACE ? 2 : 1;
	}
	show.told_plan = true;
}

static bool is(const struct engine_event *ev, const char *type)
{
	return strcmp(ev->type, type) == 0;
}

static void follow_node(const struct engine_event *ev)
{
	struct node_steps *n = ev->addr ? map_getc(&show.nodes, ev->addr) : NULL;

	if (!n)
		return;
	if (!n->begun) {
		n->begun = true;
		show.nodes_begun++;
	}
	if (is(ev, "step_failed"))
		show.nodes_failed++;
	else if (is(ev, "step_done") && n->left > 0 && --n->left == 0)
		show.nodes_done++;
}

static void follow(struct cli *c, const struct engine_event *ev)
{
	bool starts = is(ev, "step_start"), ends = is(ev, "step_done") || is(ev, "step_failed");

	if (ev->total) {
		show.done = ev->done;
		show.total = ev->total;
	}
	if (starts)
		step_add(c, ev);
	else if (ends)
		step_del(ev);
	else
		set_detail(ev);
	if (starts || ends)
		follow_node(ev);
	if (is(ev, "observe")) {
		show.compared += ev->node != NULL;
		show.phase = ev->node ? "comparing" : "asking the providers";
	}
	show.failed += is(ev, "step_failed");
	show.dirty = true;
}

/* ---- words ---- */

static const char *doing(const char *action)
{
	static const char *const words[][2] = {
		{ "create", "creating" },   { "update", "updating" },
		{ "delete", "deleting" },   { "forget", "forgetting" },
		{ "run", "running" },	    { "configure", "configuring" },
		{ "copy", "copying" },	    { "exec", "asking" },
		{ "replace", "replacing" },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcmp(words[i][0], action) == 0)
			return words[i][1];
	}
	return action;
}

static int64_t ms_left(int64_t now)
{
	if (show.done < GUESS_FROM || show.done >= show.total)
		return 0;
	return (int64_t)((double)(now - show.started) * (double)(show.total - show.done) /
			 (double)show.done);
}

static void summary_words(struct buf *b, int64_t now)
{
	char spent[16], left[16];

	clock_format_duration(now - show.started, spent);
	if (!show.total) {
		buf_addf(b, "%s", show.phase);
		if (show.compared)
			buf_addf(b, ": %zu nodes", show.compared);
		buf_addf(b, ", %s", spent);
		return;
	}
	buf_addf(b, "%zu of %zu done, %zu at work, %zu failed, %s", show.done, show.total,
		 show.at_work, show.failed, spent);
	if (ms_left(now)) {
		clock_format_duration(ms_left(now), left);
		buf_addf(b, ", about %s left", left);
	}
}

/* ---- the live region ---- */

static void row_bar(struct buf *b, int64_t now)
{
	size_t filled = show.total ? BAR_WIDTH * show.done / show.total : 0;
	char text[16];

	clock_format_duration(now - show.started, text);
	buf_adds(b, "[");
	buf_addn(b, '#', filled);
	buf_addn(b, '.', BAR_WIDTH - filled);
	buf_addf(b, "] %zu/%zu  %zu at work  %s", show.done, show.total, show.at_work, text);
	if (show.failed)
		buf_addf(b, "  %zu failed", show.failed);
	if (ms_left(now)) {
		clock_format_duration(ms_left(now), text);
		buf_addf(b, "  about %s left", text);
	}
}

static void count(struct buf *b, size_t n, const char *word)
{
	if (n)
		buf_addf(b, ", %zu %s", n, word);
}

static void row_nodes(struct buf *b)
{
	struct {
		const char *action;
		size_t n;
	} kinds[8] = { 0 };
	size_t busy = 0, n = 0;
	size_t ended = show.nodes_done + show.nodes_failed;

	for (const struct at_work *s = show.first; s; s = s->next) {
		size_t i = 0;

		if (!s->is_node)
			continue;
		while (i < n && strcmp(kinds[i].action, s->action) != 0)
			i++;
		if (i == ARRAY_LEN(kinds))
			continue;
		n += i == n;
		kinds[i].action = s->action;
		kinds[i].n++;
		busy++;
	}
	buf_addf(b, "nodes: %zu done", show.nodes_done);
	for (size_t i = 0; i < n; i++)
		count(b, kinds[i].n, doing(kinds[i].action));
	count(b, show.nodes_begun > ended + busy ? show.nodes_begun - ended - busy : 0,
	      "between steps");
	count(b, show.nodes_failed, "failed");
	count(b, show.n_nodes - show.nodes_begun, "to come");
}

static void row_step(struct buf *b, const struct at_work *s, int64_t now)
{
	char took[16];

	clock_format_duration(now - s->since, took);
	buf_addf(b, "  %-7s %s  %s", took, s->name, doing(s->action));
	if (s->detail[0])
		buf_addf(b, ": %s", s->detail);
}

/* Names and words of others: no control character, one line. */
static void add_row(struct buf *out, const struct buf *raw)
{
	scoped(buf_fini) struct buf plain = { 0 };

	buf_init(&plain, 8192);
	view_plain(&plain, buf_str(raw));
	for (size_t i = 0; i < plain.n; i++) {
		if (plain.p[i] == '\n' || plain.p[i] == '\t')
			plain.p[i] = ' ';
	}
	region_row(&show.region, out, buf_str(&plain));
}

static void rows(struct buf *out, int64_t now)
{
	scoped(buf_fini) struct buf b = { 0 };
	size_t n = 0;

	buf_init(&b, 8192);
	if (!show.total) {
		if (show.phase) {
			summary_words(&b, now);
			add_row(out, &b);
		}
		return;
	}
	row_bar(&b, now);
	add_row(out, &b);
	if (show.n_nodes) {
		buf_clear(&b);
		row_nodes(&b);
		add_row(out, &b);
	}
	for (const struct at_work *s = show.first; s && n < SLOWEST; s = s->next, n++) {
		buf_clear(&b);
		row_step(&b, s, now);
		add_row(out, &b);
	}
}

static bool resized(void)
{
	struct winsize w = { 0 };
	struct region *r = &show.region;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0)
		w = (struct winsize){ 0 };
	size_t columns = w.ws_col ? w.ws_col : 80, height = w.ws_row ? w.ws_row : 24;
	bool differs = columns != r->columns || height != r->height;

	r->columns = columns;
	r->height = height;
	return differs;
}

static void frame(void)
{
	scoped(buf_fini) struct buf out = { 0 }, clean = { 0 };
	int64_t now = clock_now();

	if (now - show.drawn < FRAME_MS && show.drawn)
		return;
	if (!resized() && !show.dirty && now / 1000 == show.drawn_second)
		return;
	show.drawn = now;
	show.drawn_second = now / 1000;
	show.dirty = false;
	show.frames++;
	buf_init(&out, SIZE_MAX);
	buf_init(&clean, SIZE_MAX);
	region_erase(&show.region, &out);
	buf_addstr(&out, buf_str(&show.above));
	buf_clear(&show.above);
	rows(&out, now);
	scrub(&clean, buf_str(&out));
	out_write(STDERR_FILENO, buf_str(&clean));
}

/* ---- lines ---- */

static bool is_small(const struct cli *c)
{
	return show.total <= SMALL_RUN || c->g.verbose;
}

/* The same from many nodes is told once here; the end folds their names. */
static bool is_new_cause(struct cli *c, const struct engine_event *ev)
{
	scoped(buf_fini) struct buf key = { 0 };
	struct str endpoint = ev->data ? value_get_str(ev->data, "endpoint", NULL) : STR_NONE;

	if (c->g.verbose)
		return true;
	buf_init(&key, 4096);
	buf_addf(&key, "%s ", ev->type);
	if (endpoint.n)
		buf_addstr(&key, endpoint);
	else
		view_cause(&key, ev->text ? ev->text : "", step_name(ev), ev->addr);
	if (map_has(&show.causes, buf_str(&key)) || show.causes.n >= CAUSES_TOLD) {
		show.untold++;
		return false;
	}
	map_put(&show.causes, buf_str(&key), c);
	return true;
}

static bool worth_a_line(struct cli *c, const struct engine_event *ev)
{
	if (is(ev, "step_done"))
		return c->g.verbose || (!show.live && is_small(c));
	if (is(ev, "wave"))
		return true;
	if (is(ev, "step_failed") || is(ev, "retry") || is(ev, "waiting") || is(ev, "rate"))
		return is_new_cause(c, ev);
	if (is(ev, "settled"))
		return is_small(c) || is_new_cause(c, ev);
	return c->g.verbose && ev->text && !is(ev, "step_start");
}

static void tell(const struct engine_event *ev)
{
	scoped(buf_fini) struct buf b = { 0 };
	char d[16];

	buf_init(&b, 8192);
	clock_format_duration(ev->elapsed_ms, d);
	if (ev->total)
		buf_addf(&b, "[%zu/%zu] ", ev->done, ev->total);
	buf_adds(&b, step_name(ev));
	if (is(ev, "step_done"))
		buf_addf(&b, ": %s (%s)", ev->text ? ev->text : ev->action, d);
	else if (is(ev, "step_failed"))
		buf_addf(&b, ": %s failed: %s", ev->action ? ev->action : "step",
			 ev->err    ? ev->err->msg
			 : ev->text ? ev->text
				    : "");
	else if (ev->text)
		buf_addf(&b, "%s%s", step_name(ev)[0] ? ": " : "", ev->text);
	line(b.p);
}

static void tell_slowest(int64_t now)
{
	size_t n = 0;

	for (const struct at_work *s = show.first; s && n < SLOWEST; s = s->next, n++) {
		scoped(buf_fini) struct buf b = { 0 };
		char took[16];

		buf_init(&b, 1024);
		clock_format_duration(now - s->since, took);
		buf_addf(&b, "still %s %s (%s)%s%s", doing(s->action), s->name, took,
			 s->detail[0] ? ": " : "", s->detail);
		line(b.p);
	}
}

static void summary(int64_t now)
{
	scoped(buf_fini) struct buf b = { 0 };

	show.summed = now;
	if (!show.total && !show.phase)
		return;
	buf_init(&b, 1024);
	summary_words(&b, now);
	if (show.untold)
		buf_addf(&b, "; %zu more of the failures and delays told above", show.untold);
	show.untold = 0;
	line(b.p);
}

/* ---- the heartbeat ---- */

static void beat_event(struct cli *c, int64_t now)
{
	scoped(arena_freep) struct arena *a = arena_new("heartbeat");
	struct value *v = value_map(a), *slow = value_list(a);
	size_t n = 0;

	if (!events_wanted())
		return;
	value_set(v, "done", value_int(a, (int64_t)show.done));
	value_set(v, "total", value_int(a, (int64_t)show.total));
	value_set(v, "at_work", value_int(a, (int64_t)show.at_work));
	value_set(v, "failed", value_int(a, (int64_t)show.failed));
	if (ms_left(now))
		value_set(v, "left_ms", value_int(a, ms_left(now)));
	for (const struct at_work *s = show.first; s && n < SLOWEST; s = s->next, n++) {
		struct value *x = value_map(a);

		value_set(x, "name", value_cstr(a, s->name));
		value_set(x, "action", value_cstr(a, s->action));
		value_set(x, "took_ms", value_int(a, now - s->since));
		if (s->detail[0])
			value_set(x, "text", value_cstr(a, s->detail));
		value_add(a, slow, x);
	}
	value_set(v, "slowest", slow);
	events_emit(c, "progress", v);
}

static void beat(struct cli *c)
{
	int64_t now = clock_now();
	bool due = now - show.beaten >= show.heartbeat_ms;

	if (due) {
		show.beaten = now;
		beat_event(c, now);
	}
	if (show.live)
		return;
	if (due || (!is_small(c) && !show.own_work && now - show.summed >= SUMMARY_MS))
		summary(now);
	if (due)
		tell_slowest(now);
}

static void watch(void *arg)
{
	struct cli *c = arg;
	struct err ended = { 0 };

	while (task_sleep(FRAME_MS, &ended) == 0) {
		beat(c);
		if (show.live)
			frame();
	}
}

/* ---- events of the engine ---- */

/* A record that can't be written is told once and does not stop the run. */
static void record_run(struct cli *c, const char *run)
{
	struct err e = { 0 };

	if (run && events_open_run(c, run, &e) < 0)
		log_warn("the run is not recorded in .muster/runs: %s", e.msg);
}

static void emit(struct cli *c, const struct engine_event *ev)
{
	bool counted = ev->total > 0 || is(ev, "step_start");

	record_run(c, ev->run);
	if (!events_wanted())
		return;
	scoped(arena_freep) struct arena *a = arena_new("progress event");
	struct value *v = ev->data && ev->data->kind == V_MAP ? value_copy(a, ev->data)
							      : value_map(a);

	value_set_text(v, "run", ev->run);
	value_set_text(v, "address", ev->addr);
	value_set_text(v, "node", ev->node);
	value_set_text(v, "action", ev->action);
	value_set_text(v, "text", ev->text);
	if (ev->err)
		value_set(v, "error", view_error_value(a, ev->err));
	if (counted) {
		value_set(v, "done", value_int(a, (int64_t)ev->done));
		value_set(v, "total", value_int(a, (int64_t)ev->total));
	}
	if (is(ev, "step_done") || is(ev, "step_failed"))
		value_set(v, "took_ms", value_int(a, ev->elapsed_ms));
	events_emit(c, ev->type, v);
}

void progress_event(void *arg, const struct engine_event *ev)
{
	struct cli *c = arg;

	emit(c, ev);
	if (!show.active)
		return;
	follow(c, ev);
	if (worth_a_line(c, ev))
		tell(ev);
	if (show.live)
		frame();
}

/* ---- a command's own work ---- */

void progress_nodes(struct cli *c unused_arg, size_t total)
{
	show.own_work = true;
	show.total = total;
	show.dirty = true;
}

static void own(struct cli *c, const char *type, const char *node, const char *action)
{
	struct engine_event ev = { .type = type, .addr = node, .node = node, .action = action };

	if (!show.active && !events_wanted())
		return;
	follow(c, &ev);
	if (show.live)
		frame();
}

void progress_node_start(struct cli *c, const char *node, const char *action)
{
	own(c, "step_start", node, action);
}

void progress_node_end(struct cli *c, const char *node, const char *action, bool failed)
{
	show.done++;
	own(c, failed ? "step_failed" : "step_done", node, action);
}

/* ---- begin and end ---- */

void progress_begin(struct cli *c)
{
	int64_t now = clock_now();

	show.active = !c->g.quiet;
	/* lines of JSON on the same terminal would run into the region */
	show.live = show.active && c->err_tty && !(c->g.json && c->out_tty);
	show.started = show.summed = show.beaten = now;
	show.heartbeat_ms = c->g.heartbeat_ms ? c->g.heartbeat_ms : HEARTBEAT_MS;
	show.drawn = show.drawn_second = 0;
	show.done = show.total = show.failed = show.compared = show.untold = 0;
	show.n_nodes = show.nodes_begun = show.nodes_done = show.nodes_failed = 0;
	show.first = show.last = NULL;
	show.at_work = 0;
	show.phase = NULL;
	show.own_work = false;
	show.region = (struct region){ 0 };
	map_init(&show.by_key, c->a);
	map_init(&show.nodes, c->a);
	map_init(&show.causes, c->a);
	if (show.live) {
		buf_init(&show.above, SIZE_MAX);
		out_err_to(keep_above);
		show.phase = "starting"; /* on the screen at once: large fleets take their time */
		show.dirty = true;
		frame();
	}
	group_init(&show.group);
	task_spawn(&show.group, "progress", watch, c);
}

void progress_end(struct cli *c unused_arg)
{
	scoped(buf_fini) struct buf out = { 0 };
	struct err ignored = { 0 };

	group_cancel(&show.group);
	if (group_wait(&show.group, &ignored) < 0)
		log_debug("the run ends while its progress is shown");
	if (show.live) {
		out_err_to(NULL);
		buf_init(&out, SIZE_MAX);
		resized();
		region_erase(&show.region, &out);
		buf_addstr(&out, buf_str(&show.above));
		out_write(STDERR_FILENO, buf_str(&out));
		buf_fini(&show.above);
	}
	log_debug("progress: %zu frames in %lld ms", show.frames,
		  (long long)(clock_now() - show.started));
	show.active = show.live = false;
}
