/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/view.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/events.h"
#include "cli/out.h"
#include "cli/width.h"

#define FAULTS_SHOWN 100 /* kinds of error; as many as a list of errors holds */

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

/* Marks that turn the direction of writing show a text as another than it is. */
static bool turns(const char *p, size_t len)
{
	unsigned char last = (unsigned char)(len == 3 ? p[2] : 0);

	return len == 3 && (memcmp(p, "\xE2\x80", 2) == 0   ? last >= 0xAA && last <= 0xAE
			    : memcmp(p, "\xE2\x81", 2) == 0 ? last >= 0xA6 && last <= 0xA9
							    : false);
}

/* Length of the UTF-8 sequence at p, 0 when it is broken or a C1 control. Overlong forms and
 * surrogates are for the readers of the input to refuse; here they do no harm. */
static size_t sequence(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	size_t len = p[0] < 0xC2 ? 0 : p[0] < 0xE0 ? 2 : p[0] < 0xF0 ? 3 : p[0] < 0xF5 ? 4 : 0;

	if (len == 0 || len > n || (p[0] == 0xC2 && p[1] < 0xA0))
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	}
	return len;
}

void view_plain(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char ch = (unsigned char)text.p[i];
		size_t len = ch < 0x80 ? 1 : sequence(text.p + i, text.n - i);

		if (len == 0 || ch == 0x7F || (ch < 0x20 && ch != '\n' && ch != '\t') ||
		    turns(text.p + i, len))
			buf_addc(b, '?');
		else
			buf_addstr(b, str_sub(text, i, i + len));
		i += len ? len - 1 : 0;
	}
}

/* Everything that leaves the program is scrubbed: nothing that is secret. */
void view_out(struct cli *c unused_arg, const struct buf *b)
{
	scoped(buf_fini) struct buf clean = { 0 };

	buf_init(&clean, SIZE_MAX);
	scrub(&clean, buf_str(b));
	out_write(STDOUT_FILENO, buf_str(&clean));
}

/* What a printf-like function got, in a new buffer. */
#define FORMATTED(b, fmt)                     \
	do {                                  \
		va_list ap;                   \
		buf_init(b, BUF_MAX_DEFAULT); \
		va_start(ap, fmt);            \
		buf_addv(b, fmt, ap);         \
		va_end(ap);                   \
	} while (0)

void view_outf(struct cli *c, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };

	FORMATTED(&b, fmt);
	view_out(c, &b);
}

void view_notef(struct cli *c, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (c->g.quiet)
		return;
	FORMATTED(&b, fmt);
	out_err(buf_str(&b));
}

void view_donef(struct cli *c, const char *fmt, ...)
{
	scoped(buf_fini) struct buf b = { 0 };

	FORMATTED(&b, fmt);
	if (c->g.json) {
		struct value *v = value_map(c->a);

		value_set(v, "message", value_str(c->a, buf_str(&b)));
		view_json(c, v);
		return;
	}
	buf_addc(&b, '\n');
	view_out(c, &b);
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
		/* not in the middle of a character */
		while (from > 0 && ((unsigned char)line.p[from] & 0xC0) == 0x80)
			from--;
		while (to < line.n && ((unsigned char)line.p[to] & 0xC0) == 0x80)
			to++;
		*col -= (int)from;
	}
	for (size_t i = from; i < to; i++)
		buf_addc(b, (unsigned char)line.p[i] < 0x20 || line.p[i] == 0x7F ? ' ' : line.p[i]);
}

/* The columns that the bytes before the col-th take. */
static size_t columns_before(struct str line, int col)
{
	scoped(buf_fini) struct buf plain = { 0 };

	buf_init(&plain, BUF_MAX_DEFAULT);
	view_plain(&plain, str_sub(line, 0, (size_t)(col > 1 ? col - 1 : 0)));
	return text_width(buf_str(&plain));
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
	buf_addf(b, "  %7d | ", e->pos.line);
	view_plain(b, buf_str(&text));
	buf_addf(b, "\n          | ");
	buf_addn(b, ' ', columns_before(buf_str(&text), col));
	buf_addf(b, "%s^%s\n", view_on(color, VIEW_RED), view_off(color));
}

/* What others said (a host, a provider, a file) may hold anything: it cannot drive the terminal. */
static void error_row(struct buf *b, const char *label, const char *text)
{
	if (!text[0])
		return;
	buf_addf(b, "  %-9s ", label);
	view_plain(b, str_of(text));
	buf_addc(b, '\n');
}

static void error_text(struct buf *b, const struct err *e, const char *node, bool color)
{
	buf_addf(b, "%serror:%s ", view_on(color, VIEW_RED), view_off(color));
	view_plain(b, str_of(e->msg));
	buf_addc(b, '\n');
	if (e->pos.file && e->pos.line > 0)
		error_source(b, e, color);
	else if (e->pos.file)
		error_row(b, "spec", e->pos.file);
	error_row(b, "resource", e->addr);
	error_row(b, "node", node);
	error_row(b, "request", e->request);
	error_row(b, "hint", e->hint);
}

void view_error_text(struct buf *b, const struct err *e, bool color)
{
	error_text(b, e, e->node, color);
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

/* To the events, and kept for view_diagnostics. */
static void note_diagnostic(struct cli *c, struct value *v)
{
	events_emit(c, "diagnostic", v);
	if (!c->diagnostics)
		c->diagnostics = value_list(c->a);
	value_add(c->a, c->diagnostics, v);
}

void view_diagnostics(struct cli *c)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct value *doc;

	if (!c->g.json || !c->diagnostics || out_written())
		return;
	doc = value_map(c->a);
	value_set(doc, "format_version", value_cstr(c->a, "1.0"));
	value_set(doc, "diagnostics", c->diagnostics);
	buf_init(&b, SIZE_MAX);
	json_write(&b, doc, 0); /* on one line: where one event a line is expected, it is one */
	buf_addc(&b, '\n');
	view_out(c, &b);
}

void view_error_of(struct cli *c, const struct err *e, const char *node, struct str more)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct value *v = view_error_value(c->a, e);

	buf_init(&b, BUF_MAX_DEFAULT);
	error_text(&b, e, node, c->color_err);
	buf_addstr(&b, more);
	out_err(buf_str(&b));
	if (node[0])
		value_set(v, "node", value_cstr(c->a, node));
	note_diagnostic(c, v);
}

void view_error(struct cli *c, const struct err *e)
{
	view_error_of(c, e, e->node, STR_NONE);
}

static bool is_word_char(char ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') ||
	       ch == '-' || ch == '_';
}

/* gpu-1 is no part of gpu-17. */
static bool stands_here(const char *at, const char *msg, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return n && strncmp(at, name, n) == 0 && !is_word_char(at[n]) &&
	       (at == msg || !is_word_char(at[-1]));
}

void view_cause(struct buf *b, const char *msg, const char *node, const char *addr)
{
	for (const char *p = msg; *p; p++) {
		const char *name = stands_here(p, msg, node)   ? node
				   : stands_here(p, msg, addr) ? addr
							       : NULL;

		if (name) {
			buf_adds(b, "NODE");
			p += strlen(name) - 1;
		} else {
			buf_addc(b, *p);
		}
	}
}

/* Errors that differ only in the node. */
struct fault {
	const struct err *first;
	VEC(const char *) nodes;
};

static void show_fault(struct cli *c, const struct fault *f)
{
	scoped(buf_fini) struct buf msg = { 0 };
	struct err e = *f->first;

	if (f->nodes.n < 2) {
		view_error(c, &e);
		return;
	}
	buf_init(&msg, BUF_MAX_DEFAULT);
	view_cause(&msg, e.msg, e.node, e.addr);
	snprintf(e.msg, sizeof e.msg, "%s", msg.p);
	e.addr[0] = e.request[0] = '\0';
	view_error_of(c, &e, view_fold(c->a, f->nodes.v, f->nodes.n), STR_NONE);
}

/* Equal keys: shown once. What no node has is told in full, each. */
static struct str fault_key(struct buf *b, const struct err *e, size_t i)
{
	buf_clear(b);
	buf_addf(b, "%d ", (int)e->kind);
	if (!e->node[0])
		buf_addf(b, "%zu ", i);
	view_cause(b, e->msg, e->node, e->addr);
	buf_addf(b, "\n%s", e->hint);
	return buf_str(b);
}

static void fold(struct cli *c, const struct err *const *v, size_t n)
{
	scoped(buf_fini) struct buf key = { 0 };
	struct map by_cause;
	VEC(struct fault *) faults = { 0 };

	map_init(&by_cause, c->a);
	buf_init(&key, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < n; i++) {
		struct str k = fault_key(&key, v[i], i);
		struct fault *f = map_get(&by_cause, k);

		if (!f) {
			f = arena_obj(c->a, struct fault);
			f->first = v[i];
			map_put(&by_cause, k, f);
			VEC_ADD(c->a, &faults) = f;
		}
		VEC_ADD(c->a, &f->nodes) = v[i]->node;
	}
	for (size_t i = 0; i < faults.n && i < FAULTS_SHOWN; i++)
		show_fault(c, faults.v[i]);
	if (faults.n > FAULTS_SHOWN)
		view_notef(c, "... and %zu errors of other kinds\n", faults.n - FAULTS_SHOWN);
}

void view_errors(struct cli *c, const struct err_list *l)
{
	const struct err **v = arena_array(c->a, const struct err *, l->n + 1);

	for (size_t i = 0; i < l->n; i++)
		v[i] = &l->v[i];
	fold(c, v, l->n);
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
