/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/view.h - how things look: text and JSON renderers of the same messages. Results go to stdout,
 * errors to stderr; every byte passes the scrubber.
 */
#ifndef MUSTER_CLI_VIEW_H
#define MUSTER_CLI_VIEW_H

#include "cli/cli.h"

enum view_color { VIEW_PLAIN, VIEW_RED, VIEW_GREEN, VIEW_YELLOW, VIEW_BLUE, VIEW_BOLD, VIEW_DIM };

const char *view_on(bool color, enum view_color c);
const char *view_off(bool color);

/* Foreign text, made harmless for a terminal: control characters, changes of the
 * writing direction and broken UTF-8 become '?'. */
void view_plain(struct buf *b, struct str text);

void view_out(struct cli *c, const struct buf *b); /* text to stdout */
void view_outf(struct cli *c, const char *fmt, ...) printf_fmt(2, 3);
void view_notef(struct cli *c, const char *fmt, ...) printf_fmt(2, 3); /* stderr; silent with -q */
/* what a command did, in a line without its end; with --json {"message": line} */
void view_donef(struct cli *c, const char *fmt, ...) printf_fmt(2, 3);
/* with --json, when nothing else went to stdout: the errors, as {"diagnostics": [...]} */
void view_diagnostics(struct cli *c);
void view_json(struct cli *c, const struct value *doc); /* a document to stdout */

/* what failed, then aligned lines: spec, resource, node, request, hint */
void view_error(struct cli *c, const struct err *e);
/* the same with another node, or a set of them, and more lines after it */
void view_error_of(struct cli *c, const struct err *e, const char *node, struct str more);
/* each, then how many; equal ones on many nodes fold */
void view_errors(struct cli *c, const struct err_list *l);
/* The message with the node's name and address as NODE: equal for nodes that fail alike. */
void view_cause(struct buf *b, const char *msg, const char *node, const char *addr);
void view_error_text(struct buf *b, const struct err *e, bool color);
struct value *view_error_value(struct arena *a, const struct err *e);

/* Rows of equal length; columns aligned, two blanks between; the first row is the head. */
struct table {
	VEC(const char *) cells;
	size_t columns;
};
/* cells, then NULL */
void table_row(struct arena *a, struct table *t, ...) __attribute__((sentinel));
void table_text(struct buf *b, const struct table *t);

char *view_fold(struct arena *a, const char *const *names, size_t n); /* "gpu[001-016]" */
char *view_ago(struct arena *a, int64_t wall_ms);		      /* "3m20s ago" */

/* cli/view_plan.c */
struct plan_view {
	bool full; /* every node on its own */
	bool diff; /* unified diffs of node changes */
};
#define MARKDOWN_MIN_BYTES 1000
#define MARKDOWN_MAX_BYTES 65536 /* of a comment, in most places where code is reviewed */
void view_plan(struct cli *c, const struct plan *p, const struct plan_view *how);
void view_drift(struct cli *c, const struct plan *p, const struct plan_view *how);
/* cli/view_plan_md.c: for a comment on a change of the spec. drift: what was changed outside,
 * instead of what will be done. Never longer than max_bytes, never cut inside a fence or a
 * character. */
void view_plan_markdown(struct cli *c, const struct plan *p, const struct plan_view *how,
			size_t max_bytes, bool drift);
void plan_markdown(struct buf *b, const struct plan *p, const struct plan_view *how,
		   size_t max_bytes, bool drift);
void plan_text(struct buf *b, struct arena *a, const struct plan *p, const struct plan_view *how,
	       bool color);
void drift_text(struct buf *b, struct arena *a, const struct plan *p, const struct plan_view *how,
		bool color);

#endif
