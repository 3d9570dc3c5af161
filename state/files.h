/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state/files.h - the files that lie beside a state file: backups/ and seal.key.
 *
 * Inside state/ only. Knows names, not contents.
 */
#ifndef MUSTER_STATE_FILES_H
#define MUSTER_STATE_FILES_H

#include "base/base.h"

/* DIR/backups/NAME-2026-11-30T221200.123Z.db for DIR/NAME.db; makes no folder. */
char *files_backup_path(struct arena *a, const char *state, int64_t at_ms);
/* Oldest first; none when the folder is absent or unreadable. */
struct fs_names files_backups(struct arena *a, const char *state);
char *files_newest_backup(struct arena *a, const char *state); /* NULL if none */
char *files_seal_key(struct arena *a, const char *state);

#endif
