/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One event a line, as JSON, to up to three places: stdout (--json), a file (--json-into), and the
 * run's own record. The same event goes to all, so that a pipeline that reads stdout and a person
 * who looks at the record later see the same thing.
 */
#include <fcntl.h>
#include <unistd.h>

#include "cli/view.h"

#define EARLY_MAX ((size_t)64 << 20)

static struct {
	int into, run;
	bool to_stdout, opened;
	struct buf early; /* what came before the run had a name: the plan */
} sinks = { .into = -1, .run = -1 };

static int open_sink(const char *path, int *fd, struct err *e)
{
	*fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return *fd < 0 ? err_sys(e, "opening %s", path) : 0;
}

int events_open(struct cli *c, struct err *e)
{
	sinks.opened = true;
	sinks.to_stdout = c->g.json;
	buf_init(&sinks.early, EARLY_MAX);
	if (c->g.json_into && open_sink(c->g.json_into, &sinks.into, e) < 0)
		return -1;
	struct value *v = value_map(c->a);

	value_set(v, "muster", value_cstr(c->a, MUSTER_VERSION));
	value_set(v, "format_version", value_cstr(c->a, "1.0"));
	events_emit(c, "version", v);
	return 0;
}

int events_open_run(struct cli *c, const char *run, struct err *e)
{
	char *dir = fs_join(c->a, c->state_dir, "runs");

	if (sinks.run >= 0)
		return 0;
	if (fs_mkdirs(dir, 0700, e) < 0 ||
	    open_sink(arena_printf(c->a, "%s/%s.ndjson", dir, run), &sinks.run, e) < 0)
		return -1;
	view_write(sinks.run, buf_str(&sinks.early));
	buf_fini(&sinks.early);
	return 0;
}

void events_emit(struct cli *c unused_arg, const char *type, const struct value *fields)
{
	if (!sinks.opened)
		return;
	scoped(arena_freep) struct arena *a = arena_new("event");
	scoped(buf_fini) struct buf raw = { 0 }, line = { 0 };
	char now[CLOCK_ISO_LEN];
	struct value *v = value_map(a);

	clock_iso(clock_wall(), now);
	value_set(v, "@timestamp", value_cstr(a, now));
	value_set(v, "type", value_cstr(a, type));
	for (size_t i = 0; fields && i < fields->map.n; i++)
		value_sets(v, fields->map.e[i].key, fields->map.e[i].val);
	buf_init(&raw, SIZE_MAX);
	buf_init(&line, SIZE_MAX);
	json_write(&raw, v, 0);
	scrub(&line, buf_str(&raw));
	buf_addc(&line, '\n');
	if (sinks.to_stdout)
		view_write(STDOUT_FILENO, buf_str(&line));
	if (sinks.into >= 0)
		view_write(sinks.into, buf_str(&line));
	if (sinks.run >= 0)
		view_write(sinks.run, buf_str(&line));
	else
		buf_addstr(&sinks.early, buf_str(&line));
}

void events_close(struct cli *c unused_arg)
{
	close_fd(&sinks.into);
	close_fd(&sinks.run);
	buf_fini(&sinks.early);
	sinks.opened = false;
}
