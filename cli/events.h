/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cli/events.h - what happens in a run, for machines: one JSON object a line. The types and their
 * fields are one table (event_types.c); manual and docs/events.md are printed from it.
 *
 * The stream of a command begins with `start` and ends with `result`. It goes to stdout (--json of
 * a command with EVENTS), to --json-into of any command, and to .muster/runs/<id>.ndjson of a
 * command with RECORDED. A line is one write: what a kill leaves are whole lines, but perhaps for
 * the last. A file that can't be written is told once and the run goes on; a reader of stdout that
 * went away stops the run as ^C does.
 */
#ifndef MUSTER_CLI_EVENTS_H
#define MUSTER_CLI_EVENTS_H

#include "cli/cli.h"

#define EVENTS_FORMAT "1.0"

must_check int events_open(struct cli *c, struct err *e); /* and emits `start` */
/* .muster/runs/<run>.ndjson, with what came before the run had a name; once */
must_check int events_open_run(struct cli *c, const char *run, struct err *e);
bool events_wanted(void); /* false: nobody would see them */
/* fields: a map, or NULL; borrowed */
void events_emit(struct cli *c, const char *type, const struct value *fields);
/* The command's own fields of `result`: a map that lives until the end of the run. */
void events_result(struct cli *c, const struct value *fields);
/* the same for a command that works on nodes */
void events_nodes_result(struct cli *c, size_t nodes, size_t failed);
/* emits `result`, and closes */
void events_close(struct cli *c, int exit_code);

/* ---- the table ---- */

enum event_kind { EV_STR, EV_TIME, EV_INT, EV_NUMBER, EV_BOOL, EV_LIST, EV_MAP, EV_ANY };

struct event_field {
	const char *name;
	enum event_kind kind;
	bool always; /* in every event of the type */
	const char *doc;
};

struct event_type {
	const char *name;
	const char *doc;	       /* when it comes */
	const char *example;	       /* without the fields that all events have */
	struct event_field fields[24]; /* name NULL at the end */
};

extern const struct event_type event_types[]; /* name NULL at the end */
extern const struct event_field event_common[];

/* What is wrong with an event's fields (a map, with or without the common ones), as a phrase in
 * `a`; NULL: they are as documented. */
const char *event_fault(struct arena *a, const char *type, const struct value *fields);
void event_manual(struct buf *b);   /* for scdoc */
void event_markdown(struct buf *b); /* for docs/events.md */

#endif
