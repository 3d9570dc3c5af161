/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/version.h"

#include <ctype.h>

/* The next run of digits or of letters; separators are skipped. */
static struct str version_part(struct str *s)
{
	size_t n = 0;

	while (s->n && !isalnum((unsigned char)s->p[0]))
		*s = str_sub(*s, 1, SIZE_MAX);
	bool digit = s->n && isdigit((unsigned char)s->p[0]);
	while (n < s->n && isalnum((unsigned char)s->p[n]) &&
	       (isdigit((unsigned char)s->p[n]) != 0) == digit)
		n++;
	struct str part = str_sub(*s, 0, n);
	*s = str_sub(*s, n, SIZE_MAX);
	return part;
}

/* Python's LooseVersion: parts in order, numbers as numbers; a longer version is later. */
static int compare_loose(struct str x, struct str y, int *order, struct err *e)
{
	uint64_t nx, ny;

	for (;;) {
		struct str px = version_part(&x), py = version_part(&y);
		if (!px.n || !py.n) {
			*order = px.n ? 1 : py.n ? -1 : 0;
			return 0;
		}
		bool dx = isdigit((unsigned char)px.p[0]), dy = isdigit((unsigned char)py.p[0]);
		if (dx != dy)
			return err_set(e, ERR_SPEC,
				       "the versions cannot be compared: \"" STR_FMT
				       "\" and \"" STR_FMT "\"",
				       STR_ARG(px), STR_ARG(py));
		if (dx && str_to_uint(px, 10, &nx) && str_to_uint(py, 10, &ny))
			*order = nx < ny ? -1 : nx > ny;
		else
			*order = str_cmp(px, py);
		if (*order)
			return 0;
	}
}

/* Before "+", release and what follows "-". */
static void split_semver(struct str s, struct str *release, struct str *pre)
{
	s = str_sub(s, 0, str_find_char(s, '+'));
	size_t dash = str_find_char(s, '-');
	*release = str_sub(s, 0, dash);
	*pre = dash == SIZE_MAX ? STR("") : str_sub(s, dash + 1, SIZE_MAX);
}

static int order_identifiers(struct str x, struct str y)
{
	uint64_t nx, ny;
	bool dx = str_is_digits(x) && str_to_uint(x, 10, &nx),
	     dy = str_is_digits(y) && str_to_uint(y, 10, &ny);

	if (dx && dy)
		return nx < ny ? -1 : nx > ny;
	return dx != dy ? (dx ? -1 : 1) : str_cmp(x, y);
}

/* Semantic versions: a release is after all of its pre-releases. */
static int compare_semver(struct str x, struct str y)
{
	struct str rx, ry, px, py, ix, iy;
	int order;

	split_semver(x, &rx, &px);
	split_semver(y, &ry, &py);
	while (rx.n || ry.n) {
		bool more_x = str_next(&rx, '.', &ix), more_y = str_next(&ry, '.', &iy);
		order = order_identifiers(more_x ? ix : STR("0"), more_y ? iy : STR("0"));
		if (order)
			return order;
	}
	if (!px.n || !py.n)
		return px.n ? -1 : py.n ? 1 : 0;
	while (px.n && py.n) {
		str_next(&px, '.', &ix);
		str_next(&py, '.', &iy);
		if ((order = order_identifiers(ix, iy)))
			return order;
	}
	return px.n ? 1 : py.n ? -1 : 0;
}

/* PEP 440: dev, a, b, rc, the release, post. */
static int stage_of(struct str s, uint64_t *number, struct str *release)
{
	static const struct {
		const char *word;
		int stage;
	} words[] = { { "dev", -4 }, { "alpha", -3 }, { "a", -3 }, { "beta", -2 },
		      { "b", -2 },   { "rc", -1 },    { "c", -1 }, { "post", 1 } };
	size_t n = 0;

	while (n < s.n && (isdigit((unsigned char)s.p[n]) || s.p[n] == '.'))
		n++;
	*release = str_sub(s, 0, n);
	*number = 0;
	while (n < s.n && strchr(".-_", s.p[n]))
		n++;
	struct str rest = str_sub(s, n, SIZE_MAX);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (!str_starts(rest, words[i].word))
			continue;
		struct str digits = str_sub(rest, strlen(words[i].word), SIZE_MAX);
		if (!str_to_uint(digits, 10, number))
			*number = 0;
		return words[i].stage;
	}
	return 0;
}

static int compare_pep440(struct str x, struct str y)
{
	struct str rx, ry, ix, iy;
	uint64_t nx, ny;
	int sx = stage_of(x, &nx, &rx), sy = stage_of(y, &ny, &ry), order;

	while (rx.n || ry.n) {
		bool more_x = str_next(&rx, '.', &ix), more_y = str_next(&ry, '.', &iy);
		order = order_identifiers(more_x && ix.n ? ix : STR("0"),
					  more_y && iy.n ? iy : STR("0"));
		if (order)
			return order;
	}
	return sx != sy ? (sx < sy ? -1 : 1) : nx < ny ? -1 : nx > ny;
}

/* Two or three numbers, and perhaps a1 or b1. */
static bool is_strict(struct str s)
{
	int numbers = 0;
	struct str rest = s, part;

	while (str_next(&rest, '.', &part)) {
		size_t n = 0;
		while (n < part.n && isdigit((unsigned char)part.p[n]))
			n++;
		bool pre = n < part.n && (part.p[n] == 'a' || part.p[n] == 'b') &&
			   str_is_digits(str_sub(part, n + 1, SIZE_MAX)) && !rest.n;
		if (!n || (n < part.n && !pre))
			return false;
		numbers++;
	}
	return numbers == 2 || numbers == 3;
}

int version_order(struct str kind, struct str x, struct str y, int *order, struct err *e)
{
	if (str_eqc(kind, "loose"))
		return compare_loose(x, y, order, e);
	if (str_eqc(kind, "strict")) {
		if (!is_strict(x) || !is_strict(y))
			return err_set(e, ERR_SPEC, "\"" STR_FMT "\" is no strict version",
				       STR_ARG(is_strict(x) ? y : x));
		*order = compare_pep440(x, y);
		return 0;
	}
	if (str_eqc(kind, "semver") || str_eqc(kind, "semantic")) {
		*order = compare_semver(x, y);
		return 0;
	}
	if (str_eqc(kind, "pep440") || str_eqc(kind, "python")) {
		*order = compare_pep440(x, y);
		return 0;
	}
	err_set(e, ERR_SPEC, "version_type \"" STR_FMT "\" is not known", STR_ARG(kind));
	return err_hint(e, "use loose, strict, semver or pep440");
}
