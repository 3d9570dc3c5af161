/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/filters.h"

static const struct callable *const tables[] = { filters_text,	 filters_layout, filters_html,
						 filters_number, filters_path,	 filters_list,
						 filters_sets,	 filters_random, filters_data,
						 filters_ip,	 filters_ipaddr, filters_general,
						 filters_keys };

/* name -> row; made at the first use, kept for the life of the program */
static const struct map *rows(void)
{
	static struct map all;

	if (all.n)
		return &all;
	map_init(&all, arena_new("filters"));
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct callable *f = tables[t]; f->name; f++)
			map_put(&all, str_of(f->name), (void *)(uintptr_t)f);
	return &all;
}

const struct callable *filter_find(struct str name)
{
	return map_get(rows(), call_plain_name(name));
}

const struct callable *filter_at(size_t i)
{
	for (size_t t = 0; t < ARRAY_LEN(tables); t++)
		for (const struct callable *f = tables[t]; f->name; f++)
			if (i-- == 0)
				return f;
	return NULL;
}

const char *filter_suggest(struct str name)
{
	const char *names[400];
	size_t n = 0;

	for (const struct callable *f; n < ARRAY_LEN(names) && (f = filter_at(n)); n++)
		names[n] = f->name;
	return str_suggest(name, names, n);
}
