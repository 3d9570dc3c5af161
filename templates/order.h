/* SPDX-License-Identifier: Apache-2.0 */
/* templates/order.h - sorting by keys, as Python sorts: stable, and a comparison may fail. */
#ifndef MUSTER_TEMPLATES_ORDER_H
#define MUSTER_TEMPLATES_ORDER_H

#include "templates/ops.h"

struct keyed {
	const struct value *key;
	struct value *item;
};

must_check int order_sort(struct arena *a, struct keyed *v, size_t n, bool reverse, struct err *e);

#endif
