/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine/fault.h - named moments at which a test may kill the program: MUSTER_FAULT="point:n" sends
 * SIGKILL to itself at the n-th pass of that point. Without the variable a pass costs a comparison.
 * The points are listed in README.md.
 */
#ifndef MUSTER_ENGINE_FAULT_H
#define MUSTER_ENGINE_FAULT_H

void fault_point(const char *name);
void fault_arm(const char *text); /* "point:n" as in the variable; NULL: none */

#endif
