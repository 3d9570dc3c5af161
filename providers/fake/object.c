/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of the fake cloud, the same for every kind of object. Half of a call's delay passes
 * before its effect and half after, so a muster that is killed while it waits has sometimes made
 * the object and sometimes not, as with a real cloud.
 */
#include "providers/fake/cloud.h"

static const char *const points[] = {
	[FAKE_CREATE] = "cloud.create",	  [FAKE_UPDATE] = "cloud.update",
	[FAKE_DESTROY] = "cloud.destroy", [FAKE_LIST] = "cloud.list",
	[FAKE_FIND] = "cloud.find",	  [FAKE_REBOOT] = "cloud.reboot",
};

/* Decides the call's fate and waits the first half. -1: the call fails here, without effect. */
static int enter(struct provider *p, enum fake_call call, const char *name, struct fake_fate *f,
		 struct err *e)
{
	if (fake_fate(p, call, name, f, e))
		return -1;
	f->call = call;
	if (f->delay_ms && task_sleep(f->delay_ms / 2, e))
		return -1;
	fault_point(points[call], "left");
	if (f->fails)
		return fake_fail(f, name ? name : "a call", e);
	return 0;
}

/* The second half. A caller that stops waiting can't know the effect: TIMEOUT tells it apart from a
 * refusal. */
static int leave(const struct fake_fate *f, const char *name, struct err *e)
{
	fault_point(points[f->call], "effect");
	if (f->delay_ms && task_sleep(f->delay_ms - f->delay_ms / 2, e))
		return -1;
	return f->lost || f->late ? fake_fail(f, name ? name : "a call", e) : 0;
}

static int check_room(struct provider *p, const char *kind, struct err *e)
{
	int64_t n;
	if (strcmp(kind, "machine"))
		return 0;
	if (p->o.capacity) {
		if (fake_count(p, kind, false, &n, e))
			return -1;
		if (n >= p->o.capacity)
			return err_set(e, ERR_CAPACITY,
				       "fake cloud: no room for another machine (%lld of %lld)",
				       (long long)n, (long long)p->o.capacity);
	}
	if (p->o.quota) {
		if (fake_count(p, kind, true, &n, e))
			return -1;
		if (n >= p->o.quota) {
			err_set(e, ERR_QUOTA, "fake cloud: the quota of %lld machines is used up",
				(long long)p->o.quota);
			return err_hint(e, "raise `quota` of the provider");
		}
	}
	return 0;
}

static int insert(struct provider *p, struct arena *a, const struct fake_kind *k,
		  const struct resource_want *w, struct err *e)
{
	struct value *attrs = w->attrs ? value_copy(a, w->attrs) : value_map(a);
	int64_t id;
	if (check_room(p, k->kind, e) || fake_put(p, k->kind, w, attrs, &id, e))
		return -1;
	k->compute(p, a, id, w->deps, attrs);
	return fake_set(p, id, attrs, "running", e);
}

/* Makes it, unless this token has made it before. */
static int make_once(struct provider *p, struct arena *a, const struct fake_kind *k,
		     const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	if (fake_begin(p, e))
		return -1;
	if (fake_by_token(p, a, k->kind, w->token, out, e))
		goto fail;
	if (!*out && (insert(p, a, k, w, e) || fake_by_token(p, a, k->kind, w->token, out, e)))
		goto fail;
	return fake_commit(p, e);
fail:
	fake_rollback(p);
	return -1;
}

int fake_create(struct provider *p, struct arena *a, const struct fake_kind *k,
		const struct resource_want *w, struct resource_seen **out, struct err *e)
{
	struct fake_fate f;
	if (enter(p, FAKE_CREATE, w->name, &f, e))
		return -1;
	if (f.delay_ms)
		want_tell(w, "building");
	if (make_once(p, a, k, w, out, e) || (f.twice && make_once(p, a, k, w, out, e)) ||
	    (f.vanish && fake_drop(p, k->kind, (*out)->id, e)))
		return err_req(e, f.request);
	if (leave(&f, w->name, e))
		return -1;
	(*out)->request = arena_strdup(a, f.request);
	return 0;
}

/* The keys that the user may set come from want; what the provider computed stays. */
static struct value *merge_attrs(struct arena *a, const struct value *old, const struct value *want)
{
	struct value *v = value_copy(a, old);
	for (size_t i = 0; want && i < want->map.n; i++)
		value_sets(v, want->map.e[i].key, want->map.e[i].val);
	return v;
}

static int change(struct provider *p, struct arena *a, const char *kind, const char *id,
		  const struct value *want, struct err *e)
{
	struct resource_seen *s;
	int64_t n = 0;
	if (fake_begin(p, e))
		return -1;
	if (fake_by_id(p, a, kind, id, &s, e))
		goto fail;
	if (!s || !fake_id_parse(kind, id, &n)) {
		err_set(e, ERR_NOT_FOUND, "fake cloud: there is no %s %s", kind, id);
		goto fail;
	}
	if (fake_set(p, n, merge_attrs(a, s->attrs, want), "running", e))
		goto fail;
	return fake_commit(p, e);
fail:
	fake_rollback(p);
	return -1;
}

int fake_update(struct provider *p, struct arena *a, const char *kind, const char *id,
		const struct value *want, struct err *e)
{
	struct fake_fate f;
	struct resource_seen *s;
	if (fake_by_id(p, a, kind, id, &s, e))
		return -1;
	if (enter(p, FAKE_UPDATE, s ? s->name : NULL, &f, e))
		return -1;
	if (change(p, a, kind, id, want, e) || (f.twice && change(p, a, kind, id, want, e)))
		return err_req(e, f.request);
	return leave(&f, id, e);
}

int fake_destroy(struct provider *p, const struct fake_kind *k, const char *id, struct err *e)
{
	struct fake_fate f;
	struct resource_seen *s;
	struct arena *a = arena_new("fake destroy");
	int rc = fake_by_id(p, a, k->kind, id, &s, e);
	if (!rc)
		rc = enter(p, FAKE_DESTROY, s ? s->name : NULL, &f, e);
	if (!rc && !f.ignored)
		rc = fake_drop(p, k->kind, id, e); /* one statement is a transaction of its own */
	if (!rc)
		rc = leave(&f, id, e);
	arena_free(a);
	return rc;
}

int fake_list(struct provider *p, struct arena *a, const struct fake_kind *k,
	      struct resources_seen *out, struct err *e)
{
	int64_t last = 0;
	for (;;) {
		struct fake_fate f;
		size_t before = out->v.n;
		if (enter(p, FAKE_LIST, NULL, &f, e) || fake_page(p, a, k->kind, &last, out, e) ||
		    leave(&f, "list", e))
			return -1;
		const char *request = arena_strdup(a, f.request);
		for (size_t i = before; i < out->v.n; i++)
			out->v.v[i]->request = request;
		if ((int64_t)(out->v.n - before) < p->o.page)
			return 0;
		task_yield(); /* thousands of rows were parsed: let the others run */
	}
}

int64_t fake_settle(const struct provider *p)
{
	return p->o.settle_ms;
}

int fake_find(struct provider *p, struct arena *a, const struct fake_kind *k, const char *token,
	      struct resource_seen **out, struct err *e)
{
	struct fake_fate f;
	*out = NULL;
	bool shown = true;
	if (enter(p, FAKE_FIND, NULL, &f, e) || fake_by_token(p, a, k->kind, token, out, e) ||
	    (*out && fake_shown(p, k->kind, (*out)->id, &shown, e)))
		return -1;
	if (!shown)
		*out = NULL;
	return leave(&f, "find", e);
}

int fake_reboot(struct provider *p, const struct fake_kind *k, const char *id, struct err *e)
{
	struct fake_fate f;
	struct arena *a = arena_new("fake reboot");
	struct resource_seen *s;
	int rc = fake_by_id(p, a, k->kind, id, &s, e);
	if (!rc)
		rc = enter(p, FAKE_REBOOT, s ? s->name : NULL, &f, e);
	if (!rc)
		rc = change(p, a, k->kind, id, NULL, e);
	if (!rc)
		rc = leave(&f, id, e);
	arena_free(a);
	return rc;
}
