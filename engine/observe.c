/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/observe.h"

#include <stdlib.h>

#include "engine/ask.h"
#include "engine/fan.h"
#include "engine/retry.h"

#define LIST_BUDGET_MS 120000
#define LIST_WORKERS   16

struct seen_list *observe_list(const struct observation *o, const char *provider, const char *kind)
{
	/* Few lists, many questions: comparing beats making a key. */
	for (size_t i = 0; i < o->lists.n; i++)
		if (strcmp(o->lists.v[i]->provider, provider) == 0 &&
		    strcmp(o->lists.v[i]->kind, kind) == 0)
			return o->lists.v[i];
	return NULL;
}

int observe_need(struct engine *en, struct arena *a, struct observation *o, const char *provider,
		 const char *kind, struct err *e)
{
	struct engine_provider *ep;

	if (observe_list(o, provider, kind))
		return 0;
	if (context_provider(en, provider, &ep, e))
		return -1;
	struct seen_list *l = arena_obj(a, struct seen_list);
	l->provider = ep->name;
	l->kind = arena_strdup(a, kind);
	l->ep = ep;
	l->type = want_type(ep->type, kind);
	if (!l->type)
		return err_set(e, ERR_SPEC, "provider \"%s\" knows no %s in this version", provider,
			       kind);
	VEC_ADD(a, &o->lists) = l;
	return 0;
}

struct list_run {
	struct engine *en;
	struct arena *a;
	struct observation *o;
};

static void index_list(struct arena *a, struct seen_list *l)
{
	map_init(&l->by_id, a);
	map_init(&l->by_token, a);
	for (size_t i = 0; i < l->seen.v.n; i++) {
		struct resource_seen *s = l->seen.v.v[i];
		if (s->id)
			map_put(&l->by_id, str_of(s->id), s);
		if (s->token)
			map_put(&l->by_token, str_of(s->token), s);
	}
}

static void note_young(struct seen_list *l, const struct served *at, int64_t began_ms)
{
	int64_t settle_ms = ask_settle_ms(at);

	l->young_ms = settle_ms > 0 ? began_ms - settle_ms : 0;
}

/* A list has no effect, so an answer that got lost may be asked for again at once. */
static void list_one(void *arg, size_t i)
{
	struct list_run *r = arg;
	struct seen_list *l = r->o->lists.v[i];
	struct served at = { l->ep, l->type };
	int64_t began_ms = clock_wall();
	struct retry again = retry_within(LIST_BUDGET_MS);

	for (;;) {
		struct err now = { 0 };
		l->seen = (struct resources_seen){ 0 };
		if (!ask_list(&at, r->a, &l->seen, &now)) {
			index_list(r->a, l);
			note_young(l, &at, began_ms);
			return;
		}
		if (!ask_again(r->en, NULL, &again, &now, &l->err)) {
			l->failed = true;
			return;
		}
	}
}

int observe_run(struct engine *en, struct arena *a, struct observation *o, struct err *e)
{
	struct observation listed = { 0 };
	struct list_run r = { en, a, &listed };

	for (size_t i = 0; i < o->lists.n; i++) {
		o->lists.v[i]->listed = o->lists.v[i]->type->list != NULL;
		if (o->lists.v[i]->listed)
			VEC_ADD(a, &listed.lists) = o->lists.v[i];
	}
	struct fan f = {
		.name = "observe",
		.n = listed.lists.n,
		.workers = LIST_WORKERS,
		.fn = list_one,
		.arg = &r,
		.shown = &en->work,
	};
	if (fan_out(&f, e) || context_check(en, e))
		return -1;
	for (size_t i = 0; i < listed.lists.n; i++) {
		struct seen_list *l = listed.lists.v[i];
		if (!l->failed)
			continue;
		*e = l->err;
		return err_wrap(e, "listing every %s of provider \"%s\"", l->kind, l->provider);
	}
	return 0;
}

bool observe_may_hide(const struct seen_list *l, const struct state_resource *r)
{
	return l->young_ms && r->created_ms > l->young_ms;
}

struct resource_seen *observe_find(const struct seen_list *l, const char *id, const char *token)
{
	struct resource_seen *s = id ? map_getc(&l->by_id, id) : NULL;

	return s || !token ? s : map_getc(&l->by_token, token);
}

static int by_id(const void *x, const void *y)
{
	const struct resource_seen *a = *(struct resource_seen *const *)x,
				   *b = *(struct resource_seen *const *)y;

	return strcmp(a->id ? a->id : "", b->id ? b->id : "");
}

void observe_digest_one(const struct resource_type *t, const struct resource_seen *s, struct buf *b)
{
	buf_addf(b, "%s %s ", s->id ? s->id : "", s->status ? s->status : "");
	for (const struct field *f = t->fields; f && f->name; f++) {
		const struct value *x = value_get(s->attrs, f->name);
		if (f->flags & FIELD_COMPUTED || !x)
			continue;
		json_write(b, x, JSON_SORT);
		buf_addc(b, ' ');
	}
	buf_addc(b, '\n');
}

void observe_digest(struct arena *a, const struct observation *o, struct buf *b)
{
	for (size_t i = 0; i < o->lists.n; i++) {
		const struct seen_list *l = o->lists.v[i];
		struct resource_seen **v = arena_array(a, struct resource_seen *, l->seen.v.n + 1);
		for (size_t k = 0; k < l->seen.v.n; k++)
			v[k] = l->seen.v.v[k];
		qsort(v, l->seen.v.n, sizeof *v, by_id);
		buf_addf(b, "%s %s\n", l->provider, l->kind);
		for (size_t k = 0; k < l->seen.v.n; k++)
			observe_digest_one(l->type, v[k], b);
	}
}
