/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A golden case: spec, record and observation as data, put side by side as the planner does it,
 * with no state, provider or node behind.
 */
#ifndef TESTS_PLAN_GOLDEN_H
#define TESTS_PLAN_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/plan_doc.h"
#include "engine/scene.h"

struct golden {
	struct arena *a;
	const char *name; /* for messages */
	struct spec *spec;
	struct fleet *fleet;
	/* recorded: {resources, journal}; observed: {lists: {"PROVIDER KIND": [...]}, probes} */
	const struct value *recorded, *observed, *options;
	struct scene scene;
};

/* An absent file is an empty map. */
const struct value *golden_json(struct golden *g, const char *path);
void golden_spec(struct golden *g, const char *path); /* spec and fleet */
struct plan *golden_plan(struct golden *g);
/* The plan as the engine sees it: every change with its edges, causes and marks. */
void golden_write(struct golden *g, struct buf *b, const struct plan *p);
/* Every plan also goes through its file form unharmed. */
void golden_round_trip(struct golden *g, const struct plan *p);
/* Digests in place of secrets, as the state's, but readable. */
must_check int golden_seal(void *arg, struct arena *a, const struct value *v,
			   const struct value **out, struct err *e);
bool golden_update(void); /* expected texts are written instead of compared */

/* cases.c: all cases of a file; gives how many, and adds those that came out wrong. */
size_t cases_run(const char *path, size_t *failed);

#endif
