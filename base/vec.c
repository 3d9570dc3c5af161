/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#include <string.h>

void *vec_grow(struct arena *a, void **v, size_t *n, size_t *cap, size_t elem_size)
{
	void *data, *last;

	memcpy(&data, v, sizeof(data)); /* *v is a T *, read as void *: copy, do not alias */
	if (*n == *cap) {
		size_t new_cap = *cap ? *cap * 2 : 4;
		if (new_cap > SIZE_MAX / 2 / elem_size)
			mem_oom();
		data = arena_grow(a, data, *cap * elem_size, new_cap * elem_size);
		memcpy(v, &data, sizeof(data));
		*cap = new_cap;
	}
	last = (char *)data + *n * elem_size;
	memset(last, 0, elem_size); /* a place given back by n-- may be used again */
	(*n)++;
	return last;
}
