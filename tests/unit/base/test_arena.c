/* SPDX-License-Identifier: Apache-2.0 */
/* Arenas, the heap with the same rule, vectors and maps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/vec.h"

static void memory_is_zeroed_aligned_and_apart(void **state)
{
	struct arena *a = arena_new("test");
	unsigned char *p[500];
	size_t total = 0;

	(void)state;
	for (int round = 0; round < 3; round++) {
		total = 0;
		for (size_t i = 0; i < ARRAY_LEN(p); i++) {
			size_t n = i * 37 % 3000;
			p[i] = arena_alloc(a, n);
			total += n;
			assert_int_equal((uintptr_t)p[i] % 16, 0);
			for (size_t k = 0; k < n; k++)
				assert_int_equal(p[i][k], 0);
			memset(p[i], (int)(i & 255), n);
		}
		for (size_t i = 0; i < ARRAY_LEN(p); i++)
			for (size_t k = 0; k < i * 37 % 3000; k++)
				assert_int_equal(p[i][k], i & 255);
		assert_int_equal(arena_bytes(a), total);
		arena_reset(a);
		assert_int_equal(arena_bytes(a), 0);
	}
	arena_free(a);
	arena_free(NULL);
}

static void large_objects(void **state)
{
	struct arena *a = arena_new("test");
	char *big = arena_alloc(a, 10 << 20);
	char *small = arena_strdup(a, "small");

	(void)state;
	memset(big, 'x', 10 << 20);
	assert_string_equal(small, "small");
	arena_freep(&a);
	assert_null(a);
}

static void growing_keeps_and_zeroes(void **state)
{
	struct arena *a = arena_new("test");
	unsigned char *p = arena_alloc(a, 10);

	(void)state;
	memset(p, 7, 10);
	for (size_t n = 10; n < 100000; n = n * 3 / 2) {
		size_t next = n * 3 / 2;
		p = arena_grow(a, p, n, next);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 7);
		for (size_t i = n; i < next; i++)
			assert_int_equal(p[i], 0);
		memset(p, 7, next);
		if (n % 2)
			arena_alloc(a, 1); /* something in the way */
	}
	assert_ptr_equal(arena_grow(a, p, 10, 5), p);
	assert_non_null(arena_grow(a, NULL, 0, 5));
	arena_free(a);
}

static void texts(void **state)
{
	struct arena *a = arena_new("test");

	(void)state;
	assert_null(arena_strdup(a, NULL));
	assert_string_equal(arena_dup(a, "abcdef", 3), "abc");
	assert_string_equal(arena_dup(a, NULL, 0), "");
	assert_string_equal(arena_printf(a, "%d-%s", 5, "x"), "5-x");
	assert_int_equal(strlen(arena_printf(a, "%5000s", "x")), 5000);
	arena_free(a);
}

static char order[8];

static void note(void *arg)
{
	size_t n = strlen(order);

	order[n] = *(char *)arg;
	order[n + 1] = '\0';
}

static void clean_up_runs_backwards(void **state)
{
	struct arena *a = arena_new("test");
	char one = '1', two = '2', three = '3';

	(void)state;
	arena_on_free(a, note, &one);
	arena_on_free(a, note, &two);
	arena_reset(a);
	assert_string_equal(order, "21");
	arena_on_free(a, note, &three);
	arena_free(a);
	assert_string_equal(order, "213");
}

static void heap(void **state)
{
	scoped(mem_freep) char *p = mem_alloc(8);

	(void)state;
	assert_int_equal(p[7], 0);
	p = mem_realloc(p, 100);
	p[99] = 1;
	mem_freep(&p);
	assert_null(p);
	mem_free(NULL);
}

struct pair {
	int a, b;
};

static void vectors(void **state)
{
	struct arena *a = arena_new("test");
	VEC(struct pair) v = { 0 };
	VEC(char *) s = { 0 };

	(void)state;
	for (int i = 0; i < 1000; i++) {
		VEC_ADD(a, &v) = (struct pair){ i, -i };
		VEC_ADD(a, &s) = arena_printf(a, "%d", i);
	}
	assert_int_equal(v.n, 1000);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(v.v[i].a, i);
		assert_int_equal(v.v[i].b, -i);
		assert_int_equal(strtol(s.v[i], NULL, 10), i);
	}
	v.n = 10;
	VEC_ADD(a, &v).a = 5;
	assert_int_equal(v.v[10].b, 0); /* the reused place is clean */
	arena_free(a);
}

static void maps_small_and_large(void **state)
{
	struct arena *a = arena_new("test");
	struct map m;
	char key[16];

	(void)state;
	map_init(&m, a);
	assert_null(map_getc(&m, "x"));
	assert_false(map_del(&m, STR("x")));
	for (intptr_t i = 0; i < 5000; i++) {
		snprintf(key, sizeof(key), "k%d", (int)i);
		map_put(&m, str_of(key), (void *)(i + 1));
		assert_int_equal(m.n, i + 1);
		assert_ptr_equal(map_getc(&m, "k0"), (void *)1);
		assert_ptr_equal(map_getc(&m, key), (void *)(i + 1));
		assert_null(map_getc(&m, "nope"));
	}
	memset(key, 0, sizeof(key)); /* keys were copied */
	for (intptr_t i = 0; i < 5000; i++) {
		assert_ptr_equal(m.e[i].val, (void *)(i + 1));
		assert_int_equal(m.e[i].key.p[m.e[i].key.n], '\0');
	}
	map_put(&m, STR("k7"), &m);
	assert_int_equal(m.n, 5000);
	assert_ptr_equal(m.e[7].val, &m);
	arena_free(a);
}

static void maps_keep_order_when_deleting(void **state)
{
	struct arena *a = arena_new("test");

	(void)state;
	for (int size = 1; size <= 40; size++) {
		struct map m;
		char key[16];
		map_init(&m, a);
		for (int i = 0; i < size; i++) {
			snprintf(key, sizeof(key), "%d", i);
			map_put(&m, str_of(key), &m);
		}
		for (int i = 0; i < size; i += 2) {
			snprintf(key, sizeof(key), "%d", i);
			assert_true(map_del(&m, str_of(key)));
			assert_false(map_has(&m, str_of(key)));
		}
		assert_int_equal(m.n, size / 2);
		for (int i = 0; i < size / 2; i++) {
			snprintf(key, sizeof(key), "%d", 2 * i + 1);
			assert_true(str_eqc(m.e[i].key, key));
			assert_ptr_equal(map_find(&m, str_of(key)), &m.e[i]);
		}
		map_put(&m, STR("new"), &m);
		assert_true(str_eqc(m.e[m.n - 1].key, "new"));
	}
	arena_free(a);
}

static void maps_take_any_bytes(void **state)
{
	struct arena *a = arena_new("test");
	struct map m;

	(void)state;
	map_init(&m, a);
	map_put(&m, STR("a\0b"), &m);
	assert_null(map_getc(&m, "a"));
	assert_ptr_equal(map_get(&m, STR("a\0b")), &m);
	map_put(&m, STR_NONE, &m);
	assert_true(map_has(&m, STR("")));
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_zeroed_aligned_and_apart),
		cmocka_unit_test(large_objects),
		cmocka_unit_test(growing_keeps_and_zeroes),
		cmocka_unit_test(texts),
		cmocka_unit_test(clean_up_runs_backwards),
		cmocka_unit_test(heap),
		cmocka_unit_test(vectors),
		cmocka_unit_test(maps_small_and_large),
		cmocka_unit_test(maps_keep_order_when_deleting),
		cmocka_unit_test(maps_take_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
