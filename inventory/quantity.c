/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantities carry their unit. A number without one is refused rather than guessed: "size: 100"
 * meant GiB to the person who wrote it and bytes to the program that read it, once too often.
 */
#include "inventory/field.h"

#include <ctype.h>
#include <math.h>

struct unit {
	const char *name;
	int64_t factor;
};

static const struct unit byte_units[] = {
	{ "B", 1 },
	{ "kB", 1000 },
	{ "KB", 1000 },
	{ "MB", 1000000 },
	{ "GB", 1000000000 },
	{ "TB", 1000000000000 },
	{ "PB", 1000000000000000 },
	{ "KiB", (int64_t)1 << 10 },
	{ "MiB", (int64_t)1 << 20 },
	{ "GiB", (int64_t)1 << 30 },
	{ "TiB", (int64_t)1 << 40 },
	{ "PiB", (int64_t)1 << 50 },
};

/* Largest first: the parts of a duration must come in this order. */
static const struct unit time_units[] = {
	{ "w", 7LL * 24 * 3600 * 1000 },
	{ "d", 24LL * 3600 * 1000 },
	{ "h", 3600 * 1000 },
	{ "m", 60 * 1000 },
	{ "s", 1000 },
	{ "ms", 1 },
};

/* Takes digits (and one point) off the front. */
static struct str take_number(struct str *s)
{
	size_t n = 0;

	while (n < s->n && (isdigit((unsigned char)s->p[n]) || s->p[n] == '.'))
		n++;
	struct str number = str_sub(*s, 0, n);
	*s = str_sub(*s, n, SIZE_MAX);
	return number;
}

static int scaled(struct str number, int64_t factor, struct str whole, int64_t *out, struct err *e)
{
	double d;

	if (!str_to_double(number, &d))
		return err_set(e, ERR_SPEC, "\"" STR_FMT "\" is not a number", STR_ARG(number));
	if (!isfinite(d) || d * (double)factor > 9.0e18)
		return err_set(e, ERR_SPEC, "\"" STR_FMT "\" is too large", STR_ARG(whole));
	/* Whole numbers must not pass through a double. */
	int64_t i;
	*out = str_to_int(number, &i) ? i * factor : (int64_t)llround(d * (double)factor);
	return 0;
}

int quantity_bytes(struct str s, int64_t *out, struct err *e)
{
	struct str rest = str_trim(s);
	struct str number = take_number(&rest);
	struct str unit = str_trim(rest);

	if (!number.n) {
		err_set(e, ERR_SPEC, "\"" STR_FMT "\" is not a size", STR_ARG(s));
		return err_hint(e, "write a number and a unit, such as 100 GiB");
	}
	if (!unit.n) {
		err_set(e, ERR_SPEC, "the size " STR_FMT " has no unit", STR_ARG(number));
		return err_hint(e, "write the unit, such as " STR_FMT " GiB", STR_ARG(number));
	}
	for (size_t i = 0; i < ARRAY_LEN(byte_units); i++)
		if (str_eqc(unit, byte_units[i].name))
			return scaled(number, byte_units[i].factor, s, out, e);
	err_set(e, ERR_SPEC, "\"" STR_FMT "\" is not a unit of size", STR_ARG(unit));
	return err_hint(
		e,
		"use KiB, MiB, GiB, TiB, PiB (powers of 1024) or kB, MB, GB, TB, PB (powers of 1000)");
}

/* The unit at the front of s; "ms" before "m". */
static const struct unit *take_time_unit(struct str *s)
{
	size_t n = 0;

	while (n < s->n && isalpha((unsigned char)s->p[n]))
		n++;
	struct str word = str_sub(*s, 0, n);
	for (size_t i = 0; i < ARRAY_LEN(time_units); i++) {
		if (!str_eqc(word, time_units[i].name))
			continue;
		*s = str_sub(*s, n, SIZE_MAX);
		return &time_units[i];
	}
	return NULL;
}

int quantity_duration(struct str s, int64_t *out_ms, struct err *e)
{
	struct str rest = str_trim(s);
	const struct unit *last = NULL;
	int64_t total = 0, part;

	do {
		struct str number = take_number(&rest);
		if (!number.n) {
			err_set(e, ERR_SPEC, "\"" STR_FMT "\" is not a duration", STR_ARG(s));
			return err_hint(
				e,
				"write numbers and units (w, d, h, m, s, ms), such as 30m or 1h30m");
		}
		rest = str_trim(rest);
		const struct unit *u = take_time_unit(&rest);
		if (!u && !rest.n) {
			err_set(e, ERR_SPEC, "the duration " STR_FMT " has no unit", STR_ARG(s));
			return err_hint(e, "write the unit, such as " STR_FMT "s or " STR_FMT "m",
					STR_ARG(number), STR_ARG(number));
		}
		if (!u) {
			err_set(e, ERR_SPEC, "\"" STR_FMT "\" has an unknown unit of time",
				STR_ARG(s));
			return err_hint(e, "use w, d, h, m, s or ms");
		}
		if (last && u <= last)
			return err_set(e, ERR_SPEC, "\"" STR_FMT "\" has its units out of order",
				       STR_ARG(s));
		last = u;
		if (scaled(number, u->factor, s, &part, e) < 0)
			return -1;
		if (__builtin_add_overflow(total, part, &total))
			return err_set(e, ERR_SPEC, "\"" STR_FMT "\" is too large", STR_ARG(s));
		rest = str_trim(rest);
	} while (rest.n);
	*out_ms = total;
	return 0;
}

int quantity_count(struct str s, struct count *out, struct err *e)
{
	struct str t = str_trim(s);
	struct count c = { .percent = str_ends(t, "%") };

	if (c.percent)
		t = str_trim(str_sub(t, 0, t.n - 1));
	if (!str_to_int(t, &c.n)) {
		err_set(e, ERR_SPEC, "\"" STR_FMT "\" is %s", STR_ARG(s),
			str_is_digits(t) ? "too large a number"
					 : "neither a number nor a percentage");
		return err_hint(e, "write a number such as 3, or a percentage such as 10%%");
	}
	if (c.n < 0)
		return err_set(e, ERR_SPEC, "must not be below zero");
	if (c.percent && c.n > 100)
		return err_set(e, ERR_SPEC, "must not be above 100%%");
	*out = c;
	return 0;
}

/* In milliseconds: the units of time that a rate may be told by. */
int quantity_rate(struct str s, int64_t *out, struct err *e)
{
	struct str rest = str_trim(s);
	struct str number = take_number(&rest);
	const struct unit *u = NULL;
	int64_t n;

	rest = str_trim(rest);
	if (number.n && rest.n && rest.p[0] == '/') {
		rest = str_trim(str_sub(rest, 1, SIZE_MAX));
		u = take_time_unit(&rest);
	}
	if (!u || rest.n) {
		err_set(e, ERR_SPEC, "\"" STR_FMT "\" is not a rate", STR_ARG(s));
		return err_hint(e, "write how many a second, minute or hour: 20/s, 90/m, 500/h");
	}
	if (scaled(number, 1000000, s, &n, e) < 0)
		return -1;
	n /= u->factor;
	if (n < 1 || n > 1000000000)
		return err_set(e, ERR_SPEC,
			       "\"" STR_FMT "\" is out of range: more than none, at most 1000000/s",
			       STR_ARG(s));
	*out = n;
	return 0;
}

int64_t count_of(struct count c, int64_t total)
{
	if (!c.percent)
		return c.n;
	/* total / 100 first would lose small fleets, total * n could overflow for absurd ones. */
	int64_t n = total / 100 * c.n + total % 100 * c.n / 100;
	return n == 0 && c.n > 0 && total > 0 ? 1 : n;
}
