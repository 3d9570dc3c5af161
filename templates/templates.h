/* SPDX-License-Identifier: Apache-2.0 */
/*
 * templates/templates.h - front door: Jinja2-compatible expressions and templates over values.
 *
 * Jinja2's and Ansible's results or a clear error: docs/templates.md lists what there is. Evaluation
 * is bounded (steps, output, depth) and reaches files and commands only as scope->world allows, by
 * include, import, extends and the named lookups. Unknown and secret
 * marks pass through every operation. Texts with markup in a result come back `unsafe`: they may
 * hold what a node said, and are never evaluated again.
 */
#ifndef MUSTER_TEMPLATES_TEMPLATES_H
#define MUSTER_TEMPLATES_TEMPLATES_H

#include "templates/scope.h"

/* A text and the place of its first byte in its file (for positions in errors). */
struct template
{
	struct str text;
	struct pos where;
};

static inline struct template template_of(const struct value *v) /* of a string */
{
	return (struct template){ v->s, v->pos };
}

/* Renders a text. Undefined names are an error (ERR_SPEC). */
must_check int template_render(struct arena *a, struct template t, const struct scope *scope,
			       unsigned flags, const struct value **out, struct err *e);
/* A bare expression (`when: x is defined and y > 3`). */
must_check int template_eval(struct arena *a, struct template expression, const struct scope *scope,
			     unsigned flags, const struct value **out, struct err *e);
/* Every string inside v (deep, map keys too); values without markup are shared, not copied. Flags:
 * NATIVE is implied. */
must_check int template_render_value(struct arena *a, const struct value *v,
				     const struct scope *scope, unsigned flags,
				     const struct value **out, struct err *e);
/* Compiles only: syntax faults without evaluating (for `validate`). */
must_check int template_check(struct str text, struct pos where, struct err *e);
/* Names that a text or expression reads at its top level (e.g. ansible_facts, x): added to `names`
 * (name -> non-NULL). */
must_check int template_names(struct arena *a, struct str text, bool is_expression,
			      struct map *names, struct err *e);

/* A first line "#jinja2: trim_blocks:False, lstrip_blocks:True" sets flags; it is taken off the
 * text. */
must_check int template_header(struct template *t, unsigned *flags, struct err *e);

/* Functions that specs and playbooks may call, such as `{{ secret('env:X') }}`; process-wide, named
 * once by the cli. */
void template_add_function(const char *name, template_function *fn, void *arg);

void template_markdown(struct buf *b); /* what there is, from the tables */

#endif
