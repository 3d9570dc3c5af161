/* SPDX-License-Identifier: Apache-2.0 */
/* templates/scope.h - what an evaluation is given: names, flags, functions. Part of the front door
 * (templates.h). */
#ifndef MUSTER_TEMPLATES_SCOPE_H
#define MUSTER_TEMPLATES_SCOPE_H

#include "base/base.h"

/* What of the machine a template may reach, and then only by include, import, extends and the
 * named lookups. */
struct template_world {
	const char *const *dirs; /* searched in order for relative paths; ended by NULL */
	bool pipe;		 /* lookup('pipe') may run commands */
};

/* Where names are looked up: a chain of maps, innermost first, then `lookup` (computed names). */
struct scope {
	const struct scope *outer;
	const struct value *vars; /* a map; may be NULL */
	/* NULL, or: gives the value of a name that is not in vars (NULL if it has none); allocates
	 * from a. */
	const struct value *(*lookup)(void *arg, struct arena *a, struct str name);
	void *arg;
	/* of the outermost scope that has one; none: no file, no command */
	const struct template_world *world;
};

enum template_flags {
	TEMPLATE_NATIVE = 1, /* text that is exactly one expression gives its value, not text */
	TEMPLATE_KEEP_NEWLINE = 2, /* keep the one trailing newline that Jinja2 drops */
	TEMPLATE_TRIM_BLOCKS = 4,
	TEMPLATE_LSTRIP_BLOCKS = 16, /* no blanks between the begin of a line and a block */
	TEMPLATE_LAZY = 8, /* strings found in vars are themselves templates (Ansible): evaluated
			      when used, loops found */
};

bool template_has_markup(struct str text); /* holds "{{" or "{%" or "{#" */

/* {{ name(args) }}: -1 after a fault in *e, else *out. */
typedef int template_function(void *arg, struct arena *a, const struct value *args /* list */,
			      const struct value **out, struct err *e);

#endif
