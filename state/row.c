/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checksum (64-bit FNV-1a over the stored form of each column) is there for bits that flip:
 * SQLite checks its own pages' structure and not the values in them, and a flipped letter in a
 * provider's id would make an orphan. Every single changed byte changes an FNV sum; it is no
 * defence against a person, and need not be.
 */
#include "state/row.h"

#define JSON_ROW_MAX ((size_t)16 << 20)

uint64_t row_sum_text(uint64_t sum, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ (unsigned char)p[i]) * UINT64_C(0x100000001b3);
	return sum;
}

/* The kind goes in first, so that null, "" and 0 differ, and the length, so that texts cannot flow
 * into each other. */
static uint64_t sum_arg(uint64_t sum, const struct sql_arg *a)
{
	char head[9] = { (char)a->kind };
	uint64_t n = a->kind == SQL_ARG_INT ? (uint64_t)a->i : a->t.n;

	for (size_t i = 0; i < 8; i++)
		head[i + 1] = (char)(n >> (8 * i));
	sum = row_sum_text(sum, head, sizeof head);
	return a->kind == SQL_ARG_TEXT ? row_sum_text(sum, a->t.p, a->t.n) : sum;
}

int row_json_text(struct state *s, const struct value *v, const char *what, struct str *out,
		  struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };

	if (value_has_secret(v))
		return err_set(e, ERR_BUG, "%s holds a secret that was not sealed", what);
	buf_init(&b, JSON_ROW_MAX);
	json_write(&b, v, JSON_SORT);
	if (buf_check(&b, e))
		return err_wrap(e, "%s", what);
	*out = (struct str){ buf_dup(&b, s->scratch), b.n };
	return 0;
}

static struct str text_at(sqlite3_stmt *st, int col)
{
	const char *p = (const char *)sqlite3_column_text(st, col);

	return (struct str){ p, (size_t)sqlite3_column_bytes(st, col) };
}

static const char *read_text(struct row_reader *r, int col)
{
	struct row_memo *m = &r->memo[col];
	struct str text = text_at(r->st, col);

	if (!text.p)
		return NULL;
	if (!m->text.p || !str_eq(m->text, text))
		m->text = str_dup(r->a, text);
	return m->text.p;
}

int row_json(struct row_reader *r, int col, bool outside, const struct value **out, struct err *e)
{
	struct row_memo *m = &r->memo[col];
	struct str text = text_at(r->st, col);
	struct value *v;

	*out = NULL;
	if (!text.p)
		return 0;
	if (!m->value || !str_eq(m->text, text)) {
		if (json_parse(r->a, sqlite3_column_name(r->st, col), text, &v, e)) {
			struct err why = *e;
			*e = (struct err){ 0 };
			return sql_damaged(r->s->path, why.msg, e);
		}
		if (outside)
			value_mark_unsafe(v);
		*m = (struct row_memo){ str_dup(r->a, text), v };
	}
	*out = m->value;
	return 0;
}

static int column_arg(struct state *s, const struct column *c, const void *member,
		      struct sql_arg *arg, struct err *e)
{
	switch (c->type) {
	case COL_TEXT: *arg = sql_text(*(const char *const *)member); break;
	case COL_INT: *arg = sql_int(*(const int64_t *)member); break;
	case COL_ENUM: *arg = sql_int((int64_t) * (const unsigned *)member); break;
	case COL_JSON: {
		const struct value *v = *(const struct value *const *)member;
		*arg = (struct sql_arg){ .kind = v ? SQL_ARG_TEXT : SQL_ARG_NULL };
		if (v && row_json_text(s, v, c->name, &arg->t, e))
			return -1;
		break;
	}
	}
	if ((c->flags & COL_REQUIRED) && arg->kind == SQL_ARG_NULL)
		return err_set(e, ERR_BUG, "a row without %s", c->name);
	return 0;
}

int row_args(struct state *s, const struct row_type *t, const void *obj, struct sql_arg *arg,
	     uint64_t *sum, struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		if (column_arg(s, c, (const char *)obj + c->offset, &arg[i], e))
			return err_wrap(e, "storing a %s", t->noun);
		if (!(c->flags & COL_UNSUMMED))
			*sum = sum_arg(*sum, &arg[i]);
	}
	return 0;
}

/* What is stored in a column, as it was bound. */
static struct sql_arg stored(sqlite3_stmt *st, int col)
{
	switch (sqlite3_column_type(st, col)) {
	case SQLITE_NULL: return (struct sql_arg){ .kind = SQL_ARG_NULL };
	case SQLITE_INTEGER: return sql_int(sqlite3_column_int64(st, col));
	default: {
		const char *p = (const char *)sqlite3_column_text(st, col);
		return (struct sql_arg){ .kind = SQL_ARG_TEXT,
					 .t = { p ? p : "",
						(size_t)sqlite3_column_bytes(st, col) } };
	}
	}
}

void row_stored(sqlite3_stmt *st, struct sql_arg *arg, size_t n)
{
	for (size_t i = 0; i < n; i++)
		arg[i] = stored(st, (int)i);
}

void row_arg_text(struct buf *b, const struct sql_arg *arg)
{
	if (arg->kind == SQL_ARG_NULL) {
		buf_addc(b, 'n');
	} else if (arg->kind == SQL_ARG_INT) {
		buf_addf(b, "i%lld", (long long)arg->i);
	} else {
		buf_addf(b, "s%zu:", arg->t.n);
		buf_addstr(b, arg->t);
	}
	buf_addc(b, ',');
}

static unsigned enum_count(const struct column *c)
{
	unsigned n = 0;

	while (c->names[n])
		n++;
	return n;
}

static int read_column(struct row_reader *r, int col, const struct column *c, void *member,
		       struct err *e)
{
	if ((c->flags & COL_REQUIRED) && sqlite3_column_type(r->st, col) == SQLITE_NULL)
		return sql_damaged(r->s->path, "a required value is missing", e);
	switch (c->type) {
	case COL_TEXT: *(const char **)member = read_text(r, col); return 0;
	case COL_INT: *(int64_t *)member = sqlite3_column_int64(r->st, col); return 0;
	case COL_ENUM: {
		int64_t v = sqlite3_column_int64(r->st, col);
		if (v < 0 || v >= enum_count(c))
			return sql_damaged(r->s->path, "a value out of range", e);
		*(unsigned *)member = (unsigned)v;
		return 0;
	}
	case COL_JSON:
		return row_json(r, col, c->flags & COL_OUTSIDE, (const struct value **)member, e);
	}
	return 0;
}

int row_read(struct row_reader *r, const struct row_type *t, void *obj, uint64_t *sum,
	     struct err *e)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		if (!(c->flags & COL_UNSUMMED)) {
			struct sql_arg arg = stored(r->st, (int)i);
			*sum = sum_arg(*sum, &arg);
		}
		if (read_column(r, (int)i, c, (char *)obj + c->offset, e))
			return err_wrap(e, "reading a %s", t->noun);
	}
	return 0;
}

struct value *row_export(struct arena *a, const struct row_type *t, const void *obj)
{
	struct value *out = value_map(a);

	for (size_t i = 0; i < t->n; i++) {
		const struct column *c = &t->col[i];
		const void *member = (const char *)obj + c->offset;
		const struct value *v = NULL;

		switch (c->type) {
		case COL_TEXT: {
			const char *text = *(const char *const *)member;
			v = text ? value_cstr(a, text) : NULL;
			break;
		}
		case COL_INT: v = value_int(a, *(const int64_t *)member); break;
		case COL_ENUM: v = value_cstr(a, c->names[*(const unsigned *)member]); break;
		case COL_JSON: v = *(const struct value *const *)member; break;
		}
		if (v)
			value_set(out, c->name, v);
	}
	return out;
}

static int import_enum(const struct column *c, const struct value *v, unsigned *out, struct err *e)
{
	for (unsigned i = 0; v->kind == V_STR && c->names[i]; i++)
		if (str_eqc(v->s, c->names[i])) {
			*out = i;
			return 0;
		}
	return err_set(e, ERR_SPEC, "%s: not one of its values", c->name);
}

static int import_column(const struct column *c, const struct value *v, void *member, struct err *e)
{
	if (!v || (v->kind == V_NULL && c->type != COL_JSON)) {
		if (c->flags & COL_REQUIRED || c->type == COL_INT || c->type == COL_ENUM)
			return err_set(e, ERR_SPEC, "%s is missing", c->name);
		return 0;
	}
	switch (c->type) {
	case COL_TEXT:
		if (v->kind != V_STR || strlen(v->s.p) != v->s.n)
			return err_set(e, ERR_SPEC, "%s must be a text, is %s", c->name,
				       value_kind_name(v->kind));
		*(const char **)member = v->s.p;
		return 0;
	case COL_INT:
		if (v->kind != V_INT)
			return err_set(e, ERR_SPEC, "%s must be an integer, is %s", c->name,
				       value_kind_name(v->kind));
		*(int64_t *)member = v->i;
		return 0;
	case COL_ENUM: return import_enum(c, v, member, e);
	case COL_JSON: *(const struct value **)member = v; return 0;
	}
	return 0;
}

static bool is_known(const struct row_type *t, const char *const *also, struct str key)
{
	for (size_t i = 0; i < t->n; i++)
		if (str_eqc(key, t->col[i].name))
			return true;
	for (; also && *also; also++)
		if (str_eqc(key, *also))
			return true;
	return false;
}

int row_import(const struct value *v, const struct row_type *t, const char *const *also, void *obj,
	       struct err *e)
{
	if (v->kind != V_MAP)
		return err_set(e, ERR_SPEC, "a %s must be a map, is %s", t->noun,
			       value_kind_name(v->kind));
	for (size_t i = 0; i < v->map.n; i++)
		if (!is_known(t, also, v->map.e[i].key))
			return err_set(e, ERR_SPEC, "unknown key '" STR_FMT "'",
				       STR_ARG(v->map.e[i].key));
	for (size_t i = 0; i < t->n; i++)
		if (import_column(&t->col[i], value_get(v, t->col[i].name),
				  (char *)obj + t->col[i].offset, e))
			return -1;
	return 0;
}
