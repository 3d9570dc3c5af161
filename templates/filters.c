/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/filters.h"

static const struct callable *const tables[] = { filters_text, filters_list, filters_data,
						 filters_html, filters_layout };

const struct callable *filter_find(struct str name)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct callable *f = tables[t]; f->name; f++)
			if (str_eqc(name, f->name))
				return f;
	return NULL;
}

const char *filter_name(size_t i)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct callable *f = tables[t]; f->name; f++)
			if (i-- == 0)
				return f->name;
	return NULL;
}

const char *filter_suggest(struct str name)
{
	const char *names[200];
	size_t n = 0;

	while (n < ARRAY_LEN(names) && filter_name(n)) {
		names[n] = filter_name(n);
		n++;
	}
	return str_suggest(name, names, n);
}
