/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/map.h - string -> pointer, in insertion order, in an arena.
 *
 * Keys are copied into the arena. Iterate with `for (size_t i = 0; i < m->n; i++) m->e[i].key /
 * .val`; removing keeps the order. Lookup is O(1).
 */
#ifndef MUSTER_BASE_MAP_H
#define MUSTER_BASE_MAP_H

#include "base/str.h"

struct map_entry {
	struct str key; /* NUL-terminated in the arena */
	void *val;
	uint64_t hash;
	struct pos pos; /* where the key was written; line 0 if nowhere */
};

struct map {
	struct arena *a;
	struct map_entry *e;
	size_t n, cap;
	uint32_t *slot; /* open addressing; 0 = free, else index + 1 */
	size_t slots;
};

void map_init(struct map *m, struct arena *a);
void map_put(struct map *m, struct str key, void *val); /* replaces, keeping the place */
void *map_get(const struct map *m, struct str key);	/* NULL if absent */
void *map_getc(const struct map *m, const char *key);
/* NULL if absent; until the next put or del */
struct map_entry *map_find(const struct map *m, struct str key);
/* The same with str_hash(key) at hand, for who looks up one key often. */
struct map_entry *map_find_hashed(const struct map *m, struct str key, uint64_t hash);
/* As map_find_hashed; *hint: where the key was found in the last map of the same shape. */
struct map_entry *map_find_hinted(const struct map *m, struct str key, uint64_t hash,
				  uint32_t *hint);
void map_put_hashed(struct map *m, struct str key, uint64_t hash, void *val);
void map_clear(struct map *m); /* keeps its room */
bool map_has(const struct map *m, struct str key);
bool map_del(struct map *m, struct str key); /* O(n); true if it was there */

#endif
