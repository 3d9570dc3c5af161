#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tests/crash/fake.sh [N] [SEED] - kill -9 at N random moments of apply and destroy on the fake cloud.
#
# After each kill (sometimes two or three in a row) the next run must converge: an empty plan, every object of the cloud in the state
# and nothing else there, no open intent, no lease held. The seed is printed; the same seed gives the same actions and waits.
# MUSTER: the program (default build/muster).
set -u
n=${1:-200}
seed=${2:-$(date +%s)}
muster=${MUSTER:-build/muster}
case $muster in /*) ;; *) muster=$(pwd)/$muster ;; esac
unset MUSTER
dir=$(mktemp -d "${TEST_TMP:-${TMPDIR:-/tmp}}/crash.XXXXXX") || exit 1
cd "$dir" || exit 1
echo "# seed $seed, $n kills, in $dir"

count=0 # of draws
draw() { # draw MAX: a number below MAX into $drawn
	count=$((count + 1))
	drawn=$(awk -v s="$seed" -v i="$count" -v m="$1" 'BEGIN { srand(s * 7919 + i); rand(); print int(rand() * m) }')
}

die() {
	echo "# failed: seed $seed, kill $i: $*"
	[ -f out ] && sed 's/^/# /' out
	echo "# kept: $dir"
	exit 1
}

spec() { # spec WEB GPU SIZE
	cat >muster.yaml <<-END
	cluster: crash
	providers:
	  cloud: {type: fake, create_ms: 20, update_ms: 10, delete_ms: 15, list_ms: 2, lose_reply: 9}
	pools:
	  web: {provider: cloud, count: $1, image: debian-12, machine: $3}
	  gpu: {provider: cloud, count: $2, image: debian-12, machine: h100}
	END
}

run() { # run COMMAND ARG...: to its end
	timeout 60 "$muster" "$@" >out 2>&1 </dev/null
}

# Same pid as the program, so that the kill hits it and nothing else.
kill_during() { # kill_during MS COMMAND ARG...
	ms=$1
	shift
	"$muster" "$@" >killed.out 2>&1 </dev/null &
	pid=$!
	sleep "$(awk -v m="$ms" 'BEGIN { printf "%.3f", m / 1000 }')"
	if kill -9 "$pid" 2>/dev/null; then
		kills=$((kills + 1))
		span=$((span * 5 / 4))
		[ $span -lt 600 ] || span=600
	else # too late: wait less
		span=$((span * 3 / 4))
		[ $span -gt 20 ] || span=20
	fi
	wait "$pid" 2>/dev/null
}

check_converged() { # check_converged OBJECTS
	run plan --detailed-exitcode || die "the plan is not empty"
	run gc --json || die "gc failed"
	[ "$(tr -d ' \n' <out)" = "[]" ] || die "orphans are left"
	run state list --json || die "state list failed"
	have=$(grep -o '"address"\|"addr"' out | wc -l)
	[ "$have" -eq "$1" ] || die "$have objects in the state, not $1"
	if command -v sqlite3 >/dev/null; then
		there=$(sqlite3 .muster/fake-cloud.db 'select count(*) from object')
		[ "$there" -eq "$1" ] || die "$there objects in the cloud, not $1"
	fi
	run recover --json || die "intents are open"
	[ "$(tr -d ' \n' <out)" = "[]" ] || die "an intent was left open"
	run lock ls || die "lock ls failed"
	grep -q "^nobody holds the lease" out || die "the lease is held"
}

span=260 # ms within which a kill falls; follows the speed of the machine
kills=0 rounds=0 i=0
while [ "$kills" -lt "$n" ]; do
	i=$kills
	rounds=$((rounds + 1))
	[ "$rounds" -le $((n * 4)) ] || die "too few kills hit a running program"
	draw 8; web=$drawn # ten nodes at most: more must be named to destroy
	draw 4; gpu=$drawn
	draw 2; size=small; [ "$drawn" -eq 0 ] || size=large
	draw 3; times=$((drawn + 1))
	spec "$web" "$gpu" "$size"
	while [ "$times" -gt 0 ]; do
		times=$((times - 1))
		draw $span; ms=$drawn
		draw 10
		if [ "$drawn" -lt 7 ]; then
			kill_during "$ms" apply --yes --parallel 4
		else
			kill_during "$ms" destroy --yes --parallel 4
		fi
	done
	draw 4
	if [ "$drawn" -eq 0 ]; then
		run destroy --yes || die "destroy after a kill failed"
	fi
	run apply --yes || die "apply after a kill failed"
	total=$((web + gpu + 1))
	check_converged "$total"
done
cd / && rm -rf "$dir"
echo "# converged: $kills kills in $rounds rounds"
