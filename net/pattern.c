/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pattern.h"

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Goes back to the last star only, so it is linear in |pattern| * |s| at worst. */
bool pattern_match(struct str p, struct str s)
{
	size_t i = 0, k = 0, star = SIZE_MAX, resume = 0;

	while (k < s.n) {
		if (i < p.n && p.p[i] == '*') {
			star = i++;
			resume = k;
		} else if (i < p.n && (p.p[i] == '?' || lower(p.p[i]) == lower(s.p[k]))) {
			i++;
			k++;
		} else if (star != SIZE_MAX) {
			i = star + 1;
			k = ++resume;
		} else {
			return false;
		}
	}
	while (i < p.n && p.p[i] == '*')
		i++;
	return i == p.n;
}

enum pattern_hit pattern_list_match(struct str list, char sep, struct str s)
{
	enum pattern_hit hit = PATTERN_NO;
	struct str p;

	while (str_next(&list, sep, &p)) {
		p = str_trim(p);
		if (p.n == 0)
			continue;
		if (p.p[0] == '!') {
			if (pattern_match(str_sub(p, 1, SIZE_MAX), s))
				return PATTERN_FORBIDDEN;
		} else if (pattern_match(p, s)) {
			hit = PATTERN_YES;
		}
	}
	return hit;
}
