/* SPDX-License-Identifier: Apache-2.0 */
/* templates/exec.h - statements: a body's text, with the marks of what went into it. */
#ifndef MUSTER_TEMPLATES_EXEC_H
#define MUSTER_TEMPLATES_EXEC_H

#include "templates/eval.h"
#include "templates/parse.h"

/* A whole template's text as a value: secret or unknown if a part was. native: a body that is one
 * expression gives its value. NULL: fault. */
const struct value *exec_template(struct eval *ev, const struct tree *tree, bool native);

/* ---- between the files of the executor ---- */

/* A text under way. */
struct exec {
	struct eval *ev;
	struct buf out;
	bool secret, unknown;
	bool quoted;   /* a secret was written inside a list or map, where it may look otherwise */
	bool extended; /* {% extends %} was met: what follows it is not written */
	bool whole;    /* the body of a template, not of a macro or block in it */
	const struct value *parent; /* the file that it extends */
	const struct node *parent_node;
	bool escape; /* in {% autoescape true %} */
};

/* What a statement did to the loop around it. */
enum run_result { RUN_FAULT = -1, RUN_ON, RUN_BREAK, RUN_CONTINUE };

enum run_result exec_run_all(struct exec *x, const struct node *body);
/* The text of a body on its own. */
const struct value *exec_text(struct eval *ev, const struct node *body);
/* Writes a value; n has the place of a fault. */
must_check int exec_write(struct exec *x, const struct node *n, const struct value *v);
/* What was written to x so far, as a value. */
const struct value *exec_result(struct exec *x);
must_check int exec_bind(struct exec *x, const struct node *target, const struct value *v);

enum run_result exec_for(struct exec *x, const struct node *n);
enum run_result exec_macro(struct exec *x, const struct node *n);
enum run_result exec_caller(struct exec *x, const struct node *n);
enum run_result exec_include(struct exec *x, const struct node *n);
enum run_result exec_import(struct exec *x, const struct node *n);
enum run_result exec_extends(struct exec *x, const struct node *n);
enum run_result exec_block(struct exec *x, const struct node *n);

/* A template's body; then the one that it extends. */
enum run_result exec_whole(struct exec *x, const struct node *body);
struct module *module_new(struct eval *ev, const struct tree *tree);

/* Names of their own within outer; in the arena. */
struct frame *frame_new(struct eval *ev, struct frame *outer);
void frame_bind(struct frame *f, struct str name, uint64_t hash, const struct value *v);
/* Something that outlives the statement looks names up there. */
void frame_keep(struct frame *f);

#endif
