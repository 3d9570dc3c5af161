/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row says who may write, all or some addresses. Whether its owner is dead is only said when this
 * machine can know it: the same boot and the same pid namespace (then the process table tells), or
 * the same machine booted anew. Two containers on one kernel share a boot id but not their pids,
 * and cloned hosts share a name but not a boot: both must wait for the expiry. Should that
 * judgement ever be wrong, the fence still keeps the old owner from writing.
 */
#include <stdio.h>
#include <unistd.h>

#include "state/history.h"
#include "state/self.h"
#include "state/store.h"

/* What a holder is recognised by, besides what lease_holder shows. */
struct place {
	char machine[64]; /* /etc/machine-id; empty if there is none */
	char pid_ns[64];  /* "pid:[4026531836]" */
};

struct lease_row {
	struct lease_holder h;
	struct place place;
};

#define SCOPE_MAX ((size_t)64 << 20)

static void copy_text(char *to, size_t size, const char *from)
{
	size_t n = from ? strlen(from) : 0;

	if (n >= size)
		n = size - 1;
	if (n)
		memcpy(to, from, n);
	to[n] = '\0';
}

/* ---- us ---- */

static void find_place(struct place *p)
{
	scoped(arena_freep) struct arena *a = arena_new("machine id");
	struct err ignored = { 0 };
	struct str id;

	*p = (struct place){ 0 };
	if (!fs_read(a, "/etc/machine-id", 256, &id, &ignored))
		copy_text(p->machine, sizeof p->machine, str_cstr(a, str_trim(id)));
	ssize_t n = readlink("/proc/self/ns/pid", p->pid_ns, sizeof p->pid_ns - 1);
	p->pid_ns[n > 0 ? n : 0] = '\0';
}

static int find_us(struct lease_row *r, struct err *e)
{
	struct proc_id id;

	if (proc_identify(getpid(), &id, e))
		return -1;
	find_place(&r->place);
	self_user(r->h.who, sizeof r->h.who);
	self_host(r->h.host, sizeof r->h.host);
	copy_text(r->h.boot_id, sizeof r->h.boot_id, id.boot_id);
	r->h.pid = id.pid;
	r->h.pid_start = id.start;
	return 0;
}

/* ---- the row ---- */

static bool is_dead(const struct lease_row *r)
{
	struct proc_id id = { .pid = (pid_t)r->h.pid, .start = r->h.pid_start };
	struct lease_row us = { 0 };
	struct err ignored = { 0 };

	if (find_us(&us, &ignored))
		return false;
	if (strcmp(us.h.boot_id, r->h.boot_id) != 0)
		return us.place.machine[0] && !strcmp(us.place.machine, r->place.machine) &&
		       !strcmp(us.h.host, r->h.host);
	if (!us.place.pid_ns[0] || strcmp(us.place.pid_ns, r->place.pid_ns) != 0)
		return false;
	copy_text(id.boot_id, sizeof id.boot_id, r->h.boot_id);
	return !proc_is_alive(&id);
}

static void read_text(sqlite3_stmt *st, int col, char *to, size_t size)
{
	copy_text(to, size, (const char *)sqlite3_column_text(st, col));
}

static int read_scope(struct arena *a, const char *text, struct lease *l, struct err *e)
{
	struct value *doc;
	const struct value *write, *read;

	l->whole = !text;
	if (!text)
		return 0;
	if (json_parse(a, "lease scope", str_of(text), &doc, e))
		return -1;
	write = value_get(doc, "write");
	read = value_get(doc, "read");
	for (size_t i = 0; write && i < write->list.n; i++)
		VEC_ADD(a, &l->scope.write) = str_cstr(a, write->list.v[i]->s);
	for (size_t i = 0; read && i < read->list.n; i++)
		VEC_ADD(a, &l->scope.read) = str_cstr(a, read->list.v[i]->s);
	return 0;
}

static int read_row(struct arena *a, sqlite3_stmt *st, struct lease *l, struct err *e)
{
	struct lease_row r = { 0 };

	r.h.fence = sqlite3_column_int64(st, 0);
	read_text(st, 1, r.h.run, sizeof r.h.run);
	read_text(st, 2, r.h.who, sizeof r.h.who);
	read_text(st, 3, r.h.host, sizeof r.h.host);
	read_text(st, 4, r.h.command, sizeof r.h.command);
	read_text(st, 5, r.h.boot_id, sizeof r.h.boot_id);
	read_text(st, 6, r.place.machine, sizeof r.place.machine);
	read_text(st, 7, r.place.pid_ns, sizeof r.place.pid_ns);
	r.h.pid = sqlite3_column_int64(st, 8);
	r.h.pid_start = (uint64_t)sqlite3_column_int64(st, 9);
	r.h.taken_ms = sqlite3_column_int64(st, 10);
	r.h.beat_ms = sqlite3_column_int64(st, 11);
	r.h.expires_ms = sqlite3_column_int64(st, 12);
	r.h.expired = clock_wall() >= r.h.expires_ms;
	r.h.dead = is_dead(&r);
	l->h = r.h;
	return read_scope(a, (const char *)sqlite3_column_text(st, 13), l, e);
}

int lease_list(struct state *s, struct arena *a, struct leases *out, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	*out = (struct leases){ 0 };
	if (sql_query(s,
		      "SELECT l.fence, run, who, host, command, boot_id, machine, pid_ns, pid, "
		      "pid_start, taken_ms, beat_ms, expires_ms, scope FROM leases l "
		      "LEFT JOIN lease_scopes c ON c.fence = l.fence ORDER BY l.fence",
		      SQL_NO_ARGS, &st, e))
		return -1;
	while ((rc = sql_step(s, st, e)) > 0) {
		struct lease *l = arena_obj(a, struct lease);
		VEC_ADD(a, &out->v) = l;
		if (read_row(a, st, l, e)) {
			sql_done(st);
			return sql_damaged(s->path, "a lease cannot be read", e);
		}
	}
	return rc;
}

static bool has(const char *const *v, size_t n, const char *addr)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(v[i], addr) == 0)
			return true;
	return false;
}

bool lease_covers(const struct lease *l, const char *addr)
{
	return l->whole || has(l->scope.write.v, l->scope.write.n, addr);
}

/* ---- who is in whose way ---- */

static const char *first_of(const struct map *set, const char *const *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (map_getc(set, v[i]))
			return v[i];
	return NULL;
}

static void fill(struct arena *a, struct map *set, const char *const *v, size_t n)
{
	map_init(set, a);
	for (size_t i = 0; i < n; i++)
		map_put(set, str_of(v[i]), set);
}

/* Linear in both. *addr: the first one that both want; NULL when one of them wants everything. */
static bool is_in_the_way(const struct lease *l, const struct lease_scope *ours, const char **addr)
{
	scoped(arena_freep) struct arena *a = arena_new("lease conflict");
	struct map written, rested_on;

	*addr = NULL;
	if (l->whole || !ours)
		return true;
	fill(a, &written, ours->write.v, ours->write.n);
	fill(a, &rested_on, ours->read.v, ours->read.n);
	*addr = first_of(&written, l->scope.write.v, l->scope.write.n);
	if (!*addr)
		*addr = first_of(&written, l->scope.read.v, l->scope.read.n);
	if (!*addr)
		*addr = first_of(&rested_on, l->scope.write.v, l->scope.write.n);
	return *addr != NULL;
}

static int held_by(const struct lease *l, const char *addr, struct err *e)
{
	const struct lease_holder *h = &l->h;
	char since[CLOCK_ISO_LEN], age[16], what[160] = "";
	int64_t quiet = clock_wall() - h->beat_ms;

	clock_iso(h->taken_ms, since);
	clock_format_duration(quiet > 0 ? quiet : 0, age);
	if (addr)
		snprintf(what, sizeof what, " of %zu objects, %.80s among them", l->scope.write.n,
			 addr);
	else if (!l->whole)
		snprintf(what, sizeof what, " of %zu objects", l->scope.write.n);
	err_set(e, ERR_LEASE,
		"%s@%s holds the lease%s: %s, run %s, process %lld, since %s, last heard %s ago",
		h->who, h->host, what, h->command, h->run, (long long)h->pid, since, age);
	return err_hint(e,
			"wait for it (--lock-timeout), or if you know that it is gone: "
			"muster lock break %s",
			h->run);
}

static int record_end(struct state *s, const struct lease *old, const char *what, const char *run,
		      struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("lease event");
	struct value *data = value_map(a);
	struct state_event ev = { .at_ms = clock_wall(), .run = run, .what = what, .data = data };

	value_set(data, "run", value_cstr(a, old->h.run));
	value_set(data, "who", value_cstr(a, old->h.who));
	value_set(data, "host", value_cstr(a, old->h.host));
	value_set(data, "pid", value_int(a, old->h.pid));
	value_set(data, "fence", value_int(a, old->h.fence));
	value_set(data, "why",
		  value_cstr(a, old->h.dead	 ? "dead"
				: old->h.expired ? "expired"
						 : "forced"));
	return event_insert(s, &ev, e);
}

static int drop(struct state *s, int64_t fence, struct err *e)
{
	return sql_exec(s, "DELETE FROM leases WHERE fence = ?1", SQL_ARGS(sql_int(fence)), e);
}

/* ---- taking ---- */

static int insert_scope(struct state *s, struct arena *a, const struct lease_scope *scope,
			struct err *e)
{
	scoped(buf_fini) struct buf b = { 0 };
	struct value *doc = value_map(a), *write = value_list(a), *read = value_list(a);

	for (size_t i = 0; i < scope->write.n; i++)
		value_add(a, write, value_cstr(a, scope->write.v[i]));
	for (size_t i = 0; i < scope->read.n; i++)
		value_add(a, read, value_cstr(a, scope->read.v[i]));
	value_set(doc, "write", write);
	value_set(doc, "read", read);
	buf_init(&b, SCOPE_MAX);
	json_write(&b, doc, 0);
	return buf_check(&b, e) ||
			       sql_exec(s,
					"INSERT INTO lease_scopes (fence, scope) VALUES (?1, ?2)",
					SQL_ARGS(sql_int(sqlite3_last_insert_rowid(s->db)),
						 sql_text(b.p)),
					e)
		       ? -1
		       : 0;
}

static int insert(struct state *s, const struct lease_row *r, struct err *e)
{
	const struct lease_holder *h = &r->h;

	return sql_exec(
		s,
		"INSERT INTO leases (run, who, host, command, boot_id, machine, pid_ns, pid, "
		"pid_start, taken_ms, beat_ms, expires_ms) "
		"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
		SQL_ARGS(sql_text(h->run), sql_text(h->who), sql_text(h->host),
			 sql_text(h->command), sql_text(h->boot_id), sql_text(r->place.machine),
			 sql_text(r->place.pid_ns), sql_int(h->pid), sql_int((int64_t)h->pid_start),
			 sql_int(h->taken_ms), sql_int(h->beat_ms), sql_int(h->expires_ms)),
		e);
}

/* Dead ones that are in nobody's way stay: what they left open is their addresses' next run's. */
static int clear_way(struct state *s, struct arena *a, const struct lease_row *us,
		     const struct lease_scope *scope, struct err *e)
{
	struct leases all;
	const char *addr;

	if (lease_list(s, a, &all, e))
		return -1;
	for (size_t i = 0; i < all.v.n; i++) {
		const struct lease *l = all.v.v[i];
		if (!is_in_the_way(l, scope, &addr))
			continue;
		if (!l->h.dead && !l->h.expired)
			return held_by(l, addr, e);
		if (record_end(s, l, "lease taken over", us->h.run, e) || drop(s, l->h.fence, e))
			return -1;
	}
	return 0;
}

static int take(struct state *s, struct lease_row *us, const struct lease_scope *scope,
		struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("lease");

	if (clear_way(s, a, us, scope, e))
		return -1;
	us->h.taken_ms = us->h.beat_ms = clock_wall();
	us->h.expires_ms = us->h.beat_ms + LEASE_EXPIRY_MS;
	if (insert(s, us, e))
		return -1;
	us->h.fence = sqlite3_last_insert_rowid(s->db);
	return scope ? insert_scope(s, a, scope, e) : 0;
}

static void keep_scope(struct state *s, const struct lease_scope *scope)
{
	if (!scope)
		return;
	s->scope_arena = arena_new("lease scope");
	map_init(&s->scope, s->scope_arena);
	for (size_t i = 0; i < scope->write.n; i++)
		map_put(&s->scope, str_of(arena_strdup(s->scope_arena, scope->write.v[i])), s);
}

static void forget_lease(struct state *s)
{
	s->fence = 0;
	s->run[0] = '\0';
	arena_freep(&s->scope_arena);
}

int lease_take_scope(struct state *s, const char *run, const char *command,
		     const struct lease_scope *scope, struct err *e)
{
	struct lease_row us = { 0 };
	char id[RUN_ID_LEN];

	if (s->fence)
		return err_set(e, ERR_BUG, "the lease is taken twice");
	state_run_id(id);
	copy_text(us.h.run, sizeof us.h.run, run ? run : id);
	copy_text(us.h.command, sizeof us.h.command, command);
	if (find_us(&us, e) || write_begin(s, WRITE_UNFENCED, e) ||
	    write_end(s, take(s, &us, scope, e), e))
		return -1;
	s->fence = us.h.fence;
	copy_text(s->run, sizeof s->run, us.h.run);
	keep_scope(s, scope);
	return 0;
}

int lease_take(struct state *s, const char *run, const char *command, struct err *e)
{
	return lease_take_scope(s, run, command, NULL, e);
}

const char *lease_run(const struct state *s)
{
	return s->fence ? s->run : NULL;
}

/* The fence has been checked when this write began, so the row is ours. */
int lease_beat(struct state *s, struct err *e)
{
	int64_t now = clock_wall();

	if (write_begin(s, 0, e))
		return -1;
	int rc = sql_exec(s, "UPDATE leases SET beat_ms = ?2, expires_ms = ?3 WHERE fence = ?1",
			  SQL_ARGS(sql_int(s->fence), sql_int(now), sql_int(now + LEASE_EXPIRY_MS)),
			  e);
	return write_end(s, rc, e);
}

int lease_release(struct state *s, struct err *e)
{
	if (journal_flush(s, e) || write_begin(s, 0, e) || write_end(s, drop(s, s->fence, e), e)) {
		/* Lost, it is no more ours; after another failure the caller may try again. */
		if (e->kind == ERR_LEASE)
			forget_lease(s);
		return -1;
	}
	forget_lease(s);
	return 0;
}

/* ---- breaking ---- */

static int choose(const struct leases *all, const char *run, const struct lease **out,
		  struct err *e)
{
	*out = NULL;
	for (size_t i = 0; i < all->v.n; i++) {
		const struct lease *l = all->v.v[i];
		if (run && !str_starts(str_of(l->h.run), run))
			continue;
		if (*out) {
			err_set(e, ERR_USAGE, "several runs hold a lease: %s, %s%s", (*out)->h.run,
				l->h.run, all->v.n > 2 ? ", ..." : "");
			return err_hint(e, "name one: muster lock break RUN; 'muster lock ls' "
					   "lists them");
		}
		*out = l;
	}
	if (*out)
		return 0;
	return run ? err_set(e, ERR_NOT_FOUND, "no run %s holds a lease", run)
		   : err_set(e, ERR_NOT_FOUND, "nobody holds the lease");
}

static int break_it(struct state *s, const char *run, bool only_if_dead, struct err *e)
{
	scoped(arena_freep) struct arena *a = arena_new("lease break");
	struct leases all;
	const struct lease *l;

	if (lease_list(s, a, &all, e) || choose(&all, run, &l, e))
		return -1;
	if (only_if_dead && !l->h.dead && !l->h.expired)
		return held_by(l, NULL, e);
	if (record_end(s, l, "lease broken", l->h.run, e))
		return -1;
	return drop(s, l->h.fence, e);
}

int lease_break(struct state *s, const char *run, bool only_if_dead, struct err *e)
{
	if (write_begin(s, WRITE_UNFENCED, e))
		return -1;
	return write_end(s, break_it(s, run, only_if_dead, e), e);
}
