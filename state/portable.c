/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The exported document: a map of
 *
 *	muster_state: 1, serial, meta {key: text}, resources [...], facts {addr: ...}, runs [...],
 *events [...], journal [...]
 *
 * whose rows have the columns' names as keys (and resources `deps`). The lease and the seal key
 *stay behind. Import trusts nothing: a key that it does not know, a wrong type, a missing value or
 *an event that does not fit the chain refuses the whole.
 */
#include "state/history.h"
#include "state/journal.h"
#include "state/resource.h"
#include "state/store.h"

#define FORMAT 1

/* ---- export ---- */

static int export_meta(struct state *s, struct arena *a, struct value *doc, struct err *e)
{
	struct value *meta = value_map(a);
	int64_t serial;
	sqlite3_stmt *st;
	int rc;

	if (state_serial(s, &serial, e) ||
	    sql_query(s, "SELECT key, value FROM meta ORDER BY key", SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0)
		value_set(meta, sql_col_text(a, st, 0), value_cstr(a, sql_col_text(a, st, 1)));
	value_set(doc, "serial", value_int(a, serial));
	value_set(doc, "meta", meta);
	return rc;
}

static int export_resources(struct state *s, struct arena *a, struct value *doc, struct err *e)
{
	struct value *list = value_list(a), *facts;
	struct state_resources all;

	if (state_resources(s, a, &all, e) || facts_all(s, a, &facts, e))
		return -1;
	for (size_t i = 0; i < all.v.n; i++) {
		const struct state_resource *r = all.v.v[i];
		struct value *v = row_export(a, &resource_row, r), *deps = value_list(a);
		for (size_t j = 0; j < r->deps.n; j++)
			value_add(a, deps, value_cstr(a, r->deps.v[j]));
		value_set(v, "deps", deps);
		value_add(a, list, v);
	}
	value_set(doc, "resources", list);
	value_set(doc, "facts", facts);
	return 0;
}

static int export_history(struct state *s, struct arena *a, struct value *doc, struct err *e)
{
	struct value *runs = value_list(a), *events = value_list(a), *journal = value_list(a);
	struct state_runs r;
	struct event_links l;
	struct journal_rows j;

	if (state_runs(s, a, 0, &r, e) || event_links(s, a, &l, e) || journal_all(s, a, &j, e))
		return -1;
	for (size_t i = r.v.n; i-- > 0;)
		value_add(a, runs, row_export(a, &run_row, r.v.v[i]));
	for (size_t i = 0; i < l.v.n; i++)
		value_add(a, events, row_export(a, &event_row, l.v.v[i]));
	for (size_t i = 0; i < j.v.n; i++)
		value_add(a, journal, row_export(a, &journal_row_type, j.v.v[i]));
	value_set(doc, "runs", runs);
	value_set(doc, "events", events);
	value_set(doc, "journal", journal);
	return 0;
}

int state_export(struct state *s, struct buf *json, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("state export");
	struct value *doc = value_map(a);

	value_set(doc, "muster_state", value_int(a, FORMAT));
	if (state_snapshot_begin(s, e))
		return -1;
	int rc = export_meta(s, a, doc, e) || export_resources(s, a, doc, e) ||
		 export_history(s, a, doc, e);
	state_snapshot_end(s);
	if (rc)
		return -1;
	json_write(json, doc, JSON_PRETTY);
	return buf_check(json, e);
}

/* ---- import ---- */

struct importer {
	struct state *s;
	struct arena *a;
};

typedef int import_fn(struct importer *im, const struct value *row, struct err *e);

static int import_deps(struct importer *im, const struct value *row, struct state_resource *r,
		       struct err *e)
{
	const struct value *deps = value_get(row, "deps");

	if (!deps)
		return 0;
	if (deps->kind != V_LIST)
		return err_set(e, ERR_SPEC, "deps must be a list, is %s",
			       value_kind_name(deps->kind));
	for (size_t i = 0; i < deps->list.n; i++) {
		if (deps->list.v[i]->kind != V_STR)
			return err_set(e, ERR_SPEC, "deps: an address must be a text");
		VEC_ADD(im->a, &r->deps) = deps->list.v[i]->s.p;
	}
	return 0;
}

static int import_resource(struct importer *im, const struct value *row, struct err *e)
{
	static const char *const also[] = { "deps", NULL };
	struct state_resource r = { 0 };
	int64_t same = 0;

	if (row_import(row, &resource_row, also, &r, e) || import_deps(im, row, &r, e) ||
	    sql_int_of(im->s, "SELECT count(*) FROM resources WHERE addr = ?1",
		       SQL_ARGS(sql_text(r.addr)), &same, e))
		return -1;
	if (same)
		return err_set(e, ERR_SPEC, "'%s' is there twice", r.addr);
	return resource_store(im->s, &r, e);
}

static int import_run(struct importer *im, const struct value *row, struct err *e)
{
	struct state_run r = { 0 };

	return row_import(row, &run_row, NULL, &r, e) ? -1 : run_insert(im->s, &r, e);
}

static int import_event(struct importer *im, const struct value *row, struct err *e)
{
	struct event_link l = { 0 };

	return row_import(row, &event_row, NULL, &l, e) ? -1 : event_import(im->s, &l, e);
}

static int import_journal(struct importer *im, const struct value *row, struct err *e)
{
	struct journal_row j = { 0 };

	if (row_import(row, &journal_row_type, NULL, &j, e))
		return -1;
	if (j.seq < 1)
		return err_set(e, ERR_SPEC, "seq must be 1 or more");
	return journal_insert(im->s, &j, e);
}

/* A row that breaks a rule of the tables (twice the same key) is the document's fault. */
static int at_row(const char *part, size_t i, struct err *e)
{
	if (e->kind == ERR_CONFLICT)
		e->kind = ERR_SPEC;
	return err_wrap(e, "%s[%zu]", part, i);
}

static int import_list(struct importer *im, const struct value *doc, const char *part,
		       import_fn *fn, struct err *e)
{
	const struct value *list = value_get(doc, part);

	if (!list || list->kind != V_LIST)
		return err_set(e, ERR_SPEC, "%s must be a list", part);
	for (size_t i = 0; i < list->list.n; i++)
		if (fn(im, list->list.v[i], e))
			return at_row(part, i, e);
	return 0;
}

static int import_facts(struct importer *im, const struct value *doc, struct err *e)
{
	const struct value *facts = value_get(doc, "facts");

	if (!facts || facts->kind != V_MAP)
		return err_set(e, ERR_SPEC, "facts must be a map");
	for (size_t i = 0; i < facts->map.n; i++)
		if (state_facts_put(im->s, facts->map.e[i].key.p, facts->map.e[i].val, e)) {
			if (e->kind == ERR_NOT_FOUND)
				e->kind = ERR_SPEC;
			return err_wrap(e, "facts");
		}
	return 0;
}

static int import_one_meta(struct importer *im, const struct map_entry *m, struct err *e)
{
	const struct value *v = m->val;
	const char *there;

	if (v->kind != V_STR)
		return err_set(e, ERR_SPEC, "meta: " STR_FMT " must be a text", STR_ARG(m->key));
	if (state_meta_get(im->s, im->a, m->key.p, &there, e))
		return -1;
	if (there && str_eqc(m->key, "cluster") && !str_eqc(v->s, there))
		return err_set(e, ERR_CONFLICT,
			       "the document is of cluster '%s', this state of '%s'", v->s.p,
			       there);
	return state_meta_put(im->s, m->key.p, v->s.p, e);
}

static int import_meta(struct importer *im, const struct value *doc, struct err *e)
{
	const struct value *meta = value_get(doc, "meta"), *serial = value_get(doc, "serial");

	if (!meta || meta->kind != V_MAP)
		return err_set(e, ERR_SPEC, "meta must be a map");
	if (!serial || serial->kind != V_INT || serial->i < 0)
		return err_set(e, ERR_SPEC, "serial must be an integer");
	for (size_t i = 0; i < meta->map.n; i++)
		if (import_one_meta(im, &meta->map.e[i], e))
			return -1;
	return sql_exec(im->s, "UPDATE serial SET n = max(n, ?1) WHERE id = 1",
			SQL_ARGS(sql_int(serial->i)), e);
}

/* Taking over or breaking a lease leaves an event even in a state that never held anything. */
static int must_be_empty(struct state *s, struct err *e)
{
	static const char sql[] =
		"SELECT (SELECT count(*) FROM resources) + (SELECT count(*) FROM runs) + "
		"(SELECT count(*) FROM journal) + "
		"(SELECT count(*) FROM events WHERE what NOT LIKE 'lease %')";
	int64_t n = 0;

	if (sql_int_of(s, sql, SQL_NO_ARGS, &n, e))
		return -1;
	if (n) {
		err_set(e, ERR_CONFLICT, "state file %s is not empty", s->path);
		return err_hint(
			e, "import into a new file (--state PATH), or move this one away first");
	}
	if (sql_exec(s, "DELETE FROM events", SQL_NO_ARGS, e))
		return -1;
	return sql_exec(s, "DELETE FROM sqlite_sequence WHERE name = 'events'", SQL_NO_ARGS, e);
}

static int check_head(const struct value *doc, struct err *e)
{
	static const char *const keys[] = { "muster_state", "serial", "meta",	"resources",
					    "facts",	    "runs",   "events", "journal" };

	if (!doc || doc->kind != V_MAP || value_get_int(doc, "muster_state", 0) < 1)
		return err_set(e, ERR_SPEC, "not an exported muster state");
	if (value_get_int(doc, "muster_state", 0) > FORMAT)
		return err_set(e, ERR_SPEC, "exported by a newer muster");
	for (size_t i = 0; i < doc->map.n; i++) {
		bool known = false;
		for (size_t k = 0; k < ARRAY_LEN(keys); k++)
			known = known || str_eqc(doc->map.e[i].key, keys[k]);
		if (!known)
			return err_set(e, ERR_SPEC, "unknown key '" STR_FMT "'",
				       STR_ARG(doc->map.e[i].key));
	}
	return 0;
}

static int import_all(struct importer *im, const struct value *doc, struct err *e)
{
	if (must_be_empty(im->s, e) || import_meta(im, doc, e) ||
	    import_list(im, doc, "resources", import_resource, e) || import_facts(im, doc, e) ||
	    import_list(im, doc, "runs", import_run, e) ||
	    import_list(im, doc, "events", import_event, e) ||
	    import_list(im, doc, "journal", import_journal, e))
		return -1;
	return 0;
}

int state_import(struct state *s, struct arena *a, const struct value *doc, struct err *e)
{
	struct importer im = { s, a };

	if (check_head(doc, e))
		return err_wrap(e, "import");
	if (write_begin(s, WRITE_COUNTED, e))
		return -1;
	if (write_end(s, import_all(&im, doc, e), e))
		return err_wrap(e, "import");
	return 0;
}
