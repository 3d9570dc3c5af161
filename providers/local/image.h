/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/image.h - the cached Debian roots that hosts are overlays of.
 *
 * One is built by mmdebstrap from the machine's own package archive in about 40 s, under a lock
 * (other processes wait), in a folder of another name that is renamed when it is whole. A built
 * root is never changed: hosts may be running on it.
 */
#ifndef MUSTER_PROVIDERS_LOCAL_IMAGE_H
#define MUSTER_PROVIDERS_LOCAL_IMAGE_H

#include "providers/local/world.h"

/* "debian-12" -> "bookworm"; NULL if there is no such image. */
const char *image_suite(struct str image);
/* Folder of the root of `image`, built if need be. In a task, waits for minutes at most. */
must_check int image_ensure(struct provider *p, struct arena *a, struct str image,
			    const char **root, struct err *e);

#endif
