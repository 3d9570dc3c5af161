/* SPDX-License-Identifier: Apache-2.0 */
/* templates/version.h - the order of versions. */
#ifndef MUSTER_TEMPLATES_VERSION_H
#define MUSTER_TEMPLATES_VERSION_H

#include "base/base.h"

/* kind: loose, strict, semver (semantic), pep440 (python). *order: < 0, 0, > 0. */
must_check int version_order(struct str kind, struct str x, struct str y, int *order,
			     struct err *e);

#endif
