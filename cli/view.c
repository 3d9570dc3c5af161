/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

const char *view_on(bool color, enum view_color c)
{
	static const char *const codes[] = {
		[VIEW_PLAIN] = "",	    [VIEW_RED] = "\033[31m",  [VIEW_GREEN] = "\033[32m",
		[VIEW_YELLOW] = "\033[33m", [VIEW_BLUE] = "\033[36m", [VIEW_BOLD] = "\033[1m",
		[VIEW_DIM] = "\033[2m",
	};

	return color ? codes[c] : "";
}

const char *view_off(bool color)
{
	return color ? "\033[0m" : "";
}

/* Everything that leaves the program passes here: nothing that is secret, nothing lost to a short
 * write. */
static void write_scrubbed(int fd, struct str text)
{
	scoped(buf_fini) struct buf clean = { 0 };
	size_t done = 0;

	buf_init(&clean, SIZE_MAX);
	scrub(&clean, text);
	while (done < clean.n) {
		ssize_t n = write(fd, clean.p + done, clean.n - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return;
		done += (size_t)n;
	}
}

void view_out(struct cli *c unused_arg, const struct buf *b)
{
	write_scrubbed(STDOUT_FILENO, buf_str(b));
}

void view_outf(struct cli *c, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };
	va_list ap;

	buf_init(&b, BUF_MAX_DEFAULT);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	view_out(c, &b);
}

void view_notef(struct cli *c, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };
	va_list ap;

	if (c->g.quiet)
		return;
	buf_init(&b, BUF_MAX_DEFAULT);
	va_start(ap, fmt);
	buf_addv(&b, fmt, ap);
	va_end(ap);
	write_scrubbed(STDERR_FILENO, buf_str(&b));
}

void view_json(struct cli *c, const struct value *doc)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, SIZE_MAX);
	json_write(&b, doc, JSON_PRETTY);
	view_out(c, &b);
}

/* ---- errors ---- */

/* The n-th line of a file, without its end; empty when it cannot be read any more. */
static struct str source_line(struct arena *a, const char *file, int line)
{
	struct err ignored = { 0 };
	struct str text, part = STR_NONE;

	if (fs_read(a, file, YAML_MAX_BYTES, &text, &ignored) < 0)
		return STR_NONE;
	for (int i = 0; i < line; i++) {
		if (!str_next_line(&text, &part))
			return STR_NONE;
	}
	return part;
}

/* Tabs become one blank each, so that the caret stands under the right place; long lines are cut
 * around it. */
static void source_excerpt(struct buf *b, struct str line, int *col)
{
	size_t from = 0, to = line.n;

	if (line.n > 100) {
		from = *col > 60 ? (size_t)*col - 60 : 0;
		to = from + 100 < line.n ? from + 100 : line.n;
		*col -= (int)from;
	}
	for (size_t i = from; i < to; i++)
		buf_addc(b, (unsigned char)line.p[i] < 0x20 ? ' ' : line.p[i]);
}

static size_t columns_before(struct str line, int col)
{
	size_t shown = 0;

	for (size_t i = 0; i + 1 < (size_t)col && i < line.n; i++)
		/* UTF-8 continuation bytes take no column */
		shown += ((unsigned char)line.p[i] & 0xC0) != 0x80;
	return shown;
}

static void error_source(struct buf *b, const struct err *e, bool color)
{
	scoped(arena_freep) struct arena *a = arena_new("error source");
	scoped(buf_fini) struct buf text = { 0 };
	int col = e->pos.col;
	struct str line = source_line(a, e->pos.file, e->pos.line);

	buf_addf(b, "  spec      %s:%d:%d\n", e->pos.file, e->pos.line, e->pos.col);
	if (!line.n)
		return;
	buf_init(&text, 4096);
	source_excerpt(&text, line, &col);
	buf_addf(b, "  %7d | %s\n", e->pos.line, text.p);
	buf_addf(b, "          | ");
	buf_addn(b, ' ', columns_before(buf_str(&text), col));
	buf_addf(b, "%s^%s\n", view_on(color, VIEW_RED), view_off(color));
}

void view_error_text(struct buf *b, const struct err *e, bool color)
{
	buf_addf(b, "%serror:%s %s\n", view_on(color, VIEW_RED), view_off(color), e->msg);
	if (e->pos.file && e->pos.line > 0)
		error_source(b, e, color);
	else if (e->pos.file)
		buf_addf(b, "  spec      %s\n", e->pos.file);
	if (e->addr[0])
		buf_addf(b, "  resource  %s\n", e->addr);
	if (e->node[0])
		buf_addf(b, "  node      %s\n", e->node);
	if (e->request[0])
		buf_addf(b, "  request   %s\n", e->request);
	if (e->hint[0])
		buf_addf(b, "  hint      %s\n", e->hint);
}

struct value *view_error_value(struct arena *a, const struct err *e)
{
	struct value *v = value_map(a);

	value_set(v, "severity", value_cstr(a, "error"));
	value_set(v, "kind", value_cstr(a, err_kind_name(e->kind)));
	value_set(v, "message", value_cstr(a, e->msg));
	if (e->pos.file) {
		value_set(v, "file", value_cstr(a, e->pos.file));
		value_set(v, "line", value_int(a, e->pos.line));
		value_set(v, "column", value_int(a, e->pos.col));
	}
	if (e->addr[0])
		value_set(v, "address", value_cstr(a, e->addr));
	if (e->node[0])
		value_set(v, "node", value_cstr(a, e->node));
	if (e->request[0])
		value_set(v, "request", value_cstr(a, e->request));
	if (e->hint[0])
		value_set(v, "hint", value_cstr(a, e->hint));
	return v;
}

void view_error(struct cli *c, const struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	view_error_text(&b, e, c->color_err);
	write_scrubbed(STDERR_FILENO, buf_str(&b));
	events_emit(c, "diagnostic", view_error_value(c->a, e));
}

static bool same_fault(const struct err *x, const struct err *y)
{
	return x->node[0] && y->node[0] && x->kind == y->kind && strcmp(x->msg, y->msg) == 0 &&
	       strcmp(x->hint, y->hint) == 0;
}

/* One message for all the nodes that fail in the same way; `shown` marks what has been told. */
static void error_folded(struct cli *c, const struct err_list *l, size_t first, bool *shown)
{
	struct err e = l->v[first];
	VEC(const char *) nodes = { 0 };

	for (size_t i = first; i < l->n; i++) {
		if (i != first && (shown[i] || !same_fault(&l->v[first], &l->v[i])))
			continue;
		shown[i] = true;
		VEC_ADD(c->a, &nodes) = l->v[i].node;
	}
	if (nodes.n > 1) {
		snprintf(e.node, sizeof e.node, "%s", view_fold(c->a, nodes.v, nodes.n));
		e.addr[0] = '\0';
	}
	view_error(c, &e);
}

void view_errors(struct cli *c, const struct err_list *l)
{
	bool *shown = arena_array(c->a, bool, l->n + 1);

	for (size_t i = 0; i < l->n; i++) {
		if (!shown[i])
			error_folded(c, l, i, shown);
	}
	if (l->n + l->dropped > 1)
		view_notef(c, "%zu errors%s\n", l->n + l->dropped,
			   l->dropped ? " (only the first are shown)" : "");
}

/* ---- tables and words ---- */

void table_row(struct arena *a, struct table *t, ...)
{
	va_list ap;
	const char *cell;
	size_t n = 0;

	va_start(ap, t);
	while ((cell = va_arg(ap, const char *))) {
		VEC_ADD(a, &t->cells) = cell;
		n++;
	}
	va_end(ap);
	if (!t->columns)
		t->columns = n;
	if (t->columns != n)
		bug("table row of %zu cells in a table of %zu", n, t->columns);
}

void table_text(struct buf *b, const struct table *t)
{
	size_t width[16] = { 0 };

	for (size_t i = 0; i < t->cells.n; i++) {
		size_t n = strlen(t->cells.v[i]), col = i % t->columns;

		if (n > width[col])
			width[col] = n;
	}
	for (size_t i = 0; i < t->cells.n; i++) {
		size_t col = i % t->columns;

		buf_adds(b, t->cells.v[i]);
		if (col + 1 < t->columns)
			buf_addn(b, ' ', width[col] - strlen(t->cells.v[i]) + 2);
		else
			buf_addc(b, '\n');
	}
}

char *view_fold(struct arena *a, const char *const *names, size_t n)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, BUF_MAX_DEFAULT);
	hostlist_fold(&b, a, names, n);
	return buf_dup(&b, a);
}

char *view_ago(struct arena *a, int64_t wall_ms)
{
	char d[16];

	if (!wall_ms)
		return arena_strdup(a, "-");
	clock_format_duration(clock_wall() - wall_ms, d);
	return arena_printf(a, "%s ago", d);
}
