/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules are regular expressions in both standards; here they are written out as small matchers
 * over a cursor. The spec reads YAML 1.2 core and refuses what 1.1 would take for something else,
 * because half of the world's tools still read 1.1 and nobody knows which half a colleague has in
 * mind. Playbooks and inventories follow PyYAML's resolver, including its oddities: an exponent
 * needs a sign and a float needs a dot.
 */
#include "base/yaml_scalar.h"

#include <math.h>

struct cursor {
	struct str s;
	size_t at;
};

static char peek(const struct cursor *c)
{
	return c->at < c->s.n ? c->s.p[c->at] : '\0';
}

static bool done(const struct cursor *c)
{
	return c->at == c->s.n;
}

/* Characters of `set` from here; how many. */
static size_t take(struct cursor *c, const char *set)
{
	size_t from = c->at;

	while (c->at < c->s.n && c->s.p[c->at] && strchr(set, c->s.p[c->at]))
		c->at++;
	return c->at - from;
}

static bool take_one(struct cursor *c, const char *set)
{
	if (done(c) || !peek(c) || !strchr(set, peek(c)))
		return false;
	c->at++;
	return true;
}

#define DIGITS "0123456789"

static bool is_one_of(struct str s, const char *const *words)
{
	for (; *words; words++)
		if (str_eqc(s, *words))
			return true;
	return false;
}

static bool is_null(struct str s)
{
	static const char *const words[] = { "", "~", "null", "Null", "NULL", NULL };

	return is_one_of(s, words);
}

static bool read_core_bool(struct str s, bool *out)
{
	static const char *const yes[] = { "true", "True", "TRUE", NULL };
	static const char *const no[] = { "false", "False", "FALSE", NULL };

	*out = is_one_of(s, yes);
	return *out || is_one_of(s, no);
}

static bool read_old_bool(struct str s, bool *out)
{
	static const char *const yes[] = { "yes", "Yes", "YES", "on", "On", "ON", NULL };
	static const char *const no[] = { "no", "No", "NO", "off", "Off", "OFF", NULL };

	*out = is_one_of(s, yes);
	return *out || is_one_of(s, no);
}

static bool read_special_float(struct str s, double *out)
{
	static const char *const inf[] = { ".inf", ".Inf", ".INF", NULL };
	static const char *const nan_words[] = { ".nan", ".NaN", ".NAN", NULL };
	bool minus = s.n && s.p[0] == '-';

	if (is_one_of(s, nan_words)) {
		*out = (double)NAN;
		return true;
	}
	if (!is_one_of(s.n && (minus || s.p[0] == '+') ? str_sub(s, 1, SIZE_MAX) : s, inf))
		return false;
	*out = minus ? -(double)INFINITY : (double)INFINITY;
	return true;
}

static void set_str(struct arena *a, struct value *v, struct str s)
{
	v->kind = V_STR;
	v->s = str_dup(a, s);
}

/* Sign and magnitude as an int64; false when it does not fit. */
static bool fit(bool minus, uint64_t u, int64_t *out)
{
	if (u > (uint64_t)INT64_MAX + minus)
		return false;
	*out = minus ? (int64_t)(0 - u) : (int64_t)u;
	return true;
}

/* a:b:c in base 60, each part after the first below 60 (YAML 1.1). `fraction`: the last part may go
 * on with a dot. */
static bool is_sexagesimal(struct str s, bool fraction)
{
	struct cursor c = { s, 0 };
	size_t parts = 0;

	take_one(&c, "+-");
	if (!fraction && peek(&c) == '0')
		return false;
	if (!take_one(&c, DIGITS))
		return false;
	take(&c, DIGITS "_");
	while (take_one(&c, ":")) {
		bool tens = take_one(&c, "012345");
		if (!take_one(&c, DIGITS) && !tens)
			return false;
		parts++;
	}
	if (fraction) {
		if (!take_one(&c, "."))
			return false;
		take(&c, DIGITS "_");
	}
	return parts > 0 && done(&c);
}

/* ---- the spec: YAML 1.2 core without its traps ---- */

static bool is_core_float(struct str s)
{
	struct cursor c = { s, 0 };
	size_t before, after = 0;

	take_one(&c, "+-");
	before = take(&c, DIGITS);
	if (take_one(&c, "."))
		after = take(&c, DIGITS);
	if (before + after == 0)
		return false;
	if (take_one(&c, "eE")) {
		take_one(&c, "+-");
		if (take(&c, DIGITS) == 0)
			return false;
	}
	return done(&c);
}

/* [-+]?[0-9]+ */
static bool is_decimal(struct str s)
{
	struct cursor c = { s, 0 };

	take_one(&c, "+-");
	return take(&c, DIGITS) > 0 && done(&c);
}

static bool has_leading_zero(struct str s)
{
	struct cursor c = { s, 0 };

	take_one(&c, "+-");
	return is_decimal(s) && peek(&c) == '0' && c.at + 1 < s.n;
}

/* A number once its underscores are taken out, as 1.1 would do. */
static bool is_number_with_underscores(struct str s)
{
	struct cursor c = { s, 0 };

	if (str_find_char(s, '_') == SIZE_MAX)
		return false;
	take_one(&c, "+-");
	if (peek(&c) == '0' && c.at + 2 < s.n && strchr("xXbo", s.p[c.at + 1])) {
		bool hex = s.p[c.at + 1] == 'x' || s.p[c.at + 1] == 'X';
		c.at += 2;
		return take(&c, hex ? DIGITS "abcdefABCDEF_" : DIGITS "_") > 0 && done(&c);
	}
	if (!take_one(&c, DIGITS))
		return false;
	take(&c, DIGITS "_");
	if (take_one(&c, "."))
		take(&c, DIGITS "_");
	return done(&c);
}

static bool is_binary(struct str s)
{
	struct cursor c = { s, 0 };

	take_one(&c, "+-");
	return take_one(&c, "0") && take_one(&c, "b") && take(&c, "01") > 0 && done(&c);
}

static int refuse_bool_word(struct str s, struct err *e)
{
	static const char *const yes[] = { "yes", "on", "y" };
	static const char *const no[] = { "no", "off", "n" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		bool is_yes = str_eq_nocase(s, str_of(yes[i]));
		if (!is_yes && !str_eq_nocase(s, str_of(no[i])))
			continue;
		err_set(e, ERR_SPEC,
			"'" STR_FMT "' is a boolean to some readers of YAML and a text to others",
			STR_ARG(s));
		return err_hint(e, "did you mean %s? write %s, or quote it: \"" STR_FMT "\"",
				is_yes ? "true" : "false", is_yes ? "true" : "false", STR_ARG(s));
	}
	return 0;
}

static int refuse_leading_zero(struct str s, struct err *e)
{
	struct cursor c = { s, 0 };
	struct str digits;

	if (!has_leading_zero(s))
		return 0;
	take_one(&c, "+-");
	take(&c, "0");
	if (done(&c))
		c.at--;
	digits = str_sub(s, c.at, SIZE_MAX);
	err_set(e, ERR_SPEC,
		"'" STR_FMT "' begins with 0: octal to some readers of YAML, decimal to others",
		STR_ARG(s));
	if (c.at > 1 && strchr("+-", s.p[0])) /* signed octals are nobody's intention */
		return err_hint(e, "leave the zeros out, or quote it: \"" STR_FMT "\"", STR_ARG(s));
	take(&c, "01234567");
	if (!done(&c))
		return err_hint(e, "write " STR_FMT ", or quote it: \"" STR_FMT "\"",
				STR_ARG(digits), STR_ARG(s));
	return err_hint(e,
			"write 0o" STR_FMT " for octal, " STR_FMT
			" for decimal, or quote it: \"" STR_FMT "\"",
			STR_ARG(digits), STR_ARG(digits), STR_ARG(s));
}

static int refuse_traps(struct str s, struct err *e)
{
	if (s.n > 64)
		return 0;
	if (refuse_bool_word(s, e) || refuse_leading_zero(s, e))
		return -1;
	if (is_sexagesimal(s, false) || is_sexagesimal(s, true))
		err_set(e, ERR_SPEC,
			"'" STR_FMT
			"' is a number in base 60 to some readers of YAML, and a text to others",
			STR_ARG(s));
	else if (is_number_with_underscores(s))
		err_set(e, ERR_SPEC,
			"'" STR_FMT "' is a number to some readers of YAML, and a text to others",
			STR_ARG(s));
	else if (is_binary(s))
		err_set(e, ERR_SPEC,
			"'" STR_FMT
			"' is a binary number to some readers of YAML, and a text to others",
			STR_ARG(s));
	else
		return 0;
	if (str_find_char(s, ':') != SIZE_MAX)
		return err_hint(e, "quote it if it is a text: \"" STR_FMT "\"", STR_ARG(s));
	return err_hint(e, "write the number in plain digits, or quote it: \"" STR_FMT "\"",
			STR_ARG(s));
}

/* 1 read, 0 not an integer, -1 one that does not fit. */
static int read_core_int(struct str s, int64_t *out)
{
	uint64_t u;

	if (is_decimal(s))
		return str_to_int(s, out) ? 1 : -1;
	if (s.n > 2 && s.p[0] == '0' && (s.p[1] == 'x' || s.p[1] == 'o')) {
		struct cursor c = { s, 2 };
		take(&c, s.p[1] == 'x' ? DIGITS "abcdefABCDEF" : "01234567");
		if (!done(&c))
			return 0;
		if (!str_to_uint(str_sub(s, 2, SIZE_MAX), s.p[1] == 'x' ? 16 : 8, &u) ||
		    !fit(false, u, out))
			return -1;
		return 1;
	}
	return 0;
}

int yaml_scalar_spec(struct arena *a, struct str text, struct value *v, struct err *e)
{
	int is_int;

	if (is_null(text)) {
		v->kind = V_NULL;
		return 0;
	}
	if (read_core_bool(text, &v->b)) {
		v->kind = V_BOOL;
		return 0;
	}
	if (refuse_traps(text, e))
		return -1;
	is_int = read_core_int(text, &v->i);
	if (is_int < 0) {
		err_set(e, ERR_SPEC, "the integer does not fit into 64 bits");
		return err_hint(e, "quote it if it is a text");
	}
	v->kind = V_INT;
	if (is_int)
		return 0;
	v->kind = V_FLOAT;
	if (read_special_float(text, &v->f))
		return 0;
	if (is_core_float(text)) {
		if (str_to_double(text, &v->f) && isfinite(v->f))
			return 0;
		err_set(e, ERR_SPEC, "the number is too large or too long");
		return err_hint(e, "quote it if it is a text");
	}
	set_str(a, v, text);
	return 0;
}

/* ---- playbooks and inventories: YAML 1.1 as PyYAML resolves it ---- */

#define PLAIN_NUMBER_MAX 400 /* longer ones are kept as text */

/* The text without underscores. */
static struct str squeeze(struct str s, char out[PLAIN_NUMBER_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < s.n && n < PLAIN_NUMBER_MAX; i++)
		if (s.p[i] != '_')
			out[n++] = s.p[i];
	return (struct str){ out, n };
}

static int old_int_base(struct str s)
{
	struct cursor c = { s, 0 };

	take_one(&c, "+-");
	if (peek(&c) != '0') {
		if (!take_one(&c, "123456789"))
			return 0;
		take(&c, DIGITS "_");
		return done(&c) ? 10 : 0;
	}
	c.at++;
	if (done(&c))
		return 10;
	if (take_one(&c, "b"))
		return take(&c, "01_") && done(&c) ? 2 : 0;
	if (take_one(&c, "x"))
		return take(&c, DIGITS "abcdefABCDEF_") && done(&c) ? 16 : 0;
	return take(&c, "01234567_") && done(&c) ? 8 : 0;
}

static bool read_old_int(struct str s, int64_t *out)
{
	char digits[PLAIN_NUMBER_MAX];
	bool minus = s.n && s.p[0] == '-';
	int base = old_int_base(s);
	struct str d;
	uint64_t u;

	if (base == 0)
		return false;
	d = squeeze(s, digits);
	if (minus || str_starts(d, "+"))
		d = str_sub(d, 1, SIZE_MAX);
	if (base == 2 || base == 16)
		d = str_sub(d, 2, SIZE_MAX);
	return str_to_uint(d, base, &u) && fit(minus, u, out);
}

static bool is_old_float(struct str s)
{
	struct cursor c = { s, 0 };
	size_t sign = take_one(&c, "+-");

	if (take_one(&c, ".")) {
		if (sign || !take_one(&c, DIGITS))
			return false;
		take(&c, DIGITS "_");
	} else {
		if (!take_one(&c, DIGITS))
			return false;
		take(&c, DIGITS "_");
		if (!take_one(&c, "."))
			return false;
		take(&c, DIGITS "_");
	}
	if (take_one(&c, "eE") && (!take_one(&c, "+-") || take(&c, DIGITS) == 0))
		return false;
	return done(&c);
}

static bool read_old_float(struct str s, double *out)
{
	char digits[PLAIN_NUMBER_MAX];

	return read_special_float(s, out) ||
	       (is_old_float(s) && str_to_double(squeeze(s, digits), out));
}

/* The parts are digits, and the last may have a fraction: is_sexagesimal has seen to that. */
static double sexagesimal(struct str s, int64_t *whole, bool *fits)
{
	char digits[PLAIN_NUMBER_MAX];
	struct str rest = squeeze(s, digits), part;
	bool minus = str_starts(rest, "-");
	double total = 0, d;
	int64_t i = 0, x;

	*fits = true;
	if (minus || str_starts(rest, "+"))
		rest = str_sub(rest, 1, SIZE_MAX);
	while (str_next(&rest, ':', &part)) {
		if (!str_to_double(part, &d))
			d = 0;
		total = total * 60 + d;
		if (!str_to_int(part, &x) || __builtin_mul_overflow(i, 60, &i) ||
		    __builtin_add_overflow(i, x, &i))
			*fits = false;
	}
	*whole = minus ? -i : i;
	return minus ? -total : total;
}

static bool read_old_sexagesimal(struct str s, struct value *v)
{
	bool whole = is_sexagesimal(s, false), fits;
	int64_t i;
	double d;

	if (!whole && !is_sexagesimal(s, true))
		return false;
	d = sexagesimal(s, &i, &fits);
	if (whole && !fits)
		return false;
	if (whole) {
		v->kind = V_INT;
		v->i = i;
	} else {
		v->kind = V_FLOAT;
		v->f = d;
	}
	return true;
}

void yaml_scalar_ansible(struct arena *a, struct str text, struct value *v)
{
	bool number = text.n > 0 && text.n < PLAIN_NUMBER_MAX && strchr("+-.0123456789", text.p[0]);

	if (is_null(text))
		v->kind = V_NULL;
	else if (read_core_bool(text, &v->b) || read_old_bool(text, &v->b))
		v->kind = V_BOOL;
	else if (number && read_old_int(text, &v->i))
		v->kind = V_INT;
	else if (number && read_old_float(text, &v->f))
		v->kind = V_FLOAT;
	else if (!number || !read_old_sexagesimal(text, v))
		/* also an integer of over 64 bits: Python has them, and as a text it prints the
		 * same */
		set_str(a, v, text);
}
