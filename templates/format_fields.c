/* SPDX-License-Identifier: Apache-2.0 */
/* Python's str.format: fields in braces, and the little language after their colon. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "templates/ops.h"
#include "templates/unicode.h"

#define MAX_WIDTH 65536

struct spec {
	struct str fill; /* one letter */
	char align;	 /* '<' '>' '^' '=' or 0 */
	char sign;	 /* '+' ' ' '-' or 0 */
	bool alt, zero;
	int64_t width, precision; /* -1: none */
	char group;		  /* ',' '_' or 0 */
	char type;		  /* 0: none */
};

struct fields {
	struct arena *a;
	const struct value *args, *kwargs;
	int64_t next; /* automatic number; -1: numbers are written */
	struct err *e;
};

/* ---- the specification ---------------------------------------------------------------------- */

static bool is_align(char c)
{
	return c == '<' || c == '>' || c == '^' || c == '=';
}

static bool take_one(struct str *s, const char *chars, char *out)
{
	if (!s->n || !s->p[0] || !strchr(chars, s->p[0]))
		return false;
	*out = s->p[0];
	*s = str_sub(*s, 1, SIZE_MAX);
	return true;
}

static int take_number(struct str *s, int64_t *out, struct err *e)
{
	for (*out = -1; s->n && isdigit((unsigned char)s->p[0]); *s = str_sub(*s, 1, SIZE_MAX)) {
		*out = (*out < 0 ? 0 : *out) * 10 + (s->p[0] - '0');
		if (*out > MAX_WIDTH)
			return err_set(e, ERR_SPEC, "a field can be at most %d wide", MAX_WIDTH);
	}
	return 0;
}

static void take_align(struct str *s, struct spec *p)
{
	size_t first = s->n ? op_char_len(*s) : 0;

	if (s->n > first && is_align(s->p[first])) {
		p->fill = str_sub(*s, 0, first);
		p->align = s->p[first];
		*s = str_sub(*s, first + 1, SIZE_MAX);
	} else if (s->n && is_align(s->p[0])) {
		p->align = s->p[0];
		*s = str_sub(*s, 1, SIZE_MAX);
	}
}

static int parse_spec(struct str s, struct spec *p, struct err *e)
{
	struct str whole = s;
	char c;

	*p = (struct spec){ .fill = STR(" "), .precision = -1 };
	take_align(&s, p);
	take_one(&s, "+- ", &p->sign);
	p->alt = take_one(&s, "#", &c);
	p->zero = take_one(&s, "0", &c);
	if (take_number(&s, &p->width, e) < 0)
		return -1;
	take_one(&s, ",_", &p->group);
	if (take_one(&s, ".", &c) && (take_number(&s, &p->precision, e) < 0 || p->precision < 0))
		return e->kind ? -1 : err_set(e, ERR_SPEC, "the format lacks a precision");
	if (s.n == 1)
		take_one(&s, "bcdeEfFgGnosxX%", &p->type);
	if (s.n)
		return err_set(e, ERR_SPEC, "the format \"" STR_FMT "\" is not understood",
			       STR_ARG(whole));
	if (p->zero && !p->align) {
		p->align = '=';
		p->fill = STR("0");
	} else if (p->zero && str_eqc(p->fill, " ")) {
		p->fill = STR("0");
	}
	return 0;
}

/* ---- writing -------------------------------------------------------------------------------- */

static int64_t count_letters(struct str s)
{
	int64_t n = 0;

	for (; s.n; n++)
		unicode_take(&s);
	return n;
}

static void add_fill(struct buf *b, const struct spec *p, int64_t n)
{
	while (n-- > 0)
		buf_addstr(b, p->fill);
}

/* head: sign and prefix, which stay in front of '=' */
static void add_aligned(struct buf *b, const struct spec *p, struct str head, struct str body,
			char align)
{
	int64_t n = p->width - count_letters(head) - count_letters(body);

	align = p->align ? p->align : align;
	n = n < 0 ? 0 : n;
	if (align == '>')
		add_fill(b, p, n);
	else if (align == '^')
		add_fill(b, p, n / 2);
	buf_addstr(b, head);
	if (align == '=')
		add_fill(b, p, n);
	buf_addstr(b, body);
	if (align == '<')
		add_fill(b, p, n);
	else if (align == '^')
		add_fill(b, p, n - n / 2);
}

static int add_text(struct buf *b, const struct spec *p, struct str s, struct err *e)
{
	if (p->sign || p->alt || p->group || p->align == '=' || (p->type && p->type != 's'))
		return err_set(e, ERR_SPEC, "this format is for numbers, not for text");
	struct str rest = s;
	for (int64_t i = 0; p->precision >= 0 && i < p->precision && rest.n; i++)
		unicode_take(&rest);
	if (p->precision >= 0)
		s = str_sub(s, 0, s.n - rest.n);
	add_aligned(b, p, STR(""), s, '<');
	return 0;
}

/* Separators into the digits before the point; zeros in front as '=' with 0 needs. */
static struct str grouped(struct arena *a, const struct spec *p, struct str digits, int64_t head)
{
	scoped(buf_fini) struct buf b = { 0 };
	size_t whole = 0, step = p->type && strchr("boxX", p->type) ? 4 : 3;

	while (whole < digits.n && isxdigit((unsigned char)digits.p[whole]) &&
	       (step == 4 || isdigit((unsigned char)digits.p[whole])))
		whole++;
	bool zeros = p->align == '=' && str_eqc(p->fill, "0");
	int64_t rest = (int64_t)(digits.n - whole), n = (int64_t)whole, most = n;
	while (zeros && most + (most - 1) / (int64_t)step + rest + head < p->width)
		most++;
	buf_init(&b, BUF_MAX_DEFAULT);
	for (int64_t i = most; i > 0; i--) {
		buf_addc(&b, i > n ? '0' : digits.p[n - i]);
		if (i > 1 && (i - 1) % (int64_t)step == 0)
			buf_addc(&b, p->group);
	}
	buf_addstr(&b, str_sub(digits, whole, SIZE_MAX));
	return (struct str){ buf_dup(&b, a), b.n };
}

static int add_number(struct buf *b, struct arena *a, const struct spec *p, bool negative,
		      const char *prefix, struct str digits)
{
	const char *sign = negative ? "-" : p->sign == '+' ? "+" : p->sign == ' ' ? " " : "";
	struct str head = str_of(arena_printf(a, "%s%s", sign, prefix));

	if (p->group)
		digits = grouped(a, p, digits, (int64_t)head.n);
	add_aligned(b, p, head, digits, '>');
	return 0;
}

static struct str in_base(struct arena *a, uint64_t u, unsigned base, bool upper)
{
	char digits[65];
	size_t i = sizeof digits;

	do
		digits[--i] = (upper ? "0123456789ABCDEF" : "0123456789abcdef")[u % base];
	while (u /= base);
	return (struct str){ arena_dup(a, digits + i, sizeof digits - i), sizeof digits - i };
}

static int add_int(struct buf *b, struct arena *a, const struct spec *p, int64_t i, struct err *e)
{
	uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
	unsigned base = p->type == 'b'			   ? 2
			: p->type == 'o'		   ? 8
			: p->type && strchr("xX", p->type) ? 16
							   : 10;
	const char *prefix = !p->alt || base == 10 ? ""
			     : base == 2	   ? "0b"
			     : base == 8	   ? "0o"
			     : p->type == 'X'	   ? "0X"
						   : "0x";
	struct buf letter = { 0 };

	if (p->precision >= 0)
		return err_set(e, ERR_SPEC, "a whole number has no precision");
	if (p->type != 'c')
		return add_number(b, a, p, i < 0, prefix, in_base(a, u, base, p->type == 'X'));
	if (i < 0 || i > 0x10ffff)
		return err_set(e, ERR_SPEC, "%%c needs the number of a letter");
	buf_init(&letter, 8);
	unicode_add(&letter, (uint32_t)i);
	add_aligned(b, p, STR(""), (struct str){ buf_dup(&letter, a), letter.n }, '<');
	buf_fini(&letter);
	return 0;
}

/* Digits of a float that is not below zero. */
static struct str float_digits(struct arena *a, const struct spec *p, double f)
{
	int precision = p->precision < 0 ? 6 : (int)p->precision;
	struct value v = { .kind = V_FLOAT, .f = f };
	char *s;

	if (!isfinite(f))
		return str_of(isnan(f) ? "nan" : "inf");
	switch (p->type) {
	case 'e': return str_of(arena_printf(a, p->alt ? "%#.*e" : "%.*e", precision, f));
	case 'E': return str_of(arena_printf(a, p->alt ? "%#.*E" : "%.*E", precision, f));
	case 'f':
	case 'F': return str_of(arena_printf(a, p->alt ? "%#.*f" : "%.*f", precision, f));
	case '%': return str_of(arena_printf(a, "%.*f%%", precision, f * 100));
	case 'G': return str_of(arena_printf(a, p->alt ? "%#.*G" : "%.*G", precision, f));
	case 'n':
	case 'g': return str_of(arena_printf(a, p->alt ? "%#.*g" : "%.*g", precision, f));
	default: break;
	}
	if (p->precision < 0)
		return op_text(a, &v);
	s = arena_printf(a, "%.*g", precision, f);
	return str_of(strpbrk(s, ".e") ? s : arena_printf(a, "%s.0", s));
}

static int add_float(struct buf *b, struct arena *a, const struct spec *p, double f, struct err *e)
{
	if (p->precision > 4000)
		return err_set(e, ERR_SPEC, "the precision can be at most 4000");
	return add_number(b, a, p, signbit(f) && !isnan(f), "", float_digits(a, p, fabs(f)));
}

static int add_value(struct buf *b, struct arena *a, struct str spec, const struct value *v,
		     struct err *e)
{
	struct spec p;

	if (!spec.n) {
		buf_addstr(b, op_text(a, v));
		return 0;
	}
	if (parse_spec(spec, &p, e) < 0)
		return -1;
	if (v->kind == V_STR)
		return add_text(b, &p, v->s, e);
	if (!op_is_number(v))
		return err_set(e, ERR_SPEC, "%s takes no format", op_type_name(v));
	if (p.type == 's')
		return err_set(e, ERR_SPEC, "the format \"s\" is for text, not for a number");
	if (v->kind == V_FLOAT || (p.type && strchr("eEfFgG%", p.type)))
		return add_float(b, a, &p, op_to_double(v), e);
	return add_int(b, a, &p, op_to_int(v), e);
}

/* ---- fields --------------------------------------------------------------------------------- */

static int add_fields(struct buf *b, struct fields *f, struct str s, int depth);

static const struct value *first_value(struct fields *f, struct str name)
{
	const struct value *v = NULL;
	int64_t i;

	if (!name.n || str_is_digits(name)) {
		if ((!name.n && f->next < 0) || (name.n && f->next > 0)) {
			err_set(f->e, ERR_SPEC, "fields are numbered either all or none");
			return NULL;
		}
		i = name.n ? -1 : f->next++;
		if (name.n)
			f->next = -1;
		if (name.n && !str_to_int(name, &i))
			i = -1;
		v = i >= 0 && (size_t)i < f->args->list.n ? f->args->list.v[i] : NULL;
	} else {
		v = value_gets(f->kwargs, name);
	}
	if (!v)
		err_set(f->e, ERR_SPEC, "format: no value for {" STR_FMT "}", STR_ARG(name));
	return v;
}

/* name.attr[0][key] */
static const struct value *field_value(struct fields *f, struct str path)
{
	size_t n = 0;

	while (n < path.n && path.p[n] != '.' && path.p[n] != '[')
		n++;
	const struct value *v = first_value(f, str_sub(path, 0, n));
	for (struct str rest = str_sub(path, n, SIZE_MAX); v && rest.n;) {
		bool item = rest.p[0] == '[';
		size_t end = 1;
		while (end < rest.n &&
		       (item ? rest.p[end] != ']' : rest.p[end] != '.' && rest.p[end] != '['))
			end++;
		struct str key = str_sub(rest, 1, end);
		const struct value *k = value_str(f->a, key);
		int64_t i;
		if (item && str_is_digits(key) && str_to_int(key, &i))
			k = value_int(f->a, i);
		v = item ? op_item(f->a, v, k) : NULL;
		if (!v)
			err_set(f->e, ERR_SPEC, "format: there is no \"" STR_FMT "\" in the value",
				STR_ARG(key));
		rest = str_sub(rest, end + (item && end < rest.n), SIZE_MAX);
	}
	return v;
}

struct str op_ascii(struct arena *a, struct str s)
{
	scoped(buf_fini) struct buf b = { 0 };

	buf_init(&b, OPS_MAX_TEXT);
	while (s.n) {
		uint32_t c = unicode_take(&s);
		if (c < 0x80)
			buf_addc(&b, (char)c);
		else
			buf_addf(&b,
				 c < 0x100     ? "\\x%02x"
				 : c < 0x10000 ? "\\u%04x"
					       : "\\U%08x",
				 c);
	}
	return (struct str){ buf_dup(&b, a), b.n };
}

static const struct value *converted(struct fields *f, const struct value *v, struct str how)
{
	if (str_eqc(how, "s"))
		return value_str(f->a, op_text(f->a, v));
	if (str_eqc(how, "r"))
		return value_str(f->a, op_repr(f->a, v));
	if (str_eqc(how, "a"))
		return value_str(f->a, op_ascii(f->a, op_repr(f->a, v)));
	err_set(f->e, ERR_SPEC, "format: \"!" STR_FMT "\" is not s, r or a", STR_ARG(how));
	return NULL;
}

/* What stands between the braces. */
static int add_field(struct buf *b, struct fields *f, struct str field, int depth)
{
	size_t n = 0, brackets = 0;
	struct str path, how = STR_NONE, spec = STR("");
	struct buf inner = { 0 };
	const struct value *v;
	int rc;

	while (n < field.n && (brackets || (field.p[n] != '!' && field.p[n] != ':'))) {
		brackets += field.p[n] == '[';
		brackets -= brackets && field.p[n] == ']';
		n++;
	}
	path = str_sub(field, 0, n);
	if (n < field.n && field.p[n] == '!') {
		how = str_sub(field, n + 1, SIZE_MAX);
		size_t colon = str_find_char(how, ':');
		spec = colon == SIZE_MAX ? spec : str_sub(how, colon + 1, SIZE_MAX);
		how = str_sub(how, 0, colon);
	} else if (n < field.n) {
		spec = str_sub(field, n + 1, SIZE_MAX);
	}
	if (!(v = field_value(f, path)) || (how.p && !(v = converted(f, v, how))))
		return -1;
	buf_init(&inner, BUF_MAX_DEFAULT);
	rc = add_fields(&inner, f, spec, depth + 1);
	if (rc == 0)
		rc = add_value(b, f->a, buf_str(&inner), v, f->e);
	buf_fini(&inner);
	return rc;
}

/* The byte of the "}" that closes the field that begins at s[0]. */
static size_t field_end(struct str s)
{
	int depth = 0;

	for (size_t i = 0; i < s.n; i++) {
		depth += s.p[i] == '{';
		depth -= s.p[i] == '}';
		if (!depth)
			return i;
	}
	return SIZE_MAX;
}

static int add_fields(struct buf *b, struct fields *f, struct str s, int depth)
{
	if (depth > 2)
		return err_set(f->e, ERR_SPEC, "format: fields in fields in fields");
	while (s.n) {
		char c = s.p[0];
		if ((c == '{' || c == '}') && s.n > 1 && s.p[1] == c && depth == 0) {
			buf_addc(b, c);
			s = str_sub(s, 2, SIZE_MAX);
		} else if (c == '}') {
			return err_set(f->e, ERR_SPEC, "format: a single \"}\"");
		} else if (c != '{') {
			buf_addc(b, c);
			s = str_sub(s, 1, SIZE_MAX);
		} else {
			size_t end = field_end(s);
			if (end == SIZE_MAX)
				return err_set(f->e, ERR_SPEC, "format: \"{\" without \"}\"");
			if (add_field(b, f, str_sub(s, 1, end), depth) < 0)
				return -1;
			s = str_sub(s, end + 1, SIZE_MAX);
		}
	}
	return buf_check(b, f->e);
}

const struct value *op_format_fields(struct arena *a, struct str fmt, const struct value *args,
				     const struct value *kwargs, struct err *e)
{
	scoped(buf_wipe) struct buf b = { 0 };
	struct fields f = { a, args, kwargs, 0, e };

	buf_init(&b, OPS_MAX_TEXT);
	return add_fields(&b, &f, fmt, 0) < 0 ? NULL : value_str(a, buf_str(&b));
}
