/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Integers are 64 bits here and endless in Python: what does not fit is a fault, never a wrong
 * number. Every text and list that an operator makes has a ceiling, checked before it is made.
 */
#include "templates/ops.h"

#include <math.h>

const char *op_type_name(const struct value *v)
{
	switch ((int)v->kind) {
	case V_NULL: return "NoneType";
	case V_BOOL: return "bool";
	case V_INT: return "int";
	case V_FLOAT: return "float";
	case V_STR: return "str";
	case V_LIST: return v->tuple ? "tuple" : "list";
	case V_MAP: return "dict";
	case V_UNKNOWN: return "unknown";
	case V_UNDEFINED: return "undefined";
	}
	return "object";
}

double op_to_double(const struct value *v)
{
	return v->kind == V_FLOAT ? v->f : (double)op_to_int(v);
}

int64_t op_to_int(const struct value *v)
{
	return v->kind == V_BOOL ? v->b : v->i;
}

struct str op_text(struct arena *a, const struct value *v)
{
	scoped(buf_wipe) struct buf b = { 0 };

	if (v->kind == V_STR)
		return v->s;
	buf_init(&b, OPS_MAX_TEXT);
	value_reveal(&b, v);
	return (struct str){ buf_dup(&b, a), b.n };
}

static struct value *mark_deep(struct arena *a, const struct value *v)
{
	struct value *m = value_secret(a, v);

	if (v->kind == V_LIST) {
		m->list.v = arena_array(a, struct value *, v->list.n + 1);
		for (size_t i = 0; i < v->list.n; i++)
			m->list.v[i] = mark_deep(a, v->list.v[i]);
	} else if (v->kind == V_MAP) {
		map_init(&m->map, a);
		for (size_t i = 0; i < v->map.n; i++)
			map_put(&m->map, v->map.e[i].key, mark_deep(a, v->map.e[i].val));
	}
	return m;
}

const struct value *op_marked(struct arena *a, const struct value *v, bool secret)
{
	/* A truth value tells too little to hide, and hiding it would hide every condition. */
	if (!v || !secret || v->secret || v->kind == V_BOOL || v->kind == V_NULL ||
	    v->kind == V_UNDEFINED)
		return v;
	return mark_deep(a, v);
}

static const struct value *fault(struct err *e, const char *msg)
{
	err_set(e, ERR_SPEC, "%s", msg);
	return NULL;
}

static const struct value *bad_operands(struct err *e, const char *op, const struct value *x,
					const struct value *y)
{
	err_set(e, ERR_SPEC, "\"%s\" cannot be used between %s and %s", op, op_type_name(x),
		op_type_name(y));
	if (!strcmp(op, "+") && (x->kind == V_STR || y->kind == V_STR))
		err_hint(e, "join texts with ~, or convert with | int");
	else if ((x->kind == V_STR) != (y->kind == V_STR))
		err_hint(e, "convert one of them with | int or | string");
	return NULL;
}

/* ---- arithmetic ----------------------------------------------------------------------------- */

static const struct value *int_pow(struct arena *a, int64_t x, int64_t y, struct err *e)
{
	int64_t r = 1;

	while (y > 0) {
		if ((y & 1) && __builtin_mul_overflow(r, x, &r))
			return fault(e, "the result of ** is too large");
		y >>= 1;
		if (y && __builtin_mul_overflow(x, x, &x))
			return fault(e, "the result of ** is too large");
	}
	return value_int(a, r);
}

static const struct value *int_arithmetic(struct arena *a, char op, int64_t x, int64_t y,
					  struct err *e)
{
	int64_t r;
	bool overflow = false;

	switch (op) {
	case '+': overflow = __builtin_add_overflow(x, y, &r); break;
	case '-': overflow = __builtin_sub_overflow(x, y, &r); break;
	case '*': overflow = __builtin_mul_overflow(x, y, &r); break;
	case '/': return y ? value_float(a, (double)x / (double)y) : fault(e, "division by zero");
	case 'f':
	case '%':
		if (!y)
			return fault(e, "division by zero");
		if (y == -1) /* INT64_MIN / -1 traps */
			return op == '%' ? value_int(a, 0) : int_arithmetic(a, '-', 0, x, e);
		r = op == 'f' ? x / y : x % y;
		if (x % y != 0 && (x < 0) != (y < 0))
			r += op == 'f' ? -1 : y;
		break;
	case '^':
		if (y >= 0)
			return int_pow(a, x, y, e);
		return x ? value_float(a, pow((double)x, (double)y)) : fault(e, "division by zero");
	default: bug("operator %c", op);
	}
	return overflow ? fault(e, "the number is too large") : value_int(a, r);
}

/* x // y, where r is x % y; zero has the sign of x / y, as in Python. */
static double float_quotient(double x, double y, double r)
{
	double q = (x - r) / y, whole = floor(q);

	if (q == 0)
		return copysign(0, x / y);
	return q - whole > 0.5 ? whole + 1 : whole;
}

static const struct value *float_arithmetic(struct arena *a, char op, double x, double y,
					    struct err *e)
{
	double r;

	switch (op) {
	case '+': return value_float(a, x + y);
	case '-': return value_float(a, x - y);
	case '*': return value_float(a, x * y);
	case '^':
		r = pow(x, y);
		return isfinite(r) || !isfinite(x) || !isfinite(y)
			       ? value_float(a, r)
			       : fault(e, "the result of ** is too large");
	default: break;
	}
	if (y == 0)
		return fault(e, "division by zero");
	if (op == '/')
		return value_float(a, x / y);
	r = fmod(x, y);
	if (r == 0)
		r = copysign(0, y);
	else if ((r < 0) != (y < 0))
		r += y;
	return value_float(a, op == '%' ? r : float_quotient(x, y, r));
}

static const struct value *repeat_text(struct arena *a, struct str s, int64_t n, struct err *e)
{
	if (n <= 0 || !s.n)
		return value_cstr(a, "");
	if ((uint64_t)n > OPS_MAX_TEXT / s.n)
		return fault(e, "the text would be longer than 16 MiB");
	char *p = arena_alloc(a, s.n * (size_t)n + 1);
	for (int64_t i = 0; i < n; i++)
		memcpy(p + s.n * (size_t)i, s.p, s.n);
	return value_str(a, (struct str){ p, s.n * (size_t)n });
}

static void append_all(struct arena *a, struct value *to, const struct value *from)
{
	for (size_t i = 0; i < from->list.n; i++)
		VEC_ADD(a, &to->list) = from->list.v[i];
}

static const struct value *repeat_list(struct arena *a, const struct value *l, int64_t n,
				       struct err *e)
{
	struct value *out = value_list(a);

	out->tuple = l->tuple;
	if (n > 0 && l->list.n && (uint64_t)n > OPS_MAX_ITEMS / l->list.n)
		return fault(e, "the list would have more than 1000000 items");
	for (int64_t i = 0; i < n && l->list.n; i++)
		append_all(a, out, l);
	return out;
}

static const struct value *join_texts(struct arena *a, struct str x, struct str y)
{
	char *p = arena_alloc(a, x.n + y.n + 1);

	memcpy(p, x.p, x.n);
	memcpy(p + x.n, y.p, y.n);
	struct value *v = value_str(a, STR(""));
	v->s = (struct str){ p, x.n + y.n };
	return v;
}

static const struct value *add_other(struct arena *a, const struct value *x, const struct value *y,
				     struct err *e)
{
	if (x->kind == V_STR && y->kind == V_STR) {
		if (x->s.n + y->s.n > OPS_MAX_TEXT)
			return fault(e, "the text would be longer than 16 MiB");
		return join_texts(a, x->s, y->s);
	}
	if (x->kind == V_LIST && y->kind == V_LIST && x->tuple == y->tuple) {
		struct value *out = value_list(a);
		if (x->list.n + y->list.n > OPS_MAX_ITEMS)
			return fault(e, "the list would have more than 1000000 items");
		out->tuple = x->tuple;
		append_all(a, out, x);
		append_all(a, out, y);
		return out;
	}
	return bad_operands(e, "+", x, y);
}

static const struct value *multiply_other(struct arena *a, const struct value *x,
					  const struct value *y, struct err *e)
{
	const struct value *thing = op_is_number(x) ? y : x, *times = op_is_number(x) ? x : y;

	if (times->kind != V_INT && times->kind != V_BOOL)
		return bad_operands(e, "*", x, y);
	if (thing->kind == V_STR)
		return repeat_text(a, thing->s, op_to_int(times), e);
	if (thing->kind == V_LIST)
		return repeat_list(a, thing, op_to_int(times), e);
	return bad_operands(e, "*", x, y);
}

static const struct value *binary(struct arena *a, char op, const struct value *x,
				  const struct value *y, struct err *e)
{
	char name[3] = { op == 'f'   ? '/'
			 : op == '^' ? '*'
				     : op,
			 op == 'f'   ? '/'
			 : op == '^' ? '*'
				     : '\0',
			 '\0' };

	if (op == '%' && x->kind == V_STR)
		return op_format(a, x->s, y, e);
	if (op_is_number(x) && op_is_number(y)) {
		if (x->kind == V_FLOAT || y->kind == V_FLOAT)
			return float_arithmetic(a, op, op_to_double(x), op_to_double(y), e);
		return int_arithmetic(a, op, op_to_int(x), op_to_int(y), e);
	}
	if (op == '+')
		return add_other(a, x, y, e);
	if (op == '*')
		return multiply_other(a, x, y, e);
	return bad_operands(e, name, x, y);
}

const struct value *op_binary(struct arena *a, char op, const struct value *x,
			      const struct value *y, struct err *e)
{
	int64_t r;

	if (x->kind == V_INT && y->kind == V_INT && !x->secret && !y->secret &&
	    ((op == '+' && !__builtin_add_overflow(x->i, y->i, &r)) ||
	     (op == '-' && !__builtin_sub_overflow(x->i, y->i, &r))))
		return value_int(a, r);
	if (x->kind == V_UNKNOWN || y->kind == V_UNKNOWN)
		return value_unknown(a);
	bool whole = x->kind == V_LIST && y->kind == V_LIST; /* items keep their own marks */
	return op_marked(a, binary(a, op, x, y, e), !whole && (x->secret || y->secret));
}

const struct value *op_negate(struct arena *a, const struct value *x, struct err *e)
{
	if (x->kind == V_UNKNOWN)
		return x;
	if (x->kind == V_FLOAT)
		return op_marked(a, value_float(a, -x->f), x->secret);
	if (x->kind == V_INT || x->kind == V_BOOL)
		return op_marked(a, int_arithmetic(a, '-', 0, op_to_int(x), e), x->secret);
	err_set(e, ERR_SPEC, "\"-\" cannot be used on %s", op_type_name(x));
	return NULL;
}

/* ---- comparison ----------------------------------------------------------------------------- */

static bool equal_lists(const struct value *x, const struct value *y)
{
	bool same = x->list.n == y->list.n && x->tuple == y->tuple;

	for (size_t i = 0; same && i < x->list.n; i++)
		same = op_equal(x->list.v[i], y->list.v[i]);
	return same;
}

static bool equal_maps(const struct value *x, const struct value *y)
{
	bool same = x->map.n == y->map.n;

	for (size_t i = 0; same && i < x->map.n; i++) {
		const struct value *other = value_gets(y, x->map.e[i].key);
		same = other && op_equal(x->map.e[i].val, other);
	}
	return same;
}

bool op_equal(const struct value *x, const struct value *y)
{
	if (op_is_number(x) && op_is_number(y) && (x->kind == V_BOOL) != (y->kind == V_BOOL))
		return op_to_double(x) == op_to_double(y);
	if (x->kind == V_LIST && y->kind == V_LIST)
		return equal_lists(x, y);
	if (x->kind == V_MAP && y->kind == V_MAP)
		return equal_maps(x, y);
	return value_equal(x, y);
}

static int order_numbers(const struct value *x, const struct value *y)
{
	if (x->kind != V_FLOAT && y->kind != V_FLOAT)
		return op_to_int(x) < op_to_int(y) ? -1 : op_to_int(x) > op_to_int(y);
	return op_to_double(x) < op_to_double(y) ? -1 : op_to_double(x) > op_to_double(y);
}

int op_order(const struct value *x, const struct value *y, int *order, struct err *e)
{
	if (op_is_number(x) && op_is_number(y)) {
		*order = order_numbers(x, y);
		return 0;
	}
	if (x->kind == V_STR && y->kind == V_STR) {
		*order = str_cmp(x->s, y->s);
		return 0;
	}
	if (x->kind != V_LIST || y->kind != V_LIST) {
		bad_operands(e, "<", x, y);
		return -1;
	}
	for (size_t i = 0; i < x->list.n && i < y->list.n; i++)
		if (!op_equal(x->list.v[i], y->list.v[i]))
			return op_order(x->list.v[i], y->list.v[i], order, e);
	*order = x->list.n < y->list.n ? -1 : x->list.n > y->list.n;
	return 0;
}

static bool has_key(const struct value *map, const struct value *x)
{
	scoped(arena_freep) struct arena *a = NULL;
	struct str key;

	if (x->kind == V_STR)
		return map_has(&map->map, x->s);
	a = arena_new("key");
	return value_key(a, x, &key) && map_has(&map->map, key);
}

int op_contains(const struct value *in, const struct value *x, bool *out, struct err *e)
{
	*out = false;
	switch ((int)in->kind) {
	case V_STR:
		if (x->kind != V_STR) {
			bad_operands(e, "in", x, in);
			return -1;
		}
		*out = !x->s.n || str_find(in->s, x->s) != SIZE_MAX;
		return 0;
	case V_LIST:
		for (size_t i = 0; i < in->list.n && !*out; i++)
			*out = op_equal(in->list.v[i], x);
		return 0;
	case V_MAP:
		if (x->kind == V_MAP || (x->kind == V_LIST && !x->tuple))
			return err_set(e, ERR_SPEC, "%s cannot be a key", op_type_name(x));
		*out = has_key(in, x);
		return 0;
	default: bad_operands(e, "in", x, in); return -1;
	}
}

const struct value *op_compare(struct arena *a, enum compare_op op, const struct value *x,
			       const struct value *y, struct err *e)
{
	static const char *const names[] = {
		[CMP_LT] = "<", [CMP_LE] = "<=", [CMP_GT] = ">", [CMP_GE] = ">="
	};
	bool r = false;
	int order = 0;

	if (x->kind == V_UNKNOWN || y->kind == V_UNKNOWN)
		return value_unknown(a);
	if (op == CMP_EQ || op == CMP_NE)
		return op_bool(op_equal(x, y) == (op == CMP_EQ));
	if (op == CMP_IN || op == CMP_NOT_IN) {
		if (op_contains(y, x, &r, e) < 0)
			return NULL;
		return op_bool(r == (op == CMP_IN));
	}
	if (x->kind == V_INT && y->kind == V_INT) {
		order = x->i < y->i ? -1 : x->i > y->i;
	} else if (op_order(x, y, &order, e) < 0) {
		*e = (struct err){ 0 };
		return bad_operands(e, names[op], x, y);
	}
	switch (op) {
	case CMP_LT: r = order < 0; break;
	case CMP_LE: r = order <= 0; break;
	case CMP_GT: r = order > 0; break;
	default: r = order >= 0; break;
	}
	return op_bool(r);
}

/* ---- sequences ------------------------------------------------------------------------------ */

size_t op_char_len(struct str s)
{
	size_t n = 1;

	if (!s.n)
		return 0;
	if (((unsigned char)s.p[0] & 0xc0) != 0xc0)
		return 1;
	while (n < s.n && n < 4 && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n++;
	return n;
}

/* A list of one-character texts. */
static const struct value *characters(struct arena *a, struct str s)
{
	struct value *out = value_list(a);

	for (size_t n; (n = op_char_len(s)); s = str_sub(s, n, SIZE_MAX))
		VEC_ADD(a, &out->list) = value_str(a, str_sub(s, 0, n));
	return out;
}

const struct value *op_iterate(struct arena *a, const struct value *v, struct err *e)
{
	struct value *out;

	switch ((int)v->kind) {
	case V_LIST: return v;
	case V_STR:
		if (v->s.n > OPS_MAX_ITEMS)
			return fault(e, "more than 1000000 characters to go through");
		return op_marked(a, characters(a, v->s), v->secret);
	case V_MAP:
		out = value_list(a);
		for (size_t i = 0; i < v->map.n; i++)
			VEC_ADD(a, &out->list) = value_of_key(a, v->map.e[i].key);
		return out;
	default:
		err_set(e, ERR_SPEC, "%s has no items to go through", op_type_name(v));
		return NULL;
	}
}

static int64_t count_chars(struct str s)
{
	int64_t n = 0;

	for (size_t len; (len = op_char_len(s)); s = str_sub(s, len, SIZE_MAX))
		n++;
	return n;
}

int op_length(const struct value *v, int64_t *out, struct err *e)
{
	switch ((int)v->kind) {
	case V_LIST: *out = (int64_t)v->list.n; return 0;
	case V_MAP: *out = (int64_t)v->map.n; return 0;
	case V_STR: *out = count_chars(v->s); return 0;
	default: return err_set(e, ERR_SPEC, "%s has no length", op_type_name(v));
	}
}

/* The bytes of characters from..to. */
static struct str char_range(struct str s, int64_t from, int64_t to)
{
	size_t begin = 0;
	int64_t n = 0;

	for (; n < from && begin < s.n; n++)
		begin += op_char_len(str_sub(s, begin, SIZE_MAX));
	size_t end = begin;
	for (; n < to && end < s.n; n++)
		end += op_char_len(str_sub(s, end, SIZE_MAX));
	return str_sub(s, begin, end);
}

const struct value *op_item(struct arena *a, const struct value *x, const struct value *i)
{
	int64_t at;

	if (x->kind == V_MAP) {
		struct str key;
		if (!value_key(a, i, &key))
			return NULL;
		const struct value *v = value_gets(x, key);
		/* Maps of YAML have texts for keys. */
		return v || i->kind == V_STR ? v : value_gets(x, value_key_text(key));
	}
	if (i->kind != V_INT && i->kind != V_BOOL)
		return NULL;
	at = op_to_int(i);
	if (x->kind == V_LIST) {
		at += at < 0 ? (int64_t)x->list.n : 0;
		return at >= 0 && (uint64_t)at < x->list.n ? x->list.v[at] : NULL;
	}
	if (x->kind != V_STR)
		return NULL;
	int64_t n = count_chars(x->s);
	at += at < 0 ? n : 0;
	if (at < 0 || at >= n)
		return NULL;
	return op_marked(a, value_str(a, char_range(x->s, at, at + 1)), x->secret);
}

/* Python's rule for one end of a slice. */
static int64_t slice_end(const struct value *v, int64_t n, int64_t fallback, int64_t low,
			 int64_t high)
{
	int64_t i = fallback;

	if (v && v->kind != V_NULL) {
		i = op_to_int(v);
		if (i < 0)
			i += n;
	}
	return i < low ? low : i > high ? high : i;
}

const struct value *op_slice(struct arena *a, const struct value *x,
			     const struct value *const part[3], struct err *e)
{
	int64_t step = 1;

	for (int i = 0; i < 3; i++)
		if (part[i] && part[i]->kind != V_NULL && part[i]->kind != V_INT &&
		    part[i]->kind != V_BOOL)
			return fault(e, "a slice is made of whole numbers");
	if (x->kind == V_UNKNOWN)
		return x;
	if (x->kind != V_LIST && x->kind != V_STR) {
		err_set(e, ERR_SPEC, "%s cannot be sliced", op_type_name(x));
		return NULL;
	}
	if (part[2] && part[2]->kind != V_NULL)
		step = op_to_int(part[2]);
	if (!step)
		return fault(e, "the step of a slice cannot be 0");
	const struct value *l = op_iterate(a, x, e);
	if (!l)
		return NULL;
	int64_t n = (int64_t)l->list.n;
	int64_t from = step > 0 ? slice_end(part[0], n, 0, 0, n)
				: slice_end(part[0], n, n - 1, -1, n - 1);
	int64_t to = step > 0 ? slice_end(part[1], n, n, 0, n)
			      : slice_end(part[1], n, -1 - n, -1, n - 1);
	struct value *out = value_list(a);
	out->tuple = x->tuple;
	for (int64_t i = from; step > 0 ? i < to : i > to;) {
		VEC_ADD(a, &out->list) = l->list.v[i];
		if (__builtin_add_overflow(i, step, &i))
			break;
	}
	if (x->kind == V_LIST)
		return out;
	scoped(buf_wipe) struct buf b = { 0 };
	buf_init(&b, OPS_MAX_TEXT);
	for (size_t i = 0; i < out->list.n; i++)
		buf_addstr(&b, out->list.v[i]->s);
	return op_marked(a, value_str(a, buf_str(&b)), x->secret);
}

/* Shared parts count each time they are met: a value of few bytes may be one of 2^50 items when it
 * is printed. */
static bool measure(const struct value *v, int left, uint64_t *nodes)
{
	if (left <= 0 || ++*nodes > OPS_MAX_ITEMS)
		return false;
	if (v->kind == V_LIST) {
		for (size_t i = 0; i < v->list.n; i++)
			if (!measure(v->list.v[i], left - 1, nodes))
				return false;
	} else if (v->kind == V_MAP) {
		for (size_t i = 0; i < v->map.n; i++)
			if (!measure(v->map.e[i].val, left - 1, nodes))
				return false;
	}
	return true;
}

int op_check_nesting(const struct value *v, uint64_t *nodes, struct err *e)
{
	*nodes = 0;
	if (measure(v, OPS_MAX_NESTING, nodes))
		return 0;
	if (*nodes > OPS_MAX_ITEMS)
		return err_set(e, ERR_SPEC, "a value of more than %d items", OPS_MAX_ITEMS);
	return err_set(e, ERR_SPEC, "a value nested deeper than %d levels", OPS_MAX_NESTING);
}

static const struct value *undefined_part(struct arena *a, struct str part)
{
	struct value *v = value_strf(a, "no attribute \"" STR_FMT "\"", STR_ARG(part));

	v->kind = V_UNDEFINED;
	return v;
}

const struct value *op_attribute(struct arena *a, const struct value *v, const struct value *path)
{
	struct str rest, part;
	int64_t index;

	if (path->kind == V_INT) {
		const struct value *item = op_item(a, v, path);
		return item ? item : undefined_part(a, op_text(a, path));
	}
	rest = op_text(a, path);
	while (str_next(&rest, '.', &part)) {
		const struct value *next = NULL;
		if (v->kind == V_UNKNOWN)
			return v;
		if (v->kind == V_MAP)
			next = value_gets(v, part);
		else if (str_to_int(part, &index))
			next = op_item(a, v, value_int(a, index));
		if (!next)
			return undefined_part(a, part);
		v = next;
	}
	return v;
}

struct str op_repr(struct arena *a, const struct value *v)
{
	struct value list = { .kind = V_LIST }, *item = (struct value *)(uintptr_t)v;

	if (v->kind != V_STR)
		return op_text(a, v);
	/* A list of it prints it so. */
	list.list.v = &item;
	list.list.n = 1;
	struct str s = op_text(a, &list);
	return str_sub(s, 1, s.n - 1);
}
