/* SPDX-License-Identifier: Apache-2.0 */
/* What is wrong with a playbook is told all at once, with the place and what was probably meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "playbooks/module.h"
#include "tests/unit/playbooks/play_case.h"

struct load_case {
	const char *play, *wanted;
};

static const struct load_case cases[] = {
	{ "- hosts: all\n  task: []\n",
	  "play.yml:2:3: unknown keyword of a play 'task' | did you mean 'tasks'?\n" },
	{ "- tasks: []\n", "play.yml:1:3: a play needs 'hosts'\n" },
	{ "hosts: all\n", "play.yml:1:1: a playbook is a list of plays, not a map\n" },
	{ "- hosts: all\n  tasks:\n    - coppy: {src: a, dest: /b}\n",
	  "play.yml:3:7: unknown module or keyword 'coppy' | did you mean 'copy'?\n" },
	{ "- hosts: all\n  tasks:\n    - file: {path: /x, moed: '0644'}\n",
	  "play.yml:3:24: module file has no argument 'moed' | did you mean 'mode'?\n" },
	{ "- hosts: all\n  tasks:\n    - file: {state: absent}\n",
	  "play.yml:3:7: module file needs the argument 'path' (the path)\n" },
	{ "- hosts: all\n  tasks:\n    - file: {path: /x, state: gone}\n",
	  "play.yml:3:31: 'state' must be one of absent|directory|file|hard|link|touch, not 'gone'\n" },
	{ "- hosts: all\n  tasks:\n    - file: {path: /x}\n      delegate_to: localhost\n",
	  "play.yml:4:7: keyword 'delegate_to' is not supported yet\n" },
	{ "- hosts: all\n  serial: 2\n",
	  "play.yml:2:3: keyword 'serial' of a play is not supported yet\n" },
	{ "- hosts: all\n  tasks:\n    - {file: {path: /x}, copy: {src: a, dest: /b}}\n",
	  "play.yml:3:26: a task has one module, this one has file and copy\n" },
	{ "- hosts: all\n  roles: [nowhere]\n",
	  "play.yml:2:11: there is no role 'nowhere' | roles are looked for in roles/ beside the playbook and in the role folders\n" },
	{ "- hosts: all\n  tasks:\n    - ping:\n      notify: reload\n  handlers:\n    - {name: restart, ping: {}}\n",
	  "play.yml:4:15: there is no handler 'reload'\n" },
	{ "- hosts: all\n  tasks:\n    - command: \"echo 'x\"\n",
	  "play.yml:3:16: a quote is not closed\n" },
	{ "- hosts: all\n  tasks:\n    - ping:\n      with_sequence: start=1 end=3\n",
	  "play.yml:4:22: 'with_sequence' is not supported yet | write it with 'loop' and a filter\n" },
	{ "- hosts: all\n  tasks:\n    - ping: {dat: x}\n    - whenn: x\n      ping:\n",
	  "play.yml:3:14: module ping has no argument 'dat' | did you mean 'data'?\n"
	  "play.yml:4:7: unknown module or keyword 'whenn' | did you mean 'when'?\n" },
};

static void faults(void **state)
{
	struct play_case c;
	size_t bad = 0;

	(void)state;
	play_begin(&c, "faults");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		play_file(&c, "play.yml", cases[i].play);
		buf_clear(&c.log);
		if (play_run(&c) == 0 || strcmp(c.log.p, cases[i].wanted) != 0) {
			fprintf(stderr, "---\n%swanted: %sgot:    %s\n", cases[i].play,
				cases[i].wanted, c.log.p);
			bad++;
		}
	}
	assert_int_equal(bad, 0);
	play_end(&c);
}

static void a_missing_source_is_told_early(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "missing");
	play_file(&c, "play.yml",
		  "- hosts: all\n  tasks:\n    - copy: {src: nothing.conf, dest: /x}\n");
	assert_int_equal(play_run(&c), -1);
	assert_non_null(strstr(c.log.p, "play.yml:3:19: there is no file 'nothing.conf' | "));
	play_end(&c);
}

static void the_digest_covers_files(void **state)
{
	struct play_case c;
	struct err_list errs = { 0 };
	struct playbook *p;
	char first[65];
	const char *play;

	(void)state;
	play_begin(&c, "digest");
	play = fs_join(c.a, c.dir, "play.yml");
	play_file(&c, "files/f", "one");
	play_file(&c, "play.yml", "- hosts: web\n  tasks:\n    - copy: {src: f, dest: /x}\n");
	assert_int_equal(playbook_load(c.a, play, NULL, &p, &errs), 0);
	snprintf(first, sizeof(first), "%s", playbook_digest(p));
	assert_int_equal(strlen(first), 64);
	assert_int_equal(playbook_load(c.a, play, NULL, &p, &errs), 0);
	assert_string_equal(playbook_digest(p), first);
	play_file(&c, "files/f", "two");
	assert_int_equal(playbook_load(c.a, play, NULL, &p, &errs), 0);
	assert_string_not_equal(playbook_digest(p), first);
	play_end(&c);
}

static void modes(void **state)
{
	static const struct {
		const char *mode;
		bool dir;
		unsigned now, wanted;
	} rows[] = {
		{ "0644", false, 0, 0644 },
		{ "644", false, 0, 0644 },
		{ "u=rwX,g=rX,o=", true, 0644, 0750 },
		{ "u=rwX,g=rX,o=", false, 0644, 0640 },
		{ "a+x", false, 0644, 0755 },
		{ "g-w,o-rwx", false, 0777, 0750 },
		{ "u+s", false, 0755, 04755 },
		{ "+t", true, 0777, 01777 },
		{ "u=g", false, 0640, 0440 },
	};
	struct arena *a scoped(arena_freep) = arena_new("modes");
	struct err e = { 0 };
	unsigned got;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(
			mode_parse(value_cstr(a, rows[i].mode), rows[i].dir, rows[i].now, &got, &e),
			0);
		assert_int_equal(got, rows[i].wanted);
	}
	assert_int_equal(mode_parse(value_cstr(a, "rwx"), false, 0, &got, &e), -1);
	assert_int_equal(mode_parse(value_cstr(a, "99"), false, 0, &got, &e), -1);
	assert_int_equal(mode_parse(value_cstr(a, "70000"), false, 0, &got, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults),
		cmocka_unit_test(a_missing_source_is_told_early),
		cmocka_unit_test(the_digest_covers_files),
		cmocka_unit_test(modes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
