/* SPDX-License-Identifier: Apache-2.0 */
#include "templates/order.h"

/* Stable merge sort: qsort is not stable, and its comparison cannot fail. */
static int merge_sort(struct keyed *v, struct keyed *tmp, size_t n, bool reverse, struct err *e)
{
	size_t half = n / 2, i = 0, k = half, out = 0;
	int order;

	if (n < 2)
		return 0;
	if (merge_sort(v, tmp, half, reverse, e) < 0 ||
	    merge_sort(v + half, tmp, n - half, reverse, e) < 0)
		return -1;
	memcpy(tmp, v, n * sizeof *v);
	while (i < half && k < n) {
		if (op_order(tmp[k].key, tmp[i].key, &order, e) < 0)
			return -1;
		v[out++] = (reverse ? order > 0 : order < 0) ? tmp[k++] : tmp[i++];
	}
	while (i < half)
		v[out++] = tmp[i++];
	while (k < n)
		v[out++] = tmp[k++];
	return 0;
}

int order_sort(struct arena *a, struct keyed *v, size_t n, bool reverse, struct err *e)
{
	return merge_sort(v, arena_array(a, struct keyed, n + 1), n, reverse, e);
}
