/* SPDX-License-Identifier: Apache-2.0 */
/* A cluster on the fake cloud in a folder of its own, for tests that plan and apply. */
#ifndef TESTS_ENGINE_BED_H
#define TESTS_ENGINE_BED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"

/* In tasks: cmocka's assertions leave by longjmp, which must not cross stacks. */
extern const char *bed_now; /* what a test that does many things is at, or NULL */
#define must(condition, ...)                                                                    \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #condition); \
			fprintf(stderr, " " __VA_ARGS__);                                       \
			if (bed_now)                                                            \
				fprintf(stderr, " (%s)", bed_now);                              \
			fputc('\n', stderr);                                                    \
			abort();                                                                \
		}                                                                               \
	} while (0)

struct bed {
	char dir[200];	 /* spec, state and cloud */
	struct arena *a; /* of one engine */
	struct spec *spec;
	struct fleet *fleet;
	struct state *state;
	struct engine *en;
	struct engine_opts opts; /* changed by the test before bed_open */
	size_t events_done, events_failed, events_retry;
};

void bed_make(struct bed *b);
void bed_make_in(struct bed *b, const char *parent);
void bed_gone(struct bed *b);
/* Writes the spec: options of the provider (may be ""), and pools. */
void bed_spec(struct bed *b, const char *provider_options, const char *pools);
/* Opens state and engine anew, as a new process would. Call in a task. */
void bed_open(struct bed *b);
void bed_close(struct bed *b);

/* Runs fn(b) in a task and returns when it ended. */
void bed_run(struct bed *b, void (*fn)(struct bed *b));
struct plan *bed_plan(struct bed *b, enum plan_mode mode);
/* Plans and applies; -1 and *e, or the result. */
int bed_apply(struct bed *b, enum plan_mode mode, struct apply_result *r, struct err *e);
/* In a process of its own that a fault kills: fn runs there. Returns true if it was killed by the
 * fault. */
bool bed_killed(struct bed *b, const char *fault, void (*fn)(struct bed *b));
/* The cloud, the state and the spec agree: an empty plan, no orphan, no open intent, no lease. */
void bed_check_converged(struct bed *b, size_t resources);

#endif
