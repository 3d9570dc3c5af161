/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes wrong, and when. Counters live in the file too: "the third create" means the third
 * since the cloud began, whichever process makes it, so a run that was killed and started again
 * does not meet the same fault twice.
 */
#include "providers/fake/cloud.h"

#include <fnmatch.h>
#include <stdio.h>

static const struct {
	const char *name;
	enum err_kind kind;
} kinds[] = {
	{ "auth", ERR_AUTH },	    { "not_found", ERR_NOT_FOUND }, { "conflict", ERR_CONFLICT },
	{ "quota", ERR_QUOTA },	    { "capacity", ERR_CAPACITY },   { "busy", ERR_BUSY },
	{ "timeout", ERR_TIMEOUT }, { "remote", ERR_REMOTE },	    { "io", ERR_IO },
};

static enum err_kind kind_of(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (str_eqc(name, kinds[i].name))
			return kinds[i].kind;
	return ERR_NONE;
}

int fake_check_script(const struct fake_options *o, struct err *e)
{
	const struct fake_fault *f = o->error_script.v;
	for (size_t i = 0; i < o->error_script.n; i++) {
		if (f[i].error.n && kind_of(f[i].error) == ERR_NONE) {
			err_set(e, ERR_SPEC, "error_script: there is no error kind '" STR_FMT "'",
				STR_ARG(f[i].error));
			err_hint(
				e,
				"use auth, not_found, conflict, quota, capacity, busy, timeout, remote or io");
			return err_at(e, f[i].obj.pos);
		}
	}
	return 0;
}

static bool row_matches(struct arena *a, const struct fake_fault *f, enum fake_call call,
			const char *name)
{
	if (f->call != (int64_t)call)
		return false;
	if (!f->match.n || str_eqc(f->match, "*"))
		return true;
	return name && fnmatch(str_cstr(a, f->match), name, 0) == 0;
}

static int apply_row(struct provider *p, const struct fake_fault *f, size_t index,
		     struct fake_fate *out, struct err *e)
{
	char counter[40];
	snprintf(counter, sizeof counter, "script.%zu", index);
	int64_t n;
	if (fake_bump(p, counter, &n, e))
		return -1;
	int64_t times = f->times ? f->times : 1;
	if (f->nth && (n < f->nth || n >= f->nth + times))
		return 0;
	out->delay_ms += f->delay;
	out->twice |= f->twice;
	out->ignored |= f->ignored;
	out->vanish |= f->vanish;
	if (f->lost)
		out->lost = true;
	else if (f->error.n) {
		out->fails |= !f->late;
		out->late |= f->late;
		out->kind = kind_of(f->error);
	}
	return 0;
}

static int apply_script(struct provider *p, enum fake_call call, const char *name,
			struct fake_fate *f, struct err *e)
{
	const struct fake_fault *row = p->o.error_script.v;
	struct arena *a = arena_new("fake script");
	int rc = 0;
	for (size_t i = 0; !rc && i < p->o.error_script.n; i++)
		if (row_matches(a, &row[i], call, name))
			rc = apply_row(p, &row[i], i, f, e);
	arena_free(a);
	return rc;
}

static int apply_periodic(struct provider *p, struct fake_fate *f, struct err *e)
{
	int64_t n;
	if (!p->o.lose_reply && !p->o.fail_every)
		return 0;
	if (fake_bump(p, "creates", &n, e))
		return -1;
	if (p->o.lose_reply && n % p->o.lose_reply == 0)
		f->lost = true;
	if (p->o.fail_every && n % p->o.fail_every == 0) {
		f->fails = true;
		f->kind = ERR_REMOTE;
	}
	return 0;
}

static int64_t usual_delay(const struct fake_options *o, enum fake_call call)
{
	switch (call) {
	case FAKE_CREATE: return o->create_ms;
	case FAKE_UPDATE:
	case FAKE_REBOOT: return o->update_ms;
	case FAKE_DESTROY: return o->delete_ms;
	case FAKE_LIST:
	case FAKE_FIND: return o->list_ms;
	}
	return 0;
}

static int decide(struct provider *p, enum fake_call call, const char *name, struct fake_fate *f,
		  struct err *e)
{
	int64_t n;
	if (fake_bump(p, "requests", &n, e))
		return -1;
	snprintf(f->request, sizeof f->request, "fake-req-%lld", (long long)n);
	if (p->o.throttle_per_s) {
		if (fake_calls_now(p, &n, e))
			return -1;
		if (n > p->o.throttle_per_s) {
			f->fails = f->throttled = true;
			f->kind = ERR_BUSY;
			return fake_bump(p, "throttled", &n, e);
		}
	}
	f->delay_ms = usual_delay(&p->o, call);
	if (call == FAKE_CREATE && apply_periodic(p, f, e))
		return -1;
	return apply_script(p, call, name, f, e);
}

int fake_fate(struct provider *p, enum fake_call call, const char *name, struct fake_fate *f,
	      struct err *e)
{
	*f = (struct fake_fate){ 0 };
	if (fake_begin(p, e))
		return -1;
	if (decide(p, call, name, f, e)) {
		fake_rollback(p);
		return -1;
	}
	if (fake_commit(p, e))
		return -1;
	return 0;
}

int fake_fail(const struct fake_fate *f, const char *what, struct err *e)
{
	if (f->kind == ERR_BUSY)
		err_set(e, ERR_BUSY, "fake cloud: too many requests (%s)", what);
	else if (f->lost || f->kind == ERR_TIMEOUT)
		err_set(e, ERR_TIMEOUT, "fake cloud: no answer to %s", what);
	else
		err_set(e, f->kind, "fake cloud: %s failed as scripted (%s)", what,
			err_kind_name(f->kind));
	if (f->throttled)
		e->code = 429;
	return err_req(e, f->request);
}
