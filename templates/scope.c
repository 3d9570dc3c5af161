/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/scope.h"

bool template_has_markup(struct str text)
{
	for (size_t i = 0; i + 1 < text.n; i++)
		if (text.p[i] == '{' &&
		    (text.p[i + 1] == '{' || text.p[i + 1] == '%' || text.p[i + 1] == '#'))
			return true;
	return false;
}
