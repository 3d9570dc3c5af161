#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# tests/bench/lib.sh - what the parts of the bench share: a work folder, measuring, verdicts. Sourced by bash; cleanup_part (optional) is
# called at the end.
set -u -o pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
MUSTER=${MUSTER:-$top/build/muster}
export MUSTER_SHARE=$top/playbooks LC_ALL=C.UTF-8
work=$(mktemp -d /var/tmp/muster-bench.XXXXXX)
# shellcheck disable=SC2034 # the parts end with it
failed=0

cleanup() {
	trap '' INT TERM
	if declare -F cleanup_part >/dev/null; then cleanup_part; fi
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

needs_root() { [ "$(id -u)" = 0 ] || { echo "bench: needs root" >&2; exit 1; }; }

needs() { # needs TOOL...
	local tool
	for tool; do
		command -v "$tool" >/dev/null || { echo "bench: $tool is missing: tools/setup bench" >&2; exit 1; }
	done
}

# timed LABEL COMMAND...: $wall and $cpu (user + system, with children) in seconds; $rss, the largest process in MB; $written, KB to disk; $rc; output in
# $work/LABEL.log and its lines in $lines. CAP (seconds): it is stopped then, and rc is 124. Anything but rc 0 fails the bench, unless
# MAY_FAIL is set.
timed() {
	local label=$1
	shift
	measure "$label" "$@"
	printf '  %-28s wall %7.2f s   cpu %7.3f s   %4d MB%s\n' "$label" "$wall" "$cpu" "$rss" "$([ "$rc" = 0 ] || echo "   exit $rc")"
	[ "$rc" = 0 ] || [ "${MAY_FAIL-}" ] || { tail -n 20 "$work/$label.log"; failed=1; }
}

measure() { # as timed, but silent
	local label=$1
	shift
	python3 "$top/tests/bench/measure" "${CAP:-600}" "$work/figures" "$@" >"$work/$label.log" 2>&1 </dev/null
	# shellcheck disable=SC2034 # for the caller
	read -r wall cpu rss rc written <"$work/figures"
	# shellcheck disable=SC2034
	lines=$(wc -l <"$work/$label.log")
}

# wants WHAT HAVE AT-LEAST
wants() { verdict "$1" "$2" "$3" "$2 >= $3" "at least"; }
# below WHAT HAVE AT-MOST
below() { verdict "$1" "$2" "$3" "$2 <= $3" "at most"; }
verdict() {
	local word=ok
	# shellcheck disable=SC2034
	awk "BEGIN { exit !($4) }" || { word='NOT MET'; failed=1; }
	printf '  %-52s %9.2f   (wanted: %s %s)   %s\n' "$1" "$2" "$5" "$3" "$word"
}

# near WHAT HAVE AT-MOST: a promise in seconds. Machines of CI are slow and shared: over it is told, twice over fails.
near() {
	local word=ok
	if awk "BEGIN { exit !($2 > 2 * $3) }"; then
		word='NOT MET'
		# shellcheck disable=SC2034
		failed=1
	elif awk "BEGIN { exit !($2 > $3) }"; then
		word='over, on this machine'
	fi
	printf '  %-52s %9.2f   (wanted: at most %s)   %s\n' "$1" "$2" "$3" "$word"
}

ratio() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a / (b > 0.001 ? b : 0.001) }'; }
