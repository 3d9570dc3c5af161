/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One row says who may write. Whether its owner is dead is only said when this machine can know it:
 * the same boot and the same pid namespace (then the process table tells), or the same machine
 * booted anew. Two containers on one kernel share a boot id but not their pids, and cloned hosts
 * share a name but not a boot: both must wait for the expiry. Should that judgement ever be wrong,
 * the fence still keeps the old owner from writing.
 */
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
	bool held;
};

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

static const char READ_SQL[] =
	"SELECT fence, run, who, host, command, boot_id, machine, pid_ns, pid, pid_start, "
	"taken_ms, beat_ms, expires_ms FROM lease WHERE id = 1";

static int read_lease(struct state *s, struct lease_row *r, struct err *e)
{
	sqlite3_stmt *st;

	*r = (struct lease_row){ 0 };
	if (sql_query(s, READ_SQL, SQL_NO_ARGS, &st, e))
		return -1;
	int rc = sql_step(s, st, e);
	if (rc < 0)
		return -1;
	if (!rc)
		return sql_damaged(s->path, "the lease row is missing", e);
	r->held = sqlite3_column_type(st, 1) != SQLITE_NULL;
	r->h.fence = sqlite3_column_int64(st, 0);
	read_text(st, 1, r->h.run, sizeof r->h.run);
	read_text(st, 2, r->h.who, sizeof r->h.who);
	read_text(st, 3, r->h.host, sizeof r->h.host);
	read_text(st, 4, r->h.command, sizeof r->h.command);
	read_text(st, 5, r->h.boot_id, sizeof r->h.boot_id);
	read_text(st, 6, r->place.machine, sizeof r->place.machine);
	read_text(st, 7, r->place.pid_ns, sizeof r->place.pid_ns);
	r->h.pid = sqlite3_column_int64(st, 8);
	r->h.pid_start = (uint64_t)sqlite3_column_int64(st, 9);
	r->h.taken_ms = sqlite3_column_int64(st, 10);
	r->h.beat_ms = sqlite3_column_int64(st, 11);
	r->h.expires_ms = sqlite3_column_int64(st, 12);
	sql_done(st);
	if (r->held) {
		r->h.expired = clock_wall() >= r->h.expires_ms;
		r->h.dead = is_dead(r);
	}
	return 0;
}

static int write_lease(struct state *s, const struct lease_row *r, struct err *e)
{
	const struct lease_holder *h = &r->h;

	return sql_exec(
		s,
		"UPDATE lease SET fence = ?1, run = ?2, who = ?3, host = ?4, command = ?5, boot_id = ?6, "
		"machine = ?7, pid_ns = ?8, pid = ?9, pid_start = ?10, taken_ms = ?11, beat_ms = ?12, "
		"expires_ms = ?13 WHERE id = 1",
		SQL_ARGS(sql_int(h->fence), sql_text(h->run), sql_text(h->who), sql_text(h->host),
			 sql_text(h->command), sql_text(h->boot_id), sql_text(r->place.machine),
			 sql_text(r->place.pid_ns), sql_int(h->pid), sql_int((int64_t)h->pid_start),
			 sql_int(h->taken_ms), sql_int(h->beat_ms), sql_int(h->expires_ms)),
		e);
}

/* ---- taking ---- */

static int held_by(const struct lease_holder *h, struct err *e)
{
	char since[CLOCK_ISO_LEN], age[16];
	int64_t quiet = clock_wall() - h->beat_ms;

	clock_iso(h->taken_ms, since);
	clock_format_duration(quiet > 0 ? quiet : 0, age);
	err_set(e, ERR_LEASE,
		"%s@%s holds the lease: %s, run %s, process %lld, since %s, last heard %s ago",
		h->who, h->host, h->command, h->run, (long long)h->pid, since, age);
	return err_hint(e, "wait for it, or if you know that it is gone: muster lock break");
}

static int record_end(struct state *s, const struct lease_row *old, const char *what,
		      const char *run, struct err *e)
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

static int take(struct state *s, struct lease_row *us, struct err *e)
{
	struct lease_row old;

	if (read_lease(s, &old, e))
		return -1;
	if (old.held && !old.h.dead && !old.h.expired)
		return held_by(&old.h, e);
	us->h.fence = old.h.fence + 1;
	us->h.taken_ms = us->h.beat_ms = clock_wall();
	us->h.expires_ms = us->h.beat_ms + LEASE_EXPIRY_MS;
	if (old.held && record_end(s, &old, "lease taken over", us->h.run, e))
		return -1;
	return write_lease(s, us, e);
}

int lease_take(struct state *s, const char *run, const char *command, struct err *e)
{
	struct lease_row us = { 0 };
	char id[RUN_ID_LEN];

	if (s->fence)
		return err_set(e, ERR_BUG, "the lease is taken twice");
	state_run_id(id);
	copy_text(us.h.run, sizeof us.h.run, run ? run : id);
	copy_text(us.h.command, sizeof us.h.command, command);
	if (find_us(&us, e) || write_begin(s, WRITE_UNFENCED, e) ||
	    write_end(s, take(s, &us, e), e))
		return -1;
	s->fence = us.h.fence;
	copy_text(s->run, sizeof s->run, us.h.run);
	return 0;
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
	int rc = sql_exec(s, "UPDATE lease SET beat_ms = ?1, expires_ms = ?2 WHERE id = 1",
			  SQL_ARGS(sql_int(now), sql_int(now + LEASE_EXPIRY_MS)), e);
	return write_end(s, rc, e);
}

static int clear_lease(struct state *s, struct err *e)
{
	return sql_exec(
		s,
		"UPDATE lease SET run = NULL, who = NULL, host = NULL, command = NULL, boot_id = NULL, "
		"machine = NULL, pid_ns = NULL, pid = NULL, pid_start = NULL, taken_ms = NULL, "
		"beat_ms = NULL, expires_ms = NULL WHERE id = 1",
		SQL_NO_ARGS, e);
}

int lease_release(struct state *s, struct err *e)
{
	if (journal_flush(s, e) || write_begin(s, 0, e) || write_end(s, clear_lease(s, e), e)) {
		/* Lost, it is no more ours; after another failure the caller may try again. */
		if (e->kind == ERR_LEASE)
			s->fence = 0;
		return -1;
	}
	s->fence = 0;
	s->run[0] = '\0';
	return 0;
}

int lease_show(struct state *s, struct lease_holder *out, bool *held, struct err *e)
{
	struct lease_row r;

	if (read_lease(s, &r, e))
		return -1;
	*out = r.h;
	*held = r.held;
	return 0;
}

static int break_it(struct state *s, bool only_if_dead, struct err *e)
{
	struct lease_row r;

	if (read_lease(s, &r, e))
		return -1;
	if (!r.held)
		return err_set(e, ERR_NOT_FOUND, "nobody holds the lease");
	if (only_if_dead && !r.h.dead && !r.h.expired)
		return held_by(&r.h, e);
	if (record_end(s, &r, "lease broken", r.h.run, e))
		return -1;
	return clear_lease(s, e);
}

int lease_break(struct state *s, bool only_if_dead, struct err *e)
{
	if (write_begin(s, WRITE_UNFENCED, e))
		return -1;
	return write_end(s, break_it(s, only_if_dead, e), e);
}
