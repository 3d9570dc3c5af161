# SPDX-License-Identifier: Apache-2.0
# A reboot in the middle of a play: what comes before happens in one boot, what comes after in the next, once each; by run
# and by apply, as a task and as a handler. A host that is told to reboot by hand is waited for.
. tests/cli/lib.sh

trap '"$MUSTER" -C "$TEST_TMP" destroy --yes -q >/dev/null 2>&1' EXIT
cat >muster.yaml <<'YAML'
cluster: reboots
providers: {local: {}}
pools:
  n: {provider: local, count: 2, image: debian-12, playbooks: [site.yml]}
YAML
cat >site.yml <<'YAML'
- hosts: all
  gather_facts: false
  tasks:
    - {name: wanted, copy: {content: "1\n", dest: /etc/wanted}, notify: reboot}
    - {name: before, shell: "cat /proc/sys/kernel/random/boot_id >/srv/before", args: {creates: /srv/before}}
    - {meta: flush_handlers}
    - {name: after, shell: "cat /proc/sys/kernel/random/boot_id >/srv/after", args: {creates: /srv/after}}
  handlers:
    - {name: reboot, reboot: {reboot_timeout: 120}}
YAML
cat >task.yml <<'YAML'
- hosts: all
  gather_facts: false
  tasks:
    - {name: first, shell: "cat /proc/sys/kernel/random/boot_id; echo first >>/srv/order", register: first}
    - {name: waits among the patches, copy: {content: "{{ first.stdout }}\n", dest: /srv/first}}
    - {name: reboot, reboot: {reboot_timeout: 120}, register: r}
    - {name: second, shell: "cat /proc/sys/kernel/random/boot_id; echo second >>/srv/order", register: second}
    - {name: told, assert: {that: [r.rebooted, r is changed, first.stdout != second.stdout]}}
YAML
cat >wait.yml <<'YAML'
- hosts: all
  gather_facts: false
  tasks:
    - {name: go down, shell: "nohup sh -c 'sleep 1; systemctl reboot' >/dev/null 2>&1 &"}
    - {name: until it is gone, wait_for_connection: {delay: 3, timeout: 120}}
    - {name: up, copy: {content: "up\n", dest: /srv/up}}
YAML

run apply --yes
is "hosts come up, and reboot as a handler says" 0 "$status"
run exec n -- 'cmp -s /srv/before /srv/after && echo same || echo other'
has "what follows the handler is another boot, on both" "$out" "n-[0-1] (2)
other"
run plan --detailed-exitcode
is "nothing is left to do" 0 "$status"

run exec n-0 -- 'rm /etc/wanted /srv/after'
run plan
has "the plan tells the reboot" "$out" "reboot"
run exec n-0 -- 'cat /proc/sys/kernel/random/boot_id'
boot=$out
run exec n-1 -- 'cat /proc/sys/kernel/random/boot_id'
still=$out
run apply --yes
is "apply mends" 0 "$status"
run exec n-0 -- 'cat /proc/sys/kernel/random/boot_id'
[ -n "$out" ] && [ "$out" != "$boot" ]
ok "by a reboot of that host" $?
run exec n-1 -- 'cat /proc/sys/kernel/random/boot_id'
is "and of no other" "$still" "$out"

run run task.yml
is "a reboot between two tasks" 0 "$status"
run exec n -- 'cat /srv/order'
is "each was done once, in order" "== n-[0-1] (2)
first
second" "$out"

run exec n-1 -- 'cat /proc/sys/kernel/random/boot_id'
still=$out
run run --check task.yml -l n-1
run exec n-1 -- 'cat /proc/sys/kernel/random/boot_id; wc -l </srv/order'
is "check mode reboots nothing" "$still
2" "$out"

run run wait.yml
is "a host that goes down by itself is waited for" 0 "$status"
run exec n -- 'cat /srv/up'
is "and configured afterwards" "== n-[0-1] (2)
up" "$out"
run destroy --yes
is "destroy" 0 "$status"
finish
