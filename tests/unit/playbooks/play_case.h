/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tests/unit/playbooks/play_case.h - whole plays on this machine, through the local transport, in a
 * folder of their own.
 */
#ifndef MUSTER_TESTS_PLAY_CASE_H
#define MUSTER_TESTS_PLAY_CASE_H

#include "playbooks/playbooks.h"

struct play_case {
	struct arena *a;
	const char *dir;  /* made anew by play_begin; the plays see it as {{ dir }} */
	const char *play; /* NULL: dir/play.yml */
	struct run_opts opts;
	const struct value *facts, *vars; /* vars: of the host, beside dir */
	struct run_result result;
	struct buf log; /* a line a finished task: "STATUS task[ (item)][: msg]" */
	struct err err;
};

void play_begin(struct play_case *c, const char *name);
void play_end(struct play_case *c);
void play_file(struct play_case *c, const char *path, const char *text); /* below dir */
const char *play_read(struct play_case *c, const char *path);		 /* below dir; "(absent)" */
/* Loads dir/play.yml and runs it. -1: err is set (a loading fault too). */
int play_run(struct play_case *c);

#endif
