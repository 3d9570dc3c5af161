/* SPDX-License-Identifier: Apache-2.0 */
/* inventory/spec_read.h - a spec's files: read, included, merged to one tree with positions. Used
 * by spec_load only. */
#ifndef MUSTER_INVENTORY_SPEC_READ_H
#define MUSTER_INVENTORY_SPEC_READ_H

#include "base/base.h"

#define SPEC_MAX_FILES 100

struct spec_files {
	struct value *tree;	   /* merged; NULL if nothing could be read */
	VEC(const char *) sources; /* in the order in which they were read, the spec first */
	char digest[SHA256_HEX];   /* of every byte of them */
};

/* path: a file, or a folder of *.yaml and *.yml files. -1: some fault is in errs; what could be
 * read is in *out all the same. */
must_check int spec_read(struct arena *a, const char *path, struct spec_files *out,
			 struct err_list *errs);

#endif
