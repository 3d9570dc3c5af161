/* SPDX-License-Identifier: Apache-2.0 */
/* Ten thousand resources: time, and bytes written for a change. Prints what it measured. */
#include "fixture.h"

#include <time.h>

#define COUNT 10000
#define GROUP 100

/* Bytes handed to write calls by this process; -1 where the kernel does not count them. */
static int64_t written(void)
{
	FILE *f = fopen("/proc/self/io", "r");
	char line[128];
	long long n = -1;

	while (f && fgets(line, sizeof line, f))
		if (sscanf(line, "wchar: %lld", &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* Asserted instead of wall time, which other programs of the machine share. */
static int64_t cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static struct state_resource *node(int i)
{
	struct state_resource *r = sample(arena_printf(arena, "node.gpu[%05d]", i));
	struct value *attrs = value_map(arena);

	value_set(attrs, "private_ip",
		  value_strf(arena, "10.%d.%d.%d", i >> 16, (i >> 8) & 255, i & 255));
	value_set(attrs, "host_key",
		  value_cstr(arena, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIFGmVv0d2tq2Jw6l8x7e"
				    "Zp0q4m8o8hQKx4Vb7mB1dQwz"));
	value_set(attrs, "zone", value_cstr(arena, "eu-north-1a"));
	r->attrs = attrs;
	r->config_digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
	return r;
}

static void create(struct state *s, int from, int count)
{
	int64_t seq[GROUP];

	for (int at = from; at < from + count; at += GROUP) {
		for (int i = 0; i < GROUP; i++) {
			struct state_resource *r = node(at + i);
			struct journal_row row = { .addr = r->addr,
						   .action = "create",
						   .want = r->want };
			OK(journal_intent(s, &row, &seq[i], &err));
		}
		OK(journal_flush(s, &err));
		for (int i = 0; i < GROUP; i++)
			OK(journal_settle(s, seq[i],
					  &(struct journal_result){ .outcome = JOURNAL_DONE,
								    .request = "req",
								    .put = node(at + i) },
					  &err));
		OK(journal_flush(s, &err));
	}
}

static int64_t bytes_of_one_group(struct state *s, int from)
{
	int64_t before = written();

	create(s, from, GROUP);
	return (written() - before) / GROUP;
}

static void ten_thousand(void **data)
{
	struct state *s = open_leased();
	struct state_resource *net = sample("here.network.main");
	struct state_resources all;

	(void)data;
	net->deps.n = 0;
	OK(state_resource_put(s, net, &err));
	int64_t t = clock_now(), c = cpu_ms();
	create(s, 0, COUNT);
	int64_t put = clock_now() - t, put_cpu = cpu_ms() - c;
	struct arena *a = arena_new("read");
	t = clock_now();
	OK(state_resources(s, a, &all, &err));
	int64_t first = clock_now() - t, best = INT64_MAX;
	assert_int_equal(all.v.n, COUNT + 1);
	for (int i = 0; i < 3; i++) {
		arena_reset(a);
		c = cpu_ms();
		OK(state_resources(s, a, &all, &err));
		best = cpu_ms() - c < best ? cpu_ms() - c : best;
	}
	size_t memory = arena_bytes(a);
	arena_free(a);
	t = clock_now();
	assert_int_equal(problems_of(s), 0);
	int64_t check = clock_now() - t;
	t = clock_now();
	OK(state_backup(s, NULL, &err));
	int64_t backup = clock_now() - t;
	print_message(
		"%d resources: intents and outcomes in groups of %d: %lld ms (CPU %lld); read all: "
		"%lld ms (CPU, best of 3: %lld), %zu KiB; check %lld ms; backup %lld ms\n",
		COUNT, GROUP, (long long)put, (long long)put_cpu, (long long)first, (long long)best,
		memory >> 10, (long long)check, (long long)backup);
	state_close(s);
}

static int64_t bytes_of_one_alone(struct state *s, int i)
{
	int64_t before = written();

	OK(state_resource_put(s, node(i), &err));
	return written() - before;
}

/* A change costs the same in a small and in a large state, alone and in a group. */
static void bytes_for_a_change(void **data)
{
	static const int sizes[] = { 1000, COUNT, 5 * COUNT };
	struct state *s = open_leased();
	int64_t first = 0;

	(void)data;
	if (written() < 0) {
		print_message("no /proc/self/io here\n");
		skip();
	}
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		create(s, i ? sizes[i - 1] : 0, sizes[i] - (i ? sizes[i - 1] : 0));
		int64_t grouped = bytes_of_one_group(s, sizes[i] / 2);
		int64_t alone = bytes_of_one_alone(s, sizes[i] / 3);
		print_message("bytes for a changed resource at %d: intent and outcome in a group "
			      "%lld, one alone %lld\n",
			      sizes[i], (long long)grouped, (long long)alone);
		first = first ? first : grouped;
		assert_true(grouped < 8192 && grouped < 2 * first);
		assert_true(alone > 0 && alone < 8192);
	}
	state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATE_TEST(ten_thousand),
		STATE_TEST(bytes_for_a_change),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
