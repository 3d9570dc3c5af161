#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/crash/local.sh [N] [SEED] - kill -9 at named and then at random moments of apply and destroy on local hosts (root), N together.
#
# After each kill the next run must converge: an empty plan, every host reachable and configured, no orphan, no open intent, no lease. At
# the end destroy must leave nothing: no process, mount, or network namespace that was not there before.
# See lib.sh.
set -u
# shellcheck source=tests/crash/lib.sh
. "$(dirname "$0")/lib.sh"
begin 180 1800 60 4000 "${1:-33}" "${2-}"
cluster=crash$$

on_failure() {
	"$muster" destroy --yes >/dev/null 2>&1 </dev/null
}

spec() { # spec COUNT WORD
	cat >muster.yaml <<-END
	cluster: $cluster
	providers:
	  local: {}
	pools:
	  w: {provider: local, count: $1, image: debian-12, playbooks: [site.yml], vars: {word: $2}}
	END
}

cat >site.yml <<'END'
- hosts: w
  become: true
  tasks:
    - name: Say the word
      copy: {dest: /etc/word, mode: "0644", content: "{{ word }} from {{ inventory_hostname }}\n"}
    - name: Have a folder
      file: {path: /etc/crash.d, state: directory, mode: "0755"}
    - name: Have a file in it
      copy: {dest: /etc/crash.d/word, mode: "0600", content: "{{ word }}\n"}
END

check_converged() { # check_converged COUNT WORD
	check_quiet
	run exec @w -- cat /etc/word || die "a host does not answer"
	have=$(grep -c "^ *$2 from w-" out)
	[ "$have" -eq "$1" ] || die "$have hosts say $2, not $1"
}

left() { # what bears the cluster's name: processes, mounts, namespaces
	printf '%s\n' "$cluster" >name # in a file, or the search would find itself
	grep -laF -f name /proc/[0-9]*/cmdline 2>/dev/null
	grep -F -f name /proc/self/mounts
	for f in /run/netns/*"$cluster"* /var/lib/muster/local/"$cluster"-*; do
		[ -e "$f" ] && echo "$f"
	done
}

# Each moment of a node's life once, by name; the rest at random.
i=0
for point in call.create.before:1 call.create.reply:2 create.done:3 configure.before:1 configure.intent:2 configure.playbook:1 \
	configure.playbook:2 configure.done:2 configure.settled:1; do
	i=$((i + 1))
	spec 2 "point$i"
	kill_at $point apply --yes
	run apply --yes || die "apply after a kill at $point failed"
	check_converged 2 "point$i"
	case $point in create.* | call.create.*) run destroy --yes || die "destroy failed" ;; esac
done
for point in delete.intent:1 call.destroy.before:2 call.destroy.reply:1 delete.done:3; do
	spec 2 gone
	run apply --yes || die "apply failed"
	kill_at $point destroy --yes
	run destroy --yes || die "destroy after a kill at $point failed"
	left >out 2>&1
	[ -s out ] && die "something is left after a kill at $point"
done

while [ "$kills" -lt "$n" ]; do
	next_round
	draw 3; hosts=$((drawn + 1))
	draw 1000; word=word$drawn
	spec "$hosts" "$word"
	draw "$span"; ms=$drawn
	draw 10
	if [ "$drawn" -lt 7 ]; then
		kill_during "$ms" apply --yes
	else
		kill_during $((ms / 4)) destroy --yes
	fi
	run apply --yes || die "apply after a kill failed"
	check_converged "$hosts" "$word"
done
run destroy --yes || die "destroy failed"
left >out 2>&1
[ -s out ] && die "something is left"
finish
