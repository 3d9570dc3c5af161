/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inventory/secret.h - `{{ secret('env:NAME') }}`, `secret('file:PATH')`, `secret('cmd:PROGRAM
 * ARGS')` in specs and playbooks.
 *
 * The result is a secret value, registered with the log scrubber; it is never kept by muster.
 */
#ifndef MUSTER_INVENTORY_SECRET_H
#define MUSTER_INVENTORY_SECRET_H

#include "base/base.h"

/* Makes the function known to templates. dir: relative file: paths start here; outlives every
 * evaluation; NULL: the working folder. */
void secret_register(const char *dir);
/* The same for the program itself: "env:X", "file:P", "cmd:...". ERR_NOT_FOUND, ERR_SPEC, or what
 * the command failed with. */
must_check int secret_read(struct arena *a, struct str source, const char *dir,
			   const struct value **out, struct err *e);

#endif
