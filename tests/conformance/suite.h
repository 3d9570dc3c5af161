/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/conformance/suite.h - what every provider must do, written once (providers/provider.h is
 * the contract).
 *
 * A test program per provider says how to open it and calls suite_run in each of its tests; more
 * than the contract it tests itself, with the same helpers.
 */
#ifndef MUSTER_TESTS_CONFORMANCE_SUITE_H
#define MUSTER_TESTS_CONFORMANCE_SUITE_H

#include "providers/providers.h"

struct suite {
	const char *type;    /* of provider */
	const char *options; /* YAML */
	const char *state_dir;
	const char *self;	   /* program that knows `internal ...` */
	const char *machine_attrs; /* YAML of what a machine wants */
	const char
		*changed_attrs; /* the same after a change that needs no replacement; NULL: none */
	const char *keys_in;	/* folder for the files below; NULL: /tmp */
	int machines;		/* that the parallel step makes */
	/* what went wrong; the first stays */
	char fault[2048];
	/* the work of one test */
	struct arena *a;
	struct provider *p;
	const struct provider_type *t;
	struct spec_provider spec;
	const char *keys; /* folder with the files host and admin, private keys */
	const struct value *host_key, *admin_key;
};

/* Fails the test from inside a task, where cmocka's own asserts may not jump. */
#define CHECK(s, cond) CHECKF(s, cond, "%s", "")
#define CHECKF(s, cond, ...)                                                    \
	do {                                                                    \
		if (!(cond)) {                                                  \
			suite_fault(s, __FILE__, __LINE__, #cond, __VA_ARGS__); \
			return;                                                 \
		}                                                               \
	} while (0)
void suite_fault(struct suite *s, const char *file, int line, const char *cond, const char *fmt,
		 ...) printf_fmt(5, 6);

typedef void suite_fn(struct suite *s);
/* Opens the provider as `cluster`, runs fn(s) as a task, closes; fails the cmocka test if there was
 * a fault. */
void suite_run(struct suite *s, const char *cluster, suite_fn *fn);

const struct resource_type *suite_type(struct suite *s, const char *kind); /* NULL if it has none */
struct resource_want *suite_want(struct suite *s, const char *kind, const char *name,
				 const char *attrs_yaml);
struct value *suite_yaml(struct suite *s, const char *text);
/* A network if the provider has them; *deps is what machines want from it. NULL: none, or s->fault
 * says why. */
struct resource_seen *suite_network(struct suite *s, struct value **deps);
/* Destroys everything that list shows. */
void suite_sweep(struct suite *s);

/* The contract. */
void suite_life(struct suite *s); /* create, list, find, repeat, update, destroy, destroy again */
void suite_parallel(struct suite *s);  /* many at once, each once */
void suite_strangers(struct suite *s); /* what is not there, and what belongs to others */

#endif
