/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last rows are read and no more, so that a long history costs nothing; the median and not the
 * mean, because one step that hung for an hour says little about the next.
 */
#include <stdlib.h>

#include "state/sql.h"

#define PACE_ROWS "20000"

struct samples {
	struct journal_pace *pace;
	VEC(int64_t) ms;
};

static int compare_ms(const void *x, const void *y)
{
	int64_t one = *(const int64_t *)x, other = *(const int64_t *)y;

	return one < other ? -1 : one > other;
}

/* "gpu" of node.gpu[17]; NULL: no node. */
static const char *pool_of(struct arena *a, const char *addr)
{
	const char *name, *end;

	if (!addr || strncmp(addr, "node.", 5) != 0)
		return NULL;
	name = addr + 5;
	end = strchr(name, '[');
	return end ? arena_dup(a, name, (size_t)(end - name)) : NULL;
}

static void add_sample(struct arena *a, struct map *by_key, sqlite3_stmt *st)
{
	const char *pool = pool_of(a, sql_col_text(a, st, 0)), *action = sql_col_text(a, st, 1);

	if (!pool || !action)
		return;
	struct str key = str_of(arena_printf(a, "%s %s", action, pool));
	struct samples *s = map_get(by_key, key);
	if (!s) {
		s = arena_obj(a, struct samples);
		s->pace = arena_obj(a, struct journal_pace);
		*s->pace = (struct journal_pace){ .pool = pool, .action = action };
		map_put(by_key, key, s);
	}
	VEC_ADD(a, &s->ms) = sqlite3_column_int64(st, 2);
}

int journal_pace(struct state *s, struct arena *a, struct journal_paces *out, struct err *e)
{
	struct map by_key;
	sqlite3_stmt *st;
	int rc;

	map_init(&by_key, a);
	if (sql_query(s,
		      "SELECT addr, action, settled_ms - at_ms FROM journal WHERE outcome = 1 AND "
		      "settled_ms >= at_ms ORDER BY seq DESC LIMIT " PACE_ROWS,
		      SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) == 1)
		add_sample(a, &by_key, st);
	if (rc < 0)
		return -1;
	for (size_t i = 0; i < by_key.n; i++) {
		struct samples *sm = by_key.e[i].val;
		qsort(sm->ms.v, sm->ms.n, sizeof *sm->ms.v, compare_ms);
		sm->pace->n = sm->ms.n;
		sm->pace->median_ms = sm->ms.v[sm->ms.n / 2];
		VEC_ADD(a, &out->v) = sm->pace;
	}
	return 0;
}
