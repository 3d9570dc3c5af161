/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/unit/playbooks/module_case.h - modules tested as data: arguments and answers in, changes,
 * patch and result out.
 *
 * A file of cases/ is a list of maps:
 *   name, module, args   the call
 *   host                 answers: "KIND KEY": payload; what is not said is not there. A stat line
 * goes without the name. check, diff          of the call probe                the requests that
 * must be made, as "KIND KEY" (optional) changes              "WHAT: BEFORE -> AFTER" (none: [])
 *   failed               the failure's message instead
 *   error                what is wrong with the call itself, instead
 *   patch                the shell text (optional)
 *   diffs                unified diffs, one text (optional)
 *   result               what the result must hold, at least (optional)
 */
#ifndef MUSTER_TESTS_MODULE_CASE_H
#define MUSTER_TESTS_MODULE_CASE_H

#include "playbooks/module.h"

/* Runs all cases of a file; returns how many failed and writes what differed to stderr. */
int module_cases_run(const char *path, size_t *total);

#endif
