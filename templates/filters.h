/* SPDX-License-Identifier: Apache-2.0 */
/* templates/filters.h - the filters, by name. */
#ifndef MUSTER_TEMPLATES_FILTERS_H
#define MUSTER_TEMPLATES_FILTERS_H

#include "templates/call.h"

const struct callable *filter_find(struct str name); /* NULL: none */
const char *filter_suggest(struct str name);	     /* NULL: none is near */
const struct callable *filter_at(size_t i);	     /* all, in order; NULL past the last */

/* The tables, each ended by a NULL name. */
extern const struct callable filters_text[], filters_layout[], filters_html[], filters_number[],
	filters_path[], filters_list[], filters_sets[], filters_random[], filters_data[],
	filters_ip[], filters_ipaddr[], filters_general[], filters_keys[];

#endif
