/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/region.h"

#include "cli/width.h"

/* A terminal that became narrower has wrapped the rows that it showed. */
static size_t lines_taken(const struct region *r)
{
	size_t lines = 0, columns = r->columns ? r->columns : 80;

	for (size_t i = 0; i < r->n; i++)
		lines += r->width[i] > columns ? (r->width[i] + columns - 1) / columns : 1;
	return lines;
}

void region_erase(struct region *r, struct buf *out)
{
	size_t lines = lines_taken(r);

	if (!lines)
		return;
	buf_addf(out, "\r\033[%zuA\033[J", lines);
	r->n = 0;
}

void region_row(struct region *r, struct buf *out, struct str text)
{
	size_t from = out->n, columns = r->columns ? r->columns : 80;

	if (r->n == REGION_ROWS_MAX || (r->height && r->n + 1 >= r->height))
		return;
	/* one column stays free: a full line would already have wrapped */
	text_cut(out, text, columns - 1);
	r->width[r->n++] = text_width(str_sub(buf_str(out), from, SIZE_MAX));
	buf_addc(out, '\n');
}
