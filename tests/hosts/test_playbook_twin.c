/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The twin test: one play (tests/hosts/twin/) by muster and by ansible-playbook on this machine,
 * each in a folder of its own. Files, modes, links and contents must be the same afterwards, and
 * the counts of ok, changed, skipped too, also on a second run.
 */
#include "tests/unit/playbooks/play_case.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct twin {
	struct play_case c;
	const char *theirs;
	char recap[1200];
};

static const char picture_script[] =
	"cd \"$1\" && find . -printf '%y %m %n %p %l\\n' | sed 's/^d \\([0-7]*\\) [0-9]*/d \\1 -/' | sort && "
	"find . -type f | sort | xargs sha256sum";

static const char *picture(struct arena *a, const char *dir)
{
	const char *argv[] = { "sh", "-c", picture_script, "sh", dir, NULL };
	struct proc_result r;
	struct err e = { 0 };

	assert_int_equal(proc_check(a, argv, &(struct proc_opts){ 0 }, &r, &e), 0);
	return str_cstr(a, r.out);
}

/* "ok=37 changed=29 ... skipped=1 rescued=1 ignored=1" */
static void run_ansible(void *arg)
{
	struct twin *t = arg;
	const char *argv[] = { "ansible-playbook",
			       "-i",
			       "here.example,",
			       "-c",
			       "local",
			       "-e",
			       arena_printf(t->c.a,
					    "dir=%s ansible_python_interpreter=/usr/bin/python3",
					    t->theirs),
			       "tests/hosts/twin/play.yml",
			       NULL };
	struct proc_result r;
	struct err e = { 0 };
	const char *at;

	snprintf(t->recap, sizeof(t->recap), "(did not run)");
	if (proc_run(t->c.a, argv, &(struct proc_opts){ .timeout_ms = 300000 }, &r, &e)) {
		snprintf(t->recap, sizeof(t->recap), "%s", e.msg);
		return;
	}
	at = strstr(r.out.p, "ok=");
	snprintf(t->recap, sizeof(t->recap), "%.200s", at ? at : r.out.p);
	if (!at || strstr(at, "failed=0") == NULL)
		fprintf(stderr, "%s\n", r.out.p);
}

static int64_t count_of_recap(const struct twin *t, const char *key)
{
	const char *at = strstr(t->recap, key);
	struct str s = str_of(at ? at + strlen(key) : "");
	int64_t n = -1;

	str_to_int(str_sub(s, 0, str_find_char(s, ' ')), &n);
	return n;
}

static void compare(struct twin *t)
{
	const struct run_result *r = &t->c.result;
	const char *mine = picture(t->c.a, t->c.dir), *theirs = picture(t->c.a, t->theirs);

	if (strcmp(mine, theirs) != 0) {
		fprintf(stderr, "%s", t->c.log.p);
		fail_msg("muster left\n%s\nansible-playbook left\n%s", mine, theirs);
	}
	if (r->ok != count_of_recap(t, "ok=") || r->changed != count_of_recap(t, "changed=") ||
	    r->skipped != count_of_recap(t, "skipped=") ||
	    r->ignored != count_of_recap(t, "ignored="))
		fail_msg(
			"muster: ok=%lld changed=%lld skipped=%lld ignored=%lld, ansible-playbook: %s\n%s",
			(long long)r->ok, (long long)r->changed, (long long)r->skipped,
			(long long)r->ignored, t->recap, t->c.log.p);
}

static bool have_ansible(void)
{
	struct arena *a scoped(arena_freep) = arena_new("which");
	const char *argv[] = { "ansible-playbook", "--version", NULL };
	struct proc_result r;
	struct err e = { 0 };

	return proc_check(a, argv, &(struct proc_opts){ 0 }, &r, &e) == 0;
}

static void twins(void **state)
{
	struct twin t;

	(void)state;
	memset(&t, 0, sizeof(t));
	if (!have_ansible())
		skip();
	play_begin(&t.c, "twin");
	t.theirs = arena_printf(t.c.a, "%s.theirs", t.c.dir);
	assert_int_equal(fs_remove_tree(t.theirs, &t.c.err), 0);
	assert_int_equal(fs_mkdirs(t.theirs, 0755, &t.c.err), 0);
	t.c.play = "tests/hosts/twin/play.yml";
	for (int round = 0; round < 2; round++) {
		if (play_run(&t.c))
			fail_msg("%s\n%s", t.c.err.msg, t.c.log.p);
		assert_int_equal(loop_run(run_ansible, &t, NULL, &t.c.err), 0);
		compare(&t);
	}
	play_end(&t.c);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(twins) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
