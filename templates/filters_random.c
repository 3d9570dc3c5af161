/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random and shuffle. With a seed they give what Python's random.Random(seed) gives, because roles
 * spread their schedules by it: `60 | random(seed=inventory_hostname)`. Python's generator is the
 * Mersenne Twister (MT19937); a text seeds it by its bytes and their SHA-512.
 */
#include "base/rand.h"
#include "templates/filters.h"

#define MT_N 624
#define MT_M 397

struct twister {
	uint32_t v[MT_N];
	size_t at;
	bool seeded; /* else the machine's own randomness */
};

static void mt_init(struct twister *t, uint32_t seed)
{
	t->v[0] = seed;
	for (uint32_t i = 1; i < MT_N; i++)
		t->v[i] = 1812433253u * (t->v[i - 1] ^ (t->v[i - 1] >> 30)) + i;
	t->at = MT_N;
}

static void mt_init_by_array(struct twister *t, const uint32_t *key, size_t n)
{
	size_t i = 1, k = 0;

	mt_init(t, 19650218u);
	for (size_t left = n > MT_N ? n : MT_N; left > 0; left--) {
		t->v[i] = (t->v[i] ^ ((t->v[i - 1] ^ (t->v[i - 1] >> 30)) * 1664525u)) + key[k] +
			  (uint32_t)k;
		if (++i >= MT_N) {
			t->v[0] = t->v[MT_N - 1];
			i = 1;
		}
		if (++k >= n)
			k = 0;
	}
	for (size_t left = MT_N - 1; left > 0; left--) {
		t->v[i] = (t->v[i] ^ ((t->v[i - 1] ^ (t->v[i - 1] >> 30)) * 1566083941u)) -
			  (uint32_t)i;
		if (++i >= MT_N) {
			t->v[0] = t->v[MT_N - 1];
			i = 1;
		}
	}
	t->v[0] = 0x80000000u;
}

static void mt_turn(struct twister *t)
{
	for (size_t i = 0; i < MT_N; i++) {
		uint32_t y = (t->v[i] & 0x80000000u) | (t->v[(i + 1) % MT_N] & 0x7fffffffu);
		t->v[i] = t->v[(i + MT_M) % MT_N] ^ (y >> 1) ^ (y & 1 ? 0x9908b0dfu : 0);
	}
	t->at = 0;
}

static uint32_t mt_next(struct twister *t)
{
	uint32_t y;

	if (!t->seeded)
		return (uint32_t)rand_below((uint64_t)1 << 32);
	if (t->at >= MT_N)
		mt_turn(t);
	y = t->v[t->at++];
	y ^= y >> 11;
	y ^= (y << 7) & 0x9d2c5680u;
	y ^= (y << 15) & 0xefc60000u;
	return y ^ (y >> 18);
}

/* Big-endian bytes as Python's integer, in words from the lowest. */
static void seed_by_bytes(struct twister *t, const unsigned char *p, size_t n, struct arena *a)
{
	size_t words = (n + 3) / 4;
	uint32_t *key = arena_array(a, uint32_t, words + 1);

	for (size_t i = 0; i < n; i++)
		key[i / 4] |= (uint32_t)p[n - 1 - i] << (8 * (i % 4));
	while (words > 1 && !key[words - 1])
		words--;
	mt_init_by_array(t, key, words ? words : 1);
}

static int seed(struct call *c, struct twister *t, const struct value *v)
{
	uint8_t digest[HASH_MAX];
	scoped(buf_wipe) struct buf b = { 0 };
	size_t n;

	*t = (struct twister){ .seeded = v && v->kind != V_NULL };
	if (!t->seeded)
		return 0;
	if (v->kind == V_INT || v->kind == V_BOOL) {
		int64_t i = op_to_int(v);
		uint64_t u = i < 0 ? -(uint64_t)i : (uint64_t)i;
		uint32_t key[2] = { (uint32_t)u, (uint32_t)(u >> 32) };
		mt_init_by_array(t, key, key[1] ? 2 : 1);
		return 0;
	}
	if (v->kind != V_STR)
		return err_set(c->e, ERR_SPEC, "a seed must be text or a whole number, not %s",
			       op_type_name(v));
	n = hash_named("sha512", v->s, digest);
	if (!n)
		return err_set(c->e, ERR_SPEC, "the digest of the seed failed");
	buf_init(&b, OPS_MAX_TEXT);
	buf_addstr(&b, v->s);
	buf_addstr(&b, (struct str){ (const char *)digest, n });
	seed_by_bytes(t, (const unsigned char *)b.p, b.n, c->a);
	return buf_check(&b, c->e);
}

/* Python's _randbelow: as many bits as n has, again until they are below it. */
static uint64_t below(struct twister *t, uint64_t n)
{
	int bits = 64 - __builtin_clzll(n);
	uint64_t r;

	do {
		if (bits <= 32) {
			r = mt_next(t) >> (32 - bits);
		} else {
			r = mt_next(t);
			r |= (uint64_t)(mt_next(t) >> (64 - bits)) << 32;
		}
	} while (r >= n);
	return r;
}

/* 60|random(start, step, seed), [...]|random(seed=...) */
static const struct value *f_random(struct call *c)
{
	struct twister t;
	int64_t start, step;

	if (seed(c, &t, c->arg[2]) < 0 || call_int(c, 0, 0, &start) < 0 ||
	    call_int(c, 1, 1, &step) < 0)
		return NULL;
	if (c->self->kind == V_INT) {
		int64_t end = c->self->i;
		if (step < 1 || start >= end)
			return call_fault(c, "random: there is no number from %lld to below %lld",
					  (long long)start, (long long)end);
		uint64_t n = ((uint64_t)(end - start) + (uint64_t)step - 1) / (uint64_t)step;
		return value_int(c->a, start + (int64_t)below(&t, n) * step);
	}
	const struct value *l = call_list(c, c->self);
	if (!l)
		return NULL;
	if (c->arg[0] || c->arg[1])
		return call_fault(c, "random: start and step are for numbers");
	if (!l->list.n)
		return call_fault(c, "random of an empty list");
	return l->list.v[below(&t, l->list.n)];
}

static const struct value *f_shuffle(struct call *c)
{
	const struct value *l = call_list(c, c->self);
	struct value *out = value_list(c->a);
	struct twister t;

	if (!l || seed(c, &t, c->arg[0]) < 0)
		return NULL;
	for (size_t i = 0; i < l->list.n; i++)
		value_add(c->a, out, l->list.v[i]);
	for (size_t i = out->list.n; i-- > 1;) {
		size_t k = below(&t, i + 1);
		struct value *v = out->list.v[i];
		out->list.v[i] = out->list.v[k];
		out->list.v[k] = v;
	}
	return out;
}

const struct callable filters_random[] = {
	{ "random", f_random, "start,step,seed", CALL_ITEMS },
	{ "shuffle", f_shuffle, "seed", CALL_ITEMS },
	{ NULL, NULL, NULL, 0 },
};
