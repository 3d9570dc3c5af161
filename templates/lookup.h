/* SPDX-License-Identifier: Apache-2.0 */
/* templates/lookup.h - lookup('name', ...) and query: what reaches the machine that muster runs on,
 * each by its name. */
#ifndef MUSTER_TEMPLATES_LOOKUP_H
#define MUSTER_TEMPLATES_LOOKUP_H

#include "templates/call.h"
#include "templates/eval.h"

/* list: query, or wantlist=true. */
const struct value *lookup_run(struct eval *ev, struct call *c, bool list);
const char *lookup_name(size_t i); /* all that there are, in order; NULL past the last */

/* ---- between the files of lookups ---- */

struct lookup {
	struct eval *ev;
	struct arena *a;
	const struct value *terms;  /* a list */
	const struct value *kwargs; /* a map */
	struct value *out;	    /* a list: what was found */
	struct err *e;
};

/* Add what they find to l->out; -1: fault. */
must_check int look_file(struct lookup *l);
must_check int look_template(struct lookup *l);
must_check int look_fileglob(struct lookup *l);
must_check int look_first_found(struct lookup *l);
must_check int look_ini(struct lookup *l);
must_check int look_env(struct lookup *l);
must_check int look_pipe(struct lookup *l);
must_check int look_lines(struct lookup *l);
must_check int look_password(struct lookup *l);
must_check int look_vars(struct lookup *l);
must_check int look_items(struct lookup *l);
must_check int look_list(struct lookup *l);
must_check int look_flattened(struct lookup *l);
must_check int look_indexed_items(struct lookup *l);
must_check int look_dict(struct lookup *l);
must_check int look_random_choice(struct lookup *l);
must_check int look_nested(struct lookup *l);
must_check int look_together(struct lookup *l);
must_check int look_subelements(struct lookup *l);
must_check int look_sequence(struct lookup *l);

#endif
