/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/absence.h"

#include "engine/retry.h"

void absence_add(struct arena *a, struct absentees *l, const struct served *at, const char *id,
		 void *item)
{
	struct absentee *x = arena_obj(a, struct absentee);

	*x = (struct absentee){ .at = *at, .id = id, .item = item };
	VEC_ADD(a, &l->v) = x;
}

static bool same_list(const struct absentee *x, const struct absentee *y)
{
	return x->at.ep == y->at.ep && x->at.t == y->at.t;
}

/* Of the list that `first` is on; how many are still there. */
static size_t compare(struct arena *a, struct absentees *l, const struct absentee *first,
		      const struct resources_seen *seen)
{
	struct map ids;
	size_t left = 0;

	map_init(&ids, a);
	for (size_t i = 0; i < seen->v.n; i++)
		if (seen->v.v[i]->id)
			map_put(&ids, str_of(seen->v.v[i]->id), seen->v.v[i]);
	for (size_t i = 0; i < l->v.n; i++) {
		struct absentee *x = l->v.v[i];
		if (!same_list(x, first))
			continue;
		x->asked = true;
		x->present = map_getc(&ids, x->id) != NULL;
		left += x->present;
	}
	return left;
}

static int check_list(struct engine *en, struct absentees *l, const struct absentee *first,
		      struct err *e)
{
	struct retry again = retry_within(first->at.t->linger_ms);

	again.stop = &en->stopping;
	for (;;) {
		scoped(arena_freep) struct arena *a = arena_new("absence");
		struct resources_seen seen;
		struct err late = { 0 };
		if (ask_list_again(en, a, &first->at, &seen, e))
			return -1;
		if (!compare(a, l, first, &seen) || !retry_again(&again, &late))
			return 0;
	}
}

int absence_check(struct engine *en, struct absentees *l, struct err *e)
{
	for (size_t i = 0; i < l->v.n; i++) {
		const struct absentee *x = l->v.v[i];
		struct err why = { 0 };
		bool listed = !x->at.t->list;
		/* Few lists, and equal ones stand together. */
		for (size_t k = i; k > 0 && !listed; k--)
			listed = same_list(l->v.v[k - 1], x);
		if (listed || !check_list(en, l, x, &why))
			continue;
		if (why.kind == ERR_CANCELLED) {
			*e = why;
			return -1;
		}
		log_warn("a deletion could not be read back: %s", why.msg);
	}
	return 0;
}
