/* SPDX-License-Identifier: Apache-2.0 */
#include "state/files.h"

/* "state" of "x/state.db": two states in one folder must not share backups. */
static struct str stem_of(const char *state)
{
	const char *slash = strrchr(state, '/');
	struct str name = str_of(slash ? slash + 1 : state);

	if (str_ends(name, ".db"))
		name.n -= 3;
	return name;
}

static char *backup_dir(struct arena *a, const char *state)
{
	return fs_join(a, fs_dirname(a, state), "backups");
}

char *files_backup_path(struct arena *a, const char *state, int64_t at_ms)
{
	char iso[CLOCK_ISO_LEN];
	size_t n = 0;

	clock_iso(at_ms, iso);
	for (size_t i = 0; iso[i]; i++)
		if (iso[i] != ':')
			iso[n++] = iso[i];
	iso[n] = '\0';
	struct str stem = stem_of(state);
	char *name = arena_printf(a, STR_FMT "-%s.db", STR_ARG(stem), iso);
	return fs_join(a, backup_dir(a, state), name);
}

static bool is_backup_name(struct str name, struct str stem)
{
	const size_t stamp = sizeof "-2026-11-30T221200.123Z.db" - 1;

	return name.n == stem.n + stamp && !memcmp(name.p, stem.p, stem.n) &&
	       name.p[stem.n] == '-' && str_ends(name, "Z.db");
}

struct fs_names files_backups(struct arena *a, const char *state)
{
	char *dir = backup_dir(a, state);
	struct fs_names all = { 0 }, out = { 0 };
	struct err ignored = { 0 };

	if (fs_list(a, dir, &all, &ignored))
		return out;
	for (size_t i = 0; i < all.names.n; i++)
		if (is_backup_name(str_of(all.names.v[i]), stem_of(state)))
			VEC_ADD(a, &out.names) = fs_join(a, dir, all.names.v[i]);
	return out;
}

char *files_newest_backup(struct arena *a, const char *state)
{
	struct fs_names all = files_backups(a, state);

	return all.names.n ? arena_strdup(a, all.names.v[all.names.n - 1]) : NULL;
}

char *files_seal_key(struct arena *a, const char *state)
{
	return fs_join(a, fs_dirname(a, state), "seal.key");
}
