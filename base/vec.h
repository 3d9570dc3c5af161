/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/vec.h - a growable array in an arena.
 *
 *	VEC(struct node *) nodes = { 0 };
 *	VEC_ADD(arena, &nodes) = node;
 *	for (size_t i = 0; i < nodes.n; i++) use(nodes.v[i]);
 *
 * Elements move when it grows: don't keep pointers into a vec that still grows.
 */
#ifndef MUSTER_BASE_VEC_H
#define MUSTER_BASE_VEC_H

#include "base/arena.h"

#define VEC(type)           \
	struct {            \
		type *v;    \
		size_t n;   \
		size_t cap; \
	}

/* An lvalue: the new, zeroed last element. */
#define VEC_ADD(arena, vec)                                                                   \
	(*(__typeof__((vec)->v))vec_grow((arena), (void **)&(vec)->v, &(vec)->n, &(vec)->cap, \
					 sizeof *(vec)->v))

void *vec_grow(struct arena *a, void **v, size_t *n, size_t *cap, size_t elem_size);

#endif
