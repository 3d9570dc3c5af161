/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/leases.h"

#include "cli/view.h"

/* "node.gpu[3]" is the node gpu-3, "node.old[gpu001]" the machine gpu001. */
static const char *node_name(struct arena *a, const char *addr)
{
	struct str rest = str_of(addr), pool;
	int64_t number;

	if (!str_starts(rest, "node.") || rest.p[rest.n - 1] != ']')
		return addr;
	rest = str_sub(rest, strlen("node."), rest.n - 1);
	if (!str_next(&rest, '[', &pool))
		return addr;
	return str_to_int(rest, &number)
		       ? arena_printf(a, STR_FMT "-" STR_FMT, STR_ARG(pool), STR_ARG(rest))
		       : str_cstr(a, rest);
}

static const char *what_it_covers(struct arena *a, const struct lease *l)
{
	size_t n = l->scope.write.n;
	const char **names = arena_array(a, const char *, n + 1);

	if (l->whole)
		return "everything";
	for (size_t i = 0; i < n; i++)
		names[i] = node_name(a, l->scope.write.v[i]);
	return n ? view_fold(a, names, n) : "nothing";
}

static const char *how_it_is(const struct lease *l)
{
	return l->h.dead ? "dead" : l->h.expired ? "expired" : "alive";
}

void leases_text(struct arena *a, struct buf *b, const struct leases *all)
{
	for (size_t i = 0; i < all->v.n; i++) {
		const struct lease *l = all->v.v[i];

		buf_addf(
			b,
			"%s@%s holds the lease of %s: %s, run %s, pid %lld, taken %s, last beat %s",
			l->h.who, l->h.host, what_it_covers(a, l), l->h.command, l->h.run,
			(long long)l->h.pid, view_ago(a, l->h.taken_ms), view_ago(a, l->h.beat_ms));
		if (l->h.dead || l->h.expired)
			buf_addf(b, " (%s): the next run takes over", how_it_is(l));
		buf_addc(b, '\n');
	}
}

static struct value *time_value(struct arena *a, int64_t ms)
{
	char iso[CLOCK_ISO_LEN];

	clock_iso(ms, iso);
	return value_cstr(a, iso);
}

static struct value *addresses(struct arena *a, const char *const *v, size_t n)
{
	struct value *l = value_list(a);

	for (size_t i = 0; i < n; i++)
		value_add(a, l, value_cstr(a, v[i]));
	return l;
}

static struct value *lease_value(struct arena *a, const struct lease *l)
{
	struct value *v = value_map(a);

	value_set(v, "run", value_cstr(a, l->h.run));
	value_set(v, "command", value_cstr(a, l->h.command));
	value_set(v, "who", value_cstr(a, l->h.who));
	value_set(v, "host", value_cstr(a, l->h.host));
	value_set(v, "pid", value_int(a, l->h.pid));
	value_set(v, "taken", time_value(a, l->h.taken_ms));
	value_set(v, "last_beat", time_value(a, l->h.beat_ms));
	value_set(v, "expires", time_value(a, l->h.expires_ms));
	value_set(v, "owner", value_cstr(a, how_it_is(l)));
	value_set(v, "whole", value_bool(a, l->whole));
	if (l->whole)
		return v;
	value_set(v, "writes", addresses(a, l->scope.write.v, l->scope.write.n));
	value_set(v, "rests_on", addresses(a, l->scope.read.v, l->scope.read.n));
	return v;
}

struct value *leases_value(struct arena *a, const struct leases *all)
{
	struct value *out = value_list(a);

	for (size_t i = 0; i < all->v.n; i++)
		value_add(a, out, lease_value(a, all->v.v[i]));
	return out;
}
