/* SPDX-License-Identifier: Apache-2.0 */
/*
 * providers/local/record.h - what is known of a host or network, as one JSON file in its folder.
 *
 * The record is the object: it is written, atomically, before anything else is made and removed
 * last, so a crash at any step leaves either nothing or something that list and find will see.
 * `status` in it is "building", "ready" or "deleting".
 */
#ifndef MUSTER_PROVIDERS_LOCAL_RECORD_H
#define MUSTER_PROVIDERS_LOCAL_RECORD_H

#include "providers/provider.h"

/* Folder of an object: ROOT/KIND/NAME-TOKEN8. */
char *record_dir(struct arena *a, const char *root, const char *kind, const char *id);
char *record_id(struct arena *a, const char *name, const char *token);
bool record_id_is_valid(const char *id);

/* Makes the folder if needed. */
must_check int record_write(const char *dir, const struct value *rec, struct err *e);
/* *out NULL if there is none. */
must_check int record_read(struct arena *a, const char *dir, struct value **out, struct err *e);
/* All of a kind, sorted by id: each map has "id" set. Unreadable ones are errors, not holes. */
must_check int record_list(struct arena *a, const char *root, const char *kind, struct value **list,
			   struct err *e);
/* Moves the folder out of sight at once (so that a half-removed one is never seen), then removes
 * it. */
must_check int record_remove(const char *dir, struct err *e);
/* Once no record of any kind is left: removes what kills have left under root (a removal cut short,
 * a folder that never got its record). */
must_check int record_sweep(struct arena *a, const char *root, struct err *e);
/* Removes a tree of any size on a pool thread, while the task waits. */
must_check int record_remove_tree(const char *path, struct err *e);
/* A short blocking call on a pool thread; not given up on, so arg may be on the stack. */
must_check int record_offload(int (*fn)(void *arg, struct err *e), void *arg, struct err *e);

#endif
