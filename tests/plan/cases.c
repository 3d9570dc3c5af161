/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cases in a file, several to a file, each told by what changed: README.md in this folder. The
 * record and the observation of a case come from its `was`: a spec that is taken as applied;
 * `world` says what has happened since.
 */
#include "golden.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cli/view.h"

#define HEAD	"cluster: golden\n"
#define CLOUD	"providers: {cloud: {type: fake}}\n"
#define LIST_OF "%s %s" /* PROVIDER KIND */

struct section {
	struct str name, text; /* "plan", "markdown 2000" */
};

struct one_case {
	struct str name;
	VEC(struct section) sections;
};

struct case_file {
	struct arena *a;
	const char *path;
	struct str preface; /* before the first case */
	VEC(struct one_case) cases;
};

/* What a case is made of while its record is built from `was`. */
struct past {
	struct golden *g;
	const struct value *world;
	struct map said; /* key of the world -> what it says of each node */
	struct spec *spec;
	struct fleet *fleet;
	struct want want;
	struct value *resources, *journal, *lists;
};

/* ---- the file ---- */

static void read_file(struct case_file *f)
{
	struct str text, line;
	struct err e = { 0 };
	struct section *s = NULL;
	struct one_case *c = NULL;

	if (fs_read(f->a, f->path, 8 << 20, &text, &e))
		fail_msg("%s: %s", f->path, e.msg);
	f->preface = (struct str){ text.p, 0 };
	for (struct str rest = text; rest.n;) {
		const char *at = rest.p;
		if (!str_next(&rest, '\n', &line))
			break;
		if (str_starts(line, "==== ")) {
			c = &VEC_ADD(f->a, &f->cases);
			*c = (struct one_case){ .name = str_sub(line, 5, SIZE_MAX) };
			s = NULL;
		} else if (c && str_starts(line, "---- ")) {
			s = &VEC_ADD(f->a, &c->sections);
			*s = (struct section){ str_sub(line, 5, SIZE_MAX), { rest.p, 0 } };
		} else {
			struct str *into = s ? &s->text : !c ? &f->preface : NULL;
			if (!into)
				fail_msg("%s: a line before the first section of " STR_FMT, f->path,
					 STR_ARG(c->name));
			into->n = (size_t)(at - into->p) + line.n + 1;
		}
	}
}

static void write_file(const struct case_file *f)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct err e = { 0 };

	buf_init(&b, 16 << 20);
	buf_addstr(&b, f->preface);
	for (size_t i = 0; i < f->cases.n; i++) {
		const struct one_case *c = &f->cases.v[i];
		buf_addf(&b, "==== " STR_FMT "\n", STR_ARG(c->name));
		for (size_t k = 0; k < c->sections.n; k++)
			buf_addf(&b, "---- " STR_FMT "\n" STR_FMT, STR_ARG(c->sections.v[k].name),
				 STR_ARG(c->sections.v[k].text));
	}
	if (fs_write_atomic(f->path, buf_str(&b), 0644, &e))
		fail_msg("%s: %s", f->path, e.msg);
}

static struct str section_of(const struct one_case *c, const char *name)
{
	for (size_t i = 0; i < c->sections.n; i++)
		if (str_eqc(c->sections.v[i].name, name))
			return c->sections.v[i].text;
	return STR_NONE;
}

/* ---- reading a case ---- */

static const struct value *yaml_of(struct golden *g, struct str text)
{
	struct err_list errs = { 0 };
	struct value *v = NULL;

	if (!str_trim(text).n)
		return value_map(g->a);
	if (yaml_parse(g->a, g->name, text, YAML_ANSIBLE, &v, &errs))
		fail_msg("%s: line %d: %s", g->name, errs.v[0].pos.line, errs.v[0].msg);
	err_list_fini(&errs);
	return v;
}

/* A spec of a case leaves out what is the same everywhere. */
static void spec_of(struct golden *g, struct str text, const char *dir, struct spec **spec,
		    struct fleet **fleet)
{
	const char *path = fs_join(g->a, dir, "spec.yaml");
	bool cloud = str_find(text, STR("providers:")) == SIZE_MAX;
	FILE *f = fopen(path, "w");

	if (!f || fprintf(f, "%s%s" STR_FMT, HEAD, cloud ? CLOUD : "", STR_ARG(text)) < 0 ||
	    fclose(f))
		fail_msg("%s: cannot write %s", g->name, path);
	golden_spec(g, path);
	*spec = g->spec;
	*fleet = g->fleet;
}

/* Names to values: of a list of node sets, or of a map whose keys are node sets. The first that
 * names a node counts. */
static struct map *index_of(const struct golden *g, const struct value *where)
{
	struct map *m = arena_obj(g->a, struct map);
	size_t n = where->kind == V_MAP ? where->map.n : where->list.n;

	map_init(m, g->a);
	for (size_t i = 0; i < n; i++) {
		bool is_map = where->kind == V_MAP;
		struct str set = is_map ? where->map.e[i].key : where->list.v[i]->s;
		struct value *v = is_map ? where->map.e[i].val : where->list.v[i];
		struct names names = { 0 };
		struct err e = { 0 };
		if (hostlist_expand(g->a, set, &names, &e))
			fail_msg("%s: %s", g->name, e.msg);
		for (size_t k = 0; k < names.v.n; k++)
			if (!map_getc(m, names.v.v[k]))
				map_put(m, str_of(names.v.v[k]), v);
	}
	return m;
}

static const struct value *world(struct past *p, const char *key, const char *name)
{
	const struct value *where = value_get(p->world, key);
	struct map *m = map_getc(&p->said, key);

	if (!where)
		return NULL;
	if (!m) {
		m = index_of(p->g, where);
		map_put(&p->said, str_of(key), m);
	}
	return map_getc(m, name);
}

/* ---- the record and the observation ---- */

static void set_text(struct past *p, struct value *m, const char *key, const char *text)
{
	if (text)
		value_set(m, key, value_cstr(p->g->a, text));
}

static struct value *list_of(struct past *p, const struct want_item *w)
{
	const char *key = arena_printf(p->g->a, LIST_OF, w->provider, w->kind);
	struct value *l = value_get(p->lists, key);

	if (!l) {
		l = value_list(p->g->a);
		value_set(p->lists, key, l);
	}
	return l;
}

static const struct value *attrs_of(struct past *p, const struct want_item *w, size_t i)
{
	struct value *m = value_merge(p->g->a, w->sealed, value_map(p->g->a), false);

	if (w->node)
		value_set(m, "address",
			  value_strf(p->g->a, "10.%zu.%zu.%zu", i >> 16, (i >> 8) & 255, i & 255));
	else
		value_set(m, "network_id", value_strf(p->g->a, "net-%s", w->name));
	return m;
}

static void add_seen(struct past *p, const struct want_item *w, const char *name,
		     const struct value *attrs)
{
	struct value *m = value_map(p->g->a);
	const struct value *more = world(p, "attrs", name), *status = world(p, "status", name);

	set_text(p, m, "id", arena_printf(p->g->a, "id-%s", name));
	set_text(p, m, "token", arena_printf(p->g->a, "token-%s", name));
	value_set(m, "attrs", more ? value_merge(p->g->a, attrs, more, false) : attrs);
	if (status)
		value_set(m, "status", status);
	value_add(p->g->a, list_of(p, w), m);
}

static const struct value *deps_of(struct past *p, const struct want_item *w)
{
	struct value *l = value_list(p->g->a);

	for (size_t i = 0; i < w->deps.n; i++)
		value_add(p->g->a, l, value_cstr(p->g->a, w->deps.v[i]));
	return l;
}

static void add_journal(struct past *p, const struct want_item *w, const char *name,
			const char *action)
{
	struct value *m = value_map(p->g->a), *want = value_map(p->g->a);

	set_text(p, m, "addr", w->addr);
	set_text(p, m, "action", action);
	set_text(p, m, "token", arena_printf(p->g->a, "token-%s", name));
	set_text(p, m, "provider", w->provider);
	set_text(p, m, "kind", w->kind);
	value_set(want, "attrs", w->sealed);
	set_text(p, want, "pool", w->pool);
	value_set(want, "deps", deps_of(p, w));
	value_set(m, "want", want);
	value_add(p->g->a, p->journal, m);
}

static void add_recorded(struct past *p, const struct want_item *w, const char *name,
			 const struct value *attrs)
{
	struct value *m = value_map(p->g->a);
	const struct value *digest = w->pool ? world(p, "configured", w->pool) : NULL;
	const struct value *own = world(p, "configured", name);

	set_text(p, m, "addr", w->addr);
	set_text(p, m, "kind", w->kind);
	set_text(p, m, "provider", w->provider);
	set_text(p, m, "provider_type", w->provider_type->name);
	set_text(p, m, "id", arena_printf(p->g->a, "id-%s", name));
	set_text(p, m, "token", arena_printf(p->g->a, "token-%s", name));
	set_text(p, m, "pool", w->pool);
	set_text(p, m, "status", world(p, "tainted", name) ? "tainted" : NULL);
	value_set(m, "want", w->sealed);
	value_set(m, "attrs", attrs);
	value_set(m, "deps", deps_of(p, w));
	if (own || digest)
		value_set(m, "config_digest", own ? own : digest);
	value_add(p->g->a, p->resources, m);
}

static void add_past(struct past *p, const struct want_item *w, size_t i)
{
	const char *name = w->node ? w->name : w->addr;
	const struct value *attrs = attrs_of(p, w, i), *cut = world(p, "interrupted", name);

	if (cut)
		add_journal(p, w, name,
			    cut->kind == V_STR && str_eqc(cut->s, "delete")	 ? "delete"
			    : cut->kind == V_STR && str_eqc(cut->s, "configure") ? "configure"
										 : "create");
	bool create = cut && str_starts(cut->s, "create");
	if (!create)
		add_recorded(p, w, name, attrs);
	bool lost = create && str_eqc(cut->s, "create lost");
	if (!lost && !world(p, "gone", name))
		add_seen(p, w, name, attrs);
}

static int by_addr(const void *x, const void *y)
{
	const struct want_item *const *one = x, *const *other = y;

	return strcmp((*one)->addr, (*other)->addr);
}

/* As the state gives it: in the order of addresses. */
static void build_past(struct past *p)
{
	struct golden *g = p->g;
	struct want_source src = { .spec = p->spec,
				   .fleet = p->fleet,
				   .type_of = provider_type_find,
				   .seal = golden_seal,
				   .arg = g };
	struct value *recorded = value_map(g->a), *observed = value_map(g->a),
		     *probes = value_map(g->a);
	struct err e = { 0 };

	map_init(&p->said, g->a);
	p->resources = value_list(g->a);
	p->journal = value_list(g->a);
	p->lists = value_map(g->a);
	if (p->spec && want_build(g->a, &src, &p->want, &e))
		fail_msg("%s: %s", g->name, e.msg);
	if (p->want.v.n)
		qsort(p->want.v.v, p->want.v.n, sizeof *p->want.v.v, by_addr);
	for (size_t i = 0; i < p->want.v.n; i++)
		add_past(p, p->want.v.v[i], i);
	for (size_t i = 0; i < g->fleet->nodes.n; i++) {
		const char *name = g->fleet->nodes.v[i]->name;
		const struct value *probe = world(p, "probes", name);
		if (probe)
			value_set(probes, name, probe);
	}
	value_set(recorded, "resources", p->resources);
	value_set(recorded, "journal", p->journal);
	value_set(observed, "lists", p->lists);
	value_set(observed, "probes", probes);
	g->recorded = recorded;
	g->observed = observed;
}

/* ---- what is compared ---- */

static bool render(struct golden *g, const struct plan *p, struct str what, struct buf *b)
{
	struct plan_view how = { 0 };
	struct str kind = what, number = STR_NONE;
	uint64_t max = MARKDOWN_MAX_BYTES;
	size_t blank = str_find_char(what, ' ');

	if (blank != SIZE_MAX) {
		kind = str_sub(what, 0, blank);
		number = str_sub(what, blank + 1, SIZE_MAX);
		assert_true(str_to_uint(number, 10, &max));
	}
	how.full = str_eqc(kind, "full");
	how.diff = str_eqc(kind, "diff");
	if (str_eqc(kind, "plan"))
		golden_write(g, b, p);
	else if (str_eqc(kind, "text") || how.full || how.diff)
		plan_text(b, g->a, p, &how, false);
	else if (str_eqc(kind, "colour"))
		plan_text(b, g->a, p, &how, true);
	else if (str_eqc(kind, "drift"))
		drift_text(b, g->a, p, &how, false);
	else if (str_eqc(kind, "markdown"))
		plan_markdown(b, p, &how, (size_t)max, false);
	else if (str_eqc(kind, "json"))
		json_write(b, plan_json(g->a, p), JSON_PRETTY);
	else
		return false;
	if (b->n && b->p[b->n - 1] != '\n')
		buf_addc(b, '\n');
	if (str_eqc(kind, "markdown"))
		assert_true(b->n <= max);
	return true;
}

static bool run_one(struct case_file *f, struct one_case *c, const char *dir)
{
	struct golden g = { .a = f->a, .name = str_cstr(f->a, c->name) };
	struct past past = { .g = &g };
	struct str was = section_of(c, "was");
	bool ok = true, any = false;

	g.options = past.world = yaml_of(&g, section_of(c, "world"));
	if (was.n)
		spec_of(&g, was, dir, &past.spec, &past.fleet);
	struct str now = section_of(c, "now");
	spec_of(&g, now.n ? now : was, dir, &g.spec, &g.fleet);
	build_past(&past);
	struct plan *p = golden_plan(&g);
	golden_round_trip(&g, p);
	for (size_t i = 0; i < c->sections.n; i++) {
		scoped(buf_fini) struct buf got = { 0 };
		struct section *s = &c->sections.v[i];
		buf_init(&got, 32 << 20);
		if (!render(&g, p, s->name, &got))
			continue;
		any = true;
		if (str_eq(s->text, buf_str(&got)))
			continue;
		ok = golden_update();
		if (!ok)
			print_message("%s: %s: " STR_FMT ": expected\n" STR_FMT "got\n%s\n",
				      f->path, g.name, STR_ARG(s->name), STR_ARG(s->text), got.p);
		s->text = (struct str){ buf_dup(&got, f->a), got.n };
	}
	if (!any)
		fail_msg("%s: %s: nothing is compared", f->path, g.name);
	return ok;
}

size_t cases_run(const char *path, size_t *failed)
{
	scoped(arena_freep) struct arena *a = arena_new("cases");
	struct case_file f = { .a = a, .path = path };
	char dir[] = "/tmp/muster-plans.XXXXXX";
	struct err e = { 0 };

	assert_non_null(mkdtemp(dir));
	read_file(&f);
	for (size_t i = 0; i < f.cases.n; i++)
		*failed += !run_one(&f, &f.cases.v[i], dir);
	if (golden_update())
		write_file(&f);
	assert_int_equal(fs_remove_tree(dir, &e), 0);
	return f.cases.n;
}
