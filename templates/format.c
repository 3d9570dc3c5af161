/* SPDX-License-Identifier: Apache-2.0 */
/* Python's "%" formatting. The directive is read by us and given to snprintf piece by piece, so no
 * format comes from the text itself. */
#include <stdio.h>

#include "templates/ops.h"
#include "templates/unicode.h"

struct directive {
	bool minus, zero, plus, space, alt;
	int width, precision; /* -1: none */
	char conversion;
};

/* Digits of a width or precision, at most 4096. */
static int take_digits(struct str *s)
{
	int n = 0;

	while (s->n && s->p[0] >= '0' && s->p[0] <= '9') {
		n = n * 10 + (s->p[0] - '0');
		if (n > 4096)
			n = 4096;
		*s = str_sub(*s, 1, SIZE_MAX);
	}
	return n;
}

static void take_directive(struct str *s, struct directive *d)
{
	*d = (struct directive){ .precision = -1 };
	for (; s->n && memchr("-0+ #", s->p[0], 5); *s = str_sub(*s, 1, SIZE_MAX)) {
		d->minus |= s->p[0] == '-';
		d->zero |= s->p[0] == '0';
		d->plus |= s->p[0] == '+';
		d->space |= s->p[0] == ' ';
		d->alt |= s->p[0] == '#';
	}
	d->width = take_digits(s);
	if (s->n && s->p[0] == '.') {
		*s = str_sub(*s, 1, SIZE_MAX);
		d->precision = take_digits(s);
	}
	if (s->n) {
		d->conversion = s->p[0];
		*s = str_sub(*s, 1, SIZE_MAX);
	}
}

static void pad(struct buf *b, const struct directive *d, struct str s, size_t chars)
{
	size_t fill = (size_t)d->width > chars ? (size_t)d->width - chars : 0;

	if (!d->minus)
		buf_addn(b, ' ', fill);
	buf_addstr(b, s);
	if (d->minus)
		buf_addn(b, ' ', fill);
}

static void add_text(struct buf *b, const struct directive *d, struct str s)
{
	size_t chars = 0, bytes = 0;

	while (bytes < s.n && (d->precision < 0 || chars < (size_t)d->precision)) {
		bytes += op_char_len(str_sub(s, bytes, SIZE_MAX));
		chars++;
	}
	pad(b, d, str_sub(s, 0, bytes), chars);
}

/* sign, prefix, zeros, digits */
static void add_signed(struct buf *b, const struct directive *d, bool negative, const char *prefix,
		       struct str digits)
{
	const char *sign = negative ? "-" : d->plus ? "+" : d->space ? " " : "";
	size_t n = strlen(sign) + strlen(prefix) + digits.n;
	size_t fill = (size_t)d->width > n ? (size_t)d->width - n : 0;

	if (fill && !d->minus && !d->zero)
		buf_addn(b, ' ', fill);
	buf_adds(b, sign);
	buf_adds(b, prefix);
	if (fill && !d->minus && d->zero)
		buf_addn(b, '0', fill);
	buf_addstr(b, digits);
	if (d->minus)
		buf_addn(b, ' ', fill);
}

static int add_int(struct buf *b, const struct directive *d, const struct value *v, struct err *e)
{
	char digits[4200], raw[32];
	int64_t i;

	if (!op_is_number(v) || (v->kind == V_FLOAT && !(v->f > -9e18 && v->f < 9e18)))
		return err_set(e, ERR_SPEC, "%%%c needs a number, not %s", d->conversion,
			       op_type_name(v));
	i = v->kind == V_FLOAT ? (int64_t)v->f : op_to_int(v);
	uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
	const char *prefix = !d->alt		    ? ""
			     : d->conversion == 'x' ? "0x"
			     : d->conversion == 'X' ? "0X"
			     : d->conversion == 'o' ? "0o"
						    : "";
	if (d->conversion == 'x')
		snprintf(raw, sizeof raw, "%llx", (unsigned long long)u);
	else if (d->conversion == 'X')
		snprintf(raw, sizeof raw, "%llX", (unsigned long long)u);
	else if (d->conversion == 'o')
		snprintf(raw, sizeof raw, "%llo", (unsigned long long)u);
	else
		snprintf(raw, sizeof raw, "%llu", (unsigned long long)u);
	int missing = d->precision - (int)strlen(raw);
	snprintf(digits, sizeof digits, "%.*s%s", 0, "", raw);
	if (missing > 0) {
		memset(digits, '0', (size_t)missing);
		snprintf(digits + missing, sizeof digits - (size_t)missing, "%s", raw);
	}
	add_signed(b, d, i < 0, prefix, str_of(digits));
	return 0;
}

static int add_float(struct buf *b, const struct directive *d, const struct value *v, struct err *e)
{
	char digits[5000];
	int precision = d->precision < 0 ? 6 : d->precision;

	if (!op_is_number(v))
		return err_set(e, ERR_SPEC, "%%%c needs a number, not %s", d->conversion,
			       op_type_name(v));
	double f = op_to_double(v);
	bool negative = f < 0;
	f = negative ? -f : f;
	switch (d->conversion) {
	case 'e': snprintf(digits, sizeof digits, "%.*e", precision, f); break;
	case 'E': snprintf(digits, sizeof digits, "%.*E", precision, f); break;
	case 'g': snprintf(digits, sizeof digits, "%.*g", precision, f); break;
	case 'G': snprintf(digits, sizeof digits, "%.*G", precision, f); break;
	default: snprintf(digits, sizeof digits, "%.*f", precision, f); break;
	}
	add_signed(b, d, negative, "", str_of(digits));
	return 0;
}

static int add_letter(struct buf *b, const struct directive *d, const struct value *v,
		      struct err *e)
{
	scoped(buf_fini) struct buf letter = { 0 };
	struct str s;

	buf_init(&letter, 8);
	if (v->kind == V_INT && v->i >= 0 && v->i <= 0x10ffff)
		unicode_add(&letter, (uint32_t)v->i);
	s = v->kind == V_STR ? v->s : buf_str(&letter);
	if (!s.n || op_char_len(s) != s.n)
		return err_set(e, ERR_SPEC, "%%c needs one letter or its number");
	add_text(b, d, s);
	return 0;
}

static int add_one(struct buf *b, struct arena *a, const struct directive *d, const struct value *v,
		   struct err *e)
{
	switch (d->conversion) {
	case 's': add_text(b, d, op_text(a, v)); return 0;
	case 'r': add_text(b, d, op_repr(a, v)); return 0;
	case 'a': add_text(b, d, op_ascii(a, op_repr(a, v))); return 0;
	case 'c': return add_letter(b, d, v, e);
	case 'd':
	case 'i':
	case 'u':
	case 'x':
	case 'X':
	case 'o': return add_int(b, d, v, e);
	case 'e':
	case 'E':
	case 'f':
	case 'F':
	case 'g':
	case 'G': return add_float(b, d, v, e);
	case '\0': return err_set(e, ERR_SPEC, "the format ends after %%");
	default: return err_set(e, ERR_SPEC, "unknown format %%%c", d->conversion);
	}
}

/* "%(name)s": the value from a map. */
static int named_value(struct str *s, const struct value *args, const struct value **v,
		       struct err *e)
{
	size_t close = str_find_char(*s, ')');

	if (close == SIZE_MAX || args->kind != V_MAP)
		return err_set(e, ERR_SPEC, "%%(name) needs a map of values");
	struct str name = str_sub(*s, 1, close);
	*v = value_gets(args, name);
	if (!*v)
		return err_set(e, ERR_SPEC, "no \"" STR_FMT "\" among the values to format",
			       STR_ARG(name));
	*s = str_sub(*s, close + 1, SIZE_MAX);
	return 0;
}

static int format_into(struct buf *b, struct arena *a, struct str s, const struct value *args,
		       struct err *e)
{
	bool many = args->kind == V_LIST && args->tuple;
	size_t used = 0, n = many ? args->list.n : 1;

	while (s.n) {
		struct directive d;
		const struct value *v = NULL;
		size_t percent = str_find_char(s, '%');
		buf_addstr(b, str_sub(s, 0, percent));
		if (percent == SIZE_MAX)
			break;
		s = str_sub(s, percent + 1, SIZE_MAX);
		if (s.n && s.p[0] == '(' && named_value(&s, args, &v, e) < 0)
			return -1;
		take_directive(&s, &d);
		if (d.conversion == '%') {
			buf_addc(b, '%');
			continue;
		}
		if (!v && used >= n)
			return err_set(e, ERR_SPEC, "the format wants more values than there are");
		if (!v)
			v = many ? args->list.v[used] : args;
		used++;
		if (add_one(b, a, &d, v, e) < 0)
			return -1;
	}
	if (used < n && args->kind != V_MAP && args->kind != V_LIST)
		return err_set(e, ERR_SPEC, "not every value was used by the format");
	if (many && used < n)
		return err_set(e, ERR_SPEC, "not every value was used by the format");
	return buf_check(b, e);
}

const struct value *op_format(struct arena *a, struct str fmt, const struct value *args,
			      struct err *e)
{
	scoped(buf_wipe) struct buf b = { 0 };
	char room[256];

	buf_init_in(&b, room, sizeof room, OPS_MAX_TEXT);
	if (format_into(&b, a, fmt, args, e) < 0)
		return NULL;
	return op_marked(a, value_str(a, buf_str(&b)), value_has_secret(args));
}
