/* SPDX-License-Identifier: Apache-2.0 */
/* Filters on texts and numbers. */
#include "templates/filters.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "templates/methods.h"
#include "templates/regex.h"
#include "templates/unicode.h"

static const struct value *f_default(struct call *c)
{
	bool empty = c->self->kind == V_UNDEFINED ||
		     (call_flag(c, 1, false) && !value_is_truthy(c->self));

	if (!empty)
		return c->self;
	return c->arg[0] ? c->arg[0] : value_cstr(c->a, "");
}

static const struct value *f_mandatory(struct call *c)
{
	if (c->self->kind != V_UNDEFINED)
		return c->self;
	if (c->arg[0])
		return call_fault(c, STR_FMT, STR_ARG(call_text(c, 0, "")));
	return call_fault(c, "mandatory: " STR_FMT,
			  STR_ARG(str_sub(c->self->s, 0, str_find_char(c->self->s, '\n'))));
}

/* Single underscores between digits, as Python allows them, go. */
static struct str without_underscores(struct arena *a, struct str s)
{
	char *p;
	size_t n = 0;

	if (str_find_char(s, '_') == SIZE_MAX)
		return s;
	p = arena_alloc(a, s.n + 1);
	for (size_t i = 0; i < s.n; i++) {
		bool between = i > 0 && i + 1 < s.n && isxdigit((unsigned char)s.p[i - 1]) &&
			       isxdigit((unsigned char)s.p[i + 1]);
		if (s.p[i] != '_' || !between)
			p[n++] = s.p[i];
	}
	p[n] = '\0';
	return (struct str){ p, n };
}

/* "  12 ", "1_000", "0x1f" with base 16, "12.7" */
static bool text_to_int(struct arena *a, struct str s, int base, int64_t *out)
{
	bool negative = false;
	uint64_t u;
	double d;

	s = str_trim(s);
	s = without_underscores(a, s);
	struct str digits = s;
	if (digits.n && (digits.p[0] == '-' || digits.p[0] == '+')) {
		negative = digits.p[0] == '-';
		digits = str_sub(digits, 1, SIZE_MAX);
	}
	if (digits.n > 2 && digits.p[0] == '0' &&
	    ((base == 16 && tolower((unsigned char)digits.p[1]) == 'x') ||
	     (base == 8 && tolower((unsigned char)digits.p[1]) == 'o') ||
	     (base == 2 && tolower((unsigned char)digits.p[1]) == 'b')))
		digits = str_sub(digits, 2, SIZE_MAX);
	if (digits.n && str_to_uint(digits, base, &u) && u <= INT64_MAX) {
		*out = negative ? -(int64_t)u : (int64_t)u;
		return true;
	}
	if (base == 10 && str_to_double(s, &d) && d > -9.2e18 && d < 9.2e18) {
		*out = (int64_t)d;
		return true;
	}
	return false;
}

/* Digits alone, and more than 64 bits hold. */
static bool is_too_large(struct str s)
{
	uint64_t u;

	s = str_trim(s);
	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = str_sub(s, 1, SIZE_MAX);
	return str_is_digits(s) && (!str_to_uint(s, 10, &u) || u > INT64_MAX);
}

static const struct value *f_int(struct call *c)
{
	const struct value *v = c->self, *fallback = c->arg[0] ? c->arg[0] : value_int(c->a, 0);
	int64_t i, base;

	if (call_int(c, 1, 10, &base) < 0)
		return NULL;
	if (base < 2 || base > 36)
		return call_fault(c, "the base must be 2 to 36");
	if (v->kind == V_INT)
		return v;
	if (v->kind == V_BOOL)
		return value_int(c->a, v->b);
	if (v->kind == V_FLOAT)
		return v->f > -9.2e18 && v->f < 9.2e18 ? value_int(c->a, (int64_t)v->f) : fallback;
	if (v->kind == V_STR && is_too_large(v->s))
		return call_fault(c, "the number is too large: whole numbers have 64 bits");
	if (v->kind == V_STR && text_to_int(c->a, v->s, (int)base, &i))
		return value_int(c->a, i);
	return fallback;
}

static const struct value *f_float(struct call *c)
{
	double d;

	if (op_is_number(c->self))
		return value_float(c->a, op_to_double(c->self));
	if (c->self->kind == V_STR && str_to_double(str_trim(c->self->s), &d))
		return value_float(c->a, d);
	return c->arg[0] ? c->arg[0] : value_float(c->a, 0);
}

static const struct value *f_bool(struct call *c)
{
	static const char *const yes[] = { "yes", "on", "1", "true" };

	if (c->self->kind == V_NULL || c->self->kind == V_BOOL)
		return c->self;
	if (op_is_number(c->self))
		return value_bool(c->a, op_to_double(c->self) == 1);
	for (size_t i = 0; c->self->kind == V_STR && i < ARRAY_LEN(yes); i++)
		if (str_eq_nocase(c->self->s, str_of(yes[i])))
			return value_bool(c->a, true);
	return value_bool(c->a, false);
}

static const struct value *f_string(struct call *c)
{
	return value_str(c->a, op_text(c->a, c->self));
}

static const struct value *f_same(struct call *c)
{
	return c->self;
}

/* Filters that are a text method of the same meaning; anything is made a text first. */
static const struct value *by_method(struct call *c, const char *method)
{
	struct call m = *c;

	if (m.self->kind != V_STR)
		m.self = value_str(c->a, op_text(c->a, c->self));
	return method_find(m.self, str_of(method))->fn(&m);
}

static const struct value *f_lower(struct call *c)
{
	return by_method(c, "lower");
}

static const struct value *f_upper(struct call *c)
{
	return by_method(c, "upper");
}

static const struct value *f_capitalize(struct call *c)
{
	return by_method(c, "capitalize");
}

/* Jinja2's own title: words end at blanks, hyphens and brackets. */
static const struct value *f_title(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = op_text(c->a, c->self);
	bool begin = true;

	buf_init(&b, OPS_MAX_TEXT);
	while (s.n) {
		uint32_t ch = unicode_take(&s);
		unicode_add_cased(&b, ch, begin ? UNICODE_TO_UPPER : UNICODE_TO_LOWER);
		begin = (ch < 0x80 && ch && strchr("-({[<", (int)ch)) ||
			unicode_is(ch, UNICODE_SPACE);
	}
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_trim(struct call *c)
{
	return by_method(c, "strip");
}

static const struct value *f_replace(struct call *c)
{
	return by_method(c, "replace");
}

static const struct value *f_split(struct call *c)
{
	return by_method(c, "split");
}

static const struct value *f_wordcount(struct call *c)
{
	struct str s = op_text(c->a, c->self);
	int64_t n = 0;
	bool inside = false;

	for (size_t i = 0; i < s.n; i++) {
		bool word = isalnum((unsigned char)s.p[i]) || s.p[i] == '_' ||
			    (unsigned char)s.p[i] >= 0x80;
		n += word && !inside;
		inside = word;
	}
	return value_int(c->a, n);
}

static const struct value *f_indent(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str rest = op_text(c->a, c->self), line, prefix;
	bool first = call_flag(c, 1, false), blank = call_flag(c, 2, false), any = false;
	int64_t width = 4;

	if (c->self->kind != V_STR)
		return call_fault(c, "indent needs text, not %s", op_type_name(c->self));
	if (c->arg[0] && c->arg[0]->kind == V_STR) {
		prefix = c->arg[0]->s;
	} else {
		if (call_int(c, 0, 4, &width) < 0)
			return NULL;
		if (width < 0 || width > 1000)
			return call_fault(c, "the width must be 0 to 1000");
		char *spaces = arena_alloc(c->a, (size_t)width + 1);
		memset(spaces, ' ', (size_t)width);
		prefix = (struct str){ spaces, (size_t)width };
	}
	buf_init(&b, OPS_MAX_TEXT);
	while (str_next(&rest, '\n', &line)) {
		if (any)
			buf_addc(&b, '\n');
		if ((any || first) && (line.n || blank || (!any && first)))
			buf_addstr(&b, prefix);
		buf_addstr(&b, line);
		any = true;
	}
	if (buf_check(&b, c->e) < 0)
		return NULL;
	return value_str(c->a, buf_str(&b));
}

static const struct value *f_format(struct call *c)
{
	struct value *args = value_copy(c->a, c->args);

	args->tuple = true;
	if (c->kwargs->map.n)
		return op_format(c->a, op_text(c->a, c->self), c->kwargs, c->e);
	return op_format(c->a, op_text(c->a, c->self), args, c->e);
}

/* Whether a POSIX shell needs no quotes; the same set as Python's shlex.quote. */
static const struct value *f_quote(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = c->self->kind == V_NULL ? STR("") : op_text(c->a, c->self);
	bool safe = s.n > 0;

	for (size_t i = 0; i < s.n; i++)
		safe = safe && s.p[i] &&
		       (isalnum((unsigned char)s.p[i]) || strchr("@%+=:,./-_", s.p[i]));
	if (safe)
		return value_str(c->a, s);
	buf_init(&b, OPS_MAX_TEXT);
	buf_addc(&b, '\'');
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\'')
			buf_adds(&b, "'\"'\"'");
		else
			buf_addc(&b, s.p[i]);
	}
	buf_addc(&b, '\'');
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

static const struct value *f_basename(struct call *c)
{
	struct str s = op_text(c->a, c->self);

	for (size_t i = s.n; i-- > 0;)
		if (s.p[i] == '/')
			return value_str(c->a, str_sub(s, i + 1, SIZE_MAX));
	return value_str(c->a, s);
}

static const struct value *f_dirname(struct call *c)
{
	struct str s = op_text(c->a, c->self), head;
	size_t i = s.n;

	while (i > 0 && s.p[i - 1] != '/')
		i--;
	head = str_sub(s, 0, i);
	while (i > 0 && s.p[i - 1] == '/')
		i--;
	return value_str(c->a, i ? str_sub(s, 0, i) : head);
}

static const struct value *f_splitext(struct call *c)
{
	struct str s = op_text(c->a, c->self);
	struct value *out = value_list(c->a);
	size_t dot = s.n;

	for (size_t i = s.n; i-- > 0 && s.p[i] != '/';) {
		if (s.p[i] != '.')
			continue;
		/* leading dots are not the begin of an extension */
		size_t k = i;
		while (k > 0 && s.p[k - 1] == '.')
			k--;
		if (k > 0 && s.p[k - 1] != '/')
			dot = i;
		break;
	}
	out->tuple = true;
	value_add(c->a, out, value_str(c->a, str_sub(s, 0, dot)));
	value_add(c->a, out, value_str(c->a, str_sub(s, dot, SIZE_MAX)));
	return out;
}

/* ---- regular expressions -------------------------------------------------------------------- */

static struct regex *compile(struct call *c, int pattern, int ignorecase, int multiline)
{
	unsigned flags = 0;

	if (call_flag(c, ignorecase, false))
		flags |= REGEX_IGNORECASE;
	if (call_flag(c, multiline, false))
		flags |= REGEX_MULTILINE;
	return regex_new(c->a, call_text(c, pattern, ""), flags, c->e);
}

static const struct value *f_regex_replace(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct regex *r = compile(c, 0, 2, 3);
	struct regex_change change = { .with = call_text(c, 1, "") };
	int64_t mandatory;

	buf_init(&b, OPS_MAX_TEXT);
	if (!r || call_int(c, 4, 0, &change.count) < 0 || call_int(c, 5, 0, &mandatory) < 0 ||
	    regex_replace(r, op_text(c->a, c->self), &change, &b, c->e) < 0)
		return NULL;
	if (mandatory && change.done != mandatory)
		return call_fault(c, "regex_replace: %lld replacements, not %lld",
				  (long long)change.done, (long long)mandatory);
	return value_str(c->a, buf_str(&b));
}

/* "\\1" or "\\g<name>" to a group's number; -1: neither. */
static int wanted_group(const struct regex *r, struct str s)
{
	int64_t n;

	if (str_starts(s, "\\g<") && str_ends(s, ">")) {
		struct str name = str_sub(s, 3, s.n - 1);
		return str_to_int(name, &n) ? (int)n : regex_group(r, name);
	}
	return s.n > 1 && s.p[0] == '\\' && str_to_int(str_sub(s, 1, SIZE_MAX), &n) ? (int)n : -1;
}

static const struct value *f_regex_search(struct call *c)
{
	struct regex_match m;
	bool found;
	struct value *groups = value_list(c->a);
	unsigned flags = 0;

	if (value_get_bool(c->kwargs, "ignorecase", false))
		flags |= REGEX_IGNORECASE;
	if (value_get_bool(c->kwargs, "multiline", false))
		flags |= REGEX_MULTILINE;
	struct regex *r = regex_new(c->a, call_text(c, 0, ""), flags, c->e);
	if (!r || regex_find(r, op_text(c->a, c->self), 0, &m, &found, c->e) < 0)
		return NULL;
	if (!found)
		return value_null(c->a);
	for (size_t i = 1; i < c->args->list.n; i++) {
		int n = wanted_group(r, op_text(c->a, c->args->list.v[i]));
		if (n < 0 || (size_t)n >= m.n)
			return call_fault(c, "the pattern has no group \"" STR_FMT "\"",
					  STR_ARG(op_text(c->a, c->args->list.v[i])));
		value_add(c->a, groups,
			  m.group[n].p ? value_str(c->a, m.group[n]) : value_null(c->a));
	}
	return groups->list.n ? groups : value_str(c->a, m.group[0]);
}

static const struct value *f_regex_findall(struct call *c)
{
	struct regex *r = compile(c, 0, 2, 1);
	struct str s = op_text(c->a, c->self);
	struct value *out = value_list(c->a);
	struct regex_match m;
	bool found = false;
	int rc = r ? regex_find(r, s, 0, &m, &found, c->e) : -1;

	while (rc == 0 && found) {
		struct value *item = value_str(c->a, m.group[m.n == 2 ? 1 : 0]);
		if (m.n > 2) {
			item = value_list(c->a);
			item->tuple = true;
			for (size_t i = 1; i < m.n; i++)
				value_add(c->a, item, value_str(c->a, m.group[i]));
		}
		value_add(c->a, out, item);
		rc = regex_find_next(r, s, &m, &found, c->e);
	}
	return rc < 0 ? NULL : out;
}

static const struct value *f_regex_escape(struct call *c)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct str s = op_text(c->a, c->self), kind = call_text(c, 0, "python");
	bool basic = str_eqc(kind, "posix_basic");
	const char *special = basic ? "[]\\.^$*" : "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";

	if (!basic && !str_eqc(kind, "python"))
		return call_fault(c,
				  "regex_escape: \"" STR_FMT "\" is neither python nor posix_basic",
				  STR_ARG(kind));
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] && strchr(special, s.p[i]))
			buf_addc(&b, '\\');
		buf_addc(&b, s.p[i]);
	}
	return buf_check(&b, c->e) < 0 ? NULL : value_str(c->a, buf_str(&b));
}

/* ---- numbers -------------------------------------------------------------------------------- */

static const struct value *f_abs(struct call *c)
{
	if (c->self->kind == V_FLOAT)
		return value_float(c->a, fabs(c->self->f));
	if (!op_is_number(c->self))
		return call_fault(c, "abs needs a number, not %s", op_type_name(c->self));
	return op_to_int(c->self) < 0 ? op_negate(c->a, c->self, c->e)
				      : value_int(c->a, op_to_int(c->self));
}

/* Python rounds halves to even. */
static double round_even(double x)
{
	double r = round(x);

	if (fabs(x - trunc(x)) == 0.5)
		r = 2.0 * round(x / 2.0);
	return r;
}

static const struct value *f_round(struct call *c)
{
	struct str method = call_text(c, 1, "common");
	char digits[400];
	int64_t precision;
	double d;

	if (call_int(c, 0, 0, &precision) < 0)
		return NULL;
	if (!op_is_number(c->self))
		return call_fault(c, "round needs a number, not %s", op_type_name(c->self));
	if (precision < -300 || precision > 300)
		return call_fault(c, "the precision must be -300 to 300");
	double x = op_to_double(c->self), scale = pow(10, (double)precision);
	if (str_eqc(method, "ceil"))
		return value_float(c->a, ceil(x * scale) / scale);
	if (str_eqc(method, "floor"))
		return value_float(c->a, floor(x * scale) / scale);
	if (!str_eqc(method, "common"))
		return call_fault(c, "the method must be common, ceil or floor");
	if (c->self->kind != V_FLOAT && precision >= 0)
		return value_int(c->a, op_to_int(c->self));
	if (precision == 0)
		return value_float(c->a, round_even(x));
	if (precision < 0)
		return value_float(c->a, round_even(x * scale) / scale);
	/* Correct rounding of the decimal expansion, as Python does it. */
	snprintf(digits, sizeof digits, "%.*f", (int)precision, x);
	return str_to_double(str_of(digits), &d) ? value_float(c->a, d) : c->self;
}

const struct callable filters_text[] = {
	{ "default", f_default, "default_value,boolean", CALL_UNDEFINED | CALL_ITEMS | CALL_SOFT },
	{ "d", f_default, "default_value,boolean", CALL_UNDEFINED | CALL_ITEMS | CALL_SOFT },
	{ "mandatory", f_mandatory, "msg", CALL_UNDEFINED | CALL_ITEMS },
	{ "int", f_int, "default,base", 0 },
	{ "float", f_float, "default", 0 },
	{ "bool", f_bool, "", 0 },
	{ "string", f_string, "", 0 },
	{ "safe", f_same, "", CALL_ITEMS },
	{ "lower", f_lower, "", 0 },
	{ "upper", f_upper, "", 0 },
	{ "capitalize", f_capitalize, "", 0 },
	{ "title", f_title, "", 0 },
	{ "trim", f_trim, "chars", 0 },
	{ "replace", f_replace, "old!,new!,count", 0 },
	{ "split", f_split, "sep,maxsplit", 0 },
	{ "wordcount", f_wordcount, "", 0 },
	{ "indent", f_indent, "width,first,blank", 0 },
	{ "format", f_format, "", CALL_VARARGS },
	{ "quote", f_quote, "", 0 },
	{ "basename", f_basename, "", 0 },
	{ "dirname", f_dirname, "", 0 },
	{ "splitext", f_splitext, "", 0 },
	{ "regex_replace", f_regex_replace,
	  "pattern,replacement,ignorecase,multiline,count,mandatory_count", 0 },
	{ "regex_search", f_regex_search, "regex!", CALL_VARARGS },
	{ "regex_findall", f_regex_findall, "regex!,multiline,ignorecase", 0 },
	{ "regex_escape", f_regex_escape, "re_type", 0 },
	{ "abs", f_abs, "", 0 },
	{ "round", f_round, "precision,method", 0 },
	{ NULL, NULL, NULL, 0 },
};
