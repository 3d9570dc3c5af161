/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of state/ share: a folder of their own, a state in it, sample rows, and the error
 * of the last call. */
#ifndef MUSTER_TESTS_STATE_FIXTURE_H
#define MUSTER_TESTS_STATE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "state/state.h"

extern struct err err;	    /* of the last call in OK or FAILS */
extern struct arena *arena; /* of the test */
extern char dir[512];	    /* of the test */
extern char db[600];	    /* dir/.muster/state.db */

/* The call works. */
#define OK(call)                                                                \
	do {                                                                    \
		err = (struct err){ 0 };                                        \
		if (call)                                                       \
			fail_msg("%s: %s; hint: %s", #call, err.msg, err.hint); \
	} while (0)

/* The call fails with this kind, and the message holds this text. */
#define FAILS(call, want, text)                                                          \
	do {                                                                             \
		err = (struct err){ 0 };                                                 \
		if (!(call))                                                             \
			fail_msg("%s: worked", #call);                                   \
		if (err.kind != (want))                                                  \
			fail_msg("%s: %s: %s", #call, err_kind_name(err.kind), err.msg); \
		if (!strstr(err.msg, (text)))                                            \
			fail_msg("%s: no '%s' in: %s", #call, (text), err.msg);          \
	} while (0)

int fixture_setup(void **data);
int fixture_teardown(void **data);
#define STATE_TEST(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)

struct state *open_new(void);	 /* a new state at db */
struct state *open_leased(void); /* the same, with the lease taken by run "run1" */
struct state_resource *sample(const char *addr);
/* A map {"n": n, "text": text} */
struct value *sample_value(int64_t n, const char *text);
/* Statements straight into the file, past muster. */
void raw_sql(const char *path, const char *sql);
int64_t raw_int(const char *path, const char *sql);
size_t problems_of(struct state *s);		  /* state_check; prints what it found */
long copy_file(const char *from, const char *to); /* size */

#endif
