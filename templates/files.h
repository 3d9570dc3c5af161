/* SPDX-License-Identifier: Apache-2.0 */
/* templates/files.h - the files that templates may reach: those below the folders of scope->world. */
#ifndef MUSTER_TEMPLATES_FILES_H
#define MUSTER_TEMPLATES_FILES_H

#include "templates/eval.h"
#include "templates/parse.h"

#define FILES_MAX ((size_t)4 << 20) /* bytes of one file */

/* The template that `name` names (a text, or a list: the first that is there). Sets ev->text and
 * ev->where. *missing true on entry: that it is not there is no fault, and *missing says so. */
must_check int files_template(struct eval *ev, const struct value *name, struct tree *tree,
			      bool *missing);
/* Adds to the fault who asked for the file it is in: "included from FILE:LINE". */
void files_wrap(struct eval *ev, const struct node *n, const char *how);

#endif
