/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/conformance/suite.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

void suite_fault(struct suite *s, const char *file, int line, const char *cond, const char *fmt,
		 ...)
{
	va_list ap;
	if (s->fault[0])
		return;
	int n = snprintf(s->fault, sizeof s->fault, "%s:%d: %s: ", file, line, cond);
	if (n < 0 || (size_t)n >= sizeof s->fault)
		return;
	va_start(ap, fmt);
	vsnprintf(s->fault + n, sizeof s->fault - (size_t)n, fmt, ap);
	va_end(ap);
}

struct call {
	struct suite *s;
	suite_fn *fn;
};

static void in_task(void *arg)
{
	struct call *c = arg;
	c->fn(c->s);
}

struct value *suite_yaml(struct suite *s, const char *text)
{
	struct err_list errs = { 0 };
	struct value *v = NULL;
	if (yaml_parse(s->a, "test", str_of(text ? text : "{}"), YAML_SPEC, &v, &errs))
		suite_fault(s, __FILE__, __LINE__, "yaml", "%s", errs.n ? errs.v[0].msg : text);
	err_list_fini(&errs);
	return v ? v : value_map(s->a);
}

/* A key pair as muster makes them: {private, public}. */
static struct value *new_key(struct suite *s, const char *name)
{
	struct arena *a = s->a;
	struct proc_result r;
	struct proc_opts o = { .timeout_ms = 20000 };
	struct str private = STR_NONE, public = STR_NONE;
	struct err e = { 0 };
	const char *file = fs_join(a, s->keys, name);
	const char *argv[] = { "ssh-keygen", "-q", "-t", "ed25519", "-N", "",
			       "-C",	     name, "-f", file,	    NULL };
	if (proc_check(a, argv, &o, &r, &e) || fs_read(a, file, 1 << 16, &private, &e) ||
	    fs_read(a, arena_printf(a, "%s.pub", file), 1 << 16, &public, &e))
		fail_msg("ssh-keygen: %s", e.msg);
	struct value *key = value_map(a);
	value_set(key, "private", value_secret(a, value_str(a, private)));
	value_set(key, "public", value_str(a, str_trim(public)));
	return key;
}

void suite_run(struct suite *s, const char *cluster, suite_fn *fn)
{
	struct err e = { 0 };
	s->fault[0] = '\0';
	s->a = arena_new("suite");
	char keys[256];
	snprintf(keys, sizeof keys, "%s/muster-key-XXXXXX", s->keys_in ? s->keys_in : "/tmp");
	assert_non_null(mkdtemp(keys));
	s->keys = keys;
	s->host_key = new_key(s, "host");
	s->admin_key = new_key(s, "admin");
	s->t = provider_type_find(str_of(s->type));
	assert_non_null(s->t);
	s->spec = (struct spec_provider){ .name = str_of("under-test"),
					  .type = str_of(s->type),
					  .options = suite_yaml(s, s->options) };
	struct provider_open o = { cluster, &s->spec, s->state_dir, s->self };
	if (s->t->open(s->a, &o, &s->p, &e))
		fail_msg("open: %s", e.msg);
	struct call c = { s, fn };
	if (loop_run(in_task, &c, NULL, &e))
		fail_msg("loop: %s", e.msg);
	if (s->t->close)
		s->t->close(s->p);
	if (fs_remove_tree(keys, &e))
		fail_msg("%s", e.msg);
	s->keys = NULL;
	arena_free(s->a);
	if (s->fault[0])
		fail_msg("%s", s->fault);
}

const struct resource_type *suite_type(struct suite *s, const char *kind)
{
	for (size_t i = 0; s->t->types[i]; i++)
		if (!strcmp(s->t->types[i]->kind, kind))
			return s->t->types[i];
	return NULL;
}

struct resource_want *suite_want(struct suite *s, const char *kind, const char *name,
				 const char *attrs_yaml)
{
	struct resource_want *w = arena_obj(s->a, struct resource_want);
	char token[TOKEN_LEN];
	rand_token(token);
	w->addr = arena_printf(s->a, "%s.%s.%s", s->type, kind, name);
	w->name = name;
	w->token = arena_strdup(s->a, token);
	w->attrs = suite_yaml(s, attrs_yaml);
	w->deps = value_map(s->a);
	w->admin_key = str_cstr(s->a, value_get_str(s->admin_key, "public", ""));
	w->host_key = s->host_key;
	return w;
}

struct resource_seen *suite_network(struct suite *s, struct value **deps)
{
	const struct resource_type *net = suite_type(s, "network");
	struct resource_seen *seen = NULL;
	struct err e = { 0 };
	*deps = value_map(s->a);
	if (!net)
		return NULL;
	struct resource_want *w = suite_want(s, "network", "main", "{cidr: 10.99.0.0/24}");
	if (net->create(s->p, s->a, w, &seen, &e)) {
		suite_fault(s, __FILE__, __LINE__, "network", "%s (%s)", e.msg, e.hint);
		return NULL;
	}
	value_set(*deps, w->addr, seen->attrs);
	return seen;
}

static size_t count(struct suite *s, const struct resource_type *t, struct resources_seen *out)
{
	struct err e = { 0 };
	*out = (struct resources_seen){ 0 };
	if (t->list(s->p, s->a, out, &e)) {
		suite_fault(s, __FILE__, __LINE__, "list", "%s", e.msg);
		return SIZE_MAX;
	}
	return out->v.n;
}

void suite_sweep(struct suite *s)
{
	static const char *const order[] = { "machine", "network" };
	struct resources_seen all;
	struct err e = { 0 };
	for (size_t k = 0; k < ARRAY_LEN(order); k++) {
		const struct resource_type *t = suite_type(s, order[k]);
		if (!t || !t->list || count(s, t, &all) == SIZE_MAX)
			continue;
		for (size_t i = 0; i < all.v.n; i++)
			if (t->destroy(s->p, all.v.v[i]->id, &e))
				suite_fault(s, __FILE__, __LINE__, "destroy", "%s: %s",
					    all.v.v[i]->id, e.msg);
		if (count(s, t, &all) != 0)
			suite_fault(s, __FILE__, __LINE__, "nothing left", "%zu of %s", all.v.n,
				    order[k]);
	}
}

/* ---- the life of one machine
 * ------------------------------------------------------------------------ */

static void check_told(struct suite *s, const struct resource_type *t,
		       const struct resource_want *w, const struct resource_seen *got)
{
	CHECK(s, got != NULL);
	CHECK(s, got->id && got->id[0]);
	CHECKF(s, got->status && !strcmp(got->status, "running"), "%s", got->status);
	CHECK(s, !got->token || !strcmp(got->token, w->token));
	CHECK(s, !got->addr || !strcmp(got->addr, w->addr));
	CHECK(s, got->name && !strcmp(got->name, w->name));
	CHECK(s, got->attrs && got->attrs->kind == V_MAP);
	/* Nothing is told that has no row, and every key that was asked for came back as asked. */
	for (size_t i = 0; i < got->attrs->map.n; i++) {
		const struct field *f = t->fields;
		while (f->name && !str_eqc(got->attrs->map.e[i].key, f->name))
			f++;
		CHECKF(s, f->name, STR_FMT, STR_ARG(got->attrs->map.e[i].key));
	}
	for (size_t i = 0; i < w->attrs->map.n; i++)
		CHECKF(s,
		       value_equal(w->attrs->map.e[i].val,
				   value_gets(got->attrs, w->attrs->map.e[i].key)),
		       STR_FMT, STR_ARG(w->attrs->map.e[i].key));
}

static void check_listed(struct suite *s, const struct resource_type *t,
			 const struct resource_want *w, const struct resource_seen *got)
{
	struct resources_seen all;
	if (!t->list)
		return;
	CHECKF(s, count(s, t, &all) == 1, "%zu", all.v.n);
	check_told(s, t, w, all.v.v[0]);
	CHECK(s, !strcmp(all.v.v[0]->id, got->id));
	CHECK(s, value_equal(all.v.v[0]->attrs, got->attrs));
}

static void check_find(struct suite *s, const struct resource_type *t,
		       const struct resource_want *w, const char *id)
{
	struct resource_seen *found = NULL;
	struct err e = { 0 };
	CHECKF(s, t->find(s->p, s->a, w->token, &found, &e) == 0, "%s", e.msg);
	CHECK(s, found || !t->list); /* machines that exist can't be asked about */
	CHECK(s, !found || !strcmp(found->id, id));
}

static void check_update(struct suite *s, const struct resource_type *t, struct resource_want *w,
			 const char *id)
{
	struct resource_seen *seen = NULL;
	struct err e = { 0 };
	if (!t->update)
		return;
	if (s->changed_attrs)
		w->attrs = suite_yaml(s, s->changed_attrs);
	CHECKF(s, t->update(s->p, s->a, id, w, &seen, &e) == 0, "%s", e.msg);
	check_told(s, t, w, seen);
	CHECK(s, s->fault[0] || !strcmp(seen->id, id));
	check_listed(s, t, w, seen);
}

static void check_reboot(struct suite *s, const struct resource_type *t, const char *id)
{
	struct err e = { 0 };
	if (t->reboot)
		CHECKF(s, t->reboot(s->p, id, &e) == 0, "%s", e.msg);
}

static void check_reach(struct suite *s, const struct resource_type *t,
			const struct resource_seen *seen)
{
	struct ssh_target target = { 0 };
	struct err e = { 0 };
	int rc = t->reach(s->p, s->a, seen, &target, &e);
	bool login = !s->t->can_login || s->t->can_login(s->p);
	CHECKF(s, rc == (login ? 0 : -1), "%s", e.msg);
	CHECK(s, !login || (target.host && target.host[0]));
	CHECK(s, login || e.kind == ERR_NOT_FOUND);
}

static void check_gone(struct suite *s, const struct resource_type *t,
		       const struct resource_want *w, const char *id)
{
	struct resources_seen all;
	struct resource_seen *found = NULL;
	struct err e = { 0 };
	CHECKF(s, t->destroy(s->p, id, &e) == 0, "%s", e.msg);
	CHECKF(s, t->destroy(s->p, id, &e) == 0, "again: %s", e.msg);
	CHECKF(s, t->find(s->p, s->a, w->token, &found, &e) == 0 && !found, "%s", e.msg);
	CHECK(s, !t->list || count(s, t, &all) == 0);
}

static void live(struct suite *s, const struct resource_type *t, struct resource_want *w)
{
	struct resource_seen *seen = NULL, *again = NULL;
	struct resources_seen all;
	struct err e = { 0 };
	CHECK(s, !t->list || count(s, t, &all) == 0);
	CHECKF(s, t->create(s->p, s->a, w, &seen, &e) == 0, "%s (%s)", e.msg, e.hint);
	check_told(s, t, w, seen);
	check_listed(s, t, w, seen);
	CHECKF(s, t->create(s->p, s->a, w, &again, &e) == 0, "the same token again: %s", e.msg);
	CHECK(s, !strcmp(again->id, seen->id));
	check_listed(s, t, w, again);
	check_find(s, t, w, seen->id);
	check_reach(s, t, seen);
	check_update(s, t, w, seen->id);
	check_reboot(s, t, seen->id);
	check_gone(s, t, w, seen->id);
}

void suite_life(struct suite *s)
{
	const struct resource_type *net = suite_type(s, "network"),
				   *machine = suite_type(s, "machine");
	struct value *deps;
	struct err e = { 0 };
	CHECK(s, machine != NULL);
	CHECK(s, !!net == s->t->has_network);
	struct resource_seen *n = suite_network(s, &deps);
	struct resource_want *w = suite_want(s, "machine", "m-0", s->machine_attrs);
	w->deps = deps;
	if (!s->fault[0])
		live(s, machine, w);
	if (net && n) {
		struct resource_seen *again = NULL;
		struct resource_want nw = { .addr = n->addr,
					    .name = n->name,
					    .token = n->token,
					    .attrs = suite_yaml(s, "{cidr: 10.99.0.0/24}") };
		if (net->create(s->p, s->a, &nw, &again, &e) || strcmp(again->id, n->id))
			suite_fault(s, __FILE__, __LINE__, "network, the same token again", "%s",
				    e.msg);
		check_listed(s, net, &nw, n);
		check_find(s, net, &nw, n->id);
		check_gone(s, net, &nw, n->id);
	}
	suite_sweep(s);
}

/* ---- many at once
 * ------------------------------------------------------------------------------------- */

struct job {
	struct suite *s;
	struct resource_want *w;
	struct resource_seen *seen;
};

static void create_job(void *arg)
{
	struct job *j = arg;
	struct err e = { 0 };
	const struct resource_type *t = suite_type(j->s, "machine");
	CHECKF(j->s, t->create(j->s->p, j->s->a, j->w, &j->seen, &e) == 0, "%s: %s (%s)",
	       j->w->name, e.msg, e.hint);
}

static void destroy_job(void *arg)
{
	struct job *j = arg;
	struct err e = { 0 };
	const struct resource_type *t = suite_type(j->s, "machine");
	if (j->seen)
		CHECKF(j->s, t->destroy(j->s->p, j->seen->id, &e) == 0, "%s: %s", j->w->name,
		       e.msg);
}

static void each_job(struct suite *s, struct job *jobs, task_fn *fn)
{
	struct group g;
	struct err e = { 0 };
	group_init(&g);
	for (int i = 0; i < s->machines; i++)
		task_spawn(&g, "job", fn, &jobs[i]);
	CHECKF(s, group_wait(&g, &e) == 0, "%s", e.msg);
}

static void check_distinct(struct suite *s, const struct job *jobs)
{
	struct map ids, addresses;
	map_init(&ids, s->a);
	map_init(&addresses, s->a);
	for (int i = 0; i < s->machines; i++) {
		struct str address = value_get_str(jobs[i].seen->attrs, "address",
						   jobs[i].seen->id);
		CHECKF(s, !map_has(&ids, str_of(jobs[i].seen->id)), "%s", jobs[i].seen->id);
		CHECKF(s, !map_has(&addresses, address), STR_FMT, STR_ARG(address));
		map_put(&ids, str_of(jobs[i].seen->id), jobs[i].seen);
		map_put(&addresses, address, jobs[i].seen);
	}
}

void suite_parallel(struct suite *s)
{
	const struct resource_type *t = suite_type(s, "machine");
	struct resources_seen all;
	struct value *deps;
	struct job *jobs = arena_array(s->a, struct job, (size_t)s->machines);
	suite_network(s, &deps);
	for (int i = 0; i < s->machines; i++) {
		const char *attrs = s->machine_attrs;
		if (!t->list) /* machines that exist: each is another */
			attrs = arena_printf(s->a, "{host: m%d.example.org}", i);
		jobs[i] = (struct job){
			s, suite_want(s, "machine", arena_printf(s->a, "m-%d", i), attrs), NULL
		};
		jobs[i].w->deps = deps;
	}
	int64_t since = clock_now();
	if (!s->fault[0])
		each_job(s, jobs, create_job);
	print_message("# %d %s machines made in %lld ms\n", s->machines, s->type,
		      (long long)(clock_now() - since));
	if (!s->fault[0])
		check_distinct(s, jobs);
	if (!s->fault[0] && t->list && count(s, t, &all) != (size_t)s->machines)
		suite_fault(s, __FILE__, __LINE__, "all listed", "%zu", all.v.n);
	since = clock_now();
	each_job(s, jobs, destroy_job);
	print_message("# %d removed in %lld ms\n", s->machines, (long long)(clock_now() - since));
	suite_sweep(s);
}

/* ---- what is not there
 * --------------------------------------------------------------------------------- */

void suite_strangers(struct suite *s)
{
	static const char *const ids[] = { "nonsense", "", "../../../etc", "vm-99999999", "." };
	struct err e = { 0 };
	for (size_t k = 0; s->t->types[k]; k++) {
		const struct resource_type *t = s->t->types[k];
		struct resource_seen *seen = NULL;
		struct resource_want *w = suite_want(s, t->kind, "m-0", s->machine_attrs);
		for (size_t i = 0; i < ARRAY_LEN(ids); i++)
			CHECKF(s, t->destroy(s->p, ids[i], &e) == 0, "%s: %s", ids[i], e.msg);
		CHECKF(s,
		       t->find(s->p, s->a, "abcdefghijklmnopqrstuvwxyz", &seen, &e) == 0 && !seen,
		       "%s", e.msg);
		if (!t->list)
			continue;
		if (t->update)
			CHECK(s, t->update(s->p, s->a, "vm-99999999", w, &seen, &e) == -1 &&
					 e.kind == ERR_NOT_FOUND);
		e = (struct err){ 0 };
		if (t->reboot)
			CHECK(s,
			      t->reboot(s->p, "vm-99999999", &e) == -1 && e.kind == ERR_NOT_FOUND);
	}
}
