/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/work.h"

#include "engine/world.h"

#include "engine/planner.h"

static void add_open(struct work *w, const struct journal_row *row)
{
	struct open_create *o = arena_obj(w->a, struct open_create);

	*o = (struct open_create){ row, map_getc(&w->open, row->addr) };
	map_put(&w->open, str_of(row->addr), o);
}

int work_load(struct work *w, struct err *e)
{
	struct state_resources rows;
	struct journal_rows intents;

	map_init(&w->recorded, w->a);
	map_init(&w->open, w->a);
	map_init(&w->running, w->a);
	if (context_resources(w->en, w->a, &rows, e) || context_intents(w->en, w->a, &intents, e))
		return -1;
	for (size_t i = 0; i < rows.v.n; i++)
		map_put(&w->recorded, str_of(rows.v.v[i]->addr), rows.v.v[i]);
	for (size_t i = 0; i < intents.v.n; i++)
		if (strcmp(intents.v.v[i]->action, "create") == 0)
			add_open(w, intents.v.v[i]);
	map_init(&w->want.by_addr, w->a);
	return w->en->o.spec ? planner_want(w->en, w->a, &w->want, e) : 0;
}

const struct state_resource *work_recorded(const struct work *w, const char *addr)
{
	return map_getc(&w->recorded, addr);
}

int work_intent(struct work *w, struct journal_row *row, struct err *e)
{
	row->run = w->en->run;
	fault_point(row->action, "before");
	if (journal_intent(w->commit.state, row, &row->seq, e) || commit_wait(&w->commit, e))
		return -1;
	fault_point(row->action, "intent");
	return 0;
}

static const char *error_text(struct work *w, const struct err *why)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, 4096);
	if (!why || why->kind == ERR_NONE)
		return NULL;
	scrub(&b, str_of(why->msg));
	return buf_dup(&b, w->a);
}

int work_settle(struct work *w, const struct journal_row *row, enum journal_outcome outcome,
		const struct err *why, const struct state_resource *put, struct err *e)
{
	const char *request = row->request	       ? row->request
			      : why && why->request[0] ? why->request
						       : NULL;
	struct journal_result result = {
		.outcome = outcome, .request = request, .error = error_text(w, why), .put = put
	};

	fault_point(row->action, "done");
	if (journal_settle(w->commit.state, row->seq, &result, e))
		return -1;
	fault_point(row->action, "settled");
	if (put) {
		map_put(&w->recorded, str_of(put->addr), (void *)put);
		world_learn(w->en, put);
	}
	commit_kick(&w->commit);
	return 0;
}

int work_settle_gone(struct work *w, const struct journal_row *row, struct err *e)
{
	struct journal_result result = { .outcome = JOURNAL_DONE,
					 .request = row->request,
					 .del = row->addr };

	fault_point(row->action, "done");
	if (journal_settle(w->commit.state, row->seq, &result, e))
		return -1;
	fault_point(row->action, "settled");
	map_put(&w->recorded, str_of(row->addr), NULL);
	commit_kick(&w->commit);
	return 0;
}

static void add_note(struct arena *a, struct step_note *n, struct value *data)
{
	n->told = true;
	value_set(data, "action", value_cstr(a, n->action));
	value_set(data, "ms", value_int(a, clock_now() - n->started));
	if (!n->after)
		return;
	value_set(data, "after", value_cstr(a, n->after));
	value_set(data, "wait", value_cstr(a, n->wait));
}

int work_event(struct work *w, const char *addr, const char *what, const struct err *why,
	       struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("event");
	const char *text = error_text(w, why);
	struct step_note *note = map_getc(&w->running, addr);
	struct value *data = text || note ? value_map(a) : NULL;

	if (note)
		add_note(a, note, data);
	if (text) {
		value_set(data, "error", value_cstr(a, text));
		value_set(data, "kind", value_cstr(a, err_kind_name(why->kind)));
		if (why->request[0])
			value_set(data, "request", value_cstr(a, why->request));
	}
	if (state_event_add(w->commit.state, w->en->run, addr, what, data, e))
		return -1;
	commit_kick(&w->commit);
	return 0;
}

int work_seal(struct work *w, const struct value *v, const struct value **out, struct err *e)
{
	*out = v;
	return v && value_has_secret(v) ? state_seal(w->commit.state, w->a, v, out, e) : 0;
}

/* The name is kept with what was asked for: nodes must be named when no spec does any more. */
static const struct value *named(struct arena *a, const struct value *want, const char *name)
{
	struct value *own = value_map(a);

	if (name)
		value_set(own, "name", value_cstr(a, name));
	return want && want->kind == V_MAP ? value_merge(a, want, own, false) : own;
}

int work_row(struct work *w, const struct made *m, struct state_resource **out, struct err *e)
{
	struct state_resource *r = arena_obj(w->a, struct state_resource);
	struct value *attrs = m->seen->attrs ? value_copy(w->a, m->seen->attrs) : value_map(w->a);

	if (m->host_keys && !value_get(attrs, "host_keys"))
		value_set(attrs, "host_keys", m->host_keys);
	*r = (struct state_resource){
		.addr = arena_strdup(w->a, m->addr),
		.kind = arena_strdup(w->a, m->kind),
		.provider = arena_strdup(w->a, m->provider),
		.provider_type = arena_strdup(w->a, m->provider_type),
		.id = arena_strdup(w->a, m->seen->id),
		.token = arena_strdup(w->a, m->token),
		.pool = arena_strdup(w->a, m->pool),
		.status = m->status,
		.want = named(w->a, m->want, m->name),
	};
	for (size_t i = 0; i < m->n_deps; i++)
		VEC_ADD(w->a, &r->deps) = arena_strdup(w->a, m->deps[i]);
	*out = r;
	return work_seal(w, attrs, &r->attrs, e);
}
