/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SUMMARY_EVERY_MS 30000
#define REDRAW_EVERY_MS	 100
#define SLOWEST_SHOWN	 4
#define STEPS_MAX	 4096 /* steps at work that are remembered for display */

struct step {
	char name[96];
	const char *action; /* static words of the engine */
	int64_t since;
};

static struct {
	bool live, active;
	int lines; /* of the live region now on the screen */
	int64_t started, drawn, summed;
	size_t done, total, failed;
	struct step *steps;
	size_t n;
} show;

void progress_begin(struct cli *c)
{
	show.active = !c->g.quiet;
	show.live = c->err_tty;
	show.started = show.summed = clock_now();
	show.steps = arena_array(c->a, struct step, STEPS_MAX);
	show.n = show.done = show.total = show.failed = 0;
	show.lines = 0;
}

static const char *step_name(const struct engine_event *ev)
{
	return ev->node ? ev->node : ev->addr ? ev->addr : "";
}

static void step_add(const struct engine_event *ev)
{
	if (show.n == STEPS_MAX)
		return;
	struct step *s = &show.steps[show.n++];

	snprintf(s->name, sizeof s->name, "%s", step_name(ev));
	s->action = ev->action ? ev->action : "";
	s->since = clock_now();
}

static void step_del(const struct engine_event *ev)
{
	for (size_t i = 0; i < show.n; i++) {
		if (strncmp(show.steps[i].name, step_name(ev), sizeof show.steps[i].name - 1) ==
			    0 &&
		    strcmp(show.steps[i].action, ev->action ? ev->action : "") == 0) {
			memmove(&show.steps[i], &show.steps[i + 1],
				(show.n - i - 1) * sizeof show.steps[0]);
			show.n--;
			return;
		}
	}
}

static void erase(struct buf *b)
{
	for (int i = 0; i < show.lines; i++)
		buf_adds(b, "\033[1A\033[2K");
	show.lines = 0;
}

static size_t columns(void)
{
	struct winsize w;

	return ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 ? w.ws_col : 80;
}

/* A row that wrapped would take more lines than erase goes up. */
static void region_row(struct buf *b, struct str row)
{
	size_t n = columns() - 1;

	while (n > 0 && n < row.n && ((unsigned char)row.p[n] & 0xC0) == 0x80)
		n--;
	buf_addstr(b, str_sub(row, 0, n));
	buf_addc(b, '\n');
	show.lines++;
}

static void bar(struct buf *out)
{
	scoped(buf_fini) struct buf b = { 0 };
	size_t width = 24, filled = show.total ? width * show.done / show.total : 0;
	char spent[16], left[16];
	int64_t ms = clock_now() - show.started;

	buf_init(&b, 4096);
	clock_format_duration(ms, spent);
	buf_adds(&b, "[");
	buf_addn(&b, '#', filled);
	buf_addn(&b, '.', width - filled);
	buf_addf(&b, "] %zu/%zu  %zu at work  %s", show.done, show.total, show.n, spent);
	if (show.failed)
		buf_addf(&b, "  %zu failed", show.failed);
	if (show.done > 0 && show.done < show.total) {
		clock_format_duration(ms * (int64_t)(show.total - show.done) / (int64_t)show.done,
				      left);
		buf_addf(&b, "  about %s left", left);
	}
	region_row(out, buf_str(&b));
}

/* The list is in starting order, so the slowest are in front. */
static void slowest(struct buf *b)
{
	for (size_t i = 0; i < show.n && i < SLOWEST_SHOWN; i++) {
		scoped(buf_fini) struct buf row = { 0 };
		char d[16];

		buf_init(&row, 4096);
		clock_format_duration(clock_now() - show.steps[i].since, d);
		buf_addf(&row, "  %-7s %s %s", d, show.steps[i].name, show.steps[i].action);
		region_row(b, buf_str(&row));
	}
}

static void redraw(bool force)
{
	scoped(buf_fini) struct buf b = { 0 };
	int64_t now = clock_now();

	if (!show.live || !show.active || (!force && now - show.drawn < REDRAW_EVERY_MS))
		return;
	show.drawn = now;
	buf_init(&b, 65536);
	erase(&b);
	if (show.total) {
		bar(&b);
		slowest(&b);
	}
	fwrite(b.p, 1, b.n, stderr);
	fflush(stderr);
}

static void line(const char *text)
{
	scoped(buf_fini) struct buf b = { 0 }, clean = { 0 };

	if (!show.active)
		return;
	buf_init(&b, 65536);
	buf_init(&clean, SIZE_MAX);
	if (show.live)
		erase(&b);
	view_plain(&b, str_of(text)); /* what hosts and clouds said may be in it */
	buf_addc(&b, '\n');
	scrub(&clean, buf_str(&b));
	fwrite(clean.p, 1, clean.n, stderr);
	fflush(stderr);
}

static void summary_if_due(void)
{
	int64_t now = clock_now();
	char d[16];
	scoped(buf_fini) struct buf b = { 0 };

	if (show.live || now - show.summed < SUMMARY_EVERY_MS)
		return;
	show.summed = now;
	clock_format_duration(now - show.started, d);
	buf_init(&b, 1024);
	buf_addf(&b, "%zu of %zu done, %zu at work, %zu failed, %s", show.done, show.total, show.n,
		 show.failed, d);
	line(b.p);
}

static bool is(const struct engine_event *ev, const char *type)
{
	return strcmp(ev->type, type) == 0;
}

/* What is worth a line of its own in a log; the live region shows the rest. */
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

/* A record that can't be written is told once and does not stop the run. */
static void record_run(struct cli *c, const char *run)
{
	static bool told;
	struct err e = { 0 };

	if (!run || told || events_open_run(c, run, &e) == 0)
		return;
	told = true;
	log_warn("the run is not recorded in .muster/runs: %s", e.msg);
}

static void emit(struct cli *c, const struct engine_event *ev)
{
	scoped(arena_freep) struct arena *a = arena_new("progress event");
	struct value *v = ev->data && ev->data->kind == V_MAP ? value_copy(a, ev->data)
							      : value_map(a);

	if (ev->run)
		value_set(v, "run", value_cstr(a, ev->run));
	if (ev->addr)
		value_set(v, "address", value_cstr(a, ev->addr));
	if (ev->node)
		value_set(v, "node", value_cstr(a, ev->node));
	if (ev->action)
		value_set(v, "action", value_cstr(a, ev->action));
	if (ev->text)
		value_set(v, "text", value_cstr(a, ev->text));
	if (ev->err)
		value_set(v, "error", view_error_value(a, ev->err));
	value_set(v, "elapsed_ms", value_int(a, ev->elapsed_ms));
	record_run(c, ev->run);
	events_emit(c, ev->type, v);
}

static void follow(const struct engine_event *ev)
{
	if (ev->total) {
		show.done = ev->done;
		show.total = ev->total;
	}
	if (is(ev, "step_start"))
		step_add(ev);
	else if (is(ev, "step_done") || is(ev, "step_failed"))
		step_del(ev);
	show.failed += is(ev, "step_failed");
}

void progress_event(void *arg, const struct engine_event *ev)
{
	struct cli *c = arg;

	emit(c, ev);
	follow(ev);
	if (is(ev, "step_done") || is(ev, "step_failed") || is(ev, "settled") || is(ev, "retry") ||
	    is(ev, "waiting"))
		tell(ev);
	else if (c->g.verbose && ev->text)
		tell(ev);
	summary_if_due();
	redraw(is(ev, "step_done"));
}

void progress_end(struct cli *c unused_arg)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 65536);
	erase(&b);
	fwrite(b.p, 1, b.n, stderr);
	fflush(stderr);
	show.active = false;
}
