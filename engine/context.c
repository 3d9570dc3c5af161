/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects outlive the spec that asked for them: `destroy` must work when the spec is gone, and a
 * provider that was taken out of the spec still has what it made. So its type and options (which
 * never hold credentials) are kept in the state beside the objects.
 */
#include "engine/context.h"

static struct engine_provider *provider_new(struct engine *en, const char *name)
{
	struct engine_provider *p = arena_obj(en->a, struct engine_provider);

	p->name = name;
	p->en = en;
	map_put(&en->providers, str_of(name), p);
	return p;
}

int engine_open(struct arena *a, const struct engine_opts *o, struct engine **out, struct err *e)
{
	struct engine *en = arena_obj(a, struct engine);
	const struct spec_provider *rows = o->spec ? o->spec->providers.v : NULL;

	en->a = a;
	en->o = *o;
	if (!en->o.parallel)
		en->o.parallel = 32;
	if (en->o.parallel < 0 || en->o.parallel > 4096)
		return err_set(e, ERR_USAGE, "parallel must be between 1 and 4096");
	map_init(&en->providers, a);
	map_init(&en->configs, a);
	map_init(&en->seen, a);
	for (size_t i = 0; rows && i < o->spec->providers.n; i++) {
		struct engine_provider *p = provider_new(en, str_cstr(a, rows[i].name));
		p->spec = &rows[i];
		p->type = provider_type_find(rows[i].type);
	}
	*out = en;
	return 0;
}

void engine_close(struct engine *en)
{
	if (!en)
		return;
	if (fault_mode == FAULT_COUNTING)
		log_info("%llu fault points were passed", (unsigned long long)fault_passes());
	for (size_t i = 0; i < en->providers.n; i++) {
		struct engine_provider *p = en->providers.e[i].val;
		if (p->p && p->type->close)
			p->type->close(p->p);
		p->p = NULL;
	}
}

void engine_stop(struct engine *en)
{
	en->stopping = true;
	if (en->tick)
		task_sem_give(en->tick); /* the dispatcher looks up and starts nothing more */
	else if (en->work)
		group_cancel(en->work);
}

void engine_abort(struct engine *en)
{
	en->stopping = en->aborting = true;
	if (en->work)
		group_cancel(en->work);
	if (en->tick)
		task_sem_give(en->tick);
}

void context_end(struct engine *en, const struct err *why)
{
	if (en->fatal.kind == ERR_NONE)
		en->fatal = *why;
	if (en->work)
		group_cancel(en->work);
	if (en->tick)
		task_sem_give(en->tick);
}

int context_check(const struct engine *en, struct err *e)
{
	if (en->fatal.kind != ERR_NONE) {
		*e = en->fatal;
		return -1;
	}
	return en->stopping ? err_set(e, ERR_CANCELLED, "stopped") : task_check(e);
}

void context_emit(struct engine *en, const struct engine_event *ev)
{
	struct engine_event now = *ev;

	if (!en->o.on_event)
		return;
	now.run = en->run;
	en->o.on_event(en->o.arg, &now);
}

static const char *meta_key(struct arena *a, const char *name)
{
	return arena_printf(a, "provider.%s", name);
}

/* From what an earlier run recorded. */
static int recall(struct engine *en, const char *name, struct engine_provider **out, struct err *e)
{
	const char *text = NULL;
	struct value *doc = NULL;

	*out = NULL;
	if (context_meta(en, en->a, meta_key(en->a, name), &text, e))
		return -1;
	if (!text)
		return 0;
	if (json_parse(en->a, "state", str_of(text), &doc, e))
		return err_wrap(e, "provider \"%s\" as recorded", name);
	struct spec_provider *s = arena_obj(en->a, struct spec_provider);
	s->name = str_of(arena_strdup(en->a, name));
	s->type = value_get_str(doc, "type", "");
	s->options = value_get(doc, "options");
	struct engine_provider *p = provider_new(en, s->name.p);
	p->spec = s;
	p->type = provider_type_find(s->type);
	*out = p;
	return 0;
}

static int find_provider(struct engine *en, const char *name, struct engine_provider **out,
			 struct err *e)
{
	*out = map_getc(&en->providers, name);
	if (!*out && recall(en, name, out, e))
		return -1;
	if (*out && (*out)->type)
		return 0;
	if (*out)
		return err_set(
			e, ERR_SPEC,
			"provider \"%s\" has a type that this version does not have: \"" STR_FMT
			"\"",
			name, STR_ARG((*out)->spec->type));
	err_set(e, ERR_SPEC, "provider \"%s\" is not in the spec", name);
	return err_hint(
		e,
		"put it back under `providers`, or take its objects out of the state with `muster state rm`");
}

const struct provider_type *context_provider_type(struct engine *en, const char *name)
{
	struct engine_provider *p;
	struct err ignored = { 0 };

	return find_provider(en, name, &p, &ignored) ? NULL : p->type;
}

/* Counted apart by most clouds: each region's API, and there reading and writing. */
static void make_limits(struct engine *en, struct engine_provider *p)
{
	static const char *const kinds[] = { [ASK_READ] = "reads", [ASK_WRITE] = "writes" };
	struct str region = value_get_str(p->spec->options, "region", "");
	const char *name = region.n ? arena_printf(en->a, "%s." STR_FMT, p->name, STR_ARG(region))
				    : p->name;

	limit_init(&p->all, name, p->spec->rate);
	for (int i = 0; i < ASK_KINDS; i++)
		limit_init(&p->limits[i], arena_printf(en->a, "%s (%s)", name, kinds[i]), 0);
}

int context_provider(struct engine *en, const char *name, struct engine_provider **out,
		     struct err *e)
{
	if (find_provider(en, name, out, e))
		return -1;
	struct engine_provider *p = *out;
	if (p->p)
		return 0;
	struct provider_open o = {
		.cluster = en->o.cluster,
		.spec = p->spec,
		.state_dir = en->o.state_dir,
		.self = en->o.self,
	};
	if (p->type->open(en->a, &o, &p->p, e))
		return err_wrap(e, "provider \"%s\"", name);
	make_limits(en, p);
	return 0;
}

static int record_provider(struct engine *en, struct arena *a, const struct engine_provider *p,
			   struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct value *doc = value_map(a);
	const char *old = NULL, *key = meta_key(a, p->name);

	value_set(doc, "type", value_str(a, p->spec->type));
	if (p->spec->options)
		value_set(doc, "options", p->spec->options);
	buf_init(&b, 1 << 20);
	json_write(&b, doc, JSON_SORT);
	if (buf_check(&b, e) || state_meta_get(en->o.state, a, key, &old, e))
		return -1;
	return old && strcmp(old, b.p) == 0 ? 0 : state_meta_put(en->o.state, key, b.p, e);
}

int context_record_providers(struct engine *en, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("provider record");

	for (size_t i = 0; i < en->providers.n; i++) {
		const struct engine_provider *p = en->providers.e[i].val;
		if (p->p && record_provider(en, a, p, e))
			return -1;
	}
	return 0;
}

int context_resources(struct engine *en, struct arena *a, struct state_resources *out,
		      struct err *e)
{
	*out = (struct state_resources){ 0 };
	return en->o.state ? state_resources(en->o.state, a, out, e) : 0;
}

int context_intents(struct engine *en, struct arena *a, struct journal_rows *out, struct err *e)
{
	*out = (struct journal_rows){ 0 };
	return en->o.state ? journal_open_rows(en->o.state, a, out, e) : 0;
}

int context_serial(struct engine *en, int64_t *out, struct err *e)
{
	*out = 0;
	return en->o.state ? state_serial(en->o.state, out, e) : 0;
}

int context_meta(struct engine *en, struct arena *a, const char *key, const char **out,
		 struct err *e)
{
	*out = NULL;
	return en->o.state ? state_meta_get(en->o.state, a, key, out, e) : 0;
}
