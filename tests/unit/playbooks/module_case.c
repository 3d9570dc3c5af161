/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/playbooks/module_case.h"

#include <stdio.h>

#include "playbooks/probe_kinds.h"

struct one {
	struct arena *a;
	const struct value *spec;
	struct mod_call call;
	struct probe probe;
	struct answers answers;
	struct changes changes;
	struct buf problems;
};

static const char *text_of(struct arena *a, const struct value *v)
{
	struct buf b;
	char *out;

	if (!v)
		return "-";
	buf_init(&b, BUF_MAX_DEFAULT);
	value_print(&b, v);
	out = buf_dup(&b, a);
	buf_fini(&b);
	return out;
}

static void expect(struct one *t, const char *what, struct str wanted, struct str got)
{
	if (!str_eq(str_trim(wanted), str_trim(got)))
		buf_addf(&t->problems, "  %s\n    wanted: " STR_FMT "\n    got:    " STR_FMT "\n",
			 what, STR_ARG(wanted), STR_ARG(got));
}

static struct str payload(struct one *t, const struct probe_req *r, const struct value *v)
{
	bool with_name = r->kind == PROBE_STAT || r->kind == PROBE_STATL ||
			 r->kind == PROBE_TIMES || r->kind == PROBE_TIMESL;

	if (!v)
		return STR_NONE;
	if (probe_kinds[r->kind].shape == SHAPE_BLOCKS)
		return str_of(arena_printf(t->a, "+" STR_FMT, STR_ARG(v->s)));
	if (with_name)
		return str_of(
			arena_printf(t->a, STR_FMT " " STR_FMT, STR_ARG(v->s), STR_ARG(r->key)));
	return v->s;
}

static void answer_all(struct one *t)
{
	const struct value *host = value_get(t->spec, "host");
	size_t used = 0;

	answers_init(&t->answers, t->a);
	for (size_t i = 0; i < t->probe.index.n; i++) {
		const struct probe_req *r = t->probe.index.e[i].val;
		struct str id = str_of(arena_printf(t->a, "%s " STR_FMT, probe_kinds[r->kind].name,
						    STR_ARG(r->key)));
		const struct value *v = host ? value_gets(host, id) : NULL;
		used += v != NULL;
		answers_put(&t->answers, r, payload(t, r, v));
	}
	if (host && used != host->map.n)
		buf_adds(&t->problems, "  the probe asks for less than 'host' answers\n");
}

static void compare_probe(struct one *t)
{
	const struct value *want = value_get(t->spec, "probe");
	struct buf got scoped(buf_fini) = { 0 }, wanted scoped(buf_fini) = { 0 };

	if (!want)
		return;
	buf_init(&got, BUF_MAX_DEFAULT);
	buf_init(&wanted, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < t->probe.index.n; i++) {
		const struct probe_req *r = t->probe.index.e[i].val;
		buf_addf(&got, "%s " STR_FMT "\n", probe_kinds[r->kind].name, STR_ARG(r->key));
	}
	for (size_t i = 0; i < want->list.n; i++)
		buf_addf(&wanted, "%s\n", text_of(t->a, want->list.v[i]));
	expect(t, "probe", buf_str(&wanted), buf_str(&got));
}

static void compare_changes(struct one *t)
{
	const struct value *want = value_get(t->spec, "changes"),
			   *diffs = value_get(t->spec, "diffs");
	struct buf got scoped(buf_fini), wanted scoped(buf_fini), diff scoped(buf_fini);

	buf_init(&got, BUF_MAX_DEFAULT);
	buf_init(&wanted, BUF_MAX_DEFAULT);
	buf_init(&diff, BUF_MAX_DEFAULT);
	for (size_t i = 0; i < t->changes.v.n; i++) {
		const struct task_change *c = &t->changes.v.v[i];
		buf_addf(&got, "%s: %s -> %s\n", c->what, text_of(t->a, c->before),
			 text_of(t->a, c->after));
		buf_adds(&diff, c->diff ? c->diff : "");
	}
	for (size_t i = 0; want && i < want->list.n; i++)
		buf_addf(&wanted, "%s\n", text_of(t->a, want->list.v[i]));
	if (want)
		expect(t, "changes", buf_str(&wanted), buf_str(&got));
	if (diffs)
		expect(t, "diffs", diffs->s, buf_str(&diff));
}

static void compare_result(struct one *t)
{
	const struct value *want = value_get(t->spec, "result");

	for (size_t i = 0; want && i < want->map.n; i++) {
		const struct value *got = value_gets(t->changes.result, want->map.e[i].key),
				   *w = want->map.e[i].val;
		if (!got ||
		    (!value_equal(got, w) && strcmp(text_of(t->a, got), text_of(t->a, w)) != 0))
			buf_addf(&t->problems, "  result.%s\n    wanted: %s\n    got:    %s\n",
				 want->map.e[i].key.p, text_of(t->a, w), text_of(t->a, got));
	}
}

static int compare_patch(struct one *t, struct err *e)
{
	const struct value *want = value_get(t->spec, "patch");
	struct patch p;

	if ((!t->changes.v.n && !t->changes.run) || t->changes.failed) {
		if (want)
			buf_adds(&t->problems, "  a patch is wanted, but there are no changes\n");
		return 0;
	}
	patch_init(&p);
	if (t->call.module->patch(&t->call, &t->changes, &p, e)) {
		patch_fini(&p);
		return -1;
	}
	if (want)
		expect(t, "patch", want->s, buf_str(&p.text));
	patch_fini(&p);
	return 0;
}

static int run_one(struct one *t, struct err *e)
{
	const struct value *failed = value_get(t->spec, "failed");
	const struct module *m = t->call.module;

	if (m->flags & MODULE_ANY_ARGS)
		t->call.args = value_get(t->spec, "args");
	else if (args_decode(t->a, m->name, m->args, value_get(t->spec, "args"), &t->call.args, e))
		return -1;
	probe_init(&t->probe, t->a);
	if (m->probe && m->probe(&t->call, &t->probe, e))
		return -1;
	compare_probe(t);
	answer_all(t);
	t->changes = (struct changes){ .a = t->a, .result = value_map(t->a) };
	if (m->check(&t->call, &t->answers, &t->changes, e))
		return -1;
	if (failed || t->changes.failed)
		expect(t, "failed", failed ? failed->s : STR("(no failure)"),
		       str_of(t->changes.msg));
	if (failed)
		return 0;
	compare_changes(t);
	compare_result(t);
	return compare_patch(t, e);
}

static bool run_case(struct arena *a, const struct value *spec)
{
	static const char *dirs[] = { "tests/unit/playbooks/data", NULL };
	struct scope scope = { .vars = value_get(spec, "vars") };
	struct one t = { .a = a, .spec = spec };
	struct err e = { 0 };
	const struct value *error = value_get(spec, "error");
	bool ok;

	buf_init(&t.problems, BUF_MAX_DEFAULT);
	t.call = (struct mod_call){ .a = a,
				    .module = module_find(value_get_str(spec, "module", "")),
				    .check = value_get_bool(spec, "check", false),
				    .diff = value_get_bool(spec, "diff", false),
				    .scope = &scope,
				    .src_dirs = dirs };
	if (!t.call.module)
		buf_adds(&t.problems, "  there is no such module\n");
	else if (run_one(&t, &e))
		expect(&t, "error", error ? error->s : STR("(none)"), str_of(e.msg));
	else if (error)
		buf_adds(&t.problems, "  an error is wanted, there was none\n");
	ok = t.problems.n == 0;
	if (!ok)
		fprintf(stderr, "%s:%d: %s\n%s", spec->pos.file, spec->pos.line,
			value_get_str(spec, "name", "(no name)").p, t.problems.p);
	buf_fini(&t.problems);
	return ok;
}

int module_cases_run(const char *path, size_t *total)
{
	struct arena *a scoped(arena_freep) = arena_new("cases");
	struct err_list errs = { 0 };
	struct value *doc;
	struct err e = { 0 };
	struct str text;
	int failed = 0;

	if (fs_read(a, path, YAML_MAX_BYTES, &text, &e) ||
	    yaml_parse(a, path, text, YAML_ANSIBLE, &doc, &errs)) {
		fprintf(stderr, "%s: %s\n", path, errs.n ? errs.v[0].msg : e.msg);
		err_list_fini(&errs);
		return 1;
	}
	for (size_t i = 0; i < doc->list.n; i++, ++*total)
		failed += !run_case(a, doc->list.v[i]);
	err_list_fini(&errs);
	return failed;
}
