/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/playbooks/play_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

extern char **environ;

void play_begin(struct play_case *c, const char *name)
{
	const char *tmp = getenv("TEST_TMP");

	env_init(environ);
	memset(c, 0, sizeof(*c));
	c->a = arena_new("play_case");
	c->dir = arena_printf(c->a, "%s/play.%s", tmp ? tmp : "/tmp", name);
	if (fs_remove_tree(c->dir, &c->err) || fs_mkdirs(c->dir, 0755, &c->err)) {
		fprintf(stderr, "%s\n", c->err.msg);
		abort();
	}
	buf_init(&c->log, BUF_MAX_DEFAULT);
}

void play_end(struct play_case *c)
{
	buf_fini(&c->log);
	arena_free(c->a);
}

void play_file(struct play_case *c, const char *path, const char *text)
{
	const char *full = fs_join(c->a, c->dir, path);
	struct err e = { 0 };

	if (fs_mkdirs(fs_dirname(c->a, full), 0755, &e) ||
	    fs_write_atomic(full, str_of(text), 0644, &e)) {
		fprintf(stderr, "%s\n", e.msg);
		abort();
	}
}

const char *play_read(struct play_case *c, const char *path)
{
	struct err e = { 0 };
	struct str s;

	if (fs_read(c->a, fs_join(c->a, c->dir, path), (size_t)1 << 20, &s, &e))
		return "(absent)";
	return str_cstr(c->a, s);
}

static void on_result(void *arg, const struct task_result *t)
{
	static const char *const names[] = { "ok", "changed", "skipped", "failed", "unreachable" };
	struct play_case *c = arg;

	buf_addf(&c->log, "%s %s",
		 t->status == TASK_FAILED && t->ignored ? "ignored" : names[t->status], t->task);
	if (t->item)
		buf_addf(&c->log, " (%s)", t->item);
	if (t->status == TASK_FAILED)
		buf_addf(&c->log, ": %s", t->msg);
	buf_addc(&c->log, '\n');
}

struct job {
	struct play_case *c;
	int rc;
};

static int run_it(struct play_case *c)
{
	struct host_opts ho = { .name = "here", .local = true };
	struct playbook_paths paths = { .dir = c->dir };
	struct value *vars = value_map(c->a);
	struct run_host h = { .name = "here.example", .facts = c->facts };
	struct err_list errs = { 0 };
	struct playbook *p;
	int rc;

	value_set(vars, "dir", value_cstr(c->a, c->dir));
	if (c->vars)
		vars = value_merge(c->a, vars, c->vars, false);
	if (playbook_load(c->a, c->play ? c->play : fs_join(c->a, c->dir, "play.yml"),
			  c->play ? NULL : &paths, &p, &errs)) {
		for (size_t i = 0; i < errs.n; i++) {
			const char *file = errs.v[i].pos.file ? strrchr(errs.v[i].pos.file, '/')
							      : NULL;
			buf_addf(&c->log, "%s:%d:%d: %s%s%s\n", file ? file + 1 : "-",
				 errs.v[i].pos.line, errs.v[i].pos.col, errs.v[i].msg,
				 errs.v[i].hint[0] ? " | " : "", errs.v[i].hint);
		}
		c->err = errs.v[0];
		err_list_fini(&errs);
		return -1;
	}
	if (host_open(&ho, &h.conn, &c->err))
		return -1;
	h.vars = vars;
	if (!c->opts.on_result) {
		c->opts.on_result = on_result;
		c->opts.arg = c;
	}
	buf_clear(&c->log);
	rc = playbook_run(p, c->a, &h, &c->opts, &c->result, &c->err);
	host_close(h.conn);
	return rc;
}

static void job_main(void *arg)
{
	struct job *j = arg;

	j->rc = run_it(j->c);
}

int play_run(struct play_case *c)
{
	struct job j = { c, -1 };
	struct loop_opts lo = { 0 };

	if (loop_run(job_main, &j, &lo, &c->err))
		return -1;
	return j.rc;
}
