/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/tests.h"

#include "templates/filters.h"
#include "templates/methods.h"
#include "templates/version.h"

#include <ctype.h>
#include <math.h>

#include "templates/regex.h"

static const struct value *answer(struct call *c unused_arg, bool r)
{
	return op_bool(r);
}

static const struct value *t_defined(struct call *c)
{
	return answer(c, c->self->kind != V_UNDEFINED);
}

static const struct value *t_undefined(struct call *c)
{
	return answer(c, c->self->kind == V_UNDEFINED);
}

static const struct value *t_none(struct call *c)
{
	return answer(c, c->self->kind == V_NULL);
}

static const struct value *t_string(struct call *c)
{
	return answer(c, c->self->kind == V_STR);
}

static const struct value *t_number(struct call *c)
{
	return answer(c, op_is_number(c->self));
}

static const struct value *t_integer(struct call *c)
{
	return answer(c, c->self->kind == V_INT);
}

static const struct value *t_float(struct call *c)
{
	return answer(c, c->self->kind == V_FLOAT);
}

static const struct value *t_mapping(struct call *c)
{
	return answer(c, c->self->kind == V_MAP);
}

static const struct value *t_sequence(struct call *c)
{
	return answer(c,
		      c->self->kind == V_LIST || c->self->kind == V_STR || c->self->kind == V_MAP);
}

static const struct value *t_boolean(struct call *c)
{
	return answer(c, c->self->kind == V_BOOL);
}

static const struct value *t_true(struct call *c)
{
	return answer(c, c->self->kind == V_BOOL && c->self->b);
}

static const struct value *t_false(struct call *c)
{
	return answer(c, c->self->kind == V_BOOL && !c->self->b);
}

/* With convert_bool texts such as "no" count as what they say. */
static bool truth(struct call *c)
{
	static const char *const no[] = { "no", "off", "0", "false", "n", "f" };

	for (size_t i = 0; c->self->kind == V_STR && call_flag(c, 0, false) && i < ARRAY_LEN(no);
	     i++)
		if (str_eq_nocase(c->self->s, str_of(no[i])))
			return false;
	return value_is_truthy(c->self);
}

static const struct value *t_truthy(struct call *c)
{
	return answer(c, truth(c));
}

static const struct value *t_falsy(struct call *c)
{
	return answer(c, !truth(c));
}

static const struct value *compare(struct call *c, enum compare_op op)
{
	return op_compare(c->a, op, c->self, c->arg[0], c->e);
}

static const struct value *t_eq(struct call *c)
{
	return compare(c, CMP_EQ);
}

static const struct value *t_ne(struct call *c)
{
	return compare(c, CMP_NE);
}

static const struct value *t_gt(struct call *c)
{
	return compare(c, CMP_GT);
}

static const struct value *t_lt(struct call *c)
{
	return compare(c, CMP_LT);
}

static const struct value *t_ge(struct call *c)
{
	return compare(c, CMP_GE);
}

static const struct value *t_le(struct call *c)
{
	return compare(c, CMP_LE);
}

static const struct value *t_in(struct call *c)
{
	return compare(c, CMP_IN);
}

static const struct value *t_contains(struct call *c)
{
	return op_compare(c->a, CMP_IN, c->arg[0], c->self, c->e);
}

/* self % by == rest */
static const struct value *modulo(struct call *c, const struct value *by, int64_t rest)
{
	const struct value *m = op_binary(c->a, '%', c->self, by, c->e);

	return m ? answer(c, op_equal(m, value_int(c->a, rest))) : NULL;
}

static const struct value *t_odd(struct call *c)
{
	return modulo(c, value_int(c->a, 2), 1);
}

static const struct value *t_even(struct call *c)
{
	return modulo(c, value_int(c->a, 2), 0);
}

static const struct value *t_divisibleby(struct call *c)
{
	return modulo(c, c->arg[0], 0);
}

static const struct value *by_method(struct call *c, const char *method)
{
	struct call m = *c;

	m.self = value_str(c->a, op_text(c->a, c->self));
	return method_find(m.self, str_of(method))->fn(&m);
}

static const struct value *t_lower(struct call *c)
{
	return by_method(c, "islower");
}

static const struct value *t_upper(struct call *c)
{
	return by_method(c, "isupper");
}

/* The same object in Python: small values are, and nothing else can be told apart here. */
static const struct value *t_sameas(struct call *c)
{
	const struct value *x = c->self, *y = c->arg[0];

	if (x->kind == V_LIST || x->kind == V_MAP || x->kind == V_OBJECT)
		return answer(c, x == y || (x->kind == V_OBJECT && y->kind == V_OBJECT &&
					    x->object == y->object));
	return answer(c, x->kind == y->kind && value_equal(x, y));
}

static const struct value *t_filter(struct call *c)
{
	return answer(c, c->self->kind == V_STR && filter_find(c->self->s));
}

static const struct value *t_test(struct call *c)
{
	return answer(c, c->self->kind == V_STR && test_find(c->self->s));
}

static const struct value *t_callable(struct call *c)
{
	return answer(c, c->self->kind == V_OBJECT);
}

static const struct value *t_escaped(struct call *c)
{
	return answer(c, false);
}

/* Ansible's: a job that runs on. */
static bool is_set(struct call *c, const char *key)
{
	const struct value *v = value_get(c->self, key);

	return v && value_is_truthy(v);
}

static const struct value *t_finished(struct call *c)
{
	return answer(c, is_set(c, "finished"));
}

static const struct value *t_started(struct call *c)
{
	return answer(c, is_set(c, "started"));
}

static const struct value *t_timedout(struct call *c)
{
	return answer(c, is_set(c, "timedout"));
}

static bool has_form(struct call *c, const char *pattern)
{
	struct regex *r = regex_new(c->a, str_of(pattern), REGEX_ANCHORED, c->e);
	struct regex_match m;
	bool found = false;

	return r && regex_find(r, op_text(c->a, c->self), 0, &m, &found, c->e) == 0 && found;
}

static const struct value *t_urn(struct call *c)
{
	return answer(c, has_form(c, "(?i)urn:[^\\s]+$"));
}

static const struct value *t_url(struct call *c)
{
	return answer(c, has_form(c, "[A-Za-z][A-Za-z0-9+.-]*://[^/?#\\s]+"));
}

static const struct value *t_uri(struct call *c)
{
	return answer(c, c->self->kind == V_STR && c->self->s.n > 0 && !has_form(c, "\\s*$"));
}

/* What the filter of the same name takes. */
static const struct value *as_filter(struct call *c)
{
	const struct value *v = filter_find(str_of(c->name))->fn(c);

	return v ? answer(c, value_is_truthy(v)) : NULL;
}

static const struct value *t_abs(struct call *c)
{
	return answer(c, c->self->kind == V_STR && str_starts(c->self->s, "/"));
}

/* ---- results of tasks ----------------------------------------------------------------------- */

static const struct value *result_flag(struct call *c, const char *key, bool *flag)
{
	const struct value *v;

	if (c->self->kind != V_MAP)
		return call_fault(c, "\"%s\" asks about a task's result, not about %s", c->name,
				  op_type_name(c->self));
	v = value_get(c->self, key);
	*flag = v && value_is_truthy(v);
	return c->self;
}

static const struct value *t_failed(struct call *c)
{
	bool f = false;

	return result_flag(c, "failed", &f) ? answer(c, f) : NULL;
}

static const struct value *t_succeeded(struct call *c)
{
	bool f = false;

	return result_flag(c, "failed", &f) ? answer(c, !f) : NULL;
}

static const struct value *t_changed(struct call *c)
{
	bool f = false;
	const struct value *results;

	if (!result_flag(c, "changed", &f))
		return NULL;
	/* A loop's result has no flag of its own in some cases: any of its items counts. */
	results = value_get(c->self, "results");
	for (size_t i = 0; !value_get(c->self, "changed") && results && results->kind == V_LIST &&
			   i < results->list.n;
	     i++)
		f = f || value_get_bool(results->list.v[i], "changed", false);
	return answer(c, f);
}

static const struct value *t_skipped(struct call *c)
{
	bool f = false;

	return result_flag(c, "skipped", &f) ? answer(c, f) : NULL;
}

static const struct value *t_unreachable(struct call *c)
{
	bool f = false;

	return result_flag(c, "unreachable", &f) ? answer(c, f) : NULL;
}

static const struct value *t_reachable(struct call *c)
{
	bool f = false;

	return result_flag(c, "unreachable", &f) ? answer(c, !f) : NULL;
}

/* ---- patterns ------------------------------------------------------------------------------- */

enum where { AT_BEGIN, ANYWHERE };

static const struct value *matches(struct call *c, enum where where, int ignorecase, int multiline)
{
	struct regex_match m;
	unsigned flags = where == AT_BEGIN ? REGEX_ANCHORED : 0;
	bool found;

	flags |= call_flag(c, ignorecase, false) ? REGEX_IGNORECASE : 0;
	flags |= call_flag(c, multiline, false) ? REGEX_MULTILINE : 0;
	struct regex *r = regex_new(c->a, call_text(c, 0, ""), flags, c->e);
	if (!r || regex_find(r, op_text(c->a, c->self), 0, &m, &found, c->e) < 0)
		return NULL;
	return answer(c, found);
}

static const struct value *t_match(struct call *c)
{
	return matches(c, AT_BEGIN, 1, 2);
}

static const struct value *t_search(struct call *c)
{
	return matches(c, ANYWHERE, 1, 2);
}

static const struct value *t_regex(struct call *c)
{
	struct str kind = call_text(c, 3, "search");

	if (str_eqc(kind, "fullmatch")) {
		c->arg[0] = value_strf(c->a, "(?:" STR_FMT ")\\Z", STR_ARG(call_text(c, 0, "")));
		return matches(c, AT_BEGIN, 1, 2);
	}
	if (!str_eqc(kind, "search") && !str_eqc(kind, "match"))
		return call_fault(c, "match_type must be search, match or fullmatch");
	return matches(c, str_eqc(kind, "match") ? AT_BEGIN : ANYWHERE, 1, 2);
}

/* ---- versions ------------------------------------------------------------------------------- */

static const struct value *t_version(struct call *c)
{
	static const struct {
		const char *names;
		enum compare_op op;
	} ops[] = { { "==,=,eq", CMP_EQ }, { "!=,<>,ne", CMP_NE }, { "<,lt", CMP_LT },
		    { "<=,le", CMP_LE },   { ">,gt", CMP_GT },	   { ">=,ge", CMP_GE } };
	struct str want = call_text(c, 1, "eq"), x = op_text(c->a, c->self),
		   y = call_text(c, 0, ""),
		   kind = call_text(c, 3, call_flag(c, 2, false) ? "strict" : "loose");
	int order;

	if (!x.n || !y.n)
		return call_fault(c, "a version to compare is empty");
	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		struct str rest = str_of(ops[i].names), name;
		while (str_next(&rest, ',', &name)) {
			if (!str_eq(name, want))
				continue;
			if (version_order(kind, x, y, &order, c->e) < 0)
				return NULL;
			return op_compare(c->a, ops[i].op, value_int(c->a, order),
					  value_int(c->a, 0), c->e);
		}
	}
	return call_fault(
		c, "\"" STR_FMT "\" is no comparison: use ==, !=, <, <=, > or >=", STR_ARG(want));
}

/* ---- sets ----------------------------------------------------------------------------------- */

static const struct value *all_in(struct call *c, const struct value *inner,
				  const struct value *outer)
{
	const struct value *l = call_list(c, inner);
	bool r = true, in;

	for (size_t i = 0; l && r && i < l->list.n; i++) {
		if (op_contains(outer, l->list.v[i], &in, c->e) < 0)
			return NULL;
		r = in;
	}
	return l ? answer(c, r) : NULL;
}

static const struct value *t_subset(struct call *c)
{
	return all_in(c, c->self, c->arg[0]);
}

static const struct value *t_superset(struct call *c)
{
	return all_in(c, c->arg[0], c->self);
}

static const struct value *count_truthy(struct call *c, bool all)
{
	const struct value *l = call_list(c, c->self);
	size_t n = 0;

	for (size_t i = 0; l && i < l->list.n; i++)
		n += value_is_truthy(l->list.v[i]);
	return l ? answer(c, all ? n == l->list.n : n > 0) : NULL;
}

static const struct value *t_all(struct call *c)
{
	return count_truthy(c, true);
}

static const struct value *t_any(struct call *c)
{
	return count_truthy(c, false);
}

static const struct value *t_nan(struct call *c)
{
	return answer(c, c->self->kind == V_FLOAT && isnan(c->self->f));
}

/* Tests that would look at the controller's own files. */
static const struct value *t_file(struct call *c)
{
	call_fault(c, "\"is %s\" is not available: expressions reach no file", c->name);
	err_hint(c->e, "use the stat module and test its result");
	return NULL;
}

static const struct callable tests[] = {
	{ "defined", t_defined, "", CALL_UNDEFINED | CALL_UNKNOWN },
	{ "undefined", t_undefined, "", CALL_UNDEFINED | CALL_UNKNOWN },
	{ "none", t_none, "", CALL_UNDEFINED },
	{ "string", t_string, "", CALL_UNDEFINED },
	{ "number", t_number, "", CALL_UNDEFINED },
	{ "integer", t_integer, "", CALL_UNDEFINED },
	{ "float", t_float, "", CALL_UNDEFINED },
	{ "mapping", t_mapping, "", CALL_UNDEFINED },
	{ "sequence", t_sequence, "", 0 },
	{ "iterable", t_sequence, "", 0 },
	{ "boolean", t_boolean, "", CALL_UNDEFINED },
	{ "true", t_true, "", CALL_UNDEFINED },
	{ "false", t_false, "", CALL_UNDEFINED },
	{ "truthy", t_truthy, "convert_bool", 0 },
	{ "falsy", t_falsy, "convert_bool", 0 },
	{ "equalto", t_eq, "other!", 0 },
	{ "eq", t_eq, "other!", 0 },
	{ "==", t_eq, "other!", 0 },
	{ "ne", t_ne, "other!", 0 },
	{ "!=", t_ne, "other!", 0 },
	{ "gt", t_gt, "other!", 0 },
	{ "greaterthan", t_gt, "other!", 0 },
	{ ">", t_gt, "other!", 0 },
	{ "lt", t_lt, "other!", 0 },
	{ "lessthan", t_lt, "other!", 0 },
	{ "<", t_lt, "other!", 0 },
	{ "ge", t_ge, "other!", 0 },
	{ ">=", t_ge, "other!", 0 },
	{ "le", t_le, "other!", 0 },
	{ "<=", t_le, "other!", 0 },
	{ "in", t_in, "seq!", 0 },
	{ "contains", t_contains, "value!", 0 },
	{ "odd", t_odd, "", 0 },
	{ "even", t_even, "", 0 },
	{ "divisibleby", t_divisibleby, "num!", 0 },
	{ "lower", t_lower, "", 0 },
	{ "upper", t_upper, "", 0 },
	{ "failed", t_failed, "", 0 },
	{ "failure", t_failed, "", 0 },
	{ "succeeded", t_succeeded, "", 0 },
	{ "success", t_succeeded, "", 0 },
	{ "successful", t_succeeded, "", 0 },
	{ "changed", t_changed, "", 0 },
	{ "change", t_changed, "", 0 },
	{ "skipped", t_skipped, "", 0 },
	{ "skip", t_skipped, "", 0 },
	{ "unreachable", t_unreachable, "", 0 },
	{ "reachable", t_reachable, "", 0 },
	{ "match", t_match, "pattern!,ignorecase,multiline", 0 },
	{ "search", t_search, "pattern!,ignorecase,multiline", 0 },
	{ "regex", t_regex, "pattern!,ignorecase,multiline,match_type", 0 },
	{ "version", t_version, "version!,operator,strict,version_type", 0 },
	{ "version_compare", t_version, "version!,operator,strict,version_type", 0 },
	{ "subset", t_subset, "other!", 0 },
	{ "superset", t_superset, "other!", 0 },
	{ "all", t_all, "", 0 },
	{ "any", t_any, "", 0 },
	{ "nan", t_nan, "", 0 },
	{ "isnan", t_nan, "", 0 },
	{ "issubset", t_subset, "other!", 0 },
	{ "issuperset", t_superset, "other!", 0 },
	{ "sameas", t_sameas, "other!", CALL_ITEMS },
	{ "filter", t_filter, "", 0 },
	{ "test", t_test, "", 0 },
	{ "callable", t_callable, "", CALL_UNDEFINED },
	{ "escaped", t_escaped, "", CALL_UNDEFINED },
	{ "finished", t_finished, "", 0 },
	{ "started", t_started, "", 0 },
	{ "timedout", t_timedout, "", 0 },
	{ "uri", t_uri, "", 0 },
	{ "url", t_url, "", 0 },
	{ "urn", t_urn, "", 0 },
	{ "ipaddr", as_filter, "", 0 },
	{ "ipv4", as_filter, "", 0 },
	{ "ipv6", as_filter, "", 0 },
	{ "abs", t_abs, "", 0 },
	{ "is_abs", t_abs, "", 0 },
	{ "file", t_file, "", 0 },
	{ "exists", t_file, "", 0 },
	{ "directory", t_file, "", 0 },
	{ NULL, NULL, NULL, 0 },
};

const struct callable *test_at(size_t i)
{
	return i + 1 < ARRAY_LEN(tests) ? &tests[i] : NULL;
}

const struct callable *test_find(struct str name)
{
	name = call_plain_name(name);
	for (const struct callable *t = tests; t->name; t++)
		if (str_eqc(name, t->name))
			return t;
	return NULL;
}

const char *test_suggest(struct str name)
{
	const char *names[ARRAY_LEN(tests)];
	size_t n = 0;

	for (const struct callable *t = tests; t->name; t++)
		names[n++] = t->name;
	return str_suggest(name, names, n);
}
