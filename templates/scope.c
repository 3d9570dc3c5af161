/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/scope.h"

bool template_has_markup(struct str text)
{
	for (size_t i = 0; i + 1 < text.n; i++) {
		const char *at = memchr(text.p + i, '{', text.n - 1 - i);
		if (!at)
			return false;
		if (at[1] == '{' || at[1] == '%' || at[1] == '#')
			return true;
		i = (size_t)(at - text.p);
	}
	return false;
}
