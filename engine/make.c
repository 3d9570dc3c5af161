/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a token is used again: a create that a killed run sent may reach the provider after we have
 * looked and found nothing. Repeating it under the same token makes one object whichever arrives
 * first; under a new token it would make two.
 */
#include "engine/make.h"

#include "engine/ask.h"
#include "engine/keys.h"
#include "engine/retry.h"

#define CREATE_BUDGET_MS 1800000
#define DELETE_BUDGET_MS 900000
#define FIND_BUDGET_MS	 60000

static int64_t budget(int64_t type_ms, int64_t fallback)
{
	return type_ms > 0 ? type_ms : fallback;
}

/* ---- asking ---- */

static int find_token(struct engine *en, struct arena *a, const struct served *at,
		      const char *token, struct resource_seen **out, struct err *e)
{
	struct retry again = retry_within(FIND_BUDGET_MS);

	for (;;) {
		struct err now = { 0 };
		if (!ask_find(at, a, token, out, &now))
			return 0;
		if (!ask_again(en, NULL, &again, &now, e))
			return -1;
	}
}

int make_find(struct engine *en, struct arena *a, const struct journal_row *row,
	      struct resource_seen **out, struct err *e)
{
	struct served at;

	if (ask_at(en, row->provider, row->kind, &at, e))
		return -1;
	return find_token(en, a, &at, row->token, out, e);
}

int make_gone(struct engine *en, const struct served *at, const char *id, struct err *e)
{
	struct retry again = retry_within(budget(at->t->delete_timeout_ms, DELETE_BUDGET_MS));

	for (;;) {
		struct err now = { 0 };
		if (!ask_destroy(at, id, &now) || now.kind == ERR_NOT_FOUND)
			return 0;
		/* Deleting twice is deleting once, so a lost reply is simply asked again. */
		if (!ask_again(en, NULL, &again, &now, e))
			return -1;
	}
}

/* ---- create ---- */

struct creation {
	struct work *w;
	struct arena *a;
	const struct want_item *item;
	struct served at;
	struct resource_want want;
	struct journal_row row;
	struct value *host_keys;
	const struct journal_row *older; /* an open intent whose token is used again */
	struct resource_seen *seen;
	bool unsure; /* a request of this or an older run may still have its effect */
};

/* The reply was lost: was it made? Asks for a while, since what was made may show late. */
static int look_up(struct creation *c, struct err *e)
{
	for (int i = 0; i < 4; i++) {
		if (find_token(c->w->en, c->a, &c->at, c->want.token, &c->seen, e))
			return -1;
		if (c->seen || task_sleep(i * 250 + 50, e))
			return c->seen ? 0 : -1;
	}
	return 0;
}

static int send_create(struct creation *c, struct err *e)
{
	const struct resource_type *t = c->item->type;
	struct retry again = retry_within(budget(t->create_timeout_ms, CREATE_BUDGET_MS));

	for (;;) {
		struct err now = { 0 };
		if (!ask_create(&c->at, c->a, &c->want, &c->seen, &now))
			return 0;
		if (now.kind == ERR_TIMEOUT) {
			struct err look = { 0 };
			c->unsure = true;
			if (look_up(c, &look)) {
				*e = look.kind == ERR_CANCELLED ? look : now;
				return -1;
			}
			if (c->seen)
				return 0;
		}
		if (!ask_again(c->w->en, c->item->addr, &again, &now, e))
			return -1;
	}
}

static const struct value *deps_attrs(struct creation *c)
{
	struct value *m = value_map(c->a);

	for (size_t i = 0; i < c->item->deps.n; i++) {
		const struct state_resource *r = work_recorded(c->w, c->item->deps.v[i]);
		if (r && r->attrs)
			value_set(m, r->addr, r->attrs);
	}
	return m;
}

/*
 * Only the public half outlives the step. When an older try may have made the machine, its key
 * counts as well. The private half is marked secret by hand rather than registered with the
 * scrubber, whose work on every line of output would grow with each machine of the fleet.
 */
static int add_host_key(struct creation *c, struct err *e)
{
	struct ssh_keypair k;
	const struct value *old = c->older ? value_get(c->older->want, "host_keys") : NULL;

	if (keys_generate(c->a, c->item->name, &k, e))
		return -1;
	struct value *pair = value_map(c->a);
	struct value *text = value_str(c->a, k.private_text);
	text->secret = true;
	value_set(pair, "private", text);
	value_set(pair, "public", value_cstr(c->a, k.public_line));
	c->want.host_key = pair;
	c->host_keys = value_list(c->w->a);
	value_add(c->w->a, c->host_keys, value_cstr(c->w->a, k.public_line));
	for (size_t i = 0; old && old->kind == V_LIST && i < old->list.n && i < 8; i++)
		value_add(c->w->a, c->host_keys, value_copy(c->w->a, old->list.v[i]));
	return 0;
}

/* Enough to settle the intent without the spec. */
static const struct value *journal_want(struct creation *c)
{
	struct value *m = value_map(c->a), *deps = value_list(c->a);

	value_set(m, "name", value_cstr(c->a, c->item->name));
	value_set(m, "provider_type", value_cstr(c->a, c->item->provider_type->name));
	if (c->item->pool)
		value_set(m, "pool", value_cstr(c->a, c->item->pool));
	value_set(m, "attrs", c->item->sealed);
	for (size_t i = 0; i < c->item->deps.n; i++)
		value_add(c->a, deps, value_cstr(c->a, c->item->deps.v[i]));
	value_set(m, "deps", deps);
	if (c->host_keys)
		value_set(m, "host_keys", c->host_keys);
	return m;
}

/* Not one at another provider: that knows nothing of this one's tokens, and is asked by recover. */
static const struct journal_row *older_here(const struct creation *c, const struct open_create *o)
{
	for (; o; o = o->before)
		if (o->row->token && o->row->provider &&
		    strcmp(o->row->provider, c->item->provider) == 0)
			return o->row;
	return NULL;
}

static void tell_progress(void *arg, const char *text)
{
	const struct creation *c = arg;
	struct engine_event ev = {
		.type = "step_progress",
		.addr = c->item->addr,
		.node = c->item->node ? c->item->name : NULL,
		.text = text,
	};

	context_emit(c->w->en, &ev);
}

/* fresh: a create; an update keeps the host key that is there. */
static int prepare(struct creation *c, const struct change *ch, bool fresh, struct err *e)
{
	char token[TOKEN_LEN];

	c->item = map_getc(&c->w->want.by_addr, ch->addr);
	if (!c->item)
		return err_set(e, ERR_CONFLICT, "%s is not in the spec any more", ch->addr);
	if (ask_at(c->w->en, c->item->provider, c->item->kind, &c->at, e))
		return -1;
	c->older = older_here(c, map_getc(&c->w->open, ch->addr));
	c->unsure = c->older != NULL;
	rand_token(token);
	c->want = (struct resource_want){
		.addr = c->item->addr,
		.name = c->item->name,
		.token = c->older ? c->older->token : arena_strdup(c->a, token),
		.attrs = c->item->attrs,
		.deps = deps_attrs(c),
		.tell = tell_progress,
		.tell_arg = c,
	};
	bool login = !c->at.ep->type->can_login || c->at.ep->type->can_login(c->at.ep->p);
	if (c->item->node && c->item->type->reach && login && c->item->provider_type->owns_hosts) {
		c->want.admin_key = c->w->admin_key;
		if (fresh && add_host_key(c, e))
			return -1;
	}
	c->row = (struct journal_row){
		.addr = c->item->addr,
		.action = "create",
		.token = c->want.token,
		.provider = c->item->provider,
		.kind = c->item->kind,
		.want = journal_want(c),
	};
	return 0;
}

static int creation_row(struct creation *c, enum resource_status status,
			struct state_resource **out, struct err *e)
{
	struct made m = {
		.addr = c->item->addr,
		.kind = c->item->kind,
		.provider = c->item->provider,
		.provider_type = c->item->provider_type->name,
		.name = c->item->name,
		.pool = c->item->pool,
		.token = c->want.token,
		.want = c->item->sealed,
		.host_keys = c->host_keys,
		.deps = c->item->deps.v,
		.n_deps = c->item->deps.n,
		.seen = c->seen,
		.status = status,
	};

	return work_row(c->w, &m, out, e);
}

static int settle_older(struct creation *c, struct err *e)
{
	const struct open_create *o = map_getc(&c->w->open, c->item->addr);

	map_put(&c->w->open, str_of(c->item->addr), NULL);
	for (; o; o = o->before)
		if (o->row->token && strcmp(o->row->token, c->want.token) == 0 &&
		    work_settle(c->w, o->row, JOURNAL_DONE, NULL, NULL, e))
			return -1;
	return 0;
}

/* Errors after which the provider says that it made nothing. For others it is asked. */
static bool made_nothing(enum err_kind k)
{
	return k == ERR_QUOTA || k == ERR_CAPACITY || k == ERR_AUTH || k == ERR_SPEC ||
	       k == ERR_USAGE || k == ERR_NOT_FOUND;
}

/* The create failed for good. Something half-made is recorded as tainted, so that the next plan
 * replaces it. */
static int settle_failure(struct creation *c, const struct err *why, struct err *e)
{
	struct err look = { 0 };
	struct state_resource *r = NULL;
	enum journal_outcome outcome = JOURNAL_FAILED;

	if (why->kind == ERR_CANCELLED)
		return 0; /* the intent stays open: the next run finds out */
	c->seen = NULL;
	if ((c->unsure || !made_nothing(why->kind)) &&
	    find_token(c->w->en, c->a, &c->at, c->want.token, &c->seen, &look))
		outcome = JOURNAL_UNKNOWN;
	/* Stays open, and a later try uses the same token: what is not there yet may still come. */
	if (!c->seen && (why->kind == ERR_TIMEOUT || c->unsure ||
			 (!made_nothing(why->kind) && ask_settle_ms(&c->at) > 0)))
		outcome = JOURNAL_UNKNOWN;
	if (c->seen && creation_row(c, RES_TAINTED, &r, e))
		return -1;
	if (work_settle(c->w, &c->row, outcome, why, r, e))
		return -1;
	if (outcome == JOURNAL_FAILED && settle_older(c, e))
		return -1;
	return work_event(c->w, c->item->addr, "create failed", why, e);
}

int make_create(struct work *w, struct arena *a, const struct change *ch, struct err *e)
{
	struct creation c = { .w = w, .a = a };
	struct state_resource *r;
	struct err journal = { 0 };

	if (prepare(&c, ch, true, e))
		return -1;
	if (work_intent(w, &c.row, e))
		return -1;
	if (send_create(&c, e)) {
		if (settle_failure(&c, e, &journal))
			*e = journal;
		return err_on(e, ch->addr, ch->node);
	}
	c.row.request = c.seen->request;
	if (creation_row(&c, RES_READY, &r, e) ||
	    work_settle(w, &c.row, JOURNAL_DONE, NULL, r, e) || settle_older(&c, e) ||
	    work_event(w, ch->addr, "created", NULL, e))
		return -1;
	/* What was seen before is not what is there now. */
	map_put(&w->en->seen, str_of(r->addr), NULL);
	w->result->created++;
	return 0;
}

/* ---- update ---- */

/* Keys that were asked for once and are no more become null: told to the provider, or it would keep
 * them. */
static const struct value *with_nulls(struct arena *a, const struct resource_type *t,
				      const struct value *want, const struct value *was)
{
	struct value *m = value_merge(a, want, value_map(a), false);

	for (const struct field *f = t->fields; f && f->name; f++)
		if (!(f->flags & FIELD_COMPUTED) && value_get(was, f->name) &&
		    !value_get(want, f->name))
			value_set(m, f->name, value_null(a));
	return m;
}

static int send_update(struct creation *c, const char *id, struct err *e)
{
	const struct resource_type *t = c->item->type;
	struct retry again = retry_within(budget(t->create_timeout_ms, CREATE_BUDGET_MS));

	for (;;) {
		struct err now = { 0 };
		if (!ask_update(&c->at, c->a, id, &c->want, &c->seen, &now))
			return 0;
		/* An update says what shall be, so it may be repeated whatever became of it. */
		if (!ask_again(c->w->en, c->item->addr, &again, &now, e))
			return -1;
	}
}

static bool is_absent(const struct value *v)
{
	return !v || v->kind == V_NULL;
}

bool make_is_as_asked(const struct value *want, const struct value *was,
		      const struct resource_seen *seen)
{
	if (!want || want->kind != V_MAP || (seen->status && strcmp(seen->status, "running") != 0))
		return false;
	for (size_t i = 0; i < want->map.n; i++) {
		const struct value *v = value_gets(seen->attrs, want->map.e[i].key);
		if (is_absent(want->map.e[i].val)
			    ? !is_absent(v)
			    : is_absent(v) || !value_equal(want->map.e[i].val, v))
			return false;
	}
	for (size_t i = 0; was && was->kind == V_MAP && i < was->map.n; i++)
		if (!value_gets(want, was->map.e[i].key) && !str_eqc(was->map.e[i].key, "name") &&
		    !is_absent(value_gets(seen->attrs, was->map.e[i].key)))
			return false;
	return true;
}

static int update_row(struct creation *c, const struct state_resource *old,
		      struct state_resource **out, struct err *e)
{
	struct state_resource *r;

	if (creation_row(c, RES_READY, &r, e))
		return -1;
	r->config_digest = old->config_digest;
	r->created_ms = old->created_ms;
	if (old->status == RES_TAINTED && old->config_digest)
		r->status = RES_TAINTED; /* its configuration is still to be mended */
	*out = r;
	return 0;
}

/* What became of an update that failed? If all of it is there, that is what the record says from
 * now on: no later plan would see a difference and set it right. */
static int look_at_update(struct creation *c, const struct state_resource *old,
			  const struct err *why, struct state_resource **out, struct err *e)
{
	struct err look = { 0 };

	*out = NULL;
	c->seen = NULL;
	if (made_nothing(why->kind) || !old->token ||
	    find_token(c->w->en, c->a, &c->at, old->token, &c->seen, &look) || !c->seen ||
	    !c->seen->id || !make_is_as_asked(c->item->sealed, old->want, c->seen))
		return 0;
	return update_row(c, old, out, e);
}

static int settle_failed_update(struct creation *c, const struct state_resource *old,
				const struct err *why, struct err *e)
{
	struct state_resource *r;

	if (look_at_update(c, old, why, &r, e) ||
	    work_settle(c->w, &c->row, JOURNAL_FAILED, why, r, e))
		return -1;
	return work_event(c->w, c->item->addr, "update failed", why, e);
}

int make_update(struct work *w, struct arena *a, const struct change *ch, struct err *e)
{
	struct creation c = { .w = w, .a = a };
	const struct state_resource *old = work_recorded(w, ch->addr);
	struct state_resource *r;
	struct err journal = { 0 };

	if (!old || !old->id)
		return err_set(e, ERR_CONFLICT, "%s is not recorded", ch->addr);
	if (prepare(&c, ch, false, e))
		return -1;
	c.want.token = old->token;
	c.want.attrs = with_nulls(a, c.item->type, c.item->attrs, old->want);
	c.row.action = "update";
	c.row.token = old->token;
	c.host_keys = value_get(old->attrs, "host_keys");
	if (work_intent(w, &c.row, e))
		return -1;
	if (send_update(&c, old->id, e)) {
		if (e->kind != ERR_CANCELLED && settle_failed_update(&c, old, e, &journal))
			*e = journal;
		return err_on(e, ch->addr, ch->node);
	}
	c.row.request = c.seen->request;
	if (update_row(&c, old, &r, e))
		return -1;
	if (work_settle(w, &c.row, JOURNAL_DONE, NULL, r, e) ||
	    work_event(w, ch->addr, "updated", NULL, e))
		return -1;
	map_put(&w->en->seen, str_of(r->addr), NULL);
	w->result->updated++;
	return 0;
}

/* ---- delete ---- */

int make_delete(struct work *w, struct arena *a, const struct change *ch, struct err *e)
{
	const struct state_resource *old = work_recorded(w, ch->addr);
	struct journal_row row = { .addr = ch->addr, .action = "delete" };
	struct served at;
	struct err journal = { 0 };
	struct value *want = value_map(a);

	if (!old)
		return 0; /* gone already */
	if (ask_at(w->en, old->provider, old->kind, &at, e))
		return -1;
	/* Where it is, which is not where the spec wants it when a pool moves to another provider. */
	row.provider = old->provider;
	row.kind = old->kind;
	row.token = old->token;
	if (old->id)
		value_set(want, "id", value_cstr(a, old->id));
	row.want = want;
	if (work_intent(w, &row, e))
		return -1;
	if (old->id && make_gone(w->en, &at, old->id, e)) {
		if (e->kind != ERR_CANCELLED &&
		    (work_settle(w, &row, JOURNAL_FAILED, e, NULL, &journal) ||
		     work_event(w, ch->addr, "delete failed", e, &journal)))
			*e = journal;
		return err_on(e, ch->addr, ch->node);
	}
	if (work_settle_gone(w, &row, e) || work_event(w, ch->addr, "deleted", NULL, e))
		return -1;
	map_put(&w->en->seen, str_of(ch->addr), NULL);
	if (old->id)
		absence_add(w->a, &w->deleted, &at, old->id, (void *)old);
	w->result->destroyed++;
	return 0;
}

int64_t make_may_appear_ms(const struct served *at, const struct journal_row *row, int64_t now_ms)
{
	bool looked = row->outcome == JOURNAL_UNKNOWN && row->settled_ms > 0;
	int64_t since = looked ? row->settled_ms : now_ms;
	int64_t left = since + ask_settle_ms(at) - now_ms;

	/* a clock that was put back must not make it wait for ever, nor for less than it should */
	return left < 0 ? 0 : left > ask_settle_ms(at) ? ask_settle_ms(at) : left;
}

/* It is not gone: the record has it again, as something to be deleted, without what it stood on if
 * that is gone. Where a replacement has its address by now, gc finds it. */
static int put_back(struct work *w, const struct state_resource *old, struct err *e)
{
	struct state_resource *r = arena_obj(w->a, struct state_resource);

	if (work_recorded(w, old->addr))
		return 0;
	*r = *old;
	r->status = RES_DELETING;
	memset(&r->deps, 0, sizeof r->deps);
	for (size_t i = 0; i < old->deps.n; i++)
		if (work_recorded(w, old->deps.v[i]))
			VEC_ADD(w->a, &r->deps) = old->deps.v[i];
	map_put(&w->recorded, str_of(r->addr), r);
	return state_resource_put(w->commit.state, r, e);
}

static int deny_deletion(struct work *w, const struct state_resource *old, struct err *e)
{
	struct node_failure *f = arena_obj(w->a, struct node_failure);
	struct engine_event ev = { .type = "step_failed", .addr = old->addr, .action = "delete" };

	*f = (struct node_failure){ .addr = old->addr, .action = "delete" };
	err_set(&f->err, ERR_REMOTE, "the provider took the deletion and still lists %s", old->id);
	if (work_recorded(w, old->addr))
		err_hint(&f->err, "`muster gc` shows it, and can delete it");
	err_on(&f->err, old->addr, NULL);
	VEC_ADD(w->a, &w->result->failures) = f;
	w->result->failed++;
	w->result->done -= w->result->done > 0;
	w->result->destroyed -= w->result->destroyed > 0;
	ev.err = &f->err;
	ev.text = f->err.msg;
	context_emit(w->en, &ev);
	return put_back(w, old, e) || work_event(w, old->addr, "delete failed", &f->err, e) ? -1
											    : 0;
}

int make_read_back(struct work *w, struct err *e)
{
	if (absence_check(w->en, &w->deleted, e))
		return -1;
	for (size_t i = 0; i < w->deleted.v.n; i++) {
		const struct absentee *x = w->deleted.v.v[i];
		const struct state_resource *old = x->item;
		if (x->present && deny_deletion(w, old, e))
			return -1;
	}
	return 0;
}

/* A create that was never recorded and is not wanted any more. What shows up after all is deleted. */
static int drop_open(struct work *w, struct arena *a, const struct journal_row *open, struct err *e)
{
	struct resource_seen *seen;
	struct served at;
	struct err why = { 0 };

	if (ask_at(w->en, open->provider, open->kind, &at, e))
		return -1;
	int64_t young = make_may_appear_ms(&at, open, clock_wall());
	if (young > 0 && task_sleep(young, e))
		return -1;
	if (make_find(w->en, a, open, &seen, e))
		return -1;
	if (seen && make_gone(w->en, &at, seen->id, e))
		return -1;
	err_set(&why, ERR_NOT_FOUND, seen ? "it was deleted again" : "it never happened");
	return work_settle(w, open, JOURNAL_FAILED, &why, NULL, e);
}

int make_forget(struct work *w, struct arena *a, const struct change *ch, struct err *e)
{
	const struct open_create *o = map_getc(&w->open, ch->addr);

	map_put(&w->open, str_of(ch->addr), NULL);
	for (; o; o = o->before)
		if (drop_open(w, a, o->row, e))
			return -1;
	if (!work_recorded(w, ch->addr))
		return 0;
	if (state_resource_del(w->commit.state, ch->addr, e) ||
	    work_event(w, ch->addr, "forgotten", NULL, e))
		return -1;
	map_put(&w->recorded, str_of(ch->addr), NULL);
	return 0;
}
