/* SPDX-License-Identifier: Apache-2.0 */
/* cli/out.h - bytes to stdout and stderr, and what became of them. */
#ifndef MUSTER_CLI_OUT_H
#define MUSTER_CLI_OUT_H

#include "base/base.h"

/* All of the text, unscrubbed, to a descriptor. What stdout could not take is remembered. */
void out_write(int fd, struct str text);
bool out_written(void);	  /* something went to stdout */
int out_lost_errno(void); /* of the first write to stdout that failed; 0: none did */
/* 0, or -1 when a part of the output was lost. A reader that went away (`| head`) is no error. */
must_check int out_lost(struct err *e);
/* Text to stderr, scrubbed; or to where out_err_to leads it (NULL: stderr). */
void out_err(struct str text);
void out_err_to(void (*sink)(struct str text));

#endif
