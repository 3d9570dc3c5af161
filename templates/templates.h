/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/templates.h - front door: Jinja2-compatible expressions and templates over values.
 *
 * A first engine: `{{ }}` with literals, names, attribute and item lookup, operators, tests, filters (default, int, join and those that
 * the list in README.md names), `{% if %}`, `{% for %}`, `{% set %}`, comments, raw, and whitespace control; Jinja2's results or a clear error. Evaluation is
 * bounded (steps, output, depth) and reaches no file, command or network. Unknown and secret marks pass through every operation.
 */
#ifndef MUSTER_TEMPLATES_TEMPLATES_H
#define MUSTER_TEMPLATES_TEMPLATES_H

#include "base/base.h"

/* Where names are looked up: a chain of maps, innermost first, then `lookup` (computed names). */
struct scope {
	const struct scope *outer;
	const struct value *vars; /* a map; may be NULL */
	/* NULL, or: gives the value of a name that is not in vars (NULL if it has none); allocates from a. */
	const struct value *(*lookup)(void *arg, struct arena *a, struct str name);
	void *arg;
};

enum template_flags {
	TEMPLATE_NATIVE = 1,	/* text that is exactly one expression gives its value, not text */
	TEMPLATE_KEEP_NEWLINE = 2, /* keep the one trailing newline that Jinja2 drops */
	TEMPLATE_TRIM_BLOCKS = 4,
	TEMPLATE_LAZY = 8,	/* strings found in vars are themselves templates (Ansible): evaluated when used, loops found */
};

bool template_has_markup(struct str text); /* holds "{{" or "{%" or "{#" */

/* Renders text. `where` is the text's place in its file (for positions in errors). Undefined names are an error (ERR_SPEC). */
must_check int template_render(struct arena *a, struct str text, struct pos where, const struct scope *scope, unsigned flags,
			       const struct value **out, struct err *e);
/* A bare expression (`when: x is defined and y > 3`). */
must_check int template_eval(struct arena *a, struct str expression, struct pos where, const struct scope *scope, unsigned flags,
			     const struct value **out, struct err *e);
/* Every string inside v (deep, map keys too); values without markup are shared, not copied. Flags: NATIVE is implied. */
must_check int template_render_value(struct arena *a, const struct value *v, const struct scope *scope, unsigned flags,
				     const struct value **out, struct err *e);
/* Compiles only: syntax faults without evaluating (for `validate`). */
must_check int template_check(struct str text, struct pos where, struct err *e);
/* Names that a text or expression reads at its top level (e.g. ansible_facts, x): added to `names` (name -> non-NULL). */
must_check int template_names(struct arena *a, struct str text, bool is_expression, struct map *names, struct err *e);

/* Function hook for specs: `{{ secret('env:X') }}`. Functions are values of the scope? No: they are named here, process-wide, by the cli. */
typedef int template_function(void *arg, struct arena *a, const struct value *args /* list */, const struct value **out, struct err *e);
void template_add_function(const char *name, template_function *fn, void *arg);

#endif
