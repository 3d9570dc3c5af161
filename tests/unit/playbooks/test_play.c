/* SPDX-License-Identifier: Apache-2.0 */
/* Plays on this machine: what they leave behind, what they report, and how many scripts they cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/playbooks/play_case.h"

#define RUN(c)                                                               \
	do {                                                                 \
		if (play_run(c)) {                                           \
			fprintf(stderr, "%s\n%s", (c)->err.msg, (c)->log.p); \
			fail();                                              \
		}                                                            \
	} while (0)

static void expect_trips(const struct play_case *c, uint64_t probes, uint64_t patches)
{
	if (c->result.probe_trips != probes || c->result.patch_trips != patches)
		fail_msg("%llu probe and %llu patch scripts, not %llu and %llu\n%s",
			 (unsigned long long)c->result.probe_trips,
			 (unsigned long long)c->result.patch_trips, (unsigned long long)probes,
			 (unsigned long long)patches, c->log.p);
}

static void converged_is_one_trip(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "trips");
	play_file(&c, "files/a.conf", "a = 1\n");
	play_file(
		&c, "templates/t.j2",
		"host {{ inventory_hostname }}\n{% for i in [1, 2] %}\nline {{ i }}\n{% endfor %}\n");
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  tasks:\n"
		"    - {name: dir, file: {path: '{{ dir }}/out/sub', state: directory, mode: '0750'}}\n"
		"    - {name: copy, copy: {src: a.conf, dest: '{{ dir }}/out/sub/', mode: '0600'}, register: cp}\n"
		"    - {name: template, template: {src: t.j2, dest: '{{ dir }}/out/t.txt'}}\n"
		"    - {name: line, lineinfile: {path: '{{ dir }}/out/t.txt', line: 'last', create: yes}}\n"
		"    - {name: text, copy: {content: \"x\\n\", dest: '{{ dir }}/out/x'}, when: cp is defined}\n"
		"    - {name: link, file: {src: x, dest: '{{ dir }}/out/l', state: link}}\n"
		"    - name: once\n"
		"      command: touch {{ dir }}/out/made\n"
		"      args: {creates: '{{ dir }}/out/made'}\n"
		"    - {name: after, file: {path: '{{ dir }}/out/made', mode: '0640'}}\n");
	RUN(&c);
	assert_string_equal(
		c.log.p,
		"changed dir\nchanged copy\nchanged template\nchanged line\nchanged text\nchanged link\n"
		"changed once\nchanged after\n");
	assert_string_equal(play_read(&c, "out/sub/a.conf"), "a = 1\n");
	assert_string_equal(play_read(&c, "out/t.txt"),
			    "host here.example\nline 1\nline 2\nlast\n");
	assert_string_equal(play_read(&c, "out/l"), "x\n");
	assert_string_equal(play_read(&c, "out/made"), "");
	RUN(&c);
	/* template and lineinfile fight over a file: that is the play's fault, and told as in
	 * Ansible. */
	assert_int_equal(c.result.changed, 2);
	play_end(&c);
}

static const char *const forty =
	"- hosts: all\n"
	"  tasks:\n"
	"    - file: {path: '{{ dir }}/d{{ item }}', state: directory}\n"
	"      loop: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n"
	"    - copy: {content: \"{{ item }}\\n\", dest: '{{ dir }}/d{{ item }}/f', mode: '0644'}\n"
	"      loop: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]\n"
	"      register: copies\n"
	"    - lineinfile: {path: '{{ dir }}/hosts', line: '10.0.0.1 a', create: yes}\n"
	"      notify: say\n"
	"    - command: touch {{ dir }}/once\n"
	"      args: {creates: '{{ dir }}/once'}\n"
	"    - set_fact: {n: '{{ copies.results | length }}'}\n"
	"    - copy: {content: '{{ n }}', dest: '{{ dir }}/n'}\n"
	"    - stat: {path: '{{ dir }}/n'}\n"
	"      register: st\n"
	"    - copy: {content: 'x', dest: '{{ dir }}/big'}\n"
	"      when: st.stat.exists\n"
	"  handlers:\n"
	"    - {name: say, copy: {content: 'said', dest: '{{ dir }}/said'}}\n";

static void windows(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "windows");
	play_file(&c, "play.yml", forty);
	RUN(&c);
	assert_int_equal(c.result.failed, 0);
	assert_string_equal(play_read(&c, "n"), "12");
	assert_string_equal(play_read(&c, "big"), "x");
	assert_string_equal(play_read(&c, "said"), "said");
	RUN(&c);
	assert_int_equal(c.result.changed, 0);
	assert_int_equal(c.result.ok, 8);
	expect_trips(&c, 1, 0);
	c.opts.check = c.opts.diff = true;
	RUN(&c);
	assert_int_equal(c.result.changed, 0);
	expect_trips(&c, 1, 0);
	play_end(&c);
}

static void check_changes_nothing(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "check");
	c.opts.check = c.opts.diff = true;
	play_file(&c, "play.yml", forty);
	RUN(&c);
	assert_true(c.result.changed > 0);
	assert_int_equal(c.result.failed, 0);
	assert_string_equal(play_read(&c, "hosts"), "(absent)");
	assert_string_equal(play_read(&c, "once"), "(absent)");
	expect_trips(&c, c.result.probe_trips, 0);
	play_end(&c);
}

static void guard_stops_a_stale_patch(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "guard");
	/* The second line rests on a file that the first task changes: it must be decided anew, not
	 * overwrite. */
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  tasks:\n"
		"    - {name: one, lineinfile: {path: '{{ dir }}/f', line: one, create: yes}}\n"
		"    - {name: two, lineinfile: {path: '{{ dir }}/f', line: two, create: yes}}\n"
		"    - {name: three, lineinfile: {path: '{{ dir }}/f', line: one, create: yes}}\n");
	RUN(&c);
	assert_string_equal(play_read(&c, "f"), "one\ntwo\n");
	assert_string_equal(c.log.p, "changed one\nchanged two\nok three\n");
	play_end(&c);
}

static void blocks_and_failures(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "blocks");
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  gather_facts: no\n"
		"  tasks:\n"
		"    - name: tolerated\n"
		"      command: /bin/false\n"
		"      ignore_errors: yes\n"
		"      register: f\n"
		"    - {name: its rc, assert: {that: [f is failed, f.rc == 1]}}\n"
		"    - block:\n"
		"        - {name: breaks, copy: {content: x, dest: '{{ dir }}/no/such/dir/x'}}\n"
		"        - {name: not reached, debug: {msg: no}}\n"
		"      rescue:\n"
		"        - {name: mends, copy: {content: '{{ ansible_failed_task.name }}', dest: '{{ dir }}/mended'}}\n"
		"      always:\n"
		"        - {name: always, shell: 'echo always | cat > {{ dir }}/always'}\n"
		"    - {name: skipped, debug: {msg: x}, when: false}\n"
		"    - {name: defined so, command: /bin/true, changed_when: false, failed_when: 1 == 1}\n"
		"    - {name: never, debug: {msg: no}}\n");
	RUN(&c);
	assert_non_null(strstr(
		c.log.p,
		"ignored tolerated: non-zero return code\nok its rc\nignored breaks: Destination directory "));
	assert_non_null(strstr(
		c.log.p,
		"/no/such/dir does not exist\nchanged mends\nchanged always\nskipped skipped\n"
		"failed defined so"));
	assert_null(strstr(c.log.p, "never"));
	assert_string_equal(play_read(&c, "mended"), "breaks");
	assert_string_equal(play_read(&c, "always"), "always\n");
	assert_int_equal(c.result.ignored, 1);
	play_end(&c);
}

static void roles_and_variables(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "roles");
	play_file(&c, "roles/base/defaults/main.yml",
		  "colour: red\nsize: 1\nwho: '{{ inventory_hostname_short }}'\n");
	play_file(&c, "roles/base/vars/main.yml", "kind: strong\n");
	play_file(&c, "roles/base/tasks/main.yml",
		  "- include_tasks: more.yml\n  vars: {size: 7}\n"
		  "- template: {src: r.j2, dest: '{{ dir }}/{{ tag }}'}\n  notify: reload\n");
	play_file(&c, "roles/base/tasks/more.yml",
		  "- copy: {content: '{{ size }} {{ role_name }}', dest: '{{ dir }}/more'}\n");
	play_file(&c, "roles/base/templates/r.j2", "{{ colour }} {{ kind }} {{ who }} {{ x }}\n");
	play_file(&c, "roles/base/handlers/main.yml",
		  "- name: reload\n  shell: echo reloaded >> {{ dir }}/reloads\n");
	play_file(&c, "roles/top/meta/main.yml", "dependencies:\n  - {role: base, tag: dep}\n");
	play_file(&c, "roles/top/tasks/main.yml", "- set_fact: {x: set}\n");
	play_file(&c, "v.yml", "x: file\n");
	play_file(&c, "play.yml",
		  "- hosts: all\n"
		  "  vars: {x: play, colour: blue}\n"
		  "  vars_files: [v.yml]\n"
		  "  roles:\n"
		  "    - top\n"
		  "    - {role: base, tag: own, vars: {colour: green}}\n"
		  "  tasks:\n"
		  "    - include_tasks: '{{ which }}.yml'\n"
		  "      loop: [a, b]\n"
		  "      loop_control: {loop_var: which}\n");
	play_file(&c, "a.yml", "- copy: {content: A, dest: '{{ dir }}/inc_{{ which }}'}\n");
	play_file(&c, "b.yml", "- copy: {content: B, dest: '{{ dir }}/inc_{{ which }}'}\n");
	RUN(&c);
	assert_int_equal(c.result.failed, 0);
	assert_string_equal(play_read(&c, "dep"), "blue strong here file\n");
	assert_string_equal(play_read(&c, "own"), "green strong here set\n");
	assert_string_equal(play_read(&c, "more"), "7 base");
	assert_string_equal(play_read(&c, "reloads"), "reloaded\n");
	assert_string_equal(play_read(&c, "inc_a"), "A");
	assert_string_equal(play_read(&c, "inc_b"), "B");
	play_end(&c);
}

static void facts_ride_along(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "facts");
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  tasks:\n"
		"    - copy: {content: '{{ ansible_kernel }} {{ ansible_facts.os_family }}', dest: '{{ dir }}/k'}\n"
		"    - file: {path: '{{ dir }}/k', mode: '0644'}\n");
	RUN(&c);
	assert_int_equal(c.result.failed, 0);
	assert_non_null(c.result.facts);
	assert_null(strstr(play_read(&c, "k"), "absent"));
	RUN(&c);
	expect_trips(&c, 1, 0); /* also without facts of an earlier run */
	c.facts = value_copy(c.a, c.result.facts);
	RUN(&c);
	assert_int_equal(c.result.changed, 0);
	expect_trips(&c, 1, 0);
	play_end(&c);
}

static void secrets_stay_hidden(void **state)
{
	struct play_case c;
	struct value *vars;

	(void)state;
	play_begin(&c, "secrets");
	vars = value_map(c.a);
	value_set(vars, "token", value_secret(c.a, value_cstr(c.a, "hunter2hunter2")));
	c.vars = vars;
	c.opts.diff = true;
	play_file(&c, "t.j2", "token={{ token }}\n");
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  tasks:\n"
		"    - copy: {content: '{{ token }}', dest: '{{ dir }}/s', mode: '0600'}\n"
		"    - template: {src: t.j2, dest: '{{ dir }}/t'}\n"
		"    - {name: shh, copy: {content: plain, dest: '{{ dir }}/p'}, no_log: yes}\n"
		"    - command: 'true {{ token }}'\n"
		"    - command: {argv: ['true', '{{ token }}']}\n"
		"    - shell: 'true {{ token }}'\n"
		"    - ini_file: {path: '{{ dir }}/i', section: a, option: b, values: ['{{ token }}']}\n"
		"    - get_url: {url: 'file://{{ dir }}/s?{{ token }}', dest: '{{ dir }}/g'}\n"
		"      check_mode: yes\n");
	RUN(&c);
	assert_string_equal(play_read(&c, "s"), "hunter2hunter2");
	assert_string_equal(play_read(&c, "t"), "token=hunter2hunter2\n");
	assert_int_equal(c.result.changes.n, 8);
	for (size_t i = 0; i < c.result.changes.n; i++) {
		const struct task_result *t = c.result.changes.v[i];
		struct buf b scoped(buf_fini);
		buf_init(&b, BUF_MAX_DEFAULT);
		json_write(&b, t->result, 0);
		for (size_t k = 0; k < t->changes.n; k++) {
			if (t->changes.v[k].after)
				value_print(&b, t->changes.v[k].after);
			buf_adds(&b, t->changes.v[k].diff ? t->changes.v[k].diff : "");
		}
		assert_null(strstr(b.p, "hunter2"));
		assert_null(strstr(b.p, "plain"));
	}
	play_end(&c);
}

static void retries(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "retries");
	play_file(&c, "play.yml",
		  "- hosts: all\n"
		  "  tasks:\n"
		  "    - name: third time\n"
		  "      shell: echo x >> {{ dir }}/n; wc -l < {{ dir }}/n\n"
		  "      register: r\n"
		  "      until: r.stdout | int == 3\n"
		  "      retries: 5\n"
		  "      delay: 0\n"
		  "    - {name: attempts, assert: {that: r.attempts == 3}}\n");
	RUN(&c);
	assert_string_equal(c.log.p, "changed third time\nok attempts\n");
	play_end(&c);
}

/* A link at dest is replaced by a file with the mode of what it led to, not with the link's own. */
static void a_replaced_link_opens_nothing(void **state)
{
	struct play_case c;
	struct stat st;

	(void)state;
	play_begin(&c, "link");
	play_file(&c, "secret", "old\n");
	assert_int_equal(chmod(fs_join(c.a, c.dir, "secret"), 0600), 0);
	assert_int_equal(symlink("secret", fs_join(c.a, c.dir, "l")), 0);
	play_file(&c, "play.yml",
		  "- hosts: all\n"
		  "  tasks:\n"
		  "    - copy: {content: \"new\\n\", dest: '{{ dir }}/l'}\n");
	RUN(&c);
	assert_int_equal(lstat(fs_join(c.a, c.dir, "l"), &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	assert_string_equal(play_read(&c, "secret"), "old\n");
	assert_string_equal(play_read(&c, "l"), "new\n");
	play_end(&c);
}

/* A user may put a link in the place of his file or folder: root must not write, read or give away
 * where it leads. */
static void keys_follow_no_link(void **state)
{
	struct play_case c;
	struct stat before, after;

	(void)state;
	play_begin(&c, "keys");
	play_file(&c, "other/shadow", "root:x\n");
	play_file(&c, "home/x", "");
	assert_int_equal(symlink("../other/shadow", fs_join(c.a, c.dir, "home/keys")), 0);
	assert_int_equal(symlink("other", fs_join(c.a, c.dir, "dotssh")), 0);
	assert_int_equal(stat(fs_join(c.a, c.dir, "other"), &before), 0);
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  vars: {k: ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA one}\n"
		"  tasks:\n"
		"    - name: file\n"
		"      authorized_key: {user: root, path: '{{ dir }}/home/keys', key: '{{ k }}'}\n"
		"      ignore_errors: yes\n"
		"    - name: folder\n"
		"      authorized_key: {user: root, path: '{{ dir }}/dotssh/new', key: '{{ k }}'}\n"
		"      ignore_errors: yes\n"
		"    - name: meant\n"
		"      authorized_key: {user: root, path: '{{ dir }}/home/keys', key: '{{ k }}', follow: yes, manage_dir: no}\n"
		"      check_mode: yes\n");
	RUN(&c);
	assert_string_equal(
		c.log.p,
		arena_printf(
			c.a,
			"ignored file: %s/home/keys is a symbolic link: say follow: yes if that is meant\n"
			"ignored folder: %s/dotssh is a symbolic link: say follow: yes if that is meant\n"
			"changed meant\n",
			c.dir, c.dir));
	assert_string_equal(play_read(&c, "other/shadow"), "root:x\n");
	assert_int_equal(stat(fs_join(c.a, c.dir, "other"), &after), 0);
	assert_int_equal(before.st_mode, after.st_mode);
	play_end(&c);
}

/* In somebody else's folder a file is written out of his reach, and nothing is left of that. */
static void foreign_folders(void **state)
{
	struct play_case c;
	struct fs_names names = { { 0 } };
	struct stat st;

	(void)state;
	if (geteuid() != 0)
		skip();
	play_begin(&c, "foreign");
	play_file(&c, "home/f", "old\n");
	assert_int_equal(chown(fs_join(c.a, c.dir, "home"), 1234, 1234), 0);
	assert_int_equal(chmod(fs_join(c.a, c.dir, "home/f"), 0640), 0);
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  tasks:\n"
		"    - copy: {content: \"new\\n\", dest: '{{ dir }}/home/f', owner: 1234, backup: yes}\n"
		"    - copy: {content: bad, dest: '{{ dir }}/home/g', validate: 'false %s'}\n"
		"      ignore_errors: yes\n"
		"    - copy: {content: good, dest: '{{ dir }}/home/h', validate: 'grep -q good %s'}\n");
	RUN(&c);
	assert_string_equal(c.log.p,
			    "changed copy\nignored copy: failed to validate\nchanged copy\n");
	assert_string_equal(play_read(&c, "home/f"), "new\n");
	assert_string_equal(play_read(&c, "home/h"), "good");
	assert_int_equal(stat(fs_join(c.a, c.dir, "home/f"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_uid, 1234);
	assert_int_equal(fs_list(c.a, fs_join(c.a, c.dir, "home"), &names, &c.err), 0);
	assert_int_equal(names.names.n, 3); /* f, its copy, h */
	play_end(&c);
}

/* A task that says how long it may take is given the time. */
static void waiting_longer_than_a_script_may(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "wait");
	c.opts.task_timeout_ms = 1500;
	play_file(&c, "play.yml",
		  "- hosts: all\n"
		  "  tasks:\n"
		  "    - shell: (sleep 3; touch {{ dir }}/there) >/dev/null 2>&1 &\n"
		  "    - wait_for: {path: '{{ dir }}/there', timeout: 20}\n");
	RUN(&c);
	assert_string_equal(c.log.p, "changed shell\nok wait_for\n");
	play_end(&c);
}

/* What a node says is never evaluated, neither as a template nor as a condition. */
static void nodes_write_no_templates(void **state)
{
	struct play_case c;

	(void)state;
	play_begin(&c, "injection");
	play_file(&c, "inc.yml", "- copy: {content: '{{ p }}', dest: '{{ dir }}/p'}\n");
	play_file(
		&c, "play.yml",
		"- hosts: all\n"
		"  vars: {evil: 7}\n"
		"  tasks:\n"
		"    - {name: say, shell: \"printf '%s' '{''{ evil }''}'\", register: out}\n"
		"    - set_fact: {a: 'x{{ out.stdout }}', b: \"{{ out.stdout.split('|') }}\"}\n"
		"    - {name: facts, copy: {content: '{{ a }} {{ b[0] }}', dest: '{{ dir }}/f'}}\n"
		"    - name: loop\n"
		"      copy: {content: '{{ item }}', dest: '{{ dir }}/l'}\n"
		"      loop: \"{{ out.stdout.split('|') }}\"\n"
		"    - {include_tasks: inc.yml, vars: {p: 'p{{ out.stdout | trim }}'}}\n"
		"    - {name: expression, shell: echo evil == 7, register: out}\n"
		"    - {name: judge, assert: {that: '{{ out.stdout }}'}, ignore_errors: yes}\n"
		"    - {name: true, assert: {that: '{{ evil == 7 }}'}}\n");
	RUN(&c);
	assert_string_equal(play_read(&c, "f"), "x{{ evil }} {{ evil }}");
	assert_string_equal(play_read(&c, "l"), "{{ evil }}");
	assert_string_equal(play_read(&c, "p"), "p{{ evil }}");
	if (!strstr(c.log.p, "judge: the condition gives a text"))
		fail_msg("%s", c.log.p);
	play_end(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(converged_is_one_trip),
		cmocka_unit_test(windows),
		cmocka_unit_test(check_changes_nothing),
		cmocka_unit_test(guard_stops_a_stale_patch),
		cmocka_unit_test(blocks_and_failures),
		cmocka_unit_test(roles_and_variables),
		cmocka_unit_test(facts_ride_along),
		cmocka_unit_test(secrets_stay_hidden),
		cmocka_unit_test(retries),
		cmocka_unit_test(a_replaced_link_opens_nothing),
		cmocka_unit_test(keys_follow_no_link),
		cmocka_unit_test(foreign_folders),
		cmocka_unit_test(waiting_longer_than_a_script_may),
		cmocka_unit_test(nodes_write_no_templates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
