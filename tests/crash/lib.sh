# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh
# tests/crash/lib.sh - what the scripts share: a folder of its own, draws that a seed repeats, and kills at random moments.
# MUSTER: the program (default build/muster). The seed is printed; the same seed gives the same actions and waits.

# begin LIMIT SPAN MIN MAX KILLS SEED: commands that are not killed have LIMIT seconds; a kill falls within SPAN ms, which follows the
# speed of the machine between MIN and MAX. In a folder of its own from then on.
begin() {
	run_limit=$1 span=$2 span_min=$3 span_max=$4 n=$5
	seed=${6:-$(date +%s)}
	muster=${MUSTER:-build/muster}
	case $muster in /*) ;; *) muster=$(pwd)/$muster ;; esac
	unset MUSTER
	dir=$(mktemp -d "${TEST_TMP:-${TMPDIR:-/tmp}}/crash.XXXXXX") || exit 1
	cd "$dir" || exit 1
	echo "# seed $seed, $n kills, in $dir"
}

kills=0 rounds=0

count=0 # of draws
draw() { # draw MAX: a number below MAX into $drawn
	count=$((count + 1))
	# shellcheck disable=SC2034 # read by the scripts
	drawn=$(awk -v s="$seed" -v i="$count" -v m="$1" 'BEGIN { srand(s * 7919 + i); rand(); print int(rand() * m) }')
}

die() {
	echo "# failed: seed $seed, kill $kills: $*"
	[ -f out ] && sed 's/^/# /' out
	on_failure
	echo "# kept: $dir"
	exit 1
}

on_failure() { :; } # what a script that fails cleans up

run() { # run COMMAND ARG...: to its end
	timeout "$run_limit" "$muster" "$@" >out 2>&1 </dev/null
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
		[ $span -lt "$span_max" ] || span=$span_max
	else # too late: wait less
		span=$((span * 3 / 4))
		[ $span -gt "$span_min" ] || span=$span_min
	fi
	wait "$pid" 2>/dev/null
}

kill_at() { # kill_at POINT COMMAND ARG...: by itself, at a fault point (base/fault.h)
	point=$1
	shift
	MUSTER_FAULT=$point "$muster" "$@" >killed.out 2>&1 </dev/null
	[ $? -eq 137 ] || die "$point was not passed"
	kills=$((kills + 1))
}

next_round() {
	rounds=$((rounds + 1))
	[ "$rounds" -le $((n * 4)) ] || die "too few kills hit a running program"
}

is_empty_list() {
	[ "$(tr -d ' \n' <out)" = "[]" ]
}

# No change is planned, no orphan, no open intent, a sound state, no lease.
check_quiet() {
	run plan --detailed-exitcode || die "the plan is not empty"
	run gc --json || die "gc failed"
	is_empty_list || die "orphans are left"
	run recover --json || die "intents are open"
	is_empty_list || die "an intent was left open"
	run state check || die "the state is not sound"
	run lock ls || die "lock ls failed"
	grep -q "^nobody holds the lease" out || die "the lease is held"
}

finish() {
	cd / && rm -rf "$dir"
	echo "# converged: $kills kills in $rounds rounds"
}
