/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries lie in insertion order in one array; a table of indices with linear probing finds them.
 * Most maps of a spec are small, so the table only exists from SMALL entries on.
 */
#include "base/map.h"

#define SMALL 8

void map_init(struct map *m, struct arena *a)
{
	*m = (struct map){ .a = a };
}

static size_t find(const struct map *m, struct str key, uint64_t hash)
{
	if (m->slots == 0) {
		for (size_t i = 0; i < m->n; i++)
			if (m->e[i].hash == hash && str_eq(m->e[i].key, key))
				return i;
		return SIZE_MAX;
	}
	for (size_t s = hash & (m->slots - 1); m->slot[s]; s = (s + 1) & (m->slots - 1)) {
		const struct map_entry *e = &m->e[m->slot[s] - 1];
		if (e->hash == hash && str_eq(e->key, key))
			return m->slot[s] - 1;
	}
	return SIZE_MAX;
}

static void put_slot(struct map *m, size_t index)
{
	size_t s = m->e[index].hash & (m->slots - 1);

	while (m->slot[s])
		s = (s + 1) & (m->slots - 1);
	m->slot[s] = (uint32_t)(index + 1);
}

static void rebuild(struct map *m, size_t slots)
{
	if (slots != m->slots) {
		m->slot = arena_array(m->a, uint32_t, slots);
		m->slots = slots;
	} else {
		memset(m->slot, 0, slots * sizeof(*m->slot));
	}
	for (size_t i = 0; i < m->n; i++)
		put_slot(m, i);
}

static void add(struct map *m, struct str key, uint64_t hash, void *val)
{
	if (m->n == m->cap) {
		size_t cap = m->cap ? m->cap * 2 : 4;
		if (cap > UINT32_MAX / 2)
			mem_oom();
		m->e = arena_grow(m->a, m->e, m->cap * sizeof(*m->e), cap * sizeof(*m->e));
		m->cap = cap;
	}
	m->e[m->n++] = (struct map_entry){ .key = str_dup(m->a, key), .val = val, .hash = hash };
	if (m->n > SMALL && m->n * 4 > m->slots * 3)
		rebuild(m, m->slots ? m->slots * 2 : (size_t)SMALL * 4);
	else if (m->slots)
		put_slot(m, m->n - 1);
}

void map_put_hashed(struct map *m, struct str key, uint64_t hash, void *val)
{
	size_t at = find(m, key, hash);

	if (at != SIZE_MAX)
		m->e[at].val = val;
	else
		add(m, key, hash, val);
}

void map_put(struct map *m, struct str key, void *val)
{
	map_put_hashed(m, key, str_hash(key), val);
}

void map_clear(struct map *m)
{
	m->n = 0;
	if (m->slots)
		memset(m->slot, 0, m->slots * sizeof(*m->slot));
}

struct map_entry *map_find_hashed(const struct map *m, struct str key, uint64_t hash)
{
	size_t at = m->n ? find(m, key, hash) : SIZE_MAX;

	return at == SIZE_MAX ? NULL : &m->e[at];
}

struct map_entry *map_find_hinted(const struct map *m, struct str key, uint64_t hash,
				  uint32_t *hint)
{
	size_t at = *hint;

	/* The bytes are not compared: two keys of one length with the same 64 bits of a keyed hash
	 * are less likely than a fault of the memory, and fetching them costs more than all else. */
	if (at < m->n && m->e[at].hash == hash && m->e[at].key.n == key.n)
		return &m->e[at];
	at = m->n ? find(m, key, hash) : SIZE_MAX;
	if (at == SIZE_MAX)
		return NULL;
	*hint = (uint32_t)at;
	return &m->e[at];
}

struct map_entry *map_find(const struct map *m, struct str key)
{
	return m->n ? map_find_hashed(m, key, str_hash(key)) : NULL;
}

void *map_get(const struct map *m, struct str key)
{
	const struct map_entry *e = map_find(m, key);

	return e ? e->val : NULL;
}

void *map_getc(const struct map *m, const char *key)
{
	return map_get(m, str_of(key));
}

bool map_has(const struct map *m, struct str key)
{
	return map_find(m, key) != NULL;
}

bool map_del(struct map *m, struct str key)
{
	struct map_entry *e = map_find(m, key);
	size_t at;

	if (!e)
		return false;
	at = (size_t)(e - m->e);
	memmove(e, e + 1, (m->n - at - 1) * sizeof(*e));
	m->n--;
	if (m->slots)
		rebuild(m, m->slots);
	return true;
}
