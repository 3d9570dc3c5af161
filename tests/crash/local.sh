#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/crash/local.sh [N] [SEED] - kill -9 at N random moments of apply and destroy on local hosts (root).
#
# After each kill the next run must converge: an empty plan, every host reachable and configured, no orphan, no open intent, no lease. At
# the end destroy must leave nothing: no process, mount, or network namespace that was not there before.
# MUSTER: the program (default build/muster).
set -u
n=${1:-20}
seed=${2:-$(date +%s)}
muster=${MUSTER:-build/muster}
case $muster in /*) ;; *) muster=$(pwd)/$muster ;; esac
unset MUSTER
dir=$(mktemp -d "${TEST_TMP:-${TMPDIR:-/tmp}}/crash.XXXXXX") || exit 1
cd "$dir" || exit 1
cluster=crash$$
echo "# seed $seed, $n kills, in $dir"

count=0 # of draws
draw() { # draw MAX: a number below MAX into $drawn
	count=$((count + 1))
	drawn=$(awk -v s="$seed" -v i="$count" -v m="$1" 'BEGIN { srand(s * 7919 + i); rand(); print int(rand() * m) }')
}

die() {
	echo "# failed: seed $seed, kill $kills: $*"
	[ -f out ] && sed 's/^/# /' out
	"$muster" destroy --yes >/dev/null 2>&1 </dev/null
	echo "# kept: $dir"
	exit 1
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

run() { # run COMMAND ARG...: to its end
	timeout 180 "$muster" "$@" >out 2>&1 </dev/null
}

kill_during() { # kill_during MS COMMAND ARG...
	ms=$1
	shift
	"$muster" "$@" >killed.out 2>&1 </dev/null &
	pid=$!
	sleep "$(awk -v m="$ms" 'BEGIN { printf "%.3f", m / 1000 }')"
	if kill -9 "$pid" 2>/dev/null; then
		kills=$((kills + 1))
		span=$((span * 5 / 4))
		[ $span -lt 4000 ] || span=4000
	else # too late: wait less
		span=$((span * 3 / 4))
		[ $span -gt 60 ] || span=60
	fi
	wait "$pid" 2>/dev/null
}

is_empty_list() {
	[ "$(tr -d ' \n' <out)" = "[]" ]
}

check_converged() { # check_converged COUNT WORD
	run plan --detailed-exitcode || die "the plan is not empty"
	run gc --json || die "gc failed"
	is_empty_list || die "orphans are left"
	run recover --json || die "intents are open"
	is_empty_list || die "an intent was left open"
	run lock ls || die "lock ls failed"
	grep -q "^nobody holds the lease" out || die "the lease is held"
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

span=1800 # ms within which a kill falls; follows the speed of the machine
kills=0 rounds=0
while [ "$kills" -lt "$n" ]; do
	rounds=$((rounds + 1))
	[ "$rounds" -le $((n * 4)) ] || die "too few kills hit a running program"
	draw 3; hosts=$((drawn + 1))
	draw 1000; word=word$drawn
	spec "$hosts" "$word"
	draw $span; ms=$drawn
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
cd / && rm -rf "$dir"
echo "# converged: $kills kills in $rounds rounds"
